"""JSON-lines files: one object a line."""

from __future__ import annotations

import glob
from typing import Any

from tanbark.sources.errors import SourceError, check_names
from tanbark.sources.file_source import DuckFiles, reading_files
from tanbark.sources.interrupts import interruptible
from tanbark.sources.rows import Rows, connect, quoted


class JsonFiles(DuckFiles):
    """JSON-lines files. Text may say that it is missing, as in any text table."""

    kind = "json"
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in types that all lines allow."""
        together = ", union_by_name=true" if len(self.paths) > 1 else ""
        lines = "format='newline_delimited'"
        relation = f"read_json({self.listed()}, {lines}, records=true, sample_size=-1{together})"
        connection = connect()
        # Several threads would take parts of the files as they come, and so would the rows come: in any order.
        connection.execute("SET threads = 1")
        errors = _reading_json(self)
        with errors:
            found = interruptible(lambda: connection.sql(f"SELECT * FROM {relation}"), connection.interrupt)
        names, types = tuple(found.columns), tuple(map(str, found.types))
        check_names(self.name, names)
        columns = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in zip(names, types))
        each = [f"read_json({quoted(glob.escape(str(p)))}, {lines}, columns={{{columns}}})" for p in self.paths]
        return Rows(self, connection, relation, names, types, errors, tuple(each) if len(each) > 1 else ())


class _reading_json(reading_files):
    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if "non-record JSON" in str(error):
            raise SourceError(f"{self.source.name} is not JSON lines; each line should be an object") from error
        super().__exit__(kind, error, trace)
