"""Export a classifier to ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.atomic_write import replacing
from tanbark.classifiers.aode import AODE
from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.export.network_description import Path_
from tanbark.export.onnx_graph import IR_VERSION, ML_OPSET, OPSET, Graph, aode_scores, network_scores, tree_scores
from tanbark.export.single_network import drawn_network
from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import Column

if TYPE_CHECKING:
    from onnx import ModelProto


OUTPUTS = ("label", "probabilities")


def input_names(schema: Schema) -> list[str]:
    """Return the inputs' names: those of the columns, with ``_`` appended where that is empty or an output's."""
    names: list[str] = []
    for name in schema.names:
        while not name or name in OUTPUTS or (name in schema.names and name != schema.names[len(names)]):
            name += "_"
        names.append(name)
    return names


def check_labels(schema: Schema) -> None:
    """Raise where ONNX cannot hold a name or tell a label from others.

    It has no half characters (lone surrogates), the empty text stands for a missing value there, and whole numbers are
    doubles.
    """
    levels = [level for column in schema.columns if isinstance(column, Category) for level in column.levels]
    for text in (*schema.names, *levels, *schema.classes):
        if isinstance(text, str) and not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise ValueError(f"{text!r} has half a character, which ONNX cannot hold; rename it")
    for column in schema.columns:
        if isinstance(column, Number):
            continue
        if "" in column.levels:
            raise ValueError(
                f"column {column.name!r} has the empty text among its levels, which is a missing value in ONNX; rename "
                "that level"
            )
        numbers = [level for level in column.levels if not isinstance(level, str)]
        if len({float(number) for number in numbers}) < len(numbers):
            raise ValueError(
                f"column {column.name!r} has whole numbers so large that two are the same double, as which ONNX takes "
                "them; make them text"
            )


def is_text(column: Column) -> bool:
    """Return whether a column's values are strings; all others are doubles."""
    if isinstance(column, Number):
        return False
    kinds = {isinstance(level, str) for level in column.levels}
    if kinds == {True, False}:
        raise ValueError(f"column {column.name!r} has text and numbers among its levels, which ONNX cannot hold in one")
    return kinds == {True}


def inputs(schema: Schema) -> list[Any]:
    """Return a tensor of one column and any number of rows for each column."""
    from onnx import TensorProto, helper

    kinds = [TensorProto.STRING if is_text(column) else TensorProto.DOUBLE for column in schema.columns]
    return [helper.make_tensor_value_info(name, kind, ["rows", 1]) for name, kind in zip(input_names(schema), kinds)]


def codes(graph: Graph, schema: Schema, names: Sequence[str]) -> list[str]:
    """Add the codes of all columns, of shape (rows,); the code after a column's last is that of an open value."""
    return [_codes(graph, column, name, schema.unseen) for column, name in zip(schema.columns, names)]


def _codes(graph: Graph, column: Column, name: str, unseen: str) -> str:
    flat = graph.node("Reshape", name, graph.constant(np.array([-1])))
    absent = column.arity - 1 if column.missing else column.arity
    if isinstance(column, Number):
        code = _count(graph, graph.node("Greater", name, graph.constant(column.points[None])))
        return _unless_missing(graph, flat, code, absent)
    strange = len(column.levels) if column.other else column.arity + (unseen == "error")
    if is_text(column):
        code = _text_codes(graph, column, flat, absent, strange)
    else:
        code = _unless_missing(graph, flat, _number_codes(graph, column, name, strange), absent)
    if strange <= column.arity:
        return code
    return graph.checked(code, strange, f"column {column.name!r} holds what was not seen in training")


def _text_codes(graph: Graph, column: Category, flat: str, absent: int, strange: int) -> str:
    known = {"": absent} | {str(level): code for level, code in column.code.items()}
    return graph.node(
        "LabelEncoder", flat, keys_strings=[*known], values_int64s=[*known.values()], default_int64=strange
    )


def _number_codes(graph: Graph, column: Category, name: str, strange: int) -> str:
    """Add how far beyond `strange` each value's code lies, and that."""
    if not column.levels:
        return graph.constant(np.array(strange))
    levels = np.array([float(level) for level in column.levels])[None]
    same = graph.node("Cast", graph.node("Equal", name, graph.constant(levels)), to=_int64())
    shift = graph.node("Mul", same, graph.constant(np.arange(levels.size)[None] - strange))
    total = graph.node("ReduceSum", shift, graph.constant(np.array([1])), keepdims=0)
    return graph.node("Add", total, graph.constant(np.array(strange)))


