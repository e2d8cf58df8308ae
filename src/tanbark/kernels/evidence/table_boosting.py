"""Newton boosting of the multinomial log loss with tables over a few yes/no questions that all rows share.

A question asks whether the code of an attribute lies in a range: a number above a cut, a category at a level. A missing
code lies in no range. A table with ``q`` questions has ``2**q`` cells; bit ``i`` of a row's cell is its answer to
question ``i``. With two classes there is one column of scores, the logit of the second class.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanbark.kernels.runtime.compiling import njit

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Keys = NDArray[np.uint64]
Codes = NDArray[np.unsignedinteger]

EXTRA_SALTS = 3
"""Random numbers that a table needs beside one for each question: for its rows, its classes and its window."""
MAX_QUESTION_CLASSES = 4
"""With more columns of scores, the questions of a table look at this many, which are sampled."""
MAX_QUESTION_ROWS = 20_000
"""The questions of a table are chosen on at most this many rows; its scores use all."""
ATTRIBUTE_SHARE = 0.6
"""The share of the attributes among which a question is chosen."""
MIN_GAIN = 1e-9
"""The least gain of a question, also relative to the gain of the questions so far."""
TIE_TOLERANCE = 1e-10
"""Gains whose ratio differs from 1 by less are equal. The attribute, or the code, that comes first is preferred."""
MAX_STEP = 100.0
"""Bound on the entries of tables, so that scores stay finite with an extremely weak prior."""
SCORE_STEP = 2.0**-9
"""The entries of tables are multiples of this, so that files of them are small; their sums are exact in any order."""
MIN_IMPROVEMENT = 1e-9
"""The least decrease of the held-out loss per row that counts."""
MIX_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
MIX_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
HALF_WORD = np.uint64(32)


class BoostedRows(NamedTuple):
    """Rows with the scores that boosting changes.

    Codes of shape (attributes, rows) are at most the arity, which stands for a missing value.
    """

    codes: Codes
    classes: Integers
    weights: Floats
    scores: Floats


class Tables(NamedTuple):
    """Questions of shape (tables, questions) and scores of shape (tables, cells, columns).

    The answer to a question is yes if ``first <= code <= last``. The attribute of a question that was not asked is -1.
    """

    attributes: Integers
    first: Integers
    last: Integers
    scores: Floats


@njit(nogil=True, cache=True, error_model="numpy")
def mix(keys: Keys, salt: np.uint64) -> Keys:
    """Return pseudo-random numbers that are determined by keys and a salt (the finaliser of SplitMix64)."""
    mixed = keys ^ salt
    mixed = (mixed ^ (mixed >> MIX_SHIFTS[0])) * MIX_FACTORS[0]
    mixed = (mixed ^ (mixed >> MIX_SHIFTS[1])) * MIX_FACTORS[1]
    return mixed ^ (mixed >> MIX_SHIFTS[2])


@njit(nogil=True, cache=True, error_model="numpy")
def uniform(keys: Keys, salt: np.uint64) -> Floats:
    """Return pseudo-random multiples of 2**-32 in [0, 1)."""
    drawn: Floats = (mix(keys, salt) >> HALF_WORD).astype(np.float64) * 2.0**-32
    return drawn


@njit(nogil=True, cache=True, error_model="numpy")
def bag_weights(weights: Floats, share: float, draws: Floats, out: Floats) -> None:
    """Sample a share of the units of each row's weight.

    Of ``n`` units, ``share * n`` are taken, rounded up or down at random; a fraction of a unit is taken or not.
    """
    for row in range(len(weights)):
        units = np.floor(weights[row])
        out[row] = min(np.floor(share * units + draws[row]), units)
        if draws[row] >= 1.0 - share:
            out[row] += weights[row] - units


@njit(nogil=True, cache=True, error_model="numpy")
def derivatives(rows: BoostedRows, gradient: Floats, information: Floats) -> float:
    """Write the derivatives of each row's log loss by its scores, and the second ones; return the weighted loss."""
    n, columns = rows.scores.shape
    loss = 0.0
    for row in range(n):
        k = rows.classes[row]
        if columns == 1:
            score = rows.scores[row, 0]
            small = np.exp(-abs(score))
            p = 1.0 / (1.0 + small) if score >= 0 else small / (1.0 + small)
            gradient[row, 0] = p - k
            information[row, 0] = p * (1.0 - p)
            against = -score if k == 1 else score
            loss += rows.weights[row] * (max(against, 0.0) + np.log1p(small))
            continue
        largest = rows.scores[row, 0]
        for j in range(1, columns):
            largest = max(largest, rows.scores[row, j])
        total = 0.0
        for j in range(columns):
            gradient[row, j] = np.exp(rows.scores[row, j] - largest)
            total += gradient[row, j]
        for j in range(columns):
            p = gradient[row, j] / total
            gradient[row, j] = p
            information[row, j] = p * (1.0 - p)
        gradient[row, k] -= 1.0
        loss += rows.weights[row] * (largest - rows.scores[row, k] + np.log(total))
    return loss


