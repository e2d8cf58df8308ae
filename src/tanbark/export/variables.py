"""Variables in files: names and labels that every reader accepts, and their columns.

Any text as a word that readers of BIF and of XMLBIF take, and back.

A character that a format cannot hold is written ``_xHHHH_``: its number in four hexadecimal digits, or in eight where
four do not suffice. The empty text is ``_x_``. An underscore that would seem to begin such a thing is written so
itself; any other text that is a word already stays as it is. So no two texts become the same word. .NET's
``XmlConvert.EncodeName`` writes names so.

The variables of a file and the columns of a schema.

What labels alone do not say is in properties, so that tanbark reads the schema that it wrote: which variable is the
class (``tanbark_role = class``), of which type each label is where not all are text (``tanbark_kinds``), and the cut
points and the range of numbers (``tanbark_cuts``, ``tanbark_range``). Where another program has changed the labels so
that a property does not fit them any more, the labels are text.
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


class NetworkFileError(ValueError):
    """A file that describes no network, in a sentence; `line` is where, 0 if nowhere in particular."""

    def __init__(self, sentence: str, line: int = 0) -> None:
        super().__init__(sentence)
        self.line = line


KEYWORDS = {"network", "variable", "probability", "type", "discrete", "property", "table", "default"}

_CODE = "(?:[0-9A-Fa-f]{8}|[0-9A-Fa-f]{4}|)"
_ESCAPE = re.compile("_x([0-9A-F]{8}|[0-9A-F]{4}|)_")


def _unwritable(bad: str) -> re.Pattern[str]:
    """Return a pattern of what has to be escaped where some characters are bad."""
    return re.compile(f"_(?=[xX]{_CODE}(?:_|{bad}))|{bad}")


_BIF = _unwritable(r"[^A-Za-z0-9_.-]|^[0-9.-]")
_XML = _unwritable("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|^[ \t\n\r]|[ \t\n\r]\\Z")


def bif_name(text: str) -> str:
    """Return the word of BIF for a name: Latin letters, digits, ``_``, ``-`` and ``.``, with a letter or ``_`` first.

    >>> bif_name("cell_size"), bif_name("a b"), bif_name(""), bif_name("3rd"), bif_name("_x0020_"), bif_name("table")
    ('cell_size', 'a_x0020_b', '_x_', '_x0033_rd', '_x005F_x0020_', '_x0074_able')
    """
    if text in KEYWORDS:
        return _escaped(text[0]) + text[1:]
    return _BIF.sub(lambda found: _escaped(found[0]), text) or "_x_"


def bif_label(text: str) -> str:
    """Return the word of BIF for a label: as that for a name, but digits alone are a word too.

    >>> bif_label("10"), bif_label("-1")
    ('10', '_x002D_1')
    """
    return text if re.fullmatch("[0-9]+", text) else bif_name(text)


def xml_text(text: str) -> str:
    """Return a text without what XML cannot hold and without white space at its ends, which readers drop.

    >>> xml_text("a <b>, ü"), xml_text("bell \\a"), xml_text(" a"), xml_text("")
    ('a <b>, ü', 'bell _x0007_', '_x0020_a', '_x_')
    """
    return _XML.sub(lambda found: _escaped(found[0]), text) or "_x_"


def text_of(word: str) -> str:
    """Return the text behind a word; a word that holds nothing of the form is its own text.

    >>> text_of("a_x0020_b"), text_of("_x_"), text_of("cell_size"), text_of("_xFFFFFFFF_")
    ('a b', '', 'cell_size', '_xFFFFFFFF_')
    """

    def character(found: re.Match[str]) -> str:
        number = int(found[1] or "0", 16)
        return found[0] if number > 0x10FFFF else chr(number) if found[1] else ""

    return _ESCAPE.sub(character, word)


def distinct(
    texts: Iterable[str], word: Callable[[str], str], alike: Callable[[str], str] = lambda word: word
) -> tuple[str, ...]:
    """Return a word for each text; one that is like an earlier one is escaped letter by letter.

    >>> distinct(["a", "A", "b"], bif_name, str.lower)
    ('a', '_x0041_', 'b')
    """
    words: list[str] = []
    taken: set[str] = set()
    for text in texts:
        one = word(text)
        if alike(one) in taken:
            one = "".join(map(_escaped, text))
        words.append(one)
        taken.add(alike(one))
    return tuple(words)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"_x{number:04X}_" if number < 0x10000 else f"_x{number:08X}_"


_DTYPE = re.compile(r"[<>|]U|\|O|\|b1|[<>|][iu][1248]|<[f][248]")
_FURTHER: tuple[list[str], ...] = ([], ["other"], ["missing"], ["other", "missing"], ["none"])


_PARSED: dict[str, Callable[[str], Any]] = {
    "text": str,
    "int": int,
    "float": float,
    "bool": {"True": True, "False": False}.__getitem__,
}


@dataclass(frozen=True)
class Variable:
    """A node: its name, what its values are called, and its properties."""

    name: str
    labels: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    line: int = 0


def described(schema: Schema) -> list[Variable]:
    """Return the variables of a schema, the class last."""
    return [*map(_described_column, schema.columns), _described_class(schema)]


def class_name_of(variables: Sequence[Variable], given: str | None) -> str:
    """Return the name of the class: the one given, else that of the variable that is marked as such."""
    names = [v.name for v in variables]
    shown = ", ".join(map(repr, names[:20])) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")
    if given is not None:
        if given not in names:
            raise NetworkFileError(f"class_name is {given!r}, which is no variable; the variables are {shown}")
        return given
    marked = [v for v in variables if v.properties.get("tanbark_role") == "class"]
    if not marked:
        raise NetworkFileError(f"no variable is marked as the class; give class_name=, one of {shown}")
    if len(marked) > 1:
        raise NetworkFileError("a second variable is marked as the class; give class_name=", marked[1].line)
    return marked[0].name


def schema_of(columns: Sequence[Variable], of_class: Variable) -> Schema:
    """Return the schema of some variables and the class."""
    return Schema(
        tuple(map(_column, columns)),
        _classes(of_class),
        of_class.name,
        of_class.properties.get("tanbark_unseen", "marginalize"),
        of_class.properties.get("tanbark_named", "true") == "true",
        _class_dtype(of_class),
    )


def _described_column(column: Column) -> Variable:
    if isinstance(column, Number):
        cuts = " ".join(map(repr, column.cuts)) or "none"
        given = {"tanbark_cuts": cuts, "tanbark_range": f"{column.low!r} {column.high!r}"}
        return Variable(column.name, tuple(map(_in_words, column.labels)), given)
    further = [*["other"] * column.other, *["missing"] * column.missing]
    kinds = [*map(_kind, column.levels), *further] or ["none"]
    labels = [*map(str, column.levels), *further] or ["missing"]
    return Variable(column.name, tuple(labels), _kinds_property(kinds))


def _in_words(interval: str) -> str:
    """Return what an interval of numbers is called where a label is a word.

    >>> [_in_words(label) for label in ("<= 30", "(30, 50]", "> 50", "any number", "(missing)")]
    ['up_to_30', 'from_30_to_50', 'above_50', 'any_number', 'missing']
    """
    between = re.fullmatch(r"\((.+), (.+)\]", interval)
    if between:
        return f"from_{between[1]}_to_{between[2]}"
    return interval.replace("<= ", "up_to_").replace("> ", "above_").strip("()").replace(" ", "_")


def _described_class(schema: Schema) -> Variable:
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


def _column(variable: Variable) -> Column:
    cut = _number(variable)
    if cut is not None:
        return cut
    kinds, levels = _typed(variable)
    further = kinds[len(levels) :]
    return Category(variable.name, levels, "other" in further, "missing" in further)


def _number(variable: Variable) -> Number | None:
    """Return a column of numbers, None where no cut points are given that fit."""
    try:
        words = variable.properties["tanbark_cuts"]
        cuts = [float(word) for word in words.split()] if words != "none" else []
        low, high = (float(word) for word in variable.properties["tanbark_range"].split())
        column = Number(variable.name, tuple(cuts), low, high, len(variable.labels) == len(cuts) + 2)
    except (KeyError, ValueError):
        return None
    return column if column.arity == len(variable.labels) else None


def _typed(variable: Variable) -> tuple[list[str], tuple[Label, ...]]:
    """Return the kind of each value, and the labels of those that are levels, each of its type."""
    labels = variable.labels
    kinds = variable.properties.get("tanbark_kinds", "").split()
    own = [kind for kind in kinds if kind in _PARSED]
    if len(kinds) == len(labels) and kinds[len(own) :] in _FURTHER:
        with suppress(ValueError, KeyError):
            levels = tuple(_PARSED[kind](label) for kind, label in zip(own, labels))
            if tuple(map(str, levels)) == labels[: len(own)]:
                return kinds, levels
    return ["text"] * len(labels), labels


def _classes(variable: Variable) -> tuple[Label, ...]:
    kinds, levels = _typed(variable)
    return levels if len(levels) == len(kinds) else variable.labels


def _class_dtype(variable: Variable) -> str:
    """Return the type of the array of classes, empty where nothing special is said of it."""
    said = variable.properties.get("tanbark_dtype", "")
    if not _DTYPE.fullmatch(said):
        return ""
    classes = _classes(variable)
    dtype = np.array(classes).dtype if said.endswith("U") else np.dtype(said)
    try:
        same = np.array(classes, object).astype(dtype).tolist() == list(classes)
    except (TypeError, ValueError, OverflowError):
        return ""
    return dtype.str if same else ""
