"""What the classifiers share whose network may have any shape."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers._base.counts_classifier import Array
from tanbark.classifiers._base.network_classifier import NetworkClassifier
from tanbark.classifiers._base.parameter_checks import check_seed, seed_of
from tanbark.classifiers.kept import kept_seed
from tanbark.classifiers.state import of_one_state
from tanbark.counts import Counts, Rows
from tanbark.network import Network


class AnyNetworkClassifier(NetworkClassifier):
    """A classifier in whose network a row may lack too much to be summed out exactly: then it is drawn, seeded."""

    random_state: Any

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_seed(self.random_state)

    def _learn(self, counts: Counts, rows: Rows | None) -> None:
        super()._learn(counts, rows)
        self._seed = seed_of(self.random_state)

    def _state(self) -> dict[str, Any]:
        """Return the seed of draws."""
        return {"seed": self._seed}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[np.generic]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network and this seed."""
        self._seed = kept_seed(state)
        return super()._restore(counts, network, state, arrays)

    @of_one_state
    def standard_error(self, X: Any) -> Array:
        """Return the standard error of `predict_proba`: zero, but for rows that lack too much to be summed out."""
        codes = self._encode(X)
        return self.network_.standard_error(codes, self.n_jobs, seed=self._seed, log_factors=self._prior_ratio)
