"""The page computes the same answers as Python: in a real browser, for every classifier."""

import json
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

from tanbark import (
    AODE,
    BNC2P,
    KDB,
    TAN,
    AdditiveBN,
    AveragedTAN,
    BayesNet,
    BoostedBN,
    Encoder,
    EvidenceBN,
    ForestAN,
    NaiveBayes,
    SuperParent,
)
from tanbark.classifiers.registry import REGISTRY

PRIOR = [0.2, 0.3, 0.5]
UNSEEN = 99.0
"""A value that occurs in no table."""
MODELS = {
    **{n: entry.classifier for n, entry in REGISTRY.items() if n not in ("boosted-tables", "ensemble-bn")},
    "naive Bayes by frequencies": lambda: NaiveBayes(parameters="ml"),
    "TAN by frequencies": lambda: TAN(parameters="ml"),
    "TAN under another prior": lambda: TAN(class_prior=PRIOR),
    "KDB by frequencies": lambda: KDB(k=3, parameters="ml"),
    "a network under another prior": lambda: BayesNet(class_prior=PRIOR),
    "super-parent with an impossible class": lambda: SuperParent(class_prior=[0.0, 0.5, 0.5]),
    "AODE by frequencies": lambda: AODE(parameters="ml"),
    "AODE without votes": lambda: AODE(min_frequency=120),
    "AODE under another prior": lambda: AODE(class_prior=PRIOR),
    "trees for each class": lambda: AveragedTAN(multinet=True),
    "stubborn trees": lambda: AveragedTAN(stubbornness=5),
    "trees without an edge": lambda: AveragedTAN(edge_prior={("x0", "x1"): 0.0}),
    "linear pool": lambda: AdditiveBN(link="linear"),
    "pool by frequencies": lambda: AdditiveBN(parameters="ml"),
    "pool under another prior": lambda: AdditiveBN(class_prior=PRIOR),
    "pool of trees": lambda: AdditiveBN(weak="tan"),
    "pool of classifiers": lambda: AdditiveBN(weak=[TAN(), NaiveBayes(), KDB()]),
    "votes under another prior": lambda: BoostedBN(class_prior=PRIOR),
    "evidence under another prior": lambda: EvidenceBN(class_prior=PRIOR),
    "evidence with an impossible class": lambda: EvidenceBN(class_prior=[0.0, 0.5, 0.5]),
    "evidence without parents": lambda: EvidenceBN(depth=0),
    "evidence without missing values": lambda: EvidenceBN(depth=3, encoder=Encoder(missing="marginalize")),
    "pool with evidence": lambda: AdditiveBN(weak=[TAN(), EvidenceBN()]),
    "votes of naive Bayes": lambda: BoostedBN(base="naive-bayes", n_estimators=5),
}


def table(rows=260, seed=1):
    """Return a table of six attributes with missing values, some of which depend on others, and three classes."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (rows, 6))
    X[:, 5] = rng.integers(0, 5, rows)
    X[:, 1] = np.where(rng.random(rows) < 0.7, X[:, 0], X[:, 1])
    X[:, 3] = np.where(rng.random(rows) < 0.7, (X[:, 2] + X[:, 1]) % 3, X[:, 3])
    y = (X[:, 0] + X[:, 2] * (rng.random(rows) < 0.6) + rng.integers(0, 2, rows)) % 3
    X = X.astype(float)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def partly_known(arity, many, seed):
    """Return rows of codes, -1 for unknown, from nothing known to all."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, arity, (many, len(arity)))
    rows[rng.random(rows.shape) < np.linspace(1.0, 0.0, many)[:, None]] = -1
    return rows


SCRIPT = """
const text = (value) => JSON.stringify(value, (_, v) => (typeof v === "number" ? String(v) : v));
const asked = modelOf(pageData);
return text(arguments[0].map((codes) => answer(asked, pageData.logPrior, codes, arguments[1])));
"""


def answers(browser, rows, order):
    found = json.loads(browser.execute_script(SCRIPT, rows.tolist(), order))
    numbers = np.vectorize(float)
    return [{key: numbers(value) for key, value in one.items()} for one in found]


def codes_of(model, rows):
    schema = model.schema_
    return np.ascontiguousarray(np.where(rows < 0, schema.missing_code, rows).T.astype(schema.dtype))


def same(found, expected):
    return np.allclose(found, expected, rtol=0, atol=1e-9, equal_nan=True)


