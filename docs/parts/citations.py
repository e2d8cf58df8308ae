"""References in BibTeX, and their citations ``[@key]`` in pages."""

import re
from pathlib import Path

FILE = Path(__file__).parent.parent / "references.bib"
ENTRY = re.compile(r"^@(\w+)\{([\w-]+),\n(.*?)\n\}$", re.M | re.S)
FIELD = re.compile(r"^  (\w+) = \{(.*?)\},?$", re.M)
CITATION = re.compile(r"\[@([\w-]+)\]")


def entries() -> dict[str, dict[str, str]]:
    """Return the fields of every reference by its key."""
    matches = ENTRY.findall(FILE.read_text())
    return {key: {"kind": kind, **dict(FIELD.findall(body))} for kind, key, body in matches}


def surnames(entry: dict[str, str]) -> list[str]:
    """Return the surnames of the authors."""
    return [author.split(",")[0] for author in entry["author"].split(" and ")]


def short(entry: dict[str, str]) -> str:
    """Return the short form of a reference: surnames and year."""
    names = surnames(entry)
    who = names[0] if len(names) == 1 else f"{names[0]} and {names[1]}" if len(names) == 2 else f"{names[0]} et al."
    return f"{who} {entry['year']}"


def cite(text: str, to_root: str) -> str:
    """Return the text of a page with citations as links; `to_root` is the relative path to the root of the site."""
    known = entries()
    return CITATION.sub(lambda match: f"[\\[{short(known[match[1]])}\\]]({to_root}references.md#{match[1]})", text)


def references() -> str:
    """Return all references, sorted by the surname of the first author and the year."""
    ordered = sorted(entries().items(), key=lambda pair: (surnames(pair[1])[0].lower(), pair[1]["year"]))
    return "\n\n".join(f"{line(entry)}\n{{ #{key} }}" for key, entry in ordered)


def line(entry: dict[str, str]) -> str:
    """Return the full form of a reference."""
    place = next((entry[field] for field in ("journal", "booktitle", "publisher", "institution") if field in entry), "")
    where = " ".join(filter(None, (f"*{place}*", entry.get("volume", ""))))
    pages = f", {entry['pages'].replace('--', '–')}" if "pages" in entry else ""
    return f"{entry['author'].replace(' and ', '; ')} ({entry['year']}). {entry['title']}. {where}{pages}."
