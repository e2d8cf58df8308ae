"""Li, Zhang, Wang and Zhang (2007): generalised additive Bayesian networks against other classifiers.

The available copy of the paper has lost its digits, and with them its data sets, number of folds and figures. This
module therefore tests its claims on tables of the UCI repository. Numbers are discretised by the criterion of Fayyad
and Irani on the training rows (the paper cites a survey of such methods); integers with at most ten values are
categories. Tables use Laplace's correction, and the significance level is 5 %. K2 takes the attributes in the order of
the table, with at most four parents. CART is scikit-learn's decision tree, pruned by cross-validation on the training
rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from tanbark.classifiers.additive_bn import AdditiveBN
from tanbark.classifiers.aode import AODE
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.classifiers.k2 import K2
from tanbark.classifiers.kdb import KDB
from tanbark.classifiers.naive_bayes import NaiveBayes
from tanbark.classifiers.super_parent import SuperParent
from tanbark.classifiers.tan import TAN
from tanbark.datasets import Dataset
from tanbark.evaluate.plots import critical_difference_diagram, scatter
from tanbark.evaluate.significance import (
    Friedman,
    WinTieLoss,
    against_control,
    critical_difference,
    friedman,
    win_tie_loss,
)
from tanbark.evaluate.table_vectorizer import TableVectorizer
from tanbark.papers.experiment import (
    Drawing,
    Experiment,
    Results,
    Section,
    failure_reason,
    fold_values,
    mean_and_error,
)
from tanbark.papers.experiment_cells import Cell, Record, record_or_failure
from tanbark.papers.samples import Sample, Sizes, labelled
from tanbark.schema import Encoder

QUICK_FOLDS = 5
SIGNIFICANCE_LEVEL = 0.05
PRUNING_FOLDS = 3
MAX_PRUNINGS = 10
"""The maximum number of prunings of CART to try, evenly spaced on its pruning path."""

Array = NDArray[np.float64]


def _network(classifier: Callable[..., Any], **settings: Any) -> Callable[[Sample], Any]:
    def fitted(train: Sample) -> Any:
        model = classifier(encoder=Encoder(bins="mdlp"), parameters="laplace", **settings)
        return model.fit(train.table, train.classes)

    return fitted


def _cart(train: Sample) -> Any:
    """Return a decision tree, pruned by cross-validation on its training rows."""
    vectorizer = TableVectorizer().fit(train.table, train.classes)
    X = vectorizer.transform(train.table)
    tree = DecisionTreeClassifier(random_state=0)
    costs = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, train.classes).ccp_alphas, 0.0))
    candidates = costs[np.unique(np.linspace(0, len(costs) - 1, MAX_PRUNINGS).astype(np.int64))]
    folds = StratifiedKFold(PRUNING_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(tree, {"ccp_alpha": candidates}, cv=folds).fit(X, train.classes)
    return make_pipeline(vectorizer, search.best_estimator_)


METHODS: dict[str, Callable[[Sample], Any]] = {
    "NB": _network(NaiveBayes),
    "TAN": _network(TAN),
    "K2": _network(K2),
    "KDB": _network(KDB),
    "SPBN": _network(SuperParent),
    "AODE": _network(AODE),
    "BBN": _network(BoostedBN),
    "CART": _cart,
    "GABN": _network(AdditiveBN, held_out=False),
}
PROPOSED = "GABN"

SETS = (
    *("adult", "australian", "balance_scale", "bank_additional_full", "breast_cancer_ljubljana"),
    *("breast_cancer_wisconsin", "car_evaluation", "chess_kr_vs_kp", "cleve", "climate_model_crashes"),
    *("congressional_voting", "credit_crx", "eeg_eye_state", "german", "glass", "hayes_roth", "hepatitis"),
    *("hypothyroid", "iris", "led7", "lenses", "letter", "monks_1", "mushroom", "mux6", "nursery", "pendigits"),
    *("pima", "post_operative", "shuttle", "solar_flare", "soybean_large", "splice", "three_of_9", "tic_tac_toe"),
    *("wine", "zoo"),
)


def run(data: Dataset, cell: Cell) -> list[Record]:
    """Return the error of every method in a fold."""
    sample = labelled(data)
    train, test = sample.fold(cell.part, cell.parts)
    records: list[Record] = [sample.size] if not cell.part else []
    for method, learn in METHODS.items():
        records.append({"method": method, **record_or_failure(partial(_error, learn, train, test))})
    return records


def _error(learn: Callable[[Sample], Any], train: Sample, test: Sample) -> Record:
    return {"error": float((learn(train).predict(test.table) != test.classes).mean())}


def report(results: Results) -> list[Section | Drawing]:
    """Return whether the paper's claims hold, the error rates, the wins, ties and losses of GABN, and the ranks."""
    errors = {
        method: {
            file: values
            for file, done in results.items()
            if (values := fold_values(done, "error", method=method)) is not None
        }
        for method in METHODS
    }
    # Tests over data sets need the errors of every method on each of them.
    everywhere = [file for file in results if all(file in of_method for of_method in errors.values())]
    parts: list[Section | Drawing] = [_claims(errors), _table(results, errors, everywhere)]
    if len(everywhere) > 1:
        means = np.array([[errors[method][file].mean() for method in METHODS] for file in everywhere])
        test = friedman(means)
        parts += [_ranks(test), *_drawings(test, means, everywhere)]
    return [*parts, Sizes.of(results, {name: name for name in SETS}, {}).section()]


