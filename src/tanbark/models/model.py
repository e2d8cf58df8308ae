"""The interface of all fitted models, and checks of the values that model files hold.

A model is immutable. It is built once by a classifier, or read from a file, and then only asked. Everything outside
this package (files, reports, exports, evaluation, the command line) uses this interface and the models' public fields.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.immutable import Immutable
from tanbark.kernels.infer.posterior import log_posterior, posterior
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.network import Network
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]

MAX_LOG_RATIO = 1e4
"""Bound on the log ratio of two nonzero probabilities in a file; floats cannot exceed about 750."""


@dataclass(frozen=True)
class StoredModel:
    """A model as plain values and arrays, for files.

    Parameters
    ----------
    state : dict
        Plain values that JSON can hold. A list under ``"members"`` holds fitted classifiers.
    arrays : dict of arrays
    parents : list of lists of int, optional
        The parents of each node, if the model is a single network.
    """

    state: dict[str, Any]
    arrays: Arrays
    parents: list[list[int]] | None = None


class Model(Immutable, ABC):
    """A fitted model.

    A subclass is a frozen dataclass with at least the fields `counts` and `class_log_prior`. It implements
    `log_scores`, `to_arrays` and `from_arrays`; and `evidence` and `networks`, if it has any.
    """

    counts: Counts
    class_log_prior: Array

    has_joint: ClassVar[bool]
    """Whether `log_scores` are the log probabilities of a joint distribution of rows and classes."""

    @property
    def schema(self) -> Schema:
        """The schema of the rows."""
        return self.counts.schema

    @property
    def has_evidence(self) -> bool:
        """Whether the model is additive, so that `evidence` returns an array."""
        return False

    @property
    def networks(self) -> Sequence[Network]:
        """The networks that can be drawn, queried or exported; of many trees, the most probable."""
        return ()

    @abstractmethod
    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)`` of encoded rows, with missing values marginalised.

        Without a joint distribution, these are log posteriors up to a constant for each row.
        """

    def evidence(self, codes: Codes, n_jobs: int | None = None) -> Array | None:
        """Return additive weights of evidence of shape (rows, 1 + attributes, classes), or None.

        The prior comes first. The weights are centred over the classes, and sum to the log posterior up to a constant.
        """
        return None

    def posterior(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the posterior probability of each class; the class prior for rows that are impossible."""
        scores = self.log_scores(codes, n_jobs)
        prior = np.exp(self.class_log_prior)
        run_over_rows(lambda *piece: posterior(scores, prior, *piece, scores), len(scores), n_jobs)
        return scores

    def log_posterior(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log posterior probability of each class, also where the probability underflows."""
        scores = self.log_scores(codes, n_jobs)
        prior = self.class_log_prior
        run_over_rows(lambda *piece: log_posterior(scores, prior, *piece, scores), len(scores), n_jobs)
        return scores

    @abstractmethod
    def to_arrays(self) -> StoredModel:
        """Return the model, except for its counts, as plain values and arrays."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described.

        Raises
        ------
        ValueError
            If the values do not describe a model, for example because a file was changed.
        """


def centred(parts: Array) -> Array:
    """Subtract from weights of evidence their mean over the classes that are possible."""
    possible = np.isfinite(parts)
    classes = possible.sum(axis=2, keepdims=True)
    mean = np.where(possible, parts, 0.0).sum(axis=2, keepdims=True) / np.maximum(classes, 1)
    less_mean: Array = parts - mean
    return less_mean


def stored_seed(state: Mapping[str, Any]) -> int:
    """Return the seed in a file."""
    seed = state["seed"]
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise ValueError(f"its seed must be a whole number of at least 0, got {seed!r}")
    return seed


def stored_number(state: Mapping[str, Any], name: str) -> float:
    """Return a number in a file, which may be infinite but not NaN."""
    number = state[name]
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number:
        raise ValueError(f"its {name} must be a number, got {number!r}")
    return float(number)


def stored_prior_ratio(arrays: Arrays, classes: int) -> Array:
    """Return the log ratio of the given class prior to the learned one, from a file."""
    ratio: Array = arrays["prior_ratio"]
    if ratio.shape != (classes,) or ratio.dtype != np.float64 or not (ratio < MAX_LOG_RATIO).all():
        raise ValueError("its prior_ratio is invalid")
    return ratio
