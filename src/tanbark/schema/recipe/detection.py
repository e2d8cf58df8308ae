"""Detect how the columns of a table are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tanbark.messages import suggestion, warn
from tanbark.schema.encode.columns import Column, Number
from tanbark.schema.read.raw_columns import Dates, Objects, RawColumn, dates_as_categories_error, dates_error
from tanbark.schema.recipe.column_reading import texts_of
from tanbark.schema.recipe.date_parts import varying_parts
from tanbark.schema.recipe.date_text import TIME_OF_DAY, read_dates
from tanbark.schema.recipe.identifiers import identifies_rows
from tanbark.schema.recipe.number_text import read_numbers
from tanbark.schema.recipe.recipe import InputColumn, Recipe
from tanbark.schema.recipe.text_profile import TextProfile
from tanbark.schema.recipe.unreadable import listed_examples


class Detector:
    """Decide how each column of a table is read.

    Parameters
    ----------
    rules : Recipe or None
        The rules for columns of text, and columns whose kind is given. None leaves text as it is.
    dates : {"expand", "number", "ignore", "error"}
        What to do with dates.
    names : sequence of str
        Names of the columns.
    forced : collection of str
        Columns that the user declared categorical. Their text is not read as numbers or dates.
    no_dates : collection of str, default=()
        Those of them that must not hold dates.
    drops_identifiers : bool, default=False
        Whether columns that only identify rows are left out.
    keep : collection of str, default=()
        Columns that are never left out.

    Raises
    ------
    ValueError
        If the rules have a column that the table does not have.
    """

    def __init__(
        self,
        rules: Recipe | None,
        dates: str,
        names: Sequence[str],
        forced: Iterable[str],
        no_dates: Collection[str] = (),
        drops_identifiers: bool = False,
        keep: Collection[str] = (),
    ) -> None:
        self.rules = rules or Recipe()
        self.coerce = rules is not None
        self.dates = dates
        self.given = {one.name: one for one in self.rules.inputs}
        self.forced = frozenset(forced) | {name for name, one in self.given.items() if one.kind == "category"}
        self.no_dates = frozenset(no_dates)
        self.drops_identifiers = drops_identifiers
        self.keep = frozenset(keep) | self.forced | self.given.keys()
        unknown = next((name for name in self.given if name not in names), None)
        if unknown is not None:
            instead = suggestion(unknown, names, "").replace("did", "; did", 1)
            raise ValueError(f"the recipe has the column {unknown!r}, which the table does not have{instead}")

    def recipe(self, inputs: Sequence[InputColumn], class_name: str) -> Recipe | None:
        """Return the recipe with these columns, or None if all columns are taken as they are.

        Raises
        ------
        ValueError
            If two columns get the same name, or none is left.
        """
        if not self.coerce and not self.drops_identifiers and all(one.kind == "unchanged" for one in inputs):
            return None
        recipe = replace(self.rules, inputs=tuple(inputs))
        if recipe.inputs and not any(one.columns for one in recipe.inputs):
            raise ValueError("all columns are left out, so that there is nothing to learn from; keep at least one")
        _check_new_names(recipe, class_name)
        return recipe

    def input_of(self, name: str, raw: RawColumn, weights: NDArray[np.float64] | None) -> InputColumn:
        """Return how a column of a table is read, and warn of what may surprise.

        Parameters
        ----------
        name : str
            Name of the column.
        raw : RawColumn
            Values of the column.
        weights : ndarray of float64 or None
            Weights of the rows.

        Returns
        -------
        one : InputColumn
        """
        if name in self.given:
            return self.given[name]
        parsed = raw.parsed if isinstance(raw, Objects) and not (self.coerce and texts_of(raw)) else raw
        if isinstance(parsed, Dates):
            return self.date(self.typed_date(name), varying_parts(parsed.floats()))
        if not self.coerce or getattr(raw, "declared", False):
            return InputColumn(name)
        if name in self.forced:
            return InputColumn(name, "category")
        texts = texts_of(raw)
        if texts is None:
            return InputColumn(name, kind_of_values(parsed))
        counts = np.bincount(texts.position + 1, weights, minlength=len(texts.distinct) + 1)[1:]
        used = np.flatnonzero(counts).tolist()
        distinct = [texts.distinct[at] for at in used]
        profile = TextProfile()
        self.see(profile, distinct, counts[used].tolist())
        one = self.decide(name, profile)
        if one.kind != "date":
            return one
        return self.date(one, varying_parts(read_dates(distinct, one.date_format)))

    def see(self, profile: TextProfile, texts: Sequence[str], counts: Sequence[float]) -> None:
        """Add texts to a profile, without those that stand for missing values."""
        known = [not self.rules.is_missing_number(text) for text in texts]
        profile.see(
            [text for text, keep in zip(texts, known, strict=True) if keep],
            [count for count, keep in zip(counts, known, strict=True) if keep],
        )

    def decide(self, name: str, profile: TextProfile) -> InputColumn:
        """Return how a column of text is read, and warn of what may surprise.

        Parameters
        ----------
        name : str
            Name of the column.
        profile : TextProfile
            The texts of the column.

        Returns
        -------
        one : InputColumn
            The parts of a date are not yet known.
        """
        dated = profile.date_format(self.rules.day_first)
        if dated is not None:
            date_format, ambiguous = dated
            if ambiguous and not self.rules.day_first:
                warn(
                    f"column {name!r}: dates such as {profile.example_date()!r} are read as month/day/year; use "
                    "day_first=True for day/month/year"
                )
            return InputColumn(name, "date", date_format=date_format)
        written = profile.number_format(self.rules.decimal)
        if written is None:
            reason = profile.reason_for_text(self.rules.decimal)
            if reason is not None:
                warn(f"column {name!r} stays text {reason}")
            return InputColumn(name, "category")
        rows, examples = profile.not_numbers(written)
        if rows:
            were, count = ("was", "counts") if rows == 1 else ("were", "count")
            warn(
                f"column {name!r}: read as numbers; {rows:,.10g} of {profile.rows:,.10g} values {were} not "
                f"({listed_examples(examples, len(examples))}) and {count} as missing"
            )
        bound = profile.bound()
        if bound is not None:
            number = read_numbers([bound], written.decimal, written.currency)[0]
            warn(f"column {name!r}: values such as {bound!r} are read as {number:g}")
        if written.decimal == "," and self.rules.decimal == "auto":
            warn(f"column {name!r}: read with a decimal comma")
        return InputColumn(name, "number", decimal=written.decimal, currency=written.currency)

    def without_identifiers(
        self, recipe: Recipe, columns: Mapping[str, tuple[RawColumn, NDArray[np.float64] | None]], left_out: int
    ) -> Recipe:
        """Return the recipe without the columns that only identify rows, with a warning for each.

        Parameters
        ----------
        recipe : Recipe
            How the columns of the table are read.
        columns : mapping
            The values of the columns of numbers and categories, and the number of rows of each value (None is one row).
        left_out : int
            Number of rows that are not among the values, because they have no class.

        Returns
        -------
        recipe : Recipe
        """
        if not self.drops_identifiers:
            return recipe
        reasons = {
            one.name: identifies_rows(*columns[one.name], left_out)
            for one in recipe.inputs
            if one.kind in ("unchanged", "category", "number") and one.name not in self.keep
        }
        found = {name: reason for name, reason in reasons.items() if reason is not None}
        if found and len(found) == len([one for one in recipe.inputs if one.kind != "ignored"]):
            found.popitem()
        for name, reason in found.items():
            warn(f"column {name!r} {reason}: left out; keep it with keep=[{name!r}]")
        inputs = tuple(replace(one, kind="ignored") if one.name in found else one for one in recipe.inputs)
        return replace(recipe, inputs=inputs)

    def typed_date(self, name: str) -> InputColumn:
        """Return how a column of dates with their own type is read; raise TypeError if it must be a category."""
        if name in self.no_dates:
            raise dates_as_categories_error(name)
        return InputColumn(name, "date")

    def date(self, one: InputColumn, parts: tuple[str, ...]) -> InputColumn:
        """Return how a column of dates is read, with the parts that vary.

        Raises
        ------
        TypeError
            If dates are errors.
        """
        if one.date_format == TIME_OF_DAY:
            return one
        if self.dates == "error":
            raise dates_error(one.name)
        if self.dates == "ignore":
            return replace(one, kind="ignored")
        return replace(one, parts=parts) if self.dates == "expand" else one


def kind_of_values(raw: RawColumn) -> str:
    """Return the kind of a column that is neither text nor dates: "number", "boolean" or, without values, "category".

    >>> from tanbark.schema.read.table_reader import read_column
    >>> kind_of_values(read_column([False, True], "smokes"))
    'boolean'
    """
    if raw.is_numeric:
        return "number"
    return "boolean" if raw.levels() else "category"


def _check_new_names(recipe: Recipe, class_name: str) -> None:
    """Raise ValueError if a date is expanded into a column with the name of another column or of the class."""
    times = Counter([*(name for one in recipe.inputs for name in one.columns), class_name])
    for one in recipe.inputs:
        for name in one.columns[1:]:
            if times[name] > 1 or name in recipe.names:
                raise ValueError(
                    f"the column of dates {one.name!r} is expanded into a column {name!r}, but the table already has "
                    "one; rename it, or use dates='number'"
                )


def with_sources(columns: Iterable[Column], recipe: Recipe) -> tuple[Column, ...]:
    """Return the columns of a schema with the names of the columns that they are computed from.

    Parameters
    ----------
    columns : iterable of Category or Number
        The columns that the recipe gives, in order.
    recipe : Recipe
        How the columns of the table are read.

    Returns
    -------
    columns : tuple of Category or Number
    """
    origins = [(one, name) for one in recipe.inputs for name in one.columns]
    named = []
    for column, (one, name) in zip(columns, origins, strict=True):
        if name != one.name:
            column = replace(column, source=one.name)
        elif one.is_date and isinstance(column, Number):
            column = replace(column, is_date=True)
        named.append(column)
    return tuple(named)
