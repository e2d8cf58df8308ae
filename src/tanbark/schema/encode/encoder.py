"""Encoder: learn a schema from a table."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from tanbark.messages import suggestion, warn
from tanbark.schema.encode.columns import UNKNOWN, Category, Column, Number
from tanbark.schema.encode.mdlp import mdlp_cuts
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.class_column import Target, read_target, usable_rows
from tanbark.schema.read.raw_columns import MAX_AUTO_LEVELS, RawColumn
from tanbark.schema.read.table_reader import Table, read_new_table
from tanbark.schema.recipe.column_reading import read_table_by_recipe
from tanbark.schema.recipe.detection import Detector, with_sources
from tanbark.schema.recipe.recipe import Recipe
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.shared_docs import insert_shared_docs

DEFAULT_N_BINS = 5


@insert_shared_docs
class Encoder(BaseEstimator):
    """Learn a schema: which columns are categories, their levels, and the cut points of numbers.

    Parameters
    ----------
    categorical : {"auto", "all"} or list of str or int, default="auto"
        Numeric columns to treat as categories. Strings, booleans and declared categories always are categories.

        - "auto": integers, or floats with integer values only, with at most ten distinct values.
        - "all": all columns.
        - list: the columns with these names or positions.
    bins : {"quantile", "width", "mdlp"}, default="quantile"
        How to bin numbers: with equal frequency, with equal width, or by the supervised MDLP criterion [1]_.
    n_bins : int or "auto", default="auto"
        Maximum number of intervals per column. "auto" lets the classifier choose: 64 for `EvidenceBN`, `BoostedTables`
        and `EnsembleBN`, which learn how finely to distinguish numbers, and 5 for all others and without a classifier.
        Ignored by "mdlp", which determines the number itself.
    max_levels : int, default=255
        Maximum number of levels of a category. If there are more, the rarest are merged into one, with a warning.
    missing : {"auto", "marginalize", "state"}, default="auto"
        Whether missing values are marginalised or form a level of their own. "auto" lets the classifier choose: "state"
        for `EvidenceBN`, `BoostedTables` and `EnsembleBN`, and "marginalize" for all others and without a classifier.
    unseen : {"marginalize", "error"}, default="marginalize"
        Whether labels that did not occur in training are treated as missing or raise an error.
    coerce : bool or Recipe, default=False
        Whether columns of text are read as numbers or dates if that is what they hold, and texts such as "n/a" as
        missing values. False takes text as categories. A `Recipe` sets the rules. Columns declared categorical are
        never changed.
    dates : {"expand", "number", "ignore", "error"}, default="expand"
        What a column of dates becomes: a number that is shown as a date, and the weekday, the month and the hour if
        they vary; only the number; nothing; or an error.
    identifiers : {"keep", "drop"}, default="keep"
        Whether `fit` leaves out columns that look like identifiers, with a warning: text with more than 90 % distinct
        values, whole numbers that are distinct and consecutive, and long free text. The last remaining column is never
        left out.
    keep : sequence of str, default=()
        Columns that are never left out as identifiers.

    Attributes
    ----------
    schema_ : Schema
        The schema learned by `fit`.
    {columns_seen}

    See Also
    --------
    Schema : The columns and classes of a table; encodes tables as integer codes.

    References
    ----------
    .. [1] Fayyad, U. and Irani, K. (1993). Multi-interval discretization of continuous-valued attributes for
       classification learning. IJCAI, 1022-1027.

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
        n_bins: int | str = "auto",
        max_levels: int = 255,
        missing: str = "auto",
        unseen: str = "marginalize",
        coerce: bool | Recipe = False,
        dates: str = "expand",
        identifiers: str = "keep",
        keep: Collection[str] = (),
    ) -> None:
        self.categorical = categorical
        self.bins = bins
        self.n_bins = n_bins
        self.max_levels = max_levels
        self.missing = missing
        self.unseen = unseen
        self.coerce = coerce
        self.dates = dates
        self.identifiers = identifiers
        self.keep = keep

    @property
    def max_bins(self) -> int:
        """Maximum number of intervals per column."""
        return DEFAULT_N_BINS if isinstance(self.n_bins, str) else self.n_bins

    def has_fixed_recipe(self, names: Collection[str]) -> bool:
        """Return whether every table with these columns is read in the same way, whatever its values."""
        given = self.coerce.names if isinstance(self.coerce, Recipe) else ()
        return self.identifiers == "keep" and set(names) <= set(given)

    def with_defaults(self, **defaults: Any) -> Encoder:
        """Return an encoder in which parameters that are "auto" have the given values.

        >>> Encoder(missing="state").with_defaults(n_bins=64, missing="marginalize")
        Encoder(missing='state', n_bins=64)
        """
        given = self.get_params(deep=False)
        automatic = {name for name in defaults if isinstance(given[name], str) and given[name] == "auto"}
        return type(self)(**given | {name: defaults[name] for name in automatic}) if automatic else self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the schema of a table and its classes.

        Parameters
        ----------
        X : array-like, data frame or Arrow table of shape (n_samples, n_features)
            The table.
        y : array-like of shape (n_samples,)
            The class of each row. Rows without a class are dropped with a warning.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A weight of 2 has the same effect as repeating the row.

        Returns
        -------
        self : Encoder
            The fitted encoder.
        """
        self.check()
        table, columns = read_new_table(X)
        schema = self.learn(*usable_rows(table, read_target(y), sample_weight))
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(columns, schema_=schema)
        return self

    def learn(self, table: Table, target: Target, weights: NDArray[np.float64] | None) -> Schema:
        """Return the schema of a table that has already been read.

        Parameters
        ----------
        table : Table
            The table.
        target : Target
            The class of each row.
        weights : ndarray of shape (n_samples,) or None
            Weights of the rows.

        Returns
        -------
        schema : Schema
            The schema.
        """
        self.check()
        names = table.names or tuple(f"x{u}" for u in range(len(table.columns)))
        class_name = target.name_beside(names)
        detector = self.detector(names)
        inputs = [detector.input_of(name, raw, weights) for name, raw in zip(names, table.columns, strict=True)]
        recipe, prepared = detector.recipe(inputs, class_name), table
        if recipe is not None:
            prepared = self._read(recipe, detector, table)
            read = dict(zip(prepared.names or (), ((raw, None) for raw in prepared.columns), strict=True))
            recipe = detector.without_identifiers(recipe, read, table.left_out)
            used = {name for one in recipe.inputs for name in one.columns}
            kept = [
                (name, raw) for name, raw in zip(prepared.names or (), prepared.columns, strict=True) if name in used
            ]
            prepared = Table(tuple(raw for _, raw in kept), tuple(name for name, _ in kept), table.rows)
        forced = detector.forced - {one.name for one in inputs if one.kind == "date"}
        columns = tuple(
            self.column(name, raw, name in forced, table.rows, weights, target.codes, len(target.labels))
            for name, raw in zip(prepared.names or names, prepared.columns, strict=True)
        )
        if recipe is not None:
            columns = with_sources(columns, recipe)
        labels, named = tuple(target.labels.tolist()), table.names is not None
        if recipe is not None and recipe.class_cuts:
            labels = tuple(sorted(labels, key=[*recipe.class_labels, *labels].index))
        return Schema(columns, labels, class_name, self.unseen, named, target.labels.dtype.str, recipe)

    @staticmethod
    def _read(recipe: Recipe, detector: Detector, table: Table) -> Table:
        """Return the table as the recipe reads it, with warnings of unreadable values in columns of a given kind."""
        with collecting(UnreadableValues()) as unreadable:
            prepared = read_table_by_recipe(recipe, table)
        unreadable.check()
        for note in unreadable.notes(detector.given):
            warn(note)
        return prepared

    def detector(self, names: tuple[str, ...]) -> Detector:
        """Return what decides how each column of a table is read.

        Parameters
        ----------
        names : tuple of str
            Names of the columns of the table.

        Returns
        -------
        detector : Detector

        Raises
        ------
        ValueError
            If `categorical`, `keep` or the given recipe has a column that the table does not have.
        """
        forced = self.forced_categories(names)
        for name in self.keep:
            if name not in names:
                instead = suggestion(name, names, "").replace("did", "; did", 1)
                raise ValueError(f"keep names the column {name!r}, which the table does not have{instead}")
        rules = self.coerce if isinstance(self.coerce, Recipe) else Recipe() if self.coerce else None
        no_dates = () if isinstance(self.categorical, str) else forced
        return Detector(rules, self.dates, names, forced, no_dates, self.identifiers == "drop", self.keep)

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
        """Return the schema of one column.

        Parameters
        ----------
        name : str
            Name of the column.
        raw : RawColumn
            Values of the column. With weights, one value can stand for many rows.
        forced : bool
            Whether the user declared the column categorical.
        rows : int
            Number of rows of the table.
        weights : ndarray or None
            Weight of each value.
        y : ndarray of int
            Class code of each value.
        classes : int
            Number of classes.

        Returns
        -------
        column : Category or Number
            The schema of the column.
        """
        automatic = isinstance(self.categorical, str) and raw.few_whole
        if forced or automatic or not raw.is_numeric:
            return self._category(name, raw, rows, weights)
        return self._number(name, raw, y, classes, weights)

    def check(self) -> None:
        """Raise ValueError if a parameter has an invalid value."""
        choices = {
            "bins": ("quantile", "width", "mdlp"),
            "missing": ("auto", "marginalize", "state"),
            "unseen": ("marginalize", "error"),
            "dates": ("expand", "number", "ignore", "error"),
            "identifiers": ("keep", "drop"),
        }
        for name, allowed in choices.items():
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {getattr(self, name)!r}")
        for name, low, high in (("n_bins", 1, 65_000), ("max_levels", 2, 65_000)):
            value = getattr(self, name)
            if name == "n_bins" and isinstance(value, str) and value == "auto":
                continue
            if not isinstance(value, int | np.integer) or isinstance(value, bool) or not low <= value <= high:
                automatic = "'auto' or " if name == "n_bins" else ""
                raise ValueError(f"{name} must be {automatic}an integer from {low} to {high}, got {value!r}")
        if isinstance(self.categorical, str):
            valid = self.categorical in ("auto", "all")
        else:
            given = self.categorical.tolist() if isinstance(self.categorical, np.ndarray) else self.categorical
            valid = isinstance(given, list | tuple | set | frozenset) and all(
                isinstance(c, str | int | np.integer) and not isinstance(c, bool) for c in given
            )
        if not valid:
            raise ValueError(
                f"categorical must be 'auto', 'all' or a list of column names or positions, got {self.categorical!r}"
            )

        if not isinstance(self.coerce, bool | Recipe):
            raise ValueError(f"coerce must be True, False or a Recipe, got {self.coerce!r}")
        if (
            isinstance(self.keep, str)
            or not isinstance(self.keep, Collection)
            or not all(isinstance(name, str) for name in self.keep)
        ):
            raise ValueError(f"keep must be a list of column names, got {self.keep!r}")

    def forced_categories(self, names: tuple[str, ...]) -> set[str]:
        """Return the names of the columns that the user declared categorical.

        Parameters
        ----------
        names : tuple of str
            Names of all columns.

        Returns
        -------
        forced : set of str
            The names.

        Raises
        ------
        ValueError
            If `categorical` contains a column that is not in the table.
        """
        if isinstance(self.categorical, str):
            return set() if self.categorical == "auto" else set(names)
        chosen = set()
        for given in self.categorical:
            exists = given in names if isinstance(given, str) else -len(names) <= given < len(names)
            if not exists:
                instead = suggestion(given, names, "").replace("did", "; did", 1)
                raise ValueError(f"categorical names the column {given!r}, which the table does not have{instead}")
            chosen.add(given if isinstance(given, str) else names[given])
        return chosen

    def _category(self, name: str, raw: RawColumn, rows: int, weights: NDArray[np.float64] | None) -> Column:
        levels = raw.levels()
        state = self.missing == "state" and raw.has_missing
        # Levels that were declared need not occur.
        index = raw.index()
        distinct = len(np.unique(index[index != UNKNOWN])) if getattr(raw, "declared", False) else len(levels)
        if distinct > MAX_AUTO_LEVELS and distinct > rows / 2 and name not in self.keep:
            warn(f"column {name!r} has {distinct:,} levels in {rows:,} rows: it looks like an identifier; drop it")
        room = self.max_levels - state
        if len(levels) <= room:
            return Category(name, tuple(levels), missing=state)
        merged = len(levels) - room + 1
        warn(f"column {name!r} has {len(levels):,} levels: the rarest {merged:,} are merged into one (max_levels)")
        counts = np.bincount(raw.index() + 1, weights, minlength=len(levels) + 1)[1:]
        frequent = np.sort(np.argsort(-counts, kind="stable")[: room - 1])
        return Category(name, tuple(levels[i] for i in frequent), other=True, missing=state)

    def _number(
        self, name: str, raw: RawColumn, y: NDArray[np.int64], classes: int, weights: NDArray[np.float64] | None
    ) -> Column:
        numbers = raw.floats()
        known = ~np.isnan(numbers)
        if not known.all():
            numbers, y = numbers[known], y[known]
            weights = None if weights is None else weights[known]
        if self.bins == "quantile":
            cuts = quantile_cuts(numbers, weights, self.max_bins)
        elif self.bins == "width":
            cuts = width_cuts(numbers, self.max_bins)
        else:
            cuts = mdlp_cuts(numbers, y, weights, classes)
        low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
        return Number(name, tuple(cuts), low, high, missing=self.missing == "state" and not known.all())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def quantile_cuts(values: NDArray[np.float64], weights: NDArray[np.float64] | None, n_bins: int) -> list[float]:
    """Return the distinct inverted-CDF quantiles at 1/n, 2/n, ... that are below the largest value.

    The j-th quantile is the smallest value v such that the values up to v have at least j/n of the total weight. The
    code compares ``n * cumulative weight`` with ``j * total weight``, so a weight of three equals three rows exactly.

    >>> quantile_cuts(np.array([5.0, 1, 2, 3, 4]), None, 2)
    [3.0]
    >>> quantile_cuts(np.array([1.0, 2, 3]), np.array([4.0, 1, 1]), 2)
    [1.0]
    """
    if not len(values):
        return []
    if weights is None:
        at = [(j * len(values) + n_bins - 1) // n_bins - 1 for j in range(1, n_bins)]
        ordered = np.partition(values, sorted({*at, len(values) - 1}))
        quantiles = ordered[at]
        largest = ordered[-1]
    else:
        order = np.argsort(values, kind="stable")
        ordered, cumulative = values[order], np.cumsum(weights[order])
        targets = np.arange(1, n_bins) * cumulative[-1]
        if (weights != np.floor(weights)).any():
            # Sums of fractions are rounded: tolerate an error in the last bits.
            targets = targets * (1 - 1e-9)
        quantiles = ordered[np.searchsorted(cumulative * n_bins, targets, side="left")]
        largest = ordered[-1]
    return [float(c) for c in np.unique(quantiles) if c < largest]


def width_cuts(values: NDArray[np.float64], n_bins: int) -> list[float]:
    """Return the cut points that divide the range of the values into `n_bins` intervals of equal width.

    >>> width_cuts(np.array([0.0, 8, 1]), 4)
    [2.0, 4.0, 6.0]
    """
    if not len(values):
        return []
    low, high = float(values.min()), float(values.max())
    share = np.arange(1, n_bins) / n_bins
    with np.errstate(over="ignore"):
        overflows = not np.isfinite(high - low)
    cuts = np.unique(low * (1 - share) + high * share if overflows else low + (high - low) * share)
    return [float(c) for c in cuts if low <= c < high]
