"""Build ONNX graphs that compute the scores of the classes: for trees, other networks, AODE and weighted evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.models import EvidenceModel, SuperParentAverage
from tanbark.network import Network, SparseTable

Array = NDArray[np.float64]

OPSET, ML_OPSET, IR_VERSION = 17, 3, 8
"""Versions that onnxruntime supports since 1.12."""
MAX_CONSTANT_BYTES = 2**30
"""The maximum size of the constants of a graph; ONNX files are limited to twice that."""
MAX_DENSE_CELLS = 2**26
"""The maximum number of cells of a sparse table that is converted to a dense one."""


class Graph:
    """The nodes and constants of an ONNX graph. Each method adds some of them and returns the name of its result.

    Parameters
    ----------
    reserved : iterable of str
        Names of inputs and outputs, which differ from all generated names.
    """

    def __init__(self, reserved: Iterable[str]) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._n_bytes = 0
        self._prefix = "t"
        while any(name.startswith(self._prefix) for name in reserved):
            self._prefix += "_"

    def constant(self, array: NDArray[Any]) -> str:
        """Add a constant array."""
        from onnx import numpy_helper

        self._n_bytes += array.nbytes
        if self._n_bytes > MAX_CONSTANT_BYTES:
            raise ValueError("the tables of the model take more than 1 GB, the maximum for ONNX; use fewer levels")
        name = f"{self._prefix}{len(self.nodes)}_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, operation: str, *inputs: str, out: str = "", name: str = "", **attributes: Any) -> str:
        """Add a node with one output."""
        from onnx import helper

        out = out or f"{self._prefix}{len(self.nodes)}"
        domain = "ai.onnx.ml" if operation == "LabelEncoder" else ""
        self.nodes.append(helper.make_node(operation, inputs, [out], name=name, domain=domain, **attributes))
        return out

    def sum(self, terms: list[str]) -> str:
        """Add the sum of some terms."""
        return terms[0] if len(terms) == 1 else self.node("Sum", *terms)

    def largest(self, terms: str, axis: int) -> tuple[str, str]:
        """Add the maximum along an axis, which is kept, and a mask of where it is -inf; there it becomes zero."""
        largest = self.node("ReduceMax", terms, axes=[axis], keepdims=1)
        impossible = self.node("Equal", largest, self.constant(np.array(-np.inf)))
        return self.node("Where", impossible, self.constant(np.array(0.0)), largest), impossible

    def exp(self, logs: str) -> str:
        """Add the exponential; exp(-inf), which some runtimes round up to the smallest positive number, is zero."""
        impossible = self.node("Equal", logs, self.constant(np.array(-np.inf)))
        return self.node("Where", impossible, self.constant(np.array(0.0)), self.node("Exp", logs))

    def log_sum(self, terms: str, axis: int) -> str:
        """Add the logarithm of the sum of exponentials along an axis, which is removed."""
        largest, _ = self.largest(terms, axis)
        shares = self.exp(self.node("Sub", terms, largest))
        axes = self.constant(np.array([axis], np.int64))
        total = self.node("Add", self.node("Log", self.node("ReduceSum", shares, axes, keepdims=1)), largest)
        return self.node("Squeeze", total, axes)

    def checked(self, codes: str, n_values: int, message: str) -> str:
        """Add a check that codes are below `n_values`; the runtime error contains the node's name, the message."""
        return self.node("Gather", self.constant(np.arange(n_values)), codes, name=message)


