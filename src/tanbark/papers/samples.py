"""Samples: the rows and attributes of a data set that an experiment uses, and the table of their sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.datasets import Dataset
from tanbark.evaluate.folds import Split, stratified_folds, stratified_share
from tanbark.papers.experiment import Results, Section
from tanbark.papers.experiment_cells import Record


@dataclass(frozen=True)
class Sample:
    """An Arrow table of attributes and the class code of each row."""

    table: Any
    classes: NDArray[np.int64]

    @property
    def size(self) -> dict[str, int]:
        """The numbers of rows, attributes and classes."""
        rows, attributes = self.table.shape
        return {"rows": rows, "attributes": attributes, "classes": int(self.classes.max()) + 1}

    def take(self, rows: NDArray[np.int64]) -> Sample:
        """Return some of the rows."""
        return Sample(self.table.take(rows), self.classes[rows])

    def select(self, attributes: Sequence[int]) -> Sample:
        """Return some of the attributes, or a constant one if the selection is empty."""
        import pyarrow as pa

        if attributes:
            return Sample(self.table.select(list(attributes)), self.classes)
        return Sample(pa.table({"constant": np.zeros(len(self.classes), np.int64)}), self.classes)

    def fold(self, part: int, parts: int, share: float = 1.0) -> tuple[Sample, Sample]:
        """Return the training rows of a fold, or a share of them, and its test rows."""
        if parts > len(self.classes):
            raise ValueError(f"{len(self.classes)} rows are too few for {parts} folds")
        split = Split.of(stratified_folds(self.classes, parts))
        train = stratified_share(self.classes, split.outside(part), share, seed=part)
        return self.take(train), self.take(split.inside(part))


def complete(data: Dataset) -> Sample:
    """Return the rows without missing values, and the attributes that are not constant in them."""
    import pyarrow.compute as pc

    table = data.frame().drop_null()
    labels = table.column(data.target)
    attributes = table.drop_columns([data.target])
    varying = [name for name in attributes.column_names if pc.count_distinct(attributes.column(name)).as_py() > 1]
    return _sample(attributes.select(varying), labels)


def labelled(data: Dataset, first: int | None = None) -> Sample:
    """Return the rows that have a class, or only the first of them."""
    known = data.labels.is_valid()
    return _sample(data.table.filter(known).slice(0, first), data.labels.filter(known).slice(0, first))


def _sample(table: Any, labels: Any) -> Sample:
    names, classes = np.unique(np.array([str(label) for label in labels.to_pylist()]), return_inverse=True)
    if len(names) < 2:
        raise ValueError("the usable rows have fewer than two classes")
    return Sample(table.combine_chunks(), classes.astype(np.int64))


Size = tuple[int, int, int]
"""The numbers of rows, attributes and classes."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of data sets, here and in the paper.

    Parameters
    ----------
    names : mapping of str to str
        The name in the paper of each file.
    ours : mapping of str to Size
        The size of each file here.
    theirs : mapping of str to Size
        The size of each file in the paper. It is empty if the paper does not state sizes.
    """

    names: Mapping[str, str]
    ours: Mapping[str, Size]
    theirs: Mapping[str, Size]

    @classmethod
    def of(cls, results: Results, names: Mapping[str, str], theirs: Mapping[str, Size]) -> Sizes:
        """Collect the sizes from the records of the results."""
        ours = {file: _size(size_record(results, file)) for file in results}
        return cls(names, ours, theirs)

    def label(self, file: str) -> str:
        """Return the label of a data set in a table, which marks a variant that differs from the paper's in size."""
        same = self.ours[file] == self.theirs.get(file, self.ours[file])
        return self.names[file] if same else f"{self.names[file]} (variant)"

    def section(self) -> Section:
        """Return the sizes as a table."""
        rows = []
        for file, ours in self.ours.items():
            numbers = (*ours, *self.theirs.get(file, ()))
            rows.append([self.label(file), f"{file}.csv", *(f"{number:,}" for number in numbers)])
        columns = ["set", "file", "rows", "attributes", "classes"]
        columns += ["paper: rows", "attributes", "classes"] if self.theirs else []
        words = "The rows and attributes that were used. A variant differs from the paper's data set in some numbers."
        return Section("Data sets", words if self.theirs else "", columns, rows, labels=2)


def size_record(results: Results, file: str) -> Record:
    """Return the record with the size of a data set."""
    return next(record for done in results[file] for record in done.records if "attributes" in record)


def _size(record: Record) -> Size:
    return record["rows"], record["attributes"], record["classes"]
