"""``tanbark reproduce``: repeat the experiment of a paper and print its tables next to ours."""

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

from tanbark.cli.input.options import completer, output_option
from tanbark.cli.terminal.console import CommandError, err, error_text, listed, progress, summary_console, time_left
from tanbark.messages import suggestion
from tanbark.papers import PAPERS

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.datasets import Folder
    from tanbark.papers.experiment import Drawing, Experiment, Section
    from tanbark.papers.experiment_cells import Done

MAX_TABLE_WIDTH = 1000
"""In characters."""


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            metavar="PAPER", help=f"The paper: {', '.join(PAPERS)}.", autocompletion=completer(lambda: PAPERS)
        ),
    ],
    data: Annotated[
        Path,
        typer.Option("--data", metavar="DIR", help="The folder with the data sets: CSV files, class last."),
    ] = Path("data"),
    only: Annotated[
        list[str] | None, typer.Option(metavar="SETS", help="Data sets to run, separated by commas. Repeatable.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a few small data sets with fewer folds, in less than a minute.")
    ] = False,
    output: Annotated[
        Path | None,
        output_option(
            "DIR", "The folder for tables and finished cells; an interrupted run resumes from it.", "tanbark-PAPER"
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(metavar="N", help="Number of processes, -1 for all cores.")] = -1,
) -> None:
    """Repeat the experiment of a paper on the data sets in a folder.

    Prints the tables of the paper next to ours and writes them as Markdown, HTML and CSV. Finished cells are saved, so
    the same command resumes an interrupted run.
    """
    if paper not in PAPERS:
        instead = suggestion(paper, PAPERS, f"the papers are {', '.join(PAPERS)}")
        raise CommandError(f"there is no paper {paper!r}; {instead}")
    from joblib import effective_n_jobs

    from tanbark.datasets import read_folder

    if jobs == 0:
        raise CommandError("--jobs must not be 0; use -1 for all cores")
    experiment: Experiment = import_module(f"tanbark.papers.{paper}").EXPERIMENT
    if experiment.adjusts and find_spec("statsmodels") is None:
        raise CommandError(f"{paper} needs statsmodels; install it with: pip install 'tanbark[papers]'")
    wanted = _selected_files(experiment, only, quick)
    folder = read_folder(data)
    present = [file for file in wanted if file in folder]
    absent = [file for file in wanted if file not in folder]
    if not present:
        raise CommandError(f"{data} has none of the data sets {listed(absent)}; each is a file such as {absent[0]}.csv")
    target = output or Path(f"tanbark-{paper}")
    if target.exists() and not target.is_dir():
        raise CommandError(f"{target} is a file; --output must be a folder")
    target.mkdir(parents=True, exist_ok=True)
    costs, failed = _costs(experiment, folder, present)
    done = _run(experiment, costs, data, target / "cells", quick, int(effective_n_jobs(jobs)))
    failed |= {one.cell.file: one.failed for one in done if one.failed}
    results = {file: [one for one in done if one.cell.file == file] for file in present if file not in failed}
    paragraphs = _paragraphs(experiment, done, absent, failed, quick)
    console = summary_console()
    console.print(experiment.citation, style="bold")
    for paragraph in paragraphs[1:]:
        console.print(paragraph)
    if not results:
        raise CommandError(f"all data sets failed; {present[0]}: {failed[present[0]]}")
    _print_and_write(console, experiment, results, paragraphs, target, quick)


def _selected_files(experiment: Experiment, only: list[str] | None, quick: bool) -> list[str]:
    """Return the files of the selected data sets. Raise CommandError if the paper does not use one of them."""
    known = experiment.sets
    if not only:
        return [file for file in known if not quick or file in experiment.quick_sets]
    by_name = {name.lower(): file for file, name in known.items()}
    selected = [name.strip() for names in only for name in names.split(",") if name.strip()]
    if not selected:
        raise CommandError(f"--only names no data set; {experiment.name} has {', '.join(known)}")
    for name in selected:
        if name not in known and name.lower() not in by_name:
            instead = suggestion(name, known, f"it has {', '.join(known)}")
            raise CommandError(f"{experiment.name} has no data set {name!r}; {instead}")
    files = {name if name in known else by_name[name.lower()] for name in selected}
    return [file for file in known if file in files]


def _costs(experiment: Experiment, folder: Folder, files: Sequence[str]) -> tuple[dict[str, float], dict[str, str]]:
    """Return the cost of a cell of each data set, and the errors of the data sets that cannot be read."""
    costs: dict[str, float] = {}
    unreadable: dict[str, str] = {}
    for file in files:
        try:
            costs[file] = experiment.cost(*folder[file].table.shape)
        except ValueError as error:
            unreadable[file] = error_text(error)
    return costs, unreadable


