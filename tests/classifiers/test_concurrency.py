"""One fitted model answers many threads and processes at once as it answers one."""

import multiprocessing
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pandas as pd
import pytest

import tanbark
from classifiers.asking import answers, answers_of_all, questions, table, threads_used
from tanbark.classifiers import REGISTRY
from tanbark.classifiers.base import counts_classifier
from tanbark.kernels.runtime import threads as kernel_threads

THREADS = 16


@pytest.fixture(scope="module")
def fitted():
    """All classifiers, fitted: pickled, so that each test has some that have answered nothing yet."""
    X, _, y = table()
    return {name: pickle.dumps(entry.classifier().fit(X, y)) for name, entry in REGISTRY.items()}


@pytest.fixture(scope="module")
def expected(fitted):
    """What each model says to one who asks alone."""
    return {name: answers(pickle.loads(model)) for name, model in fitted.items()}


def agree(found, right):
    return found.keys() == right.keys() and all(np.array_equal(found[name], right[name]) for name in right)


@pytest.mark.parametrize("name", REGISTRY)
def test_threads_that_ask_at_once_get_the_same_answers(fitted, expected, name):
    model = pickle.loads(fitted[name])
    asked = questions(model)
    start = threading.Barrier(THREADS)

    def ask_all(number):
        names = [*asked]
        start.wait()
        # Each begins with another question, so that all are asked before anything is remembered.
        return {names[(number + i) % len(names)]: asked[names[(number + i) % len(names)]]() for i in range(len(names))}

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            found = list(pool.map(ask_all, range(THREADS)))
    finally:
        sys.setswitchinterval(usual)
    assert all(agree(one, expected[name]) for one in found)


