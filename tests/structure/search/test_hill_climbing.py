"""Hill climbing against brute force over single moves and over all structures."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tanbark.counts import Rows
from tanbark.network import Structure
from tanbark.schema import Category, Schema
from tanbark.scores import BIC, CMDL, BDeu, BDs, Cases, ConditionalLogLikelihood, K2Score
from tanbark.structure.search import hill_climbing
from tanbark.structure.search.hill_climbing import hill_climb
from tanbark.structure.search.restrictions import Restrictions

SCORES = [BDeu(1.0), BDs(1.0), BIC(), K2Score(), ConditionalLogLikelihood(), CMDL()]
every_score = pytest.mark.parametrize("score", SCORES, ids=repr)


def random_cases(seed, arity, rows, order=None):
    """Return cases in which each column depends on two before it; the last arity is that of the class."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((len(arity), rows), np.int64)
    for u, r in enumerate(arity):
        above = codes[rng.integers(0, u, 2)].sum(axis=0) if u else rng.integers(0, r, rows)
        codes[u] = np.where(rng.random(rows) < 0.7, above % r, rng.integers(0, r, rows))
    if order is not None:
        codes = codes[:, order]
    columns = tuple(Category(f"x{u}", tuple(range(r))) for u, r in enumerate(arity[:-1]))
    schema = Schema(columns, tuple(range(arity[-1])), "class")
    return Cases.of(Rows(schema, codes[:-1].astype(schema.dtype), codes[-1]))


def names(nodes):
    return [f"x{u}" for u in range(nodes)]


def edges_of(structure):
    return {(p, v) for v, above in enumerate(structure.parents) for p in above}


def as_structure(edges, nodes):
    """Return the structure with these edges, or None if they form a cycle."""
    try:
        return Structure(tuple(tuple(sorted(p for p, v in edges if v == node)) for node in range(nodes)))
    except ValueError:
        return None


def obeys(edges, restrictions):
    return (
        not any(restrictions.forbidden[edge] for edge in edges)
        and all(edge in edges for edge in zip(*np.nonzero(restrictions.required), strict=True))
        and all(
            sum(v == node for _, v in edges) <= restrictions.max_parents for node in range(len(restrictions.required))
        )
    )


def one_step_away(structure, restrictions):
    """Return every structure that obeys the restrictions and differs by one added, removed or reversed edge."""
    nodes, edges = len(structure.parents), edges_of(structure)
    found = []
    for p, v in itertools.permutations(range(nodes), 2):
        options = [edges ^ {(p, v)}]
        if (p, v) in edges:
            options.append(edges ^ {(p, v), (v, p)})
        found += [after for after in options if obeys(after, restrictions)]
    return [s for s in (as_structure(after, nodes) for after in found) if s is not None]


def all_structures(nodes):
    pairs = list(itertools.combinations(range(nodes), 2))
    for kinds in itertools.product(range(3), repeat=len(pairs)):
        edges = {(u, v) if kind == 1 else (v, u) for (u, v), kind in zip(pairs, kinds, strict=True) if kind}
        structure = as_structure(edges, nodes)
        if structure is not None:
            yield structure


@st.composite
def some_restrictions(draw, nodes=5):
    pairs = list(itertools.permutations(range(nodes), 2))
    required = draw(st.sets(st.sampled_from(pairs), max_size=3))
    forbidden = draw(st.sets(st.sampled_from(pairs), max_size=8)) - required
    most = draw(st.integers(0, nodes - 1))
    called = names(nodes)
    try:
        return Restrictions.of(
            called, [(called[p], called[v]) for p, v in forbidden], [(called[p], called[v]) for p, v in required], most
        )
    except ValueError:
        assume(False)


@every_score
@pytest.mark.parametrize("seed", range(4))
def test_no_single_move_improves_a_local_optimum(score, seed):
    cases = random_cases(seed, (2, 3, 2, 4, 2, 3), 120)
    restrictions = Restrictions.of(names(6))
    found = hill_climb(cases, score, restrictions, tabu=0)
    top = score.total(cases, found)
    assert all(score.total(cases, other) <= top + 1e-8 for other in one_step_away(found, restrictions))


@settings(max_examples=60, deadline=None)
@given(
    restrictions=some_restrictions(),
    seed=st.integers(0, 3),
    tabu=st.sampled_from([0, 3]),
    score=st.sampled_from(SCORES),
)
def test_restrictions_are_obeyed_and_no_allowed_move_improves_the_result(restrictions, seed, tabu, score):
    cases = random_cases(seed, (2, 3, 2, 3, 2), 80)
    found = hill_climb(cases, score, restrictions, tabu=tabu, restarts=1)
    assert obeys(edges_of(found), restrictions)
    plain = hill_climb(cases, score, restrictions, tabu=0)
    top = score.total(cases, plain)
    assert all(score.total(cases, other) <= top + 1e-8 for other in one_step_away(plain, restrictions))


@every_score
def test_hill_climbing_finds_a_score_between_that_of_no_edges_and_the_best(score):
    restrictions = Restrictions.of(names(4))
    structures = list(all_structures(4))
    assert len(structures) == 543
    for seed in range(3):
        cases = random_cases(seed, (2, 3, 2, 3), 60)
        best = max(score.total(cases, structure) for structure in structures)
        found = score.total(cases, hill_climb(cases, score, restrictions, restarts=3))
        empty = score.total(cases, Structure(((),) * 4))
        assert empty <= found <= best + 1e-9


