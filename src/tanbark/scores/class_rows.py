"""Class probabilities of rows, factor by factor: the part of conditional scores that works on data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.infer.posterior import log_evidence
from tanbark.kernels.search.class_factors import add_log_factor, attribute_factor, class_factor
from tanbark.scores.cases import Array, Cases, Integers, Nodes


class ClassFactor(NamedTuple):
    """The factor that a family contributes to the class probabilities of each row.

    Parameters
    ----------
    group : array of shape (rows,)
        The row of `table` that applies to each row.
    table : array of shape (groups, classes)
    fit : float
        Log likelihood of the cases under the factor, each with its own class.
    """

    group: Integers
    table: Array
    fit: float


@dataclass(frozen=True, eq=False)
class ClassRows(Nodes):
    """Distinct rows of attributes; row `i` has the classes and weights from ``start[i]`` to ``start[i + 1]``.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    arity : array of shape (nodes,)
        The class is the last node.
    start : array of shape (rows + 1,)
    classes, weights : arrays of shape (cases,)
    """

    codes: NDArray[np.unsignedinteger]
    arity: Integers
    start: Integers
    classes: Integers
    weights: Array

    @classmethod
    def of(cls, cases: Cases) -> ClassRows:
        """Return the rows of some cases."""
        numbers, _ = cases.numbered(range(cases.of_class))
        order = np.argsort(numbers, kind="stable")
        first = np.flatnonzero(np.diff(numbers[order], prepend=-1))
        codes = np.ascontiguousarray(cases.codes[:-1, order[first]])
        classes = cases.codes[-1, order].astype(np.int64)
        return cls(codes, cases.arity, np.append(first, len(order)), classes, cases.weights[order])

    @cached_property
    def row_weights(self) -> Array:
        """The total weight of each row."""
        return np.asarray(np.add.reduceat(self.weights, self.start[:-1]), np.float64)

    def involves_class(self, node: int, parents: Sequence[int]) -> bool:
        """Return whether the class is in a family; other families do not affect the class probabilities."""
        return node == self.of_class or self.of_class in parents

    def free_parameters(self, node: int, parents: Sequence[int]) -> float:
        """Return the number of free parameters of a family's table, ``(r - 1) q``."""
        return float(self.arity[node] - 1) * self.configurations(parents)

    def factor(self, node: int, parents: Sequence[int], ess: float) -> ClassFactor:
        """Return the factor of a family, with a prior of `ess` cases shared equally by the cells of its table."""
        if not self.involves_class(node, parents):
            return ClassFactor(np.zeros(len(self.row_weights), np.int64), np.ones((1, self.arity[-1])), 0.0)
        attributes = np.array([p for p in parents if p != self.of_class], np.int64)
        prior = ess / (self.configurations(parents) * float(self.arity[node]))
        data = (self.start, self.classes, self.weights, prior)
        if node == self.of_class:
            return ClassFactor(*class_factor(self.codes, self.arity, attributes, *data))
        return ClassFactor(*attribute_factor(self.codes, self.arity, attributes, node, *data))

    def conditional_likelihood(self, factors: Sequence[ClassFactor]) -> tuple[float, Array]:
        """Return the conditional log likelihood of the classes, and the log joint of each row and class."""
        joint = np.zeros((len(self.row_weights), self.arity[-1]))
        for factor in factors:
            add_log_factor(joint, factor.group, np.log(factor.table))
        evidence = np.empty(len(joint))
        log_evidence(joint, 0, len(joint), evidence)
        row_of_case = np.repeat(np.arange(len(joint)), np.diff(self.start))
        return float(self.weights @ (joint[row_of_case, self.classes] - evidence[row_of_case])), joint
