"""Tables for cross-validation, and a plain implementation to compare with."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from tanbark.evaluate import cross_validate

WORDS = np.array(["low", "mid", "high", "top"], object)


def _rows(X, rows):
    return X.take(rows) if isinstance(X, pa.Table) else _safe_indexing(X, rows)


def _predicted_plainly(model, X, y, found):
    """Return the log probabilities of each fold after fitting to the rows of the others."""
    labels = np.asarray(y)
    known = np.sort(np.concatenate([fold.rows for fold in found.folds[: len(found.folds) // found.repeats]]))
    predicted = []
    for fold in found.folds:
        inside = np.setdiff1d(known, fold.rows)
        fitted = clone(model).fit(_rows(X, inside), labels[inside])
        out = np.full((len(fold.rows), len(found.classes)), -np.inf)
        with np.errstate(divide="ignore"):
            columns = fitted.predict_log_proba(_rows(X, fold.rows)).T
        for label, column in zip(fitted.classes_.tolist(), columns, strict=True):
            out[:, found.classes.tolist().index(label)] = column
        predicted.append(out)
    return predicted


def _check(model, X, y, shared=None, **settings):
    """Check cross-validation against fitting to the training rows, and in how many folds counts were shared."""
    found = cross_validate(model, X, y, **settings)
    for fold, expected in zip(found.folds, _predicted_plainly(model, X, y, found), strict=True):
        assert np.array_equal(fold.log_probabilities, expected)
        assert np.array_equal(found.classes[fold.truth].tolist(), np.asarray(y)[fold.rows].tolist())
    if shared is not None:
        assert found.shared == shared
    return found


def _sampled_codes(seed=0, rows=60, columns=5, levels=3, classes=3):
    """Return integers that depend on each other and on a class, and the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    codes = np.empty((rows, columns), int)
    for u in range(columns):
        before = codes[:, u - 1] if u else y
        codes[:, u] = np.where(rng.random(rows) < 0.6, (before + y) % levels, rng.integers(0, levels, rows))
    codes[: levels * 4] = (np.arange(levels * 4) % levels)[:, None]
    return codes, y


def _declared_frame(seed=0, missing=0.1, **settings):
    """Return categories with missing values, one level in a single row and one in none, and the class."""
    codes, y = _sampled_codes(seed, **settings)
    values = WORDS[codes]
    values[7, 2] = "top"
    values[np.random.default_rng(seed + 1).random(values.shape) < missing] = None
    frame = pd.DataFrame({f"a{u}": pd.Categorical(values[:, u], [*WORDS, "never"]) for u in range(values.shape[1])})
    return frame, np.array(["no", "perhaps", "yes"], object)[y]


@pytest.fixture(scope="session")
def check():
    return _check


@pytest.fixture(scope="session")
def sampled_codes():
    return _sampled_codes


@pytest.fixture(scope="session")
def declared_frame():
    return _declared_frame
