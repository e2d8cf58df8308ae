"""The API reference: every public name, described by its docstring."""

import importlib
import inspect


def public(module: str) -> list[str]:
    """Return the public names of a module: those it lists, else those it defines, in the order of the file."""
    found = importlib.import_module(module)
    if hasattr(found, "__all__"):
        return list(found.__all__)
    own = {
        name
        for name, thing in vars(found).items()
        if not name.startswith("_") and getattr(thing, "__module__", None) == module and hasattr(thing, "__doc__")
    }
    source = inspect.getsource(found)
    return sorted(own, key=lambda name: min(source.find(f"{kind} {name}") % len(source) for kind in ("def", "class")))


def members(module: str) -> str:
    """Return the directives that describe all public names of a module, each where it is defined."""
    # What is within a part of the package stands under a heading of its own.
    options = f"    options:\n      heading_level: {3 if module.count('.') > 1 else 2}"
    return "\n\n".join(f"::: {home(module, name)}\n{options}" for name in public(module))


def home(module: str, name: str) -> str:
    """Return the full name of a public thing in the module that defines it; constants stay where they are listed."""
    thing = getattr(importlib.import_module(module), name)
    defined = getattr(thing, "__module__", None)
    return f"{defined}.{name}" if isinstance(defined, str) and defined.startswith("tanbark") else f"{module}.{name}"
