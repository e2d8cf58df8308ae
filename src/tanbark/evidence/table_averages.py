"""Averages of additive tables over the training rows: how much attributes and edges weigh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tanbark.evidence.additive_tables import AdditiveTables
from tanbark.evidence.questions import Array


def mean_absolute_entries(compiled: AdditiveTables, joints: Sequence[Array], total: float) -> Array:
    """Return the mean absolute entry of each attribute over rows and classes.

    Parameters
    ----------
    compiled : AdditiveTables
    joints : sequence of arrays of shape (digits of each parent, arity, classes)
        The weight of the rows with each combination of digits, code and class.
    total : float
        The weight of all rows. Rows in which an attribute is missing have entries of zero.

    Returns
    -------
    means : array of shape (attributes,)
    """
    tables = (table[..., :-1, :] for table in compiled.tables)
    return np.array([_mean_size(table, joint, total) for table, joint in zip(tables, joints, strict=True)])


def mean_absolute_changes(
    compiled: AdditiveTables, joints: Sequence[Array], total: float
) -> dict[tuple[int, int], float]:
    """Return by how much the entry of a child changes if one of its parents becomes unknown, for each edge.

    The absolute change is averaged over rows and classes.

    Parameters
    ----------
    compiled : AdditiveTables
    joints : sequence of arrays of shape (digits of each parent, arity, classes)
        The weight of the rows with each combination of digits, code and class.
    total : float
        The weight of all rows. Rows in which the parent or the child is missing have changes of zero.

    Returns
    -------
    changes : dict of (parent, child) to float
    """
    changes = {}
    for u, (table, parents, joint) in enumerate(zip(compiled.tables, compiled.parents, joints, strict=True)):
        for axis, parent in enumerate(parents):
            without = np.take(table, [-1], axis=axis)
            changes[parent, u] = _mean_size((table - without)[..., :-1, :], joint, total)
    return changes


def _mean_size(entries: Array, joint: Array, total: float) -> float:
    """Return the mean of the absolute entries over rows and classes."""
    sizes = np.abs(entries).mean(axis=-1)
    return float((joint.sum(axis=-1) * sizes).sum() / total) if total > 0 else 0.0
