"""Folds that keep the rows of a group together."""

import datetime
from collections import defaultdict
from itertools import chain

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.tree import DecisionTreeClassifier

from tanbark import KDB, TAN, EvidenceBN, NaiveBayes
from tanbark.evaluate import compare, cross_validate, learning_curve, select_model
from tanbark.evaluate.grouped_folds import stratified_group_folds

ROWS = 60


@pytest.fixture
def patients():
    """The groups of sixty rows: 20 patients with one to six rows each."""
    return np.repeat(np.arange(20), [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 1, 1, 1])


def folds_of(found):
    """Return the rows of each fold of the first repetition."""
    return [fold.rows.tolist() for fold in found.folds[: len(found.folds) // found.repeats]]


# The folds


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(-5, 9)), min_size=6, max_size=80),
    st.integers(2, 6),
    st.integers(0, 99),
)
@settings(max_examples=100, deadline=None)
def test_every_group_is_in_one_fold_and_no_fold_is_empty(rows, folds, seed):
    classes, groups = map(np.array, zip(*rows, strict=True))
    folds = min(folds, len(set(groups.tolist())))
    fold = stratified_group_folds(classes, groups, folds, seed)
    of_group = defaultdict(set)
    for g, k in zip(groups.tolist(), fold.tolist(), strict=True):
        of_group[g].add(k)
    assert all(len(found) == 1 for found in of_group.values())
    assert set(fold.tolist()) == set(range(folds))
    assert np.array_equal(fold, stratified_group_folds(classes, groups, folds, seed))


def plainly(classes, groups, folds, factors):
    """Return the folds of the greedy algorithm, from the sum of squares itself."""
    distinct = sorted(set(groups))
    totals = {c: classes.count(c) for c in set(classes)}

    def cost(fold_of):
        total = 0.0
        for k in range(folds):
            rows = [c for c, g in zip(classes, groups, strict=True) if fold_of.get(g) == k]
            total += (len(rows) / len(classes)) ** 2
            total += sum((rows.count(c) / totals[c]) ** 2 for c in totals)
        return total

    sizes = {g: cost({g: 0}) * factor for g, factor in zip(distinct, factors, strict=True)}
    fold_of = {}
    for g in sorted(distinct, key=lambda g: -sizes[g]):
        fold_of[g] = min(range(folds), key=lambda k: round(cost(fold_of | {g: k}), 12))
    return [fold_of[g] for g in groups]


@pytest.mark.parametrize("seed", range(10))
def test_each_group_goes_to_the_fold_where_the_sum_of_squares_grows_least(seed):
    rng = np.random.default_rng(seed)
    classes, groups = rng.integers(0, 3, 40), rng.integers(0, 9, 40)
    factors = np.random.default_rng(seed).uniform(0.5, 1.0, len(np.unique(groups)))
    expected = plainly(classes.tolist(), groups.tolist(), 3, factors)
    assert stratified_group_folds(classes, groups, 3, seed).tolist() == expected


def spread(fold, classes, folds):
    """Return the standard deviation over folds of the share of each class, and of all rows, that a fold has."""
    counts = np.array([np.bincount(classes[fold == k], minlength=classes.max() + 1) for k in range(folds)])
    counts = np.column_stack([counts, counts.sum(axis=1)])
    return (counts / counts.sum(axis=0)).std(axis=0)


def tables():
    rng = np.random.default_rng(0)
    per_patient = rng.integers(0, 100, 2000)
    return {
        "many small groups": (rng.integers(0, 3, 2000), rng.integers(0, 400, 2000)),
        "groups of all sizes": (rng.choice(3, 2000, p=[0.8, 0.15, 0.05]), (5 * rng.pareto(1.5, 2000)).astype(int) % 60),
        "groups of one class each": (per_patient % 3, per_patient),
        "few groups": (rng.integers(0, 2, 300), rng.integers(0, 12, 300)),
        "a rare class": ((rng.random(5000) < 0.01).astype(int), rng.integers(0, 300, 5000)),
    }


