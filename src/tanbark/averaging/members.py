"""What a pool is made of: networks or classifiers, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.network import Network
from tanbark.schema.columns import Codes

Array = NDArray[np.float64]

FOLDS = 10


class Members(Protocol):
    """Some models of the same classes."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members).

        It may lack something that is the same for all classes.
        """


class Networks(tuple[Network, ...]):
    """Networks over the same schema."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and network, of shape (rows, classes, networks)."""
        return np.stack([network.log_joint(codes, n_jobs) for network in self], axis=2)


def by_folds(rows: Rows, counts: Counts, learn: Callable[[Counts, Rows], Members], n_jobs: int | None = None) -> Array:
    """Return the log joints of the rows under members that were learned without them.

    The rows are distinct and in ascending order, class first; every tenth is in the same fold, so that the folds have
    all classes alike, and all copies of a row are in one.
    """
    fold = np.arange(len(rows.classes)) % FOLDS
    parts: dict[int, Array] = {}
    for which in np.unique(fold).tolist():
        inside = fold == which
        left, out = rows.take(~inside), rows.take(inside)
        theirs = Counts.of(rows.schema, out.codes, out.classes, out.each, counts.order, n_jobs)
        parts[which] = learn(counts - theirs, left).log_joints(out.codes, n_jobs)
    joints = np.empty((len(fold), *next(iter(parts.values())).shape[1:]))
    for which, part in parts.items():
        joints[fold == which] = part
    return joints
