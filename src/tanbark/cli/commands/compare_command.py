"""``tanbark compare``: which classifier to take for a table."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark import __version__
from tanbark.atomic_write import replacing
from tanbark.cli.comparison_page import HEADS, Report, cells, comparison_page
from tanbark.cli.contenders import MOST_SECONDS, known, named, new, sensible
from tanbark.cli.input.fit_from_rows import columns_explained, read_rows
from tanbark.cli.input.input_columns import Columns, files_read, rows_named
from tanbark.cli.input.options import (
    Bins,
    Categorical,
    Data,
    Database,
    From,
    Ignore,
    Json,
    MaxLevels,
    Missing,
    NBins,
    Target,
    completing,
)
from tanbark.cli.output.command_text import (
    advice,
    data_words,
    default_output,
    folders_unread,
    quoted,
    row_numbers,
    typed_options,
)
from tanbark.cli.output.model_text import scores
from tanbark.cli.recommendation import METRIC_WORDS, TEST, Baseline, choose, recommend
from tanbark.cli.terminal.console import CommandError, check_writable, print_json, progress, told
from tanbark.cli.trials import Trials

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from tanbark.evaluate import Comparison

MOST_DRAWN = 3
"""So many of the best are drawn, beside the chosen one and naive Bayes."""
SAME_FOR_FIT = ("kind", "ignore", "categorical", "missing", "bins", "n_bins", "max_levels")


def compare(
    ctx: typer.Context,
    data: Data,
    target: Target = None,
    models: Annotated[
        list[str] | None,
        typer.Option(
            "--models",
            "--model",
            "-m",
            metavar="NAMES",
            help="Which ones, by commas; all for all.",
            show_default="all sensible",
            autocompletion=completing(lambda: (*known(), "all")),
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="PAGE", help="Where to write.", show_default="DATA-comparison.html"),
    ] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            help="What decides: error, log_loss, brier or auc.",
            autocompletion=completing(lambda: METRIC_WORDS),
        ),
    ] = "log_loss",
    folds: Annotated[int, typer.Option(help="Folds of cross-validation.")] = 10,
    repeats: Annotated[int, typer.Option(help="How often the rows are split anew.")] = 1,
    seed: Annotated[int, typer.Option(help="Decides the folds.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="How many processes learn at once.", show_default="all cores")
    ] = None,
    database: Database = None,
    kind: From = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    missing: Missing = None,
    bins: Bins = "quantile",
    n_bins: NBins = 5,
    max_levels: MaxLevels = 255,
    as_json: Json = False,
) -> None:
    """Say which classifier to take for a table, by cross-validation.

    All sensible ones are tried. Those of tanbark compete with a decision tree (cart), a random forest and gradient
    boosting of scikit-learn. The ranking, the recommendation and plots are written to a page too.

    With --json the keys are data, target, rows, columns, classes, by, folds, repeats, seed, ranking (from the best:
    name, p_value of the difference from the best, fit_seconds, predict_seconds, and the mean and standard_error of
    error, log_loss, brier, auc and calibration_error), failures (why, by name), chosen (null if none is worth it),
    recommendation (sentences), fit (the command that learns the chosen one), page and notes.
    """
    by = by.replace("-", "_")
    if by not in METRIC_WORDS:
        raise CommandError(f"--by must be one of {', '.join(METRIC_WORDS)}, got {by!r}")
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1), ("seed", seed, 0)):
        if value < least:
            raise CommandError(f"--{name} must be at least {least}, got {value}")
    if jobs is not None and jobs < 1:
        raise CommandError(f"--jobs must be at least 1, got {jobs}")
    source = rows_named(data, database, missing, kind, categorical or [])
    path = output or default_output(source, "-comparison.html")
    check_writable(path, files_read(source))
    with progress() as bar:
        task = bar.add_task("starting", total=None, detail="")
        names = named(models or [])
        columns = Columns.of(source, target, ignore or [], categorical or [], bins, n_bins, max_levels)
        bar.remove_task(task)
        table = read_rows(source, None, bar)
        assert table is not None
        for task in bar.task_ids:
            bar.remove_task(task)
        began = time.monotonic()
        X, y = columns.split(table)
        encoder = columns.encoder_of(X)
        with columns_explained(source):
            baseline, of_columns = _baseline(encoder, X, y)
        slow: list[str] = []
        if not names:
            names, slow = sensible(*X.shape)
        trials = Trials(new(names, encoder), X, y, folds, repeats, seed, jobs, bar)
        found, of_models = trials.compare()
        if not found:
            raise CommandError(f"no classifier could learn from {source.name}: {next(iter(found.failures.values()))}")
        if all(result.mean(by) != result.mean(by) for result in found.values()):
            raise CommandError(f"no fold has rows of several classes, so there is no {by}; use fewer --folds")
        shown = _shown(found, by)
        curve, of_curve = trials.curve(shown, found)
        recommendation = recommend(found, curve, by, baseline)
        words = data_words(data, database)
        fit = f"tanbark fit {words} --target {quoted(columns.target)} --model {recommendation.chosen}"
        report = Report(
            source.name,
            "a query" if database else Path(source.name).name,
            columns.target,
            {
                "rows": f"{X.num_rows:,}",
                "columns": f"{X.num_columns:,}",
                "classes": f"{len(found[shown[0]].classes):,}",
                "cross-validation": f"{folds} folds, stratified" + (f", {repeats} times" if repeats > 1 else ""),
                "seed": str(seed),
                "time": f"{time.monotonic() - began:.0f} s",
                "version": f"tanbark {__version__}",
            },
            by,
            found,
            curve,
            shown,
            recommendation,
            [*_notes(of_columns, [*of_models, *of_curve]), *row_numbers(X), *folders_unread(source), *_left_out(slow)],
            f"tanbark compare {words}{typed_options(ctx)}",
            f"{fit}{typed_options(ctx, SAME_FOR_FIT)}" if recommendation.chosen else None,
        )
        with replacing(path) as file:
            file.write(comparison_page(report).encode())
    _print(told(as_json), report, path)
    if as_json:
        split = {"folds": folds, "repeats": repeats, "seed": seed}
        print_json({"data": source.name, "target": columns.target, **split, **_document(report, X), "page": str(path)})


def _baseline(encoder: Any, X: Any, y: Any) -> tuple[Baseline, list[str]]:
    """Return what needs no classifier, and what there is to note of the columns."""
    import numpy as np
    from sklearn.base import clone

    from tanbark.schema.read.class_column import read_target

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(encoder).fit(X, y)
    target = read_target(y)
    counts = np.bincount(target.codes[target.codes >= 0])
    shares = counts / counts.sum()
    most = int(counts.argmax())
    entropy = -float(shares @ np.log(np.maximum(shares, np.finfo(np.float64).tiny)))
    baseline = Baseline(str(target.labels.tolist()[most]), float(shares[most]), entropy)
    return baseline, [str(warning.message) for warning in caught]


def _notes(of_columns: Sequence[str], of_models: Sequence[str]) -> list[str]:
    """Return what there is to note, each once: of a column that was noted before, a classifier need not say it again.

    What else could be set is left to `tanbark fit`.

    >>> _notes(["column 'x' is odd"], ["rows are few", "tan: column 'x' is odder", "k2: it climbs; use search='exact'"])
    ["column 'x' is odd", 'rows are few', 'k2: it climbs']
    """
    known = [re.findall(r"column '.*?'", note) for note in of_columns]
    told = {column for columns in known for column in columns}
    rest = [re.split(r"; (?:use )?search=", note)[0] for note in of_models if not any(c in note for c in told)]
    return list(dict.fromkeys(map(advice, [*of_columns, *rest])))


def _shown(found: Comparison, by: str) -> list[str]:
    """Return which classifiers are drawn: the best, the chosen one and naive Bayes, from best to worst."""
    ranking = found.ranking(by)
    wanted = {*(rank.name for rank in ranking[:MOST_DRAWN]), choose(ranking), "naive-bayes"}
    return [rank.name for rank in ranking if rank.name in wanted]


def _document(report: Report, X: Any) -> dict[str, Any]:
    """Return what was found, for a script."""
    ranking = report.found.ranking(report.by)
    return {
        "rows": X.num_rows,
        "columns": X.num_columns,
        "classes": report.found[ranking[0].name].classes,
        "by": report.by,
        "ranking": [
            {"name": rank.name, "p_value": rank.p_value, **scores(report.found[rank.name])} for rank in ranking
        ],
        "failures": report.found.failures,
        "chosen": report.recommendation.chosen,
        "recommendation": report.recommendation.sentences,
        "fit": report.go_on,
        "notes": report.notes,
    }


def _left_out(slow: Sequence[str]) -> list[str]:
    if not slow:
        return []
    are = "is" if len(slow) == 1 else "are"
    return [
        f"{', '.join(slow)} {are} left out, as more than {MOST_SECONDS:.0f} s in each fold are to be expected; "
        "--models all tries all"
    ]


def _print(console: Console, report: Report, path: Path) -> None:
    from rich.text import Text

    console.print(Text.assemble((report.data, "bold"), f": {report.summary}"))
    shown = _ranked(report, " ±")
    wide = console.options.update(max_width=1000)
    if console.measure(shown, options=wide).maximum > console.width:
        shown = _ranked(report, "\n±")
    console.print(shown)
    folds = report.facts["cross-validation"]
    console.print(f"By {METRIC_WORDS[report.by]}; {folds}; p of the difference from the best ({TEST}).", style="dim")
    for name, why in report.found.failures.items():
        console.print(f"{name} failed: {advice(why)}", style="red")
    for note in report.notes:
        console.print(f"note: {note}", style="yellow")
    console.print()
    for words in report.recommendation.sentences:
        console.print(words)
    console.print()
    console.print(f"Written to {path}, with plots." + (" What to try next:" if report.go_on else ""), soft_wrap=True)
    if report.go_on:
        console.print(f"  {report.go_on}", style="cyan", soft_wrap=True)


def _ranked(report: Report, apart: str) -> Table:
    """Return the ranked table: the best in green, what cannot be told from it plain, the others dim."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for at, head in enumerate(HEADS):
        shown.add_column("\n".join(head.replace("calibration", "calibr.").split()), justify="right" if at else "left")
    styles = {"best": "bold green", "": "", "faint": "dim"}
    for line, look in zip(cells(report.found, report.by, apart), report.looks):
        shown.add_row(*(Text(word) for word in line), style=styles[look])
    return shown
