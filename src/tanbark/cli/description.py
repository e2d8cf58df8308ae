"""What a model is, and how well it does, in plain values for scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tanbark.cli.drawing import one_network

if TYPE_CHECKING:
    from tanbark.classifiers.base import CountsClassifier
    from tanbark.evaluate import CrossValidation


def described(model: CountsClassifier) -> dict[str, Any]:
    """Return what a model is.

    Its keys are ``model`` (the classifier's name), ``settings``, ``rows`` (learned from, by weight), ``class`` (its
    ``name``, ``levels``, and their ``rows`` and ``probabilities`` before anything is known), ``columns`` (each with
    ``name``, ``kind``, ``levels`` or ``cuts``, the share that is ``missing``, and its ``information`` about the class,
    in nats), ``parents`` (of each node, where there is one network) and ``log_score`` (where the network was searched).
    """
    import numpy as np

    from tanbark.classifiers.registry import REGISTRY
    from tanbark.classifiers.settings import settings_of
    from tanbark.schema import Number
    from tanbark.structure import class_information

    schema, counts = model.schema_, model.counts_
    network = one_network(model)
    present = [counts.value(u).sum() / counts.class_counts.sum() for u in range(len(schema.columns))]
    return {
        "model": next(entry.name for entry in REGISTRY.values() if entry.classifier is type(model)),
        "settings": settings_of(model),
        "rows": counts.class_counts.sum().item(),
        "class": {
            "name": schema.class_name,
            "levels": schema.classes,
            "rows": counts.class_counts,
            "probabilities": np.exp(model.class_log_prior_),
        },
        "columns": [
            {
                "name": column.name,
                "kind": "number" if isinstance(column, Number) else "category",
                **({"cuts": column.cuts} if isinstance(column, Number) else {"levels": column.levels}),
                "missing": 1 - share,
                "information": information,
            }
            for column, share, information in zip(schema.columns, present, class_information(counts))
        ],
        "parents": network.parents if hasattr(network, "parents") else None,
        "log_score": getattr(model, "log_score_", None),
    }


def scores(found: CrossValidation) -> dict[str, Any]:
    """Return every metric's ``mean`` and ``standard_error``, and the median seconds that a fold took."""
    import numpy as np

    from tanbark.evaluate import METRICS

    measured = {
        metric: {"mean": found.mean(metric), "standard_error": found.standard_error(metric)} for metric in METRICS
    }
    return {
        **measured,
        "fit_seconds": np.median(found.fit_seconds),
        "predict_seconds": np.median(found.predict_seconds),
    }
