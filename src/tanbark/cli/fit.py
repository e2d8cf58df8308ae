"""``tanbark fit``: learn a classifier from a file."""

from __future__ import annotations

import json
import re
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.console import listed, out, percent, progress
from tanbark.cli.drawing import print_structure, score_words
from tanbark.cli.errors import CommandError, as_option
from tanbark.cli.inputs import rows_named
from tanbark.cli.learning import Assignment, Learned, learn
from tanbark.cli.lock import alone, was_updated
from tanbark.sources import Source
from tanbark.sources.file_source import FileSource

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.schema import Encoder

FOLDS = 5
MOST_ROWS_TO_VALIDATE = 100_000
MOST_CELLS_TO_VALIDATE = 20_000_000
LONG_TO_VALIDATE = 10.0
PATIENCE = 60.0
"""So many seconds a running update of the model that is to be replaced is waited for."""
MOST_NODES_TO_DRAW = 40
USUAL_TARGETS = ("class", "target", "label")


def _list_models(wanted: bool) -> None:
    if not wanted:
        return
    from rich.table import Table

    from tanbark.classifiers.registry import REGISTRY

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for entry in REGISTRY.values():
        table.add_row(entry.name, f"{entry.summary} ({entry.paper})")
    out().print(table)
    raise typer.Exit


def fit(
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="A CSV, Parquet, ARFF or JSON-lines file, a pattern, or an SQL query."),
    ],
    target: Annotated[str | None, typer.Option("--target", "-t", metavar="COL", help="The class to predict.")] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="Which classifier; --list-models names all.")
    ] = "tan",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to write.", show_default="DATA.tanbark"),
    ] = None,
    database: Annotated[
        str | None,
        typer.Option(metavar="DB", help="What the query DATA is put to: a DuckDB or SQLite file, or postgresql://..."),
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(metavar="COL", help="Leave a column out. Repeatable.")] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Take a column of numbers as categories. Repeatable.")
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option(metavar="TOKEN", help="What is missing instead of NA, NaN, null and ?. Repeatable."),
    ] = None,
    bins: Annotated[str, typer.Option(help="How numbers are cut: quantile, width or mdlp.")] = "quantile",
    n_bins: Annotated[int, typer.Option(help="Into how many intervals (mdlp finds out).")] = 5,
    max_levels: Annotated[int, typer.Option(help="Beyond so many levels the rarest share one.")] = 255,
    ess: Annotated[float | None, typer.Option(help="Weight of the prior, in rows.", show_default="the model's")] = None,
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the model. Repeatable.")
    ] = None,
    cv: Annotated[
        int | None,
        typer.Option(metavar="FOLDS", help="Folds of cross-validation, 0 for none.", show_default="5, if it is quick"),
    ] = None,
    list_models: Annotated[
        bool, typer.Option("--list-models", help="Name them and exit.", is_eager=True, callback=_list_models)
    ] = False,
) -> None:
    """Learn a classifier from a file, or from the rows of an SQL query, and write it to a file.

    Rows too many for the memory are read more than once and counted as they go by, where counts suffice to learn the
    model.
    """
    if cv is not None and cv != 0 and cv < 2:
        raise CommandError(f"--cv needs at least 2 folds, or 0 for none, got {cv}")
    source = rows_named(data, database, missing, categorical or [])
    path = output or _default_output(source)
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no such folder, or it is one itself")
    with progress() as bar:
        bar.add_task("starting", total=None, detail="")
        settings = _settings(model, ess, setting)
        names = source.schema.names
        target = _target(names, target, source)
        _check_columns(names, target, ignore or [], categorical or [], source)
        encoder = _encoder(bins, n_bins, max_levels)
        bar.remove_task(bar.task_ids[0])
        assignment = Assignment(model, settings, target, ignore or [], categorical or [], encoder)
        learned = learn(assignment, source, bool(cv), bar)
    fitted = learned.model

    from tanbark.files import save

    # An update that has read the old model would overwrite this one.
    with alone(path, PATIENCE) if was_updated(path) else nullcontext():
        save(fitted.set_params(n_jobs=None), path)
    console = out()
    _summarise(console, source, learned, target, ignore or [])
    for note in map(_advice, [*learned.notes, *_folders_unread(source)]):
        console.print(f"note: {note}", style="yellow")
    _validate(console, assignment, learned, cv)
    edges = fitted.network_.edges if hasattr(fitted, "network_") else len(fitted.schema_.columns) > 1
    if edges and len(fitted.schema_.columns) <= MOST_NODES_TO_DRAW:
        console.print()
        print_structure(console, fitted)
    console.print()
    console.print(f"Written to {path} ({_size(path)}). What to try next:", soft_wrap=True)
    console.print(f"  tanbark show {_shell(path)}", style="cyan", soft_wrap=True)
    again = (
        f"{_shell(data)} --database {_shell(without_password(database))}"
        if database
        else _shell(_first(source) or data)
    )
    console.print(f"  tanbark predict {_shell(path)} {again} -o predictions.csv", style="cyan", soft_wrap=True)
    if model == "tan":
        given = again if database else _shell(data)
        other = f"  tanbark fit {given} --target {_shell(target)} --model averaged-tan -o other.tanbark"
        console.print(other, style="cyan", soft_wrap=True)


