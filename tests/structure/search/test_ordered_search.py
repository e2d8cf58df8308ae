import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from tanbark import Counts
from tanbark.averaging import WEAK_STRUCTURES
from tanbark.structure import k_dependence


def by_hand(codes, y, k):
    """Return the structure of Sahami's algorithm for complete codes, with scikit-learn's information."""
    n = len(codes)
    alone = [mutual_info_score(codes[u], y) for u in range(n)]
    parents = [()] * n
    done = []
    for u in sorted(range(n), key=lambda u: -alone[u]):

        def shared(v, u=u):
            return sum(np.mean(y == c) * mutual_info_score(codes[u, y == c], codes[v, y == c]) for c in np.unique(y))

        parents[u] = (*sorted(done, key=lambda v: -shared(v))[:k], n)
        done.append(u)
    return (*parents, ())


@pytest.mark.parametrize("k", [0, 1, 2, 3, 5, 99])
@pytest.mark.parametrize("seed", range(5))
def test_the_structure_is_sahamis(random_table, k, seed):
    schema, codes, y = random_table(seed, 150, (3, 2, 4, 2, 3, 3), 3)
    structure = k_dependence(Counts.of(schema, codes, y), k)
    assert structure.parents == by_hand(codes, y, k)
    assert max(len(structure.attribute_parents(u)) for u in range(6)) == min(k, 5)


def test_ties_go_to_column_order(random_table):
    schema, codes, y = random_table(0, 60, (3, 3, 3, 3), 2)
    codes[:] = codes[0]
    assert k_dependence(Counts.of(schema, codes, y), 2).parents == ((4,), (0, 4), (0, 1, 4), (0, 1, 4), ())


@pytest.mark.parametrize(("n", "most"), [(1, 0), (2, 1), (3, 2), (4, 3), (6, 3)])
def test_a_pool_has_each_structure_once_from_naive_bayes_on(random_table, n, most):
    schema, codes, y = random_table(0, 100, (3,) * n, 2)
    found = WEAK_STRUCTURES["kdb"](Counts.of(schema, codes, y))
    assert [structure.parents for structure in found] == [by_hand(codes, y, k) for k in range(most + 1)]
