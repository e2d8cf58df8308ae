"""What went wrong, in one sentence on stderr."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

INTERRUPTED = 130
CLOSED_PIPE = 141


class CommandError(Exception):
    """Something that the user can put right, said in one sentence."""


class SentenceGroup(TyperGroup):
    """A group of commands whose errors are sentences; ``--debug`` shows where they came from."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command; an error becomes one line on stderr and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except BrokenPipeError as error:
            _forget_stdout()
            raise typer.Exit(CLOSED_PIPE) from error
        except KeyboardInterrupt as error:
            _say("stopped")
            raise typer.Exit(INTERRUPTED) from error
        except Exception as error:
            if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
                raise
            if type(error).__name__ == "InterruptException":
                _say("stopped")
                raise typer.Exit(INTERRUPTED) from error
            if ctx.params.get("debug"):
                traceback.print_exc()
            _say(f"error: {sentence(error)}")
            raise typer.Exit(1) from error


def sentence(error: BaseException) -> str:
    """Return what an exception says, on one line.

    >>> sentence(ValueError("column 'x' is\\n  odd"))
    "column 'x' is odd"
    """
    if isinstance(error, OSError) and error.strerror and error.filename:
        return f"{error.filename}: {error.strerror.lower()}"
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table; leave columns out with --ignore"
    text = as_option(" ".join(str(error).split()))
    known = isinstance(error, CommandError | ValueError | TypeError | OSError) or type(error).__module__ == "_duckdb"
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
    if any(path.exists() and one.exists() and path.samefile(one) for one in read):
        raise CommandError(f"{path} is the table itself; give --output another name")
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no such folder, or it is one itself")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise CommandError(f"{path} cannot be written: permission denied")


def _say(line: str) -> None:
    # After the progress bar, which may have left the cursor inside a line, and whatever stdout still holds.
    print(line, file=sys.stderr, flush=True)


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter does not fail to flush it on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (lives as long as the process)
