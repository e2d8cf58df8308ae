"""The average over all trees against every tree by itself."""

import itertools
import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp

from tanbark import AveragedTAN, Counts, Network
from tanbark.models import tree_average
from tanbark.network import Structure
from tanbark.parameters import tree_tables
from tanbark.structure import rooted_parents

ARITY, CLASSES = (3, 2, 4, 2, 3), 3


def dirichlet_evidence(seen, prior):
    """The log probability of a sequence with these counts under a Dirichlet prior, in many digits."""
    total = mpmath.loggamma(sum(prior)) - mpmath.loggamma(sum(prior) + sum(map(int, seen)))
    return total + sum(mpmath.loggamma(p + int(s)) - mpmath.loggamma(p) for s, p in zip(seen, prior))


class EveryTree:
    """TAN models over all trees, each from the rows themselves: scores and predictions by the textbook, in 30 digits.

    Rows may be given that were known before: the prior over a tree's parameters is then its posterior given those.
    """

    def __init__(self, codes, y, arity, classes, ess, trees, before=None, factors=None):
        self.codes, self.y, self.arity, self.classes, self.ess = codes, y, arity, classes, ess
        self.before = before or (codes[:, :0], y[:0])
        n = len(arity)
        self.parents = [rooted_parents(n, tree, roots=[n - 1]) for tree in trees]
        self.trees = trees
        self.factors = np.ones((n, n)) if factors is None else factors
        self._scores = {}

    def prior_and_seen(self, child, parent, value, k):
        """The prior counts and the counts of a child's values, where the parent has `value`, in class k."""
        r = self.arity[child]
        q = self.classes * (self.arity[parent] if parent >= 0 else 1)
        counts = []
        for codes, y in ((self.before[0], self.before[1]), (self.codes, self.y)):
            here = (y == k) & ((codes[parent] == value) if parent >= 0 else True)
            counts.append(np.bincount(codes[child][here], minlength=r))
        prior = [mpmath.mpf(self.ess) / (r * q) + int(c) for c in counts[0]]
        return prior, counts[1]

    def score(self, child, parent, k):
        """The log evidence of the child's values in class k."""
        key = (child, parent, k)
        if key not in self._scores:
            values = range(self.arity[parent]) if parent >= 0 else (0,)
            self._scores[key] = sum(
                dirichlet_evidence(seen, prior)
                for prior, seen in (self.prior_and_seen(child, parent, value, k) for value in values)
            )
        return self._scores[key]

    def class_evidence(self):
        before, seen = (np.bincount(y, minlength=self.classes) for y in (self.before[1], self.y))
        return dirichlet_evidence(seen, [mpmath.mpf(self.ess) / self.classes + int(b) for b in before])

    def log_prior(self, tree):
        """The log prior of a tree up to a constant."""
        return sum(mpmath.log(self.factors[edge]) for edge in tree)

    def log_weight(self, t, ks):
        """The log posterior weight of tree t by the rows of the given classes, up to a constant."""
        family = sum(self.score(u, p, k) for u, p in enumerate(self.parents[t]) for k in ks)
        return self.log_prior(self.trees[t]) + family

    def likelihood(self, t, row, k):
        """P(row | class k, tree t) with posterior mean parameters."""
        product = mpmath.mpf(1)
        for u, p in enumerate(self.parents[t]):
            prior, seen = self.prior_and_seen(u, p, row[p] if p >= 0 else 0, k)
            product *= (prior[row[u]] + int(seen[row[u]])) / (sum(prior) + int(seen.sum()))
        return product

    def class_probability(self, k):
        seen = int((self.y == k).sum()) + int((self.before[1] == k).sum())
        rows = len(self.y) + len(self.before[1])
        return (seen + mpmath.mpf(self.ess) / self.classes) / (rows + mpmath.mpf(self.ess))

    def posterior(self, ks, change=lambda w: w):
        """The posterior probabilities of the trees by the rows of the given classes."""
        logs = change([self.log_weight(t, ks) for t in range(len(self.trees))])
        top = max(logs)
        weights = [mpmath.exp(x - top) for x in logs]
        return [w / sum(weights) for w in weights]

    def joint(self, row, posterior_of):
        """P(row, class) of each class: the average of all trees."""
        return [
            self.class_probability(k)
            * sum(p * self.likelihood(t, row, k) for t, p in enumerate(posterior_of[k]) if p > 1e-30)
            for k in range(self.classes)
        ]


