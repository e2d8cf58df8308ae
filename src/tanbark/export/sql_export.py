"""Export classifiers to SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.evidence_bn import EvidenceBN
from tanbark.export.network_description import PathLike, network_of_model, write_text
from tanbark.export.raw_inputs import check_no_dates, check_plain_numbers
from tanbark.export.sql_statement import Scores, Statement, probability_name
from tanbark.messages import first_repeated
from tanbark.network.tree_inference import Tree
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


@insert_shared_docs
def sql(
    model: Any,
    path: PathLike | None = None,
    *,
    table: str | Sequence[str] = "rows",
    keep: Sequence[str] | None = None,
) -> str:
    """Export a classifier to an SQL statement that predicts the class of the rows of a table.

    The statement is one SELECT without a semicolon, so that it can also follow ``CREATE VIEW name AS``. The same text
    runs on DuckDB, PostgreSQL (12 or later) and SQLite (3.35 or later, compiled with its mathematical functions). Its
    result has the columns of `keep`, then `prediction`, and ``p(<class>)`` for each class, as `tanbark predict` writes
    them. Probabilities equal those of `predict_proba` except for rounding.

    NULL and NaN are missing values. Missing values and values that were not seen in training are handled as in Python
    by `EvidenceBN` and naive Bayes. In trees and forests, a missing value is summed out if all attributes below it are
    missing, too; for other rows with missing or unseen values, the prediction and the probabilities are NULL. They are
    also NULL for unseen values if the encoder has ``unseen="error"``. ``Encoder(missing="state")``, which makes missing
    values a level, avoids this for missing values.

    Parameters
    ----------
    model : EvidenceBN, Network or classifier
        A fitted `EvidenceBN`, a tree (a network in which every attribute has the class and at most one attribute as
        parents), or a fitted classifier that consists of one tree, such as `NaiveBayes`, `TAN` or `ForestAN`.
    {output_path}
    table : str or sequence of str, default="rows"
        The name of the table or view, or a sequence of the names of its schema and itself.
    keep : sequence of str, default=None
        The columns of the table to copy to the result. None copies those that the model uses.

    Returns
    -------
    str
        The statement.

    Raises
    ------
    ValueError
        If the model is not a tree or an `EvidenceBN`, its tables are too large, SQL cannot express its names, or a
        column holds dates.

    Notes
    -----
    Columns must have the types of the training data: numbers must not be stored as text, and booleans are booleans (0
    and 1 in SQLite). If the model reads text (``Encoder(coerce=True)``), comments at the top of the statement name the
    columns that must hold numbers or booleans; texts such as 'n/a' in categories are missing values, as in Python.
    Names are quoted, so that PostgreSQL distinguishes upper and lower case. Infinite numbers, which Python refuses,
    belong to the outermost intervals.

    Examples
    --------
    >>> import duckdb
    >>> from tanbark import NaiveBayes
    >>> model = NaiveBayes().fit([["sun"], ["sun"], ["rain"]], ["walk", "walk", "read"])
    >>> statement = sql(model, table="days")
    >>> database = duckdb.connect()
    >>> _ = database.execute("CREATE TABLE days AS SELECT 'rain' AS x0")
    >>> database.execute(statement).fetchone()[:2]
    ('rain', 'read')
    """
    scores = _scores(model)
    check_no_dates(scores.schema, "SQL")
    check_plain_numbers(scores.schema)
    names = (table,) if isinstance(table, str) else tuple(table) if isinstance(table, Sequence) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"table must be a name or a sequence of names, got {table!r}")
    copied = _copied(scores, keep)
    return write_text(Statement(scores, names, copied).text(), path)


def _copied(scores: Scores, keep: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of the columns to copy, or raise ValueError if the result would have two of the same name."""
    if isinstance(keep, str):
        raise ValueError(f"keep must be a sequence of column names, got {keep!r}; write [{keep!r}]")
    copied = tuple(scores.schema.names if keep is None else keep)
    repeated = first_repeated(copied)
    if repeated is not None:
        raise ValueError(f"keep has {repeated!r} twice; name each column once")
    made = {name.lower() for name in ("prediction", *map(probability_name, scores.schema.classes))}
    taken = next((name for name in copied if name.lower() in made), None)
    if taken is not None:
        raise ValueError(
            f"the result would have two columns {taken!r}; rename the column, or leave it out of the result with keep"
        )
    return copied


def _scores(model: Any) -> Scores:
    """Return the tables of a model."""
    if isinstance(model, EvidenceBN):
        check_is_fitted(model)
        fitted = model.model_
        compiled = fitted.compiled
        prior = np.exp(fitted.class_log_prior)
        return Scores(fitted.schema, fitted.base_scores, compiled.tables, compiled.parents, compiled.digits, prior)
    network = network_of_model(model, "SQL")
    if network.tree is None:
        raise ValueError(
            "SQL can express a network only if it is a tree, and this one is not; fit EvidenceBN or TAN, or use "
            "tanbark.export.onnx"
        )
    tree = network.tree
    base, log_prior = tree.log_prior, network.class_log_prior
    if isinstance(model, NetworkClassifier):
        base, log_prior = base + model.model_.prior_ratio, model.model_.class_log_prior
    parents = [(p,) if p >= 0 else () for p in tree.parent.tolist()]
    digits = [np.arange(arity + 1) for arity in tree.arity.tolist()]
    tables = [_tree_table(tree, u) for u in range(len(parents))]
    return Scores(network.schema, base, tables, parents, digits, np.exp(log_prior))


def _tree_table(tree: Tree, u: int) -> Array:
    """Return the log probabilities of an attribute by its parent's code, its own and the class.

    A missing value contributes nothing. The probability of a known value under a missing parent is not defined (NaN),
    since the parent would have to be summed out together with all other attributes below it.
    """
    arity, classes, p = int(tree.arity[u]), len(tree.log_prior), int(tree.parent[u])
    known = tree.tables[tree.start[u] : tree.start[u + 1]].reshape(-1, arity, classes)
    if p < 0:
        return np.pad(known[0], ((0, 1), (0, 0)))
    table = np.pad(known, ((0, 1), (0, 1), (0, 0)))
    table[-1, :-1] = np.nan
    return table
