"""Weights of rows that do not look like numbers of rows get a warning."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier

from tanbark import BayesNet, MarkovBlanketSelector
from tanbark.classifiers import REGISTRY
from tanbark.datasets import iris

pytestmark = pytest.mark.filterwarnings("ignore:.*most of its probabilities are guesses")

LEARN_LITTLE = ("evidence-bn", "boosted-tables", "ensemble-bn", "forest-an", "aode", "bayes-net")
LEARN_LITTLE += ("augmented-naive-bayes",)
"""Classifiers that lose their edges, or fall back to class frequencies, if the weights sum to 1."""

ADVICE = r"divide the weights by their mean|scale the weights up"


def fitted_with_total_weight(model, total):
    X, y = iris()
    return model.fit(X, y, np.full(len(y), total / len(y)))


@pytest.mark.parametrize("name", LEARN_LITTLE)
def test_classifiers_that_learn_little_from_weights_that_sum_to_one_say_what_to_do(name):
    with pytest.warns(UserWarning, match=ADVICE):
        fitted_with_total_weight(REGISTRY[name].classifier(), 1.0)


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in LEARN_LITTLE])
def test_all_other_classifiers_predict_nearly_as_well_with_weights_that_sum_to_one(name):
    X, y = iris()
    model = fitted_with_total_weight(REGISTRY[name].classifier(), 1.0)
    # The best single column with three intervals classifies 96 % of the rows; chance is a third.
    assert model.score(X, y) > 0.88


@pytest.mark.parametrize("name", REGISTRY)
def test_weights_with_a_mean_of_one_are_not_noticed(name):
    fitted_with_total_weight(REGISTRY[name].classifier(), 150.0)


def test_the_selector_that_keeps_nothing_says_why():
    with pytest.warns(UserWarning, match=r"^the weights of \d+ distinct rows sum to 1, as if .* finds few edges or"):
        selector = fitted_with_total_weight(MarkovBlanketSelector(), 1.0)
    assert not selector.support_.any()


def test_ada_boost_passes_the_warning_on():
    X, y = iris()
    with pytest.warns(UserWarning, match=ADVICE):
        AdaBoostClassifier(BayesNet(), n_estimators=2).fit(X, y)


def test_a_few_rows_without_weights_are_not_noticed():
    X, y = iris()
    few = np.r_[0:3, 60:63, 120:123]
    BayesNet().fit(X.iloc[few] if hasattr(X, "iloc") else X[few], y[few])
