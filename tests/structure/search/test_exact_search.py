"""Exact search against all acyclic graphs, and its invariants."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark.counts import Rows
from tanbark.network import Structure
from tanbark.schema import Category, Schema
from tanbark.scores import AIC, BIC, BDeu, BDs, Cases, K2Score, LogLikelihood
from tanbark.structure.search import local_scores
from tanbark.structure.search.exact_search import _Search, exact_structure, memory_needed
from tanbark.structure.search.local_scores import DirectScores, SetSums, TabulatedScores
from tanbark.structure.search.restrictions import Restrictions

SCORES = [BDeu(1.0), BDeu(12.0), BDs(1.0), K2Score(), LogLikelihood(), BIC(), AIC()]
SEARCHED = {1: 1, 2: 3, 3: 25, 4: 543, 5: 29281}


def random_cases(rng, arity, rows, holes=0.0, weights=None):
    """Return cases in which some columns copy, or nearly copy, others."""
    columns = tuple(Category(f"x{u}", tuple(range(r))) for u, r in enumerate(arity[:-1]))
    schema = Schema(columns, tuple(range(arity[-1])), "class")
    codes = np.zeros((len(arity), rows), np.int64)
    for u, r in enumerate(arity):
        codes[u] = rng.integers(0, r, rows)
        if u and rng.random() < 0.7:
            of = codes[rng.integers(0, u)] + codes[rng.integers(0, u)]
            codes[u] = np.where(rng.random(rows) < 0.7, of % r, codes[u])
    values = codes[:-1].astype(schema.dtype)
    values[rng.random(values.shape) < holes] = schema.missing_code
    return Cases.of(Rows(schema, values, codes[-1], weights))


@pytest.fixture(scope="module")
def all_dags():
    """Return, for a number of nodes, the parents of each node (as sets of bits) in every acyclic graph."""
    kept = {}

    def dags(n):
        if n not in kept:
            subsets = [[s for s in range(1 << n) if not s >> v & 1] for v in range(n)]
            parents = np.stack([m.ravel() for m in np.meshgrid(*subsets, indexing="ij")])
            left = np.full(parents.shape[1], (1 << n) - 1)
            for _ in range(n):
                for v in range(n):
                    left = np.where(parents[v] & left == 0, left & ~(1 << v), left)
            kept[n] = parents[:, left == 0]
            assert kept[n].shape[1] == SEARCHED[n]
        return kept[n]

    return dags


def best_by_enumeration(cases, score, dags, restrictions):
    """Return the greatest score of all acyclic graphs that the restrictions allow."""
    n = len(cases.arity)
    total = np.zeros(dags.shape[1])
    for v in range(n):
        local = np.full(1 << n, np.nan)
        for s in range(1 << n):
            above = [u for u in range(n) if s >> u & 1]
            if v in above:
                continue
            must, may_not = restrictions.required[:, v], restrictions.forbidden[:, v]
            fits = all(u in above for u in np.flatnonzero(must)) and not may_not[above].any()
            local[s] = score.local(cases, v, above) if fits and len(above) <= restrictions.max_parents else -np.inf
        total += local[dags[v]]
    return float(total.max())


def names(n):
    return [*(f"x{u}" for u in range(n - 1)), "class"]


@pytest.mark.parametrize("score", SCORES, ids=repr)
@pytest.mark.parametrize("arity", [(2,), (2, 3), (3, 2, 2), (2, 2, 3, 2), (2, 3, 2, 2, 3)], ids=str)
def test_exact_search_finds_what_enumeration_finds(score, arity, all_dags):
    rng = np.random.default_rng([7, len(arity)])
    n = len(arity)
    for rows in (1, 12, 90, 400):
        cases = random_cases(rng, arity, rows, holes=0.1 if rows == 90 else 0.0)
        free = Restrictions.of(names(n))
        found = exact_structure(cases, score, free)
        best = best_by_enumeration(cases, score, all_dags(n), free)
        assert score.total(cases, found) == pytest.approx(best, abs=1e-9 * max(1, abs(best)))


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_with_the_class_as_parent_of_all_it_finds_the_best_augmented_naive_bayes(score, all_dags):
    rng = np.random.default_rng(8)
    for rows in (10, 200):
        cases = random_cases(rng, (2, 3, 2, 2, 3), rows)
        augmented = Restrictions.of(names(5), augmented=True)
        found = exact_structure(cases, score, augmented)
        assert all(4 in above for above in found.parents[:-1])
        assert found.parents[-1] == ()
        best = best_by_enumeration(cases, score, all_dags(5), augmented)
        assert score.total(cases, found) == pytest.approx(best, abs=1e-9 * max(1, abs(best)))


@st.composite
def restricted(draw):
    n = draw(st.integers(2, 4))
    edges = [(a, b) for a in names(n) for b in names(n) if a != b]
    order = draw(st.permutations(names(n)))
    required = draw(st.lists(st.sampled_from(edges), max_size=3, unique=True))
    required = [(a, b) for a, b in required if order.index(a) < order.index(b)]
    forbidden = draw(st.lists(st.sampled_from(edges), max_size=5, unique=True))
    forbidden = [edge for edge in forbidden if edge not in required]
    most = max([sum(b == v for _, b in required) for v in names(n)])
    limit = draw(st.none() | st.integers(most, n))
    return n, forbidden, required, limit, draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from(SCORES))


@settings(deadline=None, max_examples=80)
@given(restricted())
def test_the_best_structure_within_the_restrictions_is_found(all_dags, case):
    n, forbidden, required, limit, seed, score = case
    rng = np.random.default_rng(seed)
    cases = random_cases(rng, rng.integers(1, 10, n), int(rng.integers(1, 60)))
    restrictions = Restrictions.of(names(n), forbidden, required, limit)
    found = exact_structure(cases, score, restrictions)
    edges = {(names(n)[p], names(n)[v]) for v, above in enumerate(found.parents) for p in above}
    assert edges >= set(required)
    assert not edges & set(forbidden)
    assert max(map(len, found.parents)) <= restrictions.max_parents
    best = best_by_enumeration(cases, score, all_dags(n), restrictions)
    assert score.total(cases, found) == pytest.approx(best, abs=1e-9 * max(1, abs(best)))


@pytest.mark.parametrize("score", [s for s in SCORES if not isinstance(s, BDs)], ids=repr)
@pytest.mark.parametrize("weights", ["none", "whole", "heavy", "broken", "32", "64"])
def test_set_functions_and_counting_each_family_agree(score, weights):
    rng = np.random.default_rng(11)
    arity, rows = (2, 3, 70, 2, 4, 2, 3), 150
    given_weights = {"none": None, "whole": rng.integers(1, 9, rows).astype(float)}.get(weights)
    if weights == "heavy":
        given_weights = rng.integers(1, 200, rows).astype(float)
    if weights == "broken":
        given_weights = rng.random(rows) * 3
    if weights.isdigit():
        # Weights on the edge of the histogram, one by one or in pairs.
        given_weights = np.full(rows, float(weights))
    cases = random_cases(rng, arity, rows, weights=given_weights)
    for always, searched in (([], [6, 0, 1, 2, 3, 4, 5]), ([6], [0, 1, 2, 3, 4, 5])):
        sums = SetSums(cases, score, searched, always, 7)
        sums.prepare(1, lambda *_: None)
        direct = DirectScores(cases, score, searched, always, 7)
        direct.prepare(1, lambda *_: None)
        for node in range(len(searched)):
            candidates = (1 << len(searched)) - 1 & ~(1 << node)
            by_sets, by_families = sums.among(node, candidates), direct.among(node, candidates)
            known = np.isfinite(by_sets)
            assert known.any()
            assert np.allclose(by_sets[known], by_families[known], rtol=0, atol=1e-8)
            # Sets of parents that are pruned by the penalty are worse than no parents.
            assert (by_families[~known] < by_families[0]).all()
            for s in (0, 3, len(by_families) - 1):
                others = [u for u in range(len(searched)) if u != node]
                above = [searched[u] for k, u in enumerate(others) if s >> k & 1] + always
                assert by_families[s] == pytest.approx(score.local(cases, searched[node], above), abs=1e-8)


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_tables_and_counting_in_compiled_code_agree(score):
    cases = random_cases(np.random.default_rng(27), (2, 3, 2, 4, 3), 60)
    for always, searched in (([], [4, 0, 1, 2, 3]), ([4], [0, 1, 2, 3])):
        direct, tabulated = (way(cases, score, searched, always, 3) for way in (DirectScores, TabulatedScores))
        for scores in (direct, tabulated):
            scores.prepare(1, lambda *_: None)
        for node in range(len(searched)):
            candidates = (1 << len(searched)) - 1 & ~(1 << node)
            by_kernel, by_tables = direct.among(node, candidates), tabulated.among(node, candidates)
            # Sets of more than three parents have no score.
            assert np.array_equal(np.isfinite(by_kernel), np.isfinite(by_tables))
            known = np.isfinite(by_kernel)
            assert np.allclose(by_kernel[known], by_tables[known], rtol=0, atol=1e-8)
            assert (by_tables[known] % tabulated.unit == 0).all()


@pytest.mark.parametrize("score", SCORES, ids=repr)
def test_many_blocks_find_what_one_finds(score, monkeypatch):
    rng = np.random.default_rng(12)
    cases = random_cases(rng, (2, 3, 2, 2, 3, 2, 2, 2, 3), 120)
    edges = {"forbidden": [("x0", "x7"), ("x6", "x1"), ("x2", "class")], "required": [("x5", "x2"), ("x7", "x3")]}
    for given_edges in ({}, edges):
        restrictions = Restrictions.of(names(9), **given_edges)
        one = exact_structure(cases, score, restrictions)
        for low in (2, 5):
            for way in (SetSums, DirectScores):
                monkeypatch.setattr(way, "block_nodes", staticmethod(lambda nodes, _, low=low: min(nodes, low)))
            assert exact_structure(cases, score, restrictions, n_jobs=2) == one
        monkeypatch.undo()


def test_terms_that_are_not_tabulated_are_the_same(monkeypatch):
    cases = random_cases(np.random.default_rng(13), (2, 3, 4, 5, 6, 2), 200)
    free = Restrictions.of(names(6))
    found = exact_structure(cases, BDeu(), free)
    monkeypatch.setattr(local_scores, "MAX_TERMS", 0)
    assert exact_structure(cases, BDeu(), free) == found


def test_neither_the_order_of_rows_nor_threads_matter():
    rng = np.random.default_rng(14)
    schema = Schema(tuple(Category(f"x{u}", (0, 1, 2)) for u in range(8)), (0, 1), "class")
    codes, classes = rng.integers(0, 3, (8, 300)).astype(schema.dtype), rng.integers(0, 2, 300)
    order = rng.permutation(300)
    found = [
        exact_structure(Cases.of(Rows(schema, codes[:, at], classes[at])), BDeu(), Restrictions.of(names(9)), n_jobs=j)
        for at, j in ((slice(None), 1), (order, 1), (order, 2))
    ]
    assert found[0] == found[1] == found[2]


def test_ties_go_to_edges_from_the_class_and_from_earlier_columns():
    rng = np.random.default_rng(15)
    same = rng.integers(0, 2, 200)
    schema = Schema(tuple(Category(f"x{u}", (0, 1)) for u in range(3)), (0, 1), "class")
    noisy = np.where(rng.random(200) < 0.1, 1 - same, same)
    rows = Rows(schema, np.array([same, same, noisy]).astype(schema.dtype), noisy)
    found = exact_structure(Cases.of(rows), BIC(), Restrictions.of(names(4)))
    assert found == Structure(((3,), (0,), (3,), ()))


def test_a_search_that_needs_too_much_memory_is_refused_before_it_starts():
    cases = random_cases(np.random.default_rng(16), (2,) * 40, 30)
    words = []
    with pytest.raises(ValueError, match=r"over 40 nodes needs .* GiB.*in which 2[0-9] nodes fit.*greedy"):
        exact_structure(
            cases,
            BDeu(),
            Restrictions.of(names(40)),
            max_memory=8 * 2**30,
            progress=lambda w, *_: words.append(w),
        )
    assert "40 nodes" in words[0]
    assert "GiB" in words[0]


def test_an_interrupt_propagates_and_leaves_no_thread_behind():
    import threading

    cases = random_cases(np.random.default_rng(17), (2,) * 18, 100)
    before = threading.active_count()

    def stop(task, done, total):
        if task.startswith("counting") and done > 0.1 * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        exact_structure(cases, BDeu(), Restrictions.of(names(18)), n_jobs=2, progress=stop)
    assert threading.active_count() == before


@pytest.mark.parametrize("score", [BIC(), AIC()], ids=repr)
def test_required_parents_that_cost_more_than_they_gain_are_kept(score, all_dags):
    cases = random_cases(np.random.default_rng(18), (3, 3, 3, 2), 6)
    required = [("x0", "class"), ("x1", "class"), ("x2", "class")]
    restrictions = Restrictions.of(names(4), required=required)
    found = exact_structure(cases, score, restrictions)
    assert found.parents[3] == (0, 1, 2)
    best = best_by_enumeration(cases, score, all_dags(4), restrictions)
    assert score.total(cases, found) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("ess", [1e-9, 1e-3, 1e4, 1e9])
@pytest.mark.parametrize("kind", [BDeu, BDs])
def test_priors_of_any_weight_are_searched_exactly(kind, ess, all_dags):
    for seed, rows in ((19, 8), (20, 300)):
        cases = random_cases(np.random.default_rng(seed), (2, 3, 2, 4), rows)
        free = Restrictions.of(names(4))
        best = best_by_enumeration(cases, kind(ess), all_dags(4), free)
        assert kind(ess).total(cases, exact_structure(cases, kind(ess), free)) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("weights", ["heavy", "broken"])
def test_bds_shares_its_prior_among_the_observed_configurations_for_any_weights(weights):
    rng = np.random.default_rng(21)
    rows = 40
    given_weights = rng.integers(50, 200, rows).astype(float) if weights == "heavy" else rng.random(rows) * 3
    cases = random_cases(rng, (3, 4, 3, 2, 3), rows, weights=given_weights)
    direct = DirectScores(cases, BDs(), range(5), [], 5)
    direct.prepare(1, lambda *_: None)
    for node in range(5):
        others = [u for u in range(5) if u != node]
        found = direct.among(node, 31 & ~(1 << node))
        for s in range(16):
            above = [u for k, u in enumerate(others) if s >> k & 1]
            assert found[s] == pytest.approx(BDs().local(cases, node, above), abs=1e-8)


def best_with_ties(cases, score):
    """Return the best structure by plain dynamic programming; scores that agree within 1e-6 are a tie.

    Ties between last nodes go to the latest column, the class counting as the first. Ties between sets of parents go to
    the smallest, then to the earliest columns.
    """
    n = len(cases.arity)
    order = [n - 1, *range(n - 1)]
    families = [{} for _ in range(n)]
    for v in range(n):
        for s in sorted((s for s in range(1 << n) if not s >> v & 1), key=lambda s: (s.bit_count(), s)):
            above = sorted(order[u] for u in range(n) if s >> u & 1)
            families[v][s] = score.local(cases, order[v], above)
    best, last = [0.0] * (1 << n), [0] * (1 << n)

    def parents(v, among):
        found = 0
        for s, value in families[v].items():
            if s & ~among == 0 and value > families[v][found] + 1e-6:
                found = s
        return found

    for among in range(1, 1 << n):
        best[among] = -np.inf
        for v in reversed([u for u in range(n) if among >> u & 1]):
            rest = among & ~(1 << v)
            total = best[rest] + families[v][parents(v, rest)]
            if total > best[among] + 1e-6:
                best[among], last[among] = total, v
    left, found = (1 << n) - 1, [()] * n
    while left:
        v = last[left]
        left &= ~(1 << v)
        above = parents(v, left)
        found[order[v]] = tuple(sorted(order[u] for u in range(n) if above >> u & 1))
    return Structure(tuple(found))


def cases_with_relabelled_copies(seed):
    """Return cases with one of several kinds of weights in which two columns are relabelled copies of others."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(20, 400))
    codes = rng.integers(0, 3, (5, rows))
    for u in range(1, 5):
        codes[u] = np.where(rng.random(rows) < 0.5, codes[rng.integers(0, u)], codes[u])
    one, two, three, four = rng.permutation(5)[:4]
    codes[one] = (codes[two] + 1) % 3
    codes[three] = 2 - codes[four]
    weights = [None, rng.random(rows) * 3, rng.integers(1, 300, rows) * 1.0, rng.random(rows) * 0.05][seed % 4]
    schema = Schema(tuple(Category(f"x{u}", (0, 1, 2)) for u in range(4)), (0, 1, 2), "class")
    return Cases.of(Rows(schema, codes[:-1].astype(schema.dtype), codes[-1], weights))


