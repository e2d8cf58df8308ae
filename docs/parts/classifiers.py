"""The table of all classifiers: what each can do is asked of the classes."""

from typing import Any

from tanbark import KDB, AdditiveBN, SuperParent
from tanbark.classifiers import REGISTRY

OTHERWISE: dict[str, tuple[str, Any]] = {
    "super-parent": ("with a given `parent`", SuperParent(parent="x0")),
    "kdb": ("with `k` of 0 or 1", KDB(k=1)),
    "additive-bn": ('with `link="log"`', AdditiveBN(link="linear")),
}
"""Settings under which a classifier can do something that it cannot otherwise."""

COST = {
    "naive-bayes": "counts of single values",
    "tan": "counts of pairs",
    "forest-an": "counts of pairs",
    "super-parent": "counts of pairs, one pass over the rows",
    "aode": "counts of pairs; a row takes n² steps",
    "additive-bn": "counts of pairs, about ten passes over the rows",
    "averaged-tan": "counts of pairs; a row takes n³ steps",
    "kdb": "counts of pairs, one pass over the rows",
    "bayes-net": "2ⁿ tables up to 20 nodes, a climb beyond",
    "augmented-naive-bayes": "2ⁿ tables up to 20 columns, a climb beyond",
    "k2": "n² tables for each parent",
    "bnc2p": "n² passes over the rows for each edge",
    "boosted-bn": "up to 50 counts of pairs",
}
"""What learning costs beside reading the table, and predicting where that is much; n is the number of columns."""

WHEN = {
    "naive-bayes": "few rows, many columns; a yardstick for all others",
    "tan": "a readable first model",
    "forest-an": "a graph without edges that are noise",
    "super-parent": "one column governs the others",
    "aode": "good probabilities that keep learning from counts",
    "additive-bn": "good probabilities from one table",
    "averaged-tan": "few rows, and how sure each edge is",
    "kdb": "many rows, columns that depend on several others",
    "bayes-net": "what depends on what, the class being one of the columns",
    "augmented-naive-bayes": "the best structure that still predicts the class from every column",
    "k2": "an order of the columns is known, in time or by cause",
    "bnc2p": "the class alone matters, and rows are many",
    "boosted-bn": "the class is a clean rule of the columns",
}
"""When to take it."""


def can(name: str, ability: str) -> str:
    """Return whether a classifier has a method: yes, no, or under which settings."""
    usual = hasattr(REGISTRY[name].classifier(), ability)
    words, other = OTHERWISE.get(name, ("", None))
    if other is not None and hasattr(other, ability) != usual:
        return words
    return "yes" if usual else "no"


def missing(name: str) -> str:
    """Return how a row with holes is predicted."""
    if name == "aode":
        return "a missing super-parent does not vote"
    return "exact, drawn beyond a bound" if can(name, "standard_error") == "yes" else "exact"


def table() -> str:
    """Return all classifiers as a table."""
    heads = ("classifier", "what it assumes", "counts, `partial_fit`", "`explain`", "joint", "missing", "cost", "when")
    rows = [
        (
            f"[`{entry.classifier.__name__}`][{entry.classifier.__module__}.{entry.classifier.__name__}]",
            entry.summary,
            can(name, "partial_fit"),
            can(name, "explain"),
            can(name, "score_samples"),
            missing(name),
            COST[name],
            WHEN[name],
        )
        for name, entry in REGISTRY.items()
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), *rows))
