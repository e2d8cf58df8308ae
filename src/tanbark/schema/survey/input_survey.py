"""Statistics of a streamed column of a table, which a recipe may read as text, a number or a date."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from tanbark.messages import warn
from tanbark.schema.read.arrow_columns import as_arrow, is_text, kind_of
from tanbark.schema.read.raw_columns import Dates, RawColumn, Texts
from tanbark.schema.read.table_reader import read_column
from tanbark.schema.recipe.column_reading import read_input, values_of_markers
from tanbark.schema.recipe.date_parts import DATE_PARTS, part_name
from tanbark.schema.recipe.detection import Detector, kind_of_values
from tanbark.schema.recipe.recipe import InputColumn
from tanbark.schema.recipe.text_profile import TextProfile
from tanbark.schema.recipe.unreadable import UnreadableValues
from tanbark.schema.survey.column_survey import (
    MAX_DISTINCT_LABELS,
    SeenLabels,
    SeenNumbers,
    too_many_levels_error,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.schema.encode.encoder import Encoder


class SeenTexts(SeenLabels):
    """The distinct texts of a column with their counts, or only their profile if there are too many."""

    def __init__(self, name: str, detector: Detector) -> None:
        super().__init__(name)
        self.detector = detector
        self.profile: TextProfile | None = None

    def count(self, labels: Sequence[Any], counts: Sequence[int]) -> None:
        """Add counts of texts."""
        if self.profile is not None:
            self.detector.see(self.profile, labels, counts)
            return
        for label, count in zip(labels, counts, strict=True):
            self.counts[label] = self.counts.get(label, 0) + count
        if len(self.counts) > MAX_DISTINCT_LABELS:
            self.profile = self.found()
            self.counts.clear()

    def merge(self, other: SeenLabels) -> None:
        """Add the texts of another survey of the same column."""
        theirs = cast(SeenTexts, other).profile
        if theirs is not None and self.profile is None:
            self.profile = self.found()
            self.counts.clear()
        if theirs is not None and self.profile is not None:
            self.profile.merge(theirs)
        super().merge(other)

    def fresh(self) -> SeenTexts:
        """Return an empty survey of the same column."""
        return SeenTexts(self.name, self.detector)

    def found(self) -> TextProfile:
        """Return the profile of the texts."""
        if self.profile is not None:
            return self.profile
        profile = TextProfile()
        self.detector.see(profile, list(self.counts), list(self.counts.values()))
        return profile

    def without_missing(self) -> SeenLabels:
        """Return the labels of a category, without those that stand for missing values."""
        labels = SeenLabels(self.name)
        labels.missing = self.missing
        for text, count in self.counts.items():
            if self.detector.rules.is_missing(text):
                labels.missing += count
            else:
                labels.counts[text] = count
        return labels


class SeenInput:
    """The values of one column of a table, and of the columns that it becomes.

    Text is read in a first pass, after which its kind is known. Numbers and dates in text take another pass.

    Parameters
    ----------
    name : str
        Name of the column.
    stored : pyarrow.DataType
        Arrow type of the column.
    detector : Detector
        Decides how the column is read.
    encoder : Encoder
        Settings of the schema.
    """

    def __init__(self, name: str, stored: pa.DataType, detector: Detector, encoder: Encoder) -> None:
        self.name = name
        self.stored = stored
        self.kind = kind_of(stored)
        self.detector = detector
        self.encoder = encoder
        self.texts: SeenTexts | None = None
        self.surveys: dict[str, SeenLabels | SeenNumbers] = {}
        self._open: set[str] = set()
        self._new_parts = False
        self.one = detector.given.get(name) or InputColumn(name)
        self.unreadable = UnreadableValues()
        self._is_first_pass = True
        self._has_detected_kind = False
        if name in detector.given:
            self._start()
        elif self.kind == "date":
            self._start_date(detector.typed_date(name))
        elif detector.coerce and name not in detector.forced and is_text(stored):
            self.texts = SeenTexts(name, detector)
        else:
            is_declared = getattr(stored, "ordered", False)
            if detector.coerce and name in detector.forced and not is_declared:
                self.one = InputColumn(name, "category")
            elif detector.coerce and not is_declared:
                self._has_detected_kind = True
                number = InputColumn(name, "number")
                self.one = number if self._has_missing_numbers(number) else self.one
            self._start()

    def _start_date(self, one: InputColumn) -> None:
        """Begin to survey dates, with all of their parts."""
        self.one = self.detector.date(one, DATE_PARTS)
        self._new_parts = bool(self.one.parts)
        self._start()

    def _start(self) -> None:
        """Begin to survey the columns that this one becomes."""
        import pyarrow as pa

        parsed = self._is_parsed
        number = pa.float64() if parsed or self.kind in ("date", "duration", "time") else self.stored
        labels = self.kind == "labels" and not (parsed and self.one.kind in ("number", "date"))
        forced = self.name in self.detector.forced and self.one.kind != "date"
        is_date = self.one.kind == "date"
        self.surveys = {
            name: SeenLabels(name) if labels else SeenNumbers(name, number, forced, self.encoder.binning(name, is_date))
            for name in self.one.columns[:1]
        }
        for part in self.one.parts:
            name = part_name(self.name, part)
            self.surveys[name] = (
                SeenNumbers(name, number, False, self.encoder.binning(name)) if part == "hour" else SeenLabels(name)
            )
        self._open = set(self.surveys)

    def see(self, values: Any, rows: NDArray[np.bool_], classes: Any) -> None:
        """Count the selected rows of an Arrow array; `classes` are the labels and the class code of each row."""
        if self.texts is not None:
            self.texts.see(values, rows, classes)
            return
        if self._is_parsed and not rows.all():
            labels, codes = classes
            values, classes, rows = values.filter(rows), (labels, codes[rows]), rows[rows]
        for name, column in zip(self.one.columns, self._columns(values), strict=True):
            if name in self._open:
                self.surveys[name].see(column, rows, classes)

    def _columns(self, values: Any) -> list[Any]:
        """Return the Arrow arrays of the columns that this one becomes."""
        if self.one.kind == "ignored":
            return []
        if self._is_parsed:
            raw = Texts(values, self.name) if is_text(values.type) else read_column(values, self.name)
            counted = self._is_first_pass and self.name in self.detector.given
            unreadable = self.unreadable if counted else UnreadableValues()
            return [as_arrow(one) for one in read_input(self.detector.rules, self.one, raw, None, unreadable)]
        if self.kind in ("duration", "time"):
            return [as_arrow(read_column(values, self.name))]
        return [values]

    @property
    def _is_parsed(self) -> bool:
        """Whether the values are other than they are stored: text that is read, dates, or numbers that are missing."""
        if self.one.kind in ("unchanged", "ignored"):
            return False
        return is_text(self.stored) or self.one.kind == "date" or self._has_missing_numbers(self.one)

    def _has_missing_numbers(self, one: InputColumn) -> bool:
        """Return whether the column holds numbers, some of which may stand for missing values."""
        if one.kind not in ("number", "category") or self.kind == "labels":
            return False
        return bool(values_of_markers(self.detector.rules, replace(one, kind="number")))

    def merge(self, other: SeenInput) -> None:
        """Add the results of another survey of the same pass."""
        self.unreadable.merge(other.unreadable)
        if self.texts is not None and other.texts is not None:
            self.texts.merge(other.texts)
        for name in self._open:
            self.surveys[name].merge(cast(Any, other.surveys[name]))

    def fresh(self) -> SeenInput:
        """Return an empty survey of the same column for the same pass."""
        other = SeenInput.__new__(SeenInput)
        other.__dict__.update(self.__dict__)
        other.texts = None if self.texts is None else self.texts.fresh()
        other.surveys = {name: survey.fresh() for name, survey in self.surveys.items()}
        other.unreadable = UnreadableValues()
        return other

    def settle(self) -> bool:
        """End a pass, and return whether another is needed."""
        if self._is_first_pass:
            self.unreadable.check()
        self._is_first_pass = False
        if self.texts is not None:
            return self._decide(self.texts)
        self._open = {name for name in self.surveys if name in self._open and self.surveys[name].settle()}
        if self._new_parts:
            self._new_parts = False
            varying = tuple(part for part in self.one.parts if self.surveys[part_name(self.name, part)].varies)
            self.one = replace(self.one, parts=varying)
            self.surveys = {name: self.surveys[name] for name in self.one.columns}
            self._open &= set(self.surveys)
        return bool(self._open)

    def _decide(self, texts: SeenTexts) -> bool:
        """Decide the kind of a column of text, and return whether its values must be read again."""
        self.one = self.detector.decide(self.name, texts.found())
        self.texts = None
        if self.one.kind == "date":
            self._start_date(self.one)
            return bool(self.surveys)
        if self.one.kind == "number":
            self._start()
            return True
        if texts.profile is not None:
            if not self.detector.drops_identifiers or self.name in self.detector.keep:
                raise too_many_levels_error(self.name)
            warn(f"column {self.name!r} looks like an identifier: left out; keep it with keep=[{self.name!r}]")
            self.one = replace(self.one, kind="ignored")
            return False
        self.surveys = {self.name: texts.without_missing()}
        return False

    def input_column(self, values: Mapping[str, tuple[RawColumn, Any, Any]]) -> InputColumn:
        """Return how the column is read, given the result of `weighted`."""
        if not self._has_detected_kind:
            return self.one
        return InputColumn(self.name, kind_of_values(values[self.name][0]))

    def weighted(self, classes: Sequence[Any]) -> dict[str, tuple[RawColumn, NDArray[np.float64], NDArray[np.int64]]]:
        """Return, by name, short columns from which an encoder learns the same schema as from the whole columns."""
        found = {name: survey.weighted(classes) for name, survey in self.surveys.items()}
        if self.one.is_date and self.name in found:
            raw, weights, codes = found[self.name]
            found[self.name] = Dates(raw.floats().reshape(-1, 1), 0, self.name), weights, codes
        return found