# Options


def _settings(model: str, ess: float | None, given: list[str] | None) -> dict[str, Any]:
    """Return the settings of a model, whose names and values are checked."""
    from tanbark.classifiers.registry import REGISTRY

    if model not in REGISTRY:
        raise CommandError(f"there is no model {model!r}; the models are {', '.join(REGISTRY)}")
    settings: dict[str, Any] = {} if ess is None else {"ess": ess}
    for text in given or []:
        name, separator, value = text.partition("=")
        if not separator:
            raise CommandError(f"--set wants NAME=VALUE, got {text!r}")
        try:
            plain = {"true": "true", "false": "false", "none": "null"}.get(value.lower(), value)
            settings[name.strip()] = json.loads(plain)
        except ValueError:
            settings[name.strip()] = value
    known = REGISTRY[model].classifier().get_params(deep=False)
    allowed = [name for name in known if name not in ("encoder", "n_jobs", "prior")]
    for name in settings:
        if name not in allowed:
            raise CommandError(f"the model {model!r} has no setting {name!r}; it has {', '.join(allowed)}")
    return settings


def _encoder(bins: str, n_bins: int, max_levels: int) -> Encoder:
    from tanbark.schema import Encoder

    encoder = Encoder(bins=bins, n_bins=n_bins, max_levels=max_levels)
    encoder.check()
    return encoder


def _first(source: Source) -> Path | None:
    """Return the first of the files."""
    return source.paths[0] if isinstance(source, FileSource) else None


def _default_output(source: Source) -> Path:
    first = _first(source)
    return Path("query.tanbark") if first is None else Path(first.name.removesuffix(".gz")).with_suffix(".tanbark")


# Columns


def _target(names: list[str], target: str | None, source: Source) -> str:
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual:
            return str(usual[0])
        raise CommandError(f"say with --target which column is the class; {source.name} has {listed(names, 40)}")
    if target not in names:
        raise CommandError(f"{source.name} has no column {target!r}; it has {listed(names, 40)}")
    return target


def _check_columns(names: list[str], target: str, ignore: list[str], categorical: list[str], source: Source) -> None:
    """Raise where a column is not there, or none is left."""
    for name in ignore:
        if name not in names:
            raise CommandError(f"--ignore names the column {name!r}, which {source.name} does not have")
        if name == target:
            raise CommandError(f"{name!r} is the class and cannot be ignored")
    left = [name for name in names if name != target and name not in ignore]
    if not left:
        raise CommandError(f"{source.name} has no column left to learn from beside the class {target!r}")
    for name in categorical:
        if name not in left:
            raise CommandError(f"--categorical names the column {name!r}, which is not among {listed(left)}")


# What a person reads


