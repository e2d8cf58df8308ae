"""Variables in network files: conversion to and from schema columns, and escaping of names and labels.

Escaping. A name or label may contain characters that a format does not allow. Each of them is written ``_xHHHH_``,
where HHHH is its code point as four hexadecimal digits, or eight if four do not suffice. The empty string is written
``_x_``. An underscore that would start such a sequence is escaped too. All other valid words remain as they are, so two
different texts never become the same word. .NET's ``XmlConvert.EncodeName`` uses the same convention.

Properties. A file describes values by labels only. Properties store the rest of the schema: which variable is the class
(``tanbark_role = class``), the types of the labels if they are not all strings (``tanbark_kinds``), and the cut points
and the range of numeric columns (``tanbark_cuts``, ``tanbark_range``). If another program has changed the labels so
that a property does not match them any more, the property is ignored and the labels are read as strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tanbark.schema import Category, Number, Schema
from tanbark.schema.encode.columns import Column, Label

KEYWORDS = {"network", "variable", "probability", "type", "discrete", "property", "table", "default"}
"""The keywords of BIF, which cannot be names."""
MAX_LISTED_NAMES = 20
"""The maximum number of variables that an error message lists."""

_HEX_CODE = "(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{4}|)"
_ESCAPE = re.compile("_x([0-9A-F]{8}|[0-9A-F]{4}|)_")

_DTYPE = re.compile(r"[<>|]U|\|O|\|b1|[<>|][iu][1248]|<[f][248]")
# The kinds of values that may follow the levels of a category.
_EXTRA_KINDS: tuple[list[str], ...] = ([], ["other"], ["missing"], ["other", "missing"], ["none"])
_PARSERS: dict[str, Callable[[str], Any]] = {
    "text": str,
    "int": int,
    "float": float,
    "bool": {"True": True, "False": False}.__getitem__,
}


class NetworkFileError(ValueError):
    """Error for a file that does not describe a valid network.

    Parameters
    ----------
    message : str
        The problem.
    line : int, default=0
        The line of the problem, or 0 if it has no particular line.

    Attributes
    ----------
    line : int
        The line of the problem, or 0 if it has no particular line.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


# Escaping


def _must_escape(invalid: str) -> re.Pattern[str]:
    """Return a pattern of the characters to escape, given a pattern of the invalid ones."""
    return re.compile(f"_(?=[xX]{_HEX_CODE}(?:_|{invalid}))|{invalid}")


_BIF_INVALID = _must_escape(r"[^A-Za-z0-9_.-]|^[0-9.-]")
_XML_INVALID = _must_escape("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|^[ \t\n\r]|[ \t\n\r]\\Z")


def bif_name(text: str) -> str:
    """Escape a name for BIF: ASCII letters, digits, ``_``, ``-`` and ``.``, starting with a letter or ``_``.

    >>> bif_name("cell_size"), bif_name("a b"), bif_name(""), bif_name("3rd"), bif_name("_x0020_"), bif_name("table")
    ('cell_size', 'a_x0020_b', '_x_', '_x0033_rd', '_x005F_x0020_', '_x0074_able')
    """
    if text in KEYWORDS:
        return _escape(text[0]) + text[1:]
    return _BIF_INVALID.sub(lambda match: _escape(match[0]), text) or "_x_"


def bif_label(text: str) -> str:
    """Escape a label for BIF: like a name, except that it may consist of digits only.

    >>> bif_label("10"), bif_label("-1")
    ('10', '_x002D_1')
    """
    return text if re.fullmatch("[0-9]+", text) else bif_name(text)


def xml_text(text: str) -> str:
    r"""Escape characters that XML cannot represent, and leading and trailing white space, which readers strip.

    >>> xml_text("a <b>, ü"), xml_text("bell \a"), xml_text(" a"), xml_text("")
    ('a <b>, ü', 'bell _x0007_', '_x0020_a', '_x_')
    """
    return _XML_INVALID.sub(lambda match: _escape(match[0]), text) or "_x_"


def unescape(word: str) -> str:
    """Return the original text of an escaped word; other words are returned unchanged.

    >>> unescape("a_x0020_b"), unescape("_x_"), unescape("cell_size"), unescape("_xFFFFFFFF_")
    ('a b', '', 'cell_size', '_xFFFFFFFF_')
    """

    def character(match: re.Match[str]) -> str:
        code = int(match[1] or "0", 16)
        return match[0] if code > 0x10FFFF else chr(code) if match[1] else ""

    return _ESCAPE.sub(character, word)


def distinct_words(
    texts: Iterable[str], escape: Callable[[str], str], key: Callable[[str], str] = lambda word: word
) -> tuple[str, ...]:
    """Escape each text; if its key equals that of an earlier word, escape all of its characters.

    >>> distinct_words(["a", "A", "b"], bif_name, str.lower)
    ('a', '_x0041_', 'b')
    """
    words: list[str] = []
    keys: set[str] = set()
    for text in texts:
        word = escape(text)
        if key(word) in keys:
            word = "".join(map(_escape, text))
        words.append(word)
        keys.add(key(word))
    return tuple(words)


def _escape(character: str) -> str:
    code = ord(character)
    return f"_x{code:04X}_" if code < 0x10000 else f"_x{code:08X}_"


# From a schema to variables


@dataclass(frozen=True)
class Variable:
    """A variable of a network file: its name, the labels of its values, its properties and its line."""

    name: str
    labels: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


def describe_schema(schema: Schema) -> list[Variable]:
    """Return the variables of a schema, the class last."""
    return [*map(_describe_column, schema.columns), _describe_class(schema)]


