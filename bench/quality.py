"""Compare the probabilities of EvidenceBN and EnsembleBN with those of other programs on folders of real tables.

python -m bench.quality --data DIR [--data DIR] writes bench/results/quality.md and quality.svg. Each table is a CSV
file with a column named "class". Results of single tables are kept in --cache, so that an interrupted run goes on where
it was; the peers run in the environment that `make peers` creates. `--only-report` runs nothing and writes the page.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from bench.tables import machine
from tanbark.evaluate.plots import critical_difference_diagram
from tanbark.evaluate.significance import critical_difference

HERE = Path(__file__).parent
PEERS_PYTHON = HERE / ".peers" / "quality" / "bin" / "python"
MAX_ROWS = 5000
HOW = (
    f"Stratified 5-fold cross-validation, the same folds for all, at most {MAX_ROWS:,} rows of each table. Log losses "
    "are in nats, clipped at 1e-6. Every program runs with its defaults, except that the random forest has 200 trees, "
    "logistic regression at most 500 iterations, Khiops 10 trees, and naive Bayes 5 bins. The calibration error is the "
    "expected one, with ten bins of confidence. `make bench-quality DATA='DIR DIR'` repeats the run."
)
NAMES = {
    "nb": "naive Bayes (scikit-learn)",
    "logreg": "logistic regression",
    "rf": "random forest",
    "histgb": "HistGradientBoosting",
    "lgbm": "LightGBM",
    "catboost": "CatBoost",
    "ebm": "EBM",
    "khiops": "Khiops",
    "tb:EvidenceBN": "EvidenceBN",
    "tb:EnsembleBN": "EnsembleBN",
}
FIELD = ("logreg", "rf", "histgb", "lgbm", "nb")
"""The peers that run on every table."""
OWN = ("tb:EvidenceBN", "tb:EnsembleBN")
NAMED_TABLES = 20
"""CatBoost and Khiops run on the tables whose names have the least SHA-256 digests."""
EBM_TABLES, EBM_ROWS = 8, 2000
LARGE_TABLES = (
    *("online_shoppers", "heloc", "phishing_websites", "dry_bean"),
    *("electricity", "vehicle_coupon", "jungle_chess", "credit_card_default"),
)
"""Tables of 10,000 to 45,000 rows that are also used whole."""


def digest(name):
    return hashlib.sha256(name.encode()).hexdigest()


def set_aside(name):
    """Return whether a table was set aside while EvidenceBN and EnsembleBN were developed: a third of all."""
    return int(digest(name), 16) % 3 == 0


def table_paths(folders):
    """Return the tables by name."""
    paths = [path for folder in folders for path in folder.glob("*.csv*") if "MANIFEST" not in path.name]
    return {path.name.split(".")[0]: path for path in sorted(paths, key=lambda path: path.name)}


def rows_of(path):
    """Return the number of rows of a table."""
    import pandas as pd

    return len(pd.read_csv(path, usecols=["class"]))


# Running


def run(cache, folders, models, tables=None, max_rows=MAX_ROWS):
    """Cross-validate classifiers, each in its environment."""
    for model in models:
        python = sys.executable if model.startswith("tb:") else PEERS_PYTHON
        if not Path(python).exists():
            print(f"{model} skipped: run `make peers` first", file=sys.stderr)
            continue
        command = [python, HERE / "quality_folds.py", cache, *folders, "--models", model, "--max-rows", str(max_rows)]
        command += ["--tables", ",".join(tables)] if tables else []
        # Khiops looks for its program on the path.
        path = f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(command, check=True, env={**os.environ, "PATH": path, "KHIOPS_PROC_NUMBER": "1"})


def run_all(cache, folders, named, ebm):
    """Run everything that the page shows."""
    run(cache, folders, (*FIELD, *OWN))
    run(cache, folders, ("catboost", "khiops"), named)
    run(cache, folders, ("ebm",), ebm)
    run(cache / "whole", folders, ("lgbm", *OWN), LARGE_TABLES, max_rows=1_000_000)


# Results


class Results:
    """The results of some classifiers on the tables that all of them have finished."""

    def __init__(self, cache, models, tables):
        found, self.failed = {}, {}
        for table in tables:
            files = {model: cache / table / f"{model.replace(':', '-')}.npz" for model in models}
            if all(file.exists() for file in files.values()):
                loaded = {model: dict(np.load(file)) for model, file in files.items()}
                failed = [NAMES[model] for model, one in loaded.items() if not np.isfinite(one["losses"]).all()]
                if failed:
                    self.failed[table] = failed
                else:
                    found[table] = loaded
        self.models = models
        self.tables = list(found)
        self.found = found
        self.losses = np.array([[found[t][m]["losses"].mean() for m in models] for t in self.tables])
        self.errors = np.array([[float(found[t][m]["error"]) for m in models] for t in self.tables])
        self.calibration = np.array([[float(found[t][m]["calibration"]) for m in models] for t in self.tables])

    @property
    def ranks(self):
        """The mean rank of each classifier by log loss; ties share ranks."""
        from scipy.stats import rankdata

        return rankdata(self.losses, axis=1).mean(axis=0)

    def markdown(self):
        """Return a table of means and ranks, best first."""
        lines = ["| | log loss | error | calibration error | mean rank by log loss |", "| --- " * 5 + "|"]
        means = [values.mean(axis=0) for values in (self.losses, self.errors, self.calibration)]
        for m in np.argsort(self.ranks, kind="stable"):
            loss, error, calibration = (mean[m] for mean in means)
            figures = f"{loss:.4f} | {error:.4f} | {calibration:.4f} | {self.ranks[m]:.2f}"
            lines.append(f"| {NAMES[self.models[m]]} | {figures} |")
        return lines

    def left_out(self):
        """Return Markdown lines that name the tables on which a classifier failed."""
        if not self.failed:
            return []
        tables = ", ".join(f"{table} ({', '.join(failed)})" for table, failed in self.failed.items())
        return [f"Left out are tables on which a program fails: {tables}.", ""]

    def worse_than(self, own, peer):
        """Return the tables on which a classifier has a log loss more than one standard error above that of a peer."""
        found = []
        for table in self.tables:
            difference = self.found[table][own]["losses"] - self.found[table][peer]["losses"]
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            if difference.mean() > error:
                found.append(f"{table} (+{difference.mean():.3f} ± {error:.3f})")
        return found


def page(cache, tables, named, ebm, picture):
    """Return the lines of the page, and write the critical-difference picture."""
    lines = ["# Predictive quality", "", *machine(HOW)]
    for own in OWN:
        everywhere = Results(cache, (*FIELD, own), tables)
        lines += [f"## {NAMES[own]} on {len(everywhere.tables)} tables", "", *everywhere.markdown(), ""]
        lines += everywhere.left_out()
        worse = everywhere.worse_than(own, "lgbm")
        lines += [f"More than a standard error behind LightGBM on {len(worse)} tables: {', '.join(worse)}.", ""]
        aside = Results(cache, (*FIELD, own), [table for table in tables if set_aside(table)])
        lines += [f"On the {len(aside.tables)} of these that were set aside during development:", ""]
        lines += [*aside.markdown(), ""]
    everyone = Results(cache, (*FIELD, *OWN), tables)
    if everyone.tables:
        difference = critical_difference(len(everyone.models), len(everyone.tables))
        names = [NAMES[model] for model in everyone.models]
        picture.write_text(critical_difference_diagram(names, everyone.ranks, difference))
        lines += [f"## All on {len(everyone.tables)} tables", "", *everyone.markdown(), ""]
        lines += [f"![Mean ranks and the critical difference]({picture.name})", ""]
    for title, peers, chosen in (
        ("CatBoost", (*FIELD, "catboost"), named),
        ("Khiops", (*FIELD, "khiops"), named),
        ("EBM", ("ebm", "lgbm", "logreg"), ebm),
    ):
        found = Results(cache, (*peers, *OWN), chosen)
        if not found.tables:
            lines += [f"## With {title}", "", "Not measured yet.", ""]
            continue
        lines += [
            f"## With {title} on {len(found.tables)} tables",
            "",
            ", ".join(found.tables),
            "",
            *found.markdown(),
            "",
            *found.left_out(),
        ]
    lines += whole_tables(cache / "whole")
    lines += ["## Every table", "", *every_table(everyone)]
    return lines


def whole_tables(cache):
    """Return the part about large tables."""
    models = ("lgbm", *OWN)
    found = Results(cache, models, LARGE_TABLES)
    if not found.tables:
        return ["## Large tables, used whole", "", "Not measured yet.", ""]
    lines = ["## Large tables, used whole", "", "Log loss.", ""]
    lines += ["| table | rows | " + " | ".join(NAMES[m] for m in models) + " |", "| --- " * (2 + len(models)) + "|"]
    for t, table in enumerate(found.tables):
        cells = [f"{found.losses[t, m]:.4f}" for m in range(len(models))]
        lines.append(f"| {table} | {int(found.found[table]['lgbm']['shape'][0]):,} | {' | '.join(cells)} |")
    return [*lines, ""]


def every_table(found):
    """Return the log loss of every classifier on every table; tables that were set aside are marked."""
    lines = ["Log loss; tables marked with * were set aside during development.", ""]
    lines += ["| table | rows | attributes | classes | " + " | ".join(NAMES[m] for m in found.models) + " |"]
    lines += ["| --- " * (4 + len(found.models)) + "|"]
    for t, table in enumerate(found.tables):
        rows, attributes, classes = found.found[table][found.models[0]]["shape"]
        best = found.losses[t].min()
        cells = [f"**{loss:.4f}**" if loss == best else f"{loss:.4f}" for loss in found.losses[t]]
        name = f"{table} *" if set_aside(table) else table
        lines.append(f"| {name} | {rows} | {attributes} | {classes} | {' | '.join(cells)} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True, help="a folder of CSV files; repeatable")
    parser.add_argument("--cache", type=Path, default=HERE / ".quality", help="where results of single tables are kept")
    parser.add_argument("--only-report", action="store_true", help="write the page from the results that are there")
    given = parser.parse_args()
    paths = table_paths(given.data)
    named = sorted(paths, key=digest)[:NAMED_TABLES]
    small = [name for name in sorted(paths, key=digest) if rows_of(paths[name]) <= EBM_ROWS]
    if not given.only_report:
        run_all(given.cache, given.data, named, small[:EBM_TABLES])
    out = HERE / "results" / "quality.md"
    lines = page(given.cache, list(paths), named, small[:EBM_TABLES], out.with_suffix(".svg"))
    out.write_text("\n".join(lines) + "\n")
    print(f"{out} written")


if __name__ == "__main__":
    main()
