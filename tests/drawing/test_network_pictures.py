import numpy as np

from tanbark import Category, Network, Schema
from tanbark.network import Structure


def test_the_text_tree_names_all_parents():
    schema = Schema([Category(name, (0, 1)) for name in ("rain", "sun", "wind", "tide")], (0, 1), class_name="sail")
    rng = np.random.default_rng(0)
    parents = ((3, 4), (0, 4), (1, 4, 0, 3), (), ())
    tables = tuple(np.log(rng.dirichlet(np.ones(2), (2,) * len(above))) for above in parents)
    assert str(Network(schema, Structure(parents), tables)).splitlines() == [
        "sail",
        "tide",
        "└─ rain  (and sail)",
        "   └─ sun  (and sail)",
        "      └─ wind  (and rain, tide, sail)",
    ]
    parents = ((), (0,), (1, 0, 4), (), (0, 3))
    tables = tuple(np.log(rng.dirichlet(np.ones(2), (2,) * len(above))) for above in parents)
    assert str(Network(schema, Structure(parents), tables)).splitlines() == [
        "rain",
        "├─ sun",
        "│  └─ wind  (and rain, sail)",
        "└─ sail  (and tide)",
        "tide",
    ]
