"""Networks in files: which network of a model is exported, and what readers and writers of BIF and XMLBIF share.

A reader collects variables and probability tables in a `Description`, which checks them and builds the `Network`.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from tanbark.atomic_write import replacing
from tanbark.classifiers.averaged_tan import AveragedTAN
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.network_classifier import NetworkClassifier
from tanbark.classifiers.boosted_bn import BoostedBN
from tanbark.export.variables import NetworkFileError, Variable, describe_schema, find_class_name, make_schema
from tanbark.messages import first_repeated
from tanbark.network import Network, SparseTable, Structure

Array = NDArray[np.float64]
PathLike = str | os.PathLike[str]

MAX_FILE_BYTES = 2**28
MAX_MESSAGE_CHARS = 500
"""The maximum length of an error message: a name can be as long as the file."""
MAX_CELLS = 2**22
"""The maximum number of probabilities in a file, about 80 MB of text."""
SUM_TOLERANCE = 0.01
"""The maximum deviation from 1 of the sum of rounded probabilities."""

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def write_text(text: str, path: PathLike | None) -> str:
    """Write a text to a file if a path is given, and return the text."""
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(text.encode())
    return text


def read_network(source: PathLike | IO[bytes] | IO[str], parse: Callable[[bytes], Network]) -> Network:
    """Read a file and parse it; errors name the file and the line."""
    if isinstance(source, str | os.PathLike):
        with Path(source).open("rb") as file:
            content: bytes | str = file.read(MAX_FILE_BYTES + 1)
        name = os.fspath(source)
    else:
        content, name = source.read(MAX_FILE_BYTES + 1), getattr(source, "name", "the file")
    try:
        if len(content) > MAX_FILE_BYTES:
            raise NetworkFileError(f"the file is larger than {MAX_FILE_BYTES // 2**20} MB")
        return parse(content.encode() if isinstance(content, str) else content)
    except NetworkFileError as error:
        where = f"{name}, line {error.line}" if error.line else name
        raise NetworkFileError(f"{where}: {str(error)[:MAX_MESSAGE_CHARS]}", error.line) from error.__cause__


def parse_number(word: str, line: int) -> float:
    """Return a decimal number; other notations that Python accepts, such as ``nan`` and ``1_0``, are errors."""
    if not _NUMBER.fullmatch(word):
        raise NetworkFileError(f"expected a number, found {word[:40]!r}", line)
    return float(word)


def probability_tables(network: Network) -> list[Array]:
    """Return the probability tables of a network, all of them dense."""
    cells = sum(math.prod(table.shape) for table in network.log_tables)
    if cells > MAX_CELLS:
        raise ValueError(
            f"the network has {cells:,} probabilities, but a file can hold at most {MAX_CELLS:,}; use fewer parents "
            "per node"
        )
    return [np.exp(t.dense() if isinstance(t, SparseTable) else t) for t in network.log_tables]


@dataclass(frozen=True)
class Definition:
    """The parents of a node and its probability table: one axis for each parent, then one for the node."""

    parents: tuple[str, ...]
    table: Array
    line: int = 0


class Description:
    """The variables and definitions that have been read from a file."""

    def __init__(self) -> None:
        self.variables: dict[str, Variable] = {}
        self.definitions: dict[str, Definition] = {}
        self._n_cells = 0

    def declare(self, variable: Variable) -> None:
        """Add a variable."""
        name, labels, line = variable.name, variable.labels, variable.line
        if name in self.variables:
            raise NetworkFileError(f"{name!r} is declared twice", line)
        if not labels:
            raise NetworkFileError(f"{name!r} has no values", line)
        repeated = first_repeated(labels)
        if repeated is not None and "tanbark_kinds" not in variable.properties:
            raise NetworkFileError(f"{name!r} has the value {repeated!r} twice", line)
        self.variables[name] = variable

    def shape(self, name: str, parents: Sequence[str], line: int) -> tuple[int, ...]:
        """Return the shape of a node's table, or raise NetworkFileError if the node or a parent is invalid."""
        for variable in (name, *parents):
            if variable not in self.variables:
                raise NetworkFileError(f"unknown variable {variable!r}", line)
        if name in self.definitions:
            raise NetworkFileError(f"the probabilities of {name!r} are given twice", line)
        if len({name, *parents}) <= len(parents):
            raise NetworkFileError(f"{name!r} has a repeated parent or is its own parent", line)
        shape = tuple(len(self.variables[variable].labels) for variable in (*parents, name))
        self._n_cells += math.prod(shape)
        if self._n_cells > MAX_CELLS:
            raise NetworkFileError(f"the file describes more than {MAX_CELLS:,} probabilities, the maximum", line)
        return shape

    def define(self, name: str, parents: Sequence[str], values: Array, shape: tuple[int, ...], line: int) -> None:
        """Add the parents of a node and its probabilities, in C order of its table."""
        if values.size != math.prod(shape):
            raise NetworkFileError(f"{name!r} needs {math.prod(shape):,} probabilities, found {values.size:,}", line)
        self.definitions[name] = Definition(tuple(parents), values.reshape(shape), line)

    def network(self, class_name: str | None) -> Network:
        """Build the network."""
        if not self.variables:
            raise NetworkFileError("the file declares no variables")
        for name, variable in self.variables.items():
            if name not in self.definitions:
                raise NetworkFileError(f"the probabilities of {name!r} are missing", variable.line)
        class_variable = self.variables[find_class_name([*self.variables.values()], class_name)]
        attributes = [v for v in self.variables.values() if v is not class_variable]
        definitions = [self.definitions[v.name] for v in (*attributes, class_variable)]
        index = {v.name: at for at, v in enumerate((*attributes, class_variable))}
        self._check_acyclic()
        structure = Structure(tuple(tuple(index[p] for p in definition.parents) for definition in definitions))
        try:
            schema = make_schema(attributes, class_variable)
        except ValueError as error:
            raise NetworkFileError(str(error)) from None
        return Network(schema, structure, tuple(map(_log_table, index, definitions)))

    def _check_acyclic(self) -> None:
        try:
            TopologicalSorter({name: definition.parents for name, definition in self.definitions.items()}).prepare()
        except CycleError as error:
            name = error.args[1][0]
            raise NetworkFileError(f"the network has a cycle through {name!r}", self.definitions[name].line) from None


