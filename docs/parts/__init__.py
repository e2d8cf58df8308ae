"""The parts of pages that the build makes from the program itself, so that they cannot go stale.

A line ``<!-- name: argument -->`` of a page is replaced by what the maker of that name returns.
"""

import re

from parts import api, citations, classifiers, code, commands, gallery

MAKERS = {
    "api": api.members,
    "classifiers": classifiers.table,
    "code": code.block,
    "commands": commands.reference,
    "gallery": gallery.pictures,
    "references": citations.references,
}
MARKER = re.compile(r"^<!-- (\w+)(?:: (\S+))? -->$", re.M)


def expand(text: str) -> str:
    """Return the text of a page with its parts in it."""
    return MARKER.sub(lambda marker: MAKERS[marker[1]](*filter(None, (marker[2],))), text)
