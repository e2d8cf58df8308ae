"""Further rows for a model: their counts, and how well the model foresaw their classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tanbark.cli.input.input_columns import learnable_inputs, read_inputs
from tanbark.sources.duckdb_rows import Rows

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.progress import Progress

    from tanbark.classifiers._base.counts_classifier import CountsClassifier
    from tanbark.counts import Counts


@dataclass
class News:
    """What further rows hold.

    Parameters
    ----------
    counts : Counts, optional
    rows, unlabelled : int
        How many have a class, and how many do not and are left out.
    foreseeable, right : int
        How many are of a class that the model knew, and how many of them it predicted rightly.
    loss : float
        The negative log probability, in nats, that it gave to the classes of those foreseeable, summed.
    ignored : tuple of str
        Columns that the model does not have.
    notes : list of str
        What the library has to say about the rows.
    """

    counts: Counts | None = None
    rows: int = 0
    unlabelled: int = 0
    foreseeable: int = 0
    right: int = 0
    loss: float = 0.0
    ignored: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)


def read_news(model: CountsClassifier, rows: Rows, half_life: float | None, bar: Progress) -> News:
    """Return what the rows of files hold; the model, which knows nothing of them, stays as it is.

    With a half-life a row counts half after so many further ones.
    """
    schema = model.schema_
    inputs = learnable_inputs(schema, rows)
    known = {one.name for one in inputs}
    news = News(ignored=tuple(name for name in rows.names if name not in known))
    for batch in read_inputs(rows, inputs, (), bar, "reading"):
        labelled = batch.filter(batch.column(len(schema.names)).is_valid())
        news.unlabelled += batch.num_rows - labelled.num_rows
        if labelled.num_rows:
            _take(news, model, labelled, half_life)
    return news


def _take(news: News, model: CountsClassifier, batch: pa.RecordBatch, half_life: float | None) -> None:
    """Add rows that have a class."""
    import numpy as np
    import pyarrow as pa

    from tanbark.counts import Counts
    from tanbark.schema.encode.growth import codes_before

    names = model.schema_.names
    X, y = pa.table(batch.columns[: len(names)], names=list(names)), batch.column(len(names))
    place = {label: i for i, label in enumerate(model.schema_.classes)}
    truth = np.array([place.get(label, -1) for label in y.to_pylist()])
    known = np.flatnonzero(truth >= 0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", message="X has feature names")
        rows = model._further_rows(X, y, known=None if news.counts is None else news.counts.schema)
    news.notes = list(dict.fromkeys([*news.notes, *(str(warning.message) for warning in caught)]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_probabilities = model._log_posteriors(codes_before(rows.codes, rows.schema, model.schema_))
    news.rows += len(truth)
    news.foreseeable += len(known)
    news.right += int((log_probabilities.argmax(axis=1) == truth).sum())
    news.loss -= float(log_probabilities[known, truth[known]].sum())
    so_far = news.counts or Counts.zero(rows.schema, model.counts_.order)
    news.counts = so_far + model._count(rows) if half_life is None else model._faded(so_far, rows, half_life)
