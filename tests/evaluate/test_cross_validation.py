"""Cross-validation: what learning each fold anew says, bit for bit, whether counts were shared or not."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import _safe_indexing

from tanbark import (
    AODE,
    KDB,
    TAN,
    AdditiveBN,
    AveragedTAN,
    BayesNet,
    BoostedBN,
    Category,
    Encoder,
    NaiveBayes,
    Number,
    Schema,
    SuperParent,
)
from tanbark.classifiers.registry import REGISTRY
from tanbark.datasets import lenses
from tanbark.evaluate import METRICS, cross_validate
from tanbark.evaluate.folds import Split, stratified_folds, stratified_share

ROWS = 60
WORDS = np.array(["low", "mid", "high", "top"], object)


def plainly(model, X, y, found):
    """Return the log probabilities of each fold by learning anew from the rows that are not in it."""
    labels = np.asarray(y)
    known = np.sort(np.concatenate([fold.rows for fold in found.folds[: len(found.folds) // found.repeats]]))
    said = []
    for fold in found.folds:
        inside = np.setdiff1d(known, fold.rows)
        fitted = clone(model).fit(_safe_indexing(X, inside), labels[inside])
        out = np.full((len(fold.rows), len(found.classes)), -np.inf)
        with np.errstate(divide="ignore"):
            columns = fitted.predict_log_proba(_safe_indexing(X, fold.rows)).T
        for label, column in zip(fitted.classes_.tolist(), columns):
            out[:, found.classes.tolist().index(label)] = column
        said.append(out)
    return said


def check(model, X, y, shared=None, **settings):
    """Check that cross-validation says what learning anew says, and in how many folds counts were shared."""
    found = cross_validate(model, X, y, **settings)
    for fold, expected in zip(found.folds, plainly(model, X, y, found), strict=True):
        assert np.array_equal(fold.log_probabilities, expected)
        assert np.array_equal(found.classes[fold.truth].tolist(), np.asarray(y)[fold.rows].tolist())
    if shared is not None:
        assert found.shared == shared
    return found


def drawn_codes(seed=0, rows=ROWS, columns=5, levels=3, classes=3):
    """Return whole numbers that depend on each other and on a class, and the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    codes = np.empty((rows, columns), int)
    for u in range(columns):
        before = codes[:, u - 1] if u else y
        codes[:, u] = np.where(rng.random(rows) < 0.6, (before + y) % levels, rng.integers(0, levels, rows))
    codes[: levels * 4] = (np.arange(levels * 4) % levels)[:, None]
    return codes, y


def declared_frame(seed=0, holes=0.1, **settings):
    """Return a frame of categories with holes, of which one level is in one row only and one in none, and the class."""
    codes, y = drawn_codes(seed, **settings)
    values = WORDS[codes]
    values[7, 2] = "top"
    values[np.random.default_rng(seed + 1).random(values.shape) < holes] = None
    frame = pd.DataFrame({f"a{u}": pd.Categorical(values[:, u], [*WORDS, "never"]) for u in range(values.shape[1])})
    return frame, np.array(["no", "perhaps", "yes"], object)[y]


MODELS = {
    **{name: entry.classifier() for name, entry in REGISTRY.items()},
    "boosted-bn": BoostedBN(n_estimators=4),
    "boosted naive Bayes": BoostedBN(base="naive-bayes", n_estimators=4),
    "naive Bayes by Laplace": NaiveBayes(parameters="laplace"),
    "naive Bayes with a prior": NaiveBayes(class_prior=[0.2, 0.3, 0.5]),
    "TAN by ACLL": TAN(criterion="acll"),
    "TAN by BDeu": TAN(criterion="bdeu", parameters="m"),
    "TAN of frequencies": TAN(parameters="ml"),
    "TAN by ACO": TAN(restructure="aco"),
    "SSTBMATAN": AveragedTAN(stubbornness=5),
    "multinet": AveragedTAN(multinet=True),
    "KDB of one": KDB(k=1),
    "KDB of three": KDB(k=3),
    "one super-parent": SuperParent(parent=1),
    "AODE of frequent parents": AODE(min_frequency=5),
    "additive in probabilities": AdditiveBN(link="linear"),
    "greedy": BayesNet(search="greedy", criterion="bic"),
}
FEW = ("naive-bayes", "TAN by ACLL", "averaged-tan", "KDB of three")


