"""Log joints under super-parent networks.

All values of all attributes are numbered in one row: value `j` of attribute `u` is ``offset[u] + j``. The tables hold
the class fastest. A code that is no value of its attribute is missing.
"""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit
from tanbark.kernels.runtime.log_functions import log_sum

Codes = NDArray[np.unsignedinteger]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SMALL = 1e-200


@njit(nogil=True, cache=True)
def _known_values(codes: Codes, row: int, offset: Integers, at: Integers) -> int:
    """Write the values that a row has to `at`, in column order; return how many there are."""
    many = 0
    for u in range(len(codes)):
        value = offset[u] + np.int64(codes[u, row])
        if value < offset[u + 1]:
            at[many] = value
            many += 1
    return many


@njit(nogil=True, cache=True)
def _add_children(
    pairs: Floats, k: int, above: Integers, count: int, at: Integers, many: int, own: Floats, out: Floats
) -> None:
    """Write ``own[i, k]`` and the logs of all known values under value `i` of a super-parent, for all `i` in `above`.

    Four sums run side by side, so that none waits for its own last addition. `above` has room for three more.
    """
    for extra in range(3):
        above[count + extra] = above[0]
    for i in range(0, count, 4):
        first, second = pairs[above[i], k], pairs[above[i + 1], k]
        third, fourth = pairs[above[i + 2], k], pairs[above[i + 3], k]
        a, b, c, d = own[above[i], k], own[above[i + 1], k], own[above[i + 2], k], own[above[i + 3], k]
        for j in range(many):
            value = np.uint64(at[j])
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
    alone: Floats,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Write the log of the summed joints of the super-parents whose values vote; naive Bayes where none does.

    ``own[i]`` is ``log P(class, i)``, ``pairs[i, k, j]`` is ``log P(j | i, k)``, zero within an attribute, and
    ``alone[j]`` is ``log P(j | class)``.
    """
    classes = len(log_prior)
    at = np.empty(len(codes), np.int64)
    above = np.empty(len(codes) + 3, np.int64)
    joint = np.empty(len(codes) + 3)
    for row in range(low, high):
        many = _known_values(codes, row, offset, at)
        voters = 0
        for i in range(many):
            if votes[at[i]]:
                above[voters] = at[i]
                voters += 1
        for k in range(classes):
            if voters:
                _add_children(pairs, k, above, voters, at, many, own, joint)
                out[row, k] = log_sum(joint, 0, voters)
            else:
                out[row, k] = log_prior[k]
                for i in range(many):
                    out[row, k] += alone[at[i], k]


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
    """Write to ``out[row, k, m]`` the log joint under the m-th of `members` as super-parent.

    A missing super-parent is summed out.
    """
    at = np.empty(len(codes), np.int64)
    above = np.empty(offset[-1] + 3, np.int64)
    joint = np.empty(offset[-1] + 3)
    start = np.zeros(len(members) + 1, np.int64)
    for row in range(low, high):
        many = _known_values(codes, row, offset, at)
        for m in range(len(members)):
            u = members[m]
            first, last = offset[u], offset[u + 1]
            value = first + np.int64(codes[u, row])
            if value < last:
                first, last = value, value + 1
            start[m + 1] = start[m] + last - first
            for i in range(last - first):
                above[start[m] + i] = first + i
        for k in range(own.shape[1]):
            _add_children(pairs, k, above, start[-1], at, many, own, joint)
            for m in range(len(members)):
                out[row, k, m] = log_sum(joint, start[m], start[m + 1])


@njit(nogil=True, cache=True)
def _share(seen: float, less: float, extra: float, total: float, mass: float, arity: int) -> float:
    """Return ``(seen - less + extra) / (total - less + mass)``, one over `arity` where nothing is left."""
    below = max(total - less, 0.0) + mass
    return (max(seen - less, 0.0) + extra) / below if below > 0.0 else 1.0 / arity


@njit(nogil=True, cache=True)
def leave_out(
    codes: Codes,
    of_class: Integers,
    weights: Floats,
    offset: Integers,
    table: Floats,
    class_counts: Floats,
    seen_with: Floats,
    cell: Floats,
    mass: Floats,
    own_cell: Floats,
    own_mass: Floats,
    class_cell: float,
    softening: float,
    members: Integers,
    low: int,
    high: int,
    out: Floats,
) -> None:
    """Change the log joints of each row, ``out[row, k, m]``, to those under tables from which the row was taken.

    Of each row one unit of weight is taken out, or all of it if that is less: it is missed in the tables of its own
    class alone, unless they are softened, and in the number of rows, which all classes share. `table` is the Burt
    table, ``seen_with[k, i, v]`` counts the rows of class k that have value i and attribute v. The prior adds
    ``cell[u, j]`` to the count of value `j` under super-parent `u`, in sum ``mass[u, v]`` over the values of attribute
    `v`; likewise `own_cell` and `own_mass` under the class alone and `class_cell` for each class. With `softening` the
    cells are that many rows, shared out as the values' own frequencies are.
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
        unit = min(1.0, weights[row])
        below = all_rows - unit + classes * class_cell
        for k in range(classes):
            if k != of_class[row] and softening == 0.0 and below > 0.0:
                for m in range(len(members)):
                    out[row, k, m] += np.log((all_rows + classes * class_cell) / below)
                continue
            less = unit if k == of_class[row] else 0.0
            prior = (max(class_counts[k] - less, 0.0) + class_cell) / below if below > 0.0 else 1.0 / classes
            for m in range(len(members)):
                u = members[m]
                r = offset[u + 1] - offset[u]
                first, last, own_less = offset[u], offset[u + 1], 0.0
                value = first + np.int64(codes[u, row])
                if value < last:
                    first, last, own_less = value, value + 1, less
                answer = -np.inf
                for above in range(first, last):
                    extra = own_cell[above]
                    if softening > 0.0:
                        gone = unit if value < offset[u + 1] else 0.0
                        mine = gone if above == value else 0.0
                        left = known[u] - gone
                        extra = softening * (max(values[above] - mine, 0.0) / left if left > 0.0 else 1.0 / r)
                    product = prior * _share(table[k, above, above], own_less, extra, in_class[k, u], own_mass[u], r)
                    logs = 0.0
                    for v in range(n):
                        j = offset[v] + np.int64(codes[v, row])
                        if v == u or j >= offset[v + 1]:
                            continue
                        s = offset[v + 1] - offset[v]
                        extra = cell[u, j]
                        if softening > 0.0:
                            left = known[v] - unit
                            extra = softening * (max(values[j] - unit, 0.0) / left if left > 0.0 else 1.0 / s)
                        product *= _share(table[k, above, j], own_less, extra, seen_with[k, above, v], mass[u, v], s)
                        if product < SMALL:
                            logs += np.log(product)
                            product = 1.0
                    logs += np.log(product)
                    answer = logs if last - first == 1 else np.logaddexp(answer, logs)
                out[row, k, m] = answer
