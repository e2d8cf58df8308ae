"""Log joint probabilities under super-parent networks.

The values of all attributes are numbered consecutively: value `j` of attribute `u` is ``offset[u] + j``. In the tables
the class varies fastest. A code that is not a value of its attribute is missing.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_sum_exp

Codes = NDArray[np.unsignedinteger]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_PRODUCT = 1e-200
"""Smaller running products are replaced by their logarithms."""


@njit(nogil=True, cache=True)
def _known_values(codes: Codes, row: int, offset: Integers, out: Integers) -> int:
    """Write the known values of a row to `out`, in column order; return their number."""
    count = 0
    for u in range(len(codes)):
        value = offset[u] + np.int64(codes[u, row])
        if value < offset[u + 1]:
            out[count] = value
            count += 1
    return count


@njit(nogil=True, cache=True)
def _add_children(
    pairs: Floats, k: int, parents: Integers, n_parents: int, known: Integers, n_known: int, own: Floats, out: Floats
) -> None:
    """Write ``own[i, k]`` plus the log probabilities of all known values given `i`, for each super-parent value `i`.

    The values `i` are the first `n_parents` of `parents`, which has space for three more. Four independent sums run in
    parallel to hide the latency of additions.
    """
    for extra in range(3):
        parents[n_parents + extra] = parents[0]
    for i in range(0, n_parents, 4):
        first, second = pairs[parents[i], k], pairs[parents[i + 1], k]
        third, fourth = pairs[parents[i + 2], k], pairs[parents[i + 3], k]
        a, b, c, d = own[parents[i], k], own[parents[i + 1], k], own[parents[i + 2], k], own[parents[i + 3], k]
        for j in range(n_known):
            value = np.uint64(known[j])
            a += first[value]
            b += second[value]
            c += third[value]
            d += fourth[value]
        out[i], out[i + 1], out[i + 2], out[i + 3] = a, b, c, d


@njit(nogil=True, cache=True)
def averaged_log_joint(
    codes: Codes,
    offset: Integers,
    own: Floats,
    pairs: Floats,
    votes: NDArray[np.bool_],
    log_prior: Floats,
    marginal: Floats,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Write the log of the sum of the joints of all voting super-parents, or the naive Bayes joint if none votes.

    ``own[i]`` is ``log P(class, i)``, ``pairs[i, k, j]`` is ``log P(j | i, k)``, or zero within an attribute, and
    ``marginal[j]`` is ``log P(j | class)``.
    """
    classes = len(log_prior)
    known = np.empty(len(codes), np.int64)
    parents = np.empty(len(codes) + 3, np.int64)
    joint = np.empty(len(codes) + 3)
    for row in range(low, high):
        n_known = _known_values(codes, row, offset, known)
        n_voters = 0
        for i in range(n_known):
            if votes[known[i]]:
                parents[n_voters] = known[i]
                n_voters += 1
        for k in range(classes):
            if n_voters:
                _add_children(pairs, k, parents, n_voters, known, n_known, own, joint)
                out[row, k] = log_sum_exp(joint, 0, n_voters)
            else:
                out[row, k] = log_prior[k]
                for i in range(n_known):
                    out[row, k] += marginal[known[i], k]


