"""The part of model files that describes weighted evidence, checked against hostile changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.evidence.design import FINE_BIN_LEVELS, Corrections
from tanbark.evidence.parent_selection import Parents, check_table_cells
from tanbark.evidence.penalised_weights import Setting
from tanbark.evidence.questions import PARENT_LEVELS, Integers, Questions
from tanbark.models.model import Array, StoredModel, checked_log_prior, stored_number, stored_prior_ratio
from tanbark.network import Structure
from tanbark.schema import Number

MAX_MAGNITUDE = 1e101
"""Bound on numbers in a file, so that products of two of them stay finite."""
MIN_STRENGTH = 1e-6
"""Bound on strengths of back-off in a file, so that nothing divided by one overflows."""
MAX_ROUNDING = 1e-6
"""Tolerated differences of sums of weights in a file, relative to the total weight."""
MIN_LEVELS, MAX_LEVELS, MAX_GRIDS = FINE_BIN_LEVELS, 10, 64
"""Bounds on the trees of numbers in a file."""


class StoredEvidence:
    """The counts and the stored part of a model; raises ValueError if they do not fit together."""

    def __init__(self, counts: Counts, stored: StoredModel) -> None:
        self._counts = counts
        self._state: Mapping[str, Any] = stored.state
        self._arrays = stored.arrays

    def fields(self) -> tuple[Any, ...]:
        """Return the fields of the model, in their order."""
        schema, arrays = self._counts.schema, self._arrays
        arity, classes = schema.arity.tolist(), len(schema.classes)
        parents = self._parents(len(arity))
        questions = self._questions(arity)
        sizes = questions.sizes.tolist()
        shapes = [(*(sizes[p] for p in above), a, classes) for above, a in zip(parents, arity, strict=True)]
        for shape, name in zip(shapes, schema.names, strict=True):
            check_table_cells(shape, name)
        code_weights = [np.zeros(a) for a in arity]
        corrections = replace(
            Corrections.of(schema, questions, parents, code_weights),
            features=self._floats("features", (sum(arity), 2)),
        )
        depths = 1 + max(map(len, parents))
        strengths = self._split(
            self._floats("strengths"),
            [(max(len(leaf), 1), 1 + len(above)) for leaf, above in zip(questions.leaves, parents, strict=True)],
        )
        if not all((strength >= MIN_STRENGTH).all() for strength in strengths):
            raise ValueError(f"its strengths of back-off must be at least {MIN_STRENGTH:g}")
        weights = self._floats("weights", (depths, len(arity)))
        if (weights < 0).any():
            raise ValueError("its weights of evidence must not be negative")
        return (
            self._counts,
            checked_log_prior(arrays, "learned_prior", classes),
            checked_log_prior(arrays, "log_prior", classes),
            stored_prior_ratio(arrays, classes),
            parents,
            questions,
            self._joints(shapes),
            strengths,
            self._positive("evidence_ess"),
            weights,
            self._floats("bias", (classes,)),
            corrections,
            self._floats("coefficients", (corrections.n_codes + corrections.n_edges, classes)),
            self._settings(),
            self._positive("temperature"),
            stored_number(self._state, "optimality_gap"),
        )

    def _positive(self, name: str) -> float:
        number = stored_number(self._state, name)
        if not 0 < number <= MAX_MAGNITUDE:
            raise ValueError(f"its {name} must be a positive finite number, got {number!r}")
        return number

    def _floats(self, name: str, shape: tuple[int, ...] | None = None) -> Array:
        array = self._arrays[name]
        fits = array.dtype == np.float64 and (array.ndim == 1 if shape is None else array.shape == shape)
        if not fits or not (np.abs(array) <= MAX_MAGNITUDE).all():
            raise ValueError(f"its array {name!r} is invalid")
        return array

    def _split(self, flat: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[NDArray[Any], ...]:
        ends = np.cumsum([prod(shape) for shape in shapes])
        if len(flat) != ends[-1]:
            raise ValueError("the sizes of its arrays do not match its schema")
        return tuple(part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True))

    def _parents(self, n: int) -> Parents:
        parents = tuple(tuple(above) for above in self._state["evidence_parents"])
        fits = len(parents) == n and all(
            type(p) is int and 0 <= p < n and len(set(above)) == len(above) for above in parents for p in above
        )
        if not fits:
            raise ValueError("its parents do not match its schema")
        Structure((*parents, ()))  # raises ValueError if the edges form a cycle
        return parents

    def _questions(self, arity: Sequence[int]) -> Questions:
        levels, grids = self._state["levels"], self._state["grids"]
        columns = self._counts.schema.columns
        fits = type(levels) is int and MIN_LEVELS <= levels <= MAX_LEVELS and len(grids) == len(arity)
        if not fits or not all(
            type(g) is int and 0 <= g <= MAX_GRIDS * isinstance(column, Number)
            for g, column in zip(grids, columns, strict=True)
        ):
            raise ValueError("its trees of numbers are invalid")
        intervals = [a - (column.missing and g > 0) for a, column, g in zip(arity, columns, grids, strict=True)]
        leaves = self._split(self._integers("leaves"), list(zip(grids, intervals, strict=True)))
        if any(leaf.size and not (0 <= leaf.min() <= leaf.max() < 1 << levels) for leaf in leaves):
            raise ValueError("its trees of numbers are invalid")
        digits = self._split(self._integers("digits"), [(a + 1,) for a in arity])
        for digit, a in zip(digits, arity, strict=True):
            most = max(a, 1 << PARENT_LEVELS) + 1
            if digit.min() < 0 or not (digit[:-1] < digit[-1]).all() or digit[-1] > most:
                raise ValueError("its digits of codes are invalid")
        return Questions(levels, leaves, digits)

    def _integers(self, name: str) -> Integers:
        array = self._arrays[name]
        if array.dtype != np.int16 or array.ndim != 1:
            raise ValueError(f"its array {name!r} is invalid")
        return array.astype(np.int64)

    def _joints(self, shapes: Sequence[tuple[int, ...]]) -> tuple[Array, ...]:
        place, values = self._arrays["joint_places"], self._floats("joint_counts")
        total = sum(map(prod, shapes))
        if place.shape != values.shape or place.dtype.kind not in "iu" or (values <= 0).any():
            raise ValueError("the counts of its tables are invalid")
        place = place.astype(np.int64)
        if (np.diff(place, prepend=-1, append=total) <= 0).any():
            raise ValueError("the counts of its tables are invalid")
        joint = np.zeros(total)
        joint[place] = values
        joints = self._split(joint, shapes)
        slack = MAX_ROUNDING * float(self._counts.class_counts.sum())
        for u, table in enumerate(joints):
            single = table.reshape(-1, *table.shape[-2:]).sum(axis=0).T
            if (np.abs(single - self._counts.value(u)) > slack).any():
                raise ValueError("the counts of its tables do not match the counts of single values")
        return joints

    def _settings(self) -> tuple[tuple[Setting | None, float, float], ...]:
        found = []
        for tried, loss, share in self._state["settings"]:
            setting = None if tried is None else Setting(*tried)
            penalties = () if setting is None else vars(setting).values()
            if not all(type(number) in (int, float) for number in (loss, share)) or not all(
                type(penalty) in (int, float, NoneType) for penalty in penalties
            ):
                raise ValueError("the settings that it lists are invalid")
            found.append((setting, float(loss), float(share)))
        return tuple(found)
