"""Exact quantiles and distinct values of a streamed column, in little memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.encode.distinct_numbers import count_within, gather_within, tally_keys

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]

NONE: Integers = np.empty(0, np.int64)


class ValueTable:
    """Distinct keys with their counts, up to a number of them: 16 bytes each, and as much again in reserve.

    A key is a number as 64 bits in ascending order (see `tanbark.kernels.encode.distinct_numbers`).
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._used = 0
        self._keys: Keys = np.zeros(256, np.uint64)
        self._counts: Integers = np.zeros(256, np.int64)

    def __len__(self) -> int:
        return self._used

    def add(self, keys: Keys, times: Integers = NONE) -> int:
        """Count keys, each once or as many times as given; return how many were counted before it was full."""
        at = 0
        while True:
            room = min(len(self._keys) // 2, self.most)
            at, self._used = tally_keys(keys, times, at, self._keys, self._counts, self._used, room)
            if at == len(keys) or room == self.most:
                return int(at)
            self._grow()

    def items(self) -> tuple[Keys, Integers]:
        """Return the keys in ascending order and their counts."""
        held = np.flatnonzero(self._counts)
        order = held[np.argsort(self._keys[held])]
        return self._keys[order], self._counts[order]

    def _grow(self) -> None:
        keys, counts = self.items()
        self._keys = np.zeros(4 * len(self._keys), np.uint64)
        self._counts = np.zeros(len(self._keys), np.int64)
        tally_keys(keys, counts, 0, self._keys, self._counts, 0, len(keys))


BITS = 16
"""How many bits of a key a pass finds out."""
MOST_CELLS = 2**20
"""How many counters there may be; where many quantiles are wanted, a pass finds out fewer bits."""
FEW = 2**20
"""Up to so many values are gathered, which ends the passes."""


class OrderStatistics:
    """The smallest values at or below which lie 1/n, 2/n, ... of a column's values.

    A value is a key: 64 bits in ascending order. The first pass counts how many keys begin with each pattern of 16
    bits, which says for every wanted quantile how its key begins; a further pass looks only at keys that begin so, and
    16 bits deeper, or gathers them where they are few. Counts are added when two of them are merged. It takes 8 MB.

    Parameters
    ----------
    n : int
        One more than there are quantiles.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._prefixes: Keys = np.zeros(1, np.uint64)
        self._shift = 64
        self._bits = BITS
        self._counts: Integers = np.zeros((1, 2**BITS), np.int64)
        self._gathered: list[Keys] | None = None
        # Each wanted rank, from 1, among the keys that begin with the prefix at its place.
        self._ranks: Integers = np.empty(0, np.int64)
        self._places: Integers = np.empty(0, np.int64)
        self._expected = 0
        self.total = 0
        self.found: Keys | None = None

    def ranks(self) -> Integers:
        """Return how many values lie at or below each quantile at least: ``ceil(j total / n)``."""
        total = int(self.total)
        return np.array([-(-j * total // self.n) for j in range(1, self.n)], np.int64)

    def see(self, keys: Keys) -> None:
        """Look at some values."""
        if self._gathered is None:
            count_within(keys, self._prefixes, self._shift, self._bits, self._counts)
        else:
            kept = np.empty(len(keys), np.uint64)
            many = gather_within(keys, self._prefixes, self._shift, kept)
            self._gathered.append(kept[:many].copy())

    def see_counted(self, keys: Keys, counts: Integers) -> None:
        """Look, in the first pass, at distinct values that were counted already."""
        np.add.at(self._counts[0], keys >> np.uint64(64 - BITS), counts)

    def fresh(self) -> OrderStatistics:
        """Return one that looks for the same and has seen nothing."""
        other = OrderStatistics.__new__(OrderStatistics)
        other.__dict__.update(self.__dict__)
        if self._gathered is None:
            other._counts = np.zeros_like(self._counts)
        else:
            other._gathered = []
        return other

    def merge(self, other: OrderStatistics) -> None:
        """Add what another has seen in the same pass."""
        if self._gathered is None:
            self._counts = self._counts + other._counts
        else:
            self._gathered += other._gathered or []

    def settle(self) -> bool:
        """End a pass; return whether another is needed."""
        seen = sum(map(len, self._gathered)) if self._gathered is not None else int(self._counts.sum())
        if self._shift == 64:
            self.total = self._expected = seen
            self._ranks = self.ranks()
            self._places = np.zeros_like(self._ranks)
        if seen != self._expected:
            raise ValueError("the rows are not the same each time they are read; give schema=, or write them to a file")
        if self._gathered is not None:
            self._pick(np.sort(np.concatenate(self._gathered)))
        else:
            self._descend()
        return self.found is None

    def _pick(self, keys: Keys) -> None:
        first = np.searchsorted(keys, self._prefixes << np.uint64(self._shift))
        self.found = keys[first[self._places] + self._ranks - 1]
        self._gathered = []

    def _descend(self) -> None:
        """Go from prefixes to the longer ones in which the wanted ranks lie."""
        cells = 1 << self._bits
        below = np.concatenate([[0], np.cumsum(self._counts)])
        at = np.searchsorted(below, below[self._places * cells] + self._ranks) - 1
        self._ranks = self._ranks - (below[at] - below[self._places * cells])
        prefixes = self._prefixes[self._places] << np.uint64(self._bits)
        digits = (at - self._places * cells).astype(np.uint64)
        self._shift -= self._bits
        self._prefixes, first, self._places = np.unique(prefixes | digits, return_index=True, return_inverse=True)
        self._expected = int(self._counts.ravel()[at[first]].sum())
        self._counts = np.zeros((0, 0), np.int64)
        if self._shift == 0 or not len(self._prefixes):
            self.found = self._prefixes[self._places]
        elif self._expected <= FEW:
            self._gathered = []
        else:
            room = (MOST_CELLS // len(self._prefixes)).bit_length() - 1
            self._bits = min(BITS, self._shift, room)
            self._counts = np.zeros((len(self._prefixes), 1 << self._bits), np.int64)
