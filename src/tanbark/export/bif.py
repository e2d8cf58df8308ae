"""BIF, the interchange format of Bayesian networks."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from tanbark.export.network_description import Description, Path_, number, probabilities, read, written
from tanbark.export.single_network import single_network
from tanbark.export.variables import NetworkFileError, Variable, bif_label, bif_name, described, distinct, text_of
from tanbark.network import Network

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |"(?P<quoted>[^"]*)"
    |(?P<mark>[{}()\[\]|,;])
    |(?P<open>/\*)
    |(?P<word>(?:[^\s{}()\[\]|,;"/]+|/(?![/*]))+|.)""",
    re.VERBOSE | re.DOTALL,
)


class Parser:
    """A reader of the tokens of BIF, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = (found for found in _TOKEN.finditer(text) if found.lastgroup != "space")
        self.description = Description()
        self.codes: dict[str, dict[str, int]] = {}
        self.at = 0
        self._counted, self._line = 0, 1

    @property
    def line(self) -> int:
        """The line of the token taken last."""
        self._line += self.text.count("\n", self._counted, self.at)
        self._counted = self.at
        return self._line

    def network(self, class_name: str | None) -> Network:
        """Return the network that the text describes."""
        blocks = []
        while (token := self._next()) is not None:
            if token[0] == "network":
                self._network()
            elif token[0] == "variable":
                self._variable()
            elif token[0] == "probability":
                blocks.append(self._probability())
            else:
                raise self._error("network, variable or probability", token[0])
        for block in blocks:
            block.define(self.description, self.codes)
        return self.description.network(class_name)

    def _next(self) -> re.Match[str] | None:
        token = next(self.tokens, None)
        self.at = len(self.text) if token is None else token.start()
        if token is not None and token.lastgroup == "open":
            raise NetworkFileError("a comment is never closed", self.line)
        return token

    def _take(self) -> tuple[str, bool]:
        """Return the next token, and whether it is a mark."""
        token = self._next()
        if token is None:
            raise NetworkFileError("the file ends too early", self.line)
        return token["quoted"] if token.lastgroup == "quoted" else token[0], token.lastgroup == "mark"

    def _error(self, wanted: str, found: str) -> NetworkFileError:
        return NetworkFileError(f"expected {wanted}, found {found[:40]!r}", self.line)

    def _mark(self, *wanted: str) -> str:
        found, mark = self._take()
        if not mark or found not in wanted:
            raise self._error(" or ".join(wanted), found)
        return found

    def _phrases(self, *ends: str) -> tuple[list[list[str]], str]:
        """Return words up to a mark that ends them, grouped by the commas between them, and that mark."""
        groups: list[list[str]] = [[]]
        while True:
            found, mark = self._take()
            if mark and found in ends:
                return [group for group in groups if group], found
            if mark and found != ",":
                raise self._error(" or ".join(ends), found)
            if mark:
                groups.append([])
            else:
                groups[-1].append(found)

    def _network(self) -> None:
        self._phrases("{")
        while not self._ended():
            self._property()

    def _ended(self) -> bool:
        """Return whether a block ends here; otherwise a property follows."""
        found, mark = self._take()
        if not mark and found == "property":
            return False
        if not mark or found != "}":
            raise self._error("property or }", found)
        return True

    def _property(self) -> tuple[str, str]:
        """Return the name and the value of a property."""
        begin = self.at + len("property")
        while self._take() != (";", True):
            pass
        name, _, value = self.text[begin : self.at].strip().strip('"').partition("=")
        return name.strip(), value.strip()

    def _variable(self) -> None:
        line = self.line
        name = _joined(self._phrases("{")[0])
        labels: list[str] = []
        properties: dict[str, str] = {}
        while (found := self._take()) != ("}", True):
            if found == ("property", False):
                key, value = self._property()
                properties[key] = value
            elif found == ("type", False) and not labels:
                labels = self._labels(name)
            else:
                raise self._error("type, property or }", found[0])
        self.description.declare(Variable(name, tuple(map(text_of, labels)), properties, line))
        self.codes[name] = {word: at for at, word in enumerate(labels)}

    def _labels(self, name: str) -> list[str]:
        kind, _ = self._take()
        if kind != "discrete":
            raise NetworkFileError(f"{name!r} is of type {kind[:40]!r}; only discrete variables can be read", self.line)
        self._mark("[")
        size, _ = self._take()
        self._mark("]")
        self._mark("{")
        groups, _ = self._phrases("}")
        self._mark(";")
        if len(groups) == 1 and size != "1":
            groups = [[word] for word in groups[0]]
        if size != str(len(groups)):
            raise NetworkFileError(f"{name!r} should have {size[:40]} values and lists {len(groups)}", self.line)
        return [" ".join(group) for group in groups]

    def _probability(self) -> _Block:
        block = _Block(self.line)
        self._mark("(")
        groups, end = self._phrases("|", ")")
        if end == "|":
            block.names = [_joined(groups), *(_joined([group]) for group in self._phrases(")")[0])]
        else:
            block.names = [text_of(word) for group in groups for word in group]
        self._mark("{")
        while (found := self._take()) != ("}", True):
            line = self.line
            if found == ("property", False):
                self._property()
            elif found == ("(", True):
                labels = tuple(" ".join(group) for group in self._phrases(")")[0])
                block.entries.append((labels, self._numbers(), line))
            elif found in (("table", False), ("default", False)):
                block.entries.append((found[0], self._numbers(), line))
            else:
                raise self._error("(, table, default or }", found[0])
        return block

    def _numbers(self) -> list[float]:
        numbers = []
        while (found := self._take()) != (";", True):
            if found != (",", True):
                numbers.append(number(found[0], self.line))
        return numbers


@dataclass
class _Block:
    """The probabilities of a node as they are listed: under labels of its parents, as a table, by default."""

    line: int
    names: list[str] = field(default_factory=list)
    entries: list[tuple[tuple[str, ...] | str, list[float], int]] = field(default_factory=list)

    def define(self, description: Description, codes: dict[str, dict[str, int]]) -> None:
        """Add the node's table to what has been read."""
        if not self.names:
            raise NetworkFileError("probabilities of no variable are given", self.line)
        if " ".join(self.names) in description.variables:
            self.names = [" ".join(self.names)]
        name, *parents = self.names
        shape = description.shape(name, parents, self.line)
        table, given = np.empty(shape), np.zeros(shape[:-1], np.bool_)
        default: list[float] | None = None
        for where, numbers, line in self.entries:
            wanted = math.prod(shape) if where == "table" else shape[-1]
            if len(numbers) != wanted:
                raise NetworkFileError(f"{name!r} needs {wanted:,} probabilities here, found {len(numbers):,}", line)
            if where == "default":
                default = numbers
                continue
            if where == "table":
                at: tuple[Any, ...] = (...,)
                rows = np.moveaxis(np.reshape(numbers, (shape[-1], *shape[:-1])), 0, -1)
            else:
                at = self._place(where, parents, [codes[p] for p in parents], line)
                rows = np.array(numbers)
            if given[at].any():
                raise NetworkFileError(f"{name!r} has these probabilities twice", line)
            table[at], given[at] = rows, True
        if default is not None:
            table[~given] = default
        elif not given.all():
            raise NetworkFileError(f"{name!r} lacks probabilities for some values of its parents", self.line)
        description.define(name, parents, table, shape, self.line)

    def _place(
        self, labels: tuple[str, ...] | str, parents: list[str], codes: list[dict[str, int]], line: int
    ) -> tuple[int, ...]:
        if len(labels) != len(parents):
            raise NetworkFileError(f"expected values of {len(parents)} parents, found {len(labels)}", line)
        for label, parent, code in zip(labels, parents, codes):
            if label not in code:
                raise NetworkFileError(f"{label!r} is no value of {parent!r}", line)
        return tuple(code[label] for label, code in zip(labels, codes))


