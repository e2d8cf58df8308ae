"""Layered layouts of networks.

If every node has at most one parent, the drawing is a tree: leaves are stacked, and parents are beside the middle of
their children. Otherwise nodes are placed in layers (Sugiyama, Tagawa and Toda 1981): edges that cross layers bend
there, nodes within a layer are ordered by the means of their neighbours, and positions are as close to these means as
the order allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import isotonic_regression

from tanbark.graph import Structure

Point = tuple[float, float]
Edge = tuple[int, int]

SWEEPS = 12
MAX_BENDS = 20_000
"""Above this number of bends, edges are straight."""


@dataclass(frozen=True)
class Layout:
    """The positions of nodes and the points of edges, as layer and row.

    Parameters
    ----------
    places : tuple of points
        One for each node, the class last.
    edges : mapping of points by parent and child
        The points that each visible edge passes, from parent to child.
    """

    places: tuple[Point, ...]
    edges: dict[Edge, tuple[Point, ...]]

    @property
    def size(self) -> Point:
        """The number of layers and rows."""
        across, down = zip(*self.places, *(point for points in self.edges.values() for point in points))
        return max(across) + 1.0, max(down) + 1.0


def shown_edges(structure: Structure) -> list[Edge]:
    """Return the visible edges: only those between attributes if the class is a parent of all attributes.

    >>> shown_edges(Structure.augmented((-1, 0)))
    [(0, 1)]
    >>> shown_edges(Structure(((), (0,))))
    [(0, 1)]
    """
    of_class = structure.of_class
    above_all = class_above_all(structure)
    return [
        (p, node) for node, above in enumerate(structure.parents) for p in above if not (above_all and p == of_class)
    ]


def class_above_all(structure: Structure) -> bool:
    """Return whether every attribute depends on the class, and the class has no parents."""
    of_class = structure.of_class
    return not structure.parents[of_class] and all(of_class in above for above in structure.parents[:-1])


def layout(structure: Structure) -> Layout:
    """Return the positions of a network's nodes and edges.

    >>> layout(Structure.augmented((-1, 0, 0))).places
    ((0.0, 1.5), (1.0, 1.0), (1.0, 2.0), (0.0, 0.0))
    """
    edges = shown_edges(structure)
    above: list[list[int]] = [[] for _ in structure.parents]
    for p, node in edges:
        above[node].append(p)
    if all(len(parents) <= 1 for parents in above):
        places = _tree_places(above)
        return Layout(places, {(p, node): (places[p], places[node]) for p, node in edges})
    return _layered(structure, above)


def _tree_places(above: Sequence[Sequence[int]]) -> tuple[Point, ...]:
    """Return the layout of a forest: the class first, then the trees, then isolated nodes in columns."""
    below: dict[int, list[int]] = {}
    for node, parents in enumerate(above):
        for p in parents:
            below.setdefault(p, []).append(node)
    of_class = len(above) - 1
    places: list[Point] = [(0.0, 0.0)] * len(above)
    roots = [node for node, parents in enumerate(above) if not parents and node in below]
    alone = [node for node, parents in enumerate(above) if not parents and node not in below and node != of_class]
    row = 0.0 if of_class in roots else 1.0
    for root in sorted(roots, key=lambda node: (node != of_class, node)):
        waiting, finished = [(root, 0.0)], []
        while waiting:
            node, depth = waiting.pop()
            finished.append(node)
            places[node] = (depth, row)
            children = below.get(node, [])
            if not children:
                row += 1.0
            waiting.extend((child, depth + 1.0) for child in reversed(children))
        for node in reversed(finished):
            if node in below:
                rows = [places[child][1] for child in below[node]]
                places[node] = (places[node][0], (rows[0] + rows[-1]) / 2)
    columns = max(1, min(len(alone), round((len(alone) / 2) ** 0.5), 8), round(max(x for x, _ in places)) + 1)
    for at, node in enumerate(alone):
        places[node] = (float(at % columns), row + at // columns)
    return tuple(places)


def _layered(structure: Structure, above: Sequence[Sequence[int]]) -> Layout:
    """Return the layout of a graph in which a node has several parents."""
    layer = _layers(structure, above)
    edges = [(p, node) for node, parents in enumerate(above) for p in parents]
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
    points = [(float(x), row) for x, row in zip(layer, rows)]
    return Layout(tuple(points[: len(above)]), {edge: tuple(points[v] for v in path) for edge, path in paths.items()})


def _layers(structure: Structure, above: Sequence[Sequence[int]]) -> list[int]:
    """Return the layer of each node: right of all its parents; a node without parents is next to its first child."""
    order = structure.topological_order()
    layer = [0] * len(above)
    for node in order:
        layer[node] = max((layer[p] + 1 for p in above[node]), default=0)
    for node, parents in enumerate(above):
        below = [layer[child] for child, theirs in enumerate(above) if node in theirs]
        if not parents and below:
            layer[node] = min(below) - 1
    return layer


def _rows(layer: Sequence[int], before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[float]:
    """Return the row of each point, at least one apart in a layer, near the means of its neighbours.

    Points without neighbours stand above the others.
    """
    layers: list[list[int]] = [[] for _ in range(max(layer) + 1)]
    rows = [-1.0] * len(layer)
    for point, x in enumerate(layer):
        if before[point] or after[point]:
            layers[x].append(point)
    for points in layers:
        for at, point in enumerate(points):
            rows[point] = float(at)
    best, fewest = [list(points) for points in layers], _crossings(layers, after)
    for sweep in range(SWEEPS):
        if not fewest:
            break
        beside = before if sweep % 2 == 0 else after
        for points in layers if sweep % 2 == 0 else reversed(layers):
            wish = {v: np.mean([rows[w] for w in beside[v]]) if beside[v] else rows[v] for v in points}
            points.sort(key=lambda v: (wish[v], rows[v]))
            for at, point in enumerate(points):
                rows[point] = float(at)
        many = _crossings(layers, after)
        if many < fewest:
            best, fewest = [list(points) for points in layers], many
    for points in best:
        for at, point in enumerate(points):
            rows[point] = float(at)
    for sweep in range(SWEEPS):
        for points in best if sweep % 2 == 0 else reversed(best):
            wishes = [np.mean([rows[w] for w in (*before[v], *after[v])] or [rows[v]]) for v in points]
            apart = np.arange(len(points))
            kept = isotonic_regression(np.array(wishes) - apart).x + apart
            for point, row in zip(points, kept.tolist()):
                rows[point] = row
    alone = [point for point in range(len(layer)) if not before[point] and not after[point]]
    top = min((rows[point] for points in best for point in points), default=0.0)
    for at, point in enumerate(reversed(alone)):
        rows[point] = top - len(alone) + at
    top = min(rows)
    return [row - top for row in rows]


def _crossings(layers: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> int:
    """Return the number of edge crossings between neighbouring layers."""
    place = {point: at for points in layers for at, point in enumerate(points)}
    total = 0
    for points in layers:
        ends = np.array([place[w] for v in points for w in sorted(after[v], key=place.__getitem__)])
        starts = np.array([place[v] for v in points for _ in after[v]])
        if len(ends) > 1:
            total += int(((ends[:, None] > ends) & (starts[:, None] < starts)).sum())
    return total
