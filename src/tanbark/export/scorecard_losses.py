"""How much a scorecard differs from its model: estimated from counts, or measured on rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.messages import percent

Array = NDArray[np.float64]

MAX_SUPPORT = 2048
"""The maximum number of values of a distribution; further ones are moved to a grid of this size."""
ROUNDING_SLACK = 1e-9
"""The share of a class below which a weight is a rounding error."""


@dataclass(frozen=True)
class LogOddsChange:
    """The absolute change of the log odds of rows.

    Attributes
    ----------
    mean, maximum : float
    """

    mean: float
    maximum: float


@dataclass(frozen=True)
class CardPerformance:
    """The performance of log odds on rows with known classes.

    Attributes
    ----------
    log_loss, accuracy : float
    auc : float or None
        None if all rows have the same class.
    """

    log_loss: float
    accuracy: float
    auc: float | None


@dataclass(frozen=True)
class CardComparison:
    """A scorecard compared with its model on given rows.

    Attributes
    ----------
    n_rows : int
    change : LogOddsChange
    before, after : CardPerformance or None
        The performance of the model and of the scorecard; None if the classes of the rows are not known.
    """

    n_rows: int
    change: LogOddsChange
    before: CardPerformance | None
    after: CardPerformance | None


@dataclass(frozen=True)
class ScorecardLosses:
    """What merging intervals and rounding points change.

    Attributes
    ----------
    merging : LogOddsChange
        The change by merging alone, over the training data. It is estimated from the counts of single values, because
        a model does not keep its rows: the mean as if attributes were independent given the class. The maximum is an
        upper bound, which holds whatever the dependences.
    total : LogOddsChange
        The same for merging and rounding together.
    on_data : CardComparison or None
        The exact comparison on given rows, if there are any.
    """

    merging: LogOddsChange
    total: LogOddsChange
    on_data: CardComparison | None

    def sentences(self) -> list[str]:
        """Return the losses in words."""
        merging, total = self.merging, self.total
        sentences = [
            f"Merging intervals changes the log odds by {merging.mean:.3g} on average over the training data, and by "
            f"at most {merging.maximum:.3g}; merging and rounding together change them by {total.mean:.3g} on average, "
            f"and by at most {total.maximum:.3g}.",
            "These changes are estimated from the counts of single values, because the model does not keep its "
            "training rows: the means as if attributes were independent given the class, the maxima as upper bounds.",
        ]
        if self.on_data is not None:
            change = self.on_data.change
            sentences.append(
                f"On the given data ({self.on_data.n_rows:,} rows), merging and rounding change the log odds by "
                f"{change.mean:.3g} on average, and by at most {change.maximum:.3g}."
            )
        return sentences

    def performance(self) -> list[tuple[str, str, str]]:
        """Return the name of each measure on the given rows, with its value for the model and for the scorecard."""
        data = self.on_data
        if data is None or data.before is None or data.after is None:
            return []
        before, after = data.before, data.after
        shown = [
            ("log loss", f"{before.log_loss:.4f}", f"{after.log_loss:.4f}"),
            ("accuracy", percent(before.accuracy), percent(after.accuracy)),
        ]
        if before.auc is not None and after.auc is not None:
            shown.append(("area under the ROC curve", f"{before.auc:.4f}", f"{after.auc:.4f}"))
        return shown


def estimated_change(counts: Counts, constant: float, changes: Sequence[Array]) -> LogOddsChange:
    """Estimate the absolute change of the log odds over the rows that were counted.

    Parameters
    ----------
    counts : Counts
        The counts of the training data.
    constant : float
        The change of the log odds of every row.
    changes : sequence of arrays of shape (arity + 1,)
        The change by each code of each attribute; the last code stands for missing and unseen values.
    """
    weights = [code_counts(counts, u) for u in range(len(changes))]
    occurring = [change[weight.any(axis=0)] for change, weight in zip(changes, weights, strict=True)]
    lowest = constant + sum(float(change.min()) for change in occurring)
    highest = constant + sum(float(change.max()) for change in occurring)
    mean = 0.0
    for c, n in enumerate(counts.class_counts.astype(np.float64)):
        if not n > 0:
            continue
        values, shares = np.array([constant]), np.array([n / counts.class_counts.sum()])
        for change, weight in zip(changes, weights, strict=True):
            if change.any():
                values, shares = _distribution_of_sum(values, shares, change, weight[c] / n)
        mean += float(shares @ np.abs(values))
    return LogOddsChange(mean, max(abs(lowest), abs(highest)))


def code_counts(counts: Counts, u: int) -> Array:
    """Return the weight of the rows of each class with each code of an attribute, missing values last."""
    present = counts.value(u).astype(np.float64)
    missing = counts.class_counts - present.sum(axis=1)
    # Sums of fractional weights have rounding errors.
    missing = np.where(missing > ROUNDING_SLACK * counts.class_counts, missing, 0.0)
    return np.column_stack([present, missing])


def _distribution_of_sum(values: Array, shares: Array, more: Array, more_shares: Array) -> tuple[Array, Array]:
    """Return the values and probabilities of the sum of two independent quantities."""
    more, more_shares = _with_few_values(more, more_shares)
    return _with_few_values(np.add.outer(values, more).ravel(), np.outer(shares, more_shares).ravel())


def _with_few_values(values: Array, shares: Array) -> tuple[Array, Array]:
    """Return a distribution with at most `MAX_SUPPORT` values.

    If there are more, each is divided between its two neighbours on a grid, which keeps the mean.
    """
    values, place = np.unique(values[shares > 0], return_inverse=True)
    shares = np.bincount(place, shares[shares > 0], len(values)).astype(np.float64)
    if len(values) <= MAX_SUPPORT:
        return values, shares
    grid = np.linspace(values[0], values[-1], MAX_SUPPORT)
    below = np.clip(np.searchsorted(grid, values, side="right") - 1, 0, MAX_SUPPORT - 2)
    part = (values - grid[below]) / (grid[below + 1] - grid[below])
    moved = np.bincount(below, shares * (1 - part), MAX_SUPPORT) + np.bincount(below + 1, shares * part, MAX_SUPPORT)
    return grid, moved.astype(np.float64)


def compared_on_rows(before: Array, after: Array, is_positive: NDArray[np.bool_] | None) -> CardComparison:
    """Compare the log odds of a model and of its scorecard on rows.

    Parameters
    ----------
    before, after : arrays of shape (rows,)
        The log odds of the model and of the scorecard.
    is_positive : array of bool of shape (rows,), or None
        Whether each row has the positive class, if the classes are known.
    """
    difference = np.abs(after - before)
    performances = [None, None] if is_positive is None else [_performance(s, is_positive) for s in (before, after)]
    return CardComparison(len(before), LogOddsChange(float(difference.mean()), float(difference.max())), *performances)


def _performance(log_odds: Array, is_positive: NDArray[np.bool_]) -> CardPerformance:
    from sklearn.metrics import roc_auc_score

    losses = np.logaddexp(0.0, np.where(is_positive, -log_odds, log_odds))
    auc = None if is_positive.all() or not is_positive.any() else float(roc_auc_score(is_positive, log_odds))
    return CardPerformance(float(losses.mean()), float(((log_odds > 0) == is_positive).mean()), auc)
