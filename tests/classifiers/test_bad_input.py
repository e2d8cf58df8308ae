"""Bad input gets one clear sentence that names the column or parameter, before any work, with nothing changed."""

import copy
import datetime
import math
import re
import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from tanbark import TAN, Encoder, NaiveBayes, Schema
from tanbark.counts import Counts
from tanbark.schema import Category

X = pd.DataFrame(
    {"sex": ["f", "m", "f", "m", "f", "m"], "age": [20.5, 30.5, 40.5, 50.5, 60.5, 70.5], "n": [1, 2, 1, 1, 2, 2]}
)
Y = pd.Series(["no", "yes", "no", "yes", "yes", "no"], name="buys")
NUMBERS = np.array([[0, 1], [1, 1], [0, 0], [1, 0], [1, 1], [0, 1]])

pytestmark = pytest.mark.parametrize("kind", [TAN, NaiveBayes])


class Untouchable:
    """A table at which nobody may look."""

    def __getattr__(self, name):
        raise AssertionError(f"somebody looked at {name}")


def state(model):
    return dict(model.__dict__)


def same(before, after):
    return before.keys() == after.keys() and all(before[k] is after[k] for k in before)


def one_sentence(message):
    return bool(message) and "\n" not in message and not re.search(r"[.!] +[A-Z]", message) and len(message) < 250


def refused(model, call, kind, match, plain=True):
    """Check that a call is refused with one sentence and leaves the model as it was; return the sentence."""
    before = state(model)
    with pytest.raises(kind, match=match) as error:
        call(model)
    assert same(before, state(model))
    if plain:
        assert one_sentence(str(error.value)), str(error.value)
    return str(error.value)


NO_ROWS = r"0 sample\(s\)"
"""To learn from a chunk of no rows is fine, to fit is not."""


def refused_everywhere(make, table, y, kind, match, weights=None, plain=True):
    """Check a refusal by `fit` and `partial_fit` of a new model and of a fitted one, which stays usable."""
    for learn in ("fit",) if match == NO_ROWS else ("fit", "partial_fit"):
        refused(make(), lambda m, learn=learn: getattr(m, learn)(table, y, sample_weight=weights), kind, match, plain)
    model = make().fit(X, Y)
    expected = model.predict_proba(X)
    counted = copy.deepcopy(model.counts_)
    refused(model, lambda m: m.fit(table, y, sample_weight=weights), kind, match, plain)
    assert np.array_equal(model.predict_proba(X), expected)
    assert model.counts_ == counted
    model.partial_fit(X, Y)
    assert model.counts_ == counted * 2


# Parameters

PARAMETERS = [
    ("parameters", "bayes", ValueError),
    ("parameters", None, ValueError),
    ("parameters", ["ml"], ValueError),
    ("ess", 0, ValueError),
    ("ess", -1.0, ValueError),
    ("ess", math.nan, ValueError),
    ("ess", math.inf, ValueError),
    ("ess", 10**150, ValueError),
    ("ess", "10", ValueError),
    ("ess", None, ValueError),
    ("ess", True, ValueError),
    ("n_jobs", 0, ValueError),
    ("n_jobs", 1.5, ValueError),
    ("n_jobs", "all", ValueError),
    ("encoder", "quantile", TypeError),
    ("encoder", 5, TypeError),
    ("encoder", Encoder, TypeError),
]
ENCODERS = [
    ("bins", "kmeans"),
    ("n_bins", 0),
    ("n_bins", 2.5),
    ("max_levels", 1),
    ("missing", "drop"),
    ("unseen", "guess"),
    ("categorical", "some"),
    ("categorical", None),
    ("categorical", 3),
]


@pytest.mark.parametrize(("name", "value", "error"), PARAMETERS)
@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_an_impossible_parameter_is_refused_before_the_table_is_looked_at(kind, name, value, error, learn):
    refused(kind(**{name: value}), lambda m: getattr(m, learn)(Untouchable(), Y), error, rf"^{name} must be")


