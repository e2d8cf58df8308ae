"""Measure what each ingredient of EvidenceBN and EnsembleBN contributes: python -m bench.ablation --data DIR.

Each variant lacks or replaces one ingredient. It is cross-validated on the tables of bench.quality that were not set
aside, with at most --max-rows rows of each. Finished tables are kept in --cache. Writes bench/results/ablation.md.
"""

import argparse
import time
import warnings
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from bench.quality import HERE, set_aside, table_paths
from bench.quality_folds import load, run
from bench.tables import machine
from tanbark import Encoder, EnsembleBN, EvidenceBN
from tanbark.classifiers import ensemble_bn, evidence_bn
from tanbark.evidence import back_off_tables, design, penalised_weights, penalty_path
from tanbark.evidence.questions import GRIDS, Questions

HOW = (
    "Stratified 5-fold cross-validation on the tables that were used for development, at most {max_rows:,} rows of "
    "each. Differences are to the whole model, in thousandths of a nat per row, with their standard error over the "
    "tables; a positive one means that the ingredient pays. `worse` and `better` count the tables on which the variant "
    "differs from the whole model by more than one standard error. Missing categories are a level of their own, except "
    "in the part about missing values."
)
MAX_ROWS = 1000
ALMOST_INFINITE = 1e8


def one_grid():
    """Return a patch that learns numbers on one grid of quantiles."""
    learn = Questions.learn
    return patch.object(Questions, "learn", lambda schema, weights: learn(schema, weights, GRIDS[:1]))


def nothing_left_out():
    """Return a patch by which a row is evaluated by tables that contain it."""
    of = back_off_tables.Cells.of

    def with_every_row(*arguments):
        cells, place = of(*arguments)
        return replace(cells, left_out=np.zeros_like(cells.left_out)), place

    return patch.object(design.Cells, "of", with_every_row)


def any_sign():
    """Return a patch by which weights may be negative."""
    create = penalised_weights.Weighting.__init__

    def unbounded(self, *arguments):
        create(self, *arguments)
        self._bounded = 0

    return patch.object(penalised_weights.Weighting, "__init__", unbounded)


def biased_information():
    """Return a patch by which information is not reduced by its expectation under independence."""
    corrected = evidence_bn.corrected_information

    def biased(digits, sizes, classes, weights, n_classes, n_jobs):
        found = corrected(digits, sizes, classes, weights, n_classes, n_jobs)
        levels = np.array(
            [[len(np.unique(digit[(classes == k) & (digit < size - 1)])) for k in range(n_classes)]
             for digit, size in zip(digits, sizes, strict=True)]
        )  # fmt: skip
        freedom = np.maximum(levels - 1, 0)
        both = (freedom @ freedom.T) / 2.0
        np.fill_diagonal(both, np.maximum(levels.max(axis=1) - 1, 0) * (n_classes - 1) / 2)
        return found + both

    return patch.object(evidence_bn, "corrected_information", biased)


def without_member(name):
    """Return a patch that gives a member of the pool no weight."""
    pool_weights = ensemble_bn.pool_weights
    place = {"tables": 0, "tables from evidence": 1, "networks": 2}[name]

    def some(members, *arguments):
        kept = [member for at, member in enumerate(members) if at != place]
        return np.insert(pool_weights(kept, *arguments), place, 0.0)

    return patch.object(ensemble_bn, "pool_weights", some)


def constants(module, **values):
    """Return patches of constants of a module."""
    return [patch.object(module, name, value) for name, value in values.items()]


