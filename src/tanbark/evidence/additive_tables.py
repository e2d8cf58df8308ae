"""Additive tables: a model compiled to one table of class scores for each attribute."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.evidence.parent_selection import Parents
from tanbark.evidence.questions import Array, Integers
from tanbark.immutable import Immutable, read_only
from tanbark.kernels.evidence.table_lookup import add_entries, copy_entries
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.schema.encode.columns import Codes


@dataclass(frozen=True, eq=False)
class AdditiveTables(Immutable):
    """The score of each class is the sum of one entry for each attribute.

    Parameters
    ----------
    tables : tuple of arrays of shape (digits of each parent, arity + 1, classes)
        Entries by the digits of the attribute's parents and its code. The last code stands for missing and unseen
        values, and has entries of zero. The last digit of a parent stands for them, too.
    parents : tuple of tuples of int
        The parents of each attribute.
    digits : tuple of arrays of shape (arity + 1,)
        The digit of each code of an attribute as a parent.

    Notes
    -----
    With parents ``p`` and ``q``, the entries of attribute ``u`` are
    ``tables[u][digits[p][code of p], digits[q][code of q], code of u]``.
    """

    tables: tuple[Array, ...]
    parents: Parents
    digits: tuple[Integers, ...]

    def add_to(self, scores: Array, codes: Codes, n_jobs: int | None = None) -> None:
        """Add the entries of encoded rows to ``scores[row, class]``."""
        steps = len(codes) * scores.shape[1] * 2
        task = partial(add_entries, read_only(codes), *self._layout)
        run_over_rows(lambda low, high: task(low, high, scores), codes.shape[1], n_jobs, steps, codes.size // 4)

    def entries(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the entries of encoded rows, of shape (rows, 1 + attributes, classes), after zeros for the prior."""
        out = np.zeros((codes.shape[1], 1 + len(codes), self.tables[0].shape[-1]))
        task = partial(copy_entries, read_only(codes), *self._layout)
        run_over_rows(lambda low, high: task(low, high, out), codes.shape[1], n_jobs, out[:1].size)
        return out

    @cached_property
    def _layout(self) -> tuple[NDArray[np.int64] | Array, ...]:
        """The arrays that the kernels read."""
        n = len(self.tables)
        arity = np.array([table.shape[-2] - 1 for table in self.tables], np.int64)
        depth = max(1, *map(len, self.parents)) if n else 1
        parents, strides = np.full((n, depth), -1, np.int64), np.zeros((n, depth), np.int64)
        for u, (above, table) in enumerate(zip(self.parents, self.tables, strict=True)):
            parents[u, : len(above)] = above
            for i in range(len(above)):
                strides[u, i] = np.prod(table.shape[i + 1 : -1])
        entries = [table.reshape(-1, table.shape[-1]) for table in self.tables]
        digit_start = np.concatenate([[0], np.cumsum(arity + 1)]).astype(np.int64)
        table_start = np.concatenate([[0], np.cumsum([len(table) for table in entries])]).astype(np.int64)
        arrays = arity, digit_start, np.concatenate(self.digits), parents, strides, table_start
        return (*map(read_only, arrays), read_only(np.concatenate(entries)))
