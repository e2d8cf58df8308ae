"""Shared parameter descriptions in the reference, which is made from source code without importing it."""

from typing import Any

import griffe

from tanbark.classifiers.base.shared_docs import with_shared_parameters


class SharedParameters(griffe.Extension):
    """Insert the descriptions that classifiers share."""

    def on_class_instance(self, *, cls: griffe.Class, **_: Any) -> None:
        """Complete the docstring of a class."""
        if cls.docstring:
            cls.docstring.value = with_shared_parameters(cls.docstring.value)
