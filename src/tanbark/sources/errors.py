"""What can be wrong with a source of rows."""


class SourceError(ValueError):
    """Rows that cannot be read, and why, in one sentence that names the file or the database."""