@njit(nogil=True, cache=True, error_model="numpy")
def sampled_columns(gradient: Floats, bag: Floats, keys: Keys, salt: np.uint64, count: int) -> Integers:
    """Return `count` columns, sampled without replacement by the absolute gradient of the rows."""
    columns = gradient.shape[1]
    if count == columns:
        return np.arange(count)
    mass = np.zeros(columns)
    for row in range(len(bag)):
        for k in range(columns):
            mass[k] += bag[row] * abs(gradient[row, k])
    # The order of exponential waiting times with these rates is that of successive draws.
    waiting = -np.log(uniform(keys, salt) + 2.0**-33) / np.maximum(mass, 1e-300)
    return np.sort(np.argsort(waiting)[:count])


@njit(nogil=True, cache=True, error_model="numpy")
def _add_up(codes: Codes, cells: Integers, terms: Floats, arity: int, hist: Floats) -> None:
    """Add the terms of rows to the entry of their cell and code."""
    # There are two, six or eight terms. All loads come before the stores, so that they can be vectorised.
    stride = arity + 1
    if terms.shape[1] == 2:
        for i in range(len(cells)):
            at = np.uint64(cells[i] * stride + codes[i])
            a, b = hist[at, 0] + terms[i, 0], hist[at, 1] + terms[i, 1]
            hist[at, 0], hist[at, 1] = a, b
    elif terms.shape[1] == 6:
        for i in range(len(cells)):
            at = np.uint64(cells[i] * stride + codes[i])
            a, b, c = hist[at, 0] + terms[i, 0], hist[at, 1] + terms[i, 1], hist[at, 2] + terms[i, 2]
            d, e, f = hist[at, 3] + terms[i, 3], hist[at, 4] + terms[i, 4], hist[at, 5] + terms[i, 5]
            hist[at, 0], hist[at, 1], hist[at, 2], hist[at, 3], hist[at, 4], hist[at, 5] = a, b, c, d, e, f
    else:
        for i in range(len(cells)):
            at = np.uint64(cells[i] * stride + codes[i])
            a, b, c = hist[at, 0] + terms[i, 0], hist[at, 1] + terms[i, 1], hist[at, 2] + terms[i, 2]
            d, e, f = hist[at, 3] + terms[i, 3], hist[at, 4] + terms[i, 4], hist[at, 5] + terms[i, 5]
            g, h = hist[at, 6] + terms[i, 6], hist[at, 7] + terms[i, 7]
            hist[at, 0], hist[at, 1], hist[at, 2], hist[at, 3], hist[at, 4], hist[at, 5] = a, b, c, d, e, f
            hist[at, 6], hist[at, 7] = g, h


@njit(nogil=True, cache=True, error_model="numpy")
def _range_gains(hist: Floats, cells: int, arity: int, ordered: bool, ess: float, gains: Floats) -> float:
    """Write the gain of each question of an attribute over all cells, and return the gain without the question.

    Entry ``j`` is for the range from ``j`` on if the attribute is ordered, otherwise for ``j`` alone. The gain of a
    cell is the sum of ``G**2 / (H + ess)`` over columns, for its gradient ``G`` and its information ``H``.
    """
    width = hist.shape[1]
    before = 0.0
    total, yes = np.empty(width), np.empty(width)
    gains[:arity] = 0.0
    for c in range(cells):
        start = c * (arity + 1)
        total[:] = 0.0
        for b in range(start, start + arity + 1):
            for j in range(width):
                total[j] += hist[b, j]
        own = 0.0
        empty = True
        for j in range(0, width, 2):
            own += total[j] * total[j] / (total[j + 1] + ess)
            empty = empty and total[j] == 0.0 and total[j + 1] == 0.0
        if empty:
            continue
        before += own
        yes[:] = 0.0
        gain = 0.0
        for b in range(arity - 1, -1, -1):
            changed = False
            for j in range(width):
                value = hist[start + b, j]
                if value != 0.0:
                    changed = True
                yes[j] = yes[j] + value if ordered else value
            if changed:
                gain = -own
                for j in range(0, width, 2):
                    no, rest = total[j] - yes[j], max(total[j + 1] - yes[j + 1], 0.0)
                    gain += yes[j] * yes[j] / (yes[j + 1] + ess) + no * no / (rest + ess)
            elif not ordered:
                gain = 0.0
            gains[b] += gain
    return before


