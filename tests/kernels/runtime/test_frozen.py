"""Users wait while kernels are compiled: what was loaded or came from another process shall not need it again."""

import importlib
import pickle
import pkgutil

import numpy as np
import pytest
from numba import config

import tanbark
from tanbark import kernels
from tanbark.classifiers import REGISTRY
from tanbark.kernels.runtime.compiling import frozen


def compiled():
    """Return how many types of arguments each kernel was compiled for in this process."""
    modules = [importlib.import_module(f"{kernels.__name__}.{m.name}") for m in pkgutil.iter_modules(kernels.__path__)]
    things = {f"{m.__name__}.{name}": thing for m in modules for name, thing in vars(m).items()}
    return {name: len(thing.signatures) for name, thing in things.items() if getattr(thing, "signatures", ())}


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("classifier", [entry.classifier for entry in REGISTRY.values()])
def test_a_model_that_comes_from_elsewhere_needs_no_compiling(classifier, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(object), rng.integers(0, 3, 60)
    X[rng.random(X.shape) < 0.1] = None
    model = classifier().fit(X, y)
    expected = model.predict_proba(X), model.predict_log_proba(X)
    assert compiled()
    before = compiled()
    tanbark.save(model, tmp_path / "model.tanbark")
    for other in (tanbark.load(tmp_path / "model.tanbark"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal((other.predict_proba(X), other.predict_log_proba(X)), expected)
    assert compiled() == before


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2).T, np.arange(12)[::2]])
def test_frozen_arrays_say_the_same_and_cannot_be_written_to(array):
    fixed = frozen(array)
    np.testing.assert_array_equal(fixed, array)
    assert fixed.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 1
    array[0] = 1