@pytest.mark.parametrize("name", tables())
def test_folds_are_about_as_stratified_as_those_of_scikit_learn(name):
    classes, groups = tables()[name]
    ours, theirs = [], []
    for seed in range(5):
        ours.append(spread(stratified_group_folds(classes, groups, 5, seed), classes, 5).mean())
        splits = StratifiedGroupKFold(5, shuffle=True, random_state=seed).split(classes, classes, groups)
        fold = np.empty_like(classes)
        for k, (_, held_out) in enumerate(splits):
            fold[held_out] = k
        theirs.append(spread(fold, classes, 5).mean())
    assert np.mean(ours) < 1.25 * np.mean(theirs) + 1e-3


# Cross-validation


@pytest.mark.parametrize(
    ("model", "noise", "shared"),
    [(TAN(), 0.0, 4), (KDB(), 0.0, 4), (TAN(), 0.5, 0), (DecisionTreeClassifier(random_state=0), 0.0, 0)],
    ids=["counts", "rows with shared counts", "rows", "scikit-learn"],
)
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_groups_stay_together_and_every_fold_is_what_refitting_gives(
    model, noise, shared, share, check, sampled_codes, patients
):
    codes, y = sampled_codes()
    X = codes + noise * np.random.default_rng(3).random(codes.shape)
    shuffled = np.random.default_rng(4).permutation(patients)
    if share == 1.0:
        found = check(model, X, y, shared, folds=4, groups=shuffled)
    else:
        found = cross_validate(model, X, y, folds=4, groups=shuffled, share=share)
    rows = folds_of(found)
    assert sorted(chain(*rows)) == list(range(ROWS))
    for held_out in rows:
        outside = np.setdiff1d(np.arange(ROWS), held_out)
        assert not set(shuffled[held_out]) & set(shuffled[outside])


def test_random_state_and_repetitions_give_other_folds(declared_frame, patients):
    X, y = declared_frame()
    one, same, other = (
        folds_of(cross_validate(NaiveBayes(), X, y, folds=3, random_state=seed, groups=patients)) for seed in (1, 1, 2)
    )
    assert one == same != other
    found = cross_validate(NaiveBayes(), X, y, folds=3, repeats=2, groups=patients)
    assert folds_of(found) != [fold.rows.tolist() for fold in found.folds[3:]]


@pytest.mark.parametrize(
    "make",
    [
        lambda groups: groups.tolist(),
        lambda groups: [f"patient {g}" for g in groups],
        lambda groups: groups + 0.5,
        lambda groups: pd.Series(groups, index=range(100, 160)),
        lambda groups: pd.Series(pd.Categorical(groups)),
        lambda groups: pd.Series(pd.to_datetime("2024-01-01") + pd.to_timedelta(groups, "D")),
        lambda groups: [datetime.date(2024, 1, 1 + int(g)) for g in groups],
        lambda groups: pl.Series(groups.tolist()),
        lambda groups: pl.Series([str(100 + g) for g in groups], dtype=pl.Enum([str(g) for g in range(90, 130)])),
        lambda groups: pa.array(groups),
        lambda groups: pa.chunked_array([groups[:7], groups[7:]]),
    ],
)
def test_groups_of_every_kind_give_the_same_folds(make, declared_frame, patients):
    X, y = declared_frame()
    plain, found = (cross_validate(NaiveBayes(), X, y, folds=3, groups=g) for g in (patients, make(patients)))
    if isinstance(make(patients), list) and isinstance(make(patients)[0], str):
        # The order of the text is another one, which the random factors follow.
        assert all(
            len({k for k, rows in enumerate(folds_of(found)) if set(rows) & set(np.flatnonzero(patients == g))}) == 1
            for g in range(20)
        )
    else:
        assert folds_of(found) == folds_of(plain)


