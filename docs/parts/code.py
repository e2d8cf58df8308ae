"""Source code of the package."""

import inspect
import pkgutil
import textwrap
from pathlib import Path

import tanbark
from tanbark.shared_docs import completed

PACKAGE = Path(tanbark.__file__).parent.parent


def block(name: str) -> str:
    """Return the source of a function (compiled or not), method, property or class, with file and lines as title."""
    resolved = pkgutil.resolve_name(name)
    function = getattr(resolved, "py_func", getattr(resolved, "fget", resolved))
    lines, first = inspect.getsourcelines(function)
    file = Path(inspect.getsourcefile(function)).relative_to(PACKAGE)
    source = completed(textwrap.dedent("".join(lines)).rstrip().removeprefix("@insert_shared_docs\n"))
    return f'```python title="{file}, lines {first} to {first + len(lines) - 1}"\n{source}\n```'
