"""The rows that a command reads: where they are, and which columns to learn from."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.numeric_class import MAX_NUMERIC_CLASSES
from tanbark.cli.input.options import BIN_METHODS, DATE_COLUMNS, chosen_value
from tanbark.cli.input.stdin import STDIN, STDIN_KINDS, STDIN_NAME, copy_stdin
from tanbark.cli.input.weights_and_costs import row_weights
from tanbark.cli.terminal.console import CommandError, err, listed, with_option_names
from tanbark.messages import suggestion
from tanbark.sources import Source, files, sql
from tanbark.sources.database import Query, database_kind
from tanbark.sources.file_patterns import KINDS
from tanbark.sources.file_source import FileSource
from tanbark.sources.text_files import MISSING

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tanbark.schema import Encoder, Recipe, Schema

USUAL_TARGETS = ("class", "target", "label")
"""Names of the class column that are recognised without --target, in order of preference."""
MAX_NAMES_LISTED = 40


# Where the rows are


def open_source(
    data: str,
    database: str | None,
    kind: str | None,
    encoding: str | None,
    sheet: str | None,
    missing: Sequence[str] | None = None,
    labels: Sequence[str] = (),
) -> FileSource | Query:
    """Return the source of the rows: a query if there is a database, otherwise standard input or files.

    Parameters
    ----------
    data : str
        The argument DATA.
    database, kind, encoding, sheet : str or None
        The options --database, --from, --encoding and --sheet.
    missing : sequence of str or None, default=None
        All texts that stand for missing values in the class; None is the usual ones.
    labels : sequence of str, default=()
        Columns of CSV files that are categories.

    Returns
    -------
    source : FileSource or Query
    """
    if kind is not None and (database or data != STDIN):
        raise CommandError(f"--from is the format of standard input; it needs {STDIN} as DATA, got {data!r}")
    if database:
        if encoding is not None or sheet is not None:
            raise CommandError(f"--{'sheet' if encoding is None else 'encoding'} is for files, not for queries")
        return sql(data, database)
    number_or_name = int(sheet) if sheet is not None and sheet.isdecimal() else sheet
    if data == STDIN:
        file_format = chosen_value("from", kind or "csv", STDIN_KINDS)
        source = files(copy_stdin(file_format), missing, labels, encoding, number_or_name)
        source.called = STDIN_NAME
        return source
    path = Path(data)
    if path.is_file():
        if path.suffix.lower() not in KINDS and database_kind(path):
            raise CommandError(f"{data} is a database; give an SQL query as DATA and use --database {data}")
    elif re.match(r"\s*(select|with|from|values)\s", data, re.IGNORECASE):
        raise CommandError("there is no such file; if it is an SQL query, name the database with --database")
    return files(data, missing, labels, encoding, number_or_name)


def source_notes(source: Source) -> list[str]:
    """Return notes on how the files of a source are read."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if isinstance(source, FileSource):
            source.prepare()
    return [with_option_names(str(warning.message)) for warning in caught]


def print_source_notes(source: Source) -> None:
    """Print notes on how the files of a source are read."""
    for note in source_notes(source):
        err().print(f"note: {note}", style="yellow", soft_wrap=True)


def files_read(source: Source) -> tuple[Path, ...]:
    """Return the files of a source; a query has none."""
    return tuple(source.paths) if isinstance(source, FileSource) else ()


# Columns to learn from


