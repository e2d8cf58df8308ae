"""What the classifiers share that search among all networks."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.classifiers._base.parameter_checks import check_choice, check_flag, check_number, seed_of
from tanbark.classifiers.searched_network import SearchedNetworkClassifier
from tanbark.counts import Counts
from tanbark.counts.family_counts import ROOM
from tanbark.network import Network, Structure
from tanbark.progress import progress_bar
from tanbark.schema import Encoder, Schema
from tanbark.scores import CRITERIA, Cases
from tanbark.structure import SEARCHES, Restrictions, searched_structure


class NetworkSearchClassifier(SearchedNetworkClassifier):
    """A classifier whose structure is the best that is found: a subclass says whether the class is above all."""

    search_: str
    _augmented: bool

    def __init__(
        self,
        *,
        search: str = "auto",
        criterion: str = "bdeu",
        parameters: str = "dirichlet",
        ess: float = 1.0,
        max_parents: int | None = None,
        forbidden: Any = (),
        required: Any = (),
        max_memory: float | None = None,
        tabu: int = 10,
        restarts: int = 0,
        verbose: bool = False,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.search = search
        self.criterion = criterion
        self.parameters = parameters
        self.ess = ess
        self.max_parents = max_parents
        self.forbidden = forbidden
        self.required = required
        self.max_memory = max_memory
        self.tabu = tabu
        self.restarts = restarts
        self.verbose = verbose
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_search(self.search, self.criterion, float(self.ess))
        check_memory_limit(self.max_memory)
        if self.max_parents is not None:
            check_number("max_parents", self.max_parents, 0)
        check_number("tabu", self.tabu, 0)
        check_number("restarts", self.restarts, 0)
        check_flag("verbose", self.verbose)

    def _check_schema(self, schema: Schema) -> None:
        required = self._restrictions(schema).required
        names, arity = (*schema.names, schema.class_name), [*schema.arity.tolist(), len(schema.classes)]
        for node, name in enumerate(names):
            # A column that lacks values has one level more in the search.
            if math.prod(arity[v] + 1 for v in (node, *np.flatnonzero(required[:, node]).tolist())) >= ROOM:
                raise ValueError(
                    f"{name!r} and its required parents have more combinations of values than can be numbered; "
                    "require fewer edges"
                )

    def _restrictions(self, schema: Schema) -> Restrictions:
        names = (*schema.names, schema.class_name)
        return Restrictions.of(names, self.forbidden, self.required, self.max_parents, self._augmented)

    def _found(self, counts: Counts, cases: Cases) -> tuple[Structure, float]:
        score = CRITERIA[self.criterion](float(self.ess))
        with progress_bar(self.verbose) as progress:
            structure, self.search_ = searched_structure(
                cases,
                score,
                self._restrictions(counts.schema),
                self.search,
                tabu=int(self.tabu),
                restarts=int(self.restarts),
                max_memory=None if self.max_memory is None else float(self.max_memory),
                seed=seed_of(self.random_state),
                n_jobs=self.n_jobs,
                progress=progress,
            )
        return structure, score.total(cases, structure)

    def _state(self) -> dict[str, Any]:
        """Return the seed of draws, the log score, and how it was searched."""
        return {**super()._state(), "search": self.search_}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network and this state."""
        self.search_ = str(state["search"])
        return super()._restore(counts, network, state, arrays)


def check_search(search: Any, criterion: Any, ess: float) -> None:
    """Raise a sentence where the search, or the criterion with it, cannot be."""
    check_choice("search", search, SEARCHES)
    check_choice("criterion", criterion, CRITERIA)
    if search == "exact" and not CRITERIA[criterion](ess).is_decomposable:
        raise ValueError(
            f"search='exact' needs a criterion that is a sum over families, which {criterion!r} is not; "
            "set search to 'greedy'"
        )


def check_memory_limit(max_memory: Any) -> None:
    """Raise a sentence where the limit is no number of bytes."""
    number = isinstance(max_memory, Real | np.number) and not isinstance(max_memory, bool)
    if max_memory is not None and not (number and 0 < max_memory <= 1e100):
        raise ValueError(f"max_memory must be a number of bytes above 0, or None, got {max_memory!r}")
