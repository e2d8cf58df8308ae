"""The reference of the command line, generated from the program."""

from typing import Any

from typer.main import get_command

from tanbark.cli import app


def reference() -> str:
    """Return all commands with their arguments and options."""
    group = get_command(app)
    own = [f"Options before any command:\n\n{options(group.params)}"]
    return "\n\n".join(own + [section(name, command) for name, command in group.commands.items()])


def section(name: str, command: Any) -> str:
    """Return the section of a command: usage, description, arguments and options."""
    arguments = [usage(p) for p in command.params if p.param_type_name == "argument"]
    call = " ".join(["tanbark", name, *arguments, *(["[OPTIONS]"] if len(arguments) < len(command.params) else [])])
    return f"## tanbark {name}\n\n`{call}`\n\n{command.help}\n\n{options(command.params)}"


def options(params: list[Any]) -> str:
    """Return arguments and options as a table."""
    rows = [f"| {signature(p)} | {p.help or ''}{default(p)} |" for p in params if not p.hidden]
    return "\n".join(["| argument or option | description |", "| --- | --- |", *rows]) if rows else "No options."


def signature(param: Any) -> str:
    """Return the names and the placeholder of an argument or option."""
    if param.param_type_name == "argument":
        return f"`{usage(param)}`"
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return names if param.is_flag or not param.metavar else f"{names} `{param.metavar}`"


def usage(argument: Any) -> str:
    """Return an argument as the usage of a command shows it."""
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name.strip('[]')}]"


def default(param: Any) -> str:
    """Return a sentence with the default, or nothing if there is none to show."""
    shown = getattr(param, "show_default", None)
    value = shown if isinstance(shown, str) else param.default
    return "" if callable(value) or value in (None, False, (), []) else f" Default: `{value}`."
