"""Inference in networks of any structure, with missing values marginalised."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import MAX_CELL_KEYS
from tanbark.kernels.count.configurations import family_keys
from tanbark.kernels.infer.elimination import NODES_PER_WORD, count_groups, sample_group, sum_out_group, write_groups
from tanbark.kernels.infer.factor_joint import Layout, factor_terms, known_log_joint
from tanbark.kernels.runtime.threads import run, run_over_rows, thread_count
from tanbark.network.elimination_groups import Group, strides
from tanbark.network.structure import Structure
from tanbark.network.tables import SparseTable
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_TABLE = 2**20
"""Groups of missing attributes are marginalised exactly if no table needs more cells."""
N_SAMPLES = 1000
"""Number of samples from which the sums of all other groups are estimated."""
MAX_CACHED_GROUPS = 4096
"""Number of groups at which the cache of groups is cleared."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A network as a product of factors, one for each node, in the memory layout of the kernels."""

    structure: Structure
    arity: tuple[int, ...]
    layout: Layout
    _group_cache: dict[tuple[int, ...], Group] = field(default_factory=dict, repr=False)
    _marginal_cache: dict[tuple[int, int], tuple[Array, list[Array], bool]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, structure: Structure, arity: Integers, classes: int, tables: Sequence[Array | SparseTable]) -> Factors:
        """Return the factors of a structure with tables whose axes are the parents and, last, the node's own values."""
        n = len(arity)
        sizes = tuple(arity.tolist())
        parents = [structure.attribute_parents(f) for f in range(n + 1)]
        with_class = [f == n or n in structure.parents[f] for f in range(n + 1)]
        flat_tables = [_flat_table(structure, f, table) for f, table in enumerate(tables)]
        keys = [t.keys if isinstance(t, SparseTable) else np.empty(0, np.int64) for t in tables]
        layout = Layout(
            np.array(structure.topological_order(), np.int64),
            arity.astype(np.int64),
            classes,
            np.cumsum([0, *map(len, parents)]),
            np.array([p for nodes in parents for p in nodes], np.int64),
            np.array([s for nodes in parents for s in strides(nodes, sizes)], np.int64),
            np.array([*sizes, 1], np.int64),
            np.where(with_class, classes, 1).astype(np.int64),
            np.cumsum([0, *map(len, flat_tables)]),
            np.array([isinstance(t, SparseTable) for t in tables]),
            np.cumsum([0, *map(len, keys)]),
            np.concatenate(keys),
            np.concatenate([*flat_tables, np.zeros(classes)]),
        )
        return cls(structure, sizes, layout)

    def log_joint(
        self, codes: Codes, n_jobs: int | None, max_table: int, seed: int
    ) -> tuple[Array, NDArray[np.bool_], Array]:
        """Return ``log P(row, class)``, which rows are estimates, and the squared relative standard errors of these."""
        rows = codes.shape[1]
        out, variance = np.empty((rows, self.layout.classes)), np.zeros((rows, self.layout.classes))
        sampled = np.zeros(rows, np.bool_)
        run_over_rows(partial(known_log_joint, self.layout, codes, out=out), rows, n_jobs)
        for group, at in self._groups(codes, n_jobs):
            log_sum, squared_error = self._log_sum(group, codes, at, n_jobs, max_table, seed)
            out[at] += log_sum
            if group.largest_table > max_table:
                variance[at] += squared_error
                sampled[at] = True
        return out, sampled, variance

    def _groups(self, codes: Codes, n_jobs: int | None) -> Iterator[tuple[Group, Integers]]:
        """Yield every group of missing attributes and the rows that have it.

        The order of the groups does not depend on the rows, so that a row's result does not depend on its batch.
        """
        rows = codes.shape[1]
        n_groups = np.empty(rows, np.int64)
        run_over_rows(lambda *piece: count_groups(self.layout, codes, *piece, n_groups), rows, n_jobs)
        if not n_groups.any():
            return
        start = np.concatenate([[0], np.cumsum(n_groups)])
        at = np.empty(start[-1], np.int64)
        words = np.zeros((1 + len(self.arity) // NODES_PER_WORD, start[-1]), np.uint64)
        run_over_rows(lambda *piece: write_groups(self.layout, codes, start, *piece, at, words), rows, n_jobs)
        order = np.lexsort(words)
        at, words = at[order], words[:, order]
        last = np.flatnonzero((words[:, 1:] != words[:, :-1]).any(axis=0)).tolist()
        for begin, end in itertools.pairwise([0, *(i + 1 for i in last), len(at)]):
            yield self._group(tuple(words[:, begin].tolist())), at[begin:end]

    def _group(self, words: tuple[int, ...]) -> Group:
        group = self._group_cache.get(words)
        if group is None:
            if len(self._group_cache) >= MAX_CACHED_GROUPS:
                self._group_cache.clear()
            group = self._group_cache[words] = Group.of_words(self.structure, self.arity, words)
        return group

    def _log_sum(
        self, group: Group, codes: Codes, rows: Integers, n_jobs: int | None, max_table: int, seed: int
    ) -> tuple[Array, Array]:
        """Return the log of a group's sum in some rows, and the squared relative standard error of the sum."""
        chosen, inverse = self._distinct(group, codes, rows)
        out = np.empty((len(chosen), self.layout.classes))
        variance = np.zeros_like(out)
        if group.largest_table <= max_table:
            task = partial(sum_out_group, self.layout, group.plan, codes, chosen)
            steps = self.layout.classes * group.multiplications
            work = len(chosen) * int(group.plan.offset[-1])
            run_over_rows(partial(task, out=out[:, :, None]), len(chosen), n_jobs, steps, work)
        else:
            members, children = (np.array(nodes, np.int64) for nodes in (group.sampling_order, group.children))
            uniforms = _uniforms(seed, self.layout.classes, len(self.arity))
            task = partial(sample_group, self.layout, members, children, uniforms, codes, chosen)
            steps = self.layout.classes * N_SAMPLES * (len(members) + len(children))
            work = len(chosen) * N_SAMPLES
            run_over_rows(partial(task, log_mean=out, variance=variance), len(chosen), n_jobs, steps, work)
        return out[inverse], variance[inverse]

    def _distinct(self, group: Group, codes: Codes, rows: Integers) -> tuple[Integers, Integers]:
        """Return rows with distinct values of a group's known neighbours, and the index of each row among them."""
        neighbours = list(group.known_neighbours)
        arity = np.array([self.arity[u] for u in neighbours], np.int64)
        if len(rows) == 1 or math.prod(arity.tolist()) >= MAX_CELL_KEYS:
            return rows, np.arange(len(rows))
        keys = np.zeros(len(rows), np.int64)
        family_keys(codes[neighbours][:, rows], arity, keys)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], inverse

    # Weights of evidence

    def evidence(self, codes: Codes, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return each attribute's contribution to the log joint, and which rows are estimates.

        The contributions have shape (rows, 1 + attributes, classes); the first is that of the prior or the class.
        Each known attribute contributes ``log P(value | class)``. The rest of a node's factor is divided equally among
        the node and its attribute parents. A group of missing attributes contributes its sum, minus the contributions
        of its known children, divided equally among its known neighbours.
        """
        n, rows, classes = len(self.arity), codes.shape[1], self.layout.classes
        out, sampled = np.zeros((rows, 1 + n, classes)), np.zeros(rows, np.bool_)
        log_prior, log_given_class, estimated = self.log_given_class(n_jobs, max_table, seed)
        sampled |= estimated
        known, terms = np.empty(rows, np.bool_), np.empty((rows, classes))

        def marginal(f: int, at: Integers) -> Array:
            """Return ``log P(value | class)`` of an attribute, or ``log P(class)``, in some rows."""
            logs: Array = np.tile(log_prior, (len(at), 1)) if f == n else log_given_class[f][codes[f, at]]
            return logs

        for f in range(n + 1):
            parents = [1 + p for p in self.structure.attribute_parents(f)]
            factor_terms(self.layout, f, codes, known, terms)
            at = np.flatnonzero(known)
            if f == n and not parents:
                out[at, 0] += terms[at]
                continue
            base = marginal(f, at)
            base = np.where(np.isneginf(base), terms[at], base)
            with np.errstate(invalid="ignore"):
                ratio = np.where(np.isneginf(base), 0.0, terms[at] - base) / (1 + len(parents))
            own = 0 if f == n else 1 + f
            out[at, own] += base
            for column in (own, *parents):
                out[at, column] += ratio
        for group, at in self._groups(codes, 1):
            rest = self._log_sum(group, codes, at, n_jobs, max_table, seed)[0]
            sampled[at] |= group.largest_table > max_table
            for f in group.children:
                base = marginal(f, at)
                base = np.where(np.isneginf(base), 0.0, base)
                out[at, 0 if f == n else 1 + f] += base
                rest -= base
            columns = [1 + u for u in group.known_neighbours] or [0]
            for column in columns:
                out[at, column] += rest / len(columns)
        return out, sampled

    # Marginal distributions

    def log_given_class(self, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, list[Array], bool]:
        """Return ``log P(class)``, ``log P(value | class)`` of every attribute, and whether they are estimates."""
        settings = max_table, seed
        # Another thread may clear the cache at any time.
        marginals = self._marginal_cache.get(settings)
        if marginals is None:
            marginals = self._compute_log_given_class(n_jobs, max_table, seed)
            self._marginal_cache.clear()
            self._marginal_cache[settings] = marginals
        return marginals

    @cached_property
    def marginal_groups(self) -> list[Group]:
        """The group to sum out for the joint distribution of each attribute and the class."""
        of_class, groups = self.structure.of_class, []
        known = [of_class] if self.structure.parents[of_class] else []
        for u in range(len(self.arity)):
            members = self.structure.ancestors([u, *known]) - {u, of_class}
            groups.append(Group(self.structure, self.arity, tuple(sorted(members)), (u, *known), kept=(u,)))
        return groups

    def _compute_log_given_class(
        self, n_jobs: int | None, max_table: int, seed: int
    ) -> tuple[Array, list[Array], bool]:
        n, classes = len(self.arity), self.layout.classes
        dtype = np.min_scalar_type(max(self.arity))
        all_missing = np.full((n, 1), np.iinfo(dtype).max, dtype)
        (prior,), (sampled,), _ = self.log_joint(all_missing, n_jobs, max_table, seed)
        given, of_class = self, prior
        if not self.structure.parents[n]:
            # Replace P(class) by ones: the attributes have a distribution even if the class has probability zero.
            tables = self.layout.tables.copy()
            tables[self.layout.start[n] : self.layout.start[n] + classes] = 0.0
            given, of_class = replace(self, layout=self.layout._replace(tables=tables)), np.zeros(classes)
        joint = [np.empty((classes, r)) for r in self.arity]
        tasks, cells = [], 0
        for u, group in enumerate(self.marginal_groups):
            if group.largest_table <= max_table:
                task = partial(sum_out_group, self.layout, group.plan, all_missing, np.zeros(1, np.int64), 0, 1)
                tasks.append(partial(task, joint[u][None]))
                cells += int(group.plan.offset[-1])
            else:
                rows = np.repeat(all_missing, self.arity[u], axis=1)
                rows[u] = np.arange(self.arity[u])
                log_joint, estimated, _ = given.log_joint(rows, n_jobs, max_table, seed)
                joint[u] = log_joint.T
                sampled |= estimated.any()
        run(tasks, thread_count(n_jobs, cells))
        possible = np.isfinite(of_class)
        base = np.where(possible, of_class, 0.0)
        return prior, [np.where(possible, log_joint.T - base, 0.0) for log_joint in joint], bool(sampled)


@lru_cache(maxsize=2)
def _uniforms(seed: int, classes: int, attributes: int) -> Array:
    """Return the uniform random numbers that determine the samples of every class and attribute in all rows."""
    return np.random.default_rng(seed).random((classes, N_SAMPLES, attributes))


def _flat_table(structure: Structure, f: int, table: Array | SparseTable) -> Array:
    """Return a node's table, flattened with its attribute parents first, then its own values, then the class."""
    of_class = structure.of_class
    if isinstance(table, SparseTable):
        rows = np.concatenate([table.rows, table.default[None]])
        return np.ascontiguousarray(rows.swapaxes(1, 2)).ravel()
    parents = structure.parents[f]
    axes = [axis for axis, p in enumerate(parents) if p != of_class] + [len(parents)]
    axes += [axis for axis, p in enumerate(parents) if p == of_class]
    return np.ascontiguousarray(table.transpose(axes)).ravel()


class DrawnValuesWarning(UserWarning):
    """Rows have too many missing values for exact marginalisation; their missing values are sampled.

    Parameters
    ----------
    rows : int
        Number of these rows.
    """

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"{self.rows:,} {'row has' if self.rows == 1 else 'rows have'} too many missing values for exact "
            f"marginalisation; they are sampled {N_SAMPLES:,} times instead, and standard_error returns the precision"
        )


class DrawnAnswerWarning(UserWarning):
    """The answer to a query is estimated from samples.

    Parameters
    ----------
    standard_error : float
        The largest standard error of the probabilities.
    """

    def __init__(self, standard_error: float) -> None:
        self.standard_error = standard_error

    def __str__(self) -> str:
        return (
            f"the answer is estimated from {N_SAMPLES:,} samples, with a standard error of up to "
            f"{self.standard_error:.2g}; a larger max_table may make it exact"
        )


def standard_errors(joint: Array, variance: Array) -> Array:
    """Return the standard errors of probabilities computed from estimated joints, of shape (rows, values).

    The probability of a value is the sum of its cells, divided by the sum of all cells of the row.

    Parameters
    ----------
    joint : ndarray of shape (rows, values, cells)
        Logarithms of the estimated cells.
    variance : ndarray of shape (rows, values, cells)
        Their squared relative standard errors.
    """
    largest = joint.max(axis=(1, 2), keepdims=True)
    impossible = np.isneginf(largest)[:, 0]
    share = np.exp(joint - np.where(np.isneginf(largest), 0.0, largest))
    share /= np.maximum(share.sum(axis=(1, 2), keepdims=True), np.finfo(np.float64).tiny)
    probability = share.sum(axis=2)
    # The delta method for a ratio of sums with independent errors.
    own = (share**2 * variance).sum(axis=2)
    others = own.sum(axis=1, keepdims=True) - own
    squared = (1.0 - probability) ** 2 * own + probability**2 * others
    # Configurations with the probability of one sample, which would change the result, may have been missed.
    missed = np.maximum(probability, 1.0 - probability) / N_SAMPLES * (probability.shape[1] > 1)
    errors: Array = np.where(impossible, 1.0, np.sqrt(squared + missed**2))
    return errors
