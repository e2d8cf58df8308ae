"""Pickle support for frozen dataclasses with cached properties."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class CopiedByFields:
    """Mixin for dataclasses that are copied and pickled by their fields only.

    Cached properties are left out, since another thread may be computing them during the copy.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
