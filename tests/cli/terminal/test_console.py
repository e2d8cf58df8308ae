"""Text and progress in the terminal: nothing that a terminal executes, and one line of progress."""

import io
import unicodedata

import pytest
from rich.console import Console
from rich.progress import Progress

from tanbark.cli.terminal.console import ProgressLine, err, out
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


EXECUTED = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Zl", "Zp")]
"""Control characters, and separators of lines and paragraphs."""
DIRECTIONS = [
    chr(code)
    for code in range(0x110000)
    if unicodedata.bidirectional(chr(code)) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
] + ["\u061c", "\u200e", "\u200f"]
"""Characters that change the direction of the text after them, and marks of a direction."""


@pytest.mark.parametrize("console", [out, err])
@pytest.mark.parametrize("character", [c for c in (*EXECUTED, *DIRECTIONS) if c not in "\n\t"], ids=ascii)
def test_no_character_that_a_terminal_executes_is_printed(console, character, capsys):
    console().print(f"column 'a{character}b' is odd", soft_wrap=True)
    printed = "".join(capsys.readouterr())
    assert character not in printed
    # Rich itself leaves out the bell and the like.
    visible = [f"\\u{ord(character):04x}"] if character in DIRECTIONS else ["", "\ufffd", f"\\u{ord(character):04x}"]
    assert printed in [f"column 'a{instead}b' is odd\n" for instead in visible]


def test_characters_of_every_script_are_printed_as_they_are(capsys):
    text = "größe العمر גיל 年齢 उम्र 👩‍👧 é\u0301"
    out().print(text, soft_wrap=True)
    assert capsys.readouterr().out == f"{text}\n"
