"""Unexpected values: texts that are not numbers or dates, and dates outside the range of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

from tanbark.messages import counted, warn
from tanbark.schema.recipe.text_profile import MAX_EXAMPLES, MAX_TEXTS_PER_SHAPE

MIN_UNREADABLE_TO_REFUSE = 2
"""A column with fewer unreadable values is not refused, so that a single row can always be predicted."""


class UnreadableValues:
    """The values of each column that could not be read or were not expected, collected over all parts of a table.

    Parameters
    ----------
    unseen_labels : bool, default=False
        Whether labels that training did not have are collected too.
    """

    def __init__(self, unseen_labels: bool = False) -> None:
        self.unseen_labels = unseen_labels
        self._texts: dict[str, Counter[str]] = {}
        self._values: Counter[str] = Counter()
        self._expected: dict[str, str] = {}
        self._unseen: dict[str, Counter[str]] = {}
        self._labels: Counter[str] = Counter()
        self._dates: dict[str, Counter[str]] = {}
        self._ranges: dict[str, str] = {}
        self._lock = Lock()

    def add(self, name: str, expected: str, values: int, unreadable: Mapping[str, int]) -> None:
        """Add some values of a column.

        Parameters
        ----------
        name : str
            Name of the column.
        expected : {"numbers", "dates", "true or false", "text"}
            What the column must hold.
        values : int
            Number of values that are not missing.
        unreadable : mapping of str to int
            The values that cannot be read, and how often each occurs.
        """
        with self._lock:
            self._expected[name] = expected
            self._values[name] += values
            _add_counts(self._texts.setdefault(name, Counter()), unreadable)

    def add_labels(self, name: str, labels: int, unseen: Mapping[str, int]) -> None:
        """Add some labels of a column.

        Parameters
        ----------
        name : str
            Name of the column.
        labels : int
            Number of labels that are not missing.
        unseen : mapping of str to int
            The labels that training did not have, and how often each occurs.
        """
        with self._lock:
            self._labels[name] += labels
            _add_counts(self._unseen.setdefault(name, Counter()), unseen)

    def of(self, name: str) -> tuple[str, list[str]]:
        """Return what is expected of a column, and the values that are something else."""
        return self._expected.get(name, ""), list(self._texts.get(name, ()))

    def add_dates(self, name: str, dates: int, outside: int, seen: str) -> None:
        """Add some dates of a column.

        Parameters
        ----------
        name : str
            Name of the column.
        dates : int
            Number of dates that are not missing.
        outside : int
            Number of dates outside the range seen in training.
        seen : str
            The range seen in training.
        """
        with self._lock:
            self._ranges[name] = seen
            self._dates.setdefault(name, Counter()).update({"dates": dates, "outside": outside})

    def merge(self, other: UnreadableValues) -> None:
        """Add the values of further rows."""
        for name, texts in other._texts.items():
            self.add(name, other._expected[name], other._values[name], texts)
        for name, labels in other._unseen.items():
            self.add_labels(name, other._labels[name], labels)
        for name, dates in other._dates.items():
            self.add_dates(name, dates["dates"], dates["outside"], other._ranges[name])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=Lock())

    def check(self) -> None:
        """Raise ValueError if more than half of the values of a column are unreadable."""
        for name, texts in self._texts.items():
            unreadable = texts.total()
            if unreadable >= MIN_UNREADABLE_TO_REFUSE and 2 * unreadable > self._values[name]:
                raise ValueError(f"column {name!r}: {self._share(name)}; check that this is the right column")

    def report(self) -> None:
        """Warn of unexpected values; raise ValueError if more than half of the values of a column are unreadable."""
        self.check()
        for note in self.notes():
            warn(note)

    def notes(self, names: Container[str] | None = None) -> list[str]:
        """Return a note on each column with unexpected values, or on each of the named columns."""
        unreadable = {
            name: f"{self._share(name)} and " + ("counts as missing" if texts.total() == 1 else "count as missing")
            for name, texts in self._texts.items()
            if texts
        }
        unseen = {name: self._not_seen(name) for name, labels in self._unseen.items() if labels}
        outside = {name: self._outside(name) for name, dates in self._dates.items() if dates["outside"]}
        return [
            f"column {name!r}: {note}"
            for notes in (unreadable, unseen, outside)
            for name, note in notes.items()
            if names is None or name in names
        ]

    def _not_seen(self, name: str) -> str:
        """Return how many labels of a column were not seen in training, with examples."""
        labels = self._unseen[name]
        were = "was" if labels.total() == 1 else "were"
        return f"{labels.total():,} of {self._labels[name]:,} values {were} not seen in training ({_examples(labels)})"

    def _outside(self, name: str) -> str:
        """Return how many dates of a column lie outside the range seen in training."""
        dates, outside = self._dates[name]["dates"], self._dates[name]["outside"]
        lie = "lies" if outside == 1 else "lie"
        return (
            f"{outside:,} of {counted(dates, 'date')} {lie} outside the range seen in training ({self._ranges[name]})"
        )

    def _share(self, name: str) -> str:
        """Return what is expected of a column and how many values are something else, with examples."""
        texts = self._texts[name]
        unreadable, values = texts.total(), self._values[name]
        be = "is" if unreadable == 1 else "are"
        return f"expected {self._expected[name]}, but {unreadable:,} of {values:,} values {be} not ({_examples(texts)})"


def _add_counts(counts: Counter[str], more: Mapping[str, int]) -> None:
    """Add counts of texts; of very many texts, only some are named."""
    for text, count in more.items():
        counts[text if text in counts or len(counts) < MAX_TEXTS_PER_SHAPE else "…"] += count


def _examples(counts: Counter[str]) -> str:
    """Return the commonest texts."""
    return listed_examples(sorted(counts, key=lambda text: (-counts[text], text)), len(counts))


def listed_examples(texts: list[str], total: int) -> str:
    """Return up to five texts as examples.

    >>> listed_examples(["n.k.", "?"], 2), listed_examples(["a", "b", "c", "d", "e", "f"], 6)
    ("'n.k.', '?'", "'a', 'b', 'c', 'd', 'e', …")
    """
    shown = ", ".join(repr(text[:40]) for text in texts[:MAX_EXAMPLES])
    return f"{shown}, …" if total > MAX_EXAMPLES else shown


_COLLECTOR: ContextVar[UnreadableValues | None] = ContextVar("unreadable values", default=None)


@contextmanager
def collecting(unreadable: UnreadableValues) -> Iterator[UnreadableValues]:
    """Collect the unexpected values of all tables that this thread encodes meanwhile."""
    before = _COLLECTOR.set(unreadable)
    try:
        yield unreadable
    finally:
        _COLLECTOR.reset(before)


def collects_unseen_labels() -> bool:
    """Return whether a caller collects labels that training did not have."""
    collector = _COLLECTOR.get()
    return collector is not None and collector.unseen_labels


@contextmanager
def reporting() -> Iterator[UnreadableValues]:
    """Collect the unexpected values of one table; at the end warn of them, unless a caller collects them."""
    collector = _COLLECTOR.get()
    if collector is not None:
        yield collector
        return
    with collecting(UnreadableValues()) as unreadable:
        yield unreadable
    unreadable.report()