@pytest.mark.parametrize("score", [BDeu(), LogLikelihood(), BIC(), AIC()], ids=repr)
def test_ties_between_equivalent_columns_are_broken_as_documented(score):
    for seed in range(100):
        cases = cases_with_relabelled_copies(seed)
        assert exact_structure(cases, score, Restrictions.of(names(5))) == best_with_ties(cases, score)


@pytest.mark.parametrize("score", [*(s for s in SCORES if not isinstance(s, BDs)), BDeu(1e-9), BDeu(1e9)], ids=repr)
def test_values_of_set_functions_are_whole_multiples_of_the_unit_within_the_bound(score):
    rng = np.random.default_rng(22)
    for rows, weights in ((1, None), (60, None), (60, rng.random(60) * 1e-3), (300, rng.integers(1, 300, 300) * 1.0)):
        cases = random_cases(rng, (2, 3, 9, 2, 4), rows, weights=weights)
        sums = SetSums(cases, score, [4, 0, 1, 2, 3], [], 5)
        sums.prepare(1, lambda *_: None)
        values = sums.sums[np.isfinite(sums.sums)]
        assert len(values)
        assert (values % sums.unit == 0).all()
        assert np.abs(values).max() <= sums._bound()
        assert sums._bound() <= 2.0**50 * sums.unit


