import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Category, Counts, Number, Schema
from tanbark.counts import batch_counting as module
from tanbark.counts import count_batches

SCHEMA = Schema([Category("a", ("p", "q")), Number("b", (0.5,)), Category("c", (1, 2, 3))], (0, 1), "y")


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    a = pa.array([["p", "q", "r", None][i] for i in rng.integers(0, 4, 500)])
    b = pa.array([None if v < 0.1 else v for v in rng.random(500)])
    c = pa.array([None if v == 0 else int(v) for v in rng.integers(0, 5, 500)])
    return pa.table({"y": pa.array(rng.integers(0, 2, 500)), "c": c, "extra": b, "b": b, "a": a})


def brute_force(table):
    """Return class counts and the Burt table by definition."""
    place = {("a", "p"): 0, ("a", "q"): 1, ("c", 1): 4, ("c", 2): 5, ("c", 3): 6}
    class_counts, burt = np.zeros(2, int), np.zeros((2, 7, 7), int)
    for row in table.to_pylist():
        if row["y"] is None:
            continue
        held = [place.get(("a", row["a"])), place.get(("c", row["c"]))]
        held.append(None if row["b"] is None else 2 + (row["b"] > 0.5))
        held = [at for at in held if at is not None]
        class_counts[row["y"]] += 1
        burt[np.ix_([row["y"]], held, held)] += 1
    return Counts(SCHEMA, class_counts, burt)


@pytest.mark.parametrize("few", [1, 100, 10_000])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("private", [0, 10**9])
def test_the_size_of_batches_does_not_change_the_counts(table, monkeypatch, few, n_jobs, private):
    monkeypatch.setattr(module, "MAX_PRIVATE_BYTES", private)
    monkeypatch.setattr(module.merge_small_batches, "__defaults__", (few,))
    for size in (1, 7, 64, 500):
        assert count_batches(SCHEMA, table.to_batches(size), "y", n_jobs=n_jobs) == brute_force(table)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 500), max_size=8), st.randoms())
def test_batches_may_come_in_any_order(cuts, random):
    rng = np.random.default_rng(1)
    table = pa.table(
        {
            "a": rng.choice(["p", "q"], 500),
            "b": rng.random(500),
            "c": rng.integers(1, 4, 500),
            "y": rng.integers(0, 2, 500),
        }
    )
    parts = [table[a:b] for a, b in zip([0, *sorted(cuts)], [*sorted(cuts), 500], strict=True)]
    random.shuffle(parts)
    batches = [batch for part in parts for batch in part.combine_chunks().to_batches()]
    assert count_batches(SCHEMA, batches, "y") == brute_force(table)


def test_progress_counts_the_rows(table):
    reported = []
    count_batches(SCHEMA, table.to_batches(100), "y", seen=reported.append)
    assert reported[-1] == 500


def test_rows_without_a_class_are_dropped_with_one_warning(table):
    unlabelled = table.set_column(0, "y", pa.array([None if i % 3 == 0 else i % 2 for i in range(500)]))
    with pytest.warns(UserWarning, match="^167 rows without a class are dropped$") as caught:
        assert count_batches(SCHEMA, unlabelled.to_batches(9), "y") == brute_force(unlabelled)
    assert len(caught) == 1


def test_batches_whose_classes_are_all_missing_are_fine(table):
    unlabelled = table[:20].set_column(0, "y", pa.nulls(20, pa.int64()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert count_batches(SCHEMA, [*unlabelled.to_batches(), *table.to_batches()], "y") == brute_force(table)


def test_no_rows_give_zero_counts(table):
    assert count_batches(SCHEMA, [], "y") == Counts.zero(SCHEMA)
    assert count_batches(SCHEMA, table[:0].to_batches(), "y") == Counts.zero(SCHEMA)


def test_columns_may_change_their_order_and_storage_between_batches(table):
    other = table.select(["a", "b", "c", "y"]).set_column(0, "a", table["a"].dictionary_encode())
    batches = [*table.to_batches(200), *other.to_batches(200)]
    assert count_batches(SCHEMA, batches, "y") == brute_force(pa.concat_tables([table, table]))


def test_the_error_names_an_absent_column(table):
    for name, what in (("b", "column"), ("y", "class column")):
        with pytest.raises(ValueError, match=f"lack the {what} '{name}'"):
            count_batches(SCHEMA, table.drop_columns([name]).to_batches(), "y")


def test_the_error_names_a_duplicated_column(table):
    with pytest.raises(ValueError, match="two columns named 'b'"):
        count_batches(SCHEMA, table.append_column("b", table["b"]).to_batches(), "y")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_error_names_an_unknown_class(table, n_jobs):
    unknown = table.set_column(0, "y", pa.array([i // 499 * 7 for i in range(500)]))
    with pytest.raises(ValueError, match="unknown class 7; the known classes are"):
        count_batches(SCHEMA, unknown.to_batches(10), "y", n_jobs=n_jobs)


def test_the_error_names_a_column_of_the_wrong_type(table):
    text = table.set_column(3, "b", pa.array(["x"] * 500))
    with pytest.raises(ValueError, match="column 'b' holds text"):
        count_batches(SCHEMA, text.to_batches(), "y")