@dataclass(frozen=True)
class TableOptions:
    """The options of a command about the columns of a table and how they are read."""

    target: str | None = None
    ignore: Sequence[str] | None = None
    keep: Sequence[str] | None = None
    categorical: Sequence[str] | None = None
    missing: Sequence[str] | None = None
    missing_only: Sequence[str] | None = None
    decimal: str | None = None
    day_first: bool = False
    dates: str = "expand"
    schema_file: Path | None = None
    group: str | None = None
    bins: str = "auto"
    n_bins: int | None = None
    cut: Sequence[str] | None = None
    max_levels: int = 255
    weight: str | None = None
    bin_target: int | None = None

    def open(
        self, data: str, database: str | None, kind: str | None, encoding: str | None, sheet: str | None
    ) -> FileSource | Query:
        """Return the source of the rows."""
        from tanbark.schema.recipe.recipe import MISSING as RECIPE_MISSING

        rules, _ = self.rules
        # Some usual markers are not markers in the class, which is read by the source alone.
        missing = [text for text in rules.missing if text in MISSING or text not in RECIPE_MISSING]
        labels = [*(self.categorical or ()), *(one.name for one in rules.inputs if one.kind == "category")]
        return open_source(data, database, kind, encoding, sheet, missing, labels)

    def check_against_schema_file(self, names: set[str]) -> None:
        """Raise CommandError if an option has no effect because a schema file determines how all columns are read."""
        rules, _ = self.rules
        given = {
            "decimal": self.decimal is not None,
            "day-first": self.day_first,
            "dates": self.dates != "expand",
            "keep": bool(self.keep),
        }
        option = next((name for name, is_given in given.items() if is_given), None)
        if option is not None and self.schema_file is not None and names <= set(rules.names):
            raise CommandError(
                f"--{option} has no effect, because {self.schema_file} determines how every column is read; edit the "
                "file instead"
            )

    def cut_points(self, names: set[str]) -> dict[str, list[float | str]]:
        """Return the cut points given by --cut, for each of these columns. Raise CommandError if they are invalid."""
        given: dict[str, list[float | str]] = {}
        for text in self.cut or ():
            name, separator, values = text.rpartition("=")
            if not separator:
                raise CommandError(f"--cut must have the form COL=A,B,... as in age=18,40,65, got {text!r}")
            if name not in names:
                hint = suggestion(name, sorted(names), f"the columns are {listed(sorted(names), MAX_NAMES_LISTED)}")
                raise CommandError(f"--cut names {name!r}, which is not a column to learn from; {hint}")
            if name in given:
                raise CommandError(f"--cut names the column {name!r} twice; give all of its cut points at once")
            given[name] = [_number_or_text(value.strip()) for value in values.split(",")]
            if "" in given[name]:
                raise CommandError(f"--cut {text} has an empty cut point; give numbers separated by commas")
        if given and chosen_value("bins", self.bins, BIN_METHODS) != "auto":
            raise CommandError(
                f"--cut sets the bins of single columns and needs --bins auto for the others, got --bins {self.bins}"
            )
        return given

    @cached_property
    def rules(self) -> tuple[Recipe, str | None]:
        """The rules for text, and the class column that --schema names. Raise CommandError if an option is invalid."""
        from tanbark.cli.input.schema_file import read_schema_file
        from tanbark.schema import Recipe

        rules, target = (Recipe(), None) if self.schema_file is None else read_schema_file(self.schema_file)
        if self.missing and self.missing_only:
            raise CommandError("--missing adds to the list of missing values and --missing-only replaces it; use one")
        if self.missing:
            rules = replace(rules, missing=(*rules.missing, *self.missing))
        if self.missing_only:
            rules = replace(rules, missing=("", *self.missing_only), missing_numbers=())
        if self.decimal is not None:
            if self.decimal not in (".", ","):
                raise CommandError(f"--decimal must be . or , got {self.decimal!r}")
            rules = replace(rules, decimal=self.decimal)
        return replace(rules, day_first=rules.day_first or self.day_first), target


