"""Frames of every library get the columns of a schema, and errors about columns say how."""

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tanbark import Category, Encoder, NaiveBayes, Number, Schema
from tanbark.evaluate import TableVectorizer
from tanbark.schema.read.frame_alignment import ALIGN_ADVICE, aligned_frame

SCHEMA = Schema([Category("sex", ("f", "m")), Number("age", (30, 50)), Category("flag", (False, True))], ("no", "yes"))
MAKE = {
    "pandas": pd.DataFrame,
    "pandas with Arrow types": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
}


def names(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def values(frame, name):
    column = frame[name]
    return column.to_pylist() if isinstance(frame, pa.Table) else column.to_list()


@pytest.mark.parametrize("library", MAKE)
def test_columns_are_ordered_added_and_dropped(library):
    frame = MAKE[library]({"height": [180, 170], "age": [61, 20], "sex": ["m", "f"]})
    aligned = SCHEMA.align(frame)
    assert type(aligned) is type(frame)
    assert names(aligned) == ["sex", "age", "flag"]
    assert values(aligned, "age") == [61, 20]
    assert values(aligned, "sex") == ["m", "f"]
    assert SCHEMA.encode(aligned).tolist() == [[1, 0], [2, 0], [255, 255]]
    assert names(frame) == ["height", "age", "sex"]


@pytest.mark.parametrize("library", MAKE)
def test_an_aligned_frame_stays_as_it_is(library):
    frame = MAKE[library]({"sex": ["m"], "age": [61], "flag": [True]})
    aligned = SCHEMA.align(frame)
    assert names(aligned) == ["sex", "age", "flag"]
    assert SCHEMA.encode(aligned).tolist() == [[1], [2], [1]]


@pytest.mark.parametrize("library", MAKE)
@pytest.mark.parametrize("rows", [1, 5000])
def test_a_missing_column_of_any_kind_is_encoded_as_missing(library, rows):
    table = pd.DataFrame(
        {
            "seen": pd.date_range("2024-01-01", periods=40, freq="31h"),
            "money": [f"${n},000" for n in range(100, 140)],
            "word": ["p", "q"] * 20,
            "flag": [True, False] * 20,
            "size": [n / 4 for n in range(40)],
        }
    )
    schema = Encoder(coerce=True).fit(table, [0, 1] * 20).schema_
    frame = MAKE[library]({"size": [0.25] * rows})
    codes = schema.encode(schema.align(frame))
    assert (codes[:-1] == schema.missing_code).all()
    assert (codes[-1] == 0).all()


def test_the_index_of_a_pandas_frame_stays():
    assert SCHEMA.align(pd.DataFrame({"age": [61, 20]}, index=["a", "b"])).index.tolist() == ["a", "b"]


def test_a_frame_without_rows_is_aligned():
    assert SCHEMA.align(pl.DataFrame({"age": []})).shape == (0, 3)


@pytest.mark.parametrize("table", [[[1, 2]], {"age": [1]}, None, pl.LazyFrame({"age": [1]})])
def test_what_is_not_a_data_frame_raises(table):
    with pytest.raises(TypeError, match=r"^align needs a data frame or an Arrow table, whose columns have names, got"):
        SCHEMA.align(table)


def test_a_frame_without_any_of_the_columns_raises():
    with pytest.raises(ValueError, match=r"^the table has none of the columns 'sex', 'age', 'flag'; check its column"):
        SCHEMA.align(pd.DataFrame({"Sex": ["m"]}))


def test_two_columns_of_one_name_raise():
    frame = pd.DataFrame([[1, 2]], columns=["age", "age"])
    with pytest.raises(ValueError, match=r"^the table has two columns named 'age'; rename one$"):
        SCHEMA.align(frame)


def test_a_model_without_column_names_cannot_align():
    model = NaiveBayes().fit([[1.5], [2.5]], [0, 1])
    with pytest.raises(ValueError, match=r"^the model was fitted without column names"):
        model.schema_.align(pd.DataFrame({"x0": [1.5]}))


TABLE = pd.DataFrame({"a": ["p", "q"] * 5, "b": ["x", "y"] * 5})


WRONG = {
    "reordered": TABLE[["b", "a"]],
    "missing": TABLE[["a"]],
    "unknown": TABLE.assign(c=1),
    "renamed": TABLE.rename(columns={"b": "c"}),
}


@pytest.mark.parametrize("case", WRONG)
def test_estimators_and_schemas_still_raise_and_say_how_to_align(case):
    frame = WRONG[case]
    model = NaiveBayes().fit(TABLE, [0, 1] * 5)
    vectorizer = TableVectorizer().fit(TABLE, [0, 1] * 5)
    for call in (model.predict, model.predict_proba, model.schema_.encode, vectorizer.transform):
        with pytest.raises(ValueError, match=re.escape(ALIGN_ADVICE)):
            call(frame)
    assert model.predict(model.schema_.align(frame)).shape == (10,)


def test_arrays_with_too_few_columns_raise_without_that_advice():
    model = NaiveBayes().fit([["p", "x"], ["q", "y"]], [0, 1])
    for call in (model.predict, model.schema_.encode):
        with pytest.raises(ValueError, match=r"columns|features") as error:
            call([["p"]])
        assert ALIGN_ADVICE not in str(error.value)


def test_a_column_with_nearly_the_same_name_is_reported():
    frame = pd.DataFrame({"Income": [1.5, 2.5], "age": [30, 40]})
    with pytest.warns(UserWarning, match="no column 'income', but 'Income'; rename it if it is the same"):
        aligned = aligned_frame(frame, ("income", "age"))
    assert aligned["income"].isna().all()
