"""What estimators share that encode the tables they are given."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator

from tanbark.schema import Encoder, Schema


class EncodingEstimator(BaseEstimator):
    """An estimator with an encoder, or None for the usual one."""

    encoder: Encoder | Schema | None

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `encoder__...` on an estimator without an encoder first gives it one."""
        nested = any(name.startswith("encoder__") for name in params)
        if nested and isinstance(params.get("encoder", self.encoder), Schema):
            raise ValueError("encoder is a Schema, which has no settings; give an Encoder or None instead")
        if nested and params.get("encoder", self.encoder) is None:
            params = {**params, "encoder": Encoder()}
        super().set_params(**params)
        return self
