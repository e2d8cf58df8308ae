"""``tanbark show``: what a model knows."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.options import Json
from tanbark.cli.output.model_text import described, one_network, print_structure, score_words
from tanbark.cli.terminal.console import CommandError, out, percent, print_json

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.base.counts_classifier import CountsClassifier

WIDE = 8


def show(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that `tanbark fit` wrote.")],
    table: Annotated[
        str | None, typer.Option("--table", metavar="NODE", help="Show the probabilities of one column or the class.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw a model's network and list its columns.

    With --json the keys are model (the classifier), settings, rows, class (name, levels, rows, probabilities), columns
    (each with name, kind, levels or cuts, missing, information), parents, log_score and file; with --table they are
    node, parents, levels (of the parents and the node, in this order) and probabilities, nested in the same order.
    """
    from tanbark.files import load

    fitted = load(model)
    if table is not None:
        _show_table(fitted, table, as_json)
        return
    if as_json:
        print_json({**described(fitted), "file": str(model)})
        return
    console = out()
    _show_settings(console, model, fitted)
    console.print()
    best = _show_columns(console, fitted)
    console.print()
    print_structure(console, fitted)
    if one_network(fitted) is None:
        return
    console.print()
    console.print("What to try next:", soft_wrap=True)
    command = f"  tanbark show {shlex.quote(str(model))} --table {shlex.quote(best)}"
    console.print(command, style="cyan", soft_wrap=True)


def _show_settings(console: Console, path: Path, model: CountsClassifier) -> None:
    import numpy as np
    from rich.table import Table
    from rich.text import Text

    from tanbark.classifiers.registry import REGISTRY
    from tanbark.schema import Encoder

    entry = next(e for e in REGISTRY.values() if e.classifier is type(model))
    rows = float(model.counts_.class_counts.sum())
    prior = np.exp(model.class_log_prior_)
    given = model.get_params(deep=False)
    if isinstance(model.encoder, Encoder):
        given |= {"bins": model.encoder.bins, "n_bins": model.encoder.n_bins}
    settings = [f"{k}={_short(v)}" for k, v in given.items() if k not in ("encoder", "n_jobs") and _is_set(v)]
    console.print(Text.assemble((str(path), "bold"), f": {entry.name}, {entry.summary}"), soft_wrap=True)
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("learned from", f"{rows:,.0f} rows" if rows == int(rows) else f"{rows:,.1f} rows")
    shares = [f"{label} {percent(float(p))}" for label, p in zip(model.schema_.classes, prior)]
    grid.add_row("class", Text.assemble((model.schema_.class_name, "bold"), ": ", ", ".join(shares)))
    grid.add_row("settings", ", ".join(settings))
    if hasattr(model, "log_score_"):
        grid.add_row("log score", score_words(model))
    console.print(grid)


def _show_columns(console: Console, model: CountsClassifier) -> str:
    """Print the columns, the one that tells most about the class first; return its name."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from tanbark.schema import Number
    from tanbark.structure import class_information

    information = class_information(model.counts_)
    most = max(float(information.max()), 1e-300)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("levels or cut points", overflow="fold", ratio=1)
    table.add_column("I(X;C), nats", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=10)
    for u in information.argsort(kind="stable")[::-1].tolist():
        column = model.schema_.columns[u]
        number = isinstance(column, Number)
        parts = [f"{cut:g}" for cut in column.cuts] if isinstance(column, Number) else list(column.labels)
        table.add_row(
            Text(column.name),
            "number" if number else "category",
            Text(_some(parts)),
            f"{information[u]:.4f}",
            Text("█" * round(10 * float(information[u]) / most), style="green"),
        )
    console.print(table)
    console.print("I(X;C): how much a column by itself tells about the class.", style="dim")
    return model.schema_.names[int(information.argmax())]


def _is_set(value: Any) -> bool:
    return value is not None and not (isinstance(value, list | tuple) and not value)


def _short(value: Any) -> str:
    """Return a setting in a few words: edges are written as arrows.

    >>> _short(0.5), _short([("rain", "wet")]), _short({("a", "b"): 2})
    ('0.5', 'rain->wet', 'given')
    """
    if isinstance(value, list | tuple) and all(isinstance(v, list | tuple) and len(v) == 2 for v in value):
        return " ".join(f"{parent}->{child}" for parent, child in value)
    return str(value) if isinstance(value, str | int | float) else "given"


def _some(parts: list[str], most: int = 12) -> str:
    return ", ".join(parts[:most]) + (f" and {len(parts) - most} more" if len(parts) > most else "")


def _show_table(model: CountsClassifier, name: str, as_json: bool) -> None:
    """Print the conditional probabilities of a node."""
    network = one_network(model)
    if network is None:
        raise CommandError(f"many networks answer together, so there is no one table of {name!r}")
    if isinstance(network, tuple):
        network = network[0]
        if name in model.schema_.names:
            raise CommandError(f"a multinet has a tree for each class, and so no one table of {name!r}")
    probabilities = network.table(name)
    labels: dict[str, tuple[str, ...]] = {c.name: c.labels for c in model.schema_.columns}
    labels[model.schema_.class_name] = tuple(map(str, model.schema_.classes))
    axes = [*network.parents[name], name]
    if as_json:
        levels = [labels[axis] for axis in axes]
        print_json({"node": name, "parents": axes[:-1], "levels": levels, "probabilities": probabilities})
    else:
        _print_table(out(), model, probabilities, axes, labels)


def _print_table(console: Console, model: CountsClassifier, probabilities: Any, axes: list[str], labels: Any) -> None:
    """Print the probabilities of a node, the last axis, given the others."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    name, schema = axes[-1], model.schema_
    # Classes across, unless there are many and the values fit better.
    across = schema.class_name if schema.class_name in axes[:-1] else name
    if across != name and len(labels[across]) > WIDE and len(labels[name]) <= WIDE:
        across = name
    if len(labels[across]) > WIDE:
        across = ""
    down = [axis for axis in axes if axis != across]
    given = " given " + " and ".join(axes[:-1]) if len(axes) > 1 else ""
    if not hasattr(model, "network_") and len(axes) > 1:
        given += ", in the most probable tree"
    console.print(Text.assemble("P(", (name, "bold"), f"){given}"), soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for axis in down:
        table.add_column(Text(axis), overflow="fold")
    for label in labels[across] if across else ("probability",):
        head = f"{across} = {label}" if across and across != name else label
        table.add_column(Text(head), justify="right", overflow="fold")
    _fill(table, probabilities, axes, down, across, labels)
    console.print(table)


def _fill(table: Any, probabilities: Any, axes: list[str], down: list[str], across: str, labels: Any) -> None:
    """Add one row per combination of the values down the side."""
    import numpy as np
    from rich.text import Text

    order = [axes.index(axis) for axis in down] + ([axes.index(across)] if across else [])
    laid = probabilities.transpose(order)
    shape = [len(labels[axis]) for axis in down]
    before: tuple[int, ...] = ()
    for place in np.ndindex(*shape):
        if before and len(place) > 1 and place[0] != before[0]:
            table.add_section()
        shown = [
            Text(labels[axis][i] if not before or place[: d + 1] != before[: d + 1] or d == len(down) - 1 else "")
            for d, (axis, i) in enumerate(zip(down, place))
        ]
        table.add_row(*shown, *(f"{p:.4f}" for p in np.atleast_1d(laid[place])))
        before = place
