"""Columns that determine the class nearly alone, so that they may not be known before the class is (leakage)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.messages import percent
from tanbark.schema import Number

Array = NDArray[np.float64]

MAX_ERROR = 0.01
"""A column is reported if it misclassifies at most this share of all rows, ..."""
MAX_RELATIVE_ERROR = 0.05
"""... and at most this share of those that the most frequent class misclassifies."""
MIN_ROWS = 100
"""Smaller tables are not judged."""
MIN_ROWS_OF_OTHER_CLASSES = 20
"""Tables with fewer rows outside the most frequent class are not judged: a column may predict them by chance."""
MIN_ROWS_OF_INTERVAL = 3
"""Adjacent intervals of a number are merged until each has this many rows, which can then predict each other."""
LEAKAGE_BINS = 64
"""Number of intervals of numbers that shows whether they predict the class."""
MAX_BOUNDARY_SHARE = 1 / 32
"""The largest share of the rows in an interval that is assumed to contain a boundary between two classes."""


@dataclass(frozen=True)
class LeakingColumn:
    """A column that alone predicts the class almost perfectly.

    Parameters
    ----------
    name : str
        The name of the column in the schema.
    input_name : str
        The name of the column of the table from which it is computed.
    accuracy : float
        The leave-one-out accuracy of predicting the most frequent class of the column's value.
    """

    name: str
    input_name: str
    accuracy: float

    def __str__(self) -> str:
        return (
            f"column {self.input_name!r} alone predicts the class in {percent(self.accuracy)} of the rows; check for "
            "leakage: unless it is known before the class, drop it"
        )


def leaking_columns(counts: Counts) -> tuple[LeakingColumn, ...]:
    """Return the columns that alone predict the class almost perfectly.

    Each row is classified as most of the other rows with its value. It is misclassified if there is a tie, and a value
    that no other row has predicts the most frequent class of the table; so an identifier predicts nothing. Missing
    values of a column count as one value. A column is returned if at most 1 % of all rows are misclassified, and at
    most 5 % of those outside the most frequent class. Tables of fewer than 100 rows, or with fewer than 20 rows outside
    the most frequent class, are not judged.

    Adjacent intervals of a number are merged until each has at least three rows. Intervals are unlikely to end where
    the class changes. Of up to ``classes - 1`` small intervals between intervals of different classes, all rows
    therefore count as classified correctly.

    Parameters
    ----------
    counts : Counts
        Counts of single values suffice (``order=1``). They must be of rows without weights. With five intervals per number, columns whose classes change
        within an interval are overlooked; with 64 they are found.

    Returns
    -------
    tuple of LeakingColumn
        In the order of the schema.

    Examples
    --------
    >>> import numpy as np
    >>> from tanbark import Counts, Encoder
    >>> paid = np.arange(200) % 2
    >>> X = np.column_stack([np.arange(200) % 3, paid, np.arange(200)])
    >>> schema = Encoder().fit(X, paid).schema_
    >>> for column in leaking_columns(Counts.of(schema, schema.encode(X), paid)):
    ...     print(column)
    column 'x1' alone predicts the class in 100.0% of the rows; check for leakage: unless it is known before the class, drop it
    """  # noqa: E501 (output)
    class_rows = counts.class_counts.astype(np.float64)
    n_rows = float(class_rows.sum())
    n_others = n_rows - float(class_rows.max(initial=0.0))
    if n_rows < MIN_ROWS or n_others < MIN_ROWS_OF_OTHER_CLASSES:
        return ()
    max_errors = min(MAX_ERROR * n_rows, MAX_RELATIVE_ERROR * n_others)
    found = []
    for u, column in enumerate(counts.schema.columns):
        values = counts.value(u).astype(np.float64)
        if column.missing:
            values = values[:, :-1]
        missing = np.maximum(class_rows - values.sum(axis=1), 0.0)[:, None]
        if isinstance(column, Number):
            values = _merged_intervals(values)
        errors = _errors_of_values(values, class_rows)
        if isinstance(column, Number):
            errors = errors - _errors_at_boundaries(values, errors, n_rows)
        n_errors = float(errors.sum() + _errors_of_values(missing, class_rows).sum())
        if n_errors <= max_errors:
            found.append(LeakingColumn(column.name, column.source or column.name, 1.0 - n_errors / n_rows))
    return tuple(found)


def _merged_intervals(values: Array) -> Array:
    """Return the counts of intervals that are merged from left to right until each has enough rows."""
    starts, n_merged = [0], 0.0
    for k, n_rows in enumerate(values.sum(axis=0).tolist()):
        if n_merged >= MIN_ROWS_OF_INTERVAL:
            starts.append(k)
            n_merged = 0.0
        n_merged += n_rows
    if n_merged < MIN_ROWS_OF_INTERVAL and len(starts) > 1:
        starts.pop()
    merged: Array = np.add.reduceat(values, starts, axis=1)
    return merged


def _errors_of_values(values: Array, class_rows: Array) -> Array:
    """Return the number of rows of each value that are misclassified if each is left out in turn.

    Only rows of a value's most frequent class can be correct: without one of them it must still be ahead.
    """
    most = values.max(axis=0)
    second = np.partition(values, -2, axis=0)[-2]
    correct = np.where(most - 1.0 > second, most, 0.0)
    n_rows = values.sum(axis=0)
    # Rows whose value no other row has are classified as the most frequent class of the table.
    correct = np.where(n_rows <= 1.0, values[class_rows.argmax()], correct)
    errors: Array = n_rows - correct
    return errors


def _errors_at_boundaries(values: Array, errors: Array, n_rows: float) -> Array:
    """Return the errors in the small intervals in which one class may end and another begin, and 0 elsewhere."""
    best = values.argmax(axis=0)
    excused = np.zeros(len(errors))
    # The class before an interval differs from the one after it.
    between = 1 + np.flatnonzero(best[:-2] != best[2:])
    between = between[values[:, between].sum(axis=0) <= MAX_BOUNDARY_SHARE * n_rows]
    worst = between[np.argsort(-errors[between], kind="stable")][: len(values) - 1]
    excused[worst] = errors[worst]
    return excused
