"""``tanbark reproduce``: run the experiment of a paper again and print its tables beside ours."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.options import completing
from tanbark.cli.terminal.console import CommandError, err, listed, progress, sentence, time_left, told
from tanbark.papers import PAPERS

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.datasets import Folder
    from tanbark.papers.experiment import Drawing, Experiment, Section
    from tanbark.papers.experiment_cells import Done


WIDEST = 1000


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(metavar="PAPER", help=f"Which: {', '.join(PAPERS)}.", autocompletion=completing(lambda: PAPERS)),
    ],
    data: Annotated[
        Path, typer.Option("--data", metavar="DIR", help="The folder of the data sets, as CSV files, class last.")
    ] = Path("data"),
    only: Annotated[
        list[str] | None, typer.Option(metavar="SETS", help="Only these data sets, separated by commas. Repeatable.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A few small sets, fewer folds: less than a minute.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="Where tables and finished cells are written; a run that was stopped goes on there.",
            show_default="tanbark-PAPER",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="How many processes, -1 for all cores.")] = -1,
) -> None:
    """Run the experiment of a paper again, on data sets in a folder.

    Prints the paper's tables beside ours and writes them as Markdown, HTML and CSV. Finished cells are kept: a run that
    was stopped goes on where it was when the same command is given again.
    """
    if paper not in PAPERS:
        raise CommandError(f"there is no paper {paper!r}; there are {', '.join(PAPERS)}")
    from joblib import effective_n_jobs

    from tanbark.datasets import read_folder

    if jobs == 0:
        raise CommandError("--jobs needs a number other than 0; -1 is all cores")
    experiment: Experiment = import_module(f"tanbark.papers.{paper}").EXPERIMENT
    if experiment.adjusts and find_spec("statsmodels") is None:
        raise CommandError(f"{paper} needs statsmodels; install it with: pip install 'tanbark[papers]'")
    wanted = _wanted(experiment, only, quick)
    folder = read_folder(data)
    present = [file for file in wanted if file in folder]
    absent = [file for file in wanted if file not in folder]
    if not present:
        raise CommandError(f"{data} has none of the data sets {listed(absent)}; each is a file such as {absent[0]}.csv")
    target = output or Path(f"tanbark-{paper}")
    if target.exists() and not target.is_dir():
        raise CommandError(f"{target} is a file; --output names a folder")
    target.mkdir(parents=True, exist_ok=True)
    costs, failed = _costs(experiment, folder, present)
    done = _run(experiment, costs, data, target / "cells", quick, int(effective_n_jobs(jobs)))
    failed |= {one.cell.file: one.failed for one in done if one.failed}
    results = {file: [one for one in done if one.cell.file == file] for file in present if file not in failed}
    words = _words(experiment, done, absent, failed, quick)
    console = told()
    console.print(experiment.citation, style="bold")
    for paragraph in words[1:]:
        console.print(paragraph)
    if not results:
        raise CommandError(f"every data set failed, as {present[0]} did: {failed[present[0]]}")
    _print_and_write(console, experiment, results, words, target, quick)


def _wanted(experiment: Experiment, only: list[str] | None, quick: bool) -> list[str]:
    """Return the files of the data sets that are asked for, each of which is one of the paper's."""
    known = {one.file: one.name for one in experiment.sets}
    if not only:
        return [file for file in known if not quick or file in experiment.quick_sets]
    by_name = {name.lower(): file for file, name in known.items()}
    asked = [word.strip() for words in only for word in words.split(",") if word.strip()]
    if not asked:
        raise CommandError(f"--only names no data set; {experiment.name} has {', '.join(known)}")
    for word in asked:
        if word not in known and word.lower() not in by_name:
            raise CommandError(f"{experiment.name} has no data set {word!r}; it has {', '.join(known)}")
    chosen = {word if word in known else by_name[word.lower()] for word in asked}
    return [file for file in known if file in chosen]


