"""Compare hill climbing with pgmpy's, and measure the classifiers that search greedily.

python -m bench.greedy [--data DIR] [--quick] writes bench/results/greedy.md; without --data only hill climbing.
"""

import json
import subprocess
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold, cross_val_score

from bench.__main__ import write
from bench.tables import best, data_and_quick, machine, random_network, seconds
from tanbark import BNC2P, K2, TAN, Encoder, NaiveBayes
from tanbark.counts import Rows
from tanbark.datasets import read_folder
from tanbark.network import Structure
from tanbark.scores import BDeu, Cases
from tanbark.structure import Restrictions, hill_climb

HERE = Path(__file__).parent
HOW = "All figures are from the same run, one program at a time, the best of several repetitions."


def pgmpy(X, y, max_seconds):
    """Return the seconds and the structure of pgmpy's hill climbing, or None and the reason why there is none."""
    python = HERE / ".peers" / "pgmpy" / "bin" / "python"
    if not python.exists():
        return None, "no environment bench/.peers/pgmpy"
    with tempfile.TemporaryDirectory() as folder:
        command = [python, HERE / "peers" / "pgmpy_climb.py", "--data", write(folder, X, y, X[:1]), "--repeat", "1"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max_seconds, check=False)
        except subprocess.TimeoutExpired:
            return None, f"not finished after {max_seconds} s"
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1]
    figures = json.loads(done.stdout.splitlines()[-1])
    parents = [[] for _ in range(X.shape[1] + 1)]
    for parent, child in figures["edges"]:
        parents[child].append(parent)
    return figures["fit_seconds"], Structure(tuple(tuple(sorted(node_parents)) for node_parents in parents))


def climbs(rows, attributes, max_seconds):
    """Return Markdown lines: hill climbing on a random network, compared with pgmpy."""
    X, y = random_network(rows, attributes)
    schema = Encoder(categorical="all").fit(X, y).schema_
    cases = Cases.of(Rows(schema, schema.encode(X), schema.encode_target(y)))
    names = [*schema.names, schema.class_name]
    restrictions = Restrictions.of(names)
    score = BDeu(1.0)
    lines = [f"| {rows:,} rows x {attributes + 1} nodes x 4 levels, BDeu | time | log score | edges |"]
    lines += ["| --- " * 4 + "|"]
    variants = {
        "tabu 10, two threads": {"n_jobs": 2},
        "tabu 10, one thread": {"n_jobs": 1},
        "plain, one thread": {"tabu": 0, "n_jobs": 1},
        "tabu 10 and ten restarts, two threads": {"restarts": 10, "n_jobs": 2},
    }
    for name, settings in variants.items():
        climb = partial(hill_climb, cases, score, restrictions, **settings)
        found = climb()
        lines.append(f"| hill_climb, {name} | {seconds(best(climb))} | {score_and_edges(score, cases, found)} |")
    taken, theirs = pgmpy(X, y, max_seconds)
    figures = f"{seconds(taken)} | {score_and_edges(score, cases, theirs)}" if taken else f"{theirs} | |"
    return [*lines, f"| pgmpy HillClimbSearch | {figures} |", ""]


def score_and_edges(score, cases, structure):
    return f"{score.total(cases, structure):,.2f} | {sum(map(len, structure.parents))}"


def letters(folder):
    """Return Markdown lines: the letter table, discretised at the medians as in Sugahara, Uto and Ueno (2018)."""
    data = read_folder(folder)["letter"]
    X, y = data.table.to_pandas(), np.array(data.labels.to_pylist())
    encoder = Encoder(bins="quantile", n_bins=2, categorical=[])
    table = f"letter, {len(y):,} rows x 16 columns discretised at the median x 26 classes"
    lines = [f"| {table} | fit | log P(class) | accuracy |", "| --- " * 4 + "|"]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    for model in (NaiveBayes(), TAN(ess=1.0), K2(), BNC2P()):
        model.set_params(encoder=encoder, n_jobs=2).fit(X, y)
        of_class = model.predict_log_proba(X)[np.arange(len(y)), np.searchsorted(model.classes_, y)].sum()
        accuracy = cross_val_score(model, X, y, cv=folds).mean()
        fit = best(partial(model.fit, X, y))
        lines.append(f"| {type(model).__name__} | {seconds(fit)} | {of_class:,.1f} | {accuracy:.4f} |")
    return [*lines, ""]


def main():
    options = data_and_quick(__doc__)
    lines = ["# Greedy searches", "", *machine(HOW), "## Hill climbing", ""]
    lines += climbs(20_000, 14, 600)
    if not options.quick:
        lines += climbs(100_000, 29, 1200)
    if options.data:
        lines += ["## Classifiers", "", *letters(options.data)]
    (HERE / "results" / "greedy.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