# Fold subtraction


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_every_classifier_says_the_same_from_counts_less_a_fold_as_learned_anew(name, missing):
    X, y = declared_frame()
    encoder = None if missing == "marginalize" else Encoder(missing=missing)
    check(clone(MODELS[name]).set_params(encoder=encoder), X, y, shared=3, folds=3)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize(
    "make",
    [
        lambda codes: codes,
        lambda codes: codes.astype(np.uint8),
        lambda codes: codes.astype(float),
        lambda codes: codes > 0,
        lambda codes: WORDS[codes],
        lambda codes: WORDS[codes].astype(str),
        lambda codes: codes.tolist(),
        lambda codes: WORDS[codes].tolist(),
        lambda codes: pd.DataFrame(WORDS[codes], columns=list("abcde")),
        lambda codes: pl.DataFrame(WORDS[codes].tolist(), schema=list("abcde"), orient="row"),
        lambda codes: pl.DataFrame(
            WORDS[codes].tolist(), schema={c: pl.Enum([*WORDS, "never"]) for c in "abcde"}, orient="row"
        ),
        lambda codes: pa.table(
            {
                c: pa.DictionaryArray.from_arrays(codes[:, u].astype(np.int8), [*WORDS, "never"], ordered=True)
                for u, c in enumerate("abcde")
            }
        ),
    ],
    ids=["int", "byte", "float", "bool", "object", "text", "lists", "words", "pandas", "polars", "enum", "arrow"],
)
def test_tables_of_all_kinds_share_counts_where_every_level_is_in_every_training_part(name, make):
    codes, y = drawn_codes()
    check(MODELS[name], make(codes), y, shared=4, folds=4)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("make", [pd.DataFrame, lambda v: pl.DataFrame(v.tolist(), orient="row"), np.array])
def test_a_level_that_only_one_fold_has_makes_that_fold_be_learned_anew_unless_it_is_declared(name, make):
    codes, y = drawn_codes()
    values = WORDS[codes]
    values[7, 2] = "top"
    check(MODELS[name], make(values), y, shared=3, folds=4)


@pytest.mark.parametrize("name", FEW)
def test_a_hole_that_only_one_fold_has_makes_that_fold_be_learned_anew_where_it_is_a_state(name):
    codes, y = drawn_codes()
    X = codes.astype(float)
    X[5, 1] = np.nan
    check(clone(MODELS[name]).set_params(encoder=Encoder(missing="state")), X, y, shared=3, folds=4)
    check(MODELS[name], X, y, shared=4, folds=4)


@pytest.mark.parametrize("name", FEW)
@pytest.mark.filterwarnings("ignore:the class 'rare' has")
def test_a_class_that_only_one_fold_has_makes_that_fold_be_learned_anew(name):
    X, y = declared_frame()
    y[7] = "rare"
    found = check(MODELS[name], X, y, shared=3, folds=4)
    [held] = [fold for fold in found.folds if 7 in fold.rows]
    assert np.isneginf(held.log_probabilities[:, found.classes.tolist().index("rare")]).all()
    assert np.isfinite([found.mean(metric) for metric in METRICS]).all()


@pytest.mark.parametrize("name", FEW)
def test_numbers_are_cut_anew_in_every_training_part(name):
    codes, y = drawn_codes()
    X = codes + np.random.default_rng(3).random(codes.shape)
    X[::7, 0] = np.nan
    check(MODELS[name], X, y, shared=0, folds=3)
    frame = pd.DataFrame(WORDS[codes], columns=list("abcde")).assign(size=X[:, 1])
    check(MODELS[name], frame, y, shared=0, folds=3)