def _count(graph: Graph, flags: str) -> str:
    return graph.node("ReduceSum", graph.node("Cast", flags, to=_int64()), graph.constant(np.array([1])), keepdims=0)


def _unless_missing(graph: Graph, numbers: str, code: str, absent: int) -> str:
    return graph.node("Where", graph.node("IsNaN", numbers), graph.constant(np.array(absent)), code)


def _int64() -> int:
    from onnx import TensorProto

    return int(TensorProto.INT64)


def onnx(model: Any, path: Path_ | None = None) -> ModelProto:
    """Return a classifier as a model of ONNX, and write it to a file if there is a path.

    There is one input for each column, of shape (rows, 1) and under the column's name: strings where the levels are
    text, doubles for everything else, booleans and whole numbers too. NaN is a missing number and the empty string a
    missing text (also where Python would take it for a rare label); what was never seen in training is treated as it
    is in Python. The outputs are `label`, of shape
    (rows,) and the type of the classes, and `probabilities`, of shape (rows, classes) in the order of `classes_`,
    computed in doubles.

    Naive Bayes, trees and forests and `SuperParent` sum out what is missing exactly, and in `AODE` a missing
    super-parent does not vote. Other networks answer for complete rows only: running them on a row that lacks a value
    is an error, as is a value never seen where the encoder has ``unseen="error"``. Infinite numbers, which
    Python refuses, lie in the outer intervals.

    Parameters
    ----------
    model : Network, AODE, or a classifier that is one network
    path : path, optional

    Notes
    -----
    An input is called as its column with ``_`` appended where the column has no name or is called as an output.
    """
    if isinstance(model, AODE):
        check_is_fitted(model)
        schema, log_prior = model.schema_, model.class_log_prior_
    else:
        network = drawn_network(model, "ONNX")
        schema, log_prior = network.schema, getattr(model, "class_log_prior_", network.class_log_prior)
    check_labels(schema)
    try:
        from onnx import helper
    except ImportError as error:
        raise ImportError("exporting to ONNX needs onnx: pip install 'tanbark[onnx]'") from error

    names = input_names(schema)
    graph = Graph((*names, *OUTPUTS))
    joint = _joint(graph, model, codes(graph, schema, names))
    outputs = _answer(graph, joint, schema, log_prior)
    made = helper.make_model(
        helper.make_graph(graph.nodes, "tanbark", inputs(schema), outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="tanbark",
    )
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(made.SerializeToString())
    return made


def needs_complete_rows(model: Any) -> bool:
    """Return whether the graph of a model refuses rows that lack a value."""
    return not isinstance(model, AODE) and drawn_network(model, "ONNX").tree is None


def _joint(graph: Graph, model: Any, each: list[str]) -> str:
    """Add the log joint of rows and classes, given the codes of each column."""
    if isinstance(model, AODE):
        return aode_scores(graph, model.model_, each)
    network = drawn_network(model, "ONNX")
    joint = tree_scores(graph, network, each) if network.tree else network_scores(graph, network, each)
    if isinstance(model, NetworkClassifier) and model.model_.prior_ratio.any():
        return graph.node("Add", joint, graph.constant(model.model_.prior_ratio[None]))
    return joint


def _answer(graph: Graph, joint: str, schema: Schema, log_prior: NDArray[np.float64]) -> list[Any]:
    """Add the two outputs: the prior answers where no class can have made a row."""
    from onnx import helper

    largest, impossible = graph.largest(joint, 1)
    shares = graph.exp(graph.node("Sub", joint, largest))
    total = graph.node("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
    prior = graph.constant(np.exp(log_prior)[None])
    label, probabilities = OUTPUTS
    graph.node("Where", impossible, prior, graph.node("Div", shares, total), out=probabilities)
    labels = _labels(schema)
    best = graph.node("ArgMax", probabilities, axis=1, keepdims=0)
    graph.node("Gather", graph.constant(labels), best, out=label)
    return [
        helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(labels.dtype), ["rows"]),
        helper.make_tensor_value_info(
            probabilities, helper.np_dtype_to_tensor_dtype(log_prior.dtype), ["rows", len(labels)]
        ),
    ]


def _labels(schema: Schema) -> NDArray[Any]:
    """Return the classes as whole numbers where they are such or booleans, as doubles, or as text."""
    kinds = {type(label) for label in schema.classes}
    if kinds <= {int, bool} and all(abs(label) < 2**63 for label in schema.classes if not isinstance(label, str)):
        return np.array(schema.classes, np.int64)
    if kinds <= {int, float}:
        return np.array(schema.classes, np.float64)
    return np.array([*map(str, schema.classes)], object)
