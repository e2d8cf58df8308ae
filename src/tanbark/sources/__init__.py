"""Sources of rows: files, databases and Arrow streams."""

from tanbark.sources.arrow_streams import as_source
from tanbark.sources.database import sql
from tanbark.sources.file_patterns import files
from tanbark.sources.source import Source, SourceError

__all__ = ["Source", "SourceError", "as_source", "files", "sql"]
