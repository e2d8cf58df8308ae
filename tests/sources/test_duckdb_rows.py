"""Interrupts while waiting for a database."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest

from tanbark.sources import duckdb_rows as interrupts
from tanbark.sources.duckdb_rows import interruptible

LEFT_INSIDE = """
import os, signal, threading, time
import duckdb
from tanbark.sources.duckdb_rows import interruptible

class Slow:
    def __del__(self):
        time.sleep(0.5)

while_python_ends = Slow()
connection = duckdb.connect()
cancelled = []

def ask():
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    while True:
        connection.sql("SELECT sum(range) FROM range(100000)").fetchall()

def cancel():
    cancelled.append(1)
    if len(cancelled) == 1:
        signal.raise_signal(signal.SIGINT)
    connection.interrupt()

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    interruptible(ask, cancel)
except KeyboardInterrupt:
    print("stopped", len(cancelled))
"""


class Asked:
    """A database that answers once it is interrupted."""

    def __init__(self):
        self.cancelled = threading.Event()
        self.called = threading.Event()

    def __call__(self):
        self.called.set()
        return self.cancelled.wait(20)


class StartInterrupted(threading.Thread):
    def start(self):
        super().start()
        raise KeyboardInterrupt


class NeverStarted(threading.Thread):
    def start(self):
        raise KeyboardInterrupt


def test_results_are_returned_and_exceptions_are_raised():
    # Calls of other tests that could not be cancelled may still be running.
    before = set(interrupts._inside)
    assert interruptible(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 // 0)
    assert list(interrupts.interruptible_items(iter([1, 2, 3]))) == [1, 2, 3]
    assert interrupts._inside <= before


def test_an_interrupt_while_the_thread_is_started_ends_it_too(monkeypatch):
    monkeypatch.setattr(interrupts, "Thread", StartInterrupted)
    asked = Asked()
    with pytest.raises(KeyboardInterrupt):
        interruptible(asked, asked.cancelled.set)
    assert asked.cancelled.is_set() or not asked.called.is_set()


def test_a_call_cancelled_before_it_starts_does_not_run():
    begun = interrupts._Call(asked := Asked(), asked.cancelled.set)
    began = time.monotonic()
    begun.end()
    begun._run()
    assert time.monotonic() - began < interrupts.CANCEL_SECONDS
    assert not asked.called.is_set()


def test_an_interrupt_before_the_thread_begins_takes_no_time(monkeypatch):
    monkeypatch.setattr(interrupts, "Thread", NeverStarted)
    asked = Asked()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interruptible(asked, asked.cancelled.set)
    assert time.monotonic() - began < interrupts.CANCEL_SECONDS
    assert not asked.called.is_set()


def test_a_call_that_could_not_be_cancelled_yet_is_cancelled_again():
    """A database may be interrupted before its query starts."""
    asked = Asked()
    times = []

    def cancel():
        times.append(time.monotonic())
        if len(times) == 1:
            raise ValueError("there is no query")
        asked.cancelled.set()

    begun = interrupts._Call(asked, cancel)
    begun._thread.start()
    assert asked.called.wait(20)
    begun.end()
    assert len(times) == 2
    assert not begun._thread.is_alive()


@pytest.mark.skipif(os.name == "nt", reason="Python exits differently on Windows")
def test_no_thread_is_inside_a_database_while_python_ends():
    """After a second interrupt during the first, Python used to abort when the thread returned from DuckDB."""
    ended = subprocess.run(
        [sys.executable, "-c", LEFT_INSIDE], capture_output=True, text=True, timeout=100, check=False
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "stopped 1\n", "")
