"""KDB against an implementation of its own kind: plain numpy, the whole joint, sums by brute force."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.special import logsumexp, softmax
from sklearn.metrics import mutual_info_score

import tanbark
from tanbark import KDB, TAN, Encoder, NaiveBayes
from tanbark.files import ModelFileError
from tanbark.models import network_model
from tanbark.network import Network, SparseTable


def numpy_kdb(X, y, k, ess):
    """Return the parents by name of each column, and a function from a row (None: missing) to log P(row, class)."""
    n, classes = X.shape[1], int(y.max()) + 1
    arity = X.max(axis=0) + 1
    alone = [mutual_info_score(X[:, u], y) for u in range(n)]
    order = sorted(range(n), key=lambda u: -alone[u])

    def shared(u, v):
        return sum(np.mean(y == c) * mutual_info_score(X[y == c, u], X[y == c, v]) for c in range(classes))

    parents = {}
    for place, u in enumerate(order):
        parents[u] = sorted(order[:place], key=lambda v: -shared(u, v))[:k]

    def log_term(u, row, c):
        here = y == c
        for p in parents[u]:
            here = here & (X[:, p] == row[p])
        cells = classes * arity[u] * np.prod([arity[p] for p in parents[u]], dtype=float)
        seen, total = (here & (X[:, u] == row[u])).sum(), here.sum()
        return np.log((seen + ess / cells) / (total + ess * arity[u] / cells))

    def log_joint(row):
        options = [range(arity[u]) if row[u] is None else [row[u]] for u in range(n)]
        prior = np.log((np.bincount(y, minlength=classes) + ess / classes) / (len(y) + ess))
        return [
            prior[c] + logsumexp([sum(log_term(u, full, c) for u in range(n)) for full in itertools.product(*options)])
            for c in range(classes)
        ]

    return parents, log_joint


@pytest.mark.parametrize("k", [0, 1, 2, 3, 7])
def test_structure_and_probabilities_are_the_textbooks(random_table, k):
    _, codes, y = random_table(4, 200, (3, 2, 4, 2, 3), 3)
    X = codes.T.astype(int)
    parents, log_joint = numpy_kdb(X, y, k, 10.0)
    model = KDB(k=k).fit(X, y)
    assert model.network_.parents == {f"x{u}": (*(f"x{p}" for p in parents[u]), "class") for u in range(5)} | {
        "class": ()
    }
    rng = np.random.default_rng(0)
    rows = X[:40].astype(object)
    rows[20:][rng.random((20, 5)) < 0.4] = None
    expected = np.array([log_joint(row) for row in rows])
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), expected, rtol=1e-11)
    np.testing.assert_allclose(model.predict_proba(rows), softmax(expected, axis=1), rtol=1e-10)


def test_without_dependences_it_is_naive_bayes(random_table):
    _, codes, y = random_table(4, 200, (3, 2, 4, 2, 3), 3)
    X = codes.T.astype(object)
    X[::7, 2] = None
    model, naive = KDB(k=0).fit(X, y), NaiveBayes(ess=10.0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), naive.predict_proba(X))
    assert np.array_equal(model.explain(X), naive.explain(X))


def test_one_dependence_on_two_attributes_is_tan(random_table):
    _, codes, y = random_table(4, 200, (3, 4), 3)
    X = codes.T.astype(int)
    np.testing.assert_allclose(KDB(k=1).fit(X, y).predict_proba(X), TAN().fit(X, y).predict_proba(X), rtol=1e-12)


def test_more_dependences_than_attributes_are_all_there_can_be(random_table):
    _, codes, y = random_table(4, 200, (3, 2, 4, 2, 3), 3)
    X = codes.T.astype(int)
    all_there_are = KDB(k=4).fit(X, y)
    assert np.array_equal(KDB(k=5).fit(X, y).predict_proba(X), all_there_are.predict_proba(X))
    assert np.array_equal(KDB(k=10**9).fit(X, y).predict_proba(X), all_there_are.predict_proba(X))
    assert len(all_there_are.network_.edges) == 10


@pytest.mark.parametrize("k", [-1, 1.5, 2.0, True, None, "2"])
def test_a_k_that_is_no_whole_number_of_attributes_is_refused(k):
    with pytest.raises(ValueError, match=rf"^k must be a whole number of at least 0, got {k!r}$"):
        KDB(k=k).fit([[0], [1]], [0, 1])


@pytest.mark.parametrize("random_state", [-1, "x", 1.5])
def test_a_random_state_that_is_none_is_refused(random_state):
    with pytest.raises((ValueError, TypeError), match=r"^random_state must be"):
        KDB(random_state=random_state).fit([[0], [1]], [0, 1])


def test_counts_of_pairs_suffice_for_one_dependence_and_no_more(random_table):
    schema, codes, y = random_table(4, 200, (3, 2, 4), 3)
    X = codes.T.astype(int)
    counts = tanbark.Counts.of(schema, codes, y)
    assert np.array_equal(
        KDB(k=1).fit_counts(counts).network_.log_joint(codes),
        KDB(k=1, encoder=schema).partial_fit(X[:90], y[:90]).partial_fit(X[90:], y[90:]).network_.log_joint(codes),
    )
    for name in ("partial_fit", "fit_counts"):
        assert not hasattr(KDB(k=2), name)
        with pytest.raises(AttributeError, match=r"^KDB with k=2 counts families"):
            getattr(KDB(k=2), name)


def test_families_beyond_all_numbers_say_to_lower_k():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 200, (1000, 10)), rng.integers(0, 2, 1000)
    with pytest.raises(ValueError, match=r"^k=9 gives 'x\d' \d attributes to depend on, .*; lower k$"):
        KDB(k=9, encoder=Encoder(categorical="all")).fit(X, y)


@pytest.fixture
def broad():
    """A table of which most families of three columns have many more values than rows."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    X = rng.integers(0, 30, (200, 5))
    X[:, 1] = np.where(rng.random(200) < 0.7, (X[:, 0] + y) % 30, X[:, 1])
    return X, y


