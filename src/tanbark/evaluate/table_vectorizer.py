"""Convert tables to numeric arrays for the classifiers of scikit-learn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.validation import check_encoder, read_known_table, with_encoder
from tanbark.schema import Category, Encoder, Schema
from tanbark.schema.read.class_column import read_target, usable_rows
from tanbark.schema.read.table_reader import read_new_table
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.shared_docs import insert_shared_docs


@insert_shared_docs
class TableVectorizer(TransformerMixin, BaseEstimator):
    """Convert a table to numbers: numeric columns unchanged, categories one-hot encoded.

    In a pipeline with a classifier of scikit-learn it makes any table usable. `Encoder` decides which columns are
    categories. Missing numbers are NaN. A missing or unseen category is 0 in all columns of its levels; a category with
    two levels has one column, for the second, which is NaN then.

    Parameters
    ----------
    encoder : Encoder, Schema or None, default=None
        Decides which columns are categories and which levels they have; None is ``Encoder()``.

    Attributes
    ----------
    schema_ : Schema
        The columns and their levels.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import TableVectorizer
    >>> X, y = lenses()
    >>> cart = make_pipeline(TableVectorizer(), DecisionTreeClassifier(random_state=0)).fit(X, y)
    >>> cart[0].get_feature_names_out().tolist()[:3]
    ['x0=pre-presbyopic', 'x0=presbyopic', 'x0=young']
    """

    def __init__(self, *, encoder: Encoder | Schema | None = None) -> None:
        self.encoder = encoder

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``encoder__...`` creates an `Encoder` if there is none.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        super().set_params(**with_encoder(self, params))
        return self

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the categories and their levels.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
            Rows without a class are dropped.

        Returns
        -------
        TableVectorizer
        """
        check_encoder(self.encoder)
        table, columns = read_new_table(X, None)
        table, target, _ = usable_rows(table, read_target(y), None)
        if isinstance(self.encoder, Schema):
            self.encoder.check_table(table)
            self.schema_ = self.encoder
        else:
            self.schema_ = (self.encoder or Encoder()).learn(table, target, None)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(columns)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the table as numbers.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        array of shape (rows, output columns)
        """
        check_is_fitted(self)
        table = read_known_table(self, X, None)
        with collecting(UnreadableValues()):
            codes = self.schema_.encode_table(table)
        table = self.schema_.prepared(table)
        parts = []
        for column, raw, code in zip(self.schema_.columns, table.columns, codes, strict=True):
            if isinstance(column, Category):
                levels = self._levels(column)
                parts.append((code[:, None] == np.array(levels)).astype(np.float64))
                if len(levels) < column.arity:
                    parts[-1][code >= column.arity] = np.nan
            else:
                parts.append(raw.floats()[:, None])
        return np.hstack(parts)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the output columns.

        Parameters
        ----------
        input_features : None, default=None
            Ignored; the names are those of the columns in `fit`.

        Returns
        -------
        array of str
            The column's name for numbers, ``name=level`` for categories.
        """
        del input_features
        check_is_fitted(self)
        return np.array(
            [
                name
                for column in self.schema_.columns
                for name in (
                    [f"{column.name}={column.labels[k]}" for k in self._levels(column)]
                    if isinstance(column, Category)
                    else [column.name]
                )
            ],
            object,
        )

    def _levels(self, column: Category) -> list[int]:
        """Return the codes of the levels that have an output column."""
        return [1] if column.arity == 2 else list(range(column.arity))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
