"""Exact quantiles and distinct values of a streamed column, in bounded memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.encode.number_columns import count_within, gather_within, tally_keys

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]

NO_COUNTS: Integers = np.empty(0, np.int64)
"""Counts for keys that count once each."""


class ValueTable:
    """A hash table of at most `max_keys` distinct keys with their counts, at least 32 bytes per key.

    A key encodes a number in 64 bits that sort like the number (see `tanbark.kernels.encode.number_columns`).
    """

    def __init__(self, max_keys: int) -> None:
        self.max_keys = max_keys
        self._used = 0
        self._keys: Keys = np.zeros(256, np.uint64)
        self._counts: Integers = np.zeros(256, np.int64)

    def __len__(self) -> int:
        return self._used

    def add(self, keys: Keys, times: Integers = NO_COUNTS) -> int:
        """Count keys, each once or with the given counts; return how many were counted before the table was full."""
        at = 0
        while True:
            capacity = min(len(self._keys) // 2, self.max_keys)
            at, self._used = tally_keys(keys, times, at, self._keys, self._counts, self._used, capacity)
            if at == len(keys) or capacity == self.max_keys:
                return int(at)
            self._grow()

    def items(self) -> tuple[Keys, Integers]:
        """Return the keys in ascending order and their counts."""
        occupied = np.flatnonzero(self._counts)
        order = occupied[np.argsort(self._keys[occupied])]
        return self._keys[order], self._counts[order]

    def _grow(self) -> None:
        """Rehash to a table four times as large."""
        keys, counts = self.items()
        self._keys = np.zeros(4 * len(self._keys), np.uint64)
        self._counts = np.zeros(len(self._keys), np.int64)
        tally_keys(keys, counts, 0, self._keys, self._counts, 0, len(keys))


PREFIX_BITS = 16
"""Maximum number of bits of a key that one pass determines."""
MAX_COUNTERS = 2**20
"""Maximum number of counters; if there are many quantiles, a pass determines fewer bits."""
MAX_GATHERED_VALUES = 2**20
"""If at most this many values remain, the next pass gathers and sorts them."""


class OrderStatistics:
    """Exact inverted-CDF quantiles of a column at 1/n, 2/n, ..., computed in several passes.

    Values are 64-bit keys that sort like the numbers. The first pass counts the keys with each 16-bit prefix, which
    determines the prefix of every quantile. A further pass counts only keys with these prefixes, by the next 16 bits,
    or gathers the keys if there are few. To merge two searches, their counts are added. A search takes 8 MB.

    Parameters
    ----------
    n : int
        Number of quantiles plus one.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._prefixes: Keys = np.zeros(1, np.uint64)
        self._shift = 64
        self._bits = PREFIX_BITS
        self._counts: Integers = np.zeros((1, 2**PREFIX_BITS), np.int64)
        self._gathered: list[Keys] | None = None
        # The rank of each quantile, from 1, among the keys with its prefix, and the index of that prefix.
        self._ranks: Integers = np.empty(0, np.int64)
        self._places: Integers = np.empty(0, np.int64)
        self._expected: Integers = np.zeros(1, np.int64)
        self.total = 0
        self.quantiles: Keys | None = None

    def ranks(self) -> Integers:
        """Return the rank of each quantile: ``ceil(j total / n)``."""
        total = int(self.total)
        return np.array([-(-j * total // self.n) for j in range(1, self.n)], np.int64)

    def see(self, keys: Keys) -> None:
        """Process some values."""
        if self._gathered is None:
            count_within(keys, self._prefixes, self._shift, self._bits, self._counts)
        else:
            selected = np.empty(len(keys), np.uint64)
            count = gather_within(keys, self._prefixes, self._shift, selected)
            self._gathered.append(selected[:count].copy())

    def see_counted(self, keys: Keys, counts: Integers) -> None:
        """Process distinct values with their counts, in the first pass."""
        np.add.at(self._counts[0], keys >> np.uint64(64 - PREFIX_BITS), counts)

    def fresh(self) -> OrderStatistics:
        """Return an empty search for the same pass."""
        other = OrderStatistics.__new__(OrderStatistics)
        other.__dict__.update(self.__dict__)
        if self._gathered is None:
            other._counts = np.zeros_like(self._counts)
        else:
            other._gathered = []
        return other

    def merge(self, other: OrderStatistics) -> None:
        """Add the counts of another search of the same pass."""
        if self._gathered is None:
            self._counts = self._counts + other._counts
        else:
            self._gathered += other._gathered or []

    def settle(self) -> bool:
        """End a pass, and return whether another is needed."""
        if self._shift == 64:
            self._expected = self._counts.sum(axis=1)
            self.total = int(self._expected[0])
            self._ranks = self.ranks()
            self._places = np.zeros_like(self._ranks)
        if self._gathered is None:
            self._check(self._counts.sum(axis=1))
            self._descend()
        else:
            self._pick(np.sort(np.concatenate(self._gathered)))
        return self.quantiles is None

    def _check(self, seen: Integers) -> None:
        """Raise ValueError unless the number of keys with each prefix is the same as in the pass before."""
        if not np.array_equal(seen, self._expected):
            raise _rows_differ_error()

    @property
    def distinct_quantiles(self) -> Keys:
        """The distinct quantiles, in ascending order, after the last pass."""
        return np.empty(0, np.uint64) if self.quantiles is None else np.unique(self.quantiles)

    def check_rows(self, seen: int) -> None:
        """Raise ValueError unless a later pass saw as many values as the first."""
        if seen != self.total:
            raise _rows_differ_error()

    def _pick(self, keys: Keys) -> None:
        """Take the quantiles from the sorted keys."""
        first = np.searchsorted(keys, self._prefixes << np.uint64(self._shift))
        self._check(np.diff(first, append=len(keys)))
        self.quantiles = keys[first[self._places] + self._ranks - 1]
        self._gathered = []

    def _descend(self) -> None:
        """Extend the prefix of each quantile by the bits that the last pass counted."""
        cells = 1 << self._bits
        below = np.concatenate([[0], np.cumsum(self._counts)])
        at = np.searchsorted(below, below[self._places * cells] + self._ranks) - 1
        self._ranks = self._ranks - (below[at] - below[self._places * cells])
        prefixes = self._prefixes[self._places] << np.uint64(self._bits)
        digits = (at - self._places * cells).astype(np.uint64)
        self._shift -= self._bits
        self._prefixes, first, self._places = np.unique(prefixes | digits, return_index=True, return_inverse=True)
        self._expected = self._counts.ravel()[at[first]]
        self._counts = np.zeros((0, 0), np.int64)
        if self._shift == 0 or not len(self._prefixes):
            self.quantiles = self._prefixes[self._places]
        elif self._expected.sum() <= MAX_GATHERED_VALUES:
            self._gathered = []
        else:
            affordable = (MAX_COUNTERS // len(self._prefixes)).bit_length() - 1
            self._bits = min(PREFIX_BITS, self._shift, affordable)
            self._counts = np.zeros((len(self._prefixes), 1 << self._bits), np.int64)


def _rows_differ_error() -> ValueError:
    """Return the error for passes that do not see the same values."""
    return ValueError("the rows differ between passes; provide schema=, or write the rows to a file")
