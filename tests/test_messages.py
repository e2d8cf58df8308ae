"""Helpers for messages to users."""

import warnings

import pandas as pd
import pyarrow as pa
import pytest

from tanbark import K2, TAN, AveragedTAN, BayesNet, Counts, Encoder, EvidenceBN, Recipe, SuperParent
from tanbark.messages import similar_name, suggestion
from tanbark.schema.recipe.recipe import InputColumn


@pytest.mark.parametrize(
    ("name", "others", "similar"),
    [
        ("Age", ["age"], "age"),
        ("blood pressure", ["Blood_Pressure", "pulse"], "Blood_Pressure"),
        ("temperature", ["temprature"], "temprature"),
        ("x1", ["x2"], None),
        ("pressure_1", ["pressure_2"], None),
        ("income 2019", ["income 2020"], None),
        ("age", ["wage"], None),
        ("", ["-"], None),
    ],
)
def test_similar_names_differ_in_case_punctuation_or_a_letter(name, others, similar):
    assert similar_name(name, others) == similar


def test_warnings_are_attributed_to_the_caller():
    schema = Encoder(coerce=True).fit(pd.DataFrame({"x": ["1.5", "2.5"] * 20}), [0, 1] * 20).schema_
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema.encode(pd.DataFrame({"x": ["1.5", "high", "2.5"]}))
    assert [warning.filename for warning in caught] == [__file__]


def _columns():
    X = pd.DataFrame({"age": [1, 2, 3, 4] * 5, "income": [0, 0, 1, 1] * 5, "city": list("pqrs") * 5})
    return X, [0, 1] * 10


@pytest.mark.parametrize(
    "model",
    [
        K2(order=["incmoe", "age", "city"]),
        SuperParent(parent="incmoe"),
        AveragedTAN(edge_prior={("age", "incmoe"): 2}),
        EvidenceBN(structure=[("age", "incmoe")]),
        BayesNet(forbidden=[("age", "incmoe")]),
        TAN(encoder=Encoder(categorical=["incmoe"])),
        TAN(encoder=Encoder(keep=["incmoe"], identifiers="drop")),
        TAN(encoder=Encoder(coerce=Recipe(inputs=[InputColumn("incmoe")]))),
    ],
    ids=lambda model: type(model).__name__,
)
def test_errors_about_columns_suggest_the_one_that_was_meant(model):
    with pytest.raises(ValueError, match=r"'incmoe'.*; did you mean 'income'\?$"):
        model.fit(*_columns())


def test_queries_and_sources_suggest_columns_too():
    X, y = _columns()
    model = TAN().fit(X, y)
    for ask in (
        lambda: model.network_.table("incmoe"),
        lambda: model.schema_.index("incmoe"),
        lambda: Counts.from_batches(pa.Table.from_pandas(X), "incmoe"),
    ):
        with pytest.raises(ValueError, match=r"; did you mean 'income'\?$"):
            ask()


def test_suggestions_are_similar_names():
    assert suggestion("AGE ", ["age"], "") == "did you mean 'age'?"
    assert suggestion("x1", ["x2", "y"], "none") == "none"
    assert suggestion(3, ["a"], "none") == "none"
    assert suggestion("", [], "none") == "none"
