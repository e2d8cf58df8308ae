"""``tanbark update``: learn from further rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.atomic_write import remove_leftovers, replacing
from tanbark.cli.input.input_columns import open_source, print_source_notes
from tanbark.cli.input.model_rows import ModelRows
from tanbark.cli.input.options import Data, Database, Encoding, From, Json, Missing, Sheet, Weight
from tanbark.cli.output.printed_text import left_out_note, one_network
from tanbark.cli.terminal.console import CommandError, listed, locked, print_json, progress, summary_console
from tanbark.messages import percent, similar_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray
    from rich.console import Console

    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.classifiers.prequential_update import PendingUpdate
    from tanbark.cli.terminal.console import ProgressLine
    from tanbark.schema import Schema
    from tanbark.sources.database import Query
    from tanbark.sources.duckdb_rows import Rows
    from tanbark.sources.file_source import FileSource

TEMPORARY_SUFFIX = ".update"
"""The ending of the temporary file that replaces the model."""
MAX_EDGES_SHOWN = 6
MAX_LEVELS_SHOWN = 8
KEPT_BY_EVIDENCE = (
    "the rows were added to the tables of the model; its levels, intervals, edges and weights change only in the next "
    "tanbark fit, so new levels count as missing"
)
"""What an update of evidence-bn does not change."""


def update(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    data: Data,
    chunk_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="A name for these rows; the model remembers it and learns them only once."),
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option(
            metavar="ROWS",
            help="The number of rows after which a row has half its weight.",
            show_default="none",
        ),
    ] = None,
    wait: Annotated[float, typer.Option(metavar="SECONDS", help="How long to wait for another update.")] = 60.0,
    database: Database = None,
    kind: From = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    missing: Missing = None,
    weight: Weight = None,
    as_json: Json = False,
) -> None:
    """Learn from further rows and write the model back.

    The file is replaced as a whole: whatever happens, it holds the old model or the new one, and the new one once this
    command has succeeded. With a name for the rows the command can be repeated safely until it succeeds. If two updates
    of a model run at once, the second waits.

    The rows of evidence-bn are added to its tables. Its schema, structure and weights stay as they are until the next
    fit: new levels count as missing, and new classes are refused.

    The rows are predicted before they are learned. In the log loss, a class that the model has never seen has the
    probability 1 / (1 + rows learned before).

    With --json the keys are file, data, chunk_id, learned (rows; 0 if there was nothing new), notes and, if rows were
    learned, rows_before, kept (the share of their weight that is left), rows_now, foreseen (accuracy, log_loss,
    rows_of_new_classes), new_classes, new_levels (by column), new_edges and gone_edges.
    """
    if half_life is not None and not 0 < half_life < float("inf"):
        raise CommandError(f"--half-life must be a number of rows above 0, got {half_life:g}")
    if not wait >= 0:
        raise CommandError(f"--wait must be a number of seconds of at least 0, got {wait:g}")
    if chunk_id is not None and not chunk_id.strip():
        raise CommandError("--chunk-id must not be empty")
    source = open_source(data, database, kind, encoding, sheet)
    print_source_notes(source)
    if not model.is_file():
        raise CommandError(f"{model} is a folder, not a model" if model.is_dir() else f"there is no file {model}")
    path = Path(os.path.realpath(model))
    with locked(path, wait, "try again or wait longer with --wait"):
        remove_leftovers(path, TEMPORARY_SUFFIX)
        done = _update(summary_console(as_json), model, path, source, missing, weight, chunk_id, half_life)
    if as_json:
        print_json({"file": str(model), "data": source.name, "chunk_id": chunk_id, **done})


def _update(
    console: Console,
    model: Path,
    path: Path,
    source: FileSource | Query,
    missing: list[str] | None,
    weight: str | None,
    chunk_id: str | None,
    half_life: float | None,
) -> dict[str, Any]:
    """Update the model while no other update of it can run, and return the changes."""
    with progress() as bar:
        bar("starting", 0, None)
        from tanbark.classifiers.prequential_update import pending_update
        from tanbark.files import load_classifier, to_bytes

        fitted = load_classifier(path)
        threads = fitted.n_jobs
        if chunk_id in fitted.chunk_ids_:
            return _nothing(console, f"{model} has already learned the chunk {chunk_id!r}; nothing was counted")
        before = Snapshot.of(fitted.set_params(n_jobs=-1))
        try:
            read = ReadRows(pending_update(fitted, half_life))
        except ValueError as error:
            raise CommandError(f"{model} cannot be updated: {error}") from error
        # A text file without bytes does not even name columns; a Parquet file without bytes is broken.
        if source.nbytes != 0 or source.kind == "parquet":
            _read(read, fitted, source.as_written(), missing, weight, bar)
        pending = read.pending
        if not pending.rows:
            lack = f" with a {fitted.schema_.class_name}" if read.unlabelled else ""
            lack += "" if weight is None else f" of positive {weight}"
            return _nothing(console, f"{source.name} has no rows{lack}; {model} is unchanged")
        bar("learning", 0, None, f"{pending.rows:,} rows")
        learned = fitted.counts_
        pending.apply()
        if half_life is None and fitted.counts_ == learned * 2:
            read.notes.append(
                "these are the rows that the model had learned from, which now count twice; their accuracy is not that "
                "of new rows"
            )
        if chunk_id is not None:
            fitted.chunk_ids_ = (*fitted.chunk_ids_, chunk_id)
        written = to_bytes(fitted.set_params(n_jobs=threads))
        with replacing(path, TEMPORARY_SUFFIX) as file:
            file.write(written)
    after = Snapshot.of(fitted)
    _print_changes(console, model, before, after, read, chunk_id)
    return _changes(before, after, read)


def _nothing(console: Console, why: str) -> dict[str, Any]:
    """Say why nothing was learned."""
    console.print(why, soft_wrap=True)
    return {"learned": 0, "notes": [why]}


@dataclass
class ReadRows:
    """The rows that were read, scored and counted, and notes about them.

    Parameters
    ----------
    pending : PendingUpdate
    unlabelled : int
        The number of rows without a class, which are left out.
    ignored : tuple of str
        Columns that the model does not have.
    notes : list of str
        Warnings of the library.
    """

    pending: PendingUpdate
    unlabelled: int = 0
    ignored: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def _read(
    read: ReadRows,
    model: CountsClassifier,
    written: Rows,
    missing: list[str] | None,
    weight: str | None,
    bar: ProgressLine,
) -> None:
    """Read rows, and score and count those that have a class."""
    from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

    schema = model.schema_
    if schema.class_name not in written.names:
        similar = similar_name(schema.class_name, [name for name in written.names if name not in schema.input_names])
        advice = "" if similar is None else f"; rename {similar!r} if it is the same"
        raise CommandError(
            f"{written.source.name} lacks the column {schema.class_name!r}, the class of the model{advice}"
        )
    rows = ModelRows.of(schema, written, None, missing, strict=True)
    rows.check_weight(weight)
    read.ignored = tuple(name for name in rows.not_used if name != weight)
    before = 0
    with collecting(UnreadableValues()) as unreadable:
        for X, y, columns in rows.batches(bar, "reading", [] if weight is None else [rows.expression(weight)]):
            weights = rows.weights(columns, weight, before)
            labelled = [label is not None for label in y or ()]
            read.unlabelled += X.num_rows - sum(labelled)
            if any(labelled):
                used = None if weights is None else weights[labelled]
                _add(read, X.filter(labelled), [label for label in y or () if label is not None], used)
            before += X.num_rows
        unreadable.check()
    read.notes += unreadable.notes()


def _add(read: ReadRows, X: pa.Table, y: list[Any], weights: NDArray[np.float64] | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="X has feature names")
        read.pending.add(X, y, weights)
    read.notes = list(dict.fromkeys([*read.notes, *(str(warning.message) for warning in caught)]))


@dataclass(frozen=True)
class Snapshot:
    """The amount of data that a model has learned, its schema and its edges."""

    rows: float
    is_weighted: bool
    schema: Schema
    edges: frozenset[tuple[str, ...]]
    """The two ends of each edge, sorted; followed by the class if each class has its own tree."""

    @classmethod
    def of(cls, model: CountsClassifier) -> Snapshot:
        """Return a snapshot of a model."""
        counts = model.counts_.class_counts
        is_weighted = model.class_weight is not None or counts.dtype.kind == "f"
        return cls(counts.sum().item(), is_weighted, model.schema_, frozenset(_edges(model)))


def _print_changes(
    console: Console, model: Path, before: Snapshot, after: Snapshot, read: ReadRows, chunk_id: str | None
) -> None:
    """Print what changed, and how well the new rows were predicted before they were learned."""
    from rich.table import Table
    from rich.text import Text

    kept = read.pending.former_weight
    left = "" if kept == 1.0 else f", which now count as {_number(before.rows * kept)}"
    chunk = "" if chunk_id is None else f" with the chunk {chunk_id!r}"
    amounts = f"{_number(before.rows)} rows before{left}, {_number(after.rows)} now"
    if after.is_weighted:
        amounts = f"a total weight of {_number(before.rows)} before{left}, {_number(after.rows)} now"
    rows = f": {amounts}{chunk}"
    console.print(Text.assemble((str(model), "bold"), rows), soft_wrap=True)
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("predicted", _predicted(read.pending))
    classes = _new_classes(before.schema, after.schema)
    if classes:
        grid.add_row("new classes", Text(_some(map(str, classes))))
    for name, levels in _new_levels(before.schema, after.schema).items():
        grid.add_row("new levels", Text(f"{name}: {_some(map(str, levels))}"))
    for title, edges in (("new edges", after.edges - before.edges), ("removed edges", before.edges - after.edges)):
        if edges:
            grid.add_row(title, Text(_some(map(_edge_text, sorted(edges)), MAX_EDGES_SHOWN)))
    if after.edges and after.edges == before.edges:
        grid.add_row("edges", "unchanged")
    console.print(grid)
    for note in _notes(read, after.schema):
        console.print(f"note: {note}", style="yellow", soft_wrap=True)


def _changes(before: Snapshot, after: Snapshot, read: ReadRows) -> dict[str, Any]:
    """Return the changes for a script."""
    pending = read.pending
    return {
        "learned": pending.rows,
        "rows_before": before.rows,
        "kept": pending.former_weight,
        "rows_now": after.rows,
        "foreseen": {
            "accuracy": pending.accuracy,
            "log_loss": pending.log_loss,
            "rows_of_new_classes": pending.rows_of_new_classes,
        },
        "new_classes": _new_classes(before.schema, after.schema),
        "new_levels": _new_levels(before.schema, after.schema),
        "new_edges": sorted(after.edges - before.edges),
        "gone_edges": sorted(before.edges - after.edges),
        "notes": _notes(read, after.schema),
    }


def _notes(read: ReadRows, schema: Schema) -> list[str]:
    from tanbark.classifiers.prequential_update import PendingTables

    notes = list(read.notes)
    if read.unlabelled:
        notes.append(left_out_note(read.unlabelled, schema.class_name))
    if read.ignored:
        columns, are = ("the column", "is") if len(read.ignored) == 1 else ("the columns", "are")
        notes.append(f"{columns} {listed(read.ignored)} {are} not in the model and {are} ignored")
    if isinstance(read.pending, PendingTables):
        notes.append(KEPT_BY_EVIDENCE)
    return notes


def _predicted(pending: PendingUpdate) -> str:
    """Return how well the model predicted the rows before it learned them."""
    words = f"accuracy {percent(pending.accuracy)}, log loss {pending.log_loss:.3f} nats"
    words += f" on the {pending.rows:,} new rows before they were learned" if pending.rows > 1 else " on the new row"
    new = pending.rows_of_new_classes
    return f"{words} ({new:,} of new classes)" if new else words


def _new_classes(before: Schema, after: Schema) -> list[Any]:
    return [label for label in after.classes if label not in before.classes]


def _new_levels(before: Schema, after: Schema) -> dict[str, list[Any]]:
    """Return the new levels of each column."""
    found = {}
    for old, new in zip(before.columns, after.columns, strict=True):
        known = set(getattr(old, "levels", ()))
        levels = [level for level in getattr(new, "levels", ()) if level not in known]
        if levels:
            found[new.name] = levels
    return found


def _edges(model: CountsClassifier) -> Iterable[tuple[str, ...]]:
    """Yield the edges between attributes in either direction; if each class has its own tree, with the class."""
    found = one_network(model)
    if isinstance(found, tuple):
        for label, network in zip(model.schema_.classes, found, strict=True):
            yield from ((*sorted(edge), str(label)) for edge in network.edges)
    elif found is not None:
        yield from (tuple(sorted(edge)) for edge in found.edges)


def _edge_text(edge: tuple[str, ...]) -> str:
    """Return an edge as text.

    >>> _edge_text(("rain", "wet")), _edge_text(("rain", "wet", "yes"))
    ('rain – wet', 'rain – wet (yes)')
    """
    first, second, *label = edge
    return f"{first} – {second}" + "".join(f" ({one})" for one in label)


def _some(words: Iterable[str], most: int = MAX_LEVELS_SHOWN) -> str:
    """Return words separated by commas; of a long list the first few.

    >>> _some(["a", "b", "c"], most=2)
    'a, b and 1 more'
    """
    words = list(words)
    shown = ", ".join(words[:most])
    return shown if len(words) <= most else f"{shown} and {len(words) - most:,} more"


def _number(rows: float) -> str:
    """Return a number of rows, which is fractional if they are weighted.

    >>> _number(1200.0), _number(12.25)
    ('1,200', '12.2')
    """
    return f"{rows:,.0f}" if rows == int(rows) else f"{rows:,.1f}"
