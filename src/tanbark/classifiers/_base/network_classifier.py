"""What the classifiers share that learn one network."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers._base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers._base.parameter_checks import check_choice, offered_unless
from tanbark.classifiers.kept import prior_ratio
from tanbark.classifiers.state import of_one_state
from tanbark.counts import Counts, Rows
from tanbark.network import Network
from tanbark.network.network_arrays import log_prior
from tanbark.parameters import PARAMETERS
from tanbark.schema.encode.columns import Codes


def _has_another_prior(model: NetworkClassifier) -> str | None:
    if not hasattr(model, "_prior_ratio") or not model._prior_ratio.any():
        return None
    return (
        "rows cannot be drawn under class_prior where the class depends on attributes; network_.sample draws them "
        "under the learned prior"
    )


class NetworkClassifier(CountsClassifier):
    """A classifier whose joint is that of a network: a subclass says which (`_network`).

    `_seed` decides the draws for rows of which too much is missing to be summed out. Where the class has parents no
    table of the network is the class prior; another one is then a factor of the joint (`_prior_ratio`).
    """

    parameters: str
    _seed = 0
    _prior_ratio: Array

    @abstractmethod
    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        """Return the network that is learned; what else is found on the way may be kept on the estimator."""

    def _check_parameters(self) -> None:
        check_choice("parameters", self.parameters, PARAMETERS)
        super()._check_parameters()

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        network = self._network(counts, rows)
        given = self._checked_prior(len(counts.schema.classes))
        if given is None or network.structure.parents[-1]:
            prior, ratio = self._prior_and_ratio(network.class_log_prior)
        else:
            network = Network(network.schema, network.structure, (*network.log_tables[:-1], given))
            prior, ratio = given, np.zeros_like(given)
        self.network_, self.class_log_prior_, self._prior_ratio = network, prior, ratio

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts and this network."""
        if network is None:
            raise ValueError("its network is missing")
        self.network_, self.class_log_prior_ = network, network.class_log_prior
        self._prior_ratio = np.zeros_like(self.class_log_prior_)
        if "prior_ratio" in arrays:
            self._prior_ratio = prior_ratio(arrays, len(counts.class_counts))
        if self._prior_ratio.any():
            self.class_log_prior_ = log_prior(arrays, "log_prior", len(self._prior_ratio))
        return super()._restore(counts, network, state, arrays)

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return another class prior, where it is no table of the network."""
        if not self._prior_ratio.any():
            return super()._arrays()
        return {**super()._arrays(), "prior_ratio": self._prior_ratio, "log_prior": self.class_log_prior_}

    def _log_scores(self, codes: Codes) -> Array:
        scores = self.network_.log_joint(codes, self.n_jobs, seed=self._seed)
        return scores + self._prior_ratio if self._prior_ratio.any() else scores

    @of_one_state
    def explain(self, X: Any) -> Array:
        """Return how much each attribute speaks for each class: weights of evidence in nats.

        An array of shape (rows, 1 + attributes, classes), the prior first, centred over the classes. Its sum over the
        middle axis gives `predict_proba` by softmax. What two attributes say together is shared by them equally; an
        attribute that is missing says nothing itself.
        """
        return self._explained(self._encode(X))

    def _explained(self, codes: Codes) -> Array:
        parts = self.network_.evidence(codes, self.n_jobs, seed=self._seed)
        parts[:, 0] += self._prior_ratio
        with np.errstate(invalid="ignore"):
            impossible = np.isneginf(parts.sum(axis=1)).all(axis=1)
        parts[impossible] = 0.0
        parts[impossible, 0] = self.class_log_prior_
        return centred(parts)

    @offered_unless(_has_another_prior)
    @of_one_state
    def sample(self, n: int = 1, random_state: Any = 0) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return `n` rows drawn from the learned distribution, and their classes."""
        check_is_fitted(self)
        return self.network_.sample(n, random_state)


def centred(parts: Array) -> Array:
    """Return the parts less their mean over the classes that are possible."""
    possible = np.isfinite(parts)
    many = possible.sum(axis=2, keepdims=True)
    mean = np.where(possible, parts, 0.0).sum(axis=2, keepdims=True) / np.maximum(many, 1)
    less_mean: Array = parts - mean
    return less_mean