def _log_table(name: str, definition: Definition) -> Array:
    """Return the log probabilities of a node; probabilities that were rounded are normalised."""
    table, line = definition.table, definition.line
    if not (np.isfinite(table).all() and (table >= 0).all()):
        raise NetworkFileError(f"{name!r} has a probability that is negative or not finite", line)
    sums = table.sum(axis=-1, keepdims=True)
    worst = float(sums.flat[np.abs(sums - 1.0).argmax()])
    if abs(worst - 1.0) > SUM_TOLERANCE + 1e-9:
        raise NetworkFileError(f"{name!r} has probabilities that sum to {worst:.6g} instead of 1", line)
    return _exact_log(np.where(np.abs(sums - 1.0) > 1e-9, table / sums, table))


def _exact_log(probability: Array) -> Array:
    """Return logarithms whose exponentials equal the probabilities bit for bit, where such logarithms exist."""
    with np.errstate(divide="ignore"):
        log: Array = np.log(probability)
        for neighbour in (np.nextafter(log, -np.inf), np.nextafter(log, np.inf)):
            log = np.where((np.exp(log) != probability) & (np.exp(neighbour) == probability), neighbour, log)
    return log


def describe(model: Any, form: str) -> tuple[Network, list[Variable], list[Array]]:
    """Return the network of a model, its variables and its probability tables; see `single_network`."""
    network = single_network(model, form)
    return network, describe_schema(network.schema), probability_tables(network)


def single_network(model: Any, form: str) -> Network:
    """Return a network, or the network of a classifier whose predictions are those of the network.

    Raise ValueError or TypeError if the model has no such network. `form` is the name of the format in the message.
    """
    network = network_of_model(model, form)
    if isinstance(model, NetworkClassifier) and model.model_.prior_ratio.any():
        raise ValueError(
            f"{form} cannot express class_prior for a network whose class has parents; "
            f"tanbark.export.{form.lower()}(model.network_, path) exports the network with the learned prior"
        )
    return network


def network_of_model(model: Any, form: str) -> Network:
    """Return a network, or the network of a classifier that has one, which may ignore `class_prior`."""
    if isinstance(model, Network):
        return model
    if not isinstance(model, CountsClassifier):
        raise TypeError(f"cannot export {type(model).__name__!r} to {form}: expected a Network or a tanbark classifier")
    check_is_fitted(model)
    if isinstance(model, NetworkClassifier):
        network: Network = model.network_
        return network
    if isinstance(model, AveragedTAN):
        multinet = isinstance(model.map_tree_, tuple)
        trees, best = ("all trees for each class", "map_tree_[0]") if multinet else ("all trees", "map_tree_")
        raise ValueError(
            f"AveragedTAN averages over {trees}, but {form} can hold only a single network; "
            f"export the most probable tree in Python: tanbark.export.{form.lower()}(model.{best}, path)"
        )
    if isinstance(model, BoostedBN):
        raise ValueError(
            f"BoostedBN combines several networks, but {form} can hold only one; export them one by one in Python: "
            f"tanbark.export.{form.lower()}(model.networks_[0], path)"
        )
    if form in ("ONNX", "SQL"):
        raise ValueError(
            f"{type(model).__name__} cannot be exported to {form}; use another classifier, for example EvidenceBN"
        )
    raise ValueError(
        f"{type(model).__name__} is not a single network, but {form} can hold only one; use another classifier, "
        "for example TAN"
    )
