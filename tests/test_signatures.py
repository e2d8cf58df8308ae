"""Every signature the outside world relies on, as a shell that predicts the class prior.

The shells pin the public names before the learners behind them exist: a parameter that shadowed a scikit-learn
method, or that could not be cloned, set or searched over, would fail here. A classifier that is real is checked
against the same table of signatures instead of its shell.
"""

import inspect

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import check_is_fitted

import tanbark

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

PARAMETERS = {"parameters": "dirichlet", "ess": 10.0}
EVERY = {"class_prior": None, "class_weight": None, "encoder": None, "n_jobs": None}
NETWORK = {
    "search": "auto",
    "criterion": "bdeu",
    "parameters": "dirichlet",
    "ess": 10.0,
    "max_parents": None,
    "forbidden": (),
    "required": (),
    "max_memory": None,
    "tabu": 10,
    "restarts": 0,
    "verbose": False,
}
RANDOM = {"random_state": 0}

SIGNATURES = {
    "NaiveBayes": {"parameters": "dirichlet", "ess": 1.0} | EVERY,
    "TAN": {"criterion": "cmi"} | PARAMETERS | {"restructure": "always"} | EVERY,
    "AveragedTAN": {"ess": 10.0, "stubbornness": None, "multinet": False, "edge_prior": None, "prior": None}
    | EVERY
    | RANDOM,
    "ForestAN": {"criterion": "bdeu"} | PARAMETERS | EVERY,
    "KDB": {"k": 2} | PARAMETERS | EVERY | RANDOM,
    "SuperParent": {"parent": None} | PARAMETERS | EVERY,
    "AODE": {"min_frequency": 1} | PARAMETERS | EVERY,
    "AdditiveBN": {"weak": "superparent", "link": "log"}
    | PARAMETERS
    | {"max_members": None, "held_out": True, "verbose": False}
    | EVERY
    | RANDOM,
    "BoostedBN": {"base": "tan", "n_estimators": 50} | PARAMETERS | {"patience": 10, "verbose": False} | EVERY | RANDOM,
    "BayesNet": NETWORK | EVERY | RANDOM,
    "AugmentedNaiveBayes": NETWORK | EVERY | RANDOM,
    "K2": {"order": None, "max_parents": 4, "parameters": "dirichlet", "ess": 1.0} | EVERY | RANDOM,
    "BNC2P": {"parameters": "dirichlet", "ess": 1.0} | EVERY | RANDOM,
}
OTHER_VALUES = {"ess": 2.0, "k": 1, "n_estimators": 5, "min_frequency": 3, "max_parents": 1, "parameters": "laplace"}


SELECTORS = {
    "MarkovBlanketSelector": {"search": "auto", "criterion": "bdeu", "ess": 1.0, "max_memory": None, "verbose": False}
    | {"class_weight": None, "encoder": None, "n_jobs": None}
    | RANDOM
}


class _ClassPrior(ClassifierMixin, BaseEstimator):
    """The body of every shell: it predicts how often each class was seen."""

    def fit(self, X, y, sample_weight=None):
        self.classes_, seen = np.unique(y, return_counts=True)
        self.prior_ = seen / seen.sum()
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        return np.tile(self.prior_, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def _shell(name):
    """Return a class with the signature of `name` and the body of `_ClassPrior`."""
    arguments = SIGNATURES[name]

    def __init__(self, **given):
        for key, default in arguments.items():
            setattr(self, key, given.pop(key, default))
        if given:
            raise TypeError(f"unexpected {sorted(given)}")

    __init__.__signature__ = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
        + [inspect.Parameter(k, inspect.Parameter.KEYWORD_ONLY, default=v) for k, v in arguments.items()]
    )
    return type(name, (_ClassPrior,), {"__init__": __init__})


def _real_or_shell(name):
    return getattr(tanbark, name) if name in tanbark.__all__ else _shell(name)


@pytest.mark.parametrize("name", SIGNATURES)
def test_no_parameter_bears_the_name_of_an_estimators_method(name):
    methods = {m for m in dir(_ClassPrior) if callable(getattr(_ClassPrior, m))}
    methods |= {"partial_fit", "sample", "explain", "score_samples", "fit_counts", "predict_log_proba"}
    assert not methods & set(SIGNATURES[name])


@pytest.mark.parametrize("name", SIGNATURES)
def test_signature_clones_sets_and_searches(name):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)), rng.integers(0, 2, 60)
    model = _real_or_shell(name)()
    assert model.get_params(deep=False) == SIGNATURES[name]
    changed = next(k for k in OTHER_VALUES if k in SIGNATURES[name])
    clone(model).set_params(**{changed: OTHER_VALUES[changed]})
    assert cross_val_score(model, X, y, cv=3).shape == (3,)
    found = GridSearchCV(model, {changed: [SIGNATURES[name][changed], OTHER_VALUES[changed]]}, cv=2).fit(X, y)
    assert found.best_params_[changed] in (SIGNATURES[name][changed], OTHER_VALUES[changed])


@pytest.mark.parametrize("name", SELECTORS)
def test_a_selector_clones_sets_and_searches_inside_a_pipeline(name):
    class Keep(TransformerMixin, BaseEstimator):
        """The body of the shell: it keeps every column."""

        def __init__(self, *, search="auto", criterion="bdeu", ess=1.0, random_state=0):
            self.search, self.criterion, self.ess, self.random_state = search, criterion, ess, random_state

        def fit(self, X, y=None):
            self.n_features_in_ = X.shape[1]
            return self

        def transform(self, X):
            return X

    model = getattr(tanbark, name)() if name in tanbark.__all__ else Keep()
    assert model.get_params(deep=False) == SELECTORS[name]
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)), rng.integers(0, 2, 60)
    pipeline = make_pipeline(clone(model), _shell("AugmentedNaiveBayes")())
    step = type(model).__name__.lower()
    assert GridSearchCV(pipeline, {f"{step}__ess": [1.0, 2.0]}, cv=2).fit(X, y).best_params_


@pytest.mark.parametrize("name", [n for n in SIGNATURES if n in tanbark.__all__])
def test_real_classifiers_have_the_signature_they_promised(name):
    signature = inspect.signature(getattr(tanbark, name).__init__).parameters
    given = {k: p.default for k, p in signature.items() if k != "self"}
    assert given == SIGNATURES[name]
    assert all(p.kind is p.KEYWORD_ONLY for k, p in signature.items() if k != "self")
