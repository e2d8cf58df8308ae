"""A graph of ONNX, grown node by node."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
