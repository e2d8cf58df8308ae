"""The experiment of a paper: data sets, runs, and tables beside the printed ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.atomic_write import replacing
from tanbark.drawing.html_page import figure, page, table
from tanbark.papers.experiment_cells import Cell, Done, Work

AGREES, DIFFERS = "✓", "✗"
CLOSE = 2.0
"""A printed figure agrees with ours if it is within so many of our standard errors."""

Array = NDArray[np.float64]


def over_folds(done: Sequence[Done], quantity: str, **which: Any) -> Array | None:
    """Return a quantity in each fold, of the records that have these values; None where one has it not."""
    found = [
        record.get(quantity)
        for one in done
        for record in one.records
        if all(record.get(name) == value for name, value in which.items())
    ]
    return None if not found or any(value is None for value in found) else np.array(found, np.float64)


def why_failed(done: Sequence[Done], **which: Any) -> str:
    """Return why the records that have these values have no figures."""
    reasons = (
        record["failed"]
        for one in done
        for record in one.records
        if "failed" in record and all(record.get(name) == value for name, value in which.items())
    )
    return next(reasons, "not run")


def error_of_mean(values: Array) -> float:
    """Return the standard error of the mean over folds, taken for independent as papers do."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def agrees(values: Array, printed: float, step: float) -> bool:
    """Return whether a printed figure, rounded to `step`, is within two standard errors of the mean of ours."""
    return bool(abs(values.mean() - printed) <= CLOSE * np.nan_to_num(error_of_mean(values)) + step / 2)


def mean_and_error(values: Array, scale: float = 1.0, digits: int = 2) -> str:
    """Return a mean and its standard error as text.

    >>> mean_and_error(np.array([0.25, 0.35]), scale=100.0)
    '30.00 ±5.00'
    """
    return f"{scale * values.mean():.{digits}f} ±{scale * error_of_mean(values):.{digits}f}"


def mark(agreements: Iterable[bool]) -> str:
    """Return how many of some figures agree.

    >>> mark([True, True, False])
    '2 of 3'
    """
    each = list(agreements)
    return f"{sum(each)} of {len(each)}" if each else "none to compare"


Cells = Sequence[str]


@dataclass(frozen=True)
class Section:
    """A table with a title and what is to be known about it; the first `labels` columns are text, the rest figures."""

    title: str
    words: str
    columns: Cells
    rows: Sequence[Cells]
    labels: int = 1


@dataclass(frozen=True)
class Drawing:
    """A drawing with a title; its file is called by its name."""

    title: str
    name: str
    svg: str


def write_markdown(path: Path, title: str, words: Sequence[str], parts: Sequence[Section | Drawing]) -> None:
    """Write a report as Markdown, with its drawings in files beside it."""
    lines = [f"# {title}", ""]
    for paragraph in words:
        lines += [paragraph, ""]
    for part in parts:
        if isinstance(part, Drawing):
            drawing = path.with_name(f"{path.stem}-{part.name}.svg")
            _write(drawing, part.svg)
            lines += [f"![{part.title}]({drawing.name})", ""]
            continue
        bars = ["---"] * part.labels + ["---:"] * (len(part.columns) - part.labels)
        lines += [f"## {part.title}", "", *([part.words, ""] if part.words else [])]
        lines += [_row(part.columns), _row(bars), *map(_row, part.rows), ""]
    _write(path, "\n".join(lines))


def _row(cells: Cells) -> str:
    shown = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(shown)} |"


def write_html(path: Path, title: str, words: Sequence[str], parts: Sequence[Section | Drawing]) -> None:
    """Write a report as one HTML file."""
    body = [f"<p>{escape(paragraph)}</p>" for paragraph in words]
    for drawn, together in groupby(parts, lambda part: isinstance(part, Drawing)):
        if drawn:
            figures = "\n".join(figure(part.svg, part.title) for part in together if isinstance(part, Drawing))
            body.append(f'<div class="plots">\n{figures}\n</div>')
            continue
        for part in together:
            if isinstance(part, Section):
                body += [f"<h2>{escape(part.title)}</h2>", f"<p>{escape(part.words)}</p>" if part.words else ""]
                body.append(table(part.columns, part.rows))
    _write(path, page(title, "\n".join(body)))


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


@dataclass(frozen=True)
class PaperSet:
    """A data set of a paper: the name of its file, without ``.csv``, and what the paper calls it."""

    file: str
    name: str


Results = Mapping[str, Sequence[Done]]
"""What came of the cells of each data set, by its file's name."""


@dataclass(frozen=True)
class Experiment:
    """The experiment of a paper.

    Parameters
    ----------
    name : str
    citation : str
    protocol : str
        What was done here, in a few sentences.
    sets : tuple of PaperSets
        All of the paper's, whether their files are there or not.
    quick_sets : tuple of str
        The files of a run that takes a minute or two.
    parts, quick_parts : int
        Into how many cells a data set is divided: folds, or orders.
    work : callable
        What is done in a cell.
    cost : callable
        From the numbers of rows and attributes to how long a cell takes, in whatever unit.
    report : callable
        The tables and drawings that come of the results.
    apart : bool
        Whether there is a further cell on its own.
    adjusts : bool
        Whether p-values are adjusted by Hommel's procedure, for which statsmodels is needed.
    """

    name: str
    citation: str
    protocol: str
    sets: tuple[PaperSet, ...]
    quick_sets: tuple[str, ...]
    parts: int
    quick_parts: int
    work: Work
    cost: Callable[[int, int], float]
    report: Callable[[Results], list[Section | Drawing]]
    apart: bool = False
    adjusts: bool = False

    def cells(self, file: str, quick: bool) -> list[Cell]:
        """Return the cells of a data set."""
        parts = self.quick_parts if quick else self.parts
        return [Cell(file, part, parts, quick) for part in range(parts + self.apart)]

    def called(self, file: str) -> str:
        """Return what the paper calls a data set."""
        return next(known.name for known in self.sets if known.file == file)
