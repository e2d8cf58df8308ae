"""Parameter validation, and methods that depend on parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state


def check_choice(name: str, value: Any, allowed: Any) -> None:
    """Raise ValueError if a parameter is not one of the allowed strings."""
    if not isinstance(value, str) or value not in allowed:
        choices = " or ".join(map(repr, allowed))
        raise ValueError(f"{name} must be {choices}, got {value!r}")


def check_number(name: str, value: Any, least: int) -> None:
    """Raise ValueError if a parameter is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


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
