"""Compare supervised cut points with quantiles: python -m bench.bins --data DIR [--data DIR].

Each table is a CSV file with a column named "class"; only tables with numbers are used. Writes bench/results/bins.md.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

import tanbark
from bench.quality import HERE, table_paths
from bench.quality_folds import CLIP, FOLDS, load
from bench.tables import best, machine, seconds
from tanbark import TAN, Encoder
from tanbark.schema import Number

MAX_ROWS = 1000
CLASSIFIERS = ("TAN", "AODE", "AveragedTAN", "AdditiveBN", "KDB", "ForestAN", "BNC2P", "K2", "BayesNet", "NaiveBayes")
SETTINGS = {"BayesNet": {"search": "greedy"}}
ENCODERS = {"quantile": Encoder(bins="quantile"), "modl": Encoder(), "mdlp": Encoder(bins="mdlp")}
FLATTERED = ("NaiveBayes", "AODE")
HOW = (
    f"Stratified {FOLDS}-fold cross-validation, at most {MAX_ROWS:,} rows of each table. Log losses are in nats, "
    "clipped at 1e-6. `quantile` has 5 intervals; `modl`, the default, at least 3 and at most 16. A third of the "
    "tables, every third in alphabetical order, was set aside while the criterion was chosen."
)
ABOUT_FLATTERY = (
    "The weights of `AdditiveBN` and the choice of super-parents rest on rows that were left out of the counts, but "
    "not of the cut points. How much this flatters: the log loss of the held-out rows when the cut points are learned "
    "from all rows, less the log loss when they are learned without the held-out fold, as everywhere above."
)
ABOUT_WEIGHTS = (
    "Supervised cut points do flatter. The last row shows what this does to weights: the held-out log loss of "
    "`AdditiveBN`, whose weights are learned, divided by that of `AODE`, the same networks with equal weights, with "
    "cut points learned inside the folds. If flattered rows made weights worse, it would be higher for supervised cut "
    "points than for quantiles."
)


def losses(classifier, X, y, encoder):
    """Return the log loss of each row in cross-validation."""
    found = np.empty(len(y))
    for training, held_out in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, y):
        model = getattr(tanbark, classifier)(encoder=encoder, **SETTINGS.get(classifier, {}))
        model.fit(X.iloc[training], y.iloc[training])
        probabilities = np.clip(model.predict_proba(X.iloc[held_out]), CLIP, 1)
        probabilities /= probabilities.sum(axis=1, keepdims=True)
        of_class = np.searchsorted(model.classes_, y.iloc[held_out])
        found[held_out] = -np.log(probabilities[np.arange(len(held_out)), of_class])
    return found.mean()


def measure(path):
    """Return the log loss of each classifier with each encoder, and how much cut points of all rows flatter."""
    warnings.simplefilter("ignore")
    X, y = load(path, MAX_ROWS)
    if not any(isinstance(column, Number) for column in Encoder().fit(X, y).schema_.columns):
        return None
    found = {(one, name): losses(one, X, y, encoder) for one in CLASSIFIERS for name, encoder in ENCODERS.items()}
    for one in FLATTERED:
        for name, encoder in ENCODERS.items():
            found[one, name, "all rows"] = losses(one, X, y, encoder.fit(X, y).schema_)
    return found


def fit_times(rows=1_000_000, attributes=30):
    """Return the time to fit TAN with each encoder."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    X = rng.normal(size=(rows, attributes)) + y[:, None] * rng.random(attributes)
    return {name: best(partial(TAN(encoder=encoder).fit, X, y)) for name, encoder in list(ENCODERS.items())[:2]}


def lines_of(results):
    """Return the lines of the tables of results."""

    def mean(tables, *key):
        return np.mean([results[table][key] for table in tables])

    kept = [table for i, table in enumerate(sorted(results)) if results[table] is not None]
    aside = [table for i, table in enumerate(sorted(results)) if results[table] is not None and i % 3 == 2]
    lines = []
    for title, tables in ((f"all {len(kept)} tables with numbers", kept), (f"the {len(aside)} set aside", aside)):
        lines += [f"## Log loss on {title}", "", "| classifier | " + " | ".join(ENCODERS) + " | modl / quantile |"]
        lines += ["| --- |" + " --- |" * (len(ENCODERS) + 1)]
        for one in CLASSIFIERS:
            means = {name: mean(tables, one, name) for name in ENCODERS}
            shown = " | ".join(f"{value:.4f}" for value in means.values())
            lines.append(f"| {one} | {shown} | {means['modl'] / means['quantile']:.3f} |")
        lines.append("")
    lines += ["## Cut points of all rows", "", ABOUT_FLATTERY, "", "| classifier | " + " | ".join(ENCODERS) + " |"]
    lines += ["| --- |" + " --- |" * len(ENCODERS)]
    for one in FLATTERED:
        flattery = [mean(kept, one, name, "all rows") - mean(kept, one, name) for name in ENCODERS]
        lines.append(f"| {one} | " + " | ".join(f"{value:+.4f}" for value in flattery) + " |")
    ratios = [mean(kept, "AdditiveBN", name) / mean(kept, "AODE", name) for name in ENCODERS]
    lines.append("| AdditiveBN / AODE | " + " | ".join(f"{value:.3f}" for value in ratios) + " |")
    return [*lines, "", ABOUT_WEIGHTS]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, action="append", required=True, help="a folder of CSV files")
    given = parser.parse_args()
    times = fit_times()
    paths = table_paths(given.data)
    with ProcessPoolExecutor(2) as pool:
        results = dict(zip(paths, pool.map(measure, paths.values()), strict=True))
    lines = ["# Cut points of numbers", "", *machine(HOW), *lines_of(results), "", "## Time", ""]
    shown = ", ".join(f"{name} {seconds(time)}" for name, time in times.items())
    lines += [f"Fitting TAN to 1,000,000 rows of 30 numbers, one thread: {shown}, "]
    lines[-1] += f"a ratio of {times['modl'] / times['quantile']:.2f}."
    (HERE / "results" / "bins.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
