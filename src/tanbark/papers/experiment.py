"""The definition of a paper's experiment, the statistics of its results, and its report."""

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
MAX_STANDARD_ERRORS = 2.0
"""A printed figure agrees with ours if it is within this number of our standard errors."""

Array = NDArray[np.float64]
Results = Mapping[str, Sequence[Done]]
"""The results of the cells of each data set, by the name of its file."""


@dataclass(frozen=True)
class Experiment:
    """The experiment of a paper, named like its module."""

    name: str
    citation: str
    protocol: str
    """A description of the experiment as it is run here, in a few sentences."""
    sets: Mapping[str, str]
    """The names in the paper of all its data sets, by the names of their files, without ``.csv``, present or not."""
    quick_sets: tuple[str, ...]
    """The files of a quick run, which takes a minute or two."""
    quick_parts: int
    work: Work
    """The function that runs a cell."""
    cost: Callable[[int, int], float]
    """The time that a cell takes, in any unit, as a function of the numbers of rows and attributes."""
    report: Callable[[Results], list[Section | Drawing]]
    parts: int = 10
    """The number of cells of a data set: folds, or orders of rows; a quick run has `quick_parts`."""
    extra_cell: bool = False
    """Whether each data set has an additional cell after its parts."""
    adjusts: bool = False
    """Whether the report adjusts p-values by Hommel's procedure, which needs statsmodels."""

    def cells(self, file: str, quick: bool) -> list[Cell]:
        """Return the cells of a data set."""
        parts = self.quick_parts if quick else self.parts
        return [Cell(file, part, parts, quick) for part in range(parts + self.extra_cell)]


# Statistics of results


def fold_values(results: Sequence[Done], quantity: str, **which: Any) -> Array | None:
    """Return a quantity in each fold, of the records with the values `which`, or None if any of them lacks it."""
    values = [
        record.get(quantity)
        for result in results
        for record in result.records
        if all(record.get(name) == value for name, value in which.items())
    ]
    return None if not values or any(value is None for value in values) else np.array(values, np.float64)


def failure_reason(results: Sequence[Done], **which: Any) -> str:
    """Return the reason why the records with the values `which` have no figures."""
    reasons = (
        record["failed"]
        for result in results
        for record in result.records
        if "failed" in record and all(record.get(name) == value for name, value in which.items())
    )
    return next(reasons, "not run")


def standard_error(values: Array) -> float:
    """Return the standard error of the mean over folds, which are treated as independent, as in the papers."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def agrees(values: Array, printed: float, step: float) -> bool:
    """Return whether a printed figure, rounded to `step`, is within two standard errors of the mean of `values`."""
    tolerance = MAX_STANDARD_ERRORS * np.nan_to_num(standard_error(values)) + step / 2
    return bool(abs(values.mean() - printed) <= tolerance)


def mean_and_error(values: Array, scale: float = 1.0, digits: int = 2) -> str:
    """Format a mean and its standard error.

    >>> mean_and_error(np.array([0.25, 0.35]), scale=100.0)
    '30.00 ±5.00'
    """
    return f"{scale * values.mean():.{digits}f} ±{scale * standard_error(values):.{digits}f}"


def agreement_count(agreements: Iterable[bool]) -> str:
    """Format the number of figures that agree.

    >>> agreement_count([True, True, False])
    '2 of 3'
    """
    agreements = list(agreements)
    return f"{sum(agreements)} of {len(agreements)}" if agreements else "none to compare"


# Reports


@dataclass(frozen=True)
class Section:
    """A table with a title and an explanation; the first `labels` columns are text, the others figures."""

    title: str
    words: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    labels: int = 1


@dataclass(frozen=True)
class Drawing:
    """An SVG drawing with a title, and the name that becomes part of its file name."""

    title: str
    name: str
    svg: str


def write_markdown(path: Path, title: str, words: Sequence[str], parts: Sequence[Section | Drawing]) -> None:
    """Write a report as Markdown, with its drawings as files next to it."""
    lines = [f"# {title}", ""]
    for paragraph in words:
        lines += [paragraph, ""]
    for part in parts:
        if isinstance(part, Drawing):
            drawing = path.with_name(f"{path.stem}-{part.name}.svg")
            _write(drawing, part.svg)
            lines += [f"![{part.title}]({drawing.name})", ""]
            continue
        alignments = ["---"] * part.labels + ["---:"] * (len(part.columns) - part.labels)
        lines += [f"## {part.title}", "", *([part.words, ""] if part.words else [])]
        lines += [_markdown_row(part.columns), _markdown_row(alignments), *map(_markdown_row, part.rows), ""]
    _write(path, "\n".join(lines))


def write_html(path: Path, title: str, words: Sequence[str], parts: Sequence[Section | Drawing]) -> None:
    """Write a report as one HTML file."""
    body = [f"<p>{escape(paragraph)}</p>" for paragraph in words]
    for are_drawings, group in groupby(parts, lambda part: isinstance(part, Drawing)):
        if are_drawings:
            figures = "\n".join(figure(part.svg, part.title) for part in group if isinstance(part, Drawing))
            body.append(f'<div class="plots">\n{figures}\n</div>')
            continue
        for part in group:
            if isinstance(part, Section):
                body += [f"<h2>{escape(part.title)}</h2>", f"<p>{escape(part.words)}</p>" if part.words else ""]
                body.append(table(part.columns, part.rows))
    _write(path, page(title, "\n".join(body)))


def _markdown_row(cells: Sequence[str]) -> str:
    escaped = (" ".join(cell.split()).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _write(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())
