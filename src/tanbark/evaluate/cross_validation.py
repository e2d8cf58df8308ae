"""Cross-validation of classifiers.

A `Trial` holds a table and its folds. In each fold a classifier is fitted either to the counts of all rows minus those
of the fold, if that is exact (see `tanbark.evaluate.folds`), or to the rows of the training part.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from narwhals import dependencies
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from tanbark.classifiers.base.class_weights import check_weighted_classes
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_jobs, check_number
from tanbark.evaluate.folds import (
    MAX_COUNTS_BYTES,
    EncodedTable,
    FoldCounts,
    Places,
    Split,
    stratified_folds,
    stratified_share,
)
from tanbark.evaluate.grouped_folds import read_groups, stratified_group_folds
from tanbark.evaluate.model_evaluation import predicted_log_probabilities
from tanbark.evaluate.parallel_results import parallel_results
from tanbark.evaluate.results import CrossValidation, Fold
from tanbark.messages import counted, warn
from tanbark.progress import Progress, silent
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.class_column import read_target, usable_rows
from tanbark.schema.read.table_reader import as_known_table, read_table
from tanbark.schema.recipe.unreadable import UnreadableValues, collecting
from tanbark.shared_docs import insert_shared_docs

Array = NDArray[np.float64]
Note = tuple[type[Warning], str]


@dataclass(frozen=True, eq=False)
class Answer:
    """The predictions of a classifier for the rows of a fold.

    Parameters
    ----------
    log_probabilities : array of shape (rows of the fold, classes)
    classes : array
        The classes that the classifier knows.
    learned_from : int
        Number of training rows.
    fit_seconds, predict_seconds : float
    notes : frozenset
        Category and message of each warning.
    """

    log_probabilities: Array
    classes: NDArray[Any]
    learned_from: int
    fit_seconds: float
    predict_seconds: float
    notes: frozenset[Note] = frozenset()


def learn(model: Any, X: Any, y: Any, test: Any, weights: Array | None = None) -> Answer:
    """Fit a clone of a classifier to `X` and `y` and return its predictions for the rows of `test`.

    Values of the fold that cannot be read count as missing, however many there are.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        began = time.perf_counter()
        fitted = _unfitted(model, y).fit(X, y, **_fit_arguments(model, weights))
        learned = time.perf_counter()
        with collecting(UnreadableValues()):
            found = predicted_log_probabilities(fitted, test)
        now = time.perf_counter()
    notes = frozenset((warning.category, str(warning.message)) for warning in caught)
    return Answer(found, fitted.classes_, len(y), learned - began, now - learned, notes)


def _unfitted(model: Any, y: Any) -> Any:
    """Return a clone of a classifier whose `class_weight` names no classes that are absent from the training rows."""
    fresh = clone(model)
    if isinstance(fresh, CountsClassifier) and isinstance(fresh.class_weight, Mapping):
        present = set(y.tolist())
        fresh.set_params(class_weight={k: v for k, v in fresh.class_weight.items() if k in present})
    return fresh


def _fit_arguments(model: Any, weights: Array | None) -> dict[str, Array]:
    """Return the argument of `fit` that passes weights of rows; a pipeline passes them to its last step."""
    if weights is None:
        return {}
    return {f"{model.steps[-1][0]}__sample_weight" if isinstance(model, Pipeline) else "sample_weight": weights}


def with_unseen_classes(classes: NDArray[Any], known: list[NDArray[Any]]) -> NDArray[Any]:
    """Return the classes of the table, followed by others that some classifier knows."""
    others = dict.fromkeys(label for labels in known for label in labels.tolist() if label not in set(classes.tolist()))
    kind = object if classes.dtype == object else None
    return np.array([*classes.tolist(), *others], kind) if others else classes


def align_classes(log_probabilities: Array, classes: NDArray[Any], wanted: NDArray[Any]) -> Array:
    """Return log probabilities of the wanted classes; those that the classifier does not know have probability 0."""
    if np.array_equal(classes, wanted):
        return log_probabilities
    out = np.full((len(log_probabilities), len(wanted)), -np.inf)
    place = {label: at for at, label in enumerate(wanted.tolist())}
    out[:, [place[label] for label in classes.tolist()]] = log_probabilities
    return out


