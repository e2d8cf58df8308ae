"""The schema of a table, and encoding a table to integer codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import CopiedByFields
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import run, thread_count
from tanbark.schema.encode.columns import (
    UNKNOWN,
    Category,
    Codes,
    Column,
    Label,
    Number,
    column_from_dict,
    first_repeated,
    plain,
    union,
)
from tanbark.schema.read.class_column import read_target
from tanbark.schema.read.raw_columns import RawColumn
from tanbark.schema.read.table_reader import Table, read_table

MOST_CODES = 65_535
MOST_LABEL_BYTES = 2**28
"""How much room the array of classes may take that a file asks for."""


@dataclass(frozen=True)
class Schema(CopiedByFields):
    """The columns of a table and the classes to predict.

    It is learned by an `Encoder`, or written by hand when levels and cut points are known beforehand.

    Parameters
    ----------
    columns : sequence of Category and Number
    classes : sequence of labels
        The classes, in the order of their codes.
    class_name : str
    unseen : {"marginalize", "error"}
        What to do with a label that is no level of its column: leave the value open, or refuse it.
    named : bool
        Whether the columns bear names of the user's; a table without names is called x0, x1, ...

    Examples
    --------
    >>> from tanbark import Category, Number, Schema
    >>> schema = Schema([Category("sex", ("f", "m")), Number("age", (30, 50))], classes=("no", "yes"))
    >>> schema.encode(np.array([["m", 61.0], [None, 30.0]], dtype=object))
    array([[  1, 255],
           [  2,   0]], dtype=uint8)
    """

    columns: tuple[Column, ...]
    classes: tuple[Label, ...]
    class_name: str = "class"
    unseen: str = "marginalize"
    named: bool = True
    class_dtype: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        labels = np.array([plain(c) for c in self.classes]) if not self.class_dtype else None
        dtype = self.class_dtype or (labels.dtype.str if labels is not None and labels.dtype.kind != "U" else "O")
        object.__setattr__(self, "class_dtype", "|O" if dtype == "O" else dtype)
        object.__setattr__(self, "classes", tuple(plain(c) for c in self.classes))
        names = [c.name for c in self.columns]
        twice = first_repeated(names)
        if twice is not None:
            raise ValueError(f"two columns are named {twice!r}; rename one")
        if self.class_name in names:
            raise ValueError(f"the class is named {self.class_name!r} like one of the columns; rename one")
        if len(set(self.classes)) != len(self.classes):
            raise ValueError("a class is listed twice; list each once")
        widest = max(self.columns, key=lambda column: column.arity, default=None)
        if widest is not None and widest.arity > MOST_CODES:
            raise ValueError(f"column {widest.name!r} has {widest.arity:,} levels; at most {MOST_CODES:,} can be coded")
        if len(self.classes) > MOST_CODES:
            raise ValueError(f"the class has {len(self.classes):,} values; at most {MOST_CODES:,} can be coded")
        if self.unseen not in ("marginalize", "error"):
            raise ValueError(f"unseen must be 'marginalize' or 'error', got {self.unseen!r}")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(c.name for c in self.columns)

    @cached_property
    def arity(self) -> NDArray[np.int64]:
        """How many codes each column has."""
        return frozen(np.array([c.arity for c in self.columns], np.int64))

    @cached_property
    def offset(self) -> NDArray[np.int64]:
        """Where each column's values begin when all columns' values stand in one row; the total is last."""
        return frozen(np.concatenate([[0], np.cumsum(self.arity)]).astype(np.int64))

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The type of the codes; its largest value means missing."""
        return np.dtype(np.uint8 if max(self.arity, default=1) <= 255 else np.uint16)

    @cached_property
    def missing_code(self) -> int:
        """The code of a value that is missing or was never seen."""
        return int(np.iinfo(self.dtype).max)

    @cached_property
    def class_labels(self) -> NDArray[Any]:
        """The classes as an array of the type in which they came."""
        labels = np.empty(len(self.classes), object)
        labels[:] = self.classes
        return frozen(labels.astype(self.class_dtype))

    def index(self, name: str) -> int:
        """Return the position of a column."""
        if name not in self.names:
            raise ValueError(f"no column is named {name!r}; the columns are {', '.join(map(repr, self.names))}")
        return self.names.index(name)

    def encode(self, X: Any, n_jobs: int | None = None) -> Codes:
        """Return the codes of a table, one row of memory per column."""
        table = read_table(X, n_jobs)
        self.check_table(table)
        return self.encode_table(table, n_jobs)

    def check_table(self, table: Table) -> None:
        """Raise where the columns of a table are not those of the schema."""
        if len(table.columns) != len(self.columns):
            raise ValueError(f"the table has {len(table.columns)} columns, the schema has {len(self.columns)}")
        if self.named and table.names is not None and table.names != self.names:
            strange = next(a for a, b in zip(table.names, self.names) if a != b)
            raise ValueError(f"column {strange!r} is not where the schema has it: {', '.join(self.names)}")

    def check_codes(self, codes: Any) -> None:
        """Raise where an array cannot be codes of this schema."""
        shaped = isinstance(codes, np.ndarray) and codes.ndim == 2 and len(codes) == len(self.columns)
        if not shaped or codes.dtype != self.dtype:
            raise ValueError(f"codes must be what schema.encode returns: {self.dtype}, one row for each column")

    def encode_table(self, table: Table, n_jobs: int | None = None) -> Codes:
        """Return the codes of a table that was read already; its columns are taken in order."""
        codes, unseen = self.encode_columns(table, n_jobs)
        if self.unseen == "error" and any(unseen):
            u = unseen.index(True)
            strange = _unseen(self.columns[u], table.columns[u])
            raise ValueError(f"column {self.columns[u].name!r} holds {strange!r}, which was not seen in training")
        return codes

    def encode_columns(self, table: Table, n_jobs: int | None = None) -> tuple[Codes, list[bool]]:
        """Return the codes of a table that was read already, and which columns hold a label that is no level."""
        unseen = [False] * len(self.columns)
        if table.small is not None and self.dtype == np.uint8 and self._counts_from_zero(table.columns):
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

    def _counts_from_zero(self, raw: Sequence[RawColumn]) -> bool:
        """Return whether every value is its own code already."""
        for column, values in zip(self.columns, raw):
            levels = values.levels()
            if column.codes_of(levels) != levels:
                return False
        return True

    def encode_target(self, y: Any) -> NDArray[np.int64]:
        """Return the code of each row's class, -1 where it is missing."""
        return read_target(y).codes_under(self.classes)

    def decode(self, codes: NDArray[Any], random_state: Any = None) -> NDArray[Any]:
        """Return rows of values behind codes: labels, and numbers drawn uniformly from their intervals.

        An array of floats where every column is a number, else of objects.
        """
        rng = np.random.default_rng(random_state)
        numeric = all(isinstance(c, Number) for c in self.columns)
        rows = np.empty((codes.shape[1], len(self.columns)), float if numeric else object)
        for u, column in enumerate(self.columns):
            rows[:, u] = column.value_of(codes[u].astype(np.int64), rng)
        return rows

    def merge(self, other: Schema) -> Schema:
        """Return the schema that has the levels and classes of both: sorted where both are, else this one's first.

        >>> from tanbark import Category
        >>> a = Schema([Category("x", ("p", "q"))], classes=(0, 1))
        >>> b = Schema([Category("x", ("q", "r"))], classes=(1, 2))
        >>> a.merge(b).columns[0].levels, a.merge(b).classes
        (('p', 'q', 'r'), (0, 1, 2))
        """
        if self.names != other.names or self.class_name != other.class_name:
            raise ValueError("the two schemas are of different columns, so their counts cannot be added")
        columns = tuple(_merge(a, b) for a, b in zip(self.columns, other.columns))
        classes = union(self.classes, other.classes)
        dtype = common_dtype(self.class_dtype, other.class_dtype)
        return Schema(columns, classes, self.class_name, self.unseen, self.named, dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return the schema as plain dicts, lists and scalars."""
        return {
            "columns": [c.to_dict() for c in self.columns],
            "classes": list(self.classes),
            "class_name": self.class_name,
            "unseen": self.unseen,
            "named": self.named,
            "class_dtype": self.class_dtype,
        }

    @classmethod
    def from_dict(cls, plain_values: dict[str, Any]) -> Schema:
        """Return the schema that `to_dict` described, or raise where no table can have had it."""
        columns = tuple(column_from_dict(c) for c in plain_values["columns"])
        schema = cls(**(plain_values | {"columns": columns, "classes": tuple(plain_values["classes"])}))
        if not schema.columns or not schema.classes:
            raise ValueError("its schema has no columns or no classes")
        if not all(isinstance(name, str) for name in (*schema.names, schema.class_name)):
            raise ValueError("its schema has a name that is no text")
        if not isinstance(schema.named, bool):
            raise ValueError("its schema does not say whether columns bear names")
        schema._check_classes()
        return schema

    def _check_classes(self) -> None:
        """Raise where a class is no label, or another one in the type that the classes are said to be of."""
        Category(self.class_name, self.classes)
        dtype = np.dtype(self.class_dtype)
        if dtype.kind not in "OUbiuf" or dtype.itemsize * len(self.classes) > MOST_LABEL_BYTES:
            raise ValueError(f"its classes cannot be of type {self.class_dtype!r}")
        if self.class_labels.tolist() != list(self.classes):
            raise ValueError(f"its classes are others in the type {self.class_dtype!r}")


def common_dtype(a: str, b: str) -> str:
    """Return the type in which labels of two types stay what they are.

    >>> common_dtype("<U2", "<U5"), common_dtype("<i8", "<U1")
    ('<U5', '|O')
    """
    one, other = np.dtype(a), np.dtype(b)
    return np.result_type(one, other).str if one.kind == other.kind else "|O"


def _unseen(column: Column, raw: RawColumn) -> Any:
    """Return the first value that occurs and is no level of the column."""
    levels = raw.levels()
    used = set(raw.index().tolist())
    return next(v for at, v in enumerate(levels) if at in used and column.codes_of([v]) == [UNKNOWN])


def _merge(a: Column, b: Column) -> Column:
    """Return the column that has the levels of both; numbers must be cut alike."""
    if isinstance(a, Category) and isinstance(b, Category):
        if {type(x) is str for x in a.levels + b.levels} == {True, False} and a.levels and b.levels:
            raise ValueError(f"column {a.name!r} holds text in one schema and numbers in the other")
        return Category(a.name, union(a.levels, b.levels), a.other or b.other, a.missing or b.missing)
    if isinstance(a, Number) and isinstance(b, Number) and a.cuts == b.cuts:
        return Number(a.name, a.cuts, min(a.low, b.low), max(a.high, b.high), a.missing or b.missing)
    raise ValueError(f"column {a.name!r} is cut differently in the two schemas, so their counts cannot be added")
