"""The base of classifiers that learn a single network."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from tanbark.classifiers.base.counts_classifier import Array, CountsClassifier
from tanbark.classifiers.base.validation import available_unless, check_choice, check_seed, seed_of
from tanbark.counts import Counts, Rows
from tanbark.models import Findings, Model, NetworkModel
from tanbark.network import Network, Structure
from tanbark.parameters import PARAMETERS, tree_tables
from tanbark.structure import rooted_parents

T = TypeVar("T")


def _without_sample(classifier: NetworkClassifier) -> str | None:
    if not hasattr(classifier, "model_") or not classifier.model_.prior_ratio.any():
        return None
    return (
        "rows cannot be sampled under class_prior if the class depends on attributes; network_.sample samples them "
        "under the learned prior"
    )


def _always_exact(classifier: NetworkClassifier) -> str | None:
    if hasattr(classifier, "random_state"):
        return None
    return f"{type(classifier).__name__} marginalises missing values exactly, so that there is no standard error"


class NetworkClassifier(CountsClassifier):
    """A classifier whose joint distribution is that of a network. A subclass implements `_learn_network`.

    A subclass with the parameter `random_state` learns networks of any shape, in which rows with too many missing
    values are marginalised by sampling; all others learn trees, which are always exact.
    """

    model_type = NetworkModel

    required_findings: tuple[str, ...] = ()
    """The fields of `Findings` that every model of this classifier has."""

    parameters: str
    model_: NetworkModel

    @abstractmethod
    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        """Return the network and what else the search for its structure found; see `_learn`."""

    def _learn(self, counts: Counts, rows: Rows | None, former: Any) -> NetworkModel:
        network, findings = self._learn_network(counts, rows, former)
        seed = seed_of(self.random_state) if hasattr(self, "random_state") else None
        given = self._given_log_prior(counts.schema)
        return NetworkModel.with_prior(counts, network, given, seed, findings)

    def _check_common_parameters(self) -> None:
        check_choice("parameters", self.parameters, PARAMETERS)
        super()._check_common_parameters()
        if hasattr(self, "random_state"):
            check_seed(self.random_state)

    def set_model(self, model: Model) -> NetworkClassifier:
        """Become fitted with a model, such as one that was read from a file.

        Parameters
        ----------
        model : Model
            A model of the type that this classifier learns.

        Returns
        -------
        self
        """
        if isinstance(model, NetworkModel):
            if hasattr(self, "random_state") and model.seed is None:
                raise ValueError("its seed is missing")
            for name in self.required_findings:
                if getattr(model.findings, name) is None:
                    raise ValueError(f"its {name} is missing")
        super().set_model(model)
        return self

    @property
    def network_(self) -> Network:
        """The learned network."""
        return self.model_.network

    def _known(self, finding: T | None, attribute: str) -> T:
        """Return a field of the model's findings; raise AttributeError with the attribute's name if it is None."""
        if finding is None:
            raise AttributeError(f"this {type(self).__name__} has no attribute {attribute!r} with these settings")
        return finding

    def explain(self, X: Any) -> Array:
        """Return the weight of evidence of each attribute for each class, in nats.

        The weights are centred over the classes. Their sum over the middle axis gives `predict_proba` by softmax. Two
        attributes share equally what they say together, and a missing attribute has no weight of its own.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        weights : array of shape (rows, 1 + attributes, classes)
            The prior comes first.
        """
        model, codes = self._model_and_codes(X)
        assert isinstance(model, NetworkModel)
        return model.evidence(codes, self.n_jobs)

    @available_unless(_always_exact)
    def standard_error(self, X: Any) -> Array:
        """Return the standard error of `predict_proba`.

        It is zero except for rows with too many missing values to marginalise exactly.

        Parameters
        ----------
        X : array, data frame or Arrow table of shape (rows, attributes)

        Returns
        -------
        standard_error : array of shape (rows, classes)
        """
        model, codes = self._model_and_codes(X)
        assert isinstance(model, NetworkModel)
        return model.standard_error(codes, self.n_jobs)

    @available_unless(_without_sample)
    def sample(self, n: int = 1, random_state: Any = None, as_frame: str | None = None) -> tuple[Any, Any]:
        """Sample rows from the learned distribution.

        Parameters
        ----------
        {sample_options}
        """
        check_is_fitted(self)
        return self.network_.sample(n, random_state, as_frame)


def tree_network(
    counts: Counts, edges: Sequence[tuple[int, int]], roots: Sequence[int], parameters: str, ess: float
) -> Network:
    """Return the network of a forest over the attributes; each tree is rooted at the first of `roots` in it."""
    parent = rooted_parents(len(counts.schema.columns), edges, roots)
    return Network(counts.schema, Structure.augmented(parent), tree_tables(counts, parent, parameters, ess))
