"""How an additive model of evidence is printed: its columns by their evidence, its weights, and how it was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import listed

if TYPE_CHECKING:
    from rich.console import Console

    from tanbark.classifiers.evidence_bn import EvidenceBN

MAX_COLUMNS_LISTED = 10
MIN_CHANGE = 0.1
"""A parent is listed if it changes the evidence of its child by at least this share, on average."""
BAR_WIDTH = 10


def print_evidence(console: Console, model: EvidenceBN) -> None:
    """Print the columns with the most evidence, and the parents that change it most."""
    from rich.table import Table
    from rich.text import Text

    fitted = model.model_
    names, means, strengths = fitted.schema.names, fitted.mean_absolute_evidence(), fitted.edge_strengths()
    order = (-means).argsort(kind="stable").tolist()
    most = max(float(means.max()), 1e-300)
    console.print(
        f"Mean absolute evidence of the columns, in nats, and parents that change it by {MIN_CHANGE:.0%} or more:"
    )
    table = Table.grid(padding=(0, 2, 0, 0))
    for u in order[:MAX_COLUMNS_LISTED]:
        bar = Text("█" * round(BAR_WIDTH * float(means[u]) / most), style="green")
        above = [names[p] for p in fitted.parents[u] if strengths[p, u] >= MIN_CHANGE * means[u] > 0]
        table.add_row(Text(names[u]), f"{means[u]:.3f}", bar, Text(f"given {' and '.join(above)}" if above else ""))
    console.print(table)
    rest = [names[u] for u in order[MAX_COLUMNS_LISTED:]]
    if rest:
        console.print(f"and {len(rest):,} more: {listed(rest)}", style="dim", soft_wrap=True)


def print_weights(console: Console, model: EvidenceBN) -> None:
    """Print the weight of the evidence of each column alone, and of the evidence that each parent adds."""
    from rich.table import Table
    from rich.text import Text

    fitted = model.model_
    names, weights = fitted.schema.names, fitted.weights
    added = ", and of the evidence that each parent adds" if any(fitted.parents) else ""
    console.print(f"Weight of the evidence of each column alone{added}:")
    table = Table.grid(padding=(0, 3, 0, 0))
    for u in (-fitted.mean_absolute_evidence()).argsort(kind="stable").tolist():
        of_parents = [f"{names[p]} +{weights[d, u]:.2f}" for d, p in enumerate(fitted.parents[u], 1)]
        table.add_row(Text(names[u]), f"{weights[0, u]:.2f}", *map(Text, of_parents))
    console.print(table)
    if fitted.coefficients.any():
        console.print(
            "Corrections of single values are added to this evidence, so a column with a low weight can still matter.",
            style="dim",
        )


def depth_text(model: EvidenceBN) -> str:
    """Return the numbers of parents whose weights were averaged, with their shares, and the lowest held-out log loss.

    With given penalties there is one depth, and no rows are held out.
    """
    shares: dict[str, float] = {}
    for setting, _, share in model.model_.settings:
        name = "the class prior alone" if setting is None else str(setting.depth)
        shares[name] = shares.get(name, 0.0) + share
    if len(shares) == 1:
        return next(iter(shares))
    shown = [f"{name} ({share:.0%})" for name, share in shares.items() if share >= 0.005]
    best = min(loss for _, loss, _ in model.model_.settings)
    return f"{', '.join(shown)}; lowest held-out log loss {best:.3f} nats"


def evidence_document(model: EvidenceBN) -> dict[str, Any]:
    """Return the evidence of a model for ``--json``.

    The keys are ``columns`` (each with ``name``, ``mean_absolute`` evidence in nats, ``parents`` and ``weights``: of
    the column alone and of the evidence that each parent adds), ``tried`` (each with ``depth``, penalties, held-out
    ``log_loss`` and ``share`` in the average; a depth of null is the class prior alone) and ``temperature``.
    """
    fitted = model.model_
    names, means = fitted.schema.names, fitted.mean_absolute_evidence()
    penalties = ("depth", "weight_penalty", "correction_penalty", "edge_penalty")
    return {
        "columns": [
            {
                "name": names[u],
                "mean_absolute": means[u],
                "parents": [names[p] for p in above],
                "weights": fitted.weights[: 1 + len(above), u],
            }
            for u, above in enumerate(fitted.parents)
        ],
        "tried": [
            {**{name: getattr(setting, name, None) for name in penalties}, "log_loss": loss, "share": share}
            for setting, loss, share in fitted.settings
        ],
        "temperature": fitted.temperature,
    }
