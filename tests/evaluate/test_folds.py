"""Training and test rows of each fold."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from tanbark import KDB, TAN, BoostedBN, NaiveBayes
from tanbark.evaluate import cross_validate
from tanbark.evaluate.folds import Split, stratified_folds, stratified_share

ROWS = 60


@given(st.lists(st.integers(0, 4), min_size=6, max_size=60), st.integers(2, 6), st.integers(0, 99))
@settings(max_examples=50)
def test_folds_partition_the_rows_and_spread_every_class_evenly(classes, folds, seed):
    classes = np.array(classes)
    fold = stratified_folds(classes, folds, seed)
    split = Split.of(fold)
    assert sorted(np.concatenate([split.inside(k) for k in range(len(split))])) == list(range(len(classes)))
    sizes = np.bincount(fold, minlength=folds)
    assert np.ptp(sizes) <= 1
    for c in np.unique(classes):
        assert np.ptp(np.bincount(fold[classes == c], minlength=folds)) <= 1
    for k in range(len(split)):
        assert sorted([*split.inside(k), *split.outside(k)]) == list(range(len(classes)))
        assert (np.diff(split.inside(k)) > 0).all()
        assert (np.diff(split.outside(k)) > 0).all()


@given(st.lists(st.integers(0, 3), min_size=4, max_size=80), st.integers(1, 99), st.integers(1, 99), st.integers(0, 9))
@settings(max_examples=50)
def test_a_share_is_stratified_rounded_up_and_a_subset_of_every_larger_share(classes, a, b, seed):
    classes = np.array(classes)
    rows = np.arange(0, len(classes), 2)
    small, large = (stratified_share(classes, rows, percent / 100, seed) for percent in sorted((a, b)))
    assert set(small) <= set(large) <= set(rows)
    assert (np.diff(small) > 0).all()
    for c in np.unique(classes[rows]):
        n_rows = int((classes[rows] == c).sum())
        # In integer arithmetic: ceil(n_rows * percent / 100).
        assert (classes[small] == c).sum() == -(-n_rows * min(a, b) // 100)


def test_each_repetition_has_other_folds_that_partition_the_rows(check, declared_frame):
    X, y = declared_frame()
    found = check(TAN(), X, y, shared=9, folds=3, repeats=3)
    assert found.repeats == 3
    assert len(found.folds) == 9
    first, second = (np.sort(found.folds[k].rows).tolist() for k in (0, 3))
    assert first != second
    for at in (0, 3, 6):
        assert sorted(np.concatenate([f.rows for f in found.folds[at : at + 3]])) == list(range(ROWS))
    once = cross_validate(TAN(), X, y, folds=3)
    for a, b in zip(once.folds, found.folds, strict=False):
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.log_probabilities, b.log_probabilities)


def test_random_state_determines_the_folds(declared_frame):
    X, y = declared_frame()
    one, same, other = (
        [f.rows.tolist() for f in cross_validate(NaiveBayes(), X, y, folds=3, random_state=s).folds] for s in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(
    "model", [TAN(), KDB(k=3), BoostedBN(base="naive-bayes", n_estimators=4)], ids=lambda model: type(model).__name__
)
def test_a_share_reduces_the_training_rows_but_not_the_test_rows(model, declared_frame):
    X, y = declared_frame()
    whole, part = (cross_validate(model, X, y, folds=3, share=share) for share in (1.0, 0.5))
    assert part.shared == whole.shared == 3
    codes = np.unique(y, return_inverse=True)[1]
    split = Split.of(stratified_folds(codes, 3, 0))
    for k, (a, b) in enumerate(zip(whole.folds, part.folds, strict=True)):
        assert np.array_equal(a.rows, b.rows)
        half = stratified_share(codes, split.outside(k), 0.5, 0)
        fitted = clone(model).fit(X.iloc[half], y[half])
        assert np.array_equal(b.log_probabilities, fitted.predict_log_proba(X.iloc[b.rows]))
        assert (a.learned_from, b.learned_from) == (len(split.outside(k)), len(half))
    assert whole.test_to_train == pytest.approx(1 / 2)
    assert part.test_to_train == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("missing", [None, np.nan])
def test_rows_without_a_class_are_in_no_fold(missing, check, sampled_codes, declared_frame):
    X, y = declared_frame()
    y[[0, 4, 30]] = missing
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        found = check(TAN(), X, y, shared=3, folds=3)
    assert sorted(np.concatenate([f.rows for f in found.folds])) == sorted(set(range(ROWS)) - {0, 4, 30})
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        numbers = check(DecisionTreeClassifier(random_state=0), sampled_codes()[0], y, folds=3)
    assert [f.rows.tolist() for f in numbers.folds] == [f.rows.tolist() for f in found.folds]


@pytest.mark.parametrize(
    ("model", "noise", "shared"), [(TAN(), 0.0, (3, 3)), (TAN(), 0.5, (0, 0)), (KDB(), 0.0, (3, 0))]
)
def test_parallel_processes_give_identical_results(model, noise, shared, sampled_codes):
    codes, y = sampled_codes()
    X = codes + noise * np.random.default_rng(3).random(codes.shape)
    one, two = (cross_validate(model, X, y, folds=3, n_jobs=jobs) for jobs in (None, 2))
    assert (one.shared, two.shared) == shared
    for a, b in zip(one.folds, two.folds, strict=True):
        assert np.array_equal(a.log_probabilities, b.log_probabilities)
