"""Available memory, and checks against it."""

from __future__ import annotations

import re
from math import inf
from pathlib import Path

import psutil

USABLE_SHARE = 0.8
"""Share of the free memory that may be used."""
CGROUP_LIMIT_FILES = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
CGROUP_USAGE_FILES = ("/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory/memory.usage_in_bytes")
CGROUP_STAT_FILES = ("/sys/fs/cgroup/memory.stat", "/sys/fs/cgroup/memory/memory.stat")
UNCHECKED_BYTES = 64 * 2**20
"""Up to this many bytes, the free memory is not checked, since the check itself takes time."""
LOAD_ADVICE = "free memory, or load the model on a machine with more"
"""What to do if a model file does not fit into memory."""


class MemoryLimitError(ValueError):
    """A task needs more memory than may be used."""


def usable_memory() -> float:
    """Return the memory in bytes that may be used: most of what is free within the limits of container and process."""
    free = float(psutil.virtual_memory().available)
    for limit, usage, stat in zip(CGROUP_LIMIT_FILES, CGROUP_USAGE_FILES, CGROUP_STAT_FILES, strict=True):
        try:
            left = float(Path(limit).read_text()) - float(Path(usage).read_text())
            # The usage includes cached files, which the kernel drops when memory is needed.
            cached = re.search(r"^(?:total_)?inactive_file (\d+)$", Path(stat).read_text(), re.MULTILINE)
            free = min(free, left + (float(cached[1]) if cached else 0.0))
        except (OSError, ValueError):
            continue
    return USABLE_SHARE * max(min(free, _left_of_address_space()), 0.0)


def _left_of_address_space() -> float:
    """Return the bytes that the process may still allocate under its own limit, `ulimit -v`, or infinity."""
    try:
        import resource
    except ImportError:  # Windows has no such limit.
        return inf
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return inf if limit == resource.RLIM_INFINITY else float(limit - psutil.Process().memory_info().vms)


def check_free_memory(needed: float, task: str, advice: str) -> None:
    """Raise MemoryLimitError if a task needs more bytes of memory than may be used.

    Without this check, the operating system would kill the process when memory runs out.
    """
    if needed <= UNCHECKED_BYTES:
        return
    usable = usable_memory()
    if needed > usable:
        raise MemoryLimitError(
            f"{task} needs {format_bytes(needed)}, but {format_bytes(usable)} may be used "
            f"({USABLE_SHARE:.0%} of the free memory); {advice}"
        )


def format_bytes(size: float) -> str:
    """Return a number of bytes as text with a unit.

    >>> format_bytes(3 * 2**30), format_bytes(5_000_000), format_bytes(2000), format_bytes(2**99)
    ('3.0 GiB', '4.8 MiB', '2,000 bytes', 'more than a billion GiB')
    """
    if size > 1e9 * 2**30:
        return "more than a billion GiB"
    for power, unit in ((30, "GiB"), (20, "MiB")):
        if size >= 2**power:
            return f"{size / 2**power:,.1f} {unit}"
    return f"{size:,.0f} bytes"
