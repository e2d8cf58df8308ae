"""Networks as described in files: variables, parents and probability tables."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from tanbark.atomic_write import replacing
from tanbark.export.variables import NetworkFileError, Variable, class_name_of, schema_of
from tanbark.network import Network, SparseTable, Structure
from tanbark.schema.encode.columns import first_repeated

MOST_BYTES = 2**28
MOST_SAID = 500

Path_ = str | os.PathLike[str]


def written(text: str, path: Path_ | None) -> str:
    """Return a text, having written it to a file if there is a path."""
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(text.encode())
    return text


def read(source: Path_ | IO[bytes] | IO[str], parse: Callable[[bytes], Network]) -> Network:
    """Return what a file describes; an error names the file and the line."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            content: bytes | str = file.read(MOST_BYTES + 1)
        name = os.fspath(source)
    else:
        content, name = source.read(MOST_BYTES + 1), getattr(source, "name", "the file")
    try:
        if len(content) > MOST_BYTES:
            raise NetworkFileError(f"the file is larger than {MOST_BYTES // 2**20} MB")
        return parse(content.encode() if isinstance(content, str) else content)
    except NetworkFileError as error:
        where = f"{name}, line {error.line}" if error.line else name
        # A name may be as long as the file.
        raise NetworkFileError(f"{where}: {str(error)[:MOST_SAID]}", error.line) from error.__cause__


Array = NDArray[np.float64]

MOST_CELLS = 2**22
"""So many probabilities a file may hold: about 80 MB of text."""
TOLERANCE = 0.01
"""How far probabilities that someone rounded may sum from 1."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class Definition:
    """A node's parents, and its probabilities: one axis for each parent, the node's own values last."""

    parents: tuple[str, ...]
    table: Array
    line: int = 0


class Description:
    """What has been read of a file: each variable once, and a definition for each."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.definitions: dict[str, Definition] = {}
        self._cells = 0

    def declare(self, variable: Variable) -> None:
        """Add a variable."""
        name, labels, line = variable.name, variable.labels, variable.line
        if name in self.variables:
            raise NetworkFileError(f"{name!r} is declared twice", line)
        if not labels:
            raise NetworkFileError(f"{name!r} has no values", line)
        twice = first_repeated(labels)
        if twice is not None and "tanbark_kinds" not in variable.properties:
            raise NetworkFileError(f"{name!r} has the value {twice!r} twice", line)
        self.variables[name] = variable

    def shape(self, name: str, parents: Sequence[str], line: int) -> tuple[int, ...]:
        """Return the shape of the table of a node with these parents, all of which must have been declared."""
        for one in (name, *parents):
            if one not in self.variables:
                raise NetworkFileError(f"{one!r} is no variable", line)
        if name in self.definitions:
            raise NetworkFileError(f"the probabilities of {name!r} are given twice", line)
        if len({name, *parents}) <= len(parents):
            raise NetworkFileError(f"{name!r} has a parent twice, or is its own", line)
        shape = tuple(len(self.variables[one].labels) for one in (*parents, name))
        self._cells += math.prod(shape)
        if self._cells > MOST_CELLS:
            raise NetworkFileError(f"there are more than {MOST_CELLS:,} probabilities, too many to read", line)
        return shape

    def define(self, name: str, parents: Sequence[str], values: Array, shape: tuple[int, ...], line: int) -> None:
        """Add a node's parents and its probabilities, in the order of the axes of its table."""
        if values.size != math.prod(shape):
            raise NetworkFileError(f"{name!r} needs {math.prod(shape):,} probabilities, found {values.size:,}", line)
        self.definitions[name] = Definition(tuple(parents), values.reshape(shape), line)

    def network(self, class_name: str | None) -> Network:
        """Return the network that has been read."""
        if not self.variables:
            raise NetworkFileError("no variable is declared")
        for name, variable in self.variables.items():
            if name not in self.definitions:
                raise NetworkFileError(f"the probabilities of {name!r} are not given", variable.line)
        of_class = self.variables[class_name_of([*self.variables.values()], class_name)]
        columns = [v for v in self.variables.values() if v is not of_class]
        defined = [self.definitions[v.name] for v in (*columns, of_class)]
        place = {v.name: at for at, v in enumerate((*columns, of_class))}
        self._refuse_cycle()
        structure = Structure(tuple(tuple(place[p] for p in one.parents) for one in defined))
        try:
            schema = schema_of(columns, of_class)
        except ValueError as error:
            raise NetworkFileError(str(error)) from None
        return Network(schema, structure, tuple(map(_log_table, place, defined)))

    def _refuse_cycle(self) -> None:
        try:
            TopologicalSorter({name: one.parents for name, one in self.definitions.items()}).prepare()
        except CycleError as error:
            name = error.args[1][0]
            raise NetworkFileError(
                f"{name!r} depends on itself by way of others", self.definitions[name].line
            ) from None


def number(word: str, line: int) -> float:
    """Return a number that a file has; what Python or C also take for one is none."""
    if not _NUMBER.fullmatch(word):
        raise NetworkFileError(f"expected a number, found {word[:40]!r}", line)
    return float(word)


def probabilities(network: Network) -> list[Array]:
    """Return the tables of a network, those that are sparse written out."""
    cells = sum(math.prod(table.shape) for table in network.log_tables)
    if cells > MOST_CELLS:
        raise ValueError(
            f"the network has {cells:,} probabilities, and a file may hold {MOST_CELLS:,}; give nodes fewer parents"
        )
    return [np.exp(t.dense() if isinstance(t, SparseTable) else t) for t in network.log_tables]


def _log_table(name: str, definition: Definition) -> Array:
    """Return the logarithms of probabilities, scaled where whoever wrote them had rounded them."""
    table, line = definition.table, definition.line
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise NetworkFileError(f"{name!r} has a probability that is negative or no finite number", line)
    sums = table.sum(axis=-1, keepdims=True)
    worst = float(sums.flat[np.abs(sums - 1.0).argmax()])
    if abs(worst - 1.0) > TOLERANCE + 1e-9:
        raise NetworkFileError(f"{name!r} has probabilities that sum to {worst:.6g} instead of 1", line)
    return exact_log(np.where(np.abs(sums - 1.0) > 1e-9, table / sums, table))


def exact_log(probability: Array) -> Array:
    """Return the logarithms whose exponentials are these probabilities to the last bit, where there are such."""
    with np.errstate(divide="ignore"):
        log: Array = np.log(probability)
        for nudged in (np.nextafter(log, -np.inf), np.nextafter(log, np.inf)):
            log = np.where((np.exp(log) != probability) & (np.exp(nudged) == probability), nudged, log)
    return log