def _run(
    experiment: Experiment, costs: Mapping[str, float], data: Path, folder: Path, quick: bool, jobs: int
) -> list[Done]:
    """Run all cells, show the progress and the time left, and return the results."""
    from tanbark.papers.experiment_cells import run_cells

    # Long cells come last, so that an interrupted run has finished as many data sets as possible.
    cells = [cell for file in sorted(costs, key=costs.__getitem__) for cell in experiment.cells(file, quick)]
    total = sum(costs[cell.file] for cell in cells)
    cost_run, cost_loaded, n_done = 0.0, 0.0, 0
    began = time.monotonic()
    try:
        with progress(experiment.name, total) as bar:

            def show(done: Done) -> None:
                nonlocal cost_run, cost_loaded, n_done
                n_done += 1
                if done.found:
                    cost_loaded += costs[done.cell.file]
                else:
                    cost_run += costs[done.cell.file]
                left = time_left(time.monotonic() - began, cost_run / max(total - cost_loaded, 1e-9))
                detail = f"{n_done:,} of {len(cells):,} cells: {experiment.sets[done.cell.file]}{left}"
                bar(experiment.name, cost_run + cost_loaded, total, detail)

            return run_cells(experiment.work, cells, data, folder, jobs, show)
    except KeyboardInterrupt:
        err().print(f"{n_done:,} of {len(cells):,} cells are saved in {folder}; the same command resumes from them")
        raise


def _paragraphs(
    experiment: Experiment, done: Sequence[Done], absent: Sequence[str], failed: Mapping[str, str], quick: bool
) -> list[str]:
    """Return the introduction of the report: the paper, its protocol, and the data sets run, absent and failed."""
    seconds = sum(one.seconds for one in done)
    took = f"{seconds / 60:.1f} minutes" if seconds >= 60 else f"{seconds:.0f} seconds"
    present = {one.cell.file for one in done}
    paragraphs = [
        experiment.citation,
        experiment.protocol,
        f"{len(present)} of the {len(experiment.sets)} data sets; {len(done):,} cells took {took} in total.",
    ]
    if quick:
        paragraphs.append(
            f"A quick run with {experiment.quick_parts} parts of each data set instead of {experiment.parts}: the "
            "numbers of folds, orders and rows above apply to a full run only."
        )
    if absent:
        paragraphs.append(f"Absent: {', '.join(experiment.sets[file] for file in absent)}.")
    paragraphs += [f"Failed: {experiment.sets[file]} ({reason})." for file, reason in failed.items()]
    return paragraphs


def _print_and_write(
    console: Console,
    experiment: Experiment,
    results: dict[str, list[Done]],
    paragraphs: list[str],
    target: Path,
    quick: bool,
) -> None:
    from tanbark.papers.experiment import Section, write_html, write_markdown

    parts = experiment.report(results)
    for part in parts:
        if isinstance(part, Section):
            _print(console, part)
    stem = f"{experiment.name}-quick" if quick else experiment.name
    title = f"{experiment.name}, reproduced"
    write_markdown(target / f"{stem}.md", title, paragraphs, parts)
    write_html(target / f"{stem}.html", title, paragraphs, parts)
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
    # A table that is too wide for the window is easier to read than one with broken numbers.
    width = console.width
    console.width = max(
        width, console.measure(table, options=console.options.update(max_width=MAX_TABLE_WIDTH)).maximum
    )
    console.print(table)
    console.width = width


def _figures(parts: Sequence[Section | Drawing]) -> list[dict[str, Any]]:
    """Return each number of the tables with its table, row and column."""
    from tanbark.papers.experiment import Section

    return [
        {"table": part.title, "row": row[0], "of": " ".join(row[1 : part.labels]), "column": column, "value": value}
        for part in parts
        if isinstance(part, Section)
        for row in part.rows
        for column, value in zip(part.columns[part.labels :], row[part.labels :], strict=True)
    ]


def _records(results: dict[str, list[Done]]) -> list[dict[str, Any]]:
    """Return all records with their data set and part."""
    return [
        {"set": file, "part": one.cell.part + 1, "parts": one.cell.parts, **record}
        for file, done in results.items()
        for one in done
        for record in one.records
    ]


def _write_csv(path: Path, lines: list[dict[str, Any]]) -> None:
    """Write dictionaries as CSV, with a column for each key."""
    from tanbark.atomic_write import replacing

    text = io.StringIO()
    writer = csv.DictWriter(text, list(dict.fromkeys(name for line in lines for name in line)))
    writer.writeheader()
    writer.writerows(lines)
    with replacing(path) as file:
        file.write(text.getvalue().encode())
