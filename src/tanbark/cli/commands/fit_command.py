"""``tanbark fit``: learn a classifier from a file."""

from __future__ import annotations

import json
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.atomic_write import has_lock
from tanbark.cli.input.fit_from_rows import FitRequest, FitResult, fit_source
from tanbark.cli.input.input_columns import Columns, TableOptions, files_read, source_notes
from tanbark.cli.input.options import (
    ROW_OPTIONS,
    TABLE_OPTIONS,
    Bins,
    BinTarget,
    Categorical,
    Cut,
    Data,
    Database,
    Dates,
    DayFirst,
    Decimal,
    Encoding,
    From,
    Group,
    Ignore,
    Json,
    Keep,
    MaxLevels,
    Missing,
    MissingOnly,
    NBins,
    SchemaFile,
    Sheet,
    Target,
    Weight,
    completer,
    model_names,
    named_model,
    output_option,
)
from tanbark.cli.input.stdin import STDIN
from tanbark.cli.input.weights_and_costs import class_weight_setting
from tanbark.cli.output.printed_text import (
    advice,
    baseline_document,
    data_arguments,
    default_output,
    first_file,
    folder_column_notes,
    input_redirection,
    missing_shares,
    model_document,
    print_placeholder,
    print_structure,
    quoted,
    score_text,
    scores,
    typed_options,
)
from tanbark.cli.terminal.console import (
    CommandError,
    check_writable,
    locked,
    out,
    print_json,
    progress,
    summary_console,
)
from tanbark.messages import counted, percent, same_name, suggestion
from tanbark.sources import Source

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.evaluate import CrossValidation

