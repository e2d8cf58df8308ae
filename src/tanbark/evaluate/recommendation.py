"""Which classifier to use, given the results of a comparison, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tanbark.classifiers.registry import REGISTRY
from tanbark.evaluate.baseline import Baseline
from tanbark.evaluate.candidates import candidate_name
from tanbark.evaluate.comparison import Comparison, Rank
from tanbark.evaluate.metrics import HIGHER_IS_BETTER, by_confidence
from tanbark.evaluate.results import CrossValidation
from tanbark.evaluate.significance import standard_error
from tanbark.messages import percent

SIGNIFICANCE_LEVEL = 0.05
TEST = f"corrected resampled t-test at {SIGNIFICANCE_LEVEL:.0%}"

METRIC_LABELS = {"error": "error", "log_loss": "log loss", "brier": "Brier score", "auc": "AUC"}
"""The metrics by which classifiers can be ranked, as they are called in text."""

ADDITIVE_MODEL = "evidence-bn"
NETWORKS = (
    *("naive-bayes", "tan", "forest-an", "super-parent"),
    *("kdb", "k2", "augmented-naive-bayes", "bayes-net", "bnc2p"),
)
"""Classifiers that are a single network, from the simplest to the hardest to read.

In the first ones an attribute depends on at most one other.
"""
READABLE = (ADDITIVE_MODEL, *NETWORKS)
"""Classifiers that are one model."""

MAX_TRUSTED_CALIBRATION_ERROR = 0.02
MAX_CHANCE_RATIO = 1.5
"""A calibration error up to this multiple of the one expected by chance is not held against a classifier."""


@dataclass(frozen=True)
class Recommendation:
    """The classifier to use and the reasons; printing it shows the sentences.

    Parameters
    ----------
    chosen : str or None
        The name of the recommended tanbark classifier, or None if none is worth using or none was compared.
    sentences : tuple of str
        The result of the comparison in plain sentences.
    """

    chosen: str | None
    sentences: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.sentences)


def recommend(
    comparison: Comparison,
    *,
    by: str = "log_loss",
    curve: Mapping[float, Comparison] | None = None,
    baseline: Baseline | None = None,
) -> Recommendation:
    """Recommend a classifier, given the results of a comparison.

    The recommended classifier is `EvidenceBN`, which is readable, unless another one is significantly better. Then, or
    if it was not compared, it is the simplest single network among those close to the best: they do not differ
    significantly from it, and their mean is within one standard error of its mean. If no network is that close, it is
    the best of those that do not differ significantly from the best. If all of them do, it is the best classifier of
    tanbark, such as an ensemble. The sentences also state how it compares with always predicting the most frequent
    class, whether its probabilities are calibrated and whether more rows would probably help.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    by : {"log_loss", "error", "brier", "auc"}, default="log_loss"
        The metric that ranks the classifiers.
    curve : mapping of float to Comparison, default=None
        Result of `learning_curve` with at least the shares 0.5 and 1.0. Without it the recommendation does not state
        whether more rows would help.
    baseline : Baseline, default=None
        The performance to beat. By default it is computed from the classes of the rows that were compared.

    Returns
    -------
    Recommendation
        With the attributes ``chosen`` and ``sentences``.

    Raises
    ------
    ValueError
        If `by` is not one of these metrics, if all classifiers failed, or if the metric is undefined in every fold.

    See Also
    --------
    select_model : Compare the candidates for a table and recommend one, in a single call.

    Examples
    --------
    >>> from tanbark.datasets import tic_tac_toe
    >>> from tanbark.evaluate import compare, recommend
    >>> X, y = tic_tac_toe()
    >>> found = compare(["naive-bayes", "tan", "kdb"], X, y)
    >>> advice = recommend(found)
    >>> advice.chosen
    'kdb'
    >>> print(advice.sentences[2])
    Use kdb: it is a single network that can be plotted and read.
    """
    check_metric(by)
    check_results(comparison, by)
    ranking = comparison.ranking(by)
    best = comparison[ranking[0].name]
    baseline = baseline or Baseline.of(best)
    if not _beats(best, baseline):
        useless = "None of these classifiers is worth using as it is."
        return Recommendation(None, (_best_sentence(best, ranking[0], by, baseline), useless))
    chosen = choose(ranking, comparison.models)
    described = chosen or ranking[0].name
    sentences = [
        _best_sentence(best, ranking[0], by, baseline),
        _others_sentence(ranking),
        _choice_sentence(ranking, chosen, comparison.models, by),
        _calibration_sentence(described, comparison[described]),
        _more_rows_sentence(described, curve or {}, by),
    ]
    return Recommendation(chosen, tuple(sentence for sentence in sentences if sentence))


def check_metric(by: str) -> None:
    """Raise ValueError if classifiers cannot be ranked by this metric."""
    if by not in METRIC_LABELS:
        raise ValueError(f"by must be one of {', '.join(METRIC_LABELS)}, got {by!r}")


def check_results(comparison: Comparison, by: str) -> None:
    """Raise ValueError if all classifiers failed, or if the metric is undefined for all of them."""
    if not comparison:
        first_failure = next(iter(comparison.failures.values()), "nothing was compared")
        raise ValueError(f"no classifier could be fitted: {first_failure}")
    if all(np.isnan(result.mean(by)) for result in comparison.values()):
        raise ValueError(f"{by} is undefined, because no fold has rows of more than one class; use fewer folds")


def not_distinguishable(ranking: Sequence[Rank]) -> list[str]:
    """Return the names of the best classifier and of those that do not differ significantly from it."""
    return [rank.name for at, rank in enumerate(ranking) if at == 0 or not rank.p_value < SIGNIFICANCE_LEVEL]


def close_to_best(ranking: Sequence[Rank]) -> list[str]:
    """Return the names of the classifiers that are not distinguishable from the best and within one standard error."""
    best, alike = ranking[0], not_distinguishable(ranking)
    return [
        rank.name
        for rank in ranking
        if rank is best or (rank.name in alike and abs(rank.mean - best.mean) <= best.standard_error)
    ]


def choose(ranking: Sequence[Rank], models: Mapping[str, Any]) -> str | None:
    """Return the name of the recommended classifier (see `recommend`), or None if there is none of tanbark."""
    close, alike = close_to_best(ranking), not_distinguishable(ranking)
    kinds = {rank.name: _registry_name(rank.name, models) for rank in ranking}
    additive = [name for name in alike if kinds[name] == ADDITIVE_MODEL]
    simple = [name for kind in NETWORKS for name in close if kinds[name] == kind]
    networks = [name for name in alike if kinds[name] in NETWORKS]
    own = [rank.name for rank in ranking if kinds[rank.name] is not None]
    return next(iter([*additive, *simple, *networks, *own]), None)


def _registry_name(name: str, models: Mapping[str, Any]) -> str | None:
    """Return a classifier's name in the registry, or None if it is not a tanbark classifier."""
    kind = candidate_name(models[name]) if name in models else name
    return kind if kind in REGISTRY else None


