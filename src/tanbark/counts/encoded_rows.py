"""Encoded rows with their classes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import ROOM
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes


@dataclass(frozen=True, eq=False)
class Rows:
    """What is learned from where counts of pairs do not suffice.

    Parameters
    ----------
    schema : Schema
    codes : array of shape (attributes, rows)
    classes : array of shape (rows,)
        Positions in ``schema.classes``.
    weights : array of shape (rows,), optional
    """

    schema: Schema
    codes: Codes
    classes: NDArray[np.integer]
    weights: NDArray[np.float64] | None = None

    @cached_property
    def each(self) -> NDArray[np.float64]:
        """The weight of each row, one where none was given."""
        return np.ones(len(self.classes)) if self.weights is None else self.weights

    @cached_property
    def distinct(self) -> Rows:
        """The rows that differ, in ascending order, each with the sum of the weights of those equal to it.

        What is learned from them knows nothing of the rows' order, and cannot tell a weight from a repetition.
        """
        words = self._words()
        # Weights of equal rows are added in ascending order, so that their sum is the same whatever the rows' order.
        order = np.lexsort(words[::-1] if self.weights is None else [self.weights, *words[::-1]])
        ordered = np.stack([word[order] for word in words])
        first = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)][: len(order)])
        total = np.add.reduceat(self.each[order], first) if len(first) else self.each
        chosen = order[first]
        return Rows(self.schema, np.ascontiguousarray(self.codes[:, chosen]), self.classes[chosen], total)

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """Return a random number for each row that its own values, not its class, and the seed determine.

        It depends neither on the order of rows or columns nor on what other rows there are; what is drawn by it is the
        same for rows that differ in nothing but the class.
        """
        keys = np.zeros(len(self.classes), np.uint64)
        for column, codes in zip(self.schema.columns, self.codes):
            rng = np.random.default_rng([seed, *column.name.encode()])
            draws = rng.integers(0, 2**64, column.arity + 1, np.uint64)
            keys += draws[np.minimum(codes, column.arity)]
        # The finaliser of SplitMix64 (Steele, Lea and Flood 2014): what two sums have in common is not seen any more.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            keys ^= keys >> np.uint64(shift)
            keys *= np.uint64(factor)
        return keys ^ (keys >> np.uint64(31))

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Rows:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[chosen]
        return Rows(self.schema, np.ascontiguousarray(self.codes[:, chosen]), self.classes[chosen], weights)

    def _words(self) -> list[NDArray[np.int64]]:
        """Return numbers that are equal where rows are, as many columns to one of them as it has room for."""
        word = self.classes.astype(np.int64)
        size = len(self.schema.classes)
        words = []
        for column, arity in zip(self.codes, self.schema.arity.tolist()):
            if size * (arity + 1) >= ROOM:
                words.append(word)
                word, size = np.zeros_like(word), 1
            word = word * (arity + 1) + np.minimum(column, arity)
            size *= arity + 1
        return [*words, word]
