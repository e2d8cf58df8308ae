"""Statistics of a streamed column: labels and their counts, or distinct numbers, quantiles and range."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.encode.number_columns import SIGN_BIT, float_keys
from tanbark.schema.encode.binning import Binning
from tanbark.schema.encode.columns import UNKNOWN
from tanbark.schema.encode.modl import MAX_CELLS
from tanbark.schema.read.arrow_columns import is_text, kind_of
from tanbark.schema.read.raw_columns import Labels, Numbers, RawColumn, is_missing
from tanbark.schema.read.table_reader import read_column, read_wide_integers
from tanbark.schema.survey.streaming_quantiles import NO_COUNTS, OrderStatistics, ValueTable

if TYPE_CHECKING:
    import pyarrow as pa


Keys = NDArray[np.uint64]
Floats = NDArray[np.float64]

MAX_DISTINCT_LABELS = 2**20
"""Maximum number of distinct values of a category."""
MAX_DISTINCT_NUMBERS = 2**16
"""Maximum number of distinct numbers that are stored; for more, only quantiles are computed."""


class SeenLabels:
    """The labels of a column with their counts, and their order if they are declared.

    At most 2**20 labels are stored. Each takes about a hundred bytes plus its text.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.counts: dict[Any, int] = {}
        self.declared: list[Any] | None = None
        self.missing = 0

    @property
    def varies(self) -> bool:
        """Whether there are at least two distinct values."""
        return len(self.counts) > 1

    def see(self, values: Any, rows: NDArray[np.bool_], _classes: Any = None) -> None:
        """Count the labels in the selected rows of an Arrow array."""
        import pyarrow as pa
        from pyarrow import types

        stored = values.type.value_type if types.is_dictionary(values.type) else values.type
        if not (is_text(stored) or types.is_boolean(stored) or types.is_integer(stored) or types.is_floating(stored)):
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


class ManyNumbers(Numbers):
    """A few numbers that represent a column with too many distinct values to be a category by default."""

    few_whole = False


