"""Seeds of draws."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from tanbark.classifiers.checks import check_number


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
