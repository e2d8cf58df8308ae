"""Groups of missing attributes, and the order in which variable elimination sums them out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heapify, heappop, heappush

import numpy as np

from tanbark.kernels.infer.elimination import CHILD, MEMBER, NODES_PER_WORD, Plan
from tanbark.network.structure import Structure


@dataclass(frozen=True)
class Group:
    """Missing attributes that share factors and therefore have to be marginalised together.

    Parameters
    ----------
    structure : Structure
    arity : tuple of int
        Number of values of each attribute.
    members : tuple of int
        The missing attributes, in column order.
    children : tuple of int
        The known attributes, and possibly the class, that have members among their parents.
    kept : tuple of int, default=()
        At most one of the children, whose values are all computed instead of only the known one.
    """

    structure: Structure
    arity: tuple[int, ...]
    members: tuple[int, ...]
    children: tuple[int, ...]
    kept: tuple[int, ...] = ()

    @classmethod
    def of_words(cls, structure: Structure, arity: tuple[int, ...], words: Sequence[int]) -> Group:
        """Return the group encoded by `tanbark.kernels.infer.elimination.write_groups`."""
        roles = [words[f // NODES_PER_WORD] >> (2 * (f % NODES_PER_WORD)) & 3 for f in range(len(structure.parents))]
        members = tuple(f for f, role in enumerate(roles) if role == MEMBER)
        return cls(structure, arity, members, tuple(f for f, role in enumerate(roles) if role == CHILD))

    @cached_property
    def factors(self) -> tuple[int, ...]:
        """The nodes whose factors contain members, in column order."""
        return tuple(sorted((*self.members, *self.children)))

    @cached_property
    def known_neighbours(self) -> tuple[int, ...]:
        """The known attributes in these factors."""
        attributes = {f for f in self.factors if f != self.structure.of_class}
        for f in self.factors:
            attributes.update(self.structure.attribute_parents(f))
        return tuple(sorted(attributes.difference(self.members)))

    @cached_property
    def sampling_order(self) -> tuple[int, ...]:
        """The members, parents before children."""
        members = set(self.members)
        return tuple(f for f in self.structure.topological_order() if f in members)

    @cached_property
    def steps(self) -> tuple[tuple[int, tuple[int, ...], int], ...]:
        """Steps of the elimination: a member, the tables that contain it, and the members left in the result.

        Members are identified by their index in `members`, followed by `kept`; sets of members are bit masks. Each step
        eliminates the member that leaves the smallest table, the first in column order if there are ties. If an
        attribute is kept, a last step multiplies the remaining tables without summation.
        """
        scopes = dict(enumerate(self._scopes))
        neighbours, tables = [0] * len(self._variables), [set[int]() for _ in self._variables]
        for t, scope in scopes.items():
            for m in _set_bits(scope):
                neighbours[m] |= scope & ~(1 << m)
                tables[m].add(t)
        cells = {m: self._cells(neighbours[m]) for m in range(len(self.members))}
        smallest = [(size, m) for m, size in cells.items()]
        heapify(smallest)
        steps: list[tuple[int, tuple[int, ...], int]] = []
        while cells:
            size, best = heappop(smallest)
            if cells.get(best) != size:
                continue  # An outdated entry: the member was eliminated, or its neighbours have changed.
            del cells[best]
            inputs, left, result = tuple(sorted(tables[best])), neighbours[best], len(self.factors) + len(steps)
            steps.append((best, inputs, left))
            for t in inputs:
                for m in _set_bits(scopes.pop(t)):
                    tables[m].discard(t)
            scopes[result] = left
            for m in _set_bits(left):
                tables[m].add(result)
                neighbours[m] = (neighbours[m] | left) & ~(1 << best) & ~(1 << m)
                if m in cells:
                    cells[m] = self._cells(neighbours[m])
                    heappush(smallest, (cells[m], m))
        if self.kept:
            steps.append((len(self._variables), tuple(scopes), 1 << len(self.members)))
        return tuple(steps)

    @cached_property
    def largest_table(self) -> int:
        """Number of cells of the largest table during the elimination."""
        return max(self._cells(scope) for scope in (*self._scopes, *(left for _, _, left in self.steps)))

    @cached_property
    def plan(self) -> Plan:
        """The elimination in the form that the kernel expects."""
        # The last member is a dummy with one value that is in no table; summing it out only multiplies the tables.
        arity = [*(self.arity[u] for u in self._variables), 1]
        index = {u: m for m, u in enumerate(self._variables)}
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
            parents = self.structure.attribute_parents(f)
            for p, step in zip(parents, strides(parents, self.arity), strict=True):
                if p in index:
                    by_configuration[t, index[p]] = step
            if f in index:
                by_own[t, index[f]] = 1
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
        """Number of products of cells that the elimination sums."""
        return sum(self._cells(left | 1 << m) for m, _, left in self.steps if m < len(self.members))

    @cached_property
    def _variables(self) -> tuple[int, ...]:
        """The attributes that can be axes of the tables."""
        return (*self.members, *self.kept)

    @cached_property
    def _scopes(self) -> tuple[int, ...]:
        """The members in each factor, as bit masks."""
        index = {u: m for m, u in enumerate(self._variables)}
        families = [(f, *self.structure.attribute_parents(f)) for f in self.factors]
        return tuple(sum(1 << index[u] for u in nodes if u in index) for nodes in families)

    def _cells(self, scope: int) -> int:
        return math.prod(self.arity[self._variables[m]] for m in _set_bits(scope))


def _set_bits(mask: int) -> Iterator[int]:
    """Yield the positions of the set bits.

    >>> list(_set_bits(0b101))
    [0, 2]
    """
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


def strides(parents: Sequence[int], arity: Sequence[int]) -> list[int]:
    """Return the stride of each parent in the row-major numbering of their configurations."""
    return [math.prod(arity[p] for p in parents[i + 1 :]) for i in range(len(parents))]
