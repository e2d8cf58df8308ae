"""Source code as it stands in the package."""

import inspect
import pkgutil
import textwrap
from pathlib import Path

import tanbark

PACKAGE = Path(tanbark.__file__).parent.parent


def block(name: str) -> str:
    """Return the source of a function (compiled or not), method, property or class, headed by its file and lines."""
    thing = pkgutil.resolve_name(name)
    written = getattr(thing, "py_func", getattr(thing, "fget", thing))
    lines, first = inspect.getsourcelines(written)
    file = Path(inspect.getsourcefile(written)).relative_to(PACKAGE)
    source = textwrap.dedent("".join(lines)).rstrip()
    return f'```python title="{file}, lines {first} to {first + len(lines) - 1}"\n{source}\n```'
