"""The questions that the codes of an attribute answer, as a child, and its coarse digits, as a parent.

A number is a Polya tree over dyadic intervals of its ranks: a grid maps a rank ``u`` to ``a u + b`` and halves the unit
interval `levels` times, so that its intervals end at the quantiles ``(j / 2**levels - b) / a``. Several shifted grids
are averaged. A category answers one question. Everything is a function of codes: the quantiles are those
of the codes, which are exact if the encoder has cut the column there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Rows
from tanbark.immutable import Immutable
from tanbark.schema import Number, Schema
from tanbark.schema.encode.columns import Codes, Column

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Grid = tuple[float, float]

LEVELS = 5
"""Levels of the trees of numbers: a leaf holds a thirty-second of a grid."""
GRIDS: tuple[Grid, ...] = ((1.0, 0.0), (2 / 3, 0.0), (2 / 3, 1 / 3))
"""Grids with their first cuts at the ranks 1/2, 3/4 and 1/4. All their quantiles are multiples of 1/64."""
FINE_ENCODING = {"n_bins": 64, "missing": "state"}
"""Parameters of an encoder whose quantile bins contain the cuts of all grids."""
PARENT_LEVELS = 2
"""A number has this many binary digits as a parent, so that it distinguishes four intervals."""
MAX_PARENT_LEVELS = 16
"""A category with more levels has one digit for all of its rare levels as a parent."""
RANK_SLACK = 1e-9
"""Tolerated rounding errors of sums of fractional weights."""


@dataclass(frozen=True, eq=False)
class Questions(Immutable):
    """How the codes of the attributes are divided.

    Parameters
    ----------
    levels : int
        The number of levels of the trees of numbers.
    leaves : tuple of arrays of shape (grids, arity)
        The leaf of each code in each grid. A category has no grids.
    digits : tuple of arrays of shape (arity + 1,)
        The digit of each code as a parent. The last code stands for missing and unseen values, the last digit, which no
        other code has, too.
    """

    levels: int
    leaves: tuple[Integers, ...]
    digits: tuple[Integers, ...]

    @classmethod
    def learn(
        cls,
        schema: Schema,
        code_weights: Sequence[Array],
        grids: Sequence[Grid] = GRIDS,
        levels: int = LEVELS,
        max_exact: int = 0,
    ) -> Questions:
        """Divide the codes of each attribute by the weight of the rows that have them.

        Parameters
        ----------
        schema : Schema
        code_weights : sequence of arrays of shape (arity,)
            The weight of the rows with each code.
        grids : sequence of (scale, shift)
        levels : int
        max_exact : int, default=0
            Numbers with at most this many codes are treated as categories.
        """
        leaves, digits = [], []
        for column, weights in zip(schema.columns, code_weights, strict=True):
            present = weights[: _intervals(column)]
            if isinstance(column, Number) and len(present) > max_exact:
                leaf = np.stack([grid_leaves(present, grid, levels) for grid in grids])
                coarse = leaf[0] >> (levels - PARENT_LEVELS)
                size = 1 << PARENT_LEVELS
            else:
                leaf = np.zeros((0, len(present)), np.int64)
                coarse, size = _frequent(present)
            further = np.arange(size, size + len(weights) - len(present) + 1)
            digits.append(np.concatenate([coarse, further]))
            leaves.append(leaf)
        return cls(levels, tuple(leaves), tuple(digits))

    @property
    def sizes(self) -> Integers:
        """The number of digits of each attribute, including that of missing values."""
        return np.array([int(digit[-1]) + 1 for digit in self.digits], np.int64)

    def digits_of(self, codes: Codes) -> Integers:
        """Return the digits of encoded rows, of shape (attributes, rows)."""
        out = np.empty(codes.shape, np.int64)
        for u, digit in enumerate(self.digits):
            out[u] = digit[np.minimum(codes[u], len(digit) - 1)]
        return out

    def paths(self, attribute: int, code_weights: Array) -> list[Path]:
        """Return the path of each code in each grid; a node whose sibling has no rows is not asked for."""
        leaves, arity = self.leaves[attribute], len(code_weights)
        if not len(leaves):
            path = np.arange(arity, dtype=np.int64)[None]
            return [Path(path, np.zeros(arity, np.int64), np.array([arity]))]
        intervals = leaves.shape[1]
        return [self._tree_path(leaf, code_weights, intervals < arity) for leaf in leaves]

    def _tree_path(self, leaf: Integers, weights: Array, asks_missing: bool) -> Path:
        levels, arity = self.levels, len(weights)
        nodes = (2 << levels) + 1
        path = np.full((levels + 1, arity), -1, np.int64)
        occupied = np.zeros(nodes, np.bool_)
        for level in range(1, levels + 1):
            node = (1 << level) + (leaf >> (levels - level))
            occupied[node[weights[: len(leaf)] > 0]] = True
            path[level, : len(leaf)] = node
        path[1:][~occupied[path[1:] ^ 1]] = -1
        path[:, len(leaf) :] = -1
        if asks_missing:
            path[0] = 1
            path[0, len(leaf) :] = nodes - 1
        question = np.arange(nodes) >> 1
        question[-1] = 0
        return Path(path, question, np.full(levels + 1, 2))


@dataclass(frozen=True)
class Path:
    """The nodes that each code passes, the question that each node answers, and the number of answers of a level."""

    nodes: Integers
    question: Integers
    answers: Integers


def code_weights(rows: Rows) -> list[Array]:
    """Return the weight of the rows with each code, for each attribute."""
    arity = rows.schema.arity.tolist()
    return [
        np.bincount(np.minimum(codes, a), rows.each, a + 1)[:-1].astype(np.float64)
        for codes, a in zip(rows.codes, arity, strict=True)
    ]


def grid_leaves(weights: Array, grid: Grid, levels: int) -> Integers:
    """Return the leaf of each code of a number in a grid.

    >>> grid_leaves(np.ones(8), (1.0, 0.0), 2)
    array([0, 0, 1, 1, 2, 2, 3, 3])
    """
    scale, shift = grid
    cumulative = np.cumsum(weights)
    ranks = (np.arange(1, 1 << levels) / (1 << levels) - shift) / scale
    cuts = np.searchsorted(cumulative, ranks * cumulative[-1] * (1 - RANK_SLACK), side="left")
    cuts[ranks <= RANK_SLACK] = -1
    cuts[ranks >= 1 - RANK_SLACK] = len(weights)
    leaves: Integers = np.searchsorted(cuts, np.arange(len(weights)), side="left").astype(np.int64)
    return leaves


def typical_values(column: Number) -> Array:
    """Return a value for each interval of a number: its midpoint.

    An outer interval may extend far, so its value is at most one neighbouring interval away from its cut. Everything
    follows from codes, of which the means are not known; means of the training values did not predict better.

    >>> typical_values(Number("age", (10, 20, 40), low=0, high=1000))
    array([ 5., 15., 30., 60.])
    """
    cuts = column.points
    if not len(cuts):
        return np.zeros(1)
    low, high = min(column.low, float(cuts[0])), max(column.high, float(cuts[-1]))
    with np.errstate(over="ignore"):
        widths = np.diff(cuts)
    first, last = (widths[0], widths[-1]) if len(widths) else (np.inf, np.inf)
    # Halves are subtracted instead of halving differences, which may overflow.
    inner = cuts[:-1] / 2 + cuts[1:] / 2
    outer = min(cuts[0] / 2 - low / 2, first), min(high / 2 - cuts[-1] / 2, last)
    return np.array([cuts[0] - outer[0], *inner, cuts[-1] + outer[1]], np.float64)


def _intervals(column: Column) -> int:
    """Return the number of codes that are not the level of missing values of a number."""
    return len(column.cuts) + 1 if isinstance(column, Number) else column.arity


def _frequent(weights: Array) -> tuple[Integers, int]:
    """Return a digit for each level, with the same one for all rare levels, and the number of digits."""
    if len(weights) <= MAX_PARENT_LEVELS:
        return np.arange(len(weights), dtype=np.int64), len(weights)
    order = np.argsort(-weights, kind="stable")
    digits = np.full(len(weights), MAX_PARENT_LEVELS - 1, np.int64)
    kept = np.sort(order[: MAX_PARENT_LEVELS - 1])
    digits[kept] = np.arange(len(kept))
    return digits, MAX_PARENT_LEVELS
