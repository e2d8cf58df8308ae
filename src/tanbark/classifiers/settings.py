"""The settings of a classifier as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tanbark.classifiers.base import CountsClassifier
from tanbark.schema import Encoder


def settings_of(model: CountsClassifier) -> dict[str, Any]:
    """Return the settings of a model and of its encoder; of what is no plain value only that it was given.

    >>> from tanbark import NaiveBayes
    >>> settings_of(NaiveBayes(class_prior=[0.5, 0.5]))
    {'class_prior': [0.5, 0.5], 'ess': 1.0, 'parameters': 'dirichlet'}
    """
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in ("encoder", "n_jobs")}
    if isinstance(model.encoder, Encoder):
        given |= model.encoder.get_params()
    return {name: _plain(value) for name, value in given.items()}


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return {str(name): _plain(one) for name, one in value.items()} if isinstance(value, Mapping) else "given"
