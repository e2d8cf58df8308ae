"""Feature importance."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.models import Ensemble, EvidenceModel, NetworkModel, TreeAverage
from tanbark.network.edge_strengths import class_joints, has_fast_marginals, mutual_information
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]

MAX_SAMPLED_ROWS = 20_000
"""Weights of evidence are averaged over at most this many rows, sampled with a fixed seed."""
CHUNK_WEIGHTS = 2_000_000
"""The number of weights of evidence that are held in memory at a time."""


@dataclass(frozen=True)
class Importance:
    """The importance of each attribute under a fitted classifier, in nats."""

    values: Array
    label: str
    """The name of the measure within a sentence."""
    head: str
    """Its name as the head of a column."""
    description: str


def attribute_importance(model: Any) -> Importance:
    """Return the importance of each attribute: its information about the class or, in an additive model, its weights.

    An additive model has no distribution of the attributes, and the evidence of one attribute is weighted with regard
    to the others. So its attributes are compared by their mean absolute weights over the training rows. Those of an
    ensemble are compared by the additive model inside.
    """
    fitted = model.model_
    if isinstance(fitted, Ensemble):
        fitted = fitted.evidence_model
    if isinstance(fitted, EvidenceModel):
        return Importance(
            fitted.mean_absolute_evidence(),
            "mean absolute weight of evidence",
            "mean |weight|, training",
            "The mean absolute weight of evidence of each attribute over the training rows and the classes, in nats: "
            "how far its values move the scores of the classes.",
        )
    return Importance(
        class_information(model),
        "mutual information with the class",
        "mutual information",
        "The mutual information of each attribute with the class under the model, whose probabilities are smoothed, in "
        "nats.",
    )


def class_information(model: Any) -> Array:
    """Return the mutual information of each attribute with the class under a fitted classifier, in nats.

    It is computed from the posterior given the attribute's value alone, and from the frequencies of the values. These
    come from the model if it has a joint distribution, and otherwise from its counts.
    """
    fitted = model.model_
    if isinstance(fitted, NetworkModel):
        ratio = np.exp(fitted.prior_ratio)
        joints = [joint * ratio for joint in class_joints(fitted.network)]
        return np.array([mutual_information(joint / joint.sum()) for joint in joints])
    schema = fitted.schema
    offset, n_values = schema.offset.tolist(), int(schema.offset[-1])
    if isinstance(fitted, TreeAverage):
        # The posterior given one value is the same in all trees.
        joint = fitted.values * np.exp(fitted.class_log_prior)
        return np.array([mutual_information(part) for part in np.split(joint, offset[1:-1])])
    codes = np.full((len(schema.columns), n_values), schema.missing_code, schema.dtype)
    for u, arity in enumerate(schema.arity.tolist()):
        codes[u, offset[u] : offset[u + 1]] = np.arange(arity)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = fitted.log_scores(codes, model.n_jobs)
        posteriors = np.exp(fitted.log_posterior(codes, model.n_jobs))
    if fitted.has_joint:
        frequency = np.exp(scores).sum(axis=1)
    else:
        frequency = np.concatenate([fitted.counts.value(u).sum(axis=0) for u in range(len(schema.columns))])
    information = []
    for u in range(len(schema.columns)):
        values = slice(offset[u], offset[u + 1])
        total = frequency[values].sum()
        information.append(mutual_information(posteriors[values] * (frequency[values] / (total or 1.0))[:, None]))
    return np.array(information)


def mean_weights(model: Any, codes: Codes) -> Array | None:
    """Return the mean absolute weight of evidence of each attribute over rows and classes, in nats.

    Returns `None` if the classifier has no additive weights of evidence, or if they are slow to compute.
    """
    fitted = model.model_
    if not fitted.has_evidence or not codes.shape[1]:
        return None
    if isinstance(fitted, NetworkModel) and not has_fast_marginals(fitted.network):
        return None
    rows = codes.shape[1]
    if rows > MAX_SAMPLED_ROWS:
        chosen = np.sort(np.random.default_rng(0).choice(rows, MAX_SAMPLED_ROWS, replace=False))
        codes = np.ascontiguousarray(codes[:, chosen])
    step = max(1, CHUNK_WEIGHTS // ((1 + len(codes)) * len(fitted.class_log_prior)))
    total = np.zeros(len(codes))
    for start in range(0, codes.shape[1], step):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = fitted.evidence(np.ascontiguousarray(codes[:, start : start + step]), model.n_jobs)
        # A value that makes a class impossible has an infinite weight, which counts as zero.
        sizes = np.where(np.isfinite(parts[:, 1:]), np.abs(parts[:, 1:]), 0.0)
        total += sizes.mean(axis=2).sum(axis=0)
    return np.asarray(total / codes.shape[1])
