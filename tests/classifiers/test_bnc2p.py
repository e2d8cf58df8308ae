"""BNC-2P against the climb written out in plain Python."""

import itertools

import numpy as np
import pytest

import tanbark
from tanbark import BNC2P, Encoder
from tanbark.network import Structure


def log_likelihood(table, parents, ess):
    """The conditional log likelihood of the last column given the others, from the definition."""
    arity = table.max(axis=0) + 1
    classes = int(arity[-1])
    joint = np.zeros((len(table), classes))
    for k in range(classes):
        row = table.copy()
        row[:, -1] = k
        for node, above in enumerate(parents):
            above = list(above)
            cell = ess / (arity[node] * np.prod(arity[above], dtype=float))
            same = (table[None, :, above] == row[:, None, above]).all(axis=2)
            both = same & (table[None, :, node] == row[:, None, node])
            joint[:, k] += np.log((both.sum(axis=1) + cell) / (same.sum(axis=1) + cell * arity[node]))
    shifted = joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)
    return shifted[np.arange(len(table)), table[:, -1]].sum()


def neighbours(parents):
    """Every structure one step away, in the order in which ties are decided."""
    nodes = len(parents)
    edges = {(p, v) for v, above in enumerate(parents) for p in above}
    toggled = [edges ^ {(p, v)} for v, p in itertools.product(range(nodes), repeat=2) if p != v]
    turned = [edges ^ {(p, v), (v, p)} for v, p in itertools.product(range(nodes), repeat=2) if (p, v) in edges]
    for after in toggled + turned:
        found = tuple(tuple(sorted(p for p, v in after if v == node)) for node in range(nodes))
        if max(map(len, found)) <= 2:
            try:
                Structure(found)
            except ValueError:
                continue
            yield found


def plain_climb(table, ess):
    here = ((),) * table.shape[1]
    score = log_likelihood(table, here, ess)
    while True:
        found = {parents: log_likelihood(table, parents, ess) for parents in neighbours(here)}
        best = max(found.values())
        if best <= score + 1e-8:
            return here, score
        here = next(parents for parents in found if found[parents] > best - 1e-8)
        score = found[here]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ess", [1.0, 10.0])
def test_the_structure_and_its_score_are_those_of_the_plain_climb(random_table, seed, ess):
    _, codes, y = random_table(seed, 80, (3, 2, 4, 2), 3)
    table = np.column_stack([codes.T.astype(int), y])
    model = BNC2P(ess=ess).fit(table[:, :-1], y)
    parents, score = plain_climb(table, ess)
    assert model.network_.structure.parents == parents
    assert model.log_score_ == pytest.approx(score, abs=1e-8)


def test_the_score_is_that_of_the_networks_own_predictions(random_table, tmp_path):
    _, codes, y = random_table(3, 500, (3, 2, 4, 2, 3, 3, 2), 4)
    X = codes.T.astype(int)
    model = BNC2P().fit(X, y)
    assert model.log_score_ == pytest.approx(model.predict_log_proba(X)[np.arange(500), y].sum(), abs=1e-8)
    assert max(map(len, model.network_.structure.parents)) == 2
    tanbark.save(model, tmp_path / "m")
    assert tanbark.load(tmp_path / "m").log_score_ == model.log_score_


def test_columns_that_say_something_only_together_are_found():
    # The class is the sum of two columns modulo two: only their joint value says anything of it.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (300, 2))
    y = np.where(rng.random(300) < 0.97, X[:, 0] ^ X[:, 1], X[:, 0])
    model = BNC2P().fit(X, y)
    assert (model.predict(X) == (X[:, 0] ^ X[:, 1])).all()


def test_rows_are_needed():
    for name in ("partial_fit", "fit_counts"):
        with pytest.raises(AttributeError, match=r"^BNC2P counts families of several attributes from the rows"):
            getattr(BNC2P(), name)


def test_letters_are_climbed_to_a_summit(read_text):
    X, y, _ = read_text("letter")
    X, y = X[:4000].astype(float), y[:4000]
    model = BNC2P(encoder=Encoder(bins="quantile", n_bins=2, categorical=[])).fit(X, y)
    proba = model.predict_log_proba(X)
    assert model.log_score_ == pytest.approx(proba[np.arange(4000), np.searchsorted(model.classes_, y)].sum(), rel=1e-9)
    assert (model.predict(X) == y).mean() > 0.45