@pytest.mark.parametrize("name", MODELS)
def test_the_page_agrees_with_python(opened, name):
    X, y = table()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]().fit(X, y)
        page = opened(model)
        rows = partly_known(model.schema_.arity, 24, 7)
        order = [int(u) for u in np.random.default_rng(8).permutation(6)]
        found = answers(page, rows, order)
        posteriors = model.model_.log_posterior(codes_of(model, rows))
        assert same([one["posterior"] for one in found], posteriors)
        assert np.allclose(np.exp(posteriors), model.predict_proba(decoded(model, rows)), rtol=0, atol=1e-12)
        parts = np.array([[one["prior"], *one["weights"]] for one in found])
        if hasattr(model, "explain"):
            assert same(parts, model.explain(decoded(model, rows)))
        else:
            for row, weights in zip(rows, parts):
                assert same(weights[1:], steps(model, row, order))
    with np.errstate(invalid="ignore"):
        sums = parts.sum(axis=1)
        totals = sums - np.log(np.exp(sums - sums.max(axis=1, keepdims=True)).sum(axis=1, keepdims=True))
        totals -= sums.max(axis=1, keepdims=True)
    finite = np.isfinite(totals).all(axis=1)
    assert same(totals[finite], posteriors[finite])


def decoded(model, rows):
    """Return codes as a table of values; unknown is NaN or, if missing values are a level, a value never seen."""
    levels = [
        np.array([*column.levels, *([np.nan, UNSEEN] if column.missing else [np.nan])])
        for column in model.schema_.columns
    ]
    return np.stack([values[row] for values, row in zip(levels, rows.T)], axis=1)


def steps(model, row, order):
    """Return the change of the log posterior by each known value, set one after the other, centred over classes."""
    weights = np.zeros((len(row), len(model.classes_)))
    known = np.full(len(row), -1)
    before = model.predict_log_proba(decoded(model, known[None]))[0]
    for u in order:
        known[u] = row[u]
        after = model.predict_log_proba(decoded(model, known[None]))[0]
        with np.errstate(invalid="ignore"):
            moved = np.where(after == before, 0.0, after - before)
        possible = np.isfinite(moved)
        weights[u] = moved - (moved[possible].mean() if possible.any() else 0.0)
        before = after
    return weights


@pytest.mark.filterwarnings("ignore:.*sampled trees")
def test_tree_averages_with_extreme_edge_weights_agree_with_python(opened):
    X, y = table()
    model = AveragedTAN().fit(X, y, sample_weight=np.full(len(y), 1e15))
    page = opened(model)
    rows = partly_known(model.schema_.arity, 24, 7)
    found = [one["posterior"] for one in answers(page, rows, [*range(6)])]
    np.testing.assert_allclose(found, model.model_.log_posterior(codes_of(model, rows)), rtol=0, atol=1e-7)


def test_averages_over_trees_of_wide_tables_are_accurate(opened):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (3000, 24))
    X[:, 1:] = np.where(rng.random((3000, 23)) < 0.9, X[:, :-1], X[:, 1:])
    y = X[:, 0] % 2
    model = AveragedTAN().fit(X, y)
    page = opened(model)
    rows = partly_known(model.schema_.arity, 6, 3)
    rows[-2, :5] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = model.model_.log_posterior(codes_of(model, rows))
    found = page.execute_script(
        "const asked = modelOf(pageData);"
        "return arguments[0].map((codes) => logPosterior(asked.scores(codes), pageData.logPrior).map(String));",
        rows.tolist(),
    )
    assert same(np.vectorize(float)(found), expected)


@pytest.mark.parametrize("rows", [300, 700, 1100, 1500, 4000])
@pytest.mark.parametrize("multinet", [False, True])
def test_averages_are_accurate_for_extreme_edge_weights(opened, rows, multinet):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (rows, 5))
    X[:, 2], X[:, 4] = X[:, 0], X[:, 3]
    y = (X[:, 1] ^ (rng.random(rows) < 0.3)).astype(int)
    model = AveragedTAN(multinet=multinet).fit(X, y)
    asked = partly_known(model.schema_.arity, 40, 5)
    found = answers(opened(model), asked, [])
    assert same([one["posterior"] for one in found], model.model_.log_posterior(codes_of(model, asked)))


def test_values_that_cannot_be_marginalised_exactly_are_an_error(opened):
    X, y = table()
    page = opened(KDB(k=3).fit(X, y))
    said = page.execute_script(
        "const asked = modelOf(pageData); asked.network.arity = asked.network.arity.map(() => 300);"
        "const codes = pageData.columns.map(() => -1); codes[asked.network.order.at(-1)] = 0;"
        "try { asked.scores(codes); return 'guessed'; } catch (error) { return String(error); }"
    )
    assert said == "RangeError: too many values are unknown to marginalise them exactly"


