"""Plots are well-formed SVG with the right labels, in the colours of the page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, roc_auc_score, roc_curve

from tanbark.evaluate import Comparison, CrossValidation
from tanbark.evaluate.metrics import N_CONFIDENCE_BINS, by_confidence, calibration_error
from tanbark.evaluate.plots import (
    alike,
    critical_difference_diagram,
    learning_curve,
    mean_curve,
    reliability,
    roc,
    scatter,
)
from tanbark.evaluate.results import Fold

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = '<script>alert(\'x\')</script> & "$x_1$" id="a" #010203'


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_bars_are_those_of_the_worked_example_of_demsar() -> None:
    # Demšar 2006, section 3.2.2: four versions of C4.5 on 14 data sets. At 5 % (1.25) no difference is significant; at
    # 10 % (1.12, Figure 1a) C4.5 is worse than two of them, and C4.5+cf belongs to both groups.
    ranks = [1.964, 2.000, 2.893, 3.143]
    assert alike(ranks, 1.25) == [(0, 3)]
    assert alike(ranks, 1.12) == [(0, 2), (2, 3)]
    assert alike(ranks, 0.01) == []


@given(st.lists(st.floats(1, 9), min_size=1, max_size=9).map(sorted), st.floats(0.01, 5))
def test_two_classifiers_share_a_bar_if_and_only_if_they_are_within_the_difference(
    ranks: list[float], difference: float
) -> None:
    runs = alike(ranks, difference)
    for a in range(len(ranks)):
        for b in range(a + 1, len(ranks)):
            joined = any(start <= a and b <= stop for start, stop in runs)
            assert joined == (ranks[b] <= ranks[a] + difference)
    assert not any(a[0] <= b[0] and b[1] <= a[1] for a in runs for b in runs if a != b)


def test_a_diagram_names_every_classifier_with_its_rank() -> None:
    plot = critical_difference_diagram(["a", "b", "c"], [2.5, 1.25, 2.25], 1.5)
    assert {"b  1.25", "c  2.25", "2.50  a", "critical difference 1.50"} <= set(texts(plot))


def test_a_diagram_of_a_single_classifier_can_be_drawn() -> None:
    assert "only  1.00" in texts(critical_difference_diagram(["only"], [1.0], 0.5))


def test_the_tooltip_of_a_point_shows_its_data_set_and_errors() -> None:
    plot = ElementTree.fromstring(scatter([0.1, 0.2], [0.3, 0.25], "TAN", "AODE", ["iris", HOSTILE]))
    tooltips = [element.text for element in plot.iter(f"{SVG}title")]
    assert tooltips == ["iris: TAN 0.100, AODE 0.300", f"{HOSTILE}: TAN 0.200, AODE 0.250"]


def result(classes: int = 2, seed: int = 0, test_to_train: float = 0.25) -> CrossValidation:
    """Return five folds of twenty rows whose probabilities say something of the classes."""
    draw = np.random.default_rng(seed)
    folds = []
    for k in range(5):
        truth = draw.permutation(np.arange(20) % classes)
        weights = draw.gamma(1.0, size=(20, classes)) + 1.5 * np.eye(classes)[truth]
        said = np.log(weights / weights.sum(1, keepdims=True))
        folds.append(Fold(np.arange(20 * k, 20 * k + 20), truth, said, round(20 / test_to_train), 0.1, 0.1))
    return CrossValidation(np.array([f"c{k}" for k in range(classes)]), tuple(folds), 1, 0)


def test_the_curve_of_two_classes_is_scikit_learns() -> None:
    truth, log_p = result().pooled
    false, true, _ = roc_curve(truth, np.exp(log_p[:, 1]))
    np.testing.assert_array_equal(mean_curve(truth, log_p), [false, true])


def test_the_curve_of_more_classes_has_the_mean_of_their_areas() -> None:
    truth, log_p = result(classes=4).pooled
    areas = roc_auc_score(truth, np.exp(log_p), multi_class="ovr", average="macro")
    assert abs(auc(*mean_curve(truth, log_p)) - areas) < 1e-3


def test_rows_by_confidence_are_those_of_a_loop() -> None:
    truth, log_p = result(classes=3).pooled
    found = by_confidence(truth, log_p)
    for at in range(N_CONFIDENCE_BINS):
        inside = [i for i, p in enumerate(np.exp(log_p)) if at <= p.max() * N_CONFIDENCE_BINS < at + 1]
        assert found.rows[at] == len(inside)
        if inside:
            assert np.isclose(found.confidence[at], np.mean([np.exp(log_p[i]).max() for i in inside]))
            assert np.isclose(found.accuracy[at], np.mean([log_p[i].argmax() == truth[i] for i in inside]))


def test_plots_label_every_classifier_with_its_figure() -> None:
    results = {"naive": result(), "tan": result(seed=1)}
    for name, one in results.items():
        areas = [roc_auc_score(f.truth, f.log_probabilities[:, 1]) for f in one.folds]
        assert f"{name}  {np.mean(areas):.3f}" in texts(roc(results))
        assert f"{name}  {calibration_error(*one.pooled):.3f}" in texts(reliability(results))


def test_a_learning_curve_shows_the_number_of_training_rows() -> None:
    # Each fold has twenty test rows, a quarter or half of the number of training rows.
    curve = {1.0: Comparison({"tan": result()}, {}), 0.5: Comparison({"tan": result(test_to_train=0.5)}, {})}
    assert {"80", "40", "100%", "50%", "tan", "rows learned from"} <= set(texts(learning_curve(curve)))


def test_a_classifier_that_failed_on_few_rows_has_a_shorter_curve() -> None:
    curve = {0.1: Comparison({}, {"tan": "too few rows"}), 1.0: Comparison({"tan": result()}, {})}
    assert "10%" not in texts(learning_curve(curve, "error"))


def all_plots() -> dict[str, str]:
    """Each drawing, with names that try to break out of it."""
    return {
        "difference": critical_difference_diagram([HOSTILE, "b"], [1.2, 1.8], 0.5),
        "scatter": scatter([0.1], [0.2], HOSTILE, "b", [HOSTILE]),
        "roc": roc({HOSTILE: result()}),
        "reliability": reliability({HOSTILE: result()}),
        "curve": learning_curve({1.0: Comparison({HOSTILE: result()}, {})}),
    }


def test_plots_escape_names() -> None:
    for plot in all_plots().values():
        ElementTree.fromstring(plot)
        assert "<script" not in plot
        assert any(HOSTILE in words for words in texts(plot))


def test_plots_are_deterministic_and_share_no_ids() -> None:
    first, second = all_plots(), all_plots()
    assert first == second
    ids = [found for plot in first.values() for found in re.findall(r'<[^>]* id="([^"]*)"', plot)]
    assert len(ids) == len(set(ids)) > 0
    for plot in first.values():
        used = re.findall(r"url\(#([^)]*)\)", plot) + re.findall(r'href="#([^"]*)"', plot)
        assert set(used) <= set(ids)


def test_plots_use_the_colour_and_the_font_of_the_page() -> None:
    for plot in all_plots().values():
        tags = "".join(re.findall(r"<[^>]*>", plot))
        assert plot.startswith('<svg role="img" aria-label="')
        assert "font-family" not in tags
        assert "fill: currentColor" in tags
        assert "#000000" not in tags
        assert "#ffffff" not in tags
        assert "<style" not in tags
