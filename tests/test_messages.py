"""Helpers for messages to users."""

import warnings

import pandas as pd
import pytest

from tanbark import Encoder
from tanbark.messages import similar_name


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
