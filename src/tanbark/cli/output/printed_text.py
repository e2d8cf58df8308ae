"""What commands print: models as JSON documents and text, commands to run next, and notes with advice."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from tanbark.cli.input.input_columns import files_read
from tanbark.cli.input.stdin import STDIN
from tanbark.cli.output.evidence_text import evidence_document, print_evidence
from tanbark.cli.terminal.console import listed, with_option_names
from tanbark.messages import counted
from tanbark.sources import Source

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.additive_bn import AdditiveBN
    from tanbark.classifiers.averaged_tan import AveragedTAN
    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.counts import Counts
    from tanbark.evaluate import Baseline, CrossValidation
    from tanbark.network import Network
    from tanbark.schema import Category, Number


# JSON documents


def model_document(model: CountsClassifier) -> dict[str, Any]:
    """Return the description of a model.

    The keys are ``model`` (the name of the classifier), ``settings``, ``rows`` (the total weight of the training rows),
    ``class`` (its ``name``, ``levels``, and their ``rows`` and prior ``probabilities``), ``columns`` (each with
    ``name``, ``kind``, ``levels`` or ``cuts``, the share of ``missing`` values, and its mutual ``information`` with the
    class, in nats), ``parents`` (of each node, if the model is one network), ``log_score`` (if the structure was
    searched) and ``evidence`` (of evidence-bn, see `evidence_document`).
    """
    import numpy as np

    from tanbark.classifiers.base.counts_classifier import settings_of
    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.classifiers.registry import registered_name
    from tanbark.schema import Number
    from tanbark.structure import class_information

    schema, counts = model.schema_, model.counts_
    network = one_network(model)
    return {
        "model": registered_name(type(model)),
        "settings": settings_of(model),
        "rows": counts.class_counts.sum().item(),
        "class": {
            "name": schema.class_name,
            "levels": schema.classes,
            "rows": counts.class_counts,
            "probabilities": np.exp(model.class_log_prior_),
        },
        "columns": [
            {
                "name": column.name,
                "kind": column_kind(column),
                **({"cuts": column.cuts} if isinstance(column, Number) else {"levels": column.levels}),
                "missing": share,
                "information": information,
            }
            for column, share, information in zip(
                schema.columns, missing_shares(counts), class_information(counts), strict=True
            )
        ],
        "parents": network.parents if hasattr(network, "parents") else None,
        "log_score": getattr(model, "log_score_", None),
        "evidence": evidence_document(model) if isinstance(model, EvidenceBN) else None,
    }


def column_kind(column: Category | Number) -> str:
    """Return the kind of a column in words."""
    from tanbark.schema import Category

    if isinstance(column, Category):
        return "category"
    return "date" if column.is_date else "number"


def missing_shares(counts: Counts) -> list[float]:
    """Return the share of missing values in each column, whether or not they are a level."""
    from tanbark.counts.counts import ROUNDING

    rows = counts.class_counts.sum()
    shares = []
    for u, column in enumerate(counts.schema.columns):
        each = counts.value(u).sum(axis=0)
        share = float((rows - (each[:-1] if column.missing else each).sum()) / rows)
        # Sums of weights have rounding errors.
        shares.append(share if share > ROUNDING else 0.0)
    return shares


def scores(found: CrossValidation) -> dict[str, Any]:
    """Return the ``mean`` and ``standard_error`` of each metric, and the median seconds per fold."""
    import numpy as np

    from tanbark.evaluate import METRICS

    measured = {
        metric: {"mean": found.mean(metric), "standard_error": found.standard_error(metric)} for metric in METRICS
    }
    return {
        **measured,
        "fit_seconds": np.median(found.fit_seconds),
        "predict_seconds": np.median(found.predict_seconds),
    }


def baseline_document(baseline: Baseline) -> dict[str, Any]:
    """Return the ``accuracy`` of always predicting the ``class``, and the ``log_loss`` of the class frequencies."""
    return {"class": baseline.commonest, "accuracy": baseline.share, "log_loss": baseline.log_loss}


# Text


def print_structure(console: Console, model: Any) -> None:
    """Print the network of a model as a tree, the evidence of its columns, or the main part of an ensemble."""
    from tanbark.classifiers.evidence_bn import EvidenceBN
    from tanbark.models import SuperParentAverage

    if isinstance(model, EvidenceBN):
        print_evidence(console, model)
    elif hasattr(model, "evidence_"):
        print_members(console, model)
        print_evidence(console, model.evidence_)
    elif hasattr(model, "network_"):
        print_network(console, model.network_)
    elif hasattr(model, "networks_"):
        heaviest = int(model.estimator_weights_.argmax())
        if len(model.networks_) > 1:
            console.print(f"Ensemble of {len(model.networks_):,} networks; the one with the largest weight:")
        print_network(console, model.networks_[heaviest])
    elif hasattr(model, "members_"):
        _print_pool(console, model)
    elif hasattr(model, "map_tree_"):
        _print_average(console, model)
    elif isinstance(model.model_, SuperParentAverage):
        console.print("An average of networks: in each, one column is the parent of all others.", soft_wrap=True)
    else:
        console.print("The model is not a single network, so there is no graph to print.", soft_wrap=True)


def print_members(console: Console, model: Any) -> None:
    """Print the weights of the members of an `EnsembleBN`."""
    members = [f"{name} {weight:.2f}" for name, weight in model.weights_.items() if weight > 0]
    console.print(f"An ensemble with the weights {', '.join(members)}. The additive model inside:", soft_wrap=True)


def score_text(model: Any) -> str:
    """Return the score of a structure that was searched, and how it was found."""
    how = {"exact": ", the maximum over all structures", "greedy": ", found by hill climbing"}
    return f"{model.log_score_:,.2f} nats{how.get(getattr(model, 'search_', ''), '')}"


def one_network(model: Any) -> Any:
    """Return the network of a model, its most probable tree or trees (one per class), or None for an ensemble."""
    return getattr(model, "network_", None) or getattr(model, "map_tree_", None)


def _print_pool(console: Console, model: AdditiveBN) -> None:
    """Print the members of a pool in descending order of their weights."""
    from rich.table import Table
    from rich.text import Text

    members = range(len(model.weights_))
    names = {
        "superparent": list(model.schema_.names),
        "naive-bayes": [f"naive Bayes on the {m + 1} most informative columns" for m in members],
        "tan": [f"tree {m + 1}" for m in members],
        "kdb": [f"k-dependence network, k = {m}" for m in members],
    }.get(model.weak if isinstance(model.weak, str) else "") or [repr(member) for member in model.members_]
    console.print(
        "Super-parents and their weights:" if model.weak == "superparent" else "Members of the pool and their weights:"
    )
    table = Table.grid(padding=(0, 3, 0, 0))
    for m in (-model.weights_).argsort(kind="stable").tolist():
        if model.weights_[m] > 0:
            table.add_row(Text(names[m]), f"{model.weights_[m]:.4f}")
    console.print(table)


def print_network(console: Console, network: Network) -> None:
    """Print a network as a tree with the class in bold."""
    _print_tree(console, str(network), network.schema.class_name)


def _print_tree(console: Console, drawing: str, bold: str) -> None:
    """Print the text drawing of a tree with one node in bold."""
    from rich.text import Text

    for line in drawing.splitlines():
        label = line.lstrip("│├└─ ").split("  (and ")[0]
        console.print(Text(line, style="bold" if label == bold else ""), soft_wrap=True)


def _print_average(console: Console, model: AveragedTAN) -> None:
    """Print the most probable tree, or one for each class, with the probability of each edge between attributes."""
    best, several = model.map_tree_, len(model.schema_.columns) > 1
    multinet = isinstance(best, tuple)
    if several:
        words = "tree of each class" if multinet else "tree"
        console.print(f"The most probable {words}, with the posterior probability of each edge:")
    if multinet:
        for label, network, matrix in zip(model.schema_.classes, best, model.edge_probabilities_, strict=True):
            title = f"{model.schema_.class_name} = {label}"
            _print_tree(console, _annotated(network, matrix, title), title)
    else:
        title = model.schema_.class_name
        _print_tree(console, _annotated(best, model.edge_probabilities_, title), title)
    if several:
        share = f"A tree sampled from the posterior has {_share(model.concentration_)} of these edges on average."
        console.print(share, style="dim", soft_wrap=True)


def _annotated(network: Network, matrix: Any, head: str) -> str:
    """Return the text drawing of a tree in which each name is followed by the probability of the edge to it."""
    from tanbark.drawing.network_pictures import draw

    names = []
    for u, name in enumerate(network.names[:-1]):
        parents = network.structure.attribute_parents(u)
        names.append(f"{name}  {_share(matrix[u, parents[0]])}" if parents else name)
    return draw([*names, head], network.structure)


def _share(probability: float) -> str:
    if probability < 0.0005:
        return "below 0.1%"
    return "over 99.9%" if 0.9995 <= probability < 1.0 else f"{probability:.1%}"


# Commands


def quoted(word: Path | str) -> str:
    """Return a word quoted for a shell."""
    return shlex.quote(str(word))


def data_arguments(data: str, database: str | None) -> str:
    """Return the DATA argument and the --database option of a command, without the database password."""
    return f"{quoted(data)} --database {quoted(without_password(database))}" if database else quoted(data)


def input_redirection(data: str, kind: str | None) -> str:
    """Return the end of a command that reads standard input again, from a file that the user names; else ""."""
    return f" < ROWS.{(kind or 'csv').lower()}" if data == STDIN else ""


def print_placeholder(console: Console, data: str, kind: str | None) -> None:
    """Print a note on the file that stands for standard input in suggested commands, if there is one."""
    if data == STDIN:
        name = input_redirection(data, kind).removeprefix(" < ")
        console.print(f"The rows came from standard input: replace {name} by a file with them.", style="dim")


def without_password(database: str) -> str:
    """Return the address of a database without its password.

    >>> without_password("postgresql://ann:secret@here:5432/clinic?password=secret&sslmode=require")
    'postgresql://ann@here:5432/clinic?sslmode=require'
    """
    shown = re.sub(r"(://[^:@/]*):[^@/]*@", r"\1@", database)
    return re.sub(r"(?<=[?&])(ssl)?password=[^&]*&?", "", shown).rstrip("?&") if "://" in shown else shown


def first_file(source: Source) -> Path | None:
    """Return the first file of a source, or None if it is a query."""
    return next(iter(files_read(source)), None)


def default_output(source: Source, ending: str) -> Path:
    """Return the default output file of a command: the stem of the input in the current folder."""
    first = first_file(source)
    stem = "query" if first is None else Path(first.name.removesuffix(".gz")).stem
    return Path(stem + ending)


def typed_options(ctx: typer.Context, names: Sequence[str] | None = None) -> str:
    """Return the options that the user typed, or those in `names`, each preceded by a space.

    Without `names`, DATA and --database (see `data_arguments`) and --json are left out.
    """
    words: list[str] = []
    for option in ctx.command.params:
        name = str(option.name)
        given = ctx.get_parameter_source(name)
        wanted = name not in ("data", "database", "as_json") if names is None else name in names
        if wanted and name in ctx.params and given is not None and given.name == "COMMANDLINE":
            value = ctx.params[name]
            if isinstance(value, bool):
                words.append(f" {option.opts[0]}")
                continue
            each = value if isinstance(value, list | tuple) else [value]
            words.extend(f" {option.opts[0]} {quoted(str(one))}" for one in each)
    return "".join(words)


# Notes


def advice(message: str) -> str:
    """Return a warning of the library with advice for the command line.

    >>> advice("column 'id' looks like an identifier; drop it")
    "column 'id' looks like an identifier; leave it out with --ignore"
    """
    message = message.replace("; drop it", "; leave it out with --ignore")
    message = message.replace("before the class, drop it", "before the class, leave it out with --ignore")
    return with_option_names(message.replace("(max_levels)", "(--max-levels)"))


def left_out_note(rows: int, target: str) -> str:
    """Return a note on rows without a class.

    >>> left_out_note(2, "walk")
    "2 rows without a value of 'walk' were left out"
    """
    return f"{counted(rows, 'row')} without a value of {target!r} {'was' if rows == 1 else 'were'} left out"


def folder_column_notes(source: Source) -> list[str]:
    """Return a note on columns that exist only in folder names, as in ``year=2020/part.parquet``."""
    paths = files_read(source)
    named = {part.partition("=")[0] for path in paths for part in path.parts[:-1] if "=" in part}
    unread = sorted(named - set(source.schema.names))
    return [f"folder names are not read as columns: {listed(unread)}; add them to the files"] if unread else []
