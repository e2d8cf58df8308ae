import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score

from tanbark import Category, Counts, Encoder, Schema
from tanbark.scores.conditional_scores import beta
from tanbark.structure import EDGE_WEIGHTS, class_information


def conditional_information(a, b, y):
    """Return I(A; B | Y) in nats as the mean over classes of scikit-learn's mutual information."""
    return sum(mutual_info_score(a[y == k], b[y == k]) * np.mean(y == k) for k in np.unique(y))


def test_cmi_is_the_mean_over_classes_of_mutual_information(random_table):
    schema, codes, y = random_table(1, 500, (3, 4, 2, 5), 3)
    weights = EDGE_WEIGHTS["cmi"](Counts.of(schema, codes, y), 10.0)
    for u in range(4):
        for v in range(u):
            assert weights[u, v] == pytest.approx(conditional_information(codes[u], codes[v], y), rel=1e-10)
    assert np.array_equal(weights, weights.T)


def test_cmi_with_missing_values_is_that_of_the_complete_rows_times_their_share(random_table):
    schema, codes, y = random_table(2, 600, (3, 4, 2), 3, 0.3)
    weights = EDGE_WEIGHTS["cmi"](Counts.of(schema, codes, y), 10.0)
    for u in range(3):
        for v in range(u):
            both = (codes[u] < 255) & (codes[v] < 255)
            own = conditional_information(codes[u][both], codes[v][both], y[both])
            assert weights[u, v] == pytest.approx(own * both.mean(), rel=1e-10)


@pytest.mark.parametrize("arities", [(1, 1, 3, 1), (5, 7, 30), (60, 50, 2)])
@pytest.mark.parametrize("weight", [1.0, 7.3, 0.001])
def test_independent_attributes_have_no_weight_however_sums_are_rounded(arities, weight):
    schema = Schema([Category(f"x{u}", tuple(range(arity))) for u, arity in enumerate(arities)], (0, 1, 2))
    *codes, y = np.indices((*arities, 3)).reshape(len(arities) + 1, -1)
    shares = [np.random.default_rng(u).integers(1, 9, arity) for u, arity in enumerate(arities)]
    each = weight * np.prod([share[code] for share, code in zip(shares, codes, strict=True)], axis=0)
    counts = Counts.of(schema, np.array(codes, np.uint8), y, each)
    assert not EDGE_WEIGHTS["cmi"](counts, 10.0)[~np.eye(len(arities), dtype=bool)].any()
    assert not class_information(counts).any()


def test_the_information_of_few_among_very_many_rows_is_not_lost():
    """400 rows in which all attributes agree, and 10^15 uninformative rows of each class: 200 log 2 nats in all."""
    schema = Schema([Category("x0", (0, 1)), Category("x1", (0, 1)), Category("x2", (0, 1))], (0, 1))
    codes = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]], np.uint8)
    counts = Counts.of(schema, codes, np.array([0, 1, 0, 1]), np.array([1e15, 1e15, 200.0, 200.0]))
    with mpmath.workdps(40):
        # x1 is 1 only in 200 rows of class 1.
        rows, ones = mpmath.mpf(2 * 10**15 + 400), mpmath.mpf(200)
        inside = mpmath.mpf(10**15 + 200)
        zeros = rows - ones
        share = ones * mpmath.log(2) + inside * mpmath.log(rows / zeros)
        share += (inside - ones) * mpmath.log((inside - ones) * rows / (inside * zeros))
    assert class_information(counts)[1] == pytest.approx(float(share / rows), rel=0.01)
    assert EDGE_WEIGHTS["cmi"](counts, 10.0)[0, 1] > 0


