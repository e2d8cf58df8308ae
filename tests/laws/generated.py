"""Tables of every mix of types, arities, holes and weights, and settings of classifiers, for hypothesis to draw."""

import os
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tanbark import Encoder

EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "4"))
"""How many tables each law is tried on for each classifier; `make laws` tries more, others each time."""

tried = settings(
    max_examples=EXAMPLES,
    derandomize="LAW_EXAMPLES" not in os.environ,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


def law(test):
    """Let hypothesis draw the data on which a law is tried."""
    return tried(given(data=st.data())(test))


MAX_JOINT_CELLS = 1_500_000
"""Of a table of counts: what hypothesis tries hundreds of times must be small."""

PARAMETERS = ("dirichlet", "ml", "softened", "laplace", "m")
KINDS = ("text", "declared", "integers", "booleans", "numbers", "objects")
HOLES = ("none", "none", "some", "most", "all", "one class")
WEIGHTS = ("none", "whole", "real", "tiny and huge")

SCORES = ("bdeu", "bds", "bic", "aic", "k2")

SEARCHES = {
    "search": ("exact", "greedy"),
    "criterion": SCORES,
    "max_parents": (None, 2),
    "tabu": (10, 0),
    "restarts": (0, 1),
}

CHOICES = {
    "EvidenceBN": {"depth": (0, 1, 2, 3), "weight_penalty": (None, 30.0), "correction_penalty": (None, 10.0)},
    "TAN": {"criterion": ("cmi", "bdeu", "acll")},
    "ForestAN": {"criterion": ("bdeu", "cmi")},
    "SuperParent": {"parent": (None, "a0")},
    "KDB": {"k": (0, 1, 2, 9)},
    "AODE": {"min_frequency": (1, 5)},
    "AveragedTAN": {"multinet": (False, True), "stubbornness": (None, 5)},
    "AdditiveBN": {
        "weak": ("superparent", "naive-bayes", "tan", "kdb"),
        "link": ("log", "linear"),
        "held_out": (True, False),
    },
    "BoostedTables": {
        "n_estimators": (None, 7),
        "max_depth": (6, 2),
        "learning_rate": (0.1, 0.5),
        "subsample": (0.8, 1.0),
        "patience": (30, 3, None),
    },
    "BoostedBN": {"base": ("tan", "naive-bayes", "grown"), "n_estimators": (3,), "patience": (1, 10)},
    "BayesNet": SEARCHES,
    "AugmentedNaiveBayes": SEARCHES,
    "K2": {"max_parents": (1, 3)},
}
"""Settings of which each changes how a classifier learns; one that is not here is tried with what all have."""

NOT_DRAWN = {
    "class_prior class_weight edge_prior prior forbidden required order structure": "these name columns or classes",
    "max_members": "some members cannot be chosen among",
    "edge_penalty": "drawn by the test that needs no folds",
    "restructure": "its heuristic is not what learning all at once is",
    "encoder": "drawn by itself",
    "n_jobs max_memory verbose random_state": "change no answer, but that of draws",
}
"""Settings that laws do not draw, and why; they have tests of their own."""


@dataclass(frozen=True)
class Drawn:
    """A table, its classes and weights (None: each row once)."""

    X: pd.DataFrame
    y: np.ndarray
    weights: np.ndarray | None

    def take(self, rows: Any) -> "Drawn":
        """Return some of the rows, as an array of positions or a mask says."""
        return Drawn(self.X.iloc[rows], self.y[rows], None if self.weights is None else self.weights[rows])


@st.composite
def tables(draw, least_rows=0, most_rows=500, weights=WEIGHTS, most_columns=6):
    """Draw what a table is made of; its cells follow from a seed."""
    rows = draw(st.integers(least_rows, most_rows))
    classes = draw(st.one_of(st.integers(1, 4), st.integers(1, 30)))
    columns = draw(
        st.lists(
            st.tuples(
                st.sampled_from(KINDS), st.one_of(st.integers(1, 6), st.integers(1, 300)), st.sampled_from(HOLES)
            ),
            min_size=1,
            max_size=most_columns,
        )
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    while classes * sum(arity for _, arity, _ in columns) ** 2 > MAX_JOINT_CELLS:
        columns = [(kind, 1 + arity // 2, holes) for kind, arity, holes in columns]
    y = rng.integers(0, classes, rows)
    X, before = {}, y
    for u, (kind, arity, holes) in enumerate(columns):
        before = np.where(rng.random(rows) < 0.5, (before + y) % arity, rng.integers(0, arity, rows))
        X[f"a{u}"] = _with_holes(_column(kind, arity, before, rng), _holed(holes, y, rng))
    labels = draw(st.sampled_from(["text", "whole", "booleans"]))
    return Drawn(pd.DataFrame(X), _classes(labels, y, classes), _weights(draw(st.sampled_from(weights)), rows, rng))


@st.composite
def tables_without_ties(draw):
    """Draw a table in which no two structures are equally good: real weights, few levels, each seen often."""
    rows, classes = draw(st.integers(80, 300)), draw(st.integers(2, 4))
    arities = draw(st.lists(st.integers(2, 5), min_size=2, max_size=5))
    holes = draw(st.sampled_from([0.0, 0.1]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    y = rng.integers(0, classes, rows)
    X, before = {}, y
    for u, arity in enumerate(arities):
        before = np.where(rng.random(rows) < 0.6, (before + y) % arity, rng.integers(0, arity, rows))
        X[f"a{u}"] = _with_holes(_column("text", arity, before, rng), rng.random(rows) < holes)
    return Drawn(pd.DataFrame(X), _classes("text", y, classes), rng.uniform(0.5, 2.0, rows))


@st.composite
def settings_of(draw, classifier):
    """Draw settings of a classifier from those it takes."""
    takes = signature(classifier).parameters
    chosen = {name: draw(st.sampled_from(values)) for name, values in CHOICES.get(classifier.__name__, {}).items()}
    if "parameters" in takes:
        chosen["parameters"] = draw(st.sampled_from(PARAMETERS))
    chosen["ess"] = draw(st.sampled_from([takes["ess"].default, 1e-3, 1.0, 100.0]))
    return chosen


@st.composite
def class_weights(draw, table):
    """Draw whole weights of some classes that have rows of positive weight."""
    rows = ... if table.weights is None else table.weights > 0
    labels = np.unique(table.y[rows]).tolist()
    return draw(st.dictionaries(st.sampled_from(labels), st.integers(1, 5)))


@st.composite
def encoders(draw):
    """Draw how a table becomes codes."""
    return Encoder(
        categorical=draw(st.sampled_from(["auto", "all"])),
        bins=draw(st.sampled_from(["auto", "modl", "quantile", "width", "mdlp"])),
        n_bins=draw(st.sampled_from([1, 2, 5])),
        max_levels=draw(st.sampled_from([3, 255])),
        missing=draw(st.sampled_from(["marginalize", "state"])),
    )


def _column(kind, arity, codes, rng):
    """Return a column of a kind whose value follows from a code below `arity`."""
    if kind == "text":
        return pd.Series([f"é {code}" if code % 7 == 3 else f"v{code}" for code in codes], dtype=object)
    if kind == "declared":
        return pd.Series(pd.Categorical.from_codes(codes, [f"level {code}" for code in range(arity)][::-1]))
    if kind == "integers":
        return pd.Series(codes - arity // 2)
    if kind == "booleans":
        return pd.Series(codes % 2 == 0)
    if kind == "numbers":
        return pd.Series((codes + rng.normal(scale=0.3, size=len(codes)).round(1)) * 10.0 ** rng.integers(-300, 300))
    return pd.Series(codes.astype(object))


def _holed(holes, y, rng):
    """Return which rows lack a value."""
    if holes == "one class":
        return y == 0
    return rng.random(len(y)) < {"none": 0.0, "some": 0.2, "most": 0.9, "all": 1.0}[holes]


def _with_holes(column, holed):
    """Return a column without some of its values, a type that cannot lack any becoming one that can."""
    if not holed.any():
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.where(~holed)
    return column.astype(float if column.dtype.kind in "if" else object).where(~holed)


def _classes(labels, y, classes):
    """Return class labels of a type, in an order other than that of their codes where they are text."""
    if labels == "text":
        return np.array([f"class {(7 * k + 3) % 31}" for k in range(31)], object)[y]
    if labels == "booleans" and classes <= 2:
        return y == 1
    return 10 - 3 * y


def _weights(kind, rows, rng):
    """Return weights of a kind, some above zero."""
    if kind == "none":
        return None
    if kind == "whole":
        weights = rng.integers(0, 4, rows).astype(float)
    elif kind == "real":
        weights = rng.uniform(0.0, 3.0, rows)
    else:
        weights = 10.0 ** rng.integers(-30, 30, rows)
    weights[:1] = 1.0
    return weights
