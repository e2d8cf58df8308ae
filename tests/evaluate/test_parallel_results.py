"""Parallel processes and interrupts."""

from __future__ import annotations

import os
import signal
import time

import pytest
from joblib import delayed

from tanbark.evaluate.parallel_results import parallel_results

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT mask")


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("in_order", [True, False])
def test_all_results_are_returned(n_jobs, in_order):
    with parallel_results((delayed(abs)(-i) for i in range(7)), n_jobs, in_order) as results:
        found = list(results)
    assert sorted(found) == [*range(7)]
    assert found == [*range(7)] or not in_order
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


@pytest.mark.filterwarnings("ignore:.*have been cancelled")
# A thread of joblib still looks for the cancelled tasks.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_interrupt_while_tasks_are_dispatched_ends_all_processes():
    """The interrupt is pending at that time and must not wait until all tasks are done."""

    def tasks():
        for place in range(4):
            if place == 2:
                os.kill(os.getpid(), signal.SIGINT)
            yield delayed(time.sleep)(30)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), parallel_results(tasks(), 2) as results:
        list(results)
    with parallel_results((delayed(abs)(-i) for i in range(4)), 2) as results:
        assert list(results) == [*range(4)]
    assert time.monotonic() - began < 25
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
