"""Cross-validation of classifiers."""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Generator, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass
from multiprocessing import resource_tracker
from numbers import Real
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.externals.loky.backend import resource_tracker as loky_tracker
from narwhals import dependencies
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.parameter_checks import check_jobs, check_number
from tanbark.evaluate.folds import ROOM, EncodedTable, FoldCounts, Places, Split, stratified_folds, stratified_share
from tanbark.evaluate.results import CrossValidation, Fold
from tanbark.progress import Progress, silent
from tanbark.schema import Encoder, Schema
from tanbark.schema.read.class_column import read_target, usable_rows
from tanbark.schema.read.table_reader import as_known_table, read_table
from tanbark.user_warnings import warn


@contextmanager
def side_by_side(tasks: Iterable[Any], n_jobs: int | None, in_order: bool = True) -> Iterator[Iterator[Any]]:
    """Yield what tasks return, each once it is done; in their order, or as they are done.

    A terminal sends Ctrl-C to all processes. Those that are started here do not hear it: this one does, and ends them.
    """
    with ExitStack() as ended:
        # An interrupt that had to wait comes when this is left, and finds somebody who ends the processes.
        with nullcontext() if effective_n_jobs(n_jobs) == 1 else _unheard():
            started = Parallel(n_jobs, return_as="generator" if in_order else "generator_unordered")(tasks)
            results = ended.enter_context(closing(started))
        yield results


