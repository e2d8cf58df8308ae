"""Li, Zhang, Wang and Zhang (2007): generalised additive Bayesian networks against other classifiers.

The copy of the paper at hand has lost its digits: which data sets, how many folds and every figure. So its claims are
what is looked at, on tables of the UCI repository. Numbers are cut by the criterion of Fayyad and Irani on the training
rows (the paper cites a survey of such methods; whole numbers of at most ten values are categories), tables have
Laplace's correction, and significance is at 5 %. K2 takes the attributes in the order of the table, with at most four
parents; CART is scikit-learn's, pruned by what cross-validation on the training rows says.
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
    PaperSet,
    Results,
    Section,
    mean_and_error,
    over_folds,
    why_failed,
)
from tanbark.papers.experiment_cells import Cell, Record, tried
from tanbark.papers.samples import Sample, Sizes, labelled
from tanbark.schema import Encoder

FOLDS = 10
QUICK_FOLDS = 5
LEVEL = 0.05
PRUNING_FOLDS = 3
PRUNINGS = 10
"""So many prunings of CART, evenly among those that there are, are tried."""

Array = NDArray[np.float64]


def _network(classifier: Callable[..., Any], **settings: Any) -> Callable[[Sample], Any]:
    def fitted(train: Sample) -> Any:
        model = classifier(encoder=Encoder(bins="mdlp"), parameters="laplace", **settings)
        return model.fit(train.table, train.classes)

    return fitted


def _cart(train: Sample) -> Any:
    """Return a tree that is pruned as far as cross-validation on its training rows says."""
    vectorizer = TableVectorizer().fit(train.table, train.classes)
    X = vectorizer.transform(train.table)
    tree = DecisionTreeClassifier(random_state=0)
    costs = np.unique(np.maximum(tree.cost_complexity_pruning_path(X, train.classes).ccp_alphas, 0.0))
    tried = costs[np.unique(np.linspace(0, len(costs) - 1, PRUNINGS).astype(np.int64))]
    folds = StratifiedKFold(PRUNING_FOLDS, shuffle=True, random_state=0)
    search = GridSearchCV(tree, {"ccp_alpha": tried}, cv=folds).fit(X, train.classes)
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
        records.append({"method": method, **tried(partial(_error, learn, train, test))})
    return records


def _error(learn: Callable[[Sample], Any], train: Sample, test: Sample) -> Record:
    return {"error": float((learn(train).predict(test.table) != test.classes).mean())}


def report(results: Results) -> list[Section | Drawing]:
    """Return our errors, how often GABN wins, ties and loses, and whether the paper's claims hold."""
    errors = {
        method: {
            file: values
            for file, done in results.items()
            if (values := over_folds(done, "error", method=method)) is not None
        }
        for method in METHODS
    }
    # Tests over data sets want every method on every one of them.
    everywhere = [file for file in results if all(file in of_method for of_method in errors.values())]
    parts: list[Section | Drawing] = [_claims(errors), _table(results, errors, everywhere)]
    if len(everywhere) > 1:
        means = np.array([[errors[method][file].mean() for method in METHODS] for file in everywhere])
        test = friedman(means)
        parts += [_ranks(test), *_drawings(test, means, everywhere)]
    return [*parts, Sizes.of(results, dict(zip(SETS, SETS)), {}).section()]


def _against(errors: dict[str, dict[str, Array]], other: str, test_to_train: float) -> WinTieLoss:
    """Return how often GABN is significantly better than another method, no different, and worse."""
    ours, theirs = errors[PROPOSED], errors[other]
    both = [file for file in ours if file in theirs]
    return win_tie_loss(
        [ours[file] for file in both], [theirs[file] for file in both], test_to_train=test_to_train, level=LEVEL
    )


