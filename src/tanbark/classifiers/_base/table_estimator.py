"""Read and encode the tables given to an estimator."""

from __future__ import annotations

from typing import Any, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tanbark.schema import Encoder, Schema
from tanbark.schema.read.table_reader import Table, as_known_table, read_table


class EncodingEstimator(BaseEstimator):
    """An estimator with an encoder, or None for the usual one."""

    encoder: Encoder | Schema | None
    n_jobs: int | None = None

    def set_params(self, **params: Any) -> Self:
        """Set parameters; `encoder__...` on an estimator without an encoder first gives it one."""
        nested = any(name.startswith("encoder__") for name in params)
        if nested and isinstance(params.get("encoder", self.encoder), Schema):
            raise ValueError("encoder is a Schema, which has no settings; give an Encoder or None instead")
        if nested and params.get("encoder", self.encoder) is None:
            params = {**params, "encoder": Encoder()}
        super().set_params(**params)
        return self

    def _check_encoder(self) -> None:
        """Raise a sentence where the encoder is none, or has a setting that cannot be."""
        if not isinstance(self.encoder, Encoder | Schema | None):
            raise TypeError(f"encoder must be an Encoder, a Schema or None, got {type(self.encoder).__name__!r}")
        if isinstance(self.encoder, Encoder):
            self.encoder.check()

    def _read(self, X: Any, reset: bool) -> Table:
        """Return the columns of a table, having told scikit-learn of their names and number."""
        X = as_known_table(X)
        table = read_table(X, self.n_jobs)
        if not table.columns:
            raise ValueError(
                f"Found array with 0 feature(s) (shape=({table.rows}, 0)) while a minimum of 1 is required."
            )
        if reset and not table.rows:
            raise ValueError(
                f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is required."
            )
        names = getattr(self, "feature_names_in_", None)
        known = not reset and len(table.columns) == self.n_features_in_
        if not known or table.names != (None if names is None else tuple(names)):
            validate_data(self, X, reset=reset, skip_check_array=True)
        return table
