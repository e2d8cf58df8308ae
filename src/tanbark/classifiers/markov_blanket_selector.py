"""MarkovBlanketSelector: keep the columns in the Markov blanket of the class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tanbark.classifiers.base.validation import report_unfitted, with_encoder
from tanbark.classifiers.bayes_net import BayesNet
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.table_reader import as_array, as_known_table, read_table
from tanbark.shared_docs import insert_shared_docs

CONSTANT = "constant"


@insert_shared_docs
class MarkovBlanketSelector(TransformerMixin, BaseEstimator):
    """Keep the columns in the Markov blanket of the class in a learned network.

    Given its Markov blanket (its parents, its children, and the children's other parents) the class is independent of
    all other columns of the network. The selector can precede any classifier in a pipeline; before
    `AugmentedNaiveBayes` it gives MANB-BDeu of Sugahara, Uto and Ueno (2018). If the blanket is empty, one constant
    column remains, so that the classifier predicts the class prior.

    Parameters
    ----------
    search : {"auto", "exact", "greedy"}, default="auto"
        The search for the network: see `BayesNet`.
    criterion : {"bdeu", "bds", "bic", "aic", "k2", "cmdl"}, default="bdeu"
        The score to maximise.
    ess : float, default=1.0
        Equivalent sample size of the score. A larger one, such as the 10 of `BayesNet`, selects more columns.
    max_memory : float, default=None
        The maximum number of bytes that an exact search may use; None means most of the free memory.
    {verbose}
    {class_weight}
    encoder : Encoder, Schema or None, default=None
        Converts the table to codes for the search; None means ``Encoder()``. The columns themselves are passed on
        unchanged.
    {n_jobs}
    random_state : int, RandomState or None, default=0
        As in `BayesNet`.

    Attributes
    ----------
    support_ : array of bool of shape (columns,)
        Which columns are kept.
    network_ : Network
        The network whose blanket it is.
    log_score_ : float
        The score of the network.
    search_ : {"exact", "greedy"}
        The search that was used.
    {columns_seen}

    References
    ----------
    Sugahara, S., Uto, M. and Ueno, M. (2018). Exact learning augmented naive Bayes classifier. PGM, 439-450.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from tanbark import AugmentedNaiveBayes, MarkovBlanketSelector
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> manb = make_pipeline(MarkovBlanketSelector(), AugmentedNaiveBayes()).fit(X, y)
    >>> manb[0].get_feature_names_out()
    array(['x2', 'x3'], dtype=object)
    """

    if not TYPE_CHECKING:  # Otherwise mypy would accept any attribute.
        __getattr__ = report_unfitted

    def __init__(
        self,
        *,
        search: str = "auto",
        criterion: str = "bdeu",
        ess: float = 1.0,
        max_memory: float | None = None,
        verbose: bool = False,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.search = search
        self.criterion = criterion
        self.ess = ess
        self.max_memory = max_memory
        self.verbose = verbose
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the network from a table and its classes, and find the blanket.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)
        y : array or series of shape (rows,)
        sample_weight : array of shape (rows,), default=None
            A weight of three counts the row three times; a weight of zero leaves it out.

        Returns
        -------
        self
        """
        network = BayesNet(**self.get_params(deep=False)).fit(X, y, sample_weight)
        blanket = network.network_.structure.markov_blanket(network.network_.structure.of_class)
        self.support_ = np.zeros(network.n_features_in_, np.bool_)
        self.support_[network.schema_.source_index[list(blanket)]] = True
        self.network_, self.log_score_, self.search_ = network.network_, network.log_score_, network.search_
        self.n_features_in_ = network.n_features_in_
        self.__dict__.pop("feature_names_in_", None)
        if hasattr(network, "feature_names_in_"):
            self.feature_names_in_ = network.feature_names_in_
        return self

    def transform(self, X: Any) -> Any:
        """Return the columns of the blanket.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        X : frame or array
            A frame if `X` is one, otherwise an array.
        """
        check_is_fitted(self)
        X = as_known_table(X)
        chosen = np.flatnonzero(self.support_)
        if nw.dependencies.is_into_dataframe(X):
            validate_data(self, X, reset=False, skip_check_array=True)
            frame = nw.from_native(X, eager_only=True)
            if len(chosen):
                return frame[:, chosen.tolist()].to_native()
            return frame.select(frame[:, 0].is_null().cast(nw.Int64).alias(CONSTANT) * 0).to_native()
        array = as_array(X)
        if array.ndim != 2:
            read_table(X)
        validate_data(self, array, reset=False, skip_check_array=True)
        return array[:, chosen] if len(chosen) else np.zeros((len(array), 1))

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return positions instead of a mask.

        Returns
        -------
        support : array
        """
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_.copy()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : array of str, default=None
            Names to use instead of those seen in `fit`; unnamed columns are x0, x1, ...

        Returns
        -------
        names : array of str
        """
        check_is_fitted(self)
        names = np.array(self.network_.schema.input_names, object)
        if input_features is not None:
            names = np.asarray(input_features, object)
            if len(names) != self.n_features_in_:
                raise ValueError(
                    f"input_features has {len(names):,} names, but there are {self.n_features_in_:,} columns"
                )
        return names[self.support_] if self.support_.any() else np.array([CONSTANT], object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags
