"""The average over all trees on real tables."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold

from tanbark import TAN, AveragedTAN


def test_the_order_of_the_columns_changes_no_answer(read_text):
    X, y, _ = read_text("congressional_voting")
    X = np.where(pd.isna(X), "?", X)
    order = np.random.default_rng(0).permutation(X.shape[1])
    one, other = AveragedTAN().fit(X, y), AveragedTAN().fit(X[:, order], y)
    joint = one.predict_joint_log_proba(X)
    np.testing.assert_allclose(other.predict_joint_log_proba(X[:, order]), joint, rtol=1e-10)
    np.testing.assert_allclose(other.edge_probabilities_, one.edge_probabilities_[np.ix_(order, order)], rtol=1e-10)


def test_the_map_tree_is_the_tree_of_tan_with_bdeu_weights(read_text):
    X, y, _ = read_text("nursery")
    averaged, single = AveragedTAN().fit(X, y), TAN(criterion="bdeu").fit(X, y)
    assert averaged.map_tree_.structure == single.network_.structure
    np.testing.assert_allclose(
        averaged.map_tree_.log_joint(averaged.schema_.encode(X[:50])),
        single.predict_joint_log_proba(X[:50]),
        rtol=1e-12,
    )


@pytest.mark.parametrize("name", ["breast_cancer_wisconsin", "cleve", "pima"])
def test_with_a_tenth_of_the_training_data_the_log_score_improves_on_the_single_tree(name, read_text):
    """Table 3 of the paper at 10 %: ten folds, a tenth of each training part; TAN+MS is TAN with Dirichlet tables."""
    X, y, _ = read_text(name)
    X = pd.DataFrame(X).apply(lambda c: pd.to_numeric(c, errors="coerce") if c.name in _numeric(X) else c)
    scores = {}
    for label, model in (("single", TAN()), ("averaged", AveragedTAN()), ("stubborn", AveragedTAN(stubbornness=5))):
        total = 0.0
        for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
            part = np.random.default_rng(0).permutation(train)[: len(train) // 10]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = model.fit(X.iloc[part], y[part])
                proba = fitted.predict_proba(X.iloc[test])
            at = np.searchsorted(fitted.classes_.astype(str), y[test].astype(str))
            total -= np.log(proba[np.arange(len(test)), at]).sum()
        scores[label] = total
    assert scores["averaged"] < scores["single"]
    assert scores["stubborn"] < scores["single"]


def _numeric(X):
    return [u for u in range(X.shape[1]) if all(_is_number(v) for v in X[:, u] if v is not None)]


def _is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True
