"""Recipe: how the columns of a table are read before a schema applies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from typing import Any

from numpy.typing import ArrayLike

from tanbark.immutable import Immutable
from tanbark.messages import first_repeated
from tanbark.schema.recipe.class_intervals import checked_class_cuts, interval_labels, intervals_of
from tanbark.schema.recipe.date_parts import DATE_PARTS, part_name
from tanbark.schema.recipe.date_text import DATE_EXAMPLES, DATE_FORMATS, TIME_OF_DAY
from tanbark.schema.recipe.number_text import is_currency

MISSING = ("", "NA", "N/A", "#N/A", "NaN", "null", "?")
"""Texts that stand for missing values in every column."""
MISSING_NUMBERS = ("None", "nil", "-", "--", ".", "missing", "unknown")
"""Texts that stand for missing values only in columns of numbers or dates; elsewhere they may be levels."""
KINDS = ("unchanged", "category", "number", "boolean", "date", "ignored")


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
        """Expected values in text, for messages."""
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
    class_cuts : sequence of float, default=()
        Cut points of a numeric class, whose intervals are the classes. `intervals_of` returns the interval of each
        number.

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
    class_cuts: tuple[float, ...] = ()

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
        if not isinstance(self.class_cuts, Sequence) or isinstance(self.class_cuts, str):
            raise ValueError(f"class_cuts must be a list of numbers, got {self.class_cuts!r}")
        object.__setattr__(self, "class_cuts", checked_class_cuts(self.class_cuts) if self.class_cuts else ())
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

    @property
    def class_labels(self) -> tuple[str, ...]:
        """The intervals between the cut points of the class, in order; empty if there are no cut points."""
        return interval_labels(self.class_cuts) if self.class_cuts else ()

    def intervals_of(self, numbers: ArrayLike) -> list[str | None]:
        """Return the class of each value of a numeric class.

        Parameters
        ----------
        numbers : array of shape (rows,)
            The values, NaN if missing.

        Returns
        -------
        labels : list of str or None
            The interval of each value, None if it is missing.

        Examples
        --------
        >>> from tanbark import Recipe
        >>> Recipe(class_cuts=[20, 35]).intervals_of([12, 20.5, 35, 36])
        ['<= 20', '(20, 35]', '(20, 35]', '> 35']
        """
        return intervals_of(self.class_cuts, numbers)

    def names_with_decimal_comma(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return those of the columns of a table that are known to have a decimal comma."""
        given = {one.name for one in self.inputs if one.decimal == ","}
        return tuple(name for name in names if self.decimal == "," or name in given)

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
            **({"class_cuts": list(self.class_cuts)} if self.class_cuts else {}),
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
