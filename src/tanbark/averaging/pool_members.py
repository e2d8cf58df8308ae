"""Members of a pool: super-parent networks, networks of given structures, and classifiers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tanbark.counts import Counts, Rows
from tanbark.kernels.average.super_parent_joint import leave_one_out_joints, member_log_joints
from tanbark.kernels.runtime.compiling import read_only
from tanbark.kernels.runtime.threads import pieces, run, thread_count
from tanbark.network import Network, Structure
from tanbark.parameters import Smoothing, children_tables, value_tables
from tanbark.parameters.conditional import conditional
from tanbark.progress import Progress, silent
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure.search.ordered_search import k_dependence
from tanbark.structure.trees.edge_weights import attributes_by_information, cmi_weights
from tanbark.structure.trees.spanning_tree import best_trees, rooted_parents, rounded_weights

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SuperParents:
    """Super-parent networks: ``P(class) P(x_i | class) prod_j P(x_j | x_i, class)`` for each of some attributes `i`.

    Parameters
    ----------
    offset : array of shape (attributes + 1,)
        Where each attribute's values begin among all values.
    members : array
        The attributes that are super-parents.
    own : array of shape (values, classes)
        ``log P(class, i)``.
    pairs : array of shape (values, classes, values)
        ``log P(j | i, class)`` at ``[i, class, j]``, zero within an attribute.
    """

    offset: NDArray[np.int64]
    members: NDArray[np.int64]
    own: Array
    pairs: Array

    @classmethod
    def of(cls, counts: Counts, members: NDArray[np.int64], parameters: str, ess: float) -> SuperParents:
        """Return the networks that the counts make (eq 1 of Li et al. 2007)."""
        log_prior, alone = value_tables(counts, parameters, ess)
        pairs = children_tables(counts, Smoothing.of(counts, parameters, ess))
        return cls(counts.schema.offset, members, log_prior + alone, pairs)

    def __len__(self) -> int:
        return len(self.members)

    def only(self, at: Sequence[int]) -> SuperParents:
        """Return some of them."""
        return replace(self, members=self.members[list(at)])

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members)."""
        rows = codes.shape[1]
        out = np.empty((rows, self.own.shape[1], len(self.members)))
        threads = thread_count(n_jobs, rows)
        call = partial(member_log_joints, codes, *map(read_only, (self.offset, self.own, self.pairs, self.members)))
        steps = out[:1].size * len(codes)
        run([partial(call, *span, out) for span in pieces(rows, threads, steps)], threads)
        return out

    def left_out_log_joints(
        self, rows: Rows, counts: Counts, parameters: str, ess: float, n_jobs: int | None = None
    ) -> Array:
        """Return the log joints of training rows, each under the networks that are learned without it.

        Of each row one unit of its weight is subtracted from the counts, or all of it if that is less: rows that are
        repeated are left out one at a time.
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
        threads = thread_count(n_jobs, len(out) * len(self))
        steps = out[:1].size * len(rows.codes)
        run([partial(call, *span, out) for span in pieces(len(out), threads, steps)], threads)
        return out

    @staticmethod
    def left_out_log_prior(rows: Rows, counts: Counts, parameters: str, ess: float) -> Array:
        """Return the log class prior that is learned without each row, of shape (rows, classes)."""
        seen = np.tile(counts.class_counts.astype(np.float64), (len(rows.classes), 1))
        at = np.arange(len(seen)), rows.classes
        seen[at] = np.maximum(seen[at] - np.minimum(rows.each, 1.0), 0.0)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(conditional(parameters, seen, seen, ess, seen.shape[1])))

    def network(self, schema: Schema, log_prior: Array, member: int) -> Network:
        """Return the network of which attribute `member` is the super-parent."""
        blocks = [slice(int(a), int(b)) for a, b in pairwise(self.offset)]
        tables = [self.pairs[blocks[member], :, block] for block in blocks]
        with np.errstate(invalid="ignore"):
            alone = (self.own[blocks[member]] - log_prior).T
        # A class that was never seen has no distribution of its own.
        tables[member] = np.where(np.isnan(alone), -np.log(alone.shape[1]), alone)
        parent = [-1 if u == member else member for u in range(len(blocks))]
        return Network(schema, Structure.augmented(parent), (*tables, log_prior))


FOLDS = 10
MOST_CELLS = 2**23
"""How many rows times classes times members are looked at together."""


class Members(Protocol):
    """Some models of the same classes."""

    def __len__(self) -> int: ...

    def only(self, at: Sequence[int]) -> Self:
        """Return some of them."""

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and member, of shape (rows, classes, members).

        It may lack something that is the same for all classes.
        """