@pytest.mark.parametrize("score", [LogLikelihood(), BIC()], ids=repr)
def test_ties_between_sets_of_parents_go_to_the_smallest(score):
    rng = np.random.default_rng(23)
    same = rng.integers(0, 2, 200)
    schema = Schema((Category("x0", (0,)), Category("x1", (0, 1)), Category("x2", (0, 1))), (0, 1), "class")
    rows = Rows(schema, np.array([0 * same, same, same]).astype(schema.dtype), same)
    found = exact_structure(Cases.of(rows), score, Restrictions.of(names(4)))
    assert found == Structure(((), (3,), (3,), ()))


@pytest.mark.parametrize(
    ("cases", "nodes", "settings", "expected"),
    [
        # The widest layers have 4 and 6 blocks of 2**16 sets, with 8 + 4 and 8 + 3 numbers for each set.
        (0, 20, {}, 8 * (4 * 12 + 6 * 11) * 2**16 + 9 * 2**20),
        (0, 20, {"functions": 3}, 8 * (4 * 12 + 6 * 11) * 2**16 + 25 * 2**20),
        (100, 20, {"threads": 2}, 8 * (4 * 12 + 6 * 11) * 2**16 + 9 * 2**20 + 2 * 100 * 8 * (20 + 1 + 32)),
        (0, 26, {}, 8 * (210 * 15 + 252 * 14) * 2**16 + 9 * 2**26),
        # Blocks of 2**10 sets, and no set functions.
        (0, 20, {"way": DirectScores, "functions": 0}, 8 * (210 * 12 + 252 * 11) * 2**10 + 2**20),
    ],
)
def test_the_memory_needed_is_two_layers_the_last_nodes_and_the_set_functions(cases, nodes, settings, expected):
    assert memory_needed(cases, nodes, **settings) == expected


