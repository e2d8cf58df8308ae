"""Test whether the concentration of the posterior over trees predicts the gain of averaging.

python -m bench.concentration --data DIR runs ten-fold cross-validation on every table of a folder and writes
bench/results/concentration.md: `concentration_`, the gain in log loss of averaging over the single most probable tree,
and the rank correlation of the two.
"""

import argparse
import itertools
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
from joblib import Parallel, delayed
from scipy.stats import spearmanr
from sklearn.model_selection import StratifiedKFold

from bench.tables import machine
from tanbark import TAN, AveragedTAN
from tanbark.datasets import read_folder

HERE = Path(__file__).parent
MIN_ROWS, MAX_ROWS = 100, 50_000
MAX_COLUMNS = 60
SHARES = (0.1, 1.0)


def neighbourhood(posterior):
    """Return the probability of the best tree and of all trees that differ from it in one edge.

    The tree with edge f in place of edge e, on the path between the ends of f, is w_f / w_e times as probable.
    """
    log_probability, tree = posterior.best(1)[0]
    weights = posterior.log_weights
    graph = nx.Graph(tree.tolist())
    mass = 1.0
    for u in range(len(weights)):
        for v, path in nx.single_source_shortest_path(graph, u).items() if graph else ():
            if v < u and len(path) > 2:
                mass += sum(np.exp(weights[u, v] - weights[edge]) for edge in itertools.pairwise(path))
    return min(np.exp(log_probability) * mass, 1.0)


def study(folder, name, share):
    """Return the results of one table: concentration, neighbourhood of the best tree, and log losses of the models."""
    data = read_folder(folder)[name]
    X, y = data.table.to_pandas(), np.array([str(label) for label in data.labels.to_pylist()])
    rows = np.flatnonzero(~np.isin(y, [c for c in np.unique(y) if (y == c).sum() < 10]))
    X, y = X.iloc[rows], y[rows]
    losses, concentrations, neighbourhoods = [], [], []
    for train, test in StratifiedKFold(10, shuffle=True, random_state=0).split(X, y):
        part = np.random.default_rng(0).permutation(train)[: max(int(len(train) * share), 2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            averaged = AveragedTAN().fit(X.iloc[part], y[part])
            models = [averaged, TAN(criterion="bdeu").fit(X.iloc[part], y[part]), TAN().fit(X.iloc[part], y[part])]
            known = np.isin(y[test], averaged.classes_)
            right = np.searchsorted(averaged.classes_, y[test[known]])
            proba = [m.predict_proba(X.iloc[test[known]])[np.arange(known.sum()), right] for m in models]
        losses.append([-np.log(p).mean() for p in proba])
        concentrations.append(averaged.concentration_)
        neighbourhoods.append(neighbourhood(averaged.model_.posteriors[0]))
    losses = np.array(losses)
    return {
        "name": name,
        "rows": len(y),
        "columns": X.shape[1],
        "concentration": float(np.mean(concentrations)),
        "neighbourhood": float(np.mean(neighbourhoods)),
        "losses": losses.mean(axis=0),
        "error": (losses[:, 1] - losses[:, 0]).std(ddof=1) / np.sqrt(10),
    }


def report(share, found):
    """Return Markdown lines: the table of one share of the training data, and the rank correlations."""
    found = sorted(found, key=lambda f: f["concentration"])
    lines = [
        f"## {share:.0%} of the training data",
        "",
        "| table | rows | attributes | concentration_ | best tree and neighbours "
        "| log loss, average | best tree | TAN+MS | gain over the best tree (standard error) |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for f in found:
        average, tree, tan = f["losses"]
        lines.append(
            f"| {f['name']} | {f['rows']:,} | {f['columns']} | {f['concentration']:.3f} | {f['neighbourhood']:.3g} "
            f"| {average:.4f} | {tree:.4f} | {tan:.4f} | {tree - average:+.4f} ({f['error']:.4f}) |"
        )
    lines.append("")
    gains = {
        "gain over the best tree": [f["losses"][1] - f["losses"][0] for f in found],
        "the same relative to its log loss": [(f["losses"][1] - f["losses"][0]) / f["losses"][1] for f in found],
        "gain over TAN+MS": [f["losses"][2] - f["losses"][0] for f in found],
    }
    lines += [
        f"Spearman's rank correlation over {len(found)} tables (p, two-sided):",
        "",
        "| | `concentration_` | probability of the best tree and its neighbours |",
        "| --- | --- | --- |",
    ]
    for label, gain in gains.items():
        shown = []
        for measure in ("concentration", "neighbourhood"):
            result = spearmanr([f[measure] for f in found], gain)
            shown.append(f"{result.statistic:+.2f} ({result.pvalue:.1g})")
        lines.append(f"| {label} | {' | '.join(shown)} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="a folder of CSV files with the class in the last column")
    options = parser.parse_args()
    folder = read_folder(options.data)
    names = [
        name
        for name in folder
        if MIN_ROWS <= folder[name].table.num_rows <= MAX_ROWS and folder[name].table.num_columns <= MAX_COLUMNS
    ]
    how = (
        "Ten-fold cross-validation with five quantile bins. Classes of fewer than ten rows are omitted, and so are "
        "test rows of a class that is not in the training part. The average is `AveragedTAN()`, the best tree is its "
        "most probable one (`TAN(criterion='bdeu')`), and TAN+MS is `TAN()`. Log loss is in nats; a positive gain "
        "means that averaging is better. Another measure next to `concentration_` is the probability of the best tree "
        "and of all trees that differ from it in one edge."
    )
    lines = ["# Concentration of the posterior and gain of averaging", "", *machine(how)]
    for share in SHARES:
        found = Parallel(-1, verbose=5)(delayed(study)(options.data, name, share) for name in names)
        lines += report(share, found)
    target = HERE / "results" / "concentration.md"
    target.write_text("\n".join(lines))
    print(f"written to {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    main()
