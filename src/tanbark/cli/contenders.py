"""Which classifiers take part in a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import CommandError

if TYPE_CHECKING:
    from tanbark.schema import Encoder

PEERS = ("cart", "random-forest", "gradient-boosting")
"""Those of scikit-learn."""

ALWAYS = ("naive-bayes", "tan")
"""Those that are worth waiting for on a table of any size."""

MOST_SECONDS = 6.0
"""What would take longer in each fold takes part only where it is named."""

_CELLS = {"cart": 1.0, "random-forest": 8.0, "gradient-boosting": 8.0, "super-parent": 0.6, "additive-bn": 1.5}
"""Seconds for each million of values in the table."""

_PAIRS = {"bnc2p": 0.2, "boosted-bn": 0.1, "bayes-net": 0.05, "augmented-naive-bayes": 0.05, "averaged-tan": 0.02}
"""Seconds for each million of rows by pairs of columns."""

_SETS = 4.0
"""Seconds for each thousand million of rows by sets of nodes, where all sets are searched."""

_BESIDE_COLUMNS = {"bayes-net": 1, "augmented-naive-bayes": 0}
"""How many nodes are searched beside the columns: the class or none."""


def known() -> tuple[str, ...]:
    """Return the names of all classifiers that can take part."""
    from tanbark.classifiers.registry import REGISTRY

    return (*REGISTRY, *PEERS)


def named(words: Sequence[str]) -> list[str]:
    """Return the classifiers that a person asked for, separated by commas or not, each once; ``all`` are all."""
    names = [name.strip() for word in words for name in word.split(",") if name.strip()]
    if words and not names:
        raise CommandError(f"--models names none; the models are {', '.join(known())}, and all for all")
    for name in names:
        if name not in (*known(), "all"):
            raise CommandError(f"there is no model {name!r}; the models are {', '.join(known())}, and all for all")
    return list(known()) if "all" in names else list(dict.fromkeys(names))


def sensible(rows: int, columns: int) -> tuple[list[str], list[str]]:
    """Return which classifiers to try on a table of such a size, and which would take too long."""
    slow = [name for name in known() if name not in ALWAYS and fold_seconds(name, rows, columns) > MOST_SECONDS]
    return [name for name in known() if name not in slow], slow


def fold_seconds(name: str, rows: int, columns: int) -> float:
    """Return about how long a classifier takes to learn and predict in a fold, on an ordinary core."""
    from tanbark.structure.search.exact_or_greedy import MOST_EXACT

    cells, pairs = rows * columns / 1e6, rows * columns**2 / 1e6
    seconds = 0.05 + 0.1 * cells + _CELLS.get(name, 0.0) * cells
    nodes = columns + _BESIDE_COLUMNS.get(name, MOST_EXACT)
    if nodes <= MOST_EXACT:
        return seconds + _SETS * rows * 2.0**nodes / 1e9
    return seconds + _PAIRS.get(name, 0.0) * pairs


def new(names: Sequence[str], encoder: Encoder) -> Mapping[str, Any]:
    """Return the classifiers of these names, which have learned nothing yet."""
    from tanbark.classifiers.registry import REGISTRY

    return {
        name: REGISTRY[name].classifier(encoder=encoder) if name in REGISTRY else _peer(name, encoder) for name in names
    }


def _peer(name: str, encoder: Encoder) -> Any:
    """Return a classifier of scikit-learn that takes any table."""
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.tree import DecisionTreeClassifier

    from tanbark.evaluate import TableVectorizer

    kinds = {
        "cart": DecisionTreeClassifier,
        "random-forest": RandomForestClassifier,
        "gradient-boosting": HistGradientBoostingClassifier,
    }
    return make_pipeline(TableVectorizer(encoder=encoder), kinds[name](random_state=0))
