"""Model selection: compare the candidates for a table and recommend one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from tanbark.classifiers.base.validation import check_number
from tanbark.classifiers.tan import TAN
from tanbark.evaluate.candidates import affordable, as_models, candidate_name, fold_seconds, table_shape
from tanbark.evaluate.comparison import Comparison, LearningCurve, learning_curve
from tanbark.evaluate.cross_validation import take_rows
from tanbark.evaluate.recommendation import Recommendation, check_metric, check_results, choose, recommend
from tanbark.progress import Progress, silent
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.table_reader import as_known_table
from tanbark.shared_docs import insert_shared_docs

CURVE_SHARES = (0.1, 0.5)
"""Shares of the training rows in the learning curve, in addition to all of them."""

N_BEST_IN_CURVE = 3
"""The learning curve has this many of the best classifiers, the recommended one and naive Bayes."""

WARM_UP_ROWS = 1000

MIN_SECONDS_FOR_PROCESSES = 5.0
"""Below this expected time a comparison is finished before other processes have started."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Result of `select_model`.

    Parameters
    ----------
    recommendation : Recommendation
        The name of the recommended classifier and the reasons.
    comparison : Comparison
        Of all classifiers.
    curve : LearningCurve
        Of the best classifiers, the recommended one and naive Bayes.
    by : str
        The metric that ranks the classifiers.
    skipped : tuple of str
        The names of classifiers that were not tried because they would take too long.
    notes : tuple of str
        The warnings of the encoder and the classifiers, each once.
    """

    recommendation: Recommendation
    comparison: Comparison
    curve: LearningCurve
    by: str
    skipped: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.comparison}\n\n{self.recommendation}"

    __repr__ = __str__


@insert_shared_docs
def select_model(
    X: Any,
    y: Any,
    *,
    models: Mapping[str, Any] | Sequence[str] | None = None,
    encoder: Encoder | Schema | None = None,
    by: str = "log_loss",
    folds: int = 10,
    repeats: int = 1,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Selection:
    """Compare the candidates for a table by cross-validation and recommend one of them.

    This is ``tanbark compare`` for Python. The warnings of the classifiers are collected in the result.

    Parameters
    ----------
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
    models : mapping of str to classifier, sequence of str, or None, default=None
        Classifiers, which are cloned, or names from `candidate_names`. None tries all that do not take too long on a
        table of this size (see `candidate_models`).
    encoder : Encoder, Schema or None, default=None
        The encoder of the classifiers that are not given as objects; None is ``Encoder()``, in which each classifier
        chooses the number of bins.
    by : {"log_loss", "error", "brier", "auc"}, default="log_loss"
        The metric that ranks the classifiers.
    {folds_and_repeats}
    {groups}
    {evaluation_weights}
    random_state : int, default=0
        Seed of the folds.
    n_jobs : int or None, default=None
        Number of parallel processes. None uses all cores, or a single process if the comparison is expected to take
        less than five seconds.
    progress : callable, default=None
        Called with a text, the expected seconds of the work done and those of all work (see `tanbark.progress`).

    Returns
    -------
    Selection
        With the attributes ``recommendation``, ``comparison``, ``curve``, ``skipped`` and ``notes``.

    Raises
    ------
    ValueError
        If no classifier could be fitted, or the metric is undefined in every fold.

    See Also
    --------
    compare : Cross-validate several classifiers on the same folds.
    recommend : Recommend a classifier, given the results of a comparison.

    Examples
    --------
    >>> from tanbark.datasets import tic_tac_toe
    >>> from tanbark.evaluate import select_model
    >>> X, y = tic_tac_toe()
    >>> selection = select_model(X, y, models=["naive-bayes", "tan", "kdb"], folds=5)
    >>> selection.recommendation.chosen
    'kdb'
    >>> model = selection.comparison.models["kdb"].fit(X, y)
    """
    check_metric(by)
    check_number("folds", folds, 2)
    check_number("repeats", repeats, 1)
    X = as_known_table(X)
    rows, columns = table_shape(X)
    # Classifiers that are given as objects have encoders of their own.
    checks_columns = not isinstance(encoder, Schema) and not (encoder is None and isinstance(models, Mapping))
    skipped: tuple[str, ...] = ()
    if models is None:
        models, skipped = affordable(rows, columns)
    models = as_models(models, encoder)
    seconds = {name: fold_seconds(candidate_name(model) or name, rows, columns) for name, model in models.items()}
    if n_jobs is None:
        n_jobs = 1 if sum(seconds.values()) * folds * repeats < MIN_SECONDS_FOR_PROCESSES else -1

    def curve_of(task: str, names: Sequence[str], shares: Sequence[float]) -> LearningCurve:
        steps = [(name, share * seconds[name]) for share in shares for name in names for _ in range(folds * repeats)]
        # The processes work in parallel already, so each of them uses one thread.
        with threadpool_limits(1):
            return learning_curve(
                {name: models[name] for name in names},
                X,
                y,
                shares=shares,
                folds=folds,
                repeats=repeats,
                groups=groups,
                sample_weight=sample_weight,
                random_state=random_state,
                n_jobs=n_jobs,
                progress=_by_expected_seconds(progress or silent, task, steps),
            )

    with _recorded_warnings() as of_columns:
        if checks_columns:
            clone(encoder or Encoder()).fit(X, y, sample_weight)
    _load_kernels(encoder, X, y)
    with _recorded_warnings() as of_models:
        comparison = curve_of("comparing", list(models), (1.0,))[1.0]
    check_results(comparison, by)
    names = _names_in_curve(comparison, by)
    with _recorded_warnings():
        curve = curve_of("learning curve of", names, CURVE_SHARES)
    of_curve = [
        f"{name} fails with {share:.0%} of the rows: {why}"
        for share, part in curve.items()
        for name, why in part.failures.items()
    ]
    curve[1.0] = Comparison({name: comparison[name] for name in names}, {}, comparison.models)
    recommendation = recommend(comparison, by=by, curve=curve)
    notes = tuple(_without_repetition(of_columns, [*of_models, *of_curve]))
    return Selection(recommendation, comparison, curve, by, skipped, notes)


def _names_in_curve(comparison: Comparison, by: str) -> list[str]:
    """Return the best classifiers, the recommended one and naive Bayes, from best to worst."""
    ranking = comparison.ranking(by)
    best = [rank.name for rank in ranking[:N_BEST_IN_CURVE]]
    wanted = {*best, choose(ranking, comparison.models), "naive-bayes"}
    return [rank.name for rank in ranking if rank.name in wanted]


def _load_kernels(encoder: Encoder | Schema | None, X: Any, y: Any) -> None:
    """Load the kernels for counts and trees, so that the time is not attributed to the first classifier."""
    with _recorded_warnings(), suppress(ValueError, TypeError):
        rows = min(WARM_UP_ROWS, table_shape(X)[0])
        first = take_rows(X, np.arange(rows))
        TAN(encoder=encoder).fit(first, y[:rows]).predict_log_proba(first)


@contextmanager
def _recorded_warnings() -> Iterator[list[str]]:
    """Yield a list that has the messages of all warnings after the context has ended."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield messages
    messages.extend(str(warning.message) for warning in caught)


