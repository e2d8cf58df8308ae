"""Which search is used, and with which settings."""

import numpy as np
import pytest

from tanbark.scores import BIC, CMDL, Cases
from tanbark.structure.search import exact_or_greedy as search
from tanbark.structure.search.restrictions import Restrictions

FREE = Restrictions.of(("a", "b", "class"))
CASES = Cases(np.zeros((3, 4), np.uint8), np.array([2, 2, 2]), np.ones(4))


@pytest.fixture
def calls(monkeypatch):
    """Record the arguments of both searches; each returns its own name."""
    calls = []
    for name in ("exact_structure", "hill_climb"):
        monkeypatch.setattr(
            search, name, lambda *given, _name=name, **settings: calls.append((given, settings)) or _name
        )
    return calls


def test_an_exact_search_gets_its_settings(calls):
    found = search.searched_structure(
        CASES, BIC(), FREE, "exact", tabu=3, restarts=4, max_memory=5.0, seed=6, n_jobs=7, progress=print
    )
    assert found == ("exact_structure", "exact")
    assert calls == [((CASES, BIC(), FREE), {"max_memory": 5.0, "n_jobs": 7, "progress": print})]


def test_a_greedy_search_gets_its_settings(calls):
    found = search.searched_structure(
        CASES, BIC(), FREE, "greedy", tabu=3, restarts=4, max_memory=5.0, seed=6, n_jobs=7, progress=print
    )
    assert found == ("hill_climb", "greedy")
    settings = {"tabu": 3, "restarts": 4, "seed": 6, "n_jobs": 7, "progress": print}
    assert calls == [((CASES, BIC(), FREE), settings)]


@pytest.mark.usefixtures("calls")
def test_a_conditional_score_is_always_searched_greedily():
    assert search.searched_structure(CASES, CMDL(1.0), FREE, "exact")[1] == "greedy"


@pytest.mark.usefixtures("calls")
def test_up_to_twenty_nodes_are_searched_exactly_by_default():
    def found(attributes, augmented):
        nodes = attributes + 1
        restrictions = Restrictions.of([f"x{u}" for u in range(nodes)], augmented=augmented)
        cases = Cases(np.zeros((nodes, 4), np.uint8), np.full(nodes, 2), np.ones(4))
        return search.searched_structure(cases, BIC(), restrictions, "auto")[1]

    # A class that is a parent of all attributes is not searched.
    for most, augmented in ((19, False), (20, True)):
        assert found(most, augmented) == "exact"
        with pytest.warns(UserWarning, match="21 nodes are more than the 20 that are searched exactly by default"):
            assert found(most + 1, augmented) == "greedy"