def test_families_mostly_never_seen_have_sparse_tables_and_survive_a_file(broad, tmp_path):
    X, y = broad
    model = KDB(encoder=Encoder(categorical="all")).fit(X, y)
    assert any(isinstance(table, SparseTable) for table in model.network_.log_tables)
    holed = X[:50].astype(object)
    holed[np.random.default_rng(1).random(holed.shape) < 0.3] = None
    tanbark.save(model, tmp_path / "m")
    for again in (tanbark.load(tmp_path / "m"), pickle.loads(pickle.dumps(model))):
        assert again.network_.structure == model.network_.structure
        assert [type(t) for t in again.network_.log_tables] == [type(t) for t in model.network_.log_tables]
        for method in ("predict_joint_log_proba", "explain", "standard_error"):
            assert np.array_equal(getattr(again, method)(holed), getattr(model, method)(holed))
        assert np.array_equal(again.sample(20, 1)[0], model.sample(20, 1)[0])
    np.testing.assert_allclose(softmax(model.explain(holed).sum(axis=1), axis=1), model.predict_proba(holed), rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("keys", lambda a: a[::-1].copy(), "ascending"),
        ("keys", lambda a: a - 10**6, "configurations"),
        ("keys", lambda a: a + 10**15, "configurations"),
        ("keys", lambda a: a.astype(float), "must be int64"),
        ("log_table", lambda a: a[:-1], "the wrong shape"),
        ("log_table", lambda a: a + 1.0, "not log probabilities"),
        ("default", lambda a: np.full_like(a, np.nan), "not log probabilities"),
        ("default", lambda a: a[:, :-1], "the wrong shape"),
    ],
)
def test_a_file_with_a_sparse_table_that_cannot_be_is_damaged(broad, tmp_path, monkeypatch, name, change, message):
    X, y = broad
    model = KDB(encoder=Encoder(categorical="all")).fit(X, y)
    node = next(i for i, t in enumerate(model.network_.log_tables) if isinstance(t, SparseTable))
    arrays = network_model.network_arrays

    def changed(network, prefix=""):
        found = arrays(network, prefix)
        found[f"{name}_{node}"] = change(found[f"{name}_{node}"])
        return found

    monkeypatch.setattr(network_model, "network_arrays", changed)
    tanbark.save(model, tmp_path / "m")
    with pytest.raises(ModelFileError, match=message):
        tanbark.load(tmp_path / "m")


