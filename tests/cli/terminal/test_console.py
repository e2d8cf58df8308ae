"""Progress in the terminal: one line, which is a progress callback."""

import io

import pytest
from rich.console import Console
from rich.progress import Progress

from tanbark.cli.terminal.console import ProgressLine
from tanbark.progress import listener, listening


@pytest.fixture
def bar():
    """A bar whose clock is set by hand and which draws nothing."""
    now = [0.0]
    bar = Progress(console=Console(file=io.StringIO()), get_time=lambda: now[0], disable=True)
    bar.now = now
    return bar


def shown(bar):
    [task] = bar.tasks
    return task.description, task.completed, task.total, task.fields["detail"]


def test_a_task_is_shown_until_the_next_one_replaces_it(bar):
    line = ProgressLine(bar, "starting", None)
    assert shown(bar) == ("starting", 0, None, "")
    line("cross-validating", 2, 5)
    assert shown(bar) == ("cross-validating", 2, 5, "")
    line("learning", 0, None, "12 rows")
    assert shown(bar) == ("learning", 0, None, "12 rows")


def test_the_clock_restarts_with_a_new_task_but_not_with_each_step_of_a_search(bar):
    line = ProgressLine(bar, "learning", None)
    bar.now[0] = 10.0
    line("1 steps, log score -3.00", 1, None)
    line("2 steps, log score -2.00", 2, None)
    assert bar.tasks[0].elapsed == 10.0
    line("finding the best parents", 0, 8)
    assert bar.tasks[0].elapsed == 0.0


def test_rows_are_shown_with_their_pace(bar):
    line = ProgressLine(bar, "starting", None)
    for second, rows in enumerate((1000, 2000, 3000)):
        bar.now[0] = float(second)
        line.rows("counting", rows, 4000)
    assert shown(bar) == ("counting", 3000, 4000, "3,000 rows (1,000 rows/s)")
    line.rows("learning", 1000, 4000)
    assert shown(bar) == ("learning", 1000, 4000, "1,000 rows")


def test_estimators_report_to_it(bar):
    line = ProgressLine(bar, "starting", None)
    with listening(line):
        listener()("counting all sets of nodes", 3, 7)
    assert shown(bar) == ("counting all sets of nodes", 3, 7, "")
