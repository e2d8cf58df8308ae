"""Evidence written down from its formulas, row by row and without regard for speed, and tables to try it on."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from tanbark import Encoder, Number
from tanbark.counts import Rows
from tanbark.schema.read.class_column import read_target
from tanbark.schema.read.table_reader import read_table

LEVELS = 5
GRIDS = [(Fraction(1), Fraction(0)), (Fraction(2, 3), Fraction(0)), (Fraction(2, 3), Fraction(1, 3))]
STRENGTHS = (1.0, 4.0, 16.0, 64.0)


def mixed_frame(rows, seed, classes=3):
    """Return a frame of numbers with and without ties, categories with few and many levels and missing values."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    few = np.array(["red", "green", "blue"], object)[(y + rng.integers(0, 2, rows)) % 3]
    many = np.array([f"town {i:02d}" for i in (rng.geometric(0.1, rows) + y) % 25], object)
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=rows) + y,
            "price": np.round(rng.exponential(size=rows) + 0.5 * y, 1) + 0.05,
            "colour": few,
            "town": many,
            "age": rng.normal(size=rows),
        }
    )
    holes = rng.random(frame.shape) < [0.15, 0.1, 0.15, 0.1, 0.0]
    return frame.mask(holes), y


def encoded(frame, y, missing, weights=None, n_bins=64):
    """Return the encoded rows of a frame."""
    encoder = Encoder(n_bins=n_bins, missing=missing)
    schema = encoder.learn(read_table(frame), read_target(y), weights)
    return Rows(schema, schema.encode(frame), schema.encode_target(y), weights)


def leaf_of_each_code(weights, grid):
    """Return the leaf of each code: how many cuts of the grid lie below it, by exact arithmetic."""
    scale, shift = grid
    exact = [Fraction(float(w)) for w in weights]
    total = sum(exact)
    leaves = []
    for code in range(len(weights)):
        below = sum(exact[:code])
        # A cut at rank r belongs to the first code up to which there is at least r of the weight.
        ranks = [(Fraction(j, 2**LEVELS) - shift) / scale for j in range(1, 2**LEVELS)]
        leaves.append(sum(r <= 0 or (r < 1 and below >= r * total) for r in ranks))
    return leaves


