"""Run commands: errors become one sentence on stderr and an exit code."""

from __future__ import annotations

import os
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any

import typer
from typer.core import TyperGroup

from tanbark.cli.input.options import DEBUG
from tanbark.cli.input.stdin import spooling
from tanbark.cli.terminal.console import COMMANDS, CommandError, err, sentence
from tanbark.cli.terminal.interrupts import OWN_PROCESS, heeding

FAILED = 1
MISUSED = 2
INTERRUPTED = 130
CLOSED_PIPE = 141
SIGNALLED = 128
"""As a shell says of a process that was ended by a signal: this, and the signal's number."""

SHARED = ("quiet", "debug")
"""Options that may stand before a command or after it."""


class Commands(TyperGroup):
    """All commands of the program."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        shared = [option for option in self.params if option.name in SHARED]
        for command in self.commands.values():
            command.params.extend(shared)

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run what the words of the command line say; what the options set is forgotten afterwards."""
        return copy_context().run(super().main, *args, **settings)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Return what the words before the command say."""
        with _sentences():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with _sentences(), _terminable(), heeding(), _notes(), spooling():
            if sys.stdout is None:
                raise CommandError("standard output is closed; name a file to write to, or /dev/null")
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


@contextmanager
def _sentences() -> Iterator[None]:
    """Turn an error into one line on stderr and an exit code."""
    try:
        yield
    except BrokenPipeError as error:
        _forget_stdout()
        raise typer.Exit(CLOSED_PIPE) from error
    except KeyboardInterrupt as error:
        _say("stopped")
        raise typer.Exit(INTERRUPTED) from error
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())  # type: ignore[attr-defined]
            raise typer.Exit from error
        if DEBUG.get():
            traceback.print_exc()
        misused = getattr(error, "exit_code", None) == MISUSED
        _say(f"error: {_usage(error) if misused else sentence(error)}")
        raise typer.Exit(MISUSED if misused else FAILED) from error


def _usage(error: Any) -> str:
    """Return what was typed wrongly, and what tells how to type it."""
    said = " ".join(error.format_message().split()).rstrip(".")
    command = "tanbark" if error.ctx is None else error.ctx.command_path
    return f"{said[:1].lower()}{said[1:]} ({command} --help says more)"


@contextmanager
def _notes() -> Iterator[None]:
    """Show a warning that no command has taken up as a note, in one sentence."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: err().print(f"note: {message}", style="yellow", soft_wrap=True)
        yield


@contextmanager
def _terminable() -> Iterator[None]:
    """Let a process that is asked to end clear away what it has not finished, as after an interrupt.

    So a process is asked also when its terminal is closed, unless it was started by `nohup`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in asked}
    heard = [number for number in asked if before[number] is not signal.SIG_IGN]
    ending = []

    def end(number: int, _: Any) -> None:
        # A terminal that is closed says so twice, by its shell and by itself.
        for other in heard:
            signal.signal(other, signal.SIG_IGN)
        ending.append(number)
        raise SystemExit(SIGNALLED + number)

    for number in heard:
        signal.signal(number, end)
    try:
        yield
    finally:
        if not (ending and OWN_PROCESS.get()):
            for number in heard:
                signal.signal(number, before[number])


def _say(line: str) -> None:
    # After the progress bar, which may have left the cursor inside a line, and whatever stdout still holds.
    print(line.translate(COMMANDS), file=sys.stderr, flush=True)


def _forget_stdout() -> None:
    """Point stdout at nothing, so that the interpreter does not fail to flush it on its way out."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (lives as long as the process)