@dataclass(frozen=True)
class Networks:
    """Networks over the same schema, and the seed of draws where a row lacks too much to be summed out."""

    networks: tuple[Network, ...]
    seed: int = 0

    def __len__(self) -> int:
        return len(self.networks)

    def only(self, at: Sequence[int]) -> Networks:
        """Return some of them."""
        return Networks(tuple(self.networks[m] for m in at), self.seed)

    def log_joints(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the log joint of each row, class and network, of shape (rows, classes, networks).

        A row that a network finds impossible in every class gets the network's prior.
        """
        joints = [network.log_joint(codes, n_jobs, seed=self.seed) for network in self.networks]
        for network, joint in zip(self.networks, joints):
            joint[np.isneginf(joint).all(axis=1)] = network.class_log_prior
        return np.stack(joints, axis=2)


def by_folds(
    rows: Rows,
    counts: Counts,
    learn: Callable[[Counts, Rows], Members],
    n_jobs: int | None = None,
    progress: Progress = silent,
) -> Array:
    """Return the log joints of distinct rows under members that were learned without them, a tenth at a time.

    All copies of a row are in one fold, every class is spread over the folds as evenly as can be, and neither the order
    of rows nor that of columns decides. A single row is not held out.
    """
    if len(rows.classes) < 2:
        return learn(counts, rows).log_joints(rows.codes, n_jobs)
    order = np.lexsort((rows.keys(0), rows.classes))
    fold = np.empty(len(order), np.int64)
    fold[order] = np.arange(len(order)) % FOLDS
    joints = None
    for which in range(min(FOLDS, len(order))):
        progress("learning without a tenth of the rows", which, FOLDS)
        inside = fold == which
        left, out = rows.take(~inside), rows.take(inside)
        theirs = Counts.of(rows.schema, out.codes, out.classes, out.each, counts.order, n_jobs)
        part = learn(counts - theirs, left).log_joints(out.codes, n_jobs)
        if joints is None:
            joints = np.empty((len(order), *part.shape[1:]))
        joints[inside] = part
    assert joints is not None
    return joints


TREES = 10
MOST_DEPENDENCE = 3


def nested_naive_bayes(counts: Counts) -> list[Structure]:
    """Return naive Bayes over the attribute that says most of the class, over the two that do, and so on to all.

    All other attributes depend on nothing. A logarithmic pool of them is naive Bayes with a weight between zero and one
    for each attribute.
    """
    n = len(counts.schema.columns)
    order = attributes_by_information(counts)
    return [Structure((*((n,) if u in order[:many] else () for u in range(n)), ())) for many in range(1, n + 1)]


def heaviest_trees(counts: Counts) -> list[Structure]:
    """Return the trees of greatest conditional mutual information, the heaviest first."""
    n = len(counts.schema.columns)
    trees = best_trees(rounded_weights(cmi_weights(counts, 0.0)), TREES)
    return [Structure.augmented(rooted_parents(n, edges, attributes_by_information(counts))) for edges in trees]


def growing_dependence(counts: Counts) -> list[Structure]:
    """Return the k-dependence structures from naive Bayes on."""
    return [k_dependence(counts, k) for k in range(min(MOST_DEPENDENCE, len(counts.schema.columns) - 1) + 1)]


WEAK_STRUCTURES = {"naive-bayes": nested_naive_bayes, "tan": heaviest_trees, "kdb": growing_dependence}
