"""Thread pools for kernels that release the GIL."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from queue import SimpleQueue
from typing import TypeVar

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

Key = TypeVar("Key")
Item = TypeVar("Item")
State = TypeVar("State")

MIN_ROWS_FOR_THREADS = 50_000
"""With fewer rows, starting a thread costs more than it saves."""
MAX_STEPS_PER_TASK = 2**27
"""Maximum number of steps of one task. Kernels cannot be interrupted, and this takes a few tenths of a second."""
MAX_THREADS_PER_CORE = 8
"""Upper limit per core for any `n_jobs`, including one read from a file: more threads never help."""


def thread_count(n_jobs: int | None, rows: int) -> int:
    """Return the number of threads for `n_jobs` as in scikit-learn, or one if there are few rows."""
    return 1 if rows < MIN_ROWS_FOR_THREADS else resolve_n_jobs(n_jobs)


def resolve_n_jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` requests, as in scikit-learn.

    Within a worker of joblib it is at most the worker's share: joblib passes that share to its processes in one
    environment variable per threading library, and each of its threads gets one.

    >>> resolve_n_jobs(None), resolve_n_jobs(3)
    (1, 3)
    """
    requested = min(int(effective_n_jobs(n_jobs)), MAX_THREADS_PER_CORE * (os.cpu_count() or 1))
    backend = get_active_backend()[0]
    if not backend.nesting_level:
        return requested
    share = "1" if backend.uses_threads else os.environ.get("NUMBA_NUM_THREADS", "1")
    return min(requested, int(share)) if share.isdecimal() else 1


def run(tasks: Iterable[Callable[[], object]], threads: int) -> None:
    """Call every task, at most `threads` at a time.

    After an error or an interrupt no further task starts.
    """
    for _ in as_done(enumerate(tasks), threads):
        pass


def run_over_rows(
    task: Callable[[int, int], object], rows: int, n_jobs: int | None, steps: int = 1, work: int | None = None
) -> None:
    """Call ``task(start, stop)`` for consecutive ranges of rows, in several threads if there is enough work.

    Parameters
    ----------
    task : callable
    rows : int
        The total number of rows.
    n_jobs : int or None
        Number of threads, as in scikit-learn.
    steps : int, default=1
        The number of steps per row, which limits the number of rows per call; see `pieces`.
    work : int, default=None
        The number of rows of a simple kernel that would take as long, if not `rows`; see `thread_count`.
    """
    threads = thread_count(n_jobs, rows if work is None else work)
    run([partial(task, *piece) for piece in pieces(rows, threads, steps)], threads)


def as_done(tasks: Iterable[tuple[Key, Callable[[], object]]], threads: int) -> Iterator[Key]:
    """Call every task, at most `threads` at a time, and yield the key of each task when it completes.

    After an error or an interrupt no further task starts.
    """
    tasks = list(tasks)
    if threads == 1 or len(tasks) < 2:
        for key, task in tasks:
            task()
            yield key
        return
    pool = ThreadPoolExecutor(threads)
    done: SimpleQueue[Future[object]] = SimpleQueue()
    try:
        keys = {pool.submit(task): key for key, task in tasks}
        for future in keys:
            future.add_done_callback(done.put)
        for _ in keys:
            future = done.get()
            future.result()
            yield keys[future]
    finally:
        pool.shutdown(cancel_futures=True)


def feed(work: Callable[[State, Item], object], items: Iterable[Item], states: Sequence[State]) -> Iterator[Item]:
    """Call ``work(state, item)`` for every item and yield the items in order once they are processed.

    There is one thread per state, and no state is used by two threads at a time. Items are taken as they are needed, so
    only a few are in memory at any time. After an error or an interrupt no further work starts.
    """
    if len(states) == 1:
        for item in items:
            work(states[0], item)
            yield item
        return
    free: SimpleQueue[State] = SimpleQueue()
    for state in states:
        free.put(state)

    def work_with_free_state(item: Item) -> None:
        state = free.get()
        try:
            work(state, item)
        finally:
            free.put(state)

    pool = ThreadPoolExecutor(len(states))
    pending: deque[tuple[Future[None], Item]] = deque()
    try:
        for item in items:
            pending.append((pool.submit(work_with_free_state, item), item))
            while pending and (len(pending) > len(states) or pending[0][0].done()):
                future, done_item = pending.popleft()
                _await(future)
                yield done_item
        for future, item in pending:
            _await(future)
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _await(future: Future[None]) -> None:
    """Wait for a future and raise its exception, if any.

    Futures wait in a `threading.Condition`. An interrupt there may leave the lock in a state in which the finishing
    thread fails to notify and prints an error. The lock of a `SimpleQueue` is internal and is not affected.
    """
    done: SimpleQueue[Future[None]] = SimpleQueue()
    future.add_done_callback(done.put)
    done.get()
    future.result()


def pieces(rows: int, threads: int, steps: int) -> list[tuple[int, int]]:
    """Split rows into consecutive ranges: at least one per thread, and none with more than `MAX_STEPS_PER_TASK` steps.

    `steps` is the number of steps per row.

    >>> pieces(10, 2, steps=1000)
    [(0, 5), (5, 10)]
    >>> pieces(5, 1, steps=MAX_STEPS_PER_TASK // 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    max_rows = max(MAX_STEPS_PER_TASK // max(steps, 1), 1)
    return spans(rows, max(threads, -(-rows // max_rows)))


def spans(total: int, parts: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Split ``range(total)`` into at most `parts` consecutive ranges.

    The length of every range except the last is a multiple of `multiple`.

    >>> spans(10, 3)
    [(0, 4), (4, 8), (8, 10)]
    >>> spans(100, 2, multiple=64)
    [(0, 64), (64, 100)]
    """
    length = max(-(-total // parts), 1)
    length = -(-length // multiple) * multiple
    return [(start, min(start + length, total)) for start in range(0, total, length)]
