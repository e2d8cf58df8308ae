"""How large the data sets are, here and in the paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tanbark.papers.cells import Record
from tanbark.papers.experiment import Results
from tanbark.papers.report import Section

Size = tuple[int, int, int]
"""How many rows, attributes and classes."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of data sets by their files' names, and what the paper says of them.

    Parameters
    ----------
    names : mapping of str
        What the paper calls them.
    ours : mapping of Sizes
    theirs : mapping of Sizes
        Of all, or of none where the paper does not tell.
    """

    names: Mapping[str, str]
    ours: Mapping[str, Size]
    theirs: Mapping[str, Size]

    @classmethod
    def of(cls, results: Results, names: Mapping[str, str], theirs: Mapping[str, Size]) -> Sizes:
        """Return the sizes that records tell."""
        ours = {file: _size(size_record(results, file)) for file in results}
        return cls(names, ours, theirs)

    def label(self, file: str) -> str:
        """Return what to call a data set in a table: that it is a variant is said, where it is one."""
        same = self.ours[file] == self.theirs.get(file, self.ours[file])
        return self.names[file] if same else f"{self.names[file]} (variant)"

    def section(self) -> Section:
        """Return the sizes as a table."""
        rows = []
        for file, ours in self.ours.items():
            numbers = (*ours, *self.theirs.get(file, ()))
            rows.append([self.label(file), f"{file}.csv", *(f"{many:,}" for many in numbers)])
        columns = ["set", "file", "rows", "attributes", "classes"]
        columns += ["paper: rows", "attributes", "classes"] if self.theirs else []
        words = (
            "Of the rows and attributes that were used. A variant differs from the paper's in some of these numbers."
        )
        return Section("Data sets", words if self.theirs else "", columns, rows, labels=2)


def size_record(results: Results, file: str) -> Record:
    """Return the record that tells the size of a data set."""
    return next(record for done in results[file] for record in done.records if "attributes" in record)


def _size(record: Record) -> Size:
    return record["rows"], record["attributes"], record["classes"]
