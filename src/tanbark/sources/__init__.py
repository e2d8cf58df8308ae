"""Where rows come from: files, databases, and whatever streams Arrow data."""

from tanbark.sources.database import sql
from tanbark.sources.errors import SourceError
from tanbark.sources.files import files
from tanbark.sources.source import Source
from tanbark.sources.streams import as_source

__all__ = ["Source", "SourceError", "as_source", "files", "sql"]
