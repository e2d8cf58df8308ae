"""Tables of all super-parent networks, from counts of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.parameters.conditional import conditional, shares
from tanbark.parameters.tree_tables import attribute_table, class_table

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Smoothing:
    """What the prior adds to counts, for one of the five ways to estimate tables.

    Parameters
    ----------
    cell : array of shape (attributes, values)
        What is added to the count of a value under each value of a super-parent.
    mass : array of shape (attributes, attributes)
        Its sum over the values of the second attribute under the first.
    own_cell, own_mass : arrays of shape (values,) and (attributes,)
        The same under the class alone.
    class_cell : float
        What is added to the count of each class.
    softening : float
        With "softened" the rows that are shared out as the values' own frequencies are, else zero.
    """

    cell: Array
    mass: Array
    own_cell: Array
    own_mass: Array
    class_cell: float
    softening: float

    @classmethod
    def of(cls, counts: Counts, parameters: str, ess: float) -> Smoothing:
        """Return what `parameters` with `ess` adds to these counts."""
        r = counts.schema.arity.astype(np.float64)
        n, classes = len(r), len(counts.class_counts)
        each = np.repeat(r, counts.schema.arity)
        soft = 0.0
        if parameters == "dirichlet":
            cell, own = ess / (classes * np.multiply.outer(r, each)), ess / (classes * each)
            mass, own_mass = np.tile(ess / (classes * r)[:, None], n), np.full(n, ess / classes)
            of_class = ess / classes
        elif parameters == "laplace":
            cell, own = np.ones((n, len(each))), np.ones(len(each))
            mass, own_mass, of_class = np.tile(r, (n, 1)), r, 1.0
        elif parameters == "m":
            cell, own = np.tile(ess / each, (n, 1)), ess / each
            mass, own_mass, of_class = np.full((n, n), ess), np.full(n, ess), ess / classes
        else:
            soft = ess if parameters == "softened" else 0.0
            seen = counts.values.sum(axis=0).astype(np.float64)
            total = np.repeat(np.add.reduceat(seen, counts.schema.offset[:-1]), counts.schema.arity)
            own = soft * np.divide(seen, total, out=1.0 / each, where=total > 0)
            cell, mass, own_mass, of_class = np.tile(own, (n, 1)), np.full((n, n), soft), np.full(n, soft), 0.0
        return cls(cell, mass, own, own_mass, of_class, soft)


def children_tables(counts: Counts, smoothing: Smoothing) -> Array:
    """Return ``log P(j | i, class)`` of all pairs of values, of shape (values i, classes, values j).

    It is zero within an attribute. A table comes from the rows that have both values.
    """
    schema = counts.schema
    arity, offset = schema.arity, schema.offset
    seen = np.array(counts.table.transpose(1, 0, 2), np.float64, order="C")
    total = np.add.reduceat(seen, offset[:-1], axis=2)
    seen += np.repeat(smoothing.cell, arity, axis=0)[:, None, :]
    total += np.repeat(smoothing.mass, arity, axis=0)[:, None, :]
    empty = ~(total > 0)
    total[empty] = 1.0
    seen /= np.repeat(total, arity, axis=2)
    if empty.any():
        uniform = np.broadcast_to(np.repeat(1.0 / arity, arity), seen.shape)
        nothing = np.repeat(empty, arity, axis=2)
        seen[nothing] = uniform[nothing]
    with np.errstate(divide="ignore"):
        np.log(seen, out=seen)
    for u in range(len(arity)):
        inside = slice(int(offset[u]), int(offset[u + 1]))
        seen[inside, :, inside] = 0.0
    return seen


def value_tables(counts: Counts, parameters: str, ess: float) -> tuple[Array, Array]:
    """Return ``log P(class)`` and ``log P(i | class)`` of all values, of shape (values, classes)."""
    alone = [attribute_table(counts, u, -1, parameters, ess).T for u in range(len(counts.schema.columns))]
    return class_table(counts, parameters, ess), np.concatenate(alone)


def joint_value_tables(counts: Counts, parameters: str, ess: float, log_prior: Array | None = None) -> Array:
    """Return ``log P(class, i)`` of all values, of shape (values, classes), each attribute's estimated as one table.

    Where an attribute has holes, the rows of a class that lack it are shared out as those that have it are. A given
    prior replaces what the tables say of the classes.
    """
    of_class = counts.class_counts.astype(np.float64)
    tables = []
    for u in range(len(counts.schema.columns)):
        seen = counts.value(u).astype(np.float64)
        filled = of_class[:, None] * shares(seen)
        apart = np.multiply.outer(shares(of_class), shares(seen.sum(axis=0)))
        table = conditional(parameters, filled.ravel(), apart.ravel(), ess, seen.size).reshape(seen.shape)
        if log_prior is not None:
            table = shares(table) * np.exp(log_prior)[:, None]
        tables.append(table.T)
    with np.errstate(divide="ignore"):
        return np.log(np.concatenate(tables))
