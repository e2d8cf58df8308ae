"""The experiment of a paper: its data sets, what is run on each, and the tables that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tanbark.papers.cells import Cell, Done, Work
from tanbark.papers.report import Drawing, Section


@dataclass(frozen=True)
class PaperSet:
    """A data set of a paper: the name of its file, without ``.csv``, and what the paper calls it."""

    file: str
    name: str


Results = Mapping[str, Sequence[Done]]
"""What came of the cells of each data set, by its file's name."""


@dataclass(frozen=True)
class Experiment:
    """The experiment of a paper.

    Parameters
    ----------
    name : str
    citation : str
    protocol : str
        What was done here, in a few sentences.
    sets : tuple of PaperSets
        All of the paper's, whether their files are there or not.
    quick_sets : tuple of str
        The files of a run that takes a minute or two.
    parts, quick_parts : int
        Into how many cells a data set is divided: folds, or orders.
    work : callable
        What is done in a cell.
    cost : callable
        From the numbers of rows and attributes to how long a cell takes, in whatever unit.
    report : callable
        The tables and drawings that come of the results.
    apart : bool
        Whether there is a further cell on its own.
    adjusts : bool
        Whether p-values are adjusted by Hommel's procedure, for which statsmodels is needed.
    """

    name: str
    citation: str
    protocol: str
    sets: tuple[PaperSet, ...]
    quick_sets: tuple[str, ...]
    parts: int
    quick_parts: int
    work: Work
    cost: Callable[[int, int], float]
    report: Callable[[Results], list[Section | Drawing]]
    apart: bool = False
    adjusts: bool = False

    def cells(self, file: str, quick: bool) -> list[Cell]:
        """Return the cells of a data set."""
        parts = self.quick_parts if quick else self.parts
        return [Cell(file, part, parts, quick) for part in range(parts + self.apart)]

    def called(self, file: str) -> str:
        """Return what the paper calls a data set."""
        return next(known.name for known in self.sets if known.file == file)
