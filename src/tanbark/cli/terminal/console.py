"""The terminal: output, progress and error messages."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.stdin import by_name

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from tanbark.progress import Progress as ProgressCallback


class CommandError(Exception):
    """Something that the user can put right, said in one sentence."""


def sentence(error: BaseException) -> str:
    """Return what an exception says, on one line.

    >>> sentence(ValueError("column 'x' is\\n  odd"))
    "column 'x' is odd"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, OSError) and error.strerror:
        return f"what was to be written could not be: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table; leave columns out with --ignore"
    text = as_option(" ".join(by_name(str(error)).split()))
    known = isinstance(error, CommandError | ValueError | TypeError | OSError) or type(error).__module__ == "_duckdb"
    known = known or (isinstance(error, ImportError) and "tanbark[" in text)
    return text if known and text else f"{type(error).__name__}: {text} (tanbark --debug shows where)"


def as_option(message: str) -> str:
    """Return a message of the library's with settings as they are written on the command line.

    >>> as_option("use search='greedy'")
    'use --set search=greedy'
    >>> as_option("say so with missing=")
    'say so with --missing'
    """
    return re.sub(r"\bsearch='(\w+)'", r"--set search=\1", message.replace("with missing=", "with --missing"))


def check_writable(path: Path, read: Iterable[Path] = ()) -> None:
    """Raise where a file cannot be written, or is one of those that are read, before there is anything to write."""
    if any(path.resolve() == one.resolve() or (path.exists() and one.exists() and path.samefile(one)) for one in read):
        raise CommandError(f"{path} is a file that this command reads or writes already; name another to write to")
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no such folder, or it is one itself")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{path} cannot be written: permission denied")


WIDTH_OF_NO_TERMINAL = 100

COMMANDS = {code: "\ufffd" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""What a terminal obeys instead of showing it."""

QUIET: ContextVar[bool] = ContextVar("quiet", default=False)
"""Whether a person wants to see nothing but results and errors."""


def out() -> Console:
    """Return the console of results. What it prints is taken literally: labels may hold brackets."""
    return _console(stderr=False, quiet=False)


def told(as_json: bool = False) -> Console:
    """Return the console of what a command tells of a result that is in a file, unless it is told to a script."""
    return _console(stderr=False, quiet=as_json or QUIET.get())


def err() -> Console:
    """Return the console of notes and progress."""
    return _console(stderr=True, quiet=QUIET.get())


def print_json(document: Mapping[str, Any]) -> None:
    """Print a document for a script, all on stdout; numbers are not rounded, and what is no finite number is null."""
    print(json.dumps(_plain(document), allow_nan=False, indent=2))


def _plain(value: Any) -> Any:
    """Return a value in the types that JSON has.

    >>> _plain({"edges": (("a", "b"),), "auc": float("nan"), 3: [True, None, 0.5]})
    {'edges': [['a', 'b']], 'auc': None, '3': [True, None, 0.5]}
    """
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return _plain(value.tolist()) if hasattr(value, "tolist") else [_plain(one) for one in value]


def _console(stderr: bool, quiet: bool) -> Console:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

    class Terminal(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            """Yield what is printed, without what a name in a stranger's file might tell the terminal to do."""
            for segment in super().render(renderable, options):
                yield segment if segment.control else segment._replace(text=segment.text.translate(COMMANDS))

        def on_broken_pipe(self) -> None:
            """Say that nobody reads any more, where rich would end the program with a code of its own."""
            raise BrokenPipeError

    stream: Any = sys.stderr if stderr else sys.stdout
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")
    console = Terminal(stderr=stderr, quiet=quiet, highlight=False, markup=False, emoji=False)
    if not console.is_terminal and console.width == 80:
        console.width = WIDTH_OF_NO_TERMINAL
    return console


@contextmanager
def progress() -> Iterator[Progress]:
    """Show progress on stderr while it lasts, and only to a person."""
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = err()
    # Else rich would end even a bar that it does not show with a line, as it did before its version 14.3.
    console.quiet = console.quiet or not console.is_terminal
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        TextColumn("{task.fields[detail]}"),
        TimeElapsedColumn(),
        console=console,
        transient=True,
        disable=console.quiet,
    ) as bar:
        yield bar


def rows_seen(bar: Progress) -> ProgressCallback:
    """Return a function that shows how many rows went by and how fast, in one pass after the other."""
    task: dict[str, TaskID] = {}

    def show(what: str, rows: float, total: float | None) -> None:
        if what not in task:
            for before in task.values():
                bar.remove_task(before)
            task.clear()
            task[what] = bar.add_task(what, total=total, detail="")
        speed = bar.tasks[bar.task_ids.index(task[what])].speed
        pace = f" ({speed:,.0f} rows/s)" if speed else ""
        bar.update(task[what], completed=rows, detail=f"{rows:,} rows{pace}")

    return show


def rows_read(bar: Progress, what: str, batches: Iterable[Any], total: int | None = None) -> Iterator[Any]:
    """Yield record batches, showing how many rows went by and how fast."""
    show = rows_seen(bar)
    rows = 0
    for batch in batches:
        yield batch
        rows += batch.num_rows
        show(what, rows, total)


def listed(names: Iterable[str], most: int = 8) -> str:
    """Return names in quotes, separated by commas; of a long list the first few.

    >>> listed(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def percent(share: float) -> str:
    """Return a share in percent, with as many digits as it takes to tell it from none and all.

    >>> percent(0.5), percent(0.99996), percent(1.0)
    ('50.0%', '99.996%', '100.0%')
    """
    for digits in (1, 2, 3):
        shown = f"{share:.{digits}%}"
        if share in (0.0, 1.0) or float(shown[:-1]) not in (0.0, 100.0):
            break
    return shown


def time_left(elapsed: float, share: float) -> str:
    """Return how long the rest will take if a share of the work took some seconds, as words to go on with.

    >>> time_left(60.0, 0.25), time_left(6.0, 0.5), time_left(1.0, 0.0)
    (', about 3 min left', ', about 6 s left', '')
    """
    if share <= 0 or elapsed < 1:
        return ""
    left = elapsed * (1 - share) / share
    return f", about {left:.0f} s left" if left < 100 else f", about {left / 60:.0f} min left"
