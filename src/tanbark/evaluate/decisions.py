"""Decisions of least expected cost."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.evaluate.model_evaluation import NO_CLASS
from tanbark.messages import first_values

Array = NDArray[np.float64]

MAX_COST = 1e100
"""The maximum cost, so that sums of costs stay finite."""
RELATIVE_TIE = 1e-12
"""Expected costs that differ by at most this share are equal up to rounding."""


def least_cost_classes(probabilities: Any, classes: Any, costs: Mapping[tuple[Any, Any], float]) -> NDArray[Any]:
    """Return for each row the class whose prediction has the least expected cost.

    The expected cost of predicting ``j`` is ``sum_i P(i | row) cost(i, j)``. A correct prediction costs 0. Ties go to
    the first class, so that without costs the prediction is the most probable class.

    Parameters
    ----------
    probabilities : array of shape (rows, classes)
        The probability of each class, as returned by `predict_proba`. They should be calibrated, and not those of a
        classifier with `class_weight`, which would count the costs twice.
    classes : array of shape (classes,)
        The classes, in the order of the columns of `probabilities`; the attribute `classes_` of a classifier.
    costs : mapping of (true class, predicted class) to float
        The cost of predicting the second class for a row of the first. Errors that are not named cost 1.

    Returns
    -------
    array of shape (rows,)

    Raises
    ------
    ValueError
        If a label is not a class, or a cost is negative, not finite, or that of a correct prediction.

    References
    ----------
    Elkan, C. (2001). The foundations of cost-sensitive learning. IJCAI, 973-978.

    Examples
    --------
    >>> from tanbark.evaluate import least_cost_classes
    >>> probabilities = [[0.8, 0.2], [0.95, 0.05]]
    >>> least_cost_classes(probabilities, ["healthy", "ill"], {("ill", "healthy"): 10}).tolist()
    ['ill', 'healthy']
    """
    labels = np.asarray(classes)
    matrix = cost_matrix(labels.tolist(), costs)
    given = np.asarray(probabilities, np.float64)
    if given.ndim != 2 or given.shape[1] != len(labels):
        raise ValueError(f"probabilities must have the shape (rows, {len(labels)}), got {given.shape}")
    if not (given >= 0).all():
        raise ValueError("probabilities has values that are negative or NaN")
    decisions: NDArray[Any] = labels[least_cost_codes(given, matrix)]
    return decisions


def cost_matrix(classes: list[Any], costs: Mapping[tuple[Any, Any], float]) -> Array:
    """Return the cost of each prediction (second axis) for each true class (first axis); see `least_cost_classes`."""
    if not isinstance(costs, Mapping):
        raise ValueError(f"costs must be a dict from pairs (true class, predicted class) to numbers, got {costs!r}")
    place = {label: at for at, label in enumerate(classes)}
    if len(place) < len(classes):
        raise ValueError(f"classes must be distinct, got {first_values(classes)}")
    matrix = 1.0 - np.eye(len(classes))
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ValueError(f"costs must map pairs (true class, predicted class) to numbers, got the key {pair!r}")
        for label in pair:
            if not isinstance(label, Hashable) or label not in place:
                raise ValueError(
                    f"costs names {label!r}, which is not a class; the classes are {first_values(classes)}"
                )
        true, predicted = pair
        if place[true] == place[predicted]:
            raise ValueError(
                f"a correct prediction costs nothing; leave out the cost of predicting {true!r} for itself"
            )
        if isinstance(cost, bool) or not isinstance(cost, Real) or not 0 <= cost <= MAX_COST:
            error = f"the cost of predicting {predicted!r} for {true!r}"
            raise ValueError(f"{error} must be a number from 0 to {MAX_COST:g}, got {cost!r}")
        matrix[place[true], place[predicted]] = cost
    return matrix


class CostTally:
    """The costs of decisions on labelled rows, batch by batch.

    A row whose class the classifier does not know costs 1, whatever is predicted.

    Parameters
    ----------
    matrix : array of shape (classes, classes)
        See `cost_matrix`.

    Attributes
    ----------
    weight : float
        The number, or total weight, of the rows so far.
    """

    def __init__(self, matrix: Array) -> None:
        # Negative codes stand for rows of unknown classes.
        self._matrix = np.vstack([matrix, np.ones(len(matrix))])
        self.weight = self._cost = self._cost_of_most_probable = 0.0

    def decide(self, probabilities: Array) -> NDArray[np.int64]:
        """Return the index of the prediction of least expected cost for each row."""
        return least_cost_codes(probabilities, self._matrix[:-1])

    def add(self, probabilities: Array, truth: NDArray[np.int64], weights: Array | None = None) -> None:
        """Add the predictions for some rows.

        Parameters
        ----------
        probabilities : array of shape (rows, classes)
        truth : array of int of shape (rows,)
            The true class of each row, as `EvaluationAccumulator.codes` returns it.
        weights : array of shape (rows,), default=None
        """
        labelled = truth != NO_CLASS
        each = labelled.astype(np.float64) if weights is None else labelled * weights
        decided = self.decide(probabilities)
        known = np.maximum(truth, -1)
        self.weight += float(each.sum())
        self._cost += float(each @ self._matrix[known, decided])
        self._cost_of_most_probable += float(each @ self._matrix[known, probabilities.argmax(axis=1)])

    @property
    def mean(self) -> float:
        """The mean cost per row of decisions of least expected cost."""
        return self._cost / self.weight if self.weight else float("nan")

    @property
    def mean_of_most_probable(self) -> float:
        """The mean cost per row of predicting the most probable class."""
        return self._cost_of_most_probable / self.weight if self.weight else float("nan")

    def document(self) -> dict[str, float]:
        """Return the mean costs for a JSON document."""
        return {"mean_cost": self.mean, "mean_cost_of_most_probable": self.mean_of_most_probable}


def least_cost_codes(probabilities: Array, matrix: Array) -> NDArray[np.int64]:
    """Return the index of the prediction of least expected cost for each row."""
    expected = np.zeros(probabilities.shape)
    # A product of matrices would be rounded in another way for other numbers of rows.
    for true, costs in enumerate(matrix):
        expected += probabilities[:, true, None] * costs
    least = expected.min(axis=1, keepdims=True)
    largest = expected.max(axis=1, keepdims=True)
    codes: NDArray[np.int64] = (expected <= least + RELATIVE_TIE * largest).argmax(axis=1)
    return codes
