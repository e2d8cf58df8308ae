"""What an update changed in a model, for a person to read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.console import listed, percent
from tanbark.cli.drawing import one_network

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.base import CountsClassifier
    from tanbark.cli.news import News
    from tanbark.schema import Schema

MOST_EDGES = 6


@dataclass(frozen=True)
class Snapshot:
    """How much a model has learned at some time, and what it looked like."""

    rows: float
    schema: Schema
    edges: frozenset[tuple[str, ...]]
    """The two ends of each, in order, and where each class has a tree the class."""

    @classmethod
    def of(cls, model: CountsClassifier) -> Snapshot:
        """Return how a model is now."""
        return cls(model.counts_.class_counts.sum().item(), model.schema_, frozenset(_edges(model)))


def tell(
    console: Console,
    model: Path,
    before: Snapshot,
    after: Snapshot,
    news: News,
    kept: float = 1.0,
    chunk_id: str | None = None,
) -> None:
    """Print what changed between two times, and how well the rows between them had been foreseen.

    `kept` is what remained of the weight of the old rows.
    """
    from rich.table import Table
    from rich.text import Text

    left = "" if kept == 1.0 else f", which count as {_number(before.rows * kept)}"
    chunk = "" if chunk_id is None else f" with the chunk {chunk_id!r}"
    rows = f": {_number(before.rows)} rows before{left}, {_number(after.rows)} now{chunk}"
    console.print(Text.assemble((str(model), "bold"), rows), soft_wrap=True)
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("foreseen", _foreseen(news))
    classes = _new_classes(before.schema, after.schema)
    if classes:
        grid.add_row("new classes", Text(_some(map(str, classes))))
    for name, levels in _new_levels(before.schema, after.schema).items():
        grid.add_row("new levels", Text(f"{name}: {_some(map(str, levels))}"))
    for word, edges in (("new edges", after.edges - before.edges), ("gone edges", before.edges - after.edges)):
        if edges:
            grid.add_row(word, Text(_some(map(_edge_words, sorted(edges)), MOST_EDGES)))
    if after.edges and after.edges == before.edges:
        grid.add_row("edges", "as before")
    console.print(grid)
    for note in _notes(news, after.schema):
        console.print(f"note: {note}", style="yellow", soft_wrap=True)


def changes(before: Snapshot, after: Snapshot, news: News, kept: float) -> dict[str, Any]:
    """Return the same for a script."""
    return {
        "learned": news.rows,
        "rows_before": before.rows,
        "kept": kept,
        "rows_now": after.rows,
        "foreseen": {
            "accuracy": news.right / news.rows,
            "log_loss": news.loss / news.foreseeable if news.foreseeable else None,
            "rows_of_new_classes": news.rows - news.foreseeable,
        },
        "new_classes": _new_classes(before.schema, after.schema),
        "new_levels": _new_levels(before.schema, after.schema),
        "new_edges": sorted(after.edges - before.edges),
        "gone_edges": sorted(before.edges - after.edges),
        "notes": _notes(news, after.schema),
    }


def _notes(news: News, schema: Schema) -> list[str]:
    """Return what there is to note of the rows."""
    notes = list(news.notes)
    if news.unlabelled:
        some = "1 row" if news.unlabelled == 1 else f"{news.unlabelled:,} rows"
        notes.append(f"{some} without a {schema.class_name} left out")
    if news.ignored:
        columns = "the column" if len(news.ignored) == 1 else "the columns"
        notes.append(f"{columns} {listed(news.ignored)} ignored: the model knows nothing of the kind")
    return notes


def _foreseen(news: News) -> str:
    """Return how well the model predicted the rows before it learned them."""
    words = f"accuracy {percent(news.right / news.rows)}"
    if news.foreseeable:
        words += f", log loss {news.loss / news.foreseeable:.3f} nats"
    words += f" on the {news.rows:,} new rows before they were learned" if news.rows > 1 else " on the new row"
    strange = news.rows - news.foreseeable
    return f"{words} ({strange:,} of classes never seen, not in the log loss)" if strange else words


def _new_classes(before: Schema, after: Schema) -> list[Any]:
    return [label for label in after.classes if label not in before.classes]


def _new_levels(before: Schema, after: Schema) -> dict[str, list[Any]]:
    """Return the levels that each column has now and had not."""
    found = {}
    for old, new in zip(before.columns, after.columns):
        known = set(getattr(old, "levels", ()))
        levels = [level for level in getattr(new, "levels", ()) if level not in known]
        if levels:
            found[new.name] = levels
    return found


def _edges(model: CountsClassifier) -> Iterable[tuple[str, ...]]:
    """Yield the edges between attributes, whichever way they point; where each class has a tree, for each class."""
    found = one_network(model)
    if isinstance(found, tuple):
        for label, network in zip(model.schema_.classes, found):
            yield from ((*sorted(edge), str(label)) for edge in network.edges)
    elif found is not None:
        yield from (tuple(sorted(edge)) for edge in found.edges)


def _edge_words(edge: tuple[str, ...]) -> str:
    """Return an edge as a person writes it.

    >>> _edge_words(("rain", "wet")), _edge_words(("rain", "wet", "yes"))
    ('rain – wet', 'rain – wet (yes)')
    """
    first, second, *label = edge
    return f"{first} – {second}" + "".join(f" ({one})" for one in label)


def _some(words: Iterable[str], most: int = 8) -> str:
    """Return words separated by commas; of a long list the first few.

    >>> _some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    words = list(words)
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most:,} more"


def _number(rows: float) -> str:
    """Return a number of rows, which need not be whole where they are weighed.

    >>> _number(1200.0), _number(12.25)
    ('1,200', '12.2')
    """
    return f"{rows:,.0f}" if rows == int(rows) else f"{rows:,.1f}"
