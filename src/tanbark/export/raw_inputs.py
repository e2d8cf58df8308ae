"""Requirements of exported models: columns that cannot be exported, columns read from text, and missing values."""

from __future__ import annotations

from tanbark.schema import Number, Schema
from tanbark.schema.encode.columns import Column
from tanbark.schema.recipe.column_reading import as_number, values_of_markers
from tanbark.schema.recipe.recipe import InputColumn


def check_no_dates(schema: Schema, language: str) -> None:
    """Raise ValueError if the model reads dates, from which an exported model would have to compute its columns.

    Parameters
    ----------
    schema : Schema
        The schema of the model.
    language : str
        The language of the export, for the message.
    """
    inputs = () if schema.recipe is None else schema.recipe.inputs
    dated = [one.name for one in inputs if one.kind == "date"]
    dated += [column.name for column in schema.columns if isinstance(column, Number) and column.is_date]
    if dated:
        raise ValueError(
            f"column {dated[0]!r} holds dates or times, which an export to {language} cannot read; fit with "
            "Encoder(dates='ignore'), or replace the column by numbers such as days since a fixed date"
        )


def check_plain_numbers(schema: Schema) -> None:
    """Raise ValueError if the model reads numbers from text that a database would take for other numbers."""
    for one in () if schema.recipe is None else schema.recipe.inputs:
        if one.kind == "number" and (one.currency or one.decimal == ","):
            how = f"with the currency sign {one.currency!r}" if one.currency else "with a decimal comma"
            raise ValueError(
                f"column {one.name!r} holds numbers {how}, which an export to SQL cannot read; fit with a table "
                "in which it holds plain numbers"
            )


def required_types(schema: Schema) -> dict[str, str]:
    """Return the columns that Python may read from text, and what they must hold for an exported model.

    >>> required_types(Schema((Number("age", (30,)),), ("no", "yes")))
    {}
    """
    inputs = () if schema.recipe is None else schema.recipe.inputs
    return {one.name: f"{one.kind}s" for one in inputs if one.kind in ("number", "boolean")}


def missing_texts(schema: Schema) -> list[tuple[str, ...]]:
    """Return for each column of the schema the texts that count as missing values, in any case."""
    if schema.recipe is None:
        return [()] * len(schema.columns)
    recipe = schema.recipe
    by_name = {one.name: one for one in recipe.inputs}

    def texts(one: InputColumn) -> tuple[str, ...]:
        if one.kind != "category":
            return ()
        return tuple(dict.fromkeys(text.strip() for text in (*recipe.missing, *one.missing)))

    return [texts(by_name[column.source or column.name]) for column in schema.columns]


def missing_numbers(schema: Schema) -> list[tuple[float, ...]]:
    """Return for each column of the schema the numbers that count as missing values, such as -999."""
    if schema.recipe is None:
        return [()] * len(schema.columns)
    recipe = schema.recipe
    by_name = {one.name: one for one in recipe.inputs}

    def numbers(column: Column) -> tuple[float, ...]:
        one = as_number(by_name[column.source or column.name], column)
        return values_of_markers(recipe, one) if one.kind == "number" else ()

    return [numbers(column) for column in schema.columns]
