"""What the classifiers share whose structure is searched among the rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import NDArray

from tanbark.classifiers.any_network import AnyNetworkClassifier
from tanbark.classifiers.kept import kept_number
from tanbark.counts import Counts, Rows
from tanbark.network import Network, Structure
from tanbark.parameters import estimated_networks
from tanbark.scores import Cases


class SearchedNetworkClassifier(AnyNetworkClassifier):
    """A classifier whose structure a search has found: a subclass says which, and its score (`_found`)."""

    log_score_: float

    @abstractmethod
    def _found(self, counts: Counts, cases: Cases) -> tuple[Structure, float]:
        """Return the structure and its log score."""

    def _why_rows(self) -> str | None:
        return f"{type(self).__name__} counts families of several attributes from the rows; call fit with all rows"

    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        assert rows is not None
        structure, self.log_score_ = self._found(counts, Cases.of(rows))
        return estimated_networks(counts, rows, [structure], self.parameters, float(self.ess), self.n_jobs)[0]

    def _state(self) -> dict[str, Any]:
        """Return the seed of draws and the log score."""
        return {**super()._state(), "log_score": self.log_score_}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network, this seed and this score."""
        self.log_score_ = kept_number(state, "log_score")
        return super()._restore(counts, network, state, arrays)