@pytest.mark.parametrize(("score", "functions"), [(BDeu(), 1), (K2Score(), 3), (BDs(), 0)], ids=repr)
def test_just_enough_memory_is_enough_and_a_byte_less_is_not(score, functions):
    cases = random_cases(np.random.default_rng(24), (2, 2, 3, 2, 3), 50)
    needed = 8 * (5 * 16 + 32) + 32 + 8 * functions * 32 + len(cases.weights) * 8 * (5 + 1 + 32)
    free = Restrictions.of(names(5))
    exact_structure(cases, score, free, max_memory=needed)
    with pytest.raises(ValueError, match=r"over 5 nodes needs .* in which 4 nodes fit"):
        exact_structure(cases, score, free, max_memory=needed - 1)


def test_finished_blocks_are_freed(monkeypatch):
    monkeypatch.setattr(SetSums, "block_nodes", staticmethod(lambda *_: 2))
    cases = random_cases(np.random.default_rng(25), (2,) * 9, 60)
    live = []
    scores = SetSums(cases, BDeu(), range(9), [], 9)
    search = _Search(scores, range(9), Restrictions.of(names(9)), 1, lambda *_: live.append(len(search._blocks)))
    search.run()
    # At most two layers of the 128 blocks: those with three of seven high nodes, and those with four.
    assert max(live) <= 35 + 35
    assert not search._blocks


