"""Sparse conditional probability tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import MAX_CELL_KEYS, MAX_DENSE_CELLS
from tanbark.immutable import Immutable
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class SparseTable(Immutable):
    """Sparse log probabilities of a node, stored only for observed configurations of its attribute parents.

    Parameters
    ----------
    shape : tuple of int
        Shape of the dense table: one axis for each parent, in the order of ``structure.parents``, followed by the axis
        of the node's own values.
    class_axis : int or None
        The axis of the class, None if the class is not a parent.
    keys : ndarray of int64, of shape (n_observed,)
        The observed configurations, in ascending order, as indices into a flattened row-major array over the attribute
        parents.
    rows : ndarray of shape (n_observed, n_classes, n_values)
        Log probabilities under the observed configurations. `n_classes` is 1 if the class is not a parent.
    default : ndarray of shape (n_classes, n_values)
        Log probabilities under all other configurations.

    Examples
    --------
    >>> seen, default = np.log([[[0.9, 0.1]]]), np.log([[0.5, 0.5]])
    >>> table = SparseTable((3, 2), None, np.array([1]), seen, default)
    >>> np.exp(table.dense())
    array([[0.5, 0.5],
           [0.9, 0.1],
           [0.5, 0.5]])
    """

    shape: tuple[int, ...]
    class_axis: int | None
    keys: NDArray[np.int64]
    rows: Array
    default: Array

    def __post_init__(self) -> None:
        keys = self.keys
        if not self._attributes:
            raise ValueError("a sparse table needs at least one attribute among the parents")
        configurations = math.prod(self._attributes)
        if configurations * math.prod(self._row_shape) >= MAX_CELL_KEYS:
            raise ValueError(f"a table of shape {self.shape} has too many cells for 64-bit keys; use fewer parents")
        if keys.dtype != np.int64 or keys.ndim != 1 or not (keys[1:] > keys[:-1]).all():
            raise ValueError("the keys of a sparse table must be int64 in ascending order")
        if len(keys) and not 0 <= keys[0] <= keys[-1] < configurations:
            raise ValueError(f"a sparse table has a key outside its {configurations:,} configurations")
        if self.rows.shape != (len(keys), *self._row_shape) or self.default.shape != self._row_shape:
            raise ValueError(f"the rows or the default of a sparse table of shape {self.shape} have the wrong shape")
        super().__post_init__()

    @property
    def _attributes(self) -> tuple[int, ...]:
        """Arity of each attribute parent."""
        return tuple(r for axis, r in enumerate(self.shape[:-1]) if axis != self.class_axis)

    @property
    def _row_shape(self) -> tuple[int, int]:
        return (1 if self.class_axis is None else self.shape[self.class_axis], self.shape[-1])

    def dense(self) -> Array:
        """Return the table as a dense array.

        Returns
        -------
        table : ndarray of shape `shape`

        Raises
        ------
        ValueError
            If the table is too large.
        """
        cells = math.prod(self.shape)
        if cells > MAX_DENSE_CELLS:
            raise ValueError(f"a table of shape {self.shape} has {cells:,} cells, too many for a dense array")
        table = np.tile(self.default, (math.prod(self._attributes), 1, 1))
        table[self.keys] = self.rows
        if self.class_axis is None:
            return table.reshape(self.shape)
        return np.moveaxis(table.reshape(*self._attributes, *self._row_shape), -2, self.class_axis)

    def at(self, values: Sequence[NDArray[np.int64]]) -> Array:
        """Return the log probabilities under given values of the parents.

        Parameters
        ----------
        values : sequence of ndarray of shape (n_rows,)
            The values of each parent.

        Returns
        -------
        log_probabilities : ndarray of shape (n_rows, n_values)
        """
        n_rows = len(values[0])
        configuration = np.zeros(n_rows, np.int64)
        classes = np.zeros(n_rows, np.int64) if self.class_axis is None else values[self.class_axis]
        for axis, value in enumerate(values):
            if axis != self.class_axis:
                configuration = configuration * self.shape[axis] + value
        place = np.searchsorted(self.keys, configuration)
        seen = place < len(self.keys)
        seen[seen] = self.keys[place[seen]] == configuration[seen]
        out = self.default[classes]
        out[seen] = self.rows[place[seen], classes[seen]]
        return out
