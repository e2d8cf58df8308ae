"""Factors over the classes for each observed configuration of a family, and their effect on posteriors."""

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger]


@njit(nogil=True, cache=True)
def refine_numbers(number: Integers, n_numbers: int, column: Codes, arity: int) -> tuple[Integers, int]:
    """Assign a number to each pair of a row's number and its code in a column; return the numbers and their count.

    The pairs that occur are numbered in order of first occurrence.
    """
    new_number = np.full(n_numbers * arity, -1, np.int32)
    out = np.empty_like(number)
    n_new = 0
    for i in range(len(number)):
        cell = number[i] * arity + column[i]
        if new_number[cell] < 0:
            new_number[cell] = n_new
            n_new += 1
        out[i] = new_number[cell]
    return out, n_new


@njit(nogil=True, cache=True)
def number_configurations(codes: Codes, arity: Integers, parents: Integers) -> tuple[Integers, int]:
    """Return the number of each row's configuration of the columns `parents`, and how many there are."""
    number = np.zeros(codes.shape[1], np.int64)
    count = 1
    for p in parents:
        number, count = refine_numbers(number, count, codes[p], arity[p])
    return number, count


@njit(nogil=True, cache=True)
def class_factor(
    codes: Codes, arity: Integers, parents: Integers, start: Integers, classes: Integers, weights: Floats, prior: float
) -> tuple[Integers, Floats, float]:
    """Return the configuration number of each row, the table ``P(class | configuration)``, and its log likelihood.

    The classes and weights of row `i` are those from ``start[i]`` to ``start[i + 1]``; `prior` is the prior's weight of
    a cell.
    """
    configuration, n_configurations = number_configurations(codes, arity, parents)
    table = np.zeros((n_configurations, arity[-1]))
    for i in range(len(configuration)):
        for j in range(start[i], start[i + 1]):
            table[configuration[i], classes[j]] += weights[j]
    log_likelihood = 0.0
    for row in table:
        total = row.sum() + prior * len(row)
        for k in range(len(row)):
            count = row[k]
            row[k] = (count + prior) / total
            if count > 0:
                log_likelihood += count * np.log(row[k])
    return configuration, table, log_likelihood


@njit(nogil=True, cache=True)
def attribute_factor(
    codes: Codes,
    arity: Integers,
    parents: Integers,
    node: int,
    start: Integers,
    classes: Integers,
    weights: Floats,
    prior: float,
) -> tuple[Integers, Floats, float]:
    """Return the number of each row's configuration and value, ``P(value | configuration, class)``, and its likelihood.

    The table has shape (numbers, classes), and the likelihood is a logarithm. The arguments are those of
    `class_factor`; `node` is the attribute's column.
    """
    configuration, n_configurations = number_configurations(codes, arity, parents)
    group, groups = refine_numbers(configuration, n_configurations, codes[node], arity[node])
    totals = np.full((n_configurations, arity[-1]), prior * arity[node])
    table = np.zeros((groups, arity[-1]))
    configuration_of = np.zeros(groups, np.int64)
    for i in range(len(configuration)):
        configuration_of[group[i]] = configuration[i]
        for j in range(start[i], start[i + 1]):
            table[group[i], classes[j]] += weights[j]
            totals[configuration[i], classes[j]] += weights[j]
    log_likelihood = 0.0
    for g in range(groups):
        row, total = table[g], totals[configuration_of[g]]
        for k in range(len(row)):
            count = row[k]
            row[k] = (count + prior) / total[k]
            if count > 0:
                log_likelihood += count * np.log(row[k])
    return group, table, log_likelihood


@njit(nogil=True, cache=True)
def add_log_factor(joint: Floats, group: Integers, log_table: Floats) -> None:
    """Add the logarithm of a factor to the log joints of the rows."""
    for i in range(len(group)):
        log_factor = log_table[group[i]]
        for k in range(len(log_factor)):
            joint[i, k] += log_factor[k]


@njit(nogil=True, cache=True)
def replace_factor(
    posterior: Floats, group: Integers, inverse: Floats, new_group: Integers, new_table: Floats
) -> NDArray[np.float64]:
    """Return the unnormalised posteriors after replacing one factor; `inverse` is the reciprocal of its table."""
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
    """Return the gain in log evidence of the rows when a factor is replaced, ``sum w log sum P new / old``.

    The compiler may reorder the sum over classes, so that it can vectorise it.
    """
    total = 0.0
    for i in range(len(group)):
        old, new, current = inverse[group[i]], new_table[new_group[i]], posterior[i]
        ratio = 0.0
        for k in range(len(old)):
            ratio += current[k] * old[k] * new[k]
        total += weights[i] * np.log(ratio)
    return total
