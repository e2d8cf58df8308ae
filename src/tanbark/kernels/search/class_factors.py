"""What a family says of the class: for each value that was seen, a factor over the classes."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]


@njit(nogil=True, cache=True)
def refined(at: Integers, many: int, column: Codes, arity: int) -> tuple[Integers, int]:
    """Return the numbers of the pairs of a row's number and its value in a column, and how many there are.

    The pairs that occur are numbered in the order in which they first occur.
    """
    place = np.full(many * arity, -1, np.int32)
    out = np.empty_like(at)
    found = 0
    for i in range(len(at)):
        cell = at[i] * arity + column[i]
        if place[cell] < 0:
            place[cell] = found
            found += 1
        out[i] = place[cell]
    return out, found


@njit(nogil=True, cache=True)
def configured(codes: Codes, arity: Integers, above: Integers) -> tuple[Integers, int]:
    """Return the number of each row's configuration of some columns, and how many there are."""
    at = np.zeros(codes.shape[1], np.int64)
    many = 1
    for p in above:
        at, many = refined(at, many, codes[p], arity[p])
    return at, many


@njit(nogil=True, cache=True)
def class_factor(
    codes: Codes, arity: Integers, above: Integers, start: Integers, classes: Integers, weights: Floats, prior: float
) -> tuple[Integers, Floats, float]:
    """Return for each row the number of its configuration, ``P(class | configuration)``, and its log likelihood.

    Row `i` has the classes and weights from ``start[i]`` to ``start[i + 1]``; `prior` is the prior's weight for a cell.
    """
    at, many = configured(codes, arity, above)
    table = np.zeros((many, arity[-1]))
    for i in range(len(at)):
        for j in range(start[i], start[i + 1]):
            table[at[i], classes[j]] += weights[j]
    fit = 0.0
    for row in table:
        total = row.sum() + prior * len(row)
        for k in range(len(row)):
            seen = row[k]
            row[k] = (seen + prior) / total
            if seen > 0:
                fit += seen * np.log(row[k])
    return at, table, fit


@njit(nogil=True, cache=True)
def attribute_factor(
    codes: Codes,
    arity: Integers,
    above: Integers,
    node: int,
    start: Integers,
    classes: Integers,
    weights: Floats,
    prior: float,
) -> tuple[Integers, Floats, float]:
    """Return for each row the number of its configuration and value, ``P(value | configuration, class)``, and the fit.

    The table is of shape (numbers, classes); the fit is the log likelihood of the values.
    """
    at, many = configured(codes, arity, above)
    group, groups = refined(at, many, codes[node], arity[node])
    totals = np.full((many, arity[-1]), prior * arity[node])
    table = np.zeros((groups, arity[-1]))
    under = np.zeros(groups, np.int64)
    for i in range(len(at)):
        under[group[i]] = at[i]
        for j in range(start[i], start[i + 1]):
            table[group[i], classes[j]] += weights[j]
            totals[at[i], classes[j]] += weights[j]
    fit = 0.0
    for g in range(groups):
        row, total = table[g], totals[under[g]]
        for k in range(len(row)):
            seen = row[k]
            row[k] = (seen + prior) / total[k]
            if seen > 0:
                fit += seen * np.log(row[k])
    return group, table, fit


@njit(nogil=True, cache=True)
def add_log_factor(joint: Floats, group: Integers, log_table: Floats) -> None:
    """Add a factor's logarithm to the log joints of the rows."""
    for i in range(len(group)):
        log_factor = log_table[group[i]]
        for k in range(len(log_factor)):
            joint[i, k] += log_factor[k]


@njit(nogil=True, cache=True)
def exchanged(
    posterior: Floats, group: Integers, inverse: Floats, new_group: Integers, new_table: Floats
) -> NDArray[np.float64]:
    """Return the posteriors with one factor, of which `inverse` is one over the table, replaced by another.

    They no longer sum to one.
    """
    out = np.empty_like(posterior)
    for i in range(len(group)):
        old, new = inverse[group[i]], new_table[new_group[i]]
        for k in range(len(old)):
            out[i, k] = posterior[i, k] * old[k] * new[k]
    return out


@njit(nogil=True, cache=True, fastmath={"reassoc", "nsz"})
def evidence_gain(
    posterior: Floats, group: Integers, inverse: Floats, new_group: Integers, new_table: Floats, weights: Floats
) -> float:
    """Return by how much the log evidence of the rows grows when a factor is replaced: ``sum w log sum P new / old``.

    The order of the sum over classes is left to the compiler, which makes one instruction of several of its terms.
    """
    total = 0.0
    for i in range(len(group)):
        old, new, now = inverse[group[i]], new_table[new_group[i]], posterior[i]
        each = 0.0
        for k in range(len(old)):
            each += now[k] * old[k] * new[k]
        total += weights[i] * np.log(each)
    return total
