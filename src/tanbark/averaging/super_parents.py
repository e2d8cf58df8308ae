"""All networks in which one attribute is above all others, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.kernels.frozen import frozen
from tanbark.kernels.super_parents import leave_out, member_log_joints
from tanbark.kernels.threads import pieces, run, thread_count
from tanbark.network import Network, Structure
from tanbark.parameters import Smoothing, children_tables, value_tables
from tanbark.parameters.conditional import conditional
from tanbark.schema import Schema
from tanbark.schema.columns import Codes

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SuperParents:
    """Super-parent networks: ``P(class) P(x_i | class) prod_j P(x_j | x_i, class)`` for each of some attributes `i`.

    Parameters
    ----------
    offset : array of shape (attributes + 1,)
        Where each attribute's values begin among all values.
    members : array
        The attributes that are super-parents.
    own : array of shape (values, classes)
        ``log P(class, i)``.
    pairs : array of shape (values, classes, values)
        ``log P(j | i, class)`` at ``[i, class, j]``, zero within an attribute.
    """

    offset: NDArray[np.int64]
    members: NDArray[np.int64]
    own: Array
    pairs: Array

    @classmethod
    def of(cls, counts: Counts, members: NDArray[np.int64], parameters: str, ess: float) -> SuperParents:
        """Return the networks that the counts make (eq 1 of Li et al. 2007)."""
        log_prior, alone = value_tables(counts, parameters, ess)
        pairs = children_tables(counts, Smoothing.of(counts, parameters, ess))
        return cls(counts.schema.offset, members, log_prior + alone, pairs)

    def __len__(self) -> int:
        return len(self.members)

    def only(self, at: Sequence[int]) -> SuperParents:
        """Return some of them."""
        return replace(self, members=self.members[list(at)])

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members)."""
        rows = codes.shape[1]
        out = np.empty((rows, self.own.shape[1], len(self.members)))
        threads = thread_count(n_jobs, rows)
        call = partial(member_log_joints, codes, *map(frozen, (self.offset, self.own, self.pairs, self.members)))
        steps = out[:1].size * len(codes)
        run([partial(call, *span, out) for span in pieces(rows, threads, steps)], threads)
        return out

    def left_out_log_joints(
        self, rows: Rows, counts: Counts, parameters: str, ess: float, n_jobs: int | None = None
    ) -> Array:
        """Return the log joints of training rows, each under the networks that are learned without it.

        Of each row one unit of its weight is subtracted from the counts, or all of it if that is less: rows that are
        repeated are left out one at a time.
        """
        prior = Smoothing.of(counts, parameters, ess)
        table = counts.table.astype(np.float64)
        call = partial(
            leave_out,
            rows.codes,
            rows.classes.astype(np.int64),
            rows.each,
            self.offset,
            table,
            counts.class_counts.astype(np.float64),
            np.add.reduceat(table, self.offset[:-1], axis=2),
            prior.cell,
            prior.mass,
            prior.own_cell,
            prior.own_mass,
            prior.class_cell,
            prior.softening,
            self.members,
        )
        out = self.log_joints(rows.codes, n_jobs)
        threads = thread_count(n_jobs, len(out) * len(self))
        steps = out[:1].size * len(rows.codes)
        run([partial(call, *span, out) for span in pieces(len(out), threads, steps)], threads)
        return out

    @staticmethod
    def left_out_log_prior(rows: Rows, counts: Counts, parameters: str, ess: float) -> Array:
        """Return the log class prior that is learned without each row, of shape (rows, classes)."""
        seen = np.tile(counts.class_counts.astype(np.float64), (len(rows.classes), 1))
        at = np.arange(len(seen)), rows.classes
        seen[at] = np.maximum(seen[at] - np.minimum(rows.each, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(conditional(parameters, seen, seen, ess, seen.shape[1])))

    def network(self, schema: Schema, log_prior: Array, member: int) -> Network:
        """Return the network of which attribute `member` is the super-parent."""
        blocks = [slice(int(a), int(b)) for a, b in pairwise(self.offset)]
        tables = [self.pairs[blocks[member], :, block] for block in blocks]
        with np.errstate(invalid="ignore"):
            alone = (self.own[blocks[member]] - log_prior).T
        # A class that was never seen has no distribution of its own.
        tables[member] = np.where(np.isnan(alone), -np.log(alone.shape[1]), alone)
        parent = [-1 if u == member else member for u in range(len(blocks))]
        return Network(schema, Structure.augmented(parent), (*tables, log_prior))
