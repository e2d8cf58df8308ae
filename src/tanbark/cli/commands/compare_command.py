"""``tanbark compare``: recommend a classifier for a table."""

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
from tanbark.cli.input.fit_from_rows import explaining_column_errors, read_rows
from tanbark.cli.input.input_columns import Columns, TableOptions, files_read, source_notes
from tanbark.cli.input.options import (
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
    chosen_value,
    completer,
    model_names,
    named_model,
    output_option,
)
from tanbark.cli.output.printed_text import (
    advice,
    baseline_document,
    data_arguments,
    default_output,
    folder_column_notes,
    input_redirection,
    print_placeholder,
    quoted,
    scores,
    typed_options,
)
from tanbark.cli.terminal.console import (
    CommandError,
    ProgressLine,
    check_writable,
    print_json,
    progress,
    summary_console,
    time_left,
)

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from tanbark.evaluate import Selection
    from tanbark.progress import Progress
    from tanbark.schema import Encoder

SCIKIT_LEARN_MODELS = ("cart", "random-forest", "gradient-boosting")
"""The names in `tanbark.evaluate.candidates.PEERS`, which shell completion cannot import in time."""

RANKING_METRICS = ("error", "log_loss", "brier", "auc")
"""The names in `tanbark.evaluate.recommendation.METRIC_LABELS`, likewise."""


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
            help="Names of classifiers, separated by commas, or all.",
            show_default="all that are not too slow",
            autocompletion=completer(lambda: (*_all_names(), "all")),
        ),
    ] = None,
    output: Annotated[Path | None, output_option("PAGE", "The page to write.", "DATA-comparison.html")] = None,
    by: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            help="Rank by error, log_loss, brier or auc.",
            autocompletion=completer(lambda: RANKING_METRICS),
        ),
    ] = "log_loss",
    folds: Annotated[int, typer.Option(help="Number of cross-validation folds.")] = 10,
    repeats: Annotated[int, typer.Option(help="How many times to repeat the cross-validation with other folds.")] = 1,
    seed: Annotated[int, typer.Option(help="Random seed of the folds.")] = 0,
    jobs: Annotated[int | None, typer.Option(help="Number of parallel processes.", show_default="all cores")] = None,
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
    bins: Bins = "auto",
    n_bins: NBins = None,
    cut: Cut = None,
    max_levels: MaxLevels = 255,
    bin_target: BinTarget = None,
    as_json: Json = False,
) -> None:
    """Recommend a classifier for a table, by cross-validation.

    Tries all classifiers of tanbark that are not too slow for the table, and a decision tree (cart), a random forest
    and gradient boosting of scikit-learn. Recommends a classifier that can be read, such as a single network or the
    additive model evidence-bn, unless an ensemble is better beyond chance. Also writes an HTML page with the ranking,
    the recommendation and plots. The last row of the ranking is the baseline: always predicting the most frequent
    class, with the class frequencies as probabilities.

    With --json the keys are data, target, rows, columns, classes, by, folds, repeats, seed, ranking (best first:
    name, p_value of the difference from the best, fit_seconds, predict_seconds, and the mean and standard_error of
    error, log_loss, brier, auc and calibration_error), baseline (class, and the accuracy and log_loss of always
    predicting the class frequencies), failures (error messages by name), chosen (null if none is worth using),
    recommendation (sentences), fit (the command that fits the chosen classifier), page and notes.
    """
    by = chosen_value("by", by, RANKING_METRICS)
    for name, value, least in (("folds", folds, 2), ("repeats", repeats, 1), ("seed", seed, 0)):
        if value < least:
            raise CommandError(f"--{name} must be at least {least}, got {value}")
    if jobs is not None and jobs < 1:
        raise CommandError(f"--jobs must be at least 1, got {jobs}")
    names = _parse_names(models or [])
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
    path = output or default_output(source, "-comparison.html")
    check_writable(path, files_read(source))
    with progress() as bar:
        bar("starting", 0, None)
        from rich.text import Text

        from tanbark.evaluate import comparison_html, select_model

        columns = Columns.of(source, options)
        table = read_rows(source, None, bar)
        assert table is not None
        began = time.monotonic()
        columns = columns.with_class_of(table)
        X, y = columns.split(table)
        weights = columns.weights(table)
        with explaining_column_errors():
            encoder, notes_on_columns = _fixed_encoder(columns, X, y, weights)
            selection = select_model(
                X,
                y,
                models=names or None,
                encoder=encoder,
                by=by,
                folds=folds,
                repeats=repeats,
                groups=columns.groups(table),
                sample_weight=weights,
                random_state=seed,
                n_jobs=jobs,
                progress=_with_time_left(bar),
            )
        classes = next(iter(selection.comparison.values())).classes
        facts = {
            "rows": f"{X.num_rows:,}",
            "columns": f"{X.num_columns:,}",
            "classes": f"{len(classes):,}",
            "cross-validation": _folds_text(folds, repeats, weight),
            "seed": str(seed),
            "time": f"{time.monotonic() - began:.0f} s",
            "version": f"tanbark {__version__}",
        }
        summary = f"{facts['rows']} rows, {facts['classes']} classes of {columns.target}"
        notes = [
            *found,
            *notes_on_columns,
            *_notes(selection),
            *folder_column_notes(source),
            *_skipped_note(selection.skipped),
        ]
        words = data_arguments(data, database)
        chosen = selection.recommendation.chosen
        fit = f"tanbark fit {words} --target {quoted(columns.target)} --model {chosen}"
        fit_command = f"{fit}{typed_options(ctx, TABLE_OPTIONS)}{input_redirection(data, kind)}" if chosen else None
        page = comparison_html(
            selection,
            f"Which classifier for {'a query' if database else Path(source.name).name}?",
            summary=summary,
            facts=facts,
            notes=notes,
            fit_command=fit_command,
            repeat_command=f"tanbark compare {words}{typed_options(ctx)}{input_redirection(data, kind)}",
        )
        with replacing(path) as file:
            file.write(page.encode())
    console = summary_console(as_json)
    console.print(Text.assemble((source.name, "bold"), f": {summary}"))
    _print_ranking(console, selection, facts["cross-validation"])
    _print_advice(console, selection, notes, path, fit_command)
    if fit_command:
        print_placeholder(console, data, kind)
    if as_json:
        print_json(
            {
                "data": source.name,
                "target": columns.target,
                "folds": folds,
                "repeats": repeats,
                "seed": seed,
                "rows": X.num_rows,
                "columns": X.num_columns,
                "classes": classes,
                **_json_results(selection),
                "fit": fit_command,
                "notes": notes,
                "page": str(path),
            }
        )


