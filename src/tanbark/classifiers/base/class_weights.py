"""Weights and prior probabilities of classes, given by label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers.base.validation import MAX_POSITIVE, MIN_POSITIVE
from tanbark.messages import first_values

Array = NDArray[np.float64]


def check_class_weight(class_weight: Any) -> None:
    """Raise ValueError if a given `class_weight` is neither "balanced" nor a mapping of classes to positive numbers."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be 'balanced', None or a dict of weights by class, such as {{'yes': 3}}, got "
            f"{class_weight!r}"
        )
    for label, weight in class_weight.items():
        is_number = isinstance(weight, Real) and not isinstance(weight, bool)
        # Numbers of numpy would be compared in their own precision.
        plain = weight.item() if isinstance(weight, np.generic) else weight
        if not is_number or not MIN_POSITIVE <= plain <= MAX_POSITIVE:
            raise ValueError(
                f"class_weight of {label!r} must be a positive number (from {MIN_POSITIVE} to {MAX_POSITIVE}), got "
                f"{weight!r}"
            )


def is_balanced(class_weight: Any) -> bool:
    """Return whether a valid `class_weight` depends on the rows."""
    return isinstance(class_weight, str)


def check_weighted_classes(class_weight: Any, classes: Sequence[Any]) -> None:
    """Raise ValueError if a valid `class_weight` names a label that is not a class."""
    for label in class_weight if isinstance(class_weight, Mapping) else ():
        if label not in classes:
            raise ValueError(
                f"class_weight names {label!r}, which is not a class; the classes are {first_values(classes)}"
            )


def factors_of_classes(class_weight: Any, classes: Sequence[Any], class_counts: NDArray[np.number[Any]]) -> Array:
    """Return the factor of each class by a given, valid `class_weight`.

    "balanced" is ``n / (k * n_c)`` for a class of weight ``n_c``, where ``n`` is the weight of all rows and ``k`` the
    number of classes that occur. A class that does not occur, or that a mapping does not name, has the factor 1.

    Parameters
    ----------
    class_weight : "balanced" or mapping
    classes : sequence
        The labels of the classes.
    class_counts : array of shape (classes,)
        The number, or total weight, of the rows of each class.

    Returns
    -------
    factors : array of shape (classes,)
    """
    factors = np.ones(len(classes))
    if is_balanced(class_weight):
        occurs = class_counts > 0
        known = class_counts[occurs].astype(np.float64)
        factors[occurs] = known.sum() / (len(known) * known)
        return factors
    for k, label in enumerate(classes):
        factors[k] = class_weight.get(label, 1.0)
    return factors


def log_prior_of(class_prior: Any, classes: Sequence[Any]) -> Array:
    """Return the logarithm of a given class prior.

    Parameters
    ----------
    class_prior : array, mapping or "uniform"
    classes : sequence
        The labels of the classes.

    Returns
    -------
    log_prior : array of shape (classes,)

    Raises
    ------
    ValueError
        If the prior does not give each class a probability, or the probabilities do not sum to 1.
    """
    expected = f"class_prior must be {len(classes)} probabilities that sum to 1, in the order of classes_ or by class"
    if isinstance(class_prior, str):
        if class_prior != "uniform":
            raise ValueError(f"{expected}, or 'uniform', got {class_prior!r}")
        return np.full(len(classes), -np.log(len(classes)))
    if isinstance(class_prior, Mapping):
        for label in class_prior:
            if label not in classes:
                known = first_values(classes)
                raise ValueError(f"{expected}, but it names {label!r}, which is not a class; the classes are {known}")
        for label in classes:
            if label not in class_prior:
                raise ValueError(f"{expected}, but it leaves the class {label!r} out")
    given = [class_prior[label] for label in classes] if isinstance(class_prior, Mapping) else class_prior
    try:
        prior = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError):
        prior = np.empty(0)
    if prior.shape != (len(classes),) or not (prior >= 0).all() or not np.isclose(prior.sum(), 1.0):
        raise ValueError(f"{expected}, got {class_prior!r}")
    with np.errstate(divide="ignore"):
        log_prior: Array = np.log(prior / prior.sum())
    return log_prior