def test_labels_too_many_to_keep_are_chosen_anew_in_every_training_part():
    codes, y = drawn_codes(levels=4)
    with pytest.warns(UserWarning, match="share one"):
        check(TAN(encoder=Encoder(max_levels=3)), WORDS[codes], y, shared=0, folds=3)


SCHEMA = Schema(
    [
        Category("a", ("never", *WORDS)),
        Category("b", tuple(WORDS), missing=True),
        Category("c", ("low", "mid"), other=True),
        Number("d", (0.5, 1.5)),
        Number("e", ()),
    ],
    classes=("yes", "unheard of", "no", "perhaps"),
)


@pytest.mark.parametrize("name", [*FEW, "bayes-net", "one super-parent"])
def test_a_given_schema_is_shared_by_all_folds_whatever_rows_they_have(name):
    codes, y = drawn_codes()
    X = pd.DataFrame(WORDS[codes], columns=list("abcde")).assign(d=codes[:, 3] + 0.25, e=1.0)
    X.loc[::5, ["a", "b"]] = None
    X.loc[3:10, "d"] = np.nan
    labels = np.array(["no", "perhaps", "yes"], object)[y]
    found = check(clone(MODELS[name]).set_params(encoder=SCHEMA), X, labels, shared=4, folds=4)
    assert found.classes.tolist() == ["no", "perhaps", "yes", "unheard of"]
    for fold in found.folds:
        assert np.exp(fold.log_probabilities).sum(axis=1) == pytest.approx(1.0)


def test_a_given_schema_serves_a_class_that_only_one_fold_has():
    X, y = declared_frame(holes=0.0)
    schema = Encoder().fit(X, y).schema_
    y[3:] = np.where(y[3:] == "perhaps", "no", y[3:])
    y[:3] = ["no", "perhaps", "yes"]
    with pytest.warns(UserWarning, match="the class 'perhaps' has 1 row, fewer than the 4 folds"):
        check(TAN(encoder=schema), X, y, shared=4, folds=4)


def test_a_given_schema_that_does_not_fit_says_so():
    X, y = declared_frame()
    with pytest.raises(ValueError, match="a0"):
        cross_validate(TAN(encoder=SCHEMA), X, y)
    frame = pd.DataFrame(WORDS[drawn_codes()[0]], columns=list("abcde"))
    with pytest.raises(ValueError, match="is not among the classes"):
        cross_validate(TAN(encoder=SCHEMA), frame.assign(d=1.0, e=1.0), np.where(y == "no", "strange", y), folds=3)


tables = st.tuples(
    st.integers(0, 2**32 - 1),
    st.integers(12, 40),
    st.integers(1, 4),
    st.integers(2, 4),
    st.integers(2, 3),
    st.sampled_from([0.0, 0.2]),
    st.booleans(),
    st.integers(2, 4),
    st.sampled_from(["marginalize", "state"]),
    st.sampled_from(["naive-bayes", "tan", "averaged-tan", "kdb", "aode"]),
    st.sampled_from([0.4, 1.0]),
)


@given(tables)
@settings(max_examples=40)
@pytest.mark.filterwarnings("ignore:the class")
def test_random_tables_say_the_same_from_counts_as_learned_anew(drawn):
    seed, rows, columns, levels, classes, holes, declared, folds, missing, name, share = drawn
    rng = np.random.default_rng(seed)
    values = WORDS[rng.integers(0, levels, (rows, columns))]
    values[rng.random(values.shape) < holes] = None
    y = np.r_[np.arange(classes), rng.integers(0, classes, rows - classes)]
    X = pd.DataFrame(values)
    if declared:
        X = X.apply(lambda column: pd.Categorical(column, WORDS))
    model = clone(MODELS[name]).set_params(encoder=Encoder(missing=missing))
    found = cross_validate(model, X, y, folds=folds, share=share, random_state=seed % 100)
    split = Split.of(stratified_folds(y, folds, seed % 100))
    for k, fold in enumerate(found.folds):
        learned_from = stratified_share(y, split.outside(k), share, seed % 100)
        fitted = clone(model).fit(X.iloc[learned_from], y[learned_from])
        expected = np.full((len(fold.rows), classes), -np.inf)
        expected[:, fitted.classes_] = fitted.predict_log_proba(X.iloc[fold.rows])
        assert np.array_equal(fold.log_probabilities, expected)