def _joined(groups: list[list[str]]) -> str:
    """Return words as one text."""
    return text_of(" ".join(word for group in groups for word in group))


def bif(model: Any, path: Path_ | None = None) -> str:
    """Return a network as BIF, and write it to a file if there is a path.

    Names and labels are words of BIF, as every reader takes them: a character that no word may hold is written
    ``_xHHHH_``, its number in hexadecimal digits (see `tanbark.export.variables`), which `read_bif` undoes. The
    intervals of numbers are called ``up_to_30``, ``from_30_to_50`` and ``above_50``. Probabilities have all their
    digits.
    Properties that begin with ``tanbark_`` say what other readers need not know: the class, the types of labels, the
    cut points of numbers.

    Parameters
    ----------
    model : Network, or a classifier that is one network
    path : path, optional

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print(bif(NaiveBayes(ess=3).fit(X, y)).splitlines()[2])
    variable x0 {
    """
    network = single_network(model, "BIF")
    variables, tables = described(network.schema), probabilities(network)
    names = distinct((v.name for v in variables), bif_name, str.lower)
    labels = [distinct(v.labels, bif_label) for v in variables]
    lines = ["network tanbark {", "}"]
    for name, words, variable in zip(names, labels, variables):
        lines += [f"variable {name} {{", f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};"]
        lines += [f"  property {key} = {value} ;" for key, value in variable.properties.items()]
        lines.append("}")
    for node, above in enumerate(network.structure.parents):
        given = f" | {', '.join(names[p] for p in above)}" if above else ""
        lines.append(f"probability ( {names[node]}{given} ) {{")
        rows = tables[node].reshape(-1, len(labels[node])).tolist()
        for values, row in zip(itertools.product(*(labels[p] for p in above)), rows):
            head = f"( {', '.join(values)} )" if above else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return written("\n".join([*lines, ""]), path)


def read_bif(source: Path_ | IO[Any], class_name: str | None = None) -> Network:
    """Return the network that a BIF file describes.

    Rows of tables are found by their labels; a ``table`` with parents lists the node's own values slowest, the last
    parent's fastest, as JavaBayes has it. Probabilities that were rounded, so that they sum to 1 within 0.01, are
    scaled. Labels are text, and all columns categories, unless properties that tanbark wrote say otherwise.

    Parameters
    ----------
    source : path or open file
    class_name : str, optional
        Which variable is the class; by default the one that tanbark marked as such.

    Examples
    --------
    >>> import io
    >>> text = '''network asia { }
    ... variable smoke { type discrete [ 2 ] { yes, no }; }
    ... variable lung { type discrete [ 2 ] { yes, no }; }
    ... probability ( smoke ) { table 0.5, 0.5; }
    ... probability ( lung | smoke ) { (yes) 0.1, 0.9; (no) 0.01, 0.99; }
    ... '''
    >>> read_bif(io.StringIO(text), class_name="lung").table("lung").round(6)
    array([[0.1 , 0.9 ],
           [0.01, 0.99]])
    """
    return read(source, lambda content: Parser(_decoded(content)).network(class_name))


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkFileError("this is no text in UTF-8", line) from None