def _beats(result: CrossValidation, baseline: Baseline) -> bool:
    """Return whether a classifier has a lower error or a lower log loss than the class frequencies."""
    no_fewer_errors = result.mean("error") >= 1 - baseline.share - 1e-9
    return not (no_fewer_errors and result.mean("log_loss") >= baseline.log_loss)


def _best_sentence(best: CrossValidation, rank: Rank, by: str, baseline: Baseline) -> str:
    superlative = "highest" if by in HIGHER_IS_BETTER else "lowest"
    value = "" if by == "error" else f" ({rank.mean:.3f})"
    found = f"{rank.name} has the {superlative} {METRIC_LABELS[by]}{value}: "
    found += f"it misclassifies {percent(best.mean('error'))} of held-out rows"
    always = f"always predicting {baseline.commonest!r} misclassifies {percent(1 - baseline.share)}"
    if _beats(best, baseline):
        return f"{found}; {always}."
    return (
        f"{found}, but {always}, and the class frequencies alone have a lower log loss: the columns carry little "
        "information about the class."
    )


def _others_sentence(ranking: Sequence[Rank]) -> str:
    if len(ranking) == 1:
        return ""
    alike = not_distinguishable(ranking)[1:]
    if not alike:
        others = f"{ranking[1].name} is" if len(ranking) == 2 else "All others are"
        return f"{others} significantly worse ({TEST})."
    if len(alike) == len(ranking) - 1 > 1:
        return f"The other classifiers do not differ significantly from it ({TEST})."
    return f"{_enumerated(alike)} {'does' if len(alike) == 1 else 'do'} not differ significantly from it ({TEST})."


