"""Several classifiers on one table, in the same folds."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from tanbark.drawing.matplotlib_plots import axes_for
from tanbark.evaluate.cross_validation import Trial, check_share
from tanbark.evaluate.metrics import HIGHER_IS_BETTER, METRICS
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.significance import corrected_t, paired_t, wilcoxon
from tanbark.progress import Progress

TESTS = ("corrected", "paired", "wilcoxon")


@dataclass(frozen=True)
class Rank:
    """A classifier's place by a metric.

    Parameters
    ----------
    name : str
    mean, standard_error : float
        Over the folds; the error is enlarged since folds share training rows.
    p_value : float
        Of its difference from the best, 1 for the best itself.
    """

    name: str
    mean: float
    standard_error: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Comparison(Mapping[str, CrossValidation]):
    """The classifiers that were tried by name, and why others failed.

    Parameters
    ----------
    results : mapping of CrossValidations
    failures : mapping of str
        Of each classifier that failed, what it said.
    """

    results: Mapping[str, CrossValidation]
    failures: Mapping[str, str]

    def __getitem__(self, name: str) -> CrossValidation:
        if name in self.failures:
            raise KeyError(f"{name!r} failed: {self.failures[name]}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def p_value(self, a: str, b: str, metric: str = "log_loss", test: str = "corrected") -> float:
        """Return the two-sided p-value of the difference of two classifiers over the folds in which both have a score.

        It is NaN where there are fewer than two of these.

        Parameters
        ----------
        a, b : str
        metric : str
            See `tanbark.evaluate.METRICS`.
        test : {"corrected", "paired", "wilcoxon"}
            The corrected resampled t-test, the plain paired one that many papers have, or Wilcoxon's.
        """
        if test not in TESTS:
            raise ValueError(f"test must be {' or '.join(map(repr, TESTS))}, got {test!r}")
        first, second = self[a].score(metric), self[b].score(metric)
        known = np.isfinite(first) & np.isfinite(second)
        first, second = first[known], second[known]
        if len(first) < 2:
            return float("nan")
        if test == "corrected":
            return corrected_t(first, second, self[a].test_to_train)
        return paired_t(first, second) if test == "paired" else wilcoxon(first, second)

    def ranking(self, metric: str = "log_loss", test: str = "corrected") -> list[Rank]:
        """Return the classifiers from best to worst by a metric, each with the p-value of its lag behind the best."""
        sign = -1.0 if metric in HIGHER_IS_BETTER else 1.0
        means = {name: sign * self[name].mean(metric) for name in self}
        names = sorted(self, key=lambda name: (isnan(means[name]), means[name]))
        return [
            Rank(
                name,
                self[name].mean(metric),
                self[name].standard_error(metric),
                self.p_value(name, names[0], metric, test) if at else 1.0,
            )
            for at, name in enumerate(names)
        ]

    def __str__(self) -> str:
        wide = max((len(name) for name in [*self.results, *self.failures]), default=0)
        ranked = [rank.name for rank in self.ranking()]
        head = " ".join(f"{metric:>19}" for metric in METRICS)
        lines = [f"{'':{wide}} {head} {'fit s':>8} {'predict s':>9}"]
        for name in ranked:
            one = self[name]
            figures = " ".join(f"{one.mean(m):>9.4f} ± {one.standard_error(m):.4f}".rjust(19) for m in METRICS)
            lines.append(f"{name:{wide}} {figures} {one.fit_seconds.mean():8.3f} {one.predict_seconds.mean():9.3f}")
        return "\n".join([*lines, *(f"{name:{wide}} failed: {why}" for name, why in self.failures.items())])

    __repr__ = __str__


def compare(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Return how well each of several classifiers predicts the same folds of a table.

    Classifiers of tanbark that share a schema also share the counts (see `cross_validate`). One that fails is listed
    with the reason, and the others go on; a warning says whose it is.

    Parameters
    ----------
    models : mapping of str to classifier
        Those of tanbark or of scikit-learn; they are cloned.
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
    folds, repeats, random_state, n_jobs
        See `cross_validate`.
    progress : callable, optional
        Called with a classifier's name, how many folds are done and of how many, over all classifiers.

    Examples
    --------
    >>> from tanbark import TAN, NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import compare
    >>> X, y = lenses()
    >>> found = compare({"naive Bayes": NaiveBayes(), "TAN": TAN()}, X, y, folds=4)
    >>> [rank.name for rank in found.ranking("error")]
    ['naive Bayes', 'TAN']
    >>> round(found["TAN"].mean("error"), 3)
    0.292
    """
    [found] = learning_curve(
        models,
        X,
        y,
        shares=(1.0,),
        folds=folds,
        repeats=repeats,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    ).values()
    return found


class LearningCurve(dict[float, Comparison]):
    """The Comparison for each share of the training rows."""

    def plot(self, metric: str = "log_loss", ax: Any = None) -> Any:
        """Return matplotlib axes with a metric against the number of rows learned from, with standard errors.

        Parameters
        ----------
        metric : str
            See `tanbark.evaluate.METRICS`.
        ax : matplotlib.axes.Axes, optional
            Where to draw; new axes, if not given.
        """
        from tanbark.evaluate.plots import draw_learning_curve

        ax = axes_for(ax, 5.0, 4.0)
        draw_learning_curve(ax, self, metric)
        return ax


def learning_curve(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    *,
    shares: Sequence[float] = (0.1, 0.5, 1.0),
    folds: int = 10,
    repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Return how well classifiers predict having learned from a share of the training rows, for each share.

    It is a mapping from shares to Comparisons, and can be drawn with `plot`. A smaller share is part of a larger one,
    and the rows that are predicted are the same. Parameters are those of `compare`, and

    Parameters
    ----------
    shares : sequence of float
        Above 0 and at most 1.
    """
    if not isinstance(models, Mapping):
        raise TypeError(f"models must map names to classifiers, got {type(models).__name__!r}")
    if not isinstance(shares, Sequence):
        raise TypeError(f"shares must be a list of numbers, got {shares!r}")
    if not models:
        raise ValueError("models is empty; give at least one classifier")
    if not len(shares):
        raise ValueError("shares is empty; give at least one share of the training rows")
    for share in shares:
        check_share(share)
    trial = Trial(X, y, folds, repeats, random_state, n_jobs)
    curve = LearningCurve()
    total = len(shares) * len(models) * folds * repeats
    done = 0
    for share in shares:
        results: dict[str, CrossValidation] = {}
        failures: dict[str, str] = {}
        for name, model in models.items():

            def tell(_: str, folds_done: float, __: float | None, name: str = name, before: int = done) -> None:
                if progress is not None:
                    progress(name, before + folds_done, total)

            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    results[name] = trial.of(model, share, tell)
                except Exception as error:
                    failures[name] = reason(error)
            for words, category in dict.fromkeys((str(warning.message), warning.category) for warning in caught):
                warnings.warn(f"{name}: {words}", category, stacklevel=2)
            done += folds * repeats
            tell(name, 0, 0, before=done)
        curve[share] = Comparison(results, failures)
    return curve


def reason(error: Exception) -> str:
    """Return what an error says, on one line, and of what kind it is."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