# Which rows


@given(st.lists(st.integers(0, 4), min_size=6, max_size=60), st.integers(2, 6), st.integers(0, 99))
@settings(max_examples=50)
def test_folds_hold_every_row_once_and_every_class_as_evenly_as_can_be(classes, folds, seed):
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
def test_a_share_is_of_each_class_alike_rounded_up_and_part_of_every_larger_share(classes, a, b, seed):
    classes = np.array(classes)
    rows = np.arange(0, len(classes), 2)
    small, large = (stratified_share(classes, rows, percent / 100, seed) for percent in sorted((a, b)))
    assert set(small) <= set(large) <= set(rows)
    assert (np.diff(small) > 0).all()
    for c in np.unique(classes[rows]):
        many = int((classes[rows] == c).sum())
        # Whole rows, by whole numbers: ceil(many * percent / 100).
        assert (classes[small] == c).sum() == -(-many * min(a, b) // 100)


def test_repetitions_split_anew_and_each_holds_every_row_once():
    X, y = declared_frame()
    found = check(TAN(), X, y, shared=9, folds=3, repeats=3)
    assert found.repeats == 3
    assert len(found.folds) == 9
    first, second = (np.sort(found.folds[k].rows).tolist() for k in (0, 3))
    assert first != second
    for at in (0, 3, 6):
        assert sorted(np.concatenate([f.rows for f in found.folds[at : at + 3]])) == list(range(ROWS))
    once = cross_validate(TAN(), X, y, folds=3)
    for a, b in zip(once.folds, found.folds):
        assert np.array_equal(a.rows, b.rows)
        assert np.array_equal(a.log_probabilities, b.log_probabilities)


def test_random_state_decides_the_folds():
    X, y = declared_frame()
    one, same, other = (
        [f.rows.tolist() for f in cross_validate(NaiveBayes(), X, y, folds=3, random_state=s).folds] for s in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize("name", ["tan", "KDB of three", "boosted naive Bayes"])
def test_a_share_of_the_training_rows_is_learned_from_and_all_of_the_fold_is_predicted(name):
    X, y = declared_frame()
    whole, part = (cross_validate(MODELS[name], X, y, folds=3, share=share) for share in (1.0, 0.5))
    assert part.shared == whole.shared == 3
    codes = np.unique(y, return_inverse=True)[1]
    split = Split.of(stratified_folds(codes, 3, 0))
    for k, (a, b) in enumerate(zip(whole.folds, part.folds)):
        assert np.array_equal(a.rows, b.rows)
        half = stratified_share(codes, split.outside(k), 0.5, 0)
        fitted = clone(MODELS[name]).fit(X.iloc[half], y[half])
        assert np.array_equal(b.log_probabilities, fitted.predict_log_proba(X.iloc[b.rows]))
        assert (a.learned_from, b.learned_from) == (len(split.outside(k)), len(half))
    assert whole.test_to_train == pytest.approx(1 / 2)
    assert part.test_to_train == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize("hole", [None, np.nan])
def test_rows_without_a_class_are_neither_learned_from_nor_predicted(hole):
    X, y = declared_frame()
    y[[0, 4, 30]] = hole
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        found = check(TAN(), X, y, shared=3, folds=3)
    assert sorted(np.concatenate([f.rows for f in found.folds])) == sorted(set(range(ROWS)) - {0, 4, 30})
    with pytest.warns(UserWarning, match="3 rows without a class are dropped"):
        numbers = check(DecisionTreeClassifier(random_state=0), drawn_codes()[0], y, folds=3)
    assert [f.rows.tolist() for f in numbers.folds] == [f.rows.tolist() for f in found.folds]


@pytest.mark.parametrize(
    ("model", "noise", "shared"), [(TAN(), 0.0, (3, 3)), (TAN(), 0.5, (0, 0)), (KDB(), 0.0, (3, 0))]
)
def test_two_at_once_say_the_same_to_the_last_bit(model, noise, shared):
    codes, y = drawn_codes()
    X = codes + noise * np.random.default_rng(3).random(codes.shape)
    one, two = (cross_validate(model, X, y, folds=3, n_jobs=jobs) for jobs in (None, 2))
    assert (one.shared, two.shared) == shared
    for a, b in zip(one.folds, two.folds):
        assert np.array_equal(a.log_probabilities, b.log_probabilities)


# Classes and classifiers of all kinds


@pytest.mark.parametrize(
    "labels",
    [
        np.array([10, -3, 7]),
        np.array([10, 3, 7], np.uint8),
        np.array([2.0, 1.0, 3.0]),
        np.array(["b", "a", "c"]),
        np.array(["b", "a", "c"], object),
        np.array([True, False, True]),
    ],
    ids=lambda labels: str(labels.dtype),
)
@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier(random_state=0)], ids=["TAN", "tree"])
def test_classes_of_all_kinds_keep_their_kind(labels, model):
    codes, y = drawn_codes()
    found = check(model, codes, labels[y], folds=3)
    assert found.classes.tolist() == sorted(set(labels.tolist()))
    assert found.classes.dtype.kind == labels.dtype.kind
    check(model, codes, labels[y].tolist(), folds=3)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda y: pd.Series(y, name="grade"),
        lambda y: pd.Series(pd.Categorical(y, ["never", "yes", "no", "perhaps"])),
        lambda y: pl.Series("grade", y.tolist()),
        lambda y: pa.array(y.tolist()),
    ],
    ids=["series", "categorical", "polars", "arrow"],
)
def test_classes_in_any_column_are_those_that_occur(wrap):
    X, y = declared_frame()
    plain, found = (cross_validate(TAN(), X, column, folds=3) for column in (y, wrap(y)))
    assert found.classes.tolist() == ["no", "perhaps", "yes"]
    for a, b in zip(plain.folds, found.folds):
        assert np.array_equal(a.log_probabilities, b.log_probabilities)