def test_rows_that_lack_too_much_are_drawn_aloud_and_the_seed_survives_a_file(random_table, tmp_path, monkeypatch):
    _, codes, y = random_table(4, 300, (4,) * 8, 3)
    X = codes.T.astype(object)
    model = KDB(k=3, random_state=None).fit(X, y)
    row = X[:1].copy()
    row[0, :5] = None
    exact = model.predict_proba(row)
    assert (model.standard_error(row) == 0).all()
    for method in (tanbark.Network.log_joint, tanbark.Network.standard_error):
        monkeypatch.setitem(method.__kwdefaults__, "max_table", 2)
    with pytest.warns(UserWarning, match="1 row has too many missing values for exact marginalisation"):
        drawn = model.predict_proba(row)
    error = model.standard_error(row)
    assert (error > 0).all()
    assert (np.abs(drawn - exact) < 5 * error).all()
    assert not np.array_equal(drawn, exact)
    tanbark.save(model, tmp_path / "m")
    with pytest.warns(UserWarning, match="1 row has too many missing values"):
        assert np.array_equal(tanbark.load(tmp_path / "m").predict_proba(row), drawn)


@pytest.mark.parametrize("name", ["car_evaluation", "balance_scale"])
def test_on_real_tables_too_it_is_the_textbooks(name, read_text):
    X, y, _ = read_text(name)
    levels = [np.unique(column.astype(str), return_inverse=True) for column in (*X.T, y)]
    codes = np.array([inverse for _, inverse in levels])
    parents, log_joint = numpy_kdb(codes[:-1].T, codes[-1], 2, 10.0)
    model = KDB(k=2).fit(X, y)
    assert [model.network_.structure.attribute_parents(u) for u in range(len(parents))] == [
        tuple(parents[u]) for u in range(len(parents))
    ]
    chosen = np.linspace(0, len(y) - 1, 12).astype(int)
    rows, holed = X[chosen].copy(), codes[:-1, chosen].T.astype(object)
    hidden = np.random.default_rng(0).random(rows.shape) < 0.25
    rows[hidden] = holed[hidden] = None
    expected = np.array([log_joint(row) for row in holed])
    np.testing.assert_allclose(model.predict_joint_log_proba(rows), expected, rtol=1e-10)


def test_parents_that_tie_are_taken_in_column_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    one = np.where(rng.random(200) < 0.9, y, 1 - y)
    X = np.column_stack([one, one, one, rng.integers(0, 2, 200)])
    for order in ([0, 1, 2, 3], [2, 1, 0, 3]):
        parents = KDB(k=1).fit(X[:, order], y).network_.parents
        assert parents["x1"] == ("x0", "class")
        assert parents["x2"] == ("x0", "class")
        assert parents["x3"] == ("x0", "class")


@pytest.mark.filterwarnings("ignore:.*too many missing values")
def test_the_standard_error_is_that_of_the_models_own_draws(random_table, monkeypatch):
    _, codes, y = random_table(4, 300, (4,) * 8, 3)
    X = codes.T.astype(object)
    row = X[:1].copy()
    row[0, :6] = None
    monkeypatch.setattr(Network.standard_error, "__kwdefaults__", {"max_table": 1, "seed": 0})
    one, two = (KDB(k=3, random_state=seed).fit(X, y).standard_error(row) for seed in (1, 2))
    assert (one > 0).all()
    assert not np.array_equal(one, two)