@pytest.mark.parametrize(("name", "value"), ENCODERS)
def test_an_impossible_setting_of_the_encoder_is_refused_before_the_table_is_looked_at(kind, name, value):
    model = kind(encoder=Encoder(**{name: value}))
    refused(model, lambda m: m.fit(Untouchable(), Y), (ValueError, TypeError), rf"^{name} must be")


PRIORS = [[1.0], [0.2, 0.3, 0.5], [0.5, 0.6], [-0.5, 1.5], [math.nan, 1.0], 0.5, [[0.5, 0.5]], ["a", "b"], "even", {}]


@pytest.mark.parametrize("prior", PRIORS)
def test_an_impossible_class_prior_is_refused_by_name(kind, prior):
    refused_with = refused(
        kind(class_prior=prior), lambda m: m.fit(X, Y), (ValueError, TypeError), "^class_prior must be"
    )
    assert "2 probabilities" in refused_with


@pytest.mark.parametrize("prior", [[1.0], [0.5, 0.6]])
def test_an_impossible_class_prior_is_refused_before_anything_is_counted(kind, prior, monkeypatch):
    def count(*args, **kwargs):
        raise AssertionError("rows were counted")

    monkeypatch.setattr(Counts, "of", count)
    refused(kind(class_prior=prior), lambda m: m.fit(X, Y), ValueError, "^class_prior must be")


def test_a_parameter_made_impossible_after_fit_leaves_the_model_usable(kind):
    model = kind().fit(X, Y)
    expected = model.predict_proba(X)
    model.set_params(ess=-1)
    refused(model, lambda m: m.partial_fit(X, Y), ValueError, "^ess must be")
    assert np.array_equal(model.predict_proba(X), expected)


# Tables

DAY = datetime.date(2020, 1, 1)
TABLES = {
    "dates next to durations": (
        X.assign(age=pd.Series([DAY] * 5 + [datetime.timedelta(1)], dtype=object)),
        ValueError,
        "^column 'age' mixes dates with durations; convert it to one type",
    ),
    "numbers and text": (X.assign(age=[1, "x", 2, 3, 4, 5]), ValueError, "^column 'age' mixes numbers with strings"),
    "complex": (X.assign(age=X.age * 1j), ValueError, "^column 'age': Complex data not supported"),
    "complex objects": (
        X.assign(age=(X.age * 1j).astype(object)),
        ValueError,
        "^column 'age': Complex data not supported",
    ),
    "dict": (X.assign(age=[{}] * 6), TypeError, "^column 'age': argument must be a string or a number, not 'dict'$"),
    "list": (X.assign(age=[[1]] * 6), TypeError, "^column 'age': argument must be a string or a number, not 'list'$"),
    "bytes": (
        X.assign(age=[b"x"] * 6),
        TypeError,
        "^column 'age': argument must be a string or a number, not 'bytes'$",
    ),
    "infinite": (X.assign(age=[1.5, math.inf, 2, 3, 4, 5]), ValueError, "^column 'age'.*infinity"),
    "minus infinite": (X.assign(age=[1, -math.inf, 2, 2, 1, 1]), ValueError, "^column 'age'.*infinity"),
    "sparse": (sparse.csr_matrix(NUMBERS), TypeError, "^Sparse data was passed"),
    "sparse column": (X.assign(age=pd.arrays.SparseArray([0, 0, 0, 0, 0, 1])), TypeError, "^column 'age': Sparse data"),
    "two of one name": (pd.concat([X, X[["age"]]], axis=1), ValueError, "two columns named 'age'; rename one$"),
    "two of one name in Arrow": (pa.table([NUMBERS[:, 0]] * 2, names=["a", "a"]), ValueError, "two columns named 'a'"),
    "no rows": (X[:0], ValueError, NO_ROWS),
    "no columns": (X[[]], ValueError, r"0 feature\(s\)"),
    "no columns of numpy": (NUMBERS[:, :0], ValueError, r"0 feature\(s\)"),
    "target among the columns": (X.assign(buys=Y), ValueError, "^the target 'buys' is among the columns of X; drop it"),
    "ragged": ([[1, 2], [1], [2, 3], [1, 2], [1, 2], [2, 1]], ValueError, "rows?"),
    "nothing": (None, (TypeError, ValueError), "data frame"),
}


