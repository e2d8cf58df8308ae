"""Encoder: learn a schema from a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from tanbark.messages import first_values, suggestion, warn
from tanbark.schema.encode.binning import Binning
from tanbark.schema.encode.columns import UNKNOWN, Category, Column, Number
from tanbark.schema.encode.modl import MAX_INTERVALS, RowClasses
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.class_column import Target, read_target, usable_rows
from tanbark.schema.read.raw_columns import MAX_AUTO_LEVELS, Dates, RawColumn
from tanbark.schema.read.table_reader import Table, read_new_table
from tanbark.schema.recipe.column_reading import read_table_by_recipe
from tanbark.schema.recipe.date_parts import DATE_PARTS, part_name
from tanbark.schema.recipe.date_text import days_of
from tanbark.schema.recipe.detection import Detector, with_sources
from tanbark.schema.recipe.recipe import Recipe
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.shared_docs import insert_shared_docs

DEFAULT_N_BINS = 5
MAX_GIVEN_BINS = 65_000


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
    bins : {"auto", "modl", "mdlp", "quantile", "width"} or dict, default="auto"
        How to bin numbers.

        - "modl": supervised, the most probable intervals given the classes [1]_, but at least three.
        - "mdlp": supervised, recursively divided by the MDLP criterion [2]_, perhaps into a single interval.
        - "quantile": intervals of equal frequency.
        - "width": intervals of equal width.
        - "auto": "quantile" if `n_bins` is given or chosen by the classifier, as by `EvidenceBN`, `BoostedTables` and
          `EnsembleBN`, and for the first chunk of `partial_fit`; otherwise "modl".
        - dict: for the columns with these names, a list of cut points or the number of quantile bins, such as
          ``{"age": [18, 40, 65], "income": 8}``; "auto" for all others. A value equal to a cut point belongs to the
          interval below it. The cut points of dates are dates. Columns named here are never categories.
    n_bins : int or "auto", default="auto"
        Maximum number of intervals per column. "auto" lets the classifier choose: 64 for `EvidenceBN`, `BoostedTables`
        and `EnsembleBN`, which learn how finely to distinguish numbers. For all others and without a classifier it is 5
        for "quantile" and "width", and 16 for "modl". Ignored by "mdlp", which determines the number itself.
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
    .. [1] Boullé, M. (2006). MODL: a Bayes optimal discretization method for continuous attributes. Machine Learning
       65, 131-165.
    .. [2] Fayyad, U. and Irani, K. (1993). Multi-interval discretization of continuous-valued attributes for
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
        bins: str | Mapping[str, int | Sequence[Any]] = "auto",
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

    def binning(self, name: str, is_date: bool = False) -> Binning:
        """Return how a column of numbers is divided into intervals.

        Parameters
        ----------
        name : str
            Name of the column.
        is_date : bool, default=False
            Whether the column holds dates.

        Returns
        -------
        binning : Binning

        Raises
        ------
        ValueError
            If the given cut points are not ascending numbers, or dates for a column of dates.
        """
        given = self._given_bins.get(name)
        if isinstance(given, int | np.integer):
            return Binning("quantile", int(given))
        if given is not None:
            return Binning("given", len(given) + 1, _given_cuts(name, given, is_date))
        method = self.bins if isinstance(self.bins, str) else "auto"
        if method == "auto":
            method = "modl" if isinstance(self.n_bins, str) else "quantile"
        default = MAX_INTERVALS if method == "modl" else DEFAULT_N_BINS
        return Binning(method, default if isinstance(self.n_bins, str) else self.n_bins)

    @property
    def _given_bins(self) -> Mapping[str, int | Sequence[Any]]:
        """Cut points, or the number of bins, of the columns for which they are given."""
        return self.bins if isinstance(self.bins, Mapping) else {}

    def for_first_chunk(self) -> Encoder:
        """Return an encoder for the first of several chunks of rows.

        Later rows may differ from the first ones. Therefore no column is left out, and cut points do not depend on the
        classes of the first rows unless the user chose a method that does.
        """
        encoder: Encoder = clone(self).set_params(identifiers="keep")
        is_automatic = not isinstance(self.bins, str) or self.bins == "auto"
        return encoder.with_defaults(n_bins=DEFAULT_N_BINS) if is_automatic else encoder

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
        classes = RowClasses(target.codes, len(target.labels))
        columns = tuple(
            self.column(name, raw, name in forced, table.rows, weights, classes)
            for name, raw in zip(prepared.names or names, prepared.columns, strict=True)
        )
        self.check_given_bins(columns)
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
        rules = self.coerce if isinstance(self.coerce, Recipe) else Recipe() if self.coerce else None
        given = self._given_bins
        parts = {part_name(date, part) for date in names for part in DATE_PARTS}
        for parameter, wanted, known in (("keep", self.keep, {*names}), ("bins", given, {*names, *parts})):
            for name in wanted:
                if name not in known:
                    instead = suggestion(name, names, "")
                    raise ValueError(
                        f"{parameter} names the column {name!r}, which the table does not have"
                        f"{'; ' if instead else ''}{instead}"
                    )
        no_dates = () if isinstance(self.categorical, str) else forced
        keep = (*self.keep, *given)
        return Detector(rules, self.dates, names, forced, no_dates, self.identifiers == "drop", keep)

    def column(
        self,
        name: str,
        raw: RawColumn,
        forced: bool,
        rows: int,
        weights: NDArray[np.float64] | None,
        classes: RowClasses,
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
        classes : RowClasses
            The class of each value.

        Returns
        -------
        column : Category or Number
            The schema of the column.
        """
        is_given = name in self._given_bins
        if is_given and (forced or not raw.is_numeric):
            reason = "is declared categorical" if forced else "does not hold numbers"
            raise ValueError(f"column {name!r} {reason}, so that it cannot be cut into intervals")
        automatic = isinstance(self.categorical, str) and raw.few_whole and not is_given
        if forced or automatic or not raw.is_numeric:
            return self._category(name, raw, rows, weights)
        return self._number(name, raw, classes, weights)

    def check(self) -> None:
        """Raise ValueError if a parameter has an invalid value."""
        choices = {
            "missing": ("auto", "marginalize", "state"),
            "unseen": ("marginalize", "error"),
            "dates": ("expand", "number", "ignore", "error"),
            "identifiers": ("keep", "drop"),
        }
        for name, allowed in choices.items():
            if not isinstance(getattr(self, name), str) or getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be {' or '.join(map(repr, allowed))}, got {getattr(self, name)!r}")
        self._check_bins()
        for name, low, high in (("n_bins", 1, MAX_GIVEN_BINS), ("max_levels", 2, 65_000)):
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

    def _check_bins(self) -> None:
        """Raise ValueError if `bins` is invalid."""
        methods = ("auto", "modl", "mdlp", "quantile", "width")
        if isinstance(self.bins, str):
            if self.bins not in methods:
                raise ValueError(f"bins must be {' or '.join(map(repr, methods))}, got {self.bins!r}")
            return
        if not isinstance(self.bins, Mapping) or not all(isinstance(name, str) for name in self.bins):
            raise ValueError(
                f"bins must be {', '.join(map(repr, methods))}, or a dict from names of columns to cut points or "
                f"numbers of bins, got {self.bins!r}"
            )
        for name, given in self.bins.items():
            if isinstance(given, int | np.integer) and not isinstance(given, bool):
                if not 1 <= given <= MAX_GIVEN_BINS:
                    raise ValueError(f"bins[{name!r}] must be from 1 to {MAX_GIVEN_BINS:,} bins, got {given}")
            elif not isinstance(given, list | tuple | np.ndarray) or not len(given):
                raise ValueError(f"bins[{name!r}] must be a list of cut points or a number of bins, got {given!r}")

    def check_given_bins(self, columns: Collection[Column]) -> None:
        """Raise ValueError if bins are given for a column that is not in the schema, such as one that is left out."""
        known = [column.name for column in columns]
        for name in self._given_bins:
            if name not in known:
                raise ValueError(
                    f"bins names the column {name!r}, which is not learned from; the columns are {first_values(known)}"
                )

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

    def _number(self, name: str, raw: RawColumn, classes: RowClasses, weights: NDArray[np.float64] | None) -> Column:
        numbers = raw.floats()
        known = ~np.isnan(numbers)
        if not known.all():
            numbers, classes = numbers[known], classes.keep(known)
            weights = None if weights is None else weights[known]
        cuts = self.binning(name, isinstance(raw, Dates)).cuts(numbers, classes, weights)
        low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
        return Number(name, tuple(cuts), low, high, missing=self.missing == "state" and not known.all())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _given_cuts(name: str, given: Sequence[Any], is_date: bool) -> tuple[float, ...]:
    """Return given cut points as numbers.

    >>> _given_cuts("seen", ["1970-01-02", "1970-01-03"], True)
    (1.0, 2.0)
    """
    try:
        if not is_date and not all(isinstance(cut, Real) and not isinstance(cut, bool) for cut in given):
            raise ValueError(f"the cut points of column {name!r} must be numbers, got {list(given)}")
        cuts = tuple(days_of(cut, name) if is_date else float(cut) for cut in given)
    except OverflowError:
        raise ValueError(f"a cut point of column {name!r} is too large") from None
    if not np.isfinite(cuts).all() or any(low >= high for low, high in pairwise(cuts)):
        raise ValueError(f"the cut points of column {name!r} must be finite and ascending, got {list(given)}")
    return cuts
