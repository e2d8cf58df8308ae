"""The error for a name that no dataset has."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UnknownDatasetError(ValueError, KeyError):
    """No dataset has this name; it is a `KeyError` too, so that mappings of datasets behave as mappings do."""

    @classmethod
    def of(cls, name: object, known: Iterable[str]) -> UnknownDatasetError:
        """Return the error for `name`, with the nearest known name, or all of them if none is near."""
        names = sorted(known)
        near = get_close_matches(str(name), names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(names)}"
        return cls(f"there is no dataset called {name!r}: {hint}")

    def __str__(self) -> str:
        return str(self.args[0])
