"""ONNX: a classifier as a graph of tensors, for onnxruntime and its like."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.aode import AODE
from tanbark.classifiers.network_classifier import NetworkClassifier
from tanbark.export.onnx_codes import OUTPUTS, check_labels, codes, input_names, inputs
from tanbark.export.onnx_graph import IR_VERSION, ML_OPSET, OPSET, Graph
from tanbark.export.onnx_scores import aode_scores, network_scores, tree_scores
from tanbark.export.single_network import drawn_network
from tanbark.export.text_files import Path_
from tanbark.schema import Schema
from tanbark.writing import replacing

if TYPE_CHECKING:
    from onnx import ModelProto


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
        return aode_scores(graph, model, each)
    network = drawn_network(model, "ONNX")
    joint = tree_scores(graph, network, each) if network.tree else network_scores(graph, network, each)
    if isinstance(model, NetworkClassifier) and model._prior_ratio.any():
        return graph.node("Add", joint, graph.constant(model._prior_ratio[None]))
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