@pytest.mark.parametrize("table", TABLES)
def test_a_bad_table_is_refused_and_changes_nothing(kind, table):
    bad, error, match = TABLES[table]
    y = Y[: len(bad)] if table == "no rows" else Y
    refused_everywhere(kind, bad, y, error, match, plain=table not in ("nothing",))


@pytest.mark.parametrize("bad", [NUMBERS[0], X["age"], pl.Series([1, 2, 3, 4, 5, 6]), [1, 2, 3, 4, 5, 6]])
def test_one_column_is_not_a_table_in_scikit_learns_words(kind, bad):
    refused_everywhere(kind, bad, Y, ValueError, "Expected 2D array, got 1D array instead", plain=False)


def test_numpy_complex_is_refused(kind):
    refused_everywhere(kind, NUMBERS * 1j, Y, ValueError, "^column 'x0': Complex data not supported")


PREDICTIONS = {
    "dates": (X.assign(age=pd.Timestamp("2020")), TypeError, "^column 'age' holds dates"),
    "infinite": (X.assign(age=math.inf), ValueError, "^column 'age'.*infinity"),
    "dict": (X.assign(sex=[{}] * 6), TypeError, "^column 'sex': argument must be"),
    "text for numbers": (X.assign(age="old"), ValueError, "^column 'age' holds text, but the schema expects numbers"),
    "numbers for text": (X.assign(sex=1.5), ValueError, "^column 'sex' holds numbers, but the schema expects text"),
    "text for a category of numbers": (
        X.assign(n="1"),
        ValueError,
        "^column 'n' holds text, but the schema expects numbers",
    ),
    "numbers and text": (X.assign(sex=["f", 1, 2, 3, 4, 5]), ValueError, "^column 'sex' mixes numbers with strings"),
    "sparse": (sparse.csr_matrix(NUMBERS), TypeError, "^Sparse data was passed"),
    "two of one name": (pd.concat([X, X[["age"]]], axis=1), ValueError, "two columns named 'age'"),
}


@pytest.mark.parametrize("table", PREDICTIONS)
@pytest.mark.parametrize("ask", ["predict", "predict_proba", "predict_log_proba", "score_samples", "explain"])
def test_a_bad_table_to_predict_is_refused(kind, table, ask):
    bad, error, match = PREDICTIONS[table]
    refused(kind().fit(X, Y), lambda m: getattr(m, ask)(bad), error, match)


def test_an_unseen_label_is_refused_by_column_where_asked(kind):
    model = kind(encoder=Encoder(unseen="error")).fit(X, Y)
    refused(model, lambda m: m.predict(X.assign(sex="x")), ValueError, "^column 'sex' holds .*not seen in training")


# Columns since fit

CHANGED = {
    "added": (lambda t: t.assign(extra=1), "Feature names unseen at fit time:\n- extra"),
    "dropped": (lambda t: t[["sex", "n"]], "Feature names seen at fit time, yet now missing:\n- age"),
    "reordered": (lambda t: t[["n", "age", "sex"]], "Feature names must be in the same order as they were in fit"),
    "renamed": (lambda t: t.rename(columns={"n": "m"}), "Feature names unseen at fit time:\n- m"),
}
MAKES = {
    "pandas": lambda t: t,
    "polars": pl.from_pandas,
    "Arrow": lambda t: pa.Table.from_pandas(t, preserve_index=False),
    "DuckDB": lambda t: duckdb.from_arrow(pa.Table.from_pandas(t, preserve_index=False)),
}


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("make", MAKES)
def test_columns_changed_since_fit_get_scikit_learns_message(kind, change, make):
    alter, message = CHANGED[change]
    model = kind().fit(MAKES[make](X), Y)
    table = MAKES[make](alter(X))
    for call in (lambda m: m.predict(table), lambda m: m.partial_fit(table, Y)):
        refused(model, call, ValueError, f"^The feature names should match.*\n{message}", plain=False)


