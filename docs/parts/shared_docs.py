"""Shared parts of docstrings in the reference, which is made from source code without importing it."""

from typing import Any

import griffe

from tanbark.shared_docs import completed


class SharedDocs(griffe.Extension):
    """Insert the texts that docstrings share."""

    def on_instance(self, *, obj: griffe.Object, **_: Any) -> None:
        """Complete the docstring of a class or function."""
        if obj.docstring:
            obj.docstring.value = completed(obj.docstring.value)
