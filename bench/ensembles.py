"""Measure the speed of one-dependence classifiers and ensembles, and their errors on real tables.

python -m bench.ensembles [--data DIR] [--quick] writes bench/results/ensembles.md; without --data only the speed.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from scipy.optimize import minimize
from scipy.special import softmax
from scipy.stats import ttest_rel
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import AdaBoostClassifier
from sklearn.model_selection import StratifiedKFold

from bench.__main__ import write
from bench.tables import best, data_and_quick, machine, random_tan, seconds
from tanbark import AODE, KDB, TAN, AdditiveBN, AveragedTAN, BoostedBN, ForestAN, NaiveBayes, SuperParent
from tanbark.averaging import PoolLikelihood, SuperParents, best_pool
from tanbark.counts import Rows
from tanbark.datasets import read_folder
from tanbark.models.pool import normalise_joints

HERE = Path(__file__).parent
HOW = "All figures are from the same run, one program at a time, two threads, the best of several repetitions."
MAX_ROWS = 20_000
MODELS = {
    "NB": NaiveBayes(),
    "TAN": TAN(),
    "SPBN": SuperParent(),
    "GABN": AdditiveBN(),
    "GABN, the paper's weights": AdditiveBN(held_out=False),
    "GABN, linear": AdditiveBN(link="linear"),
    "GABN of naive Bayes": AdditiveBN(weak="naive-bayes"),
    "GABN of trees": AdditiveBN(weak="tan"),
    "GABN of KDB": AdditiveBN(weak="kdb"),
    "AODE": AODE(),
    "KDB(2)": KDB(),
    "ForestAN": ForestAN(),
    "AveragedTAN": AveragedTAN(),
    "BoostedBN": BoostedBN(),
}


# Speed


def weka(X, y, X_test):
    """Return the seconds of Weka's AODE to fit and to predict, or None if Weka is not installed."""
    with tempfile.TemporaryDirectory() as folder:
        data = write(folder, X, y, X_test)
        command = [sys.executable, HERE / "peers" / "weka_bayes.py", "--data", data, "--classifier", "aode"]
        done = subprocess.run([*command, "--repeat", "3"], capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    figures = json.loads(done.stdout.splitlines()[-1])
    return figures["fit_seconds"], figures["predict_seconds"]


def one_dependence(rows, predict_rows):
    """Return Markdown lines: fits and predictions compared with Weka's AODE."""
    X, y = random_tan(rows, 30)
    X_test = X[:predict_rows]
    lines = [f"| {rows:,} rows x 30 attributes x 4 levels x 3 classes | fit | predict {predict_rows:,} rows |"]
    lines += ["| --- " * 3 + "|"]
    for name, model in {"TAN": TAN(), "AODE": AODE(), "KDB(2)": KDB(), "ForestAN": ForestAN()}.items():
        model.set_params(n_jobs=2).fit(X, y).predict_proba(X_test)
        fit, predict = best(partial(model.fit, X, y)), best(partial(model.predict_proba, X_test))
        lines.append(f"| {name} | {seconds(fit)} | {seconds(predict)} |")
    theirs = weka(X, y, X_test)
    figures = " | ".join(map(seconds, theirs)) if theirs else "absent |"
    lines.append(f"| Weka AODE | {figures} |")
    return [*lines, ""]


def additive(sizes):
    """Return Markdown lines: GABN's fit on increasing rows, and one evaluation of the likelihood with its Hessian."""
    lines = ["| GABN, 30 attributes | fit | one step of the solver | steps |", "| --- " * 4 + "|"]
    for rows in sizes:
        X, y = random_tan(rows, 30)
        model = AdditiveBN(n_jobs=2).fit(X, y)
        likelihood = training_likelihood(model, X, y)
        step = best(partial(likelihood, np.full(30, 1 / 30)), 7)
        steps = []
        best_pool(likelihood, 30, lambda *step, steps=steps: steps.append(step))
        fit = best(partial(model.fit, X, y), 2)
        lines.append(f"| {rows:,} rows | {seconds(fit)} | {seconds(step)} | {len(steps)} |")
    return [*lines, ""]


def training_likelihood(model, X, y):
    """Return the likelihood that AdditiveBN maximises on these rows."""
    schema = model.schema_
    rows = Rows(schema, schema.encode(X), schema.encode_target(y)).distinct
    networks = SuperParents.of(model.counts_, np.arange(X.shape[1]), "dirichlet", 10.0)
    scores = networks.left_out_log_joints(rows, model.counts_, "dirichlet", 10.0, 2)
    normalise_joints(scores, model.model_.learned_log_prior[None], 2)
    return PoolLikelihood.of(scores, rows, False, 2)


def solvers(rows):
    """Return Markdown lines: four solvers for the weights of GABN on the same rows."""
    X, y = random_tan(rows, 30)
    likelihood = training_likelihood(AdditiveBN(n_jobs=2).fit(X, y), X, y)
    lines = [f"| {rows:,} rows, 30 super-parents | time | relative gap | passes over the rows |", "| --- " * 4 + "|"]
    for name, solve in {
        "Newton, active sets (tanbark)": newton,
        "log barrier and L-BFGS (the paper)": barrier,
        "SLSQP (scipy)": slsqp,
        "exponentiated gradient": exponentiated,
    }.items():
        passes = []

        def counted(pool, passes=passes, curved=solve is newton):
            passes.append(1)
            return likelihood(pool) if curved else gradient(likelihood, pool)

        start = time.perf_counter()
        pool = solve(counted)
        taken = time.perf_counter() - start
        value, slope, _ = likelihood(pool)
        lines.append(f"| {name} | {seconds(taken)} | {(slope.max() - pool @ slope) / abs(value):.1e} | {len(passes)} |")
    return [*lines, ""]


def gradient(likelihood, pool):
    """Return the value and the gradient by BLAS, for methods that do not need the Hessian."""
    flat = likelihood.scores.reshape(-1, len(pool))
    odds = (flat @ pool).reshape(len(likelihood.weights), -1)
    largest = np.maximum(odds.max(axis=1, keepdims=True), 0.0)
    odds = np.exp(odds - largest)
    total = odds.sum(axis=1, keepdims=True) + np.exp(-largest)
    value = -likelihood.weights @ (largest + np.log(total))[:, 0]
    shares = odds / total * likelihood.weights[:, None]
    return value, -shares.ravel() @ flat, None


def newton(likelihood):
    return best_pool(likelihood, 30).weights


def slsqp(likelihood):
    def lost(pool):
        value, slope, _ = likelihood(pool)
        return -value, -slope

    sums = {"type": "eq", "fun": lambda pool: pool.sum() - 1, "jac": np.ones_like}
    start, bounds = np.full(30, 1 / 30), [(0, 1)] * 30
    options = {"maxiter": 500, "ftol": 1e-13}
    return minimize(lost, start, jac=True, method="SLSQP", bounds=bounds, constraints=sums, options=options).x


def barrier(likelihood):
    free, strength = np.zeros(30), 1e-2
    tight = {"maxiter": 500, "ftol": 1e-15, "gtol": 1e-9}
    while strength > 1e-11:

        def lost(free, strength=strength):
            pool = softmax(free)
            value, slope, _ = likelihood(pool)
            pull = slope + strength / pool
            return -value - strength * np.log(pool).sum(), -pool * (pull - pool @ pull)

        free = minimize(lost, free, jac=True, method="L-BFGS-B", options=tight).x
        strength /= 10
    return softmax(free)


def exponentiated(likelihood):
    pool, step = np.full(30, 1 / 30), 1.0
    value, slope, _ = likelihood(pool)
    for _ in range(2000):
        if slope.max() - pool @ slope < 1e-6 * abs(value):
            break
        while True:
            trial = pool * np.exp(step * (slope - slope.max()))
            trial /= trial.sum()
            found, ahead, _ = likelihood(trial)
            if found >= value:
                break
            step /= 2
        pool, value, slope, step = trial, found, ahead, step * 1.5
    return pool


class ScaledWeights(ClassifierMixin, BaseEstimator):
    """A tanbark classifier for AdaBoostClassifier, whose weights sum to 1; scales them to the number of rows."""

    def __init__(self, model=None):
        self.model = model

    def fit(self, X, y, sample_weight):
        self.fitted_ = self.model.fit(X, y, sample_weight=sample_weight * len(y))
        self.classes_ = self.fitted_.classes_
        return self

    def predict(self, X):
        return self.fitted_.predict(X)

    def predict_proba(self, X):
        return self.fitted_.predict_proba(X)


def boosting(rows):
    """Return Markdown lines: fifty rounds of BoostedBN, and of scikit-learn's AdaBoost with the same TAN."""
    X, y = random_tan(rows, 20)
    schema = TAN().fit(X, y).schema_
    ours = BoostedBN(patience=None, encoder=schema, n_jobs=2)
    theirs = AdaBoostClassifier(ScaledWeights(TAN(encoder=schema, n_jobs=2)), n_estimators=50)
    lines = [f"| fifty rounds of TAN, {rows:,} rows x 20 attributes | fit | rounds |", "| --- " * 3 + "|"]
    ours.fit(X[:500], y[:500])
    lines.append(f"| BoostedBN | {seconds(best(lambda: ours.fit(X, y), 2))} | {len(ours.networks_)} |")
    taken = best(lambda: theirs.fit(X, y), 1)
    lines.append(f"| scikit-learn AdaBoostClassifier around TAN | {seconds(taken)} | {len(theirs.estimators_)} |")
    return [*lines, ""]


# Real tables


def study(folder, name):
    """Return the errors and log losses of every model in each of ten folds."""
    data = read_folder(folder)[name]
    X, y = data.table.to_pandas(), np.array([str(label) for label in data.labels.to_pylist()])
    rows = np.flatnonzero(~np.isin(y, [c for c in np.unique(y) if (y == c).sum() < 10]))
    X, y = X.iloc[rows], y[rows]
    found = np.zeros((len(MODELS), 10, 2))
    for fold, (train, test) in enumerate(StratifiedKFold(10, shuffle=True, random_state=0).split(X, y)):
        for m, model in enumerate(MODELS.values()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                proba = model.fit(X.iloc[train], y[train]).predict_proba(X.iloc[test])
            right = np.searchsorted(model.classes_, y[test])
            of_class = proba[np.arange(len(test)), right]
            found[m, fold] = (proba.argmax(axis=1) != right).mean(), -np.log(np.maximum(of_class, 1e-16)).mean()
    print(f"  {name}", flush=True)
    return name, len(y), found


def tables(folder, quick):
    """Return Markdown lines: the errors of the paper's classifiers, and the means of all."""
    catalogue = read_folder(folder)
    chosen = [name for name, data in catalogue.items() if 100 <= data.table.num_rows <= (1000 if quick else MAX_ROWS)]
    results = Parallel(2, batch_size=1)(delayed(study)(folder, name) for name in chosen)
    names = list(MODELS)
    at = {name: m for m, name in enumerate(names)}
    shown = ["NB", "TAN", "SPBN", "AODE", "KDB(2)", "BoostedBN", "GABN, the paper's weights", "GABN"]
    lines = ["| table | rows | " + " | ".join(shown) + " |", "| --- " * (len(shown) + 2) + "|"]
    for name, rows, found in results:
        errors = [f"{100 * found[at[m], :, 0].mean():.1f}" for m in shown]
        lines.append(f"| {name} | {rows:,} | " + " | ".join(errors) + " |")
    lines += ["", "| mean over the tables | error, % | log loss, nats | GABN wins / ties / losses (t-test, 5 %) |"]
    lines += ["| --- " * 4 + "|"]
    errors = np.array([found[:, :, 0] for _, _, found in results])
    losses = np.array([found[:, :, 1].mean(axis=1) for _, _, found in results])
    for m, name in enumerate(names):
        signs = []
        for table in errors:
            difference = table[m] - table[at["GABN"]]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                significant = difference.any() and ttest_rel(table[m], table[at["GABN"]]).pvalue < 0.05
            signs.append(np.sign(difference.mean()) if significant else 0)
        counts = " / ".join(str(signs.count(sign)) for sign in (1, 0, -1)) if name != "GABN" else ""
        mean = 100 * errors[:, m].mean()
        lines.append(f"| {name} | {mean:.2f} | {losses[:, m].mean():.4f} | {counts} |")
    return [*lines, ""]


def main():
    options = data_and_quick(__doc__)
    size = 10 if options.quick else 1
    lines = ["# One-dependence classifiers and ensembles", "", *machine(HOW)]
    lines += ["## Speed", "", *one_dependence(1_000_000 // size, 100_000 // size)]
    lines += additive([25_000 // size, 50_000 // size, 100_000 // size])
    lines += solvers(100_000 // size)
    lines += boosting(20_000 // size)
    if options.data:
        lines += [
            "## Errors",
            "",
            "Ten-fold cross-validation with the same folds and default parameters for all classifiers: numbers in five "
            "equal-frequency bins. Classes of fewer than ten rows are omitted. Errors are in per cent.",
            "",
            *tables(options.data, options.quick),
        ]
    (HERE / "results" / "ensembles.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
