import numpy as np
import pytest

from tanbark import Category, Network, Schema
from tanbark.models.model import network_arrays, network_from_arrays
from tanbark.network import SparseTable, Structure


def network(seed):
    """Return a network of two attributes, the second with a sparse table."""
    rng = np.random.default_rng(seed)
    schema = Schema([Category("a", (0, 1, 2)), Category("b", (0, 1))], ("no", "yes"))
    seen, default = np.log(rng.dirichlet(np.ones(2), (1, 2))), np.log(rng.dirichlet(np.ones(2), 2))
    sparse = SparseTable((2, 3, 2), 0, np.array([1]), seen, default)
    tables = (np.log(rng.dirichlet(np.ones(3), 2)), sparse, np.log(rng.dirichlet(np.ones(2))))
    return Network(schema, Structure(((2,), (2, 0), ())), tables)


def test_prefixes_distinguish_the_arrays_of_several_networks():
    one, other = network(0), network(1)
    arrays = network_arrays(one, "one_") | network_arrays(other, "other_")
    assert sorted(network_arrays(one)) == ["default_1", "keys_1", "log_table_0", "log_table_1", "log_table_2"]
    rows = np.array([[0, 1, 2, 255], [1, 255, 0, 1]], np.uint8)
    for given, prefix in ((one, "one_"), (other, "other_")):
        parents = [list(nodes) for nodes in given.structure.parents]
        again = network_from_arrays(given.schema, parents, arrays, prefix)
        assert again.structure == given.structure
        assert np.array_equal(again.log_joint(rows), given.log_joint(rows))


def test_a_network_that_does_not_match_the_schema_is_refused():
    given = network(0)
    with pytest.raises(ValueError, match="its network has 2 nodes, its schema requires 3"):
        network_from_arrays(given.schema, [[1], []], network_arrays(given))
