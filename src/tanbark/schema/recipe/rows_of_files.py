"""Rows of files under a schema that was learned from typed values, such as those of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tanbark.schema.encode.columns import Category, Column, Number, value_kind
from tanbark.schema.encode.schema import Schema
from tanbark.schema.read.arrow_columns import as_arrow, is_text, kind_of
from tanbark.schema.read.raw_columns import Texts
from tanbark.schema.read.table_reader import one_array, read_column
from tanbark.schema.recipe.column_reading import read_input, values_of_markers
from tanbark.schema.recipe.number_text import read_numbers
from tanbark.schema.recipe.recipe import InputColumn, Recipe
from tanbark.schema.recipe.unreadable import UnreadableValues, reporting

if TYPE_CHECKING:
    import pyarrow as pa


def typed_rows(schema: Schema, rows: pa.Table) -> pa.Table:
    """Return rows of a file in the types that a schema expects.

    Columns that the recipe of the schema reads are returned unchanged. For the others, which a data frame held in their
    own types, text is read as numbers or booleans, and numbers are written as text, as the schema requires.

    Parameters
    ----------
    schema : Schema
        The schema that will encode the rows.
    rows : pyarrow.Table
        Rows with the input columns of the schema.

    Returns
    -------
    rows : pyarrow.Table
    """
    rules = schema.recipe or Recipe()
    unchanged = {one.name for one in rules.inputs if one.kind == "unchanged"} if schema.recipe else {*schema.names}
    columns = {column.name: column for column in schema.columns}
    with reporting() as unreadable:
        for name in unchanged:
            at, column = rows.column_names.index(name), columns[name]
            if not is_text(rows.schema.field(at).type) and not _holds_text(column):
                continue
            values = one_array(rows.column(at))
            raw = Texts(values, name) if is_text(values.type) else read_column(values, name)
            kind = "number" if isinstance(column, Number) else "category"
            (read,) = read_input(rules, InputColumn(name, kind), raw, column, unreadable)
            rows = rows.set_column(at, name, read.values if isinstance(read, Texts) else as_arrow(read))
    return rows


def without_markers(schema: Schema, values: pa.Array, name: str, missing: Sequence[str]) -> pa.Array:
    """Return a column in which further values are missing, in addition to those that the schema knows as missing.

    Parameters
    ----------
    schema : Schema
        The schema that will encode the rows.
    values : pyarrow.Array
        An input column of the schema, or the class.
    name : str
        Its name in the schema.
    missing : sequence of str
        Texts that stand for missing values, in any case. Those that are numbers also stand for equal numbers.

    Returns
    -------
    values : pyarrow.Array
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    inputs = () if schema.recipe is None else schema.recipe.inputs
    one = next((one for one in inputs if one.name == name), InputColumn(name))
    rules = Recipe(missing=tuple(missing), missing_numbers=())
    numbers = values_of_markers(rules, replace(one, kind="number", parts=()))
    if is_text(values.type):
        labels = Texts(values, name).parsed
        is_marker = np.array([*map(rules.is_missing, labels.distinct), False], bool)
        if numbers and _holds_numbers(schema, one):
            is_marker[:-1] |= np.isin(read_numbers(labels.distinct, one.decimal, one.currency), numbers)
        return pc.if_else(pa.array(is_marker[labels.position]), None, values)
    kind = kind_of(values.type)
    if kind == "date":
        numbers = values_of_markers(rules, replace(one, kind="date", parts=()))
    if numbers and kind in ("signed", "unsigned", "float", "decimal", "date"):
        is_marker = np.isin(read_column(values, name).floats(), numbers)
        return pc.if_else(pa.array(is_marker), None, values)
    return values


def _holds_numbers(schema: Schema, one: InputColumn) -> bool:
    """Return whether a column of a schema, or the class, holds numbers."""
    column = next((column for column in schema.columns if column.name == one.name), None)
    levels = schema.classes if column is None else getattr(column, "levels", ())
    return one.kind == "number" or isinstance(column, Number) or value_kind(levels) == "numbers"


def class_labels(schema: Schema, values: Any, missing: Sequence[str], unreadable: UnreadableValues) -> list[Any]:
    """Return the class of each row of a file in the types that a schema expects.

    Parameters
    ----------
    schema : Schema
        The schema, whose classes are the labels.
    values : pyarrow.Array
        The class column.
    missing : sequence of str
        Texts that stand for missing values, unless they are classes.
    unreadable : UnreadableValues
        Receives the values that cannot be read.

    Returns
    -------
    labels : list
        The class of each row, None if it is missing. It need not be a class of the schema.
    """
    if schema.recipe is not None and schema.recipe.class_cuts:
        return _class_intervals(schema.recipe, schema.class_name, values, missing, unreadable)
    name = schema.class_name
    rules = Recipe(missing=tuple(missing), missing_numbers=())
    raw = Texts(values, name) if is_text(values.type) else read_column(values, name)
    (read,) = read_input(rules, InputColumn(name, "category"), raw, Category(name, schema.classes), unreadable)
    labels = [*read.levels(), None]
    return [labels[at] for at in read.index().tolist()]


def _class_intervals(
    recipe: Recipe, name: str, values: Any, missing: Sequence[str], unreadable: UnreadableValues
) -> list[Any]:
    """Return the interval of each value of a numeric class; texts that name an interval stand for themselves."""
    if not is_text(values.type):
        return list(recipe.intervals_of(read_column(values, name).floats()))
    texts = Texts(values, name).parsed
    distinct = [str(text) for text in texts.distinct]
    numbers = read_numbers(distinct, class_decimal(recipe))
    labels: list[Any] = list(recipe.intervals_of(numbers))
    rules = Recipe(missing=tuple(missing), missing_numbers=())
    labels = [text if text in recipe.class_labels else label for text, label in zip(distinct, labels, strict=True)]
    times = np.bincount(texts.position + 1, minlength=len(distinct) + 1)[1:].tolist()
    wrong = {
        text: n
        for text, label, n in zip(distinct, labels, times, strict=True)
        if label is None and not rules.is_missing(text)
    }
    unreadable.add(name, "numbers", sum(times), wrong)
    return [[*labels, None][at] for at in texts.position.tolist()]


def class_decimal(recipe: Recipe) -> str:
    """Return the decimal separator of a class in text, which is not detected."""
    return "," if recipe.decimal == "," else "."


def _holds_text(column: Column) -> bool:
    """Return whether a column of a schema is a category with text as levels."""
    return any(isinstance(level, str) for level in getattr(column, "levels", ()))
