from collections import Counter

import numpy as np
import pytest

from tanbark.datasets import iris, read_folder, wine


def test_iris_has_fifty_flowers_of_each_species():
    dataset = iris()
    assert dataset.X.shape == (150, 4)
    assert dataset.X.dtype == np.float64
    assert Counter(dataset.y) == {"setosa": 50, "versicolor": 50, "virginica": 50}


def test_iris_has_the_means_of_fishers_table():
    # Fisher (1936), table 2: the means for Iris setosa.
    X, y = iris()
    assert X[y == "setosa"].mean(axis=0) == pytest.approx([5.006, 3.428, 1.462, 0.246])


def test_iris_differs_from_the_uci_copy_in_rows_35_and_38_only(shared_data):
    uci = read_folder(shared_data)["iris"]
    assert [f"Iris-{species}" for species in iris().y] == uci.y.tolist()
    assert np.flatnonzero((iris().X != uci.X).any(axis=1)).tolist() == [34, 37]


def test_wine_is_the_published_table(shared_data):
    uci = read_folder(shared_data)["wine"]
    assert wine().feature_names == uci.feature_names
    np.testing.assert_array_equal(wine().X, uci.X)
    np.testing.assert_array_equal(wine().y, uci.y)


def test_wine_has_the_published_class_counts():
    assert Counter(wine().y.tolist()) == {1: 59, 2: 71, 3: 48}
