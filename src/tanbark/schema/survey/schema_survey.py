"""Learn a schema from streamed rows, in as many passes as needed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tanbark.schema.encode.columns import first_repeated
from tanbark.schema.encode.encoder import Encoder
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.class_column import as_labels, no_classes, read_labels, warn_of_dropped
from tanbark.schema.read.table_reader import one_array
from tanbark.schema.survey.label_survey import SeenLabels
from tanbark.schema.survey.number_survey import SeenNumbers, kind_of

if TYPE_CHECKING:
    import pyarrow as pa


class Survey:
    """What passes over the rows of a table find out about it: the schema that an encoder learns of the whole table.

    Each worker sees some of the rows of a pass with a survey of its own (`fresh`), these are merged in any order, and
    `settle` ends the pass and says whether another is needed; then `schema` is known. The memory that it takes does
    not grow with the rows: at most 8 MB for a column of numbers, and for a column of labels, or of numbers that need
    all their distinct values, as much as 2**20 of them take (about 100 MB).

    Parameters
    ----------
    encoder : Encoder, optional
    target : str
        The column of classes. Rows without one are left out.
    arrow_schema : pyarrow.Schema
        The columns of the rows.
    ignore : sequence of str
        Columns to leave out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tanbark.schema import Survey
    >>> rows = pa.record_batch({"size": [1.5, 2.5, 3.5, 4.5], "kind": ["a", "b", "b", "a"]})
    >>> survey = Survey(None, "kind", rows.schema)
    >>> survey.see(rows)
    >>> survey.settle()
    False
    >>> survey.schema().classes
    ('a', 'b')
    """

    def __init__(
        self, encoder: Encoder | None, target: str, arrow_schema: pa.Schema, ignore: Sequence[str] = ()
    ) -> None:
        self.encoder = encoder or Encoder()
        self.encoder.check()
        self.target = target
        self._names = _attributes(arrow_schema, target, ignore)
        self._kinds = {name: kind_of(arrow_schema.field(name).type) for name in self._names}
        self._forced = self.encoder.forced(self._names)
        self._columns = {name: self._column(name, arrow_schema.field(name).type) for name in self._names}
        self._open = self._names
        self._classes = SeenLabels(target)
        self._rows = 0
        self._passes = 0
        self._expected: int | None = None

    @property
    def rows(self) -> int:
        """How many rows each pass has seen, with a class or without."""
        return self._expected or 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that the next pass looks at."""
        return (*self._open, self.target)

    def see(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Look at some rows."""
        there = set(batch.schema.names)
        for name in self.names:
            if name not in there:
                raise ValueError(f"the rows lack the column {name!r}, which those before had")
        labels, codes = read_labels(batch.column(self.target), self.target)
        known = codes >= 0
        self._rows += len(codes)
        if not self._passes:
            self._classes.count(labels, np.bincount(codes[known], minlength=len(labels)).tolist())
            self._classes.missing += int((~known).sum())
        for name in self._open:
            values = one_array(batch.column(name))
            if kind_of(values.type) != self._kinds[name]:
                raise ValueError(
                    f"column {name!r} is of type {values.type} in some rows and of another in others; cast it"
                )
            self._columns[name].see(values, known, (labels, codes))

    def merge(self, other: Survey) -> None:
        """Add what another survey saw in the same pass."""
        self._rows += other._rows
        self._classes.merge(other._classes)
        for name in self._open:
            self._columns[name].merge(cast(Any, other._columns[name]))

    def fresh(self) -> Survey:
        """Return a survey that asks the same and has seen nothing, to take part in this pass."""
        other = Survey.__new__(Survey)
        other.__dict__.update(self.__dict__)
        other._columns = {name: self._columns[name].fresh() for name in self._open}
        other._classes = self._classes.fresh()
        other._rows = 0
        return other

    def settle(self) -> bool:
        """End a pass; return whether another is needed."""
        if self._expected is not None:
            self.refuse_other(self._rows)
        self._expected, self._rows = self._rows, 0
        self._passes += 1
        self._open = tuple(name for name in self._open if self._columns[name].settle())
        return bool(self._open)

    def refuse_other(self, rows: int) -> None:
        """Raise where a later pass over all rows, with a class or without, saw more or fewer than the first."""
        if rows != self._expected:
            raise ValueError(
                f"there were {self._expected:,} rows when they were read first and {rows:,} the next time; "
                "give schema=, or write them to a file"
            )

    def schema(self) -> Schema:
        """Return the schema, warning of what the encoder warns of."""
        labels = self._classes.weighted()[0].levels()
        if not labels and self._expected:
            raise no_classes(self.target)
        warn_of_dropped(self._classes.missing)
        rows = self.rows - self._classes.missing
        columns = []
        for name in self._names:
            raw, weights, codes = self._columns[name].weighted(labels)
            columns.append(self.encoder.column(name, raw, name in self._forced, rows, weights, codes, len(labels)))
        classes = as_labels(labels)
        return Schema(
            tuple(columns), tuple(classes.tolist()), self.target, self.encoder.unseen, True, classes.dtype.str
        )

    def _column(self, name: str, stored: pa.DataType) -> SeenLabels | SeenNumbers:
        if self._kinds[name] == "labels":
            return SeenLabels(name)
        return SeenNumbers(name, stored, name in self._forced, self.encoder.bins, self.encoder.n_bins)


def _attributes(columns: pa.Schema, target: str, ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the columns beside the class and those that are ignored."""
    names = columns.names
    twice = first_repeated(names)
    if twice is not None:
        raise ValueError(f"the table has two columns named {twice!r}; rename one")
    for name in (target, *ignore):
        if name not in names:
            raise ValueError(f"the table has no column {name!r}; it has {', '.join(map(repr, names))}")
    if target in ignore:
        raise ValueError(f"{target!r} is the class and cannot be ignored")
    rest = tuple(name for name in names if name != target and name not in ignore)
    if not rest:
        raise ValueError(f"the table has no column left to learn from beside the class {target!r}")
    return rest
