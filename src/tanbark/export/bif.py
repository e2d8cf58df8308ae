"""Write and read BIF, the Bayesian Network Interchange Format."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from tanbark.export.network_description import Description, PathLike, describe, parse_number, read_network, write_text
from tanbark.export.variables import (
    NetworkFileError,
    Variable,
    bif_label,
    bif_name,
    distinct_words,
    unescape,
)
from tanbark.network import Network
from tanbark.shared_docs import insert_shared_docs


@insert_shared_docs
def bif(model: Any, path: PathLike | None = None) -> str:
    """Export a network to BIF.

    Names and labels are written as BIF words, which every reader accepts: characters that are not allowed in a word
    become ``_xHHHH_``, the code point in hexadecimal digits, and `read_bif` restores them. Intervals of numbers are
    named ``up_to_30``, ``from_30_to_50`` and ``above_50``. Probabilities are written with all digits. Properties whose
    names start with ``tanbark_`` store what BIF cannot express: the class, the types of labels and the cut points of
    numbers. Other readers ignore them.

    {network_export}

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print(bif(NaiveBayes(ess=3).fit(X, y)).splitlines()[2])
    variable x0 {
    """
    network, variables, tables = describe(model, "BIF")
    names = distinct_words((v.name for v in variables), bif_name, str.lower)
    labels = [distinct_words(v.labels, bif_label) for v in variables]
    lines = ["network tanbark {", "}"]
    for name, words, variable in zip(names, labels, variables, strict=True):
        lines += [f"variable {name} {{", f"  type discrete [ {len(words)} ] {{ {', '.join(words)} }};"]
        lines += [f"  property {key} = {value} ;" for key, value in variable.properties.items()]
        lines.append("}")
    for node, parents in enumerate(network.structure.parents):
        given = f" | {', '.join(names[p] for p in parents)}" if parents else ""
        lines.append(f"probability ( {names[node]}{given} ) {{")
        rows = tables[node].reshape(-1, len(labels[node])).tolist()
        for values, row in zip(itertools.product(*(labels[p] for p in parents)), rows, strict=True):
            head = f"( {', '.join(values)} )" if parents else "table"
            lines.append(f"  {head} {', '.join(map(repr, row))};")
        lines.append("}")
    return write_text("\n".join([*lines, ""]), path)


@insert_shared_docs
def read_bif(source: PathLike | IO[Any], class_name: str | None = None) -> Network:
    """Read a network from a BIF file.

    Rows of a table are identified by the labels of the parents. In a ``table`` entry of a node with parents, the values
    of the node vary slowest and those of the last parent fastest, as in JavaBayes. Probabilities that sum to 1 within
    0.01, because they were rounded, are normalised. Labels are strings and columns are categories, unless properties
    written by tanbark define other types.

    {network_file}

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
    return read_network(source, lambda content: _Parser(_decode(content)).network(class_name))


def _decode(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NetworkFileError("the file is not valid UTF-8", line) from None


_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |"(?P<quoted>[^"]*)"
    |(?P<mark>[{}()\[\]|,;])
    |(?P<open>/\*)
    |(?P<word>(?:[^\s{}()\[\]|,;"/]+|/(?![/*]))+|.)""",
    re.VERBOSE | re.DOTALL,
)


class _Parser:
    """A recursive descent parser of BIF."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = (match for match in _TOKEN.finditer(text) if match.lastgroup != "space")
        self.description = Description()
        self.codes: dict[str, dict[str, int]] = {}
        self.position = 0
        self._line_position, self._line = 0, 1

    @property
    def line(self) -> int:
        """The line of the last token."""
        self._line += self.text.count("\n", self._line_position, self.position)
        self._line_position = self.position
        return self._line

    def network(self, class_name: str | None) -> Network:
        """Parse the whole text."""
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
        self.position = len(self.text) if token is None else token.start()
        if token is not None and token.lastgroup == "open":
            raise NetworkFileError("unterminated comment", self.line)
        return token

    def _take(self) -> tuple[str, bool]:
        """Return the next token and whether it is a punctuation mark."""
        token = self._next()
        if token is None:
            raise NetworkFileError("unexpected end of file", self.line)
        return token["quoted"] if token.lastgroup == "quoted" else token[0], token.lastgroup == "mark"

    def _error(self, expected: str, found: str) -> NetworkFileError:
        return NetworkFileError(f"expected {expected}, found {found[:40]!r}", self.line)

    def _mark(self, *expected: str) -> str:
        token, is_mark = self._take()
        if not is_mark or token not in expected:
            raise self._error(" or ".join(expected), token)
        return token

    def _phrases(self, *ends: str) -> tuple[list[list[str]], str]:
        """Return the words before the next of the marks `ends`, grouped by the commas between them, and that mark."""
        groups: list[list[str]] = [[]]
        while True:
            token, is_mark = self._take()
            if is_mark and token in ends:
                return [group for group in groups if group], token
            if is_mark and token != ",":
                raise self._error(" or ".join(ends), token)
            if is_mark:
                groups.append([])
            else:
                groups[-1].append(token)

    def _network(self) -> None:
        self._phrases("{")
        while not self._at_block_end():
            self._property()

    def _at_block_end(self) -> bool:
        """Take the next token and return whether it ends the block; the only alternative is a property."""
        token, is_mark = self._take()
        if not is_mark and token == "property":
            return False
        if not is_mark or token != "}":
            raise self._error("property or }", token)
        return True

    def _property(self) -> tuple[str, str]:
        """Return the name and the value of a property."""
        begin = self.position + len("property")
        while self._take() != (";", True):
            pass
        name, _, value = self.text[begin : self.position].strip().strip('"').partition("=")
        return name.strip(), value.strip()

    def _variable(self) -> None:
        line = self.line
        name = _join(self._phrases("{")[0])
        labels: list[str] = []
        properties: dict[str, str] = {}
        while (token := self._take()) != ("}", True):
            if token == ("property", False):
                key, value = self._property()
                properties[key] = value
            elif token == ("type", False) and not labels:
                labels = self._labels(name)
            else:
                raise self._error("type, property or }", token[0])
        self.description.declare(Variable(name, tuple(map(unescape, labels)), properties, line))
        self.codes[name] = {word: code for code, word in enumerate(labels)}

    def _labels(self, name: str) -> list[str]:
        kind, _ = self._take()
        if kind != "discrete":
            message = f"{name!r} has type {kind[:40]!r}; only discrete variables are supported"
            raise NetworkFileError(message, self.line)
        self._mark("[")
        size, _ = self._take()
        self._mark("]")
        self._mark("{")
        groups, _ = self._phrases("}")
        self._mark(";")
        if len(groups) == 1 and size != "1":
            groups = [[word] for word in groups[0]]
        if size != str(len(groups)):
            raise NetworkFileError(f"{name!r} declares {size[:40]} values but lists {len(groups)}", self.line)
        return [" ".join(group) for group in groups]

    def _probability(self) -> _ProbabilityBlock:
        block = _ProbabilityBlock(self.line)
        self._mark("(")
        groups, end = self._phrases("|", ")")
        if end == "|":
            block.names = [_join(groups), *(_join([group]) for group in self._phrases(")")[0])]
        else:
            block.names = [unescape(word) for group in groups for word in group]
        self._mark("{")
        while (token := self._take()) != ("}", True):
            line = self.line
            if token == ("property", False):
                self._property()
            elif token == ("(", True):
                labels = tuple(" ".join(group) for group in self._phrases(")")[0])
                block.entries.append((labels, self._numbers(), line))
            elif token in (("table", False), ("default", False)):
                block.entries.append((token[0], self._numbers(), line))
            else:
                raise self._error("(, table, default or }", token[0])
        return block

    def _numbers(self) -> list[float]:
        numbers = []
        while (token := self._take()) != (";", True):
            if token != (",", True):
                numbers.append(parse_number(token[0], self.line))
        return numbers


@dataclass
class _ProbabilityBlock:
    """A probability block: the node, its parents, and the entries, each for parent labels, ``table`` or ``default``."""

    line: int
    names: list[str] = field(default_factory=list)
    entries: list[tuple[tuple[str, ...] | str, list[float], int]] = field(default_factory=list)

    def define(self, description: Description, codes: dict[str, dict[str, int]]) -> None:
        """Add the table of the node to the description."""
        if not self.names:
            raise NetworkFileError("a probability block names no variable", self.line)
        if " ".join(self.names) in description.variables:
            self.names = [" ".join(self.names)]
        name, *parents = self.names
        shape = description.shape(name, parents, self.line)
        table, defined = np.empty(shape), np.zeros(shape[:-1], np.bool_)
        default: list[float] | None = None
        for entry, numbers, line in self.entries:
            n_expected = math.prod(shape) if entry == "table" else shape[-1]
            if len(numbers) != n_expected:
                message = f"{name!r} needs {n_expected:,} probabilities here, found {len(numbers):,}"
                raise NetworkFileError(message, line)
            if entry == "default":
                default = numbers
                continue
            if entry == "table":
                at: tuple[Any, ...] = (...,)
                rows = np.moveaxis(np.reshape(numbers, (shape[-1], *shape[:-1])), 0, -1)
            else:
                at = self._index(entry, parents, [codes[p] for p in parents], line)
                rows = np.array(numbers)
            if defined[at].any():
                raise NetworkFileError(f"these probabilities of {name!r} are given twice", line)
            table[at], defined[at] = rows, True
        if default is not None:
            table[~defined] = default
        elif not defined.all():
            raise NetworkFileError(f"{name!r} has no probabilities for some values of its parents", self.line)
        description.define(name, parents, table, shape, self.line)

    def _index(
        self, labels: tuple[str, ...] | str, parents: list[str], codes: list[dict[str, int]], line: int
    ) -> tuple[int, ...]:
        """Return the codes of the labels of the parents."""
        if len(labels) != len(parents):
            raise NetworkFileError(f"expected {len(parents)} parent values, found {len(labels)}", line)
        for label, parent, code in zip(labels, parents, codes, strict=True):
            if label not in code:
                raise NetworkFileError(f"{label!r} is not a value of {parent!r}", line)
        return tuple(code[label] for label, code in zip(labels, codes, strict=True))


def _join(groups: list[list[str]]) -> str:
    """Join words with spaces and unescape the result."""
    return unescape(" ".join(word for group in groups for word in group))
