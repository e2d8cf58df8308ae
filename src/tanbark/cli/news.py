"""Further rows for a model: their counts, and how well the model foresaw their classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tanbark.cli.console import rows_read
from tanbark.cli.inputs import attribute_inputs, class_input, fault, refuse_faults, refuse_lacking
from tanbark.cli.source import Rows

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.progress import Progress

    from tanbark.classifiers.base import CountsClassifier
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
    """

    counts: Counts | None = None
    rows: int = 0
    unlabelled: int = 0
    foreseeable: int = 0
    right: int = 0
    loss: float = 0.0
    ignored: tuple[str, ...] = ()


def read_news(model: CountsClassifier, rows: Rows, bar: Progress) -> News:
    """Return what the rows of files hold; the model, which knows nothing of them, stays as it is."""
    schema = model.schema_
    wanted = (*schema.names, schema.class_name)
    refuse_lacking(rows, wanted)
    inputs = [*attribute_inputs(schema, rows), class_input(schema, rows, schema.class_name)]
    expressions = [*(one.converted for one in inputs), fault(inputs)]
    news = News(ignored=tuple(name for name in rows.names if name not in wanted))
    before = 0
    for batch in rows_read(bar, "reading", rows.select(expressions), rows.total):
        refuse_faults(inputs, batch.column(len(inputs)), before)
        before += batch.num_rows
        labelled = batch.filter(batch.column(len(schema.names)).is_valid())
        news.unlabelled += batch.num_rows - labelled.num_rows
        if labelled.num_rows:
            _take(news, model, labelled)
    return news


def _take(news: News, model: CountsClassifier, batch: pa.RecordBatch) -> None:
    """Add rows that have a class."""
    import numpy as np
    import pyarrow as pa

    from tanbark.schema.table import read_table
    from tanbark.schema.target import read_target

    names = model.schema_.names
    X, y = pa.table(batch.columns[: len(names)], names=list(names)), batch.column(len(names))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_probabilities = model.predict_log_proba(X)
    place = {label: i for i, label in enumerate(model.schema_.classes)}
    truth = np.array([place.get(label, -1) for label in y.to_pylist()])
    known = np.flatnonzero(truth >= 0)
    news.rows += len(truth)
    news.foreseeable += len(known)
    news.right += int((log_probabilities.argmax(axis=1) == truth).sum())
    news.loss -= float(log_probabilities[known, truth[known]].sum())
    counts = model._count(model._rows(model.schema_, read_table(X, -1), read_target(y), None))
    news.counts = counts if news.counts is None else news.counts + counts
