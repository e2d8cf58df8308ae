"""Search for a structure by the names of a search and a score."""

from __future__ import annotations

from collections.abc import Callable

from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import AIC, BIC, CMDL, BDeu, BDs, Cases, Conditional, Decomposable, K2Score
from tanbark.structure.search.exact_search import exact_structure
from tanbark.structure.search.hill_climbing import hill_climb
from tanbark.structure.search.restrictions import Restrictions
from tanbark.user_warnings import warn

CRITERIA: dict[str, Callable[[float], Decomposable | Conditional]] = {
    "bdeu": BDeu,
    "bds": BDs,
    "bic": lambda ess: BIC(),
    "aic": lambda ess: AIC(),
    "k2": K2Score,
    "cmdl": CMDL,
}
"""The scores by which structures are searched, for an equivalent sample size."""
SEARCHES = ("auto", "exact", "greedy")
MOST_EXACT = 20
"""So many nodes are searched exactly where nobody says how."""


def searched_structure(
    cases: Cases,
    score: Decomposable | Conditional,
    restrictions: Restrictions,
    search: str,
    *,
    tabu: int = 10,
    restarts: int = 0,
    max_memory: float | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> tuple[Structure, str]:
    """Return a structure, and whether it was searched "exact" or "greedy".

    With `search` "auto" that depends on the number of nodes and on the score alone, never on the machine.
    """
    nodes = len(cases.arity) - restrictions.class_above_all
    if isinstance(score, Conditional):
        search = "greedy"
    elif search == "auto" and nodes > MOST_EXACT:
        warn(
            f"{nodes} nodes are more than the {MOST_EXACT} that are searched exactly by default, so the structure is "
            "the best that hill climbing finds; search='exact' finds the best of all, search='greedy' says that this "
            "will do"
        )
        search = "greedy"
    elif search == "auto":
        search = "exact"
    if search == "exact":
        assert isinstance(score, Decomposable)
        structure = exact_structure(cases, score, restrictions, max_memory=max_memory, n_jobs=n_jobs, progress=progress)
    else:
        structure = hill_climb(
            cases, score, restrictions, tabu=tabu, restarts=restarts, seed=seed, n_jobs=n_jobs, progress=progress
        )
    return structure, search
