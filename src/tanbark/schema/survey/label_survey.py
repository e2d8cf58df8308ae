"""Statistics of a streamed column of labels: its levels and their counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.object_columns import is_missing
from tanbark.schema.read.raw_columns import Labels, RawColumn
from tanbark.schema.read.table_reader import read_column

MOST_LEVELS = 2**20
"""How many distinct values of a category are told apart."""


class SeenLabels:
    """The labels of a column, each with its count, and the order in which they are declared, if they are.

    At most 2**20 of them are kept: a hundred bytes each, and their text.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[Any, int] = {}
        self.declared: list[Any] | None = None
        self.missing = 0

    def see(self, values: Any, rows: NDArray[np.bool_], classes: Any = None) -> None:
        """Look at some rows of an Arrow array."""
        import pyarrow as pa
        import pyarrow.types as types

        stored = values.type.value_type if types.is_dictionary(values.type) else values.type
        if not (_is_text(stored) or types.is_boolean(stored) or types.is_integer(stored) or types.is_floating(stored)):
            self._see_unusual(values, rows)
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
        self.missing += sum(many for label, many in zip(labels, times) if is_missing(label))
        self.count([v for v in labels if not is_missing(v)], [t for v, t in zip(labels, times) if not is_missing(v)])

    def _see_unusual(self, values: Any, rows: NDArray[np.bool_]) -> None:
        """Look at some rows of an Arrow array that stores its labels in another way, or holds no labels at all."""
        raw = read_column(values, self.name).keep(rows)
        if raw.measurable and not np.isnan(raw.floats()).all():
            raise TypeError(f"column {self.name!r} holds numbers as {values.type}; cast it to a type of numbers")
        levels = raw.levels()
        counts = np.bincount(raw.index() + 1, minlength=len(levels) + 1).tolist()
        self.missing += counts[0]
        self.count(levels, counts[1:])

    def merge(self, other: SeenLabels) -> None:
        """Add what another has seen."""
        self.missing += other.missing
        if other.declared is not None:
            self._declare(other.declared)
        self.count(list(other.counts), list(other.counts.values()))

    def fresh(self) -> SeenLabels:
        """Return one that has seen nothing."""
        return SeenLabels(self.name)

    def settle(self) -> bool:
        """End a pass; return whether another is needed."""
        strange = set(self.counts) - set(self.declared) if self.declared is not None else ()
        if strange:
            raise ValueError(
                f"column {self.name!r} declares its levels in some rows, but others hold {min(strange, key=str)!r}; "
                "declare the same in all"
            )
        return False

    def weighted(self, classes: Sequence[Any] = ()) -> tuple[RawColumn, NDArray[np.float64], NDArray[np.int64]]:
        """Return a column in which each label stands once, and one missing value if there was any, and their counts.

        The third array would be of classes, which do not matter here.
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
        """Count labels as many times as given."""
        for label, count in zip(labels, counts):
            self.counts[label] = self.counts.get(label, 0) + count
        if len(self.counts) > MOST_LEVELS:
            raise too_many(self.name)

    def _declare(self, levels: list[Any]) -> None:
        mine = self.declared or []
        if mine[: len(levels)] != levels[: len(mine)]:
            raise ValueError(
                f"column {self.name!r} declares other levels in some rows than in others; declare the same"
            )
        self.declared = max(mine, levels, key=len)


def too_many(name: str) -> ValueError:
    """Return what to say of a category with more distinct values than can be told apart."""
    return ValueError(
        f"column {name!r} has more than {MOST_LEVELS:,} distinct values; if it is an identifier, leave it out with "
        "ignore="
    )


def _is_text(stored: Any) -> bool:
    import pyarrow.types as types

    return bool(types.is_string(stored) or types.is_large_string(stored) or types.is_string_view(stored))
