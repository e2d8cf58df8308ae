"""Every classifier of the registry is a scikit-learn classifier and keeps the promises of all of them.

What holds for any table is in `tests/laws`.
"""

import pickle
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator

from tanbark import KDB, TAN, AveragedTAN, BayesNet, BoostedBN, BoostedTables, Counts, Encoder, EnsembleBN, EvidenceBN
from tanbark.classifiers import REGISTRY
from tanbark.datasets import iris

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

CLASSIFIERS = [entry.classifier for entry in REGISTRY.values()]
every = pytest.mark.parametrize("classifier", CLASSIFIERS)


def having(method):
    """Run a test for the classifiers that have a method."""
    return pytest.mark.parametrize("classifier", [c for c in CLASSIFIERS if hasattr(c(), method)])


WITH_TABLES = [c for c in CLASSIFIERS if "parameters" in signature(c).parameters]
EVERY_WAY = [(c, {"parameters": p}) for c in WITH_TABLES for p in ("dirichlet", "ml", "softened", "laplace", "m")]
EVERY_WAY += [(c, {}) for c in CLASSIFIERS if c not in WITH_TABLES]
EVERY_WAY += [(AveragedTAN, {"multinet": True}), (AveragedTAN, {"stubbornness": 5}), (KDB, {"k": 1}), (KDB, {"k": 9})]
EVERY_WAY += [(BoostedBN, {"base": "naive-bayes"}), (BoostedBN, {"base": "grown"}), (BoostedBN, {"patience": None})]
EVERY_WAY += [(TAN, {"criterion": "acll"})]
every_way = pytest.mark.parametrize(("classifier", "settings"), EVERY_WAY)


