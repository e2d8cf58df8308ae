"""The base of sources that are files."""

from __future__ import annotations

import glob
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.sources.duckdb_rows import Rows, first_line, present, quoted
from tanbark.sources.source import Source, SourceError

if TYPE_CHECKING:
    import pyarrow as pa


class FileSource(Source):
    """Files of one kind, read one after the other."""

    called: str | None = None
    """What to call the files in a sentence, where their names would tell nobody anything."""

    def __init__(self, paths: Sequence[Path], missing: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.missing = tuple(missing)

    @property
    def name(self) -> str:
        """What to call the files in a sentence."""
        if self.called is not None:
            return self.called
        return str(self.paths[0]) if len(self.paths) == 1 else f"{self.paths[0]} and {len(self.paths) - 1} more"

    @property
    def nbytes(self) -> int | None:
        """How large the files are."""
        return sum(path.stat().st_size for path in self.paths)

    @abstractmethod
    def as_written(self) -> Rows:
        """Return the rows as the files have them, for SQL: in a text table every value is text."""

    def listed(self) -> str:
        """Return the paths as an SQL list."""
        return "[" + ", ".join(quoted(glob.escape(str(path))) for path in self.paths) + "]"

    def refuse_different(self, names: Sequence[str], path: Path, others: Sequence[str]) -> None:
        """Raise where a file has other columns than the first has."""
        first = self.paths[0]
        for here, there, has, lacks in ((names, others, first, path), (others, names, path, first)):
            for name in here:
                if name not in there:
                    raise SourceError(f"{lacks} has no column {name!r}, which {has} has")


class DuckFiles(FileSource):
    """Files that DuckDB reads and whose types it finds out."""

    texts_may_be_missing = False
    """Whether it is left to us to see which texts say that there is no value."""

    def typed(self) -> Rows:
        """Return the rows in types that the files suggest."""
        return self.as_written()

    @cached_property
    def _typed(self) -> Rows:
        return self.typed()

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns' names and types."""
        import pyarrow as pa

        found = self._anew().schema(self._expressions(self._typed.names))
        return pa.schema([field.with_name(name) for field, name in zip(found, self._typed.names)])

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the rows in order, with all columns or those named."""
        names = list(self._typed.names if columns is None else columns)
        for batch in self._anew().select(self._expressions(names)):
            yield batch.rename_columns(names)

    def _anew(self) -> Rows:
        """Return the rows over a connection of its own: one that is being read from can do nothing else."""
        return replace(self._typed, connection=self._typed.connection.cursor())

    def _expressions(self, names: Sequence[str]) -> list[str]:
        rows = self._typed
        tokens = self.missing if self.texts_may_be_missing else ()
        place = {name: i for i, name in enumerate(rows.names)}
        return [present(f"c{place[name]}", rows.types[place[name]], tokens) for name in names]


class reading_files:
    """Turn what DuckDB says about files into sentences."""

    def __init__(self, source: FileSource) -> None:
        self.source = source

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        import duckdb
        import pyarrow as pa

        # What happens after the first rows comes through Arrow.
        through_arrow = isinstance(error, pa.ArrowException) or (isinstance(error, OSError) and error.errno is None)
        if error is None or not (through_arrow or isinstance(error, duckdb.Error)):
            return
        if isinstance(error, duckdb.InterruptException) or "INTERRUPT" in str(error):
            return
        self.look_closer()
        if "not utf-8" in str(error).lower():
            raise SourceError(f"{self.source.name} is not UTF-8 text; convert it, for example with iconv") from error
        raise SourceError(f"{self.source.name} cannot be read: {first_line(error)}") from error

    def look_closer(self) -> None:
        """Raise a better sentence, where a closer look at the files finds one."""
