"""The Encoder: learn a schema from a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tanbark.schema.encode.binning import mdlp_cuts, quantile_cuts, width_cuts
from tanbark.schema.encode.columns import Category, Column, Number
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.class_column import Target, read_target, usable_rows
from tanbark.schema.read.raw_columns import AUTO_LEVELS, RawColumn
from tanbark.schema.read.table_reader import Table, read_table
from tanbark.user_warnings import warn


class Encoder(BaseEstimator):
    """Settings by which a table becomes codes.

    Parameters
    ----------
    categorical : "auto", "all", or a list of column names or positions
        Which columns are categories. Strings, booleans and declared categories always are; under "auto" so are
        whole numbers of at most ten distinct values; a list names all columns of numbers that are.
    bins : {"quantile", "width", "mdlp"}
        How numbers are cut: equal frequency, equal width, or by Fayyad and Irani's criterion.
    n_bins : int
        Into how many intervals ("mdlp" finds that out by itself).
    max_levels : int
        Beyond so many levels the rarest of a category share one.
    missing : {"marginalize", "state"}
        Whether a missing value is left open or is a level of its own.
    unseen : {"marginalize", "error"}
        What to do with a label that training did not have.

    Attributes
    ----------
    schema_ : Schema

    Examples
    --------
    >>> from tanbark import Encoder
    >>> schema = Encoder(n_bins=2).fit([[1.5, 0], [2.5, 1], [3.5, 1], [4.5, 0]], ["a", "b", "b", "a"]).schema_
    >>> [column.labels for column in schema.columns]
    [('<= 2.5', '> 2.5'), ('0', '1')]
    """

    def __init__(
        self,
        *,
        categorical: str | Collection[str | int] = "auto",
        bins: str = "quantile",
        n_bins: int = 5,
        max_levels: int = 255,
        missing: str = "marginalize",
        unseen: str = "marginalize",
    ) -> None:
        self.categorical = categorical
        self.bins = bins
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.unseen = unseen

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the schema of a table and its classes."""
        self.check()
        self.schema_ = self.learn(*usable_rows(read_table(X), read_target(y), sample_weight))
        return self

    def learn(self, table: Table, target: Target, weights: NDArray[np.float64] | None) -> Schema:
        """Return the schema of a table that was read already."""
        self.check()
        names = table.names or tuple(f"x{u}" for u in range(len(table.columns)))
        class_name = target.name_beside(names)
        forced = self.forced(names)
        columns = tuple(
            self.column(name, raw, name in forced, table.rows, weights, target.codes, len(target.labels))
            for name, raw in zip(names, table.columns)
        )
        classes = tuple(target.labels.tolist())
        return Schema(columns, classes, class_name, self.unseen, table.names is not None, target.labels.dtype.str)

    def column(
        self,
        name: str,
        raw: RawColumn,
        forced: bool,
        rows: int,
        weights: NDArray[np.float64] | None,
        y: NDArray[np.int64],
        classes: int,
    ) -> Column:
        """Return what a column of so many rows is, of which some values may stand for many by their weights.

        `forced` says that it is a category by the user's word, `y` the class of each value, one of so many.
        """
        by_itself = isinstance(self.categorical, str) and raw.few_whole
        if forced or by_itself or not raw.measurable:
            return self._category(name, raw, rows, weights)
        return self._number(name, raw, y, classes, weights)

    def check(self) -> None:
        """Raise a sentence that names the parameter whose value cannot be."""
        choices = {
            "bins": ("quantile", "width", "mdlp"),
            "missing": ("marginalize", "state"),
            "unseen": ("marginalize", "error"),
        }
        for name, allowed in choices.items():
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {getattr(self, name)!r}")
        for name, least, most in (("n_bins", 1, 65_000), ("max_levels", 2, 65_000)):
            value = getattr(self, name)
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or not least <= value <= most:
                raise ValueError(f"{name} must be a whole number from {least} to {most}, got {value!r}")
        if isinstance(self.categorical, str):
            sensible = self.categorical in ("auto", "all")
        else:
            given = self.categorical.tolist() if isinstance(self.categorical, np.ndarray) else self.categorical
            sensible = isinstance(given, list | tuple | set | frozenset) and all(
                isinstance(c, str | int | np.integer) and not isinstance(c, bool) for c in given
            )
        if not sensible:
            raise ValueError(
                f"categorical must be 'auto', 'all' or a list of column names or positions, got {self.categorical!r}"
            )

    def forced(self, names: tuple[str, ...]) -> set[str]:
        """Return which columns are categories by the user's word."""
        if isinstance(self.categorical, str):
            return set() if self.categorical == "auto" else set(names)
        chosen = set()
        for given in self.categorical:
            known = given in names if isinstance(given, str) else -len(names) <= given < len(names)
            if not known:
                raise ValueError(f"categorical names the column {given!r}, which the table does not have")
            chosen.add(given if isinstance(given, str) else names[given])
        return chosen

    def _category(self, name: str, raw: RawColumn, rows: int, weights: NDArray[np.float64] | None) -> Column:
        levels = raw.levels()
        state = self.missing == "state" and raw.has_missing
        if len(levels) > AUTO_LEVELS and len(levels) > rows / 2:
            warn(f"column {name!r} has {len(levels)} levels in {rows} rows: it looks like an identifier; drop it")
        room = self.max_levels - state
        if len(levels) <= room:
            return Category(name, tuple(levels), missing=state)
        warn(f"column {name!r} has {len(levels)} levels: the rarest {len(levels) - room + 1} share one (max_levels)")
        seen = np.bincount(raw.index() + 1, weights, minlength=len(levels) + 1)[1:]
        kept = np.sort(np.argsort(-seen, kind="stable")[: room - 1])
        return Category(name, tuple(levels[i] for i in kept), other=True, missing=state)

    def _number(
        self, name: str, raw: RawColumn, y: NDArray[np.int64], classes: int, weights: NDArray[np.float64] | None
    ) -> Column:
        numbers = raw.floats()
        known = ~np.isnan(numbers)
        if not known.all():
            numbers, y = numbers[known], y[known]
            weights = None if weights is None else weights[known]
        if self.bins == "quantile":
            cuts = quantile_cuts(numbers, weights, self.n_bins)
        elif self.bins == "width":
            cuts = width_cuts(numbers, self.n_bins)
        else:
            cuts = mdlp_cuts(numbers, y, weights, classes)
        low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
        return Number(name, tuple(cuts), low, high, missing=self.missing == "state" and not known.all())
