"""The progress protocol: callbacks of a context, and the bar."""

import io
import sys

import pytest

from tanbark import progress
from tanbark.progress import listener, listening, progress_bar, silent


def test_the_callback_of_a_context_is_used_inside_it_only():
    assert listener() is silent
    with listening(print):
        assert listener() is print
        with listening(repr):
            assert listener() is repr
        assert listener() is print
    assert listener() is silent


def test_after_an_error_the_former_callback_is_back():
    with pytest.raises(KeyError), listening(print):
        raise KeyError
    assert listener() is silent


def test_without_a_bar_progress_goes_to_the_callback_of_the_context():
    with listening(print), progress_bar(False) as report:
        assert report is print


class Stderr(io.StringIO):
    """A stream that is a terminal or not."""

    def __init__(self, terminal):
        super().__init__()
        self.isatty = lambda: terminal


def test_a_notebook_shows_one_line_of_plain_text(monkeypatch, recwarn):
    """Hundreds of reports make one line and no warning."""
    monkeypatch.setattr("sys.stderr", Stderr(terminal=False))
    monkeypatch.setitem(sys.modules, "ipykernel", None)
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REPORTS", 0.0)
    with progress_bar(True) as report:
        for step in range(1, 201):
            report("climbing", step, None)
        report("scoring", 1, 4)
        report("scoring", 4, 4)
    shown = sys.stderr.getvalue()
    assert shown.count("\n") == 1
    assert shown.split("\r")[-2:] == [f"scoring [{'#' * 8}{'.' * 22}] 25%", f"scoring [{'#' * 30}] 100%\n"]
    assert not recwarn.list


def test_a_log_file_gets_a_line_for_each_report(monkeypatch):
    monkeypatch.setattr("sys.stderr", Stderr(terminal=False))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REPORTS", 0.0)
    with progress_bar(True) as report:
        report("step 1", 1, None)
        report("step 2", 2, None)
    assert sys.stderr.getvalue() == "step 1\nstep 2\n"


def test_reports_that_follow_quickly_are_skipped_except_the_last(monkeypatch):
    monkeypatch.setattr("sys.stderr", Stderr(terminal=False))
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_REPORTS", 60.0)
    with progress_bar(True) as report:
        for step in range(1, 101):
            report(f"step {step}", step, None)
    assert sys.stderr.getvalue() == "step 1\nstep 100\n"


def test_a_bar_without_reports_writes_nothing(monkeypatch):
    monkeypatch.setattr("sys.stderr", Stderr(terminal=False))
    with progress_bar(True):
        pass
    assert sys.stderr.getvalue() == ""


def test_a_terminal_shows_a_bar(monkeypatch):
    monkeypatch.setattr("sys.stderr", Stderr(terminal=True))
    with progress_bar(True) as report:
        report("scoring [all] sets", 1, 2)
    assert "scoring [all] sets" in sys.stderr.getvalue()
