"""A network as text."""

from __future__ import annotations

from collections.abc import Sequence

from tanbark.network.structure import Structure


def draw(names: Sequence[str], structure: Structure) -> str:
    """Return the class on the first line and, beneath, the attributes as a tree; the class is above all of them.

    An attribute hangs from the first attribute that it depends on; in brackets follow the others, and the class where
    the attribute does not depend on it. A class that itself depends on attributes names them.

    >>> print(draw(["rain", "wind", "sail"], Structure.augmented((-1, 0))))
    sail
    └─ rain
       └─ wind
    >>> print(draw(["rain", "sun", "wind", "sail"], Structure(((), (0, 3), (0, 1, 3), ()))))
    sail
    └─ rain  (not sail)
       ├─ sun
       └─ wind  (and sun)
    """
    n = len(names) - 1
    below: dict[int, list[int]] = {-1: []}
    for u in range(n):
        above = structure.attribute_parents(u)
        below.setdefault(above[0] if above else -1, []).append(u)
    given = ", ".join(names[p] for p in structure.parents[n])
    lines = [f"{names[n]}  (given {given})" if given else names[n]]
    waiting = [(u, "", u == below[-1][-1]) for u in reversed(below[-1])]
    while waiting:
        u, indent, last = waiting.pop()
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{names[u]}{_brackets(names, structure, u)}")
        deeper = indent + ("   " if last else "│  ")
        children = below.get(u, [])
        waiting += [(v, deeper, v == children[-1]) for v in reversed(children)]
    return "\n".join(lines)


def _brackets(names: Sequence[str], structure: Structure, u: int) -> str:
    """Return what an attribute depends on beside the attribute it hangs from, and that the class is not above it."""
    others = ", ".join(names[p] for p in structure.attribute_parents(u)[1:])
    notes = [f"and {others}"] if others else []
    if structure.of_class not in structure.parents[u]:
        notes.append(f"not {names[-1]}")
    return f"  ({'; '.join(notes)})" if notes else ""
