"""Pickle support for frozen dataclasses with cached properties."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class CopiedByFields:
    """A dataclass of which copies and pickles are made from its fields alone.

    What it remembers beside them may be growing at that moment, as another thread asks it something.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