def _costs(experiment: Experiment, folder: Folder, files: Sequence[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Return how long a cell of each data set takes, and why some cannot be read."""
    costs: dict[str, float] = {}
    unreadable: dict[str, str] = {}
    for file in files:
        try:
            costs[file] = experiment.cost(*folder[file].table.shape)
        except ValueError as error:
            unreadable[file] = sentence(error)
    return costs, unreadable


def _run(
    experiment: Experiment, costs: Mapping[str, float], data: Path, kept: Path, quick: bool, jobs: int
) -> list[Done]:
    """Return what came of all cells, showing how much is done and how long the rest will take."""
    from tanbark.papers.experiment_cells import run_cells

    # What takes long comes last, so that a run that is stopped has finished many sets.
    cells = [cell for file in sorted(costs, key=costs.__getitem__) for cell in experiment.cells(file, quick)]
    total = sum(costs[cell.file] for cell in cells)
    spent = {True: 0.0, False: 0.0}
    many = [0]
    began = time.monotonic()
    try:
        with progress() as bar:
            task = bar.add_task(experiment.name, total=total, detail="")

            def fresh(done: Done) -> None:
                many[0] += 1
                spent[done.found] += costs[done.cell.file]
                left = time_left(time.monotonic() - began, spent[False] / max(total - spent[True], 1e-9))
                words = f"{many[0]} of {len(cells)} cells: {experiment.called(done.cell.file)}{left}"
                bar.update(task, completed=sum(spent.values()), detail=words)

            return run_cells(experiment.work, cells, data, kept, jobs, fresh)
    except KeyboardInterrupt:
        err().print(f"{many[0]} of {len(cells)} cells are in {kept}; the same command goes on from there")
        raise


def _words(
    experiment: Experiment, done: Sequence[Done], absent: Sequence[str], failed: Mapping[str, str], quick: bool
) -> list[str]:
    """Return what is to be known about a run: the paper, what was done, and what of it is not there."""
    seconds = sum(one.seconds for one in done)
    took = f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.0f} seconds"
    present = {one.cell.file for one in done}
    words = [
        experiment.citation,
        experiment.protocol,
        f"{len(present)} of the {len(experiment.sets)} data sets; {len(done)} cells took {took}, added up.",
    ]
    if quick:
        words.append(
            f"A quick run, of {experiment.quick_parts} parts of each set instead of {experiment.parts}: what is said "
            "above of folds, orders and rows is so in a full run only."
        )
    if absent:
        words.append(f"Absent: {', '.join(experiment.called(file) for file in absent)}.")
    words += [f"Failed: {experiment.called(file)} ({reason})." for file, reason in failed.items()]
    return words


def _print_and_write(
    console: Console,
    experiment: Experiment,
    results: dict[str, list[Done]],
    words: list[str],
    target: Path,
    quick: bool,
) -> None:
    from tanbark.papers.experiment import Section, write_html, write_markdown

    parts = experiment.report(results)
    for part in parts:
        if isinstance(part, Section):
            _print(console, part)
    stem = f"{experiment.name}-quick" if quick else experiment.name
    title = f"{experiment.name}, run again"
    write_markdown(target / f"{stem}.md", title, words, parts)
    write_html(target / f"{stem}.html", title, words, parts)
    _write_csv(target / f"{stem}.csv", _figures(parts))
    _write_csv(target / f"{stem}-records.csv", _records(results))
    names = ", ".join(f"{stem}{ending}" for ending in (".md", ".html", ".csv", "-records.csv"))
    console.print(f"\nWritten to {target}: {names}.", soft_wrap=True)


def _print(console: Console, section: Section) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for at, column in enumerate(section.columns):
        table.add_column(column, justify="left" if at < section.labels else "right", overflow="fold")
    for row in section.rows:
        table.add_row(*row)
    console.print()
    console.print(section.title, style="bold")
    if section.words:
        console.print(section.words)
    # Rather too wide for the window than with figures cut in two.
    width = console.width
    console.width = max(width, console.measure(table, options=console.options.update(max_width=WIDEST)).maximum)
    console.print(table)
    console.width = width


def _figures(parts: Sequence[Section | Drawing]) -> list[dict[str, Any]]:
    """Return every figure of the tables: in which table, of what, in which column."""
    from tanbark.papers.experiment import Section

    return [
        {"table": part.title, "row": row[0], "of": " ".join(row[1 : part.labels]), "column": column, "value": value}
        for part in parts
        if isinstance(part, Section)
        for row in part.rows
        for column, value in zip(part.columns[part.labels :], row[part.labels :])
    ]


def _records(results: dict[str, list[Done]]) -> list[dict[str, Any]]:
    """Return every record: what it is of, and all figures that it has."""
    return [
        {"set": file, "part": one.cell.part + 1, "parts": one.cell.parts, **record}
        for file, done in results.items()
        for one in done
        for record in one.records
    ]


def _write_csv(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write dictionaries as CSV, with a column for each name that any of them has."""
    from tanbark.atomic_write import replacing

    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for line in lines for name in line)))
    writer.writeheader()
    writer.writerows(lines)
    with replacing(path) as file:
        file.write(text.getvalue().encode())
