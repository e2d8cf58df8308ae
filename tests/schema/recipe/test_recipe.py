"""Recipes: reading tables as a model expects, saving, and descriptions that are not valid."""

import contextlib
import copy
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanbark import Encoder, EvidenceBN, NaiveBayes, Recipe, Schema, load, save
from tanbark.schema.recipe.date_text import DATE_FORMATS
from tanbark.schema.recipe.recipe import KINDS, MISSING, MISSING_NUMBERS, TIME_OF_DAY, InputColumn

RELEASE = Path(__file__).parents[2] / "releases" / "0.1.0.model"
Y = np.array([0, 1] * 30)


def learned(frame, **parameters):
    """Return the schema of a table whose text is read, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Encoder(**{"coerce": True} | parameters).fit(frame, Y[: len(frame)]).schema_


MESSY = pd.DataFrame(
    {
        "income": [f"${n:,}" for n in range(900, 1500, 10)],
        "seen": [f"2024-{n % 12 + 1:02}-{n % 28 + 1:02} {n % 24:02}:30" for n in range(60)],
        "colour": ["red", "n/a", "blue"] * 20,
        "smokes": [True, False, None] * 20,
        "id": [f"p{n}" for n in range(60)],
        "size": np.arange(60) / 4,
    }
)

# Reading


def test_each_kind_of_column_reads_text_and_typed_values_alike():
    schema = learned(MESSY)
    assert [one.kind for one in schema.recipe.inputs] == ["number", "date", "category", "boolean", "category", "number"]
    typed = MESSY.assign(
        income=[float(n) for n in range(900, 1500, 10)],
        seen=pd.to_datetime(MESSY.seen),
        colour=MESSY.colour.replace("n/a", None),
        smokes=["yes", "no", ""] * 20,
        size=[f"{n / 4:.2f}" for n in range(60)],
    )
    np.testing.assert_array_equal(schema.encode(typed), schema.encode(MESSY))


def test_markers_in_a_table_to_predict_are_those_of_training():
    schema = learned(MESSY, coerce=Recipe(missing=["n.k."]))
    codes = schema.encode(MESSY.assign(income="n.k.", colour="N.K."))
    assert (codes[schema.index("income")] == schema.missing_code).all()
    assert (codes[schema.index("colour")] == schema.missing_code).all()


def test_a_kind_is_never_detected_anew():
    schema = learned(pd.DataFrame({"plz": ["80331", "10115"] * 5}))
    assert schema.encode(pd.DataFrame({"plz": ["010115", "80331.0"]})).tolist() == [[0, 1]]


def test_a_few_unreadable_values_are_missing_with_one_warning():
    schema = learned(MESSY)
    further = MESSY.assign(income=["n.k.", "n.k.", "?"] + ["$950"] * 57)
    values = "2 of 59 values are not ('n.k.') and count as missing"
    with pytest.warns(UserWarning, match="column 'income'") as caught:
        codes = schema.encode(further)
    assert [str(w.message) for w in caught] == [f"column 'income': expected numbers such as $1234.5, but {values}"]
    assert codes[0, :3].tolist() == [schema.missing_code] * 3


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("income", "expected numbers such as $1234.5, but 60 of 60 values are not ('blue', 'red')"),
        ("seen", "expected dates such as 2024-12-31, but 60 of 60 values are not ('blue', 'red')"),
        ("smokes", "expected true or false, but 60 of 60 values are not ('blue', 'red')"),
    ],
)
def test_a_column_full_of_words_raises(column, expected):
    schema = learned(MESSY)
    with pytest.raises(ValueError, match=r"^column ") as error:
        schema.encode(MESSY.assign(**{column: ["red", "blue"] * 30}))
    assert str(error.value) == f"column {column!r}: {expected}; check that this is the right column"


def test_half_of_the_values_may_be_unreadable():
    schema = learned(MESSY)
    with pytest.warns(UserWarning, match="30 of 60 values are not"):
        schema.encode(MESSY.assign(income=["$950", "x"] * 30))
    with pytest.raises(ValueError, match="31 of 60 values are not"):
        schema.encode(MESSY.assign(income=["$950", "x"] * 29 + ["x", "x"]))


def test_a_single_row_with_an_unreadable_value_is_encoded():
    schema = learned(MESSY)
    with pytest.warns(UserWarning, match="1 of 1 values is not"):
        codes = schema.encode(MESSY[:1].assign(income="n.k."))
    assert codes[schema.index("income"), 0] == schema.missing_code


@pytest.mark.parametrize(("values", "held"), [([1.5, 2.5], "numbers"), ([True, False], "labels")])
def test_numbers_and_booleans_in_place_of_dates_raise(values, held):
    schema = learned(MESSY)
    with pytest.raises(ValueError, match=rf"^column 'seen' holds {held}, but the schema expects dates; convert"):
        schema.encode(MESSY.assign(seen=values * 30))


def test_dates_in_place_of_numbers_raise():
    schema = learned(MESSY)
    with pytest.raises(TypeError, match=r"^column 'income' holds dates or times"):
        schema.encode(MESSY.assign(income=pd.Timestamp("2024-03-01")))


def test_a_column_without_values_is_all_missing_whatever_its_type():
    schema = learned(MESSY)
    for nothing in (None, np.nan, pd.NaT, "", "n/a"):
        codes = schema.encode(MESSY.assign(**dict.fromkeys(MESSY.columns, nothing)))
        assert (codes == schema.missing_code).all()


@pytest.mark.parametrize("marker", ["0", "n", "no", "f"])
def test_a_marker_is_no_other_spelling_of_false(marker):
    rules = Recipe(missing=["", marker], inputs=[InputColumn("x", "boolean")])
    schema = learned(pd.DataFrame({"x": [True, False]}), coerce=rules)
    assert schema.encode(pd.DataFrame({"x": ["true", "false", marker]})).tolist() == [[1, 0, schema.missing_code]]


def test_large_integers_in_text_are_exact_next_to_missing_values():
    large = [2**53 + 1, 2**53 + 2, 2**53 + 3]
    schema = learned(pd.DataFrame({"x": large * 2}), coerce=Recipe(inputs=[InputColumn("x", "category")]))
    with pytest.warns(UserWarning, match="1 of 5 values is not"):
        codes = schema.encode(pd.DataFrame({"x": ["NA", str(large[2]), f" {large[0]}", "x", str(large[1]), "7"]}))
    assert codes.tolist() == [[schema.missing_code, 2, 0, schema.missing_code, 1, schema.missing_code]]


def test_numbers_next_to_text_are_read():
    schema = learned(pd.DataFrame({"x": pd.Series([1.5, "2.5", "n/a", 3, None], dtype=object)}))
    assert (schema.columns[0].low, schema.columns[0].high) == (1.5, 3.0)


# Names


@pytest.mark.parametrize("other", ["seen (month)", "class"])
def test_two_columns_of_one_name_after_expansion_raise_and_change_nothing(other):
    frame = MESSY[["seen"]].assign(**{"seen (month)": "a"} if other != "class" else {})
    y = pd.Series(Y, name="seen (month)" if other == "class" else "class")
    expected = r"^the column of dates 'seen' is expanded into a column 'seen \(month\)', but the table already has one"
    for model in (NaiveBayes(encoder=Encoder(coerce=True)), EvidenceBN(encoder=Encoder(coerce=True))):
        with pytest.raises(ValueError, match=expected):
            model.fit(frame, y)
        assert not hasattr(model, "model_")
    schema = Encoder(coerce=True, dates="number").fit(frame, y).schema_
    assert schema.names == tuple(frame.columns)


def test_a_recipe_with_a_column_that_the_table_lacks_raises():
    recipe = Recipe(inputs=[InputColumn("height", "number")])
    with pytest.raises(ValueError, match=r"^the recipe has the column 'height', which the table does not have$"):
        Encoder(coerce=recipe).fit(MESSY, Y)


def test_a_table_of_which_every_column_is_left_out_raises():
    recipe = Recipe(inputs=[InputColumn("size", "ignored")])
    with pytest.raises(ValueError, match=r"^all columns are left out, so that there is nothing to learn from"):
        Encoder(coerce=recipe).fit(MESSY[["size"]], Y)
    with pytest.raises(ValueError, match=r"^all columns are left out"):
        Encoder(coerce=True, dates="ignore").fit(MESSY[["seen"]], Y)


# Saving

NAMES = st.text(max_size=5)
MARKS = st.lists(st.text(max_size=5), max_size=4)


@st.composite
def inputs(draw, name):
    kind = draw(st.sampled_from(KINDS))
    date_format = draw(st.sampled_from(DATE_FORMATS))
    has_parts = kind == "date" and date_format != TIME_OF_DAY
    parts = draw(st.lists(st.sampled_from(["weekday", "month", "hour"]), unique=True)) if has_parts else []
    currency = draw(st.sampled_from(["", "$", "€"]))
    return InputColumn(name, kind, draw(MARKS), draw(st.sampled_from(".,")), currency, date_format, parts)


@st.composite
def recipes(draw):
    names = draw(st.lists(NAMES, unique=True, max_size=4))
    decimal = draw(st.sampled_from(["auto", ".", ","]))
    return Recipe(draw(MARKS), draw(MARKS), decimal, draw(st.booleans()), [draw(inputs(name)) for name in names])


@given(recipes())
def test_a_recipe_survives_a_dict_json_a_pickle_and_a_copy(recipe):
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    assert copy.deepcopy(recipe) == recipe


def test_a_description_lists_what_differs_from_the_defaults():
    recipe = Recipe(inputs=[InputColumn("x"), InputColumn("y", "number", decimal=",")])
    assert recipe.to_dict() == {
        "missing": list(MISSING),
        "missing_numbers": list(MISSING_NUMBERS),
        "decimal": "auto",
        "day_first": False,
        "inputs": [{"name": "x"}, {"name": "y", "kind": "number", "decimal": ","}],
    }


def test_a_schema_with_a_recipe_survives_json():
    schema = learned(MESSY)
    assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))) == schema


@pytest.mark.parametrize("classifier", [NaiveBayes, EvidenceBN])
def test_a_saved_model_reads_tables_as_before(classifier, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = classifier(encoder=Encoder(coerce=True)).fit(MESSY, Y)
    save(model, tmp_path / "m.tanbark")
    loaded = load(tmp_path / "m.tanbark")
    assert loaded.schema_ == model.schema_
    assert loaded.feature_names_in_.tolist() == list(MESSY.columns)
    for frame in (MESSY, pl.from_pandas(MESSY), pa.Table.from_pandas(MESSY)):
        np.testing.assert_array_equal(loaded.predict_proba(frame), model.predict_proba(MESSY))


def test_a_model_of_release_0_1_has_no_recipe():
    schema = load(RELEASE).schema_
    assert schema.recipe is None
    assert schema.input_names == schema.names
    assert schema.source_index.tolist() == list(range(len(schema.names)))


def test_schemas_with_different_recipes_cannot_be_merged():
    schema = learned(MESSY)
    other = learned(MESSY, coerce=Recipe(missing=["n.k."]))
    assert schema.merge(schema) == schema
    with pytest.raises(ValueError, match="read their tables in different ways"):
        schema.merge(other)


# Descriptions that are not valid

COLUMN = {"name": "x"}
NONSENSE = {
    "null": (None, "the recipe is not valid: expected a JSON object, got None"),
    "a list": ([], "the recipe is not valid: expected a JSON object"),
    "a text": ("x", "the recipe is not valid: expected a JSON object"),
    "an unknown key": ({"colour": 1}, "the recipe is not valid: 'colour' is not one of missing, missing_numbers"),
    "a number as key": ({1: 2}, "the recipe is not valid: 1 is not one of missing"),
    "missing is a text": ({"missing": "NA"}, "missing must be a list of texts, got 'NA'"),
    "missing is a number": ({"missing": 3}, "missing must be a list of texts, got 3"),
    "missing is null": ({"missing": None}, "missing must be a list of texts, got None"),
    "missing has numbers": ({"missing": [9]}, r"missing must be a list of texts, got \[9\]"),
    "missing_numbers is an object": ({"missing_numbers": {"a": 1}}, "missing_numbers must be a list of texts"),
    "decimal": ({"decimal": ";"}, "decimal must be 'auto' or '.' or ',', got ';'"),
    "decimal is a list": ({"decimal": ["."]}, "decimal must be 'auto' or '.' or ','"),
    "day_first": ({"day_first": "yes"}, "day_first must be True or False, got 'yes'"),
    "day_first is a number": ({"day_first": 1}, "day_first must be True or False, got 1"),
    "inputs is null": ({"inputs": None}, "the recipe is not valid: inputs must be a list, got None"),
    "inputs is a number": ({"inputs": 3}, "the recipe is not valid: inputs must be a list, got 3"),
    "inputs is an object": ({"inputs": {"x": {}}}, "the recipe is not valid: inputs must be a list"),
    "inputs is a text": ({"inputs": "x"}, "the recipe is not valid: inputs must be a list"),
    "a column is a text": ({"inputs": [COLUMN, "y"]}, "column 2 of the recipe is not valid: expected a JSON object"),
    "no name": ({"inputs": [{}]}, "column 1 of the recipe is not valid: it has no name"),
    "a name is a number": ({"inputs": [{"name": 3}]}, "the name of a column must be text, got 3"),
    "a name is a list": ({"inputs": [{"name": ["x"]}]}, "the name of a column must be text"),
    "one name twice": ({"inputs": [COLUMN, COLUMN]}, "the recipe has two columns named 'x'"),
    "unknown key of a column": ({"inputs": [COLUMN | {"size": 1}]}, "column 1 of the recipe is not valid: 'size' is"),
    "kind": ({"inputs": [COLUMN | {"kind": "numeric"}]}, "column 'x': kind must be 'unchanged' or 'category' or"),
    "kind is a list": ({"inputs": [COLUMN | {"kind": []}]}, "column 'x': kind must be"),
    "kind is null": ({"inputs": [COLUMN | {"kind": None}]}, "column 'x': kind must be"),
    "missing of a column": ({"inputs": [COLUMN | {"missing": "x"}]}, "column 'x': missing must be a list of texts"),
    "decimal of a column": ({"inputs": [COLUMN | {"decimal": "auto"}]}, "column 'x': decimal must be '.' or ','"),
    "currency": ({"inputs": [COLUMN | {"currency": "EUR"}]}, "column 'x': currency must be one currency sign"),
    "currency is a letter": ({"inputs": [COLUMN | {"currency": "k"}]}, "column 'x': currency must be one currency"),
    "currency is null": ({"inputs": [COLUMN | {"currency": None}]}, "column 'x': currency must be one currency"),
    "date_format": ({"inputs": [COLUMN | {"date_format": "%Y"}]}, "column 'x': date_format must be 'year-month-day'"),
    "parts": ({"inputs": [COLUMN | {"kind": "date", "parts": ["year"]}]}, "column 'x': parts must be a list of some"),
    "parts is a number": ({"inputs": [COLUMN | {"kind": "date", "parts": 3}]}, "column 'x': parts must be a list of"),
    "a part twice": (
        {"inputs": [COLUMN | {"kind": "date", "parts": ["hour", "hour"]}]},
        "column 'x': parts has 'hour' twice; list each once",
    ),
    "parts of a number": ({"inputs": [COLUMN | {"kind": "number", "parts": ["hour"]}]}, "column 'x': only dates have"),
}


@pytest.mark.parametrize("case", NONSENSE)
def test_a_description_that_is_not_valid_raises_one_sentence(case):
    description, expected = NONSENSE[case]
    with pytest.raises(ValueError, match=rf"^{expected}") as error:
        Recipe.from_dict(description)
    assert "\n" not in str(error.value)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(), st.text(max_size=3), st.sampled_from(KINDS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.one_of(
                st.sampled_from(
                    ["missing", "missing_numbers", "decimal", "day_first", "inputs", "name", "kind", "parts"]
                ),
                st.text(max_size=2),
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_a_recipe_or_a_value_error(description):
    with contextlib.suppress(ValueError):
        Recipe.from_dict(description)


@given(st.data())
def test_an_edited_recipe_in_a_schema_is_valid_or_a_value_error(data):
    description = copy.deepcopy(learned(MESSY[["income", "seen"]]).to_dict())
    place = description["recipe"]
    if data.draw(st.booleans()):
        place = place["inputs"][data.draw(st.integers(0, 1))]
    place[data.draw(st.sampled_from([*place, "parts", "kind"]))] = data.draw(JSON)
    try:
        schema = Schema.from_dict(description)
    except ValueError:
        return
    assert Schema.from_dict(schema.to_dict()) == schema


def test_parameters_that_are_not_valid_raise():
    with pytest.raises(ValueError, match=r"^inputs must be a list of InputColumn, got 3$"):
        Recipe(inputs=3)
    with pytest.raises(ValueError, match=r"^inputs must be a list of InputColumn"):
        Recipe(inputs=[{"name": "x"}])
    for coerce in ("yes", 1, None):
        with pytest.raises(ValueError, match=r"^coerce must be True, False or a Recipe"):
            Encoder(coerce=coerce).fit(MESSY, Y)
    for name in ("dates", "identifiers"):
        for value in ("all", 1, None, []):
            with pytest.raises(ValueError, match=rf"^{name} must be 'expand' or|^{name} must be 'keep' or"):
                Encoder(**{name: value}).fit(MESSY, Y)
