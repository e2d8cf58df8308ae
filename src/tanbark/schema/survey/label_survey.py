"""Levels of a streamed column of labels, and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.object_columns import is_missing
from tanbark.schema.read.raw_columns import Labels, RawColumn
from tanbark.schema.read.table_reader import read_column

MAX_DISTINCT_LABELS = 2**20
"""Maximum number of distinct values of a category."""


class SeenLabels:
    """The labels of a column with their counts, and their order if they are declared.

    At most 2**20 labels are stored. Each takes about a hundred bytes plus its text.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[Any, int] = {}
        self.declared: list[Any] | None = None
        self.missing = 0

    def see(self, values: Any, rows: NDArray[np.bool_], _classes: Any = None) -> None:
        """Count the labels in the selected rows of an Arrow array."""
        import pyarrow as pa
        from pyarrow import types

        stored = values.type.value_type if types.is_dictionary(values.type) else values.type
        if not (_is_text(stored) or types.is_boolean(stored) or types.is_integer(stored) or types.is_floating(stored)):
            self._see_other_type(values, rows)
            return
        if not types.is_dictionary(values.type):
            values = values.dictionary_encode()
        if types.is_floating(stored):
            read_column(values[:0], self.name)
        levels = values.dictionary.cast(pa.string()) if types.is_string_view(stored) else values.dictionary
        if values.type.ordered:
            self._declare([v for v in levels.to_pylist() if not is_missing(v)])
        if not rows.all():
            values = values.filter(pa.array(rows))
        known = values.indices.drop_null() if values.null_count else values.indices
        counts = np.bincount(known.to_numpy(), minlength=len(levels))
        used = np.flatnonzero(counts)
        self.missing += len(values) - len(known)
        labels, times = levels.take(pa.array(used)).to_pylist(), counts[used].tolist()
        present = [not is_missing(label) for label in labels]
        self.missing += sum(times) - sum(compress(times, present))
        self.count(list(compress(labels, present)), list(compress(times, present)))

    def _see_other_type(self, values: Any, rows: NDArray[np.bool_]) -> None:
        """Count the labels in the selected rows of an Arrow array of a less common type."""
        raw = read_column(values, self.name).keep(rows)
        if raw.is_numeric and not np.isnan(raw.floats()).all():
            raise TypeError(f"column {self.name!r} holds numbers as {values.type}; cast it to a numeric type")
        levels = raw.levels()
        counts = np.bincount(raw.index() + 1, minlength=len(levels) + 1).tolist()
        self.missing += counts[0]
        self.count(levels, counts[1:])

    def merge(self, other: SeenLabels) -> None:
        """Add the counts of another survey of the same column."""
        self.missing += other.missing
        if other.declared is not None:
            self._declare(other.declared)
        self.count(list(other.counts), list(other.counts.values()))

    def fresh(self) -> SeenLabels:
        """Return an empty survey of the same column."""
        return SeenLabels(self.name)

    def settle(self) -> bool:
        """End a pass, and return whether another is needed."""
        undeclared = set(self.counts) - set(self.declared) if self.declared is not None else ()
        if undeclared:
            raise ValueError(
                f"column {self.name!r} declares its levels in some rows, but other rows hold the undeclared level "
                f"{min(undeclared, key=str)!r}; declare the same levels in all rows"
            )
        return False

    def weighted(self, _classes: Sequence[Any] = ()) -> tuple[RawColumn, NDArray[np.float64], NDArray[np.int64]]:
        """Return a column with one row per distinct label, the count of each, and zeros in place of classes.

        If there are missing values, one additional row represents them.
        """
        labels = self.declared if self.declared is not None else list(self.counts)
        counts = np.array([self.counts.get(label, 0) for label in labels], np.float64)
        position = np.flatnonzero(counts)
        weights = counts[position]
        if self.missing:
            position, weights = np.append(position, UNKNOWN), np.append(weights, self.missing)
        raw = Labels(labels, position, self.name, self.declared is not None)
        return raw, weights, np.zeros(len(weights), np.int64)

    def count(self, labels: Sequence[Any], counts: Sequence[int]) -> None:
        """Add counts of labels."""
        for label, count in zip(labels, counts, strict=True):
            self.counts[label] = self.counts.get(label, 0) + count
        if len(self.counts) > MAX_DISTINCT_LABELS:
            raise too_many_levels_error(self.name)

    def _declare(self, levels: list[Any]) -> None:
        """Record declared levels, which must extend those declared before or be a prefix of them."""
        known = self.declared or []
        if known[: len(levels)] != levels[: len(known)]:
            raise ValueError(
                f"column {self.name!r} declares different levels in different rows; declare the same levels in all rows"
            )
        self.declared = max(known, levels, key=len)


def too_many_levels_error(name: str) -> ValueError:
    """Return the error for a category with too many distinct values."""
    return ValueError(
        f"column {name!r} has more than {MAX_DISTINCT_LABELS:,} distinct values; if it is an identifier, exclude it "
        "with ignore="
    )


def _is_text(stored: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(stored) or types.is_large_string(stored) or types.is_string_view(stored))
