"""The super-parent classifier: one attribute is above all others."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.averaging import MOST_CELLS, SuperParents
from tanbark.classifiers._base.counts_classifier import Array
from tanbark.classifiers._base.network_classifier import NetworkClassifier
from tanbark.counts import Counts, Rows
from tanbark.kernels.average.pooling import SLACK
from tanbark.network import Network, Structure
from tanbark.parameters import tree_tables
from tanbark.schema import Encoder, Schema
from tanbark.structure import class_information, settled


class SuperParent(NetworkClassifier):
    """The super-parent Bayesian network (SPBN): ``P(class) P(x_i | class) prod_j P(x_j | x_i, class)``.

    One attribute `i` is a parent of all others, beside the class. It is the one whose network predicts most training
    rows rightly, each row predicted by the network learned without it: leave-one-out from the counts, from which one
    unit of the row's weight is subtracted. Ties go to the attribute that says most of the class.

    Parameters
    ----------
    parent : str or int, optional
        The name or the position of the super-parent; None chooses it.
    parameters : {"dirichlet", "ml", "softened", "laplace", "m"}
        How tables are estimated: see `tanbark.parameters.conditional`.
    ess : float
        Equivalent sample size of the Dirichlet prior; also N0 of "softened" and m of "m".
    class_prior : array of shape (classes,), optional
        Probabilities of the classes to use instead of the learned ones.
    encoder : Encoder, Schema or None
        How the table becomes codes; None is ``Encoder()``, a Schema is used as it is.
    n_jobs : int or None
        Threads, as in scikit-learn: None is one, -1 all.

    Attributes
    ----------
    classes_ : array
    network_ : Network
    counts_ : Counts
    schema_ : Schema
    parent_ : str
        The super-parent's name.
    accuracies_ : array of shape (attributes,)
        The leave-one-out accuracy of each attribute as super-parent; only where the super-parent was chosen.

    Notes
    -----
    With a given `parent`, counts suffice: `partial_fit` and `fit_counts` are there. The choice is made with the learned
    class prior and, where training values are missing, with tables of the rows that have both values of a pair.

    References
    ----------
    Li, J., Zhang, C., Wang, T. and Zhang, Y. (2007). Generalized additive Bayesian network classifiers. IJCAI, 913-918:
    eq 1.
    Keogh, E. J. and Pazzani, M. J. (1999). Learning augmented Bayesian classifiers. AISTATS: super-parents.

    Examples
    --------
    >>> from tanbark import SuperParent
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> model = SuperParent().fit(X, y)
    >>> model.parent_
    'x3'
    >>> model.accuracies_.round(2)
    array([0.67, 0.67, 0.71, 0.75])
    """

    def __init__(
        self,
        *,
        parent: str | int | None = None,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.parent = parent
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.parent, bool) or not isinstance(self.parent, str | int | np.integer | None):
            raise TypeError(f"parent must be the name or the position of a column, or None, got {self.parent!r}")

    def _check_schema(self, schema: Schema) -> None:
        if self.parent is not None:
            _position(self.parent, schema.names)

    def _why_rows(self) -> str | None:
        """Return that the choice of a super-parent asks the rows."""
        if self.parent is not None:
            return None
        return "SuperParent asks every row which super-parent is best; give parent=... to learn from counts alone"

    def _state(self) -> dict[str, Any]:
        """Return the super-parent."""
        return {"parent": self.parent_}

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """Return the accuracies that decided, and what every network has."""
        accuracies = {"accuracies": self.accuracies_} if hasattr(self, "accuracies_") else {}
        return {**super()._arrays(), **accuracies}

    def _restore(
        self, counts: Counts, network: Network | None, state: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> Self:
        """Become the fitted classifier that had these counts, this network and this super-parent."""
        self.parent_ = str(state["parent"])
        names = counts.schema.names
        if self.parent_ not in names or arrays.get("accuracies", np.empty(len(names))).shape != (len(names),):
            raise ValueError("its super-parent does not fit its schema")
        if "accuracies" in arrays:
            self.accuracies_ = arrays["accuracies"]
        return super()._restore(counts, network, state, arrays)

    def _network(self, counts: Counts, rows: Rows | None) -> Network:
        names = counts.schema.names
        self.__dict__.pop("accuracies_", None)
        if self.parent is not None:
            chosen = _position(self.parent, names)
        else:
            assert rows is not None
            self.accuracies_ = self._accuracies(counts, rows.distinct)
            information = settled(class_information(counts))
            chosen = int(np.lexsort((-information, -settled(self.accuracies_)))[0])
        self.parent_ = names[chosen]
        parent = tuple(-1 if u == chosen else chosen for u in range(len(names)))
        tables = tree_tables(counts, parent, self.parameters, float(self.ess))
        return Network(counts.schema, Structure.augmented(parent), tables)

    def _accuracies(self, counts: Counts, rows: Rows) -> Array:
        """Return the leave-one-out accuracy of each attribute as super-parent."""
        ess = float(self.ess)
        networks = SuperParents.of(counts, np.arange(len(counts.schema.columns)), self.parameters, ess)
        right = np.zeros(len(networks))
        step = 1 + MOST_CELLS // (len(networks) * len(counts.class_counts))
        for start in range(0, len(rows.classes), step):
            some = rows.take(slice(start, start + step))
            joints = networks.left_out_log_joints(some, counts, self.parameters, ess, self.n_jobs)
            prior = networks.left_out_log_prior(some, counts, self.parameters, ess)
            joints = np.where(np.isneginf(joints).all(axis=1, keepdims=True), prior[:, :, None], joints)
            # The first of the classes that are most probable but for rounding.
            best = (joints >= joints.max(axis=1, keepdims=True) - SLACK).argmax(axis=1)
            right += some.each @ (best == some.classes[:, None])
        return right / float(rows.each.sum())


def _position(parent: str | int, names: tuple[str, ...]) -> int:
    """Return the position of a super-parent given by name or position."""
    if isinstance(parent, str) and parent in names:
        return names.index(parent)
    if not isinstance(parent, str) and 0 <= parent < len(names):
        return int(parent)
    raise ValueError(f"parent is {parent!r}, which is no column; the columns are {', '.join(map(repr, names))}")
