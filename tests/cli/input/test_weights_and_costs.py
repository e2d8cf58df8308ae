"""Weights and costs on the command line: what they mean, and what is refused."""

import re

import numpy as np
import pyarrow as pa
import pytest

from tanbark.cli.input.weights_and_costs import class_weight_setting, costs_of, row_weights
from tanbark.cli.terminal.console import CommandError


@pytest.mark.parametrize(
    ("values", "decimal"),
    [
        (pa.array([0, 2, 3]), None),
        (pa.array([0.0, 2.0, 3.0]), None),
        (pa.chunked_array([[0], [2, 3]]), None),
        (pa.array(["0", " 2.0", "3e0"]), None),
        (pa.array(["0", "2,0", "3"]), ","),
    ],
)
def test_weights_are_read_from_numbers_and_texts(values, decimal):
    assert row_weights(values, "w", decimal).tolist() == [0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        (pa.array([1, None]), "has no value"),
        (pa.array([1.0, float("nan")]), "holds nan"),
        (pa.array([1.0, float("inf")]), "holds inf"),
        (pa.array([1.0, -0.5]), "holds -0.5"),
        (pa.array(["1", ""]), "has no value"),
        (pa.array(["1", "many"]), "holds 'many'"),
        (pa.chunked_array([["1"], ["-1"]]), "holds '-1'"),
    ],
)
def test_other_weights_are_refused_with_their_row(values, what):
    message = rf"^column 'w' {re.escape(what)} in row 12; --weight needs a number of at least 0 in every row$"
    with pytest.raises(CommandError, match=message):
        row_weights(values, "w", None, before=10)
    with pytest.raises(CommandError, match=r"^column 'w' holds '1,5' in row 1; .*, and --decimal , of tanbark fit"):
        row_weights(pa.array(["1,5"]), "w")
    with pytest.raises(CommandError, match="in row 1;"):
        row_weights(pa.array([True, False]), "w")


def test_class_weights_are_balanced_or_numbers_by_label():
    assert class_weight_setting(["balanced"]) == "balanced"
    assert class_weight_setting(["a=b=2", "c=0.5"]) == {"a=b": 2.0, "c": 0.5}
    for wrong in (["a"], ["a="], ["a=x"]):
        with pytest.raises(CommandError, match=r"^--class-weight must be balanced, or LABEL=WEIGHT \(repeatable\)"):
            class_weight_setting(wrong)
    assert class_weight_setting(["Balanced"]) == "balanced"
    with pytest.raises(CommandError, match=r"^--class-weight balanced sets the weights of all classes"):
        class_weight_setting(["balanced", "a=2"])
    with pytest.raises(CommandError, match=r"^--class-weight names 'a' twice$"):
        class_weight_setting(["a=1", "a=2"])


@pytest.mark.parametrize("classes", [("a", "b:c", "d=e"), ("a:", "=", ":"), (0, 1, -2), (True, False)])
def test_every_pair_of_classes_can_be_named(classes):
    for true in classes:
        for predicted in classes:
            if true != predicted:
                [(pair, cost)] = costs_of([f"{true}:{predicted}=2.5"], classes).items()
                assert pair == (true, predicted)
                assert [type(label) for label in pair] == [type(true), type(predicted)]
                assert cost == 2.5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["a:x=2"], "--cost names 'x', which is not a class; the classes are 'a', 'b'"),
        (["x:a=2"], "--cost names 'x', which is not a class; the classes are 'a', 'b'"),
        (["a:b"], "--cost must have the form TRUE:PREDICTED=COST, such as ill:healthy=10, got 'a:b'"),
        (["a=2"], "--cost must have the form TRUE:PREDICTED=COST, such as ill:healthy=10, got 'a=2'"),
        (["a:b=two"], "--cost must have the form TRUE:PREDICTED=COST, such as ill:healthy=10, got 'a:b=two'"),
        (["a:b=-1"], "--cost: the cost of predicting 'b' for 'a' must be a number from 0 to 1e+100, got -1.0"),
        (["a:b=nan"], "--cost: the cost of predicting 'b' for 'a' must be a number from 0 to 1e+100, got nan"),
        (["a:b=inf"], "--cost: the cost of predicting 'b' for 'a' must be a number from 0 to 1e+100, got inf"),
        (["a:a=1"], "--cost: a correct prediction costs nothing; leave out the cost of predicting 'a' for itself"),
        (["a:b=1", "a:b=2"], "--cost gives the cost of predicting 'b' for 'a' twice"),
    ],
)
def test_other_costs_are_refused(given, message):
    with pytest.raises(CommandError, match=f"^{re.escape(message)}$"):
        costs_of(given, ["a", "b"])


def test_a_text_that_names_two_pairs_of_classes_is_refused():
    with pytest.raises(CommandError, match=r"can mean the classes 'a' and 'b:c' or 'a:b' and 'c'; rename a class$"):
        costs_of(["a:b:c=2"], ["a", "b:c", "a:b", "c"])
    assert np.isfinite(list(costs_of(["a:b=1e100"], ["a", "b"]).values())).all()
