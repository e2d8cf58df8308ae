import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from parameters.published_formulas import FORMULAS
from tanbark import TAN, Counts, Encoder
from tanbark.kernels.count.table_estimates import rake
from tanbark.network import Network, Structure
from tanbark.parameters import PARAMETERS, raked_pair, smoothed_values, tree_tables
from tanbark.structure import rooted_parents


def pair_counts(codes, y, u, v, k, i, j):
    return int(((y == k) & (codes[u] == i) & (codes[v] == j)).sum())


@pytest.mark.parametrize("parameters", FORMULAS)
@pytest.mark.parametrize("rows", [5, 200])
def test_tables_follow_the_published_formulas(random_table, parameters, rows):
    schema, codes, y = random_table(1, rows, (3, 4), 3)
    counts = Counts.of(schema, codes, y)
    root, child, prior = (np.exp(t) for t in tree_tables(counts, (-1, 0), parameters, 10.0))
    formula = FORMULAS[parameters]
    for k in range(3):
        n_k = int((y == k).sum())
        assert prior[k] == pytest.approx(formula(n_k, rows, n_k / rows, 3, 1, 10.0))
        for i in range(3):
            m = int(((y == k) & (codes[0] == i)).sum())
            assert root[k, i] == pytest.approx(formula(m, n_k, np.mean(codes[0] == i), 3, 3, 10.0))
            for j in range(4):
                n = pair_counts(codes, y, 0, 1, k, i, j)
                assert child[i, k, j] == pytest.approx(formula(n, m, np.mean(codes[1] == j), 4, 9, 10.0))


@pytest.mark.parametrize("parameters", PARAMETERS)
@pytest.mark.parametrize("missing", [0.0, 0.4, 1.0])
def test_conditional_probabilities_sum_to_one(random_table, parameters, missing):
    schema, codes, y = random_table(2, 60, (3, 4, 2), 3, missing)
    for table in tree_tables(Counts.of(schema, codes, y), (-1, 0, 1), parameters, 0.5):
        np.testing.assert_allclose(np.exp(table).sum(axis=-1), 1.0, rtol=1e-13)


def joint(schema, codes, tables, parent):
    return Network(schema, Structure.augmented(parent), tables).log_joint(codes)


def every_row(arity):
    return np.array(list(np.ndindex(*arity)), np.uint8).T.copy()


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.6])
@pytest.mark.parametrize("ess", [1e-6, 1.0, 10.0, 1e6])
def test_with_dirichlet_parameters_the_root_does_not_change_the_joint(random_table, missing, ess):
    schema, codes, y = random_table(3, 120, (3, 2, 4, 2), 3, missing)
    counts = Counts.of(schema, codes, y)
    rows = every_row(schema.arity)
    # The tree 0 - 1 - 2, 1 - 3, rooted at each of its attributes.
    rootings = [(-1, 0, 1, 1), (1, -1, 1, 1), (1, 2, -1, 1), (1, 3, 1, -1)]
    joints = [joint(schema, rows, tree_tables(counts, parent, "dirichlet", ess), parent) for parent in rootings]
    assert np.exp(joints[0]).sum() == pytest.approx(1.0, rel=1e-12)
    for other in joints[1:]:
        np.testing.assert_allclose(other, joints[0], rtol=0, atol=1e-9)


