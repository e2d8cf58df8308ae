"""Work that several processes do at once."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any

from joblib import Parallel, effective_n_jobs
from joblib.externals.loky.backend import resource_tracker as loky_tracker


@contextmanager
def side_by_side(tasks: Iterable[Any], n_jobs: int | None, in_order: bool = True) -> Iterator[Iterator[Any]]:
    """Yield what tasks return, each once it is done; in their order, or as they are done.

    A terminal sends Ctrl-C to all processes. Those that are started here do not hear it: this one does, and ends them.
    """
    with ExitStack() as ended:
        # An interrupt that had to wait comes when this is left, and finds somebody who ends the processes.
        with nullcontext() if effective_n_jobs(n_jobs) == 1 else _unheard():
            started = Parallel(n_jobs, return_as="generator" if in_order else "generator_unordered")(tasks)
            results = ended.enter_context(closing(started))
        yield results


@contextmanager
def _unheard() -> Iterator[None]:
    """Let interrupts wait, as they do for good in a process that is started here."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # These joblib starts before the others; older versions of both then let interrupts be heard again.
    resource_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