@dataclass(frozen=True)
class Columns:
    """The class column, the columns to leave out, and the encoder of the others.

    If the table has no class column (`has_target` is false), `target` is a name that no column has.
    """

    target: str
    ignore: Sequence[str]
    encoder: Encoder
    group: str | None = None
    has_target: bool = True
    weight: str | None = None
    decimal: str | None = None
    """The decimal separator of weights in text."""
    bin_target: int | None = None
    labels: bool = False
    """Whether the class holds labels even if they are numbers."""

    @classmethod
    def of(cls, source: Source, options: TableOptions, needs_target: bool = True) -> Columns:
        """Return the columns that the options of a command select. Raise CommandError if an option is invalid.

        Unless `needs_target`, there may be no class column.
        """
        from tanbark.schema import Encoder
        from tanbark.schema.recipe.recipe import InputColumn

        names = source.schema.names
        rules, usual_target = options.rules
        found = _class_column(names, options.target or usual_target, source, needs_target)
        target = free_name(names) if found is None else found
        with_comma = {*rules.names_with_decimal_comma(names)} - {target}
        if with_comma:
            source.read_as_text(with_comma)
        _check(names, target, options, source)
        if options.bin_target is not None and not 2 <= options.bin_target <= MAX_NUMERIC_CLASSES:
            raise CommandError(f"--bin-target must be from 2 to {MAX_NUMERIC_CLASSES}, got {options.bin_target}")
        if options.bin_target is not None and target in (options.categorical or ()):
            raise CommandError(f"--bin-target and --categorical both name the class {target!r}; use one")
        unknown = next((one.name for one in rules.inputs if one.name not in names), None)
        if unknown is not None:
            instead = suggestion(unknown, names, _described(source, names, "it"))
            where = f"{options.schema_file} names the column {unknown!r}, which is not in {source.name}"
            raise CommandError(f"{where}; {instead}")
        options.check_against_schema_file({*names} - {target})
        categorical = tuple(options.categorical or ())
        ignored = (*(options.ignore or ()), *(name for name in (options.group, options.weight) if name is not None))
        given = {one.name: one for one in rules.inputs if one.name != target and one.name not in ignored}
        for name in categorical:
            if name == target:
                continue
            given[name] = InputColumn(name, "category", given[name].missing if name in given else ())
        encoder = Encoder(
            bins=options.cut_points({*names} - {target, *ignored}) or chosen_value("bins", options.bins, BIN_METHODS),
            n_bins="auto" if options.n_bins is None else options.n_bins,
            max_levels=options.max_levels,
            coerce=replace(rules, inputs=tuple(given.values())),
            dates=chosen_value("dates", options.dates, DATE_COLUMNS),
            identifiers="drop",
            keep=list(options.keep or ()),
        )
        encoder.check()
        return cls(
            target,
            ignored,
            encoder,
            options.group,
            has_target=found is not None,
            weight=options.weight,
            decimal=rules.decimal,
            bin_target=options.bin_target,
            labels=target in categorical,
        )

    def with_class_of(self, table: pa.Table) -> Columns:
        """Return the same columns, with the cut points of the class if --bin-target is given.

        Raise CommandError if the class is a number with many values and is not cut.
        """
        from sklearn.base import clone

        from tanbark.cli.input.numeric_class import class_cuts, numeric_class
        from tanbark.schema import Recipe

        recipe = self.encoder.coerce
        assert isinstance(recipe, Recipe)
        numbers = None if self.labels else numeric_class(table.column(self.target), recipe, self.target)
        if self.bin_target is None:
            self.check_classes(() if numbers is None else numbers.tolist())
            return self
        cut = replace(recipe, class_cuts=class_cuts(numbers, self.bin_target, self.target))
        return replace(self, encoder=clone(self.encoder).set_params(coerce=cut))

    def check_classes(self, values: Iterable[Any]) -> None:
        """Raise CommandError if a class consists of many numbers, unless the user named it with --categorical."""
        from tanbark.cli.input.numeric_class import check_few_numbers

        if not self.labels:
            check_few_numbers(values, self.target)

    def split(self, table: pa.Table) -> tuple[pa.Table, Any]:
        """Return the columns to learn from, and the class, cut into intervals if the encoder has its cut points."""
        import narwhals as nw
        import pyarrow as pa

        from tanbark.cli.input.numeric_class import numeric_class
        from tanbark.schema import Recipe

        X = table.drop_columns(list(dict.fromkeys([self.target, *self.ignore])))
        y, recipe = table.column(self.target), self.encoder.coerce
        if isinstance(recipe, Recipe) and recipe.class_cuts:
            numbers = numeric_class(y, recipe, self.target)
            assert numbers is not None
            y = pa.chunked_array([pa.array(recipe.intervals_of(numbers), pa.string())])
        return X, nw.from_native(y, series_only=True).alias(self.target)

    def groups(self, table: pa.Table) -> Any:
        """Return the group of each row, or None without --group."""
        return None if self.group is None else table.column(self.group)

    def weights(self, table: pa.Table) -> NDArray[np.float64] | None:
        """Return the weight of each row, or None without --weight. Raise CommandError if one is invalid."""
        if self.weight is None:
            return None
        weights = row_weights(table.column(self.weight), self.weight, self.decimal)
        if not weights.any():
            raise CommandError(f"column {self.weight!r} is 0 in every row; --weight needs a positive weight")
        return weights

    def encoder_for(self, schema: Schema) -> Encoder:
        """Return an encoder that reads every table as the one from which a schema was learned."""
        from sklearn.base import clone

        fixed: Encoder = clone(self.encoder).set_params(coerce=schema.recipe, identifiers="keep", keep=())
        return fixed


