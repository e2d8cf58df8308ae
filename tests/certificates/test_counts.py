"""Counts at their largest: ten million rows that are all the same, and as many as an integer holds."""

import numpy as np
import pandas as pd
import pytest

import tanbark
from tanbark import TAN, AveragedTAN, Category, Counts, NaiveBayes, Schema

MANY = 10**7


@pytest.mark.parametrize("levels", [4, 300])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ten_million_rows_that_are_all_the_same_are_counted_one_by_one(levels, n_jobs):
    schema = Schema([Category(f"a{u}", tuple(range(levels))) for u in range(3)], ("no", "yes"))
    same = np.broadcast_to(np.array([[1], [0], [levels - 1]], schema.dtype), (3, MANY))
    counts = Counts.of(schema, same, np.ones(MANY, np.int8), n_jobs=n_jobs)
    at = [1, levels, 3 * levels - 1]
    expected = np.zeros((2, 3 * levels, 3 * levels), np.int64)
    expected[1][np.ix_(at, at)] = MANY
    assert counts.class_counts.tolist() == [0, MANY]
    assert np.array_equal(counts.table, expected)
    assert counts.table.dtype == np.int64


@pytest.fixture
def few(random_table):
    schema, codes, y = random_table(3, 60, (2, 3, 4), 2)
    return Counts.of(schema, codes, y)


def row_of(schema):
    return np.zeros((len(schema.columns), 1), schema.dtype), np.zeros(1, np.int64)


def test_counts_are_exact_up_to_the_last_integer_and_refused_beyond(few):
    most = few * ((2**63 - 1) // 60)
    assert sum(most.class_counts.tolist()) == (2**63 - 1) // 60 * 60
    assert most - most * 1 + few == few
    spare = (2**63 - 1) % 60
    row = Counts.of(few.schema, *row_of(few.schema))
    full = most + row * spare
    assert sum(full.class_counts.tolist()) == 2**63 - 1
    for one_more in (
        lambda: full + row,
        lambda: full.plus(*row_of(few.schema)),
        lambda: full * 2,
        lambda: few * 10**30,
    ):
        with pytest.raises(ValueError, match=r"the counts exceed 2\*\*63 rows; multiply them by 1\.0 to convert"):
            one_more()
    assert (full * 1.0 + row).class_counts.sum() == 2.0**63


@pytest.mark.parametrize("times", [2**40, 2**46, 2**50, (2**63 - 1) // 60])
def test_a_model_of_so_many_rows_is_loaded_as_it_was_saved(few, times, tmp_path):
    tanbark.save(TAN().fit_counts(few * times), tmp_path / "m")
    assert tanbark.load(tmp_path / "m").counts_ == few * times


@pytest.mark.parametrize("classifier", [NaiveBayes, TAN, AveragedTAN])
def test_a_stream_that_runs_full_stops_with_the_model_as_it_was(classifier, few):
    model = classifier().fit_counts(few * ((2**63 - 1) // 60))
    X, y = pd.DataFrame(np.zeros((100, 3), int), columns=few.schema.names), np.zeros(100, int)
    before = model.predict_proba(X[:1])
    with pytest.raises(ValueError, match="the counts exceed"):
        model.partial_fit(X, y)
    assert np.array_equal(model.predict_proba(X[:1]), before)


@pytest.mark.parametrize("power", [1, 20, 40, 56])
def test_frequencies_do_not_depend_on_how_many_rows_there_are(few, power):
    """Times a power of two every double is the same but for its exponent."""
    rows = pd.DataFrame([[0, 0, 0], [1, 2, 3], [1, 1, 1]], columns=few.schema.names)
    one = TAN(parameters="ml").fit_counts(few)
    many = TAN(parameters="ml").fit_counts(few * 2**power)
    assert many.network_.edges == one.network_.edges
    np.testing.assert_allclose(many.predict_log_proba(rows), one.predict_log_proba(rows), rtol=1e-14)
