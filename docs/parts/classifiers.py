"""The table of all classifiers; their abilities are read from the classes."""

from typing import Any

from tanbark import KDB, AdditiveBN, SuperParent
from tanbark.classifiers import REGISTRY

SPECIAL_SETTINGS: dict[str, tuple[str, Any]] = {
    "super-parent": ("with a given `parent`", SuperParent(parent="x0")),
    "kdb": ("with `k` of 0 or 1", KDB(k=1)),
    "additive-bn": ('with `link="log"`', AdditiveBN(link="linear")),
}
"""Settings that change the abilities of a classifier."""

COST = {
    "evidence-bn": "counts of values, some thousand passes over at most 20,000 rows",
    "ensemble-bn": "about three times `EvidenceBN`",
    "boosted-tables": "some hundred passes over the rows for each of five folds",
    "naive-bayes": "counts of values",
    "tan": "counts of pairs",
    "forest-an": "counts of pairs",
    "super-parent": "counts of pairs, one pass over the rows",
    "aode": "counts of pairs; a row takes n² steps",
    "additive-bn": "counts of pairs, about ten passes over the rows",
    "averaged-tan": "counts of pairs; a row takes n³ steps",
    "kdb": "counts of pairs, one pass over the rows",
    "bayes-net": "2ⁿ tables up to 20 nodes, hill climbing beyond",
    "augmented-naive-bayes": "2ⁿ tables up to 20 columns, hill climbing beyond",
    "k2": "n² tables for each parent",
    "bnc2p": "n² passes over the rows for each edge",
    "boosted-bn": "up to 50 counts of pairs",
}
"""The cost of learning in addition to reading the table, and of expensive predictions; n is the number of columns."""

WHEN = {
    "evidence-bn": "the first choice: probabilities nearly as good as an ensemble's, in one model that can be read",
    "ensemble-bn": "the best probabilities",
    "boosted-tables": "many interactions of the columns",
    "naive-bayes": "few rows, many columns; a baseline",
    "tan": "a tree to read, queries, streams",
    "forest-an": "a graph without spurious edges",
    "super-parent": "the other columns depend on a single one",
    "aode": "good probabilities, incremental learning",
    "additive-bn": "good probabilities from one table",
    "averaged-tan": "few rows; edge probabilities are of interest",
    "kdb": "many rows, columns that depend on several others",
    "bayes-net": "the dependencies of all columns are of interest",
    "augmented-naive-bayes": "the best structure that still predicts the class from every column",
    "k2": "the columns have a known temporal or causal order",
    "bnc2p": "many rows; only the prediction of the class matters",
    "boosted-bn": "the class follows a rule without noise",
}
"""When to use a classifier."""


def can(name: str, ability: str) -> str:
    """Return whether a classifier has a method: yes, no, or the settings that it needs."""
    by_default = hasattr(REGISTRY[name].classifier(), ability)
    settings, other = SPECIAL_SETTINGS.get(name, ("", None))
    if other is not None and hasattr(other, ability) != by_default:
        return settings
    return "yes" if by_default else "no"


def missing(name: str) -> str:
    """Return how a classifier treats missing values in prediction."""
    if name == "evidence-bn":
        return "a level of its own, or no evidence"
    if name == "aode":
        return "a missing super-parent does not vote"
    return "exact, sampled for large tables" if can(name, "standard_error") == "yes" else "exact"


def table() -> str:
    """Return all classifiers as a table."""
    heads = ("classifier", "assumption", "counts, `partial_fit`", "`explain`", "joint", "missing", "cost", "when")
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