def test_a_weight_that_cannot_be_computed_is_nan_and_the_others_are_shown(opened):
    X, y = table()
    model = AODE().fit(X, y)
    page = opened(model)
    row = np.array([1, 0, 2, 1, 0, 3])
    found = page.execute_script(
        "const asked = modelOf(pageData); const scores = asked.scores.bind(asked);"
        "asked.scores = (codes) => {"
        "  if (codes.filter((code) => code >= 0).length === 2) throw new RangeError('too many values are unknown');"
        "  return scores(codes); };"
        "return JSON.stringify(answer(asked, pageData.logPrior, arguments[0], [0, 1, 2, 3, 4, 5]));",
        row.tolist(),
    )
    weights = json.loads(found)["weights"]
    expected = steps(model, row, range(6))
    assert weights[1] == weights[2] == [None] * 3
    assert same([weights[u] for u in (0, 3, 4, 5)], expected[[0, 3, 4, 5]])


@pytest.mark.parametrize("kind", [TAN, ForestAN, SuperParent, BNC2P, KDB])
def test_impossible_values_have_the_weights_that_python_computes(opened, kind):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, 120)
    X = np.stack(
        [rng.integers(0, 1 + y % 3, 120), rng.integers(0, 3 - y % 2, 120), (y + rng.integers(0, 2, 120)) % 3], 1
    )
    X = np.concatenate([X, (X + rng.integers(0, 2, X.shape) * (y[:, None] != 1)) % 3], axis=1)
    model = kind(parameters="ml").fit(X, y)
    page = opened(model)
    rows = partly_known(model.schema_.arity, 60, 6)
    found = answers(page, rows, [])
    parts = np.array([[one["prior"], *one["weights"]] for one in found])
    expected = model.explain(decoded(model, rows))
    assert np.isneginf(expected).any()
    assert same(parts, expected)


def test_hundreds_of_values_that_nearly_exclude_an_unknown_one_are_accurate(opened):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 2, 400)
    above = (y + (rng.random(400) < 0.3)) % 2
    X = np.column_stack([above, *((above + (rng.random(400) < 0.002)) % 2 for _ in range(300))])
    model = SuperParent(parent=0, ess=1e-3).fit(X, y)
    rows = np.tile(rng.integers(0, 2, 301), (4, 1))
    rows[1, 150:], rows[2, :150], rows[3] = 0, 1, 1
    rows[:, 0] = -1
    # The likelihood of either value is less than the smallest number of all beside what each child alone would allow.
    said = np.array([table[:, :, code] for table, code in zip(model.network_.log_tables[1:-1], rows[0, 1:])])
    assert ((said - said.max(axis=1, keepdims=True)).sum(axis=0) < -745).all()
    found = answers(opened(model), rows, [])
    assert same([one["posterior"] for one in found], model.model_.log_posterior(codes_of(model, rows)))
    assert np.isfinite(model.model_.log_posterior(codes_of(model, rows))).all()


def test_cached_tables_serve_later_questions(opened):
    rng = np.random.default_rng(4)
    X = rng.integers(0, 4, (800, 16))
    X[:, 2:] = np.where(rng.random((800, 14)) < 0.5, (X[:, :-2] + X[:, 1:-1]) % 4, X[:, 2:])
    y = (X[:, 0] + X[:, 5] + rng.integers(0, 2, 800)) % 3
    model = KDB(k=2).fit(X, y)
    # Each row is the one before, except for one value that is set, changed or unset.
    rows = np.full((120, 16), -1)
    for t in range(1, len(rows)):
        rows[t] = rows[t - 1]
        rows[t, rng.integers(16)] = rng.integers(-1, 4)
    found = answers(opened(model), rows, [])
    assert same([one["posterior"] for one in found], model.model_.log_posterior(codes_of(model, rows)))
    assert same([[one["prior"], *one["weights"]] for one in found], model.explain(decoded(model, rows)))


