"""Notes and errors about values that a model does not expect."""

import itertools
import pickle

import pytest

from tanbark.schema.recipe.unreadable import UnreadableValues, collecting, listed_examples, reporting

PARTS = [
    ("income", "numbers", 40, {"n.k.": 2}),
    ("income", "numbers", 50, {}),
    ("income", "numbers", 10, {"x": 1, "n.k.": 3}),
    ("seen", "dates", 10, {"soon": 1}),
]
NOTES = {
    "column 'income': expected numbers, but 6 of 100 values are not ('n.k.', 'x') and count as missing",
    "column 'seen': expected dates, but 1 of 10 values is not ('soon') and counts as missing",
    "column 'seen': 3 of 8 dates lie outside the range seen in training (2020-01-01 to 2023-12-31)",
}


def collected(parts):
    values = UnreadableValues()
    for part in parts:
        values.add(*part)
    values.add_dates("seen", 5, 3, "2020-01-01 to 2023-12-31")
    values.add_dates("seen", 3, 0, "2020-01-01 to 2023-12-31")
    return values


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_the_notes_count_all_parts_in_any_order(order):
    assert set(collected([PARTS[at] for at in order]).notes()) == NOTES


def test_collections_can_be_merged_and_pickled():
    merged = UnreadableValues()
    for part in PARTS:
        other = UnreadableValues()
        other.add(*part)
        merged.merge(pickle.loads(pickle.dumps(other)))
    merged.merge(collected([]))
    assert set(merged.notes()) == NOTES


def test_the_notes_of_some_columns_can_be_selected():
    assert [note[:14] for note in collected(PARTS).notes(["income"])] == ["column 'income"[:14]]


def test_columns_without_unexpected_values_have_no_note():
    values = UnreadableValues()
    values.add("a", "numbers", 5, {})
    values.add_dates("b", 5, 0, "2020 to 2021")
    values.check()
    assert values.notes() == []


def test_more_than_half_of_all_values_raise_at_the_end():
    values = UnreadableValues()
    values.add("a", "numbers", 10, {"x": 10})
    values.add("a", "numbers", 10, {})
    values.check()
    values.add("a", "numbers", 1, {"y": 1})
    with pytest.raises(ValueError, match=r"^column 'a': expected numbers, but 11 of 21 values are not \('x',"):
        values.check()


def test_a_single_unreadable_value_does_not_raise():
    values = UnreadableValues()
    values.add("a", "numbers", 1, {"x": 1})
    values.check()
    assert values.notes() == ["column 'a': expected numbers, but 1 of 1 values is not ('x') and counts as missing"]


def test_reporting_warns_once_unless_a_caller_collects():
    def report():
        with reporting() as outer, reporting() as inner:
            inner.add("a", "numbers", 9, {"x": 1})
            assert inner is outer

    with pytest.warns(UserWarning, match="column 'a'") as caught:
        report()
    assert len(caught) == 1
    with collecting(UnreadableValues()) as mine:
        with reporting() as values:
            values.add("a", "numbers", 9, {"x": 1})
        assert len(mine.notes()) == 1


def test_long_and_many_examples_are_shortened():
    assert listed_examples(["a" * 50], 1) == repr("a" * 40)
    assert listed_examples([], 0) == ""