def _describe_column(column: Column) -> Variable:
    if isinstance(column, Number):
        cuts = " ".join(map(repr, column.cuts)) or "none"
        properties = {"tanbark_cuts": cuts, "tanbark_range": f"{column.low!r} {column.high!r}"}
        if column.is_date:
            properties["tanbark_date"] = "true"
        return Variable(column.name, tuple(map(_interval_word, column.labels)), properties)
    extra = [*["other"] * column.other, *["missing"] * column.missing]
    kinds = [*map(_kind, column.levels), *extra] or ["none"]
    labels = [*map(str, column.levels), *extra] or ["missing"]
    return Variable(column.name, tuple(labels), _kinds_property(kinds))


def _interval_word(interval: str) -> str:
    """Return the label of an interval as a single word.

    >>> [_interval_word(label) for label in ("<= 30", "(30, 50]", "> 50", "any number", "(missing)")]
    ['up_to_30', 'from_30_to_50', 'above_50', 'any_number', 'missing']
    """
    between = re.fullmatch(r"\((.+), (.+)\]", interval)
    if between:
        return f"from_{between[1]}_to_{between[2]}"
    return interval.replace("<= ", "up_to_").replace("> ", "above_").strip("()").replace(" ", "_")


def _describe_class(schema: Schema) -> Variable:
    properties = {"tanbark_role": "class", **_kinds_property([*map(_kind, schema.classes)])}
    if schema.class_dtype != Schema((), schema.classes).class_dtype:
        properties["tanbark_dtype"] = re.sub("U.*", "U", schema.class_dtype)
    if schema.unseen != "marginalize":
        properties["tanbark_unseen"] = schema.unseen
    if not schema.named:
        properties["tanbark_named"] = "false"
    return Variable(schema.class_name, tuple(map(str, schema.classes)), properties)


def _kind(label: Label) -> str:
    return "text" if isinstance(label, str) else type(label).__name__


def _kinds_property(kinds: Sequence[str]) -> dict[str, str]:
    return {} if all(kind == "text" for kind in kinds) else {"tanbark_kinds": " ".join(kinds)}


# From variables to a schema


def find_class_name(variables: Sequence[Variable], class_name: str | None) -> str:
    """Return the name of the class: `class_name`, or if it is None the variable that is marked as the class."""
    names = [v.name for v in variables]
    more = f" and {len(names) - MAX_LISTED_NAMES:,} more" if len(names) > MAX_LISTED_NAMES else ""
    listed = ", ".join(map(repr, names[:MAX_LISTED_NAMES])) + more
    if class_name is not None:
        if class_name not in names:
            raise NetworkFileError(f"class_name {class_name!r} is not a variable; the variables are {listed}")
        return class_name
    marked = [v for v in variables if v.properties.get("tanbark_role") == "class"]
    if not marked:
        raise NetworkFileError(f"no variable is marked as the class; set class_name to one of {listed}")
    if len(marked) > 1:
        raise NetworkFileError("more than one variable is marked as the class; set class_name", marked[1].line)
    return marked[0].name


def make_schema(attributes: Sequence[Variable], class_variable: Variable) -> Schema:
    """Return the schema of attributes and a class."""
    return Schema(
        tuple(map(_column, attributes)),
        _classes(class_variable),
        class_variable.name,
        class_variable.properties.get("tanbark_unseen", "marginalize"),
        class_variable.properties.get("tanbark_named", "true") == "true",
        _class_dtype(class_variable),
    )


def _column(variable: Variable) -> Column:
    number = _number_column(variable)
    if number is not None:
        return number
    kinds, levels = _typed_levels(variable)
    extra = kinds[len(levels) :]
    return Category(variable.name, levels, "other" in extra, "missing" in extra)


def _number_column(variable: Variable) -> Number | None:
    """Return a numeric column, or None if there are no cut points that match the labels."""
    try:
        words = variable.properties["tanbark_cuts"]
        cuts = [float(word) for word in words.split()] if words != "none" else []
        low, high = (float(word) for word in variable.properties["tanbark_range"].split())
        has_missing, is_date = len(variable.labels) == len(cuts) + 2, variable.properties.get("tanbark_date") == "true"
        column = Number(variable.name, tuple(cuts), low, high, has_missing, is_date=is_date)
    except (KeyError, ValueError):
        return None
    return column if column.arity == len(variable.labels) else None


def _typed_levels(variable: Variable) -> tuple[list[str], tuple[Label, ...]]:
    """Return the kind of each value, and the levels converted to their types."""
    labels = variable.labels
    kinds = variable.properties.get("tanbark_kinds", "").split()
    level_kinds = [kind for kind in kinds if kind in _PARSERS]
    n_levels = len(level_kinds)
    if len(kinds) == len(labels) and kinds[n_levels:] in _EXTRA_KINDS:
        with suppress(ValueError, KeyError):
            levels = tuple(_PARSERS[kind](label) for kind, label in zip(level_kinds, labels[:n_levels], strict=True))
            if tuple(map(str, levels)) == labels[:n_levels]:
                return kinds, levels
    return ["text"] * len(labels), labels


def _classes(variable: Variable) -> tuple[Label, ...]:
    kinds, levels = _typed_levels(variable)
    return levels if len(levels) == len(kinds) else variable.labels


def _class_dtype(variable: Variable) -> str:
    """Return the dtype of the class array, or the empty string if there is no valid ``tanbark_dtype``."""
    given = variable.properties.get("tanbark_dtype", "")
    if not _DTYPE.fullmatch(given):
        return ""
    classes = _classes(variable)
    dtype = np.array(classes).dtype if given.endswith("U") else np.dtype(given)
    try:
        same = np.array(classes, object).astype(dtype).tolist() == list(classes)
    except (TypeError, ValueError, OverflowError):
        return ""
    return dtype.str if same else ""
