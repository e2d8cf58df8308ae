"""The contract between scores and searches."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tanbark.network import Structure
from tanbark.scores.cases import Cases
from tanbark.scores.gains import Gains


class Score(ABC):
    """A score of network structures: greater is better, in nats.

    Searches use only the methods of this class and of `Decomposable`, never a concrete score.

    Notes
    -----
    How to write a score:

    1. Choose a base class. A `PenalisedLikelihood` defines `penalty`, a `DirichletScore` defines `prior`, any other sum
       over families is a `Decomposable` and defines `family`. A `Conditional` score defines `penalty`. These four have
       everything else that hill climbing, K2 and exact search need. A score of another kind derives from `Score`.
    2. Optionally make exact search faster: state `Decomposable.set_function` if the score has one, else
       `Decomposable.family_rule`.
    3. Add the score to `tanbark.scores.CRITERIA` to make it available by name.
    """

    @property
    @abstractmethod
    def is_decomposable(self) -> bool:
        """Whether the score is a sum over families, as exact search requires."""

    @abstractmethod
    def total(self, cases: Cases, structure: Structure) -> float:
        """Return the score of a structure.

        Parameters
        ----------
        cases : Cases
            The data.
        structure : Structure
            The parents of each node.

        Returns
        -------
        float
            The score in nats; greater is better.
        """

    @abstractmethod
    def gains(self, cases: Cases, n_jobs: int | None = None) -> Gains:
        """Return an object that computes the gains of single-edge changes, for hill climbing.

        Parameters
        ----------
        cases : Cases
            The data.
        n_jobs : int, optional
            Number of threads, as in scikit-learn.

        Returns
        -------
        Gains
            The gains; call its `move_to` first.
        """
