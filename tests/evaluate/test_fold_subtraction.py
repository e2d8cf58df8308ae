"""Fitting to the counts of all rows minus those of a fold equals fitting to the other rows, bit for bit."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BayesNet, BoostedBN, NaiveBayes, SuperParent
from tanbark.classifiers.registry import REGISTRY
from tanbark.evaluate import METRICS, cross_validate
from tanbark.evaluate.folds import Split, stratified_folds, stratified_share
from tanbark.schema import Category, Encoder, Number, Schema

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

WORDS = np.array(["low", "mid", "high", "top"], object)

MODELS = {
    **{name: entry.classifier() for name, entry in REGISTRY.items()},
    "boosted-bn": BoostedBN(n_estimators=4),
    "boosted naive Bayes": BoostedBN(base="naive-bayes", n_estimators=4),
    "naive Bayes by Laplace": NaiveBayes(parameters="laplace"),
    "naive Bayes with a prior": NaiveBayes(class_prior=[0.2, 0.3, 0.5]),
    "TAN by ACLL": TAN(criterion="acll"),
    "TAN by BDeu": TAN(criterion="bdeu", parameters="m"),
    "TAN by maximum likelihood": TAN(parameters="ml"),
    "TAN by ACO": TAN(restructure="aco"),
    "SSTBMATAN": AveragedTAN(stubbornness=5),
    "multinet": AveragedTAN(multinet=True),
    "KDB, k = 1": KDB(k=1),
    "KDB, k = 3": KDB(k=3),
    "one super-parent": SuperParent(parent=1),
    "AODE of frequent parents": AODE(min_frequency=5),
    "additive in probabilities": AdditiveBN(link="linear"),
    "greedy": BayesNet(search="greedy", criterion="bic"),
}
SOME_MODELS = ("naive-bayes", "TAN by ACLL", "averaged-tan", "KDB, k = 3")


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("missing", ["marginalize", "state"])
def test_every_classifier_predicts_the_same_from_subtracted_counts_as_from_rows(name, missing, check, declared_frame):
    X, y = declared_frame()
    encoder = None if missing == "marginalize" else Encoder(missing=missing)
    check(clone(MODELS[name]).set_params(encoder=encoder), X, y, shared=3, folds=3)


@pytest.mark.filterwarnings("ignore:column 'code'")
def test_a_column_that_is_text_only_in_the_whole_table_is_read_anew_in_each_fold(check):
    rng = np.random.default_rng(0)
    code = np.where(np.arange(150) % 9 == 8, "n.k.", rng.choice(["1", "2", "3"], 150)).astype(object)
    code[:13] = ["n.k."] * 2 + ["1"] * 11
    X = pd.DataFrame({"code": code, "colour": rng.choice(["red", "blue"], 150)})
    y = np.where(rng.random(150) < 0.7, X.colour, "red")
    check(NaiveBayes(encoder=Encoder(coerce=True)), X, y, shared=0, folds=5)


@pytest.mark.parametrize("name", SOME_MODELS)
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
def test_all_kinds_of_tables_share_counts_if_every_level_is_in_every_training_part(name, make, check, sampled_codes):
    codes, y = sampled_codes()
    check(MODELS[name], make(codes), y, shared=4, folds=4)


@pytest.mark.parametrize("name", SOME_MODELS)
@pytest.mark.parametrize("make", [pd.DataFrame, lambda v: pl.DataFrame(v.tolist(), orient="row"), np.array])
def test_a_fold_with_the_only_rows_of_an_undeclared_level_is_fitted_to_rows(name, make, check, sampled_codes):
    codes, y = sampled_codes()
    values = WORDS[codes]
    values[7, 2] = "top"
    check(MODELS[name], make(values), y, shared=3, folds=4)


@pytest.mark.parametrize("name", SOME_MODELS)
def test_a_fold_with_the_only_missing_values_is_fitted_to_rows_if_missing_is_a_state(name, check, sampled_codes):
    codes, y = sampled_codes()
    X = codes.astype(float)
    X[5, 1] = np.nan
    check(clone(MODELS[name]).set_params(encoder=Encoder(missing="state")), X, y, shared=3, folds=4)
    check(MODELS[name], X, y, shared=4, folds=4)


@pytest.mark.parametrize("name", SOME_MODELS)
@pytest.mark.filterwarnings("ignore:the class 'rare' has")
def test_a_fold_with_the_only_rows_of_a_class_is_fitted_to_rows(name, check, declared_frame):
    X, y = declared_frame()
    y[7] = "rare"
    found = check(MODELS[name], X, y, shared=3, folds=4)
    [held] = [fold for fold in found.folds if 7 in fold.rows]
    assert np.isneginf(held.log_probabilities[:, found.classes.tolist().index("rare")]).all()
    assert np.isfinite([found.mean(metric) for metric in METRICS]).all()


@pytest.mark.parametrize("name", SOME_MODELS)
def test_cut_points_are_learned_in_every_training_part(name, check, sampled_codes):
    codes, y = sampled_codes()
    X = codes + np.random.default_rng(3).random(codes.shape)
    X[::7, 0] = np.nan
    check(MODELS[name], X, y, shared=0, folds=3)
    frame = pd.DataFrame(WORDS[codes], columns=list("abcde")).assign(size=X[:, 1])
    check(MODELS[name], frame, y, shared=0, folds=3)


def test_rare_levels_are_determined_in_every_training_part(check, sampled_codes):
    codes, y = sampled_codes(levels=4)
    with pytest.warns(UserWarning, match="are merged into one"):
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


@pytest.mark.parametrize("name", [*SOME_MODELS, "bayes-net", "one super-parent"])
def test_a_given_schema_is_shared_by_all_folds_whatever_rows_they_have(name, check, sampled_codes):
    codes, y = sampled_codes()
    X = pd.DataFrame(WORDS[codes], columns=list("abcde")).assign(d=codes[:, 3] + 0.25, e=1.0)
    X.loc[::5, ["a", "b"]] = None
    X.loc[3:10, "d"] = np.nan
    labels = np.array(["no", "perhaps", "yes"], object)[y]
    found = check(clone(MODELS[name]).set_params(encoder=SCHEMA), X, labels, shared=4, folds=4)
    assert found.classes.tolist() == ["no", "perhaps", "yes", "unheard of"]
    for fold in found.folds:
        assert np.exp(fold.log_probabilities).sum(axis=1) == pytest.approx(1.0)


def test_a_given_schema_serves_a_class_that_only_one_fold_has(check, declared_frame):
    X, y = declared_frame(missing=0.0)
    schema = Encoder().fit(X, y).schema_
    y[3:] = np.where(y[3:] == "perhaps", "no", y[3:])
    y[:3] = ["no", "perhaps", "yes"]
    with pytest.warns(UserWarning, match="the class 'perhaps' has 1 row, fewer than the 4 folds"):
        check(TAN(encoder=schema), X, y, shared=4, folds=4)


def test_a_given_schema_that_does_not_match_the_table_is_refused(sampled_codes, declared_frame):
    X, y = declared_frame()
    with pytest.raises(ValueError, match="a0"):
        cross_validate(TAN(encoder=SCHEMA), X, y)
    frame = pd.DataFrame(WORDS[sampled_codes()[0]], columns=list("abcde"))
    with pytest.raises(ValueError, match="; the known classes are"):
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
def test_random_tables_give_the_same_from_counts_as_from_rows(sampled):
    seed, rows, columns, levels, classes, missing_share, declared, folds, missing, name, share = sampled
    rng = np.random.default_rng(seed)
    values = WORDS[rng.integers(0, levels, (rows, columns))]
    values[rng.random(values.shape) < missing_share] = None
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
