"""Immutable values: frozen dataclasses whose arrays are read-only."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def read_only(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return a read-only, C-contiguous view of the array, or of a copy if its layout differs.

    numba compiles a kernel separately for writable and read-only arrays and for each memory layout. Freshly learned
    arrays are writable, arrays from a file or another process are not. With this function both have the same type.
    """
    fixed = np.ascontiguousarray(array).view()
    fixed.flags.writeable = False
    return fixed


class Immutable:
    """Mixin for frozen dataclasses.

    Arrays, and arrays in tuples, become read-only when an object is created. Copies and pickles consist of the fields:
    cached properties are left out, since another thread may be computing them during the copy.
    """

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                object.__setattr__(self, name, read_only(value))
            elif type(value) is tuple and any(isinstance(item, np.ndarray) for item in value):
                items = (read_only(item) if isinstance(item, np.ndarray) else item for item in value)
                object.__setattr__(self, name, tuple(items))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
