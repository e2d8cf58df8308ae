"""``tanbark reproduce``: run the experiment of a paper again and print its table beside ours."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.console import listed, out, percent, progress
from tanbark.cli.errors import CommandError

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.papers.roure2002 import Run

PAPERS = ("roure2002",)
QUICK_SETS = ("nursery", "car_evaluation")
QUICK_ROWS = 3_000


def reproduce(
    paper: Annotated[str, typer.Argument(metavar="PAPER", help=f"Which: {', '.join(PAPERS)}.")],
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="The folder of the data sets, as CSV files, class last.")
    ] = Path("data"),
    only: Annotated[list[str] | None, typer.Option(metavar="SET", help="Only this data set. Repeatable.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Two small sets, two orders of each kind.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write every chunk's figures as CSV.")
    ] = None,
) -> None:
    """Run the experiment of a paper again, on data sets in a folder."""
    if paper not in PAPERS:
        raise CommandError(f"there is no paper {paper!r}; there are {', '.join(PAPERS)}")
    from tanbark.datasets import read_folder
    from tanbark.papers import roure2002

    names = tuple(only or (QUICK_SETS if quick else roure2002.SETS))
    for name in names:
        if name not in roure2002.SETS:
            raise CommandError(f"{paper} has no data set {name!r}; it has {', '.join(roure2002.SETS)}")
    folder = read_folder(data)
    absent = [name for name in names if name not in folder]
    names = tuple(name for name in names if name in folder)
    if not names:
        raise CommandError(f"{data} has none of the data sets {listed(absent)}; each is a file such as {absent[0]}.csv")
    if output is not None and not output.parent.is_dir():
        raise CommandError(f"{output} cannot be written: there is no such folder")
    with progress() as bar:
        task = bar.add_task("reading", total=1.0, detail="")
        found = list(
            roure2002.runs(
                folder,
                names,
                2 if quick else roure2002.REPEATS,
                QUICK_ROWS if quick else None,
                lambda words, share: bar.update(task, description=words, completed=share),
            )
        )
    console = out()
    if absent:
        console.print(f"absent from {data}: {', '.join(absent)}", style="yellow")
    _print_work(console, found)
    _print_trees(console, found)
    _print_curves(console, found)
    if output is not None:
        _write(output, found)
        console.print(f"Every chunk is in {output}.", soft_wrap=True)


def _grouped(found: list[Run]) -> dict[tuple[str, str], list[Run]]:
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in found:
        groups.setdefault((run.name, run.order), []).append(run)
    return groups


def _table(columns: list[str]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at < 2 else "right", no_wrap=True)
    return table


def _spread(values: list[float], form: str = ",.0f") -> str:
    """Return the mean of some figures and their standard deviation, as the paper has them."""
    from statistics import fmean, stdev

    varies = len(set(values)) > 1
    return f"{fmean(values):{form}}" + (f" ±{stdev(values):{form}}" if varies else "")


def _print_work(console: Console, found: list[Run]) -> None:
    from tanbark.papers.roure2002 import PRINTED, SETS

    columns = ["set", "order", "calculated\nbatch", "\nACO", "\nits paper"]
    table = _table([*columns, "recalled\nbatch", "\nACO", "\nits paper"])
    for (name, order), group in _grouped(found).items():
        unknown = "illegible" if group[0].whole else "cut short"
        printed = PRINTED[name, order] if group[0].whole else (None, None)
        paper = [unknown if figure is None else f"{figure:,.0f}" for figure in printed]
        work = [
            [_spread([float(run.total(learner, what)) for run in group]) for learner in ("batch", "aco")]
            for what in ("calculated", "recalled")
        ]
        table.add_row(SETS[name], order, *work[0], paper[0], *work[1], paper[1])
    console.print("Table 1: weights calculated and recalled over the whole stream, mean ± standard deviation")
    console.print(table)


def _print_trees(console: Console, found: list[Run]) -> None:
    from statistics import fmean

    from tanbark.papers.roure2002 import SETS

    columns = ["set", "order", "ms a chunk\nbatch", "\nACO", "same tree\nas batch", "edges not\nin batch"]
    table = _table([*columns, "accuracy\nbatch", "\nACO"])
    for (name, order), group in _grouped(found).items():
        # The first chunk is a fit, and what is compiled is compiled then.
        steps = [step for run in group for step in run.steps[1:]]
        last = [run.steps[-1] for run in group]
        table.add_row(
            SETS[name],
            order,
            f"{1e3 * fmean(s.batch_seconds for s in steps):.2f}",
            f"{1e3 * fmean(s.aco_seconds for s in steps):.2f}",
            percent(fmean(s.different == 0 for s in steps)),
            f"{fmean(s.different for s in steps):.2f} of {group[0].attributes - 1}",
            _spread([s.batch_accuracy or 0.0 for s in last], ".3f"),
            _spread([s.aco_accuracy or 0.0 for s in last], ".3f"),
        )
    console.print("Time, trees, and accuracy on the test rows once all training rows are learned")
    console.print(table)


def _print_curves(console: Console, found: list[Run]) -> None:
    """Print Figures 1 and 2 in numbers: along the stream, the means over the orders of a kind."""
    from statistics import fmean

    from tanbark.papers.roure2002 import SETS

    columns = ["set", "order", "rows", "first arc\nout of order", "edges not\nin batch", "edges changed\nin batch"]
    table = _table([*columns, "accuracy\nbatch", "accuracy\nACO"])
    for (name, order), group in _grouped(found).items():
        predicted = [at for at, step in enumerate(group[0].steps) if step.aco_accuracy is not None]
        chosen = predicted[:: max(len(predicted) // 5, 1)]
        for at in sorted({*chosen, predicted[-1]}):
            steps = [run.steps[at] for run in group]
            table.add_row(
                SETS[name],
                order,
                f"{steps[0].rows:,}",
                f"{fmean(s.aco.first_out_of_order for s in steps):.1f}",
                f"{fmean(s.different for s in steps):.1f}",
                f"{fmean(s.batch.edges_changed for s in steps):.1f}",
                f"{fmean(s.batch_accuracy or 0.0 for s in steps):.4f}",
                f"{fmean(s.aco_accuracy or 0.0 for s in steps):.4f}",
            )
    console.print("Figures 1 and 2: along the stream (a first arc as high as the attributes' number: all are in order)")
    console.print(table)


def _write(path: Path, found: list[Run]) -> None:
    from dataclasses import asdict

    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, run in enumerate(found):
            for at, step in enumerate(run.steps):
                flat = asdict(step)
                for learner in ("batch", "aco"):
                    flat |= {f"{learner}_{key}": value for key, value in flat.pop(learner).items()}
                if not number and not at:
                    writer.writerow(["set", "order", "repeat", *flat])
                writer.writerow([run.name, run.order, run.repeat, *flat.values()])
