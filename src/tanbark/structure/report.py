"""How a long search tells how far it is."""

from collections.abc import Callable

Report = Callable[[str, float], None]
"""Called with what is being done and which share of it is done, NaN where nobody knows."""


def silent(words: str, share: float) -> None:
    """Tell nothing."""
