"""An SQL statement that scores rows by sums of table entries.

Its common table expressions compute, one after the other: the key under which each attribute finds its entry, the
scores of the classes by joins with the tables of entries, the largest score, and the exponentials of the differences to
it. Expressions whose columns are used more than once are materialized, since PostgreSQL and SQLite would otherwise
compute them anew for each use.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tanbark.export.raw_inputs import missing_numbers, missing_texts, required_types
from tanbark.export.sql_columns import column_value, literals, quoted_name
from tanbark.schema import Schema

Array = NDArray[np.float64]

IMPOSSIBLE = -1e30
"""The score that stands for -inf, which has no portable notation; sums of log probabilities are far from it."""
MAX_EXPONENT = 700
"""Differences of scores beyond it count as infinite; PostgreSQL raises an error if an exponential underflows."""
MAX_JOINS = 50
"""The maximum number of tables that are joined at once; SQLite allows 64."""
MAX_TERMS = 100
"""The maximum number of terms of a sum without parentheses; databases limit the depth of expressions."""
MAX_COMPARED = 8
"""The maximum number of scores whose maximum is found by comparing all pairs."""
MAX_ENTRIES = 2**22
"""The maximum number of entries in a statement, about 100 MB of text."""
MAX_COLUMNS = 1600
"""The maximum number of columns of an intermediate result; PostgreSQL allows 1,664."""


@dataclass(frozen=True)
class Scores:
    """The score of each class as a sum of one table entry for each attribute.

    Parameters
    ----------
    schema : Schema
    base : array of shape (classes,)
        The scores before any evidence.
    tables : sequence of arrays of shape (digits of each parent, arity + 1, classes)
        Entries by the digits of the attribute's parents and its code, as in
        `tanbark.evidence.additive_tables.AdditiveTables`. NaN stands for rows that cannot be scored.
    parents : sequence of sequences of int
        The parents of each attribute.
    digits : sequence of arrays of shape (arity + 1,)
        The digit of each code of an attribute as a parent.
    prior : array of shape (classes,)
        The probabilities of rows that are impossible under every class.
    """

    schema: Schema
    base: Array
    tables: Sequence[Array]
    parents: Sequence[Sequence[int]]
    digits: Sequence[NDArray[np.int64]]
    prior: Array


@dataclass(frozen=True)
class _Lookup:
    """A table to join: the expression of its key in terms of a row, its keys, and its entries for some classes."""

    key: str
    keys: list[int]
    entries: Array


class Statement:
    """An SQL statement that selects columns of a table, the predicted class and the probabilities of the classes.

    Parameters
    ----------
    scores : Scores
        How rows are scored.
    table : sequence of str
        The name of the table, preceded by those of its database and schema, if necessary.
    copied : sequence of str
        The names of columns to select beside the predictions.
    """

    def __init__(self, scores: Scores, table: Sequence[str], copied: Sequence[str]) -> None:
        self._scores = scores
        self._table = ".".join(map(quoted_name, table))
        self._copied = [quoted_name(name) for name in copied]
        self._parts: list[str] = []
        self._missing = list(zip(missing_texts(scores.schema), missing_numbers(scores.schema), strict=True))
        self._prefix = "tanbark_"
        while any(name.lower().startswith(self._prefix) for name in table):
            self._prefix += "_"
        everything = [scores.base, *scores.tables]
        self._has_impossible = any(np.isneginf(part).any() for part in everything)
        # Without infinite entries, scores relative to the first class suffice.
        self._relative = len(scores.base) > 1 and not self._has_impossible
        n_classes = len(scores.base)
        self._classes = range(1 if self._relative else 0, n_classes)
        columns = len(self._copied) + max(len(scores.tables) + n_classes, 2 * n_classes + 1)
        if columns > MAX_COLUMNS:
            raise ValueError(
                f"the statement needs {columns:,} columns, but databases allow about {MAX_COLUMNS:,}; use fewer "
                "attributes or classes"
            )

    def text(self) -> str:
        """Return the statement, without a semicolon."""
        lookups = self._lookups()
        n_entries = sum(lookup.entries.size for lookup in lookups)
        if n_entries > MAX_ENTRIES:
            raise ValueError(
                f"the tables of the model have {n_entries:,} entries, but an SQL statement can hold at most "
                f"{MAX_ENTRIES:,}; use fewer levels, bins or parents"
            )
        keys = self._add_keys(lookups)
        self._parts += [self._values(at, lookup) for at, lookup in enumerate(lookups)]
        largest, source = self._add_maximum(self._add_sums(lookups, keys))
        selection = self._selection(largest, self._add_weights(largest, source))
        return self._comments() + "WITH " + ",\n".join(self._parts) + "\n" + selection + "\n"

    def _comments(self) -> str:
        """Return a comment for each column that may be text in Python, but not in a database."""
        types = required_types(self._scores.schema)
        return "".join(f"-- Column {json.dumps(name)} must hold {kind}, not text.\n" for name, kind in types.items())

    # Tables and their keys

    def _lookups(self) -> list[_Lookup]:
        made = [self._lookup(u) for u in range(len(self._scores.tables))]
        must_be_known = self._scores.schema.unseen == "error"
        return [one for one in made if must_be_known or one.entries.any() or len(one.keys) < len(one.entries)]

    def _lookup(self, u: int) -> _Lookup:
        scores, schema = self._scores, self._scores.schema
        table, parents = scores.tables[u], list(scores.parents[u])
        table = table - table[..., :1] if self._relative else np.where(np.isneginf(table), IMPOSSIBLE, table)
        for axis in reversed(range(len(parents))):
            if (table == table.take([0], axis)).all():
                table = table[(slice(None),) * axis + (0,)]
                del parents[axis]
        stride = table.shape[-2]
        terms = [column_value(schema.columns[u], range(stride), schema.unseen, *self._missing[u])]
        for axis in reversed(range(len(parents))):
            p = parents[axis]
            values = (scores.digits[p] * stride).tolist()
            terms.append(column_value(schema.columns[p], values, schema.unseen, *self._missing[p]))
            stride *= table.shape[axis]
        flat = table.reshape(stride, -1)
        keys = np.flatnonzero(~np.isnan(flat).any(axis=1))
        return _Lookup(" + ".join(terms), keys.tolist(), flat[:, self._classes.start :])

    def _add_keys(self, lookups: Sequence[_Lookup]) -> str:
        """Add the columns to copy and the keys of all tables."""
        columns = [f"t.{name} AS k{i}" for i, name in enumerate(self._copied)]
        columns += [f"{lookup.key} AS i{at}" for at, lookup in enumerate(lookups)]
        return self._add("keys", columns or ["1 AS i0"], f"{self._table} AS t", materialized=False)

    def _values(self, at: int, lookup: _Lookup) -> str:
        rows = [[str(key), *map(repr, lookup.entries[key].tolist())] for key in lookup.keys]
        # The type of the first row is that of all: PostgreSQL takes numbers with a point for decimals.
        rows[0][1:] = [f"CAST({entry} AS DOUBLE PRECISION)" for entry in rows[0][1:]]
        values = ",\n    ".join(f"({', '.join(row)})" for row in rows)
        return f"{self._prefix}table{at}(i, {', '.join(f's{k}' for k in self._classes)}) AS (\n    VALUES {values})"

    # Scores and probabilities

    def _add_sums(self, lookups: Sequence[_Lookup], source: str) -> str:
        """Add the scores of the classes, in steps if there are many tables."""
        base = self._scores.base - (self._scores.base[0] if self._relative else 0.0)
        base = np.where(np.isneginf(base), IMPOSSIBLE, base)
        sums = {k: f"CAST({base[k].item()!r} AS DOUBLE PRECISION)" for k in self._classes}
        for begin in range(0, max(len(lookups), 1), MAX_JOINS):
            chunk = range(begin, min(begin + MAX_JOINS, len(lookups)))
            columns = [f"q.k{i}" for i in range(len(self._copied))]
            columns += [f"q.i{at}" for at in range(chunk.stop, len(lookups))]
            columns += [f"{' + '.join([sums[k], *(f'e{at}.s{k}' for at in chunk)])} AS s{k}" for k in self._classes]
            if self._relative and chunk.stop == len(lookups):
                columns.append("CAST(0 AS DOUBLE PRECISION) AS s0")
            joins = [f"LEFT JOIN {self._prefix}table{at} AS e{at} ON e{at}.i = q.i{at}" for at in chunk]
            source = self._add(f"scores{begin // MAX_JOINS}", columns, "\n    ".join([f"{source} AS q", *joins]))
            sums = {k: f"q.s{k}" for k in self._classes}
        return source

    def _add_maximum(self, source: str) -> tuple[str, str]:
        """Add the largest score, in steps if there are many classes; return its name and that of its source."""
        candidates, level = self._names("s"), 0
        kept = self._names("k") + candidates
        while level == 0 or len(candidates) > 1:
            chunks = [candidates[i : i + MAX_COMPARED] for i in range(0, len(candidates), MAX_COMPARED)]
            candidates = [f"m{level}_{i}" for i in range(len(chunks))]
            columns = [f"{_largest(chunk)} AS {name}" for chunk, name in zip(chunks, candidates, strict=True)]
            source = self._add(f"largest{level}", [*kept, *columns], source)
            level += 1
        return candidates[0], source

    def _add_weights(self, largest: str, source: str) -> str:
        """Add the exponentials of the differences to the largest score, and their sum."""
        kept, scores, weights = [*self._names("k"), largest], self._names("s"), self._names("w")
        # The score of a row that cannot be scored is NULL, which must not become 0.
        exponentials = [
            f"CASE WHEN {score} - {largest} < -{MAX_EXPONENT} THEN 0 ELSE EXP({score} - {largest}) END AS {weight}"
            for score, weight in zip(scores, weights, strict=True)
        ]
        source = self._add("weights", [*kept, *scores, *exponentials], source)
        return self._add("total", [*kept, *scores, *weights, f"{_sum(weights)} AS w"], source)

    def _selection(self, largest: str, source: str) -> str:
        """Return the final SELECT."""
        schema, prior = self._scores.schema, self._scores.prior
        labels = literals(schema.classes)
        impossible = f"WHEN {largest} < {IMPOSSIBLE / 2} THEN " if self._has_impossible else ""
        columns = [f"k{i} AS {name}" for i, name in enumerate(self._copied)]
        cases = [impossible + labels[int(prior.argmax())]] if impossible else []
        cases += [f"WHEN s{k} = {largest} THEN {label}" for k, label in enumerate(labels)]
        prediction = f"CASE {' '.join(cases)} END"
        if any(isinstance(label, float) for label in schema.classes) and not labels[0].startswith("'"):
            prediction = f"CAST({prediction} AS DOUBLE PRECISION)"
        columns.append(f'{prediction} AS "prediction"')
        for k, label in enumerate(schema.classes):
            share = f"w{k} / w"
            if impossible:
                share = f"CASE {impossible}{prior[k].item()!r} ELSE {share} END"
            columns.append(f"{share} AS {quoted_name(probability_name(label))}")
        return "SELECT\n    " + ",\n    ".join(columns) + f"\nFROM {source}"

    # Text

    def _names(self, letter: str) -> list[str]:
        """Return the names of the columns to copy ("k"), or of the columns of all classes ("s" or "w")."""
        n = len(self._copied) if letter == "k" else len(self._scores.base)
        return [f"{letter}{i}" for i in range(n)]

    def _add(self, name: str, columns: Sequence[str], source: str, materialized: bool = True) -> str:
        """Add a common table expression and return its full name."""
        name = self._prefix + name
        kind = "AS MATERIALIZED" if materialized else "AS"
        inside = ",\n        ".join(columns)
        self._parts.append(f"{name} {kind} (\n    SELECT\n        {inside}\n    FROM {source})")
        return name


def probability_name(label: object) -> str:
    """Return the name of the column with the probability of a class."""
    return f"p({label})"


def _largest(names: Sequence[str]) -> str:
    """Return the maximum of some columns, for which databases have different functions; NULL if all are NULL."""
    if len(names) == 1:
        return names[0]
    cases = [
        f"WHEN {' AND '.join(f'{name} >= {other}' for other in names[i + 1 :])} THEN {name}"
        for i, name in enumerate(names[:-1])
    ]
    return f"CASE {' '.join(cases)} ELSE {names[-1]} END"


def _sum(terms: Sequence[str]) -> str:
    """Return a sum, with parentheses that limit its depth."""
    while len(terms) > MAX_TERMS:
        terms = [f"({' + '.join(terms[i : i + MAX_TERMS])})" for i in range(0, len(terms), MAX_TERMS)]
    return " + ".join(terms)
