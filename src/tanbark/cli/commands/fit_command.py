"""``tanbark fit``: learn a classifier from a file."""

from __future__ import annotations

import json
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.file_lock import alone, was_updated
from tanbark.cli.input.fit_from_rows import Assignment, Learned, learn
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
    model_names,
)
from tanbark.cli.input.stdin import STDIN
from tanbark.cli.output.command_text import advice, data_words, default_output, first_file, folders_unread, quoted
from tanbark.cli.output.model_text import described, print_structure, score_words, scores
from tanbark.cli.terminal.console import CommandError, check_writable, out, percent, print_json, progress, told
from tanbark.sources import Source

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.evaluate import CrossValidation

FOLDS = 5
MOST_ROWS_TO_VALIDATE = 100_000
MOST_CELLS_TO_VALIDATE = 20_000_000
LONG_TO_VALIDATE = 10.0
PATIENCE = 60.0
"""So many seconds a running update of the model that is to be replaced is waited for."""
MOST_NODES_TO_DRAW = 40


def _list_models(wanted: bool) -> None:
    if not wanted:
        return
    from rich.table import Table

    from tanbark.classifiers.registry import REGISTRY

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for entry in REGISTRY.values():
        table.add_row(entry.name, f"{entry.summary} ({entry.paper})")
    out().print(table)
    raise typer.Exit


def fit(
    data: Data,
    target: Target = None,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="Which classifier; --list-models names all.",
            autocompletion=completing(model_names),
        ),
    ] = "tan",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to write.", show_default="DATA.tanbark"),
    ] = None,
    database: Database = None,
    kind: From = None,
    ignore: Ignore = None,
    categorical: Categorical = None,
    missing: Missing = None,
    bins: Bins = "quantile",
    n_bins: NBins = 5,
    max_levels: MaxLevels = 255,
    ess: Annotated[float | None, typer.Option(help="Weight of the prior, in rows.", show_default="the model's")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model. Repeatable.")
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(metavar="FOLDS", help="Folds of cross-validation, 0 for none.", show_default="5, if it is quick"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="PAGE", help="Also write a page about the model: one HTML file.")
    ] = None,
    as_json: Json = False,
    list_models: Annotated[
        bool, typer.Option("--list-models", help="Name them and exit.", is_eager=True, callback=_list_models)
    ] = False,
) -> None:
    """Learn a classifier from a table and write it to a file.

    Rows too many for the memory are read more than once and counted as they go by, where counts suffice to learn the
    model.

    With --json the keys are those of tanbark show, and data, seconds, notes and cross_validation (folds, and
    the mean and standard_error of error, log_loss, brier, auc and calibration_error; null if there was none).
    """
    if cv is not None and cv != 0 and cv < 2:
        raise CommandError(f"--cv needs at least 2 folds, or 0 for none, got {cv}")
    source = rows_named(data, database, missing, kind, categorical or [])
    path = output or default_output(source, ".tanbark")
    check_writable(path, files_read(source))
    if report is not None:
        check_writable(report, [path, *files_read(source)])
    with progress() as bar:
        bar.add_task("starting", total=None, detail="")
        settings = _settings(model, ess, setting)
        columns = Columns.of(source, target, ignore or [], categorical or [], bins, n_bins, max_levels)
        bar.remove_task(bar.task_ids[0])
        assignment = Assignment(model, settings, columns)
        learned = learn(assignment, source, bool(cv), bar)
    fitted = learned.model

    from tanbark.files import save

    # An update that has read the old model would overwrite this one.
    with alone(path, PATIENCE) if was_updated(path) else nullcontext():
        save(fitted.set_params(n_jobs=None), path)
    console = told(as_json)
    _summarise(console, source, learned, columns)
    notes = [advice(note) for note in [*learned.notes, *folders_unread(source)]]
    for note in notes:
        console.print(f"note: {note}", style="yellow")
    validated = _validate(console, assignment, learned, cv)
    if report is not None:
        _write_report(report, learned, validated)
    if as_json:
        told_script = {"file": str(path), "data": source.name, "seconds": learned.seconds, "notes": notes}
        found = None if validated is None else {"folds": len(validated.folds), **scores(validated)}
        print_json({**described(fitted), **told_script, "cross_validation": found})
        return
    edges = fitted.network_.edges if hasattr(fitted, "network_") else len(fitted.schema_.columns) > 1
    if edges and len(fitted.schema_.columns) <= MOST_NODES_TO_DRAW:
        console.print()
        print_structure(console, fitted)
    console.print()
    if report is not None:
        console.print(f"A page about it: {report} ({_size(report)}).", soft_wrap=True)
    console.print(f"Written to {path} ({_size(path)}). What to try next:", soft_wrap=True)
    console.print(f"  tanbark show {quoted(path)}", style="cyan", soft_wrap=True)
    if report is None:
        console.print(f"  tanbark report {quoted(path)}", style="cyan", soft_wrap=True)
    again = data_words(data, database) if database or data == STDIN else quoted(first_file(source) or data)
    console.print(f"  tanbark predict {quoted(path)} {again} -o predictions.csv", style="cyan", soft_wrap=True)
    if model == "tan":
        other = f"tanbark fit {data_words(data, database)} --target {quoted(columns.target)} --model averaged-tan"
        console.print(f"  {other} -o other.tanbark", style="cyan", soft_wrap=True)


