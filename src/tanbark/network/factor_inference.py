"""Inference in networks of any shape, with missing values marginalised."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from tanbark.counts.family_counts import ROOM
from tanbark.graph import Structure
from tanbark.kernels.count.configurations import family_keys
from tanbark.kernels.infer.elimination import NODES_OF_WORD, count_groups, draw_group, sum_out_group, write_groups
from tanbark.kernels.infer.factor_joint import Layout, factor_terms, known_log_joint
from tanbark.kernels.runtime.threads import pieces, run, spans, thread_count
from tanbark.network.elimination_groups import Group, strides
from tanbark.network.tables import SparseTable
from tanbark.schema.encode.columns import Codes

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

MAX_TABLE = 2**20
"""A group of missing attributes that needs no table with more cells is summed out exactly."""
DRAWS = 1000
"""Over how many draws the sum of any other group is averaged."""
MOST_GROUPS = 4096
"""How many groups are remembered."""


@dataclass(frozen=True, eq=False)
class Factors:
    """A network whose every node is a factor, laid out for the kernels."""

    structure: Structure
    arity: tuple[int, ...]
    layout: Layout
    _remembered: dict[tuple[int, ...], Group] = field(default_factory=dict, repr=False)
    _said_alone: dict[tuple[int, int], tuple[Array, list[Array], bool]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, structure: Structure, arity: Integers, classes: int, tables: Sequence[Array | SparseTable]) -> Factors:
        """Return the factors of a structure with tables whose axes follow the parents, the node's own values last."""
        n = len(arity)
        sizes = tuple(arity.tolist())
        above = [structure.attribute_parents(f) for f in range(n + 1)]
        with_class = [f == n or n in structure.parents[f] for f in range(n + 1)]
        laid = [_laid(structure, f, table) for f, table in enumerate(tables)]
        keys = [t.keys if isinstance(t, SparseTable) else np.empty(0, np.int64) for t in tables]
        layout = Layout(
            np.array(structure.topological_order(), np.int64),
            arity.astype(np.int64),
            classes,
            np.cumsum([0, *map(len, above)]),
            np.array([p for nodes in above for p in nodes], np.int64),
            np.array([s for nodes in above for s in strides(nodes, sizes)], np.int64),
            np.array([*sizes, 1], np.int64),
            np.where(with_class, classes, 1).astype(np.int64),
            np.cumsum([0, *map(len, laid)]),
            np.array([isinstance(t, SparseTable) for t in tables]),
            np.cumsum([0, *map(len, keys)]),
            np.concatenate(keys),
            np.concatenate([*laid, np.zeros(classes)]),
        )
        return cls(structure, sizes, layout)

    def log_joint(
        self, codes: Codes, n_jobs: int | None, max_table: int, seed: int
    ) -> tuple[Array, NDArray[np.bool_], Array]:
        """Return ``log P(row, class)``, which rows of it are estimates, and their squared relative standard errors."""
        rows = codes.shape[1]
        out, variance = np.empty((rows, self.layout.classes)), np.zeros((rows, self.layout.classes))
        drawn = np.zeros(rows, np.bool_)
        threads = thread_count(n_jobs, rows)
        run([partial(known_log_joint, self.layout, codes, *span, out) for span in spans(rows, threads)], threads)
        for group, at in self._groups(codes, threads):
            log_sum, squared = self._log_sum(group, codes, at, n_jobs, max_table, seed)
            out[at] += log_sum
            if group.largest > max_table:
                variance[at] += squared
                drawn[at] = True
        return out, drawn, variance

    def _groups(self, codes: Codes, threads: int) -> Iterator[tuple[Group, Integers]]:
        """Yield every group of missing attributes and the rows that have it.

        Groups come in an order of their own, so that a row's answer is the same sum whatever rows are beside it.
        """
        rows = codes.shape[1]
        many = np.empty(rows, np.int64)
        run([partial(count_groups, self.layout, codes, *span, many) for span in spans(rows, threads)], threads)
        if not many.any():
            return
        start = np.concatenate([[0], np.cumsum(many)])
        at = np.empty(start[-1], np.int64)
        words = np.zeros((1 + len(self.arity) // NODES_OF_WORD, start[-1]), np.uint64)
        task = partial(write_groups, self.layout, codes, start)
        run([partial(task, *span, at, words) for span in spans(rows, threads)], threads)
        order = np.lexsort(words)
        at, words = at[order], words[:, order]
        last = np.flatnonzero((words[:, 1:] != words[:, :-1]).any(axis=0)).tolist()
        for begin, end in itertools.pairwise([0, *(place + 1 for place in last), len(at)]):
            yield self._group(tuple(words[:, begin].tolist())), at[begin:end]

    def _group(self, words: tuple[int, ...]) -> Group:
        group = self._remembered.get(words)
        if group is None:
            if len(self._remembered) >= MOST_GROUPS:
                self._remembered.clear()
            group = self._remembered[words] = Group.of_words(self.structure, self.arity, words)
        return group

    def _log_sum(
        self, group: Group, codes: Codes, rows: Integers, n_jobs: int | None, max_table: int, seed: int
    ) -> tuple[Array, Array]:
        """Return the log of a group's sum in some rows, and the squared relative standard error of the sum."""
        chosen, place = self._distinct(group, codes, rows)
        out = np.empty((len(chosen), self.layout.classes))
        variance = np.zeros_like(out)
        if group.largest <= max_table:
            threads = thread_count(n_jobs, len(chosen) * int(group.plan.offset[-1]))
            task = partial(sum_out_group, self.layout, group.plan, codes, chosen)
            steps = self.layout.classes * group.multiplications
            run([partial(task, *span, out[:, :, None]) for span in pieces(len(chosen), threads, steps)], threads)
        else:
            threads = thread_count(n_jobs, len(chosen) * DRAWS)
            members, children = (np.array(nodes, np.int64) for nodes in (group.drawn_order, group.children))
            uniforms = _uniforms(seed, self.layout.classes, len(self.arity))
            task = partial(draw_group, self.layout, members, children, uniforms, codes, chosen)
            steps = self.layout.classes * DRAWS * (len(members) + len(children))
            run([partial(task, *span, out, variance) for span in pieces(len(chosen), threads, steps)], threads)
        return out[place], variance[place]

    def _distinct(self, group: Group, codes: Codes, rows: Integers) -> tuple[Integers, Integers]:
        """Return rows that differ in what is known around a group, and for each row which of them it equals."""
        around = list(group.around)
        arity = np.array([self.arity[u] for u in around], np.int64)
        if len(rows) == 1 or math.prod(arity.tolist()) >= ROOM:
            return rows, np.arange(len(rows))
        keys = np.zeros(len(rows), np.int64)
        family_keys(codes[around][:, rows], arity, keys)
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        return rows[first], place

    # What each attribute says

    def evidence(self, codes: Codes, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, NDArray[np.bool_]]:
        """Return each attribute's share of the log joint, of shape (rows, 1 + attributes, classes), prior first.

        Beside it stands which rows are estimates.

        A known attribute has what it says alone, ``log P(value | class)``. What the factor of a node says beyond that
        is shared by the node and the attributes above it; what a group of missing attributes says beyond what its
        known children say alone is shared by the known attributes around it. The class's place is the prior's.
        """
        n, rows, classes = len(self.arity), codes.shape[1], self.layout.classes
        out, drawn = np.zeros((rows, 1 + n, classes)), np.zeros(rows, np.bool_)
        log_prior, alone, estimated = self.alone(n_jobs, max_table, seed)
        drawn |= estimated
        known, terms = np.empty(rows, np.bool_), np.empty((rows, classes))

        def alone_in(f: int, at: Integers) -> Array:
            said: Array = np.tile(log_prior, (len(at), 1)) if f == n else alone[f][codes[f, at]]
            return said

        for f in range(n + 1):
            above = [1 + p for p in self.structure.attribute_parents(f)]
            factor_terms(self.layout, f, codes, known, terms)
            at = np.flatnonzero(known)
            if f == n and not above:
                out[at, 0] += terms[at]
                continue
            base = alone_in(f, at)
            base = np.where(np.isneginf(base), terms[at], base)
            with np.errstate(invalid="ignore"):
                ratio = np.where(np.isneginf(base), 0.0, terms[at] - base) / (1 + len(above))
            own = 0 if f == n else 1 + f
            out[at, own] += base
            for place in (own, *above):
                out[at, place] += ratio
        for group, at in self._groups(codes, 1):
            said = self._log_sum(group, codes, at, n_jobs, max_table, seed)[0]
            drawn[at] |= group.largest > max_table
            for f in group.children:
                base = alone_in(f, at)
                base = np.where(np.isneginf(base), 0.0, base)
                out[at, 0 if f == n else 1 + f] += base
                said -= base
            places = [1 + u for u in group.around] or [0]
            for place in places:
                out[at, place] += said / len(places)
        return out, drawn

    def alone(self, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, list[Array], bool]:
        """Return ``log P(class)``, every attribute's ``log P(value | class)``, and whether any of it is an estimate."""
        settings = max_table, seed
        # Another thread may forget it for settings of its own at any time.
        found = self._said_alone.get(settings)
        if found is None:
            found = self._compute_alone(n_jobs, max_table, seed)
            self._said_alone.clear()
            self._said_alone[settings] = found
        return found

    @cached_property
    def all_but_one(self) -> list[Group]:
        """For every attribute what has to be summed out to know how probable its values are with each class."""
        of_class, groups = self.structure.of_class, []
        known = [of_class] if self.structure.parents[of_class] else []
        for u in range(len(self.arity)):
            members = self.structure.ancestors([u, *known]) - {u, of_class}
            groups.append(Group(self.structure, self.arity, tuple(sorted(members)), (u, *known), kept=(u,)))
        return groups

    def _compute_alone(self, n_jobs: int | None, max_table: int, seed: int) -> tuple[Array, list[Array], bool]:
        n, classes = len(self.arity), self.layout.classes
        kind = np.min_scalar_type(max(self.arity))
        nothing = np.full((n, 1), np.iinfo(kind).max, kind)
        (prior,), (drawn,), _ = self.log_joint(nothing, n_jobs, max_table, seed)
        given, of_class = self, prior
        if not self.structure.parents[n]:
            # A class of probability zero has a distribution of its attributes all the same.
            tables = self.layout.tables.copy()
            tables[self.layout.start[n] : self.layout.start[n] + classes] = 0.0
            given, of_class = replace(self, layout=self.layout._replace(tables=tables)), np.zeros(classes)
        joint = [np.empty((classes, r)) for r in self.arity]
        tasks, cells = [], 0
        for u, group in enumerate(self.all_but_one):
            if group.largest <= max_table:
                task = partial(sum_out_group, self.layout, group.plan, nothing, np.zeros(1, np.int64), 0, 1)
                tasks.append(partial(task, joint[u][None]))
                cells += int(group.plan.offset[-1])
            else:
                rows = np.repeat(nothing, self.arity[u], axis=1)
                rows[u] = np.arange(self.arity[u])
                said, estimated, _ = given.log_joint(rows, n_jobs, max_table, seed)
                joint[u] = said.T
                drawn |= estimated.any()
        run(tasks, thread_count(n_jobs, cells))
        possible = np.isfinite(of_class)
        base = np.where(possible, of_class, 0.0)
        return prior, [np.where(possible, said.T - base, 0.0) for said in joint], bool(drawn)


@lru_cache(maxsize=2)
def _uniforms(seed: int, classes: int, attributes: int) -> Array:
    """Return what the draws of every class and attribute are made from, the same for every row."""
    return np.random.default_rng(seed).random((classes, DRAWS, attributes))


def _laid(structure: Structure, f: int, table: Array | SparseTable) -> Array:
    """Return a node's log probabilities in one row: by the attributes above it, its own value, and the class."""
    of_class = structure.of_class
    if isinstance(table, SparseTable):
        rows = np.concatenate([table.rows, table.default[None]])
        return np.ascontiguousarray(rows.swapaxes(1, 2)).ravel()
    parents = structure.parents[f]
    axes = [axis for axis, p in enumerate(parents) if p != of_class] + [len(parents)]
    axes += [axis for axis, p in enumerate(parents) if p == of_class]
    return np.ascontiguousarray(table.transpose(axes)).ravel()


class DrawnValuesWarning(UserWarning):
    """Rows lack so many values that their sum is estimated from draws instead of taken over all."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __str__(self) -> str:
        return (
            f"{self.rows:,} {'row lacks' if self.rows == 1 else 'rows lack'} so many values that what is missing is "
            f"drawn {DRAWS:,} times instead of summed out; standard_error says how precise that is"
        )


class DrawnAnswerWarning(UserWarning):
    """So little is known that the answer to a query is estimated from draws."""

    def __init__(self, standard_error: float) -> None:
        self.standard_error = standard_error

    def __str__(self) -> str:
        return (
            f"so little is known that the answer is estimated from {DRAWS:,} draws, with a standard error of up to "
            f"{self.standard_error:.2g}; a larger max_table may make it exact"
        )


def standard_errors(joint: Array, variance: Array) -> Array:
    """Return the standard errors of the probabilities that some estimated joints make, of shape (rows, values).

    Parameters
    ----------
    joint, variance : arrays of shape (rows, values, cells)
        The logarithms of estimates, and their squared relative standard errors; a value is as probable as its cells
        together are among all.
    """
    largest = joint.max(axis=(1, 2), keepdims=True)
    impossible = np.isneginf(largest)[:, 0]
    share = np.exp(joint - np.where(np.isneginf(largest), 0.0, largest))
    share /= np.maximum(share.sum(axis=(1, 2), keepdims=True), np.finfo(np.float64).tiny)
    probability = share.sum(axis=2)
    # A ratio of sums whose terms err independently, linearised about them.
    own = (share**2 * variance).sum(axis=2)
    others = own.sum(axis=1, keepdims=True) - own
    squared = (1.0 - probability) ** 2 * own + probability**2 * others
    # Values as probable as one draw may have been missed that say the opposite.
    missed = np.maximum(probability, 1.0 - probability) / DRAWS * (probability.shape[1] > 1)
    errors: Array = np.where(impossible, 1.0, np.sqrt(squared + missed**2))
    return errors
