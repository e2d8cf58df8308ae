"""The distinct numbers of a column that streams by, each with its count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.value_tables import tally_keys

Keys = NDArray[np.uint64]
Integers = NDArray[np.int64]

NONE: Integers = np.empty(0, np.int64)


class ValueTable:
    """Distinct keys with their counts, up to a number of them: 16 bytes each, and as much again in reserve.

    A key is a number as 64 bits in ascending order (see `tanbark.kernels.value_tables`).
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
