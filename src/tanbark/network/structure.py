"""Directed acyclic graphs over the attributes and the class.

A `Structure` identifies nodes by number. The functions below it serve networks, whose users identify nodes by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from tanbark.messages import suggestion

if TYPE_CHECKING:
    import networkx


@dataclass(frozen=True)
class Structure:
    """Structure of a Bayesian network: the parents of each node.

    Nodes are numbered: first the attributes in column order, then the class.

    Parameters
    ----------
    parents : tuple of tuples of int
        The parents of each node. Node ``len(parents) - 1`` is the class.

    Attributes
    ----------
    of_class : int
        The node of the class.

    Raises
    ------
    ValueError
        If a node has invalid parents or the edges form a cycle.

    Examples
    --------
    >>> Structure.augmented((-1, 0, 0)).parents
    ((3,), (0, 3), (0, 3), ())
    """

    parents: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        nodes = len(self.parents)
        for node, parents in enumerate(self.parents):
            out_of_range = parents and not 0 <= min(parents) <= max(parents) < nodes
            if out_of_range or node in parents or len(set(parents)) != len(parents):
                raise ValueError(f"invalid parents {parents} of node {node}: expected distinct other nodes")
        if len(self.topological_order()) != nodes:
            raise ValueError("the edges form a cycle")

    @classmethod
    def augmented(cls, parent: Sequence[int]) -> Structure:
        """Return a structure in which the parents of each attribute are the class and at most one attribute.

        Parameters
        ----------
        parent : sequence of int
            The parent of each attribute among the attributes, -1 for none.

        Returns
        -------
        structure : Structure
        """
        of_class = len(parent)
        return cls((*((of_class,) if p < 0 else (p, of_class) for p in parent), ()))

    @property
    def of_class(self) -> int:
        """The node of the class."""
        return len(self.parents) - 1

    def attribute_parents(self, node: int) -> tuple[int, ...]:
        """Return the parents of a node without the class.

        Parameters
        ----------
        node : int

        Returns
        -------
        parents : tuple of int
        """
        return tuple(p for p in self.parents[node] if p != self.of_class)

    def ancestors(self, nodes: Iterable[int]) -> set[int]:
        """Return some nodes and all their ancestors.

        Parameters
        ----------
        nodes : iterable of int

        Returns
        -------
        ancestors : set of int
            Includes `nodes`.
        """
        visited = set(nodes)
        pending = list(visited)
        while pending:
            parents = set(self.parents[pending.pop()]) - visited
            visited |= parents
            pending.extend(parents)
        return visited

    def markov_blanket(self, node: int) -> tuple[int, ...]:
        """Return a node's parents, its children and the other parents of its children.

        Given its Markov blanket, a node is independent of all other nodes.

        Parameters
        ----------
        node : int

        Returns
        -------
        blanket : tuple of int
            In ascending order.
        """
        families = [{child, *parents} for child, parents in enumerate(self.parents) if child == node or node in parents]
        return tuple(sorted(set().union(*families) - {node}))

    def is_augmented_tree(self) -> bool:
        """Return whether the structure has the form that `augmented` builds.

        Returns
        -------
        is_augmented_tree : bool
            True if the class has no parents, and the parents of each attribute are the class and at most one attribute.
        """
        attributes = self.parents[:-1]
        return not self.parents[-1] and all(len(p) <= 2 and self.of_class in p for p in attributes)

    def topological_order(self) -> list[int]:
        """Return the nodes with parents before their children, otherwise in ascending order.

        Returns
        -------
        order : list of int
            Nodes on a cycle and their descendants are left out.
        """
        children: list[list[int]] = [[] for _ in self.parents]
        n_pending = [len(parents) for parents in self.parents]
        for node, parents in enumerate(self.parents):
            for p in parents:
                children[p].append(node)
        order: list[int] = []
        ready = [node for node, n in enumerate(n_pending) if not n]
        while ready:
            node = heappop(ready)
            order.append(node)
            for child in children[node]:
                n_pending[child] -= 1
                if not n_pending[child]:
                    heappush(ready, child)
        return order


def directed_graph(
    parents: Mapping[str, Sequence[str]], labels: Mapping[str, tuple[Any, ...]], class_name: str
) -> networkx.DiGraph:
    """Return a networkx graph with edges from parents to children and the node attributes `labels` and `is_class`."""
    import networkx

    graph = networkx.DiGraph()
    for name in parents:
        graph.add_node(name, labels=labels[name], is_class=name == class_name)
    graph.add_edges_from((parent, name) for name, names in parents.items() for parent in names)
    return graph


def node_index(name: str, names: Sequence[str]) -> int:
    """Return the index of a node, or raise ValueError if no node has this name."""
    if name not in names:
        instead = suggestion(name, names, f"the nodes are {', '.join(map(repr, names))}")
        raise ValueError(f"no node is named {name!r}; {instead}")
    return names.index(name)


def node_set(argument: str, nodes: Any, names: Sequence[str]) -> set[str]:
    """Return the nodes that an argument names, or raise an error that names the argument or the unknown node."""
    if not isinstance(nodes, str | Iterable):
        raise TypeError(f"{argument} must be a node name or an iterable of node names, got {nodes!r}")
    listed = [nodes] if isinstance(nodes, str) else list(nodes)
    return {names[node_index(name, names)] for name in listed}


def check_disjoint(sets: Mapping[str, set[str]], names: Sequence[str]) -> None:
    """Raise ValueError if a node is in more than one of the sets."""
    for name in names:
        arguments = [argument for argument, nodes in sets.items() if name in nodes]
        if len(arguments) > 1:
            raise ValueError(f"{name!r} is in both {arguments[0]} and {arguments[1]}; remove it from one of them")
