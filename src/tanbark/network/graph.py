"""A network as a graph of networkx, and the names a question about it may use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx


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