def _summarise(console: Console, source: Source, learned: Learned, target: str, ignored: list[str]) -> None:
    from rich.table import Table
    from rich.text import Text

    from tanbark.schema import Category, Number

    model = learned.model
    schema = model.schema_
    counts = model.counts_.class_counts
    shares = [f"{label} {percent(count / counts.sum())}" for label, count in zip(schema.classes, counts)]
    shown = ", ".join(shares[:10]) + (f" and {len(shares) - 10} more" if len(shares) > 10 else "")
    categories = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Category)]
    numbers = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Number)]
    present = [model.counts_.value(u).sum() / counts.sum() for u in range(len(schema.columns))]
    holes = [f"{name} {percent(1 - share)}" for name, share in zip(schema.names, present) if share < 1]
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    console.print(Text.assemble((source.name, "bold"), f": {learned.rows:,} rows, {len(source.schema)} columns"))
    grid.add_row("class", Text.assemble((target, "bold"), f": {shown}"))
    if categories:
        grid.add_row("categories", f"{', '.join(categories)}")
    if numbers:
        grid.add_row("numbers", f"{', '.join(numbers)}")
    if ignored:
        grid.add_row("ignored", ", ".join(ignored))
    if holes:
        grid.add_row("missing", ", ".join(holes))
    if hasattr(model, "log_score_"):
        grid.add_row("log score", score_words(model))
    console.print(grid)
    if len(schema.classes) == 1:
        console.print(
            f"note: every row is of the class {schema.classes[0]!r}, so there is nothing to tell apart", style="yellow"
        )


def _folders_unread(source: Source) -> list[str]:
    """Return a note on columns that only the names of folders hold, as in ``year=2020/part.parquet``."""
    paths = source.paths if isinstance(source, FileSource) else ()
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    lost = sorted(named - set(source.schema.names))
    return [f"what the folders' names say of {listed(lost)} is not read; write it into the files"] if lost else []


def _advice(message: str) -> str:
    """Return a warning of the library's with what to do about it on the command line.

    >>> _advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    return as_option(message.replace("(max_levels)", "(--max-levels)"))


def _validate(console: Console, assignment: Assignment, learned: Learned, folds: int | None) -> None:
    """Print how well the model predicts, where that can be found out in reasonable time."""
    from rich.text import Text

    from tanbark.cli.crossval import cross_validate

    fitted = learned.model
    rows = int(fitted.counts_.class_counts.sum())
    if folds == 0 or len(fitted.classes_) < 2:
        return
    if folds is None:
        large = rows > MOST_ROWS_TO_VALIDATE or fitted.counts_.table.size > MOST_CELLS_TO_VALIDATE
        if learned.X is None or (large and learned.seconds <= LONG_TO_VALIDATE):
            console.print(f"A large table, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
            return
        if learned.seconds > LONG_TO_VALIDATE:
            took = f"{learned.seconds:.0f} s"
            console.print(f"Learning took {took}, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
            return
        folds = FOLDS
    if rows < folds:
        console.print(f"note: {rows} rows are too few for a {folds}-fold cross-validation", style="yellow")
        return
    with progress() as bar:
        task = bar.add_task("cross-validating", total=folds, detail="")
        new = assignment.new(learned.encoder)
        quality = cross_validate(new.fit, learned.X, learned.y, folds, lambda: bar.advance(task))
    commonest = int(fitted.counts_.class_counts.argmax())
    share = fitted.counts_.class_counts[commonest] / rows
    console.print()
    console.print(
        Text.assemble(
            "accuracy ",
            (percent(quality.accuracy), "bold green"),
            ", log loss ",
            (f"{quality.log_loss:.3f}", "bold green"),
            f" nats by {quality.folds}-fold cross-validation "
            f"(always {str(fitted.schema_.classes[commonest])!r}: {percent(share)})",
        )
    )


def without_password(database: str) -> str:
    """Return the address of a database as it may stand on a screen.

    >>> without_password("postgresql://ann:secret@here:5432/clinic?password=secret&sslmode=require")
    'postgresql://ann@here:5432/clinic?sslmode=require'
    """
    shown = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", database)
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*&?", "", shown).rstrip("?&") if "://" in shown else shown


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 1):.0f} kB"


def _shell(word: Path | str) -> str:
    import shlex

    return shlex.quote(str(word))