@pytest.mark.parametrize("criterion", ["cmi", "bdeu", "acll"])
def test_missing_values_alone_do_not_make_an_edge_heavy(criterion):
    """A column that is nearly always missing is independent: its edges must weigh less than a real dependence."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 4000)
    a = rng.integers(0, 3, 4000)
    b = np.where(rng.random(4000) < 0.3, a, rng.integers(0, 3, 4000))
    holed = rng.integers(0, 3, 4000).astype(float)
    holed[rng.random(4000) < 0.97] = np.nan
    X = np.column_stack([a, b, holed])
    schema = Encoder().fit(X, y).schema_
    weights = EDGE_WEIGHTS[criterion](Counts.of(schema, schema.encode(X), y), 10.0)
    assert weights[0, 1] > 10 * max(weights[0, 2], weights[1, 2])


def bdeu(child, parents, y, arity, parent_arity, classes, ess):
    """Return the BDeu score of a family whose parents are the class and the given attributes, in 40 digits."""
    with mpmath.workdps(40):
        q = classes * int(np.prod(parent_arity, initial=1))
        total = mpmath.mpf(0)
        cell, row = mpmath.mpf(ess) / (q * arity), mpmath.mpf(ess) / q
        for k in range(classes):
            for configuration in np.ndindex(*parent_arity):
                here = (y == k) & np.all([p == c for p, c in zip(parents, configuration, strict=True)], axis=0)
                total += mpmath.loggamma(row) - mpmath.loggamma(row + int(here.sum()))
                for j in range(arity):
                    total += mpmath.loggamma(cell + int((here & (child == j)).sum())) - mpmath.loggamma(cell)
        return float(total)


@pytest.mark.parametrize("ess", [1e-3, 1.0, 10.0])
def test_bdeu_weight_is_the_difference_of_two_scores(random_table, ess):
    schema, codes, y = random_table(4, 300, (3, 4, 2), 3)
    weights = EDGE_WEIGHTS["bdeu"](Counts.of(schema, codes, y), ess)
    for u in range(3):
        for v in range(3):
            if u != v:
                r, s = int(schema.arity[u]), int(schema.arity[v])
                alone = bdeu(codes[v], [np.zeros(len(y))], y, s, [1], 3, ess)
                gain = bdeu(codes[v], [codes[u]], y, s, [r], 3, ess) - alone
                assert weights[u, v] == pytest.approx(gain, rel=1e-9, abs=1e-9)


def exact_bayes_factor(counts, u, v, ess, dps=40):
    """Return log W of eq 22 of Cerquides 2003 with its class term, from a pair's counts, in many digits."""
    table = counts.pair(u, v)
    classes, r, s = table.shape
    with mpmath.workdps(dps):

        def grown(cells, seen):
            prior = mpmath.mpf(ess) / cells
            return mpmath.loggamma(prior + int(seen)) - mpmath.loggamma(prior)

        total = mpmath.mpf(0)
        for k in range(classes):
            total += grown(classes, table[k].sum())
            total -= sum(grown(classes * r, seen) for seen in table[k].sum(axis=1))
            total -= sum(grown(classes * s, seen) for seen in table[k].sum(axis=0))
            total += sum(grown(classes * r * s, seen) for seen in table[k].ravel())
        return total


@pytest.mark.parametrize("ess", [1e-100, 1e-9, 10.0, 1e9, 1e100])
@pytest.mark.parametrize("rows", [10, 1000, 1_000_000])
def test_bdeu_weights_lose_nothing_to_cancellation(random_table, rows, ess):
    """The terms are of the size N log N = 1e7, a double's step there is 2e-9; the sum is right to its own size."""
    schema, codes, y = random_table(4, rows, (3, 12, 2), 3)
    counts = Counts.of(schema, codes, y)
    weights = EDGE_WEIGHTS["bdeu"](counts, ess)
    for u, v in ((0, 1), (0, 2), (1, 2)):
        exact = exact_bayes_factor(counts, u, v, ess)
        # Zero information is as accurate as the frequencies, to a rounding error of each row.
        assert abs(float(weights[u, v] - exact)) < 4e-16 * rows + 1e-15 * abs(float(exact)) + 1e-13


def test_bdeu_weight_with_missing_values_is_that_of_the_complete_rows(random_table):
    schema, codes, y = random_table(6, 300, (3, 4), 3, 0.3)
    both = (codes[0] < 255) & (codes[1] < 255)
    a, b, k = codes[0][both], codes[1][both], y[both]
    gain = bdeu(b, [a], k, 4, [3], 3, 10.0) - bdeu(b, [np.zeros(len(k))], k, 4, [1], 3, 10.0)
    assert EDGE_WEIGHTS["bdeu"](Counts.of(schema, codes, y), 10.0)[0, 1] == pytest.approx(gain, rel=1e-9)


def acll(child, parent, y, arity, parent_arity, classes):
    """Return equation 7 of Sugahara 2018 for one family, the class a parent and N' = 5, in 40 digits."""
    with mpmath.workdps(40):
        share, total = mpmath.mpf(beta(classes)), mpmath.mpf(0)
        for j in range(parent_arity):
            for c in range(classes):
                modified = {}
                for k in range(arity):
                    here = (parent == j) & (child == k)
                    modified[k] = int((here & (y == c)).sum()) + share * int(here.sum())
                floored = {k: max(m, mpmath.mpf(5)) for k, m in modified.items()}
                total += sum(m * mpmath.log(floored[k] / sum(floored.values())) for k, m in modified.items())
        return float(total)


