"""Required and forbidden edges, and limits on the number of parents."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.messages import suggestion

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Restrictions:
    """Restrictions on the structures that a search considers.

    Parameters
    ----------
    forbidden, required : arrays of shape (nodes, nodes)
        Whether the edge from one node (first axis) to another (second axis) is forbidden, or required.
    max_parents : int
        Maximum number of parents of a node.
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
        """Return the restrictions on named nodes.

        Parameters
        ----------
        names : sequence of str
            The nodes, the class last.
        forbidden, required : iterables of pairs of names
            Edges, the parent first.
        max_parents : int, optional
            Maximum number of parents of a node. The default is no limit.
        augmented : bool
            Whether the class must be a parent of every attribute.

        Raises
        ------
        TypeError
            If edges are not given as a list of pairs.
        ValueError
            If an edge names an unknown node, or no structure meets all restrictions.
        """
        n = len(names)
        limit = n - 1 if max_parents is None else min(int(max_parents), n - 1)
        banned, musts = _flags(names, forbidden, "forbidden"), _flags(names, required, "required")
        if augmented:
            _check_augmented(names, banned, musts, limit)
            banned[:-1, -1] = True
            musts[-1, :-1] = True
        for parent, child in np.argwhere(banned & musts).tolist():
            raise ValueError(f"the edge from {names[parent]!r} to {names[child]!r} is both forbidden and required")
        try:
            tuple(TopologicalSorter({v: np.flatnonzero(musts[:, v]).tolist() for v in range(n)}).static_order())
        except CycleError as error:
            cycle = " -> ".join(names[v] for v in error.args[1])
            raise ValueError(f"the required edges form a cycle: {cycle}") from None
        for child in np.flatnonzero(musts.sum(axis=0) > limit).tolist():
            raise ValueError(
                f"{names[child]!r} has {int(musts[:, child].sum())} required parents, but max_parents is {limit}"
            )
        np.fill_diagonal(banned, True)
        return cls(banned, musts, limit)

    @property
    def class_above_all(self) -> bool:
        """Whether the class must be a parent of every attribute."""
        return bool(self.required[-1, :-1].all())


def _flags(names: Sequence[str], edges: Any, what: str) -> Flags:
    """Return the named edges as flags."""
    flags = np.zeros((len(names), len(names)), np.bool_)
    if isinstance(edges, str) or not isinstance(edges, Collection):
        raise TypeError(f"{what} must be a list of pairs (parent, child) of names, got {edges!r}")
    for edge in edges:
        if isinstance(edge, str) or not isinstance(edge, Sequence | np.ndarray) or len(edge) != 2:
            raise TypeError(f"{what} must be a list of pairs (parent, child) of names, got {edge!r} in it")
        for name in edge:
            if name not in names:
                instead = suggestion(name, names, f"the nodes are {', '.join(map(repr, names))}")
                raise ValueError(f"{what} names the unknown node {name!r}; {instead}")
        if edge[0] == edge[1]:
            raise ValueError(f"{what} has an edge from {edge[0]!r} to itself")
        flags[names.index(edge[0]), names.index(edge[1])] = True
    return flags


def _check_augmented(names: Sequence[str], banned: Flags, musts: Flags, limit: int) -> None:
    """Raise ValueError if a restriction contradicts that the class is a parent of every attribute."""
    if limit < 1:
        raise ValueError("max_parents must be at least 1, because the class is a parent of every attribute")
    for child in np.flatnonzero(banned[-1, :-1]).tolist():
        raise ValueError(
            f"the edge from {names[-1]!r} to {names[child]!r} is forbidden, but the class must be a parent of "
            "every attribute; use BayesNet for a free class"
        )
    for parent in np.flatnonzero(musts[:-1, -1]).tolist():
        raise ValueError(
            f"the edge from {names[parent]!r} to {names[-1]!r} is required, but the class has no parents; "
            "use BayesNet for a free class"
        )
