"""Schema of a table, and encoding of tables as integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import Immutable, read_only
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.messages import first_repeated, suggestion
from tanbark.schema.encode.columns import (
    UNKNOWN,
    Category,
    Codes,
    Column,
    Label,
    Number,
    as_datetimes,
    column_from_dict,
    plain,
    union,
)
from tanbark.schema.read.class_column import read_target
from tanbark.schema.read.frame_alignment import ALIGN_ADVICE, aligned_frame
from tanbark.schema.read.raw_columns import RawColumn
from tanbark.schema.read.table_reader import Table, read_table
from tanbark.schema.recipe.column_reading import read_table_by_recipe
from tanbark.schema.recipe.recipe import Recipe
from tanbark.schema.recipe.unreadable import UnreadableValues, collects_unseen_labels, reporting
from tanbark.shared_docs import insert_shared_docs

MAX_CLASSES_SHOWN = 5
"""More classes are cut short in the representation of a schema."""
MAX_CODES = 65_535
"""Maximum number of codes of a column; one value of uint16 is reserved for missing values."""
MAX_CLASS_LABEL_BYTES = 2**28
"""Maximum size of the array of classes of a schema that is read from a file."""


@insert_shared_docs
@dataclass(frozen=True)
class Schema(Immutable):
    """The columns of a table and the classes to predict.

    A schema is immutable. Learn it with an `Encoder`, or construct it directly if levels and cut points are known in
    advance.

    Parameters
    ----------
    columns : sequence of Category or Number
        The columns of the table, in order.
    classes : sequence of str, int, float or bool
        The classes, in the order of their codes.
    class_name : str, default="class"
        Name of the class column.
    unseen : {"marginalize", "error"}, default="marginalize"
        Whether labels that are not a level of their column are treated as missing or raise an error.
    named : bool, default=True
        Whether the column names come from the user. The columns of a table without names are called x0, x1, ...
    class_dtype : str, default=""
        NumPy dtype of the classes. If empty, it is derived from `classes`.
    recipe : Recipe or None, default=None
        How the columns of a table are read before they are encoded. None takes the values as they are.

    Raises
    ------
    ValueError
        If two columns have the same name, a class is listed twice, or a column has too many levels.

    See Also
    --------
    Encoder : Learns a schema from a table.

    Notes
    -----
    Codes are uint8 if every column has at most 255 codes, otherwise uint16. The largest value of the type is reserved
    for missing and unseen values.

    A recipe can expand a column of dates into several columns of the schema, and leave columns out. `input_names` are
    the columns of the table, and the attribute `source` of a column is the one that it is computed from. Results with
    one entry for each column of the schema, such as those of `explain`, can be summed by column of the table with
    `source_index`.

    Examples
    --------
    >>> from tanbark import Category, Number, Schema
    >>> schema = Schema([Category("sex", ("f", "m")), Number("age", (30, 50))], classes=("no", "yes"))
    >>> schema.encode(np.array([["m", 61.0], [None, 30.0]], dtype=object))
    array([[  1, 255],
           [  2,   0]], dtype=uint8)

    The parts of a date are summed:

    >>> import pandas as pd
    >>> from tanbark import NaiveBayes
    >>> table = pd.DataFrame({"seen": pd.date_range("2024-01-01", periods=60), "size": np.arange(60) / 8})
    >>> model = NaiveBayes().fit(table, [0, 1] * 30)
    >>> model.schema_.names
    ('seen', 'seen (weekday)', 'seen (month)', 'size')
    >>> weights = model.explain(table)[:, 1:]
    >>> by_input = np.zeros((60, model.n_features_in_, 2))
    >>> np.add.at(by_input, (slice(None), model.schema_.source_index), weights)
    >>> bool(np.allclose(by_input[:, 0], weights[:, :3].sum(axis=1)))
    True
    """

    columns: tuple[Column, ...]
    classes: tuple[Label, ...]
    class_name: str = "class"
    unseen: str = "marginalize"
    named: bool = True
    class_dtype: str = field(default="", compare=False)
    recipe: Recipe | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        labels = np.array([plain(c) for c in self.classes]) if not self.class_dtype else None
        dtype = self.class_dtype or (labels.dtype.str if labels is not None and labels.dtype.kind != "U" else "O")
        object.__setattr__(self, "class_dtype", "|O" if dtype == "O" else dtype)
        object.__setattr__(self, "classes", tuple(plain(c) for c in self.classes))
        names = [c.name for c in self.columns]
        if len(set(names)) != len(names):
            raise ValueError(f"two columns are named {first_repeated(names)!r}; rename one")
        if self.class_name in names:
            raise ValueError(f"the class and a column are both named {self.class_name!r}; rename one")
        if len(set(self.classes)) != len(self.classes):
            raise ValueError(f"duplicate class {first_repeated(self.classes)!r}; list each class once")
        widest = max(self.columns, key=lambda column: column.arity, default=None)
        if widest is not None and widest.arity > MAX_CODES:
            raise ValueError(
                f"column {widest.name!r} has {widest.arity:,} levels, but at most {MAX_CODES:,} are supported; "
                "merge rare levels"
            )
        if len(self.classes) > MAX_CODES:
            raise ValueError(f"there are {len(self.classes):,} classes, but at most {MAX_CODES:,} are supported")
        if self.unseen not in ("marginalize", "error"):
            raise ValueError(f"unseen must be 'marginalize' or 'error', got {self.unseen!r}")
        if self.recipe is not None and tuple(names) != tuple(n for one in self.recipe.inputs for n in one.columns):
            raise ValueError("the columns of the schema are not those of its recipe")
        intervals = () if self.recipe is None else self.recipe.class_labels
        other = next((label for label in self.classes if intervals and label not in intervals), None)
        if other is not None:
            raise ValueError(
                f"the class {other!r} is not one of the intervals of the class, {', '.join(map(repr, intervals))}; "
                "get them with recipe.intervals_of(y)"
            )
        for column in self.columns:
            if column.source is not None and column.source not in self.input_names:
                raise ValueError(
                    f"column {column.name!r} is computed from {column.source!r}, but the recipe has no such column"
                )

    def __repr__(self) -> str:
        columns = f"{len(self.columns):,} column{'s' * (len(self.columns) != 1)}"
        classes = ", ".join(map(repr, self.classes[:MAX_CLASSES_SHOWN]))
        more = ", ..." if len(self.classes) > MAX_CLASSES_SHOWN else ""
        return f"Schema({columns}, {len(self.classes):,} class{'es' * (len(self.classes) != 1)}: {classes}{more})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(c.name for c in self.columns)

    @cached_property
    def input_names(self) -> tuple[str, ...]:
        """Names of the columns that a table must have, which a recipe may expand or leave out."""
        return self.names if self.recipe is None else self.recipe.names

    @cached_property
    def source_index(self) -> NDArray[np.int64]:
        """Position in `input_names` of the column that each column is computed from.

        Importances and contributions by column can be added up by the columns of the table:
        ``np.bincount(schema.source_index, importances)``.
        """
        place = {name: at for at, name in enumerate(self.input_names)}
        return read_only(np.array([place[c.source or c.name] for c in self.columns], np.int64))

    @cached_property
    def arity(self) -> NDArray[np.int64]:
        """Number of codes of each column."""
        return read_only(np.array([c.arity for c in self.columns], np.int64))

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """Position of the first code of each column in the concatenated codes of all columns, and the total."""
        return read_only(np.concatenate([[0], np.cumsum(self.arity)]).astype(np.int64))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """Type of the codes: uint8 or uint16."""
        return np.dtype(np.uint8 if max(self.arity, default=1) <= 255 else np.uint16)

    @cached_property
    def missing_code(self) -> int:
        """Code of missing and unseen values: the largest value of `dtype`."""
        return int(np.iinfo(self.dtype).max)

    @cached_property
    def class_labels(self) -> NDArray[Any]:
        """Classes as an array of their original dtype."""
        labels = np.empty(len(self.classes), object)
        labels[:] = self.classes
        return read_only(labels.astype(self.class_dtype))

    def index(self, name: str) -> int:
        """Return the position of a column.

        Parameters
        ----------
        name : str
            Name of the column.

        Returns
        -------
        position : int
            Position of the column, starting at 0.

        Raises
        ------
        ValueError
            If no column has this name.
        """
        if name not in self.names:
            instead = suggestion(name, self.names, f"the columns are {', '.join(map(repr, self.names))}")
            raise ValueError(f"no column is named {name!r}; {instead}")
        return self.names.index(name)

    def encode(self, X: Any, n_jobs: int | None = None) -> Codes:
        """Encode a table as integer codes.

        Parameters
        ----------
        X : array-like, data frame or Arrow table of shape (n_samples, n_features)
            The table. Its columns must be those of the schema, in the same order.
        {n_jobs_to_codes}

        Raises
        ------
        ValueError
            If the columns differ from those of the schema, or a column has values of the wrong type.
        """
        table = read_table(X, n_jobs)
        self.check_table(table)
        return self.encode_new_table(table, n_jobs)

    def check_table(self, table: Table) -> None:
        """Raise ValueError if the columns of a table are not those of the schema.

        Parameters
        ----------
        table : Table
            A table that has been read.
        """
        expected = self.input_names
        named = self.named and table.names is not None
        if len(table.columns) != len(expected):
            advice = f"; {ALIGN_ADVICE}" if named else ""
            raise ValueError(
                f"the table has {len(table.columns):,} columns, but the schema has {len(expected):,}{advice}"
            )
        if named and table.names is not None and table.names != expected:
            unexpected = next(a for a, b in zip(table.names, expected, strict=True) if a != b)
            raise ValueError(
                f"unexpected column {unexpected!r}; the schema expects, in this order: {', '.join(expected)}; "
                f"{ALIGN_ADVICE}"
            )

    def align(self, frame: Any) -> Any:
        """Return a data frame with the columns of the schema, in order.

        Columns that the schema does not have are dropped. Columns that the frame does not have are added, with only
        missing values.

        Parameters
        ----------
        frame : data frame or Arrow table
            A frame of pandas, polars, Arrow or another library that narwhals supports.

        Returns
        -------
        frame : data frame or Arrow table
            A frame of the same library.

        Raises
        ------
        TypeError
            If `frame` is not a data frame.
        ValueError
            If the schema has no column names, the frame has two columns of one name, or none of the schema's columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from tanbark import Category, Number, Schema
        >>> schema = Schema([Category("sex", ("f", "m")), Number("age", (30, 50))], classes=("no", "yes"))
        >>> schema.align(pd.DataFrame({"age": [61], "height": [180]}))
           sex  age
        0  NaN   61
        """
        return aligned_frame(frame, self.input_names if self.named else None)

    def prepared(self, table: Table) -> Table:
        """Return the columns of the schema, computed from those of a table.

        Parameters
        ----------
        table : Table
            A table that has been read.

        Returns
        -------
        table : Table
            With one column per column of the schema.
        """
        return table if self.recipe is None else read_table_by_recipe(self.recipe, table, self.columns)

    def check_codes(self, codes: Any) -> None:
        """Raise ValueError if an array does not have the shape and type of codes of this schema.

        Parameters
        ----------
        codes : object
            The array to check.
        """
        shaped = isinstance(codes, np.ndarray) and codes.ndim == 2 and len(codes) == len(self.columns)
        if not shaped or codes.dtype != self.dtype:
            raise ValueError(
                f"codes must be an array returned by schema.encode: of type {self.dtype}, with one row per column"
            )

    def encode_table(self, table: Table, n_jobs: int | None = None) -> Codes:
        """Return the codes of a table that has already been read; its columns are taken in order.

        {read_table_to_codes}

        Raises
        ------
        ValueError
            If a label is unseen under ``unseen="error"``, or a column has values of the wrong type.
        """
        return self._encode_prepared(self.prepared(table), n_jobs)

    def _encode_prepared(self, table: Table, n_jobs: int | None) -> Codes:
        """Return the codes of a prepared table; raise ValueError if an unseen label is an error."""
        codes, unseen = self.encode_columns(table, n_jobs)
        if self.unseen == "error" and any(unseen):
            u = unseen.index(True)
            label = _first_unseen(self.columns[u], table.columns[u])
            raise ValueError(f"column {self.columns[u].name!r} holds {label!r}, which was not seen in training")
        return codes

    def encode_new_table(self, table: Table, n_jobs: int | None = None) -> Codes:
        """Return the codes of a table to predict, and warn of dates outside the range seen in training.

        Labels that were not seen in training are reported only to callers that collect them.

        {read_table_to_codes}

        Raises
        ------
        ValueError
            If a label is unseen under ``unseen="error"``, or a column has values of the wrong type.
        """
        unseen_labels = collects_unseen_labels()
        if not unseen_labels and not any(isinstance(column, Number) and column.is_date for column in self.columns):
            return self.encode_table(table, n_jobs)
        with reporting() as unexpected:
            prepared = self.prepared(table)
            for column, raw in zip(self.columns, prepared.columns, strict=True):
                if isinstance(column, Number) and column.is_date:
                    _check_range(column, raw, unexpected)
                elif unseen_labels and isinstance(column, Category):
                    _check_labels(column, raw, unexpected)
            return self._encode_prepared(prepared, n_jobs)

    def encode_columns(self, table: Table, n_jobs: int | None = None) -> tuple[Codes, list[bool]]:
        """Return the codes of a prepared table, and for each column whether it has unseen labels.

        {read_table_to_codes}
        unseen : list of bool
            Whether each column has labels that are not levels.
        """
        unseen = [False] * len(self.columns)
        if table.small is not None and self.dtype == np.uint8 and self._values_are_codes(table.columns):
            return table.small, unseen
        codes = np.empty((len(self.columns), table.rows), self.dtype)
        missing = self.missing_code

        def encode(u: int) -> None:
            unseen[u] = table.columns[u].encode(self.columns[u], missing, codes[u])

        threads = thread_count(n_jobs, table.rows)
        if threads == 1:
            for u in range(len(self.columns)):
                encode(u)
        else:
            run([partial(encode, u) for u in range(len(self.columns))], threads)
        return codes, unseen

    def _values_are_codes(self, raw: Sequence[RawColumn]) -> bool:
        """Return whether every value equals its code."""
        for column, values in zip(self.columns, raw, strict=True):
            levels = values.levels()
            if column.codes_of(levels) != levels:
                return False
        return True

    def encode_target(self, y: Any) -> NDArray[np.int64]:
        """Encode the classes of rows.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            The class of each row.

        Returns
        -------
        codes : ndarray of int64 of shape (n_samples,)
            The position of each class in `classes`, -1 if it is missing.

        Raises
        ------
        ValueError
            If a class is not in `classes`.
        """
        return read_target(y).codes_under(self.classes)

    def decode(self, codes: NDArray[Any], random_state: Any = None) -> NDArray[Any]:
        """Convert codes back to values. Numbers are sampled uniformly from their intervals.

        Parameters
        ----------
        codes : ndarray of shape (n_features, n_samples)
            Codes as returned by `encode`.
        random_state : int, numpy.random.Generator or None, default=None
            Seed for sampling numbers.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_features)
            The values, of dtype float if all columns are numbers, otherwise object. Dates are `datetime.datetime`.
            Missing values are NaN in number columns, and None in categories and dates.
        """
        rng = np.random.default_rng(random_state)
        numeric = all(isinstance(c, Number) and not c.is_date for c in self.columns)
        rows = np.empty((codes.shape[1], len(self.columns)), float if numeric else object)
        for u, column in enumerate(self.columns):
            values = column.value_of(codes[u].astype(np.int64), rng)
            rows[:, u] = as_datetimes(values) if isinstance(column, Number) and column.is_date else values
        return rows

    def merge(self, other: Schema) -> Schema:
        """Return a schema with the levels and classes of both schemas.

        Levels are sorted if both schemas have them sorted. Otherwise the levels of this schema come first.

        Parameters
        ----------
        other : Schema
            A schema with the same column names and class name. Numbers must have the same cut points.

        Returns
        -------
        schema : Schema
            The merged schema.

        Raises
        ------
        ValueError
            If the schemas have different column names, column types or cut points.

        Examples
        --------
        >>> from tanbark import Category
        >>> a = Schema([Category("x", ("p", "q"))], classes=(0, 1))
        >>> b = Schema([Category("x", ("q", "r"))], classes=(1, 2))
        >>> a.merge(b).columns[0].levels, a.merge(b).classes
        (('p', 'q', 'r'), (0, 1, 2))
        """
        if self.names != other.names or self.class_name != other.class_name:
            raise ValueError("the two schemas have different columns or class names, so their counts cannot be added")
        columns = tuple(_merge(a, b) for a, b in zip(self.columns, other.columns, strict=True))
        classes = union(self.classes, other.classes)
        if self.recipe != other.recipe:
            raise ValueError("the two schemas read their tables in different ways, so their counts cannot be added")
        dtype = common_dtype(self.class_dtype, other.class_dtype)
        return replace(self, columns=columns, classes=classes, class_dtype=dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as JSON-serializable dicts, lists and scalars.

        Returns
        -------
        values : dict
            The parameters of the schema.
        """
        return {
            "columns": [c.to_dict() for c in self.columns],
            "classes": list(self.classes),
            "class_name": self.class_name,
            "unseen": self.unseen,
            "named": self.named,
            "class_dtype": self.class_dtype,
            **({} if self.recipe is None else {"recipe": self.recipe.to_dict()}),
        }

    @classmethod
    def from_dict(cls, plain_values: dict[str, Any]) -> Schema:
        """Return the schema described by the output of `to_dict`.

        Parameters
        ----------
        plain_values : dict
            Output of `to_dict`.

        Returns
        -------
        schema : Schema
            The schema.

        Raises
        ------
        ValueError
            If the description is not valid.
        """
        columns = tuple(column_from_dict(c) for c in plain_values["columns"])
        recipe = plain_values.get("recipe")
        values = {
            "columns": columns,
            "classes": tuple(plain_values["classes"]),
            "recipe": None if recipe is None else Recipe.from_dict(recipe),
        }
        schema = cls(**(plain_values | values))
        if not schema.columns or not schema.classes:
            raise ValueError("the schema has no columns or no classes")
        if not all(isinstance(name, str) for name in (*schema.names, schema.class_name)):
            raise ValueError("the schema has a name that is not a string")
        if not isinstance(schema.named, bool):
            raise ValueError(f"the schema's flag 'named' must be True or False, got {schema.named!r}")
        schema._check_classes()
        return schema

    def _check_classes(self) -> None:
        """Raise ValueError if a class is not a valid label, or conversion to `class_dtype` changes it."""
        Category(self.class_name, self.classes)
        dtype = np.dtype(self.class_dtype)
        if dtype.kind not in "OUbiuf" or dtype.itemsize * len(self.classes) > MAX_CLASS_LABEL_BYTES:
            raise ValueError(f"invalid dtype of the classes: {self.class_dtype!r}")
        if self.class_labels.tolist() != list(self.classes):
            raise ValueError(f"the classes change when converted to dtype {self.class_dtype!r}")


