"""The super-parent classifier: one attribute is a parent of all others."""

from __future__ import annotations

from typing import Any

import numpy as np

from tanbark.averaging import MAX_JOINT_CELLS, SuperParents
from tanbark.classifiers.base.counts_classifier import Array
from tanbark.classifiers.base.network_classifier import NetworkClassifier, tree_network
from tanbark.counts import Counts, Rows
from tanbark.kernels.average.pooling import LOG_TIE_TOLERANCE
from tanbark.messages import suggestion
from tanbark.models import Findings
from tanbark.network import Network
from tanbark.schema import Encoder, Schema
from tanbark.structure import class_information, rounded_weights


class SuperParent(NetworkClassifier):
    """The super-parent Bayesian network (SPBN): ``P(class) P(x_i | class) prod_j P(x_j | x_i, class)``.

    One attribute `i` is a parent of all others, besides the class. It is the attribute whose network has the highest
    leave-one-out accuracy on the training rows, computed from the counts by subtracting one unit of each row's weight.
    Ties go to the attribute with the highest mutual information with the class.

    Parameters
    ----------
    parent : str or int, default=None
        The name or the position of the super-parent; None chooses it.
    {tree_parameters}

    Attributes
    ----------
    {network}
    parent_ : str
        The name of the super-parent.
    accuracies_ : array of shape (attributes,)
        The leave-one-out accuracy of each attribute as super-parent; only if the super-parent was chosen.
    {fitted}

    Notes
    -----
    With a given `parent`, counts suffice: `partial_fit` and `fit_counts` are available. The choice of the super-parent
    uses the learned class prior. If training values are missing, it uses tables of the rows that have both values of a
    pair.

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

    required_findings = ("super_parent",)

    def __init__(
        self,
        *,
        parent: str | int | None = None,
        parameters: str = "dirichlet",
        ess: float = 10.0,
        class_prior: Any = None,
        class_weight: Any = None,
        encoder: Encoder | Schema | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.parent = parent
        self.parameters = parameters
        self.ess = ess
        self.class_prior = class_prior
        self.class_weight = class_weight
        self.encoder = encoder
        self.n_jobs = n_jobs

    def _check_own_parameters(self) -> None:
        if isinstance(self.parent, bool) or not isinstance(self.parent, str | int | np.integer | None):
            raise TypeError(f"parent must be the name or the position of a column, or None, got {self.parent!r}")

    def _check_schema(self, schema: Schema) -> None:
        if self.parent is not None:
            _position(self.parent, schema.names)

    def why_rows_needed(self) -> str | None:
        """Return why counts do not suffice: the choice of a super-parent needs the rows."""
        if self.parent is not None:
            return None
        return "SuperParent evaluates every super-parent on the rows; give parent=... to learn from counts alone"

    @property
    def parent_(self) -> str:
        """The name of the super-parent."""
        return self._known(self.model_.findings.super_parent, "super_parent_")

    @property
    def accuracies_(self) -> Array:
        """The leave-one-out accuracy of each attribute as super-parent."""
        return self._known(self.model_.findings.accuracies, "accuracies_")

    def _learn_network(self, counts: Counts, rows: Rows | None, former: Any) -> tuple[Network, Findings]:
        names = counts.schema.names
        accuracies = None
        if self.parent is not None:
            chosen = _position(self.parent, names)
        else:
            assert rows is not None
            accuracies = self._accuracies(counts, rows.distinct)
            information = rounded_weights(class_information(counts))
            chosen = int(np.lexsort((-information, -rounded_weights(accuracies)))[0])
        edges = [(chosen, u) for u in range(len(names)) if u != chosen]
        network = tree_network(counts, edges, [chosen], self.parameters, float(self.ess))
        return network, Findings(super_parent=names[chosen], accuracies=accuracies)

    def _accuracies(self, counts: Counts, rows: Rows) -> Array:
        """Return the leave-one-out accuracy of each attribute as super-parent."""
        ess = float(self.ess)
        networks = SuperParents.of(counts, np.arange(len(counts.schema.columns)), self.parameters, ess)
        right = np.zeros(len(networks))
        step = 1 + MAX_JOINT_CELLS // (len(networks) * len(counts.class_counts))
        for start in range(0, len(rows.classes), step):
            some = rows.take(slice(start, start + step))
            joints = networks.left_out_log_joints(some, counts, self.parameters, ess, self.n_jobs)
            prior = networks.left_out_log_prior(some, counts, self.parameters, ess)
            joints = np.where(np.isneginf(joints).all(axis=1, keepdims=True), prior[:, :, None], joints)
            # The first of the classes that are most probable up to rounding.
            best = (joints >= joints.max(axis=1, keepdims=True) - LOG_TIE_TOLERANCE).argmax(axis=1)
            right += some.each @ (best == some.classes[:, None])
        return right / float(rows.each.sum())


def _position(parent: str | int, names: tuple[str, ...]) -> int:
    """Return the position of a column given by name or position."""
    if isinstance(parent, str) and parent in names:
        return names.index(parent)
    if not isinstance(parent, str) and 0 <= parent < len(names):
        return int(parent)
    instead = suggestion(parent, names, f"the columns are {', '.join(map(repr, names))}")
    raise ValueError(f"parent is {parent!r}, which is not a column; {instead}")
