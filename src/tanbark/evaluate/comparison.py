"""Comparison of several classifiers on the same folds of a table."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Any

import numpy as np

from tanbark.drawing.matplotlib_plots import axes_for
from tanbark.evaluate.candidates import as_models
from tanbark.evaluate.cross_validation import Trial, check_share
from tanbark.evaluate.metrics import HIGHER_IS_BETTER, METRICS
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.significance import corrected_t, paired_t, wilcoxon
from tanbark.progress import Progress
from tanbark.shared_docs import insert_shared_docs

TESTS = ("corrected", "paired", "wilcoxon")


@dataclass(frozen=True)
class Rank:
    """A classifier's position in a ranking by a metric.

    Parameters
    ----------
    name : str
    mean, standard_error : float
        Mean over the folds and its standard error, corrected for folds that share training rows.
    p_value : float
        Two-sided p-value of its difference from the best classifier; 1 for the best itself.
    """

    name: str
    mean: float
    standard_error: float
    p_value: float


@insert_shared_docs
@dataclass(frozen=True, eq=False)
class Comparison(Mapping[str, CrossValidation]):
    """The cross-validation of each classifier by name, and the errors of those that failed.

    Parameters
    ----------
    results : mapping of str to CrossValidation
    failures : mapping of str to str
        The error message of each classifier that failed.
    models : mapping of str to classifier, default={}
        The classifiers that were compared, unfitted.
    """

    results: Mapping[str, CrossValidation]
    failures: Mapping[str, str]
    models: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __getitem__(self, name: str) -> CrossValidation:
        if name in self.failures:
            raise KeyError(f"{name!r} failed: {self.failures[name]}")
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def p_value(self, a: str, b: str, metric: str = "log_loss", test: str = "corrected") -> float:
        """Return the two-sided p-value of the difference between two classifiers.

        Parameters
        ----------
        a, b : str
            The names of the classifiers.
        {ranking_metric}
        test : {"corrected", "paired", "wilcoxon"}, default="corrected"
            The corrected resampled t-test, the plain paired t-test, or Wilcoxon's signed-rank test.

        Returns
        -------
        float
            Computed from the folds in which both classifiers have a score; NaN if there are fewer than two.
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
        """Return the classifiers from best to worst by a metric.

        Parameters
        ----------
        {ranking_metric}
        test : {"corrected", "paired", "wilcoxon"}, default="corrected"
            See `p_value`.

        Returns
        -------
        list of Rank
            Each with the p-value of its difference from the best. Classifiers without a score come last.
        """
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
        width = max((len(name) for name in [*self.results, *self.failures]), default=0)
        head = " ".join(f"{metric:>19}" for metric in METRICS)
        lines = [f"{'':{width}} {head} {'fit s':>8} {'predict s':>9}"]
        for rank in self.ranking():
            result = self[rank.name]
            figures = " ".join(f"{result.mean(m):>9.4f} ± {result.standard_error(m):.4f}".rjust(19) for m in METRICS)
            seconds = f"{result.fit_seconds.mean():8.3f} {result.predict_seconds.mean():9.3f}"
            lines.append(f"{rank.name:{width}} {figures} {seconds}")
        return "\n".join([*lines, *(f"{name:{width}} failed: {why}" for name, why in self.failures.items())])

    __repr__ = __str__


@insert_shared_docs
def compare(
    models: Mapping[str, Any] | Sequence[str],
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate several classifiers on the same folds of a table.

    Classifiers of tanbark that share a schema also share the counts (see `cross_validate`). If a classifier fails, the
    result lists it with the error message, and the comparison continues with the others. Warnings are prefixed with
    the name of the classifier.

    Parameters
    ----------
    {compared_models}
    {folds_and_repeats}
    {groups}
    {evaluation_weights}
    random_state : int, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of parallel processes; see `cross_validate`.
    progress : callable, default=None
        Called with a classifier's name, the number of folds done and their total over all classifiers (see
        `tanbark.progress`).

    Returns
    -------
    Comparison

    See Also
    --------
    recommend : Recommend one of the classifiers.
    select_model : Compare the candidates for a table and recommend one, in a single call.

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
    [comparison] = learning_curve(
        models,
        X,
        y,
        shares=(1.0,),
        folds=folds,
        repeats=repeats,
        groups=groups,
        sample_weight=sample_weight,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
    ).values()
    return comparison


@insert_shared_docs
class LearningCurve(dict[float, Comparison]):
    """The Comparison for each share of the training rows."""

    def plot(self, metric: str = "log_loss", ax: Any = None) -> Any:
        """Plot a metric against the number of training rows, with standard errors.

        Parameters
        ----------
        {ranking_metric}
        ax : matplotlib.axes.Axes, default=None
            The axes to plot on; None creates new ones.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from tanbark.evaluate.plots import draw_learning_curve

        ax = axes_for(ax, 5.0, 4.0)
        draw_learning_curve(ax, self, metric)
        return ax


@insert_shared_docs
def learning_curve(
    models: Mapping[str, Any] | Sequence[str],
    X: Any,
    y: Any,
    *,
    shares: Sequence[float] = (0.1, 0.5, 1.0),
    folds: int = 10,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LearningCurve:
    """Compare classifiers that are fitted to growing shares of the training rows.

    The rows of a smaller share are a subset of those of a larger one, and the predicted rows are the same.

    Parameters
    ----------
    {compared_models}
    shares : sequence of float, default=(0.1, 0.5, 1.0)
        Proportions of the training rows, above 0 and at most 1.
    {folds_and_repeats}
    {groups}
    {evaluation_weights}
    random_state : int, default=0
        Seed of the folds and of the shares.
    n_jobs : int or None, default=None
        Number of parallel processes; see `cross_validate`.
    progress : callable, default=None
        Called with a classifier's name, the number of folds done and their total over all shares and classifiers (see
        `tanbark.progress`).

    Returns
    -------
    LearningCurve
        Maps each share to a Comparison; its method ``plot`` draws it.
    """
    models = as_models(models)
    if not isinstance(shares, Sequence):
        raise TypeError(f"shares must be a list of numbers, got {shares!r}")
    if not len(shares):
        raise ValueError("shares is empty; give at least one share of the training rows")
    for share in shares:
        check_share(share)
    trial = Trial(X, y, folds, repeats, random_state, n_jobs, groups, sample_weight)
    curve = LearningCurve()
    total = len(shares) * len(models) * folds * repeats
    done = 0
    for share in shares:
        results: dict[str, CrossValidation] = {}
        failures: dict[str, str] = {}
        for name, model in models.items():

            def report(_: str, folds_done: float, __: float | None, name: str = name, before: int = done) -> None:
                if progress is not None:
                    progress(name, before + folds_done, total)

            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    results[name] = trial.of(model, share, report)
                except Exception as error:
                    failures[name] = error_text(error)
            for message, category in dict.fromkeys((str(warning.message), warning.category) for warning in caught):
                warnings.warn(f"{name}: {message}", category, stacklevel=2)
            done += folds * repeats
            report(name, 0, 0, before=done)
        curve[share] = Comparison(results, failures, models)
    return curve


def error_text(error: Exception) -> str:
    """Return the type and the message of an error on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