@pytest.fixture
def small(random_table, all_trees):
    """A table of five attributes, and all trees over them."""
    schema, codes, y = random_table(1, 40, ARITY, CLASSES)
    return schema, codes, y, all_trees(5)


def rows_to_ask(rng=None):
    rng = rng or np.random.default_rng(0)
    return np.array([rng.integers(0, r, 6) for r in ARITY]).astype(np.uint8)


def frame(codes):
    return pd.DataFrame(codes.T, columns=[f"a{u}" for u in range(len(codes))])


def assert_joints(model, reference, posterior_of, rows):
    got = model.predict_joint_log_proba(frame(rows))
    for i in range(rows.shape[1]):
        expected = [float(mpmath.log(p)) for p in reference.joint(rows[:, i], posterior_of)]
        np.testing.assert_allclose(got[i], expected, rtol=1e-12)


def decoded(network_or_edges):
    return {frozenset(edge) for edge in network_or_edges}


def test_it_is_the_average_over_every_tree(small):
    """Eq 17-24: each tree's exact predictive probability, times its exact posterior probability."""
    schema, codes, y, trees = small
    model = AveragedTAN().fit_counts(Counts.of(schema, codes, y))
    reference = EveryTree(codes, y, ARITY, CLASSES, 10, trees)
    posterior = reference.posterior(range(CLASSES))
    assert_joints(model, reference, [posterior] * CLASSES, rows_to_ask())
    expected = np.zeros((5, 5))
    for tree, p in zip(trees, posterior):
        for u, v in tree:
            expected[u, v] += float(p)
            expected[v, u] += float(p)
    np.testing.assert_allclose(model.edge_probabilities_, expected, rtol=1e-11, atol=1e-14)
    logs = [reference.log_weight(t, range(CLASSES)) for t in range(len(trees))]
    evidence = reference.class_evidence() + mpmath.log(sum(map(mpmath.exp, logs)) / len(trees))
    assert model.log_evidence_ == pytest.approx(float(evidence), rel=1e-13)
    best = model.k_best_trees(3)
    assert [p for p, _ in best] == pytest.approx([float(mpmath.log(p)) for p in sorted(posterior)[::-1][:3]], abs=1e-10)
    top = decoded((f"a{u}", f"a{v}") for u, v in trees[int(np.argmax([float(p) for p in posterior]))])
    assert decoded(model.map_tree_.edges) == decoded(best[0][1].edges) == top


def test_six_attributes_and_sparse_rows(random_table, all_trees):
    arity = (2, 2, 3, 2, 2, 3)
    schema, codes, y = random_table(3, 12, arity, 2)
    model = AveragedTAN(ess=1.0).fit_counts(Counts.of(schema, codes, y))
    reference = EveryTree(codes, y, arity, 2, 1, all_trees(6))
    posterior = reference.posterior(range(2))
    got = model.predict_joint_log_proba(frame(codes[:, :2]))
    for i in range(2):
        expected = [float(mpmath.log(p)) for p in reference.joint(codes[:, i], [posterior] * 2)]
        np.testing.assert_allclose(got[i], expected, rtol=1e-12)


def test_a_prior_over_edges_multiplies_the_trees(small):
    schema, codes, y, trees = small
    factors = np.random.default_rng(0).uniform(0.1, 10, (5, 5))
    factors = factors + factors.T
    model = AveragedTAN(edge_prior=factors).fit_counts(Counts.of(schema, codes, y))
    reference = EveryTree(codes, y, ARITY, CLASSES, 10, trees, factors=factors)
    posterior = reference.posterior(range(CLASSES))
    assert_joints(model, reference, [posterior] * CLASSES, rows_to_ask())
    by_name = {(f"a{u}", f"a{v}"): factors[u, v] for u in range(5) for v in range(u)}
    again = AveragedTAN(edge_prior=by_name).fit_counts(Counts.of(schema, codes, y))
    assert np.array_equal(again.edge_probabilities_, model.edge_probabilities_)
    logs = [reference.log_weight(t, range(CLASSES)) for t in range(len(trees))]
    total = sum(mpmath.exp(reference.log_prior(tree)) for tree in trees)
    evidence = reference.class_evidence() + mpmath.log(sum(map(mpmath.exp, logs)) / total)
    assert model.log_evidence_ == pytest.approx(float(evidence), rel=1e-13)


