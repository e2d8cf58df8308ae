"""AODE against plain counting, its own definition and Weka."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax

from saved_models import assert_damaged_if_changed
from tanbark import AODE, Encoder, NaiveBayes, SuperParent
from tanbark.datasets import tic_tac_toe

WAYS = ["dirichlet", "ml", "softened", "laplace", "m"]


def plain_aode(X, y, row, parameters, ess, min_frequency):
    """Class probabilities of a row of whole numbers (negative: missing) by Webb's formula, from the rows themselves."""
    n, classes = X.shape[1], y.max() + 1
    arity = X.max(axis=0) + 1

    def smooth(seen, towards):
        seen = seen.astype(float)
        extra = {"ml": 0, "softened": ess * towards, "dirichlet": ess / seen.size, "laplace": 1, "m": ess / seen.size}
        return (seen + extra[parameters]) / (seen + extra[parameters]).sum()

    def under(seen, cells, own):
        r = len(seen)
        extra = {"ml": 0, "softened": ess * own, "dirichlet": ess / cells, "laplace": 1, "m": ess / r}[parameters]
        total = (seen + extra).sum()
        return (seen + extra) / total if total > 0 else np.full(r, 1 / r)

    known = [u for u in range(n) if row[u] >= 0]
    voters = [u for u in known if (X[:, u] == row[u]).sum() >= min_frequency]
    share = np.bincount(y) / len(y)
    joint = np.zeros(classes)
    for i in voters:
        seen = np.array([[((y == k) & (X[:, i] == a)).sum() for a in range(arity[i])] for k in range(classes)])
        own = np.bincount(X[:, i], minlength=arity[i]) / len(y)
        pair = smooth(seen, np.multiply.outer(share, own))
        for k in range(classes):
            product = pair[k, row[i]]
            for j in known:
                if j != i:
                    both = X[(y == k) & (X[:, i] == row[i]), j]
                    seen = np.bincount(both, minlength=arity[j])
                    own = np.bincount(X[:, j], minlength=arity[j]) / len(y)
                    product *= under(seen, classes * arity[i] * arity[j], own)[row[j]]
            joint[k] += product
    return joint / joint.sum() if joint.sum() > 0 else None


@pytest.mark.parametrize("parameters", WAYS)
@pytest.mark.parametrize("min_frequency", [1, 12])
def test_it_is_webbs_formula_by_plain_counting(parameters, min_frequency, random_table):
    schema, codes, y = random_table(8, 50, (2, 3, 4, 2), 3)
    X = codes.T.astype(int)
    model = AODE(parameters=parameters, ess=2.5, min_frequency=min_frequency, encoder=schema).fit(X, y)
    rng = np.random.default_rng(0)
    asked = X.copy()
    asked[rng.random(asked.shape) < 0.3] = -1
    found = model.predict_proba(np.where(asked < 0, None, asked.astype(object)))
    compared = 0
    for row, proba in zip(asked, found):
        plain = plain_aode(X, y, row, parameters, 2.5, min_frequency)
        if plain is not None:
            np.testing.assert_allclose(proba, plain, rtol=1e-11)
            compared += 1
    assert compared > 20


def test_a_value_seen_exactly_as_often_as_asked_votes():
    X = np.array([["a", "u"]] * 5 + [["b", "v"]] * 4 + [["a", "v"]] * 2)
    y = np.array([0, 1] * 5 + [0])
    five, six, eight = (AODE(min_frequency=f).fit(X, y).predict_proba([["a", "u"]]) for f in (5, 6, 7))
    both = [SuperParent(parent=u).fit(X, y).predict_joint_log_proba([["a", "u"]])[0] for u in (0, 1)]
    np.testing.assert_allclose(five[0], softmax(np.logaddexp(*both)), rtol=1e-10)
    np.testing.assert_allclose(six[0], softmax(both[0]), rtol=1e-10)
    np.testing.assert_allclose(eight, six, rtol=1e-10)


def test_rows_that_lack_the_super_parent_are_shared_out_within_their_class(random_table):
    """P(class, x) with holes: the class as often as all its rows, the value as in those that have it."""
    schema, codes, y = random_table(21, 80, (2, 3), 2, holes=0.3)
    X = codes.T.astype(object)
    X[schema.missing_code == codes.T] = None
    model = AODE(parameters="laplace", encoder=schema).fit(X, y)
    for value in range(3):
        joint = np.zeros(2)
        for k in range(2):
            seen = np.bincount(codes[1][(y == k) & (codes[1] < 3)], minlength=3)
            joint[k] = ((y == k).sum() * seen[value] / seen.sum() + 1) / (80 + 6)
        np.testing.assert_allclose(model.predict_proba([[None, value]])[0], joint / joint.sum(), rtol=1e-12)


