"""How much memory there is."""

from __future__ import annotations

from pathlib import Path

import psutil

SHARE = 0.8
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
USED = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")


def most_of_free() -> float:
    """Return most of the memory that is free, in bytes, within what a container allows."""
    free = float(psutil.virtual_memory().available)
    for limit, used in zip(LIMITS, USED):
        try:
            free = min(free, float(Path(limit).read_text()) - float(Path(used).read_text()))
        except (OSError, ValueError):
            continue
    return SHARE * free


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
