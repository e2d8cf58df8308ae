"""Estimation of the tables of all super-parent networks from counts of pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.parameters.tree_tables import attribute_table, class_table, conditional, shares
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class Smoothing:
    """Pseudo-counts that an estimator adds to the counts of all super-parent networks.

    Parameters
    ----------
    cell : ndarray of shape (n_attributes, n_values)
        Pseudo-count of each value under each value of a super-parent.
    mass : ndarray of shape (n_attributes, n_attributes)
        Sum of `cell` over the values of the second attribute, under the super-parent given by the first.
    own_cell : ndarray of shape (n_values,)
        Pseudo-count of each value with the class as the only parent.
    own_mass : ndarray of shape (n_attributes,)
        Sum of `own_cell` over the values of each attribute.
    class_cell : float
        Pseudo-count of each class.
    softening : float
        With "softened", the number of pseudo-counts distributed as the values' relative frequencies; otherwise zero.
    """

    cell: Array
    mass: Array
    own_cell: Array
    own_mass: Array
    class_cell: float
    softening: float

    @classmethod
    def of(cls, counts: Counts, parameters: str, ess: float) -> Smoothing:
        """Return the pseudo-counts of an estimator for given counts.

        {counts_and_estimator}

        Returns
        -------
        smoothing : Smoothing
        """
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
    """Estimate ``log P(j | i, class)`` of all pairs of values.

    Parameters
    ----------
    counts : Counts
        Counts of pairs. The table of two attributes is estimated from the rows in which both are known.
    smoothing : Smoothing
        The pseudo-counts.

    Returns
    -------
    log_tables : ndarray of shape (n_values i, n_classes, n_values j)
        Zero for two values of the same attribute.
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
        unobserved = np.repeat(empty, arity, axis=2)
        seen[unobserved] = uniform[unobserved]
    with np.errstate(divide="ignore"):
        np.log(seen, out=seen)
    for u in range(len(arity)):
        own = slice(int(offset[u]), int(offset[u + 1]))
        seen[own, :, own] = 0.0
    return seen


@insert_shared_docs
def value_tables(counts: Counts, parameters: str, ess: float) -> tuple[Array, Array]:
    """Estimate the class prior and the class-conditional distributions of all attributes.

    {counts_and_estimator}

    Returns
    -------
    log_prior : ndarray of shape (n_classes,)
        ``log P(class)``.
    log_given_class : ndarray of shape (n_values, n_classes)
        ``log P(i | class)`` of all values.
    """
    tables = [attribute_table(counts, u, -1, parameters, ess).T for u in range(len(counts.schema.columns))]
    return class_table(counts, parameters, ess), np.concatenate(tables)


@insert_shared_docs
def joint_value_tables(counts: Counts, parameters: str, ess: float, log_prior: Array | None = None) -> Array:
    """Estimate the joint distribution of the class and each attribute.

    The rows of a class in which an attribute is missing are distributed over its values as the other rows of the class.

    {counts_and_estimator}
    log_prior : ndarray of shape (n_classes,), default=None
        A given ``log P(class)``, which replaces the estimated one.

    Returns
    -------
    log_joint : ndarray of shape (n_values, n_classes)
        ``log P(class, i)`` of all values.
    """
    of_class = counts.class_counts.astype(np.float64)
    tables = []
    for u in range(len(counts.schema.columns)):
        seen = counts.value(u).astype(np.float64)
        filled = of_class[:, None] * shares(seen)
        independent = np.multiply.outer(shares(of_class), shares(seen.sum(axis=0)))
        table = conditional(parameters, filled.ravel(), independent.ravel(), ess, seen.size).reshape(seen.shape)
        if log_prior is not None:
            table = shares(table) * np.exp(log_prior)[:, None]
        tables.append(table.T)
    with np.errstate(divide="ignore"):
        return np.log(np.concatenate(tables))
