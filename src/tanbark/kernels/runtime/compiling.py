"""Kernel compilation with a fault-tolerant cache on disk.

numba raises an error if no cache directory is writable (for example in a system-wide installation used by an account
without a home directory), if the disk is full, or if a cache file is corrupt. In addition, when two processes compile a
kernel for different types at the same time, one may overwrite a file that the index assigns to the other. Here each of
these problems only means that kernels are compiled again.
"""

from __future__ import annotations

import signal
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from types import FrameType
from typing import Any

import numba
from numba.core.caching import FunctionCache


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's `njit` decorator, with a cache that is skipped when it is unusable."""
    use_cache = options.pop("cache")

    def decorate(function: Callable[..., Any]) -> Any:
        kernel = numba.njit(**options)(function)
        if hasattr(kernel, "compile"):
            kernel.compile = _defer_interrupts(kernel.compile)
        if use_cache and hasattr(kernel, "enable_caching"):
            try:
                kernel._cache = _Cache(function)
            except (RuntimeError, OSError):
                # The warning always comes from this line, so Python shows it only once.
                warnings.warn(
                    "compiled kernels cannot be cached because no cache directory is writable; every start recompiles "
                    "them, which takes several seconds; set the environment variable NUMBA_CACHE_DIR to a writable "
                    "directory",
                    stacklevel=1,
                )
        return kernel

    return decorate


def _defer_interrupts(compiler: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap a compiler so that it handles SIGINT only after it has finished.

    An interrupt during compilation may be lost or leave the compiler's memory in an inconsistent state.
    """

    @wraps(compiler)
    def compile_uninterrupted(signature: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compiler(signature)
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler):
            return compiler(signature)
        pending: list[tuple[int, FrameType | None]] = []
        signal.signal(signal.SIGINT, lambda number, frame: pending.append((number, frame)))
        try:
            return compiler(signature)
        finally:
            signal.signal(signal.SIGINT, handler)
            if pending:
                handler(*pending[0])

    return compile_uninterrupted


class _Cache(FunctionCache):  # type: ignore[misc]
    """An on-disk cache of compiled kernels that treats unreadable entries as absent and ignores failed writes."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel compiled for these types, or None."""
        try:
            kernel = super().load_overload(sig, target_context)
        except Exception:
            # The files are corrupt, for example after a power cut. A new index makes the cache usable again.
            with suppress(Exception):
                self.flush()
            return None
        return kernel if kernel is not None and kernel.signature.args == sig else None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the kernel compiled for these types, if possible."""
        with suppress(Exception):
            super().save_overload(sig, data)
