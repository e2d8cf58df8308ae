"""Warnings that point to the user's code."""

import sys
import warnings


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that is attributed to the nearest caller outside tanbark."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tanbark."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
