"""Classes that are intervals of a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tanbark.schema.encode.columns import Number


def checked_class_cuts(cuts: Any) -> tuple[float, ...]:
    """Return cut points as a tuple; raise ValueError unless they are increasing finite numbers.

    >>> checked_class_cuts([20, 35])
    (20.0, 35.0)
    """
    numbers = [cut for cut in cuts if isinstance(cut, int | float) and not isinstance(cut, bool)]
    valid = len(numbers) == len(cuts) and all(np.isfinite(numbers)) and all(np.diff(numbers) > 0)
    if not valid:
        raise ValueError(f"class_cuts must be increasing finite numbers, got {cuts!r}")
    return tuple(float(cut) for cut in numbers)


def interval_labels(cuts: Sequence[float]) -> tuple[str, ...]:
    """Return the names of the intervals between cut points, in order.

    >>> interval_labels([20.0, 35.0])
    ('<= 20', '(20, 35]', '> 35')
    """
    return Number("class", tuple(cuts)).labels


def intervals_of(cuts: Sequence[float], numbers: ArrayLike) -> list[str | None]:
    """Return the name of the interval of each number, None if it is NaN.

    >>> intervals_of([20.0, 35.0], [20.0, 20.5, float("nan"), 99.0])
    ['<= 20', '(20, 35]', None, '> 35']
    """
    values = np.asarray(numbers, np.float64)
    places = np.where(np.isnan(values), len(cuts) + 1, np.searchsorted(np.asarray(cuts, np.float64), values))
    labels = [*interval_labels(cuts), None]
    return [labels[place] for place in places.tolist()]
