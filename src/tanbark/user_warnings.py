"""Warnings that point at the user's line."""

import sys
import warnings


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Warn, naming as its place the first line on the way here that is not tanbark's own."""
    level = 2
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tanbark."):
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
