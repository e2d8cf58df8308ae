"""Sentences about parameters whose values cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np


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
