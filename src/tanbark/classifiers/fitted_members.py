"""Fitted classifiers as the members of a pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.schema.encode.columns import Codes


@dataclass(frozen=True)
class Classifiers:
    """Fitted classifiers over the same schema."""

    models: tuple[CountsClassifier, ...]

    def __len__(self) -> int:
        return len(self.models)

    def only(self, at: Sequence[int]) -> Classifiers:
        """Return some of them."""
        return Classifiers(tuple(self.models[m] for m in at))

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return what each classifier says of each row and class, of shape (rows, classes, classifiers).

        A row that a classifier finds impossible in every class gets the classifier's prior.
        """
        scores = [model._log_scores(codes) for model in self.models]
        for model, score in zip(self.models, scores):
            score[np.isneginf(score).all(axis=1)] = model.class_log_prior_
        return np.stack(scores, axis=2)