def test_rows_without_a_class_are_dropped_with_their_groups(declared_frame, patients):
    X, y = declared_frame()
    y[[0, 4, 30]] = None
    groups = patients.astype(float)
    groups[[0, 30]] = np.nan
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        found = cross_validate(TAN(), X, y, folds=3, groups=groups)
    rows = folds_of(found)
    known = np.setdiff1d(np.arange(ROWS), [0, 4, 30])
    assert sorted(chain(*rows)) == known.tolist()
    alone = cross_validate(TAN(), X.iloc[known], y[known], folds=3, groups=patients[known])
    assert rows == [known[fold].tolist() for fold in folds_of(alone)]


def test_comparisons_and_learning_curves_keep_groups_together(declared_frame, patients):
    X, y = declared_frame()
    models = {"naive-bayes": NaiveBayes(), "tan": TAN()}
    expected = folds_of(cross_validate(TAN(), X, y, folds=3, groups=patients))
    for comparison in (
        compare(models, X, y, folds=3, groups=patients),
        *learning_curve(models, X, y, shares=(0.5, 1.0), folds=3, groups=patients).values(),
        select_model(X, y, models=models, folds=3, groups=patients).comparison,
    ):
        for found in comparison.values():
            assert folds_of(found) == expected


def test_rows_that_are_copied_do_not_help_if_the_copies_are_one_group():
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.normal(size=(40, 3)), 5, axis=0), np.repeat(rng.integers(0, 2, 40), 5)
    tree = DecisionTreeClassifier(random_state=0)
    assert cross_validate(tree, X, y, folds=5).mean("error") == 0.0
    # The class is independent of the columns.
    assert cross_validate(tree, X, y, folds=5, groups=np.repeat(np.arange(40), 5)).mean("error") > 0.3


def test_a_classifier_with_folds_of_its_own_can_be_evaluated_by_group(declared_frame, patients):
    X, y = declared_frame()
    found = cross_validate(EvidenceBN(), X, y, folds=2, groups=patients)
    assert np.isfinite(found.mean("log_loss"))


# Bad input


@pytest.mark.parametrize(
    ("groups", "kind", "message"),
    [
        (np.arange(59), ValueError, "^X has 60 rows, but groups has 59$"),
        ([], ValueError, "^X has 60 rows, but groups has 0$"),
        (np.arange(60) % 4, ValueError, "^5 folds need at least as many groups, got 4; use fewer folds$"),
        (np.ones(60), ValueError, "^5 folds need at least as many groups, got 1; use fewer folds$"),
        (
            np.where(np.arange(60) % 30, np.arange(60.0), np.nan),
            ValueError,
            "^groups has missing values in 2 rows; every",
        ),
        (
            [None, *map(str, range(59))],
            ValueError,
            "^groups has missing values in 1 row; every row with a class needs a group$",
        ),
        (
            np.zeros((60, 2)),
            ValueError,
            r"^groups must be one value per row, of shape \(60,\), got the shape \(60, 2\)",
        ),
        (pd.DataFrame({"a": range(60)}), ValueError, r"^groups must be one value per row, .* got the shape \(60, 1\)"),
        (3, ValueError, r"^groups must be one value per row, of shape \(60,\), got the shape \(\)$"),
        ("patient", TypeError, r"^groups must be one value per row, such as X\['patient'\], got the text 'patient'$"),
        ([*range(59), "x"], ValueError, "'groups' mixes numbers with strings"),
    ],
)
def test_groups_that_cannot_be_used_are_refused_in_a_sentence(groups, kind, message, sampled_codes):
    with pytest.raises(kind, match=message):
        cross_validate(TAN(), *sampled_codes(), folds=5, groups=groups)


def test_a_class_in_fewer_groups_than_folds_gives_a_warning(sampled_codes, patients):
    codes, y = sampled_codes()
    y = np.where(patients == 5, 7, np.arange(ROWS) % 2)
    with pytest.warns(UserWarning, match=r"^the class 7 is in 1 group, fewer than the 3 folds: some folds have"):
        found = cross_validate(NaiveBayes(), codes, y, folds=3, groups=patients)
    assert sorted(chain(*folds_of(found))) == list(range(ROWS))