def _without_repetition(of_columns: Sequence[str], of_models: Sequence[str]) -> list[str]:
    """Return each warning once, and those of classifiers only about columns that the encoder did not warn about.

    >>> _without_repetition(["column 'x' is odd"], ["few rows", "few rows", "tan: column 'x' is odd"])
    ["column 'x' is odd", 'few rows']
    """
    columns = {column for message in of_columns for column in re.findall(r"column '.*?'", message)}
    others = [message for message in of_models if not any(column in message for column in columns)]
    return list(dict.fromkeys([*of_columns, *others]))


def _by_expected_seconds(progress: Progress, task: str, steps: Sequence[tuple[str, float]]) -> Progress:
    """Return a callback for the number of folds done that reports the expected seconds of these folds.

    Parameters
    ----------
    progress : callable
    task : str
    steps : sequence of (str, float)
        For each fold the name of its classifier and the expected seconds.
    """
    total_seconds = sum(seconds for _, seconds in steps)
    progress(f"{task} {steps[0][0]}", 0.0, total_seconds)

    def report(_: str, folds_done: float, __: float | None) -> None:
        done = int(folds_done)
        name = steps[min(done, len(steps) - 1)][0]
        progress(f"{task} {name}", sum(seconds for _, seconds in steps[:done]), total_seconds)

    return report
