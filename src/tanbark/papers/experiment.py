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
    cells : callable
        From a file and whether to be quick to the cells of that data set.
    work : callable
        What is done in a cell.
    cost : callable
        From the numbers of rows and attributes to how long a cell takes, in whatever unit.
    report : callable
        The tables and drawings that come of the results.
    """

    name: str
    citation: str
    protocol: str
    sets: tuple[PaperSet, ...]
    quick_sets: tuple[str, ...]
    cells: Callable[[str, bool], list[Cell]]
    work: Work
    cost: Callable[[int, int], float]
    report: Callable[[Results], list[Section | Drawing]]

    def called(self, file: str) -> str:
        """Return what the paper calls a data set."""
        return next(known.name for known in self.sets if known.file == file)
