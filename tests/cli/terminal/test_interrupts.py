"""Ctrl-C: a command ends soon, with one word, and every file is as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import psutil
import pyarrow as pa
import pytest

import tanbark
from tanbark.cli.terminal import command_group
from tanbark.cli.terminal.command_group import handling_interrupts

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there is no such signal")

SOON = 10.0
"""So many seconds a busy machine gets; an idle one takes below one."""
ROWS, COLUMNS = 4000, 25


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a table that is long to search, another with many rows, and a model."""
    where = tmp_path_factory.mktemp("long")
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (ROWS, COLUMNS))
    y = (X[:, 0] + X[:, 1] + (rng.random(ROWS) < 0.2)) % 2
    names = [f"x{u}" for u in range(COLUMNS)]
    lines = [",".join(map(str, row)) for row in np.column_stack([X, y]).tolist()]
    (where / "t.csv").write_text("\n".join([",".join([*names, "class"]), *lines, ""]))
    (where / "many.csv").write_text("\n".join([",".join([*names, "class"]), *lines * 50, ""]))
    tanbark.save(tanbark.AveragedTAN().fit(pa.table(dict(zip(names, X.T))), y), where / "m.tanbark")
    return where


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def start(folder, words, **settings):
    return subprocess.Popen(
        [sys.executable, "-m", "tanbark", *words.split()],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell lets what runs in the background ignore it, and so would all that is begun there.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **settings,
    )


def await_work(started, work):
    """Wait until a process has worked for some seconds, however busy the machine is, or waits for something itself."""
    watched = psutil.Process(started.pid)
    done, since = 0.0, time.monotonic()
    while watched.status() != psutil.STATUS_ZOMBIE and done < work and time.monotonic() < since + 3:
        time.sleep(0.02)
        if (now := sum(watched.cpu_times()[:2])) > done:
            done, since = now, time.monotonic()


@pytest.mark.parametrize(
    ("words", "work"),
    [
        ("fit t.csv -t class -m bayes-net --set search=exact --cv 0 -o m.tanbark", 3.0),
        ("predict m.tanbark many.csv -o p.csv", 2.5),
        ("compare many.csv -t class -m boosted-bn --jobs 1 -o c.html", 2.5),
        ("update m.tanbark -", 60.0),
    ],
)
def test_a_command_stops_soon_with_one_word_and_changes_nothing(folder, words, work):
    before = contents(folder)
    started = start(folder, words)
    await_work(started, work)
    sent = time.monotonic()
    started.send_signal(signal.SIGINT)
    printed, said = started.communicate(timeout=60)
    took = time.monotonic() - sent
    # A shell calls that 130.
    assert (started.returncode, printed, said) == (-signal.SIGINT, "", "stopped\n")
    assert took < SOON
    assert contents(folder) == before


@pytest.mark.parametrize("often", [0.005, 0.05])
def test_who_presses_often_gets_the_same_word_and_no_litter(folder, often):
    before = contents(folder)
    started = start(folder, "predict m.tanbark many.csv -o p.csv")
    await_work(started, 2.5)
    late = time.monotonic() + 60
    while started.poll() is None and time.monotonic() < late:
        started.send_signal(signal.SIGINT)
        time.sleep(often)
    started.kill()
    assert (started.returncode, *started.communicate()) == (-signal.SIGINT, "", "stopped\n")
    assert contents(folder) == before


