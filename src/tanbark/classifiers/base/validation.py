"""Validation of parameters and of the tables given to an estimator, and methods that depend on parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import update_wrapper
from numbers import Real
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from tanbark.schema import Encoder, Schema
from tanbark.schema.read.frame_alignment import ALIGN_ADVICE
from tanbark.schema.read.table_reader import Table, as_known_table, check_has_columns, read_table

MIN_POSITIVE, MAX_POSITIVE = 1e-100, 1e100
"""The range of parameters that must be positive."""


def check_choice(name: str, value: Any, allowed: Any) -> None:
    """Raise ValueError if a parameter is not one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        choices = " or ".join(map(repr, allowed))
        raise ValueError(f"{name} must be {choices}, got {value!r}")


def check_number(name: str, value: Any, least: int) -> None:
    """Raise ValueError if a parameter is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_positive(name: str, value: Any) -> None:
    """Raise ValueError if a parameter is not a positive number, or one whose square could overflow."""
    real = isinstance(value, Real) and not isinstance(value, bool)
    if not real or not MIN_POSITIVE <= value <= MAX_POSITIVE:
        raise ValueError(f"{name} must be a positive number (from {MIN_POSITIVE} to {MAX_POSITIVE}), got {value!r}")


def check_jobs(n_jobs: Any) -> None:
    """Raise ValueError if `n_jobs` is not a number of threads."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise TypeError if a parameter is not a boolean."""
    if not isinstance(value, bool | int | np.bool_) or value not in (0, 1):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def check_seed(random_state: Any) -> None:
    """Raise an error if `random_state` cannot seed a generator; it is not advanced."""
    if isinstance(random_state, int | np.integer):
        check_number("random_state", random_state, 0)
    elif not isinstance(random_state, np.random.RandomState | None):
        raise TypeError(f"random_state must be a whole number, a RandomState or None, got {random_state!r}")


def seed_of(random_state: Any) -> int:
    """Return `random_state` if it is a number, otherwise a number generated from it."""
    check_seed(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def report_unfitted(estimator: Any, name: str) -> Any:
    """Raise NotFittedError if an attribute is absent because the estimator is not fitted; used as ``__getattr__``."""
    is_fitted = any(key.endswith("_") and not key.startswith("_") for key in vars(estimator))
    if name.endswith("_") and not name.startswith("_") and not is_fitted:
        raise NotFittedError(
            f"this {type(estimator).__name__} is not fitted yet, so it has no attribute {name!r}; call fit first"
        )
    return object.__getattribute__(estimator, name)


class available_unless:  # noqa: N801 (a decorator)
    """Decorate a method that is available unless a function of the estimator returns a reason why not.

    Like scikit-learn's `available_if`, but the reason becomes the message of the AttributeError.
    """

    def __init__(self, reason: Callable[[Any], str | None]) -> None:
        self._reason = reason

    def __call__(self, method: Callable[..., Any]) -> Self:
        """Decorate the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self._method
        try:
            reason = self._reason(estimator)
        except Exception as error:
            raise AttributeError(f"{self._method.__name__} is not available with these settings ({error})") from error
        if reason is not None:
            raise AttributeError(reason)
        return MethodType(self._method, estimator)


def read_known_table(estimator: Any, X: Any, n_jobs: int | None, fitted: Mapping[str, Any] | None = None) -> Table:
    """Return the columns of a table after checking them against those that the estimator was fitted with.

    Parameters
    ----------
    estimator : estimator
    X : array, data frame or Arrow table
    n_jobs : int or None
    fitted : mapping, default=None
        The attributes of the estimator at the time of the call, if another thread may fit it meanwhile.
    """
    X = as_known_table(X)
    table = read_table(X, n_jobs)
    check_has_columns(table)
    fitted = vars(estimator) if fitted is None else fitted
    seen = {name: fitted[name] for name in ("n_features_in_", "feature_names_in_") if name in fitted}
    names = seen.get("feature_names_in_")
    same_names = table.names == (None if names is None else tuple(names))
    if not same_names or len(table.columns) != seen["n_features_in_"]:
        # scikit-learn's messages name the class of the estimator.
        checked = object.__new__(type(estimator))
        checked.__dict__ = seen
        try:
            validate_data(checked, X, reset=False, skip_check_array=True)
        except ValueError as error:
            if table.names is None or names is None:
                raise
            raise ValueError(f"{str(error).rstrip()}\n{ALIGN_ADVICE}") from None
    return table


def has_no_rows(X: Any) -> bool:
    """Return whether a table, or a column, has no rows."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return bool(shape) and not shape[0]
    return hasattr(X, "__len__") and not len(X)


def check_encoder(encoder: Any) -> None:
    """Raise an error if `encoder` is not an encoder, or has an invalid parameter."""
    if not isinstance(encoder, Encoder | Schema | None):
        raise TypeError(f"encoder must be an Encoder, a Schema or None, got {type(encoder).__name__!r}")
    if isinstance(encoder, Encoder):
        encoder.check()


def with_encoder(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters for `set_params`, with an Encoder to which ``encoder__...`` applies if there is none yet."""
    encoder = params.get("encoder", estimator.encoder)
    if not any(name.startswith("encoder__") for name in params):
        return params
    if isinstance(encoder, Schema):
        raise ValueError("encoder is a Schema, which has no settings; give an Encoder or None instead")
    return params if encoder is not None else {**params, "encoder": Encoder()}