VARIANTS = {
    "evidence": [
        ("no parents (depth=0)", {"depth": 0}, list),
        ("one parent (depth=1)", {"depth": 1}, list),
        ("three parents (depth=3)", {"depth": 3}, list),
        ("one grid instead of three", {}, lambda: [one_grid()]),
        ("one strength of back-off", {}, lambda: constants(back_off_tables, STRENGTHS=(4.0,))),
        ("rows are not left out", {}, lambda: [nothing_left_out()]),
        ("weights of any sign", {}, lambda: [any_sign()]),
        ("one weight for all attributes", {}, lambda: constants(evidence_bn, WEIGHT_PENALTIES=(ALMOST_INFINITE,))),
        (
            "no corrections",
            {},
            lambda: constants(evidence_bn, CORRECTION_PENALTIES=(ALMOST_INFINITE,), EDGE_PENALTIES=()),
        ),
        ("no lines", {}, lambda: constants(penalised_weights, LINE_SHARE=ALMOST_INFINITE)),
        ("no corrections of edges", {}, lambda: constants(evidence_bn, EDGE_PENALTIES=())),
        ("the best setting alone", {}, lambda: constants(penalty_path, AVERAGING_NATS=1e-3)),
        ("no temperature", {}, lambda: constants(penalty_path, TEMPERATURES=np.ones(1))),
        ("information not corrected", {}, lambda: [biased_information()]),
    ],
    "missing": [("missing values give no evidence", {"encoder": Encoder(missing="marginalize")}, list)],
    "ensemble": [
        (f"no {name}", {}, lambda name=name: [without_member(name)])
        for name in ("tables", "tables from evidence", "networks")
    ],
}
WHOLE = {
    "evidence": ("EvidenceBN", EvidenceBN),
    "missing": ("EvidenceBN on tables with missing values", EvidenceBN),
    "ensemble": ("EnsembleBN", EnsembleBN),
}
FILLED = {"evidence": "nan", "missing": None, "ensemble": "nan"}
"""The level that replaces missing categories, None for none."""


def has_missing_values(path, max_rows):
    """Return whether any value of a table is missing, apart from columns without any value."""
    return bool(load(path, max_rows, None)[0].isna().any(axis=None))


def cross_validate(cache, paths, kind, max_rows):
    """Cross-validate the whole model and its variants on all tables."""
    classifier = WHOLE[kind][1]
    for name, settings, patches in [("whole", {}, list), *VARIANTS[kind]]:
        began = time.monotonic()
        with ExitStack() as stack:
            for one in patches():
                stack.enter_context(one)
            for path in paths:
                run(
                    cache,
                    path,
                    f"{kind} {name}",
                    lambda settings=settings: classifier(n_jobs=2, **settings),
                    max_rows,
                    FILLED[kind],
                )
        print(f"[{kind}: {name}, {time.monotonic() - began:.0f} s]", flush=True)


def lines_of(cache, tables, kind):
    """Return Markdown lines: what is lost without each ingredient."""

    def losses(table, name):
        return np.load(cache / table / f"{kind} {name}.npz")["losses"]

    title, _ = WHOLE[kind]
    whole = np.mean([losses(table, "whole").mean() for table in tables])
    lines = [f"## {title}: {whole:.4f} on {len(tables)} tables", ""]
    lines += ["| variant | difference of the mean log loss | worse | better |", "| --- " * 4 + "|"]
    for name, _, _ in VARIANTS[kind]:
        changes, worse, better = [], 0, 0
        for table in tables:
            difference = losses(table, name) - losses(table, "whole")
            error = difference.std(ddof=1) / np.sqrt(len(difference))
            changes.append(difference.mean())
            worse += difference.mean() > error
            better += difference.mean() < -error
        spread = np.std(changes, ddof=1) / np.sqrt(len(changes))
        lines.append(f"| {name} | {1000 * np.mean(changes):+.1f} ± {1000 * spread:.1f} | {worse} | {better} |")
    return [*lines, ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, action="append", required=True, help="a folder of CSV files; repeatable")
    parser.add_argument("--cache", type=Path, default=HERE / ".quality" / "ablation", help="where results are kept")
    parser.add_argument("--max-rows", type=int, default=MAX_ROWS)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    paths = {name: path for name, path in table_paths(given.data).items() if not set_aside(name)}
    lines = ["# What each ingredient pays", "", *machine(HOW.format(max_rows=given.max_rows))]
    for kind in VARIANTS:
        tables = paths
        if kind == "missing":
            tables = {name: path for name, path in paths.items() if has_missing_values(path, given.max_rows)}
        cross_validate(given.cache, list(tables.values()), kind, given.max_rows)
        lines += lines_of(given.cache, list(tables), kind)
    (HERE / "results" / "ablation.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