DEFAULT_MODEL = "evidence-bn"
BEST_MODEL = "ensemble-bn"
DEFAULT_FOLDS = 5
MAX_ROWS_TO_VALIDATE = 100_000
MAX_CELLS_TO_VALIDATE = 20_000_000
MAX_FIT_SECONDS_TO_VALIDATE = 10.0
"""Beyond these limits a model is cross-validated only on request."""
LOCK_SECONDS = 60.0
"""How long to wait for a running update of the model that is to be replaced."""
MAX_COLUMNS_TO_DRAW = 40
MAX_CLASSES_LISTED = 10


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
    ctx: typer.Context,
    data: Data,
    target: Target = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="NAME",
            help="The classifier; --list-models lists them all.",
            show_default=DEFAULT_MODEL,
            autocompletion=completer(model_names),
        ),
    ] = None,
    best: Annotated[
        bool,
        typer.Option("--best", help=f"Fit {BEST_MODEL}: the best probabilities, but slower and harder to read."),
    ] = False,
    output: Annotated[Path | None, output_option("MODEL", "The model file to write.", "DATA.tanbark")] = None,
    database: Database = None,
    kind: From = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    ignore: Ignore = None,
    keep: Keep = None,
    categorical: Categorical = None,
    missing: Missing = None,
    missing_only: MissingOnly = None,
    decimal: Decimal = None,
    day_first: DayFirst = False,
    dates: Dates = "expand",
    schema_file: SchemaFile = None,
    group: Group = None,
    weight: Weight = None,
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL=WEIGHT",
            help="A factor for the weights of the rows of a class, repeatable; or balanced: classes weigh the same.",
        ),
    ] = None,
    bins: Bins = "auto",
    n_bins: NBins = None,
    cut: Cut = None,
    max_levels: MaxLevels = 255,
    bin_target: BinTarget = None,
    ess: Annotated[
        float | None, typer.Option(help="Equivalent sample size of the prior, in rows.", show_default="the model's")
    ] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the model. Repeatable.")
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(metavar="FOLDS", help="Cross-validation folds, 0 for none.", show_default="5, if it is quick"),
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="PAGE", help="Also write an HTML page about the model.")
    ] = None,
    as_json: Json = False,
    _list: Annotated[
        bool, typer.Option("--list-models", help="List the classifiers and exit.", is_eager=True, callback=_list_models)
    ] = False,
) -> None:
    """Learn a classifier from a table and write it to a file.

    Without --model it is evidence-bn: one additive model in which the evidence of each column can be read. A table of
    more than 512 MiB is streamed in several passes if the classifier can be learned from counts; without --model or
    --set it then is tan.

    With --json, the keys are those of tanbark show, and data, seconds, notes and cross_validation (folds, the mean and
    standard_error of error, log_loss, brier, auc and calibration_error, and baseline with the class, accuracy and
    log_loss; null without cross-validation).
    """
    if cv is not None and cv != 0 and cv < 2:
        raise CommandError(f"--cv needs at least 2 folds, or 0 for none, got {cv}")
    options = TableOptions(
        target,
        ignore,
        keep,
        categorical,
        missing,
        missing_only,
        decimal,
        day_first,
        dates,
        schema_file,
        group,
        bins,
        n_bins,
        cut,
        max_levels,
        weight,
        bin_target,
    )
    source = options.open(data, database, kind, encoding, sheet)
    found = source_notes(source)
    path = output or default_output(source, ".tanbark")
    check_writable(path, files_read(source))
    if report is not None:
        check_writable(report, [path, *files_read(source)])
    with progress() as bar:
        name = _model_name(model, best)
        settings = _settings(name, ess, setting)
        if class_weight:
            if "class_weight" in settings:
                raise CommandError("--class-weight and --set class_weight both set the weights of classes; use one")
            settings["class_weight"] = class_weight_setting(class_weight)
        columns = Columns.of(source, options)
        # Settings belong to one model, so a user who gives settings has chosen the model.
        request = FitRequest(name, settings, columns, chosen=model is not None or best or bool(setting))
        result = fit_source(request, source, bool(cv), bar)
    fitted = result.model

    from tanbark.classifiers.registry import REGISTRY
    from tanbark.evaluate import leaking_columns
    from tanbark.files import save

    # Without the lock, an update that has read the old model would overwrite this one.
    with locked(path, LOCK_SECONDS, "try again later") if has_lock(path) else nullcontext():
        save(fitted.set_params(n_jobs=None), path)
    console = summary_console(as_json)
    _print_summary(console, source, result, columns)
    leaking = map(str, leaking_columns(result.row_counts))
    notes = [advice(note) for note in [*found, *result.notes, *leaking, *folder_column_notes(source)]]
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    validation = _validate(console, request, result, cv)
    if validation is not None:
        notes += _print_validation(console, validation, weight)
    if report is not None:
        _write_report(report, result, validation, weight)
    if as_json:
        document = {"file": str(path), "data": source.name, "seconds": result.seconds, "notes": notes}
        measured = None if validation is None else _validation_document(validation)
        print_json({**model_document(fitted), **document, "cross_validation": measured})
        return
    is_default = isinstance(fitted, REGISTRY[DEFAULT_MODEL].classifier)
    edges = fitted.network_.edges if hasattr(fitted, "network_") else len(fitted.schema_.columns) > 1
    if edges and (is_default or len(fitted.schema_.columns) <= MAX_COLUMNS_TO_DRAW):
        console.print()
        print_structure(console, fitted)
    console.print()
    if report is not None:
        console.print(f"Report written to {report} ({_size(report)}).", soft_wrap=True)
    console.print(f"Written to {path} ({_size(path)}). What to try next:", soft_wrap=True)
    console.print(f"  tanbark show {quoted(path)}", style="cyan", soft_wrap=True)
    if report is None:
        console.print(f"  tanbark report {quoted(path)}", style="cyan", soft_wrap=True)
    words = data_arguments(data, database)
    redirection = input_redirection(data, kind)
    again = words if database or data == STDIN else quoted(first_file(source) or data)
    predict = f"tanbark predict {quoted(path)} {again} -o predictions.csv{typed_options(ctx, ROW_OPTIONS)}"
    console.print(f"  {predict}{redirection}", style="cyan", soft_wrap=True)
    if is_default and len(fitted.classes_) > 1:
        words += f" --target {quoted(columns.target)}{typed_options(ctx, TABLE_OPTIONS)}"
        console.print(f"  tanbark fit {words} --best -o best.tanbark{redirection}", style="cyan", soft_wrap=True)
    print_placeholder(console, data, kind)