def _number_or_text(value: str) -> float | str:
    """Return a cut point: a number, or the text of a date."""
    try:
        return float(value)
    except ValueError:
        return value


def _class_column(names: list[str], target: str | None, source: Source, is_needed: bool) -> str | None:
    if target is None:
        usual = [name for wanted in USUAL_TARGETS for name in names if name.lower() == wanted]
        if usual or not is_needed:
            return str(usual[0]) if usual else None
        raise CommandError(f"name the class column with --target; {_described(source, names)}")
    if target not in names:
        instead = suggestion(target, names, _described(source, names, "it"))
        raise CommandError(f"{source.name} has no column {target!r}; {instead}")
    return target


def _described(source: Source, names: list[str], subject: str | None = None) -> str:
    """Return a clause about the columns of a source."""
    sheet = "; use --sheet for another sheet" if source.kind == "excel" else ""
    return f"{subject or source.name} has {listed(names, MAX_NAMES_LISTED)}{sheet}"


def free_name(names: list[str]) -> str:
    """Return a name for a class that is not among the names of columns."""
    name = USUAL_TARGETS[0]
    while name in names:
        name += "_"
    return name


def _check(names: list[str], target: str, options: TableOptions, source: Source) -> None:
    """Raise CommandError if a column does not exist or no column is left."""
    ignored = options.ignore or ()
    group = [] if options.group is None else [options.group]
    weight = [] if options.weight is None else [options.weight]
    each = (
        ("ignore", ignored),
        ("keep", options.keep),
        ("categorical", options.categorical),
        ("group", group),
        ("weight", weight),
    )
    for option, given in each:
        for name in given or ():
            if name not in names:
                instead = suggestion(name, names, _described(source, names, "it"))
                raise CommandError(f"--{option} names the column {name!r}, which is not in {source.name}; {instead}")
            if name == target and option != "categorical":
                cannot = "be ignored" if option == "ignore" else f"have the option --{option}"
                raise CommandError(f"{name!r} is the class and cannot {cannot}")
            if option == "weight" and name in (*ignored, *group):
                raise CommandError(
                    f"--{'group' if name in group else 'ignore'} and --weight both name the column {name!r}; use one"
                )
            if option in ("keep", "categorical") and name in (*ignored, *weight):
                other = "ignore" if name in ignored else "weight"
                raise CommandError(f"--{other} and --{option} both name the column {name!r}; use one")
    if not {*names} - {target, *ignored, *group, *weight}:
        raise CommandError(f"{source.name} has no column left to learn from apart from the class {target!r}")
