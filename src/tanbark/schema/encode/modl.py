"""MODL: the most probable intervals of a number given the classes, after Boullé (2006).

References
----------
Boullé, M. (2006). MODL: a Bayes optimal discretization method for continuous attributes. Machine Learning 65, 131-165.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from tanbark.kernels.encode.partitions import best_partition, segment_costs
from tanbark.schema.encode.quantiles import cuts_of_sorted, quantile_cuts

Floats = NDArray[np.float64]

MIN_CELLS, MAX_CELLS = 32, 256
"""Limits of the number of candidate cells, which is otherwise the square root of the number of rows."""
MAX_INTERVALS = 16
"""Maximum number of intervals unless another is given."""
MIN_INTERVALS = 3
"""Minimum number of intervals: a column may be informative together with others although it is not on its own."""
TOLERANCE = 1e-12
"""Tolerance for rounding errors of costs, relative to the number of rows."""


@dataclass(frozen=True)
class RowClasses:
    """The class of each row, and what all columns of a table need to count classes in cells.

    Parameters
    ----------
    codes : ndarray of shape (rows,)
        The class of each row.
    n_classes : int
        Number of classes.
    """

    codes: NDArray[np.int64]
    n_classes: int

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each class."""
        sizes: NDArray[np.int64] = np.bincount(self.codes, minlength=self.n_classes)
        return sizes

    @cached_property
    def largest(self) -> int:
        """The most frequent class."""
        return int(self.sizes.argmax())

    @cached_property
    def others(self) -> NDArray[np.int64]:
        """The rows outside the most frequent class, ordered by class."""
        rows = np.flatnonzero(self.codes != self.largest)
        return rows[np.argsort(self.codes[rows].astype(np.min_scalar_type(self.n_classes)), kind="stable")]

    def keep(self, rows: NDArray[np.bool_]) -> RowClasses:
        """Return the classes of the selected rows."""
        return RowClasses(self.codes[rows], self.n_classes)


def modl_cuts(
    values: Floats, classes: RowClasses, weights: Floats | None, max_intervals: int = MAX_INTERVALS
) -> list[float]:
    """Return the cut points of the most probable partition of the values into intervals.

    With `n` rows, `C` classes and `I` intervals of `n_i` rows, `n_ic` of which have class `c`, the partition minimises

    ``log binom(n + I - 1, I - 1) + sum_i log binom(n_i + C - 1, C - 1) + sum_i log(n_i! / prod_c n_ic!)``,

    Boullé's criterion: the prior of the bounds of the intervals, the prior of the classes within each interval, and the
    likelihood. The cut points are quantiles: the candidates are the boundaries of about ``sqrt(n)`` cells of equal
    frequency, from 32 to 256. Among them the minimum is exact.

    If fewer than three intervals are best, cut points are added that make the three intervals as even as possible.

    Parameters
    ----------
    values : ndarray of shape (rows,)
        Numbers, without NaN.
    classes : RowClasses
        The class of each row.
    weights : ndarray of shape (rows,) or None
        Weight of each row. A weight of two equals two rows.
    max_intervals : int, default=16
        Maximum number of intervals.

    Returns
    -------
    cuts : list of float
        Values that occur, in ascending order. A number equal to a cut point belongs to the interval below it.

    Examples
    --------
    >>> values = np.arange(100.0)
    >>> modl_cuts(values, RowClasses(((values > 24) & (values < 75)).astype(int), 2), None)
    [24.0, 74.0]
    """
    total = float(len(values) if weights is None else weights.sum())
    cells = int(np.clip(np.ceil(np.sqrt(total)), MIN_CELLS, MAX_CELLS))
    if not len(values):
        return []
    if weights is None:
        candidates, counts = _cells(values, classes, cells)
    else:
        candidates, counts = _weighted_cells(values, classes, weights, cells)
    intervals = np.arange(1, min(max_intervals, len(counts)) + 1)
    prior = gammaln(total + intervals) - gammaln(intervals) - gammaln(total + 1)
    # The likelihood of the cells themselves is higher than that of any partition that joins some of them.
    least = float(xlogy(counts.sum(axis=1), counts.sum(axis=1)).sum() - xlogy(counts, counts).sum())
    tolerance = TOLERANCE * max(total, 1.0)
    ends = best_partition(segment_costs(counts), prior, least - tolerance, tolerance)
    ends = _with_even_intervals(ends, counts.sum(axis=1), min(MIN_INTERVALS, max_intervals))
    cuts: list[float] = candidates[ends - 1].tolist()
    return cuts


def _cells(values: Floats, classes: RowClasses, cells: int) -> tuple[Floats, Floats]:
    """Return the cut points between cells of equal frequency, and the number of rows of each class in each cell.

    Sorting is vectorised, and so faster than looking up the cell of each value. Only the rows outside the most frequent
    class are sorted by class: its own counts follow from those of all rows.
    """
    ordered = np.sort(values)
    cuts = np.array(cuts_of_sorted(ordered, cells))
    others = values[classes.others]
    below = np.zeros((classes.n_classes, len(cuts) + 2), np.int64)
    start = 0
    for c, size in enumerate(classes.sizes):
        if c != classes.largest and size:
            below[c, 1:-1] = np.searchsorted(np.sort(others[start : start + size]), cuts, side="right")
            below[c, -1] = size
            start += size
    below[classes.largest, 1:-1] = np.searchsorted(ordered, cuts, side="right")
    below[classes.largest, -1] = len(ordered)
    below[classes.largest] -= np.delete(below, classes.largest, axis=0).sum(axis=0)
    return cuts, np.ascontiguousarray(np.diff(below, axis=1).T, np.float64)


def _weighted_cells(values: Floats, classes: RowClasses, weights: Floats, cells: int) -> tuple[Floats, Floats]:
    """Return the cut points between cells of equal weight, and the weight of each class in each cell."""
    cuts = np.array(quantile_cuts(values, weights, cells))
    cell = np.searchsorted(cuts, values, side="left")
    n = classes.n_classes
    counts: Floats = np.bincount(cell * n + classes.codes, weights, (len(cuts) + 1) * n).astype(np.float64)
    return cuts, counts.reshape(-1, n)


def _with_even_intervals(ends: NDArray[np.int64], weights: Floats, wanted: int) -> NDArray[np.int64]:
    """Add ends of intervals until there are `wanted` intervals, at most three, with weights as even as possible.

    >>> _with_even_intervals(np.array([], np.int64), np.ones(9), 3)
    array([3, 6])
    >>> _with_even_intervals(np.array([1]), np.ones(9), 3)
    array([1, 5])
    """
    wanted = min(wanted, len(weights))
    if len(ends) + 1 >= wanted:
        return ends
    below = np.concatenate([[0.0], np.cumsum(weights)])
    inner = np.arange(1, len(weights))
    first, last = (inner, inner) if wanted == 2 else (pair.ravel() for pair in np.meshgrid(inner, inner, indexing="ij"))
    allowed = first == last if wanted == 2 else first < last
    for end in ends:
        allowed &= (first == end) | (last == end)
    first, last = first[allowed], last[allowed]
    unevenness = below[first] ** 2 + (below[last] - below[first]) ** 2 + (below[-1] - below[last]) ** 2
    best = int(np.argmin(np.round(unevenness / below[-1] ** 2, 12)))
    return np.unique([first[best], last[best]])
