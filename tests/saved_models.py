"""A table with something of everything, to save models of, and model files that are damaged."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import tanbark
from tanbark.files import ModelFileError


def table(rows=80, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "größe, cm": rng.normal(size=rows),
            'a "quoted" name': np.array(["ja", "nein", "日本"], object)[rng.integers(0, 3, rows)],
            "count": rng.integers(0, 4, rows),
            "flag": rng.random(rows) < 0.5,
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    return frame, rng.integers(0, 3, rows)


def many_levels(rows=400, columns=8, levels=180, classes=3, seed=0):
    """Return columns of text with many levels, nearly all pairs of which occur in at most one row."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, levels, (rows, columns))
    frame = pd.DataFrame(codes, columns=[f"code {u}" for u in range(columns)]).map("level{:05d}".format)
    return frame, np.array([f"class {k}" for k in range(classes)], object)[rng.integers(0, classes, rows)]


def assert_damaged_if_changed(model, name, change, path, monkeypatch):
    """Check that a file is reported as damaged if one array of the model is changed before it is saved."""
    stored = model.model_.to_arrays()
    changed = stored.arrays | {name: np.ascontiguousarray(change(stored.arrays[name]))}
    monkeypatch.setattr(type(model.model_), "to_arrays", lambda self: replace(stored, arrays=changed))
    tanbark.save(model, path)
    with pytest.raises(ModelFileError, match="is damaged"):
        tanbark.load(path)