def test_an_exact_average_that_takes_long_is_estimated_first(opened):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 4, (300, 24))
    X[:, 1:] = np.where(rng.random((300, 23)) < 0.4, X[:, :-1], X[:, 1:])
    model = AveragedTAN().fit(X, X[:, 0] % 2)
    row = rng.integers(0, 4, 24)
    row[:5] = -1
    codes = codes_of(model, row[None])
    _, parent, times = model.model_.sampled_trees
    networks = [model.model_.network([(u, p) for u, p in enumerate(tree) if p >= 0]) for tree in parent[0]]
    joints = np.array([network.log_joint(codes)[0] for network in networks])
    estimate = logsumexp(joints, axis=0, b=times[:, None] / times.sum())
    page = opened(model)
    first, last = page.execute_script(
        "const asked = modelOf(pageData); const said = (found) => [found.estimated, found.posterior];"
        "const moves = arguments[0].flatMap((code, u) => (code < 0 ? [] : [u]));"
        "const steps = answering(asked, pageData.logPrior, arguments[0], moves);"
        "const first = said(steps.next().value); let last;"
        "for (const found of steps) if (found) last = said(found);"
        "return [first, last];",
        row.tolist(),
    )
    assert [first[0], last[0]] == [True, False]
    assert same(first[1], estimate - logsumexp(estimate))
    assert same(last[1], model.model_.log_posterior(codes)[0])
    assert not same(first[1], last[1])
    shown = page.execute_async_script(
        "const [codes, done] = arguments; const text = () => document.querySelector('#answers output').textContent;"
        "document.getElementById('more-attributes').click();"
        "codes.forEach((code, u) => { if (code < 0) return; const box = document.getElementById('attribute-' + u);"
        "  box.value = String(code); box.dispatchEvent(new Event('change')); });"
        "const texts = [text()]; const panel = document.getElementById('what-if');"
        "const look = () => (panel.dataset.ready === 'true' ? done([...texts, text()]) : setTimeout(look, 5)); look();",
        row.tolist(),
    )
    assert [text.startswith("≈ ") for text in shown] == [True, False]
    assert float(shown[1].rstrip(" %")) / 100 == pytest.approx(np.exp(last[1][0]), abs=1e-3)


def test_trees_use_logarithms_for_probabilities_near_underflow(opened):
    page = opened(TAN().fit(*table()))
    # x0 above x1 above x2, whose value is as good as impossible.
    found = page.execute_script(
        "const half = -Math.LN2; const tables = [[half, half], [half, half, half, half], [-735, 0, -736, 0], [0]];"
        "const network = new Network({ parents: [[3], [0, 3], [1, 3], []], logPrior: [0],"
        "  tables: tables.map((logs) => Float64Array.from(logs)) }, [2, 2, 2], 1);"
        "return [network.isTree, String(network.scores([-1, -1, 0])[0])];"
    )
    assert found[0]
    assert float(found[1]) == pytest.approx(np.logaddexp(-735, -736) - np.log(2), rel=1e-14)


def test_messages_too_small_for_numbers_are_sent_as_logarithms(opened):
    # A star of which the middle is unknown: 200 leaves nearly exclude one of its values, and 200 the other.
    page = opened(AveragedTAN().fit(*table()))
    found = page.execute_script("""
        const n = 401; const arity = Array(n).fill(2);
        const values = new Float64Array(2 * n).fill(0.5); const pairs = [];
        for (let u = 1; u < n; u++) for (let v = 0; v < u; v++) {
          pairs.push(...(v ? [0.25, 0.25, 0.25, 0.25] : [0.4995, 0.0005, 0.0005, 0.4995]));
        }
        const star = Array.from({ length: n }, (_, u) => (u ? 0 : -1));
        const model = new TreeAverage({ values, pairs: Float64Array.from(pairs), logPrior: [0],
          logWeights: [new Float64Array(n * n)], logTotals: [0], trees: [[star]], times: Float64Array.of(1),
          completions: 1 }, arity, 1);
        const codes = star.map((_, u) => (u ? Number(u > 200) : -1));
        return [model.trees[0][0].ask(codes), String(model.scores(codes)[0])];
    """)
    assert not found[0]
    assert float(found[1]) == pytest.approx(200 * np.log(0.999) + 200 * np.log(0.001), rel=1e-12)


@pytest.mark.parametrize("kind", [NaiveBayes, TAN, KDB, AveragedTAN, AODE, BoostedBN])
def test_a_page_of_one_attribute_answers(opened, kind):
    X, y = table()
    model = kind().fit(X[:, 5:], y)
    rows = np.arange(-1, 5)[:, None]
    found = answers(opened(model), rows, [0])
    assert same([one["posterior"] for one in found], model.model_.log_posterior(codes_of(model, rows)))
