"""The mean of the probabilities of selective networks: a member of `EnsembleBN`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts
from tanbark.evidence.additive_tables import AdditiveTables
from tanbark.evidence.selective_networks import ENTRY_STEP, SelectiveNetwork, pooled_probabilities
from tanbark.models.model import Array, Model, StoredModel, checked_log_prior, from_steps, in_steps
from tanbark.schema.encode.columns import Codes


@dataclass(frozen=True, eq=False)
class NetworkMixture(Model):
    """Selective k-dependence networks whose class probabilities are averaged.

    Parameters
    ----------
    counts : Counts
        Counts of single values.
    members : tuple of SelectiveNetwork
    class_log_prior : array of shape (classes,)
    """

    counts: Counts
    members: tuple[SelectiveNetwork, ...]
    class_log_prior: Array

    has_joint = False

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return log posteriors."""
        if not self.members:
            return np.tile(self.class_log_prior, (codes.shape[1], 1))
        with np.errstate(divide="ignore"):
            scores: Array = np.log(pooled_probabilities(self.members, codes, n_jobs))
        return scores

    def to_arrays(self) -> StoredModel:
        """Return the tables of the networks in the steps to which they are rounded."""
        if not self.members:
            return StoredModel({"member_parents": []}, {"log_prior": self.class_log_prior})
        arrays: dict[str, NDArray[Any]] = {
            "base_scores": np.stack([member.base_scores for member in self.members]),
            "digits": np.concatenate([digit for member in self.members for digit in member.tables.digits]).astype(
                np.int16
            ),
            "entries": in_steps(
                np.concatenate([table.ravel() for member in self.members for table in member.tables.tables]), ENTRY_STEP
            ),
            "log_prior": self.class_log_prior,
        }
        parents = [[list(above) for above in member.tables.parents] for member in self.members]
        return StoredModel({"member_parents": parents}, arrays)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        arrays, parents = stored.arrays, stored.state["member_parents"]
        arity, classes = counts.schema.arity.tolist(), len(counts.class_counts)
        log_prior = checked_log_prior(arrays, "log_prior", classes)
        if not parents:
            return cls(counts, (), log_prior)
        base, digits = arrays["base_scores"], arrays["digits"]
        entries = from_steps(arrays["entries"], ENTRY_STEP)
        if base.shape != (len(parents), classes) or base.dtype != np.float64:
            raise ValueError("the scores of its networks are invalid")
        if digits.dtype != np.int16 or digits.shape != (len(parents) * (sum(arity) + len(arity)),):
            raise ValueError("the digits of its networks are invalid")
        if entries.ndim != 1 or not np.isfinite(entries).all():
            raise ValueError("the tables of its networks are invalid")
        if not np.isfinite(base).all():
            raise ValueError("the scores of its networks are invalid")
        members, start = [], 0
        ends = np.cumsum([a + 1 for a in arity])
        for m, of_member in enumerate(parents):
            own = np.split(digits.astype(np.int64)[m * ends[-1] : (m + 1) * ends[-1]], ends[:-1])
            shapes = _shapes(of_member, own, arity, classes)
            tables = []
            for shape in shapes:
                size = int(np.prod(shape))
                if start + size > len(entries):
                    raise ValueError("the tables of its networks are cut short")
                tables.append(entries[start : start + size].reshape(shape))
                start += size
            above = tuple(tuple(int(p) for p in column) for column in of_member)
            members.append(SelectiveNetwork(base[m], AdditiveTables(tuple(tables), above, tuple(own))))
        if start != len(entries):
            raise ValueError("the tables of its networks are too long")
        return cls(counts, tuple(members), log_prior)


def _shapes(
    parents: Sequence[Sequence[Any]], digits: Sequence[NDArray[np.int64]], arity: Sequence[int], classes: int
) -> list[tuple[int, ...]]:
    """Return the shapes of the tables of a network, or raise ValueError if its parents or digits are invalid."""
    n = len(arity)
    if len(parents) != n or any(not 0 <= int(p) < n for above in parents for p in above):
        raise ValueError("the parents in its networks are invalid")
    if any(digit.min() < 0 or (digit[:-1] >= digit[-1]).any() for digit in digits):
        raise ValueError("the digits of its networks are invalid")
    sizes = [int(digit[-1]) + 1 for digit in digits]
    return [(*(sizes[int(p)] for p in above), a + 1, classes) for above, a in zip(parents, arity, strict=True)]
