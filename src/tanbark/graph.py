"""Directed acyclic graphs over the attributes and the class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Structure:
    """The parents of each node: the attributes in column order, then the class.

    Parameters
    ----------
    parents : tuple of tuples of int
        For each node the nodes it depends on; node ``len(parents) - 1`` is the class.

    Examples
    --------
    >>> Structure.augmented((-1, 0, 0)).parents
    ((3,), (0, 3), (0, 3), ())
    """

    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        nodes = len(self.parents)
        for node, above in enumerate(self.parents):
            strange = above and not 0 <= min(above) <= max(above) < nodes
            if strange or node in above or len(set(above)) != len(above):
                raise ValueError(f"node {node} cannot have the parents {above}")
        if len(self.topological_order()) != nodes:
            raise ValueError("the edges form a cycle")

    @classmethod
    def augmented(cls, parent: Sequence[int]) -> Structure:
        """Return the structure in which each attribute has the class and at most one attribute (-1: none) above."""
        of_class = len(parent)
        return cls((*((of_class,) if p < 0 else (p, of_class) for p in parent), ()))

    @property
    def of_class(self) -> int:
        """The node of the class."""
        return len(self.parents) - 1

    def attribute_parents(self, node: int) -> tuple[int, ...]:
        """Return the attributes among a node's parents."""
        return tuple(p for p in self.parents[node] if p != self.of_class)

    def ancestors(self, nodes: Iterable[int]) -> set[int]:
        """Return some nodes and all that they depend on."""
        found = set(nodes)
        waiting = list(found)
        while waiting:
            above = set(self.parents[waiting.pop()]) - found
            found |= above
            waiting.extend(above)
        return found

    def markov_blanket(self, node: int) -> tuple[int, ...]:
        """Return a node's parents, its children and the children's other parents: given them, no other node matters."""
        families = [{child, *above} for child, above in enumerate(self.parents) if child == node or node in above]
        return tuple(sorted(set().union(*families) - {node}))

    def is_augmented_tree(self) -> bool:
        """Return whether the class is above every attribute, beside at most one attribute, and below none."""
        attributes = self.parents[:-1]
        return not self.parents[-1] and all(len(p) <= 2 and self.of_class in p for p in attributes)

    def topological_order(self) -> list[int]:
        """Return the nodes, parents before children, otherwise in column order; nodes on a cycle are left out."""
        below: list[list[int]] = [[] for _ in self.parents]
        waiting_for = [len(p) for p in self.parents]
        for node, above in enumerate(self.parents):
            for p in above:
                below[p].append(node)
        order: list[int] = []
        ready = [n for n, many in enumerate(waiting_for) if not many]
        while ready:
            node = heappop(ready)
            order.append(node)
            for child in below[node]:
                waiting_for[child] -= 1
                if not waiting_for[child]:
                    heappush(ready, child)
        return order


def directed_graph(
    parents: Mapping[str, Sequence[str]], labels: Mapping[str, tuple[Any, ...]], of_class: str
) -> networkx.DiGraph:
    """Return the graph of a network: nodes by name in their order, with `labels` and `is_class`, edges from parents."""
    import networkx

    graph = networkx.DiGraph()
    for name in parents:
        graph.add_node(name, labels=labels[name], is_class=name == of_class)
    graph.add_edges_from((above, name) for name, many in parents.items() for above in many)
    return graph


def position(name: str, names: Sequence[str]) -> int:
    """Return where the node of this name stands, or raise a sentence that lists the names there are."""
    if name not in names:
        raise ValueError(f"no node is named {name!r}; the nodes are {', '.join(map(repr, names))}")
    return names.index(name)


def named(what: str, given: Any, names: Sequence[str]) -> set[str]:
    """Return the nodes that a person named, one or several, or raise a sentence that says what is wrong with them."""
    if not isinstance(given, str | Iterable):
        raise TypeError(f"{what} must be a name or several names, got {given!r}")
    several = [given] if isinstance(given, str) else list(given)
    return {names[position(name, names)] for name in several}


def check_disjoint(sets: Mapping[str, set[str]], names: Sequence[str]) -> None:
    """Raise a sentence where a node is in two of the sets."""
    for name in names:
        where = [what for what, nodes in sets.items() if name in nodes]
        if len(where) > 1:
            raise ValueError(f"{name!r} is part of {where[0]} and of {where[1]}; leave it out of one of them")
