"""JSON-lines files: one object a line."""

from __future__ import annotations

from tanbark.sources.file_source import DuckFiles, reading_files
from tanbark.sources.rows import Rows, connect


class JsonFiles(DuckFiles):
    """JSON-lines files. Text may say that it is missing, as in any text table."""

    kind = "json"
    texts_may_be_missing = True

    def as_written(self) -> Rows:
        """Return the rows in types that all lines allow."""
        together = ", union_by_name=true" if len(self.paths) > 1 else ""
        relation = f"read_json({self.listed()}, format='newline_delimited', sample_size=-1{together})"
        connection = connect()
        if len(self.paths) > 1:
            # Several threads would take a file each, and the rows would come in any order.
            connection.execute("SET threads = 1")
        errors = reading_files(self)
        with errors:
            found = connection.sql(f"SELECT * FROM {relation}")
        return Rows(self, connection, relation, tuple(found.columns), tuple(map(str, found.types)), errors)
