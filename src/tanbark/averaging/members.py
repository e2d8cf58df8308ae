"""What a pool is made of: networks or classifiers, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.network import Network
from tanbark.schema.columns import Codes

Array = NDArray[np.float64]

FOLDS = 10
MOST_CELLS = 2**23
"""How many rows times classes times members are looked at together."""


class Members(Protocol):
    """Some models of the same classes."""

    def __len__(self) -> int: ...

    def only(self, at: Sequence[int]) -> Self:
        """Return some of them."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members).

        It may lack something that is the same for all classes.
        """


@dataclass(frozen=True)
class Networks:
    """Networks over the same schema, and the seed of draws where a row lacks too much to be summed out."""

    networks: tuple[Network, ...]
    seed: int = 0

    def __len__(self) -> int:
        return len(self.networks)

    def only(self, at: Sequence[int]) -> Networks:
        """Return some of them."""
        return Networks(tuple(self.networks[m] for m in at), self.seed)

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and network, of shape (rows, classes, networks).

        A row that a network finds impossible in every class gets the network's prior.
        """
        joints = [network.log_joint(codes, n_jobs, seed=self.seed) for network in self.networks]
        for network, joint in zip(self.networks, joints):
            joint[np.isneginf(joint).all(axis=1)] = network.class_log_prior
        return np.stack(joints, axis=2)


def by_folds(
    rows: Rows,
    counts: Counts,
    learn: Callable[[Counts, Rows], Members],
    n_jobs: int | None = None,
    report: Callable[[str], None] = lambda words: None,
) -> Array:
    """Return the log joints of distinct rows under members that were learned without them, a tenth at a time.

    All copies of a row are in one fold, every class is spread over the folds as evenly as can be, and neither the order
    of rows nor that of columns decides. A single row is not held out.
    """
    if len(rows.classes) < 2:
        return learn(counts, rows).log_joints(rows.codes, n_jobs)
    order = np.lexsort((rows.keys(0), rows.classes))
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    joints = None
    for which in range(min(FOLDS, len(order))):
        report(f"leaving part {which + 1} of {FOLDS} out")
        inside = fold == which
        left, out = rows.take(~inside), rows.take(inside)
        theirs = Counts.of(rows.schema, out.codes, out.classes, out.each, counts.order, n_jobs)
        part = learn(counts - theirs, left).log_joints(out.codes, n_jobs)
        if joints is None:
            joints = np.empty((len(order), *part.shape[1:]))
        joints[inside] = part
    assert joints is not None
    return joints