@njit(nogil=True, cache=True)
def member_log_joints(
    codes: Codes,
    offset: Integers,
    own: Floats,
    pairs: Floats,
    members: Integers,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Write the log joint under the m-th of `members` as super-parent to ``out[row, k, m]``.

    A missing super-parent is marginalised.
    """
    known = np.empty(len(codes), np.int64)
    parents = np.empty(offset[-1] + 3, np.int64)
    joint = np.empty(offset[-1] + 3)
    start = np.zeros(len(members) + 1, np.int64)
    for row in range(low, high):
        n_known = _known_values(codes, row, offset, known)
        for m in range(len(members)):
            u = members[m]
            first, last = offset[u], offset[u + 1]
            value = first + np.int64(codes[u, row])
            if value < last:
                first, last = value, value + 1
            start[m + 1] = start[m] + last - first
            for i in range(last - first):
                parents[start[m] + i] = first + i
        for k in range(own.shape[1]):
            _add_children(pairs, k, parents, start[-1], known, n_known, own, joint)
            for m in range(len(members)):
                out[row, k, m] = log_sum_exp(joint, start[m], start[m + 1])


@njit(nogil=True, cache=True)
def _reduced_share(count: float, removed: float, prior: float, total: float, prior_total: float, arity: int) -> float:
    """Return ``(count - removed + prior) / (total - removed + prior_total)``, or ``1 / arity`` for an empty table."""
    denominator = max(total - removed, 0.0) + prior_total
    return (max(count - removed, 0.0) + prior) / denominator if denominator > 0.0 else 1.0 / arity


@njit(nogil=True, cache=True)
def leave_one_out_joints(
    codes: Codes,
    row_class: Integers,
    weights: Floats,
    offset: Integers,
    table: Floats,
    class_counts: Floats,
    joint_known: Floats,
    prior: Floats,
    prior_total: Floats,
    own_prior: Floats,
    own_prior_total: Floats,
    class_prior: float,
    softening: float,
    members: Integers,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Replace the log joints of each row, ``out[row, k, m]``, by those under tables from which the row was removed.

    One unit of weight is removed per row, or all of its weight if that is less. This changes the tables of the row's
    own class only (unless they are softened) and the number of rows, which all classes share. `table` is the Burt
    table, and ``joint_known[k, i, v]`` counts the rows of class `k` with value `i` in which attribute `v` is known. The
    prior adds ``prior[u, j]`` to the count of value `j` under super-parent `u`, with the sum ``prior_total[u, v]`` over
    the values of attribute `v`; likewise `own_prior` and `own_prior_total` under the class alone, and `class_prior` for
    each class. With `softening`, the prior has that many rows, distributed as the values' overall frequencies.
    """
    n = len(codes)
    classes = len(class_counts)
    values = np.zeros(offset[n])
    known = np.zeros(n)
    in_class = np.zeros((classes, n))
    all_rows = class_counts.sum()
    for u in range(n):
        for j in range(offset[u], offset[u + 1]):
            for k in range(classes):
                values[j] += table[k, j, j]
                in_class[k, u] += table[k, j, j]
            known[u] += values[j]
    for row in range(low, high):
        row_weight = min(1.0, weights[row])
        denominator = all_rows - row_weight + classes * class_prior
        for k in range(classes):
            if k != row_class[row] and softening == 0.0 and denominator > 0.0:
                for m in range(len(members)):
                    out[row, k, m] += np.log((all_rows + classes * class_prior) / denominator)
                continue
            removed = row_weight if k == row_class[row] else 0.0
            class_probability = (
                (max(class_counts[k] - removed, 0.0) + class_prior) / denominator
                if denominator > 0.0
                else 1.0 / classes
            )
            for m in range(len(members)):
                u = members[m]
                r = offset[u + 1] - offset[u]
                first, last, own_removed = offset[u], offset[u + 1], 0.0
                value = first + np.int64(codes[u, row])
                if value < last:
                    first, last, own_removed = value, value + 1, removed
                total = -np.inf
                for i in range(first, last):
                    cell_prior = own_prior[i]
                    if softening > 0.0:
                        removed_u = row_weight if value < offset[u + 1] else 0.0
                        removed_i = removed_u if i == value else 0.0
                        remaining = known[u] - removed_u
                        cell_prior = softening * (
                            max(values[i] - removed_i, 0.0) / remaining if remaining > 0.0 else 1.0 / r
                        )
                    product = class_probability * _reduced_share(
                        table[k, i, i], own_removed, cell_prior, in_class[k, u], own_prior_total[u], r
                    )
                    log_joint = 0.0
                    for v in range(n):
                        j = offset[v] + np.int64(codes[v, row])
                        if v == u or j >= offset[v + 1]:
                            continue
                        s = offset[v + 1] - offset[v]
                        cell_prior = prior[u, j]
                        if softening > 0.0:
                            remaining = known[v] - row_weight
                            cell_prior = softening * (
                                max(values[j] - row_weight, 0.0) / remaining if remaining > 0.0 else 1.0 / s
                            )
                        product *= _reduced_share(
                            table[k, i, j], own_removed, cell_prior, joint_known[k, i, v], prior_total[u, v], s
                        )
                        if product < MIN_PRODUCT:
                            log_joint += np.log(product)
                            product = 1.0
                    log_joint += np.log(product)
                    total = log_joint if last - first == 1 else np.logaddexp(total, log_joint)
                out[row, k, m] = total