def _against(errors: dict[str, dict[str, Array]], other: str, test_to_train: float) -> WinTieLoss:
    """Return the wins, ties and losses of GABN against another method."""
    ours, theirs = errors[PROPOSED], errors[other]
    both = [file for file in ours if file in theirs]
    return win_tie_loss(
        [ours[file] for file in both],
        [theirs[file] for file in both],
        test_to_train=test_to_train,
        level=SIGNIFICANCE_LEVEL,
    )


def _claims(errors: dict[str, dict[str, Array]]) -> Section:
    """Return the testable claims of the paper and the results."""
    claims = {
        "GABN outperforms traditional Bayesian network classifiers": (("NB", "TAN", "K2", "KDB"), 1),
        "GABN is comparable to or better than boosted Bayesian networks": (("BBN",), 0),
        "The best single super-parent is significantly worse than GABN": (("SPBN",), 1),
    }
    rows = []
    for claim, (others, min_lead) in claims.items():
        results = {other: _against(errors, other, 0.0) for other in others}
        counted = [counts for counts in results.values() if counts.wins + counts.ties + counts.losses]
        ahead = all(counts.wins - counts.losses >= min_lead for counts in counted)
        verdict = ("yes" if ahead else "no") if counted else "not tested"
        rows.append([claim, ", ".join(f"{other} {counts}" for other, counts in results.items()), verdict])
    words = (
        "Win/tie/loss of GABN in paired t-tests at 5 % on each data set, and whether it wins more often than it loses "
        "(against BBN: at least as often). The tests over data sets below are stricter."
    )
    return Section("The paper's claims", words, ["claim", "win/tie/loss of GABN", "more wins"], rows, labels=3)


def _table(results: Results, errors: dict[str, dict[str, Array]], everywhere: Sequence[str]) -> Section:
    rows = []
    for file, done in results.items():
        cells = [
            mean_and_error(errors[method][file], 100.0)
            if file in errors[method]
            else f"failed: {failure_reason(done, method=method)}"
            for method in METHODS
        ]
        rows.append([file, *cells])
    if everywhere:
        means = [100.0 * np.mean([errors[method][file].mean() for file in everywhere]) for method in METHODS]
        rows.append([f"average, {len(everywhere)} sets", *(f"{mean:.2f}" for mean in means)])
    folds = max(len(done) for done in results.values())
    for test, ratio in (("paired t-test", 0.0), ("corrected t-test", 1.0 / (folds - 1))):
        counts = [str(_against(errors, other, ratio)) if other != PROPOSED else "" for other in METHODS]
        rows.append([f"win/tie/loss, {test}", *counts])
    words = "Means over folds with their standard errors, and the wins, ties and losses of GABN."
    return Section("Errors in per cent", words, ["set", *METHODS], rows)


def _ranks(test: Friedman) -> Section:
    control = list(METHODS).index(PROPOSED)
    rows = [
        ["mean rank", *(f"{rank:.2f}" for rank in test.ranks)],
        ["p-value against GABN (Hommel)", *(f"{p:.4f}" for p in against_control(test, control)[:-1]), ""],
    ]
    words = (
        f"The Friedman test over {test.data_sets} data sets: chi-square {test.chi_square:.2f} (p = "
        f"{test.chi_square_p:.2g}), Iman and Davenport's F {test.f:.2f} (p = {test.f_p:.2g}). Mean ranks, where 1 is "
        "the best, and the p-value of each method against GABN, adjusted by Hommel's procedure."
    )
    return Section("Ranks over data sets", words, ["", *METHODS], rows)


def _drawings(test: Friedman, means: Array, files: Sequence[str]) -> list[Section | Drawing]:
    names = list(METHODS)
    difference = critical_difference(len(names), test.data_sets)
    diagram = critical_difference_diagram(names, test.ranks, difference)
    ours = 100.0 * means[:, names.index(PROPOSED)]
    return [
        Drawing("Critical differences of mean ranks (Nemenyi, 5 %)", "ranks", diagram),
        *(
            Drawing(
                f"Errors of GABN and {name}, in per cent",
                name.lower(),
                scatter(100.0 * means[:, at], ours, name, PROPOSED, files),
            )
            for at, name in enumerate(names)
            if name != PROPOSED
        ),
    ]


EXPERIMENT = Experiment(
    name="gabn2007",
    citation=(
        "Li, J., Zhang, C., Wang, T. and Zhang, Y. (2007). Generalized additive Bayesian network classifiers. IJCAI, "
        "913-918."
    ),
    protocol=(
        "Ten-fold cross-validation with the same folds for all methods. Numbers are discretised by the criterion of "
        "Fayyad and Irani on the training rows; integers with at most ten values are categories. Tables use Laplace's "
        "correction. The weights of GABN are learned from the same rows as its networks, as in the paper. K2 takes the "
        "attributes in the order of the table, with at most four parents; KDB has two parents. BBN boosts TAN for up "
        "to fifty rounds. CART is scikit-learn's decision tree, pruned by cross-validation on the training rows. The "
        "available copy of the paper has lost its digits, and with them its data sets and figures; its claims are "
        "tested on tables of the UCI repository."
    ),
    sets={file: file for file in SETS},
    quick_sets=("balance_scale", "car_evaluation", "cleve", "glass", "iris", "monks_1", "tic_tac_toe", "wine"),
    quick_parts=QUICK_FOLDS,
    work=run,
    cost=lambda rows, attributes: 1.0 + rows * attributes**1.5 / 1e5,
    report=report,
    adjusts=True,
)