def _claims(errors: dict[str, dict[str, Array]]) -> Section:
    """Return the sentences of the paper that can be tested, and what is found."""
    claims = {
        "GABN outperforms traditional Bayesian network classifiers": (("NB", "TAN", "K2", "KDB"), 1),
        "GABN is comparable to or better than boosted Bayesian networks": (("BBN",), 0),
        "The best single super-parent is significantly worse than GABN": (("SPBN",), 1),
    }
    rows = []
    for claim, (others, least) in claims.items():
        found = {other: _against(errors, other, 0.0) for other in others}
        counted = [counts for counts in found.values() if counts.wins + counts.ties + counts.losses]
        ahead = all(counts.wins - counts.losses >= least for counts in counted)
        verdict = ("yes" if ahead else "no") if counted else "not tested"
        rows.append([claim, ", ".join(f"{other} {counts}" for other, counts in found.items()), verdict])
    words = (
        "Win/tie/loss of GABN by a paired t-test at 5 % on each data set, and whether it wins more often than it loses "
        "(against BBN: no less often). The tests over data sets below are stricter."
    )
    return Section("The paper's claims", words, ["claim", "win/tie/loss of GABN", "more wins"], rows, labels=3)


def _table(results: Results, errors: dict[str, dict[str, Array]], everywhere: Sequence[str]) -> Section:
    rows = []
    for file, done in results.items():
        cells = [
            mean_and_error(errors[method][file], 100.0)
            if file in errors[method]
            else f"failed: {why_failed(done, method=method)}"
            for method in METHODS
        ]
        rows.append([file, *cells])
    if everywhere:
        means = [100.0 * np.mean([errors[method][file].mean() for file in everywhere]) for method in METHODS]
        rows.append([f"average, {len(everywhere)} sets", *(f"{mean:.2f}" for mean in means)])
    folds = max(len(done) for done in results.values())
    for words, ratio in (("paired t-test", 0.0), ("corrected t-test", 1.0 / (folds - 1))):
        found = [str(_against(errors, other, ratio)) if other != PROPOSED else "" for other in METHODS]
        rows.append([f"win/tie/loss, {words}", *found])
    words = "Means over folds with their standard errors, and how often GABN wins, ties and loses."
    return Section("Errors in per cent", words, ["set", *METHODS], rows)


def _ranks(test: Friedman) -> Section:
    control = list(METHODS).index(PROPOSED)
    rows = [
        ["mean rank", *(f"{rank:.2f}" for rank in test.ranks)],
        ["p-value against GABN (Hommel)", *(f"{p:.4f}" for p in against_control(test, control)[:-1]), ""],
    ]
    words = (
        f"Friedman's test over {test.data_sets} data sets: chi-square {test.chi_square:.2f} (p = "
        f"{test.chi_square_p:.2g}), Iman and Davenport's F {test.f:.2f} (p = {test.f_p:.2g}). Mean ranks, 1 being the "
        "best, and the p-value of each method against GABN, adjusted by Hommel's procedure."
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
        "Ten folds, the same for all; numbers are cut by the criterion of Fayyad and Irani on the training rows (whole "
        "numbers of at most ten values are categories); Laplace's correction; GABN's weights by the rows that its "
        "networks were learned from, as the paper has them; K2 in the order of the table with at most four parents; "
        "KDB with two; BBN boosts TAN for up to fifty rounds; CART is scikit-learn's tree, pruned by cross-validation "
        "on the training rows. The digits of the copy of the paper that was read are lost, and with them its data sets "
        "and figures: its claims are tested on tables of the UCI repository."
    ),
    sets=tuple(PaperSet(file, file) for file in SETS),
    quick_sets=("balance_scale", "car_evaluation", "cleve", "glass", "iris", "monks_1", "tic_tac_toe", "wine"),
    parts=FOLDS,
    quick_parts=QUICK_FOLDS,
    work=run,
    cost=lambda rows, attributes: 1.0 + rows * attributes**1.5 / 1e5,
    report=report,
    adjusts=True,
)
