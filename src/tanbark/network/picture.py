"""A network as a drawing: an SVG element, the class and what depends on what from left to right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from tanbark.network.layout import Edge, Point, layout
from tanbark.network.structure import Structure

ACROSS, DOWN = 190.0, 36.0
"""How far apart layers and rows are."""
WIDTH, HEIGHT = 132.0, 25.0
"""How large a node is."""
LETTERS = 17
"""How many letters of a name are shown."""
THINNEST, THICKEST = 1.0, 7.0


def picture(
    names: Sequence[str],
    structure: Structure,
    strengths: Mapping[Edge, float],
    said: Mapping[Edge, str],
    shades: Sequence[float] = (),
    further: Mapping[Edge, float] | None = None,
    most: float | None = None,
) -> str:
    """Return the drawing of a network. Letters and lines have the colour of the text around it.

    Nodes can be reached by the keyboard; they bear the class "node" and their number as `data-node`.

    Parameters
    ----------
    names : sequence of str
        The class's last.
    structure : Structure
    strengths : mapping of numbers by parent and child
        Which thickness the edges have; a dashed thin line where it is not a number.
    said : mapping of str by parent and child
        What a pointer over an edge shows.
    shades : sequence of numbers from 0 to 1, optional
        How dark the attributes are.
    further : mapping of numbers by pairs of nodes, optional
        Lines without direction beside the edges.
    most : float, optional
        The strength that is the thickest; that of the strongest edge, if not given.
    """
    laid = layout(structure)
    layers, rows = laid.size
    width, height = (layers - 1) * ACROSS + WIDTH + 12, (rows - 1) * DOWN + HEIGHT + 12
    known = [value for value in strengths.values() if value == value]
    scale = most or max(known, default=0.0) or 1.0
    lines = [
        _line(_through(points, to_right=True), strengths.get(edge, 0.0) / scale, said.get(edge, ""), edge)
        for edge, points in laid.edges.items()
    ]
    for (a, b), strength in (further or {}).items():
        path = _through((laid.places[a], laid.places[b]), to_right=False)
        lines.append(_line(path, strength / scale, said.get((a, b), ""), (a, b), further=True))
    nodes = [
        _node(at, name, place, at == len(names) - 1, shades[at] if at < len(shades) else 0.0)
        for at, (name, place) in enumerate(zip(names, laid.places))
    ]
    return (
        f'<svg class="network" role="group" aria-label="The network, {len(names)} nodes" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="-6 -6 {width:.0f} {height:.0f}" '
        'font-size="12" font-family="system-ui, sans-serif" fill="currentColor">'
        f"{''.join(lines)}{''.join(nodes)}</svg>"
    )


def shortened(name: str) -> str:
    """Return a name that fits a node.

    >>> shortened("a name that is very much too long")
    'a name that is v…'
    """
    name = " ".join(name.split()) or "\N{OPEN BOX}"
    return name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…"


def _through(points: Sequence[Point], *, to_right: bool) -> str:
    """Return a smooth path from the right side of the first point's node to the left side of the last's."""
    at = [(x * ACROSS, y * DOWN + HEIGHT / 2) for x, y in points]
    if not to_right:
        (x, y), (u, v) = at
        bow = WIDTH + 25 + abs(v - y) / 8
        if x == u:
            return f"M{x + WIDTH:.1f} {y:.1f}C{x + bow:.1f} {y:.1f} {u + bow:.1f} {v:.1f} {u + WIDTH:.1f} {v:.1f}"
        (x, y), (u, v) = sorted(at)
        return f"M{x + WIDTH:.1f} {y:.1f}L{u:.1f} {v:.1f}"
    path = f"M{at[0][0] + WIDTH:.1f} {at[0][1]:.1f}"
    before, level = at[0][0] + WIDTH, at[0][1]
    for place, (x, y) in enumerate(at[1:], 1):
        middle = (before + x) / 2
        path += f"C{middle:.1f} {level:.1f} {middle:.1f} {y:.1f} {x:.1f} {y:.1f}"
        before, level = x, y
        if place < len(at) - 1:
            before = x + WIDTH
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


def _node(at: int, name: str, place: Point, is_class: bool, shade: float) -> str:
    x, y = place[0] * ACROSS, place[1] * DOWN
    look = (
        f'fill="currentColor" fill-opacity="{0.05 + 0.3 * shade:.3f}" stroke="currentColor" '
        f'stroke-width="{2.5 if is_class else 1}"'
    )
    what = "class" if is_class else "attribute"
    return (
        f'<g class="node" data-node="{at}" tabindex="0" role="button" aria-label="{escape(name)}, {what}">'
        f"<title>{escape(name)}</title>"
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{WIDTH:.0f}" height="{HEIGHT:.0f}" rx="5" {look}/>'
        f'<text x="{x + WIDTH / 2:.1f}" y="{y + HEIGHT / 2 + 4.2:.1f}" text-anchor="middle"'
        f' font-weight="{600 if is_class else 400}">{escape(shortened(name))}</text></g>'
    )
