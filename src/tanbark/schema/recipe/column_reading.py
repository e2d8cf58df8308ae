"""Read the columns of a table by a recipe: numbers, dates, booleans and missing values in text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN, Column, value_kind
from tanbark.schema.read.raw_columns import (
    EXACT,
    Dates,
    Labels,
    Numbers,
    Objects,
    RawColumn,
    Texts,
    dates_as_categories_error,
    is_missing,
)
from tanbark.schema.read.table_reader import Table
from tanbark.schema.recipe.date_parts import part_columns
from tanbark.schema.recipe.date_text import read_dates
from tanbark.schema.recipe.number_text import read_numbers
from tanbark.schema.recipe.recipe import InputColumn, Recipe
from tanbark.schema.recipe.unreadable import UnreadableValues, reporting

TRUE_AND_FALSE = (("True", "False"), ("true", "false"), ("TRUE", "FALSE"))
"""The spellings of booleans in text, beginning with that of Python."""
_BOOLEANS = {"true": 1.0, "yes": 1.0, "y": 1.0, "t": 1.0, "1": 1.0} | {
    "false": 0.0,
    "no": 0.0,
    "n": 0.0,
    "f": 0.0,
    "0": 0.0,
}


def read_table_by_recipe(recipe: Recipe, table: Table, columns: Sequence[Column] = ()) -> Table:
    """Return the table that a schema encodes: with numbers and dates read, and ignored columns left out.

    Values that cannot be read count as missing, with a warning.

    Parameters
    ----------
    recipe : Recipe
        How the columns are read.
    table : Table
        A table with the columns of the recipe.
    columns : sequence of Category or Number, default=()
        The columns of the schema, if it is known.

    Returns
    -------
    table : Table

    Raises
    ------
    ValueError
        If more than half of the values of a column cannot be read.
    """
    known = {column.name: column for column in columns}
    prepared: list[RawColumn] = []
    with reporting() as unreadable:
        for one, raw in zip(recipe.inputs, table.columns, strict=True):
            prepared += read_input(recipe, one, raw, known.get(one.name), unreadable)
    return Table(tuple(prepared), tuple(name for one in recipe.inputs for name in one.columns), table.rows)


def read_input(
    recipe: Recipe, one: InputColumn, raw: RawColumn, column: Column | None, unreadable: UnreadableValues
) -> list[RawColumn]:
    """Return the columns that a column of the table becomes.

    Parameters
    ----------
    recipe : Recipe
        The texts that stand for missing values.
    one : InputColumn
        How to read the column.
    raw : RawColumn
        The column.
    column : Category or Number or None
        The column of the schema with the same name, if it is known.
    unreadable : UnreadableValues
        Receives the values that cannot be read.

    Returns
    -------
    columns : list of RawColumn
    """
    if one.kind == "ignored":
        return []
    if one.kind == "unchanged":
        return [raw]
    levels: Sequence[Any] = getattr(column, "levels", ())
    one = as_number(one, column)
    if one.kind == "category":
        return [_category(recipe, one, raw, levels, unreadable)]
    # Floats do not distinguish such integers.
    exact = one.kind == "number" and any(isinstance(level, int) and abs(level) > EXACT for level in levels)
    is_plain = one.kind == "number" and one.decimal == "." and not values_of_markers(recipe, one) and not exact
    if isinstance(raw, Texts) and is_plain:
        plain = _plain_numbers(raw)
        if plain is not None:
            unreadable.add(one.name, one.expected, len(raw.values) - raw.values.null_count, {})
            return [plain]
    texts = texts_of(raw)
    if texts is not None:
        raw = _read_texts(recipe, one, texts, unreadable, exact)
    elif one.kind == "boolean":
        raw = _only_levels(one, raw, (False, True), unreadable)
    raw = raw.parsed if isinstance(raw, Objects) else raw
    is_typed = texts is None and one.kind in ("number", "date") and raw.is_numeric
    if is_typed and isinstance(raw, Dates) == one.is_date:
        raw = _without_values(raw, one.name, values_of_markers(recipe, one))
    if one.kind in ("number", "date") and isinstance(raw, Labels) and not raw.distinct:
        nothing = np.full((len(raw.position), 1), np.nan)
        raw = Dates(nothing, 0, one.name) if one.is_date else Numbers(nothing, 0, one.name)
    if one.kind != "date":
        return [raw]
    if one.is_date and not isinstance(raw, Dates) and not np.isnan(raw.floats()).all():
        held = "numbers" if raw.is_numeric else "labels"
        raise ValueError(f"column {one.name!r} holds {held}, but the schema expects dates; convert the column")
    return [raw, *part_columns(raw.floats(), one.name, one.parts)]


def values_of_markers(recipe: Recipe, one: InputColumn) -> tuple[float, ...]:
    """Return the numbers that stand for missing values in a column, such as -999."""
    return _values_of_marks(replace(one, name="", parts=()), (*recipe.missing, *recipe.missing_numbers, *one.missing))


def _category(
    recipe: Recipe, one: InputColumn, raw: RawColumn, levels: Sequence[Any], unreadable: UnreadableValues
) -> RawColumn:
    """Return a column of text with missing values; numbers and booleans are written as in a text file.

    A text that is a level is never a missing value. Numbers that are not levels of a known column of text are
    unreadable. Without levels, numbers stay numbers, which become the levels.
    """
    texts = texts_of(raw)
    if texts is not None:
        own = {text.strip().lower() for text in one.missing}
        known = set(levels)
        keep = [
            text in known or not (recipe.is_missing(text) or text.strip().lower() in own) for text in texts.distinct
        ]
        return texts if all(keep) else _only(texts, keep)
    raw = raw.parsed if isinstance(raw, Objects) else raw
    if isinstance(raw, Dates):
        position = np.where(np.isnan(raw.floats()), UNKNOWN, 0)
        if not (position == UNKNOWN).all():
            raise dates_as_categories_error(one.name)
        return Labels([], position, one.name)
    if not levels and raw.is_numeric:
        return _without_values(raw, one.name, values_of_markers(recipe, replace(one, kind="number")))
    if not levels:
        return raw
    yes, no = next((pair for pair in TRUE_AND_FALSE if set(pair) & set(levels)), TRUE_AND_FALSE[0])
    written = [(yes if v else no) if isinstance(v, bool) else number_as_text(v) for v in raw.levels()]
    return _only_levels(one, Labels(written, raw.index(), one.name), levels, unreadable)


def _read_texts(
    recipe: Recipe, one: InputColumn, texts: Labels, unreadable: UnreadableValues, exact: bool = False
) -> RawColumn:
    """Return numbers, booleans or dates in text; with `exact`, integers of any size as labels."""
    values = _read_values(one, texts.distinct)
    own = {text.strip().lower() for text in one.missing}
    unread = np.flatnonzero(np.isnan(values)).tolist()
    missing = {at for at in unread if recipe.is_missing_number(texts.distinct[at])}
    failed = [at for at in unread if at not in missing and texts.distinct[at].strip().lower() not in own]
    if one.kind == "boolean":
        # Only the text itself is a marker: 0 does not make every "false" missing.
        marked = [recipe.is_missing_number(text) or text.strip().lower() in own for text in texts.distinct]
        values[marked] = np.nan
    else:
        values[np.isin(values, values_of_markers(recipe, one))] = np.nan
    counts = np.bincount(texts.position + 1, minlength=len(texts.distinct) + 1)[1:]
    known = int(counts[~np.isnan(values)].sum())
    found = {texts.distinct[at]: int(counts[at]) for at in failed if counts[at]}
    unreadable.add(one.name, one.expected, known + sum(found.values()), found)
    if exact:
        numbers = [_exact_number(text, value) for text, value in zip(texts.distinct, values.tolist(), strict=True)]
        return _only(Labels(numbers, texts.position, one.name), (~np.isnan(values)).tolist())
    column = np.append(values, np.nan)[texts.position].reshape(-1, 1)
    if one.kind == "boolean":
        position = np.where(np.isnan(column[:, 0]), UNKNOWN, column[:, 0]).astype(np.int64)
        return Labels([False, True], position, one.name)
    return Dates(column, 0, one.name) if one.is_date else Numbers(column, 0, one.name)


def _without_values(raw: RawColumn, name: str, values: Sequence[float]) -> RawColumn:
    """Return a column of numbers or dates in which some values are missing."""
    if not values:
        return raw
    numbers = raw.floats()
    marked = np.where(np.isin(numbers, values), np.nan, numbers).reshape(-1, 1)
    return (Dates if isinstance(raw, Dates) else Numbers)(marked, 0, name)


def _only_levels(one: InputColumn, raw: RawColumn, levels: Sequence[Any], unreadable: UnreadableValues) -> RawColumn:
    """Return a column in which all values are levels; other values are unreadable and become missing."""
    found, index = raw.levels(), raw.index()
    is_level = [value in levels for value in found]
    if all(is_level):
        return raw
    counts = np.bincount(index + 1, minlength=len(found) + 1)[1:].tolist()
    wrong = {number_as_text(v): count for v, count, ok in zip(found, counts, is_level, strict=True) if not ok}
    expected = "true or false" if one.kind == "boolean" else "text"
    unreadable.add(one.name, expected, sum(counts), wrong)
    return _only(Labels(found, index, one.name), is_level)


def _only(labels: Labels, keep: Sequence[bool]) -> Labels:
    """Return a column in which only some labels are kept, and the others are missing."""
    place = np.append(np.where(keep, np.cumsum(keep) - 1, UNKNOWN), UNKNOWN)
    distinct = [label for label, kept in zip(labels.distinct, keep, strict=True) if kept]
    return Labels(distinct, place[labels.position], labels.name, labels.declared)


def as_number(one: InputColumn, column: Column | None) -> InputColumn:
    """Return how a column is read if its column of the schema is known: text as numbers if the levels are numbers."""
    levels: Sequence[Any] = getattr(column, "levels", ())
    if one.kind != "category" or value_kind(levels) != "numbers":
        return one
    return replace(one, kind="boolean" if isinstance(levels[0], bool) else "number")


@lru_cache(maxsize=1000)
def _values_of_marks(one: InputColumn, texts: tuple[str, ...]) -> tuple[float, ...]:
    """Return the numbers, days or booleans that texts hold, without the texts that hold anything else."""
    values = _read_values(one, texts)
    return tuple(values[~np.isnan(values)].tolist())


def _read_values(one: InputColumn, texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the numbers, days or booleans that texts hold, NaN for texts that hold anything else."""
    if one.kind == "number":
        return read_numbers(texts, one.decimal, one.currency)
    if one.kind == "date":
        return read_dates(texts, one.date_format)
    return np.array([_BOOLEANS.get(text.strip().lower(), np.nan) for text in texts], np.float64)


