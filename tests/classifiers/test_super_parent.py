"""SuperParent: its network, and the choice of the super-parent by leaving rows out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Counts, SuperParent
from tanbark.averaging import SuperParents
from tanbark.counts import Rows

WAYS = ["dirichlet", "ml", "softened", "laplace", "m"]


def estimate(seen, overall, parameters, ess, cells):
    """One row of a table, by the book: `seen` under one configuration of the parents."""
    r = len(seen)
    own = overall / overall.sum() if overall.sum() > 0 else np.full(r, 1 / r)
    extra = {"ml": 0, "softened": ess * own, "dirichlet": ess / cells, "laplace": 1, "m": ess / r}[parameters]
    seen = seen + extra
    return seen / seen.sum() if seen.sum() > 0 else np.full(r, 1 / r)


def plain_joint(schema, codes, y, weights, row, super_parent, parameters, ess):
    """log P(row, class) from the rows themselves, summing over the super-parent where it is missing."""
    arity, classes = schema.arity.tolist(), len(schema.classes)
    values = codes.astype(int)

    def counted(keep, column):
        keep = keep & (values[column] < arity[column])
        return np.bincount(values[column][keep], weights[keep], minlength=arity[column])

    everyone = np.ones(len(y), bool)
    of_class = np.bincount(y, weights, minlength=classes)
    prior = estimate(of_class, of_class, parameters, ess, classes)
    out = np.zeros(classes)
    i = super_parent
    options = [row[i]] if row[i] < arity[i] else range(arity[i])
    for k in range(classes):
        own = estimate(counted(y == k, i), counted(everyone, i), parameters, ess, classes * arity[i])
        for a in options:
            product = prior[k] * own[a]
            for j in range(len(arity)):
                if j != i and row[j] < arity[j]:
                    seen = counted((y == k) & (values[i] == a), j)
                    cells = classes * arity[i] * arity[j]
                    product *= estimate(seen, counted(everyone, j), parameters, ess, cells)[row[j]]
            out[k] += product
    with np.errstate(divide="ignore"):
        return np.log(out)


def left_out(rows, counts, parameters, ess):
    networks = SuperParents.of(counts, np.arange(len(counts.schema.columns)), parameters, ess)
    return networks.left_out_log_joints(rows, counts, parameters, ess)


@pytest.mark.parametrize("parameters", WAYS)
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_every_members_joint_is_that_of_plain_counting(parameters, holes, random_table):
    schema, codes, y = random_table(3, 60, (2, 3, 4), 3, holes)
    counts = Counts.of(schema, codes, y)
    joints = SuperParents.of(counts, np.arange(3), parameters, 2.5).log_joints(codes)
    for row, member in itertools.product(range(0, 60, 7), range(3)):
        plain = plain_joint(schema, codes, y, np.ones(60), codes[:, row].astype(int), member, parameters, 2.5)
        np.testing.assert_allclose(joints[row, :, member], plain, rtol=1e-11)


@pytest.mark.parametrize("parameters", WAYS)
@pytest.mark.parametrize("holes", [0.0, 0.2])
@pytest.mark.parametrize("whole", [True, False])
def test_leaving_a_row_out_of_the_counts_is_learning_without_it(parameters, holes, whole, random_table):
    schema, codes, y = random_table(4, 40, (2, 3, 2), 3, holes)
    weights = np.random.default_rng(0).integers(1, 4, 40) * (1.0 if whole else 0.37)
    rows = Rows(schema, codes, y, weights).distinct
    counts = Counts.of(schema, rows.codes, rows.classes, rows.weights)
    found = left_out(rows, counts, parameters, 2.5)
    for at, member in itertools.product(range(0, len(rows.classes), 3), range(3)):
        without = rows.weights.copy()
        without[at] -= min(1.0, without[at])
        row = rows.codes[:, at].astype(int)
        plain = plain_joint(schema, rows.codes, rows.classes, without, row, member, parameters, 2.5)
        np.testing.assert_allclose(found[at, :, member], plain, rtol=1e-10)


def test_leaving_out_is_refitting_on_real_data(read_text):
    X, y, _ = read_text("car_evaluation")
    model = SuperParent().fit(X, y)
    schema = model.schema_
    codes, classes = schema.encode(X), schema.encode_target(y)
    rows = Rows(schema, codes, classes)
    found = left_out(rows, model.counts_, "dirichlet", 10.0)
    for i, u in itertools.product(range(0, len(y), 400), range(6)):
        keep = np.arange(len(y)) != i
        again = SuperParent(parent=u, encoder=schema).fit(X[keep], y[keep])
        np.testing.assert_allclose(found[i, :, u], again.predict_joint_log_proba(X[[i]])[0], rtol=1e-11)


@pytest.mark.parametrize("parameters", WAYS)
@pytest.mark.parametrize("together", [1, 2**23])
def test_the_choice_is_the_most_accurate_network_when_each_row_is_left_out(
    parameters, together, random_table, monkeypatch
):
    monkeypatch.setattr("tanbark.classifiers.super_parent.MAX_JOINT_CELLS", together)
    schema, codes, y = random_table(5, 60, (2, 3, 4, 2), 2)
    # The first class is the rarer: what is impossible is not simply the first.
    y = np.where(np.arange(60) % 3 == 0, y, 1)
    model = SuperParent(encoder=schema, parameters=parameters).fit(codes.T, y)
    right = np.zeros(4)
    for i, u in itertools.product(range(60), range(4)):
        keep = np.arange(60) != i
        again = SuperParent(parent=u, encoder=schema, parameters=parameters).fit(codes.T[keep], y[keep])
        right[u] += again.predict(codes.T[[i]])[0] == y[i]
    np.testing.assert_allclose(model.accuracies_, right / 60)
    assert right[int(model.parent_[1:])] == right.max()
    assert set(model.network_.edges) == {(model.parent_, f"a{u}") for u in range(4) if f"a{u}" != model.parent_}


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_weights_are_repetitions_and_order_is_nothing_in_the_choice(seed):
    rng = np.random.default_rng(seed)
    X, y, times = rng.integers(0, 3, (30, 3)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    order = rng.permutation(times.sum())
    weighted = SuperParent().fit(X, y, sample_weight=times)
    repeated = SuperParent().fit(np.repeat(X, times, axis=0)[order], np.repeat(y, times)[order])
    assert weighted.parent_ == repeated.parent_
    assert np.array_equal(weighted.accuracies_, repeated.accuracies_)


def test_of_equally_accurate_ones_the_most_telling_is_chosen():
    y = np.arange(40) % 2
    vague = np.where(np.arange(40) < 8, 1 - y, y)
    X = np.column_stack([vague, np.arange(40) // 20, y])
    model = SuperParent().fit(X, y)
    assert model.accuracies_.tolist() == [1.0, 1.0, 1.0]
    assert model.parent_ == "x2"


def test_many_attributes_do_not_underflow_when_rows_are_left_out():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 30)
    X = (rng.integers(0, 5, (30, 700)) + y[:, None]) % 5
    model = SuperParent().fit(X, y)
    rows = Rows(model.schema_, model.schema_.encode(X), y)
    found = left_out(rows, model.counts_, "dirichlet", 10.0)
    assert np.isfinite(found).all()
    assert found.max() < -800
    keep = np.arange(30) != 4
    again = SuperParent(parent=3, encoder=model.schema_).fit(X[keep], y[keep])
    np.testing.assert_allclose(found[4, :, 3], again.predict_joint_log_proba(X[[4]])[0], rtol=1e-11)


def test_a_super_parent_can_be_given_by_name_or_position(random_table):
    schema, codes, y = random_table(6, 50, (2, 3, 2), 2)
    by_name = SuperParent(parent="a1", encoder=schema).fit(codes.T, y)
    by_place = SuperParent(parent=1, encoder=schema).fit(codes.T, y)
    assert by_name.network_.parents == {"a0": ("a1", "class"), "a1": ("class",), "a2": ("a1", "class"), "class": ()}
    assert by_name.parent_ == by_place.parent_ == "a1"
    assert not hasattr(by_name, "accuracies_")


def test_with_a_given_super_parent_counts_suffice(random_table):
    schema, codes, y = random_table(7, 50, (2, 3, 2), 2, holes=0.1)
    X = np.where(codes == schema.missing_code, None, codes.astype(object)).T
    whole = SuperParent(parent="a2", encoder=schema).fit(X, y)
    parts = SuperParent(parent="a2", encoder=schema).partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    assert np.array_equal(parts.predict_proba(X), whole.predict_proba(X))
    assert not hasattr(SuperParent(), "partial_fit")
    assert not hasattr(SuperParent(), "fit_counts")


@pytest.mark.parametrize(
    ("parent", "message"),
    [
        ("height", "parent is 'height', which is not a column; the columns are 'x0', 'x1'"),
        (2, "parent is 2, which is not a column; the columns are 'x0', 'x1'"),
        (-1, "parent is -1, which is not a column"),
        (True, "parent must be the name or the position of a column, or None, got True"),
        (1.5, "parent must be the name or the position of a column, or None, got 1.5"),
    ],
)
def test_a_super_parent_that_is_no_column_gets_a_sentence(parent, message):
    with pytest.raises((ValueError, TypeError), match=message):
        SuperParent(parent=parent).fit([[0, 1], [1, 0]], [0, 1])
