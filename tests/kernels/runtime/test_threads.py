"""Tasks in threads: all are done, and none is begun once something has gone wrong."""

import gc
import os
import signal
import threading
import time

import joblib
import pytest

from tanbark.kernels.runtime.threads import MOST_OF_A_CORE, feed, jobs, run


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_called_once(threads):
    done = []
    run([lambda i=i: done.append(i) for i in range(40)], threads)
    assert sorted(done) == list(range(40))


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_no_task_begins_after_one_has_failed(error):
    begun = []

    def fail():
        raise error

    def work():
        begun.append(1)
        time.sleep(0.01)

    before = threading.active_count()
    with pytest.raises(error):
        run([fail, *[work] * 200], 2)
    assert len(begun) < 20
    assert threading.active_count() == before


def test_an_interrupt_from_the_keyboard_gets_out_at_once_and_leaves_no_thread():
    begun = []

    def work():
        begun.append(1)
        if len(begun) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    # Python drops an interrupt that comes while the last of a thread of an earlier test is cleared up.
    gc.collect()
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run([work] * 200, 2)
    assert len(begun) < 20
    assert threading.active_count() == before


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_items_are_fed_to_workers_and_come_back_in_order(workers):
    states = [[] for _ in range(workers)]
    assert list(feed(lambda mine, item: mine.append(item), iter(range(50)), states)) == list(range(50))
    assert sorted(item for mine in states for item in mine) == list(range(50))


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_few_items_are_taken_before_they_are_worked_on(workers):
    taken, done = [], []

    def items():
        for item in range(50):
            taken.append(item)
            yield item

    for item in feed(lambda mine, item: done.append(item), items(), [None] * workers):
        assert item in done
        assert len(taken) - item <= workers + 2


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_ends_the_feeding(workers):
    taken = []

    def items():
        for item in range(1000):
            taken.append(item)
            yield item

    def work(mine, item):
        if item == 5:
            raise ValueError("five")

    with pytest.raises(ValueError, match="five"):
        list(feed(work, items(), [None] * workers))
    assert len(taken) < 20


def test_no_number_of_jobs_is_a_crowd():
    assert jobs(10**40) == jobs(10**9) <= MOST_OF_A_CORE * os.cpu_count()


@pytest.mark.parametrize("told", ["8", "", "many"])
def test_threads_of_joblib_get_one_each_whatever_numba_is_told(told, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", told)
    assert joblib.Parallel(2, backend="threading")(joblib.delayed(jobs)(8) for _ in range(2)) == [1, 1]
