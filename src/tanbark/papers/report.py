"""Tables and drawings, written for a terminal, as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path

from tanbark.evaluate.page import figure, page, table
from tanbark.writing import replacing

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