@pytest.mark.parametrize(("rows", "classes"), [(12, 2), (300, 3), (300, 2), (5000, 5), (40, 1)])
def test_acll_weight_is_the_difference_of_two_scores_in_either_direction(random_table, rows, classes):
    schema, codes, y = random_table(7, rows, (3, 4, 2, 1), classes)
    weights = EDGE_WEIGHTS["acll"](Counts.of(schema, codes, y), 10.0)
    for u in range(4):
        for v in range(4):
            if u != v:
                r, s = int(schema.arity[u]), int(schema.arity[v])
                alone = acll(codes[v], np.zeros(rows), y, s, 1, classes)
                gain = acll(codes[v], codes[u], y, s, r, classes) - alone
                assert weights[u, v] == pytest.approx(gain, rel=1e-9, abs=1e-9)


def test_acll_weight_with_missing_values_is_that_of_the_complete_rows(random_table):
    schema, codes, y = random_table(8, 300, (3, 4, 2), 3, 0.3)
    weights = EDGE_WEIGHTS["acll"](Counts.of(schema, codes, y), 10.0)
    for u in range(3):
        for v in range(3):
            if u != v:
                r, s = int(schema.arity[u]), int(schema.arity[v])
                both = (codes[u] < 255) & (codes[v] < 255)
                a, b, k = codes[u][both], codes[v][both], y[both]
                gain = acll(b, a, k, s, r, 3) - acll(b, np.zeros(len(k)), k, s, 1, 3)
                assert weights[u, v] == pytest.approx(gain, rel=1e-9, abs=1e-9)


def test_with_one_class_no_edge_adds_to_acll(random_table):
    schema, codes, y = random_table(9, 100, (3, 4, 2), 1)
    assert not EDGE_WEIGHTS["acll"](Counts.of(schema, codes, y), 10.0).any()


def test_acll_weights_move_with_the_columns(random_table):
    schema, codes, y = random_table(10, 400, (3, 4, 2, 5), 3, 0.1)
    order = [2, 0, 3, 1]
    moved = Schema([schema.columns[u] for u in order], schema.classes)
    weights = EDGE_WEIGHTS["acll"](Counts.of(schema, codes, y), 1.0)
    again = EDGE_WEIGHTS["acll"](Counts.of(moved, codes[order].copy(), y), 1.0)
    np.testing.assert_allclose(again, weights[np.ix_(order, order)], rtol=1e-10, atol=1e-10)


def test_information_is_never_negative():
    """For independent columns, rounding errors alone could make it negative."""
    X = np.array([[i, j] for i in range(7) for j in range(9) for _ in range(3)])
    y = np.zeros(len(X), int)
    schema = Encoder(categorical="all").fit(X, y).schema_
    assert (EDGE_WEIGHTS["cmi"](Counts.of(schema, schema.encode(X), y), 1.0) >= 0).all()


def test_cmi_equals_pgmpy_on_a_real_table(read_text, reference):
    figures = reference("pgmpy_tan")
    X, y, names = read_text("car_evaluation")
    schema = Encoder(categorical="all").fit(X, y).schema_
    weights = EDGE_WEIGHTS["cmi"](Counts.of(schema, schema.encode(X), schema.encode_target(y)), 10.0)
    for a, b, weight in figures["weights"]:
        assert weights[names.index(a), names.index(b)] == pytest.approx(weight, rel=1e-9, abs=1e-12)


