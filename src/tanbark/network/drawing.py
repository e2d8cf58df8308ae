"""A network as text."""

from __future__ import annotations

from collections.abc import Sequence

from tanbark.network.structure import Structure


def draw(names: Sequence[str], structure: Structure) -> str:
    """Return the network as a tree: each node hangs from the first node it depends on, in brackets follow the others.

    Where the class is above every attribute it stands alone on the first line, and is not named again. Elsewhere it is
    a node like the others, and what depends on nothing stands at the margin.

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
