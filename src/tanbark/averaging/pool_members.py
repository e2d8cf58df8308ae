"""Members of a pool: super-parent networks, and networks of given structures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.immutable import Immutable
from tanbark.kernels.average.super_parent_joint import leave_one_out_joints, member_log_joints
from tanbark.kernels.runtime.threads import run_over_rows
from tanbark.network import Network, Structure
from tanbark.parameters import Smoothing, children_tables, value_tables
from tanbark.parameters.tree_tables import conditional
from tanbark.progress import Progress, silent
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure.search.ordered_search import k_dependence
from tanbark.structure.trees.learned_trees import (
    attributes_by_information,
    cmi_weights,
    rooted_parents,
    rounded_weights,
)
from tanbark.structure.trees.optimal_trees import best_trees

Array = NDArray[np.float64]


FOLDS = 10
MAX_JOINT_CELLS = 2**23
"""The maximum of rows times classes times members whose log joints are held in memory at a time."""
MAX_TREES = 10
MAX_DEPENDENCE = 3
"""The largest number of parents, besides the class, in the pool of k-dependence structures."""


class Members(Protocol):
    """A sequence of models of the same classes."""

    def __len__(self) -> int: ...

    def only(self, at: Sequence[int]) -> Self:
        """Return the members at the given positions."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members).

        A term that is the same for all classes may be omitted.
        """


@dataclass(frozen=True)
class Networks:
    """Networks over the same schema.

    Parameters
    ----------
    networks : tuple of Network
    seed : int, default=0
        The seed for sampling, used if a row has too many missing values to marginalise them exactly.
    """

    networks: tuple[Network, ...]
    seed: int = 0

    def __len__(self) -> int:
        return len(self.networks)

    def only(self, at: Sequence[int]) -> Networks:
        """Return the members at the given positions."""
        return Networks(tuple(self.networks[m] for m in at), self.seed)

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and network, of shape (rows, classes, networks).

        If a row is impossible in every class under a network, the network's class prior is used instead.
        """
        joints = [network.log_joint(codes, n_jobs, seed=self.seed) for network in self.networks]
        for network, joint in zip(self.networks, joints, strict=True):
            joint[np.isneginf(joint).all(axis=1)] = network.class_log_prior
        return np.stack(joints, axis=2)