def test_a_forbidden_edge_is_in_no_tree(small):
    schema, codes, y, trees = small
    counts = Counts.of(schema, codes, y)
    model = AveragedTAN(edge_prior={("a0", "a1"): 0, ("a2", "a1"): 0}).fit_counts(counts)
    allowed = [t for t in trees if not {(0, 1), (1, 0), (1, 2), (2, 1)} & set(t)]
    reference = EveryTree(codes, y, ARITY, CLASSES, 10, allowed)
    assert_joints(model, reference, [reference.posterior(range(CLASSES))] * CLASSES, rows_to_ask())
    assert model.edge_probabilities_[0, 1] == model.edge_probabilities_[2, 1] == 0
    assert model.edge_probabilities_.sum() / 2 == pytest.approx(4, rel=1e-13)
    for network in [model.map_tree_, *model.sample_trees(50, 0), *(net for _, net in model.k_best_trees(500))]:
        assert not {frozenset(("a0", "a1")), frozenset(("a1", "a2"))} & decoded(network.edges)
    assert len(model.k_best_trees(500)) == len(allowed)


def test_an_experts_rows_are_rows_that_were_known_before(small):
    schema, codes, y, trees = small
    known, new = slice(0, 15), slice(15, 40)
    prior = Counts.of(schema, codes[:, known], y[known])
    model = AveragedTAN(prior=prior).fit_counts(Counts.of(schema, codes[:, new], y[new]))
    reference = EveryTree(codes[:, new], y[new], ARITY, CLASSES, 10, trees, before=(codes[:, known], y[known]))
    posterior = reference.posterior(range(CLASSES))
    assert_joints(model, reference, [posterior] * CLASSES, rows_to_ask())
    logs = [reference.log_weight(t, range(CLASSES)) for t in range(len(trees))]
    evidence = reference.class_evidence() + mpmath.log(sum(map(mpmath.exp, logs)) / len(trees))
    assert model.log_evidence_ == pytest.approx(float(evidence), rel=1e-12)
    best = int(np.argmax([float(p) for p in posterior]))
    for i, row in enumerate(rows_to_ask().T):
        alone = [
            float(mpmath.log(reference.class_probability(k) * reference.likelihood(best, row, k))) for k in range(3)
        ]
        np.testing.assert_allclose(model.map_tree_.log_joint(rows_to_ask())[i], alone, rtol=1e-12)
    # What the known rows say of the parameters is used, what they say of the trees is not: that is the edge prior's.
    whole = AveragedTAN().fit_counts(Counts.of(schema, codes, y))
    assert not np.allclose(model.edge_probabilities_, whole.edge_probabilities_, rtol=1e-3)


def test_stubbornness_squeezes_the_evidence_as_the_paper_says(small):
    """Eq 25-29 to the letter, with W of eq 22, base ten and shift included."""
    schema, codes, y, trees = small
    codes, y = np.tile(codes, 10), np.tile(y, 10)
    counts = Counts.of(schema, codes, y)
    ess, K = 10, 5

    def log10_w(u, v):
        total = mpmath.mpf(0)
        for k in range(CLASSES):
            for cells, seen in (
                (CLASSES * ARITY[u], -counts.value(u)[k]),
                (CLASSES * ARITY[v], -counts.value(v)[k]),
                (CLASSES * ARITY[u] * ARITY[v], counts.pair(u, v)[k].ravel()),
            ):
                prior = mpmath.mpf(ess) / cells
                for s in seen.tolist():
                    sign = 1 if len(seen) == ARITY[u] * ARITY[v] and (seen >= 0).all() else -1
                    total += sign * (mpmath.loggamma(prior + abs(s)) - mpmath.loggamma(prior))
        return total / mpmath.log(10)

    logs = {(u, v): log10_w(u, v) for u in range(5) for v in range(u)}
    largest, smallest = max(logs.values()), min(logs.values())
    assert largest - smallest > K
    a = K / (largest - smallest)
    b = -K - a * smallest
    weights = {edge: mpmath.power(10, a * w + b) for edge, w in logs.items()}
    assert min(weights.values()) == pytest.approx(1e-5)
    assert max(weights.values()) == pytest.approx(1.0)
    reference = EveryTree(codes, y, ARITY, CLASSES, ess, trees)
    products = [mpmath.fprod(weights[max(e), min(e)] for e in tree) for tree in trees]
    posterior = [p / sum(products) for p in products]
    model = AveragedTAN(stubbornness=K).fit_counts(counts)
    assert_joints(model, reference, [posterior] * CLASSES, rows_to_ask())
    # The evidence of the data is no matter of stubbornness.
    assert model.log_evidence_ == AveragedTAN().fit_counts(counts).log_evidence_


