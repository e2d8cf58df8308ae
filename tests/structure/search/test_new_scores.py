"""Scores that the package does not know work with every search, and searches know no score."""

import ast
import inspect
import itertools
import math
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from scipy.special import gammaln, xlogy

from tanbark import scores
from tanbark.network import Structure
from tanbark.scores import (
    Cases,
    Conditional,
    Decomposable,
    DirichletScore,
    PenalisedLikelihood,
    Score,
    SetFunction,
)
from tanbark.structure import Restrictions, exact_structure, hill_climb, k2_search, search
from tanbark.structure.search.local_scores import SetSums, TabulatedScores, fastest_scores

NODES = 4


@dataclass(frozen=True)
class HalfBIC(PenalisedLikelihood):
    """BIC with half its penalty."""

    def penalty(self, weight):
        return 0.25 * math.log(weight)


@dataclass(frozen=True)
class Jeffreys(DirichletScore):
    """The marginal likelihood with a prior of one half for every cell."""

    set_function = SetFunction(0.5)

    def prior(self, _configurations, _seen, _arity):
        return 0.5


@dataclass(frozen=True)
class PlusOne(DirichletScore):
    """A prior shared by the observed configurations and one more, for which there is neither set function nor rule."""

    def prior(self, _configurations, seen, arity):
        return self.ess / (arity * (seen + 1))


class FactorisedNML(Decomposable):
    """The factorised normalised maximum likelihood of binary nodes, which has no Dirichlet prior (Silander 2008)."""

    def family(self, table, _configurations):
        rows = table.sum(axis=1)
        fit = float(xlogy(table, table).sum() - xlogy(rows, rows).sum())
        return fit - sum(math.log(self.regret(int(n))) for n in rows)

    @staticmethod
    def regret(n):
        k = np.arange(n + 1)
        log_terms = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, k / n) + xlogy(n - k, 1 - k / n)
        return float(np.exp(log_terms).sum())


@dataclass(frozen=True)
class HalfCMDL(Conditional):
    """CMDL with half its penalty."""

    def penalty(self, weight):
        return 0.25 * math.log(weight)


NEW = [HalfBIC(), Jeffreys(), PlusOne(3.0), FactorisedNML()]
every_new_score = pytest.mark.parametrize("score", NEW, ids=lambda score: type(score).__name__)


def random_cases(seed, rows=80):
    """Return cases of binary nodes in which some columns depend on others."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 2, (NODES, rows))
    codes[2] = np.where(rng.random(rows) < 0.7, codes[0] ^ codes[1], codes[2])
    codes[3] = np.where(rng.random(rows) < 0.7, codes[2], codes[3])
    distinct, weights = np.unique(codes, axis=1, return_counts=True)
    return Cases(distinct.astype(np.uint8), np.full(NODES, 2), weights.astype(np.float64))


def all_structures():
    """Return every acyclic graph over the nodes."""
    possible = [
        [set_ for size in range(NODES) for set_ in itertools.combinations([u for u in range(NODES) if u != v], size)]
        for v in range(NODES)
    ]
    found = []
    for parents in itertools.product(*possible):
        try:
            found.append(Structure(parents))
        except ValueError:
            continue
    assert len(found) == 543
    return found


STRUCTURES = all_structures()
FREE = Restrictions.of(["a", "b", "c", "class"])


def test_exact_search_takes_the_fastest_way_that_a_score_describes():
    assert [fastest_scores(score) for score in NEW] == [SetSums, SetSums, TabulatedScores, TabulatedScores]


@every_new_score
@pytest.mark.parametrize("restrictions", [FREE, Restrictions.of(["a", "b", "c", "class"], augmented=True)])
def test_exact_search_finds_the_best_structure_by_a_new_score(score, restrictions):
    for seed in range(5):
        cases = random_cases(seed)
        allowed = [
            structure
            for structure in STRUCTURES
            if not restrictions.class_above_all or all(NODES - 1 in above for above in structure.parents[:-1])
        ]
        best = max(score.total(cases, structure) for structure in allowed)
        found = exact_structure(cases, score, restrictions)
        assert found in allowed
        assert score.total(cases, found) == pytest.approx(best, abs=1e-9)


def edges_of(structure):
    return {(p, v) for v, above in enumerate(structure.parents) for p in above}


def is_one_move(one, other):
    """Return whether two sets of edges differ by one edge that is added, removed or reversed."""
    changed = one ^ other
    return len(changed) == 1 or (len(changed) == 2 and len({frozenset(edge) for edge in changed}) == 1)


@pytest.mark.parametrize("tabu", [0, 10])
@pytest.mark.parametrize("score", [*NEW, HalfCMDL()], ids=lambda score: type(score).__name__)
def test_hill_climbing_ends_where_no_move_improves_a_new_score(score, tabu):
    for seed in range(3):
        cases = random_cases(seed)
        found = hill_climb(cases, score, FREE, tabu=tabu)
        top = score.total(cases, found)
        neighbours = [other for other in STRUCTURES if is_one_move(edges_of(found), edges_of(other))]
        assert len(neighbours) >= NODES
        assert max(score.total(cases, other) for other in neighbours) <= top + 1e-9
        assert score.total(cases, Structure(((),) * NODES)) <= top


@every_new_score
def test_k2_search_adds_the_best_parents_by_a_new_score(score):
    """Each node adds the best parent as long as that improves its score, by brute force."""
    order = (3, 0, 2, 1)
    for seed in range(5):
        cases = random_cases(seed)
        expected = [()] * NODES
        for place, node in enumerate(order):
            while True:
                options = [tuple(sorted((*expected[node], p))) for p in order[:place] if p not in expected[node]]
                best = max(options, key=lambda above, node=node: score.local(cases, node, above), default=())
                if score.local(cases, node, best) <= score.local(cases, node, expected[node]) + 1e-9:
                    break
                expected[node] = best
        assert k2_search(cases, score, order, NODES).parents == tuple(expected)


def test_the_base_class_of_a_new_score_declares_whether_it_is_decomposable():
    assert all(score.is_decomposable for score in NEW)
    assert not HalfCMDL().is_decomposable


def concrete_scores():
    """Return the names of all scores of the package that are not abstract."""
    found = set()
    for path in Path(scores.__file__).parent.glob("*.py"):
        members = vars(import_module(f"tanbark.scores.{path.stem}" if path.stem != "__init__" else "tanbark.scores"))
        found |= {
            name
            for name, thing in members.items()
            if isinstance(thing, type) and issubclass(thing, Score) and not inspect.isabstract(thing)
        }
    return found


@pytest.mark.parametrize("path", sorted(Path(search.__file__).parent.glob("*.py")), ids=lambda path: path.stem)
def test_no_search_names_a_concrete_score(path):
    concrete = concrete_scores()
    assert {"BDeu", "BDs", "K2Score", "BIC", "CMDL"} <= concrete
    named = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Name):
            named.add(node.id)
        elif isinstance(node, ast.Attribute):
            named.add(node.attr)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            named |= {alias.name for alias in node.names}
    assert not named & (concrete | {"CRITERIA", "*"})
