"""``tanbark evaluate``: measure how well a model predicts rows with a known class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tanbark.cli.input.input_columns import open_source, print_source_notes
from tanbark.cli.input.model_rows import ModelRows
from tanbark.cli.input.options import (
    Cost,
    Data,
    Database,
    Encoding,
    From,
    Json,
    Missing,
    ModelFile,
    Sheet,
    Strict,
    TrueClass,
    Weight,
)
from tanbark.cli.input.weights_and_costs import cost_notes, costs_document, costs_of
from tanbark.cli.output.printed_text import baseline_document, left_out_note
from tanbark.cli.terminal.console import CommandError, print_json, progress, summary_console
from tanbark.messages import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.evaluate import Evaluation
    from tanbark.evaluate.decisions import CostTally

FIGURE_COLUMNS = 4
"""Number of columns before the confusion matrix."""
MAX_CLASSES_SHOWN = 12
"""Maximum number of classes of which the confusion matrix is printed, if it is not too wide."""


def evaluate(
    model: ModelFile,
    data: Data,
    target: TrueClass = None,
    database: Database = None,
    kind: From = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: Missing = None,
    strict: Strict = False,
    weight: Weight = None,
    cost: Cost = None,
    as_json: Json = False,
) -> None:
    """Measure how well a model predicts rows with a known class.

    The rows should not be those that the model learned from; a note says so if they are. The baseline is always
    predicting the most frequent class of these rows, and its log loss is that of their class frequencies. Columns are
    matched by name and read as in training.

    With --cost, the mean cost per row is printed too, of decisions of least expected cost and of the most probable
    classes. All other figures are of the most probable classes. With --weight, all figures are weighted.

    With --json, the keys are file, data, target, rows (with a known class), unlabelled (rows without a class), unknown
    (rows of classes that the model does not know), accuracy, log_loss (each with mean and standard_error), brier, auc,
    calibration_error, baseline (class, accuracy and log_loss), training_rows (whether the model learned from these
    rows), classes (each with name, rows, predicted, precision and recall), confusion (rows by true and predicted class)
    and notes; with --weight also weight (column and total), and with --cost also costs, mean_cost and
    mean_cost_of_most_probable.
    """
    source = open_source(data, database, kind, encoding, sheet)
    print_source_notes(source)
    with progress() as bar:
        import numpy as np

        from tanbark.evaluate import EvaluationAccumulator
        from tanbark.evaluate.decisions import CostTally, cost_matrix
        from tanbark.evaluate.training_rows import TrainingRowsCheck
        from tanbark.files import load_classifier
        from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

        fitted = load_classifier(model).set_params(n_jobs=-1)
        rows = ModelRows.of(fitted.schema_, source.as_written(), target, missing, strict)
        if rows.target is None:
            raise CommandError(
                f"{source.name} has no column {fitted.schema_.class_name!r}, the class of the model; name the column "
                "with the true classes with --target"
            )
        rows.check_weight(weight)
        costs = costs_of(cost or (), fitted.schema_.classes)
        found, training = EvaluationAccumulator(fitted.classes_), TrainingRowsCheck(fitted)
        spent = CostTally(cost_matrix(list(fitted.schema_.classes), costs))
        read = 0
        with collecting(UnreadableValues(unseen_labels=True)) as unreadable:
            for X, y, columns in rows.batches(bar, "evaluating", [] if weight is None else [rows.expression(weight)]):
                weights = rows.weights(columns, weight, read)
                codes, truth = fitted.encode(X), found.codes(y)
                log_probabilities = fitted.model_.log_posterior(codes, fitted.n_jobs)
                found.add(log_probabilities, truth, weights)
                training.add(codes, truth, weights)
                if costs:
                    spent.add(np.exp(log_probabilities), truth, weights)
                read += X.num_rows
            unreadable.check()
        if weight is not None and not found.rows:
            raise CommandError(f"no row with a {rows.target} has a positive {weight}; there is nothing to evaluate")
        result = found.result()
    notes = [*unreadable.notes(), *_notes(result, rows.target, training.found)]
    notes += cost_notes(fitted) if costs else ()
    if as_json:
        further: dict[str, Any] = {} if weight is None else {"weight": {"column": weight, "total": result.weight}}
        if costs:
            further |= {"costs": costs_document(costs), **spent.document()}
        document = {"file": str(model), "data": source.name, "target": rows.target, **_document(result), **further}
        print_json({**document, "training_rows": training.found, "notes": notes})
        return
    console = summary_console()
    _print(console, f"{model} on {source.name}", rows.target, result, weight, spent if costs else None)
    for note in notes:
        console.print(f"note: {note}", style="yellow", soft_wrap=True)


def _notes(found: Evaluation, target: str, are_training_rows: bool) -> list[str]:
    """Return notes on the rows, and on figures that are no better than those of the baseline."""
    from tanbark.evaluate.training_rows import TRAINING_ROWS_NOTE

    notes = [TRAINING_ROWS_NOTE] if are_training_rows else []
    notes += found.baseline.notes
    if found.unlabelled_rows:
        notes.append(left_out_note(found.unlabelled_rows, target))
    if found.unknown_rows:
        have, them = ("has", "it") if found.unknown_rows == 1 else ("have", "them")
        notes.append(
            f"{counted(found.unknown_rows, 'row')} {have} a value of {target!r} that is not a class of the model, "
            f"which counts as wrong; without {them} the log loss is {found.known_log_loss:.3f} nats"
        )
    return notes


def _document(found: Evaluation) -> dict[str, Any]:
    """Return the performance for a script."""
    columns = zip(found.classes.tolist(), found.support, found.predicted, found.precision, found.recall, strict=True)
    return {
        "rows": found.rows,
        "unlabelled": found.unlabelled_rows,
        "unknown": found.unknown_rows,
        "accuracy": {"mean": found.accuracy, "standard_error": found.accuracy_standard_error},
        "log_loss": {"mean": found.log_loss, "standard_error": found.log_loss_standard_error},
        "brier": found.brier,
        "auc": found.auc,
        "calibration_error": found.calibration_error,
        "baseline": baseline_document(found.baseline.baseline),
        "classes": [
            {"name": name, "rows": rows, "predicted": predicted, "precision": precision, "recall": recall}
            for name, rows, predicted, precision, recall in columns
        ],
        "confusion": found.confusion,
    }


def _print(
    console: Console, title: str, target: str, found: Evaluation, weight: str | None, spent: CostTally | None
) -> None:
    from rich.table import Table
    from rich.text import Text

    weighted = "" if weight is None else f", weighted by {weight!r} to a total of {found.weight:,.10g}"
    console.print(Text.assemble((title, "bold"), f": {counted(found.rows, 'row')} with a known {target}{weighted}"))
    baseline = found.baseline.baseline
    guess = f"always predicting {baseline.commonest!r}: {percent(baseline.share)}"
    frequencies = f"class frequencies: {baseline.log_loss:.3f}"
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(justify="right")
    grid.add_column(style="dim")
    error = percent(found.accuracy_standard_error) if found.weight > 1 else "?"
    grid.add_row("accuracy", percent(found.accuracy), f"± {error}, {guess}")
    grid.add_row("log loss", f"{found.log_loss:.3f}", f"± {found.log_loss_standard_error:.3f} nats, {frequencies}")
    grid.add_row("Brier score", f"{found.brier:.3f}", "from 0 to 2, lower is better")
    grid.add_row("AUC", f"{found.auc:.3f}", "0.5 is chance, 1 is perfect")
    grid.add_row("calibration error", f"{found.calibration_error:.3f}", "0 is perfect")
    if spent is not None:
        grid.add_row(
            "mean cost", f"{spent.mean:.3f}", f"per row; {spent.mean_of_most_probable:.3f} for the most probable class"
        )
    console.print(grid)
    console.print()
    table = _class_table(found, len(found.classes) <= MAX_CLASSES_SHOWN)
    if console.measure(table, options=console.options.update(max_width=1000)).minimum > console.width:
        table = _class_table(found, False)
    console.print(table)


def _class_table(found: Evaluation, confused: bool) -> Any:
    """Return precision and recall of each class, and the confusion matrix if `confused`."""
    from rich.table import Table
    from rich.text import Text

    names = [str(label) for label in found.classes]
    heads = ["true class", "rows", "recall", "precision", *([f"as {name}" for name in names] if confused else ())]
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for at, head in enumerate(heads):
        table.add_column(Text(head), justify="right" if at else "left", no_wrap=at < FIGURE_COLUMNS)
    for k, name in enumerate(names):
        shares = [f"{value:.1%}" if value == value else "-" for value in (found.recall[k], found.precision[k])]
        cells = [f"{count:,.10g}" for count in found.confusion[k].tolist()] if confused else []
        styled = [Text(cell, "green" if at == k else "") for at, cell in enumerate(cells)]
        table.add_row(Text(name), f"{found.support[k].item():,.10g}", *shares, *styled)
    return table
