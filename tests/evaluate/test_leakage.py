"""Columns that alone predict the class almost perfectly are found, and honest ones are not."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Category, Counts, Encoder, Number, Schema
from tanbark.datasets import iris
from tanbark.evaluate.leakage import leaking_columns


def found_in(X, y, n_bins=64, **settings):
    """Return the accuracy of each column that is found."""
    schema = Encoder(n_bins=n_bins, **settings).fit(X, y).schema_
    counts = Counts.of(schema, schema.encode(X), schema.encode_target(y), order=1)
    return {column.name: column.accuracy for column in leaking_columns(counts)}


def plain_errors(values, classes):
    """Return how many rows are misclassified if each is classified by the others, in plain Python."""
    most_frequent = min(Counter(classes).items(), key=lambda item: (-item[1], item[0]))[0]
    errors = 0
    for i, (value, label) in enumerate(zip(values, classes, strict=True)):
        others = Counter(c for j, (v, c) in enumerate(zip(values, classes, strict=True)) if v == value and j != i)
        if others:
            ahead = [c for c, n in others.items() if n == max(others.values())]
            errors += ahead != [label]
        else:
            errors += label != most_frequent
    return errors


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.integers(1, 30), st.floats(0, 0.03), st.floats(0, 0.1))
@settings(max_examples=60, deadline=None)
def test_the_accuracy_is_that_of_leaving_each_row_out(seed, classes, levels, noise, missing):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.repeat(np.arange(classes), 10), rng.integers(0, classes, 140)])
    # Each value stands for one class, except in rows with noise.
    class_of = rng.integers(0, classes, levels)
    column = np.array([rng.choice(np.append(np.flatnonzero(class_of == c), levels + c)) for c in y])
    column = np.where(rng.random(len(y)) < noise, rng.permutation(column), column)
    column = np.where(rng.random(len(y)) < missing, -1, column)
    errors = plain_errors(column.tolist(), y.tolist())
    others = len(y) - np.bincount(y).max()
    text = np.array([None if v < 0 else f"v{v}" for v in column], object)
    found = found_in(pd.DataFrame({"a": text}), y)
    if errors <= 0.01 * len(y) and errors <= 0.05 * others:
        assert found == {"a": pytest.approx(1 - errors / len(y))}
    else:
        assert found == {}


@pytest.mark.filterwarnings("ignore:column 'text' has 1,000 levels")
def test_copies_of_the_class_are_found_and_identifiers_and_noise_are_not():
    rng = np.random.default_rng(0)
    y = rng.choice(["no", "yes"], 1000, p=[0.9, 0.1])
    wrong = np.where(np.arange(1000) % 500 == 0, "yes", y)
    X = pd.DataFrame(
        {
            "outcome": np.where(y == "yes", "paid back", "lost"),
            "nearly": wrong,
            "code": np.where(y == "yes", 17.5, 3.25),
            "number": rng.permutation(1000) + 0.5,
            "text": [f"t{i}" for i in rng.permutation(1000)],
            "noise": rng.choice(list("abc"), 1000),
            "strong": np.where((y == "yes") ^ (rng.random(1000) < 0.02), "high", "low"),
        }
    )
    found = found_in(X, y, max_levels=2000)
    n_wrong = int((wrong != y).sum())
    assert 1 <= n_wrong <= 2
    assert found == {"outcome": 1.0, "nearly": pytest.approx(1 - n_wrong / 1000), "code": 1.0}


def test_missing_values_that_tell_the_class_are_found():
    y = np.arange(400) % 4 == 0
    died = pd.DataFrame({"days until death": np.where(y, np.random.default_rng(0).normal(size=400), np.nan)})
    assert found_in(died, y) == {"days until death": 1.0}
    assert found_in(died, y, missing="state") == {"days until death": 1.0}


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
def test_a_number_from_which_the_class_is_cut_is_found_wherever_the_cut_is(share):
    rng = np.random.default_rng(1)
    score = rng.normal(size=3000)
    y = score > np.quantile(score, 1 - share)
    assert found_in(score[:, None], y) == {"x0": 1.0}
    # The same with so many errors that it is an honest predictor.
    noisy = y ^ (rng.random(3000) < 0.02)
    assert found_in(score[:, None], noisy) == {}


def test_a_number_with_a_boundary_between_each_two_of_many_classes_is_found():
    grade = np.random.default_rng(2).uniform(0, 10, 4000)
    assert found_in(grade[:, None], np.digitize(grade, [1.3, 3.1, 4.9, 7.7])) == {"x0": 1.0}


def schema_of_intervals(n):
    return Schema([Number("x", tuple(range(1, n)))], classes=("no", "yes"))


def counts_of_intervals(*rows):
    values = np.array(rows).T
    return Counts(schema_of_intervals(values.shape[1]), values.sum(axis=1), values)


def test_only_small_intervals_between_different_classes_are_assumed_to_have_a_boundary():
    def names(*rows):
        return [column.name for column in leaking_columns(counts_of_intervals(*rows))]

    assert names((100, 0), (96, 4), (0, 100)) == []
    assert names((500, 0), (16, 15), (0, 500)) == ["x"]
    # Empty intervals are merged with their neighbours.
    assert names((500, 0), (0, 0), (16, 15), (0, 0), (0, 500)) == ["x"]
    # More than 1/32 of the rows, within one class, at the end, and a second one.
    assert names((500, 0), (20, 19), (0, 500)) == []
    assert names((500, 0), (16, 15), (500, 0), (0, 500)) == []
    assert names((500, 0), (0, 500), (16, 15)) == []
    assert names((250, 0), (16, 15), (0, 500), (16, 15), (250, 0)) == []


def test_intervals_of_fewer_than_three_rows_are_merged_with_the_next():
    # Seventy rows in intervals of one row: three are enough to say what class the others have.
    few = [(1, 0)] * 35 + [(0, 1)] * 35
    assert [column.accuracy for column in leaking_columns(counts_of_intervals((300, 0), *few, (0, 300)))] == [1.0]
    alternating = [(1, 0), (0, 1)] * 35
    assert leaking_columns(counts_of_intervals((300, 0), *alternating, (0, 300))) == ()


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([(50, 0), (0, 50)], True),
        ([(50, 0), (0, 49)], False),
        ([(100, 0), (0, 20)], True),
        ([(100, 0), (0, 19)], False),
        # 1 % of all rows, and 5 % of those outside the most frequent class.
        ([(1000, 20), (0, 980)], True),
        ([(1000, 21), (0, 979)], False),
        ([(1960, 2), (0, 38)], True),
        ([(1960, 3), (0, 37)], False),
    ],
)
def test_the_limits_are_those_of_the_documentation(rows, found):
    schema = Schema([Category("x", ("a", "b"))], classes=("no", "yes"))
    values = np.array(rows).T
    counts = Counts(schema, values.sum(axis=1), values)
    assert bool(leaking_columns(counts)) is found


def test_tables_with_a_single_class_or_no_rows_are_not_judged():
    schema = Schema([Category("x", ("a", "b"))], classes=("only",))
    assert leaking_columns(Counts.zero(schema, 1)) == ()
    assert leaking_columns(Counts(schema, np.array([500]), np.array([[200, 300]]))) == ()


@pytest.mark.parametrize("n_bins", [5, 64])
def test_the_width_of_petals_predicts_irises_honestly(n_bins):
    assert found_in(*iris(), n_bins) == {}


@pytest.mark.parametrize("n_bins", [5, 64])
def test_the_best_honest_predictors_are_not_found(n_bins, read_text):
    # The odor predicts 98.5 % of the mushrooms.
    X, y, _ = read_text("mushroom")
    assert found_in(X, y, n_bins) == {}


def test_a_part_of_a_date_is_reported_under_the_name_of_the_date():
    rng = np.random.default_rng(3)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 2000, 500), "D")
    y = (np.asarray(day - pd.Timestamp("2024-01-01")) // np.timedelta64(1, "D")) % 7 >= 5
    X = pd.DataFrame({"signed up": day, "noise": rng.normal(size=500)})
    schema = Encoder(n_bins=64).fit(X, y).schema_
    found = leaking_columns(Counts.of(schema, schema.encode(X), schema.encode_target(y)))
    assert [column.input_name for column in found] == ["signed up"]
    assert found[0].name != "signed up"
    assert str(found[0]) == (
        "column 'signed up' alone predicts the class in 100.0% of the rows; check for leakage: unless it is known "
        "before the class, drop it"
    )
