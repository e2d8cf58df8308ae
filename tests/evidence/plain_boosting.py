"""Boosting of class tables written down from its formulas, in plain Python and numpy and without regard for speed."""

import math
from dataclasses import dataclass, field

import numpy as np

MASK = 2**64 - 1


def mixed(key, salt):
    """Return the finaliser of SplitMix64 of a key and a salt, with Python's integers."""
    z = (int(key) ^ int(salt)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def drawn(key, salt):
    """Return a multiple of 2**-32 in [0, 1)."""
    return (mixed(key, salt) >> 32) / 2**32


def log_loss(scores, of_class):
    """Return the log loss of a row; a single score is the logit of the second class."""
    scores = [0.0, scores[0]] if len(scores) == 1 else list(scores)
    largest = max(scores)
    return largest + math.log(sum(math.exp(s - largest) for s in scores)) - scores[of_class]


def slopes(scores, of_class):
    """Return the first and second derivatives of the log loss by the scores."""
    both = [0.0, scores[0]] if len(scores) == 1 else list(scores)
    largest = max(both)
    odds = [math.exp(s - largest) for s in both]
    p = np.array(odds) / sum(odds)
    g, h = p - (np.arange(len(both)) == of_class), p * (1 - p)
    return (g[1:], h[1:]) if len(scores) == 1 else (g, h)


@dataclass
class PlainRows:
    """Rows: codes of shape (attributes, rows), classes, weights, and scores of shape (rows, columns)."""

    codes: np.ndarray
    classes: np.ndarray
    weights: np.ndarray
    scores: np.ndarray


@dataclass
class PlainBoosting:
    """One sequence of tables. `salts[t]` has a random number for each question of table t, its rows and its classes."""

    rows: PlainRows
    held_out: PlainRows
    row_keys: np.ndarray
    attribute_keys: np.ndarray
    column_keys: np.ndarray
    arity: np.ndarray
    ordered: np.ndarray
    share: float
    ess: float
    rate: float
    patience: int
    tables: list = field(default_factory=list)

    def run(self, salts):
        """Learn tables; return how many have the least held-out loss, that loss, and the held-out scores there."""
        best, loss = 0, self.held_out_loss()
        scores = self.held_out.scores.copy()
        enough = 1e-9 * self.held_out.weights.sum()
        for t, of_table in enumerate(salts):
            self.learn(of_table)
            now = self.held_out_loss()
            if now < loss - enough:
                best, loss, scores = t + 1, now, self.held_out.scores.copy()
            elif t + 1 - best >= self.patience:
                break
        return best, loss, scores

    def held_out_loss(self):
        rows = self.held_out
        return math.fsum(w * log_loss(s, k) for s, k, w in zip(rows.scores, rows.classes, rows.weights))

    def learn(self, salts):
        rows, n = self.rows, len(self.rows.classes)
        depth = len(salts) - 3
        g, h = map(np.array, zip(*(slopes(s, k) for s, k in zip(rows.scores, rows.classes))))
        bag = np.array([self.bagged(rows.weights[r], drawn(self.row_keys[r], salts[depth])) for r in range(n)])
        columns = self.looked_at(g, bag, salts[depth + 1])
        questions, cells = [], np.zeros(n, int)
        for q in range(depth):
            question = self.best_question(cells, g * bag[:, None], h * bag[:, None], columns, salts[q])
            if question is None:
                break
            questions.append(question)
            cells |= self.answers(rows.codes, question) << q
        G, H = np.zeros((2**depth, g.shape[1])), np.zeros((2**depth, g.shape[1]))
        for r in range(n):
            G[cells[r]] += bag[r] * g[r]
            H[cells[r]] += bag[r] * h[r]
        # Entries are multiples of 1/512.
        table = np.rint(-self.rate * G / (H + self.ess) * 512) / 512
        for r in range(n):
            out = min(bag[r], 1.0)
            rows.scores[r] += -self.rate * (G[cells[r]] - out * g[r]) / (H[cells[r]] - out * h[r] + self.ess)
        of_held_out = sum((self.answers(self.held_out.codes, q) << i for i, q in enumerate(questions)), 0)
        self.held_out.scores += table[of_held_out]
        self.tables.append((questions, table))

    def bagged(self, weight, u):
        units = math.floor(weight)
        fraction = weight - units if u >= 1 - self.share else 0.0
        return min(math.floor(self.share * units + u), units) + fraction

    def looked_at(self, g, bag, salt):
        if g.shape[1] <= 4:
            return list(range(g.shape[1]))
        mass = (bag[:, None] * np.abs(g)).sum(axis=0)
        waiting = [-math.log(drawn(key, salt) + 2**-33) / m for key, m in zip(self.column_keys, mass)]
        return sorted(np.argsort(waiting)[:4].tolist())

    def best_question(self, cells, g, h, columns, salt):
        order = np.argsort([mixed(key, salt) for key in self.attribute_keys])
        best, found = 0.0, None
        before = sum(self.gain(g[cells == c], h[cells == c], columns) for c in np.unique(cells))
        for u in order[: max(1, math.ceil(0.6 * len(order)))]:
            for code in range(self.arity[u]):
                question = (int(u), code, int(self.arity[u]) - 1 if self.ordered[u] else code)
                both = 2 * cells + self.answers(self.rows.codes, question)
                after = sum(self.gain(g[both == c], h[both == c], columns) for c in np.unique(both))
                if after - before > max(best * (1 + 1e-10), 1e-9, 1e-9 * before):
                    best, found = after - before, question
        return found

    def gain(self, g, h, columns):
        return sum(g[:, k].sum() ** 2 / (h[:, k].sum() + self.ess) for k in columns)

    @staticmethod
    def answers(codes, question):
        u, first, last = question
        return ((codes[u] >= first) & (codes[u] <= last)).astype(int)
