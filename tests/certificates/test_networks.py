"""Networks against exact fractions and many digits: a thousand attributes, hundreds of levels, priors of any weight."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pandas as pd
import pytest

from tanbark import TAN, BayesNet, Category, Counts, NaiveBayes, Schema

PRIORS = [1e-9, 1.0, 1e9]


def names(n):
    return [f"a{u}" for u in range(n)]


@pytest.mark.parametrize("ess", PRIORS)
@pytest.mark.parametrize("levels", [2, 300])
def test_naive_bayes_is_the_fraction_that_its_definition_gives(levels, ess):
    """Every probability to fifteen digits, from counts of one to 10**12."""
    rng = np.random.default_rng(levels)
    schema = Schema([Category(name, tuple(range(levels))) for name in names(4)], ("x", "y", "z"))
    codes, y = rng.integers(0, levels, (4, 50)).astype(schema.dtype), rng.integers(0, 3, 50)
    counts = Counts.of(schema, codes, y) + Counts.of(schema, codes[:, :1], y[:1]) * 10**12
    model = NaiveBayes(ess=ess).fit_counts(counts)
    asked = pd.DataFrame(codes[:, :6].T, columns=names(4))
    prior, seen = Fraction(ess), counts.class_counts.tolist()
    for row, logs in zip(asked.to_numpy().tolist(), model.predict_log_proba(asked)):
        joint = []
        for k in range(3):
            of_class = seen[k] + prior / 3
            each = [(int(counts.value(u)[k, code]) + prior / (3 * levels)) / of_class for u, code in enumerate(row)]
            joint.append(of_class * np.prod(each))
        with mpmath.workdps(60):
            whole = sum(joint)
            for share, log in zip(joint, logs):
                exact = mpmath.log(mpmath.mpf((share / whole).numerator) / (share / whole).denominator)
                assert abs(log - exact) < 1e-14 * max(abs(exact), 1)


def summed_out(model, counts, ess, row):
    """Log joints of a row whose missing values (-1) are summed out of the model's tree, in 50 digits."""
    schema, places = counts.schema, {name: u for u, name in enumerate(counts.schema.names)}
    classes, prior = len(schema.classes), mpmath.mpf(ess)
    below = {u: [] for u in range(len(row))}
    above = {}
    for name, parents in model.network_.parents.items():
        if name in places:
            for parent in parents:
                if parent in places:
                    below[places[parent]].append(places[name])
                    above[places[name]] = places[parent]

    def message(u, k, values):
        """For each value of u: the probability of what is known below it, given the value."""
        out = []
        for i in values:
            product = mpmath.mpf(1)
            for v in below[u]:
                pair = counts.pair(u, v)[k, i]
                cell = prior / (classes * int(schema.arity[u]) * int(schema.arity[v]))
                total = int(pair.sum()) + cell * len(pair)
                inner = known[v]
                product *= sum((int(pair[j]) + cell) / total * m for j, m in zip(inner, messages[v]))
            out.append(product)
        return out

    known = [range(int(r)) if code < 0 else [code] for code, r in zip(row, schema.arity)]
    order, stack = [], [u for u in range(len(row)) if u not in above]
    while stack:
        u = stack.pop()
        order.append(u)
        stack += below[u]
    joints = []
    for k in range(classes):
        messages, of_class = {}, int(counts.class_counts[k]) + prior / classes
        for u in reversed(order):
            messages[u] = message(u, k, known[u])
        joint = of_class / (int(counts.class_counts.sum()) + prior)
        for u in (u for u in range(len(row)) if u not in above):
            cell = prior / (classes * int(schema.arity[u]))
            joint *= sum((int(counts.value(u)[k, i]) + cell) / of_class * m for i, m in zip(known[u], messages[u]))
        joints.append(mpmath.log(joint))
    return joints


@pytest.mark.parametrize(("n", "levels", "ess"), [(1000, 2, 10.0), (40, 3, 1e-9), (40, 3, 1e9), (3, 300, 10.0)])
def test_missing_values_are_summed_out_of_trees_to_the_last_digits(n, levels, ess, random_table):
    schema, codes, y = random_table(n, 300, (levels,) * n, 2)
    counts = Counts.of(schema, codes, y)
    model = TAN(ess=ess).fit_counts(counts)
    rng = np.random.default_rng(0)
    rows = np.where(rng.random((3, n)) < 0.6, -1, codes[:, :3].T.astype(int))
    rows[2] = -1
    # Three hundred levels squared is enough for one row.
    rows = rows[2:] if levels > 100 else rows
    asked = pd.DataFrame(rows, columns=schema.names).astype(object).where(rows >= 0)
    got = model.predict_joint_log_proba(asked)
    with mpmath.workdps(50):
        for row, logs in zip(rows.tolist(), got):
            for exact, log in zip(summed_out(model, counts, ess, row), logs):
                # Rounding adds up along the attributes.
                assert abs(log - exact) < 1e-15 * n * max(abs(exact), 1)


def log_bdeu(table, ess):
    """Log BDeu of a family: counts of shape (configurations of parents, values), in 40 digits."""
    q, r = table.shape
    row, cell, total = mpmath.mpf(ess) / q, mpmath.mpf(ess) / (q * r), mpmath.mpf(0)
    for seen in table:
        total += mpmath.loggamma(row) - mpmath.loggamma(row + int(seen.sum()))
        total += sum(mpmath.loggamma(cell + int(x)) - mpmath.loggamma(cell) for x in seen)
    return total


@pytest.mark.parametrize("ess", PRIORS)
@pytest.mark.parametrize("times", [1, 10**5])
def test_the_exact_search_finds_the_best_of_all_networks_at_priors_of_any_weight(times, ess):
    """All 543 acyclic graphs over four nodes, each scored in 40 digits."""
    rng = np.random.default_rng(7)
    columns = rng.integers(0, 2, (4, 30))
    columns[1] = np.where(rng.random(30) < 0.8, columns[0], columns[1])
    columns[3] = np.where(rng.random(30) < 0.7, columns[1] ^ columns[2], columns[3])
    X = pd.DataFrame(columns[:3].T, columns=names(3))
    model = BayesNet(search="exact", ess=ess).fit(X, columns[3], np.full(30, times))
    with mpmath.workdps(40):
        family = {}
        for node in range(4):
            others = [v for v in range(4) if v != node]
            for parents in itertools.chain.from_iterable(itertools.combinations(others, size) for size in range(4)):
                table = np.zeros((2 ** len(parents), 2), object)
                for row in columns.T:
                    table[sum(int(row[p]) << i for i, p in enumerate(parents)), row[node]] += times
                family[node, parents] = log_bdeu(table, ess)
        best = max(
            sum(family[node, parents] for node, parents in enumerate(graph))
            for graph in itertools.product(*[[p for v, p in family if v == node] for node in range(4)])
            if acyclic(graph)
        )
        assert abs(model.log_score_ - best) < 1e-12 * abs(best) + 4e-16 * 30 * times


def acyclic(graph):
    left = set(range(4))
    while True:
        free = {node for node in left if not left & set(graph[node])}
        if not free:
            return not left
        left -= free
