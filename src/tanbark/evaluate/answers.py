"""What a classifier says of rows, having learned from others."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Array = NDArray[np.float64]
Note = tuple[type[Warning], str]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a classifier said of the rows of a fold, and what there is to know of how it came to it.

    Parameters
    ----------
    log_probabilities : array of shape (rows of the fold, classes)
    classes : array
        Those that it knows.
    learned_from : int
        How many rows.
    fit_seconds, predict_seconds : float
    notes : frozenset
        What it warned of.
    """

    log_probabilities: Array
    classes: NDArray[Any]
    learned_from: int
    fit_seconds: float
    predict_seconds: float
    notes: frozenset[Note] = frozenset()


def learn(model: Any, X: Any, y: Any, test: Any) -> Answer:
    """Return what a classifier that learned from some rows says of others."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="ignore"):
        warnings.simplefilter("always")
        began = time.perf_counter()
        fitted = clone(model).fit(X, y)
        learned = time.perf_counter()
        if hasattr(fitted, "predict_log_proba"):
            found = np.asarray(fitted.predict_log_proba(test), np.float64)
        elif hasattr(fitted, "predict_proba"):
            found = np.log(np.asarray(fitted.predict_proba(test), np.float64))
        else:
            raise TypeError(f"{type(fitted).__name__} gives no probabilities; put it into a CalibratedClassifierCV")
        now = time.perf_counter()
    if np.isnan(found).any():
        raise ValueError(f"{type(fitted).__name__} gives probabilities that are not numbers")
    notes = frozenset((warning.category, str(warning.message)) for warning in caught)
    return Answer(found, fitted.classes_, len(y), learned - began, now - learned, notes)


def with_others(classes: NDArray[Any], known: list[NDArray[Any]]) -> NDArray[Any]:
    """Return classes, and after them those that some classifier knows beside."""
    others = dict.fromkeys(label for labels in known for label in labels.tolist() if label not in set(classes.tolist()))
    kind = object if classes.dtype == object else None
    return np.array([*classes.tolist(), *others], kind) if others else classes


def aligned(log_probabilities: Array, classes: NDArray[Any], wanted: NDArray[Any]) -> Array:
    """Return log probabilities of all classes; one that was not known had none."""
    if np.array_equal(classes, wanted):
        return log_probabilities
    out = np.full((len(log_probabilities), len(wanted)), -np.inf)
    place = {label: at for at, label in enumerate(wanted.tolist())}
    out[:, [place[label] for label in classes.tolist()]] = log_probabilities
    return out
