"""The reference of the command line, from the program itself."""

from typing import Any

from typer.main import get_command

from tanbark.cli import app


def reference() -> str:
    """Return every command with its arguments and options."""
    group = get_command(app)
    own = [f"Before any command:\n\n{options(group.params)}"]
    return "\n\n".join(own + [described(name, command) for name, command in group.commands.items()])


def described(name: str, command: Any) -> str:
    """Return a command: how it is called, what it does, what it takes."""
    arguments = [shown(p) for p in command.params if p.param_type_name == "argument"]
    call = " ".join(["tanbark", name, *arguments, *(["[OPTIONS]"] if len(arguments) < len(command.params) else [])])
    return f"## tanbark {name}\n\n`{call}`\n\n{command.help}\n\n{options(command.params)}"


def options(params: list[Any]) -> str:
    """Return arguments and options as a table."""
    rows = [f"| {words(p)} | {p.help or ''}{default(p)} |" for p in params if not p.hidden]
    return "\n".join(["| what is typed | what it does |", "| --- | --- |", *rows]) if rows else "It takes nothing."


def words(param: Any) -> str:
    """Return what is typed for an argument or option."""
    if param.param_type_name == "argument":
        return f"`{shown(param)}`"
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return names if param.is_flag or not param.metavar else f"{names} `{param.metavar}`"


def shown(argument: Any) -> str:
    """Return an argument as a command's call shows it."""
    name = argument.metavar or argument.name.upper()
    return name if argument.required else f"[{name.strip('[]')}]"


def default(param: Any) -> str:
    """Return the default in words, where it says anything."""
    told = getattr(param, "show_default", None)
    value = told if isinstance(told, str) else param.default
    return "" if callable(value) or value in (None, False, (), []) else f" Default: `{value}`."
