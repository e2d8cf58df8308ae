"""Parameter validation, and methods that depend on parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state


def check_choice(name: str, value: Any, allowed: Any) -> None:
    """Raise a sentence naming the parameter where its value is not among those allowed."""
    if not isinstance(value, str) or value not in allowed:
        words = " or ".join(map(repr, allowed))
        raise ValueError(f"{name} must be {words}, got {value!r}")


def check_number(name: str, value: Any, least: int) -> None:
    """Raise a sentence naming the parameter where its value is not a whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}, got {value!r}")


def check_jobs(n_jobs: Any) -> None:
    """Raise a sentence where `n_jobs` says nothing of how much may be done at once."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")


def check_flag(name: str, value: Any) -> None:
    """Raise a sentence naming the parameter where its value is neither true nor false."""
    if not isinstance(value, bool | int | np.bool_) or value not in (0, 1):
        raise TypeError(f"{name} must be True or False, got {value!r}")


def check_seed(random_state: Any) -> None:
    """Raise a sentence where nothing can be drawn from `random_state`, which is left as it is."""
    if isinstance(random_state, int | np.integer):
        check_number("random_state", random_state, 0)
    elif not isinstance(random_state, np.random.RandomState | None):
        raise TypeError(f"random_state must be a whole number, a RandomState or None, got {random_state!r}")


def seed_of(random_state: Any) -> int:
    """Return a number to draw from, which is `random_state` itself if that is one."""
    check_seed(random_state)
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


class offered_unless:
    """A method that is there unless a function of the estimator gives a reason, which is then the error's message.

    It is scikit-learn's `available_if`, but for the words that a person reads.
    """

    def __init__(self, reason: Callable[[Any], str | None]) -> None:
        self._reason = reason

    def __call__(self, method: Callable[..., Any]) -> Self:
        """Take the method."""
        self._method = method
        update_wrapper(self, method)
        return self

    def __get__(self, model: Any, owner: type | None = None) -> Any:
        if model is None:
            return self._method
        try:
            reason = self._reason(model)
        except Exception as error:
            raise AttributeError(f"{self._method.__name__} is not there with these settings ({error})") from error
        if reason is not None:
            raise AttributeError(reason)
        return MethodType(self._method, model)