@contextmanager
def _unheard() -> Iterator[None]:
    """Let interrupts wait, as they do for good in a process that is started here."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # These joblib starts before the others; older versions of both then let interrupts be heard again.
    resource_tracker.ensure_running()
    loky_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


Array = NDArray[np.float64]
Note = tuple[type[Warning], str]


@dataclass(frozen=True, eq=False)
class Answer:
    """What a classifier said of the rows of a fold, and what there is to know of how it came to it.

    Parameters
    ----------
    log_probabilities : array of shape (rows of the fold, classes)
    classes : array
        Those that it knows.
    learned_from : int
        How many rows.
    fit_seconds, predict_seconds : float
    notes : frozenset
        What it warned of.
    """

    log_probabilities: Array
    classes: NDArray[Any]
    learned_from: int
    fit_seconds: float
    predict_seconds: float
    notes: frozenset[Note] = frozenset()


def learn(model: Any, X: Any, y: Any, test: Any) -> Answer:
    """Return what a classifier that learned from some rows says of others."""
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="ignore"):
        warnings.simplefilter("always")
        began = time.perf_counter()
        fitted = clone(model).fit(X, y)
        learned = time.perf_counter()
        if hasattr(fitted, "predict_log_proba"):
            found = np.asarray(fitted.predict_log_proba(test), np.float64)
        elif hasattr(fitted, "predict_proba"):
            found = np.log(np.asarray(fitted.predict_proba(test), np.float64))
        else:
            raise TypeError(f"{type(fitted).__name__} gives no probabilities; put it into a CalibratedClassifierCV")
        now = time.perf_counter()
    if np.isnan(found).any():
        raise ValueError(f"{type(fitted).__name__} gives probabilities that are not numbers")
    notes = frozenset((warning.category, str(warning.message)) for warning in caught)
    return Answer(found, fitted.classes_, len(y), learned - began, now - learned, notes)


def with_others(classes: NDArray[Any], known: list[NDArray[Any]]) -> NDArray[Any]:
    """Return classes, and after them those that some classifier knows beside."""
    others = dict.fromkeys(label for labels in known for label in labels.tolist() if label not in set(classes.tolist()))
    kind = object if classes.dtype == object else None
    return np.array([*classes.tolist(), *others], kind) if others else classes


def aligned(log_probabilities: Array, classes: NDArray[Any], wanted: NDArray[Any]) -> Array:
    """Return log probabilities of all classes; one that was not known had none."""
    if np.array_equal(classes, wanted):
        return log_probabilities
    out = np.full((len(log_probabilities), len(wanted)), -np.inf)
    place = {label: at for at, label in enumerate(wanted.tolist())}
    out[:, [place[label] for label in classes.tolist()]] = log_probabilities
    return out


class Trial:
    """A table and how it is split, on which any number of classifiers can be tried; see `cross_validate`."""

    def __init__(self, X: Any, y: Any, folds: int, repeats: int, random_state: int, n_jobs: int | None) -> None:
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
            raise ValueError(f"X has {table.rows} rows, but y has {len(target.codes)}")
        target.name_beside(table.names or ())
        self.rows = table.rows
        self.known = np.flatnonzero(target.codes >= 0)
        self._table, self._target, _ = usable_rows(table, target, None)
        self.classes, self.truth = self._target.labels, self._target.codes
        self._reading = (time.perf_counter() - began) / max(table.rows, 1)
        self._check(folds)
        self.splits = [
            Split.of(stratified_folds(self.truth, folds, (random_state, repeat))) for repeat in range(repeats)
        ]
        self._encoded: list[tuple[Encoder | Schema, EncodedTable]] = []
        self._counts: dict[tuple[int, int], FoldCounts] = {}

    def _check(self, folds: int) -> None:
        if folds > len(self.known):
            raise ValueError(f"{len(self.known)} rows are too few for {folds} folds")
        if len(self.classes) < 2:
            raise ValueError(
                f"every row is of the class {self.classes.tolist()[0]!r}, so there is nothing to tell apart"
            )
        rows = np.bincount(self.truth)
        if rows.min() < folds:
            rare = self.classes.tolist()[int(rows.argmin())]
            some = "1 row" if rows.min() == 1 else f"{rows.min()} rows"
            few = int((rows < folds).sum()) - 1
            others = "" if not few else ", and so has 1 more" if few == 1 else f", and so have {few} more"
            warn(
                f"the class {rare!r} has {some}, fewer than the {folds} folds{others}: in some folds none of it is "
                "predicted"
            )

    def of(self, model: Any, share: float = 1.0, progress: Progress | None = None) -> CrossValidation:
        """Return how well a classifier does."""
        check_share(share)
        tell = progress or silent
        plan = [(repeat, k) for repeat, split in enumerate(self.splits) for k in range(len(split))]
        found: dict[tuple[int, int], Answer] = {}
        for repeat, k in plan:
            answer = self._from_counts(model, repeat, k, share)
            if answer is not None:
                found[repeat, k] = answer
                tell("cross-validating", len(found), len(plan))
        shared = len(found)
        rest = [part for part in plan if part not in found]
        with closing(self._anew(model, rest, share)) as answers:
            for answer, part in zip(answers, rest):
                found[part] = answer
                tell("cross-validating", len(found), len(plan))
        repeats = len(self.splits)
        classes = with_others(self.classes, [answer.classes for answer in found.values()])
        folds = tuple(self._fold(*part, found[part], classes) for part in plan)
        return CrossValidation(classes, folds, repeats, shared)

    def _fold(self, repeat: int, k: int, answer: Answer, classes: NDArray[Any]) -> Fold:
        held_out = self.splits[repeat].inside(k)
        rows = held_out if len(self.known) == self.rows else self.known[held_out]
        said = aligned(answer.log_probabilities, answer.classes, classes)
        seconds = answer.fit_seconds, answer.predict_seconds
        return Fold(rows, self.truth[held_out], said, answer.learned_from, *seconds)

    def _learned_from(self, repeat: int, k: int, share: float) -> Places:
        """Return the rows that are learned from, among those that have a class."""
        return stratified_share(self.truth, self.splits[repeat].outside(k), share, (self.seed, repeat))

    # Learning anew

    def _anew(self, model: Any, parts: list[tuple[int, int]], share: float) -> Generator[Answer, None, None]:
        """Yield what comes of learning from the rows of the other folds."""
        tasks = (
            delayed(learn)(
                model,
                _taken(self.X, self.known[inside := self._learned_from(repeat, k, share)]),
                self.classes[self.truth[inside]],
                _taken(self.X, self.known[self.splits[repeat].inside(k)]),
            )
            for repeat, k in parts
        )
        noted: frozenset[Note] | None = None
        with side_by_side(tasks, self.n_jobs if len(parts) > 1 else 1) as answers:
            for answer in answers:
                noted = answer.notes if noted is None else noted & answer.notes
                yield answer
        for category, words in sorted(noted or (), key=str):
            warnings.warn(words, category, stacklevel=2)

    # Learning from counts

    def _from_counts(self, model: Any, repeat: int, k: int, share: float) -> Answer | None:
        """Return what comes of learning from counts of all rows less the fold's, None where it may not be the same."""
        if not isinstance(model, CountsClassifier):
            return None
        model = clone(model)
        model.validate_parameters()
        needs_rows = model.why_rows_needed() is not None
        if needs_rows and effective_n_jobs(self.n_jobs) > 1:
            # What learns from rows takes its time, which processes share.
            return None
        counted = self._fold_counts(model, repeat)
        if counted is None:
            return None
        encoded = counted.encoded
        rows = encoded.rows.take(self._learned_from(repeat, k, share)) if needs_rows or share < 1.0 else None
        counts = counted.without(k) if rows is None or share == 1.0 else counted.count(rows)
        if not encoded.is_schema_of(counts):
            return None
        began = time.perf_counter()
        if needs_rows:
            assert rows is not None
            model.fit_encoded(rows, counts)
        else:
            model.fit_counts(counts)
        learned = time.perf_counter()
        said = model.model_.log_posterior(counted.fold(k).codes, model.n_jobs)
        now = time.perf_counter()
        to_codes = self._reading + encoded.encoding
        to_counts = to_codes + encoded.learning + counted.counting
        many = int(counts.class_counts.sum())
        fit_seconds = learned - began + to_counts * many
        return Answer(said, model.classes_, many, fit_seconds, now - learned + to_codes * len(said))

    def _fold_counts(self, model: CountsClassifier, repeat: int) -> FoldCounts | None:
        """Return the counts of each fold, None where the table's parts teach schemas of their own."""
        place = self._place(model.encoder)
        encoded = self._encoded[place][1]
        if not encoded.sharable:
            return None
        held = self._counts.get((place, repeat))
        if held is None or held.order < model.count_order:
            held = FoldCounts(encoded, self.splits[repeat], model.count_order)
            if sum(counts.bytes for counts in self._counts.values()) + held.bytes > ROOM:
                self._counts.clear()
            self._counts[place, repeat] = held
        return held

    def _place(self, encoder: Encoder | Schema | None) -> int:
        """Return which of the encoded tables is by this encoder, having encoded the table if none is."""
        wanted = Encoder() if encoder is None else encoder
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


