"""Terminal output: consoles, JSON, progress, error messages and number formats."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.stdin import with_stdin_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID


COLUMNS_WITHOUT_TERMINAL = 100
"""Width of the output if it does not go to a terminal."""
BAR_WIDTH = 30
MIN_SECONDS_TO_ESTIMATE = 1.0
"""The time left is estimated after this many seconds."""

INVISIBLE_CHARACTERS = (0x061C, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Characters that end a line or change the direction of writing."""
CONTROL_CHARACTERS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"} | {
    code: f"\\u{code:04x}" for code in INVISIBLE_CHARACTERS
}
"""Translation table that replaces the characters which a terminal executes instead of showing."""


QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether to print results and errors only."""
CLEANUP: ContextVar[ExitStack] = ContextVar("cleanup")
"""What is done when the command ends, however it ends."""


def printable(text: str) -> str:
    """Return a text without characters that a terminal executes, before a table cuts it into lines."""
    return text.translate(CONTROL_CHARACTERS)


# Consoles


def out() -> Console:
    """Return the console for results. It prints text literally, because labels may contain brackets."""
    return _console(stderr=False, quiet=False)


def summary_console(as_json: bool = False) -> Console:
    """Return the console for summaries, which is silent with ``--quiet`` and if the output is JSON."""
    return _console(stderr=False, quiet=as_json or QUIET.get())


def err() -> Console:
    """Return the console for notes and progress."""
    return _console(stderr=True, quiet=QUIET.get())


def _console(stderr: bool, quiet: bool) -> Console:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Terminal(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            """Replace control characters, which names in an untrusted file may contain."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=segment.text.translate(CONTROL_CHARACTERS))

        def on_broken_pipe(self) -> None:
            """Raise BrokenPipeError, where rich would exit with its own code."""
            raise BrokenPipeError

    stream: Any = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    console = Terminal(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and console.width == 80:
        console.width = COLUMNS_WITHOUT_TERMINAL
    return console


# JSON


def print_json(document: Mapping[str, Any]) -> None:
    """Print a JSON document on stdout. Numbers are not rounded; NaN and infinity become null."""
    print(json.dumps(_json_value(document), allow_nan=False, indent=2))


def _json_value(value: Any) -> Any:
    """Return a value in the types of JSON.

    >>> _json_value({"edges": (("a", "b"),), "auc": float("nan"), 3: [True, None, 0.5]})
    {'edges': [['a', 'b']], 'auc': None, '3': [True, None, 0.5]}
    """
    if isinstance(value, Mapping):
        return {str(name): _json_value(one) for name, one in value.items()}
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _json_value(value.tolist()) if hasattr(value, "tolist") else [_json_value(one) for one in value]


# Progress


@contextmanager
def progress(task: str = "starting", total: float | None = None) -> Iterator[ProgressLine]:
    """Yield a progress callback that shows the current task on stderr, if stderr is a terminal."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = err()
    # rich before version 14.3 ends even a disabled bar with a newline, unless the console is quiet.
    console.quiet = console.quiet or not console.is_terminal
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=BAR_WIDTH),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=console.quiet,
    ) as bar:
        yield ProgressLine(bar, task, total)


class ProgressLine:
    """A `tanbark.progress.Progress` callback that shows one task at a time in the terminal.

    The line has a spinner, the task, a bar, a detail and the time since the task started.
    """

    def __init__(self, bar: RichProgress, task: str, total: float | None) -> None:
        self._bar = bar
        self._line: TaskID | None = None
        self._start(task, total)

    def __call__(self, task: str, done: float, total: float | None, detail: str = "") -> None:
        """Show a task, the amount done and the total amount (None if it is unknown)."""
        # Some searches report a new text at each step. They are the same task while the amount grows.
        is_same = task == self._task or done > self._done
        if self._line is None or total != self._total or not is_same:
            self._start(task, total, detail)
        self._show(task, done, detail)

    def rows(self, task: str, rows: float, total: float | None) -> None:
        """Show a task that processes rows, with the number of rows so far and the rows per second."""
        if self._line is None or (task, total) != (self._task, self._total):
            self._start(task, total)
        speed = next(one.speed for one in self._bar.tasks if one.id == self._line)
        pace = f" ({speed:,.0f} rows/s)" if speed else ""
        self._show(task, rows, f"{rows:,.0f} rows{pace}")

    def over_batches(self, task: str, batches: Iterable[Any], total: float | None) -> Iterator[Any]:
        """Yield record batches and show the number of rows in the batches that the caller has processed."""
        rows = 0
        for batch in batches:
            yield batch
            rows += batch.num_rows
            self.rows(task, rows, total)

    def _start(self, task: str, total: float | None, detail: str = "") -> None:
        """Replace the line with that of a new task."""
        if self._line is not None:
            self._bar.remove_task(self._line)
        self._task, self._done, self._total = task, 0.0, total
        self._line = self._bar.add_task(task, total=total, detail=detail)

    def _show(self, task: str, done: float, detail: str) -> None:
        assert self._line is not None
        self._task, self._done = task, done
        self._bar.update(self._line, description=task, completed=done, detail=detail)


# Errors


class CommandError(Exception):
    """An error that the user can fix. The message is one sentence."""


def error_text(error: BaseException) -> str:
    r"""Return the message of an exception on one line.

    >>> error_text(ValueError("column 'x' is\n  odd"))
    "column 'x' is odd"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot write the output: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return "not enough memory for this table; leave columns out with --ignore"
    text = with_option_names(" ".join(with_stdin_name(str(error)).split()))
    known = isinstance(error, CommandError | ValueError | TypeError | OSError) or type(error).__module__ == "_duckdb"
    known = known or (isinstance(error, ImportError) and "tanbark[" in text)
    return text if known and text else f"{type(error).__name__}: {text} (--debug shows the traceback)"


def with_option_names(message: str) -> str:
    """Return a message of the library with Python parameters replaced by command-line options.

    >>> with_option_names("use search='greedy'")
    'use --set search=greedy'
    >>> with_option_names("if it stands for a missing value, use missing=")
    'if it stands for a missing value, use --missing'
    >>> with_option_names("leave out half_life, or use another classifier, for example TAN")
    'leave out --half-life, or use another classifier, for example --model tan'
    >>> with_option_names("keep it with keep=['patient id']")
    "keep it with --keep 'patient id'"
    """
    message = message.replace("for example TAN", "for example --model tan").replace("half_life", "--half-life")
    message = message.replace("for example EvidenceBN", "for example --model evidence-bn")
    message = re.sub(r"\bkeep=\[(.+?)\]", lambda found: f"--keep {_as_word(found[1])}", message)
    message = message.replace("day_first=True", "--day-first").replace("provide schema=, or write", "write")
    message = message.replace("dates='number'", "--dates number").replace("Encoder(dates='ignore')", "--dates ignore")
    message = message.replace("groups has missing values", "--group: the column has missing values")
    message = message.replace("cut y into bins", "cut it into intervals with --bin-target 4")
    message = re.sub(r"\b(encoding|sheet)=", r"--\1", message)
    message = re.sub(r"\bmissing=(?!\w|['\"(\[])", "--missing", message)
    message = message.replace("bins names the column", "--cut names the column")
    message = re.sub(r"; set criterion='(\w+)'", r"; use tanbark fit --set criterion=\1", message)
    message = re.sub(r"; set max_parents=(\d+)$", r"; use tanbark fit --set max_parents=\1", message)
    message = re.sub(r" or max_parents=(\d+)$", r" or --set max_parents=\1", message)
    return re.sub(r"\bsearch='(\w+)'", r"--set search=\1", message)


def _as_word(literal: str) -> str:
    """Return a Python string literal as a word for a shell."""
    try:
        return shlex.quote(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return literal


def check_writable(path: Path, read: Iterable[Path] = ()) -> None:
    """Raise CommandError if a file cannot be written or is one of the files in `read`."""
    if any(path.resolve() == one.resolve() or (path.exists() and one.exists() and path.samefile(one)) for one in read):
        raise CommandError(f"{path} is already an input or output of this command; choose another output file")
    if path.is_dir():
        raise CommandError(f"cannot write {path}: it is a folder")
    if not path.parent.is_dir():
        raise CommandError(f"cannot write {path}: there is no folder {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"cannot write {path}: permission denied")


@contextmanager
def locked(path: Path, wait: float, advice: str) -> Iterator[None]:
    """Hold the lock of a model file; raise CommandError with advice if another update holds it for `wait` seconds."""
    from tanbark.atomic_write import exclusive_lock

    def note() -> None:
        text = f"note: another update of {path.name} is running; waiting up to {wait:g} s for it"
        err().print(text, style="yellow", soft_wrap=True)

    with ExitStack() as held:
        try:
            held.enter_context(exclusive_lock(path, wait, note))
        except TimeoutError as error:
            raise CommandError(f"{error}, so the model was not changed; {advice}") from error
        yield


# Formats


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return quoted names separated by commas, at most `most` of them.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most:,} more"


def time_left(elapsed: float, share: float) -> str:
    """Return the estimated time left, as a phrase that starts with a comma, or "" if it is unknown.

    Parameters
    ----------
    elapsed : float
        The seconds spent so far.
    share : float
        The share of the work that is done.

    Returns
    -------
    str

    Examples
    --------
    >>> time_left(60.0, 0.25), time_left(6.0, 0.5), time_left(1.0, 0.0)
    (', about 3 min left', ', about 6 s left', '')
    """
    if share <= 0 or elapsed < MIN_SECONDS_TO_ESTIMATE:
        return ""
    left = elapsed * (1 - share) / share
    return f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"
