"""Evaluation of a fitted classifier on labelled rows, at once or batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.evaluate.baseline import Baseline, BaselineComparison, Gain, entropy, most_frequent
from tanbark.evaluate.metrics import (
    MIN_LOG_PROBABILITY,
    ByConfidence,
    LogProbabilities,
    Truth,
    Weights,
    auc,
    brier,
    by_confidence,
)
from tanbark.memory import check_free_memory
from tanbark.messages import first_values
from tanbark.schema.read.class_column import checked_weights, read_labelled_rows

Array = NDArray[np.float64]

NO_CLASS = -1
"""The code of the class of a row without a class."""
UNKNOWN_CLASS = -2
"""The code of a class that the model does not know."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Performance of a fitted classifier on labelled rows.

    If rows have weights, a row of weight three counts as three rows in everything except `rows`, `unlabelled_rows` and
    `unknown_rows`.

    A row whose class the model does not know counts as one whose class has probability 0: it is wrong in the accuracy,
    its log loss is the largest there is, 36.04 nats (see `tanbark.evaluate.metrics`), and in the AUC it belongs to the
    rest of each class.

    Parameters
    ----------
    classes : array of shape (classes,)
        The classes that the model knows.
    rows : int
        Number of rows with a class.
    unlabelled_rows : int
        Number of rows without a class, which are left out.
    unknown_rows : int
        Number of rows with a class that the model does not know; they are among `rows`.
    accuracy : float
        Proportion of rows whose most probable class is the true one, whatever threshold `predict` uses.
    accuracy_standard_error : float
        Standard error of the accuracy over rows; NaN for a single row. It assumes that the rows are independent.
    log_loss : float
        Mean negative log probability of the true class in nats.
    log_loss_standard_error : float
        Standard error of the log loss over rows.
    known_log_loss : float
        Log loss of the rows with a class that the model knows; NaN if there are none.
    brier : float
        Brier score, from 0 to 2.
    auc : float
        Area under the ROC curve; with more than two classes the mean over each class against the rest.
    calibration_error : float
        Expected calibration error.
    confusion : array of int of shape (classes, classes)
        Number of rows by true class (first axis) and most probable class, without rows of unknown classes.
    predicted : array of int of shape (classes,)
        Number of rows for which each class is the most probable one.
    weight : float
        Total weight of the rows; their number if they have no weights.
    baseline : BaselineComparison
        The accuracy of always predicting the most frequent class of these rows, the log loss of their class
        frequencies, and how much better the classifier is. A class that the model does not know has probability 0 in
        the baseline too.
    """

    classes: NDArray[Any]
    rows: int
    unlabelled_rows: int
    unknown_rows: int
    accuracy: float
    accuracy_standard_error: float
    log_loss: float
    log_loss_standard_error: float
    known_log_loss: float
    brier: float
    auc: float
    calibration_error: float
    confusion: NDArray[np.number]
    predicted: NDArray[np.number]
    weight: float
    baseline: BaselineComparison

    @property
    def support(self) -> NDArray[np.number]:
        """Number of rows of each class."""
        support: NDArray[np.number] = self.confusion.sum(axis=1)
        return support

    @property
    def precision(self) -> Array:
        """Proportion of the rows predicted as each class that are of the class; NaN if no row is."""
        return _ratio(self.confusion.diagonal(), self.predicted)

    @property
    def recall(self) -> Array:
        """Proportion of the rows of each class that are predicted as it; NaN if the class has no row."""
        return _ratio(self.confusion.diagonal(), self.support)


def _ratio(part: NDArray[np.number], whole: NDArray[np.number]) -> Array:
    ratio: Array = np.divide(part, whole, out=np.full(len(whole), nan), where=whole > 0)
    return ratio


class EvaluationAccumulator:
    """Collects predictions batch by batch, for tables that do not fit in memory.

    Everything is summed up except the probabilities for the AUC, which are kept as 32-bit floats: 4 bytes for each row
    and class, and for each row if there are two classes.

    Parameters
    ----------
    classes : array of shape (classes,)
        The classes that the model knows.

    Examples
    --------
    >>> import numpy as np
    >>> from tanbark.evaluate import EvaluationAccumulator
    >>> accumulator = EvaluationAccumulator(["no", "yes"])
    >>> accumulator.add(np.log([[0.9, 0.1], [0.4, 0.6]]), accumulator.codes(["no", "no"]))
    >>> accumulator.add(np.log([[0.2, 0.8], [0.5, 0.5]]), accumulator.codes(["yes", None]))
    >>> found = accumulator.result()
    >>> found.rows, found.unlabelled_rows, round(found.accuracy, 3), found.confusion.tolist()
    (3, 1, 0.667, [[1, 1], [0, 1]])
    """

    def __init__(self, classes: Any) -> None:
        self.classes = np.asarray(classes)
        self._place = {label: at for at, label in enumerate(self.classes.tolist())}
        n_classes = len(self.classes)
        task = f"the confusion matrix of {n_classes:,} classes"
        check_free_memory(8.0 * (n_classes + 1) * n_classes, task, "evaluate a model with fewer classes")
        self.unlabelled_rows = 0
        # The last true class stands for all those that the model does not know.
        self._confusion: NDArray[np.number] = np.zeros((n_classes + 1, n_classes), np.int64)
        self._unknown_rows = 0
        self._losses = _Moments()
        self._known_losses = _Moments()
        # For the baseline, whose loss depends on the class only: the losses of the rows of each class.
        self._class_losses = np.zeros(n_classes)
        self._squared_losses = 0.0
        self._brier = 0.0
        self._by_confidence: list[ByConfidence] = []
        # Of two classes the second one's probability suffices.
        self._for_auc = slice(1, None) if n_classes == 2 else slice(None)
        self._truths: list[NDArray[np.int32]] = []
        self._scores: list[NDArray[np.float32]] = []
        self._weights: list[Weights] = []

    @property
    def rows(self) -> int:
        """Number of rows with a class so far."""
        return self._losses.rows

    def codes(self, y: Any) -> Truth:
        """Return the class of each row as an index into the classes.

        Parameters
        ----------
        y : array or series of shape (rows,)

        Returns
        -------
        array of int of shape (rows,)
            -1 for rows without a class, -2 for classes that the model does not know.
        """
        target = read_labelled_rows(y)
        places = [self._place.get(label, UNKNOWN_CLASS) for label in target.labels.tolist()]
        return np.array([*places, NO_CLASS], np.int64)[target.codes]

    def add(self, log_probabilities: LogProbabilities, truth: Truth, weights: Any = None) -> None:
        """Add the predictions for some rows.

        Parameters
        ----------
        log_probabilities : array of shape (rows, classes)
        truth : array of int of shape (rows,)
            The true class of each row, as returned by `codes`.
        weights : array of shape (rows,), default=None
            The weights of the rows, in every call or in none. A row of weight zero is left out.
        """
        log_probabilities = np.asarray(log_probabilities, np.float64)
        expected = len(truth), len(self.classes)
        if log_probabilities.shape != expected:
            raise ValueError(f"log_probabilities must have the shape {expected}, got {log_probabilities.shape}")
        each = None if weights is None else checked_weights(weights, len(truth))
        used = truth != NO_CLASS
        self.unlabelled_rows += int((~used).sum())
        if each is not None:
            used &= each > 0
        if not used.any():
            return
        if self.rows and (each is None) == bool(self._weights):
            raise ValueError("either all rows have weights, or none has")
        n_classes = len(self.classes)
        if not used.all():
            log_probabilities, truth = log_probabilities[used], truth[used]
            each = None if each is None else each[used]
        if np.isnan(log_probabilities).any():
            raise ValueError("log_probabilities has values that are NaN")
        is_known = truth != UNKNOWN_CLASS
        self._unknown_rows += int((~is_known).sum())
        truth = np.where(is_known, truth, n_classes)
        with_unknown = np.column_stack([log_probabilities, np.full(len(truth), -np.inf)])
        if each is not None:
            self._confusion = self._confusion.astype(np.float64, copy=False)
            self._weights.append(each)
        np.add.at(self._confusion, (truth, log_probabilities.argmax(axis=1)), 1 if each is None else each)
        losses = -np.maximum(with_unknown[np.arange(len(truth)), truth], MIN_LOG_PROBABILITY)
        self._losses.add(losses, each)
        self._known_losses.add(losses[is_known], None if each is None else each[is_known])
        weighted = losses if each is None else losses * each
        self._class_losses += np.bincount(truth, weighted, n_classes + 1)[:-1]
        self._squared_losses += float(weighted[is_known] @ losses[is_known])
        self._brier += brier(truth, with_unknown, each) * (len(truth) if each is None else each.sum())
        bins = by_confidence(truth, with_unknown, each)
        self._by_confidence = [ByConfidence.merged([*self._by_confidence, bins])]
        self._truths.append(truth.astype(np.int32))
        self._scores.append(log_probabilities[:, self._for_auc].astype(np.float32))

    def result(self) -> Evaluation:
        """Return the performance on all rows so far.

        Returns
        -------
        Evaluation

        Raises
        ------
        ValueError
            If no row has a class, or none has a class that the model knows.
        """
        rows, weight = self.rows, self._losses.weight
        if not rows:
            raise ValueError("no row has a class; there is nothing to evaluate")
        if self._unknown_rows == rows:
            known = first_values(self.classes.tolist())
            raise ValueError(f"no row has a class that the model knows; the known classes are {known}")
        confusion = self._confusion[:-1].copy()
        accuracy = float(confusion.trace() / weight)
        return Evaluation(
            classes=self.classes,
            rows=rows,
            unlabelled_rows=self.unlabelled_rows,
            unknown_rows=self._unknown_rows,
            accuracy=accuracy,
            accuracy_standard_error=_of_share(accuracy, weight),
            log_loss=self._losses.mean,
            log_loss_standard_error=self._losses.standard_error,
            known_log_loss=self._known_losses.mean,
            brier=self._brier / weight,
            auc=self._auc(),
            calibration_error=self._by_confidence[0].calibration_error,
            confusion=confusion,
            predicted=self._confusion.sum(axis=0),
            weight=weight,
            baseline=self._baseline(confusion, weight),
        )

    def _baseline(self, confusion: NDArray[np.number], weight: float) -> BaselineComparison:
        """Return how much better the model is than the class frequencies, with standard errors over rows.

        Both are wrong on the rows of unknown classes, where they differ by 0.
        """
        support = confusion.sum(axis=1)
        commonest = most_frequent(support, self.classes.tolist())
        shares = support / support.sum()
        # The weight of rows that only the model classifies correctly, and of rows that only the baseline does.
        both = confusion[commonest, commonest]
        only_model, only_baseline = confusion.trace() - both, support[commonest] - both
        with np.errstate(divide="ignore"):
            losses = -np.maximum(np.log(shares), MIN_LOG_PROBABILITY)
        squares = support @ losses**2 - 2.0 * losses @ self._class_losses + self._squared_losses
        of_unknown = weight - support.sum()
        mean_loss = (support.sum() * entropy(shares) - of_unknown * MIN_LOG_PROBABILITY) / weight
        return BaselineComparison(
            Baseline(str(self.classes.tolist()[commonest]), float(support[commonest] / weight), float(mean_loss)),
            _gain(float(only_model - only_baseline) / weight, float(only_model + only_baseline), weight),
            _gain(float(support @ losses - self._class_losses.sum()) / weight, float(squares), weight),
        )

    def _auc(self) -> float:
        # Two copies of the scores in 64 bits, and the sorted scores of one class with their positions and counts.
        needed = 4 * sum(scores.nbytes for scores in self._scores) + 48 * self.rows
        check_free_memory(needed, f"the area under the ROC curve of {self.rows:,} rows", "evaluate on fewer rows")
        scores = np.concatenate(self._scores, dtype=np.float64)
        if len(self.classes) == 2:
            scores = np.broadcast_to(scores, (len(scores), 2))
        weights = np.concatenate(self._weights) if self._weights else None
        return auc(np.concatenate(self._truths), scores, weights)


def _gain(mean: float, sum_of_squares: float, weight: float) -> Gain:
    """Return a mean difference of rows with its standard error; NaN for a weight of at most one row."""
    if weight <= 1:
        return Gain(mean, nan)
    return Gain(mean, sqrt(max(sum_of_squares - weight * mean**2, 0.0) / (weight - 1) / weight))


class _Moments:
    """The mean of values that come in batches, and their squared deviations from it (Chan et al. 1983)."""

    def __init__(self) -> None:
        self.rows = 0
        self.weight = 0.0
        self.mean = nan
        self._squares = 0.0

    def add(self, values: Array, weights: Weights | None) -> None:
        """Add the values of a batch, with their weights."""
        if not len(values):
            return
        mean, before = float(np.average(values, weights=weights)), self.weight
        squares = np.square(values - mean)
        added = float(len(values) if weights is None else weights.sum())
        self._squares += float(squares.sum() if weights is None else weights @ squares)
        self.rows += len(values)
        self.weight += added
        if before:
            apart = mean - self.mean
            self._squares += apart**2 * before * added / self.weight
            self.mean += apart * added / self.weight
        else:
            self.mean = mean

    @property
    def standard_error(self) -> float:
        """The standard error of the mean; NaN for a weight of at most one row."""
        return sqrt(self._squares / (self.weight - 1) / self.weight) if self.weight > 1 else nan


def _of_share(share: float, weight: float) -> float:
    """Return the standard error of a share; NaN for a weight of at most one row."""
    return sqrt(share * (1.0 - share) / (weight - 1)) if weight > 1 else nan


def evaluate_model(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
    """Evaluate a fitted classifier on labelled rows that it was not fitted to.

    Parameters
    ----------
    model : classifier
        A fitted classifier of tanbark or scikit-learn that predicts probabilities.
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
        Rows without a class are left out.
    sample_weight : array of shape (rows,), default=None
        A weight of three counts the row three times; a weight of zero leaves it out.

    Returns
    -------
    Evaluation

    Raises
    ------
    ValueError
        If no row has a class that the model knows.

    See Also
    --------
    cross_validate : Evaluate a classifier that is fitted to parts of the same table.
    EvaluationAccumulator : Evaluate batch by batch.

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.datasets import tic_tac_toe
    >>> from tanbark.evaluate import evaluate_model
    >>> X, y = tic_tac_toe()
    >>> found = evaluate_model(TAN().fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> print(f"{found.accuracy:.3f} ± {found.accuracy_standard_error:.3f}")
    0.795 ± 0.018
    """
    accumulator = EvaluationAccumulator(model.classes_)
    truth = accumulator.codes(y)
    log_probabilities = predicted_log_probabilities(model, X)
    if len(log_probabilities) != len(truth):
        raise ValueError(f"X has {len(log_probabilities):,} rows, but y has {len(truth):,}")
    accumulator.add(log_probabilities, truth, sample_weight)
    return accumulator.result()


def predicted_log_probabilities(model: Any, X: Any) -> LogProbabilities:
    """Return the log probabilities that a fitted classifier of any kind predicts.

    Raise TypeError if it predicts none, and ValueError if one is NaN.
    """
    with np.errstate(divide="ignore"):
        if hasattr(model, "predict_log_proba"):
            found = np.asarray(model.predict_log_proba(X), np.float64)
        elif hasattr(model, "predict_proba"):
            found = np.log(np.asarray(model.predict_proba(X), np.float64))
        else:
            raise TypeError(
                f"{type(model).__name__} does not predict probabilities; wrap it in a CalibratedClassifierCV"
            )
    if np.isnan(found).any():
        raise ValueError(f"{type(model).__name__} predicts probabilities that are NaN")
    return found
