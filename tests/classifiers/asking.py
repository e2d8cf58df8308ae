"""What processes are asked: they import it by its name, which that of a test file is not."""

import pickle
from functools import partial

import numpy as np

import tanbark
from tanbark.kernels.runtime import threads as kernel_threads

ROWS, COLUMNS = 150, 6


def table():
    """Return rows of which some depend on others, the same with holes, and classes."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (ROWS, COLUMNS)).astype(float)
    X[:, 3] = (X[:, 0] + X[:, 1]) % 3
    y = (X[:, 3] + X[:, 4] + (rng.random(ROWS) < 0.2)) % 3
    holed = X.copy()
    holed[rng.random(X.shape) < 0.35] = np.nan
    return X, holed, y


def questions(model):
    """Return functions of no argument that ask a model something, each of which returns an array."""
    _, holed, _ = table()
    names = ("predict_proba", "predict_log_proba", "score_samples", "explain")
    asked = {name: partial(getattr(model, name), holed) for name in names if hasattr(model, name)}
    if hasattr(model, "sample"):
        asked["sample"] = lambda: np.column_stack(model.sample(20, random_state=0)).astype(float)
    if hasattr(model, "network_"):
        asked["query"] = lambda: np.array([*model.network_.query("x1", {"x0": 1.0}).values()])
    return asked


def answers(model):
    return {name: ask() for name, ask in questions(model).items()}


def answers_of_all(models, paths):
    loaded = {name: tanbark.load(path) for name, path in paths.items()}
    return {name: (answers(pickle.loads(model)), answers(loaded[name])) for name, model in models.items()}


def threads_used(n_jobs):
    """Return how many threads a fit and a prediction use at most."""
    used = []
    make = kernel_threads.ThreadPoolExecutor
    few, kernel_threads.MIN_ROWS_FOR_THREADS = kernel_threads.MIN_ROWS_FOR_THREADS, 0
    kernel_threads.ThreadPoolExecutor = lambda most: (used.append(most), make(most))[1]
    try:
        X, holed, y = table()
        tanbark.TAN(n_jobs=n_jobs).fit(X, y).predict_proba(holed)
        tanbark.BayesNet(n_jobs=n_jobs).fit(X[:, :4], y)
    finally:
        kernel_threads.MIN_ROWS_FOR_THREADS, kernel_threads.ThreadPoolExecutor = few, make
    return max(used, default=1)
