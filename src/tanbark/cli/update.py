"""``tanbark update``: a model learns from further rows."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.changes import Snapshot, changes, tell
from tanbark.cli.console import print_json, progress, told
from tanbark.cli.errors import CommandError
from tanbark.cli.inputs import rows_named
from tanbark.cli.lock import alone
from tanbark.cli.news import News, read_news
from tanbark.cli.options import Data, Database, From, Json, Missing
from tanbark.writing import remove_leftovers, replacing

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.base import CountsClassifier
    from tanbark.sources.database import Query
    from tanbark.sources.file_source import FileSource

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