class SeenNumbers:
    """The distinct numbers of a column with their counts, or its range and quantiles if there are too many.

    Up to 2**16 distinct numbers are stored (4 MB), for supervised binning per class. Beyond that, only the data needed
    for quantiles is stored (8 MB). MODL then takes one more pass, which counts the classes between quantiles. Columns
    that the user declared categorical, and MDLP, need all distinct numbers: up to 2**20 (64 MB, for MDLP per class).
    More raise an error.

    Parameters
    ----------
    name : str
        Name of the column.
    stored : pyarrow.DataType
        Arrow type of the column.
    category : bool
        Whether the user declared the column categorical.
    binning : Binning
        How the numbers are divided into intervals.
    """

    def __init__(self, name: str, stored: pa.DataType, category: bool, binning: Binning) -> None:
        self.name = name
        self.stored = stored
        self.kind = kind_of(stored)
        self.category = category
        self.binning = binning
        self._by_class = binning.is_supervised and not category
        self._needs_all = category or binning.method == "mdlp"
        self._max_values = MAX_DISTINCT_LABELS if self._needs_all else MAX_DISTINCT_NUMBERS
        # Decimals that are all missing, and an empty dictionary, are read as a column without numbers.
        self._numeric = self.kind != "decimal" and not hasattr(stored, "value_type")
        self._has_missing = False
        self._tables: dict[Any, ValueTable] = {}
        self._search: OrderStatistics | None = None
        # How many values of each class are between the quantiles, counted in the last pass of MODL.
        self._cells: dict[Any, NDArray[np.int64]] | None = None
        self._low, self._high = 2**64 - 1, 0

    @property
    def varies(self) -> bool:
        """Whether there are at least two distinct values."""
        return self._search is not None or len(self._values()[0]) > 1

    def see(self, values: Any, rows: NDArray[np.bool_], classes: Any) -> None:
        """Count the selected rows of an Arrow array; `classes` are the labels and the class code of each row."""
        from pyarrow import types

        if types.is_dictionary(values.type):
            self._numeric = self._numeric or len(values.dictionary) > values.dictionary.null_count
            values = values.dictionary_decode()
        is_searching = self._search is not None and self._cells is None
        if is_searching or not self._by_class:
            self._count(None, self._keys(values, rows))
            return
        labels, codes = classes
        for code, label in enumerate(labels):
            keys = self._keys(values, codes == code)
            if self._cells is None:
                self._count(label, keys)
            else:
                self._count_cells(label, keys)

    def merge(self, other: SeenNumbers) -> None:
        """Add the counts of another survey of the same pass."""
        self._numeric = self._numeric or other._numeric
        self._has_missing = self._has_missing or other._has_missing
        if self._cells is not None and other._cells is not None:
            for label, counts in other._cells.items():
                self._cells[label] = self._cells.get(label, 0) + counts
            return
        if other._search is not None:
            self._quantile_search().merge(other._search)
            self._low, self._high = min(self._low, other._low), max(self._high, other._high)
        for label, table in other._tables.items():
            self._count(label, *table.items())

    def fresh(self) -> SeenNumbers:
        """Return an empty survey of the same column for the same pass."""
        other = SeenNumbers(self.name, self.stored, self.category, self.binning)
        if self._search is not None:
            other._search = self._search.fresh()
            other._cells = None if self._cells is None else {}
        return other

    def settle(self) -> bool:
        """End a pass, and return whether another is needed."""
        if self._search is not None:
            return self._settle_search(self._search)
        if self._needs_all and len(self._values()[0]) > MAX_DISTINCT_LABELS:
            raise self._too_many()
        return False

    def _settle_search(self, search: OrderStatistics) -> bool:
        """End a pass of the search for quantiles, or the pass that counts the classes between them."""
        if self._cells is not None:
            search.check_rows(int(sum(counts.sum() for counts in self._cells.values())))
            return False
        again = search.settle()
        if not again and self._by_class:
            self._cells = {}
            return True
        return again

    def weighted(self, classes: Sequence[Any]) -> tuple[RawColumn, Floats, NDArray[np.int64]]:
        """Return a short column from which an encoder learns the same schema as from the whole column.

        Also return the weight of each value, and the position of its class in `classes` (0 if classes do not matter).
        One missing value represents all of them.
        """
        if not self._numeric:
            missing = np.full(int(self._has_missing), UNKNOWN)
            return Labels([], missing, self.name), np.ones(len(missing)), np.zeros(len(missing), np.int64)
        raw: Numbers | Labels
        if self._search is not None and self._cells is not None:
            raw, weights, codes = self._classes_of_cells(self._cells, self._search, list(classes))
        elif self._search is not None:
            raw, weights = self._quantiles(self._search)
            codes = np.zeros(len(weights), np.int64)
        else:
            _, keys, counts, labels = self._values()
            weights = counts.astype(np.float64)
            place = {label: code for code, label in enumerate(classes)} | {None: 0}
            codes = np.array([place[label] for label in labels], np.int64)
            raw = self._raw(keys)
        if self._has_missing:
            raw = _with_missing_value(raw)
            weights, codes = np.append(weights, 1.0), np.append(codes, 0)
        return raw, weights, codes

    def _quantiles(self, search: OrderStatistics) -> tuple[Numbers, Floats]:
        """Return the range and the quantiles, weighted so that they have the same quantiles as the column."""
        ends = np.array([self._low, self._high], np.uint64)
        quantiles = np.empty(0, np.uint64) if search.quantiles is None else search.quantiles
        values = _floats_of(np.concatenate([ends[:1], quantiles, ends[1:]]))
        weights = np.diff(np.concatenate([[0, 0], search.ranks(), [search.total]])).astype(np.float64)
        return ManyNumbers(values.reshape(-1, 1), 0, self.name), weights

    def _count_cells(self, label: Any, keys: Keys) -> None:
        """Count the keys of a class between the quantiles."""
        assert self._search is not None
        assert self._cells is not None
        bounds = self._search.distinct_quantiles
        cells = np.searchsorted(bounds, self._as_floats(keys), side="left")
        counts = np.bincount(cells, minlength=len(bounds) + 1)
        self._cells[label] = self._cells.get(label, 0) + counts

    def _classes_of_cells(
        self, cells: dict[Any, NDArray[np.int64]], search: OrderStatistics, classes: list[Any]
    ) -> tuple[Numbers, Floats, NDArray[np.int64]]:
        """Return the smallest number without weight, and for each class the last number of each cell with its count."""
        ends = np.append(search.distinct_quantiles, np.uint64(self._high))
        low = np.array([self._low], np.uint64)
        values = _floats_of(np.concatenate([low, *(ends for _ in cells)]))
        weights = np.concatenate([[0], *cells.values()]).astype(np.float64)
        codes = np.concatenate([[0], *(np.full(len(ends), classes.index(label)) for label in cells)]).astype(np.int64)
        return ManyNumbers(values.reshape(-1, 1), 0, self.name), weights, codes

    def _values(self) -> tuple[Keys, Keys, NDArray[np.int64], list[Any]]:
        """Return the distinct keys, and the keys of each class with their counts and classes."""
        items = {label: table.items() for label, table in self._tables.items()}
        keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in items.values())])
        counts = np.concatenate([np.empty(0, np.int64), *(counts for _, counts in items.values())])
        labels = [label for label, (class_keys, _) in items.items() for _ in range(len(class_keys))]
        return np.unique(keys), keys, counts, labels

    def _raw(self, keys: Keys) -> Numbers | Labels:
        """Return the numbers with these keys as a column."""
        if self.kind == "signed":
            return read_wide_integers((keys ^ SIGN_BIT).view(np.int64), self.name)
        if self.kind == "unsigned":
            return read_wide_integers(keys, self.name)
        return Numbers(_floats_of(keys).reshape(-1, 1), 0, self.name)

    def _keys(self, values: Any, rows: NDArray[np.bool_]) -> Keys:
        """Return the keys of the selected rows, without missing values."""
        import pyarrow as pa

        if not rows.all():
            values = values.filter(pa.array(rows))
        if self.kind in ("signed", "unsigned"):
            known = values.drop_null().to_numpy(zero_copy_only=False)
            self._has_missing = self._has_missing or len(known) < len(values)
            keys = (
                known.astype(np.uint64)
                if self.kind == "unsigned"
                else known.astype(np.int64).view(np.uint64) ^ SIGN_BIT
            )
            return keys if self._search is None else self._as_floats(keys)
        if self.kind == "decimal":
            self._numeric = self._numeric or values.null_count < len(values)
            stored = values.dictionary_encode()
            lookup = np.array([*map(float, stored.dictionary.to_pylist()), np.nan])
            floats = lookup[stored.indices.fill_null(len(lookup) - 1).to_numpy()]
        else:
            floats = values.to_numpy(zero_copy_only=False).astype(np.float64, copy=False)
        keys = _keys_of(floats, self.name)
        self._has_missing = self._has_missing or len(keys) < len(values)
        return keys

    def _count(self, label: Any, keys: Keys, times: NDArray[np.int64] = NO_COUNTS) -> None:
        """Count keys of a class, each once or with the given counts; switch to quantiles if they are too many."""
        if self._search is None:
            table = self._tables.setdefault(label, ValueTable(self._max_values))
            counted = table.add(keys, times)
            if counted == len(keys):
                return
            keys, times = self._as_floats(keys[counted:]), times[counted:]
        elif len(times):
            keys = self._as_floats(keys)
        search = self._quantile_search()
        if len(keys):
            self._low, self._high = min(self._low, int(keys.min())), max(self._high, int(keys.max()))
        if len(times):
            search.see_counted(keys, times)
        else:
            search.see(keys)

    def _quantile_search(self) -> OrderStatistics:
        """Return the quantile search, and start it with the values counted so far if there is none yet."""
        if self._search is None:
            if self._needs_all:
                raise self._too_many()
            tables, self._tables = self._tables, {}
            self._search = OrderStatistics(self._n_quantiles + 1)
            for label, table in tables.items():
                self._count(label, *table.items())
        return self._search

    @property
    def _n_quantiles(self) -> int:
        """Number of quantiles that the cut points of a column with many numbers depend on."""
        if self.binning.method == "modl":
            return MAX_CELLS - 1
        return self.binning.max_bins - 1 if self.binning.method == "quantile" else 0

    def _as_floats(self, keys: Keys) -> Keys:
        """Convert keys of integers to the keys of the nearest floats."""
        if self.kind in ("float", "decimal"):
            return keys
        return _keys_of(
            (keys if self.kind == "unsigned" else (keys ^ SIGN_BIT).view(np.int64)).astype(np.float64), self.name
        )

    def _too_many(self) -> ValueError:
        """Return the error for a column with too many distinct values."""
        if self.category:
            return too_many_levels_error(self.name)
        return ValueError(
            f"column {self.name!r} has more than {MAX_DISTINCT_LABELS:,} distinct values, too many for bins='mdlp'; "
            "use bins='quantile'"
        )


def _keys_of(floats: Floats, name: str) -> Keys:
    """Return the keys of floats, without NaN; raise ValueError if one is infinite."""
    keys = np.empty(len(floats), np.uint64)
    count, finite = float_keys(np.ascontiguousarray(floats).view(np.uint64), keys)
    if not finite:
        Numbers(floats.reshape(-1, 1), 0, name).floats()
    return keys[:count]


def _floats_of(keys: Keys) -> Floats:
    """Return the floats with these keys."""
    return np.where(keys >= SIGN_BIT, keys ^ SIGN_BIT, ~keys).view(np.float64)


def _with_missing_value(raw: Numbers | Labels) -> Numbers | Labels:
    """Return the column with a missing value appended."""
    if isinstance(raw, Labels):
        return Labels(raw.distinct, np.append(raw.position, UNKNOWN), raw.name)
    return type(raw)(np.append(raw.rows, [[np.nan]], axis=0), 0, raw.name)
