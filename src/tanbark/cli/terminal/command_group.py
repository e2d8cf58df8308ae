"""The command group: runs a command and turns errors into one line on stderr and an exit code."""

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
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperGroup

from tanbark.cli.input.options import DEBUG
from tanbark.cli.input.stdin import removing_stdin_copy
from tanbark.cli.terminal.console import CONTROL_CHARACTERS, CommandError, err, error_text
from tanbark.cli.terminal.interrupts import OWNS_PROCESS, handling_interrupts

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
EXIT_SIGNAL_BASE = 128
"""A process that is terminated by a signal exits with this number plus that of the signal, as in a shell."""

SHARED_OPTIONS = ("quiet", "debug")
"""Options that are accepted before and after the command."""


class CommandGroup(TyperGroup):
    """All commands of the program."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        shared = [option for option in self.params if option.name in SHARED_OPTIONS]
        for command in self.commands.values():
            command.params.extend(shared)

    def main(self, *args: Any, **settings: Any) -> Any:
        """Run the program in a copy of the current context, so that its options do not outlive it."""
        return copy_context().run(super().main, *args, **settings)

    def make_context(self, *args: Any, **settings: Any) -> Any:
        """Parse the options before the command."""
        with _reporting_errors():
            return super().make_context(*args, **settings)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with (
            _reporting_errors(),
            _handling_termination(),
            handling_interrupts(),
            _warnings_as_notes(),
            removing_stdin_copy(),
        ):
            if sys.stdout is None:
                raise CommandError("standard output is closed; redirect it to a file or to /dev/null")
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result


@contextmanager
def _reporting_errors() -> Iterator[None]:
    """Turn an error into one line on stderr and an exit code."""
    try:
        yield
    except BrokenPipeError as error:
        _discard_stdout()
        raise typer.Exit(EXIT_CLOSED_PIPE) from error
    except KeyboardInterrupt as error:
        _print_error("stopped")
        raise typer.Exit(EXIT_INTERRUPTED) from error
    except Exception as error:
        if isinstance(error, typer.Exit | typer.Abort):
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(error.format_message())  # type: ignore[attr-defined]
            raise typer.Exit from error
        if DEBUG.get():
            traceback.print_exc()
        is_usage = getattr(error, "exit_code", None) == EXIT_USAGE
        _print_error(f"error: {_usage_text(error) if is_usage else error_text(error)}")
        raise typer.Exit(EXIT_USAGE if is_usage else EXIT_ERROR) from error


def _usage_text(error: Any) -> str:
    """Return the message of a usage error, with the command that prints the help."""
    text = " ".join(error.format_message().split()).rstrip(".")
    command = "tanbark" if error.ctx is None else error.ctx.command_path
    return f"{text[:1].lower()}{text[1:]} (see {command} --help)"


@contextmanager
def _warnings_as_notes() -> Iterator[None]:
    """Print each warning that the command does not handle as a note."""
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: err().print(f"note: {message}", style="yellow", soft_wrap=True)
        yield


@contextmanager
def _handling_termination() -> Iterator[None]:
    """Raise SystemExit on SIGTERM and SIGHUP, so that unfinished files are cleaned up as after an interrupt.

    SIGHUP is sent when the terminal is closed. It stays ignored in a process that was started with `nohup`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number in numbers if before[number] is not signal.SIG_IGN]
    received = []

    def terminate(number: int, _: Any) -> None:
        # A closed terminal sends SIGHUP twice: once through the shell and once directly.
        for other in handled:
            signal.signal(other, signal.SIG_IGN)
        received.append(number)
        raise SystemExit(EXIT_SIGNAL_BASE + number)

    for number in handled:
        signal.signal(number, terminate)
    try:
        yield
    finally:
        if not (received and OWNS_PROCESS.get()):
            for number in handled:
                signal.signal(number, before[number])


def _print_error(line: str) -> None:
    """Print a line on stderr without control characters."""
    print(line.translate(CONTROL_CHARACTERS), file=sys.stderr, flush=True)


def _discard_stdout() -> None:
    """Point stdout at the null device, so that the interpreter does not fail to flush it at exit."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (stays open as long as the process)
