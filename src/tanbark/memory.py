"""How much memory there is."""

from __future__ import annotations

import re
from pathlib import Path

import psutil

SHARE = 0.8
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
DETAILS = ("/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat")
UNCHECKED = 64 * 2**20
"""So little there always is: what needs no more is not compared with what is free, which takes a moment to find."""


def most_of_free() -> float:
    """Return most of the memory that is free, in bytes, within what a container allows."""
    free = float(psutil.virtual_memory().available)
    for limit, used, details in zip(LIMITS, USED, DETAILS):
        try:
            left = float(Path(limit).read_text()) - float(Path(used).read_text())
            # What is used has files in it that were read, which give way.
            files = re.search(r"^(?:total_)?inactive_file (\d+)$", Path(details).read_text(), re.MULTILINE)
            free = min(free, left + (float(files[1]) if files else 0.0))
        except (OSError, ValueError):
            continue
    return SHARE * free


def check_free(needed: float, what: str, instead: str) -> None:
    """Raise a sentence where something needs more memory than may be used, with the numbers and what to do instead.

    A process that takes more than there is gets no error: the system kills it.
    """
    if needed <= UNCHECKED:
        return
    room = most_of_free()
    if needed > room:
        raise ValueError(
            f"{what} needs {size_in_words(needed)}, but {size_in_words(room)} may be used (most of what is free); "
            f"{instead}"
        )


def size_in_words(size: float) -> str:
    """Return a size in words.

    >>> size_in_words(3 * 2**30), size_in_words(5_000_000), size_in_words(2000), size_in_words(2**99)
    ('3.0 GiB', '4.8 MiB', '2,000 bytes', 'more than a billion GiB')
    """
    if size > 1e9 * 2**30:
        return "more than a billion GiB"
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if size >= 2**power:
            return f"{size / 2**power:,.1f} {unit}"
    return f"{size:,.0f} bytes"
