"""The choice between exact search and hill climbing."""

from __future__ import annotations

from tanbark.messages import warn
from tanbark.network import Structure
from tanbark.progress import Progress, silent
from tanbark.scores import Cases, Decomposable, Score
from tanbark.structure.search.exact_search import exact_structure
from tanbark.structure.search.hill_climbing import hill_climb
from tanbark.structure.search.restrictions import Restrictions

SEARCHES = ("auto", "exact", "greedy")
MAX_EXACT_NODES = 20
"""Number of nodes up to which "auto" searches exactly."""


def searched_structure(
    cases: Cases,
    score: Score,
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
    """Return a structure of high score, and whether the search was "exact" or "greedy".

    With `search` "auto", the choice depends only on the number of nodes and the score, never on the machine. A score
    that is not a sum over families is always searched greedily. The other parameters are those of `exact_structure` and
    `hill_climb`.
    """
    nodes = len(cases.arity) - restrictions.class_above_all
    if not score.is_decomposable:
        search = "greedy"
    elif search == "auto" and nodes > MAX_EXACT_NODES:
        warn(
            f"{nodes} nodes are more than the {MAX_EXACT_NODES} that are searched exactly by default, so the structure "
            "is found by hill climbing and may not be optimal; set search='exact' for the optimal structure, or "
            "search='greedy' to silence this warning"
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
