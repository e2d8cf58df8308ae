"""Boosted class tables: the model of `BoostedTables`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.evidence.boosted_folds import ClassTables, codes_of_answers, in_classes, table_columns
from tanbark.kernels.evidence.table_boosting import SCORE_STEP
from tanbark.models.model import Array, Model, StoredModel, checked_log_prior, from_steps, in_steps, stored_prior_ratio
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

MAX_QUESTIONS = 8
"""The number of questions of a table is at most this."""
MAX_STORED_SCORE = 1e6
"""Bound on the entries of tables in a file."""


@dataclass(frozen=True, eq=False)
class BoostedClassTables(Model):
    """The mean of the sums of several sequences of tables, added to the class prior or to given scores.

    Parameters
    ----------
    counts : Counts
        Counts of single values.
    learned_log_prior, class_log_prior, prior_ratio : arrays of shape (classes,)
        The learned class prior, the one in use, and its log ratio to the learned one.
    folds : tuple of ClassTables
        The tables that were learned without each fold; none if there were not enough rows to boost.
    """

    counts: Counts
    learned_log_prior: Array
    class_log_prior: Array
    prior_ratio: Array
    folds: tuple[ClassTables, ...]

    has_joint = False

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors up to a constant for each row."""
        return self.log_scores_from(np.tile(self.learned_log_prior, (codes.shape[1], 1)), codes, n_jobs)

    def log_scores_from(self, start: Array, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors up to a constant for each row, if boosting started from given scores.

        Parameters
        ----------
        start : array of shape (rows, classes)
            The scores to which those of the tables are added.
        codes : array of shape (attributes, rows)
        n_jobs : int, default=None
        """
        scores = start + self.prior_ratio
        if self.folds:
            sums = np.zeros((codes.shape[1], table_columns(self.schema)))
            codes = codes_of_answers(codes, self.schema, self._code_weights)
            for tables in self.folds:
                tables.add_to(sums, codes, n_jobs)
            scores += in_classes(sums / len(self.folds), scores.shape[1])
        return scores

    def question_shares(self) -> Array:
        """Return the share of the questions of all tables that are about each attribute.

        Returns
        -------
        shares : array of shape (attributes,)
        """
        asked = np.concatenate([np.empty(0, np.int64), *(tables.attributes.ravel() for tables in self.folds)])
        counts = np.bincount(asked[asked >= 0], minlength=len(self.schema.columns))
        shares: Array = counts / max(counts.sum(), 1)
        return shares

    @property
    def _code_weights(self) -> list[Array]:
        """The weight of the training rows with each code."""
        return [self.counts.value(u).sum(axis=0).astype(np.float64) for u in range(len(self.schema.columns))]

    def to_arrays(self) -> StoredModel:
        """Return the class prior and the tables of all folds, one after the other."""
        arrays: dict[str, NDArray[Any]] = {
            "learned_prior": self.learned_log_prior,
            "log_prior": self.class_log_prior,
            "prior_ratio": self.prior_ratio,
        }
        if self.folds:
            for name, kind in (("attributes", np.int32), ("first", np.int32), ("last", np.int32)):
                arrays[f"question_{name}"] = np.concatenate([getattr(fold, name) for fold in self.folds]).astype(kind)
            arrays["table_scores"] = in_steps(np.concatenate([fold.scores for fold in self.folds]), SCORE_STEP)
        return StoredModel({"tables_per_fold": [len(fold.attributes) for fold in self.folds]}, arrays)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        arrays, schema = stored.arrays, counts.schema
        classes = len(schema.classes)
        return cls(
            counts,
            checked_log_prior(arrays, "learned_prior", classes),
            checked_log_prior(arrays, "log_prior", classes),
            stored_prior_ratio(arrays, classes),
            _stored_folds(schema, stored.state["tables_per_fold"], arrays),
        )


def _stored_folds(schema: Schema, sizes: Any, arrays: Mapping[str, NDArray[Any]]) -> tuple[ClassTables, ...]:
    """Return the tables of each fold, or raise ValueError if the arrays do not fit the schema."""
    if not isinstance(sizes, list) or not all(type(size) is int and size >= 0 for size in sizes):
        raise ValueError("its numbers of tables are invalid")
    if not sizes:
        return ()
    attributes, first, last = (_stored_integers(arrays, f"question_{name}") for name in ("attributes", "first", "last"))
    scores = from_steps(arrays["table_scores"], SCORE_STEP)
    depth = attributes.shape[1]
    if first.shape != attributes.shape or last.shape != attributes.shape or not 1 <= depth <= MAX_QUESTIONS:
        raise ValueError("the shapes of its questions are invalid")
    if scores.shape != (len(attributes), 1 << depth, table_columns(schema)) or sum(sizes) != len(attributes):
        raise ValueError("the shape of its tables does not match its questions")
    if not (np.abs(scores) <= MAX_STORED_SCORE).all():
        raise ValueError("its tables hold invalid scores")
    _check_questions(schema, attributes, first, last)
    ends = np.cumsum(sizes)[:-1].tolist()
    return tuple(
        ClassTables(*parts)
        for parts in zip(*(np.split(a, ends) for a in (attributes, first, last, scores)), strict=True)
    )


def _stored_integers(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[np.int64]:
    array = arrays[name]
    if array.dtype != np.int32 or array.ndim != 2:
        raise ValueError(f"its array {name!r} is invalid")
    return array.astype(np.int64)


def _check_questions(schema: Schema, *questions: NDArray[np.int64]) -> None:
    """Raise ValueError if a question is not about a range of codes of an attribute."""
    attributes, first, last = questions
    asked = attributes >= 0
    known = (attributes >= -1) & (attributes < len(schema.columns))
    if not known.all() or (asked[:, 1:] & ~asked[:, :-1]).any():
        raise ValueError("its questions name attributes that do not exist")
    arity = schema.arity[attributes]
    if not ((first >= 0) & (first <= last) & (last < arity))[asked].all():
        raise ValueError("its questions name codes that do not exist")
