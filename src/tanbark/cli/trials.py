"""Trying classifiers on a table, with progress shown."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tanbark.cli.contenders import fold_seconds
from tanbark.cli.terminal.console import time_left

if TYPE_CHECKING:
    from rich.progress import Progress

    from tanbark.evaluate import Comparison
    from tanbark.progress import Progress as ProgressCallback

SHARES = (0.1, 0.5)
"""The learning curve has these shares of the training rows, and all of them."""
FEW_ROWS = 1000
WORTH_PROCESSES = 5.0
"""What takes fewer seconds is over before other processes have started."""


class Trials:
    """Classifiers to try on a table.

    Parameters
    ----------
    models : mapping of str to classifier
    X, y
        The table and its classes.
    folds, repeats, seed : int
    jobs : int, optional
        How many processes learn at once: all cores unless it is said, and unless the work is little.
    bar : Progress
    """

    def __init__(
        self,
        models: Mapping[str, Any],
        X: Any,
        y: Any,
        folds: int,
        repeats: int,
        seed: int,
        jobs: int | None,
        bar: Progress,
    ) -> None:
        self.models, self.X, self.y, self.bar = models, X, y, bar
        self.rounds = folds * repeats
        self.seconds = {name: fold_seconds(name, *X.shape) for name in models}
        little = sum(self.seconds.values()) * self.rounds < WORTH_PROCESSES
        n_jobs = jobs or (1 if little else -1)
        self.settings = {"folds": folds, "repeats": repeats, "random_state": seed, "n_jobs": n_jobs}

    def compare(self) -> tuple[Comparison, list[str]]:
        """Return how well all do, and what there is to note."""
        self._load_kernels()
        curve, notes = self._curve("comparing", self.models, (1.0,))
        return curve[1.0], notes

    def _load_kernels(self) -> None:
        """Load what counts and trees need, which the first of the classifiers would be charged with otherwise."""
        from tanbark import TAN

        encoders = [model.encoder for model in self.models.values() if hasattr(model, "encoder")]
        with warnings.catch_warnings(), suppress(ValueError, TypeError):
            warnings.simplefilter("ignore")
            X = self.X.slice(0, FEW_ROWS)
            TAN(encoder=next(iter(encoders), None)).fit(X, self.y[:FEW_ROWS]).predict_log_proba(X)

    def curve(self, names: Sequence[str], found: Comparison) -> tuple[dict[float, Comparison], list[str]]:
        """Return how well some do having learned from fewer rows, and from all, and which fail with fewer."""
        from tanbark.evaluate import Comparison

        curve, _ = self._curve("learning curve", {name: self.models[name] for name in names}, SHARES)
        failures = [
            f"{name} fails with {share:.0%} of the rows: {why}"
            for share, comparison in curve.items()
            for name, why in comparison.failures.items()
        ]
        return curve | {1.0: Comparison({name: found[name] for name in names}, {})}, failures

    def _curve(
        self, what: str, models: Mapping[str, Any], shares: Sequence[float]
    ) -> tuple[dict[float, Comparison], list[str]]:
        from threadpoolctl import threadpool_limits

        from tanbark.evaluate import learning_curve

        steps = [(name, share * self.seconds[name]) for share in shares for name in models for _ in range(self.rounds)]
        tell = _shown(self.bar, what, steps)
        # Folds are learned side by side already.
        with threadpool_limits(1), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            curve = learning_curve(models, self.X, self.y, shares=shares, progress=tell, **self.settings)
        return curve, [str(warning.message) for warning in caught]


def _shown(bar: Progress, what: str, steps: Sequence[tuple[str, float]]) -> ProgressCallback:
    """Return a function that shows what is being done and how long the rest will take.

    Parameters
    ----------
    bar : Progress
    what : str
    steps : sequence of (name, seconds)
        Whose turn each fold is, and about how long it should take: what counts is how long against the others.
    """
    whole = sum(seconds for _, seconds in steps)
    task = bar.add_task(what, total=whole, detail=steps[0][0])
    began = time.monotonic()

    def tell(_: str, folds_done: float, total: float | None) -> None:
        done = int(folds_done)
        if done == total:
            bar.update(task, visible=False)
            return
        spent = sum(seconds for _, seconds in steps[:done])
        left = time_left(time.monotonic() - began, spent / whole)
        bar.update(task, completed=spent, detail=f"{steps[done][0]}{left}")

    return tell