class Trial:
    """A table and its folds, on which any number of classifiers can be cross-validated; see `cross_validate`."""

    def __init__(
        self,
        X: Any,
        y: Any,
        folds: int,
        repeats: int,
        random_state: int,
        n_jobs: int | None,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> None:
        check_number("folds", folds, 2)
        check_number("repeats", repeats, 1)
        check_number("random_state", random_state, 0)
        check_jobs(n_jobs)
        began = time.perf_counter()
        self.X = as_known_table(X)
        self.n_jobs = n_jobs
        self.seed = random_state
        table = read_table(self.X, n_jobs)
        target = read_target(y)
        if len(target.codes) != table.rows:
            raise ValueError(f"X has {table.rows:,} rows, but y has {len(target.codes):,}")
        target.name_beside(table.names or ())
        self.rows = table.rows
        of_rows = None if groups is None else read_groups(groups, self.rows)
        self._table, self._target, self._weights = usable_rows(table, target, sample_weight)
        is_weighted = True if sample_weight is None else np.asarray(sample_weight, np.float64) > 0
        self.known = np.flatnonzero((target.codes >= 0) & is_weighted)
        self._groups = None if of_rows is None else of_rows[self.known]
        self.classes, self.truth = self._target.labels, self._target.codes
        self._reading = (time.perf_counter() - began) / max(table.rows, 1)
        self._check(folds)
        self.splits = [Split.of(self._folds(folds, (random_state, repeat))) for repeat in range(repeats)]
        self._encoded: list[tuple[Encoder | Schema, EncodedTable]] = []
        self._counts: dict[tuple[int, int], FoldCounts] = {}

    def _check(self, folds: int) -> None:
        """Raise ValueError if there cannot be so many folds, and warn if a class cannot be in all of them."""
        if folds > len(self.known):
            raise ValueError(f"{folds} folds need at least as many rows, got {len(self.known):,}")
        if len(self.classes) < 2:
            raise ValueError(f"y has a single class, {self.classes.tolist()[0]!r}; at least two are needed")
        parts = np.bincount(self.truth)
        if self._groups is not None:
            self._check_groups(self._groups, folds)
            # How many groups have rows of each class.
            parts = np.bincount(np.unique(self._groups * len(self.classes) + self.truth) % len(self.classes))
        if parts.min() < folds:
            rare = self.classes.tolist()[int(parts.argmin())]
            has = f"has {counted(parts.min(), 'row')}"
            if self._groups is not None:
                has = f"is in {counted(parts.min(), 'group')}"
            n_others = int((parts < folds).sum()) - 1
            few = f"the class {rare!r} {has}, fewer than the {folds} folds"
            if n_others:
                others = "1 other class also has" if n_others == 1 else f"{n_others:,} other classes also have"
                warn(f"{few}; {others} fewer: some folds have no row of them")
            else:
                warn(f"{few}: some folds have no row of it")

    @staticmethod
    def _check_groups(groups: Places, folds: int) -> None:
        """Raise ValueError if a row has no group, or if there are fewer groups than folds."""
        n_missing = int((groups < 0).sum())
        if n_missing:
            raise ValueError(
                f"groups has missing values in {counted(n_missing, 'row')}; every row with a class needs a group"
            )
        n_groups = len(np.unique(groups))
        if n_groups < folds:
            raise ValueError(f"{folds} folds need at least as many groups, got {n_groups:,}; use fewer folds")

    def _folds(self, folds: int, seed: tuple[int, ...]) -> Places:
        """Return the fold of each row that has a class."""
        if self._groups is None:
            return stratified_folds(self.truth, folds, seed)
        return stratified_group_folds(self.truth, self._groups, folds, seed)

    def of(self, model: Any, share: float = 1.0, progress: Progress | None = None) -> CrossValidation:
        """Cross-validate a classifier."""
        check_share(share)
        report = progress or silent
        plan = [(repeat, k) for repeat, split in enumerate(self.splits) for k in range(len(split))]
        found: dict[tuple[int, int], Answer] = {}
        for repeat, k in plan if self._may_use_counts(model) else ():
            answer = self._from_counts(model, repeat, k, share)
            if answer is not None:
                found[repeat, k] = answer
                report("cross-validating", len(found), len(plan))
        shared = len(found)
        rest = [part for part in plan if part not in found]
        if rest:
            with closing(self._from_rows(model, rest, share)) as answers:
                for answer, part in zip(answers, rest, strict=True):
                    found[part] = answer
                    report("cross-validating", len(found), len(plan))
        repeats = len(self.splits)
        classes = with_unseen_classes(self.classes, [answer.classes for answer in found.values()])
        folds = tuple(self._fold(*part, found[part], classes) for part in plan)
        return CrossValidation(classes, folds, repeats, shared)

    def _fold(self, repeat: int, k: int, answer: Answer, classes: NDArray[Any]) -> Fold:
        held_out = self.splits[repeat].inside(k)
        rows = held_out if len(self.known) == self.rows else self.known[held_out]
        log_probabilities = align_classes(answer.log_probabilities, answer.classes, classes)
        seconds = answer.fit_seconds, answer.predict_seconds
        weights = None if self._weights is None else self._weights[held_out]
        return Fold(rows, self.truth[held_out], log_probabilities, answer.learned_from, *seconds, weights)

    def _learned_from(self, repeat: int, k: int, share: float) -> Places:
        """Return the training rows, as positions among the rows that have a class."""
        return stratified_share(self.truth, self.splits[repeat].outside(k), share, (self.seed, repeat))

    # Fitting to rows

    def _from_rows(self, model: Any, parts: list[tuple[int, int]], share: float) -> Generator[Answer, None, None]:
        """Yield the answer for each fold after fitting to the rows of the others; pass on warnings common to all."""
        tasks = (
            delayed(learn)(
                model,
                take_rows(self.X, self.known[inside := self._learned_from(repeat, k, share)]),
                self.classes[self.truth[inside]],
                take_rows(self.X, self.known[self.splits[repeat].inside(k)]),
                None if self._weights is None else self._weights[inside],
            )
            for repeat, k in parts
        )
        common: frozenset[Note] | None = None
        with parallel_results(tasks, self.n_jobs if len(parts) > 1 else 1) as answers:
            for answer in answers:
                common = answer.notes if common is None else common & answer.notes
                yield answer
        for category, message in sorted(common or (), key=str):
            warnings.warn(message, category, stacklevel=2)

    # Fitting to counts

    def _may_use_counts(self, model: Any) -> bool:
        """Return whether the counts of a table may help to fit a classifier to its folds."""
        if not isinstance(model, CountsClassifier):
            return False
        model.validate_parameters()
        if model.class_weight is not None:
            check_weighted_classes(model.class_weight, self.classes.tolist())
        # Differences of sums of weights would have rounding errors.
        if self._weights is not None:
            return False
        # Fitting to rows is slow, so let the processes share the work.
        return model.why_rows_needed() is None or effective_n_jobs(self.n_jobs) == 1

    def _from_counts(self, model: CountsClassifier, repeat: int, k: int, share: float) -> Answer | None:
        """Return the answer after fitting to the counts of all rows minus the fold's, None if it might differ."""
        fold_counts = self._fold_counts(model, repeat)
        if fold_counts is None:
            return None
        model = clone(model)
        needs_rows = model.why_rows_needed() is not None
        encoded = fold_counts.encoded
        rows = encoded.rows.take(self._learned_from(repeat, k, share)) if needs_rows or share < 1.0 else None
        counts = fold_counts.without(k) if rows is None or share == 1.0 else fold_counts.count(rows)
        if not encoded.is_schema_of(counts):
            return None
        began = time.perf_counter()
        if needs_rows:
            assert rows is not None
            model.fit_encoded(rows, counts)
        else:
            model.fit_counts(counts)
        learned = time.perf_counter()
        said = model.model_.log_posterior(fold_counts.fold(k).codes, model.n_jobs)
        now = time.perf_counter()
        to_codes = self._reading + encoded.encoding
        to_counts = to_codes + encoded.learning + fold_counts.counting
        many = int(counts.class_counts.sum())
        fit_seconds = learned - began + to_counts * many
        return Answer(said, counts.schema.class_labels, many, fit_seconds, now - learned + to_codes * len(said))

    def _fold_counts(self, model: CountsClassifier, repeat: int) -> FoldCounts | None:
        """Return the counts of each fold, or None if training parts would have schemas of their own."""
        place = self._place(model.usable_encoder())
        encoded = self._encoded[place][1]
        if not encoded.sharable:
            return None
        held = self._counts.get((place, repeat))
        if held is None or held.order < model.count_order:
            held = FoldCounts(encoded, self.splits[repeat], model.count_order)
            if sum(counts.bytes for counts in self._counts.values()) + held.bytes > MAX_COUNTS_BYTES:
                self._counts.clear()
            self._counts[place, repeat] = held
        return held

    def _place(self, wanted: Encoder | Schema) -> int:
        """Return the index of the table encoded by this encoder; encode it if necessary."""
        for place, (known, _) in enumerate(self._encoded):
            same = known == wanted if isinstance(wanted, Schema) else _settings(known) == _settings(wanted)
            if same:
                return place
        self._encoded.append((wanted, EncodedTable(wanted, self._table, self._target, self.n_jobs)))
        return len(self._encoded) - 1


def _settings(encoder: Encoder | Schema) -> Any:
    if isinstance(encoder, Schema):
        return None
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in encoder.get_params().items()}