def texts_of(raw: RawColumn) -> Labels | None:
    """Return a column of text as labels, or None if its values are not text. Numbers next to text become text."""
    if isinstance(raw, Texts):
        return raw.parsed
    if isinstance(raw, Objects):
        if len({isinstance(v, str) for v in raw.values if not is_missing(v)}) > 1:
            written = [v if isinstance(v, str) or is_missing(v) else number_as_text(v) for v in raw.values]
            raw = Objects(written, raw.name)
        return texts_of(raw.parsed)
    is_text = isinstance(raw, Labels) and bool(raw.distinct) and all(isinstance(v, str) for v in raw.distinct)
    return raw if isinstance(raw, Labels) and is_text else None


def number_as_text(value: Any) -> str:
    """Return a number as in a text file, without a fraction if it is whole.

    >>> number_as_text(3.0), number_as_text(2.5)
    ('3', '2.5')
    """
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _exact_number(text: str, value: float) -> float | int:
    """Return the number in a text, without rounding if it is an integer; `value` is the number as a float."""
    return int(text) if re.fullmatch(r"\s*[-+]?[0-9]{1,20}\s*", text) else value


def _plain_numbers(raw: Texts) -> Numbers | None:
    """Return a column of text as numbers if every value is one without anything that needs interpretation."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        numbers = pc.cast(raw.values, pa.float64())
    except pa.ArrowInvalid:
        return None
    values = numbers.to_numpy(zero_copy_only=False)
    finite = np.isfinite(values)
    if not finite.all() and int((~finite).sum()) != numbers.null_count:
        return None
    return Numbers(values.reshape(-1, 1), 0, raw.name)