def test_class_information_is_scikit_learns_mutual_information(random_table):
    schema, codes, y = random_table(5, 500, (3, 4, 2), 3)
    expected = mutual_info_classif(codes.T, y, discrete_features=True)
    np.testing.assert_allclose(class_information(Counts.of(schema, codes, y)), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rows", [100, 65_535, 65_536, 2**20 - 1, 2**20, 2**20 + 1, 10**7])
def test_information_is_accurate_below_and_beyond_the_tabulated_counts(rows):
    schema = Schema([Category("a", (0, 1)), Category("b", (0, 1))], classes=("only",))
    cells = np.array([[rows // 2, rows // 7], [rows // 9, 0]])
    cells[1, 1] = rows - cells.sum()
    table = np.zeros((1, 4, 4), np.int64)
    table[0, :2, 2:], table[0, 2:, :2] = cells, cells.T
    table[0, [0, 1, 2, 3], [0, 1, 2, 3]] = [*cells.sum(axis=1), *cells.sum(axis=0)]
    mpmath.mp.dps = 30
    expected = sum(
        mpmath.mpf(int(cells[i, j]))
        / rows
        * mpmath.log(mpmath.mpf(int(cells[i, j])) * rows / (int(cells[i].sum()) * int(cells[:, j].sum())))
        for i in range(2)
        for j in range(2)
    )
    for kind in (np.int64, np.float64):
        counts = Counts(schema, np.array([rows], kind), table.astype(kind))
        assert EDGE_WEIGHTS["cmi"](counts, 1.0)[0, 1] == pytest.approx(float(expected), rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 2000), st.integers(0, 10**6), st.sampled_from([0.0, 0.2]))
def test_information_of_whole_counts_does_not_depend_on_the_order_of_levels_and_classes(classes, rows, seed, missing):
    rng = np.random.default_rng(seed)
    arity = (2, 3, 6, 1)
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity)], classes=tuple(range(classes)))
    codes = np.stack([rng.integers(0, r, rows) for r in arity])
    codes[1] = np.where(rng.random(rows) < 0.5, codes[0], codes[1])
    holes = rng.random(codes.shape) < missing
    y = rng.integers(0, classes, rows)
    other = np.stack([rng.permutation(r)[column] for r, column in zip(arity, codes, strict=True)])
    renamed = Counts.of(schema, np.where(holes, 255, other).astype(np.uint8), rng.permutation(classes)[y])
    counts = Counts.of(schema, np.where(holes, 255, codes).astype(np.uint8), y)
    weights = EDGE_WEIGHTS["cmi"](counts, 1.0)
    assert np.array_equal(weights, EDGE_WEIGHTS["cmi"](renamed, 1.0))
    with mpmath.workdps(30):
        for u, v in itertools.combinations(range(4), 2):
            cells = [[[mpmath.mpf(int(n)) for n in line] for line in block] for block in counts.pair(u, v)]
            gain = sum(_information(block) for block in cells) / rows
            assert abs(weights[u, v] - gain) <= 1e-15 * max(np.log(rows), 1.0)


def _information(cells):
    """Return N I of a table of mpmath's numbers."""
    rows, columns = [sum(line) for line in cells], [sum(column) for column in zip(*cells, strict=True)]
    seen = [(i, j) for i in range(len(rows)) for j in range(len(columns)) if cells[i][j]]
    return sum(cells[i][j] * mpmath.log(cells[i][j] * sum(rows) / (rows[i] * columns[j])) for i, j in seen)


def test_impossible_counts_do_not_read_beyond_the_table(random_table):
    schema, codes, y = random_table(3, 200, (2, 2, 3), 2)
    counts = Counts.of(schema, codes, y)
    for wrong in (
        Counts(schema, counts.class_counts, counts.table * 10**9),
        Counts(schema, np.ones_like(counts.class_counts), counts.table),
        Counts(schema, counts.class_counts, -counts.table),
    ):
        assert (EDGE_WEIGHTS["cmi"](wrong, 1.0) >= 0).all()


def test_information_with_rows_in_many_classes_is_looked_up_by_the_largest_class(random_table):
    schema, codes, y = random_table(4, 300, (3, 4), 5)
    few = Counts.of(schema, codes, y)
    many = few * 10_000
    assert many.class_counts.sum() > 2**20 > many.class_counts.max()
    np.testing.assert_allclose(EDGE_WEIGHTS["cmi"](many, 1.0), EDGE_WEIGHTS["cmi"](few, 1.0), rtol=1e-12)


@pytest.mark.parametrize("tiny", [1e-306, 5e-324])
def test_tiny_row_weights_give_tiny_information(random_table, tiny):
    schema, codes, y = random_table(5, 200, (2, 3), 2)
    codes[0] = 1
    codes[0, 0] = 0
    weights = np.ones(200)
    weights[0] = tiny
    counts = Counts.of(schema, codes, y, weights)
    assert class_information(counts)[0] == pytest.approx(0.0, abs=1e-300)
    assert EDGE_WEIGHTS["cmi"](counts, 1.0)[0, 1] == pytest.approx(0.0, abs=1e-300)
