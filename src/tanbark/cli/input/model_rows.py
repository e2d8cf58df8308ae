"""Rows for a fitted model: its columns, matched by name, and the true classes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tanbark.cli.input.weights_and_costs import row_weights
from tanbark.cli.terminal.console import CommandError, ProgressLine, err, listed
from tanbark.messages import similar_name, suggestion
from tanbark.sources.duckdb_rows import Rows, present

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from tanbark.schema import Schema

MAX_NAMES_LISTED = 40


@dataclass(frozen=True)
class ModelRows:
    """Rows of a file or query with the columns that a model needs.

    Parameters
    ----------
    schema : Schema
        The schema of the model.
    rows : Rows
        The rows.
    target : str or None
        The column with the true classes, or None if there is none.
    missing : sequence of str
        Texts that stand for missing values, in addition to those that the model knows.
    """

    schema: Schema
    rows: Rows
    target: str | None
    missing: Sequence[str]

    @classmethod
    def of(
        cls,
        schema: Schema,
        rows: Rows,
        target: str | None = None,
        missing: Sequence[str] | None = None,
        strict: bool = False,
    ) -> ModelRows:
        """Return the rows for a model; raise CommandError if too many columns are absent.

        Parameters
        ----------
        schema : Schema
        rows : Rows
        target : str or None, default=None
            Name of the column with the true classes; None is that of the model.
        missing : sequence of str or None, default=None
        strict : bool, default=False
            Whether an absent column is an error instead of a note.
        """
        if target is not None and target not in rows.names:
            instead = suggestion(target, rows.names, f"it has {listed(rows.names, MAX_NAMES_LISTED)}")
            raise CommandError(f"{rows.source.name} has no column {target!r}; {instead}")
        target = target or (schema.class_name if schema.class_name in rows.names else None)
        found = cls(schema, rows, target, tuple(missing or ()))
        found._check_absent(strict)
        return found

    @cached_property
    def used(self) -> tuple[str, ...]:
        """Columns of the table that the model uses."""
        return tuple(self.schema.input_names[u] for u in dict.fromkeys(self.schema.source_index.tolist()))

    @property
    def absent(self) -> list[str]:
        """Columns that the model uses and the rows do not have."""
        return [name for name in self.used if name not in self.rows.names]

    @property
    def not_used(self) -> tuple[str, ...]:
        """Columns that the model does not know."""
        return tuple(name for name in self.rows.names if name not in self.schema.input_names and name != self.target)

    def _check_absent(self, strict: bool) -> None:
        """Raise CommandError if a column is absent by mistake, or if most are; otherwise print a note."""
        absent, name = self.absent, self.rows.source.name
        if not absent:
            return
        for wanted in absent:
            similar = similar_name(wanted, self.not_used)
            if similar is not None:
                raise CommandError(f"{name} has no column {wanted!r}, but {similar!r}; rename it")
        columns = "the column" if len(absent) == 1 else "the columns"
        if strict or 2 * len(absent) > len(self.used):
            raise CommandError(f"{name} lacks {columns} {listed(absent)}, which the model needs")
        counts = "counts" if len(absent) == 1 else "count"
        err().print(
            f"note: {name} lacks {columns} {listed(absent)}, which {counts} as missing in every row",
            style="yellow",
            soft_wrap=True,
        )

    def batches(
        self, bar: ProgressLine, task: str, further: Sequence[str] = ()
    ) -> Iterator[tuple[pa.Table, list[Any] | None, list[pa.Array]]]:
        """Yield the columns of the model, the true classes and further columns of batches of rows.

        Values that cannot be read are reported to the collector of `tanbark.schema.recipe.unreadable`.

        Parameters
        ----------
        bar : ProgressLine
        task : str
            The task that the progress line shows.
        further : sequence of str, default=()
            SQL expressions of further columns.

        Yields
        ------
        X : pyarrow.Table
            The input columns of the schema.
        y : list or None
            The class of each row, None if it is missing; or None if there is no column of true classes.
        columns : list of pyarrow.Array
            The further columns.
        """
        import pyarrow as pa

        from tanbark.schema.recipe.rows_of_files import typed_rows, without_markers

        names = [name for name in self.used if name in self.rows.names]
        read = [*names, *([] if self.target is None else [self.target])]
        expressions = [*map(self.expression, read), *further] or ["1"]
        before = 0
        for batch in bar.over_batches(task, self.rows.select(expressions), self.rows.source.total):
            columns = list(batch.columns[: len(read)])
            if self.missing:
                of_model = (*names, self.schema.class_name)
                columns = [
                    without_markers(self.schema, values, name, self.missing)
                    for values, name in zip(columns, of_model, strict=False)
                ]
            at = dict(zip(names, columns, strict=False))
            nothing = pa.nulls(batch.num_rows)
            X = pa.table([at.get(name, nothing) for name in self.schema.input_names], list(self.schema.input_names))
            y = None if self.target is None else self._classes(columns[-1], before)
            before += batch.num_rows
            yield typed_rows(self.schema, X), y, batch.columns[len(read) : len(read) + len(further)]

    def check_weight(self, name: str | None) -> None:
        """Raise CommandError if a column of weights does not exist or is the class."""
        if name is None:
            return
        if name not in self.rows.names:
            instead = suggestion(name, self.rows.names, f"it has {listed(self.rows.names, MAX_NAMES_LISTED)}")
            raise CommandError(f"{self.rows.source.name} has no column {name!r}; {instead}")
        if name == self.target:
            raise CommandError(f"{name!r} is the class and cannot have the option --weight")

    def weights(self, columns: Sequence[pa.Array], name: str | None, before: int) -> NDArray[np.float64] | None:
        """Return the weights of a batch, the last of its further columns; None without --weight.

        `before` rows precede the batch.
        """
        if name is None:
            return None
        recipe = self.schema.recipe
        return row_weights(columns[-1], name, None if recipe is None else recipe.decimal, before)

    def expression(self, name: str) -> str:
        """Return the SQL expression of a column."""
        at = self.rows.names.index(name)
        kind = self.rows.types[at]
        if kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION")):
            raise CommandError(
                f"column {name!r} of {self.rows.source.name} holds lists or structures instead of single values; "
                "flatten it"
            )
        return present(f"c{at}", kind, ())

    def _classes(self, values: pa.Array, before: int) -> list[Any]:
        """Return the class of each row; raise CommandError if one cannot be read. `before` rows precede the batch."""
        from tanbark.schema.recipe.column_reading import number_as_text
        from tanbark.schema.recipe.rows_of_files import class_labels
        from tanbark.schema.recipe.unreadable import UnreadableValues

        unreadable = UnreadableValues()
        missing = self.rows.source.missing if self.rows.source.kind in ("csv", "json") else ()
        labels = class_labels(self.schema, values, missing, unreadable)
        expected, wrong = unreadable.of(self.schema.class_name)
        if wrong:
            texts = [None if value is None else number_as_text(value) for value in values.to_pylist()]
            row = next(row for row, text in enumerate(texts) if text in wrong)
            raise CommandError(
                f"column {self.target!r} holds {texts[row]!r} in row {before + row + 1}, but the model expects "
                f"{expected}; if that stands for a missing value, name it with --missing"
            )
        return labels