def _choice_sentence(ranking: Sequence[Rank], chosen: str | None, models: Mapping[str, Any], by: str) -> str:
    if chosen is None:
        return "The comparison has no result of a tanbark classifier."
    kind = str(_registry_name(chosen, models))
    model = models[chosen] if chosen in models else REGISTRY[kind].classifier()
    nature = _nature(kind, model)
    best, label = ranking[0].name, METRIC_LABELS[by]
    if chosen == best:
        return f"Use {chosen}: it {nature}."
    superlative = "highest" if by in HIGHER_IS_BETTER else "lowest"
    if kind in NETWORKS and chosen in close_to_best(ranking):
        return (
            f"Use {chosen}: it is the simplest readable classifier within one standard error of the best. It {nature}. "
            f"{best} has the {superlative} {label}."
        )
    if chosen in not_distinguishable(ranking):
        why = "is the best readable classifier, and it does" if kind in NETWORKS else "does"
        return (
            f"Use {chosen}: it {why} not differ significantly from {best}, which has the {superlative} {label}. It "
            f"{nature}."
        )
    means = {rank.name: rank.mean for rank in ranking}
    against = f"{label} {means[chosen]:.3f} against {means[best]:.3f}"
    return (
        f"The best tanbark classifier is {chosen} ({against}). It {nature}. If only the predictions matter, use {best}."
    )


def _nature(kind: str, model: Any) -> str:
    """Return what can be read in a classifier and whether it can be updated, as the end of a sentence."""
    if kind == ADDITIVE_MODEL:
        nature = "is one additive model in which the evidence of each column can be read"
    elif kind in READABLE:
        nature = "is a single network that can be plotted and read"
    else:
        nature = "is an ensemble, so there is no single graph to read"
    updatable = hasattr(model, "partial_fit") or hasattr(model, "update")
    return f"{nature}, and it can be updated with new rows" if updatable else nature


def _calibration_sentence(name: str, result: CrossValidation) -> str:
    """Return whether the probabilities are calibrated, over the rows of all folds, since single folds are small."""
    bins = by_confidence(*result.pooled, result.pooled_weights)
    shares = bins.rows / bins.rows.sum()
    error = bins.calibration_error
    # The error to expect by chance if accuracy equals confidence: the mean absolute deviation of a normal variable.
    rows = bins.rows.sum() / result.repeats
    chance = float(np.sqrt(2 / np.pi * shares * bins.confidence * (1 - bins.confidence) / rows).sum())
    if error <= MAX_TRUSTED_CALIBRATION_ERROR:
        return f"The probabilities of {name} can be trusted: on average they are off by {_points(error)}."
    off = f"The probabilities of {name} are off by {_points(error)} on average"
    if error <= MAX_CHANCE_RATIO * chance:
        return f"{off}, which may be due to chance given the number of rows."
    excess = float((shares * (bins.confidence - bins.accuracy)).sum())
    if excess > error / 2:
        return f"{off}: it is overconfident."
    if excess < -error / 2:
        return f"{off}: it is underconfident."
    return f"{off}: it is overconfident on some rows and underconfident on others."


def _more_rows_sentence(name: str, curve: Mapping[float, Comparison], by: str) -> str:
    """Return whether more rows would help: whether the second half of the rows did, by two standard errors."""
    half, whole = curve.get(0.5), curve.get(1.0)
    if half is None or whole is None or name not in half or name not in whole:
        return ""
    sign = -1.0 if by in HIGHER_IS_BETTER else 1.0
    gain = sign * (half[name].score(by) - whole[name].score(by))
    gain = gain[np.isfinite(gain)]
    if len(gain) < 2:
        return ""
    error = standard_error(gain, whole[name].test_to_train)
    before = f"{half[name].mean(by):.3f} with {half[name].learned_from:,.0f} rows"
    after = f"{whole[name].mean(by):.3f} with {whole[name].learned_from:,.0f} rows"
    change = f"its {METRIC_LABELS[by]} went from {before} to {after}"
    if gain.mean() > 2 * error:
        return f"More rows would probably help: {change}."
    if gain.mean() <= 0:
        return f"There is no evidence that more rows would help: {change}."
    return f"There is no evidence that more rows would help: {change}, which may be due to chance."


def _points(difference: float) -> str:
    """Return a difference of probabilities as text.

    >>> _points(0.034)
    '3.4 percentage points'
    """
    return f"{100 * difference:.1f} percentage points"


def _enumerated(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> _enumerated(["a"]), _enumerated(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