# Options


def _settings(model: str, ess: float | None, given: list[str] | None) -> dict[str, Any]:
    """Return the settings of a model, whose names and values are checked."""
    from tanbark.classifiers.registry import REGISTRY

    if model not in REGISTRY:
        raise CommandError(f"there is no model {model!r}; the models are {', '.join(REGISTRY)}")
    settings: dict[str, Any] = {} if ess is None else {"ess": ess}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator:
            raise CommandError(f"--set wants NAME=VALUE, got {text!r}")
        try:
            plain = {"true": "true", "false": "false", "none": "null"}.get(value.lower(), value)
            settings[name.strip()] = json.loads(plain)
        except ValueError:
            settings[name.strip()] = value
    known = REGISTRY[model].classifier().get_params(deep=False)
    allowed = [name for name in known if name not in ("encoder", "n_jobs", "prior")]
    for name in settings:
        if name not in allowed:
            raise CommandError(f"the model {model!r} has no setting {name!r}; it has {', '.join(allowed)}")
    return settings


# What a person reads


def _summarise(console: Console, source: Source, learned: Learned, columns: Columns) -> None:
    from rich.table import Table
    from rich.text import Text

    from tanbark.schema import Category, Number

    model = learned.model
    schema = model.schema_
    counts = model.counts_.class_counts
    shares = [f"{label} {percent(count / counts.sum())}" for label, count in zip(schema.classes, counts)]
    shown = ", ".join(shares[:10]) + (f" and {len(shares) - 10} more" if len(shares) > 10 else "")
    categories = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Category)]
    numbers = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Number)]
    present = [model.counts_.value(u).sum() / counts.sum() for u in range(len(schema.columns))]
    holes = [f"{name} {percent(1 - share)}" for name, share in zip(schema.names, present) if share < 1]
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    console.print(Text.assemble((source.name, "bold"), f": {learned.rows:,} rows, {len(source.schema)} columns"))
    grid.add_row("class", Text.assemble((columns.target, "bold"), f": {shown}"))
    if categories:
        grid.add_row("categories", f"{', '.join(categories)}")
    if numbers:
        grid.add_row("numbers", f"{', '.join(numbers)}")
    if columns.ignore:
        grid.add_row("ignored", ", ".join(columns.ignore))
    if holes:
        grid.add_row("missing", ", ".join(holes))
    if hasattr(model, "log_score_"):
        grid.add_row("log score", score_words(model))
    console.print(grid)
    if len(schema.classes) == 1:
        console.print(
            f"note: every row is of the class {schema.classes[0]!r}, so there is nothing to tell apart", style="yellow"
        )


def _validate(console: Console, assignment: Assignment, learned: Learned, folds: int | None) -> CrossValidation | None:
    """Print and return how well the model predicts, where that can be found out in reasonable time."""
    from rich.text import Text

    from tanbark.evaluate import cross_validate

    fitted = learned.model
    rows = int(fitted.counts_.class_counts.sum())
    if folds == 0 or len(fitted.classes_) < 2:
        return None
    if folds is None:
        large = rows > MOST_ROWS_TO_VALIDATE or fitted.counts_.table.size > MOST_CELLS_TO_VALIDATE
        if learned.X is None or (large and learned.seconds <= LONG_TO_VALIDATE):
            console.print(f"A large table, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
            return None
        if learned.seconds > LONG_TO_VALIDATE:
            took = f"{learned.seconds:.0f} s"
            console.print(f"Learning took {took}, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
            return None
        folds = FOLDS
    if rows < folds:
        console.print(f"note: {rows} rows are too few for a {folds}-fold cross-validation", style="yellow")
        return None
    with progress() as bar:
        task = bar.add_task("cross-validating", total=folds, detail="")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = cross_validate(
                assignment.new(learned.encoder),
                learned.X,
                learned.y,
                folds=folds,
                progress=lambda _, done, total: bar.update(task, completed=done, total=total),
            )
    commonest = int(fitted.counts_.class_counts.argmax())
    share = fitted.counts_.class_counts[commonest] / rows
    console.print()
    console.print(
        Text.assemble(
            "accuracy ",
            (percent(1 - result.mean("error")), "bold green"),
            ", log loss ",
            (f"{result.mean('log_loss'):.3f}", "bold green"),
            f" nats by {folds}-fold cross-validation "
            f"(always {str(fitted.schema_.classes[commonest])!r}: {percent(share)})",
        )
    )
    return result


def _write_report(path: Path, learned: Learned, validated: CrossValidation | None) -> None:
    """Write a page about what was learned, judged by the rows that each fold held out, if there were folds."""
    from tanbark.report.importance import mean_weights
    from tanbark.report.performance import Judgement
    from tanbark.report.report import write_page

    model = learned.model
    judgement = None
    if validated is not None:
        where = f"On the rows that each of {len(validated.folds)} folds of a cross-validation held out."
        judgement = Judgement(validated, where)
    weights = None if learned.X is None else mean_weights(model, model.encode(learned.X))
    write_page(model, path, judgement, weights)


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 1):.0f} kB"
