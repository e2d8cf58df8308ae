"""Compile kernels once, with an on-disk cache that never gets in the way.

Compiling with a cache on the disk that never stands in the way.

numba raises where it finds no folder to keep compiled kernels in (the program was installed for all, and a user has no
home), where the disk is full, and where a file of the cache is torn. And of two processes that compile a kernel for
different types at the same time, one may write over what the index says is the other's. Here all that means is that
kernels are compiled anew.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numpy.typing import NDArray


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator, but for `cache`, which is used where it can be."""
    cached = options.pop("cache")

    def compiled(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        if hasattr(kernel, "compile"):
            kernel.compile = _uninterrupted(kernel.compile)
        if cached and hasattr(kernel, "enable_caching"):
            try:
                kernel._cache = _Cache(function)
            except (RuntimeError, OSError):
                # One line of the program warns, so that Python shows it once.
                warnings.warn(
                    "there is no folder to keep compiled kernels in, so that every start takes the seconds that it "
                    "takes to compile them; name one that can be written to in the environment's NUMBA_CACHE_DIR",
                    stacklevel=1,
                )
        return kernel

    return compiled


def _uninterrupted(compiler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that compiles as another does, and lets an interrupt wait until that is done.

    One that comes in the midst of it may be lost, or leave the compiler's memory in disorder.
    """

    @wraps(compiler)
    def compiled(signature: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compiler(signature)
        usual = signal.getsignal(signal.SIGINT)
        if not callable(usual):
            return compiler(signature)
        waiting: list[tuple[int, FrameType | None]] = []
        signal.signal(signal.SIGINT, lambda number, frame: waiting.append((number, frame)))
        try:
            return compiler(signature)
        finally:
            signal.signal(signal.SIGINT, usual)
            if waiting:
                usual(*waiting[0])

    return compiled


class _Cache(FunctionCache):  # type: ignore[misc]
    """What was compiled before, as far as it can be read and written."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what was compiled for these types, or None."""
        try:
            found = super().load_overload(sig, target_context)
        except Exception:
            # As after a power cut; a new index lets what is compiled now be kept.
            with suppress(Exception):
                self.flush()
            return None
        return found if found is not None and found.signature.args == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep what was compiled for these types, if that can be."""
        with suppress(Exception):
            super().save_overload(sig, data)


Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """Return the array, or a copy where it is not laid out row by row, such that it cannot be written to.

    The compiler takes an array that may be written to, or one that is laid out otherwise, for another type. What was
    just learned can be written to, what was loaded or came from another process cannot: frozen, they are the same.
    """
    fixed = np.ascontiguousarray(array).view()
    fixed.flags.writeable = False
    return fixed
