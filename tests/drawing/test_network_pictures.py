import numpy as np

from tanbark import Category, Network, Schema
from tanbark.network import Structure


def test_the_text_tree_names_all_parents():
    schema = Schema([Category(name, (0, 1)) for name in ("rain", "sun", "wind", "tide")], (0, 1), class_name="sail")
    rng = np.random.default_rng(0)

    def lines(*parents):
        tables = tuple(np.log(rng.dirichlet(np.ones(2), (2,) * len(above))) for above in parents)
        return str(Network(schema, Structure(parents), tables)).splitlines()

    assert lines((3, 4), (0, 4), (1, 4, 0, 3), (), ()) == [
        "sail",
        "tide",
        "└─ rain  (and sail)",
        "   └─ sun  (and sail)",
        "      └─ wind  (and rain, tide, sail)",
    ]
    assert lines((), (0,), (1, 0, 4), (), (0, 3)) == [
        "rain",
        "├─ sun",
        "│  └─ wind  (and rain, sail)",
        "└─ sail  (and tide)",
        "tide",
    ]
