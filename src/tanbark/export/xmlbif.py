"""Write and read XMLBIF, the XML variant of the Bayesian Network Interchange Format."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from tanbark.export.network_description import Description, PathLike, describe, parse_number, read_network, write_text
from tanbark.export.variables import NetworkFileError, Variable, distinct_words, unescape, xml_text
from tanbark.network import Network
from tanbark.shared_docs import insert_shared_docs


@insert_shared_docs
def xmlbif(model: Any, path: PathLike | None = None) -> str:
    """Export a network to XMLBIF 0.3.

    Names and labels are written unchanged, with two exceptions: characters that XML cannot represent (control
    characters) and text that readers drop (the empty string, leading and trailing white space) are written ``_xHHHH_``,
    and `read_xmlbif` restores them. Intervals of numbers are named ``up_to_30``, ``from_30_to_50`` and ``above_50``.
    Probabilities are written with all digits. Properties whose names start with ``tanbark_`` store what XMLBIF cannot
    express: the class, the types of labels and the cut points of numbers. Other readers ignore them.

    {network_export}

    Examples
    --------
    >>> import tanbark
    >>> model = tanbark.NaiveBayes().fit(*tanbark.datasets.lenses())
    >>> print(xmlbif(model).splitlines()[6])
        <OUTCOME>pre-presbyopic</OUTCOME>
    """
    network, variables, tables = describe(model, "XMLBIF")
    names = [_xml_escape(name) for name in distinct_words((v.name for v in variables), xml_text)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "  <NAME>tanbark</NAME>"]
    for name, variable in zip(names, variables, strict=True):
        lines += ['  <VARIABLE TYPE="nature">', f"    <NAME>{name}</NAME>"]
        labels = distinct_words(variable.labels, xml_text)
        lines += [f"    <OUTCOME>{_xml_escape(label)}</OUTCOME>" for label in labels]
        properties = variable.properties.items()
        lines += [f"    <PROPERTY>{key} = {_xml_escape(value)}</PROPERTY>" for key, value in properties]
        lines.append("  </VARIABLE>")
    for node, parents in enumerate(network.structure.parents):
        lines += ["  <DEFINITION>", f"    <FOR>{names[node]}</FOR>"]
        lines += [f"    <GIVEN>{names[p]}</GIVEN>" for p in parents]
        rows = tables[node].reshape(-1, len(variables[node].labels)).tolist()
        lines += [
            "    <TABLE>",
            *(f"      {' '.join(map(repr, row))}" for row in rows),
            "    </TABLE>",
            "  </DEFINITION>",
        ]
    return write_text("\n".join([*lines, "</NETWORK>", "</BIF>", ""]), path)


@insert_shared_docs
def read_xmlbif(source: PathLike | IO[Any], class_name: str | None = None) -> Network:
    """Read a network from an XMLBIF file.

    In a table, the values of the node vary fastest, then those of the last parent. Probabilities that sum to 1 within
    0.01, because they were rounded, are normalised. Labels are strings and columns are categories, unless properties
    written by tanbark define other types. Files that declare entities are refused, and nothing outside the file is
    read.

    {network_file}
    """
    return read_network(source, lambda content: _Reader().network(content, class_name))


def _xml_escape(text: str) -> str:
    """Escape text for XML; white space that readers would normalise becomes a character reference."""
    return re.sub(r"[\t\n\r]|(?<= ) ", lambda match: f"&#{ord(match[0])};", escape(text, {'"': "&quot;"}))


@dataclass
class _Element:
    """A VARIABLE or DEFINITION element: the texts of its children by tag."""

    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def all(self, tag: str) -> list[str]:
        return self.texts.get(tag, [])

    def one(self, tag: str, inside: str) -> str:
        texts = self.all(tag)
        if len(texts) != 1:
            raise NetworkFileError(f"{inside} must have exactly one {tag}, found {len(texts)}", self.line)
        return texts[0]


class _Reader:
    """The handlers of the XML parser, which collect the elements of the file."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.SkippedEntityHandler = self._refuse_entity
        self.path: list[str] = []
        self.text: list[str] = []
        self.elements: dict[str, list[_Element]] = {"VARIABLE": [], "DEFINITION": []}

    def network(self, content: bytes, class_name: str | None) -> Network:
        """Parse the content of a file."""
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            raise NetworkFileError(f"invalid XML ({expat.ErrorString(error.code)})", error.lineno) from None
        except (LookupError, ValueError) as error:
            if isinstance(error, NetworkFileError):
                raise
            raise NetworkFileError(f"invalid XML ({error})") from None
        description = Description()
        for element in self.elements["VARIABLE"]:
            _declare(element, description)
        for element in self.elements["DEFINITION"]:
            _define(element, description)
        return description.network(class_name)

    @property
    def line(self) -> int:
        return int(self.parser.CurrentLineNumber)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if not self.path and tag != "BIF":
            raise NetworkFileError(f"the root element must be <BIF>, found <{tag[:40]}>", self.line)
        self.path.append(tag)
        self.text.clear()
        if len(self.path) == 3 and tag in self.elements:
            self.elements[tag].append(_Element(self.line))
            kind = attributes.get("TYPE", "nature")
            if tag == "VARIABLE" and kind != "nature":
                message = f"a variable has type {kind[:40]!r}; only 'nature' is supported"
                raise NetworkFileError(message, self.line)

    def _text(self, text: str) -> None:
        self.text.append(text)

    def _end(self, tag: str) -> None:
        if len(self.path) == 4 and self.path[2] in self.elements:
            text = "".join(self.text).strip(" \t\r\n")
            self.elements[self.path[2]][-1].texts.setdefault(tag, []).append(text)
        self.path.pop()
        self.text.clear()

    def _refuse_entity(self, name: str, *_: Any) -> None:
        raise NetworkFileError(f"entity {name[:40]!r} is not supported; replace it by its text", self.line)


def _declare(element: _Element, description: Description) -> None:
    properties = {}
    for text in element.all("PROPERTY"):
        key, _, value = text.partition("=")
        properties[key.strip()] = value.strip()
    labels = tuple(map(unescape, element.all("OUTCOME")))
    description.declare(Variable(unescape(element.one("NAME", "VARIABLE")), labels, properties, element.line))


def _define(element: _Element, description: Description) -> None:
    name = unescape(element.one("FOR", "DEFINITION"))
    parents = [unescape(text) for text in element.all("GIVEN")]
    shape = description.shape(name, parents, element.line)
    values = [parse_number(word, element.line) for word in element.one("TABLE", "DEFINITION").split()]
    description.define(name, parents, np.array(values), shape, element.line)
