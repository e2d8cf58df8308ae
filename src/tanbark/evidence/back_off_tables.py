"""Tables of an attribute given the class and its parents, and the evidence that they give.

The evidence of a value ``x`` for a class at depth ``d`` is ``log theta_d(x | class, first d parents)``; its increments
over the depths are what gets a weight. See `tanbark.kernels.evidence.back_off` for the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.evidence.questions import Array, Integers, Path
from tanbark.immutable import read_only
from tanbark.kernels.evidence.back_off import class_free_shares, count_answers, deepen, left_out_log_likelihoods

STRENGTHS = (1.0, 4.0, 16.0, 64.0)
"""The strengths of back-off to choose from."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Distinct combinations of the digits of an attribute's parents, its code, a class, and a weight to leave out.

    Parameters
    ----------
    digits : array of shape (parents, cells)
    codes, classes : arrays of int of shape (cells,)
    left_out : array of shape (cells,)
        The weight of one row, at most 1.
    weights : array of shape (cells,)
        The total weight of the rows of the cell.
    """

    digits: Integers
    codes: Integers
    classes: Integers
    left_out: Array
    weights: Array

    @classmethod
    def of(
        cls, digits: Integers, codes: Integers, classes: Integers, weights: Array, shape: Sequence[int]
    ) -> tuple[Cells, Integers]:
        """Return the cells of rows, and the cell of each row.

        `shape` has the number of digits of each parent, of codes, and of classes. Cells are sorted by code, class,
        weight to leave out, and the digits of the parents, in this order.
        """
        left_out = np.minimum(weights, 1.0)
        amounts, amount = np.unique(left_out, return_inverse=True)
        *sizes, n_codes, n_classes = shape
        of_key = (n_codes, n_classes, len(amounts), *sizes)
        keys = np.ravel_multi_index((codes, classes, amount, *digits), of_key)
        cells, place = np.unique(keys, return_inverse=True)
        code, of_class, number, *above = np.unravel_index(cells, of_key)
        total: Array = np.bincount(place, weights, len(cells)).astype(np.float64)
        parts = np.array(above, np.int64).reshape(len(digits), len(cells))
        return cls(parts, code, of_class, amounts[number], total), place

    def groups(self, depth: int) -> Integers:
        """Return the group of each cell: cells of a group differ only in parents after the first `depth`."""
        differs = np.zeros(len(self.codes), np.bool_)
        for values in (self.codes, self.classes, self.left_out, *self.digits[:depth]):
            differs[1:] |= values[1:] != values[:-1]
        groups: Integers = np.cumsum(differs)
        return groups

    def contexts(self, sizes: Sequence[int], depth: int) -> Integers:
        """Return the number of the context of the first `depth` parents, -1 if one of them is missing."""
        context = np.zeros(len(self.codes), np.int64)
        for digit, size in zip(self.digits[:depth], sizes, strict=False):
            context = np.where((context < 0) | (digit == size - 1), -1, context * (size - 1) + digit)
        return context


def all_cells(shape: Sequence[int]) -> Cells:
    """Return a cell for each combination of digits and code, from which no row is left out."""
    n = int(np.prod(shape[:-1]))
    *digits, codes = np.unravel_index(np.arange(n), tuple(shape[:-1]))
    above = np.array(digits, np.int64).reshape(len(digits), n)
    nothing = np.zeros(n)
    return Cells(above, codes.astype(np.int64), np.zeros(n, np.int64), nothing, nothing)


def joint_counts(cells: Cells, shape: Sequence[int]) -> Array:
    """Return the weight of the rows with each combination of digits, code and class."""
    keys = np.ravel_multi_index((*cells.digits, cells.codes, cells.classes), tuple(shape))
    counts: Array = np.bincount(keys, cells.weights, int(np.prod(shape))).astype(np.float64)
    return counts.reshape(shape)


def code_counts(joint: Array) -> Array:
    """Return the weight of the rows with each code."""
    counts: Array = joint.sum(axis=(*range(joint.ndim - 2), joint.ndim - 1))
    return counts


def evidence_increments(joint: Array, paths: Sequence[Path], cells: Cells, ess: float, strengths: Array) -> Array:
    """Return the increment of evidence of each cell at each depth, of shape (cells, depths, classes).

    It is averaged over the grids and centred over the classes. The row of a cell is left out of the counts: of those of
    its own class, and of the shares whatever the class.
    """
    return _walk(joint, paths, cells, ess, strengths)[0]


def left_out_evidence(joint: Array, paths: Sequence[Path], cells: Cells, ess: float) -> tuple[Array, Array]:
    """Return `evidence_increments` and the strengths, of shape (grids, depths).

    The strength of a grid and a depth is the one of `STRENGTHS` with the greatest leave-one-out likelihood.
    """
    return _walk(joint, paths, cells, ess, None)


def _walk(
    joint: Array, paths: Sequence[Path], cells: Cells, ess: float, strengths: Array | None
) -> tuple[Array, Array]:
    *sizes, _, classes = joint.shape
    depths = len(sizes) + 1
    found = np.ones((len(paths), depths)) if strengths is None else strengths
    out = np.zeros((depths, len(cells.codes), classes))
    codes, of_class = read_only(cells.codes), read_only(cells.classes)
    left_out, weights = read_only(cells.left_out), read_only(cells.weights)
    candidates = read_only(np.array(STRENGTHS))
    tables = [context_counts(joint, depth) for depth in range(depths)]
    contexts = [read_only(cells.contexts(sizes, depth)) for depth in range(depths)]
    free = tables[0].sum(axis=2, keepdims=True)
    for g, path in enumerate(paths):
        nodes, question = read_only(path.nodes), read_only(path.question)
        given, asked = _answers(free, nodes, question)
        shares = np.ones((len(codes), len(nodes)))
        answers = read_only(path.answers)
        class_free_shares(given.reshape(-1), asked.reshape(-1), nodes, question, answers, ess, codes, left_out, shares)
        shares = np.repeat(shares[:, :, None], classes, axis=2)
        for d in range(depths):
            given, asked = _answers(tables[d], nodes, question)
            case = (nodes, question, contexts[d], codes, of_class, left_out)
            if strengths is None:
                likelihoods = np.zeros(len(candidates))
                left_out_log_likelihoods(given, asked, *case, weights, shares, candidates, likelihoods)
                found[g, d] = candidates[likelihoods.argmax()]
            deepen(given, asked, *case, found[g, d], shares, out[d])
    out /= len(paths)
    out[1:] -= out[:-1].copy()
    centred: NDArray[np.float64] = out - out.mean(axis=2, keepdims=True)
    return np.ascontiguousarray(centred.transpose(1, 0, 2)), found


def context_counts(joint: Array, depth: int) -> Array:
    """Return the counts given the first `depth` parents, of shape (contexts, codes, classes)."""
    parents = joint.ndim - 2
    table = joint.sum(axis=tuple(range(depth, parents)))
    known = table[(slice(0, -1),) * depth]
    return np.ascontiguousarray(known.reshape(-1, *joint.shape[-2:]))


def _answers(table: Array, nodes: Integers, question: Integers) -> tuple[Array, Array]:
    shape = (len(table), len(question), table.shape[2])
    given, asked = np.zeros(shape), np.zeros(shape)
    count_answers(read_only(table), nodes, question, given, asked)
    return given, asked
