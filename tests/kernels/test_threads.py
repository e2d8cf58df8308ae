"""Tasks in threads: all are done, and none is begun once something has gone wrong."""

import os
import signal
import threading
import time

import pytest

from tanbark.kernels.threads import run


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

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        run([work] * 200, 2)
    assert len(begun) < 20
    assert threading.active_count() == before
