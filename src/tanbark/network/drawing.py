"""A network as text."""

from __future__ import annotations

from collections.abc import Sequence

from tanbark.network.structure import Structure


def draw(names: Sequence[str], structure: Structure) -> str:
    """Return the class on the first line and, beneath, the attributes as a tree; the class is above all of them.

    >>> print(draw(["rain", "wind", "sail"], Structure.augmented((-1, 0))))
    sail
    └─ rain
       └─ wind
    """
    n = len(names) - 1
    below: dict[int, list[int]] = {-1: []}
    for u in range(n):
        above = structure.attribute_parents(u)
        below.setdefault(above[0] if above else -1, []).append(u)
    lines = [names[n]]
    waiting = [(u, "", u == below[-1][-1]) for u in reversed(below[-1])]
    while waiting:
        u, indent, last = waiting.pop()
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{names[u]}")
        deeper = indent + ("   " if last else "│  ")
        children = below.get(u, [])
        waiting += [(v, deeper, v == children[-1]) for v in reversed(children)]
    return "\n".join(lines)
