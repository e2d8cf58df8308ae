import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import DataConversionWarning

from tanbark import Encoder
from tanbark.schema.read.class_column import read_target

VALUES = ["b", None, "a", "b"]
MAKES = {
    "list": lambda: VALUES,
    "tuple": lambda: tuple(VALUES),
    "objects": lambda: np.array(VALUES, object),
    "numpy text": lambda: np.array(VALUES, np.dtypes.StringDType(na_object=None)),
    "pandas": lambda: pd.Series(VALUES),
    "pandas objects": lambda: pd.Series(VALUES, dtype=object),
    "pandas string": lambda: pd.Series(VALUES, dtype="string"),
    "pandas, shuffled index": lambda: pd.Series(VALUES, index=[3, 3, 0, 1]),
    "pandas category": lambda: pd.Series(pd.Categorical(VALUES, ["z", "b", "a"])),
    "bare category": lambda: pd.Categorical(VALUES, ["z", "b", "a"]),
    "polars": lambda: pl.Series(VALUES),
    "polars Categorical": lambda: pl.Series(VALUES, dtype=pl.Categorical),
    "polars Enum": lambda: pl.Series(VALUES, dtype=pl.Enum(["z", "b", "a"])),
    "Arrow": lambda: pa.array(VALUES),
    "Arrow dictionary": lambda: pa.array(VALUES).dictionary_encode(),
    "Arrow chunks": lambda: pa.chunked_array([VALUES[:1], VALUES[1:]]),
    "Arrow chunks of dictionaries": lambda: pa.chunked_array(
        [pa.array(VALUES[:2]).dictionary_encode(), pa.array(VALUES[2:]).dictionary_encode()]
    ),
}


@pytest.mark.parametrize("make", MAKES)
def test_every_container_gives_the_same_sorted_classes_that_occur(make):
    target = read_target(MAKES[make]())
    assert target.labels.tolist() == ["a", "b"]
    assert target.codes.tolist() == [1, -1, 0, 1]


@pytest.mark.parametrize(
    ("y", "labels", "codes"),
    [
        ([3, 1, 3], [1, 3], [1, 0, 1]),
        ([-1, 1, -1], [-1, 1], [0, 1, 0]),
        (np.array([3, 1, 3], np.uint8), [1, 3], [1, 0, 1]),
        ([3.0, math.nan, 1.0], [1.0, 3.0], [1, -1, 0]),
        (np.array([3, None, 1], object), [1, 3], [1, -1, 0]),
        (pd.Series([3, None, 1], dtype="Int64"), [1, 3], [1, -1, 0]),
        (pl.Series([3, None, 1], dtype=pl.Int8), [1, 3], [1, -1, 0]),
        (pa.array([3, None, 1]), [1, 3], [1, -1, 0]),
        ([True, False, True], [False, True], [1, 0, 1]),
        ([True, None, False], [False, True], [1, -1, 0]),
        (pd.Series([True, None, False], dtype="boolean"), [False, True], [1, -1, 0]),
        (pl.Series([True, None, False]), [False, True], [1, -1, 0]),
        (["", "x", ""], ["", "x"], [0, 1, 0]),
        (np.array([2**62 + 1, 2**62]), [2**62, 2**62 + 1], [1, 0]),
    ],
)
def test_numbers_booleans_and_text_are_classes(y, labels, codes):
    target = read_target(y)
    assert [(type(v), v) for v in target.labels.tolist()] == [(type(v), v) for v in labels]
    assert target.codes.tolist() == codes


@pytest.mark.parametrize(
    "classes", [2**63 + np.arange(3, dtype=np.uint64), 2**60 + np.arange(12), 2**60 + 1001 * np.arange(12)]
)
def test_huge_classes_stay_distinct(classes):
    target = read_target(classes)
    assert target.labels.tolist() == classes.tolist()
    assert target.codes.tolist() == list(range(len(classes)))


def test_many_integers_are_still_classes():
    assert read_target(np.arange(400)).labels.tolist() == list(range(400))


@pytest.mark.parametrize("dtype", ["i1", "i8", "u4", "f4", "f8", "?", "U3"])
def test_labels_keep_the_type_of_an_array(dtype):
    y = np.array([1, 0, 1]).astype(dtype)
    assert read_target(y).labels.dtype == y.dtype
    assert read_target(y).labels.tolist() == np.unique(y).tolist()


# Names


def named(y, X=None):
    X = pd.DataFrame({"a": ["p", "q"]}) if X is None else X
    return Encoder().fit(X, y).schema_.class_name


@pytest.mark.parametrize("y", [pd.Series([0, 1], name="buys"), pl.Series("buys", [0, 1])])
def test_the_class_takes_the_name_of_its_series(y):
    assert named(y) == "buys"


