"""What a comparison says, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tanbark.cli.contenders import PEERS
from tanbark.cli.terminal.console import percent

if TYPE_CHECKING:
    from tanbark.evaluate import Comparison, CrossValidation
    from tanbark.evaluate.comparison import Rank

LEVEL = 0.05
TEST = f"corrected resampled t-test at {LEVEL:.0%}"
METRIC_WORDS = {"error": "error", "log_loss": "log loss", "brier": "Brier score", "auc": "AUC"}
"""What the classifiers can be ranked by."""

SINGLE_NETWORKS = (
    *("naive-bayes", "tan", "forest-an", "super-parent", "kdb", "k2"),
    *("augmented-naive-bayes", "bayes-net", "bnc2p"),
)
"""From the simplest to those that take longest to read."""

HONEST = 0.02
"""Probabilities that are off by less can be taken at their word."""


@dataclass(frozen=True)
class Baseline:
    """The commonest class and its share of the rows, and the log loss of always giving the classes their shares."""

    commonest: str
    share: float
    log_loss: float


@dataclass(frozen=True)
class Recommendation:
    """Which classifier of tanbark's to take, and why, in sentences."""

    chosen: str | None
    sentences: tuple[str, ...]


def alike(ranking: Sequence[Rank]) -> list[str]:
    """Return the best of a ranking and those that cannot be told from it."""
    return [rank.name for at, rank in enumerate(ranking) if at == 0 or not rank.p_value < LEVEL]


def close(ranking: Sequence[Rank]) -> list[str]:
    """Return the best of a ranking and those that cannot be told from it and are within one of its standard errors."""
    best, good = ranking[0], alike(ranking)
    return [
        rank.name
        for rank in ranking
        if rank is best or (rank.name in good and abs(rank.mean - best.mean) <= best.standard_error)
    ]


def choose(ranking: Sequence[Rank]) -> str | None:
    """Return the classifier of tanbark's to take: among those that are close to the best the simplest network.

    Where there is none among them, it is the best that is not scikit-learn's.
    """
    good = close(ranking)
    single = [name for name in SINGLE_NETWORKS if name in good]
    own = [rank.name for rank in ranking if rank.name not in PEERS]
    return next(iter([*single, *own]), None)


def recommend(found: Comparison, curve: Mapping[float, Comparison], by: str, baseline: Baseline) -> Recommendation:
    """Return what a comparison says.

    Parameters
    ----------
    found : Comparison
        Of at least one classifier that did not fail.
    curve : mapping of Comparisons by share
        Of the chosen classifier, if any.
    by : str
        The metric that decides.
    baseline : Baseline
    """
    ranking = found.ranking(by)
    if _is_idle(found[ranking[0].name], baseline):
        return Recommendation(None, (_best(found, ranking, by, baseline), "None of them is worth taking as it is."))
    chosen = choose(ranking)
    told = chosen or ranking[0].name
    sentences = [
        _best(found, ranking, by, baseline),
        _others(ranking),
        _choice(ranking, chosen, by),
        _honesty(told, found[told]),
        _more_rows(told, curve, by),
    ]
    return Recommendation(chosen, tuple(words for words in sentences if words))


def _is_idle(result: CrossValidation, baseline: Baseline) -> bool:
    """Return whether a classifier is no better than the shares of the classes, by its errors and its probabilities."""
    no_fewer_errors = result.mean("error") >= 1 - baseline.share - 1e-9
    return no_fewer_errors and result.mean("log_loss") >= baseline.log_loss


def _best(found: Comparison, ranking: Sequence[Rank], by: str, baseline: Baseline) -> str:
    best = found[ranking[0].name]
    error = best.mean("error")
    words = f"{ranking[0].name} predicts best by {METRIC_WORDS[by]}"
    words += "" if by == "error" else f" ({best.mean(by):.3f})"
    words += f": it errs on {percent(error)} of rows that it has not seen"
    always = f"always predicting {baseline.commonest!r} errs on {percent(1 - baseline.share)}"
    if _is_idle(best, baseline):
        return (
            f"{words}, but {always}, and the shares of the classes alone have a lower log loss: the columns say little."
        )
    return f"{words}; {always}."


