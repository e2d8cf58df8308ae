"""Learn a schema from streamed rows in one or more passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tanbark.messages import first_repeated, suggestion, warn
from tanbark.schema.encode.columns import Column
from tanbark.schema.encode.encoder import Encoder
from tanbark.schema.encode.modl import RowClasses
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.arrow_columns import kind_of
from tanbark.schema.read.class_column import as_labels, no_classes_error, read_labels, warn_of_dropped
from tanbark.schema.read.table_reader import one_array
from tanbark.schema.recipe.detection import with_sources
from tanbark.schema.survey.column_survey import SeenLabels
from tanbark.schema.survey.input_survey import SeenInput

if TYPE_CHECKING:
    import pyarrow as pa


class Survey:
    """Learn from streamed rows the schema that an encoder learns from the whole table.

    In each pass every worker processes some of the rows (`see`) with its own survey (`fresh`). The surveys are merged
    in any order (`merge`). `settle` ends the pass and returns whether another is needed. After the last pass, `schema`
    returns the schema.

    Parameters
    ----------
    encoder : Encoder or None
        Settings of the schema. None uses the defaults.
    target : str
        Name of the class column. Rows without a class are ignored.
    arrow_schema : pyarrow.Schema
        Names and types of the columns.
    ignore : sequence of str, default=()
        Columns to exclude.

    Notes
    -----
    Memory does not grow with the number of rows. A column of numbers takes at most 8 MB. A column of labels, or of
    numbers for which all distinct values are needed, takes at most the size of 2**20 values (about 100 MB).

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
        detector = self.encoder.detector(self._names)
        self._detector = detector
        self._columns = {
            name: SeenInput(name, arrow_schema.field(name).type, detector, self.encoder) for name in self._names
        }
        self._open = self._names
        self._classes = SeenLabels(target)
        self._rows = 0
        self._passes = 0
        self._expected: int | None = None

    @property
    def rows(self) -> int:
        """Number of rows in each pass, with or without a class."""
        return self._expected or 0

    @property
    def names(self) -> tuple[str, ...]:
        """Columns that the next pass needs."""
        return (*self._open, self.target)

    def see(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Process some rows of the current pass.

        Parameters
        ----------
        batch : pyarrow.RecordBatch or pyarrow.Table
            The rows. Only the columns in `names` are needed.
        """
        available = set(batch.schema.names)
        for name in self.names:
            if name not in available:
                raise ValueError(f"some rows lack the column {name!r}; all rows must have the same columns")
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
                    f"column {name!r} has type {values.type} in some rows and another type in others; "
                    "cast it to one type"
                )
            self._columns[name].see(values, known, (labels, codes))

    def merge(self, other: Survey) -> None:
        """Add the results of another survey of the same pass.

        Parameters
        ----------
        other : Survey
            A survey returned by `fresh`.
        """
        self._rows += other._rows
        self._classes.merge(other._classes)
        for name in self._open:
            self._columns[name].merge(other._columns[name])

    def fresh(self) -> Survey:
        """Return an empty survey for the same pass.

        Returns
        -------
        survey : Survey
            The empty survey, to be merged into this one at the end of the pass.
        """
        other = Survey.__new__(Survey)
        other.__dict__.update(self.__dict__)
        other._columns = {name: self._columns[name].fresh() for name in self._open}
        other._classes = self._classes.fresh()
        other._rows = 0
        return other

    def settle(self) -> bool:
        """End a pass.

        Returns
        -------
        again : bool
            Whether another pass is needed.

        Raises
        ------
        ValueError
            If the rows differ from those of the first pass, or a column has too many distinct values.
        """
        if self._expected is not None:
            self.check_row_count(self._rows)
        self._expected, self._rows = self._rows, 0
        self._passes += 1
        self._open = tuple(name for name in self._open if self._columns[name].settle())
        return bool(self._open)

    def check_row_count(self, rows: int) -> None:
        """Raise ValueError if a later pass had a different number of rows, with or without a class, than the first."""
        if rows != self._expected:
            raise ValueError(
                f"the first pass read {self._expected:,} rows, but a later pass read {rows:,}; "
                "provide schema=, or write the rows to a file"
            )

    def schema(self) -> Schema:
        """Return the schema, with the same warnings as the encoder.

        Returns
        -------
        schema : Schema
            The learned schema.
        """
        labels = self._classes.weighted()[0].levels()
        if not labels and self._expected:
            raise no_classes_error(self.target)
        warn_of_dropped(self._classes.missing)
        rows = self.rows - self._classes.missing
        for one in self._columns.values():
            for note in one.unreadable.notes():
                warn(note)
        found = {name: column for one in self._columns.values() for name, column in one.weighted(labels).items()}
        inputs = [self._columns[name].input_column(found) for name in self._names]
        recipe = self._detector.recipe(inputs, self.target)
        if recipe is not None:
            values = {name: column[:2] for name, column in found.items()}
            recipe = self._detector.without_identifiers(recipe, values, self._classes.missing)
        forced = self._detector.forced - {one.name for one in inputs if one.kind == "date"}
        names = self._names if recipe is None else [name for one in recipe.inputs for name in one.columns]
        columns: tuple[Column, ...] = ()
        for name in names:
            raw, weights, codes = found[name]
            columns += (self.encoder.column(name, raw, name in forced, rows, weights, RowClasses(codes, len(labels))),)
        self.encoder.check_given_bins(columns)
        if recipe is not None:
            columns = with_sources(columns, recipe)
        classes = as_labels(labels)
        dtype = classes.dtype.str
        return Schema(columns, tuple(classes.tolist()), self.target, self.encoder.unseen, True, dtype, recipe)


def _attributes(columns: pa.Schema, target: str, ignore: Sequence[str]) -> tuple[str, ...]:
    """Return the names of all columns except the class and the ignored columns."""
    names = columns.names
    repeated = first_repeated(names)
    if repeated is not None:
        raise ValueError(f"the table has two columns named {repeated!r}; rename one")
    for name in (target, *ignore):
        if name not in names:
            instead = suggestion(name, names, f"its columns are {', '.join(map(repr, names))}")
            raise ValueError(f"the table has no column {name!r}; {instead}")
    if target in ignore:
        raise ValueError(f"{target!r} is the class and cannot be ignored")
    rest = tuple(name for name in names if name != target and name not in ignore)
    if not rest:
        raise ValueError(f"no columns are left to learn from besides the class {target!r}")
    return rest