def squeezed(logs, K):
    """Log weights between -K and 0 powers of ten, by eq 25-29, from a dict of log Bayes factors in nats."""
    spread = (max(logs.values()) - min(logs.values())) / math.log(10)
    scale = K / spread if spread > K else 1.0
    return {edge: scale * w for edge, w in logs.items()}


def test_stubbornness_heeds_forbidden_edges_and_each_class_of_a_multinet(small):
    """Edges that cannot be have no part in the spread; each class is squeezed by its own."""
    schema, codes, y, trees = small
    codes, y = np.tile(codes, 10), np.tile(y, 10)
    counts = Counts.of(schema, codes, y)
    pair = EveryTree(codes, y, ARITY, CLASSES, 10, [])
    gain = {(u, v, k): pair.score(u, v, k) - pair.score(u, -1, k) for u in range(5) for v in range(u) for k in range(3)}
    strongest = max(((u, v) for u in range(5) for v in range(u)), key=lambda e: sum(gain[*e, k] for k in range(3)))
    allowed = [t for t in trees if strongest not in {(max(e), min(e)) for e in t}]
    possible = {(u, v) for u in range(5) for v in range(u)} - {strongest}
    forbid = {(f"a{strongest[0]}", f"a{strongest[1]}"): 0}
    reference = EveryTree(codes, y, ARITY, CLASSES, 10, allowed)

    def posterior(ks):
        weights = squeezed({e: float(sum(gain[*e, k] for k in ks)) for e in possible}, 2)
        logs = np.array([sum(weights[max(e), min(e)] for e in tree) for tree in allowed])
        return np.exp(logs - logsumexp(logs))

    for multinet in (False, True):
        model = AveragedTAN(stubbornness=2, edge_prior=forbid, multinet=multinet).fit_counts(counts)
        posteriors = [posterior([k] if multinet else range(3)) for k in range(3)]
        got = model.predict_joint_log_proba(frame(rows_to_ask()))
        for i, row in enumerate(rows_to_ask().T):
            expected = [float(mpmath.log(p)) for p in reference.joint(row, posteriors)]
            np.testing.assert_allclose(got[i], expected, rtol=1e-11)


def test_stubbornness_leaves_narrow_evidence_alone(small):
    schema, codes, y, _ = small
    counts = Counts.of(schema, codes, y)
    stubborn, plain = AveragedTAN(stubbornness=1000.0).fit_counts(counts), AveragedTAN().fit_counts(counts)
    assert np.array_equal(stubborn.edge_probabilities_, plain.edge_probabilities_)


def test_a_multinet_averages_each_class_by_itself(small):
    schema, codes, y, trees = small
    model = AveragedTAN(multinet=True).fit_counts(Counts.of(schema, codes, y))
    reference = EveryTree(codes, y, ARITY, CLASSES, 10, trees)
    posteriors = [reference.posterior([k]) for k in range(CLASSES)]
    assert_joints(model, reference, posteriors, rows_to_ask())
    assert model.edge_probabilities_.shape == (CLASSES, 5, 5)
    np.testing.assert_allclose(model.edge_probabilities_.sum(axis=(1, 2)) / 2, 4.0, rtol=1e-13)
    evidence = reference.class_evidence()
    for k in range(CLASSES):
        weights = [mpmath.exp(reference.log_weight(t, [k])) for t in range(len(trees))]
        evidence += mpmath.log(sum(weights) / len(trees))
    assert model.log_evidence_ == pytest.approx(float(evidence), rel=1e-13)
    best = model.k_best_trees(4)
    products = sorted((math.prod(c) for c in itertools.product(*(sorted(p)[-4:] for p in posteriors))), reverse=True)
    assert [p for p, _ in best] == pytest.approx([float(mpmath.log(p)) for p in products[:4]], abs=1e-10)
    for k, network in enumerate(model.map_tree_):
        top = trees[int(np.argmax([float(p) for p in posteriors[k]]))]
        assert decoded(network.edges) == decoded((f"a{u}", f"a{v}") for u, v in top)
    assert len(model.sample_trees(2, random_state=0)[0]) == CLASSES
    shares = []
    for k, network in enumerate(model.map_tree_):
        best = decoded(network.edges)
        common = [len(best & decoded((f"a{u}", f"a{v}") for u, v in tree)) / 4 for tree in trees]
        shares.append(sum(float(p) * c for p, c in zip(posteriors[k], common)))
    assert model.concentration_ == pytest.approx(np.mean(shares), rel=1e-11)


