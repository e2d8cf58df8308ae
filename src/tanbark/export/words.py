"""Any text as a word that readers of BIF and of XMLBIF take, and back.

A character that a format cannot hold is written ``_xHHHH_``: its number in four hexadecimal digits, or in eight where
four do not suffice. The empty text is ``_x_``. An underscore that would seem to begin such a thing is written so
itself; any other text that is a word already stays as it is. So no two texts become the same word. .NET's
``XmlConvert.EncodeName`` writes names so.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

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
