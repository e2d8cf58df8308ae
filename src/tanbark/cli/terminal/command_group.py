"""The command group: runs a command, and turns errors and interrupts into one line on stderr and an exit code."""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from tanbark.cli.input.options import DEBUG
from tanbark.cli.terminal.console import CLEANUP, CONTROL_CHARACTERS, CommandError, err, error_text
from tanbark.messages import suggestion

EXIT_ERROR = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
EXIT_CLOSED_PIPE = 141
EXIT_SIGNAL_BASE = 128
"""A process that is terminated by a signal exits with this number plus that of the signal, as in a shell."""

SYNONYMS = {"--class": "--target", "--label": "--target", "--y": "--target", "--weights": "--weight"}
"""Other names of options that users may expect."""
SHARED_OPTIONS = ("quiet", "debug")
"""Options that are accepted before and after the command."""
DEBOUNCE_SECONDS = 2.0
"""Ignore further interrupts for this long, so that repeated Ctrl-C cannot interrupt cleanup."""
RETRY_SECONDS = 0.2
"""Check after this long whether an interrupt is being handled, and send it again if not."""
CAUSE_SECONDS = 10.0
"""An error that is raised within this time of an interrupt is attributed to it."""
OWNS_PROCESS: ContextVar[bool] = ContextVar("owns process", default=False)
"""Whether the process ends with the command."""


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
            ExitStack() as cleanup,
        ):
            CLEANUP.set(cleanup)
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
    text = _unknown_name_text(error) or " ".join(error.format_message().split()).rstrip(".")
    command = "tanbark" if error.ctx is None else error.ctx.command_path
    return f"{text[:1].lower()}{text[1:]} (see {command} --help)"


def _unknown_name_text(error: Any) -> str | None:
    """Return the message of an error about an unknown option or command, with the most similar name."""
    if type(error).__name__ == "NoSuchOption" and error.ctx is not None:
        known = [name for option in error.ctx.command.params for name in option.opts if name.startswith("--")]
        meant = SYNONYMS.get(error.option_name)
        similar = f"; did you mean {meant}?" if meant in known else _similar(error.option_name, known)
        return f"no such option {error.option_name}{similar}"
    found = re.match(r"No such command '([^']*)'", error.format_message())
    if found is None or error.ctx is None:
        return None
    return f"no such command {found[1]!r}{_similar(found[1], error.ctx.command.commands)}"


def _similar(name: str, known: Iterable[str]) -> str:
    question = suggestion(name, known, "")
    return f"; {question.replace(chr(39), '')}" if question else ""


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


def end_by_interrupt() -> NoReturn:
    """End the process as an unhandled interrupt does, but without a traceback.

    A shell then also ends the loop or script that runs the process. It would continue after an exit code.
    """
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    raise KeyboardInterrupt


@contextmanager
def handling_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGINT, even if a library converts it into another error.

    After the first interrupt, further ones are ignored for some seconds, also while the process ends, and errors in
    threads are not printed.
    """
    default = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(default):
        yield
        return
    handler = _InterruptHandler(default)
    thread_hook = threading.excepthook
    threading.excepthook = lambda args: None if handler.interrupted else thread_hook(args)
    signal.signal(signal.SIGINT, handler.on_interrupt)
    try:
        with _retrying(handler):
            yield
    except Exception as error:
        if not handler.recent or isinstance(error, typer.Exit | typer.Abort | BrokenPipeError):
            raise
        raise KeyboardInterrupt from error
    finally:
        if not (handler.interrupted and OWNS_PROCESS.get()):
            signal.signal(signal.SIGINT, default)
            threading.excepthook = thread_hook


class _InterruptHandler:
    """The handler of SIGINT.

    Python can lose an interrupt. An exception that is raised in a destructor or in a callback of the garbage collector
    is discarded; this includes the callbacks that run after a module is imported. Modules compiled by Cython discard
    exceptions in parts of their initialisation. If no KeyboardInterrupt is being handled shortly after an interrupt,
    the interrupt is therefore sent again.
    """

    def __init__(self, default: Callable[..., Any]) -> None:
        self._default = default
        self._last = -math.inf
        self.interrupted = False
        self.has_timer = False

    @property
    def recent(self) -> bool:
        """Whether an error that is raised now may be the result of an interrupt."""
        return time.monotonic() - self._last < CAUSE_SECONDS

    def on_interrupt(self, number: int, frame: Any) -> None:
        """Call the default handler, unless it was called just before."""
        if time.monotonic() - self._last < DEBOUNCE_SECONDS:
            return
        self._last, self.interrupted = time.monotonic(), True
        if self.has_timer:
            signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        self._default(number, frame)

    def on_timer(self, *_: Any) -> None:
        """Send the interrupt again if no KeyboardInterrupt is being handled."""
        signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)
        error = sys.exc_info()[1]
        while error is not None and not isinstance(error, KeyboardInterrupt):
            error = error.__context__
        if error is None:
            self._last = -math.inf
            signal.raise_signal(signal.SIGINT)


@contextmanager
def _retrying(handler: _InterruptHandler) -> Iterator[None]:
    """Send lost interrupts again after a timer expires, and keep Python from printing the lost ones.

    A process has one such timer. If SIGALRM already has a handler, the caller is using it and it is left alone.
    """
    if not hasattr(signal, "setitimer") or signal.getsignal(signal.SIGALRM) is not signal.SIG_DFL:
        yield
        return
    unraisable_hook = sys.unraisablehook

    def hook(lost: Any) -> None:
        if not issubclass(lost.exc_type, KeyboardInterrupt):
            unraisable_hook(lost)

    handler.has_timer = True
    signal.signal(signal.SIGALRM, handler.on_timer)
    sys.unraisablehook = hook
    try:
        yield
    finally:
        handler.has_timer = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        sys.unraisablehook = unraisable_hook
