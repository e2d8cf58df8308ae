"""Which rows are held out together, and which of the others are learned from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Places = NDArray[np.int64]


def stratified_folds(classes: Places, folds: int, seed: int | tuple[int, ...] = 0) -> Places:
    """Return the fold of each row, so that every class is spread over the folds as evenly as can be.

    A class of fewer rows than folds is in as many folds as it has rows.

    >>> import numpy as np
    >>> sorted(stratified_folds(np.array([0, 0, 0, 1, 1, 1]), 3).tolist())
    [0, 0, 1, 1, 2, 2]
    """
    shuffled = np.random.default_rng(seed).permutation(len(classes))
    turns = _narrow(np.arange(len(classes)) % folds)
    fold = np.empty_like(turns)
    fold[shuffled[np.argsort(_narrow(classes)[shuffled], kind="stable")]] = turns
    return fold.astype(np.int64)


def _narrow(values: Places) -> NDArray[np.integer]:
    """Return small numbers in two bytes, which numpy sorts by radix, and which leave the cache to others."""
    return values.astype(np.uint16) if values.max(initial=0) < 2**16 else values


@dataclass(frozen=True)
class Split:
    """Rows grouped by their fold.

    Parameters
    ----------
    fold : array of shape (rows,)
    order : array of shape (rows,)
        The rows, those of the first fold first.
    bounds : array of shape (folds + 1,)
        Where in `order` each fold begins.
    """

    fold: Places
    order: Places
    bounds: Places

    @classmethod
    def of(cls, fold: Places) -> Split:
        """Return the rows grouped by these folds."""
        return cls(fold, np.argsort(_narrow(fold), kind="stable"), np.r_[0, np.cumsum(np.bincount(fold))])

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def at(self, k: int) -> slice:
        """Return where in `order` a fold is."""
        return slice(int(self.bounds[k]), int(self.bounds[k + 1]))

    def inside(self, k: int) -> Places:
        """Return the rows of a fold, in ascending order."""
        return self.order[self.at(k)]

    def outside(self, k: int) -> Places:
        """Return the rows of all other folds, in ascending order."""
        return np.flatnonzero(self.fold != k)


def stratified_share(classes: Places, rows: Places, share: float, seed: int | tuple[int, ...]) -> Places:
    """Return a share of some rows, in ascending order: of each class alike, rounded up to whole rows.

    With the same seed a smaller share is part of a larger one.

    >>> import numpy as np
    >>> classes = np.repeat([0, 1], [90, 9])
    >>> tenth = stratified_share(classes, np.arange(99), 0.1, seed=0)
    >>> np.bincount(classes[tenth])
    array([9, 1])
    >>> set(tenth) <= set(stratified_share(classes, np.arange(99), 0.5, seed=0))
    True
    """
    if share == 1.0:
        return rows
    shuffled = rows[np.random.default_rng(seed).permutation(len(rows))]
    found = [shuffled[classes[shuffled] == k] for k in np.unique(classes[rows])]
    # A product such as 0.07 * 100 is a little above the whole number that it stands for.
    return np.sort(np.concatenate([of_one[: int(np.ceil(share * len(of_one) - 1e-9))] for of_one in found]))
