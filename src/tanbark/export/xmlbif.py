"""XMLBIF, the XML interchange format of Bayesian networks."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, Any
from xml.parsers import expat
from xml.sax.saxutils import escape

import numpy as np

from tanbark.export.network_description import Description, Path_, number, probabilities, read, written
from tanbark.export.single_network import single_network
from tanbark.export.variables import NetworkFileError, Variable, described, distinct, text_of, xml_text
from tanbark.network import Network


def xmlbif(model: Any, path: Path_ | None = None) -> str:
    """Return a network as XMLBIF 0.3, and write it to a file if there is a path.

    Names and labels stand there as they are. What XML cannot hold (control characters) or readers drop (the empty text,
    white space at the ends) is written ``_xHHHH_`` (see `tanbark.export.variables`), which `read_xmlbif` undoes. The
    intervals of numbers are called ``up_to_30``, ``from_30_to_50`` and ``above_50``. Probabilities have all their
    digits. Properties that begin with ``tanbark_`` say what other readers need not know: the class, the types of
    labels, the cut points of numbers.

    Parameters
    ----------
    model : Network, or a classifier that is one network
    path : path, optional

    Examples
    --------
    >>> from tanbark import NaiveBayes
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> print(xmlbif(NaiveBayes().fit(X, y)).splitlines()[6])
        <OUTCOME>pre-presbyopic</OUTCOME>
    """
    network = single_network(model, "XMLBIF")
    variables, tables = described(network.schema), probabilities(network)
    names = [_escaped(name) for name in distinct((v.name for v in variables), xml_text)]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "  <NAME>tanbark</NAME>"]
    for name, variable in zip(names, variables):
        lines += ['  <VARIABLE TYPE="nature">', f"    <NAME>{name}</NAME>"]
        lines += [f"    <OUTCOME>{_escaped(label)}</OUTCOME>" for label in distinct(variable.labels, xml_text)]
        lines += [f"    <PROPERTY>{key} = {_escaped(value)}</PROPERTY>" for key, value in variable.properties.items()]
        lines.append("  </VARIABLE>")
    for node, above in enumerate(network.structure.parents):
        lines += ["  <DEFINITION>", f"    <FOR>{names[node]}</FOR>"]
        lines += [f"    <GIVEN>{names[p]}</GIVEN>" for p in above]
        rows = tables[node].reshape(-1, len(variables[node].labels)).tolist()
        lines += [
            "    <TABLE>",
            *(f"      {' '.join(map(repr, row))}" for row in rows),
            "    </TABLE>",
            "  </DEFINITION>",
        ]
    return written("\n".join([*lines, "</NETWORK>", "</BIF>", ""]), path)


def read_xmlbif(source: Path_ | IO[Any], class_name: str | None = None) -> Network:
    """Return the network that an XMLBIF file describes.

    Tables list the node's own values fastest, then those of the last parent. Probabilities that were rounded, so that
    they sum to 1 within 0.01, are scaled. Labels are text, and all columns categories, unless properties that tanbark
    wrote say otherwise. A file that declares entities is refused, and nothing outside the file is read.

    Parameters
    ----------
    source : path or open file
    class_name : str, optional
        Which variable is the class; by default the one that tanbark marked as such.
    """
    return read(source, lambda content: _Reader().network(content, class_name))


def _escaped(text: str) -> str:
    """Return text for XML; white space that readers change is given by its number."""
    return re.sub(r"[\t\n\r]|(?<= ) ", lambda found: f"&#{ord(found[0])};", escape(text, {'"': "&quot;"}))


@dataclass
class _Element:
    """What has been read of a variable or of a definition: the texts of each tag inside."""

    line: int
    texts: dict[str, list[str]] = field(default_factory=dict)

    def all(self, tag: str) -> list[str]:
        return self.texts.get(tag, [])

    def one(self, tag: str, inside: str) -> str:
        found = self.all(tag)
        if len(found) != 1:
            raise NetworkFileError(f"a {inside} has {len(found)} {tag} instead of one", self.line)
        return found[0]


class _Reader:
    """What listens to the parser of XML."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.EntityDeclHandler = self._refuse
        self.parser.SkippedEntityHandler = self._refuse
        self.path: list[str] = []
        self.text: list[str] = []
        self.elements: dict[str, list[_Element]] = {"VARIABLE": [], "DEFINITION": []}

    def network(self, content: bytes, class_name: str | None) -> Network:
        """Return the network that a file describes."""
        try:
            self.parser.Parse(content, True)
        except expat.ExpatError as error:
            raise NetworkFileError(f"this is no whole XML ({expat.ErrorString(error.code)})", error.lineno) from None
        except (LookupError, ValueError) as error:
            if isinstance(error, NetworkFileError):
                raise
            raise NetworkFileError(f"this cannot be read as XML ({error})") from None
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
            raise NetworkFileError(f"XMLBIF begins with <BIF>, this with <{tag[:40]}>", self.line)
        self.path.append(tag)
        self.text.clear()
        if len(self.path) == 3 and tag in self.elements:
            self.elements[tag].append(_Element(self.line))
            kind = attributes.get("TYPE", "nature")
            if tag == "VARIABLE" and kind != "nature":
                raise NetworkFileError(f"a variable is of type {kind[:40]!r}; only nature can be read", self.line)

    def _text(self, text: str) -> None:
        self.text.append(text)

    def _end(self, tag: str) -> None:
        if len(self.path) == 4 and self.path[2] in self.elements:
            text = "".join(self.text).strip(" \t\r\n")
            self.elements[self.path[2]][-1].texts.setdefault(tag, []).append(text)
        self.path.pop()
        self.text.clear()

    def _refuse(self, name: str, *_: Any) -> None:
        raise NetworkFileError(f"the entity {name[:40]!r} is none of XML's own; write what it stands for", self.line)


def _declare(element: _Element, description: Description) -> None:
    properties = {}
    for text in element.all("PROPERTY"):
        key, _, value = text.partition("=")
        properties[key.strip()] = value.strip()
    labels = tuple(map(text_of, element.all("OUTCOME")))
    description.declare(Variable(text_of(element.one("NAME", "VARIABLE")), labels, properties, element.line))


def _define(element: _Element, description: Description) -> None:
    name = text_of(element.one("FOR", "DEFINITION"))
    parents = [text_of(text) for text in element.all("GIVEN")]
    shape = description.shape(name, parents, element.line)
    values = [number(word, element.line) for word in element.one("TABLE", "DEFINITION").split()]
    description.define(name, parents, np.array(values), shape, element.line)
