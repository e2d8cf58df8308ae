"""Plain threads over kernels that release the GIL."""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import TypeVar

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

Key = TypeVar("Key")
Item = TypeVar("Item")
State = TypeVar("State")

FEW_ROWS = 50_000
"""Below it, starting a thread costs more than it saves."""
MOST_STEPS = 2**27
"""So many steps take some tenths of a second, for which an interrupt can wait: no signal reaches a kernel."""


MOST_OF_A_CORE = 8
"""More threads for each core help nobody, whatever `n_jobs` says, or a file has it say."""


def thread_count(n_jobs: int | None, rows: int) -> int:
    """Return how many threads to use: as `n_jobs` says in scikit-learn, one where the rows are few."""
    return 1 if rows < FEW_ROWS else jobs(n_jobs)


def jobs(n_jobs: int | None) -> int:
    """Return how many threads `n_jobs` asks for, as in scikit-learn, but in joblib's workers no more than their share.

    joblib tells its processes that share in variables for each library that has threads. Its threads get one each.

    >>> jobs(None), jobs(3)
    (1, 3)
    """
    wanted = min(int(effective_n_jobs(n_jobs)), MOST_OF_A_CORE * (os.cpu_count() or 1))
    backend = get_active_backend()[0]
    if not backend.nesting_level:
        return wanted
    share = "1" if backend.uses_threads else os.environ.get("NUMBA_NUM_THREADS", "1")
    return min(wanted, int(share)) if share.isdecimal() else 1


def run(tasks: Iterable[Callable[[], object]], threads: int) -> None:
    """Call every task, at most `threads` of them at a time; after an error or an interrupt no further one begins."""
    for _ in as_done(enumerate(tasks), threads):
        pass


def as_done(tasks: Iterable[tuple[Key, Callable[[], object]]], threads: int) -> Iterator[Key]:
    """Call every task, at most `threads` of them at a time, and yield the key of each when it is done.

    After an error or an interrupt no further task begins.
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
    """Call `work` on every item with one of the states, by a thread for each, and yield the items in order when done.

    No state is used by two threads at a time. Items are taken as they are needed, so that a few of them are in memory,
    however many there are. After an error or an interrupt no further work begins.
    """
    if len(states) == 1:
        for item in items:
            work(states[0], item)
            yield item
        return
    free: SimpleQueue[State] = SimpleQueue()
    for state in states:
        free.put(state)

    def lent(item: Item) -> None:
        state = free.get()
        try:
            work(state, item)
        finally:
            free.put(state)

    pool = ThreadPoolExecutor(len(states))
    waiting: deque[tuple[Future[None], Item]] = deque()
    try:
        for item in items:
            waiting.append((pool.submit(lent, item), item))
            while waiting and (len(waiting) > len(states) or waiting[0][0].done()):
                done, first = waiting.popleft()
                _await(done)
                yield first
        for done, item in waiting:
            _await(done)
            yield item
    finally:
        pool.shutdown(cancel_futures=True)


def _await(future: Future[None]) -> None:
    """Wait until something is done, and raise what it raised.

    An interrupt while a thread waits as futures do it (in a `threading.Condition`) may leave the lock that is waited
    for in such a state that whoever is done fails to say so, and prints that. A queue's lock is not seen by Python.
    """
    done: SimpleQueue[Future[None]] = SimpleQueue()
    future.add_done_callback(done.put)
    done.get()
    future.result()


def pieces(rows: int, threads: int, steps: int) -> list[tuple[int, int]]:
    """Return consecutive ranges that cover the rows, each of which takes some steps: one for each thread, or more.

    >>> pieces(10, 2, steps=1000)
    [(0, 5), (5, 10)]
    >>> pieces(5, 1, steps=MOST_STEPS // 2)
    [(0, 2), (2, 4), (4, 5)]
    """
    most = max(MOST_STEPS // max(steps, 1), 1)
    return spans(rows, max(threads, -(-rows // most)))


def spans(total: int, parts: int, multiple: int = 1) -> list[tuple[int, int]]:
    """Return at most `parts` consecutive ranges that cover `total`, each but the last a multiple of `multiple` long.

    >>> spans(10, 3)
    [(0, 4), (4, 8), (8, 10)]
    >>> spans(100, 2, multiple=64)
    [(0, 64), (64, 100)]
    """
    length = max(-(-total // parts), 1)
    length = -(-length // multiple) * multiple
    return [(start, min(start + length, total)) for start in range(0, total, length)]
