"""Required and forbidden edges, and limits on the number of parents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Restrictions:
    """What is known of a structure before it is searched.

    Parameters
    ----------
    forbidden, required : arrays of shape (nodes, nodes)
        Whether the edge from one node (first axis) to another (second axis) may not, or must, be there.
    max_parents : int
        How many parents a node may have.
    """

    forbidden: Flags
    required: Flags
    max_parents: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        forbidden: Any = (),
        required: Any = (),
        max_parents: int | None = None,
        augmented: bool = False,
    ) -> Restrictions:
        """Return the restrictions that a person wrote down, or raise a sentence that says why they cannot be met.

        Parameters
        ----------
        names : sequence of str
            The nodes, the class last.
        forbidden, required : iterables of pairs of names
            Edges, the parent first.
        max_parents : int, optional
            None is no limit.
        augmented : bool
            Whether the class must be a parent of every attribute.
        """
        n = len(names)
        most = n - 1 if max_parents is None else min(int(max_parents), n - 1)
        banned, musts = _flags(names, forbidden, "forbidden"), _flags(names, required, "required")
        if augmented:
            _check_augmented(names, banned, musts, most)
            banned[:-1, -1] = True
            musts[-1, :-1] = True
        for parent, child in np.argwhere(banned & musts).tolist():
            raise ValueError(f"the edge from {names[parent]!r} to {names[child]!r} is both forbidden and required")
        try:
            tuple(TopologicalSorter({v: np.flatnonzero(musts[:, v]).tolist() for v in range(n)}).static_order())
        except CycleError as error:
            cycle = " -> ".join(names[v] for v in error.args[1])
            raise ValueError(f"the required edges form a cycle: {cycle}") from None
        for child in np.flatnonzero(musts.sum(axis=0) > most).tolist():
            many = int(musts[:, child].sum())
            raise ValueError(f"{names[child]!r} has {many} required parents, but max_parents is {most}")
        np.fill_diagonal(banned, True)
        return cls(banned, musts, most)

    @property
    def class_above_all(self) -> bool:
        """Whether the class must be a parent of every attribute."""
        return bool(self.required[-1, :-1].all())


def _flags(names: Sequence[str], edges: Any, what: str) -> Flags:
    """Return which edges were named."""
    flags = np.zeros((len(names), len(names)), np.bool_)
    if isinstance(edges, str) or not isinstance(edges, Collection):
        raise TypeError(f"{what} must be a list of pairs (parent, child) of names, got {edges!r}")
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray) or len(edge) != 2:
            raise TypeError(f"{what} must be a list of pairs (parent, child) of names, it has {edge!r}")
        for name in edge:
            if name not in names:
                raise ValueError(
                    f"{what} names {name!r}, which is no node; the nodes are {', '.join(map(repr, names))}"
                )
        if edge[0] == edge[1]:
            raise ValueError(f"{what} has an edge from {edge[0]!r} to itself")
        flags[names.index(edge[0]), names.index(edge[1])] = True
    return flags


def _check_augmented(names: Sequence[str], banned: Flags, musts: Flags, most: int) -> None:
    """Raise a sentence where a restriction contradicts that the class is above all attributes."""
    if most < 1:
        raise ValueError("max_parents must be at least 1 here: the class is a parent of every attribute")
    for child in np.flatnonzero(banned[-1, :-1]).tolist():
        raise ValueError(
            f"the edge from {names[-1]!r} to {names[child]!r} is forbidden, but here the class is a parent of every "
            "attribute; BayesNet leaves it free"
        )
    for parent in np.flatnonzero(musts[:-1, -1]).tolist():
        raise ValueError(
            f"the edge from {names[parent]!r} to {names[-1]!r} is required, but here the class has no parents; "
            "BayesNet leaves it free"
        )