@pytest.mark.parametrize(
    "model",
    [
        DecisionTreeClassifier(random_state=0),
        make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()),
        make_pipeline(TAN()),
    ],
    ids=["tree", "pipeline", "TAN in a pipeline"],
)
def test_classifiers_of_scikit_learn_take_part(model):
    codes, y = drawn_codes()
    found = check(model, codes, y, shared=0, folds=3)
    assert (found.fit_seconds > 0).all()
    assert (found.predict_seconds > 0).all()


class Notes(ClassifierMixin, BaseEstimator):
    """Warns in every fold of one thing, and where the first row is learned from of another."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        warnings.warn("always so", DeprecationWarning, stacklevel=2)
        if X[0, 0] == 9:
            warnings.warn("now and then", UserWarning, stacklevel=2)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_a_warning_of_every_fold_is_passed_on_once():
    codes, y = drawn_codes()
    codes[0, 0] = 9
    with pytest.warns(DeprecationWarning, match="always so") as seen:
        cross_validate(Notes(), codes, y, folds=3)
    assert len(seen) == 1


class WithoutLogarithms(ClassifierMixin, BaseEstimator):
    """Says of every row how frequent the classes were, times a number."""

    def __init__(self, times=1.0):
        self.times = times

    def fit(self, X, y):
        self.classes_, counts = np.unique(y, return_counts=True)
        self.frequencies_ = counts / len(y)
        return self

    def predict_proba(self, X):
        return np.tile(np.float32(self.frequencies_ * self.times), (len(X), 1))


def test_a_classifier_with_probabilities_but_not_their_logarithms_takes_part():
    codes, y = drawn_codes()
    found = cross_validate(WithoutLogarithms(), codes, y, folds=3)
    for fold in found.folds:
        rest = np.delete(y, fold.rows)
        expected = [(rest == k).mean() for k in range(3)]
        assert np.exp(fold.log_probabilities) == pytest.approx(np.tile(expected, (len(fold.rows), 1)), rel=1e-6)
        assert fold.log_probabilities.dtype == np.float64


def test_a_classifier_whose_probabilities_are_not_numbers_is_refused_and_no_fold_left_out():
    with pytest.raises(ValueError, match="WithoutLogarithms gives probabilities that are not numbers"):
        cross_validate(WithoutLogarithms(times=np.nan), *drawn_codes(), folds=3)


def test_a_classifier_without_probabilities_says_what_to_do():
    with pytest.raises(TypeError, match="LinearSVC gives no probabilities; put it into a CalibratedClassifierCV"):
        cross_validate(LinearSVC(), *drawn_codes(), folds=3)


def test_the_model_that_is_given_stays_as_it_was():
    X, y = declared_frame()
    model = TAN()
    cross_validate(model, X, y, folds=3)
    assert not hasattr(model, "classes_")


# What is found


def test_scores_are_those_of_each_fold_and_their_mean_and_enlarged_standard_error():
    X, y = lenses()
    found = cross_validate(TAN(), X, y, folds=4)
    assert len(found.score("error")) == 4
    wrong = [
        (found.classes[fold.log_probabilities.argmax(axis=1)] != np.asarray(y)[fold.rows]).mean()
        for fold in found.folds
    ]
    assert found.score("error") == pytest.approx(wrong)
    assert found.mean("error") == pytest.approx(np.mean(wrong))
    assert found.standard_error("error") == pytest.approx(np.std(wrong, ddof=1) * np.sqrt(1 / 4 + 1 / 3))
    assert "error" in repr(found)


def test_what_was_said_of_all_folds_is_pooled():
    X, y = declared_frame()
    found = cross_validate(TAN(), X, y, folds=4, share=0.5)
    truth, said = found.pooled
    order = np.argsort(np.concatenate([fold.rows for fold in found.folds]))
    assert found.classes[truth[order]].tolist() == y.tolist()
    assert said.shape == (ROWS, 3)
    # Of three quarters of sixty rows half, and of each class rounded up.
    split = Split.of(stratified_folds(np.unique(y, return_inverse=True)[1], 4, 0))
    halves = [sum(-(-np.sum(y[split.outside(k)] == label) // 2) for label in found.classes) for k in range(4)]
    assert found.learned_from == pytest.approx(np.mean(halves))
    assert 22.5 <= found.learned_from <= 24


def test_folds_in_which_a_metric_is_not_defined_are_left_out():
    codes, y = drawn_codes(classes=2)
    y[:] = 0
    y[:4] = 1
    with pytest.warns(UserWarning, match="the class 1 has 4 rows, fewer than the 6 folds"):
        found = cross_validate(NaiveBayes(), codes, y, folds=6)
    known = found.score("auc")[~np.isnan(found.score("auc"))]
    assert len(known) == 4
    assert found.mean("auc") == pytest.approx(known.mean())
    assert found.standard_error("auc") == pytest.approx(known.std(ddof=1) * np.sqrt(1 / 4 + 1 / 5))


def test_a_metric_that_is_defined_in_no_fold_is_not_a_number():
    X, y = lenses()
    with pytest.warns(UserWarning, match="fewer than the 24 folds"):
        found = cross_validate(NaiveBayes(), X, y, folds=24)
    assert np.isnan(found.mean("auc"))
    assert np.isnan(found.standard_error("auc"))
    assert "auc nan" in repr(found)


def test_progress_is_told_fold_by_fold():
    X, y = declared_frame()
    told = []
    for table in (X, drawn_codes()[0] + 0.5 * np.random.default_rng(0).random((ROWS, 5))):
        cross_validate(TAN(), table, y, folds=3, repeats=2, progress=lambda *now: told.append(now))
    assert told == [(k, 6) for k in range(1, 7)] * 2


# Bad input


def test_a_class_of_fewer_rows_than_folds_is_warned_of_and_the_rest_goes_on():
    codes, y = drawn_codes()
    y[:] = np.arange(ROWS) % 2
    y[5] = 2
    with pytest.warns(UserWarning, match="the class 2 has 1 row, fewer than the 3 folds: in some folds none of it"):
        found = cross_validate(TAN(), codes, y, folds=3)
    assert sum(np.isin(5, fold.rows) for fold in found.folds) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"folds": 1}, "folds must be a whole number of at least 2, got 1"),
        ({"folds": 2.0}, "folds must be a whole number"),
        ({"folds": 61}, "60 rows are too few for 61 folds"),
        ({"repeats": 0}, "repeats must be a whole number of at least 1, got 0"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0, got -1"),
        ({"random_state": None}, "random_state must be a whole number of at least 0, got None"),
        ({"share": 0}, "share must be above 0 and at most 1, got 0"),
        ({"share": 1.5}, "share must be above 0 and at most 1, got 1.5"),
        ({"share": float("nan")}, "share must be above 0 and at most 1, got nan"),
        ({"share": "half"}, "share must be above 0 and at most 1, got 'half'"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0, or None, got 0"),
        ({"n_jobs": "all"}, "n_jobs must be a whole number other than 0, or None, got 'all'"),
    ],
)
@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier()], ids=["TAN", "tree"])
def test_settings_that_cannot_be_say_why_before_any_work(settings, words, model):
    codes, y = drawn_codes()
    with pytest.raises(ValueError, match=words):
        cross_validate(model, codes, y, **settings)


def test_tables_that_cannot_be_split_say_why():
    codes, y = drawn_codes()
    with pytest.raises(ValueError, match="every row is of the class 'a', so there is nothing to tell apart"):
        cross_validate(TAN(), codes, np.full(ROWS, "a"))
    with pytest.raises(ValueError, match="X has 60 rows, but y has 59"):
        cross_validate(TAN(), codes, y[1:])
    with pytest.raises(ValueError, match="every value of the class 'y' is missing"):
        cross_validate(TAN(), codes, np.full(ROWS, np.nan))
    with pytest.raises(ValueError, match="0 rows are too few for 10 folds"):
        cross_validate(TAN(), codes[:0], y[:0])


@pytest.mark.parametrize("model", [TAN(), DecisionTreeClassifier()], ids=["TAN", "tree"])
def test_a_target_among_the_columns_is_refused_whichever_the_classifier(model):
    codes, y = drawn_codes()
    X = pd.DataFrame(codes, columns=list("abcde")).assign(grade=y)
    with pytest.raises(ValueError, match="the target 'grade' is among the columns of X; drop it from X"):
        cross_validate(model, X, X["grade"])


def test_an_unknown_metric_lists_the_known():
    found = cross_validate(TAN(), *declared_frame(), folds=3)
    for ask in (found.score, found.mean, found.standard_error):
        with pytest.raises(ValueError, match="there is no metric 'accuracy'; there are error, log_loss, brier, auc"):
            ask("accuracy")


def test_a_setting_of_the_model_that_cannot_be_says_why():
    with pytest.raises(ValueError, match="ess must be a positive number"):
        cross_validate(TAN(ess=-1.0), *declared_frame(), folds=3)
    with pytest.raises(ValueError, match="which the table does not have"):
        cross_validate(TAN(encoder=Encoder(categorical=["zz"])), *declared_frame(), folds=3)
