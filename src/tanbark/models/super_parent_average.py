"""The average of all super-parent networks, as AODE defines it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.kernels.average.super_parent_joint import averaged_log_joint
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.models.model import (
    Array,
    Model,
    StoredModel,
    checked_log_prior,
    checked_log_table,
    pairs_from_arrays,
    pairs_to_arrays,
)
from tanbark.schema.encode.columns import Codes


@dataclass(frozen=True, eq=False)
class SuperParentAverage(Model):
    """The mean joint of the super-parent networks whose super-parent is frequent enough in the row.

    Parameters
    ----------
    counts : Counts
    class_log_prior : array of shape (classes,)
    own : array of shape (values, classes)
        ``log P(class, x_i)`` of each value of a super-parent.
    pairs : array of shape (values, classes, values)
        ``log P(x_j | class, x_i)`` at ``[x_i, class, x_j]``.
    votes : array of bool of shape (values,)
        Whether a super-parent with this value takes part.
    alone : array of shape (values, classes)
        ``log P(x_j | class)``, for the naive Bayes that answers if no super-parent takes part.
    estimator : tuple of (str, float), optional
        The estimator and its equivalent sample size, by which `pairs` follows from the counts. None if unknown.
    """

    counts: Counts
    class_log_prior: Array
    own: Array
    pairs: Array
    votes: NDArray[np.bool_]
    alone: Array
    estimator: tuple[str, float] | None = None

    has_joint = False

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log of the mean joint of the networks that take part."""
        rows = codes.shape[1]
        out = np.empty((rows, len(self.class_log_prior)))
        tables = (self.own, self.pairs, self.votes, self.class_log_prior, self.alone)
        call = partial(averaged_log_joint, codes, self.schema.offset, *tables, out=out)
        run_over_rows(call, rows, n_jobs, steps=out.shape[1] * len(codes) ** 2)
        return out

    def to_arrays(self) -> StoredModel:
        """Return the tables, except for `pairs` if it follows from the counts."""
        state, pairs = pairs_to_arrays(self.pairs, self.estimator)
        arrays = {"own": self.own, "votes": self.votes, "log_prior": self.class_log_prior, "alone": self.alone}
        return StoredModel(state, arrays | pairs)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        classes, values = counts.values.shape
        arrays = stored.arrays
        votes = arrays["votes"]
        own = checked_log_table(arrays, "own", (values, classes))
        pairs, estimator = pairs_from_arrays(counts, stored)
        prior = checked_log_prior(arrays, "log_prior", classes)
        alone = checked_log_table(arrays, "alone", (values, classes))
        if votes.shape != (values,) or votes.dtype != np.bool_:
            raise ValueError("its votes must be booleans, one for each value")
        return cls(counts, prior, own, pairs, votes, alone, estimator)
