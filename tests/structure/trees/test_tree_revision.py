"""Roure's heuristic against the algorithm of the paper, with weights from the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tanbark import Category, Counts, Schema
from tanbark.counts import Rows
from tanbark.immutable import read_only
from tanbark.kernels.trees.information_trees import grow_tree
from tanbark.kernels.trees.tree_revision import finish_tree
from tanbark.scores import BDeu, Cases
from tanbark.structure import EDGE_WEIGHTS, learned_tree, revised_tree


def rows_of(n, rows, seed, classes=2, levels=3):
    rng = np.random.default_rng(seed)
    schema = Schema([Category(f"a{u}", tuple(range(levels))) for u in range(n)], classes=tuple(range(classes)))
    hidden = rng.integers(0, levels, (rows, 2))
    X = np.where(rng.random((rows, n)) < 0.5, hidden[:, rng.integers(0, 2, n)], rng.integers(0, levels, (rows, n)))
    return schema, np.ascontiguousarray(X.T, np.uint8), rng.integers(0, classes, rows)


def information(codes, y, u, v):
    """Return the conditional mutual information from the definition."""
    total = 0.0
    for k, i, j in set(zip(y.tolist(), codes[u].tolist(), codes[v].tolist(), strict=True)):
        in_class = y == k
        joint = (in_class & (codes[u] == i) & (codes[v] == j)).mean()
        of_u, of_v = (in_class & (codes[u] == i)).mean(), (in_class & (codes[v] == j)).mean()
        total += joint * np.log(joint * in_class.mean() / (of_u * of_v))
    return total


def paper(n, weight, former):
    """Run algorithm 2 of Roure (2002) literally; weights are stored, and every use of one is counted."""
    known, work = {}, {"calculated": 0, "recalled": 0}

    def cost(pair):
        pair = frozenset(pair)
        work["recalled"] += 1
        work["calculated"] += pair not in known
        known.setdefault(pair, weight(*sorted(pair)))
        return known[pair]

    inside, kept = {former[0][0]}, []
    for arc in former:
        own = cost(arc)
        others = [e for e in former if e not in kept and e != arc and len(inside & set(e)) == 1]
        if any(cost(e) > own + 1e-12 for e in others):
            break
        kept.append(arc)
        inside |= set(arc)
    first = n if len(kept) == n - 1 else len(kept) + 1
    if not kept:
        # The batch algorithm calculates every weight, and finds the heaviest, before it compares.
        best = max(itertools.combinations(range(n), 2), key=lambda pair: weight(*pair))
        kept, inside = [best], set(best)
        known = {frozenset(pair): weight(*pair) for pair in itertools.combinations(range(n), 2)}
        work["calculated"] = len(known)
    while len(kept) < n - 1:
        arc = max(itertools.product(inside, set(range(n)) - inside), key=cost)
        kept.append(arc)
        inside |= set(arc)
    return {frozenset(e) for e in kept}, first, work


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), st.integers(0, 10**6), st.integers(5, 150))
def test_the_tree_is_that_of_the_papers_algorithm(n, seed, more):
    schema, codes, y = rows_of(n, 60 + more, seed)
    before = Counts.of(schema, codes[:, :60], y[:60])
    after = Counts.of(schema, codes, y)
    former = [(u, v) for u, v, _ in learned_tree(before, "cmi", 1.0)[0]]
    weights = {pair: information(codes, y, *pair) for pair in itertools.combinations(range(n), 2)}
    if n > 2:
        ordered = sorted(weights.values())
        if min(np.diff(ordered)) < 1e-9:
            return
    tree, stats = revised_tree(after, "cmi", 1.0, former)
    expected, first, work = paper(n, lambda u, v: weights[u, v], former)
    assert {frozenset((u, v)) for u, v, _ in tree} == expected
    assert stats.first_out_of_order == first
    assert stats.edges_changed == len(expected - {frozenset(e) for e in former})
    for u, v, weight in tree:
        assert weight == pytest.approx(weights[min(u, v), max(u, v)], abs=1e-12)
    assert (stats.calculated, stats.recalled) == (work["calculated"], work["recalled"])
    if first == n:
        assert [(u, v) for u, v, _ in tree] == former


def test_a_batch_calculates_each_weight_once_and_recalls_the_papers_number():
    schema, codes, y = rows_of(6, 200, 3)
    _, stats = learned_tree(Counts.of(schema, codes, y), "cmi", 1.0)
    # 15 weights, and 2*4 + 3*3 + 4*2 + 5*1 = 30 comparisons: 330 in eleven chunks, as the paper's Table 1 has for Car.
    assert (stats.calculated, stats.recalled, stats.first_out_of_order, stats.edges_changed) == (15, 30, 1, 5)


def test_once_arcs_fail_only_weights_that_are_needed_are_calculated_and_the_rest_is_prims():
    for seed in range(40):
        schema, codes, y = rows_of(7, 160, seed)
        former = [(u, v) for u, v, _ in learned_tree(Counts.of(schema, codes[:, :40], y[:40]), "cmi", 1.0)[0]]
        counts = Counts.of(schema, codes, y)
        tree, stats = revised_tree(counts, "cmi", 1.0, former)
        kept = stats.first_out_of_order - 1
        assert [(u, v) for u, v, _ in tree[:kept]] == former[:kept]
        weights = EDGE_WEIGHTS["cmi"](counts, 1.0)
        for step in range(max(kept, 1), len(tree)):
            inside = {w for u, v, _ in tree[:step] for w in (u, v)}
            u, v, weight = tree[step]
            assert (u in inside, v in inside) == (True, False)
            best = max(weights[a, b] for a in inside for b in range(7) if b not in inside)
            assert weight == pytest.approx(best, abs=1e-12)


@settings(max_examples=50, deadline=None)
@given(st.integers(3, 7), st.integers(0, 10**6))
def test_ties_are_broken_as_in_the_batch_algorithm(n, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, (n, n)).astype(float)
    weights = np.maximum(weights, weights.T)
    us, vs = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    grow_tree(weights, us, vs)
    expected = list(zip(us.tolist(), vs.tolist(), strict=True))
    us[1:], vs[1:] = -1, -1
    known = weights + 0.0
    nothing = np.zeros(n + 1, np.int64)
    given = read_only(np.empty((0, 0, 0), np.int64)), read_only(nothing)
    finish_tree(*given, 0.0, nothing[:0], 1.0, nothing, us, vs, 1, known, np.zeros(2, int))
    assert list(zip(us.tolist(), vs.tolist(), strict=True)) == expected


def test_under_bdeu_weights_are_bayes_factors():
    schema, codes, y = rows_of(4, 120, 1)
    counts = Counts.of(schema, codes, y)
    former = [(u, v) for u, v, _ in learned_tree(Counts.of(schema, codes[:, :30], y[:30]), "bdeu", 5.0)[0]]
    tree, _ = revised_tree(counts, "bdeu", 5.0, former)
    score, cases = BDeu(5.0), Cases.of(Rows(schema, codes, y))
    for u, v, weight in tree:
        gain = score.local(cases, v, (u, 4)) - score.local(cases, v, (4,))
        assert weight == pytest.approx(gain, rel=1e-9)


def test_arcs_that_differ_only_by_rounding_are_in_order():
    schema, codes, y = rows_of(2, 300, 6, levels=3)
    relabelled = np.array([2, 0, 1], np.uint8)
    same = np.stack([codes[0], relabelled[codes[0]], codes[0], relabelled[relabelled[codes[0]]]])
    schema = Schema([Category(f"a{u}", (0, 1, 2)) for u in range(4)], classes=(0, 1))
    for former in itertools.permutations([(0, 1), (0, 2), (0, 3)]):
        assert revised_tree(Counts.of(schema, same, y), "cmi", 1.0, former)[1].first_out_of_order == 4


def test_ties_are_in_order():
    schema, codes, y = rows_of(2, 100, 5)
    same = np.stack([codes[0]] * 4)
    schema = Schema([Category(f"a{u}", (0, 1, 2)) for u in range(4)], classes=(0, 1))
    former = [(0, 1), (0, 2), (0, 3)]
    tree, stats = revised_tree(Counts.of(schema, same, y), "cmi", 1.0, former)
    assert [(u, v) for u, v, _ in tree] == former
    assert stats.first_out_of_order == 4