def every_row(arity, with_holes=False, missing=255):
    return np.array(list(itertools.product(*([*range(r), *([missing] * with_holes)] for r in arity)))).T.astype(
        np.uint8
    )


@pytest.mark.parametrize("holes", [0.0, 0.3])
@pytest.mark.parametrize("settings", [{}, {"multinet": True}, {"stubbornness": 5}])
def test_joints_sum_to_one_also_when_training_values_are_missing(random_table, holes, settings):
    schema, codes, y = random_table(2, 60, ARITY, CLASSES, holes)
    model = AveragedTAN(**settings).fit_counts(Counts.of(schema, codes, y))
    assert np.exp(model.predict_joint_log_proba(frame(every_row(ARITY)))).sum() == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_a_missing_value_is_summed_out_of_every_tree(random_table, all_trees, holes):
    """The average over all trees of each network's own exact marginal, also where training values are missing."""
    schema, codes, y = random_table(2, 60, (3, 2, 4, 2), 2, holes)
    counts = Counts.of(schema, codes, y)
    model = AveragedTAN().fit_counts(counts)
    trees = all_trees(4)
    logs = []
    for tree in trees:
        weight = 0.0
        for u, v in tree:
            both = (codes[u] < 255) & (codes[v] < 255)
            pair = EveryTree(codes[:, both], y[both], (3, 2, 4, 2), 2, 10, [])
            weight += float(sum(pair.score(v, u, k) - pair.score(v, -1, k) for k in range(2)))
        logs.append(weight)
    share = np.array(logs) - logsumexp(logs)
    rows = every_row((3, 2, 4, 2), with_holes=True)
    joints = []
    for tree in trees:
        parent = rooted_parents(4, tree, [0])
        network = Network(schema, Structure.augmented(parent), tree_tables(counts, parent, "dirichlet", 10.0))
        joints.append(network.log_joint(rows))
    expected = logsumexp(np.array(joints) + share[:, None, None], axis=0)
    np.testing.assert_allclose(model.model_.log_joint(rows), expected, rtol=1e-11, atol=1e-11)
    evidence = float(EveryTree(codes, y, (3, 2, 4, 2), 2, 10, []).class_evidence())
    for u in range(4):
        has = codes[u] < 255
        evidence += float(
            sum(EveryTree(codes[:, has], y[has], (3, 2, 4, 2), 2, 10, []).score(u, -1, k) for k in (0, 1))
        )
    assert model.log_evidence_ == pytest.approx(evidence + logsumexp(logs) - math.log(len(trees)), rel=1e-12)


@pytest.mark.parametrize("multinet", [False, True])
def test_beyond_a_thousand_completions_trees_are_drawn_and_the_error_is_known(random_table, monkeypatch, multinet):
    schema, codes, y = random_table(5, 25, ARITY, CLASSES)
    counts = Counts.of(schema, codes, y)
    rows = every_row(ARITY, with_holes=True)
    rows = rows[:, ((rows < 255).sum(axis=0) >= 2) & (rows == 255).any(axis=0)]
    exact = AveragedTAN(multinet=multinet).fit_counts(counts).model_.log_joint(rows)
    exact = np.exp(exact - logsumexp(exact, axis=1, keepdims=True))
    monkeypatch.setattr(tree_average, "MAX_COMPLETIONS", 1)
    apart = []
    for seed in range(5):
        mixture = AveragedTAN(multinet=multinet, random_state=seed).fit_counts(counts).model_
        joint = mixture.log_joint(rows)
        drawn = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
        error = mixture.standard_error(rows)
        assert (error < 0.02).all()
        apart.append((drawn - exact)[error > 1e-6] / error[error > 1e-6])
        assert (np.abs(drawn - exact) < 6 * error + 1e-5).all()
    # Errors in units of the standard error: of variance one, and centred.
    apart = np.concatenate(apart)
    assert 0.7 < np.sqrt((apart**2).mean()) < 1.3
    assert np.abs(apart.mean()) < 0.3


