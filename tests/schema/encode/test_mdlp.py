import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tanbark import Encoder
from tanbark.schema.encode.mdlp import mdlp_cuts

HERE = Path(__file__).resolve()
DATA = HERE.parents[3].parent / "shared" / "data"
WEKA = json.loads((HERE.parents[2] / "reference" / "weka_mdlp.json").read_text())["sets"]
QUICK = settings(deadline=None, database=None, max_examples=80)
CLOSE = 1e-9


class RoundingDecidesError(Exception):
    """Two cuts tie, or a cut is exactly at the acceptance threshold."""


def columns(file):
    """Return the names, numbers and classes of a table whose last column is the class."""
    if not (DATA / file).exists():
        pytest.skip(f"{DATA / file} is absent: the tables stand beside the repository, in shared/data")
    with (DATA / file).open(newline="") as lines:
        header, *rows = list(csv.reader(lines))
    return header[:-1], np.array([row[:-1] for row in rows], np.float64), np.array([row[-1] for row in rows])


def entropy(labels):
    return -sum(p * math.log2(p) for p in (labels.count(c) / len(labels) for c in set(labels)))


def brute_force(pairs):
    """Return Fayyad and Irani's cuts of pairs (value, class) by trying all cuts."""
    pairs = sorted(pairs)
    whole = [c for _, c in pairs]
    k = len(set(whole))
    tried = []
    for i in range(1, len(pairs)):
        if pairs[i - 1][0] < pairs[i][0]:
            left, right = whole[:i], whole[i:]
            expected = (len(left) * entropy(left) + len(right) * entropy(right)) / len(whole)
            spread = k * entropy(whole) - len(set(left)) * entropy(left) - len(set(right)) * entropy(right)
            price = (math.log2(len(whole) - 1) + math.log2(3**k - 2) - spread) / len(whole)
            tried.append((expected, i, entropy(whole) - expected - price))
    if not tried:
        return []
    least = min(expected for expected, _, _ in tried)
    best = [(i, margin) for expected, i, margin in tried if expected <= least + CLOSE]
    if any(abs(margin) <= CLOSE for _, margin in best):
        raise RoundingDecidesError
    if all(margin < 0 for _, margin in best):
        return []
    if len(best) > 1:
        raise RoundingDecidesError
    i = best[0][0]
    cut = (pairs[i - 1][0] + pairs[i][0]) / 2
    return sorted([cut, *brute_force(pairs[:i]), *brute_force(pairs[i:])])


@pytest.mark.parametrize("table", WEKA)
def test_the_cuts_are_wekas(table):
    names, numbers, classes = columns(WEKA[table]["data"])
    y = np.unique(classes, return_inverse=True)[1]
    found = {name: mdlp_cuts(numbers[:, u], y, None, y.max() + 1) for u, name in enumerate(names)}
    assert found == {name: pytest.approx(cuts, rel=1e-14) for name, cuts in WEKA[table]["cuts"].items()}


def test_an_encoder_finds_wekas_cuts():
    _, numbers, classes = columns("iris.csv")
    schema = Encoder(bins="mdlp").fit(numbers, classes).schema_
    assert [c.cuts for c in schema.columns] == [
        pytest.approx(cuts, rel=1e-14) for cuts in WEKA["iris"]["cuts"].values()
    ]


@QUICK
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), min_size=2, max_size=40))
def test_the_cuts_are_those_of_a_recursion_that_tries_all(pairs):
    x, y = np.array(pairs).T
    try:
        expected = brute_force(pairs)
    except RoundingDecidesError:
        reject()
    assert mdlp_cuts(x.astype(float), y, None, 3) == expected


@pytest.mark.parametrize("seed", range(8))
def test_cuts_of_noisy_steps_are_those_of_a_recursion_that_tries_all(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 40, 300)
    y = np.where(rng.random(300) < 0.15, rng.integers(0, 3, 300), x // 14)
    expected = brute_force(list(zip(x.tolist(), y.tolist(), strict=True)))
    assert len(expected) >= 2
    assert mdlp_cuts(x.astype(float), y, None, 3) == expected


@QUICK
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2), st.integers(1, 9)), min_size=1, max_size=25))
def test_a_weight_is_a_repetition(rows):
    x, y, w = np.array(rows).T
    again = np.repeat(x, w).astype(float), np.repeat(y, w)
    assert mdlp_cuts(x.astype(float), y, w.astype(float), 3) == mdlp_cuts(*again, None, 3)


@pytest.mark.parametrize("x", [[], [1.0], [2.0, 2.0]])
def test_no_values_or_a_single_value_have_no_cuts(x):
    assert mdlp_cuts(np.array(x, np.float64), np.arange(len(x)) % 2, None, 2) == []


def test_one_class_has_no_cuts():
    assert mdlp_cuts(np.arange(50.0), np.zeros(50, int), None, 1) == []


def test_a_class_without_rows_does_not_change_the_cuts():
    x, y = np.repeat(np.arange(4.0), 10), np.repeat([0, 2, 2, 0], 10)
    assert mdlp_cuts(x, y, None, 5) == mdlp_cuts(x, y // 2, None, 2) == [0.5, 2.5]


def test_neighbouring_floats_are_cut_apart():
    a = np.nextafter(1.0, 2)
    b = np.nextafter(a, 2)
    c = np.nextafter(b, 2)
    x, y = np.repeat([a, b, c], 20), np.repeat([0, 1, 0], 20)
    cuts = np.array(mdlp_cuts(x, y, None, 2))
    assert np.searchsorted(cuts, [a, b, c], side="left").tolist() == [0, 1, 2]


def test_a_cut_between_numbers_far_apart_is_finite():
    assert mdlp_cuts(np.repeat([-1.6e308, 1.6e308], 20), np.repeat([0, 1], 20), None, 2) == [0.0]


def test_rows_without_a_class_do_not_affect_the_cuts_of_an_encoder():
    x = np.repeat([1.5, 2.5, 3.5, 4.5], 20).reshape(-1, 1)
    y = np.array(["a"] * 20 + ["b"] * 20 + ["a"] * 20 + [None] * 20, object)
    with pytest.warns(UserWarning, match="rows without a class are dropped"):
        schema = Encoder(bins="mdlp").fit(x, y).schema_
    assert schema.columns[0].cuts == (2.0, 3.0)


def test_missing_numbers_do_not_affect_the_cuts():
    x = np.repeat([1.5, 2.5, np.nan], 20).reshape(-1, 1)
    y = np.repeat([0, 1, 0], 20)
    assert Encoder(bins="mdlp").fit(x, y).schema_.columns[0].cuts == (2.0,)