def take_rows(X: Any, rows: Places) -> Any:
    """Return some rows of a table of any type; not every version of scikit-learn can index Arrow tables."""
    return X.take(rows) if dependencies.is_pyarrow_table(X) else _safe_indexing(X, rows)


def check_share(share: Any) -> None:
    """Raise ValueError if a share of rows is not above 0 and at most 1."""
    if not isinstance(share, Real) or not 0.0 < float(share) <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1, got {share!r}")


@insert_shared_docs
def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    share: float = 1.0,
    groups: Any = None,
    sample_weight: Any = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Evaluate a classifier by stratified cross-validation.

    A tanbark classifier is fitted to the counts of all rows minus those of the fold if every training part has the same
    schema: if the encoder is a `Schema`, or if all columns are categories whose levels are declared or occur in each
    training part. The result is identical to the last bit, and the table is read, encoded and counted only once. In all
    other cases the classifier is fitted to the rows of each training part, because cut points of numbers depend on it.

    Parameters
    ----------
    model : classifier
        A classifier of tanbark or scikit-learn, which is cloned.
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
        Rows without a class are dropped.
    {folds_and_repeats}
    share : float, default=1.0
        Proportion of the training rows of each class that the classifier is fitted to.
    {groups}
    {evaluation_weights}
    random_state : int, default=0
        Seed of the folds and of the share.
    n_jobs : int or None, default=None
        Number of parallel processes. A classifier that is fitted to counts alone stays in this process, which counts
        with as many threads. None means 1, -1 means all cores, as in scikit-learn.
    progress : callable, default=None
        Called with a text, the number of folds done and their total (see `tanbark.progress`).

    Returns
    -------
    CrossValidation

    Notes
    -----
    All metrics are computed from the predicted probabilities, whatever threshold `predict` uses. They are weighted by
    `sample_weight`, but not by the `class_weight` of a classifier. A warning is passed on if it occurs in every fold.
    Folds that a classifier makes of the training rows, for example to choose its penalties, do not keep groups
    together.

    Examples
    --------
    >>> from tanbark import TAN
    >>> from tanbark.datasets import lenses
    >>> from tanbark.evaluate import cross_validate
    >>> X, y = lenses()
    >>> found = cross_validate(TAN(), X, y, folds=4)
    >>> found.score("error").round(2)
    array([0.33, 0.17, 0.33, 0.33])
    """
    return Trial(X, y, folds, repeats, random_state, n_jobs, groups, sample_weight).of(model, share, progress)