def tree_scores(graph: Graph, network: Network, codes: list[str]) -> str:
    """Add the log joint of a tree; missing values are marginalised by messages from the leaves to the roots.

    The message of an attribute, of shape (classes, rows, values of its parent), is the log probability of the observed
    values in its subtree.
    """
    structure, arity = network.structure, network.schema.arity.tolist()
    messages: dict[int, list[str]] = {-1: [graph.constant(network.class_log_prior[:, None, None])]}
    for u in reversed(structure.topological_order()):
        if u == structure.of_class:
            continue
        parents = structure.attribute_parents(u)
        table = network.log_tables[u]
        assert not isinstance(table, SparseTable)
        axes = [structure.parents[u].index(structure.of_class), table.ndim - 1]
        axes += [structure.parents[u].index(p) for p in parents]
        # Axes: class, own values, values of the parent (of length 1 without a parent).
        table = table.transpose(axes).reshape(len(network.schema.classes), arity[u], -1)
        if u in messages:
            message = _inner_message(graph, table, graph.sum(messages[u]), codes[u])
        else:
            known = np.pad(table, ((0, 0), (0, 1), (0, 0)))
            message = graph.node("Gather", graph.constant(known), codes[u], axis=1)
        messages.setdefault(parents[0] if parents else -1, []).append(message)
    joint = graph.node("Squeeze", graph.sum(messages[-1]), graph.constant(np.array([2])))
    return graph.node("Transpose", joint, perm=[1, 0])


def _inner_message(graph: Graph, table: Array, children: str, codes: str) -> str:
    """Add the message of an attribute with children: the sum over its possible values, one if it is observed."""
    n_values = table.shape[1]
    possible = np.where(np.eye(n_values, dtype=bool), 0.0, -np.inf)
    observed = graph.node("Gather", graph.constant(np.pad(possible, ((0, 1), (0, 0)))), codes)
    terms = graph.node("Add", children, observed)
    largest, _ = graph.largest(terms, 2)
    shares = graph.exp(graph.node("Sub", terms, largest))
    total = graph.node("Log", graph.node("MatMul", shares, graph.constant(np.exp(table))))
    return graph.node("Add", total, largest)


def network_scores(graph: Graph, network: Network, codes: list[str]) -> str:
    """Add the log joint of complete rows under any network; a row with a missing value is an error."""
    schema, structure = network.schema, network.structure
    complete = [
        graph.checked(
            code,
            column.arity,
            f"column {column.name!r} has a missing or unseen value; this network needs complete rows",
        )
        for code, column in zip(codes, schema.columns, strict=True)
    ]
    terms = []
    for node, parents in enumerate(structure.parents):
        table = network.log_tables[node]
        if isinstance(table, SparseTable):
            cells = math.prod(table.shape)
            if cells > MAX_DENSE_CELLS:
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
        terms.append(graph.node("Gather", flat, _flat_index(graph, [complete[v] for v in attributes], sizes)))
    return graph.sum(terms)


def _flat_index(graph: Graph, codes: list[str], sizes: Sequence[int]) -> str:
    """Add the index of the cell with these codes in a table of these sizes that was made flat."""
    index = codes[0]
    for code, size in zip(codes[1:], sizes[1:], strict=True):
        index = graph.node("Add", graph.node("Mul", index, graph.constant(np.array(size))), code)
    return index


def evidence_scores(graph: Graph, model: EvidenceModel, codes: list[str]) -> str:
    """Add the log posterior up to a constant: one entry of the compiled tables for each attribute, and the base scores.

    An entry depends on the attribute's code and on its parents' digits, which are functions of their codes.
    """
    compiled = model.compiled
    used = sorted({p for parents in compiled.parents for p in parents})
    digits = {p: graph.node("Gather", graph.constant(compiled.digits[p]), codes[p]) for p in used}
    terms = [graph.constant(model.base_scores[None])]
    for u, (table, parents) in enumerate(zip(compiled.tables, compiled.parents, strict=True)):
        flat = graph.constant(table.reshape(-1, table.shape[-1]))
        index = _flat_index(graph, [*(digits[p] for p in parents), codes[u]], table.shape[:-1])
        terms.append(graph.node("Gather", flat, index))
    return graph.sum(terms)


def aode_scores(graph: Graph, model: SuperParentAverage, codes: list[str]) -> str:
    """Add the logarithm of the sum of the joints of all voting super-parents, or of naive Bayes if none votes.

    Values are numbered across columns. One additional number represents missing values: they do not vote and do not
    contribute under any super-parent.
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
