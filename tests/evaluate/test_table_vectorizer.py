"""Conversion of tables to numeric arrays for scikit-learn."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from tanbark import Category, Encoder, Number, Schema
from tanbark.evaluate import TableVectorizer, compare

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.5, np.nan, 4.5],
        "sky": ["sun", "rain", None, "snow"],
        "old": [True, False, True, True],
        "rooms": [1, 2, 2, 3],
    }
)
Y = ["a", "b", "b", "a"]


def test_numbers_are_unchanged_and_categories_are_one_hot_encoded():
    vectorizer = TableVectorizer().fit(FRAME, Y)
    assert vectorizer.get_feature_names_out().tolist() == [
        "size",
        *("sky=rain", "sky=snow", "sky=sun"),
        "old=True",
        *("rooms=1", "rooms=2", "rooms=3"),
    ]
    expected = [
        [1.5, 0, 0, 1, 1, 1, 0, 0],
        [2.5, 1, 0, 0, 0, 0, 1, 0],
        [np.nan, 0, 0, 0, 1, 0, 1, 0],
        [4.5, 0, 1, 0, 1, 0, 0, 1],
    ]
    assert np.array_equal(vectorizer.transform(FRAME), expected, equal_nan=True)
    assert np.array_equal(TableVectorizer().fit_transform(FRAME, Y), expected, equal_nan=True)


def test_unseen_levels_have_no_column_and_missing_numbers_are_nan():
    vectorizer = TableVectorizer().fit(FRAME, Y)
    new = pd.DataFrame({"size": [np.nan, -7.0], "sky": ["fog", "sun"], "old": [False, True], "rooms": [9, 1]})
    assert np.array_equal(
        vectorizer.transform(new), [[np.nan, 0, 0, 0, 0, 0, 0, 0], [-7, 0, 0, 1, 1, 1, 0, 0]], equal_nan=True
    )


def test_missing_as_a_state_has_its_own_column():
    vectorizer = TableVectorizer(encoder=Encoder(missing="state")).fit(FRAME[["sky"]], Y)
    assert vectorizer.get_feature_names_out().tolist() == ["sky=rain", "sky=snow", "sky=sun", "sky=(missing)"]
    assert vectorizer.transform(FRAME[["sky"]]).tolist() == [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_rare_levels_share_a_column():
    X = pd.DataFrame({"city": [*"aaabbbcd"]})
    with pytest.warns(UserWarning, match="are merged into one"):
        vectorizer = TableVectorizer(encoder=Encoder(max_levels=3)).fit(X, [0, 1] * 4)
    assert vectorizer.get_feature_names_out().tolist() == ["city=a", "city=b", "city=(other)"]
    assert vectorizer.transform(pd.DataFrame({"city": ["a", "c", "z", None]})).tolist() == [
        [1, 0, 0],
        [0, 0, 1],
        [0, 0, 1],
        [0, 0, 0],
    ]


@pytest.mark.parametrize("values", [["same"] * 4, [None] * 4], ids=["constant", "empty"])
def test_uninformative_columns_are_accepted(values):
    X = pd.DataFrame({"a": values, "b": [1.5, 2.5, 3.5, 4.5]})
    vectorizer = TableVectorizer().fit(X, Y)
    table = vectorizer.transform(X)
    assert table.shape == (4, len(vectorizer.get_feature_names_out()))
    assert table[:, -1].tolist() == [1.5, 2.5, 3.5, 4.5]


@pytest.mark.parametrize(
    "make",
    [
        lambda frame: frame,
        lambda frame: pl.from_pandas(frame),
        lambda frame: pl.from_pandas(frame).to_arrow(),
    ],
    ids=["pandas", "polars", "arrow"],
)
def test_all_types_of_data_frames_give_the_same_numbers(make):
    expected = TableVectorizer().fit_transform(FRAME, Y)
    assert np.array_equal(TableVectorizer().fit_transform(make(FRAME), Y), expected, equal_nan=True)


def test_columns_of_an_array_are_named_by_number():
    vectorizer = TableVectorizer().fit(np.array([[0.5, 1], [1.5, 2], [2.5, 3]]), [0, 1, 0])
    assert vectorizer.get_feature_names_out().tolist() == ["x0", "x1=1", "x1=2", "x1=3"]
    assert vectorizer.n_features_in_ == 2


@pytest.mark.parametrize(
    "classifier",
    [DecisionTreeClassifier(random_state=0), HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=1)],
    ids=["tree", "boosting"],
)
def test_trees_learn_from_any_table_in_a_pipeline_and_in_a_comparison(classifier):
    X = pd.concat([FRAME] * 5, ignore_index=True)
    y = np.array(Y * 5)
    model = make_pipeline(TableVectorizer(), classifier)
    fitted = clone(model).fit(X, y)
    assert fitted.predict(X).tolist() == y.tolist()
    found = compare({"it": model}, X, y, folds=2)
    assert found.failures == {}
    assert found["it"].mean("error") == 0.0


def test_it_supports_clone_and_set_params():
    vectorizer = TableVectorizer(encoder=Encoder(n_bins=3))
    copy = clone(vectorizer)
    assert copy.encoder is not vectorizer.encoder
    assert copy.get_params()["encoder__n_bins"] == 3
    assert clone(TableVectorizer()).encoder is None
    assert TableVectorizer().set_params(encoder__max_levels=7).encoder.max_levels == 7
    framed = TableVectorizer().set_output(transform="pandas").fit_transform(FRAME.set_index(np.arange(4) + 10), Y)
    assert framed.index.tolist() == [10, 11, 12, 13]
    assert framed.columns.tolist()[:2] == ["size", "sky=rain"]


@parametrize_with_checks([TableVectorizer()])
def test_it_passes_scikit_learns_estimator_checks(estimator, check):
    check(estimator)


def test_a_given_schema_defines_the_categories_and_their_levels():
    schema = Schema([Category("sky", ("sun", "rain", "fog")), Number("rooms", (1.5,))], classes=("a", "b"))
    vectorizer = TableVectorizer(encoder=schema).fit(FRAME[["sky", "rooms"]], Y)
    assert vectorizer.get_feature_names_out().tolist() == ["sky=sun", "sky=rain", "sky=fog", "rooms"]
    assert vectorizer.transform(FRAME[["sky", "rooms"]]).tolist() == [
        [1, 0, 0, 1],
        [0, 1, 0, 2],
        [0, 0, 0, 2],
        [0, 0, 0, 3],
    ]
    with pytest.raises(ValueError, match="columns"):
        TableVectorizer(encoder=schema).fit(FRAME, Y)
    with pytest.raises(TypeError, match="encoder must be an Encoder, a Schema or None, got 'str'"):
        TableVectorizer(encoder="auto").fit(FRAME, Y)


def test_bad_input_is_refused():
    with pytest.raises(NotFittedError):
        TableVectorizer().transform(FRAME)
    with pytest.raises(NotFittedError):
        TableVectorizer().get_feature_names_out()
    vectorizer = TableVectorizer().fit(FRAME, Y)
    with pytest.raises(ValueError, match="sky"):
        vectorizer.transform(FRAME.drop(columns="sky"))
    with pytest.raises(ValueError, match="heaven"):
        vectorizer.transform(FRAME.rename(columns={"sky": "heaven"}))
    with pytest.raises(ValueError, match="n_bins must be 'auto' or an integer"):
        TableVectorizer(encoder=Encoder(n_bins=0)).fit(FRAME, Y)
    with pytest.raises(ValueError, match="infinity"):
        vectorizer.transform(FRAME.assign(size=np.inf))
    strict = TableVectorizer(encoder=Encoder(unseen="error")).fit(FRAME, Y)
    with pytest.raises(ValueError, match="fog"):
        strict.transform(FRAME.assign(sky="fog"))