# Options


def _model_name(model: str | None, best: bool) -> str:
    """Return the name of the model to fit. Raise CommandError if it does not exist, or --best is given as well."""
    if best and model is not None:
        raise CommandError(f"--best means --model {BEST_MODEL}; give one of them, got --model {model} as well")
    return BEST_MODEL if best else named_model(model or DEFAULT_MODEL, model_names())


def _settings(model: str, ess: float | None, given: list[str] | None) -> dict[str, Any]:
    """Return the parameters of a model. Raise CommandError if a parameter does not exist."""
    from tanbark.classifiers.registry import REGISTRY

    settings: dict[str, Any] = {} if ess is None else {"ess": ess}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator:
            raise CommandError(f"--set must have the form NAME=VALUE, got {text!r}")
        try:
            plain = {"true": "true", "false": "false", "none": "null"}.get(value.lower(), value)
            settings[name.strip()] = json.loads(plain)
        except ValueError:
            settings[name.strip()] = value
    known = REGISTRY[model].classifier().get_params(deep=False)
    allowed = [name for name in known if name not in ("encoder", "n_jobs", "prior")]
    settings = {same_name(name, allowed) or name: value for name, value in settings.items()}
    for name in settings:
        if name not in allowed:
            instead = suggestion(name, allowed, f"it has {', '.join(allowed)}")
            raise CommandError(f"the model {model!r} has no parameter {name!r}; {instead}")
    return settings


# Output


def _print_summary(console: Console, source: Source, result: FitResult, columns: Columns) -> None:
    from rich.table import Table
    from rich.text import Text

    from tanbark.schema import Category, Number

    model = result.model
    schema = model.schema_
    counts = model.counts_
    classes, rows = result.class_totals, result.class_totals.sum()
    shares = [f"{label} {percent(count / rows)}" for label, count in zip(schema.classes, classes, strict=True)]
    more = len(shares) - MAX_CLASSES_LISTED
    shown = ", ".join(shares[:MAX_CLASSES_LISTED]) + (f" and {more:,} more" if more > 0 else "")
    categories = [f"{c.name} ({c.arity:,})" for c in schema.columns if isinstance(c, Category)]
    numbers = [f"{c.name} ({c.arity:,})" for c in schema.columns if isinstance(c, Number) and not c.is_date]
    dates = [f"{c.name} ({c.arity:,})" for c in schema.columns if isinstance(c, Number) and c.is_date]
    unused = set(schema.input_names) - {c.source or c.name for c in schema.columns}
    left_out = [name for name in source.schema.names if name in columns.ignore or name in unused]
    shares_missing = zip(schema.names, missing_shares(counts), strict=True)
    missing = [f"{name} {percent(share)}" for name, share in shares_missing if share > 0]
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    size = f"{counted(result.rows, 'row')}, {counted(len(source.schema), 'column')}"
    console.print(Text.assemble((source.name, "bold"), f": {size}"))
    grid.add_row("class", Text.assemble((columns.target, "bold"), f": {shown}"))
    if columns.weight is not None:
        grid.add_row("weights", f"{columns.weight}: a total of {rows:,.10g} over {counted(result.learned, 'row')}")
    if model.class_weight is not None:
        grid.add_row("class weights", _class_weights_text(model.class_weight))
    if categories:
        grid.add_row("categories", ", ".join(categories))
    if numbers:
        grid.add_row("numbers", ", ".join(numbers))
    if dates:
        grid.add_row("dates", ", ".join(dates))
    if left_out:
        grid.add_row("left out", ", ".join(left_out))
    if missing:
        grid.add_row("missing", ", ".join(missing))
    if hasattr(model, "log_score_"):
        grid.add_row("log score", score_text(model))
    console.print(grid)
    if len(schema.classes) == 1:
        console.print(
            f"note: all rows have the class {schema.classes[0]!r}, so there is nothing to predict", style="yellow"
        )


