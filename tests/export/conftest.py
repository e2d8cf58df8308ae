"""Networks of every kind that files must represent."""

import numpy as np
import pytest

from tanbark import KDB, TAN, Category, Encoder, NaiveBayes, Network, Number, Schema
from tanbark.datasets import balance_scale, iris, lenses
from tanbark.network import Structure

HOSTILE = (
    "<script>alert(1)</script>",
    '"; drop',
    "a, b",
    "two\nlines",
    "日本",
    "",
    "true",
    "1st",
    "a",
    "A",
    "table",
    "_x0041_",
    "  two  spaces ",
    "a\\b | {c} & 'd' \U0001f333",
)


def with_random_tables(schema, parents, seed=0):
    """Return a network with random tables."""
    rng = np.random.default_rng(seed)
    arity = [*schema.arity.tolist(), len(schema.classes)]
    sizes = [(tuple(arity[p] for p in above), arity[node]) for node, above in enumerate(parents)]
    tables = tuple(np.log(rng.dirichlet(np.ones(own), above)) for above, own in sizes)
    return Network(schema, Structure(parents), tables)


def make_networks():
    """Return networks by name."""
    middle = Schema(
        [
            Category("season", ("dry", "wet")),
            Category("sprinkler", (False, True)),
            Category("rain", (0, 1, 2), missing=True),
            Number("depth", (0.25, 1.5), 0.0, 4.0, missing=True),
            Category("shoe", ("boot", "clog"), other=True),
            Category("size", (38.5, 41.0)),
        ],
        (1, 2, 3),
        "grass",
    )
    hostile = Schema([Category(name, HOSTILE[:2]) for name in HOSTILE[:-1]], HOSTILE, HOSTILE[-1])
    return {
        "naive Bayes": NaiveBayes().fit(*lenses()).network_,
        "TAN of numbers": TAN(encoder=Encoder(n_bins=5)).fit(*iris()).network_,
        "KDB": KDB(k=2).fit(*balance_scale()).network_,
        "class with parents": with_random_tables(middle, ((), (0,), (0,), (1, 2, 6), (6,), (4, 6), (1, 2))),
        "hostile": with_random_tables(hostile, (*((13,) if u % 2 else (u + 1, 13) for u in range(12)), (13,), ())),
    }


@pytest.fixture(scope="session")
def networks():
    return make_networks()
