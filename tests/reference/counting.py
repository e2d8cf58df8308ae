"""What the reference scripts share: read a table, weigh pairs, see whether the best tree is unique, draw structures."""

import csv
import itertools
import json
import re
from pathlib import Path

import numpy as np


class Table:
    """A CSV file read as text: every column a category, levels sorted, the last the class; empty is missing (-1)."""

    def __init__(self, path):
        with Path(path).open(newline="") as file:
            rows = list(csv.reader(file))
        self.names, self.rows = rows[0], rows[1:]
        self.attributes, self.target = self.names[:-1], self.names[-1]
        columns = list(zip(*self.rows))
        self.levels = [sorted(set(column) - {""}) for column in columns]
        index = [{level: i for i, level in enumerate(levels)} for levels in self.levels]
        self.codes = np.array([[i.get(v, -1) for v in column] for i, column in zip(index, columns)]).T
        self.arity = [len(levels) for levels in self.levels]

    def count(self, *columns):
        """Count the rows of every combination of the levels of these columns (by number)."""
        table = np.zeros([self.arity[c] for c in columns])
        np.add.at(table, tuple(self.codes[:, c] for c in columns), 1)
        return table

    def spread(self, n, among=None):
        """Pick n row numbers evenly spaced over the file, or over the rows given."""
        among = np.arange(len(self.rows)) if among is None else np.asarray(among)
        return [int(i) for i in among[np.linspace(0, len(among) - 1, n).astype(int)]]


def random_structure(nodes, most_parents, rng):
    """Draw for every node its parents, up to so many, among the nodes before it in a random order."""
    order = rng.permutation(nodes)
    parents = [[] for _ in range(nodes)]
    for place, node in enumerate(order):
        many = min(place, rng.integers(0, most_parents + 1))
        parents[node] = sorted(rng.choice(order[:place], many, replace=False).tolist()) if many else []
    return parents


def structures_to_score(data):
    """Yield the name of each table of a folder whose structures are scored, the table, and random structures."""
    for seed, name in enumerate(["car_evaluation", "nursery", "tic_tac_toe", "chess_kr_vs_kp"]):
        table = Table(Path(data) / f"{name}.csv")
        rng = np.random.default_rng(seed)
        yield name, table, [random_structure(len(table.names), most_parents, rng) for most_parents in (1, 3, 4)]


def conditional_mutual_information(table):
    """I(X_u; X_v | class) in nats from the relative frequencies, as a symmetric matrix."""
    n = len(table.attributes)
    weights = np.zeros((n, n))
    for u, v in itertools.combinations(range(n), 2):
        joint = table.count(u, v, n) / len(table.rows)
        product = joint.sum(0, keepdims=True) * joint.sum(1, keepdims=True)
        seen = joint > 0
        ratio = (joint * joint.sum((0, 1), keepdims=True))[seen] / product[seen]
        weights[u, v] = weights[v, u] = (joint[seen] * np.log(ratio)).sum()
    return weights


def maximum_tree(weights):
    """Find the maximum spanning tree (Kruskal), edges in column order."""
    n = len(weights)
    part = list(range(n))  # the connected part that each node is in so far
    edges = []
    for u, v in sorted(itertools.combinations(range(n), 2), key=lambda e: -weights[e]):
        if part[u] != part[v]:
            edges.append([u, v])
            part = [part[u] if p == part[v] else p for p in part]
    return sorted(edges)


def margin(weights, edges):
    """Say what weight the tree loses by its best exchange of one edge: above 0 it is the only maximum, below 0 none."""
    n = len(weights)
    neighbours = {u: [] for u in range(n)}
    for u, v in edges:
        neighbours[u].append(v)
        neighbours[v].append(u)
    best = np.inf
    for start in range(n):
        thinnest, stack = {start: np.inf}, [start]  # the lightest edge on the way from start
        while stack:
            u = stack.pop()
            for v in neighbours[u]:
                if v not in thinnest:
                    thinnest[v] = min(thinnest[u], weights[u, v])
                    stack.append(v)
        others = [v for v in range(n) if v != start and v not in neighbours[start]]
        best = min([best, *(thinnest.get(v, 0.0) - weights[start, v] for v in others)])
    return float(best)


def write_json(value, path):
    """Write JSON for people too: one line per innermost list."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    Path(path).write_text(re.sub(r"\[\s+([^][{}]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text) + "\n")
