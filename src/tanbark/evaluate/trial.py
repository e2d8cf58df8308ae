"""A table split into folds, on which classifiers are tried."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator
from contextlib import closing
from numbers import Real
from typing import Any

import numpy as np
from joblib import delayed, effective_n_jobs
from narwhals import dependencies
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from tanbark.classifiers.base import CountsClassifier
from tanbark.classifiers.checks import check_jobs, check_number
from tanbark.evaluate.answers import Answer, Note, aligned, learn, with_others
from tanbark.evaluate.folds import Places, Split, stratified_folds, stratified_share
from tanbark.evaluate.results import CrossValidation, Fold
from tanbark.evaluate.shared_counts import ROOM, EncodedTable, FoldCounts
from tanbark.evaluate.side_by_side import side_by_side
from tanbark.schema import Encoder, Schema
from tanbark.schema.rows import usable_rows
from tanbark.schema.table import as_known_table, read_table
from tanbark.schema.target import read_target
from tanbark.schema.warn import warn

Progress = Callable[[int, int], None]


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
        tell = progress or (lambda done, total: None)
        plan = [(repeat, k) for repeat, split in enumerate(self.splits) for k in range(len(split))]
        found: dict[tuple[int, int], Answer] = {}
        for repeat, k in plan:
            answer = self._from_counts(model, repeat, k, share)
            if answer is not None:
                found[repeat, k] = answer
                tell(len(found), len(plan))
        shared = len(found)
        rest = [part for part in plan if part not in found]
        with closing(self._anew(model, rest, share)) as answers:
            for answer, part in zip(answers, rest):
                found[part] = answer
                tell(len(found), len(plan))
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
        model._check_parameters()
        needs_rows = model._why_rows() is not None
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
        model._check_schema(encoded.schema)
        model._fit_rows(counts, rows if needs_rows else None)
        learned = time.perf_counter()
        said = model._log_posteriors(counted.fold(k).codes)
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
        if held is None or held.order < model._order:
            held = FoldCounts(encoded, self.splits[repeat], model._order)
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
