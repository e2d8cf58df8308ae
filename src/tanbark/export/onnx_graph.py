"""Build ONNX graphs that compute log joints."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.models import SuperParentAverage
from tanbark.network import Network, SparseTable

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Old enough for every onnxruntime since 1.12."""
MOST_BYTES = 2**30
"""How much the tables of a graph may take; a file of ONNX ends at twice that."""


class Graph:
    """Nodes and constants; each method that adds some returns the name of what comes out."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.size = 0
        self._prefix = "t"
        while any(name.startswith(self._prefix) for name in taken):
            self._prefix += "_"

    def constant(self, array: NDArray[Any]) -> str:
        """Add an array."""
        from onnx import numpy_helper

        self.size += array.nbytes
        if self.size > MOST_BYTES:
            raise ValueError("the tables of the model take more than 1 GB, too much for ONNX; use fewer levels")
        name = f"{self._prefix}{len(self.nodes)}_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operation: str, *inputs: str, out: str = "", name: str = "", **attributes: Any) -> str:
        """Add a node of one output."""
        from onnx import helper

        out = out or f"{self._prefix}{len(self.nodes)}"
        domain = "ai.onnx.ml" if operation == "LabelEncoder" else ""
        self.nodes.append(helper.make_node(operation, inputs, [out], name=name, domain=domain, **attributes))
        return out

    def sum(self, terms: list[str]) -> str:
        """Add a sum."""
        return terms[0] if len(terms) == 1 else self.node("Sum", *terms)

    def largest(self, terms: str, axis: int) -> tuple[str, str]:
        """Add the largest along an axis, zero where all are -inf, and where that is so; the axis stays."""
        largest = self.node("ReduceMax", terms, axes=[axis], keepdims=1)
        none = self.node("Equal", largest, self.constant(np.array(-np.inf)))
        return self.node("Where", none, self.constant(np.array(0.0)), largest), none

    def exp(self, logs: str) -> str:
        """Add exponentials; that of -inf, which some runtimes round up to the least positive number, is zero."""
        none = self.node("Equal", logs, self.constant(np.array(-np.inf)))
        return self.node("Where", none, self.constant(np.array(0.0)), self.node("Exp", logs))

    def log_sum(self, terms: str, axis: int) -> str:
        """Add the logarithm of the sum of exponentials along an axis, which goes."""
        largest, _ = self.largest(terms, axis)
        shares = self.exp(self.node("Sub", terms, largest))
        at = self.constant(np.array([axis], np.int64))
        total = self.node("Add", self.node("Log", self.node("ReduceSum", shares, at, keepdims=1)), largest)
        return self.node("Squeeze", total, at)

    def checked(self, codes: str, values: int, sentence: str) -> str:
        """Add codes that are below a number; running the graph on any other is an error that names the node."""
        return self.node("Gather", self.constant(np.arange(values)), codes, name=sentence)


Array = NDArray[np.float64]

MOST_CELLS = 2**26
"""A sparse table with more is not written out."""


def tree_scores(graph: Graph, network: Network, codes: list[str]) -> str:
    """Add the log joint under a tree, what is missing summed out by messages from the leaves to the roots.

    The message of an attribute, of shape (classes, rows, values of its parent), is the log probability of all that is
    known of it and beneath it.
    """
    structure, arity = network.structure, network.schema.arity.tolist()
    messages: dict[int, list[str]] = {-1: [graph.constant(network.class_log_prior[:, None, None])]}
    for u in reversed(structure.topological_order()):
        if u == structure.of_class:
            continue
        above = structure.attribute_parents(u)
        table = network.log_tables[u]
        assert not isinstance(table, SparseTable)
        axes = [structure.parents[u].index(structure.of_class), table.ndim - 1]
        axes += [structure.parents[u].index(p) for p in above]
        # Class first, own values, those of the parent (one, if there is none).
        table = table.transpose(axes).reshape(len(network.schema.classes), arity[u], -1)
        if u in messages:
            message = _inner_message(graph, table, graph.sum(messages[u]), codes[u])
        else:
            known = np.pad(table, ((0, 0), (0, 1), (0, 0)))
            message = graph.node("Gather", graph.constant(known), codes[u], axis=1)
        messages.setdefault(above[0] if above else -1, []).append(message)
    joint = graph.node("Squeeze", graph.sum(messages[-1]), graph.constant(np.array([2])))
    return graph.node("Transpose", joint, perm=[1, 0])


def _inner_message(graph: Graph, table: Array, beneath: str, codes: str) -> str:
    """Add the message of an attribute with something beneath: the sum over those of its values that may be."""
    values = table.shape[1]
    possible = np.where(np.eye(values, dtype=bool), 0.0, -np.inf)
    seen = graph.node("Gather", graph.constant(np.pad(possible, ((0, 1), (0, 0)))), codes)
    terms = graph.node("Add", beneath, seen)
    largest, _ = graph.largest(terms, 2)
    shares = graph.exp(graph.node("Sub", terms, largest))
    total = graph.node("Log", graph.node("MatMul", shares, graph.constant(np.exp(table))))
    return graph.node("Add", total, largest)


def network_scores(graph: Graph, network: Network, codes: list[str]) -> str:
    """Add the log joint of complete rows under a network of any shape; a row that lacks a value is an error."""
    schema, structure = network.schema, network.structure
    whole = [
        graph.checked(code, column.arity, f"column {column.name!r} has no value, and this network needs complete rows")
        for code, column in zip(codes, schema.columns)
    ]
    terms = []
    for node, parents in enumerate(structure.parents):
        table = network.log_tables[node]
        if isinstance(table, SparseTable):
            cells = math.prod(table.shape)
            if cells > MOST_CELLS:
                raise ValueError(
                    f"the table of {network.names[node]!r} has {cells:,} cells, too many for ONNX; use fewer parents"
                )
            table = table.dense()
        family = [*parents, node]
        if structure.of_class in family:
            table = np.moveaxis(table, family.index(structure.of_class), -1)
        else:
            table = table[..., None]
        attributes = [v for v in family if v != structure.of_class]
        sizes = table.shape[:-1]
        flat = graph.constant(table.reshape(-1, table.shape[-1]))
        if not attributes:
            terms.append(flat)
            continue
        strides = [math.prod(sizes[at + 1 :]) for at in range(len(sizes))]
        place = [graph.node("Mul", whole[v], graph.constant(np.array(s))) for v, s in zip(attributes, strides)]
        at = place[0]
        for other in place[1:]:
            at = graph.node("Add", at, other)
        terms.append(graph.node("Gather", flat, at))
    return graph.sum(terms)


def aode_scores(graph: Graph, model: SuperParentAverage, codes: list[str]) -> str:
    """Add the log of the summed joints of the super-parents that vote, or of naive Bayes where none does.

    Values are numbered across columns, and one more number stands for every open value: it does not vote, and says
    nothing under any super-parent.
    """
    offset = model.schema.offset
    values, classes = model.own.shape
    pairs = np.zeros((values + 1, values + 1, classes))
    pairs[:-1, :-1] = model.pairs.transpose(0, 2, 1)
    flat = graph.constant(pairs.reshape(-1, classes))
    own = graph.constant(np.vstack([model.own, np.full(classes, -np.inf)]))
    votes = graph.constant(np.append(model.votes, False))
    rows = []
    for u, code in enumerate(codes):
        places = np.append(np.arange(offset[u], offset[u + 1]), values)
        rows.append(graph.node("Gather", graph.constant(places[:, None]), code))
    all_values = graph.node("Concat", *rows, axis=1)
    second = graph.constant(np.array([1]))
    joints, voting = [], []
    for one in rows:
        under = graph.node("Add", graph.node("Mul", one, graph.constant(np.array(values + 1))), all_values)
        children = graph.node("ReduceSum", graph.node("Gather", flat, under), second, keepdims=0)
        value = graph.node("Squeeze", one, second)
        joint = graph.node("Add", graph.node("Gather", own, value), children)
        vote = graph.node("Gather", votes, one)
        voting.append(vote)
        kept = graph.node("Where", vote, joint, graph.constant(np.array(-np.inf)))
        joints.append(graph.node("Unsqueeze", kept, second))
    averaged = graph.log_sum(graph.node("Concat", *joints, axis=1), 1)
    alone = graph.constant(np.vstack([model.alone, np.zeros(classes)]))
    said = graph.node("ReduceSum", graph.node("Gather", alone, all_values), second, keepdims=0)
    naive = graph.node("Add", said, graph.constant(model.class_log_prior[None]))
    flags = graph.node("Cast", graph.node("Concat", *voting, axis=1), to=_double())
    some = graph.node("Greater", graph.node("ReduceMax", flags, axes=[1], keepdims=1), graph.constant(np.array(0.5)))
    return graph.node("Where", some, averaged, naive)


def _double() -> int:
    from onnx import TensorProto

    return int(TensorProto.DOUBLE)
