"""``tanbark show``: print a model."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tanbark.cli.input.options import Json, ModelFile
from tanbark.cli.output.evidence_text import depth_text, print_weights
from tanbark.cli.output.printed_text import (
    column_kind,
    model_document,
    one_network,
    print_members,
    print_structure,
    score_text,
)
from tanbark.cli.terminal.console import CommandError, out, print_json
from tanbark.messages import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.base.counts_classifier import CountsClassifier

MAX_COLUMNS_ACROSS = 8
"""A table of probabilities with more columns is printed with one probability per line."""
MAX_LEVELS_LISTED = 12
BAR_WIDTH = 10


def show(
    model: ModelFile,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="NODE", help="Print the probability table of a column or of the class."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the settings, columns and network of a model.

    With --json, the keys are model (the classifier), settings, rows, class (name, levels, rows, probabilities), columns
    (each with name, kind, levels or cuts, missing, information), parents, log_score, evidence (of evidence-bn: columns
    with name, mean_absolute, parents and weights, tried and temperature) and file. With --json and --table, they are
    node, parents, levels (of the parents and then the node) and probabilities (nested in the same order).
    """
    from tanbark.classifiers.ensemble_bn import EnsembleBN
    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.files import load_classifier

    fitted = load_classifier(model)
    if table is not None:
        _show_table(fitted, table, as_json)
        return
    if as_json:
        print_json({**model_document(fitted), "file": str(model)})
        return
    console = out()
    _show_settings(console, model, fitted)
    console.print()
    best = _show_columns(console, fitted)
    console.print()
    if isinstance(fitted, EvidenceBN):
        print_weights(console, fitted)
    elif isinstance(fitted, EnsembleBN):
        print_members(console, fitted)
        print_weights(console, fitted.evidence_)
    else:
        print_structure(console, fitted)
    if one_network(fitted) is None:
        return
    console.print()
    console.print("What to try next:", soft_wrap=True)
    command = f"  tanbark show {shlex.quote(str(model))} --table {shlex.quote(best)}"
    console.print(command, style="cyan", soft_wrap=True)


def _show_settings(console: Console, path: Path, model: CountsClassifier) -> None:
    from rich.table import Table
    from rich.text import Text

    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.classifiers.registry import REGISTRY
    from tanbark.schema import Encoder

    entry = next(e for e in REGISTRY.values() if e.classifier is type(model))
    counts = model.counts_.class_counts
    total = float(counts.sum())
    weighted = model.class_weight is not None or counts.dtype.kind == "f"
    given = model.get_params(deep=False)
    encoder = model.usable_encoder()
    if model.encoder is not None and isinstance(encoder, Encoder):
        given |= {"bins": encoder.bins, "n_bins": encoder.n_bins}
    settings = [f"{k}={_short(v)}" for k, v in given.items() if k not in ("encoder", "n_jobs") and _is_set(v)]
    console.print(Text.assemble((str(path), "bold"), f": {entry.name}, {entry.summary}"), soft_wrap=True)
    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    rows = f"rows with a total weight of {total:,.10g}" if weighted else counted(total, "row")
    grid.add_row("learned from", rows)
    shares = [f"{label} {percent(count / total)}" for label, count in zip(model.schema_.classes, counts, strict=True)]
    grid.add_row("class", Text.assemble((model.schema_.class_name, "bold"), ": ", ", ".join(shares)))
    grid.add_row("settings", ", ".join(settings))
    if hasattr(model, "log_score_"):
        grid.add_row("log score", score_text(model))
    if isinstance(model, EvidenceBN):
        grid.add_row("depth", depth_text(model))
    console.print(grid)


