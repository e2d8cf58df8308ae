"""Networks as text trees and as SVG pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from tanbark.drawing.layout import Edge, Point, layout
from tanbark.graph import Structure


def draw(names: Sequence[str], structure: Structure) -> str:
    """Return the network as a text tree: each node is below its first parent, with the other parents in brackets.

    If the class is a parent of every attribute, it appears only on the first line. Otherwise it is a node like the
    others, and nodes without parents are not indented.

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
    above_all = not structure.parents[of_class] and all(of_class in above for above in structure.parents[:-1])
    above: list[tuple[int, ...]] = []
    below: dict[int, list[int]] = {}
    for node, parents in enumerate(structure.parents):
        attributes = structure.attribute_parents(node)
        with_class = (*attributes, of_class) if of_class in parents else attributes
        above.append((attributes or with_class) if above_all else with_class)
        below.setdefault(above[node][0] if above[node] else -1, []).append(node)
    lines = []
    roots = sorted(below[-1], key=lambda node: (node != of_class, node))
    waiting = [(node, "", "") for node in reversed(roots)]
    while waiting:
        node, lead, indent = waiting.pop()
        others = ", ".join(names[p] for p in above[node][1:])
        lines.append(f"{lead}{names[node]}{f'  (and {others})' if others else ''}")
        children = below.get(node, [])
        for child in reversed(children):
            last = child == children[-1]
            waiting.append((child, indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  ")))
    return "\n".join(lines)


GAP, DOWN = 58.0, 36.0
"""The space between layers and the distance of rows, in pixels."""
HEIGHT = 25.0
FEWEST_LETTERS, LETTERS = 10, 28
"""The bounds of the width of a node, in letters; within them, the longest name determines it."""
LETTER, MARGIN = 6.9, 14.0
"""The width of a letter, and the total horizontal padding of a node, in pixels."""
THINNEST, THICKEST = 1.0, 7.0


def picture(
    names: Sequence[str],
    structure: Structure,
    strengths: Mapping[Edge, float],
    said: Mapping[Edge, str],
    shades: Sequence[float] = (),
    further: Mapping[Edge, float] | None = None,
    most: float | None = None,
    buttons: bool = False,
) -> str:
    """Return an SVG drawing of a network, in the colour of the surrounding text.

    Nodes have the class "node" and their index as `data-node`.

    Parameters
    ----------
    names : sequence of str
        The names of the nodes, the class last.
    structure : Structure
    strengths : mapping of numbers by parent and child
        The strengths of the edges, shown as thickness; NaN is shown as a thin dashed line.
    said : mapping of str by parent and child
        The tooltips of the edges.
    shades : sequence of numbers from 0 to 1, optional
        The shading of the attributes.
    further : mapping of numbers by pairs of nodes, optional
        The strengths of further undirected edges, shown as dashed lines.
    most : float, optional
        The strength of the thickest line; by default that of the strongest edge.
    buttons : bool, default=False
        Whether nodes are buttons that can be reached with the keyboard. If so, their background has the page's colour
        ``--paper``.
    """
    laid = layout(structure)
    layers, rows = laid.size
    letters = max(FEWEST_LETTERS, *(len(shortened(name)) for name in names))
    node = MARGIN + LETTER * letters
    across = node + GAP
    width, height = (layers - 1) * across + node + 12, (rows - 1) * DOWN + HEIGHT + 12
    known = [strengths[edge] for edge in laid.edges if strengths.get(edge, math.nan) == strengths.get(edge)]
    scale = most or max(known, default=0.0) or 1.0
    lines = [
        _line(_through(points, node, across), strengths.get(edge, 0.0) / scale, said.get(edge, ""), edge)
        for edge, points in laid.edges.items()
    ]
    for (a, b), strength in (further or {}).items():
        path = _between(laid.places[a], laid.places[b], node, across)
        lines.append(_line(path, strength / scale, said.get((a, b), ""), (a, b), further=True))
    nodes = [
        _node(at, name, (place[0] * across, place[1] * DOWN), node, at == len(names) - 1, shade, buttons)
        for at, (name, place, shade) in enumerate(zip(names, laid.places, (*shades, *[0.0] * len(names))))
    ]
    return (
        f'<svg class="network" role="group" aria-label="The network, {len(names)} nodes" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="-6 -6 {width:.0f} {height:.0f}" '
        'font-size="12" font-family="system-ui, sans-serif" fill="currentColor">'
        f"{''.join(lines)}{''.join(nodes)}</svg>"
    )


def told_words(names: Sequence[str], strengths: Mapping[Edge, float]) -> dict[Edge, str]:
    """Return the tooltips of edges: the conditional mutual information of parent and child.

    >>> told_words(["a", "b"], {(0, 1): 0.25, (1, 0): math.nan})
    {(0, 1): 'a → b: 0.25 nats', (1, 0): 'b → a, not measured'}
    """
    return {
        (above, below): f"{names[above]} → {names[below]}"
        + (f": {strength:.3g} nats" if strength == strength else ", not measured")
        for (above, below), strength in strengths.items()
    }


def shortened(name: str) -> str:
    """Shorten a name to fit a node.

    >>> shortened("a name that is very much too long")
    'a name that is very much to…'
    """
    name = " ".join(name.split()) or "\N{OPEN BOX}"
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def _between(a: Point, b: Point, node: float, across: float) -> str:
    """Return the path of a line between two nodes: an arc on the right if they are in the same layer."""
    (x, y), (u, v) = sorted((place[0] * across, place[1] * DOWN + HEIGHT / 2) for place in (a, b))
    if x < u:
        return f"M{x + node:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    bow = node + 25 + abs(v - y) / 8
    return f"M{x + node:.1f} {y:.1f}C{x + bow:.1f} {y:.1f} {x + bow:.1f} {v:.1f} {x + node:.1f} {v:.1f}"


def _through(points: Sequence[Point], node: float, across: float) -> str:
    """Return a smooth path from the right side of the first node to the left side of the last, through all points."""
    at = [(x * across, y * DOWN + HEIGHT / 2) for x, y in points]
    path = f"M{at[0][0] + node:.1f} {at[0][1]:.1f}"
    before, level = at[0][0] + node, at[0][1]
    for place, (x, y) in enumerate(at[1:], 1):
        middle = (before + x) / 2
        path += f"C{middle:.1f} {level:.1f} {middle:.1f} {y:.1f} {x:.1f} {y:.1f}"
        before, level = x, y
        if place < len(at) - 1:
            before = x + node
            path += f"H{before:.1f}"
    return path


def _line(path: str, share: float, title: str, edge: Edge, *, further: bool = False) -> str:
    known = share == share
    thick = THINNEST + (THICKEST - THINNEST) * min(max(share, 0.0), 1.0) if known else THINNEST
    dashes = "" if known and not further else ' stroke-dasharray="5 4"'
    kind = "further" if further else "edge"
    return (
        f'<path class="{kind}" data-edge="{edge[0]} {edge[1]}" d="{path}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.45" stroke-width="{thick:.2f}"{dashes}><title>{escape(title)}</title></path>'
    )


def _node(at: int, name: str, corner: Point, width: float, is_class: bool, shade: float, button: bool) -> str:
    x, y = corner
    box = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT:.0f}" rx="5"'
    behind = f'<rect {box} style="fill: var(--paper)"/>' if button else ""
    used = f' tabindex="0" role="button" aria-label="{escape(name)}, {"class" if is_class else "attribute"}"'
    return (
        f'<g class="node" data-node="{at}"{used if button else ""}><title>{escape(name)}</title>{behind}'
        f'<rect {box} fill="currentColor" fill-opacity="{0.05 + 0.3 * shade:.3f}" stroke="currentColor" '
        f'stroke-width="{2.5 if is_class else 1}"/>'
        f'<text x="{x + width / 2:.1f}" y="{y + HEIGHT / 2 + 4.2:.1f}" text-anchor="middle" '
        f'font-weight="{600 if is_class else 400}">{escape(shortened(name))}</text></g>'
    )
