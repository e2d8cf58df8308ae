"""Tasks in threads: all of them run, and none starts after an error."""

import gc
import os
import signal
import threading
import time

import joblib
import pytest

from tanbark.kernels.runtime.threads import MAX_THREADS_PER_CORE, feed, resolve_n_jobs, run


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_called_once(threads):
    done = []
    run([lambda i=i: done.append(i) for i in range(40)], threads)
    assert sorted(done) == list(range(40))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_no_task_starts_after_one_has_failed(error):
    started = []

    def fail():
        raise error

    def work():
        started.append(1)
        time.sleep(0.01)

    before = threading.active_count()
    with pytest.raises(error):
        run([fail, *[work] * 200], 2)
    assert len(started) < 20
    assert threading.active_count() == before


def test_a_keyboard_interrupt_propagates_at_once_and_leaves_no_thread():
    started = []

    def work():
        started.append(1)
        if len(started) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    # Python drops an interrupt that arrives while a thread of an earlier test is being finalised.
    gc.collect()
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run([work] * 200, 2)
    assert len(started) < 20
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_items_are_processed_by_workers_and_returned_in_order(workers):
    states = [[] for _ in range(workers)]
    assert list(feed(lambda state, item: state.append(item), iter(range(50)), states)) == list(range(50))
    assert sorted(item for state in states for item in state) == list(range(50))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_only_a_few_items_are_taken_ahead_of_processing(workers):
    taken, done = [], []

    def items():
        for item in range(50):
            taken.append(item)
            yield item

    for item in feed(lambda _state, item: done.append(item), items(), [None] * workers):
        assert item in done
        assert len(taken) - item <= workers + 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_stops_the_iteration(workers):
    taken = []

    def items():
        for item in range(1000):
            taken.append(item)
            yield item

    def work(_state, item):
        if item == 5:
            raise ValueError("five")

    with pytest.raises(ValueError, match="five"):
        list(feed(work, items(), [None] * workers))
    assert len(taken) < 20


def test_the_number_of_threads_per_core_is_limited():
    assert resolve_n_jobs(10**40) == resolve_n_jobs(10**9) <= MAX_THREADS_PER_CORE * os.cpu_count()


@pytest.mark.parametrize("setting", ["8", "", "many"])
def test_each_joblib_thread_gets_one_thread_whatever_numba_num_threads_is(setting, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", setting)
    assert joblib.Parallel(2, backend="threading")(joblib.delayed(resolve_n_jobs)(8) for _ in range(2)) == [1, 1]