@pytest.mark.parametrize(
    "y", [[0, 1], np.array([0, 1]), pd.Series([0, 1]), pd.Series([0, 1], name=0), pl.Series([0, 1])]
)
def test_a_class_without_a_name_is_called_class(y):
    assert named(y) == "class"
    assert named(y, pd.DataFrame({"class": ["p", "q"], "class_": ["p", "q"]})) == "class__"


def test_a_target_among_the_columns_raises_and_is_named():
    with pytest.raises(ValueError, match=r"^the target 'buys' is among the columns of X; drop it from X$"):
        named(pd.Series([0, 1], name="buys"), pd.DataFrame({"a": [1, 2], "buys": [0, 1]}))


# Errors


@pytest.mark.parametrize(
    "y",
    [
        [None, None],
        [math.nan] * 2,
        pd.Series([pd.NA] * 2, dtype="Int64"),
        pl.Series([None] * 2, dtype=pl.String),
        pa.nulls(2),
    ],
)
def test_a_class_that_is_all_missing_raises(y):
    with pytest.raises(ValueError, match=r"^every value of the class 'y' is missing; there is nothing to learn$"):
        read_target(y)


def test_a_class_that_is_all_missing_raises_and_is_named():
    with pytest.raises(ValueError, match="every value of the class 'buys' is missing"):
        read_target(pd.Series([None, None], name="buys"))


@pytest.mark.parametrize(
    "y",
    [
        [0.5, 1.0],
        np.array([0.5, 1.0], np.float32),
        pd.Series([0.5, None], dtype="Float64"),
        pl.Series([0.5, 1.5]),
        pa.chunked_array([[0.5, 1.5]]),
        np.array([0.5, 1], object),
    ],
)
def test_measurements_are_not_accepted_as_classes(y):
    with pytest.raises(ValueError, match=r"Unknown label type: continuous.*cut y into bins"):
        read_target(y)


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
def test_an_infinite_class_raises(infinite):
    with pytest.raises(ValueError, match="y contains infinity"):
        read_target([0.0, infinite])


@pytest.mark.parametrize(
    ("y", "kind", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        (np.array(["b", 1], object), ValueError, "'y' mixes numbers with strings or booleans"),
        ([datetime.date(2020, 1, 1)] * 2, TypeError, "the class 'y' must hold labels"),
        (np.array([1j, 2]), ValueError, "(?i)y.*complex|complex.*y"),
        ([{"a": 1}, {"a": 2}], TypeError, "the class 'y' must hold labels"),
        (sparse.csr_matrix([[1], [2]]), TypeError, "Sparse data was passed for y"),
        (np.array([[1, 2], [2, 3]]), ValueError, r"y should be a 1d array, got an array of shape \(2, 2\)"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), ValueError, "y should be a 1d array, got an array of shape"),
        ("abc", ValueError, "y should be a 1d array"),
    ],
)
def test_an_invalid_class_raises_with_a_one_line_message(y, kind, message):
    with pytest.raises(kind, match=message) as error:
        read_target(y)
    assert "\n" not in str(error.value)


def test_a_list_that_mixes_numbers_with_text_raises():
    with pytest.raises(ValueError, match="'y' mixes numbers with strings"):
        read_target(["b", 1, 2])


@pytest.mark.parametrize(
    "y", [np.array([[1], [2]]), [["p"], ["q"]], pd.DataFrame({"t": [1, 2]}), pl.DataFrame({"t": [1, 2]})]
)
def test_a_column_vector_gives_the_warning_of_scikit_learn(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed"):
        assert read_target(y).codes.tolist() == [0, 1]


# Target


def test_selecting_rows_drops_classes_that_no_longer_occur():
    target = read_target(["c", "a", "b", None]).keep(np.array([True, False, True, True]))
    assert target.labels.tolist() == ["b", "c"]
    assert target.codes.tolist() == [1, 0, -1]


def test_listed_classes_get_codes_before_they_occur():
    target = read_target(["c", "a"]).among(["a", "b", "c"])
    assert target.labels.tolist() == ["a", "b", "c"]
    assert target.codes.tolist() == [2, 0]


def test_a_class_outside_the_list_raises_and_is_named():
    with pytest.raises(ValueError, match=r"unknown class 'c'; the known classes are 'a', 'b'"):
        read_target(["c", "a"]).among(["a", "b"])


def test_a_frame_of_one_column_gives_the_class_its_name():
    with pytest.warns(DataConversionWarning):
        target = read_target(pd.DataFrame({"walk": [0, 1]}))
    with pytest.raises(ValueError, match="the target 'walk' is among the columns"):
        target.name_beside(("walk",))
