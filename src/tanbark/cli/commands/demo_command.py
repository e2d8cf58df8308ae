"""``tanbark demo``: a tour on the data sets that are included."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import out, progress
from tanbark.messages import percent

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.datasets import Dataset
    from tanbark.evaluate import CrossValidation

FOLDS = 10
TABLES = ("lenses", "iris", "wine", "monks_1", "balance_scale", "tic_tac_toe", "led7", "waveform21")
TABLE_TO_DRAW = "tic_tac_toe"
TABLE_TO_EXPLAIN = "lenses"


def demo() -> None:
    """Show what tanbark does, on data sets that are included."""
    console = out()
    console.print("Two classifiers, on data sets that are included in tanbark", style="bold")
    console.print("Naive Bayes assumes that the columns are independent given the class.")
    console.print("TAN adds a tree of dependencies between the columns.")
    with progress() as bar:
        from tanbark import TAN, NaiveBayes, datasets
        from tanbark.evaluate import compare

        compared: list[tuple[Dataset, CrossValidation, CrossValidation]] = []
        for done, name in enumerate(TABLES):
            bar(f"learning {name}", done, len(TABLES))
            data = datasets.load(name)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                results = compare({"naive": NaiveBayes(), "tan": TAN()}, data.table, _classes(data), folds=FOLDS)
            compared.append((data, results["naive"], results["tan"]))
    _print_comparison(console, compared)
    _print_tree(console, datasets.load(TABLE_TO_DRAW))
    _print_explanation(console, datasets.load(TABLE_TO_EXPLAIN))
    console.print()
    console.print("What to try next, with your own table:", style="bold")
    for command, purpose in (
        ("tanbark fit TABLE.csv --target COLUMN", "learn a model and estimate its accuracy"),
        ("tanbark show TABLE.tanbark", "list the most informative columns"),
        ("tanbark predict TABLE.tanbark NEW.csv", "predict probabilities for new rows"),
        ("tanbark compare TABLE.csv --target COLUMN", "compare classifiers and recommend one"),
        ("tanbark fit --list-models", "list all classifiers"),
    ):
        console.print(f"  {command:<43}", style="cyan", end="", soft_wrap=True)
        console.print(purpose, style="dim", soft_wrap=True)


def _classes(data: Dataset) -> Any:
    import narwhals as nw

    return nw.from_native(data.labels, series_only=True).alias(data.target)


def _print_comparison(console: Console, compared: list[tuple[Dataset, CrossValidation, CrossValidation]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("table")
    for head in ("rows", "columns", "classes"):
        table.add_column(head, justify="right", style="dim")
    for head in ("naive Bayes", "TAN", "naive Bayes", "TAN"):
        table.add_column(f"{'accuracy' if len(table.columns) < 6 else 'log loss'}\n{head}", justify="right")
    for data, naive, tan in compared:
        rows, columns = data.table.shape
        errors = naive.mean("error"), tan.mean("error")
        losses = naive.mean("log_loss"), tan.mean("log_loss")
        table.add_row(
            data.name,
            f"{rows:,}",
            str(columns),
            str(len(data.labels.unique())),
            *(
                Text(shown, style="bold green" if better else "")
                for shown, better in (
                    (percent(1 - errors[0]), errors[0] < errors[1]),
                    (percent(1 - errors[1]), errors[1] < errors[0]),
                    (f"{losses[0]:.3f}", losses[0] < losses[1]),
                    (f"{losses[1]:.3f}", losses[1] < losses[0]),
                )
            ),
        )
    console.print(table)
    console.print(
        f"{FOLDS}-fold cross-validation. Log loss (in nats) rates the probabilities; lower is better.",
        style="dim",
    )
    console.print("Neither is always better, which is why `tanbark fit` reports the accuracy of a model.", style="dim")


def _print_tree(console: Console, data: Dataset) -> None:
    from tanbark import TAN
    from tanbark.cli.output.printed_text import print_network

    model = TAN().fit(data.table, _classes(data))
    console.print()
    console.print(f"The tree that TAN learns from {data.table.num_rows:,} finished games of tic-tac-toe:", style="bold")
    print_network(console, model.network_)


def _print_explanation(console: Console, data: Dataset) -> None:
    """Print the weights of evidence for the prediction of one row."""
    import numpy as np
    from rich.text import Text

    from tanbark import TAN

    model = TAN().fit(data.table, _classes(data))
    # A patient of the rarest class is the least obvious prediction.
    counts = model.counts_.class_counts
    rarest = model.classes_[int(np.argmin(counts))]
    row = next(i for i, label in enumerate(data.labels.to_pylist()) if label == rarest)
    patient = data.table.slice(row, 1)
    probabilities = model.predict_proba(patient)[0]
    order = np.argsort(-probabilities, kind="stable")
    best, second = (int(k) for k in order[:2])
    labels = [str(label) for label in model.classes_]
    weights = model.explain(patient)[0]
    console.print()
    console.print("Why one patient is prescribed a type of contact lens:", style="bold")
    shown = ", ".join(f"{labels[k]} {percent(float(probabilities[k]))}" for k in order)
    console.print(f"  prediction: {shown}")
    console.print(f"  Evidence for {labels[best]!r} against {labels[second]!r}, as factors of the odds:")
    against = weights[:, best] - weights[:, second]
    names = ["prior", *(f"{name} is {values[0].as_py()}" for name, values in _columns(patient))]
    for u in [0, *(1 + np.argsort(-against[1:], kind="stable")).tolist()]:
        factor = float(np.exp(against[u]))
        side = f"× {factor:.2f}" if factor >= 1 else f"÷ {1 / factor:.2f}"
        colour = "green" if factor >= 1 else "red"
        console.print(Text.assemble(f"    {names[u]:<32}", (side, colour)))
    odds = float(np.exp(against.sum()))
    console.print(f"    {'total':<32}{odds:.2f} to 1 for {labels[best]}")


def _columns(table: Any) -> list[tuple[str, Any]]:
    return list(zip(table.column_names, table.columns, strict=True))
