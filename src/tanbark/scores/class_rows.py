"""The cases as a conditional score sees them: rows of attributes, and how often each class had them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.class_factors import attribute_factor, class_factor
from tanbark.scores.cases import Cases

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


class ClassFactor(NamedTuple):
    """What a family multiplies the probabilities of the classes by.

    Parameters
    ----------
    group : array of shape (rows,)
        Each row's place in the table.
    table : array of shape (groups, classes)
    fit : float
        The log likelihood that it gives the cases with their own classes.
    """

    group: Integers
    table: Array
    fit: float


@dataclass(frozen=True, eq=False)
class ClassRows:
    """Distinct rows of attributes; row `i` has the classes and weights from ``start[i]`` to ``start[i + 1]``.

    Parameters
    ----------
    codes : array of shape (attributes, rows)
    arity : array of shape (nodes,)
        The class's is last.
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
        at, _ = cases.numbered(range(cases.of_class))
        order = np.argsort(at, kind="stable")
        first = np.flatnonzero(np.diff(at[order], prepend=-1))
        codes = np.ascontiguousarray(cases.codes[:-1, order[first]])
        classes = cases.codes[-1, order].astype(np.int64)
        return cls(codes, cases.arity, np.append(first, len(order)), classes, cases.weights[order])

    @property
    def of_class(self) -> int:
        """The node of the class."""
        return len(self.arity) - 1

    @cached_property
    def each(self) -> Array:
        """The weight of each row."""
        return np.asarray(np.add.reduceat(self.weights, self.start[:-1]), np.float64)

    def tells(self, node: int, parents: Sequence[int]) -> bool:
        """Return whether a family says anything of the class: it is the class's own, or has it as a parent."""
        return node == self.of_class or self.of_class in parents

    def configurations(self, parents: Sequence[int]) -> float:
        """Return how many joint values some nodes can have."""
        return math.prod([self._sizes[p] for p in parents], start=1.0)

    @cached_property
    def _sizes(self) -> list[float]:
        return [float(r) for r in self.arity]

    def factor(self, node: int, parents: Sequence[int], ess: float) -> ClassFactor:
        """Return the factor of a family, with a prior of `ess` cases shared by the cells of its table."""
        if not self.tells(node, parents):
            return ClassFactor(np.zeros(len(self.each), np.int64), np.ones((1, self.arity[-1])), 0.0)
        above = np.array([p for p in parents if p != self.of_class], np.int64)
        prior = ess / (self.configurations(parents) * float(self.arity[node]))
        seen = (self.start, self.classes, self.weights, prior)
        if node == self.of_class:
            return ClassFactor(*class_factor(self.codes, self.arity, above, *seen))
        return ClassFactor(*attribute_factor(self.codes, self.arity, above, node, *seen))
