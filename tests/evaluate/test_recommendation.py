"""The recommendation that a comparison leads to."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tanbark import AODE, TAN, NaiveBayes
from tanbark.datasets import tic_tac_toe
from tanbark.evaluate import Baseline, Comparison, CrossValidation, Recommendation, compare, learning_curve, recommend
from tanbark.evaluate.comparison import Rank
from tanbark.evaluate.recommendation import choose
from tanbark.evaluate.results import Fold


def ranked(*pairs):
    return [Rank(name, 0.1 * at, 0.35, p) for at, (name, p) in enumerate(pairs)]


@pytest.mark.parametrize(
    ("pairs", "chosen"),
    [
        ([("random-forest", 1.0), ("aode", 0.5), ("kdb", 0.2), ("tan", 0.06), ("naive-bayes", 0.04)], "tan"),
        ([("random-forest", 1.0), ("aode", 0.5), ("naive-bayes", 0.04)], "aode"),
        ([("cart", 1.0), ("kdb", 0.01), ("aode", 0.01)], "kdb"),
        ([("cart", 1.0), ("random-forest", 0.3)], None),
        # naive-bayes is not distinguishable from the best, but more than a standard error away.
        ([("kdb", 1.0), ("tan", 0.5), ("aode", 0.5), ("bnc2p", 0.3), ("naive-bayes", 0.2)], "tan"),
        ([("tan", 1.0), ("naive-bayes", float("nan"))], "naive-bayes"),
        # The additive model is chosen unless another one is better beyond chance.
        ([("aode", 1.0), ("tan", 0.5), ("kdb", 0.5), ("evidence-bn", 0.5)], "evidence-bn"),
        ([("tan", 1.0), ("naive-bayes", 0.5), ("kdb", 0.3), ("evidence-bn", 0.06)], "evidence-bn"),
        ([("tan", 1.0), ("naive-bayes", 0.5), ("kdb", 0.3), ("evidence-bn", 0.04)], "naive-bayes"),
        # An ensemble is chosen only if it is better beyond chance.
        ([("averaged-tan", 1.0), ("evidence-bn", 0.06), ("tan", 0.01)], "evidence-bn"),
        ([("averaged-tan", 1.0), ("evidence-bn", 0.04), ("tan", 0.01)], "averaged-tan"),
        ([("averaged-tan", 1.0), *[("aode", 0.5)] * 3, ("kdb", 0.3), ("evidence-bn", 0.3)], "evidence-bn"),
        ([("averaged-tan", 1.0), *[("aode", 0.5)] * 3, ("kdb", 0.3), ("bayes-net", 0.3)], "kdb"),
    ],
)
def test_the_additive_model_or_the_simplest_network_close_to_the_best_is_chosen(pairs, chosen):
    assert choose(ranked(*pairs), {}) == chosen


@pytest.mark.parametrize(
    ("best", "sentence"),
    [
        ("tan", "Use tan: it is a single network that can be plotted and read, and it can be updated with new rows."),
        (
            "evidence-bn",
            "Use evidence-bn: it is one additive model in which the evidence of each column can be read, and it can be "
            "updated with new rows.",
        ),
        ("additive-bn", "Use additive-bn: it is an ensemble, so there is no single graph to read."),
    ],
)
def test_the_sentence_about_the_choice_is_true_for_its_kind(best, sentence):
    assert sentence in sentences(Comparison({best: result(0.9, 0.9), "kdb": result(0.8, 0.95)}, {}))


def test_a_classifier_that_is_not_significantly_worse_is_recommended_with_this_reason():
    losses = (0.1, 0.9, 0.1, 0.1, 0.9, 0.1, 0.1, 0.9, 0.1, 0.1)
    better = result(0.9, 0.9)
    worse = CrossValidation(
        better.classes,
        tuple(
            Fold(fold.rows, fold.truth, np.tile(np.log([1 - wrong, wrong]), (200, 1)), fold.learned_from, 0.1, 0.1)
            for fold, wrong in zip(better.folds, losses, strict=True)
        ),
        1,
        0,
    )
    advice = recommend(Comparison({"averaged-tan": better, "evidence-bn": worse}, {}), baseline=Baseline("a", 0.6, 3.0))
    assert advice.chosen == "evidence-bn"
    assert (
        "Use evidence-bn: it does not differ significantly from averaged-tan, which has the lowest log loss. It is one "
        "additive model" in str(advice)
    )
    advice = recommend(
        Comparison({"random-forest": better, "ensemble-bn": worse}, {}), baseline=Baseline("a", 0.6, 3.0)
    )
    assert advice.chosen == "ensemble-bn"
    assert (
        "Use ensemble-bn: it does not differ significantly from random-forest, which has the lowest log loss. It is an "
        "ensemble, so there is no single graph to read."
    ) in advice.sentences


def test_classifiers_are_recognised_by_their_class_whatever_they_are_called():
    models = {
        "naive-bayes": DecisionTreeClassifier(),
        "a tree": TAN(),
        "many": AODE(),
        "in a pipeline": make_pipeline(NaiveBayes()),
    }
    assert choose(ranked(("naive-bayes", 1.0), ("many", 0.5), ("a tree", 0.5)), models) == "a tree"
    assert choose(ranked(("naive-bayes", 1.0), ("a tree", 0.5), ("in a pipeline", 0.5)), models) == "in a pipeline"
    assert choose(ranked(("naive-bayes", 1.0)), models) is None


def result(accuracy: float, confidence: float, folds: int = 10, rows: int = 200, seed: int = 0) -> CrossValidation:
    """Return a classifier that always predicts the first class with this confidence, correctly at this accuracy."""
    found = []
    for fold in range(folds):
        truth = np.zeros(rows, np.int64)
        truth[: round((1 - accuracy) * rows) + (fold + seed) % 3] = 1
        log_probabilities = np.tile(np.log([confidence, 1 - confidence]), (rows, 1))
        found.append(Fold(np.arange(rows), truth, log_probabilities, rows * (folds - 1), 0.1, 0.1))
    return CrossValidation(np.array(["a", "b"]), tuple(found), 1, 0)


BASELINE = Baseline("a", 0.6, 0.67)


def sentences(comparison, **settings):
    return recommend(comparison, baseline=BASELINE, **settings).sentences


def test_overconfident_and_underconfident_probabilities_are_reported():
    calibrated = sentences(Comparison({"tan": result(0.9, 0.9)}, {}))
    assert any("tan can be trusted" in sentence for sentence in calibrated)
    too_high = sentences(Comparison({"tan": result(0.8, 0.95)}, {}))
    assert any("overconfident" in sentence and "15." in sentence for sentence in too_high)
    too_low = sentences(Comparison({"tan": result(0.95, 0.8)}, {}))
    assert any("underconfident" in sentence for sentence in too_low)


def test_more_rows_help_if_the_second_half_of_them_did():
    half, whole = result(0.8, 0.8), result(0.9, 0.9, seed=1)
    curve = {0.5: Comparison({"tan": half}, {}), 1.0: Comparison({"tan": whole}, {})}
    improving = sentences(curve[1.0], curve=curve, by="error")
    assert any("More rows would probably help" in sentence for sentence in improving)
    same = {0.5: Comparison({"tan": result(0.895, 0.9)}, {}), 1.0: Comparison({"tan": whole}, {})}
    assert any("may be due to chance" in sentence for sentence in sentences(same[1.0], curve=same, by="error"))


def test_no_classifier_is_recommended_if_none_beats_the_class_frequencies():
    found = Comparison({"tan": result(0.6, 0.95)}, {})
    useless = recommend(found, baseline=BASELINE)
    assert "the columns carry little information" in useless.sentences[0]
    assert useless.chosen is None
    assert useless.sentences[-1] == "None of these classifiers is worth using as it is."
    # Confident when it is wrong, but rarely wrong.
    rarely_wrong = Comparison({"cart": result(0.94, 1 - 1e-15)}, {})
    assert "little information" not in sentences(rarely_wrong, by="error")[0]


@pytest.fixture(scope="module")
def endgames():
    return tic_tac_toe()


def test_a_comparison_alone_is_enough(endgames):
    found = compare(["naive-bayes", "tan", "kdb", "cart"], *endgames, folds=5)
    advice = recommend(found)
    assert isinstance(advice, Recommendation)
    assert advice.chosen == "kdb"
    assert str(advice) == "\n".join(advice.sentences)
    mean = found["kdb"].mean("log_loss")
    assert advice.sentences[0].startswith(f"kdb has the lowest log loss ({mean:.3f}): it misclassifies 20.9%")
    assert advice.sentences[0].endswith("always predicting 'positive' misclassifies 34.7%.")
    assert "rows would" not in str(advice)
    assert recommend(found, by="auc").sentences[0].startswith("cart has the highest AUC")
    assert recommend(found, by="error").sentences[0].startswith("cart has the lowest error: it misclassifies")


def test_the_baseline_is_that_of_the_rows_compared(endgames):
    X, y = endgames
    found = compare(["naive-bayes"], X, y, folds=3, repeats=2)
    baseline = Baseline.of(found["naive-bayes"])
    share = np.mean(np.asarray(y) == "positive")
    assert baseline.commonest == "positive"
    assert baseline.share == pytest.approx(share)
    assert baseline.log_loss == pytest.approx(-share * np.log(share) - (1 - share) * np.log(1 - share))


def test_a_learning_curve_adds_whether_more_rows_would_help(endgames):
    curve = learning_curve({"my tree": TAN()}, *endgames, shares=(0.5, 1.0), folds=5)
    advice = recommend(curve[1.0], curve=curve)
    assert advice.chosen == "my tree"
    rows = [curve[share]["my tree"].learned_from for share in (0.5, 1.0)]
    assert f"with {rows[0]:,.0f} rows to" in advice.sentences[-1]
    assert f"with {rows[1]:,.0f} rows" in advice.sentences[-1]


def test_a_comparison_without_tanbark_classifiers_recommends_none(endgames):
    advice = recommend(compare(["cart"], *endgames, folds=3), by="error")
    assert advice.chosen is None
    assert "The comparison has no result of a tanbark classifier." in advice.sentences


def test_what_cannot_be_recommended_raises():
    found = Comparison({"tan": result(0.9, 0.9)}, {})
    with pytest.raises(ValueError, match="by must be one of error, log_loss, brier, auc, got 'luck'"):
        recommend(found, by="luck")
    with pytest.raises(ValueError, match="no classifier could be fitted: ValueError: no"):
        recommend(Comparison({}, {"tan": "ValueError: no"}))
    one_class = Comparison({"tan": result(1.0, 0.9, folds=1)}, {})
    with pytest.raises(ValueError, match="auc is undefined, because no fold has rows of more than one class"):
        recommend(one_class, by="auc")
