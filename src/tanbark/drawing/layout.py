"""Layered layouts of networks, from left to right.

If every node has at most one parent, the layout is a tree: leaves are placed below one another, and parents beside the
middle of their children. Otherwise nodes are placed in layers (Sugiyama, Tagawa and Toda 1981): edges that span several
layers have a bend in each, the nodes of a layer are ordered by the mean position of their neighbours, and their
positions are as close to these means as the order permits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from scipy.optimize import isotonic_regression

Point = tuple[float, float]
Edge = tuple[int, int]

N_SWEEPS = 12
"""Number of passes over the layers that reorder the nodes, and of those that move them."""
MAX_BENDS = 20_000
"""If the edges need more bends in total, they are drawn straight."""


class Graph(Protocol):
    """The structure of a network, as far as drawings need it."""

    @property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """The parents of each node."""

    @property
    def of_class(self) -> int:
        """The node of the class."""

    def attribute_parents(self, node: int) -> tuple[int, ...]:
        """Return the parents of a node that are attributes."""

    def topological_order(self) -> list[int]:
        """Return the nodes, parents before children."""


@dataclass(frozen=True)
class Layout:
    """Positions of nodes and paths of edges, as (layer, row).

    Parameters
    ----------
    places : tuple of (float, float)
        Position of each node, the class last.
    edges : dict of (int, int) to tuple of (float, float)
        Path of each drawn edge (parent, child), from the position of the parent to that of the child.
    """

    places: tuple[Point, ...]
    edges: dict[Edge, tuple[Point, ...]]

    @property
    def size(self) -> Point:
        """Number of layers and number of rows."""
        points = (*self.places, *(point for path in self.edges.values() for point in path))
        layers, rows = zip(*points, strict=True)
        return max(layers) + 1.0, max(rows) + 1.0


def shown_edges(structure: Graph) -> list[Edge]:
    """Return the edges to draw, without those of a class that is a parent of all attributes.

    >>> from tanbark.network import Structure
    >>> shown_edges(Structure.augmented((-1, 0)))
    [(0, 1)]
    >>> from tanbark.network import Structure
    >>> shown_edges(Structure(((), (0,))))
    [(0, 1)]
    """
    of_class = structure.of_class
    hide_class = class_above_all(structure)
    return [
        (p, node)
        for node, parents in enumerate(structure.parents)
        for p in parents
        if not (hide_class and p == of_class)
    ]


def class_above_all(structure: Graph) -> bool:
    """Return whether the class is a parent of every attribute and has no parents."""
    of_class = structure.of_class
    return not structure.parents[of_class] and all(of_class in parents for parents in structure.parents[:-1])


def layout(structure: Graph) -> Layout:
    """Return the layout of a network.

    >>> from tanbark.network import Structure
    >>> layout(Structure.augmented((-1, 0, 0))).places
    ((0.0, 1.5), (1.0, 1.0), (1.0, 2.0), (0.0, 0.0))
    """
    edges = shown_edges(structure)
    parents: list[list[int]] = [[] for _ in structure.parents]
    for p, node in edges:
        parents[node].append(p)
    if all(len(nodes) <= 1 for nodes in parents):
        places = _tree_places(parents)
        return Layout(places, {(p, node): (places[p], places[node]) for p, node in edges})
    return _layered(structure, parents)


def _tree_places(parents: Sequence[Sequence[int]]) -> tuple[Point, ...]:
    """Return the positions of a forest: the class first, then the trees, then a grid of the nodes without edges."""
    children: dict[int, list[int]] = {}
    for node, nodes in enumerate(parents):
        for p in nodes:
            children.setdefault(p, []).append(node)
    of_class = len(parents) - 1
    places: list[Point] = [(0.0, 0.0)] * len(parents)
    roots = [node for node, nodes in enumerate(parents) if not nodes and node in children]
    isolated = [n for n, nodes in enumerate(parents) if not nodes and n not in children and n != of_class]
    row = 0.0 if of_class in roots else 1.0
    for root in sorted(roots, key=lambda node: (node != of_class, node)):
        pending, placed = [(root, 0.0)], []
        while pending:
            node, depth = pending.pop()
            placed.append(node)
            places[node] = (depth, row)
            if node not in children:
                row += 1.0
            pending.extend((child, depth + 1.0) for child in reversed(children.get(node, [])))
        for node in reversed(placed):
            if node in children:
                rows = [places[child][1] for child in children[node]]
                places[node] = (places[node][0], (rows[0] + rows[-1]) / 2)
    columns = max(1, min(len(isolated), round((len(isolated) / 2) ** 0.5), 8), round(max(x for x, _ in places)) + 1)
    for i, node in enumerate(isolated):
        places[node] = (float(i % columns), row + i // columns)
    return tuple(places)


def _layered(structure: Graph, parents: Sequence[Sequence[int]]) -> Layout:
    """Return the layout of a graph in which some node has several parents."""
    layer = _layers(structure, parents)
    edges = [(p, node) for node, nodes in enumerate(parents) for p in nodes]
    bent = sum(layer[node] - layer[p] - 1 for p, node in edges) <= MAX_BENDS
    paths: dict[Edge, list[int]] = {}
    for p, node in edges:
        bends = range(layer[p] + 1, layer[node]) if bent else ()
        paths[p, node] = [p, *range(len(layer), len(layer) + len(bends)), node]
        layer.extend(bends)
    before: list[list[int]] = [[] for _ in layer]
    after: list[list[int]] = [[] for _ in layer]
    for path in paths.values():
        for a, b in pairwise(path):
            before[b].append(a)
            after[a].append(b)
    rows = _rows(layer, before, after)
    points = [(float(x), row) for x, row in zip(layer, rows, strict=True)]
    return Layout(tuple(points[: len(parents)]), {edge: tuple(points[v] for v in path) for edge, path in paths.items()})


def _layers(structure: Graph, parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the layer of each node: to the right of all its parents; a root is placed next to its nearest child."""
    layer = [0] * len(parents)
    for node in structure.topological_order():
        layer[node] = max((layer[p] + 1 for p in parents[node]), default=0)
    for node, nodes in enumerate(parents):
        child_layers = [layer[child] for child, child_parents in enumerate(parents) if node in child_parents]
        if not nodes and child_layers:
            layer[node] = min(child_layers) - 1
    return layer