@pytest.mark.compiled
def test_the_root_does_not_change_the_joint_without_complete_rows(read_text):
    X, y, names = read_text("hypothyroid")
    model = TAN(encoder=Encoder(categorical="all", max_levels=8))
    with pytest.warns(UserWarning, match="are merged into one"):
        model.fit(X, y)
    codes = model.schema_.encode(X)
    edges = [(u, v) for u, v, _ in model.tree_edges_]
    expected = model.network_.log_joint(codes)
    for root in (0, 17, 27):
        parent = rooted_parents(len(names) - 1, edges, [root])
        other = joint(model.schema_, codes, tree_tables(model.counts_, parent, "dirichlet", 10.0), parent)
        np.testing.assert_allclose(other, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("ess", [1e-9, 1.0, 1e9])
def test_raked_pairs_have_the_margins_of_the_values(random_table, ess):
    schema, codes, y = random_table(4, 80, (3, 5), 2, 0.5)
    counts = Counts.of(schema, codes, y)
    table = raked_pair(counts, 0, 1, ess, smoothed_values(counts, ess))
    np.testing.assert_allclose(
        table.sum(axis=2), smoothed_values(counts, ess)[:, schema.offset[0] : schema.offset[1]], rtol=1e-13
    )
    np.testing.assert_allclose(
        table.sum(axis=1), smoothed_values(counts, ess)[:, schema.offset[1] : schema.offset[2]], rtol=1e-13
    )
    np.testing.assert_allclose(table.sum(axis=(1, 2)), counts.class_counts + ess / 2, rtol=1e-13)
    assert np.array_equal(raked_pair(counts, 1, 0, ess, smoothed_values(counts, ess)), table.transpose(0, 2, 1))


@settings(max_examples=60, deadline=None)
@given(
    arrays(float, (3, 4), elements=st.floats(1e-12, 1e6)),
    arrays(float, 3, elements=st.floats(1e-6, 1e3)),
    arrays(float, 4, elements=st.floats(1e-6, 1e3)),
)
def test_raking_reaches_any_positive_margins(table, rows, columns):
    columns = columns * (rows.sum() / columns.sum())
    raked = table.copy()
    rake(raked, rows, columns)
    assert (raked >= 0).all()
    # The remainder that is spread over a table without convergence is subject to the rounding of the largest sum.
    rounding = 1e-15 * rows.sum()
    np.testing.assert_allclose(raked.sum(axis=1), rows, rtol=1e-9, atol=rounding)
    np.testing.assert_allclose(raked.sum(axis=0), columns, rtol=1e-9, atol=rounding)


@pytest.mark.parametrize("shape", [(2, 2), (5, 41), (16, 14), (30, 3)])
@pytest.mark.parametrize("seed", range(5))
def test_raking_converges_to_the_result_of_proportional_fitting(shape, seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.gamma(0.5, 20, shape)) + 0.01
    rows, columns = table.sum(axis=1) * rng.uniform(0.7, 1.4, shape[0]), table.sum(axis=0)
    columns *= rows.sum() / columns.sum()
    expected = table.copy()
    for _ in range(3000):
        expected *= (rows / expected.sum(axis=1))[:, None]
        expected *= columns / expected.sum(axis=0)
    rake(table, rows, columns)
    np.testing.assert_allclose(table, expected, rtol=1e-11)


def test_raking_does_not_oscillate():
    """After an extrapolation, the rate of convergence differs for some rounds from the asymptotic rate."""
    table = np.full((3, 6), 0.01 / 36)
    table[0, 5] += 38
    table[1, 2] += 3
    table[2, 3] += 2
    rows = np.array([90.47617927, 6.35166534, 3.17715538])
    columns = np.array([1.20770234e-03, 1.20770234e-03, 4.34893613, 4.34893613, 1.20770234e-03, 91.3035046])
    columns *= rows.sum() / columns.sum()
    raked = table.copy()
    rake(raked, rows, columns)
    odds = np.log(raked / table)
    odds -= odds[0] + (odds - odds[0])[:, :1]
    np.testing.assert_allclose(odds, 0.0, atol=1e-12)
    np.testing.assert_allclose(raked.sum(axis=1), rows, rtol=1e-13)


def test_slow_linear_convergence_of_raking_is_accelerated():
    """Proportional fitting alone has an error of 7e-8 after 2,000 rounds."""
    table, rows = np.full((3, 4), 1e-12), np.array([1e-6, 9.0, 1e-6])
    table[0, 0] = 1.0
    columns = np.array([1e-6, 9.0, 1e-6, 1e-6]) * (rows.sum() / 9.000003)
    rake(table, rows, columns)
    np.testing.assert_allclose(table.sum(axis=1), rows, rtol=2e-14)
    np.testing.assert_allclose(table.sum(axis=0), columns, rtol=2e-14)


def test_raking_reaches_margins_despite_very_slow_convergence():
    """Nearly all weight is on the diagonal, but the margins require it elsewhere: fitting needs millions of rounds."""
    table = np.array([[10.0, 1e-12], [1e-12, 10.0]])
    raked = table.copy()
    rake(raked, np.array([15.0, 5.0]), np.array([5.0, 15.0]))
    np.testing.assert_allclose(raked.sum(axis=1), [15.0, 5.0], rtol=1e-12)
    np.testing.assert_allclose(raked.sum(axis=0), [5.0, 15.0], rtol=1e-12)


def test_raking_reaches_the_table_that_has_the_margins_and_the_odds_ratios():
    """In a 2 x 2 table with odds ratio 50 and margins (3, 1) and (2, 2), the result is the root of a quadratic."""
    raked = np.array([[50.0, 1.0], [1.0, 1.0]])
    rake(raked, np.array([3.0, 1.0]), np.array([2.0, 2.0]))
    # a (1 - 2 + a) = 50 (3 - a)(2 - a)
    a = min(np.roots([49.0, -249.0, 300.0]).real)
    np.testing.assert_allclose(raked, [[a, 3 - a], [2 - a, a - 1]], rtol=1e-12)


def test_raking_keeps_odds_ratios():
    table = np.array([[3.0, 1.0, 2.0], [1.0, 5.0, 0.5]])
    raked = table.copy()
    rake(raked, np.array([2.0, 4.0]), np.array([1.0, 2.0, 3.0]))

    def odds(t):
        return t[0, :-1] * t[1, 1:] / (t[0, 1:] * t[1, :-1])

    np.testing.assert_allclose(odds(raked), odds(table), rtol=1e-12)
    np.testing.assert_allclose(raked.sum(axis=0), [1.0, 2.0, 3.0], rtol=1e-14)
    np.testing.assert_allclose(raked.sum(axis=1), [2.0, 4.0], rtol=1e-14)


def test_tables_equal_pgmpys_bdeu_with_ten_rows_of_prior(read_text, reference):
    figures = reference("pgmpy_tan")
    X, y, names = read_text("car_evaluation")
    X = pd.DataFrame(X, columns=names[:-1])
    schema = Encoder(categorical="all").fit(X, y).schema_
    counts = Counts.of(schema, schema.encode(X), schema.encode_target(y))
    above = {child: parent for parent, child in figures["attribute_arcs"]}
    parent = tuple(names.index(above[name]) if name in above else -1 for name in names[:-1])
    network = Network(schema, Structure.augmented(parent), tree_tables(counts, parent, "dirichlet", 10.0))
    for name, cpd in figures["cpds"].items():
        table = network.table(name)
        axes = [*network.parents[name], name]
        wanted = np.array(cpd["values"])
        np.testing.assert_allclose(table.transpose([axes.index(a) for a in cpd["axes"]]), wanted, rtol=1e-9)
