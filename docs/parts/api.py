"""The API reference: the docstrings of all public names."""

import importlib
import inspect


def public(module: str) -> list[str]:
    """Return the names in ``__all__`` of a module, or else the public names that it defines, in file order."""
    imported = importlib.import_module(module)
    if hasattr(imported, "__all__"):
        return list(imported.__all__)
    own = {
        name
        for name, thing in vars(imported).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module and hasattr(thing, "__doc__")
    }
    source = inspect.getsource(imported)
    return sorted(own, key=lambda name: min(source.find(f"{kind} {name}") % len(source) for kind in ("def", "class")))


def members(module: str) -> str:
    """Return the mkdocstrings directives of all public names of a module."""
    # The names of a subpackage are under a heading of the page.
    options = f"    options:\n      heading_level: {3 if module.count('.') > 1 else 2}"
    return "\n\n".join(f"::: {home(module, name)}\n{options}" for name in public(module))


def home(module: str, name: str) -> str:
    """Return the full name of an object in the module that defines it, or for constants in the given module."""
    thing = getattr(importlib.import_module(module), name)
    defined = getattr(thing, "__module__", None)
    return f"{defined}.{name}" if isinstance(defined, str) and defined.startswith("tanbark") else f"{module}.{name}"
