"""Which columns are left out because they only identify rows, each rule as it is documented."""

import warnings

import numpy as np
import pandas as pd
import pytest

from tanbark import TAN, Encoder, NaiveBayes, Recipe, Stream
from tanbark.schema.read.raw_columns import Labels, Numbers
from tanbark.schema.recipe.identifiers import identifies_rows
from tanbark.schema.recipe.recipe import InputColumn

ROWS = 200
RNG = np.random.default_rng(0)
SIZE = RNG.normal(size=ROWS).round(1)
Y = RNG.integers(0, 2, ROWS)


def table(column, rows=ROWS):
    return pd.DataFrame({"size": SIZE[:rows], "x": column})


def fitted(frame, y=None, **parameters):
    """Return the names of the columns of the schema, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = Encoder(**{"identifiers": "drop"} | parameters).fit(frame, Y[: len(frame)] if y is None else y).schema_
    return schema.names, [str(w.message) for w in caught]


def left_out(column, **parameters):
    return "x" not in fitted(table(column, len(column)), **parameters)[0]


def test_text_with_more_than_nine_tenths_distinct_values_is_left_out():
    names = [f"patient {n}" for n in range(ROWS)]
    assert left_out(names)
    assert left_out([names[n % 181] for n in range(ROWS)])
    assert not left_out([names[n % 180] for n in range(ROWS)], max_levels=60_000, keep=["x"])


def test_the_share_of_distinct_values_is_that_of_the_known_ones():
    assert left_out([f"patient {n}" if n % 2 else None for n in range(ROWS)])


@pytest.mark.filterwarnings("ignore:column 'x' has")
def test_less_than_a_hundred_rows_of_text_stay():
    assert not left_out([f"patient {n}" for n in range(99)])
    assert left_out([f"patient {n}" for n in range(100)])


@pytest.mark.parametrize("coerce", [True, False])
def test_distinct_consecutive_integers_are_left_out_in_any_order(coerce):
    numbers = RNG.permutation(ROWS) + 1000
    assert left_out(numbers.astype(str), coerce=True)
    assert left_out(numbers, coerce=coerce)
    assert left_out(numbers.astype(float), coerce=coerce)


def test_integers_that_repeat_or_have_gaps_stay():
    assert not left_out(np.arange(ROWS) * 2)
    assert not left_out(np.arange(ROWS) // 2)
    assert not left_out(np.arange(ROWS) + 0.5)
    assert not left_out(np.append(np.arange(ROWS - 1), 500))


def test_twenty_consecutive_integers_may_be_a_coincidence():
    assert not left_out(np.arange(20))
    assert left_out(np.arange(21))


@pytest.mark.filterwarnings("ignore:column 'x' has")
def test_long_free_text_is_left_out():
    notes = [f"patient reports pain in the left knee since visit {n}" for n in range(ROWS)]
    assert left_out([notes[n % 110] for n in range(ROWS)])
    assert not left_out([f"note {n % 110}" for n in range(ROWS)])


def test_each_reason_has_one_warning_that_says_how_to_keep_the_column():
    frame = pd.DataFrame(
        {
            "size": SIZE,
            "patient": [f"p{n}" for n in range(ROWS)],
            "row": np.arange(ROWS),
            "note": [f"a long remark about what was seen that day, number {n // 2 + n % 2 * 40}" for n in range(ROWS)],
        }
    )
    names, notes = fitted(frame)
    assert names == ("size",)
    assert notes == [
        "column 'patient' looks like an identifier: left out; keep it with keep=['patient']",
        "column 'row' numbers the rows: left out; keep it with keep=['row']",
        "column 'note' holds free text: left out; keep it with keep=['note']",
    ]
    assert fitted(frame, keep=["patient", "row", "note"])[0] == ("size", "patient", "row", "note")


def test_a_column_that_is_left_out_stays_a_column_of_the_table():
    frame = table([f"p{n}" for n in range(ROWS)])
    with pytest.warns(UserWarning, match="looks like an identifier"):
        model = NaiveBayes(encoder=Encoder(identifiers="drop")).fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["size", "x"]
    assert model.n_features_in_ == 2
    changed = frame.assign(x="unheard of")
    np.testing.assert_array_equal(model.predict_proba(frame), model.predict_proba(changed))


def test_the_last_remaining_column_is_never_left_out():
    rows = [f"p{n}" for n in range(ROWS)]
    assert fitted(pd.DataFrame({"a": rows}))[0] == ("a",)
    assert fitted(pd.DataFrame({"a": rows, "b": np.arange(ROWS)}))[0] == ("b",)


@pytest.mark.filterwarnings("ignore:column 'x' has")
def test_by_default_identifiers_stay_with_the_advice_to_drop_them():
    frame = table([f"p{n}" for n in range(ROWS)])
    with pytest.warns(UserWarning, match="column 'x' has 200 levels in 200 rows: it looks like an identifier; drop it"):
        assert Encoder().fit(frame, Y).schema_.names == ("size", "x")


@pytest.mark.parametrize("column", ["categorical", "declared", "given", "date"])
@pytest.mark.filterwarnings("ignore:column 'x' has")
def test_what_the_user_declared_and_dates_stay(column):
    names = [f"p{n}" for n in range(ROWS)]
    days = pd.date_range("2024-01-01", periods=ROWS)
    if column == "categorical":
        assert not left_out(names, categorical=["x"])
    elif column == "declared":
        assert not left_out(pd.Categorical(names))
    elif column == "given":
        assert not left_out(names, coerce=Recipe(inputs=[InputColumn("x", "category")]))
    else:
        assert not left_out(days)
        assert not left_out(days.astype(str), coerce=True)


GROWING = {
    "partial_fit": lambda model, *rows: model.partial_fit(*rows),
    "Stream.partial_fit": lambda model, *rows: Stream(model).partial_fit(*rows).model_,
    "Stream.fit": lambda model, *rows: Stream(model).fit(*rows).model_,
}


@pytest.mark.filterwarnings("ignore:column 'x' has")
@pytest.mark.parametrize("learn", GROWING)
def test_no_column_is_left_out_if_further_rows_follow(learn):
    frame = table([f"p{n}" for n in range(ROWS)])
    model = GROWING[learn](TAN(encoder=Encoder(identifiers="drop")), frame, Y)
    assert model.schema_.names == ("size", "x")


@pytest.mark.parametrize("call", ["fit", "partial_fit"])
def test_an_unknown_name_in_keep_raises_and_changes_nothing(call):
    frame = table(SIZE)
    model = NaiveBayes(encoder=Encoder(keep=["height"]))
    with pytest.raises(ValueError, match=r"^keep names the column 'height', which the table does not have$"):
        getattr(model, call)(frame, Y)
    assert not hasattr(model, "model_")
    model = NaiveBayes().fit(frame, Y)
    before = model.predict_proba(frame)
    model.set_params(encoder=Encoder(keep=["height"]))
    with pytest.raises(ValueError, match="keep names the column 'height'"):
        model.fit(frame, Y)
    np.testing.assert_array_equal(model.predict_proba(frame), before)


@pytest.mark.parametrize("keep", ["x", 3, None, [1], {"x": 1}.items()])
def test_keep_must_be_a_list_of_names(keep):
    with pytest.raises(ValueError, match=r"^keep must be a list of column names"):
        Encoder(keep=keep).fit(table(SIZE), Y)


def test_weights_are_the_rows_that_a_value_stands_for():
    # The smallest number has no weight of its own, as in a survey.
    quantiles = Numbers(np.array([[0.0], [49.0], [99.0]]), 0, "x")
    assert identifies_rows(quantiles, np.array([0.0, 50.0, 50.0])) == "numbers the rows"
    assert identifies_rows(quantiles, np.array([0.0, 60.0, 40.0])) is None
    labels = Labels([f"p{n}" for n in range(100)], np.arange(100), "x")
    assert identifies_rows(labels, np.ones(100)) == "looks like an identifier"
    assert identifies_rows(labels, np.full(100, 2.0)) is None


@pytest.mark.parametrize("repeated", [0, 5, 29])
def test_repeated_numbers_that_span_as_many_values_as_rows_are_not_row_numbers(repeated):
    distinct = np.array([n for n in range(31) if n != (1 if repeated != 0 else 30)], float)
    distinct = distinct if repeated else np.append(distinct[distinct != 3], 30.0)
    counts = np.where(distinct == repeated, 2.0, 1.0)
    assert counts.sum() == distinct.max() - distinct.min() + 1
    rows = np.repeat(distinct, counts.astype(int))
    assert identifies_rows(Numbers(rows.reshape(-1, 1), 0, "x"), None) is None
    assert identifies_rows(Numbers(distinct.reshape(-1, 1), 0, "x"), counts) is None
