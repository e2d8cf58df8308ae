"""Interface of all sources of rows, and their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.messages import first_repeated

if TYPE_CHECKING:
    import pyarrow as pa


MAX_COLUMNS = 100_000
"""Maximum number of columns of a source."""


class SourceError(ValueError):
    """Rows cannot be read from a file, a database or a stream.

    The message is one sentence that names the source and the reason.
    """


class ColumnError(TypeError, SourceError):
    """A column of a file has a type other than text or numbers."""


def raised_by_arrow(error: BaseException) -> bool:
    """Return whether Arrow raised an error; its input errors, unlike those of the operating system, have no number."""
    import pyarrow as pa

    return isinstance(error, pa.ArrowException) or (isinstance(error, OSError) and error.errno is None)


def check_names(source: Any, names: Sequence[str]) -> None:
    """Raise SourceError if two columns have the same name, or there are too many columns."""
    if len(names) > MAX_COLUMNS:
        raise SourceError(f"{source} has {len(names):,} columns, but at most {MAX_COLUMNS:,} are supported")
    if len(set(names)) != len(names):
        raise SourceError(f"{source} has two columns named {first_repeated(names)!r}; rename one")


BATCH_VALUES = 1_000_000
"""Approximate number of values in a batch."""
MAX_BATCH_ROWS = 65_536
"""Maximum number of rows in a batch."""


class Source(ABC):
    """Base class of sources: rows that are read as a stream of Arrow record batches, usually more than once.

    A source implements ``__arrow_c_stream__``, so any library that reads Arrow data can read it, for example with
    ``pyarrow.table(source)``.

    Attributes
    ----------
    kind : {"csv", "parquet", "arff", "json", "excel", "arrow file", "sql", "arrow"}
        Format of the rows.
    missing : tuple of str
        Texts that represent missing values.
    once : bool
        Whether the rows can be read only once.
    coerce : bool
        Whether text is read as numbers, dates and missing values even without ``Encoder(coerce=True)``.
    name : str
        Name of the source in messages.
    schema : pyarrow.Schema
        Names and types of the columns.
    total : int or None
        Number of rows, if it is known without reading them.
    nbytes : int or None
        Size of the stored rows in bytes, if known.

    See Also
    --------
    files : Read files.
    sql : Read the result of an SQL query.
    as_source : Read Arrow data.
    """

    kind: str
    missing: tuple[str, ...] = ()
    once = False
    coerce = False

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of the source in messages."""

    @cached_property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @property
    def total(self) -> int | None:
        """Number of rows, or None if it is not known without reading them."""
        return None

    @property
    def nbytes(self) -> int | None:
        """Size of the stored rows in bytes, or None if it is not known."""
        return None

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order.

        Parameters
        ----------
        columns : sequence of str, default=None
            Columns to read. None reads all.

        Yields
        ------
        batch : pyarrow.RecordBatch
            Some rows.
        """

    def read_as_text(self, names: Collection[str]) -> bool:
        """Read those of the named columns that hold fractions as text; return whether that changes anything.

        Only sources that infer the types of text can do this.
        """
        return False

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self.batches()).__arrow_c_stream__(requested_schema)


def batch_rows(columns: int) -> int:
    """Return the number of rows per batch for a number of columns."""
    return min(max(BATCH_VALUES // max(columns, 1), 1_000), MAX_BATCH_ROWS)