@njit(nogil=True, cache=True, error_model="numpy")
def best_question(
    codes: Codes,
    arity: Integers,
    ordered: NDArray[np.bool_],
    attributes: Integers,
    places: Integers,
    cells: Integers,
    n_cells: int,
    terms: Floats,
    ess: float,
    hist: Floats,
    gains: Floats,
    own_codes: Codes,
) -> tuple[int, int, int]:
    """Return the attribute and the range of codes of the question with the greatest gain, or -1 if none has any.

    `places` are rows, `cells` their cells, and `terms` their gradient and information for some columns.
    """
    attribute, first, last, best = -1, 0, 0, 0.0
    for u in attributes:
        a = arity[u]
        for i in range(len(places)):
            own_codes[i] = codes[u, np.uint64(places[i])]
        used = hist[: n_cells * (a + 1)]
        used[:] = 0.0
        _add_up(own_codes, cells, terms, a, used)
        before = _range_gains(used, n_cells, a, ordered[u], ess, gains)
        for b in range(a):
            if gains[b] > max(best * (1.0 + TIE_TOLERANCE), MIN_GAIN, MIN_GAIN * before):
                attribute, first, last, best = u, b, a - 1 if ordered[u] else b, gains[b]
    return attribute, first, last


@njit(nogil=True, cache=True, error_model="numpy")
def find_cells(
    codes: Codes, attributes: Integers, first: Integers, last: Integers, low: int, high: int, out: NDArray[np.uint8]
) -> None:
    """Write the cells of the rows `low` to `high` in the table with these questions."""
    out[: high - low] = 0
    for i in range(len(attributes)):
        u = attributes[i]
        if u < 0:
            break
        least, most = first[i], last[i]
        for row in range(low, high):
            code = codes[u, row]
            out[row - low] |= np.uint8(np.uint8((code >= least) & (code <= most)) << np.uint8(i))


@njit(nogil=True, cache=True, error_model="numpy")
def _clipped_step(rate: float, gradient: float, information: float) -> float:
    return min(max(-rate * gradient / information, -MAX_STEP), MAX_STEP)


@njit(nogil=True, cache=True, error_model="numpy")
def _learn_table(
    rows: BoostedRows,
    cells: NDArray[np.uint8],
    bag: Floats,
    gradient: Floats,
    information: Floats,
    ess: float,
    rate: float,
    out: Floats,
) -> None:
    """Write the rounded scores of the cells, and change the scores of rows by those of their cell learned without them.

    Of a row with a weight of more than one, one unit is left out.
    """
    n, columns = rows.scores.shape
    total, weight = np.zeros_like(out), np.zeros_like(out)
    for row in range(n):
        if bag[row] > 0.0:
            c = np.uint64(cells[row])
            for k in range(columns):
                total[c, k] += bag[row] * gradient[row, k]
                weight[c, k] += bag[row] * information[row, k]
    for cell in range(len(out)):
        for k in range(columns):
            step = _clipped_step(rate, total[cell, k], weight[cell, k] + ess)
            # Adding zero makes a zero of either sign positive.
            out[cell, k] = np.rint(step / SCORE_STEP) * SCORE_STEP + 0.0
    for row in range(n):
        c, left_out = np.uint64(cells[row]), min(bag[row], 1.0)
        for k in range(columns):
            rest = max(weight[c, k] - left_out * information[row, k], 0.0)
            rows.scores[row, k] += _clipped_step(rate, total[c, k] - left_out * gradient[row, k], rest + ess)