def test_drawing_trees_is_said_aloud_and_fixed_at_fit():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (300, 8)), rng.integers(0, 2, 300)
    X[:, 1] = np.where(y, X[:, 0], X[:, 1])
    model = AveragedTAN().fit(X, y)
    row = [[None] * 6 + [1, 2]]
    with pytest.warns(UserWarning, match="1 row has so many missing values .* over 1,000 sampled trees"):
        first = model.predict_proba(row)
    with pytest.warns(UserWarning, match="2 rows have so many missing values"):
        both = model.predict_proba(row * 2 + [[0] * 8])
    assert np.array_equal(both[0], first[0])
    assert np.array_equal(both[1], first[0])
    error = model.standard_error([*row, [None, 0, 0, 0, 0, 0, 0, 0], [0] * 8])
    assert (error[0] > 0).all()
    assert (error[0] < 0.05).all()
    assert (error[1:] == 0).all()


def test_rows_are_completed_a_part_at_a_time(random_table, monkeypatch):
    schema, codes, y = random_table(2, 60, ARITY, CLASSES)
    mixture = AveragedTAN().fit_counts(Counts.of(schema, codes, y)).model_
    rows = every_row(ARITY, with_holes=True)
    at_once = mixture.log_joint(rows)
    monkeypatch.setattr(tree_average, "COMPLETIONS_PER_CHUNK", 100)
    assert np.array_equal(mixture.log_joint(rows), at_once)
    completions = mixture._completions(rows)
    parts = [part for part, _ in mixture._incomplete(rows, None)]
    assert np.array_equal(np.concatenate(parts), np.arange(rows.shape[1]))
    assert max(completions[part].sum() for part in parts) <= 100 + completions.max()
    monkeypatch.setattr(tree_average, "MAX_COMPLETIONS", 1)
    drawn = mixture.log_joint(rows)
    monkeypatch.setattr(tree_average, "MARGINALS_PER_CHUNK", 1)
    assert np.array_equal(mixture.log_joint(rows), drawn)


def test_a_thousand_and_twenty_four_completions_are_summed_and_one_more_value_draws():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (200, 13)), rng.integers(0, 2, 200)
    model = AveragedTAN().fit(X, y)
    exact = [[None] * 10 + [0, 1, 0]]
    model.predict_proba(exact)
    assert (model.standard_error(exact) == 0).all()
    with pytest.warns(UserWarning, match="1 row has so many"):
        model.predict_proba([[None] * 11 + [1, 0]])
    assert (model.standard_error([[None] * 11 + [1, 0]]) > 0).all()