def _folds_text(folds: int, repeats: int, weight: str | None) -> str:
    repeated = f", repeated {repeats} times" if repeats > 1 else ""
    return f"{folds} stratified folds{repeated}" + ("" if weight is None else f", rows weighted by {weight!r}")


def _fixed_encoder(
    columns: Columns, X: pa.Table, y: Any, weights: NDArray[np.float64] | None
) -> tuple[Encoder, list[str]]:
    """Return an encoder that reads each part of a table as the whole table, and notes on its columns."""
    from sklearn.base import clone

    from tanbark.classifiers.naive_bayes import NaiveBayes
    from tanbark.evaluate.leakage import LEAKAGE_BINS, leaking_columns

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        schema = columns.encoder.fit(X, y, weights).schema_
    encoder = columns.encoder_for(schema)
    fine = clone(encoder).set_params(n_bins=LEAKAGE_BINS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leaking = leaking_columns(NaiveBayes(encoder=fine).fit(X, y).counts_)
    return encoder, [*(advice(str(warning.message)) for warning in caught), *(advice(str(one)) for one in leaking)]


def _all_names() -> tuple[str, ...]:
    """Return the names of all classifiers, without importing any of them."""
    return (*model_names(), *SCIKIT_LEARN_MODELS)


def _parse_names(words: Sequence[str]) -> list[str]:
    """Return the classifiers that --models names, each once. Raise CommandError if a name is unknown."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    choices = (*_all_names(), "all")
    if words and not names:
        raise CommandError(f"--models is empty; the models are {', '.join(_all_names())}, or all")
    names = [named_model(name, choices) for name in names]
    return list(_all_names()) if "all" in names else list(dict.fromkeys(names))


def _with_time_left(bar: ProgressLine) -> Progress:
    """Return a progress callback that also shows the estimated remaining time."""
    began = time.monotonic()

    def show(task: str, done: float, total: float | None) -> None:
        nonlocal began
        if not done:
            began = time.monotonic()
        left = time_left(time.monotonic() - began, done / total if total else 0.0)
        bar(task, done, total, left.removeprefix(", "))

    return show


def _notes(selection: Selection) -> list[str]:
    """Return the warnings with advice for the command line, without advice on search=, which compare does not set."""
    notes = (re.split(r"; (?:use )?search=", note)[0] for note in selection.notes)
    return list(dict.fromkeys(map(advice, notes)))


def _skipped_note(names: Sequence[str]) -> list[str]:
    from tanbark.evaluate.candidates import MAX_FOLD_SECONDS

    if not names:
        return []
    return [
        f"skipped {', '.join(names)}: expected to take more than {MAX_FOLD_SECONDS:.0f} s per fold; "
        "use --models all to include them"
    ]


def _json_results(selection: Selection) -> dict[str, Any]:
    """Return the results of a comparison for --json."""
    from tanbark.evaluate import Baseline

    comparison = selection.comparison
    return {
        "by": selection.by,
        "ranking": [
            {"name": rank.name, "p_value": rank.p_value, **scores(comparison[rank.name])}
            for rank in comparison.ranking(selection.by)
        ],
        "baseline": baseline_document(Baseline.of(next(iter(comparison.values())))),
        "failures": comparison.failures,
        "chosen": selection.recommendation.chosen,
        "recommendation": selection.recommendation.sentences,
    }


def _print_ranking(console: Console, selection: Selection, folds: str) -> None:
    from tanbark.evaluate.recommendation import METRIC_LABELS, TEST

    table = _ranking_table(selection, " ±")
    wide = console.options.update(max_width=1000)
    if console.measure(table, options=wide).maximum > console.width:
        table = _ranking_table(selection, "\n±")
    console.print(table)
    label = METRIC_LABELS[selection.by]
    console.print(f"Ranked by {label}; {folds}; p-value of the difference from the best ({TEST}).", style="dim")


def _ranking_table(selection: Selection, separator: str) -> Table:
    """Return the ranking as a table: the best in green, significantly worse classifiers dim."""
    from rich.table import Table
    from rich.text import Text

    from tanbark.evaluate.comparison_page import RANKING_COLUMNS, baseline_cells, ranking_cells, row_styles

    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for at, head in enumerate(RANKING_COLUMNS):
        table.add_column("\n".join(head.replace("calibration", "calibr.").split()), justify="right" if at else "left")
    styles = {"best": "bold green", "": "", "faint": "dim"}
    cells = ranking_cells(selection.comparison, selection.by, separator)
    for row, style in zip(cells, row_styles(selection.comparison, selection.by), strict=True):
        table.add_row(*(Text(cell) for cell in row), style=styles[style])
    table.add_row(*map(Text, baseline_cells(selection.comparison, separator)), style=styles["faint"])
    return table


def _print_advice(
    console: Console, selection: Selection, notes: Sequence[str], path: Path, fit_command: str | None
) -> None:
    for name, why in selection.comparison.failures.items():
        console.print(f"{name} failed: {advice(why)}", style="red")
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)
    console.print()
    for sentence in selection.recommendation.sentences:
        console.print(sentence)
    console.print()
    console.print(f"Written to {path}, with plots." + (" What to try next:" if fit_command else ""), soft_wrap=True)
    if fit_command:
        console.print(f"  {fit_command}", style="cyan", soft_wrap=True)