def _rows(layer: Sequence[int], before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[float]:
    """Return the row of each point, close to the mean of its neighbours and at least one apart within a layer.

    Points without neighbours are placed above the others.
    """
    layers: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    rows = [-1.0] * len(layer)
    for point, x in enumerate(layer):
        if before[point] or after[point]:
            layers[x].append(point)
    for points in layers:
        for i, point in enumerate(points):
            rows[point] = float(i)
    # Reorder the layers to reduce the number of crossings.
    best, fewest = [list(points) for points in layers], _crossings(layers, after)
    for sweep in range(N_SWEEPS):
        if not fewest:
            break
        neighbours = before if sweep % 2 == 0 else after
        for points in layers if sweep % 2 == 0 else reversed(layers):
            mean = {v: np.mean([rows[w] for w in neighbours[v]]) if neighbours[v] else rows[v] for v in points}
            points.sort(key=lambda v: (mean[v], rows[v]))
            for i, point in enumerate(points):
                rows[point] = float(i)
        crossings = _crossings(layers, after)
        if crossings < fewest:
            best, fewest = [list(points) for points in layers], crossings
    # Move the points of each layer towards their neighbours without changing their order.
    for points in best:
        for i, point in enumerate(points):
            rows[point] = float(i)
    for sweep in range(N_SWEEPS):
        for points in best if sweep % 2 == 0 else reversed(best):
            means = [np.mean([rows[w] for w in (*before[v], *after[v])] or [rows[v]]) for v in points]
            spacing = np.arange(len(points))
            moved = isotonic_regression(np.array(means) - spacing).x + spacing
            for point, row in zip(points, moved.tolist(), strict=True):
                rows[point] = row
    isolated = [point for point in range(len(layer)) if not before[point] and not after[point]]
    top = min((rows[point] for points in best for point in points), default=0.0)
    for i, point in enumerate(reversed(isolated)):
        rows[point] = top - len(isolated) + i
    top = min(rows)
    return [row - top for row in rows]


def _crossings(layers: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    """Return the number of crossings of edges between adjacent layers."""
    place = {point: i for points in layers for i, point in enumerate(points)}
    total = 0
    for points in layers:
        ends = np.array([place[w] for v in points for w in sorted(after[v], key=place.__getitem__)])
        starts = np.array([place[v] for v in points for _ in after[v]])
        if len(ends) > 1:
            total += int(((ends[:, None] > ends) & (starts[:, None] < starts)).sum())
    return total