@pytest.mark.parametrize("columns", [[0], [0, 1, 1]])
def test_columns_without_names_are_counted(kind, columns):
    model = kind().fit(NUMBERS, Y)
    match = rf"^X has {len(columns)} features, but {kind.__name__} is expecting 2 features as input"
    refused(model, lambda m: m.predict(NUMBERS[:, columns]), ValueError, match)


def test_the_same_table_of_every_make_predicts_alike(kind):
    expected = kind().fit(X, Y).predict_proba(X)
    for make in MAKES.values():
        assert np.array_equal(kind().fit(make(X), Y).predict_proba(make(X)), expected)


# Classes


@pytest.mark.parametrize("y", [[None] * 6, [math.nan] * 6, pd.Series([None] * 6, name="buys")])
def test_a_class_column_that_is_all_missing_is_refused(kind, y):
    refused_everywhere(
        kind, X, y, ValueError, "^every value of the class '(y|buys)' is missing; there is nothing to learn$"
    )


@pytest.mark.parametrize("y", [Y[:5], [*Y, "no"], ["no"], []])
def test_x_and_y_of_different_length_are_refused(kind, y):
    match = rf"inconsistent numbers of samples.*6.*{len(y)}"
    refused_everywhere(kind, X, y, ValueError, match)


@pytest.mark.parametrize(
    ("y", "error", "match"),
    [
        (None, ValueError, "y to be passed, but the target y is None"),
        ([0.5, 1.5, 2.5, 0.5, 1.5, 2.5], ValueError, "Unknown label type: continuous"),
        ([0, 1, 0, 1, 0, math.inf], ValueError, "y contains infinity"),
        (np.array([0, 1, "a", 0, 1, 0], object), ValueError, "'y' mixes numbers with strings"),
        ([{}] * 6, TypeError, "the class 'y' must hold labels"),
        ([DAY] * 6, TypeError, "the class 'y' must hold labels"),
        (np.ones((6, 2)), ValueError, "y should be a 1d array"),
    ],
)
def test_a_bad_class_column_is_refused(kind, y, error, match):
    refused_everywhere(kind, X, y, error, match, plain="continuous" not in match)


def test_an_unknown_class_is_refused_by_name_and_nothing_is_added(kind):
    model = kind().partial_fit(X, Y, classes=["yes", "no"])
    y = [*Y[:5], "maybe"]
    refused(
        model, lambda m: m.partial_fit(X, y), ValueError, r"^unknown class 'maybe'; the known classes are 'no', 'yes'"
    )
    refused(model, lambda m: m.partial_fit(X, [1, 0] * 3), ValueError, "^unknown class [01]; the known classes are")
    open_model = kind().partial_fit(X, Y)
    refused(open_model, lambda m: m.partial_fit(X, [1, 0] * 3), ValueError, "^the class holds numbers, but the schema")
    assert model.counts_.class_counts.tolist() == [3, 3]
    refused(
        kind(), lambda m: m.partial_fit(X, Y, classes=["no"]), ValueError, "^unknown class 'yes'; the known classes are"
    )
    refused(model, lambda m: m.partial_fit(X, Y, classes=["no", "yes", "maybe"]), ValueError, "^classes names.*'maybe'")


def test_a_later_target_that_bears_the_name_of_a_column_is_refused(kind):
    model = kind().partial_fit(X, Y)
    refused(
        model, lambda m: m.partial_fit(X, Y.rename("age")), ValueError, "^the target 'age' is among the columns of X"
    )


def test_a_class_announced_for_later_has_a_probability_before_it_comes(kind):
    model = kind().partial_fit(X, Y, classes=["maybe", "no", "yes"])
    proba = model.predict_proba(X)
    assert proba.shape == (6, 3)
    assert (proba[:, 0] > 0).all()
    model.partial_fit(X, ["maybe"] * 6)
    assert model.counts_.class_counts.tolist() == [6, 3, 3]


def test_rows_without_a_class_are_dropped_with_a_warning(kind):
    y = [*Y[:4], None, None]
    with pytest.warns(UserWarning, match="2 rows without a class are dropped"):
        model = kind().fit(X, y)
    assert model.counts_ == kind().fit(X[:4], Y[:4].rename(None)).counts_


