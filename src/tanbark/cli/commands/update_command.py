"""``tanbark update``: learn from further rows."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.atomic_write import remove_leftovers, replacing
from tanbark.cli.input.file_lock import alone
from tanbark.cli.input.input_columns import rows_named
from tanbark.cli.input.options import Data, Database, From, Json, Missing
from tanbark.cli.news import News, read_news
from tanbark.cli.output.model_text import one_network
from tanbark.cli.terminal.console import CommandError, listed, percent, print_json, progress, told

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers._base.counts_classifier import CountsClassifier
    from tanbark.cli.news import News
    from tanbark.schema import Schema
    from tanbark.sources.database import Query
    from tanbark.sources.file_source import FileSource


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


ASIDE = ".update"
"""How the name ends under which an update writes before it replaces the model."""


def update(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    data: Data,
    chunk_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A name for these rows, which the model remembers and learns once only."),
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option(metavar="ROWS", help="A row counts half after so many further ones.", show_default="none"),
    ] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another update.")] = 60.0,
    database: Database = None,
    kind: From = None,
    missing: Missing = None,
    as_json: Json = False,
) -> None:
    """Learn from further rows and write the model back.

    The file is replaced whole: whatever happens, it is the old model or the new one, and the new one once this command
    has ended well. With a name for the rows the command can be repeated until it ends well. Of two updates of a model
    at once, the second waits.

    With --json the keys are file, data, chunk_id, learned (rows; 0 where there was nothing new), notes and, where rows
    were learned, rows_before, kept (the share of their weight that is left), rows_now, foreseen (accuracy, log_loss,
    rows_of_new_classes), new_classes, new_levels (by column), new_edges and gone_edges.
    """
    if half_life is not None and not 0 < half_life < float("inf"):
        raise CommandError(f"--half-life must be a number of rows above 0, got {half_life:g}")
    if not wait >= 0:
        raise CommandError(f"--wait must be a number of seconds of at least 0, got {wait:g}")
    if chunk_id is not None and not chunk_id.strip():
        raise CommandError("--chunk-id must not be empty")
    source = rows_named(data, database, missing, kind)
    if not model.is_file():
        raise CommandError(f"{model} is a folder, not a model" if model.is_dir() else f"there is no file {model}")
    path = Path(os.path.realpath(model))
    with alone(path, wait):
        remove_leftovers(path, ASIDE)
        done = _update(told(as_json), model, path, source, chunk_id, half_life)
    if as_json:
        print_json({"file": str(model), "data": source.name, "chunk_id": chunk_id, **done})


def _update(
    console: Console,
    model: Path,
    path: Path,
    source: FileSource | Query,
    chunk_id: str | None,
    half_life: float | None,
) -> dict[str, Any]:
    """Do what the command does while no other update of the model can run, and return what was done."""
    with progress() as bar:
        task = bar.add_task("starting", total=None, detail="")
        from tanbark.files import load, to_bytes

        fitted = load(path)
        threads = fitted.n_jobs
        if chunk_id in fitted.chunk_ids_:
            return _nothing(console, f"{model} has learned the chunk {chunk_id!r} already; nothing was counted")
        _refuse_rows_only(fitted, model)
        bar.remove_task(task)
        before = Snapshot.of(fitted.set_params(n_jobs=-1))
        # A text of no bytes does not even name columns; a Parquet file of none is broken.
        empty = source.nbytes == 0 and source.kind != "parquet"
        news = News() if empty else read_news(fitted, source.as_written(), half_life, bar)
        if news.counts is None:
            lack = f" with a {fitted.schema_.class_name}" if news.unlabelled else ""
            return _nothing(console, f"{source.name} has no rows{lack}; {model} stays as it was")
        bar.add_task("learning", total=None, detail=f"{news.rows:,} rows")
        kept = 1.0 if half_life is None else 0.5 ** (news.rows / half_life)
        fitted._learn_further(news.counts, kept)
        if chunk_id is not None:
            fitted.chunk_ids_ = (*fitted.chunk_ids_, chunk_id)
        written = to_bytes(fitted.set_params(n_jobs=threads))
        with replacing(path, ASIDE) as file:
            file.write(written)
    after = Snapshot.of(fitted)
    tell(console, model, before, after, news, kept, chunk_id)
    return changes(before, after, news, kept)


def _nothing(console: Console, why: str) -> dict[str, Any]:
    """Say why nothing was learned."""
    console.print(why, soft_wrap=True)
    return {"learned": 0, "notes": [why]}


def _refuse_rows_only(model: CountsClassifier, path: Path) -> None:
    """Raise the model's own reason where it does not learn from counts."""
    try:
        model.partial_fit  # noqa: B018 (where it is not there, the error says why)
    except AttributeError as error:
        raise CommandError(f"{path} cannot be updated: {error}") from error
