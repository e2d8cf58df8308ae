"""Models that were loaded or unpickled need no recompilation of kernels."""

import importlib
import pickle
import pkgutil

import numpy as np
import pytest
from numba import config

import tanbark
from tanbark import kernels
from tanbark.classifiers import REGISTRY
from tanbark.immutable import read_only


def signature_counts():
    """Return the number of signatures for which each kernel has been compiled in this process."""
    modules = [importlib.import_module(m.name) for m in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}.")]
    members = {f"{m.__name__}.{name}": member for m in modules for name, member in vars(m).items()}
    return {name: len(member.signatures) for name, member in members.items() if getattr(member, "signatures", ())}


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("classifier", [entry.classifier for entry in REGISTRY.values()])
def test_loaded_and_unpickled_models_need_no_compilation(classifier, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)).astype(object), rng.integers(0, 3, 60)
    X[rng.random(X.shape) < 0.1] = None
    model = classifier().fit(X, y)
    expected = model.predict_proba(X), model.predict_log_proba(X)
    assert signature_counts()
    before = signature_counts()
    tanbark.save(model, tmp_path / "model.tanbark")
    for other in (tanbark.load(tmp_path / "model.tanbark"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal((other.predict_proba(X), other.predict_log_proba(X)), expected)
    assert signature_counts() == before


@pytest.mark.parametrize("array", [np.arange(6).reshape(2, 3), np.arange(6).reshape(3, 2).T, np.arange(12)[::2]])
def test_frozen_arrays_are_equal_contiguous_and_read_only(array):
    fixed = read_only(array)
    np.testing.assert_array_equal(fixed, array)
    assert fixed.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        fixed[0] = 1
    array[0] = 1


def test_the_arrays_of_members_and_counts_are_read_only(random_table):
    schema, codes, y = random_table(0, 100, (2, 3, 2), 2)
    counts = tanbark.Counts.of(schema, codes, y)
    members = tanbark.AdditiveBN(encoder=schema).fit(schema.decode(codes), np.array(schema.classes)[y]).model_.members
    for array in (members.pairs, members.own, counts.values, counts.has_missing()):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
