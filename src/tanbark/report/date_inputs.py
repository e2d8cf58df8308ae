"""Data for the date fields of the page: all columns that are computed from a date that the user enters."""

from __future__ import annotations

from typing import Any

from tanbark.schema import Number, Schema
from tanbark.schema.recipe.date_parts import MONTHS, WEEKDAYS, part_name
from tanbark.schema.recipe.recipe import InputColumn

PART_VALUES: dict[str, list[Any]] = {"weekday": list(WEEKDAYS), "month": list(MONTHS), "hour": list(range(24))}


def date_inputs(schema: Schema) -> dict[int, dict[str, Any]]:
    """Return, by position, how the page encodes dates of each column of dates.

    Parameters
    ----------
    schema : Schema
        The schema of the model.

    Returns
    -------
    inputs : dict
        `hasTime` is whether the time of day matters, `cuts` are the cut points in days since 1970-01-01 UTC, and
        `parts` has for each part of the date its column and the code of each value, -1 if it was not seen.

    Examples
    --------
    >>> date_inputs(Schema([Number("seen", (365.0,), is_date=True)], ("no", "yes")))
    {0: {'hasTime': False, 'cuts': [365.0], 'parts': []}}
    """
    given = {} if schema.recipe is None else {one.name: one for one in schema.recipe.inputs}
    return {
        u: _date_input(schema, column, given.get(column.name))
        for u, column in enumerate(schema.columns)
        if isinstance(column, Number) and column.is_date
    }


def _date_input(schema: Schema, column: Number, one: InputColumn | None) -> dict[str, Any]:
    names = () if one is None else one.parts
    parts = []
    for part in names:
        u = schema.index(part_name(column.name, part))
        parts.append({"column": u, "part": part, "codes": schema.columns[u].codes_of(PART_VALUES[part])})
    has_time = "hour" in names or any(cut % 1 for cut in column.cuts)
    return {"hasTime": has_time, "cuts": list(column.cuts), "parts": parts}
