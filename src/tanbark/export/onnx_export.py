"""Export classifiers to ONNX.

The graph encodes each input column to codes, computes the log joint or log posterior of each class (see
`tanbark.export.onnx_graph`), and normalises it to probabilities.
"""

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
from tanbark.classifiers.evidence_bn import EvidenceBN
from tanbark.export.network_description import PathLike, network_of_model
from tanbark.export.onnx_graph import (
    IR_VERSION,
    ML_OPSET,
    OPSET,
    Graph,
    aode_scores,
    evidence_scores,
    network_scores,
    tree_scores,
)
from tanbark.export.raw_inputs import check_no_dates, missing_numbers, missing_texts, required_types
from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import Column
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    from onnx import ModelProto


OUTPUTS = ("label", "probabilities")


@insert_shared_docs
def onnx(model: Any, path: PathLike | None = None) -> ModelProto:
    """Export a classifier to ONNX.

    The model has one input for each column, of shape (rows, 1) and named after the column. Inputs are strings if the
    levels of the column are text, and doubles otherwise, also for bools and integers. A missing number is NaN, and a
    missing string is empty (even if Python would treat it as a rare level). Values that were not seen in training are
    handled as in Python. If the model reads text (``Encoder(coerce=True)``), its numbers and booleans are doubles, and
    texts such as "n/a" in categories are missing values in lower case, upper case and with capitals.

    The outputs, computed in double precision, are `label`, of shape (rows,) and of the type of the classes, and
    `probabilities`, of shape (rows, classes) in the order of `classes_`.

    Naive Bayes, trees, forests and `SuperParent` marginalise missing values exactly. In `AODE`, a missing super-parent
    does not vote. `EvidenceBN` handles missing values as in Python. Other networks support complete rows only: running
    them on a row with a missing value is an error. So is a value that was not seen in training if the encoder has
    ``unseen="error"``. Infinite numbers, which Python refuses, belong to the outermost intervals.

    Parameters
    ----------
    model : Network, AODE, EvidenceBN or classifier
        A network, a fitted `AODE` or `EvidenceBN`, or a fitted classifier that consists of one network.
    {output_path}

    Returns
    -------
    onnx.ModelProto
        The model.

    Raises
    ------
    ImportError
        If the package onnx is not installed.
    ValueError
        If ONNX cannot express the model, its names or its levels, or a column holds dates.

    See Also
    --------
    needs_complete_rows : Whether the ONNX model of a classifier supports complete rows only.

    Notes
    -----
    If a column has an empty name or the name of an output, ``_`` is appended to the name of its input.
    """
    if isinstance(model, AODE | EvidenceBN):
        check_is_fitted(model)
        schema, log_prior = model.schema_, model.class_log_prior_
    else:
        network = network_of_model(model, "ONNX")
        schema, log_prior = network.schema, getattr(model, "class_log_prior_", network.class_log_prior)
    _check_labels(schema)
    check_no_dates(schema, "ONNX")
    try:
        from onnx import helper
    except ImportError as error:
        raise ImportError("exporting to ONNX requires the package onnx: pip install 'tanbark[onnx]'") from error

    names = _input_names(schema)
    graph = Graph((*names, *OUTPUTS))
    joint = _joint(graph, model, _encode(graph, schema, names))
    outputs = _add_outputs(graph, joint, schema, log_prior)
    onnx_model = helper.make_model(
        helper.make_graph(graph.nodes, "tanbark", _inputs(schema), outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="tanbark",
    )
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(onnx_model.SerializeToString())
    return onnx_model


def needs_complete_rows(model: Any) -> bool:
    """Return whether the ONNX model of a classifier supports complete rows only.

    Parameters
    ----------
    model : Network, AODE, EvidenceBN or classifier
        A model that `onnx` can export.

    Returns
    -------
    bool
        True if running the ONNX model on a row with a missing value is an error.
    """
    return not isinstance(model, AODE | EvidenceBN) and network_of_model(model, "ONNX").tree is None


# Inputs


def _check_labels(schema: Schema) -> None:
    """Raise ValueError if ONNX cannot represent a name or distinguish two levels.

    ONNX has no lone surrogates, the inputs use the empty string for missing values, and integers become doubles.
    """
    levels = [level for column in schema.columns if isinstance(column, Category) for level in column.levels]
    for text in (*schema.names, *levels, *schema.classes):
        if isinstance(text, str) and not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
            raise ValueError(f"{text!r} contains a lone surrogate, which ONNX cannot represent; rename it")
    for column in schema.columns:
        if isinstance(column, Number):
            continue
        if "" in column.levels:
            raise ValueError(
                f"column {column.name!r} has the empty string as a level, which is a missing value in ONNX; rename "
                "that level"
            )
        numbers = [level for level in column.levels if not isinstance(level, str)]
        if len({float(number) for number in numbers}) < len(numbers):
            raise ValueError(
                f"column {column.name!r} has integers so large that two of them become the same double in ONNX; "
                "convert them to text"
            )


def _input_names(schema: Schema) -> list[str]:
    """Return the names of the inputs: those of the columns, with ``_`` appended to empty names and those of outputs."""
    names: list[str] = []
    for name in schema.names:
        while not name or name in OUTPUTS or (name in schema.names and name != schema.names[len(names)]):
            name += "_"
        names.append(name)
    return names


def _inputs(schema: Schema) -> list[Any]:
    """Return the inputs: for each column a tensor of shape (rows, 1)."""
    from onnx import TensorProto, helper

    types = [TensorProto.STRING if _is_text(column) else TensorProto.DOUBLE for column in schema.columns]
    held = required_types(schema)
    docs = [f"{held[column.name]}, not text" if column.name in held else "" for column in schema.columns]
    return [
        helper.make_tensor_value_info(name, kind, ["rows", 1], doc)
        for name, kind, doc in zip(_input_names(schema), types, docs, strict=True)
    ]


def _is_text(column: Column) -> bool:
    """Return whether the input of a column is a string tensor; otherwise it is a double tensor."""
    if isinstance(column, Number):
        return False
    kinds = {isinstance(level, str) for level in column.levels}
    if kinds == {True, False}:
        raise ValueError(f"column {column.name!r} has both text and numbers as levels, which an ONNX input cannot hold")
    return kinds == {True}


# Codes


def _encode(graph: Graph, schema: Schema, names: Sequence[str]) -> list[str]:
    """Add the codes of all columns, each of shape (rows,). A missing value has the code after the last one."""
    columns = zip(schema.columns, names, missing_texts(schema), missing_numbers(schema), strict=True)
    return [_codes(graph, column, name, schema.unseen, texts, numbers) for column, name, texts, numbers in columns]


def _codes(graph: Graph, column: Column, name: str, unseen: str, texts: Sequence[str], numbers: Sequence[float]) -> str:
    if numbers:
        marked = graph.node("Equal", name, graph.constant(np.array([numbers])))
        is_marked = graph.node("Cast", _count(graph, marked), to=_bool())
        flat = graph.node("Reshape", name, graph.constant(np.array([-1])))
        without = graph.node("Where", is_marked, graph.constant(np.array(np.nan)), flat)
        name = graph.node("Reshape", without, graph.constant(np.array([-1, 1])))
    flat = graph.node("Reshape", name, graph.constant(np.array([-1])))
    missing_code = column.arity - 1 if column.missing else column.arity
    if isinstance(column, Number):
        code = _count(graph, graph.node("Greater", name, graph.constant(column.points[None])))
        return _unless_missing(graph, flat, code, missing_code)
    unseen_code = len(column.levels) if column.other else column.arity + (unseen == "error")
    if _is_text(column):
        code = _text_codes(graph, column, flat, texts, missing_code, unseen_code)
    else:
        code = _unless_missing(graph, flat, _number_codes(graph, column, name, unseen_code), missing_code)
    if unseen_code <= column.arity:
        return code
    return graph.checked(code, unseen_code, f"column {column.name!r} has a value that was not seen in training")


def _text_codes(
    graph: Graph, column: Category, flat: str, missing: Sequence[str], missing_code: int, unseen_code: int
) -> str:
    spellings = {
        spelling: missing_code for text in missing for spelling in (text, text.lower(), text.upper(), text.title())
    }
    known = {"": missing_code} | spellings | {str(level): code for level, code in column.code.items()}
    return graph.node(
        "LabelEncoder", flat, keys_strings=[*known], values_int64s=[*known.values()], default_int64=unseen_code
    )


def _number_codes(graph: Graph, column: Category, name: str, unseen_code: int) -> str:
    """Add the codes of numeric levels: `unseen_code` plus the difference between the code of the level and it."""
    if not column.levels:
        return graph.constant(np.array(unseen_code))
    levels = np.array([float(level) for level in column.levels])[None]
    same = graph.node("Cast", graph.node("Equal", name, graph.constant(levels)), to=_int64())
    difference = graph.node("Mul", same, graph.constant(np.arange(levels.size)[None] - unseen_code))
    total = graph.node("ReduceSum", difference, graph.constant(np.array([1])), keepdims=0)
    return graph.node("Add", total, graph.constant(np.array(unseen_code)))


def _count(graph: Graph, flags: str) -> str:
    return graph.node("ReduceSum", graph.node("Cast", flags, to=_int64()), graph.constant(np.array([1])), keepdims=0)


def _unless_missing(graph: Graph, numbers: str, code: str, missing_code: int) -> str:
    return graph.node("Where", graph.node("IsNaN", numbers), graph.constant(np.array(missing_code)), code)


def _bool() -> int:
    from onnx import TensorProto

    return int(TensorProto.BOOL)


def _int64() -> int:
    from onnx import TensorProto

    return int(TensorProto.INT64)


# Outputs


def _joint(graph: Graph, model: Any, each: list[str]) -> str:
    """Add the log joint or log posterior, of shape (rows, classes), given the codes of each column."""
    if isinstance(model, AODE):
        return aode_scores(graph, model.model_, each)
    if isinstance(model, EvidenceBN):
        return evidence_scores(graph, model.model_, each)
    network = network_of_model(model, "ONNX")
    joint = tree_scores(graph, network, each) if network.tree else network_scores(graph, network, each)
    if isinstance(model, NetworkClassifier) and model.model_.prior_ratio.any():
        return graph.node("Add", joint, graph.constant(model.model_.prior_ratio[None]))
    return joint


def _add_outputs(graph: Graph, joint: str, schema: Schema, log_prior: NDArray[np.float64]) -> list[Any]:
    """Add the two outputs. A row that is impossible under every class gets the prior probabilities."""
    from onnx import helper

    largest, impossible = graph.largest(joint, 1)
    shares = graph.exp(graph.node("Sub", joint, largest))
    total = graph.node("ReduceSum", shares, graph.constant(np.array([1])), keepdims=1)
    prior = graph.constant(np.exp(log_prior)[None])
    label, probabilities = OUTPUTS
    graph.node("Where", impossible, prior, graph.node("Div", shares, total), out=probabilities)
    labels = _class_labels(schema)
    best = graph.node("ArgMax", probabilities, axis=1, keepdims=0)
    graph.node("Gather", graph.constant(labels), best, out=label)
    return [
        helper.make_tensor_value_info(label, helper.np_dtype_to_tensor_dtype(labels.dtype), ["rows"]),
        helper.make_tensor_value_info(
            probabilities, helper.np_dtype_to_tensor_dtype(log_prior.dtype), ["rows", len(labels)]
        ),
    ]


def _class_labels(schema: Schema) -> NDArray[Any]:
    """Return the classes as int64 if they are integers or bools, as float64 if they are numbers, else as strings."""
    kinds = {type(label) for label in schema.classes}
    if kinds <= {int, bool} and all(abs(label) < 2**63 for label in schema.classes if not isinstance(label, str)):
        return np.array(schema.classes, np.int64)
    if kinds <= {int, float}:
        return np.array(schema.classes, np.float64)
    return np.array([*map(str, schema.classes)], object)
