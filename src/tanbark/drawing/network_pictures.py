"""Networks as text trees and as SVG pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from tanbark.drawing.layout import Edge, Graph, Point, class_above_all, layout

LAYER_GAP, ROW_HEIGHT = 58.0, 36.0
"""Free space between layers, and distance between rows, in pixels."""
NODE_HEIGHT = 25.0
MIN_NAME_LETTERS, MAX_NAME_LETTERS = 10, 28
"""Bounds for the number of letters that fit into a node."""
LETTER_WIDTH, NODE_PADDING = 6.9, 14.0
"""Width of a letter, and free space beside the name of a node, in pixels."""
MIN_STROKE_WIDTH, MAX_STROKE_WIDTH = 1.0, 7.0


def draw(names: Sequence[str], structure: Graph) -> str:
    """Return a network as a text tree, in which each node is below its first parent and other parents are in brackets.

    If the class is a parent of every attribute, it is on the first line and not repeated in brackets. Otherwise it is
    shown like any other node. Nodes without parents are not indented.

    >>> from tanbark.network import Structure
    >>> print(draw(["rain", "wind", "sail"], Structure.augmented((-1, 0))))
    sail
    └─ rain
       └─ wind
    >>> print(draw(["rain", "sun", "wind", "sail"], Structure(((), (0, 3), (0, 1), ()))))
    sail
    rain
    ├─ sun  (and sail)
    └─ wind  (and sun)
    """
    of_class = structure.of_class
    hide_class = class_above_all(structure)
    shown_parents: list[tuple[int, ...]] = []
    children: dict[int, list[int]] = {}
    for node, parents in enumerate(structure.parents):
        attributes = structure.attribute_parents(node)
        with_class = (*attributes, of_class) if of_class in parents else attributes
        shown_parents.append((attributes or with_class) if hide_class else with_class)
        children.setdefault(shown_parents[node][0] if shown_parents[node] else -1, []).append(node)
    lines = []
    roots = sorted(children[-1], key=lambda node: (node != of_class, node))
    pending = [(node, "", "") for node in reversed(roots)]
    while pending:
        node, branch, indent = pending.pop()
        others = ", ".join(names[p] for p in shown_parents[node][1:])
        lines.append(f"{branch}{names[node]}{f'  (and {others})' if others else ''}")
        below = children.get(node, [])
        for child in reversed(below):
            last = child == below[-1]
            pending.append((child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    return "\n".join(lines)


def picture(
    names: Sequence[str],
    structure: Graph,
    strengths: Mapping[Edge, float],
    said: Mapping[Edge, str],
    shades: Sequence[float] = (),
    further: Mapping[Edge, float] | None = None,
    most: float | None = None,
    buttons: bool = False,
) -> str:
    """Return a network as an SVG element, drawn in the colour of the surrounding text.

    The elements of nodes have the class "node" and the number of the node as `data-node`.

    Parameters
    ----------
    names : sequence of str
        Names of the nodes, the class last.
    structure : Structure
    strengths : mapping of (int, int) to float
        Strength of each edge (parent, child), which determines its width; edges of strength NaN are thin and dashed.
    said : mapping of (int, int) to str
        Tooltip of each edge.
    shades : sequence of float, default=()
        Darkness of each attribute, from 0 to 1; 0 for nodes beyond its end.
    further : mapping of (int, int) to float, default=None
        Strengths of additional undirected lines between pairs of nodes.
    most : float, default=None
        Strength of the widest line; None uses the strongest edge.
    buttons : bool, default=False
        Whether nodes are keyboard-accessible buttons with the page's colour ``--paper`` as background.
    """
    arranged = layout(structure)
    layers, rows = arranged.size
    letters = max(MIN_NAME_LETTERS, *(len(shortened(name)) for name in names))
    node_width = NODE_PADDING + LETTER_WIDTH * letters
    layer_width = node_width + LAYER_GAP
    width = (layers - 1) * layer_width + node_width + 12
    height = (rows - 1) * ROW_HEIGHT + NODE_HEIGHT + 12
    measured = [strengths[edge] for edge in arranged.edges if strengths.get(edge, math.nan) == strengths.get(edge)]
    scale = most or max(measured, default=0.0) or 1.0
    lines = [
        _line(_edge_path(points, node_width, layer_width), strengths.get(edge, 0.0) / scale, said.get(edge, ""), edge)
        for edge, points in arranged.edges.items()
    ]
    for (a, b), strength in (further or {}).items():
        path = _undirected_path(arranged.places[a], arranged.places[b], node_width, layer_width)
        lines.append(_line(path, strength / scale, said.get((a, b), ""), (a, b), further=True))
    padded_shades = (*shades, *[0.0] * (len(names) - len(shades)))
    nodes = [
        _node(u, name, (x * layer_width, y * ROW_HEIGHT), node_width, u == len(names) - 1, shade, buttons)
        for u, (name, (x, y), shade) in enumerate(zip(names, arranged.places, padded_shades, strict=True))
    ]
    return (
        f'<svg class="network" role="group" aria-label="The network, {len(names):,} nodes" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="-6 -6 {width:.0f} {height:.0f}" '
        'font-size="12" font-family="system-ui, sans-serif" fill="currentColor">'
        f"{''.join(lines)}{''.join(nodes)}</svg>"
    )


def edge_labels(names: Sequence[str], strengths: Mapping[Edge, float]) -> dict[Edge, str]:
    """Return tooltips of edges that state their strength.

    >>> edge_labels(["a", "b"], {(0, 1): 0.25, (1, 0): math.nan})
    {(0, 1): 'a → b: 0.25 nats', (1, 0): 'b → a, not measured'}
    """
    return {
        (parent, child): f"{names[parent]} → {names[child]}"
        + (f": {strength:.3g} nats" if strength == strength else ", not measured")
        for (parent, child), strength in strengths.items()
    }


def shortened(name: str) -> str:
    """Shorten a name so that it fits into a node.

    >>> shortened("a name that is very much too long")
    'a name that is very much to…'
    """
    name = " ".join(name.split()) or "\N{OPEN BOX}"
    return name if len(name) <= MAX_NAME_LETTERS else f"{name[: MAX_NAME_LETTERS - 1]}…"


def _undirected_path(a: Point, b: Point, node_width: float, layer_width: float) -> str:
    """Return the path of a line between two nodes: straight, or an arc at the right of nodes in the same layer."""
    (x, y), (u, v) = sorted((place[0] * layer_width, place[1] * ROW_HEIGHT + NODE_HEIGHT / 2) for place in (a, b))
    right = x + node_width
    if x < u:
        return f"M{right:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    arc = x + (node_width + 25 + abs(v - y) / 8)
    return f"M{right:.1f} {y:.1f}C{arc:.1f} {y:.1f} {arc:.1f} {v:.1f} {right:.1f} {v:.1f}"


def _edge_path(points: Sequence[Point], node_width: float, layer_width: float) -> str:
    """Return a smooth path from the right side of the first node through the bends to the left side of the last."""
    (x, y), *bends = [(layer * layer_width, row * ROW_HEIGHT + NODE_HEIGHT / 2) for layer, row in points]
    x += node_width
    path = f"M{x:.1f} {y:.1f}"
    for i, (u, v) in enumerate(bends, 1):
        middle = (x + u) / 2
        path += f"C{middle:.1f} {y:.1f} {middle:.1f} {v:.1f} {u:.1f} {v:.1f}"
        x, y = u, v
        if i < len(bends):
            x = u + node_width
            path += f"H{x:.1f}"
    return path


def _line(path: str, strength: float, title: str, edge: Edge, *, further: bool = False) -> str:
    """Return the element of an edge, or of a further line, with a relative strength from 0 to 1 or NaN."""
    measured = strength == strength
    share = min(max(strength, 0.0), 1.0) if measured else 0.0
    width = MIN_STROKE_WIDTH + (MAX_STROKE_WIDTH - MIN_STROKE_WIDTH) * share
    dashes = "" if measured and not further else ' stroke-dasharray="5 4"'
    kind = "further" if further else "edge"
    return (
        f'<path class="{kind}" data-edge="{edge[0]} {edge[1]}" d="{path}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.45" stroke-width="{width:.2f}"{dashes}><title>{escape(title)}</title></path>'
    )


def _node(node: int, name: str, corner: Point, width: float, is_class: bool, shade: float, button: bool) -> str:
    """Return the element of a node, whose top left corner is given."""
    x, y = corner
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{NODE_HEIGHT:.0f}" rx="5"'
    background = f'<rect {box} style="fill: var(--paper)"/>' if button else ""
    accessible = f' tabindex="0" role="button" aria-label="{escape(name)}, {"class" if is_class else "attribute"}"'
    return (
        f'<g class="node" data-node="{node}"{accessible if button else ""}><title>{escape(name)}</title>{background}'
        f'<rect {box} fill="currentColor" fill-opacity="{0.05 + 0.3 * shade:.3f}" stroke="currentColor" '
        f'stroke-width="{2.5 if is_class else 1}"/>'
        f'<text x="{x + width / 2:.1f}" y="{y + NODE_HEIGHT / 2 + 4.2:.1f}" text-anchor="middle" '
        f'font-weight="{600 if is_class else 400}">{escape(shortened(name))}</text></g>'
    )