@njit(nogil=True, cache=True, error_model="numpy")
def boost_tables(
    rows: BoostedRows,
    row_keys: Keys,
    held_out: BoostedRows,
    arity: Integers,
    ordered: NDArray[np.bool_],
    attribute_keys: Keys,
    column_keys: Keys,
    salts: Keys,
    share: float,
    ess: float,
    rate: float,
    patience: int,
    done: int,
    best: Integers,
    best_loss: Floats,
    best_scores: Floats,
    out: Tables,
) -> bool:
    """Learn further tables until the loss of held-out rows has not improved for `patience` tables.

    Parameters
    ----------
    rows, held_out : BoostedRows
        Their scores include the tables so far. Without held-out rows, no table is the last.
    row_keys, attribute_keys, column_keys : arrays
        Random numbers from which those of each table follow.
    arity, ordered : arrays of shape (attributes,)
        The number of codes, and whether a question is about a cut.
    salts : array of shape (tables, questions + EXTRA_SALTS)
        Random numbers for each of the tables to learn.
    share : float
        The share of the rows' weight from which a table is learned.
    ess : float
        Added to the information of a cell.
    rate : float
        The factor of each step.
    patience : int
    done : int
        The number of tables so far.
    best, best_loss : arrays of shape (1,)
        The number of tables with the least held-out loss, and that loss; both change.
    best_scores : array of the shape of ``held_out.scores``
        The scores of held-out rows by these tables.
    out : Tables
        Receives the tables.

    Returns
    -------
    stopped : bool
    """
    n, columns = rows.scores.shape
    depth = salts.shape[1] - EXTRA_SALTS
    gradient, information = np.empty((n, columns)), np.empty((n, columns))
    held_gradient, held_information = np.empty_like(held_out.scores), np.empty_like(held_out.scores)
    bag, cells = np.empty(n), np.empty(n, np.uint8)
    held_cells = np.empty(len(held_out.weights), np.uint8)
    looked_at = min(columns, MAX_QUESTION_CLASSES)
    window = min(n, MAX_QUESTION_ROWS)
    places, asked = np.empty(window, np.int64), np.empty(window, np.int64)
    terms = np.empty((window, 2 * looked_at))
    own_codes = np.empty(window, rows.codes.dtype)
    hist = np.empty(((1 << max(depth - 1, 0)) * (arity.max() + 1), 2 * looked_at))
    gains = np.empty(arity.max() + 1)
    candidates = max(1, int(np.ceil(ATTRIBUTE_SHARE * len(arity))))
    enough = MIN_IMPROVEMENT * held_out.weights.sum()
    for t in range(len(salts)):
        derivatives(rows, gradient, information)
        bag_weights(rows.weights, share, uniform(row_keys, salts[t, depth]), bag)
        chosen = sampled_columns(gradient, bag, column_keys, salts[t, depth + 1], looked_at)
        begin = int(salts[t, depth + 2] % np.uint64(n))
        used = 0
        for i in range(window):
            row = (begin + i) % n
            if bag[row] > 0.0:
                places[used] = row
                for j in range(looked_at):
                    terms[used, 2 * j] = bag[row] * gradient[row, chosen[j]]
                    terms[used, 2 * j + 1] = bag[row] * information[row, chosen[j]]
                used += 1
        asked[:used] = 0
        for q in range(depth):
            order = np.argsort(mix(attribute_keys, salts[t, q]))[:candidates]
            u, low, high = best_question(
                rows.codes,
                arity,
                ordered,
                order,
                places[:used],
                asked[:used],
                1 << q,
                terms[:used],
                ess,
                hist,
                gains,
                own_codes[:used],
            )
            if u < 0:
                break
            out.attributes[t, q], out.first[t, q], out.last[t, q] = u, low, high
            for i in range(used):
                code = rows.codes[u, places[i]]
                asked[i] |= ((code >= low) & (code <= high)) << q
        attributes, first, last = out.attributes[t], out.first[t], out.last[t]
        find_cells(rows.codes, attributes, first, last, 0, n, cells)
        _learn_table(rows, cells, bag, gradient, information, ess, rate, out.scores[t])
        if len(held_cells) == 0:
            best[0] = done + t + 1
            continue
        find_cells(held_out.codes, attributes, first, last, 0, len(held_cells), held_cells)
        for row in range(len(held_cells)):
            for k in range(columns):
                held_out.scores[row, k] += out.scores[t, held_cells[row], k]
        loss = derivatives(held_out, held_gradient, held_information)
        if loss < best_loss[0] - enough:
            best[0], best_loss[0] = done + t + 1, loss
            best_scores[:] = held_out.scores
        elif done + t + 1 - best[0] >= patience:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy")
def add_tables(codes: Codes, tables: Tables, low: int, high: int, out: Floats) -> None:
    """Add the entries of all tables for the rows `low` to `high` to ``out[row, column]``."""
    block = 512
    cells = np.empty(block, np.uint8)
    for begin in range(low, high, block):
        end = min(begin + block, high)
        for t in range(len(tables.attributes)):
            find_cells(codes, tables.attributes[t], tables.first[t], tables.last[t], begin, end, cells)
            for row in range(begin, end):
                c = np.uint64(cells[row - begin])
                for k in range(out.shape[1]):
                    out[row, k] += tables.scores[t, c, k]
