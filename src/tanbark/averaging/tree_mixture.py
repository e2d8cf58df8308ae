"""The joint distribution that all trees make together, each weighed by its posterior probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tanbark.averaging.tree_posterior import TreePosterior, Trees
from tanbark.immutable import CopiedByFields
from tanbark.kernels.average.sampled_trees import complete_rows, draw_rows, tree_marginals
from tanbark.kernels.average.tree_sums import averaged_log_likelihood
from tanbark.kernels.runtime.compiling import frozen
from tanbark.kernels.runtime.threads import pieces, run, spans, thread_count
from tanbark.kernels.trees.tree_growth import hang_trees
from tanbark.network import Network, Structure
from tanbark.network.network_arrays import ROUNDING
from tanbark.schema import Schema
from tanbark.schema.encode.columns import Codes
from tanbark.structure import rooted

Array = NDArray[np.float64]

COMPLETIONS = 1024
"""A row with at most so many completions is summed out exactly."""
DRAWS = 1000
"""Over how many drawn trees a row with more completions is averaged."""
AT_ONCE = 65_536
"""How many completions are held in memory at a time."""
MARGINALS_AT_ONCE = 1_000_000
"""How many probabilities of rows under drawn trees are."""


@dataclass(frozen=True, eq=False)
class TreeMixture(CopiedByFields):
    """Trees that share the distributions of their pairs, each weighed by its posterior probability.

    Parameters
    ----------
    schema : Schema
    log_prior : array of shape (classes,)
    values, ratios : arrays
        What `tanbark.parameters.pair_ratios` returns.
    posteriors : tuple of TreePosterior
        One for all classes, or one for each.
    multinet : bool
        Whether each class has its own.
    root : int
        The attribute that networks hang from.
    seed : int
        Of the trees drawn for rows that lack much.
    """

    schema: Schema
    log_prior: Array
    values: Array
    ratios: Array
    posteriors: tuple[TreePosterior, ...]
    multinet: bool
    root: int
    seed: int

    def __post_init__(self) -> None:
        n, classes, total = len(self.schema.columns), len(self.schema.classes), int(self.schema.offset[-1])
        shapes = [(classes,), (total, classes), (total, total, classes)]
        arrays = [self.log_prior, self.values, self.ratios]
        weights = [posterior.log_weights for posterior in self.posteriors]
        if [a.shape for a in arrays] != shapes or any(w.shape != (n, n) for w in weights):
            raise ValueError("the average is of another shape than the schema")
        if len(weights) != (classes if self.multinet else 1) or not 0 <= self.root < n:
            raise ValueError("the average has too many or too few posteriors, or a root that is no attribute")
        if any(a.dtype != np.float64 or np.isnan(a).any() for a in (*arrays, *weights)):
            raise ValueError("the average holds something that is no number")

    def check(self) -> None:
        """Raise where the arrays, as a file has them, are no distributions, or weights that no trees have."""
        first = self.schema.offset[:-1]
        if type(self.multinet) is not bool or type(self.root) is not int:
            raise ValueError("the average has a root that is no attribute, or is neither of one tree nor of several")
        if not (np.isfinite(self.ratios).all() and (self.ratios >= 0).all() and (self.values >= 0).all()):
            raise ValueError("the average holds something that is no probability")
        if not np.allclose(np.add.reduceat(self.values, first), 1.0, rtol=0.0, atol=ROUNDING):
            raise ValueError("the average holds probabilities that do not sum to 1")
        # What a value says of another attribute is a distribution too; of its own it means nothing.
        given = np.add.reduceat(self.values * self.ratios, first, axis=1)
        other = np.repeat(~np.eye(len(first), dtype=np.bool_), self.schema.arity, axis=0)
        if not (given[other] <= 1.0 + ROUNDING).all():
            raise ValueError("the average holds probabilities that sum to more than 1")
        for posterior in self.posteriors:
            posterior.check()

    def log_joint(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)`` of encoded rows, what is missing being summed out."""
        self.schema.check_codes(codes)
        out = np.full((codes.shape[1], len(self.log_prior)), np.nan)
        if (codes == self.schema.missing_code).any():
            for rows, joint in self._holed(codes, n_jobs):
                out[rows] = joint
        else:
            self._complete(codes, out, n_jobs)
        return out + self.log_prior

    def standard_error(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the standard error of every class's posterior probability: zero but for rows averaged over draws."""
        self.schema.check_codes(codes)
        out = np.zeros((codes.shape[1], len(self.log_prior)))
        for rows, marginals in self._drawn(codes, np.flatnonzero(self.is_drawn(codes)), n_jobs):
            joint = marginals + self.log_prior
            share = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
            total = share.sum(axis=2, keepdims=True)
            times = self._trees[2][:, None] / DRAWS
            mean = (times * total).sum(axis=1, keepdims=True)
            posterior = (times * share).sum(axis=1, keepdims=True) / mean
            # A ratio of two means, linearised about them.
            apart = (share - posterior * total) / mean
            variance = (times * apart**2).sum(axis=1) / (DRAWS - 1)
            # A tree as probable as one draw may have been missed that says the opposite.
            missed = np.maximum(posterior, 1.0 - posterior)[:, 0] / DRAWS * (len(self.log_prior) > 1)
            out[rows] = np.sqrt(variance + missed**2)
        return out

    def is_drawn(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which rows lack so much that they are averaged over drawn trees."""
        many: NDArray[np.bool_] = self._completions(codes) > COMPLETIONS
        return many

    def network(self, tree: Trees) -> Network:
        """Return the network of a tree, given by its edges."""
        parent = rooted(len(self.schema.columns), [(int(u), int(v)) for u, v in tree], [self.root])
        at = [slice(start, stop) for start, stop in itertools.pairwise(self.schema.offset.tolist())]
        tables = []
        for u, above in enumerate(parent):
            table = self.values[at[u]] if above < 0 else self.values[at[u]] * self.ratios[at[above], at[u]]
            tables.append(np.log(np.swapaxes(table, -1, -2)))
        return Network(self.schema, Structure.augmented(parent), (*tables, self.log_prior))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return codes of `n` rows drawn from the joint distribution, and their classes."""
        classes = rng.choice(len(self.log_prior), n, p=np.exp(self.log_prior))
        codes = np.zeros((len(self.schema.columns), n), np.int64)
        for k, posterior in enumerate(self.posteriors):
            mine = np.flatnonzero(classes == k) if self.multinet else np.arange(n)
            order, parent = _hung(posterior.draw(len(mine), rng))
            drawn = np.zeros((len(codes), len(mine)), np.int64)
            draw_rows(classes[mine], self.schema.offset, self.values, self.ratios, order, parent, rng, drawn)
            codes[:, mine] = drawn
        return codes, classes

    def _completions(self, codes: Codes) -> Array:
        """Return in how many ways each row can be completed, or something above `COMPLETIONS` where that is more."""
        logs = np.log(self.schema.arity) @ (codes == self.schema.missing_code)
        many: Array = np.rint(np.exp(np.minimum(logs, math.log(COMPLETIONS) + 1.0)))
        return many

    def _complete(self, codes: Codes, out: Array, n_jobs: int | None) -> None:
        """Write ``log P(row | class)`` of complete rows."""
        n, rows = codes.shape
        classes = len(self.log_prior)
        threads = thread_count(n_jobs, rows * classes * max(1, n**3 // 512))
        given = (self._log_values, self.ratios, *self._weights)
        task = partial(averaged_log_likelihood, codes, self.schema.offset, *map(frozen, given))
        run([partial(task, *span, out) for span in pieces(rows, threads, classes * n**3)], threads)

    def _holed(self, codes: Codes, n_jobs: int | None) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Yield rows and their ``log P(row | class)``, a part at a time."""
        drawn = self.is_drawn(codes)
        few, completions = np.flatnonzero(~drawn), self._completions(codes)
        ends = np.cumsum(completions[few])
        for part in np.split(few, np.searchsorted(ends, np.arange(AT_ONCE, ends[-1] if len(ends) else 0, AT_ONCE))):
            if not len(part):
                continue
            start = np.concatenate([[0], np.cumsum(completions[part])]).astype(np.int64)
            whole = np.empty((len(codes), int(start[-1])), codes.dtype)
            known = np.ascontiguousarray(codes[:, part])
            complete_rows(known, self.schema.missing_code, self.schema.arity, start, whole)
            joint = np.empty((whole.shape[1], len(self.log_prior)))
            self._complete(whole, joint, n_jobs)
            yield part, np.logaddexp.reduceat(joint, start[:-1], axis=0)
        for part, marginals in self._drawn(codes, np.flatnonzero(drawn), n_jobs):
            yield part, logsumexp(marginals, axis=1, b=self._trees[2][:, None] / DRAWS)

    def _drawn(
        self, codes: Codes, rows: NDArray[np.int64], n_jobs: int | None
    ) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Yield rows and their ``log P(row | class, tree)`` under the drawn trees, a part at a time."""
        if not len(rows):
            return
        order, parent, times = self._trees
        classes = len(self.log_prior)
        at_once = max(1, MARGINALS_AT_ONCE // (len(times) * classes))
        for first in range(0, len(rows), at_once):
            part = rows[first : first + at_once]
            known = np.ascontiguousarray(codes[:, part])
            out = np.empty((len(part), len(times), classes))
            threads = thread_count(n_jobs, out.size)
            run(
                [
                    partial(
                        tree_marginals,
                        known,
                        self.schema.missing_code,
                        self.schema.offset,
                        frozen(self._log_values),
                        frozen(self.ratios),
                        order[min(k, len(order) - 1)],
                        parent[min(k, len(order) - 1)],
                        k,
                        *span,
                        out,
                    )
                    for k in range(classes)
                    for span in spans(len(part), threads)
                ],
                threads,
            )
            yield part, out

    @cached_property
    def _log_values(self) -> Array:
        logs: Array = np.log(self.values)
        return logs

    @cached_property
    def _weights(self) -> tuple[Array, Array, Array]:
        """The edges' weights as mantissas and exponents, and the posterior's own tree sum likewise."""
        mantissa, exponent = zip(*(posterior.scaled for posterior in self.posteriors))
        return np.stack(mantissa), np.stack(exponent), np.array([p.scaled_total for p in self.posteriors])

    @cached_property
    def _trees(self) -> tuple[Trees, Trees, Array]:
        """The drawn trees that differ: order and parents, one array for each posterior, and how often each came."""
        rng = np.random.default_rng(self.seed)
        hung = [_hung(posterior.draw(DRAWS, rng)) for posterior in self.posteriors]
        parent = np.stack([p for _, p in hung])
        _, first, times = np.unique(np.concatenate(parent, axis=1), axis=0, return_index=True, return_counts=True)
        order = np.stack([o for o, _ in hung])
        return frozen(order[:, first]), frozen(parent[:, first]), times.astype(np.float64)


def _hung(trees: Trees) -> tuple[Trees, Trees]:
    """Return the attributes of each tree, parents before children, and their parents; the first attribute is on top."""
    many, edges = trees.shape[:2]
    order, parent = np.empty((many, edges + 1), np.int64), np.empty((many, edges + 1), np.int64)
    hang_trees(trees, 0, order, parent)
    return order, parent
