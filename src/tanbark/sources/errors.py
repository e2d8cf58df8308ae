"""What can be wrong with a source of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tanbark.names import first_repeated

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
