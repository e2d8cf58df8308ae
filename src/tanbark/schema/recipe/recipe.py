"""Recipe: how the columns of a table are read before a schema applies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.immutable import Immutable
from tanbark.messages import first_repeated
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
from tanbark.schema.recipe.date_parts import DATE_PARTS, part_columns, part_name
from tanbark.schema.recipe.date_text import DATE_EXAMPLES, DATE_FORMATS, TIME_OF_DAY, read_dates
from tanbark.schema.recipe.number_text import is_currency, read_numbers
from tanbark.schema.recipe.unreadable import UnreadableValues, reporting

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "null", "?")
"""Texts that stand for missing values in every column."""
MISSING_NUMBERS = ("None", "nil", "-", "--", ".", "missing", "unknown")
"""Texts that stand for missing values only in columns of numbers or dates; elsewhere they may be levels."""
KINDS = ("unchanged", "category", "number", "boolean", "date", "ignored")
TRUE_AND_FALSE = (("True", "False"), ("true", "false"), ("TRUE", "FALSE"))
"""The spellings of booleans in text, beginning with that of Python."""
_BOOLEANS = {"true": 1.0, "yes": 1.0, "y": 1.0, "t": 1.0, "1": 1.0} | {
    "false": 0.0,
    "no": 0.0,
    "n": 0.0,
    "f": 0.0,
    "0": 0.0,
}


@dataclass(frozen=True)
class InputColumn(Immutable):
    """How one column of a table is read.

    Parameters
    ----------
    name : str
        Name of the column in the table.
    kind : {"unchanged", "category", "number", "boolean", "date", "ignored"}, default="unchanged"
        What the column becomes. "unchanged" takes the values as they are; a "date" becomes one or more columns, and an
        "ignored" column none.
    missing : sequence of str, default=()
        Texts that stand for missing values in this column, in addition to those of the recipe.
    decimal : {".", ","}, default="."
        The decimal separator of numbers in text.
    currency : str, default=""
        The currency sign of numbers in text.
    date_format : str, default="year-month-day"
        The format of dates in text: "year-month-day", "day.month.year", "month name", "day/month/year",
        "month/day/year" or "time of day".
    parts : sequence of {"weekday", "month", "hour"}, default=()
        The parts of a date that become columns of their own.

    Raises
    ------
    ValueError
        If a parameter is invalid.
    """

    name: str
    kind: str = "unchanged"
    missing: tuple[str, ...] = ()
    decimal: str = "."
    currency: str = ""
    date_format: str = "year-month-day"
    parts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"the name of a column must be text, got {self.name!r}")
        for parameter, choices in (("missing", None), ("parts", DATE_PARTS)):
            texts = checked_texts(f"column {self.name!r}: {parameter}", getattr(self, parameter), choices)
            object.__setattr__(self, parameter, texts)
        allowed = {"kind": KINDS, "decimal": (".", ","), "date_format": DATE_FORMATS}
        for parameter, values in allowed.items():
            if getattr(self, parameter) not in values:
                raise ValueError(
                    f"column {self.name!r}: {parameter} must be {' or '.join(map(repr, values))}, got "
                    f"{getattr(self, parameter)!r}"
                )
        if not isinstance(self.currency, str) or (self.currency and not is_currency(self.currency)):
            raise ValueError(
                f"column {self.name!r}: currency must be one currency sign or empty, got {self.currency!r}"
            )
        if len(set(self.parts)) != len(self.parts):
            raise ValueError(f"column {self.name!r}: parts has {first_repeated(self.parts)!r} twice; list each once")
        if self.parts and not self.is_date:
            raise ValueError(f"column {self.name!r}: only dates have parts; leave out parts={list(self.parts)}")

    @property
    def is_date(self) -> bool:
        """Whether the column becomes a number that is shown as a date."""
        return self.kind == "date" and self.date_format != TIME_OF_DAY

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that it becomes."""
        if self.kind == "ignored":
            return ()
        return (self.name, *(part_name(self.name, part) for part in self.parts))

    @property
    def expected(self) -> str:
        """What text in the column must hold, for messages."""
        if self.kind != "number":
            return DATE_EXAMPLES[self.date_format] if self.kind == "date" else "true or false"
        example = "1.234,5" if self.decimal == "," else "1234.5"
        return f"numbers such as {self.currency}{example}" if self.currency or self.decimal == "," else "numbers"

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults."""
        defaults = {f.name: f.default for f in fields(self) if f.name != "name"}
        values = {name: value for name, value in asdict(self).items() if value != defaults.get(name, self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def checked_texts(name: str, values: Any, choices: Sequence[str] | None = None) -> tuple[str, ...]:
    """Return a list of texts as a tuple; raise ValueError if it is anything else, or a text is not one of the choices.

    >>> checked_texts("missing", ["n.k."])
    ('n.k.',)
    """
    is_list = isinstance(values, Sequence | Set) and not isinstance(values, str | bytes)
    if not is_list or not all(isinstance(v, str) and (choices is None or v in choices) for v in values):
        expected = "texts" if choices is None else f"some of {', '.join(map(repr, choices))}"
        raise ValueError(f"{name} must be a list of {expected}, got {values!r}")
    return tuple(values)


@dataclass(frozen=True)
class Recipe(Immutable):
    """How the columns of a table are read: numbers and dates in text, missing values, and columns to leave out.

    A model stores the recipe of its training table, so that later tables are read in the same way.

    Parameters
    ----------
    missing : sequence of str, default=("", "NA", "N/A", "#N/A", "NaN", "null", "?")
        Texts that stand for missing values in every column. Upper and lower case, and blanks around them, do not
        matter.
    missing_numbers : sequence of str, default=("None", "nil", "-", "--", ".", "missing", "unknown")
        Further such texts in columns of numbers and dates.
    decimal : {"auto", ".", ","}, default="auto"
        The decimal separator. With "auto" it is a comma in columns with a value that cannot be read otherwise.
    day_first : bool, default=False
        Whether 01/02/2024 is the first of February, if no other value of the column shows which it is.
    inputs : sequence of InputColumn, default=()
        The columns of the table, in order. If a recipe is given to an `Encoder`, they replace the detection, for all
        columns or some.

    See Also
    --------
    Encoder : Detects the recipe of a table, with ``coerce=True``.

    Examples
    --------
    >>> import pandas as pd
    >>> from tanbark import Encoder, Recipe
    >>> table = pd.DataFrame({"income": ["1.200,50", "980,00", "n.k."] * 10})
    >>> encoder = Encoder(coerce=Recipe(missing=["n.k."], decimal=",")).fit(table, [0, 1, 1] * 10)
    >>> encoder.schema_.recipe.inputs[0].kind, encoder.schema_.columns[0].high
    ('number', 1200.5)
    """

    missing: tuple[str, ...] = MISSING
    missing_numbers: tuple[str, ...] = MISSING_NUMBERS
    decimal: str = "auto"
    day_first: bool = False
    inputs: tuple[InputColumn, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("missing", "missing_numbers"):
            object.__setattr__(self, name, checked_texts(name, getattr(self, name)))
        if self.decimal not in ("auto", ".", ","):
            raise ValueError(f"decimal must be 'auto' or '.' or ',', got {self.decimal!r}")
        if not isinstance(self.day_first, bool):
            raise ValueError(f"day_first must be True or False, got {self.day_first!r}")
        if not isinstance(self.inputs, Sequence) or not all(isinstance(one, InputColumn) for one in self.inputs):
            raise ValueError(f"inputs must be a list of InputColumn, got {self.inputs!r}")
        object.__setattr__(self, "inputs", tuple(self.inputs))
        repeated = first_repeated(one.name for one in self.inputs)
        if repeated is not None:
            raise ValueError(f"the recipe has two columns named {repeated!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of the table."""
        return tuple(one.name for one in self.inputs)

    @cached_property
    def _missing(self) -> frozenset[str]:
        return frozenset(text.strip().lower() for text in self.missing)

    @cached_property
    def _missing_numbers(self) -> frozenset[str]:
        return frozenset(text.strip().lower() for text in self.missing_numbers)

    def is_missing(self, text: str) -> bool:
        """Return whether a text stands for a missing value in every column.

        >>> Recipe().is_missing(" n/a "), Recipe().is_missing("-")
        (True, False)
        """
        return text.strip().lower() in self._missing

    def is_missing_number(self, text: str) -> bool:
        """Return whether a text stands for a missing value in a column of numbers or dates.

        >>> Recipe().is_missing_number("-")
        True
        """
        plain = text.strip().lower()
        return plain in self._missing or plain in self._missing_numbers

    def prepare(self, table: Table, columns: Sequence[Column] = ()) -> Table:
        """Return the table that a schema encodes: with numbers and dates read, and ignored columns left out.

        Values that cannot be read count as missing, with a warning.

        Parameters
        ----------
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
            for one, raw in zip(self.inputs, table.columns, strict=True):
                prepared += self.read(one, raw, known.get(one.name), unreadable)
        return Table(tuple(prepared), tuple(name for one in self.inputs for name in one.columns), table.rows)

    def read(
        self, one: InputColumn, raw: RawColumn, column: Column | None, unreadable: UnreadableValues
    ) -> list[RawColumn]:
        """Return the columns that a column of the table becomes.

        Parameters
        ----------
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
            return [self._category(one, raw, levels, unreadable)]
        # Floats do not distinguish such integers.
        exact = one.kind == "number" and any(isinstance(level, int) and abs(level) > EXACT for level in levels)
        is_plain = one.kind == "number" and one.decimal == "." and not self.missing_values(one) and not exact
        if isinstance(raw, Texts) and is_plain:
            plain = _plain_numbers(raw)
            if plain is not None:
                unreadable.add(one.name, one.expected, len(raw.values) - raw.values.null_count, {})
                return [plain]
        texts = texts_of(raw)
        if texts is not None:
            raw = self._read_texts(one, texts, unreadable, exact)
        elif one.kind == "boolean":
            raw = _only_levels(one, raw, (False, True), unreadable)
        raw = raw.parsed if isinstance(raw, Objects) else raw
        if one.kind == "number" and texts is None and raw.is_numeric and self.missing_values(one):
            numbers = raw.floats()
            marked = np.where(np.isin(numbers, self.missing_values(one)), np.nan, numbers)
            raw = Numbers(marked.reshape(-1, 1), 0, one.name)
        if one.kind in ("number", "date") and isinstance(raw, Labels) and not raw.distinct:
            nothing = np.full((len(raw.position), 1), np.nan)
            raw = Dates(nothing, 0, one.name) if one.is_date else Numbers(nothing, 0, one.name)
        if one.kind != "date":
            return [raw]
        if one.is_date and not isinstance(raw, Dates) and not np.isnan(raw.floats()).all():
            held = "numbers" if raw.is_numeric else "labels"
            raise ValueError(f"column {one.name!r} holds {held}, but the schema expects dates; convert the column")
        return [raw, *part_columns(raw.floats(), one.name, one.parts)]

    def missing_values(self, one: InputColumn) -> tuple[float, ...]:
        """Return the numbers that stand for missing values in a column, such as -999; usually there are none."""
        return _values_of_marks(replace(one, name="", parts=()), (*self.missing, *self.missing_numbers, *one.missing))

    def _category(
        self, one: InputColumn, raw: RawColumn, levels: Sequence[Any], unreadable: UnreadableValues
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
                text in known or not (self.is_missing(text) or text.strip().lower() in own) for text in texts.distinct
            ]
            return texts if all(keep) else _only(texts, keep)
        raw = raw.parsed if isinstance(raw, Objects) else raw
        if isinstance(raw, Dates):
            position = np.where(np.isnan(raw.floats()), UNKNOWN, 0)
            if not (position == UNKNOWN).all():
                raise dates_as_categories_error(one.name)
            return Labels([], position, one.name)
        if not levels:
            return raw
        yes, no = next((pair for pair in TRUE_AND_FALSE if set(pair) & set(levels)), TRUE_AND_FALSE[0])
        written = [(yes if v else no) if isinstance(v, bool) else number_as_text(v) for v in raw.levels()]
        return _only_levels(one, Labels(written, raw.index(), one.name), levels, unreadable)

    def _read_texts(
        self, one: InputColumn, texts: Labels, unreadable: UnreadableValues, exact: bool = False
    ) -> RawColumn:
        """Return numbers, booleans or dates in text; with `exact`, integers of any size as labels."""
        values = _read_values(one, texts.distinct)
        own = {text.strip().lower() for text in one.missing}
        unread = np.flatnonzero(np.isnan(values)).tolist()
        missing = {at for at in unread if self.is_missing_number(texts.distinct[at])}
        failed = [at for at in unread if at not in missing and texts.distinct[at].strip().lower() not in own]
        if one.kind == "boolean":
            # Only the text itself is a marker: 0 does not make every "false" missing.
            marked = [self.is_missing_number(text) or text.strip().lower() in own for text in texts.distinct]
            values[marked] = np.nan
        else:
            values[np.isin(values, self.missing_values(one))] = np.nan
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

    def to_dict(self) -> dict[str, Any]:
        """Return the recipe as JSON-serializable dicts, lists and scalars.

        Returns
        -------
        values : dict
            The parameters of the recipe.
        """
        return {
            "missing": list(self.missing),
            "missing_numbers": list(self.missing_numbers),
            "decimal": self.decimal,
            "day_first": self.day_first,
            "inputs": [one.to_dict() for one in self.inputs],
        }

    @classmethod
    def from_dict(cls, plain_values: Mapping[str, Any]) -> Recipe:
        """Return the recipe described by the output of `to_dict`.

        Parameters
        ----------
        plain_values : mapping
            Output of `to_dict`.

        Returns
        -------
        recipe : Recipe

        Raises
        ------
        ValueError
            If the description is not valid.
        """
        values = _parameters_of(cls, plain_values, "the recipe")
        inputs = values.get("inputs", ())
        if not isinstance(inputs, list | tuple):
            raise ValueError(f"the recipe is not valid: inputs must be a list, got {inputs!r}")
        columns = (_parameters_of(InputColumn, one, f"column {at} of the recipe") for at, one in enumerate(inputs, 1))
        return cls(**{**values, "inputs": tuple(InputColumn(**one) for one in columns)})


def _parameters_of(described: type[InputColumn | Recipe], values: Any, what: str) -> dict[str, Any]:
    """Return the parameters in a description; raise ValueError if some are unknown, or there is no name."""
    if not isinstance(values, Mapping):
        raise ValueError(f"{what} is not valid: expected a JSON object, got {values!r}")
    names = [one.name for one in fields(described)]
    unknown = next((name for name in values if name not in names), None)
    if unknown is not None:
        raise ValueError(f"{what} is not valid: {unknown!r} is not one of {', '.join(names)}")
    if "name" in names and "name" not in values:
        raise ValueError(f"{what} is not valid: it has no name")
    return dict(values)


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
