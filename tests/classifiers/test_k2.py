"""K2 against the algorithm written out in plain Python."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import mutual_info_score

import tanbark
from tanbark import K2, Encoder


def family_score(table, node, parents):
    """Cooper and Herskovits' equation 12, cell by cell."""
    values = len(np.unique(table[:, node]))
    cells = Counter(tuple(row) for row in table[:, [*parents, node]].tolist())
    rows = Counter(tuple(row) for row in table[:, parents].tolist())
    return sum(math.lgamma(n + 1) for n in cells.values()) + sum(
        math.lgamma(values) - math.lgamma(n + values) for n in rows.values()
    )


def plain_k2(table, order, max_parents):
    """Return the parents of each node."""
    found = {}
    for place, node in enumerate(order):
        parents, score = [], family_score(table, node, [])
        while len(parents) < max_parents:
            options = {p: family_score(table, node, [*parents, p]) for p in sorted(order[:place]) if p not in parents}
            if not options or max(options.values()) <= score + 1e-9:
                break
            best = max(options.values())
            parents.append(next(p for p in options if options[p] > best - 1e-9))
            score = best
        found[node] = tuple(sorted(parents))
    return tuple(found[node] for node in range(len(order)))


@pytest.fixture
def table(random_table):
    """A table of six columns, and all its columns with the class last."""
    _, codes, y = random_table(4, 300, (3, 2, 4, 2, 3, 2), 3)
    X = codes.T.astype(int)
    return X, y, np.column_stack([X, y])


@pytest.mark.parametrize("max_parents", [0, 1, 2, 4, 99])
@pytest.mark.parametrize("order", [None, (5, 4, 3, 2, 1, 0), (2, 0, 6, 1, 5, 4, 3), (6, 0, 1, 2, 3, 4, 5)])
def test_the_structure_and_its_score_are_the_algorithms(table, order, max_parents):
    X, y, whole = table
    names = None if order is None else ["class" if u == 6 else f"x{u}" for u in order]
    model = K2(order=names, max_parents=max_parents).fit(X, y)
    if order is None:
        information = [mutual_info_score(X[:, u], y) for u in range(6)]
        order = sorted(range(6), key=lambda u: -information[u])
    full = order if 6 in order else (6, *order)
    parents = plain_k2(whole, full, max_parents)
    assert model.network_.structure.parents == parents
    score = sum(family_score(whole, node, list(above)) for node, above in enumerate(parents))
    assert model.log_score_ == pytest.approx(score, abs=1e-8)


@pytest.mark.parametrize("name", ["car_evaluation", "tic_tac_toe"])
def test_on_real_tables_too(name, read_text):
    X, y, _ = read_text(name)
    whole = np.column_stack([np.unique(c.astype(str), return_inverse=True)[1] for c in (*X.T, y)])
    n = X.shape[1]
    model = K2(order=[f"x{u}" for u in range(n)], max_parents=3).fit(X, y)
    assert model.network_.structure.parents == plain_k2(whole, (n, *range(n)), 3)


def test_the_class_among_the_order_may_have_parents(table, tmp_path):
    X, y, _ = table
    model = K2(order=["x0", "x1", "x2", "x3", "x4", "x5", "class"]).fit(X, y)
    assert model.network_.parents["class"]
    tanbark.save(model, tmp_path / "m")
    again = tanbark.load(tmp_path / "m")
    assert again.log_score_ == model.log_score_
    assert again.order == model.order
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))


def test_an_order_of_names_in_an_array_is_an_order(table):
    X, y, _ = table
    names = np.array([f"x{u}" for u in range(6)])
    one, other = (K2(order=order).fit(X, y).network_.parents for order in (names, names.tolist()))
    assert one == other


def test_parents_that_tie_are_taken_in_column_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    one = np.where(rng.random(200) < 0.8, y, 1 - y)
    X = np.column_stack([one, one, one])
    for order in (["x0", "x1", "x2"], ["x1", "x0", "x2"]):
        assert K2(order=order, max_parents=1).fit(X, y).network_.parents["x2"] == ("x0",)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"max_parents": -1}, ValueError, "max_parents must be a whole number of at least 0, got -1"),
        ({"max_parents": None}, ValueError, "max_parents must be a whole number of at least 0, got None"),
        ({"order": "age"}, TypeError, "order must be a list of the names of all attributes, or None, got 'age'"),
        ({"order": {"age", "sex"}}, TypeError, "order must be a list of the names of all attributes, or None, got"),
        ({"order": ["age", 1]}, TypeError, "order must be a list of the names of all attributes, it has 1"),
        ({"order": ["age", "sex", "age"]}, ValueError, "order names 'age' twice"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_the_table_is_looked_at(settings, error, message):
    with pytest.raises(error, match="^" + message):
        K2(**settings).fit(None, None)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (["age", "size"], "order names 'size', which is not a column; the columns are 'age', 'sex', 'buys'"),
        (["age"], "order leaves 'sex' out; it must name every column once"),
        (["age", "buys"], "order leaves 'sex' out; it must name every column once"),
        ([], "order leaves 'age' out; it must name every column once"),
    ],
)
def test_an_order_that_is_none_of_the_columns_is_refused(order, message):
    X = pd.DataFrame({"age": [1, 2, 3], "sex": ["f", "m", "f"]})
    with pytest.raises(ValueError, match=f"^{message}$"):
        K2(order=order).fit(X, pd.Series([0, 1, 1], name="buys"))


def test_rows_are_needed():
    for name in ("partial_fit", "fit_counts"):
        with pytest.raises(AttributeError, match=r"^K2 counts families of several attributes from the rows; call fit"):
            getattr(K2(), name)


def test_missing_values_are_a_level_of_the_search(table):
    X, y, whole = table
    holed = X.astype(object)
    gone = np.random.default_rng(0).random(X.shape) < 0.2
    holed[gone] = None
    whole[:, :-1][gone] = 9
    model = K2(order=[f"x{u}" for u in range(6)], encoder=Encoder(categorical="all")).fit(holed, y)
    assert model.network_.structure.parents == plain_k2(whole, (6, 0, 1, 2, 3, 4, 5), 4)


@pytest.mark.parametrize("counts", [(5, 5, 1, 0), (12, 12, 1, 0), (1, 1, 20, 5), (3, 4, 0, 2)])
def test_a_parent_that_gains_nothing_but_rounding_is_not_taken(counts):
    def evidence(a, b):
        return Fraction(math.factorial(a) * math.factorial(b), math.factorial(a + b + 1))

    a, b, c, d = counts
    assert evidence(a + c, b + d) == evidence(a, b) * evidence(c, d)
    X, y = np.repeat([0, 0, 1, 1], counts)[:, None], np.repeat([0, 1, 0, 1], counts)
    assert K2(order=["x0", "class"]).fit(X, y).network_.parents["class"] == ()
