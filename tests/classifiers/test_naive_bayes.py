import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from tanbark import NaiveBayes


def test_with_laplace_it_is_scikit_learns_but_for_the_prior(read_text):
    X, y, _ = read_text("car_evaluation")
    codes = np.column_stack([np.unique(c.astype(str), return_inverse=True)[1] for c in X.T])
    mine = NaiveBayes(parameters="laplace").fit(codes, y)
    prior = [np.mean(y == c) for c in mine.classes_]
    theirs = CategoricalNB(alpha=1.0).fit(codes, y)
    with_their_prior = NaiveBayes(parameters="laplace", class_prior=prior).fit(codes, y)
    np.testing.assert_allclose(with_their_prior.predict_proba(codes), theirs.predict_proba(codes), rtol=1e-10)


@pytest.mark.parametrize("name", ["congressional_voting", "mushroom"])
def test_with_holes_it_is_wekas(name, read_text, reference):
    figures = reference("weka_naive_bayes")["sets"][name]
    X, y, _ = read_text(name)
    model = NaiveBayes(parameters="laplace").fit(X, y)
    assert model.classes_.tolist() == figures["classes"]
    proba = model.predict_proba(X[figures["rows"]])
    np.testing.assert_allclose(proba, figures["proba"], rtol=1e-8, atol=1e-15)


def test_it_counts_no_pairs():
    model = NaiveBayes().fit(np.eye(4, dtype=int), [0, 1, 0, 1])
    assert model.counts_.order == 1
    assert model.network_.edges == []
