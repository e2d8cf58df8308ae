"""The interface of all sources of rows, and their errors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.schema.encode.columns import first_repeated

if TYPE_CHECKING:
    import pyarrow as pa


MOST_COLUMNS = 100_000


class SourceError(ValueError):
    """Rows that cannot be read, and why, in one sentence that names the file or the database."""


class ColumnError(TypeError, SourceError):
    """A column of a file whose values are neither text nor numbers: of a wrong type, and a file that is no good."""


def check_names(source: Any, names: Sequence[str]) -> None:
    """Raise where two columns of a source have the same name, or there are too many of them."""
    if len(names) > MOST_COLUMNS:
        raise SourceError(f"{source} has {len(names):,} columns; at most {MOST_COLUMNS:,} can be read")
    twice = first_repeated(names)
    if twice is not None:
        raise SourceError(f"{source} has two columns named {twice!r}; rename one")


BATCH_VALUES = 1_000_000
MOST_BATCH_ROWS = 65_536


class Source(ABC):
    """Rows that can be read more than once, each time as a stream of Arrow record batches.

    It has ``__arrow_c_stream__``, so that whatever reads Arrow data reads it: ``pyarrow.table(source)``.
    """

    kind: str
    """What the rows are kept in: csv, parquet, arff, json, sql or arrow."""
    missing: tuple[str, ...] = ()
    """What a text says where there is no value."""
    once = False
    """Whether they can, after all, be read only once."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call the rows in a sentence."""

    @cached_property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The columns' names and types."""

    @property
    def total(self) -> int | None:
        """How many rows there are, where that is known without reading them."""
        return None

    @property
    def nbytes(self) -> int | None:
        """How many bytes they take where they are kept, if that is known."""
        return None

    @abstractmethod
    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named, in types that the source suggests."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(self.schema, self.batches()).__arrow_c_stream__(requested_schema)


def batch_rows(columns: int) -> int:
    """Return how many rows of so many columns make a batch."""
    return min(max(BATCH_VALUES // max(columns, 1), 1_000), MOST_BATCH_ROWS)