def test_one_sufficient_parent_is_preferred_to_two_earlier_ones():
    one, two, classes = np.random.default_rng(26).integers(0, 2, (3, 100))
    columns = [Category(f"x{u}", tuple(range(r))) for u, r in enumerate((2, 2, 4, 2))]
    schema = Schema(tuple(columns), (0, 1), "class")
    rows = Rows(schema, np.array([one, two, 2 * one + two, one ^ two]).astype(schema.dtype), classes)
    found = exact_structure(Cases.of(rows), LogLikelihood(), Restrictions.of(names(5)))
    assert found.parents[3] == (2,)


@pytest.mark.parametrize("arity", [2, 3])
def test_as_many_parents_are_found_as_their_penalty_just_allows(arity):
    """A sum of columns modulo their arity depends on all of them together, and is independent of any fewer."""
    parents = 5 if arity == 2 else 3
    columns = np.array(list(np.ndindex((arity,) * parents))).T
    sums = columns.sum(axis=0) % arity
    # N rows gain N log r, and the penalty is log(N) / 2 for each of (r - 1) (r^p - 1) parameters.
    many = 1
    while len(sums) * many * np.log(arity) <= 0.5 * np.log(len(sums) * many) * (arity - 1) * (len(sums) - 1):
        many += 1
    codes = np.tile(np.vstack([columns, sums]), many).astype(np.uint8)
    nodes = parents + 1
    cases = Cases(codes, np.full(nodes, arity), np.ones(codes.shape[1]))
    found = exact_structure(cases, BIC(), Restrictions.of(names(nodes)))
    assert sorted(map(len, found.parents)) == [0] * parents + [parents]
    fewer = Cases(codes[:, : len(sums)], np.full(nodes, arity), np.full(len(sums), many - 1.0))
    assert exact_structure(fewer, BIC(), Restrictions.of(names(nodes))).parents == ((),) * nodes