def _taken(X: Any, rows: Places) -> Any:
    """Return some rows of a table of any make; not every scikit-learn takes those of an Arrow table."""
    return X.take(rows) if dependencies.is_pyarrow_table(X) else _safe_indexing(X, rows)


def check_share(share: Any) -> None:
    """Raise a sentence where a share of rows is none."""
    if not isinstance(share, Real) or not 0.0 < float(share) <= 1.0:
        raise ValueError(f"share must be above 0 and at most 1, got {share!r}")


def cross_validate(
    model: Any,
    X: Any,
    y: Any,
    *,
    folds: int = 10,
    repeats: int = 1,
    share: float = 1.0,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> CrossValidation:
    """Return how well a classifier predicts each fold, having learned from the others.

    Every class is spread over the folds as evenly as can be. Where the training parts would all teach the same schema
    (a `Schema` is given as the encoder, or all columns are categories whose levels are declared or occur in each part)
    one of tanbark's classifiers learns from counts of all rows less those of the fold: the same to the last bit as
    learning anew, and the table is read, encoded and counted once. All else is learned anew: cut points of numbers
    belong to the training part, and a warning is passed on if it comes in every fold. Every metric is of the
    probabilities, whatever threshold `predict` may have.

    Parameters
    ----------
    model : classifier
        One of tanbark's or scikit-learn's; it is cloned.
    X : array, data frame or Arrow table of shape (rows, attributes)
    y : array or series of shape (rows,)
        Rows without a class are left out.
    folds, repeats : int
        How many folds, and how often the table is split anew.
    share : float
        Which share of the training rows is learned from, of each class alike.
    random_state : int
        Decides the folds.
    n_jobs : int or None
        How many processes learn at once; a classifier that counts suffice for learns in this one, where as many
        threads count. As in scikit-learn None is one, -1 all.
    progress : callable, optional
        Called with a text, the number of folds done and their total (see `tanbark.progress`).

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
    return Trial(X, y, folds, repeats, random_state, n_jobs).of(model, share, progress)
