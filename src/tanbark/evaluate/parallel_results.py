"""Run tasks in parallel processes that Ctrl-C ends cleanly."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from multiprocessing import resource_tracker
from typing import Any

from joblib import Parallel, effective_n_jobs
from joblib.externals.loky.backend import resource_tracker as loky_tracker


@contextmanager
def parallel_results(tasks: Iterable[Any], n_jobs: int | None, in_order: bool = True) -> Iterator[Iterator[Any]]:
    """Yield an iterator over the results of tasks that run in parallel processes.

    A terminal sends Ctrl-C to all processes of a group. The worker processes ignore it: this process receives it and
    ends them.

    Parameters
    ----------
    tasks : iterable of joblib.delayed calls
    n_jobs : int or None
        Number of processes, as in joblib.
    in_order : bool, default=True
        Whether results come in the order of the tasks, or as soon as they are available.
    """
    with ExitStack() as cleanup:
        # A pending interrupt is delivered when this context is left, after the clean-up has been registered.
        with nullcontext() if effective_n_jobs(n_jobs) == 1 else _interrupts_blocked():
            started = Parallel(n_jobs, return_as="generator" if in_order else "generator_unordered")(tasks)
            results = cleanup.enter_context(closing(started))
        yield results


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread. Processes started in this context inherit the mask and keep it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # joblib starts the resource trackers before the workers, and older versions of both unblock SIGINT when they do.
    resource_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
