"""Parts of pages that the build generates from the program, so that they are always current.

A line ``<!-- name: argument -->`` of a page is replaced by the result of the function with that name in `MAKERS`.
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
    """Return the text of a page with its generated parts."""
    return MARKER.sub(lambda marker: MAKERS[marker[1]](*filter(None, (marker[2],))), text)
