"""Fit a model from rows that are read into memory or streamed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.input_columns import Columns
from tanbark.cli.input.weights_and_costs import by_class
from tanbark.cli.terminal.console import CommandError, ProgressLine

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tanbark.classifiers.base.counts_classifier import CountsClassifier
    from tanbark.counts import Counts
    from tanbark.schema import Encoder
    from tanbark.sources import Source

MAX_BYTES_IN_MEMORY = 512 * 2**20
"""Larger tables are streamed if the model can be learned from counts, or if the user did not choose it."""
STREAMED_MODEL = "tan"
"""The model for tables that are streamed, if the user did not choose one."""


@dataclass(frozen=True)
class FitRequest:
    """The model to fit, its settings, and the columns to learn from.

    If the user did not choose the model (`chosen` is false), a table that is too large for memory gets another one.
    """

    model: str
    settings: dict[str, Any]
    columns: Columns
    chosen: bool = True

    def new(self, encoder: Encoder, classes: Iterable[Any] = ()) -> CountsClassifier:
        """Return the unfitted model; settings may name `classes` by their texts."""
        from tanbark.classifiers.registry import REGISTRY

        settings = {name: by_class(value, classes) for name, value in self.settings.items()}
        return REGISTRY[self.model].classifier(encoder=encoder, n_jobs=-1, **settings)

    @property
    def is_weighted(self) -> bool:
        """Whether rows or classes have weights. Cut points depend on them, so that all rows must be in memory."""
        return self.columns.weight is not None or self.settings.get("class_weight") is not None

    @property
    def needs_rows(self) -> bool:
        """Whether the model cannot be learned from counts."""
        return not hasattr(self.new(self.columns.encoder), "fit_counts")

    def for_streaming(self) -> FitRequest:
        """Return the request for a table that is streamed, with a model that can be learned from counts."""
        return replace(self, model=STREAMED_MODEL) if self.needs_rows else self


@dataclass(frozen=True)
class FitResult:
    """A fitted model, the number of rows, notes for the user, and the seconds that fitting took.

    If the rows are in memory, `X`, `y`, `groups` and `weights` are the table, its classes, and the group and the weight
    of each row, if any. `class_totals` are the numbers, or total weights, of the rows of each class, before classes are
    reweighted. In `row_counts`, each row with a class and a positive weight counts once.
    """

    model: CountsClassifier
    rows: int
    notes: list[str]
    seconds: float
    encoder: Encoder
    class_totals: NDArray[np.number[Any]]
    row_counts: Counts = field(repr=False)
    X: pa.Table | None = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    groups: Any = field(default=None, repr=False)
    weights: NDArray[np.float64] | None = field(default=None, repr=False)

    @property
    def learned(self) -> int:
        """The number of rows with a class and a positive weight."""
        return int(self.row_counts.class_counts.sum())


def fit_source(request: FitRequest, source: Source, in_memory: bool, bar: ProgressLine) -> FitResult:
    """Fit a model to the rows of a source.

    A large source is streamed, unless the caller needs the rows in memory, the user chose a model that does, or the
    class has to be cut into intervals. The model is the same either way if it can be learned from counts.
    """
    must_fit = in_memory or (request.chosen and (request.needs_rows or request.is_weighted))
    must_fit = must_fit or request.columns.bin_target is not None
    max_bytes = None if must_fit else MAX_BYTES_IN_MEMORY
    table = None if not must_fit and _is_large(source) else read_rows(source, max_bytes, bar)
    with explaining_column_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if table is None and request.is_weighted:
            raise CommandError(
                f"the table is larger than {MAX_BYTES_IN_MEMORY // 2**20} MiB, but weights need all of its rows in "
                f"memory; choose the model to read them, for example --model {STREAMED_MODEL}"
            )
        if table is None:
            streamed = request.for_streaming()
            result = _fit_stream(streamed, source, bar)
            other = _other_model_notes(request, streamed)
        else:
            result, other = _fit_table(request, table, bar), []
    messages = list(dict.fromkeys(str(warning.message) for warning in caught))
    return replace(result, notes=[*other, *messages, *result.notes])


def _other_model_notes(request: FitRequest, streamed: FitRequest) -> list[str]:
    """Return a note if a table was streamed into another model than it would have got in memory."""
    if streamed.model == request.model:
        return []
    return [
        f"the table is larger than {MAX_BYTES_IN_MEMORY // 2**20} MiB, so it was streamed and the model is "
        f"{streamed.model}; use --model {request.model} to read all rows into memory"
    ]


def _is_large(source: Source) -> bool:
    """Return whether the rows are known to be large before they are read."""
    values = (source.total or 0) * len(source.schema.names)
    return max(8 * values, source.nbytes or 0) > MAX_BYTES_IN_MEMORY


def read_rows(source: Source, max_bytes: int | None, bar: ProgressLine) -> pa.Table | None:
    """Return all rows, or None if they take more than `max_bytes` bytes."""
    table = _read_once(source, max_bytes, bar)
    infinite = [] if table is None else _infinite_columns(table)
    # In text, an infinite number counts as missing.
    return _read_once(source, max_bytes, bar) if infinite and source.read_as_text(infinite) else table


def _infinite_columns(table: pa.Table) -> list[str]:
    """Return the names of the columns with an infinite number."""
    import pyarrow as pa
    import pyarrow.compute as pc

    floats = [field.name for field in table.schema if pa.types.is_float64(field.type)]
    return [name for name in floats if pc.any(pc.is_inf(table.column(name))).as_py()]


def _read_once(source: Source, max_bytes: int | None, bar: ProgressLine) -> pa.Table | None:
    """Return all rows, or None if they take more than `max_bytes` bytes."""
    import pyarrow as pa

    batches, size = [], 0
    for batch in bar.over_batches("reading", source.batches(), source.total):
        batches.append(batch)
        size += batch.nbytes
        if max_bytes is not None and size > max_bytes:
            return None
    table = pa.Table.from_batches(batches, source.schema)
    if not table.num_rows:
        raise CommandError(f"{source.name} has no rows")
    return table


def _fit_table(request: FitRequest, table: pa.Table, bar: ProgressLine) -> FitResult:
    from tanbark.progress import listening

    columns = request.columns.with_class_of(table)
    X, y = columns.split(table)
    weights = columns.weights(table)
    bar("learning", 0, None, f"{table.num_rows:,} rows")
    with _timed() as seconds, listening(bar):
        model = request.new(columns.encoder, _classes(request, y)).fit(X, y, weights)
    encoder, groups = columns.encoder_for(model.schema_), columns.groups(table)
    totals, row_counts = model.counts_.class_counts, model.counts_
    if request.is_weighted:
        totals, row_counts = _unweighted_counts(model, X, y, weights)
    return FitResult(model, table.num_rows, [], sum(seconds), encoder, totals, row_counts, X, y, groups, weights)


def _classes(request: FitRequest, y: Any) -> list[Any]:
    """Return the classes, if a setting may name them."""
    from tanbark.schema.read.class_column import read_target

    names_classes = any(isinstance(value, dict) for value in request.settings.values())
    return read_target(y).labels.tolist() if names_classes else []


def _unweighted_counts(
    model: CountsClassifier, X: pa.Table, y: Any, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.number[Any]], Counts]:
    """Return the total weight of the rows of each class, and the counts of values where each row counts once."""
    import numpy as np

    from tanbark.counts import Counts
    from tanbark.schema.read.class_column import read_target
    from tanbark.schema.recipe.unreadable import UnreadableValues, collecting

    schema, target = model.schema_, read_target(y)
    used = target.codes >= 0 if weights is None else (target.codes >= 0) & (weights > 0)
    classes = target.keep(used).codes_under(schema.classes)
    # The fit has already warned of values that cannot be read.
    with collecting(UnreadableValues()):
        codes = np.ascontiguousarray(model.encode(X)[:, used])
    totals = np.bincount(classes, None if weights is None else weights[used], len(schema.classes))
    return totals, Counts.of(schema, codes, classes, order=1)


def _fit_stream(request: FitRequest, source: Source, bar: ProgressLine) -> FitResult:
    from tanbark.counts import Counts
    from tanbark.progress import listening

    columns = request.columns
    rows = 0

    def count_rows(task: str, done: float, total: float | None) -> None:
        nonlocal rows
        rows = int(done)
        bar.rows(task, done, total)

    unfitted = request.new(columns.encoder)
    with _timed() as seconds:
        counts = Counts.from_batches(
            source,
            columns.target,
            encoder=columns.encoder,
            ignore=columns.ignore,
            order=unfitted.count_order,
            n_jobs=-1,
            progress=count_rows,
        )
    columns.check_classes(counts.schema.classes)
    bar("learning", 0, None)
    with _timed() as more, listening(bar):
        model = request.new(columns.encoder, counts.schema.classes).fit_counts(counts)
    encoder = columns.encoder_for(counts.schema)
    return FitResult(model, rows, [], sum(seconds + more), encoder, counts.class_counts, counts)


@contextmanager
def _timed() -> Iterator[list[float]]:
    """Yield a list that receives the elapsed seconds at the end, without those spent on compilation."""
    from numba.core.event import install_timer

    seconds: list[float] = []
    compiling: list[float] = []
    began = time.monotonic()
    with install_timer("numba:compiler_lock", compiling.append):
        yield seconds
    seconds.append(time.monotonic() - began - sum(compiling))


@contextmanager
def explaining_column_errors() -> Iterator[None]:
    """Add command-line advice to errors about columns of lists, structures or bytes."""
    try:
        yield
    except TypeError as error:
        message = str(error).split(";")[0]
        if "must be a string or a number" not in message:
            raise
        raise CommandError(f"{message}; leave it out with --ignore") from error
