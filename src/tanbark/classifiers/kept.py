"""What a model file says beside counts and tables, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers._base.counts_classifier import Array
from tanbark.classifiers._base.parameter_checks import check_number

MOST_RATIO = 1e4
"""Of the logarithm of one probability divided by another, neither of which is zero; floats have none beyond 750."""


def kept_seed(state: Mapping[str, Any]) -> int:
    """Return the seed that a model file has."""
    check_number("its seed", state["seed"], 0)
    return int(state["seed"])


def kept_number(state: Mapping[str, Any], name: str) -> float:
    """Return a number, which may be infinite, that a model file has."""
    number = state[name]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"its {name} is no number")
    return float(number)


def prior_ratio(arrays: dict[str, NDArray[Any]], classes: int) -> Array:
    """Return the log of what posteriors are multiplied by, as a model file has it."""
    ratio: Array = arrays["prior_ratio"]
    if ratio.shape != (classes,) or ratio.dtype != np.float64 or not (ratio < MOST_RATIO).all():
        raise ValueError("its ratio of priors cannot be")
    return ratio
