import numpy as np
import pyarrow as pa
import pytest

from tanbark.datasets import Dataset


def of(columns, labels=(0, 1, 0)):
    return Dataset.from_columns("toy", columns, labels, source="A test.")


def test_integers_give_an_int64_matrix():
    X = of({"a": [1, 2, 3], "b": [4, 5, 6]}).X
    assert X.dtype == np.int64
    assert X.tolist() == [[1, 4], [2, 5], [3, 6]]


def test_integers_beside_floats_give_a_float64_matrix():
    X = of({"a": [1, 2, 3], "b": [0.5, 1.5, 2.5]}).X
    assert X.dtype == np.float64
    assert X.tolist() == [[1.0, 0.5], [2.0, 1.5], [3.0, 2.5]]


def test_a_missing_integer_is_null_in_arrow_and_nan_in_numpy():
    dataset = of({"a": [1, None, 3]})
    assert dataset.table["a"].type == pa.int64()
    assert dataset.table["a"].to_pylist() == [1, None, 3]
    np.testing.assert_array_equal(dataset.X, [[1.0], [np.nan], [3.0]])


def test_a_nan_becomes_null_in_arrow_and_stays_nan_in_numpy():
    dataset = of({"a": np.array([0.5, np.nan, 2.0])})
    assert dataset.table["a"].null_count == 1
    np.testing.assert_array_equal(dataset.X, [[0.5], [np.nan], [2.0]])


def test_strings_beside_numbers_give_objects_while_arrow_keeps_each_type():
    dataset = of({"a": ["x", None, "z"], "b": [1, None, 3], "c": [0.5, 1.5, None], "d": [True, False, None]})
    assert dataset.table.schema.types == [pa.string(), pa.int64(), pa.float64(), pa.bool_()]
    X = dataset.X
    assert X.dtype == object
    assert X.tolist() == [["x", 1, 0.5, True], [None, None, 1.5, False], ["z", 3, None, None]]
    assert type(X[0, 1]) is int


def test_a_dictionary_column_reads_as_its_values():
    table = pa.table({"a": pa.array(["low", "high", None]).dictionary_encode(), "class": [1, 0, 1]})
    dataset = Dataset.from_table("toy", table, target="class", source="A test.")
    assert dataset.X.tolist() == [["low"], ["high"], [None]]


def test_labels_keep_their_type():
    assert of({"a": [1, 2, 3]}, [7, 8, 9]).y.dtype == np.int64
    assert of({"a": [1, 2, 3]}, ["u", None, "v"]).y.tolist() == ["u", None, "v"]


def test_a_dataset_unpacks_into_attributes_and_labels():
    dataset = of({"a": [1, 2, 3]})
    X, y = dataset
    np.testing.assert_array_equal(X, dataset.X)
    np.testing.assert_array_equal(y, [0, 1, 0])


def test_the_frame_has_the_class_last_wherever_it_was():
    table = pa.table({"kind": ["u", "v"], "a": [1, 2], "b": [3, 4]})
    dataset = Dataset.from_table("toy", table, target="kind", source="A test.")
    assert dataset.feature_names == ("a", "b")
    assert dataset.frame().equals(table.select(["a", "b", "kind"]))


def test_changing_an_array_does_not_change_the_dataset():
    dataset = of({"a": [1, 2, 3]})
    dataset.X[0, 0] = 99
    dataset.y[0] = 99
    assert dataset.X[0, 0] == 1
    assert dataset.y[0] == 0


def test_equal_content_makes_equal_datasets():
    assert of({"a": [1, 2, 3]}) == of({"a": [1, 2, 3]})
    assert of({"a": [1, 2, 3]}) != of({"a": [1, 2, 4]})


def test_the_repr_does_not_count_a_missing_label_as_a_class():
    assert repr(of({"a": [1, 2, 3]}, ["u", None, "v"])) == "<Dataset toy: 3 rows, 1 features, 2 classes>"


@pytest.mark.parametrize(
    ("columns", "labels", "message"),
    [
        ({}, [0, 1], "'toy' has no attributes"),
        ({"class": [1, 2]}, [0, 1], "the class 'class' is also an attribute"),
        ({"a": [1, 2]}, [0, 1, 1], "2 rows but 3 labels"),
    ],
)
def test_an_inconsistent_dataset_is_refused(columns, labels, message):
    with pytest.raises(ValueError, match=message):
        of(columns, labels)


def test_a_repeated_column_is_refused():
    table = pa.table([[1, 2], [3, 4], [0, 1]], names=["a", "a", "class"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        Dataset.from_table("toy", table, target="class", source="A test.")


def test_a_target_that_is_not_a_column_is_refused():
    with pytest.raises(ValueError, match=r"exactly one column named 'kind' \(the class\), got 0"):
        Dataset.from_table("toy", pa.table({"a": [1]}), target="kind", source="A test.")
