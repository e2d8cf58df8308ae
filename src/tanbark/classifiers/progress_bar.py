"""A bar that shows how far a search is."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from tanbark.progress import Report, listener


@contextmanager
def progress_bar(shown: bool) -> Iterator[Report]:
    """Yield what a search reports to: a bar on stderr if `shown`, else whoever listens already."""
    if not shown:
        yield listener()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        tasks = {}

        def report(words: str, share: float) -> None:
            # Words with numbers in them, as those of a climb, change at every step and stay on one line.
            what = "climbing" if math.isnan(share) else words
            if what not in tasks:
                tasks[what] = bar.add_task(words, total=None if math.isnan(share) else 1.0)
            bar.update(tasks[what], description=words, completed=0.0 if math.isnan(share) else share)

        yield report