def _show_columns(console: Console, model: CountsClassifier) -> str:
    """Print the columns in descending order of their importance; return the name of the first."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    from tanbark.classifiers.boosted_tables import BoostedTables
    from tanbark.classifiers.ensemble_bn import EnsembleBN
    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.schema import Number
    from tanbark.structure import class_information

    # The mutual information of a number with many intervals would depend on their number.
    if isinstance(model, EvidenceBN | EnsembleBN):
        additive = model.evidence_ if isinstance(model, EnsembleBN) else model
        information, head = additive.model_.mean_absolute_evidence(), "evidence, nats"
        meaning = "evidence: mean absolute evidence of the column over the training rows and the classes."
    elif isinstance(model, BoostedTables):
        information, head = model.model_.question_shares(), "share"
        meaning = "share: the share of the questions of all tables that are about the column."
    else:
        information, head = class_information(model.counts_), "I(X;C), nats"
        meaning = "I(X;C): mutual information of the column and the class."
    maximum = max(float(information.max()), 1e-300)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("levels or cut points", overflow="fold", ratio=1)
    table.add_column(head, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=BAR_WIDTH)
    for u in information.argsort(kind="stable")[::-1].tolist():
        column = model.schema_.columns[u]
        parts = list(column.labels)
        if isinstance(column, Number):
            parts = column.texts_of(column.cuts) if column.is_date else [f"{cut:g}" for cut in column.cuts]
        table.add_row(
            Text(column.name),
            column_kind(column),
            Text(_first(parts)),
            f"{information[u]:.4f}",
            Text("█" * round(BAR_WIDTH * float(information[u]) / maximum), style="green"),
        )
    console.print(table)
    console.print(meaning, style="dim")
    return model.schema_.names[int(information.argmax())]


def _is_set(value: Any) -> bool:
    return value is not None and not (isinstance(value, list | tuple) and not value)


def _short(value: Any) -> str:
    """Return a short text for a setting; edges are written as arrows.

    >>> _short(0.5), _short([("rain", "wet")]), _short({("a", "b"): 2})
    ('0.5', 'rain->wet', 'given')
    >>> _short({"yes": 3, "no": 0.5})
    'yes:3 no:0.5'
    """
    if isinstance(value, list | tuple) and all(isinstance(v, list | tuple) and len(v) == 2 for v in value):
        return " ".join(f"{parent}->{child}" for parent, child in value)
    if isinstance(value, Mapping) and not any(isinstance(key, tuple) for key in value):
        return " ".join(f"{label}:{number}" for label, number in value.items())
    return str(value) if isinstance(value, str | int | float) else "given"


def _first(parts: list[str]) -> str:
    more = len(parts) - MAX_LEVELS_LISTED
    return ", ".join(parts[:MAX_LEVELS_LISTED]) + (f" and {more:,} more" if more > 0 else "")


def _show_table(model: CountsClassifier, name: str, as_json: bool) -> None:
    """Print the conditional probability table of a node."""
    network = one_network(model)
    if network is None:
        raise CommandError(
            f"the model is not a single network, so there is no table of probabilities for {name!r}; fit with "
            "--model tan"
        )
    if isinstance(network, tuple):
        network = network[0]
        if name in model.schema_.names:
            raise CommandError(f"the model has one tree per class, so there is no single table for {name!r}")
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
    """Print the probabilities of a node (the last axis) given its parents (the other axes)."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    name, schema = axes[-1], model.schema_
    # The columns are the classes, or the values of the node if there are too many classes.
    across = schema.class_name if schema.class_name in axes[:-1] else name
    if across != name and len(labels[across]) > MAX_COLUMNS_ACROSS >= len(labels[name]):
        across = name
    if len(labels[across]) > MAX_COLUMNS_ACROSS:
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
    """Add one row per combination of the values of the axes in `down`."""
    import numpy as np
    from rich.text import Text

    order = [axes.index(axis) for axis in down] + ([axes.index(across)] if across else [])
    ordered = probabilities.transpose(order)
    shape = [len(labels[axis]) for axis in down]
    before: tuple[int, ...] = ()
    for place in np.ndindex(*shape):
        if before and len(place) > 1 and place[0] != before[0]:
            table.add_section()
        shown = [
            Text(labels[axis][i] if not before or place[: d + 1] != before[: d + 1] or d == len(down) - 1 else "")
            for d, (axis, i) in enumerate(zip(down, place, strict=True))
        ]
        table.add_row(*shown, *(f"{p:.4f}" for p in np.atleast_1d(ordered[place])))
        before = place
