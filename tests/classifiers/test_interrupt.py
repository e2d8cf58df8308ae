"""An interrupt during a fit: the estimator is as it was, and its threads are gone."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

from tanbark import BayesNet, NaiveBayes

SOON = 10.0
"""So many seconds a busy machine gets; an idle one takes below one."""


@pytest.mark.skipif(os.name == "nt", reason="there is no such signal")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_fit_that_is_interrupted_leaves_the_model_as_it_was(n_jobs):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (3000, 23)), rng.integers(0, 2, 3000)
    model = BayesNet(search="exact", n_jobs=n_jobs).fit(X[:50, :4], y[:50])
    state = dict(model.__dict__)
    # Python drops an interrupt that comes while the last of a thread of an earlier test is cleared up.
    gc.collect()
    before = threading.active_count()
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.monotonic() - sent[0] < SOON
    timer.join()
    assert threading.active_count() == before
    assert model.__dict__ == state


@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_an_interrupt_that_became_a_system_error_is_raised_as_an_interrupt(monkeypatch, method):
    def called_by_numba(*_):
        # Python raises this if a function returns although a signal has set an exception.
        raise SystemError("returned a result with an exception set") from KeyboardInterrupt()

    monkeypatch.setattr(NaiveBayes, "_learn", called_by_numba)
    model = NaiveBayes()
    with pytest.raises(KeyboardInterrupt):
        getattr(model, method)([[0], [1]], [0, 1])
    assert not hasattr(model, "model_")
