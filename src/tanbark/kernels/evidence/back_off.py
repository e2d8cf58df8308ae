"""Back-off tables of one attribute: shares of answers along the path of a code, with any row left out.

A code answers a sequence of questions, one for each level: "missing?", then "left or right?" at each node of a dyadic
tree of intervals, or for a category a single question with one answer for each level. ``path[level, code]`` is the
node that answers the question, -1 if the code is not asked. ``question[node]`` is the question that a node answers.

At level ``l`` and depth ``d`` the probability of an answer is

    theta_d = (n_d + m_d (1 + l) theta_(d-1)) / (t_d + m_d (1 + l))

where ``n_d`` of ``t_d`` rows of the class gave the answer in the context of the first ``d`` parents. ``theta_(-1)`` is
the share of the answer whatever the class, shrunk towards equal shares in the same way. Thus deeper levels shrink
more. A row is left out by subtracting its weight, at most 1, from the counts.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

MIN_SHARE = 1e-100
"""A smaller probability, which only huge weights give, is replaced by this one."""
MIN_PRODUCT = 1e-200
"""A smaller product of probabilities is replaced by its logarithm before it underflows."""


@njit(nogil=True, cache=True)
def count_answers(joint: Floats, path: Integers, question: Integers, given: Floats, asked: Floats) -> None:
    """Add counts of codes ``[context, code, class]`` to the counts of answers and of rows that were asked."""
    contexts, codes, classes = joint.shape
    for context in range(contexts):
        for code in range(codes):
            for level in range(path.shape[0]):
                node = path[level, code]
                if node < 0:
                    continue
                for k in range(classes):
                    given[context, node, k] += joint[context, code, k]
                    asked[context, question[node], k] += joint[context, code, k]


@njit(nogil=True, cache=True)
def class_free_shares(
    given: Floats,
    asked: Floats,
    path: Integers,
    question: Integers,
    answers: Integers,
    ess: float,
    code: Integers,
    left_out: Floats,
    out: Floats,
) -> None:
    """Write the share of each answer of each case whatever the class, ``theta_(-1)``, to ``out[case, level]``.

    `given` and `asked` are counts over all classes; `answers` is the number of possible answers of each level.
    """
    for case in range(len(code)):
        for level in range(path.shape[0]):
            node = path[level, code[case]]
            if node < 0:
                continue
            strength = ess * (1 + level)
            n = max(given[node] - left_out[case], 0.0)
            t = max(asked[question[node]] - left_out[case], 0.0)
            out[case, level] = (n + strength / answers[level]) / (t + strength)


@njit(nogil=True, cache=True)
def left_out_log_likelihoods(
    given: Floats,
    asked: Floats,
    path: Integers,
    question: Integers,
    context: Integers,
    code: Integers,
    of_class: Integers,
    left_out: Floats,
    weight: Floats,
    shallower: Floats,
    strengths: Floats,
    out: Floats,
) -> None:
    """Add the log likelihood of the cases, each left out of the counts, under each strength to `out`."""
    for case in range(len(code)):
        if context[case] < 0:
            continue
        k = of_class[case]
        for s in range(len(strengths)):
            product, log = 1.0, 0.0
            for level in range(path.shape[0]):
                node = path[level, code[case]]
                if node < 0:
                    continue
                m = strengths[s] * (1 + level)
                n = max(given[context[case], node, k] - left_out[case], 0.0)
                t = max(asked[context[case], question[node], k] - left_out[case], 0.0)
                product *= max((n + m * shallower[case, level, k]) / (t + m), MIN_SHARE)
                if product < MIN_PRODUCT:
                    log += np.log(product)
                    product = 1.0
            out[s] += weight[case] * (log + np.log(product))


@njit(nogil=True, cache=True)
def deepen(
    given: Floats,
    asked: Floats,
    path: Integers,
    question: Integers,
    context: Integers,
    code: Integers,
    of_class: Integers,
    left_out: Floats,
    strength: float,
    shares: Floats,
    out: Floats,
) -> None:
    """Replace ``theta_(d-1)`` in ``shares[case, level, class]`` by ``theta_d``; add its log to ``out[case, class]``.

    A case without this context (-1) keeps ``theta_(d-1)``.
    """
    for case in range(len(code)):
        for k in range(shares.shape[2]):
            without = left_out[case] if k == of_class[case] else 0.0
            product, log = 1.0, 0.0
            for level in range(path.shape[0]):
                node = path[level, code[case]]
                if node < 0:
                    continue
                if context[case] >= 0:
                    m = strength * (1 + level)
                    n = max(given[context[case], node, k] - without, 0.0)
                    t = max(asked[context[case], question[node], k] - without, 0.0)
                    shares[case, level, k] = max((n + m * shares[case, level, k]) / (t + m), MIN_SHARE)
                product *= shares[case, level, k]
                if product < MIN_PRODUCT:
                    log += np.log(product)
                    product = 1.0
            out[case, k] += log + np.log(product)


@njit(nogil=True, cache=True)
def class_pair_information(
    digits: Integers, sizes: Integers, of_class: Integers, weight: Floats, a: int, b: int, classes: int
) -> float:
    """Return ``I(a; b | class)`` less its expectation under independence, in nats times weight.

    The expectation is half the degrees of freedom. Rows that lack a value (the last digit) are left out. With ``b``
    equal to ``a`` it is ``I(a; class)``.
    """
    conditional = a != b
    groups = classes if conditional else 1
    columns = sizes[b] - 1 if conditional else classes
    table = np.zeros((groups, sizes[a] - 1, columns))
    for row in range(len(of_class)):
        i = digits[a, row]
        j = digits[b, row] if conditional else of_class[row]
        if i < sizes[a] - 1 and j < columns:
            table[of_class[row] if conditional else 0, i, j] += weight[row]
    information = 0.0
    for k in range(groups):
        rows, cols = table[k].sum(axis=1), table[k].sum(axis=0)
        total = rows.sum()
        information -= max((rows > 0).sum() - 1, 0) * max((cols > 0).sum() - 1, 0) / 2
        for i in range(len(rows)):
            for j in range(len(cols)):
                if table[k, i, j] > 0:
                    information += table[k, i, j] * np.log(table[k, i, j] * total / rows[i] / cols[j])
    return information
