"""Encoded rows with their classes and weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.schema.encode.schema_growth import code_positions, positions
from tanbark.shared_docs import insert_shared_docs


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class Rows:
    """Encoded rows, for learners that need more than counts of pairs.

    Parameters
    ----------
    {encoded_rows}
    classes : ndarray of shape (n_rows,)
        Class of each row, as an index into ``schema.classes``.
    weights : ndarray of shape (n_rows,), default=None
        Weight of each row; None gives each row weight 1.

    Attributes
    ----------
    each : ndarray of shape (n_rows,)
        Weight of each row, also if `weights` is None.
    class_weights : ndarray of shape (n_classes,)
        Total weight of the rows of each class.
    distinct : Rows
        The distinct rows with their total weights.
    """

    schema: Schema
    codes: Codes
    classes: NDArray[np.integer]
    weights: NDArray[np.float64] | None = None

    @cached_property
    def each(self) -> NDArray[np.float64]:
        """Weight of each row: `weights`, or ones."""
        return np.ones(len(self.classes)) if self.weights is None else self.weights

    @property
    def class_weights(self) -> NDArray[np.float64]:
        """Total weight of the rows of each class."""
        weights: NDArray[np.float64] = np.bincount(self.classes, self.each, len(self.schema.classes)).astype(np.float64)
        return weights

    @cached_property
    def distinct(self) -> Rows:
        """The distinct rows in ascending order, each with the total weight of its repetitions.

        A model learned from them depends neither on the order of the rows nor on whether a row is repeated or weighted.
        """
        keys = self._sort_keys()
        # Adding the weights of equal rows in ascending order makes the sum independent of the order of the rows.
        order = np.lexsort(keys[::-1] if self.weights is None else [self.weights, *keys[::-1]])
        ordered = np.stack([key[order] for key in keys])
        first = np.flatnonzero(np.r_[True, (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)][: len(order)])
        total = np.add.reduceat(self.each[order], first) if len(first) else self.each
        chosen = order[first]
        return Rows(self.schema, np.ascontiguousarray(self.codes[:, chosen]), self.classes[chosen], total)

    def keys(self, seed: int) -> NDArray[np.uint64]:
        """Return a pseudo-random number for each row.

        The number is determined by the seed and by the row's attribute values, but not by its class. It depends
        neither on the order of rows and columns nor on the other rows.

        Parameters
        ----------
        seed : int

        Returns
        -------
        keys : ndarray of uint64, of shape (n_rows,)
        """
        keys = np.zeros(len(self.classes), np.uint64)
        for column, codes in zip(self.schema.columns, self.codes, strict=True):
            rng = np.random.default_rng([seed, *column.name.encode()])
            value_keys = rng.integers(0, 2**64, column.arity + 1, np.uint64)
            keys += value_keys[np.minimum(codes, column.arity)]
        # The finaliser of SplitMix64 (Steele, Lea and Flood 2014) decorrelates sums that share terms.
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            keys ^= keys >> np.uint64(shift)
            keys *= np.uint64(factor)
        return keys ^ (keys >> np.uint64(31))

    def take(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Rows:
        """Return a subset of the rows.

        Parameters
        ----------
        chosen : ndarray of bool or int, or slice
            Mask, indices or range of rows.

        Returns
        -------
        rows : Rows
        """
        weights = None if self.weights is None else self.weights[chosen]
        return Rows(self.schema, np.ascontiguousarray(self.codes[:, chosen]), self.classes[chosen], weights)

    def reweighted(self, class_factors: NDArray[np.float64]) -> Rows:
        """Return the rows with their weights multiplied by a factor of their class.

        Parameters
        ----------
        class_factors : ndarray of shape (n_classes,)

        Returns
        -------
        rows : Rows
        """
        return Rows(self.schema, self.codes, self.classes, self.each * class_factors[self.classes])

    def under(self, schema: Schema) -> Rows:
        """Return the same rows under an extended schema.

        Parameters
        ----------
        schema : Schema
            A schema over the same columns that contains all levels and classes of the current schema.

        Returns
        -------
        rows : Rows
            Missing values stay missing, also where the schema has a level for them.
        """
        if schema == self.schema:
            return self
        codes = np.full(self.codes.shape, schema.missing_code, schema.dtype)
        for u, (column, extended) in enumerate(zip(self.schema.columns, schema.columns, strict=True)):
            known = self.codes[u] < column.arity
            codes[u, known] = code_positions(column, extended)[self.codes[u, known]]
        classes = positions(self.schema.classes, schema.classes)[self.classes]
        return Rows(schema, codes, classes, self.weights)

    def _sort_keys(self) -> list[NDArray[np.int64]]:
        """Return keys that identify each row, with as many columns packed into one integer as fit."""
        key = self.classes.astype(np.int64)
        size = len(self.schema.classes)
        keys = []
        for column, arity in zip(self.codes, self.schema.arity.tolist(), strict=True):
            if size * (arity + 1) >= MAX_CELL_KEYS:
                keys.append(key)
                key, size = np.zeros_like(key), 1
            key = key * (arity + 1) + np.minimum(column, arity)
            size *= arity + 1
        return [*keys, key]