@pytest.mark.parametrize("name", ["car_evaluation", "nursery", "chess_kr_vs_kp"])
@pytest.mark.parametrize("limit", ["1", "30", "700"])
@pytest.mark.filterwarnings("ignore:no value of any column")
def test_probabilities_are_wekas(name, limit, reference, read_text):
    figures = reference("weka_aode")["sets"][name]
    X, y, _ = read_text(name)
    model = AODE(parameters="laplace", min_frequency=int(limit)).fit(X, y)
    assert model.classes_.tolist() == figures["classes"]
    np.testing.assert_allclose(model.predict_proba(X[figures["rows"]]), figures["proba"][limit], rtol=1e-10, atol=1e-13)


def test_it_is_the_mean_of_the_super_parents():
    X, y = tic_tac_toe()
    members = [SuperParent(parent=u).fit(X, y).predict_joint_log_proba(X) for u in range(X.shape[1])]
    mean = np.exp(members).mean(axis=0)
    proba = AODE().fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba, mean / mean.sum(axis=1, keepdims=True), rtol=1e-10)


def test_naive_bayes_answers_where_none_votes(random_table):
    schema, codes, y = random_table(9, 50, (2, 3, 4), 2)
    with pytest.warns(UserWarning, match="no value of any column occurs min_frequency=51 times"):
        nobody = AODE(min_frequency=51, encoder=schema).fit(codes.T, y)
    naive = NaiveBayes(ess=10.0, encoder=schema).fit(codes.T, y)
    np.testing.assert_allclose(nobody.predict_proba(codes.T), naive.predict_proba(codes.T), rtol=1e-12)


def test_a_missing_or_rare_super_parent_does_not_vote_and_an_unseen_value_is_missing():
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (200, 3)).astype(object)
    y = (X[:, 0] + rng.integers(0, 2, 200)) % 2
    X[:3, 2] = "rare"
    X = X.astype(str)
    model, strict = AODE().fit(X, y), AODE(min_frequency=30).fit(X, y)
    row = np.array([["0", "1", "rare"], ["0", "1", None], ["0", "1", "never"]], object)
    proba = model.predict_proba(row)
    assert np.array_equal(proba[1], proba[2])
    assert not np.allclose(proba[0], strict.predict_proba(row)[0])
    # The rare value still speaks as a child of the other two.
    members = [SuperParent(parent=u).fit(X, y).predict_joint_log_proba(row[:1])[0] for u in (0, 1)]
    mean = np.exp(members).mean(axis=0)
    np.testing.assert_allclose(strict.predict_proba(row)[0], mean / mean.sum(), rtol=1e-10)


def test_many_attributes_do_not_underflow():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 60)
    X = (rng.integers(0, 5, (60, 900)) + y[:, None]) % 5
    proba = AODE().fit(X, y).predict_proba(X)
    assert np.isfinite(proba).all()
    assert (proba.argmax(axis=1) == y).mean() > 0.9


def test_there_is_no_joint_and_it_says_so():
    model = AODE().fit([[0, 1], [1, 0]], [0, 1])
    for method in ("predict_joint_log_proba", "score_samples", "sample", "explain"):
        assert not hasattr(model, method)
    with pytest.raises(AttributeError, match="AODE"):
        _ = model.score_samples


@pytest.mark.parametrize("value", [-1, True, "1", float("nan"), float("inf"), None])
def test_a_bad_frequency_gets_a_sentence(value):
    with pytest.raises(ValueError, match="min_frequency must be a number of at least 0, got"):
        AODE(min_frequency=value).fit([[0, 1], [1, 0]], [0, 1])


@pytest.mark.parametrize("bins", ["quantile", "mdlp"])
@pytest.mark.parametrize("parameters", WAYS)
def test_numbers_are_binned_and_predicted(bins, parameters):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + y[:, None]
    assert AODE(parameters=parameters, encoder=Encoder(bins=bins)).fit(X, y).score(X, y) > 0.85


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pairs", lambda a: a[:1, :, :1]),
        ("own", lambda a: a[:-1]),
        ("alone", lambda a: a + 1.0),
        ("log_prior", lambda a: np.full_like(a, np.nan)),
        ("votes", lambda a: a[:-1]),
    ],
)
def test_a_file_whose_tables_do_not_fit_is_damaged(tmp_path, monkeypatch, name, change):
    model = AODE().fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1])
    # Files of earlier versions hold the tables that follow from the counts.
    model.model_ = replace(model.model_, estimator=None)
    assert_damaged_if_changed(model, name, change, tmp_path / "m", monkeypatch)
