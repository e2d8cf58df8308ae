"""Schema files: how the columns of a table are read, as JSON that a user can edit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.terminal.console import CommandError
from tanbark.messages import suggestion

if TYPE_CHECKING:
    from tanbark.schema import Recipe

KINDS_WITHOUT_DATES = ("category", "number", "boolean", "ignored")
KEYS = ("target", "missing", "missing_numbers", "decimal", "day_first", "columns")


def schema_document(recipe: Recipe, target: str | None) -> dict[str, Any]:
    """Return the content of a schema file.

    Parameters
    ----------
    recipe : Recipe
        How the columns of the table are read.
    target : str or None
        The class column.

    Returns
    -------
    document : dict
    """
    values = recipe.to_dict()
    columns = [{"name": one["name"], "kind": "unchanged", **one} for one in values.pop("inputs")]
    return {"target": target, **values, "columns": columns}


def read_schema_file(path: Path) -> tuple[Recipe, str | None]:
    """Return the rules and the class column of a schema file; raise CommandError if it is not valid."""
    from tanbark.schema import Recipe

    try:
        values = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        raise CommandError(f"there is no file {path}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise CommandError(f"{path} is not valid JSON: {reason}") from None
    if not isinstance(values, dict) or not isinstance(values.get("columns", []), list):
        raise CommandError(f"{path} is not a schema file; write one with tanbark schema DATA -o {path}")
    unknown = next((key for key in values if key not in KEYS), None)
    if unknown is not None:
        instead = suggestion(unknown, KEYS, f"the keys are {', '.join(KEYS)}")
        raise CommandError(f"{path} has the unknown key {unknown!r}; {instead}")
    target = values.pop("target", None)
    if not isinstance(target, str | None):
        raise CommandError(f"{path}: target must be the name of a column, got {target!r}")
    try:
        columns = [_without_leftovers(one) for one in values.pop("columns", [])]
        return Recipe.from_dict({**values, "inputs": columns}), target
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def _without_leftovers(column: Any) -> Any:
    """Return a column without the settings of dates if it has another kind, to which the user changed it."""
    if not isinstance(column, dict) or column.get("kind") not in KINDS_WITHOUT_DATES:
        return column
    return {key: value for key, value in column.items() if key not in ("parts", "date_format")}