def test_a_shell_ends_its_loop(folder):
    """It goes on where a command ends with an exit code, whatever that is."""
    loop = f"for i in 1 2; do echo $i; '{sys.executable}' -m tanbark update m.tanbark -; done"
    # Bash, and the signal is for all that the terminal runs.
    started = subprocess.Popen(
        ["bash", "-c", f"{loop}; echo all"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    children = psutil.Process(started.pid).children
    late = time.monotonic() + 60
    while not children() and time.monotonic() < late:
        time.sleep(0.02)
    await_work(children()[0], 60.0)
    os.killpg(started.pid, signal.SIGINT)
    assert started.communicate(timeout=60) == ("1\n", "stopped\n")


def test_processes_that_work_beside_it_say_nothing(folder):
    before = contents(folder)
    words = "compare many.csv -t class -m boosted-bn,random-forest --jobs 2 -o c.html"
    started = start(folder, words, start_new_session=True)
    watched = psutil.Process(started.pid)

    def workers():
        found = []
        for child in watched.children():
            with suppress(psutil.Error):
                found += [child] * ("popen_loky" in " ".join(child.cmdline()))
        return found

    late = time.monotonic() + 100
    while len(workers()) < 2 and started.poll() is None and time.monotonic() < late:
        time.sleep(0.02)
    begun = workers()
    # While they import what they need.
    time.sleep(0.3)
    os.killpg(started.pid, signal.SIGINT)
    printed, said = started.communicate(timeout=60)
    assert (started.returncode, printed, said) == (-signal.SIGINT, "", "stopped\n")
    assert contents(folder) == before
    assert begun
    assert not psutil.wait_procs(begun, timeout=SOON)[1]


LOST_WHILE_IMPORTING = """
import signal, sys
from tanbark.cli import app

class Forgotten:
    def __del__(self):
        signal.raise_signal(signal.SIGINT)

class Finder:
    def find_spec(self, name, *_):
        if name == "numpy":
            sys.meta_path.remove(self)
            Forgotten()

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
app(sys.argv[1:], prog_name="tanbark")
"""


class Forgotten:
    """Something whose end is interrupted."""

    def __del__(self):
        signal.raise_signal(signal.SIGINT)


class SlowlyForgotten:
    """Something that is still being cleared away when the interrupt is sent again."""

    def __del__(self):
        time.sleep(20)


@pytest.fixture(autouse=True)
def interruptible():
    """Also where what runs in the background ignores interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def seconds_until_interrupted(work):
    """Return how long work runs until it is interrupted."""
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), handling_interrupts():
        work()
    return time.monotonic() - began


def test_an_interrupt_that_was_lost_is_sent_again_until_it_is_heeded():
    def work():
        Forgotten()
        SlowlyForgotten()
        time.sleep(20)

    assert seconds_until_interrupted(work) < SOON


def test_what_was_lost_at_the_end_does_not_come_after_it():
    handler, hook = signal.getsignal(signal.SIGALRM), sys.unraisablehook
    with handling_interrupts():
        Forgotten()
    time.sleep(0.2)
    assert signal.getsignal(signal.SIGALRM) == handler
    assert sys.unraisablehook == hook


def test_other_errors_that_nobody_can_raise_are_told_as_before(monkeypatch):
    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(lost.exc_type))

    class Broken:
        def __del__(self):
            raise ZeroDivisionError

    with handling_interrupts():
        Broken()
    assert told == [ZeroDivisionError]


def test_an_error_that_somebody_made_of_an_interrupt_is_an_interrupt():
    def ask():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        raise RuntimeError("Query interrupted")

    with pytest.raises(KeyboardInterrupt), handling_interrupts():
        ask()


def test_further_interrupts_are_the_same_wish_also_while_the_process_ends():
    own = command_group.OWNS_PROCESS.set(True)
    try:
        with pytest.raises(KeyboardInterrupt), handling_interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        command_group.OWNS_PROCESS.reset(own)
    signal.raise_signal(signal.SIGINT)


def test_what_becomes_of_threads_after_an_interrupt_is_not_told(monkeypatch):
    told = []
    monkeypatch.setattr(threading, "excepthook", lambda what: told.append(what.exc_type))

    def fail_in_a_thread():
        thread = threading.Thread(target=lambda: 1 // 0)
        thread.start()
        thread.join()

    def work():
        fail_in_a_thread()
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            fail_in_a_thread()

    with pytest.raises(KeyboardInterrupt), handling_interrupts():
        work()
    assert told == [ZeroDivisionError]
    fail_in_a_thread()
    assert told == [ZeroDivisionError] * 2


def test_whoever_calls_a_command_keeps_the_handlers_and_the_clock():
    rung = []
    signal.signal(signal.SIGALRM, lambda *_: rung.append(time.monotonic()))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt), handling_interrupts():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) == before
        late = time.monotonic() + SOON
        while not rung and time.monotonic() < late:
            time.sleep(0.02)
        assert rung
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)


def test_an_error_without_an_interrupt_is_an_error():
    def fail():
        raise RuntimeError("no query")

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(RuntimeError, match="no query"), handling_interrupts():
        fail()
    assert signal.getsignal(signal.SIGINT) == before


def test_an_interrupt_that_somebody_swallowed_is_sent_again():
    """As code does that Cython begins its modules with."""

    def work():
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        time.sleep(20)

    assert seconds_until_interrupted(work) < SOON


def test_what_clears_up_after_an_interrupt_is_not_interrupted_again():
    cleared = []

    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            try:
                raise ValueError("on the way")
            except ValueError:
                time.sleep(3 * command_group.RETRY_SECONDS)
            signal.raise_signal(signal.SIGINT)
            cleared.append("all")

    with pytest.raises(KeyboardInterrupt), handling_interrupts():
        work()
    assert cleared == ["all"]


def test_who_presses_again_after_a_while_means_it(monkeypatch):
    monkeypatch.setattr(command_group, "DEBOUNCE_SECONDS", 0.3)

    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            while time.monotonic() < began + 2 * SOON:
                signal.raise_signal(signal.SIGINT)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), handling_interrupts():
        work()
    assert 0.3 <= time.monotonic() - began < SOON


def test_a_command_whose_interrupt_was_lost_stops_all_the_same(tmp_path):
    (tmp_path / "t.csv").write_text("a,class\n" + "x,0\ny,1\n" * 50)
    words = [sys.executable, "-c", LOST_WHILE_IMPORTING, "fit", "t.csv", "--target", "class"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "stopped\n")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]
