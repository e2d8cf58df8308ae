"""Trees that vote, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.average.pooling import tally_votes
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import pieces, run, thread_count
from tanbark.network import Network
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Committee:
    """Trees over the same attributes, laid out one after the other for the kernel, and the weights of their votes."""

    order: Integers
    parent: Integers
    arity: Integers
    start: Integers
    tables: Array
    log_prior: Array
    weights: Array

    @classmethod
    def of(cls, networks: Sequence[Network], weights: Array) -> Committee:
        """Return the committee of some networks, all of which are trees."""
        trees = [network.tree for network in networks if network.tree is not None]
        if len(trees) < len(networks):
            raise ValueError("only trees can vote")
        before = np.cumsum([0, *(len(tree.tables) for tree in trees)])
        return cls(
            np.stack([tree.order for tree in trees]),
            np.stack([tree.parent for tree in trees]),
            trees[0].arity,
            np.stack([tree.start + at for tree, at in zip(trees, before)]),
            np.concatenate([tree.tables for tree in trees]),
            np.stack([tree.log_prior for tree in trees]),
            weights,
        )

    def shares(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return each class's share of the votes on each row, of shape (rows, classes)."""
        rows = codes.shape[1]
        tally = np.zeros((rows, self.log_prior.shape[1]))
        room = np.empty_like(tally), np.empty(rows, np.int64)
        layout = (self.order, self.parent, self.arity, self.start, self.tables, self.log_prior, self.weights)
        call = partial(tally_votes, codes, *map(frozen, layout))
        threads = thread_count(n_jobs, rows)
        steps = self.parent.size * tally.shape[1]
        run([partial(call, *span, *room, tally) for span in pieces(rows, threads, steps)], threads)
        return np.asarray(tally / self.weights.sum())