@pytest.mark.parametrize("ess", [1e-90, 10.0])
def test_messages_in_wide_trees_neither_underflow_nor_overflow(ess, monkeypatch):
    """A hub of 300 attributes, missing, whose neighbours contradict each other: each drawn tree against its network."""
    monkeypatch.setattr(tree_average, "SAMPLED_TREES", 20)
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    hub = rng.integers(0, 3, 2000)
    X = np.where(rng.random((2000, 300)) < 0.03, rng.integers(0, 3, (2000, 300)), hub[:, None])
    X[:, 0] = hub
    model = AveragedTAN(ess=ess).fit(X, y)
    asked = np.where(rng.random((5, 300)) < 0.2, np.nan, rng.integers(0, 3, (5, 300)))
    asked[:, 0] = np.nan
    mixture, codes = model.model_, model.schema_.encode(asked)
    assert mixture.is_sampled(codes).all()
    _, parent, times = mixture.sampled_trees
    (_, marginals), *_ = mixture._sampled(codes, np.arange(5), None)
    for t in range(0, len(times), max(len(times) // 5, 1)):
        edges = np.array([(u, p) for u, p in enumerate(parent[0, t]) if p >= 0])
        expected = mixture.network(edges).log_joint(codes) - mixture.class_log_prior
        np.testing.assert_allclose(marginals[:, t], expected, rtol=1e-11)


def test_hundreds_of_missing_values_are_no_trouble():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 5, (50, 60)), rng.integers(0, 2, 50)
    model = AveragedTAN().fit(X, y)
    with pytest.warns(UserWarning, match="1 row has so many"):
        np.testing.assert_allclose(model.predict_proba([[None] * 60]), np.exp(model.class_log_prior_)[None], rtol=1e-9)


def test_samples_follow_the_joint_distribution(random_table):
    schema, codes, y = random_table(2, 120, (3, 2, 2), 2)
    kept = (y == 1) | (np.arange(120) % 3 == 0)  # one class is three times as frequent as the other
    counts = Counts.of(schema, np.ascontiguousarray(codes[:, kept]), y[kept])
    for multinet in (False, True):
        model = AveragedTAN(multinet=multinet).fit_counts(counts)
        X, drawn = model.sample(40_000, random_state=1)
        rows = every_row((3, 2, 2))
        expected = np.exp(model.predict_joint_log_proba(frame(rows)))
        seen = np.zeros_like(expected)
        place = {tuple(row): i for i, row in enumerate(rows.T.tolist())}
        for row, k in zip(X.tolist(), drawn.tolist()):
            seen[place[tuple(row)], k] += 1 / len(drawn)
        assert np.abs((seen - expected) / np.sqrt(expected / len(drawn))).max() < 4.5


def test_sampled_trees_are_networks_that_come_as_often_as_they_are_probable(small):
    schema, codes, y, _ = small
    model = AveragedTAN().fit_counts(Counts.of(schema, codes, y))
    seen = np.zeros((5, 5))
    for network in model.sample_trees(400, random_state=3):
        for a, b in network.edges:
            seen[int(a[1]), int(b[1])] += 1 / 400
            seen[int(b[1]), int(a[1])] += 1 / 400
    assert np.abs(seen - model.edge_probabilities_).max() < 0.12
    one, other = ([tree.structure for tree in model.sample_trees(3, random_state=0)] for _ in range(2))
    assert one == other


def test_an_averaged_prediction_is_the_mean_of_the_drawn_trees_predictions(small):
    """What a user would do by hand with sample_trees."""
    schema, codes, y, _ = small
    model = AveragedTAN().fit_counts(Counts.of(schema, codes, y))
    rows = rows_to_ask()
    drawn = np.mean([np.exp(network.log_joint(rows)) for network in model.sample_trees(2000, random_state=0)], axis=0)
    np.testing.assert_allclose(drawn, np.exp(model.model_.log_joint(rows)), rtol=0.1)


@pytest.mark.parametrize("ess", [1e-100, 1e-3, 10.0, 1e7, 1e15, 1e100])
@pytest.mark.parametrize("rows", [6, 500])
def test_the_evidence_keeps_its_digits_at_any_weight_of_the_prior(random_table, ess, rows):
    schema, codes, y = random_table(4, rows, (3, 4), 2)
    model = AveragedTAN(ess=ess).fit_counts(Counts.of(schema, codes, y))
    with mpmath.workdps(130 if ess > 1e15 else 40):
        reference = EveryTree(codes, y, (3, 4), 2, ess, [[(0, 1)]])
        exact = float(reference.class_evidence() + reference.log_weight(0, range(2)))
    assert model.log_evidence_ == pytest.approx(exact, rel=1e-12)


def test_a_posterior_of_one_tree_still_has_an_error_where_trees_are_drawn(monkeypatch):
    """All draws are alike; a tree as probable as one draw may have been missed."""
    rng = np.random.default_rng(0)
    X = np.repeat(rng.integers(0, 2, (2000, 1)), 4, axis=1) ^ (rng.random((2000, 4)) < [0, 0.1, 0.2, 0.3])
    X, y = X.astype(int), rng.integers(0, 2, 2000)
    model = AveragedTAN().fit(X, y)
    exact = model.predict_proba([[1, None, None, 0]])
    monkeypatch.setattr(tree_average, "MAX_COMPLETIONS", 1)
    error = model.standard_error([[1, None, None, 0]])
    assert (error >= 0.0005).all()
    with pytest.warns(UserWarning, match="has so many"):
        assert (np.abs(model.predict_proba([[1, None, None, 0]]) - exact) < 3 * error).all()