def parts(value, found):
    """Add all of ours that a copy of a value is made of, by their addresses."""
    if isinstance(value, dict | list | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            parts(part, found)
    elif type(value).__module__.startswith("tanbark") and id(value) not in found:
        found[id(value)] = value
        parts(value.__reduce_ex__(4)[1:3], found)
    return found


@pytest.mark.parametrize("name", REGISTRY)
def test_what_a_model_remembers_when_asked_is_no_part_of_its_copies(fitted, name):
    """A copy that was being made while it was remembered failed: a dictionary changed its size."""
    model = pickle.loads(fitted[name])
    found = parts(model, {})
    before = {at: [*part.__dict__] for at, part in found.items()}
    answers(model)
    changed = [part for at, part in found.items() if [*part.__dict__] != before[at]]
    assert model.schema_ in changed
    assert not any(made is part.__dict__ for part in changed for made in part.__reduce_ex__(4))


ASKED = ("predict", "predict_proba", "predict_log_proba", "score_samples", "predict_joint_log_proba", "explain")
ASKED += ("standard_error",)


def other_table():
    """Return rows of fewer columns, other levels and more classes."""
    X, _, y = table()
    return X[:, 1:] + 7.0, np.where(X[:, 0] == 0, 9.0, y)


@pytest.mark.parametrize("name", REGISTRY)
def test_who_asks_while_a_model_learns_is_answered_from_what_it_was(fitted, monkeypatch, name):
    _, holed, _ = table()
    model = pickle.loads(fitted[name])
    right = {method: getattr(model, method)(holed) for method in ASKED if hasattr(model, method)}
    found = []
    set_learned = type(model)._set_learned

    def asked_in_the_midst(self, *learned, **attributes):
        found.append({method: getattr(model, method)(holed) for method in right})
        set_learned(self, *learned, **attributes)

    monkeypatch.setattr(type(model), "_set_learned", asked_in_the_midst)
    model.fit(*other_table())
    assert len(model.classes_) == 4
    assert agree(found[-1], right)


@pytest.mark.parametrize("name", REGISTRY)
def test_a_model_that_learns_while_it_is_asked_answers_from_what_it_was(fitted, monkeypatch, name):
    _, holed, _ = table()
    alone = pickle.loads(fitted[name])
    encode = type(alone)._model_and_codes
    for method in (method for method in ASKED if hasattr(alone, method)):
        right, model = getattr(alone, method)(holed), pickle.loads(fitted[name])

        def learning(self, X, model=model):
            found = encode(self, X)
            model.fit(*other_table())
            return found

        with monkeypatch.context() as patched:
            patched.setattr(type(model), "_model_and_codes", learning)
            assert np.array_equal(getattr(model, method)(holed), right), method
        assert len(model.classes_) == 4


def test_a_table_is_checked_against_the_columns_of_the_model_that_answers(fitted, monkeypatch):
    """Another thread that fits other columns between the check and the answer changes neither."""
    _, holed, _ = table()
    model = pickle.loads(fitted["tan"])
    right = model.predict_proba(holed)
    read = counts_classifier.read_known_table

    def learning_first(*arguments):
        monkeypatch.setattr(counts_classifier, "read_known_table", read)
        model.fit(*other_table())
        return read(*arguments)

    monkeypatch.setattr(counts_classifier, "read_known_table", learning_first)
    assert np.array_equal(model.predict_proba(holed), right)
    assert len(model.classes_) == 4


def test_a_refit_never_shows_a_model_without_its_column_names():
    X, _, y = table()
    frame = pd.DataFrame(X, columns=[f"a{u}" for u in range(X.shape[1])])
    model = tanbark.NaiveBayes().fit(frame, y)
    stop = threading.Event()

    def refit():
        while not stop.is_set():
            model.fit(frame, y)

    thread = threading.Thread(target=refit)
    thread.start()
    try:
        for _ in range(200):
            model.predict(frame[:1])
    finally:
        stop.set()
        thread.join()


def test_a_stream_that_cannot_learn_a_chunk_leaves_its_model_alone():
    X, holed, y = table()
    stream = tanbark.Stream(tanbark.TAN()).partial_fit(X, y)
    model, right = stream.model_, stream.predict_proba(holed)
    with pytest.raises(ValueError, match="X has 150, y has 149"):
        stream.partial_fit(X, y[:-1])
    assert stream.model_ is model
    stream.partial_fit(X + 1.0, y)
    assert np.array_equal(model.predict_proba(holed), right)


def test_evidence_under_settings_of_ones_own_is_not_taken_away_by_other_threads(fitted):
    network = pickle.loads(fitted["k2"]).network_
    codes = network.schema.encode(table()[1])
    alone = [network.evidence(codes, seed=seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: network.evidence(codes, seed=i % 4), range(80)))
    assert all(np.array_equal(found[i], alone[i % 4]) for i in range(80))


def ask_processes(how, processes, fitted, expected, folder):
    """Let processes answer with models that were pickled and that they load, and compare."""
    paths = {name: folder / name for name in fitted}
    for name, path in paths.items():
        tanbark.save(pickle.loads(fitted[name]), path)
    with multiprocessing.get_context(how).Pool(processes) as pool:
        asked = [pool.apply_async(answers_of_all, (fitted, paths)) for _ in range(processes)]
        for one in asked:
            for name, (pickled, loaded) in one.get(timeout=600).items():
                assert agree(pickled, expected[name]), name
                assert agree(loaded, expected[name]), name


@pytest.mark.parametrize(
    ("how", "processes"), [("fork", 4), ("spawn", 1), pytest.param("spawn", 4, marks=pytest.mark.long)]
)
def test_processes_get_the_same_answers(fitted, expected, how, processes, tmp_path, monkeypatch):
    # Whoever forks has used threads.
    monkeypatch.setattr(kernel_threads, "MIN_ROWS_FOR_THREADS", 0)
    X, holed, y = table()
    tanbark.TAN(n_jobs=3).fit(X, y).predict_proba(holed)
    ask_processes(how, processes, fitted, expected, tmp_path)


@pytest.mark.long
def test_processes_that_start_at_once_with_an_empty_cache_are_all_right(fitted, expected, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kernels"))
    ask_processes("spawn", 6, fitted, expected, tmp_path)
    assert list((tmp_path / "kernels").rglob("*.nbi"))


def test_classifiers_are_fitted_in_threads_at_once(expected):
    X, _, y = table()

    def fit(name):
        return name, answers(REGISTRY[name].classifier().fit(X, y))

    with ThreadPoolExecutor(8) as pool:
        for name, found in pool.map(fit, REGISTRY):
            assert agree(found, expected[name]), name


def test_alone_a_model_uses_as_many_threads_as_it_is_told_to():
    assert [threads_used(n_jobs) for n_jobs in (None, 2, 5)] == [1, 2, 5]


@pytest.mark.parametrize("n_jobs", [-1, 64])
def test_in_workers_of_joblib_a_model_uses_no_more_than_the_share_of_one(n_jobs):
    cores = joblib.cpu_count()
    each = max(cores // 2, 1)
    # joblib has processes from now on, which `loky` lets go after a while.
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(threads_used)(n_jobs) for _ in range(2))
    assert max(found) <= each
    found = joblib.Parallel(n_jobs=2, backend="threading")([joblib.delayed(threads_used)(n_jobs)])
    assert found == [1]