def digit_of_each_code(column, weights):
    """Return the digit of each code as a parent; the last one, of missing values, comes last."""
    if isinstance(column, Number):
        intervals = len(column.cuts) + 1
        digits = [leaf // 8 for leaf in leaf_of_each_code(weights[:intervals], GRIDS[0])]
        return [*digits, 4, 5] if column.missing else [*digits, 4]
    if column.arity <= 16:
        return list(range(column.arity + 1))
    frequent = sorted(sorted(range(column.arity), key=lambda code: (-weights[code], code))[:15])
    return [frequent.index(code) if code in frequent else 15 for code in range(column.arity)] + [16]


def answers_of_each_code(column, weights, grid):
    """Return the questions that each code answers, as tuples (level, question, answer, number of answers)."""
    if not isinstance(column, Number):
        return [[(0, "level", code, column.arity)] for code in range(column.arity)]
    intervals = len(column.cuts) + 1
    leaves = leaf_of_each_code(weights[:intervals], grid)
    occupied = {
        (level, leaves[c] >> (LEVELS - level)) for c in range(intervals) if weights[c] > 0 for level in range(6)
    }
    out = []
    for leaf in leaves:
        asked = [(0, "missing?", False, 2)] if column.missing else []
        for level in range(1, LEVELS + 1):
            node = leaf >> (LEVELS - level)
            if (level, node ^ 1) in occupied:
                asked.append((level, node >> 1, node & 1, 2))
        out.append(asked)
    return out + [[(0, "missing?", True, 2)]] * column.missing


@dataclass
class PlainEvidence:
    """The evidence of the value of an attribute in the context of its parents.

    `rows` define the questions, the digits and the counts; `ess` and `strengths[grid][depth]` shrink the shares.
    """

    rows: Rows
    attribute: int
    parents: tuple
    ess: float
    strengths: np.ndarray

    def __post_init__(self):
        columns = self.rows.schema.columns
        n_codes = [column.arity for column in columns]
        self.codes = np.minimum(self.rows.codes.astype(int), np.array(n_codes)[:, None])
        self.classes = len(self.rows.schema.classes)
        self.totals = [np.bincount(c, self.rows.each, a + 1)[:-1] for c, a in zip(self.codes, n_codes)]
        self.digits = [np.array(digit_of_each_code(*pair)) for pair in zip(columns, self.totals)]
        column, own = columns[self.attribute], self.totals[self.attribute]
        number = isinstance(column, Number)
        self.answers = [answers_of_each_code(column, own, grid) for grid in (GRIDS if number else [None])]
        self.known = self.codes[self.attribute] < column.arity
        self.asked, self.given = [], []
        for answers in self.answers:
            asked, given = {}, {}
            for row in np.flatnonzero(self.known):
                for level, question, answer, _ in answers[self.codes[self.attribute, row]]:
                    asked.setdefault((level, question), []).append(row)
                    given.setdefault((level, question, answer), []).append(row)
            self.asked.append({key: np.array(of) for key, of in asked.items()})
            self.given.append({key: np.array(of) for key, of in given.items()})

    def shares(self, grid, code, digits, of_class, depth, weights, strengths):
        """Return log theta_d, summed over the questions, for d = -1, 0, ..., depth."""
        nothing = np.zeros(0, int)
        out = np.zeros(depth + 2)
        for level, question, answer, n_answers in self.answers[grid][code]:
            asked = self.asked[grid].get((level, question), nothing)
            given = self.given[grid].get((level, question, answer), nothing)
            m = self.ess * (1 + level)
            theta = (weights[given].sum() + m / n_answers) / (weights[asked].sum() + m)
            out[0] += math.log(theta)
            for d in range(depth + 1):
                above = self.parents[:d]
                if all(digits[i] < self.digits[p][-1] for i, p in enumerate(above)):
                    here = self.rows.classes == of_class
                    for i, p in enumerate(above):
                        here = here & (self.digits[p][self.codes[p]] == digits[i])
                    m = strengths[d] * (1 + level)
                    n, t = (weights[of][here[of]].sum() for of in (given, asked))
                    theta = (n + m * theta) / (t + m)
                out[d + 1] += math.log(theta)
        return out

    def increments(self, code, digits, weights=None):
        """Return the centred increment of evidence at each depth, of shape (depths, classes)."""
        weights = self.rows.each if weights is None else weights
        depth, out = len(self.parents), 0.0
        for grid in range(len(self.answers)):
            of_class = [
                self.shares(grid, code, digits, k, depth, weights, self.strengths[grid]) for k in range(self.classes)
            ]
            out = out + np.array(of_class).T[1:] / len(self.answers)
        out = np.diff(out, axis=0, prepend=np.zeros((1, self.classes)))
        return out - out.mean(axis=1, keepdims=True)

    def without(self, row):
        """Return the weights of the rows less one row."""
        weights = self.rows.each.copy()
        weights[row] -= min(weights[row], 1.0)
        return weights

    def row_digits(self, row):
        """Return the digits of the parents of a row."""
        return [self.digits[p][self.codes[p, row]] for p in self.parents]

    def best_strengths(self):
        """Return the strengths of greatest leave-one-out likelihood, one depth after the other."""
        found = np.ones((len(self.answers), len(self.parents) + 1))
        for grid in range(len(found)):
            for depth in range(found.shape[1]):
                above = self.parents[:depth]
                likelihoods = []
                for strength in STRENGTHS:
                    tried = [*found[grid][:depth], strength]
                    total = 0.0
                    for row in np.flatnonzero(self.known):
                        digits = self.row_digits(row)
                        if all(digits[i] < self.digits[p][-1] for i, p in enumerate(above)):
                            code, k = self.codes[self.attribute, row], self.rows.classes[row]
                            left = self.shares(grid, code, digits, k, depth, self.without(row), tried)
                            total += self.rows.each[row] * left[-1]
                    likelihoods.append(total)
                found[grid, depth] = STRENGTHS[int(np.argmax(likelihoods))]
        return found