def _others(ranking: Sequence[Rank]) -> str:
    if len(ranking) == 1:
        return ""
    good = alike(ranking)[1:]
    if not good:
        others = f"{ranking[1].name} is" if len(ranking) == 2 else "All others are"
        return f"{others} worse by more than chance ({TEST})."
    all_others = len(good) == len(ranking) - 1 > 1
    some = "All others are" if all_others else f"{_and(good)} {'is' if len(good) == 1 else 'are'}"
    return f"{some} not distinguishable from it ({TEST})."


def _choice(ranking: Sequence[Rank], chosen: str | None, by: str) -> str:
    if chosen is None:
        return "It is one of scikit-learn's; none of tanbark's took part."
    from tanbark.classifiers.registry import REGISTRY

    best, good = ranking[0].name, close(ranking)
    single = chosen in SINGLE_NETWORKS
    kind = "a single network, which can be drawn and read" if single else "many networks, so there is none to read"
    kind += ", and further rows can be added to it" if hasattr(REGISTRY[chosen].classifier(), "partial_fit") else ""
    if chosen == best:
        return f"Take {chosen}: it is {kind}."
    if chosen in good:
        why = "the simplest" if single else "the best in tanbark"
        return (
            f"Take {chosen}: it is {why} of those within a standard error of the best, {kind}. {best} is for those to "
            f"whom every bit of {METRIC_WORDS[by]} matters."
        )
    means = {rank.name: rank.mean for rank in ranking}
    against = f"{METRIC_WORDS[by]} {means[chosen]:.3f} against {means[best]:.3f}"
    return (
        f"The best of tanbark's is {chosen} ({against}): it is {kind}. If only the predictions count, take "
        "scikit-learn's."
    )


def _honesty(name: str, result: CrossValidation) -> str:
    """Say whether the probabilities can be trusted: by all rows together, since folds alone are small."""
    import numpy as np

    from tanbark.evaluate.metrics import by_confidence

    bins = by_confidence(*result.pooled)
    shares = bins.rows / bins.rows.sum()
    off = float(np.abs(shares * (bins.accuracy - bins.confidence)).sum())
    # Rows that are right as often as they are said to be are off by so much, by luck.
    rows = bins.rows.sum() / result.repeats
    luck = float(np.sqrt(2 / np.pi * shares * bins.confidence * (1 - bins.confidence) / rows).sum())
    if off <= HONEST:
        return f"The probabilities of {name} can be trusted: on average they are off by {_points(off)}."
    if off <= 1.5 * luck:
        return (
            f"The probabilities of {name} are off by {_points(off)} on average, as luck may have it with so few rows."
        )
    sure = float((shares * (bins.confidence - bins.accuracy)).sum())
    way = (
        "too sure" if sure > off / 2 else "not sure enough" if sure < -off / 2 else "now too sure, now not sure enough"
    )
    return f"The probabilities of {name} are off by {_points(off)} on average: it is {way}."


def _more_rows(name: str, curve: Mapping[float, Comparison], by: str) -> str:
    """Say whether more rows would help: whether those from half of them to all did, by two standard errors."""
    import numpy as np

    from tanbark.evaluate.metrics import HIGHER_IS_BETTER
    from tanbark.evaluate.significance import standard_error

    half, whole = curve.get(0.5), curve.get(1.0)
    if half is None or whole is None or name not in half or name not in whole:
        return ""
    sign = -1.0 if by in HIGHER_IS_BETTER else 1.0
    gain = sign * (half[name].score(by) - whole[name].score(by))
    gain = gain[np.isfinite(gain)]
    if len(gain) < 2:
        return ""
    error = standard_error(gain, whole[name].test_to_train)
    means = f"{half[name].mean(by):.3f} to {whole[name].mean(by):.3f}"
    rows = f"from {half[name].learned_from:,.0f} rows to {whole[name].learned_from:,.0f}"
    went = f"{rows} its {METRIC_WORDS[by]} went from {means}"
    if gain.mean() > 2 * error:
        return f"More rows would likely help: {went}."
    if gain.mean() <= 0:
        return f"It does not show that more rows would help: {went}."
    return f"It does not show that more rows would help: {went}, which may be luck."


def _points(share: float) -> str:
    """Return a difference of probabilities.

    >>> _points(0.034)
    '3.4 percentage points'
    """
    return f"{100 * share:.1f} percentage points"


def _and(names: Sequence[str]) -> str:
    """Return names as a sentence lists them.

    >>> _and(["a"]), _and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