@dataclass(frozen=True, eq=False)
class SuperParents(Immutable):
    """Super-parent networks ``P(class) P(x_i | class) prod_j P(x_j | x_i, class)``, one per super-parent `i`.

    Parameters
    ----------
    offset : array of shape (attributes + 1,)
        The index of each attribute's first value among the values of all attributes.
    members : array
        The attributes that are super-parents.
    own : array of shape (values, classes)
        ``log P(class, i)``.
    pairs : array of shape (values, classes, values)
        ``log P(j | i, class)`` at ``[i, class, j]``, zero within an attribute.
    estimator : tuple of (str, float), optional
        The estimator and its equivalent sample size, by which `pairs` follows from the counts. None if unknown.
    """

    offset: NDArray[np.int64]
    members: NDArray[np.int64]
    own: Array
    pairs: Array
    estimator: tuple[str, float] | None = None

    @classmethod
    def of(cls, counts: Counts, members: NDArray[np.int64], parameters: str, ess: float) -> SuperParents:
        """Estimate the networks from counts (eq 1 of Li et al. 2007)."""
        log_prior, alone = value_tables(counts, parameters, ess)
        pairs = children_tables(counts, Smoothing.of(counts, parameters, ess))
        return cls(counts.schema.offset, members, log_prior + alone, pairs, (parameters, ess))

    def __len__(self) -> int:
        return len(self.members)

    def only(self, at: Sequence[int]) -> SuperParents:
        """Return the members at the given positions."""
        return replace(self, members=self.members[list(at)])

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members)."""
        rows = codes.shape[1]
        out = np.empty((rows, self.own.shape[1], len(self.members)))
        call = partial(member_log_joints, codes, self.offset, self.own, self.pairs, self.members)
        steps = out[:1].size * len(codes)
        run_over_rows(partial(call, out=out), rows, n_jobs, steps)
        return out

    def left_out_log_joints(
        self, rows: Rows, counts: Counts, parameters: str, ess: float, n_jobs: int | None = None
    ) -> Array:
        """Return the leave-one-out log joints: those of each training row under the networks learned without it.

        One unit of the row's weight is subtracted from the counts, or the whole weight if it is smaller. Thus a
        repeated row is left out one copy at a time.
        """
        prior = Smoothing.of(counts, parameters, ess)
        table = counts.table.astype(np.float64)
        call = partial(
            leave_one_out_joints,
            rows.codes,
            rows.classes.astype(np.int64),
            rows.each,
            self.offset,
            table,
            counts.class_counts.astype(np.float64),
            np.add.reduceat(table, self.offset[:-1], axis=2),
            prior.cell,
            prior.mass,
            prior.own_cell,
            prior.own_mass,
            prior.class_cell,
            prior.softening,
            self.members,
        )
        out = self.log_joints(rows.codes, n_jobs)
        steps = out[:1].size * len(rows.codes)
        run_over_rows(partial(call, out=out), len(out), n_jobs, steps, work=len(out) * len(self))
        return out

    @staticmethod
    def left_out_log_prior(rows: Rows, counts: Counts, parameters: str, ess: float) -> Array:
        """Return the leave-one-out log class prior of each row, of shape (rows, classes)."""
        seen = np.tile(counts.class_counts.astype(np.float64), (len(rows.classes), 1))
        at = np.arange(len(seen)), rows.classes
        seen[at] = np.maximum(seen[at] - np.minimum(rows.each, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(conditional(parameters, seen, seen, ess, seen.shape[1])))

    def network(self, schema: Schema, log_prior: Array, member: int) -> Network:
        """Return the network whose super-parent is the attribute `member`."""
        blocks = [slice(int(a), int(b)) for a, b in pairwise(self.offset)]
        tables = [self.pairs[blocks[member], :, block] for block in blocks]
        with np.errstate(invalid="ignore"):
            alone = (self.own[blocks[member]] - log_prior).T
        # A class without rows has no estimate: use the uniform distribution.
        tables[member] = np.where(np.isnan(alone), -np.log(alone.shape[1]), alone)
        parent = [-1 if u == member else member for u in range(len(blocks))]
        return Network(schema, Structure.augmented(parent), (*tables, log_prior))


def cross_validated_log_joints(
    rows: Rows,
    counts: Counts,
    learn: Callable[[Counts, Rows], Members],
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> Array:
    """Return the log joints of distinct rows under members learned without them, by 10-fold cross-validation.

    All copies of a row are in one fold. Each class is spread over the folds as evenly as possible. The folds depend
    neither on the order of the rows nor on that of the columns. A single row is not held out.
    """
    if len(rows.classes) < 2:
        return learn(counts, rows).log_joints(rows.codes, n_jobs)
    order = np.lexsort((rows.keys(0), rows.classes))
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    joints = None
    for which in range(min(FOLDS, len(order))):
        progress("cross-validating the members", which, FOLDS)
        held_out = fold == which
        training, test = rows.take(~held_out), rows.take(held_out)
        test_counts = Counts.of(rows.schema, test.codes, test.classes, test.each, counts.order, n_jobs)
        part = learn(counts - test_counts, training).log_joints(test.codes, n_jobs)
        if joints is None:
            joints = np.empty((len(order), *part.shape[1:]))
        joints[held_out] = part
    assert joints is not None
    return joints


def nested_naive_bayes(counts: Counts) -> list[Structure]:
    """Return naive Bayes over the first attribute, the first two, and so on to all, ordered by mutual information.

    The remaining attributes are independent of the class. A logarithmic pool of these structures is naive Bayes with a
    weight between zero and one for each attribute.
    """
    n = len(counts.schema.columns)
    order = attributes_by_information(counts)
    return [Structure((*((n,) if u in order[:size] else () for u in range(n)), ())) for size in range(1, n + 1)]


def heaviest_trees(counts: Counts) -> list[Structure]:
    """Return the trees of greatest conditional mutual information, in descending order."""
    n = len(counts.schema.columns)
    trees = best_trees(rounded_weights(cmi_weights(counts, 0.0)), MAX_TREES)
    return [Structure.augmented(rooted_parents(n, edges, attributes_by_information(counts))) for edges in trees]


def growing_dependence(counts: Counts) -> list[Structure]:
    """Return the k-dependence structures for k = 0 (naive Bayes) to `MAX_DEPENDENCE`."""
    return [k_dependence(counts, k) for k in range(min(MAX_DEPENDENCE, len(counts.schema.columns) - 1) + 1)]


WEAK_STRUCTURES = {"naive-bayes": nested_naive_bayes, "tan": heaviest_trees, "kdb": growing_dependence}
"""Functions from counts to the structures of a pool, by the name of the weak learner."""