def _class_weights_text(class_weight: Any) -> str:
    """Return the weights of classes for the summary."""
    if isinstance(class_weight, str):
        return f"{class_weight}; probabilities are those of classes that are equally common"
    weights = ", ".join(f"{label} {weight:g}" for label, weight in class_weight.items())
    return f"{weights}; probabilities are those of the reweighted rows"


def _validate(console: Console, request: FitRequest, result: FitResult, folds: int | None) -> CrossValidation | None:
    """Cross-validate the model, unless it would take too long, and return the results."""
    from tanbark.evaluate import cross_validate

    counts = result.model.counts_
    rows, classes = result.learned, counts.schema.classes
    if folds == 0 or len(classes) < 2:
        return None
    if folds is None:
        is_large = rows > MAX_ROWS_TO_VALIDATE or counts.table.size > MAX_CELLS_TO_VALIDATE
        is_slow = result.seconds > MAX_FIT_SECONDS_TO_VALIDATE
        if result.X is None or is_large or is_slow:
            why = f"learning took {result.seconds:.0f} s" if result.X is not None and is_slow else "the table is large"
            console.print(f"Not cross-validated because {why}; use --cv {DEFAULT_FOLDS} to do it.", style="dim")
            return None
        folds = DEFAULT_FOLDS
    if rows < folds:
        console.print(
            f"note: {counted(rows, 'row')} in the table, too few for a {folds}-fold cross-validation", style="yellow"
        )
        return None
    with progress("cross-validating", folds) as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cross_validate(
            request.new(result.encoder, classes),
            result.X,
            result.y,
            folds=folds,
            groups=result.groups,
            sample_weight=result.weights,
            progress=bar,
        )


def _print_validation(console: Console, validation: CrossValidation, weight: str | None) -> list[str]:
    """Print accuracy and log loss beside those of the baseline; return notes if they are no better."""
    from rich.text import Text

    from tanbark.evaluate import BaselineComparison

    found = BaselineComparison.of(validation)
    baseline = found.baseline
    accuracy, log_loss = percent(1 - validation.mean("error")), f"{validation.mean('log_loss'):.3f}"
    figures = Text.assemble("accuracy ", (accuracy, "bold green"), ", log loss ", (log_loss, "bold green"))
    weighted = "" if weight is None else f", rows weighted by {weight!r}"
    console.print()
    console.print(Text.assemble(figures, f" nats in {len(validation.folds)}-fold cross-validation{weighted}"))
    console.print(
        f"baseline {percent(baseline.share)} (always predicting {baseline.commonest!r}), log loss "
        f"{baseline.log_loss:.3f} nats (class frequencies)",
        style="dim",
    )
    for note in found.notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    return list(found.notes)


def _validation_document(validation: CrossValidation) -> dict[str, Any]:
    """Return the results of a cross-validation for a script."""
    from tanbark.evaluate import Baseline

    baseline = baseline_document(Baseline.of(validation))
    return {"folds": len(validation.folds), **scores(validation), "baseline": baseline}


def _write_report(path: Path, result: FitResult, validation: CrossValidation | None, weight: str | None) -> None:
    """Write a page about the model, with the results of cross-validation if there are any."""
    from tanbark.report.importance import mean_weights
    from tanbark.report.performance import cross_validated_performance
    from tanbark.report.report import write_page

    model = result.model
    performance = None
    if validation is not None:
        performance = cross_validated_performance(validation, model.schema_.classes, weight)
    weights = None if result.X is None else mean_weights(model, model.encode(result.X))
    write_page(model, path, performance, weights)


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 1):.0f} kB"