def mixed_table(rows=120, seed=0):
    """A frame with text, integers, numbers and holes, and three classes that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue"], object)[(y + rng.integers(0, 2, rows)) % 3],
            "doors": rng.integers(2, 6, rows) + y,
            "weight": rng.normal(size=rows) + y,
            "used": rng.random(rows) < 0.3,
        }
    )
    for column, missing in zip(frame.columns[:3], (0.1, 0.2, 0.1)):
        frame[column] = frame[column].where(rng.random(rows) > missing)
    return frame, np.array(["a", "b", "c"])[y]


@every
@pytest.mark.filterwarnings("ignore")
def test_every_check_of_scikit_learn_passes_and_none_is_skipped(classifier):
    outcome = check_estimator(classifier(), on_skip=None, on_fail=None)
    assert len(outcome) > 50
    assert [(c["check_name"], repr(c["exception"])) for c in outcome if c["status"] != "passed"] == []


@every
@pytest.mark.parametrize("classes", [2, 3])
def test_the_accuracy_on_blobs_is_what_scikit_learn_asks_of_a_good_classifier(classifier, classes):
    # The tag `poor_score` takes this out of the checks above.
    X, y = make_blobs(n_samples=300, random_state=0)
    X, y = X[y < classes], y[y < classes]
    assert classifier().fit(X, y).score(X, y) > 0.83


@every
def test_it_works_in_pipelines_searches_and_calibration(classifier):
    X, y = iris()
    pipeline = make_pipeline(FunctionTransformer(), classifier())
    assert cross_val_score(pipeline, X, y, cv=5, n_jobs=2).mean() > 0.9
    search = GridSearchCV(classifier(), {"encoder__n_bins": [2, 4], "encoder__bins": ["quantile", "width"]}, cv=3)
    assert search.fit(X, y).best_estimator_.encoder.n_bins in (2, 4)
    proba = CalibratedClassifierCV(classifier(), cv=3).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@every
def test_setting_a_nested_parameter_first_gives_it_an_encoder(classifier):
    model = classifier().set_params(encoder__n_bins=7)
    assert model.encoder.n_bins == 7
    assert clone(model).encoder.n_bins == 7
    assert classifier().encoder is None


@every
def test_pickles_and_clones(classifier):
    X, y = mixed_table()
    model = classifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert not hasattr(clone(model), "counts_")


@having("fit_counts")
def test_fit_counts_is_fit(classifier):
    X, y = mixed_table()
    model = classifier().fit(X, y)
    counts = Counts.of(model.schema_, model.schema_.encode(X), model.schema_.encode_target(y))
    again = classifier().fit_counts(counts)
    assert again.counts_ == model.counts_
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert list(again.feature_names_in_) == list(X.columns)


@every
@pytest.mark.usefixtures("threads_for_few_rows")
@pytest.mark.parametrize("numbers", [False, True])
def test_the_number_of_threads_changes_no_bit(classifier, numbers):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_000, 4)) if numbers else rng.integers(0, 9, (10_000, 4))
    y = rng.integers(0, 3, 10_000)
    one, two = classifier(n_jobs=1).fit(X, y), classifier(n_jobs=2).fit(X, y)
    assert one.counts_ == two.counts_
    for method in ("predict_proba", "predict_log_proba", "score_samples", "predict"):
        if hasattr(one, method):
            assert np.array_equal(getattr(one, method)(X), getattr(two, method)(X))


@every
def test_the_model_does_not_change_with_the_users_arrays(classifier):
    X, y = np.random.default_rng(0).integers(0, 3, (100, 3)), np.arange(100) % 2
    model = classifier().fit(X, y)
    before, counts = model.predict_proba(X[:5].copy()), model.counts_ * 1
    rows = X[:5].copy()
    X[:], y[:] = 0, 0
    model.classes_[0] = 7
    assert model.counts_ == counts
    assert model.schema_.classes == (0, 1)
    assert np.array_equal(model.predict_proba(rows), before)


@every
def test_what_it_says_of_a_row_does_not_depend_on_the_other_rows(classifier):
    X, y = mixed_table()
    model = classifier().fit(X, y)
    whole = model.predict_proba(X)
    for i in range(0, 120, 17):
        assert np.array_equal(model.predict_proba(X.iloc[[i]])[0], whole[i])


@every_way
def test_all_that_is_said_of_a_row_agrees(classifier, settings):
    X, y = mixed_table()
    model = classifier(**settings).fit(X.iloc[:40], y[:40])
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-13)
    assert np.array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(proba), rtol=1e-9, atol=1e-12)
    if hasattr(model, "score_samples"):
        joint, evidence = model.predict_joint_log_proba(X), model.score_samples(X)
        possible = np.isfinite(evidence)
        np.testing.assert_allclose(np.exp(joint[possible]).sum(axis=1), np.exp(evidence[possible]), rtol=1e-9)
        np.testing.assert_allclose(proba[~possible], np.tile(np.exp(model.class_log_prior_), ((~possible).sum(), 1)))
    if not hasattr(model, "explain"):
        return
    evidence = model.explain(X)
    assert evidence.shape == (120, 5, 3)
    assert not np.isnan(evidence).any()
    np.testing.assert_allclose(softmax(evidence.sum(axis=1), axis=1), proba, rtol=1e-9, atol=1e-12)
    finite = np.isfinite(evidence).all(axis=2)
    np.testing.assert_allclose(evidence[finite].sum(axis=-1), 0.0, atol=1e-9)


@every
def test_a_given_class_prior_replaces_the_learned_one(classifier):
    X, y = mixed_table()
    learned = classifier().fit(X, y)
    given_prior = classifier(class_prior=[0.5, 0.3, 0.2]).fit(X, y)
    shifted = learned.predict_log_proba(X) - learned.class_log_prior_ + np.log([0.5, 0.3, 0.2])
    np.testing.assert_allclose(given_prior.predict_proba(X), softmax(shifted, axis=1), rtol=1e-10)


@every
def test_one_class_is_certain(classifier):
    model = classifier().fit([[1, 2], [3, 4]], ["only", "only"])
    assert model.predict([[9, None]]).tolist() == ["only"]
    assert model.predict_proba([[1, 2]]).tolist() == [[1.0]]


@every_way
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1]], ["a"]),
        ([[0], [1], [0]], [0, 1, 1]),
        ([[5, 5], [5, 5]], ["a", "b"]),
        ([[None, 1], [None, 2]], ["a", "b"]),
        ([[None], [None]], ["a", "b"]),
    ],
    ids=["one row", "one attribute", "constant columns", "a column all missing", "nothing but missing"],
)
def test_the_smallest_tables_give_true_posteriors(classifier, X, y, settings):
    X = np.array(X, object)
    model = classifier(**settings).fit(X, y)
    proba = model.predict_proba(np.vstack([X, [[None] * X.shape[1]], [[77] * X.shape[1]]]))
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    # A row without known values has the class prior. Exceptions: BoostedBN votes for the most frequent class, the prior
    # of EvidenceBN has a bias of maximum conditional likelihood, and a missing value answers the questions of boosted
    # tables with no.
    if classifier not in (BoostedBN, EvidenceBN, BoostedTables, EnsembleBN):
        np.testing.assert_allclose(proba[-2], np.exp(model.class_log_prior_))


# Votes on such a row are for the class of the greatest prior, which is no prior.
@pytest.mark.parametrize("classifier", [c for c in WITH_TABLES if c is not BoostedBN])
def test_a_row_that_no_class_can_have_made_gets_the_prior(classifier):
    X, y = [[0, 0], [0, 0], [1, 1], [1, 1], [1, 1]], [0, 0, 1, 1, 1]
    model = classifier(parameters="ml").fit(X, y)
    np.testing.assert_allclose(model.predict_proba([[0, 1]]), [[0.4, 0.6]])
    np.testing.assert_allclose(model.predict_log_proba([[0, 1]]), np.log([[0.4, 0.6]]))
    if hasattr(model, "score_samples"):
        assert model.score_samples([[0, 1]]).tolist() == [-np.inf]
    if hasattr(model, "explain"):
        np.testing.assert_allclose(softmax(model.explain([[0, 1]]).sum(axis=1), axis=1), [[0.4, 0.6]])


@having("sample")
def test_samples_look_like_the_table(classifier):
    X, y = mixed_table()
    drawn, classes = classifier().fit(X, y).sample(500, random_state=0)
    assert drawn.shape == (500, 4)
    assert set(classes) <= {"a", "b", "c"}
    assert set(drawn[:, 0]) <= {"red", "green", "blue"}


@every
@pytest.mark.parametrize("name", ["congressional_voting", "mushroom", "hypothyroid"])
@pytest.mark.filterwarnings("ignore:column", "ignore:.*(so|too) many", "ignore:.*nodes are more than")
def test_tables_full_of_holes_are_learned(classifier, name, read_text):
    X, y, _ = read_text(name)
    step = 1 + len(y) // 1000
    X, y = X[::step], y[::step]
    # With its default of 10, BayesNet gives the class a parent whose missing values matter, but parameters are learned
    # from complete rows: on hypothyroid it is then worse than the class frequencies.
    options = {"ess": 1.0} if classifier is BayesNet else {}
    model = classifier(encoder=Encoder(max_levels=20), **options).fit(X, y)
    proba = model.predict_proba(X)
    assert np.isfinite(proba).all()
    # Better than knowing nothing but how often each class occurs.
    right = np.searchsorted(model.classes_.astype(str), y.astype(str))
    shares = np.bincount(right) / len(y)
    assert np.log(proba[np.arange(len(y)), right]).mean() > np.log(shares[right]).mean()


@every
def test_rows_without_a_class_are_dropped_aloud(classifier):
    X, y = mixed_table()
    holed = y.astype(object)
    holed[::7] = None
    with pytest.warns(UserWarning, match="18 rows without a class are dropped"):
        model = classifier().fit(X, holed)
    known = np.arange(120) % 7 != 0
    assert model.counts_ == classifier().fit(X[known], y[known]).counts_


@every
def test_settings_survive_the_representation(classifier):
    assert repr(classifier(ess=3.0)) == f"{classifier.__name__}(ess=3.0)"


@every
@pytest.mark.filterwarnings("ignore:every row occurs at least twice")
def test_the_largest_weights_there_may_be_give_probabilities(classifier):
    rng = np.random.default_rng(1)
    X = rng.integers(0, 3, (40, 4)).astype(float)
    X[rng.random(X.shape) < 0.5] = np.nan
    weights = rng.random(40)
    model = classifier().fit(X, rng.integers(0, 3, 40), weights * (1e100 / weights.sum()) * 0.999)
    assert np.isfinite(model.predict_proba(X)).all()


@every
def test_a_prior_beyond_all_measure_is_refused_in_a_sentence(classifier):
    with pytest.raises(ValueError, match=r"^class_prior must be 2 probabilities"):
        classifier(class_prior=[10**400, 1]).fit([[0], [1]], [0, 1])
