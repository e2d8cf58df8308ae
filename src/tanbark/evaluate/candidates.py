"""Candidates for a comparison: the classifiers of tanbark and three of scikit-learn, with a cost model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import Any

from tanbark.classifiers.registry import REGISTRY, registered_name
from tanbark.evaluate.table_vectorizer import TableVectorizer
from tanbark.messages import suggestion
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.table_reader import read_table
from tanbark.structure.search.exact_or_greedy import MAX_EXACT_NODES

PEERS = {
    "cart": ("sklearn.tree", "DecisionTreeClassifier"),
    "random-forest": ("sklearn.ensemble", "RandomForestClassifier"),
    "gradient-boosting": ("sklearn.ensemble", "HistGradientBoostingClassifier"),
}
"""Classifiers of scikit-learn, by the names that comparisons give them; imported on first use."""

ALWAYS_AFFORDABLE = ("naive-bayes", "tan")
"""Candidates for a table of any size."""

MAX_FOLD_SECONDS = 6.0
"""Classifiers with a higher expected time per fold are not candidates unless they are named."""

_SECONDS_PER_FIT = {"evidence-bn": 0.2, "ensemble-bn": 2.0}
"""Seconds that a fit takes however small the table is, if they are noticeable."""

_SECONDS_PER_MILLION_CELLS = {
    "evidence-bn": 5.0,
    "ensemble-bn": 50.0,
    "cart": 1.0,
    "random-forest": 8.0,
    "gradient-boosting": 8.0,
    "super-parent": 0.6,
    "additive-bn": 1.5,
}

_SECONDS_PER_MILLION_ROW_PAIRS = {
    "bnc2p": 0.2,
    "boosted-bn": 0.1,
    "bayes-net": 0.05,
    "augmented-naive-bayes": 0.05,
    "averaged-tan": 0.02,
}
"""Seconds per million of (row, pair of columns)."""

_SECONDS_PER_BILLION_ROW_SETS = 4.0
"""Seconds per billion of (row, set of nodes), for an exact search."""

_NODES_BESIDE_COLUMNS = {"bayes-net": 1, "augmented-naive-bayes": 0}
"""How many nodes an exact search has in addition to the columns: the class, or none."""


def candidate_names() -> tuple[str, ...]:
    """Return the names of all classifiers that `compare` can construct.

    Returns
    -------
    tuple of str
        The classifiers of tanbark, as on the command line, then those of scikit-learn.

    Examples
    --------
    >>> from tanbark.evaluate import candidate_names
    >>> candidate_names()[0], candidate_names()[-3:]
    ('evidence-bn', ('cart', 'random-forest', 'gradient-boosting'))
    """
    return (*REGISTRY, *PEERS)


def candidate_models(
    X: Any, *, encoder: Encoder | Schema | None = None, max_fold_seconds: float = MAX_FOLD_SECONDS
) -> dict[str, Any]:
    """Return the classifiers that are worth trying on a table of this size.

    Naive Bayes and TAN are always included. Every other classifier is included if it is expected to take at most
    `max_fold_seconds` to fit and predict one fold on an ordinary core.

    Parameters
    ----------
    X : array, data frame or Arrow table of shape (rows, attributes)
    encoder : Encoder, Schema or None, default=None
        The encoder of all classifiers; None is ``Encoder()``, in which each classifier chooses the number of bins.
    max_fold_seconds : float, default=6.0

    Returns
    -------
    dict of str to classifier
        Unfitted classifiers by name, to pass to `compare`. See `candidate_names` for the names.

    Examples
    --------
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import candidate_models
    >>> X, y = lenses()
    >>> candidate_models(X)["tan"]
    TAN()
    """
    names, _ = affordable(*table_shape(X), max_fold_seconds)
    return new_models(names, encoder)


def affordable(
    rows: int, columns: int, max_fold_seconds: float = MAX_FOLD_SECONDS
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the classifiers to try on a table of this size, and of those that would take too long."""
    names = candidate_names()
    slow = tuple(
        name for name in names if name not in ALWAYS_AFFORDABLE and fold_seconds(name, rows, columns) > max_fold_seconds
    )
    return tuple(name for name in names if name not in slow), slow


def fold_seconds(name: str, rows: int, columns: int) -> float:
    """Return roughly how long a classifier takes to fit and predict one fold on an ordinary core."""
    cells, pairs = rows * columns / 1e6, rows * columns**2 / 1e6
    seconds = 0.05 + 0.1 * cells + _SECONDS_PER_FIT.get(name, 0.0) + _SECONDS_PER_MILLION_CELLS.get(name, 0.0) * cells
    nodes = columns + _NODES_BESIDE_COLUMNS.get(name, MAX_EXACT_NODES)
    if nodes <= MAX_EXACT_NODES:
        return seconds + _SECONDS_PER_BILLION_ROW_SETS * rows * 2.0**nodes / 1e9
    return seconds + _SECONDS_PER_MILLION_ROW_PAIRS.get(name, 0.0) * pairs


def new_models(names: Iterable[str], encoder: Encoder | Schema | None = None) -> dict[str, Any]:
    """Return unfitted classifiers by name. Raise ValueError if a name is unknown."""
    return {name: _new_model(name, encoder) for name in names}


def _new_model(name: str, encoder: Encoder | Schema | None) -> Any:
    if name in REGISTRY:
        return REGISTRY[name].classifier(encoder=encoder)
    if name not in PEERS:
        instead = suggestion(name, candidate_names(), f"the names are {', '.join(candidate_names())}")
        raise ValueError(f"there is no classifier {name!r}; {instead}")
    from sklearn.pipeline import make_pipeline

    module, class_name = PEERS[name]
    peer = getattr(import_module(module), class_name)
    return make_pipeline(TableVectorizer(encoder=encoder), peer(random_state=0))


def as_models(models: Mapping[str, Any] | Sequence[str], encoder: Encoder | Schema | None = None) -> dict[str, Any]:
    """Return classifiers by name, constructing them if only names are given.

    Raise TypeError if `models` is neither a mapping nor a sequence of names, and ValueError if it is empty.
    """
    if not isinstance(models, Mapping):
        if isinstance(models, str) or not isinstance(models, Sequence) or not all(isinstance(m, str) for m in models):
            raise TypeError(
                f"models must map names to classifiers, or be a list of names, got {type(models).__name__!r}"
            )
        models = new_models(models, encoder)
    if not models:
        raise ValueError("models is empty; give at least one classifier")
    return dict(models)


def candidate_name(model: Any) -> str | None:
    """Return the name of a classifier among the candidates, None if it is not one; of a pipeline, of its last step."""
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        model = model.steps[-1][1]
    peers = {class_name: name for name, (_, class_name) in PEERS.items()}
    for kind in type(model).__mro__:
        name = registered_name(kind)
        if name is None and kind.__module__.startswith("sklearn."):
            name = peers.get(kind.__name__)
        if name is not None:
            return name
    return None


def table_shape(X: Any) -> tuple[int, int]:
    """Return the number of rows and columns of a table."""
    if hasattr(X, "shape") and len(X.shape) == 2:
        rows, columns = X.shape
        return int(rows), int(columns)
    table = read_table(X)
    return table.rows, len(table.columns)
