"""The exact Bayesian average over all trees, each weighted by its posterior probability."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from heapq import nlargest
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tanbark.averaging.tree_posterior import TreePosterior, Trees
from tanbark.counts import Counts
from tanbark.immutable import read_only
from tanbark.kernels.average.sampled_trees import complete_rows, sample_rows, tree_marginals
from tanbark.kernels.average.tree_sums import averaged_log_likelihood
from tanbark.kernels.runtime.threads import run, run_over_rows, spans, thread_count
from tanbark.kernels.trees.information_trees import root_trees
from tanbark.messages import warn
from tanbark.models.model import (
    MAX_SUM_ERROR,
    Array,
    Model,
    StoredModel,
    check_pair_memory,
    checked_ess,
    checked_log_prior,
    stored_number,
    stored_seed,
)
from tanbark.network import Network, Structure
from tanbark.parameters import pair_ratios
from tanbark.schema.encode.columns import Codes
from tanbark.structure import rooted_parents

MAX_COMPLETIONS = 1024
"""A row with at most this many completions is marginalised exactly."""
SAMPLED_TREES = 1000
"""The number of sampled trees over which a row with more completions is averaged."""
COMPLETIONS_PER_CHUNK = 65_536
MARGINALS_PER_CHUNK = 1_000_000


class DrawnTreesWarning(UserWarning):
    """Rows have so many missing values that the average is taken over sampled trees instead of all trees."""

    def __init__(self, rows: int) -> None:
        self.rows = rows

    def __str__(self) -> str:
        some = "1 row has" if self.rows == 1 else f"{self.rows:,} rows have"
        return (
            f"{some} so many missing values that the average is taken over {SAMPLED_TREES:,} sampled trees instead of "
            "all; standard_error(X) estimates the error"
        )


@dataclass(frozen=True, eq=False)
class TreeAverage(Model):
    """Trees that share the distributions of their pairs, each weighted by its posterior probability.

    Parameters
    ----------
    counts : Counts
    class_log_prior : array of shape (classes,)
    values, ratios : arrays
        As returned by `tanbark.parameters.pair_ratios`.
    posteriors : tuple of TreePosterior
        One for all classes, or one for each.
    multinet : bool
        Whether each class has its own posterior.
    root : int
        The attribute at which networks are rooted.
    seed : int
        The seed of the trees that are sampled for rows with many missing values.
    log_evidence : float
        The log probability of the training data.
    ess : float, optional
        The equivalent sample size by which `ratios` follows from the counts. None if it does not.
    """

    counts: Counts
    class_log_prior: Array
    values: Array
    ratios: Array
    posteriors: tuple[TreePosterior, ...]
    multinet: bool
    root: int
    seed: int
    log_evidence: float
    ess: float | None = None

    has_joint = True

    def __post_init__(self) -> None:
        """Check that the arrays fit together."""
        super().__post_init__()
        n, classes, total = len(self.schema.columns), len(self.schema.classes), int(self.schema.offset[-1])
        shapes = [(classes,), (total, classes), (total, total, classes)]
        arrays = [self.class_log_prior, self.values, self.ratios]
        weights = [posterior.log_weights for posterior in self.posteriors]
        if [a.shape for a in arrays] != shapes or any(w.shape != (n, n) for w in weights):
            raise ValueError("the shapes of the average do not match the schema")
        if len(weights) != (classes if self.multinet else 1):
            raise ValueError("the average must have one posterior, or one for each class if it is a multinet")
        if not 0 <= self.root < n:
            raise ValueError("the root of the average must be an attribute")
        if any(a.dtype != np.float64 or np.isnan(a).any() for a in (*arrays, *weights)):
            raise ValueError("the average holds values that are not numbers")

    @property
    def networks(self) -> tuple[Network, ...]:
        """The most probable tree, or that of each class."""
        return self.best_trees(1)[0][1]

    def log_scores(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)``; warn if rows are averaged over sampled trees."""
        sampled = int(self.is_sampled(codes).sum())
        if sampled:
            warn(DrawnTreesWarning(sampled))
        return self.log_joint(codes, n_jobs)

    def log_joint(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return ``log P(row, class)`` of encoded rows, with missing values marginalised."""
        self.schema.check_codes(codes)
        out = np.full((codes.shape[1], len(self.class_log_prior)), np.nan)
        if (codes == self.schema.missing_code).any():
            for rows, joint in self._incomplete(codes, n_jobs):
                out[rows] = joint
        else:
            self._complete(codes, out, n_jobs)
        return out + self.class_log_prior

    def standard_error(self, codes: Codes, n_jobs: int | None = None) -> Array:
        """Return the standard error of the posterior, which is zero except for rows that are sampled."""
        self.schema.check_codes(codes)
        out = np.zeros((codes.shape[1], len(self.class_log_prior)))
        for rows, marginals in self._sampled(codes, np.flatnonzero(self.is_sampled(codes)), n_jobs):
            joint = marginals + self.class_log_prior
            share = np.exp(joint - joint.max(axis=(1, 2), keepdims=True))
            total = share.sum(axis=2, keepdims=True)
            times = self.sampled_trees[2][:, None] / SAMPLED_TREES
            mean = (times * total).sum(axis=1, keepdims=True)
            posterior = (times * share).sum(axis=1, keepdims=True) / mean
            # A ratio of two means, linearised about them.
            apart = (share - posterior * total) / mean
            variance = (times * apart**2).sum(axis=1) / (SAMPLED_TREES - 1)
            # A tree as probable as one sample may have been missed, and may predict the opposite.
            missed = np.maximum(posterior, 1.0 - posterior)[:, 0] / SAMPLED_TREES * (len(self.class_log_prior) > 1)
            out[rows] = np.sqrt(variance + missed**2)
        return out

    def is_sampled(self, codes: Codes) -> NDArray[np.bool_]:
        """Return which rows have so many missing values that they are averaged over sampled trees."""
        many: NDArray[np.bool_] = self._completions(codes) > MAX_COMPLETIONS
        return many

    def network(self, tree: Trees) -> Network:
        """Return the network of a tree, given by its edges."""
        parent = rooted_parents(len(self.schema.columns), [(int(u), int(v)) for u, v in tree], [self.root])
        at = [slice(start, stop) for start, stop in itertools.pairwise(self.schema.offset.tolist())]
        tables = []
        for u, above in enumerate(parent):
            table = self.values[at[u]] if above < 0 else self.values[at[u]] * self.ratios[at[above], at[u]]
            tables.append(np.log(np.swapaxes(table, -1, -2)))
        return Network(self.schema, Structure.augmented(parent), (*tables, self.class_log_prior))

    def best_trees(self, k: int) -> list[tuple[float, tuple[Network, ...]]]:
        """Return the `k` most probable trees with their log probabilities; of a multinet, one tree for each class."""
        best: list[tuple[float, tuple[Trees, ...]]] = [(0.0, ())]
        for posterior in self.posteriors:
            longer = itertools.product(best, posterior.best(k))
            joined = ((p + q, (*trees, tree)) for (p, trees), (q, tree) in longer)
            best = nlargest(k, joined, key=lambda pair: pair[0])
        return [(log_probability, self.networks_of(trees)) for log_probability, trees in best]

    def sample_trees(self, n: int, rng: np.random.Generator) -> list[tuple[Network, ...]]:
        """Return `n` trees sampled from the posterior; of a multinet, one tree for each class."""
        sampled = [posterior.draw(n, rng) for posterior in self.posteriors]
        return [self.networks_of(trees) for trees in zip(*sampled, strict=True)]

    def networks_of(self, trees: Sequence[Trees]) -> tuple[Network, ...]:
        """Return the networks of trees, given by their edges."""
        return tuple(self.network(tree) for tree in trees)

    @property
    def edge_probabilities(self) -> Array:
        """The probability of each edge, of shape (posteriors, attributes, attributes)."""
        return np.stack([posterior.edge_probabilities for posterior in self.posteriors])

    def sample(self, n: int, rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the codes of `n` rows sampled from the joint distribution, and their classes."""
        classes = rng.choice(len(self.class_log_prior), n, p=np.exp(self.class_log_prior))
        codes = np.zeros((len(self.schema.columns), n), np.int64)
        for k, posterior in enumerate(self.posteriors):
            mine = np.flatnonzero(classes == k) if self.multinet else np.arange(n)
            order, parent = _rooted_trees(posterior.draw(len(mine), rng))
            sampled = np.zeros((len(codes), len(mine)), np.int64)
            sample_rows(classes[mine], self.schema.offset, self.values, self.ratios, order, parent, rng, sampled)
            codes[:, mine] = sampled
        return codes, classes

    def to_arrays(self) -> StoredModel:
        """Return the weights of the edges and the distributions, except for `ratios` if it follows from the counts."""
        state: dict[str, Any] = {
            "multinet": self.multinet,
            "root": self.root,
            "seed": self.seed,
            "log_evidence": self.log_evidence,
        }
        arrays = {
            "log_prior": self.class_log_prior,
            "values": self.values,
            "log_weights": np.stack([posterior.log_weights for posterior in self.posteriors]),
        }
        if self.ess is None:
            arrays["ratios"] = self.ratios
        else:
            state["ess"] = self.ess
        return StoredModel(state, arrays)

    @classmethod
    def from_arrays(cls, counts: Counts, stored: StoredModel) -> Self:
        """Return the model that `to_arrays` described."""
        state, arrays, ess = stored.state, stored.arrays, None
        if "ratios" not in arrays:
            ess = checked_ess(state["ess"])
            check_pair_memory(counts)
            with np.errstate(all="ignore"):  # What a hostile file leads to is checked below.
                arrays = arrays | {"ratios": pair_ratios(counts, ess)[1]}
        average = cls(
            counts,
            checked_log_prior(arrays, "log_prior", len(counts.class_counts)),
            arrays["values"],
            arrays["ratios"],
            tuple(TreePosterior(weights) for weights in arrays["log_weights"]),
            state["multinet"],
            state["root"],
            stored_seed(state),
            stored_number(state, "log_evidence"),
            ess,
        )
        average._check_stored()
        return average

    def _check_stored(self) -> None:
        """Raise ValueError if arrays from a file are not distributions, or not weights of trees."""
        first = self.schema.offset[:-1]
        if type(self.multinet) is not bool or type(self.root) is not int:
            raise ValueError("the average has an invalid root or an invalid multinet flag")
        if not (np.isfinite(self.ratios).all() and (self.ratios >= 0).all() and (self.values >= 0).all()):
            raise ValueError("the average holds values that are not probabilities")
        if not np.allclose(np.add.reduceat(self.values, first), 1.0, rtol=0.0, atol=MAX_SUM_ERROR):
            raise ValueError("the average holds probabilities that do not sum to 1")
        # A value's row of ratios is a distribution over the values of every other attribute, not of its own.
        given = np.add.reduceat(self.values * self.ratios, first, axis=1)
        other = np.repeat(~np.eye(len(first), dtype=np.bool_), self.schema.arity, axis=0)
        if not (given[other] <= 1.0 + MAX_SUM_ERROR).all():
            raise ValueError("the average holds probabilities that sum to more than 1")
        for posterior in self.posteriors:
            posterior.check()

    def _completions(self, codes: Codes) -> Array:
        """Return the number of completions of each row; numbers above `MAX_COMPLETIONS` are not exact."""
        logs = np.log(self.schema.arity) @ (codes == self.schema.missing_code)
        many: Array = np.rint(np.exp(np.minimum(logs, math.log(MAX_COMPLETIONS) + 1.0)))
        return many

    def _complete(self, codes: Codes, out: Array, n_jobs: int | None) -> None:
        """Write ``log P(row | class)`` of complete rows to `out`."""
        n, rows = codes.shape
        classes = len(self.class_log_prior)
        given = (self._log_values, self.ratios, *self._weights)
        task = partial(averaged_log_likelihood, codes, self.schema.offset, *map(read_only, given))
        work = rows * classes * max(1, n**3 // 512)
        run_over_rows(partial(task, out=out), rows, n_jobs, classes * n**3, work)

    def _incomplete(self, codes: Codes, n_jobs: int | None) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Yield rows and their ``log P(row | class)`` in chunks, with missing values marginalised."""
        sampled = self.is_sampled(codes)
        few, completions = np.flatnonzero(~sampled), self._completions(codes)
        ends = np.cumsum(completions[few])
        last = ends[-1] if len(ends) else 0
        cuts = np.searchsorted(ends, np.arange(COMPLETIONS_PER_CHUNK, last, COMPLETIONS_PER_CHUNK))
        for part in np.split(few, cuts):
            if not len(part):
                continue
            start = np.concatenate([[0], np.cumsum(completions[part])]).astype(np.int64)
            whole = np.empty((len(codes), int(start[-1])), codes.dtype)
            known = np.ascontiguousarray(codes[:, part])
            complete_rows(known, self.schema.missing_code, self.schema.arity, start, whole)
            joint = np.empty((whole.shape[1], len(self.class_log_prior)))
            self._complete(whole, joint, n_jobs)
            yield part, np.logaddexp.reduceat(joint, start[:-1], axis=0)
        for part, marginals in self._sampled(codes, np.flatnonzero(sampled), n_jobs):
            yield part, logsumexp(marginals, axis=1, b=self.sampled_trees[2][:, None] / SAMPLED_TREES)

    def _sampled(
        self, codes: Codes, rows: NDArray[np.int64], n_jobs: int | None
    ) -> Iterator[tuple[NDArray[np.int64], Array]]:
        """Yield rows and their ``log P(row | class, tree)`` under the sampled trees, in chunks."""
        if not len(rows):
            return
        order, parent, times = self.sampled_trees
        classes = len(self.class_log_prior)
        at_once = max(1, MARGINALS_PER_CHUNK // (len(times) * classes))
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
                        read_only(self._log_values),
                        self.ratios,
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
        """The edges' weights and the posterior's tree sum, as mantissas and exponents."""
        mantissa, exponent = zip(*(posterior.scaled for posterior in self.posteriors), strict=True)
        return np.stack(mantissa), np.stack(exponent), np.array([p.scaled_total for p in self.posteriors])

    @cached_property
    def sampled_trees(self) -> tuple[Trees, Trees, Array]:
        """The distinct sampled trees: their orders and parents for each posterior, and how often each was sampled."""
        rng = np.random.default_rng(self.seed)
        rooted_samples = [_rooted_trees(posterior.draw(SAMPLED_TREES, rng)) for posterior in self.posteriors]
        parent = np.stack([p for _, p in rooted_samples])
        _, first, times = np.unique(np.concatenate(parent, axis=1), axis=0, return_index=True, return_counts=True)
        order = np.stack([o for o, _ in rooted_samples])
        return read_only(order[:, first]), read_only(parent[:, first]), times.astype(np.float64)


def _rooted_trees(trees: Trees) -> tuple[Trees, Trees]:
    """Return the attributes of each tree, parents before children, and their parents; attribute 0 is the root."""
    many, edges = trees.shape[:2]
    order, parent = np.empty((many, edges + 1), np.int64), np.empty((many, edges + 1), np.int64)
    root_trees(trees, 0, order, parent)
    return order, parent
