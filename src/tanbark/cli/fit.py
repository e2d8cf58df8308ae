"""``tanbark fit``: learn a classifier from a file."""

from __future__ import annotations

import json
import time
import warnings
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.console import listed, out, percent, progress, rows_read
from tanbark.cli.drawing import print_structure, score_words
from tanbark.cli.errors import CommandError, as_option
from tanbark.sources import files
from tanbark.sources.file_source import FileSource

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from tanbark.classifiers.base import CountsClassifier

FOLDS = 5
MOST_ROWS_TO_VALIDATE = 100_000
MOST_CELLS_TO_VALIDATE = 20_000_000
LONG_TO_VALIDATE = 10.0
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
    data: Annotated[str, typer.Argument(metavar="DATA", help="A CSV, Parquet, ARFF or JSON-lines file, or a pattern.")],
    target: Annotated[str | None, typer.Option("--target", "-t", metavar="COL", help="The class to predict.")] = None,
    model: Annotated[
        str, typer.Option("--model", "-m", metavar="NAME", help="Which classifier; --list-models names all.")
    ] = "tan",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="MODEL", help="Where to write.", show_default="DATA.tanbark"),
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
    """Learn a classifier from a file and write it to another."""
    if cv is not None and cv != 0 and cv < 2:
        raise CommandError(f"--cv needs at least 2 folds, or 0 for none, got {cv}")
    source = files(data, missing, categorical or [])
    path = output or _default_output(source)
    if path.is_dir() or not path.parent.is_dir():
        raise CommandError(f"{path} cannot be written: there is no such folder, or it is one itself")
    with progress() as bar:
        bar.add_task("starting", total=None, detail="")
        settings = _settings(model, ess, setting)
        bar.remove_task(bar.task_ids[0])
        table = _read(source, bar)
        target = _target(table, target, source)
        X, y = _split(table, target, ignore or [], source)
        encoder = _encoder(X, categorical or [], bins, n_bins, max_levels)
        task = bar.add_task("learning", total=None, detail=f"{table.num_rows:,} rows")
        began = time.monotonic()
        with warnings.catch_warnings(record=True) as caught, _told(bar, task):
            warnings.simplefilter("always")
            try:
                fitted = _new(model, encoder, settings).fit(X, y)
            except TypeError as error:
                if "holds dates" not in str(error):
                    raise
                words = "; --ignore leaves it out, --categorical takes it as text"
                raise CommandError(str(error).split(";")[0] + words) from error
        bar.remove_task(task)
        took = time.monotonic() - began

    from tanbark.files import save

    save(fitted.set_params(n_jobs=None), path)
    console = out()
    _summarise(console, source, table, target, ignore or [], fitted)
    for note in [*(_advice(str(w.message)) for w in caught), *_row_numbers(X)]:
        console.print(f"note: {note}", style="yellow")
    if cv is None and took > LONG_TO_VALIDATE:
        console.print(f"Learning took {took:.0f} s, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
        cv = 0
    _validate(console, model, encoder, settings, X, y, fitted, cv)
    edges = fitted.network_.edges if hasattr(fitted, "network_") else len(fitted.schema_.columns) > 1
    if edges and len(fitted.schema_.columns) <= MOST_NODES_TO_DRAW:
        console.print()
        print_structure(console, fitted)
    console.print()
    console.print(f"Written to {path} ({_size(path)}). What to try next:", soft_wrap=True)
    console.print(f"  tanbark show {_shell(path)}", style="cyan", soft_wrap=True)
    console.print(
        f"  tanbark predict {_shell(path)} {_shell(source.paths[0])} -o predictions.csv", style="cyan", soft_wrap=True
    )
    if model == "tan":
        other = f"  tanbark fit {_shell(data)} --target {_shell(target)} --model averaged-tan -o other.tanbark"
        console.print(other, style="cyan", soft_wrap=True)


def _told(bar: Progress, task: TaskID) -> AbstractContextManager[None]:
    """Show what a search reports as what is being done."""
    from tanbark.structure.progress import listening

    def report(words: str, share: float) -> None:
        known = share == share
        bar.update(task, description=words, total=1.0 if known else None, completed=share if known else 0.0, detail="")

    return listening(report)


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


def _new(model: str, encoder: Any, settings: dict[str, Any]) -> CountsClassifier:
    from tanbark.classifiers.registry import REGISTRY

    return REGISTRY[model].classifier(encoder=encoder, n_jobs=-1, **settings)


def _encoder(X: pa.Table, categorical: list[str], bins: str, n_bins: int, max_levels: int) -> Any:
    from tanbark.schema import Encoder
    from tanbark.schema.table import read_table

    for name in categorical:
        if name not in X.column_names:
            raise CommandError(f"--categorical names the column {name!r}, which is not among {listed(X.column_names)}")
    forced: str | list[str] = "auto"
    if categorical:
        # A list replaces the library's own choice; here it adds to it.
        by_itself = [name for name, raw in zip(X.column_names, read_table(X).columns) if raw.few_whole]
        forced = list(dict.fromkeys([*by_itself, *categorical]))
    encoder = Encoder(categorical=forced, bins=bins, n_bins=n_bins, max_levels=max_levels)
    encoder.check()
    return encoder


def _default_output(source: FileSource) -> Path:
    name = source.paths[0].name
    return Path(name.removesuffix(".gz")).with_suffix(".tanbark")


# Data


def _read(source: FileSource, bar: Any) -> pa.Table:
    import pyarrow as pa

    task = bar.add_task("reading", total=None, detail="looking for types")
    batches = source.batches()
    first = next(batches, None)
    bar.remove_task(task)
    if first is None or not first.num_rows:
        raise CommandError(f"{source.name} has no rows")
    rest = rows_read(bar, "reading", batches, source.total)
    return pa.Table.from_batches([first, *rest])


def _target(table: pa.Table, target: str | None, source: FileSource) -> str:
    names = table.column_names
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual:
            return str(usual[0])
        raise CommandError(f"say with --target which column is the class; {source.name} has {listed(names, 40)}")
    if target not in names:
        raise CommandError(f"{source.name} has no column {target!r}; it has {listed(names, 40)}")
    return target


def _split(table: pa.Table, target: str, ignore: list[str], source: FileSource) -> tuple[pa.Table, Any]:
    """Return the attributes and the class."""
    import narwhals as nw

    for name in ignore:
        if name not in table.column_names:
            raise CommandError(f"--ignore names the column {name!r}, which {source.name} does not have")
        if name == target:
            raise CommandError(f"{name!r} is the class and cannot be ignored")
    X = table.drop_columns(list(dict.fromkeys([target, *ignore])))
    if not X.num_columns:
        raise CommandError(f"{source.name} has no column left to learn from beside the class {target!r}")
    return X, nw.from_native(table.column(target), series_only=True).alias(target)


# What a person reads


def _summarise(
    console: Console, source: FileSource, table: pa.Table, target: str, ignored: list[str], model: CountsClassifier
) -> None:
    from rich.table import Table
    from rich.text import Text

    from tanbark.schema import Category, Number

    schema = model.schema_
    counts = model.counts_.class_counts
    shares = [f"{label} {percent(count / counts.sum())}" for label, count in zip(schema.classes, counts)]
    shown = ", ".join(shares[:10]) + (f" and {len(shares) - 10} more" if len(shares) > 10 else "")
    categories = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Category)]
    numbers = [f"{c.name} ({c.arity})" for c in schema.columns if isinstance(c, Number)]
    holes = [
        f"{name} {percent(table.column(name).null_count / table.num_rows)}"
        for name in schema.names
        if table.column(name).null_count
    ]
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    console.print(Text.assemble((source.name, "bold"), f": {table.num_rows:,} rows, {table.num_columns} columns"))
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


