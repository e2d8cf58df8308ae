"""Random networks and their joint distributions."""

import numpy as np

from tanbark import Category, Network, Schema
from tanbark.network import Structure


def random_network(seed, n=5, classes=3, zeros=0.0, max_parents=3):
    """Return a network with a random graph, in which the class may have parents, and random tables."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n + 1).tolist()
    parents = [()] * (n + 1)
    for i, node in enumerate(order):
        n_parents = int(rng.integers(0, min(i, max_parents) + 1))
        parents[node] = tuple(rng.permutation(order[:i])[:n_parents].tolist())
    return network_with(parents, [*rng.integers(2, 4, n).tolist(), classes], rng, zeros)


def network_with(parents, arity, rng, zeros=0.0):
    """Return a network with random tables, in which a share of the probabilities is zero."""
    schema = Schema([Category(f"a{u}", tuple(range(r))) for u, r in enumerate(arity[:-1])], tuple(range(arity[-1])))
    tables = []
    for node, above in enumerate(parents):
        table = rng.dirichlet(np.ones(arity[node]), tuple(arity[p] for p in above))
        table = np.where(rng.random(table.shape) < zeros, 0.0, table)
        table[..., 0] += table.sum(axis=-1) == 0
        with np.errstate(divide="ignore"):
            tables.append(np.log(table / table.sum(axis=-1, keepdims=True)))
    return Network(schema, Structure(tuple(parents)), tuple(tables))


def whole_joint(network):
    """Return P(row, class) as the product of the tables: one axis for each attribute, the class last."""
    nodes = len(network.names)
    letters = [chr(ord("a") + node) for node in range(nodes)]
    terms = ["".join(letters[v] for v in (*above, node)) for node, above in enumerate(network.structure.parents)]
    tables = [network.table(name) for name in network.names]
    return np.einsum(f"{','.join(terms)}->{''.join(letters)}", *tables)


def rows_with_every_pattern(schema, seed=0):
    """Return random rows, one for each subset of attributes that can be missing."""
    rng = np.random.default_rng(seed)
    n = len(schema.columns)
    rows = np.array([rng.integers(0, r, 2**n) for r in schema.arity], schema.dtype)
    hidden = np.arange(2**n)[None, :] >> np.arange(n)[:, None] & 1
    return np.where(hidden, schema.missing_code, rows).astype(schema.dtype)


def random_tree(n, seed):
    """Return a network of n attributes, each with the class and at most one attribute as parents."""
    rng = np.random.default_rng(seed)
    parents = [(n,) if not u else (int(rng.integers(0, u)), n) for u in range(n)]
    return network_with([*parents, ()], [*rng.integers(2, 6, n).tolist(), 3], rng)