@every_score
@pytest.mark.parametrize("seed", range(3))
def test_the_tabu_list_and_restarts_find_nothing_worse(score, seed):
    cases = random_cases(seed, (2, 3, 2, 4, 2, 3, 2), 100)
    restrictions = Restrictions.of(names(7))
    plain, tabu = (score.total(cases, hill_climb(cases, score, restrictions, tabu=t)) for t in (0, 10))
    again = score.total(cases, hill_climb(cases, score, restrictions, restarts=5, seed=seed))
    assert plain <= tabu + 1e-9
    assert tabu <= again + 1e-9


def test_a_local_optimum_is_left_for_a_better_one():
    # Each of three nodes is the sum of the other two modulo two: no single edge gains anything.
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    schema = Schema((Category("a", (0, 1)), Category("b", (0, 1))), (0, 1), "class")
    cases = Cases.of(Rows(schema, np.array([a, b]).astype(schema.dtype), a ^ b))
    restrictions = Restrictions.of(["a", "b", "class"])
    assert edges_of(hill_climb(cases, BDeu(), restrictions, tabu=0)) == set()
    found = hill_climb(cases, BDeu(), restrictions, tabu=10)
    best = max(BDeu().total(cases, structure) for structure in all_structures(3))
    assert BDeu().total(cases, found) == pytest.approx(best, abs=1e-9)


@pytest.mark.compiled
@every_score
@pytest.mark.usefixtures("threads_for_few_rows")
def test_neither_the_order_of_rows_nor_the_number_of_threads_changes_anything(score):
    arity, rows = (2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 3), 300
    restrictions = Restrictions.of(names(len(arity)))
    one = hill_climb(random_cases(1, arity, rows), score, restrictions, restarts=2, seed=5)
    order = np.random.default_rng(2).permutation(rows)
    assert hill_climb(random_cases(1, arity, rows, order), score, restrictions, restarts=2, seed=5) == one
    assert hill_climb(random_cases(1, arity, rows), score, restrictions, restarts=2, seed=5, n_jobs=2) == one


def test_an_edge_is_reversed_only_if_nothing_forbids_it():
    cases, score = random_cases(3, (3, 3, 3, 2), 200), BDeu()
    called = names(4)
    free = hill_climb(cases, score, Restrictions.of(called), tabu=0)
    for edge in edges_of(free):
        named = tuple(called[i] for i in edge)
        assert edge in edges_of(hill_climb(cases, score, Restrictions.of(called, required=[named])))
        assert edge not in edges_of(hill_climb(cases, score, Restrictions.of(called, forbidden=[named])))
        assert edge[::-1] not in edges_of(hill_climb(cases, score, Restrictions.of(called, forbidden=[named[::-1]])))


def test_ties_go_to_column_order():
    # Three copies of the class: edges between copies have the same gain in both directions.
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    schema = Schema(tuple(Category(f"x{u}", (0, 1)) for u in range(3)), (0, 1), "class")
    cases = Cases.of(Rows(schema, np.tile(y, (3, 1)).astype(schema.dtype), y))
    assert hill_climb(cases, BIC(), Restrictions.of(names(4)), tabu=0).parents == ((1,), (2,), (3,), ())


def test_columns_of_one_value_get_no_edges():
    cases = random_cases(0, (1, 3, 1, 2), 100)
    found = hill_climb(cases, BDeu(), Restrictions.of(names(4)))
    assert found.parents[0] == found.parents[2] == ()
    assert not {0, 2} & {p for p, _ in edges_of(found)}


def test_constant_columns_have_no_moves_that_gain():
    cases = random_cases(0, (1, 1), 10)
    assert hill_climb(cases, BDeu(), Restrictions.of(names(2)), restarts=2).parents == ((), ())


def test_every_move_is_reported_with_its_score():
    cases, reports = random_cases(1, (2, 3, 2, 3), 100), []
    found = hill_climb(
        cases, BDeu(), Restrictions.of(names(4)), tabu=0, progress=lambda *report: reports.append(report)
    )
    assert [words.split(" steps")[0] for words, _, _ in reports] == [str(i + 1) for i in range(len(reports))]
    assert reports[-1][0].endswith(f"log score {BDeu().total(cases, found):.2f}")
    assert [reports[0][1:], reports[-1][1:]] == [(1, None), (len(reports), None)]


@pytest.mark.usefixtures("threads_for_few_rows")
def test_an_interrupt_propagates_and_leaves_no_thread():
    def stop(*_):
        raise KeyboardInterrupt

    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        hill_climb(random_cases(1, (2, 3, 2, 3), 100), BDeu(), Restrictions.of(names(4)), n_jobs=2, progress=stop)
    assert threading.active_count() == before


def test_each_restart_is_from_the_best_so_far_after_as_many_moves_as_nodes(monkeypatch):
    scores, optima, starts, steps = [-50.0, -60.0, -40.0, -45.0], [], [], []
    disturbed, moved = hill_climbing._disturbed, hill_climbing.moved

    def climb(_, edges):
        optima.append(edges)
        return edges, scores[len(optima) - 1]

    def spied(edges, restrictions, rng):
        starts.append(edges)
        steps.append(0)
        return disturbed(edges, restrictions, rng)

    def step(edges, move):
        steps[-1] += 1
        return moved(edges, move)

    monkeypatch.setattr(hill_climbing._Climber, "climb", climb)
    monkeypatch.setattr(hill_climbing, "_disturbed", spied)
    monkeypatch.setattr(hill_climbing, "moved", step)
    found = hill_climb(random_cases(0, (2, 3, 2, 3, 2), 50), BDeu(), Restrictions.of(names(5)), restarts=3)
    assert len({edges.tobytes() for edges in optima}) == 4
    assert [edges.tobytes() for edges in starts] == [optima[i].tobytes() for i in (0, 0, 2)]
    assert steps == [5, 5, 5]
    assert edges_of(found) == set(zip(*(i.tolist() for i in np.nonzero(optima[2])), strict=True))
