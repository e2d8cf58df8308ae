"""Groups of missing attributes, and the order in which they are marginalised."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np

from tanbark.graph import Structure
from tanbark.kernels.infer.elimination import CHILD, MEMBER, NODES_OF_WORD, Plan


@dataclass(frozen=True)
class Group:
    """Missing attributes that have to be summed out together, in every row that has just this group.

    Parameters
    ----------
    structure : Structure
    arity : tuple of int
    members : tuple of int
        The missing attributes, in column order.
    children : tuple of int
        The known attributes, and perhaps the class, that have members among their parents.
    kept : tuple of int
        At most one of the children, of which every value is asked for.
    """

    structure: Structure
    arity: tuple[int, ...]
    members: tuple[int, ...]
    children: tuple[int, ...]
    kept: tuple[int, ...] = ()

    @classmethod
    def of_words(cls, structure: Structure, arity: tuple[int, ...], words: Sequence[int]) -> Group:
        """Return the group that `tanbark.kernels.infer.elimination.write_groups` describes."""
        roles = [words[f // NODES_OF_WORD] >> (2 * (f % NODES_OF_WORD)) & 3 for f in range(len(structure.parents))]
        members = tuple(f for f, role in enumerate(roles) if role == MEMBER)
        return cls(structure, arity, members, tuple(f for f, role in enumerate(roles) if role == CHILD))

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """The nodes whose factors touch the group, in column order."""
        return tuple(sorted((*self.members, *self.children)))

    @cached_property
    def around(self) -> tuple[int, ...]:
        """The known attributes in these factors."""
        touched = {f for f in self.factors if f != self.structure.of_class}
        for f in self.factors:
            touched.update(self.structure.attribute_parents(f))
        return tuple(sorted(touched.difference(self.members)))

    @cached_property
    def drawn_order(self) -> tuple[int, ...]:
        """The members, parents before children."""
        inside = set(self.members)
        return tuple(f for f in self.structure.topological_order() if f in inside)

    @cached_property
    def steps(self) -> tuple[tuple[int, tuple[int, ...], int], ...]:
        """The order of elimination: a member, the tables it is summed out of, and the members left in the result.

        Members are places in `members`, what is kept after them; sets of them are bits. The next to go is always the
        one that leaves the smallest table, the first in column order among several. What is kept stays in the product
        of all tables that are left: a step that sums out nothing.
        """
        scopes = dict(enumerate(self._scopes))
        beside, tables = [0] * len(self._touched), [set[int]() for _ in self._touched]
        for t, scope in scopes.items():
            for m in _places(scope):
                beside[m] |= scope & ~(1 << m)
                tables[m].add(t)
        cells = {m: self._cells(beside[m]) for m in range(len(self.members))}
        smallest = [(size, m) for m, size in cells.items()]
        heapify(smallest)
        steps: list[tuple[int, tuple[int, ...], int]] = []
        while cells:
            size, best = heappop(smallest)
            if cells.get(best) != size:
                continue  # It was summed out, or has had other neighbours since.
            del cells[best]
            inputs, left, result = tuple(sorted(tables[best])), beside[best], len(self.factors) + len(steps)
            steps.append((best, inputs, left))
            for t in inputs:
                for m in _places(scopes.pop(t)):
                    tables[m].discard(t)
            scopes[result] = left
            for m in _places(left):
                tables[m].add(result)
                beside[m] = (beside[m] | left) & ~(1 << best) & ~(1 << m)
                if m in cells:
                    cells[m] = self._cells(beside[m])
                    heappush(smallest, (cells[m], m))
        if self.kept:
            steps.append((len(self._touched), tuple(scopes), 1 << len(self.members)))
        return tuple(steps)

    @cached_property
    def largest(self) -> int:
        """How many cells the largest table has on the way."""
        return max(self._cells(scope) for scope in (*self._scopes, *(left for _, _, left in self.steps)))

    @cached_property
    def plan(self) -> Plan:
        """The elimination as the kernel wants it."""
        # Last a member of one value, which is in no table: to sum it out is to multiply.
        arity = [*(self.arity[u] for u in self._touched), 1]
        place = {u: m for m, u in enumerate(self._touched)}
        scopes = [*self._scopes, *(left for _, _, left in self.steps)]
        stride = np.zeros((len(scopes), len(arity)), np.int64)
        sizes = []
        for t, scope in enumerate(scopes):
            size = 1
            for m in reversed(range(len(arity))):
                if scope >> m & 1:
                    stride[t, m] = size
                    size *= arity[m]
            sizes.append(size)
        by_configuration = np.zeros((len(self.factors), len(arity)), np.int64)
        by_own = np.zeros_like(by_configuration)
        for t, f in enumerate(self.factors):
            counts = strides(self.structure.attribute_parents(f), self.arity)
            for p, step in zip(self.structure.attribute_parents(f), counts):
                if p in place:
                    by_configuration[t, place[p]] = step
            if f in place:
                by_own[t, place[f]] = 1
        inputs = [t for _, tables, _ in self.steps for t in tables]
        return Plan(
            np.array(self.factors, np.int64),
            np.array(arity, np.int64),
            np.cumsum([0, *sizes]),
            stride,
            by_configuration,
            by_own,
            np.array([m for m, _, _ in self.steps], np.int64),
            np.cumsum([0, *(len(tables) for _, tables, _ in self.steps)]),
            np.array(inputs, np.int64),
        )

    @cached_property
    def multiplications(self) -> int:
        """How many products of cells are summed up on the way."""
        return sum(self._cells(left | 1 << m) for m, _, left in self.steps if m < len(self.members))

    @cached_property
    def _touched(self) -> tuple[int, ...]:
        """The attributes that tables of the elimination may have as axes."""
        return (*self.members, *self.kept)

    @cached_property
    def _scopes(self) -> tuple[int, ...]:
        """The members in each factor, as bits."""
        place = {u: m for m, u in enumerate(self._touched)}
        touched = [(f, *self.structure.attribute_parents(f)) for f in self.factors]
        return tuple(sum(1 << place[u] for u in nodes if u in place) for nodes in touched)

    def _cells(self, scope: int) -> int:
        return math.prod(self.arity[self._touched[m]] for m in _places(scope))


def _places(bits: int) -> Iterator[int]:
    """Yield where bits are set.

    >>> list(_places(0b101))
    [0, 2]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def strides(above: Sequence[int], arity: Sequence[int]) -> list[int]:
    """Return how much one more of each attribute's value adds to a configuration of them, the last one fastest."""
    return [math.prod(arity[p] for p in above[place + 1 :]) for place in range(len(above))]
