"""Arrays of one kind, so that a kernel is compiled once."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array, or a copy where it is not laid out row by row, such that it cannot be written to.

    The compiler takes an array that may be written to, or one that is laid out otherwise, for another type. What was
    just learned can be written to, what was loaded or came from another process cannot: frozen, they are the same.
    """
    fixed = np.ascontiguousarray(array).view()
    fixed.flags.writeable = False
    return fixed
