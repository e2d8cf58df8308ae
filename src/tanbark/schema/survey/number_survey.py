"""Statistics of a streamed column of numbers: distinct values, quantiles and range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.encode.distinct_numbers import SIGN, float_keys
from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.read.raw_columns import Labels, Numbers, RawColumn
from tanbark.schema.read.table_reader import read_wide_integers
from tanbark.schema.survey.label_survey import MOST_LEVELS, too_many
from tanbark.schema.survey.streaming_quantiles import NONE, OrderStatistics, ValueTable

if TYPE_CHECKING:
    import pyarrow as pa

Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]

MOST_VALUES = 2**16
"""How many distinct numbers are kept before only their quantiles are looked for."""


def kind_of(stored: pa.DataType) -> str:
    """Return what a column of an Arrow type holds: integers, floats, decimals or labels.

    Integers in a dictionary that does not declare them are numbers, as they are to whoever reads the whole table.
    """
    import pyarrow.types as types

    if types.is_dictionary(stored) and types.is_integer(stored.value_type) and not stored.ordered:
        stored = stored.value_type
    if types.is_integer(stored):
        return "signed" if types.is_signed_integer(stored) else "unsigned"
    return "float" if types.is_floating(stored) else "decimal" if types.is_decimal(stored) else "labels"


class ManyNumbers(Numbers):
    """A few numbers that stand for more than anybody would take for categories."""

    few_whole = False


class SeenNumbers:
    """The distinct numbers of a column with their counts, or its range and quantiles where they are many.

    Distinct numbers are kept up to 2**16 of them (4 MB), beyond only what quantiles need (8 MB). A category by the
    user's word, and cut points chosen with the class in view, need all of them: up to 2**20 (64 MB, for each class
    where it matters), beyond which there is an error.

    Parameters
    ----------
    name : str
    stored : pyarrow.DataType
        What the numbers are stored as.
    category : bool
        Whether the column is a category by the user's word.
    bins : {"quantile", "width", "mdlp"}
    n_bins : int
    """

    def __init__(self, name: str, stored: pa.DataType, category: bool, bins: str, n_bins: int) -> None:
        self.name = name
        self.stored = stored
        self.kind = kind_of(stored)
        self.category = category
        self.bins = bins
        self.n_bins = n_bins
        self._by_class = bins == "mdlp" and not category
        self._most = MOST_LEVELS if category or self._by_class else MOST_VALUES
        # Decimals that are all missing, and an empty dictionary, are read as a column of no numbers at all.
        self._numeric = self.kind != "decimal" and not hasattr(stored, "value_type")
        self._holed = False
        self._tables: dict[Any, ValueTable] = {}
        self._search: OrderStatistics | None = None
        self._low, self._high = 2**64 - 1, 0

    def see(self, values: Any, rows: NDArray[np.bool_], classes: Any) -> None:
        """Look at some rows of an Arrow array, each with its class."""
        import pyarrow.types as types

        if types.is_dictionary(values.type):
            self._numeric = self._numeric or len(values.dictionary) > values.dictionary.null_count
            values = values.dictionary_decode()
        if not self._by_class:
            self._count(None, self._keys(values, rows))
            return
        labels, codes = classes
        for code, label in enumerate(labels):
            self._count(label, self._keys(values, codes == code))

    def merge(self, other: SeenNumbers) -> None:
        """Add what another has seen in the same pass."""
        self._numeric = self._numeric or other._numeric
        self._holed = self._holed or other._holed
        if other._search is not None:
            self._look_for_quantiles().merge(other._search)
            self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        for label, table in other._tables.items():
            self._count(label, *table.items())

    def fresh(self) -> SeenNumbers:
        """Return one that asks the same and has seen nothing."""
        other = SeenNumbers(self.name, self.stored, self.category, self.bins, self.n_bins)
        if self._search is not None:
            other._search = self._search.fresh()
        return other

    def settle(self) -> bool:
        """End a pass; return whether another is needed."""
        if self._search is not None:
            return self._search.settle()
        if self._by_class and len(self._values()[0]) > MOST_LEVELS:
            raise self._too_many()
        return False

    def weighted(self, classes: Sequence[Any]) -> tuple[RawColumn, Floats, NDArray[np.int64]]:
        """Return a short column of which an encoder thinks what it would think of the whole one.

        Beside it each value's weight, and its class's position among `classes` (0 where that does not matter). One
        missing value stands for all of them.
        """
        if not self._numeric:
            hole = np.full(int(self._holed), UNKNOWN)
            return Labels([], hole, self.name), np.ones(len(hole)), np.zeros(len(hole), np.int64)
        raw: Numbers | Labels
        if self._search is not None:
            raw, weights = self._quantiles(self._search)
            codes = np.zeros(len(weights), np.int64)
        else:
            _, keys, counts, labels = self._values()
            weights = counts.astype(np.float64)
            place = {label: code for code, label in enumerate(classes)} | {None: 0}
            codes = np.array([place[label] for label in labels], np.int64)
            raw = self._raw(keys)
        if self._holed:
            raw = _with_a_hole(raw)
            weights, codes = np.append(weights, 1.0), np.append(codes, 0)
        return raw, weights, codes

    def _quantiles(self, search: OrderStatistics) -> tuple[Numbers, Floats]:
        """Return the range and the quantiles, weighted so that these are their quantiles too."""
        ends = np.array([self._low, self._high], np.uint64)
        found = np.empty(0, np.uint64) if search.found is None else search.found
        values = _floats_of(np.concatenate([ends[:1], found, ends[1:]]))
        weights = np.diff(np.concatenate([[0, 0], search.ranks(), [search.total]])).astype(np.float64)
        return ManyNumbers(values.reshape(-1, 1), 0, self.name), weights

    def _values(self) -> tuple[Keys, Keys, NDArray[np.int64], list[Any]]:
        """Return the distinct keys, and the keys in each class with their counts and classes."""
        items = {label: table.items() for label, table in self._tables.items()}
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in items.values())])
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in items.values())])
        labels = [label for label, (held, _) in items.items() for _ in range(len(held))]
        return np.unique(keys), keys, counts, labels

    def _raw(self, keys: Keys) -> Numbers | Labels:
        if self.kind == "signed":
            return read_wide_integers((keys ^ SIGN).view(np.int64), self.name)
        if self.kind == "unsigned":
            return read_wide_integers(keys, self.name)
        return Numbers(_floats_of(keys).reshape(-1, 1), 0, self.name)

    def _keys(self, values: Any, rows: NDArray[np.bool_]) -> Keys:
        """Return the keys of those of some rows that are not missing."""
        import pyarrow as pa

        if not rows.all():
            values = values.filter(pa.array(rows))
        if self.kind in ("signed", "unsigned"):
            known = values.drop_null().to_numpy(zero_copy_only=False)
            self._holed = self._holed or len(known) < len(values)
            keys = known.astype(np.uint64) if self.kind == "unsigned" else known.astype(np.int64).view(np.uint64) ^ SIGN
            return keys if self._search is None else self._as_floats(keys)
        if self.kind == "decimal":
            self._numeric = self._numeric or values.null_count < len(values)
            stored = values.dictionary_encode()
            lookup = np.array([*map(float, stored.dictionary.to_pylist()), np.nan])
            floats = lookup[stored.indices.fill_null(len(lookup) - 1).to_numpy()]
        else:
            floats = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        keys = _keys_of(floats, self.name)
        self._holed = self._holed or len(keys) < len(values)
        return keys

    def _count(self, label: Any, keys: Keys, times: NDArray[np.int64] = NONE) -> None:
        if self._search is None:
            table = self._tables.setdefault(label, ValueTable(self._most))
            counted = table.add(keys, times)
            if counted == len(keys):
                return
            keys, times = self._as_floats(keys[counted:]), times[counted:]
        elif len(times):
            keys = self._as_floats(keys)
        search = self._look_for_quantiles()
        if len(keys):
            self._low, self._high = min(self._low, int(keys.min())), max(self._high, int(keys.max()))
        if len(times):
            search.see_counted(keys, times)
        else:
            search.see(keys)

    def _look_for_quantiles(self) -> OrderStatistics:
        """Return the search for quantiles, which begins with the values so far where there was none."""
        if self._search is None:
            if self._most == MOST_LEVELS:
                raise self._too_many()
            tables, self._tables = self._tables, {}
            self._search = OrderStatistics(self.n_bins if self.bins == "quantile" else 1)
            for label, table in tables.items():
                self._count(label, *table.items())
        return self._search

    def _as_floats(self, keys: Keys) -> Keys:
        """Return keys of integers as the keys of the floats nearest to them."""
        if self.kind in ("float", "decimal"):
            return keys
        return _keys_of(
            (keys if self.kind == "unsigned" else (keys ^ SIGN).view(np.int64)).astype(np.float64), self.name
        )

    def _too_many(self) -> ValueError:
        if not self._by_class:
            return too_many(self.name)
        return ValueError(
            f"column {self.name!r} has more than {MOST_LEVELS:,} distinct values, too many to be cut with bins='mdlp'; "
            "use bins='quantile'"
        )


def _keys_of(floats: Floats, name: str) -> Keys:
    """Return the keys of floats, NaN left out."""
    keys = np.empty(len(floats), np.uint64)
    many, finite = float_keys(np.ascontiguousarray(floats).view(np.uint64), keys)
    if not finite:
        Numbers(floats.reshape(-1, 1), 0, name).floats()
    return keys[:many]


def _floats_of(keys: Keys) -> Floats:
    """Return the floats that have these keys."""
    return np.where(keys >= SIGN, keys ^ SIGN, ~keys).view(np.float64)


def _with_a_hole(raw: Numbers | Labels) -> Numbers | Labels:
    """Return the column with a missing value at its end."""
    if isinstance(raw, Labels):
        return Labels(raw.distinct, np.append(raw.position, UNKNOWN), raw.name)
    return type(raw)(np.append(raw.rows, [[np.nan]], axis=0), 0, raw.name)