def _advice(message: str) -> str:
    """Return a warning of the library's with what to do about it on the command line.

    >>> _advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    return as_option(message.replace("(max_levels)", "(--max-levels)"))


def _row_numbers(X: pa.Table) -> list[str]:
    """Return a note on each column that merely numbers the rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = []
    for name, column in zip(X.column_names, X.columns):
        if X.num_rows > 20 and pa.types.is_integer(column.type) and not column.null_count:
            ends = pc.min_max(column).as_py()
            consecutive = ends["max"] - ends["min"] + 1 == X.num_rows
            if consecutive and pc.count_distinct(column).as_py() == X.num_rows:
                found.append(f"column {name!r} numbers the rows; leave it out with --ignore")
    return found


def _validate(
    console: Console,
    name: str,
    encoder: Any,
    settings: dict[str, Any],
    X: pa.Table,
    y: Any,
    fitted: CountsClassifier,
    folds: int | None,
) -> None:
    """Print how well the model predicts, where that can be found out in reasonable time."""
    from rich.text import Text

    from tanbark.cli.crossval import cross_validate

    rows = int(fitted.counts_.class_counts.sum())
    if folds == 0 or len(fitted.classes_) < 2:
        return
    if folds is None:
        if rows > MOST_ROWS_TO_VALIDATE or fitted.counts_.table.size > MOST_CELLS_TO_VALIDATE:
            console.print(f"A large table, so it was not cross-validated; --cv {FOLDS} does it.", style="dim")
            return
        folds = FOLDS
    if rows < folds:
        console.print(f"note: {rows} rows are too few for a {folds}-fold cross-validation", style="yellow")
        return
    with progress() as bar:
        task = bar.add_task("cross-validating", total=folds, detail="")
        quality = cross_validate(_new(name, encoder, settings).fit, X, y, folds, lambda: bar.advance(task))
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


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size / 1e3, 1):.0f} kB"


def _shell(word: Path | str) -> str:
    import shlex

    return shlex.quote(str(word))
