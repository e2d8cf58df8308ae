"""Folds that divide the weight of rows instead of the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit


@njit(nogil=True, cache=True)
def _deal(weights: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    folds = len(out)
    fold = 0
    for row in range(len(weights)):
        units = np.floor(weights[row])
        # Remainders are exact, even of weights beyond 2**53.
        remainder = np.fmod(units, folds)
        for f in range(folds):
            out[f, row] = (units - remainder) / folds
        for _ in range(int(remainder)):
            out[fold, row] += 1.0
            fold = (fold + 1) % folds
        fraction = weights[row] - units
        if fraction > 0:
            out[fold, row] += fraction
            fold = (fold + 1) % folds


def class_folds(
    weights: NDArray[np.float64], classes: NDArray[np.integer], keys: NDArray[np.uint64], folds: int
) -> NDArray[np.float64]:
    """Return the weight that each row has in each fold, dealt class by class in the order of the keys.

    With fewer units of weight than folds, there are fewer folds.

    >>> class_folds(np.array([1.0, 0.5, 1.0]), np.array([1, 0, 0]), np.array([7, 9, 3], np.uint64), 5)
    array([[0. , 0. , 1. ],
           [0. , 0.5, 0. ],
           [1. , 0. , 0. ]])
    """
    order = np.lexsort([keys, classes])
    out = np.empty((folds, len(weights)))
    out[:, order] = deal_weights(weights[order], folds)
    used: NDArray[np.float64] = out[out.sum(axis=1) > 0]
    return used


def deal_weights(weights: NDArray[np.float64], folds: int) -> NDArray[np.float64]:
    """Return the weight that each row has in each fold, of shape (folds, rows).

    Whole units of weight are dealt to the folds in turn, in the order of the rows; a fraction that is left goes to the
    next fold. If the rows are sorted by class, the classes are divided evenly.

    >>> deal_weights(np.array([3.0, 1.5, 1.0]), 2)
    array([[2. , 0.5, 0. ],
           [1. , 1. , 1. ]])
    """
    out = np.zeros((folds, len(weights)))
    _deal(weights, out)
    return out