@pytest.mark.parametrize("parameters", ["dirichlet", "ml", "softened", "laplace", "m"])
def test_one_class_only_is_certain(kind, parameters):
    model = kind(parameters=parameters).fit(X, ["yes"] * 6)
    assert np.array_equal(model.predict_proba(X), np.ones((6, 1)))
    assert model.predict(X).tolist() == ["yes"] * 6
    assert model.predict_proba(X.assign(sex="unseen", age=None)).tolist() == [[1.0]] * 6


@pytest.mark.parametrize("parameters", ["dirichlet", "ml", "softened", "laplace", "m"])
def test_one_row_only_is_enough(kind, parameters):
    model = kind(parameters=parameters).fit(X[:1], Y[:1])
    assert np.array_equal(model.predict_proba(X[:1]), [[1.0]])
    assert np.isfinite(model.predict_proba(X)).all()


def test_one_column_only_is_enough(kind):
    proba = kind().fit(X[["sex"]], Y).predict_proba(X[["sex"]])
    assert proba.sum(axis=1) == pytest.approx(np.ones(6))


# Weights


@pytest.mark.parametrize(
    "weights",
    [
        [1, 1, 1, 1, 1, -1],
        [1, 1, 1, 1, 1, math.nan],
        [1, 1, 1, 1, 1, math.inf],
        [0] * 6,
        [1] * 5,
        [1] * 7,
        3.0,
        [[1]] * 6,
        ["a"] * 6,
        [1j] * 6,
        [None] * 6,
        [{}] * 6,
    ],
)
def test_impossible_weights_are_refused_by_name(kind, weights):
    refused_everywhere(kind, X, Y, (ValueError, TypeError), "^sample_weight", weights=weights)


def test_weights_that_leave_no_row_with_a_class_are_refused(kind):
    y, weights = ["no", None, None, None, None, "yes"], [0, 1, 1, 1, 1, 0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        refused(kind(), lambda m: m.fit(X, y, weights), ValueError, "sample_weight")


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, tuple])
def test_weights_of_every_make_are_repetitions(kind, make):
    weights = [1, 2, 0, 3, 1, 1]
    model = kind().fit(X, Y, make(weights))
    again = kind().fit(X.loc[np.repeat(np.arange(6), weights)], Y[np.repeat(np.arange(6), weights)])
    assert model.schema_ == again.schema_
    np.testing.assert_allclose(model.predict_proba(X), again.predict_proba(X), rtol=1e-12)


# A schema given


def test_a_table_that_is_not_of_the_schema_given_is_refused(kind):
    schema = kind().fit(X, Y).schema_
    model = kind(encoder=schema)
    refused(model, lambda m: m.fit(X[["sex"]], Y), ValueError, "^the table has 1 columns, but the schema has 3")
    refused(model, lambda m: m.fit(X[["age", "sex", "n"]], Y), ValueError, "^unexpected column 'age'; the schema")
    refused(model, lambda m: m.fit(X, ["maybe"] * 6), ValueError, "^unknown class 'maybe'; the known classes are")
    refused(model, lambda m: m.fit(X.assign(age="old"), Y), ValueError, "^column 'age' holds text")


def test_counts_that_cannot_be_learned_from_are_refused(kind):
    schema = Schema([Category("a", (0, 1))], (0, 1))
    refused(kind(), lambda m: m.fit_counts(Counts.zero(schema)), ValueError, "the counts are all zero")
    refused(kind(), lambda m: m.fit_counts(None), TypeError, "counts must be")
    refused(kind(), lambda m: m.fit_counts(NUMBERS), TypeError, "counts must be")


@pytest.mark.parametrize("weight", [1e101, 10**400, 1e308, -1.0, math.nan])
def test_weights_beyond_all_measure_are_refused_in_a_sentence(kind, weight):
    with pytest.raises(ValueError, match=r"^sample_weight must ") as caught:
        kind().fit([[0], [1]], [0, 1], [weight, 1])
    assert one_sentence(str(caught.value))
