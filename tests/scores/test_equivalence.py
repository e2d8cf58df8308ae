"""Structures with the same conditional independences have the same BDeu score: all structures over four nodes."""

import itertools

import numpy as np
import pytest

from tanbark.counts import Rows
from tanbark.network import Structure
from tanbark.schema import Category, Schema
from tanbark.scores import BDeu, Cases

NODES = 4


def all_structures():
    """Yield every acyclic graph over the nodes: each pair is joined forwards, backwards or not at all."""
    pairs = list(itertools.combinations(range(NODES), 2))
    for directions in itertools.product((0, 1, 2), repeat=len(pairs)):
        parents = [[] for _ in range(NODES)]
        for (u, v), direction in zip(pairs, directions, strict=True):
            if direction:
                parents[(u, v)[direction - 1]].append((v, u)[direction - 1])
        if is_acyclic(parents):
            yield Structure(tuple(map(tuple, parents)))


def is_acyclic(parents):
    """Return whether removing nodes without parents, again and again, leaves no node."""
    left = set(range(NODES))
    while free := [v for v in left if not left & set(parents[v])]:
        left -= set(free)
    return not left


def independences(structure):
    """Return the skeleton and the colliders whose parents are not joined (Verma and Pearl 1990)."""
    skeleton = {frozenset((p, v)) for v, above in enumerate(structure.parents) for p in above}
    colliders = {
        (v, frozenset(pair))
        for v, above in enumerate(structure.parents)
        for pair in itertools.combinations(above, 2)
        if frozenset(pair) not in skeleton
    }
    return frozenset(skeleton), frozenset(colliders)


@pytest.fixture(scope="module")
def classes():
    groups = {}
    for structure in all_structures():
        groups.setdefault(independences(structure), []).append(structure)
    return list(groups.values())


def test_the_numbers_of_graphs_and_classes_are_the_published_ones(classes):
    """543 acyclic graphs of four labelled nodes (Robinson 1973) in 185 classes (Gillispie and Perlman 2001)."""
    assert sum(map(len, classes)) == 543
    assert len(classes) == 185


@pytest.mark.parametrize("ess", [0.01, 1.0, 10.0])
@pytest.mark.parametrize(("rows", "arity"), [(12, (2, 2, 2, 2)), (60, (3, 2, 1, 4)), (500, (2, 3, 4, 2))])
def test_equivalent_structures_have_the_same_bdeu(classes, ess, rows, arity):
    """The first two columns are copies of each other if possible, so that scores tie across classes too."""
    rng = np.random.default_rng(rows)
    codes = np.array([rng.integers(0, r, rows) for r in arity])
    codes[1] = np.minimum(codes[0], arity[1] - 1)
    schema = Schema(
        tuple(Category(f"x{u}", tuple(range(r))) for u, r in enumerate(arity[:-1])), tuple(range(arity[-1]))
    )
    cases = Cases.of(Rows(schema, codes[:-1].astype(schema.dtype), codes[-1]))
    score = BDeu(ess)
    for structures in classes:
        totals = [score.total(cases, structure) for structure in structures]
        assert totals == pytest.approx([totals[0]] * len(totals), rel=1e-10)
