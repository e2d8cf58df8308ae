"""Read the tables given to an estimator, and check them against the columns it was fitted with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from tanbark.schema import Encoder, Schema
from tanbark.schema.read.table_reader import Table, as_known_table, read_table


class _SeenColumns(BaseEstimator):
    """Receives the number and the names of columns as scikit-learn determines them."""


def read_new_table(X: Any, n_jobs: int | None) -> tuple[Table, dict[str, Any]]:
    """Return the columns of a table to fit, and the attributes `n_features_in_` and, if named, `feature_names_in_`."""
    X = as_known_table(X)
    table = read_table(X, n_jobs)
    _check_has_columns(table)
    if not table.rows:
        raise ValueError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.columns)})) while a minimum of 1 is required."
        )
    seen = _SeenColumns()
    validate_data(seen, X, reset=True, skip_check_array=True)
    return table, dict(vars(seen))


def read_known_table(estimator: Any, X: Any, n_jobs: int | None, fitted: Mapping[str, Any] | None = None) -> Table:
    """Return the columns of a table after checking them against those that the estimator was fitted with.

    Parameters
    ----------
    estimator : estimator
    X : array, data frame or Arrow table
    n_jobs : int or None
    fitted : mapping, default=None
        The attributes of the estimator at the time of the call, if another thread may fit it meanwhile.
    """
    X = as_known_table(X)
    table = read_table(X, n_jobs)
    _check_has_columns(table)
    fitted = vars(estimator) if fitted is None else fitted
    seen = {name: fitted[name] for name in ("n_features_in_", "feature_names_in_") if name in fitted}
    names = seen.get("feature_names_in_")
    same_names = table.names == (None if names is None else tuple(names))
    if not same_names or len(table.columns) != seen["n_features_in_"]:
        # scikit-learn's messages name the class of the estimator.
        checked = object.__new__(type(estimator))
        checked.__dict__ = seen
        validate_data(checked, X, reset=False, skip_check_array=True)
    return table


def _check_has_columns(table: Table) -> None:
    if not table.columns:
        raise ValueError(f"Found array with 0 feature(s) (shape=({table.rows}, 0)) while a minimum of 1 is required.")


def has_no_rows(X: Any) -> bool:
    """Return whether a table, or a column, has no rows."""
    shape = getattr(X, "shape", None)
    if shape is not None:
        return bool(shape) and not shape[0]
    return hasattr(X, "__len__") and not len(X)


def check_encoder(encoder: Any) -> None:
    """Raise an error if `encoder` is not an encoder, or has an invalid parameter."""
    if not isinstance(encoder, Encoder | Schema | None):
        raise TypeError(f"encoder must be an Encoder, a Schema or None, got {type(encoder).__name__!r}")
    if isinstance(encoder, Encoder):
        encoder.check()


def with_encoder(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Return parameters for `set_params`, with an Encoder to which ``encoder__...`` applies if there is none yet."""
    encoder = params.get("encoder", estimator.encoder)
    if not any(name.startswith("encoder__") for name in params):
        return params
    if isinstance(encoder, Schema):
        raise ValueError("encoder is a Schema, which has no settings; give an Encoder or None instead")
    return params if encoder is not None else {**params, "encoder": Encoder()}