def common_dtype(a: str, b: str) -> str:
    """Return a dtype that represents labels of both dtypes without change.

    >>> common_dtype("<U2", "<U5"), common_dtype("<i8", "<U1")
    ('<U5', '|O')
    """
    one, other = np.dtype(a), np.dtype(b)
    return np.result_type(one, other).str if one.kind == other.kind else "|O"


def _check_range(column: Number, raw: RawColumn, unexpected: UnreadableValues) -> None:
    """Count the dates outside the range of a column."""
    if not column.cuts and (column.low, column.high) == (0.0, 1.0):
        return  # There were no dates in training.
    days = raw.floats()
    known = days[~np.isnan(days)]
    outside = int(((known < column.low) | (known > column.high)).sum())
    unexpected.add_dates(column.name, len(known), outside, " to ".join(column.texts_of([column.low, column.high])))


def _check_labels(column: Category, raw: RawColumn, unexpected: UnreadableValues) -> None:
    """Count the labels that are not levels of a column."""
    levels = raw.levels()
    counts = np.bincount(raw.index() + 1, minlength=len(levels) + 1)[1:].tolist()
    unseen = np.array(column.codes_of(levels)) == UNKNOWN
    found = {str(level): count for level, count, new in zip(levels, counts, unseen, strict=True) if new and count}
    unexpected.add_labels(column.name, sum(counts), found)


def _first_unseen(column: Column, raw: RawColumn) -> Any:
    """Return the first value of a raw column that is not a level of the column."""
    levels = raw.levels()
    used = set(raw.index().tolist())
    return next(v for at, v in enumerate(levels) if at in used and column.codes_of([v]) == [UNKNOWN])


def _merge(a: Column, b: Column) -> Column:
    """Return a column with the levels of both, and raise ValueError if their types or cut points differ."""
    if isinstance(a, Category) and isinstance(b, Category):
        if {type(x) is str for x in a.levels + b.levels} == {True, False} and a.levels and b.levels:
            raise ValueError(f"column {a.name!r} holds text in one schema and numbers in the other")
        missing = a.missing or b.missing
        return replace(a, levels=union(a.levels, b.levels), other=a.other or b.other, missing=missing)
    if isinstance(a, Number) and isinstance(b, Number) and a.cuts == b.cuts and a.is_date == b.is_date:
        return replace(a, low=min(a.low, b.low), high=max(a.high, b.high), missing=a.missing or b.missing)
    raise ValueError(
        f"column {a.name!r} has different types or cut points in the two schemas, so their counts cannot be added"
    )
