"""Extend a schema with new levels and classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.messages import warn
from tanbark.schema.encode.columns import UNKNOWN, Category, Codes, Column, Number, union, value_kind
from tanbark.schema.encode.encoder import Encoder
from tanbark.schema.encode.schema import Schema, common_dtype
from tanbark.schema.read.class_column import Target
from tanbark.schema.read.raw_columns import MAX_AUTO_LEVELS, RawColumn
from tanbark.schema.read.table_reader import Table


def with_classes(schema: Schema, target: Target) -> Schema:
    """Return the schema extended with the classes of a target, sorted if its own classes are sorted."""
    labels = tuple(target.labels.tolist())
    if set(labels) <= set(schema.classes):
        return schema
    if schema.classes and value_kind(labels) != value_kind(schema.classes):
        kinds = f"holds {value_kind(labels)}, but the schema expects {value_kind(schema.classes)}"
        raise ValueError(f"the class {kinds}; convert it")
    dtype = common_dtype(schema.class_dtype, target.labels.dtype.str)
    return replace(schema, classes=union(schema.classes, labels), class_dtype=dtype)


def encode_growing(schema: Schema, table: Table, encoder: Encoder, n_jobs: int | None) -> tuple[Schema, Codes]:
    """Return a schema extended with the new labels of a table, and the codes of the table under it.

    Beyond `max_levels` the rarest new labels are merged into one level, with a warning. Under ``missing="state"`` the
    first missing value of a column adds a level. Cut points do not change.
    """
    table = schema.prepared(table)
    codes, unseen = schema.encode_columns(table, n_jobs)
    columns = list(schema.columns)
    for u, (column, raw) in enumerate(zip(schema.columns, table.columns, strict=True)):
        if unseen[u] and isinstance(column, Category):
            columns[u] = _with_levels(column, raw, encoder)
        new_state = encoder.missing == "state" and not column.missing
        if new_state and (codes[u] == schema.missing_code).any() and raw.has_missing:
            columns[u] = replace(columns[u], missing=True)
        extended = columns[u]
        if isinstance(extended, Number) and len(codes[u]):
            columns[u] = _with_range(extended, raw)
    if columns == list(schema.columns):
        return schema, codes
    grown = replace(schema, columns=tuple(columns))
    if not any(unseen) and (grown.arity == schema.arity).all():
        return grown, codes
    return grown, grown.encode_columns(table, n_jobs)[0]


def _with_levels(column: Category, raw: RawColumn, encoder: Encoder) -> Column:
    """Return a category extended with the new labels of a raw column."""
    levels = raw.levels()
    new = [v for v, code in zip(levels, column.codes_of(levels), strict=True) if code == UNKNOWN]
    if encoder.categorical == "auto" and raw.is_numeric:
        _warn_if_measurements(column, new)
    room = max(encoder.max_levels - column.missing - len(column.levels), 0)
    if len(new) <= room:
        return replace(column, levels=union(column.levels, tuple(new)))
    room = max(room - 1, 0)
    counts = np.bincount(raw.index() + 1, minlength=len(levels) + 1)[1:]
    place: dict[Any, int] = {v: i for i, v in enumerate(levels)}
    kept = sorted(new, key=lambda v: -int(counts[place[v]]))[:room]
    total, merged = len(column.levels) + len(new), len(new) - room
    warn(
        f"column {column.name!r} now has {total:,} levels: the rarest {merged:,} of the new ones are merged into one "
        "(max_levels)"
    )
    return replace(column, levels=union(column.levels, tuple(v for v in new if v in set(kept))), other=True)


def _warn_if_measurements(column: Category, new: list[Any]) -> None:
    """Warn if a numeric column was classified as categorical too early."""
    total = len(column.levels) + len(new)
    fractions = any(v != int(v) for v in new) and all(v == int(v) for v in column.levels if not isinstance(v, str))
    if fractions or len(column.levels) <= MAX_AUTO_LEVELS < total:
        warn(
            f"column {column.name!r} became a category because of its first values, but now has {total:,} levels; if "
            "it holds measurements, start with more rows, or pass a Schema with its cut points as encoder"
        )


def _with_range(column: Number, raw: RawColumn) -> Column:
    """Return a number column whose range includes all values of a raw column."""
    extent = raw.extent()
    if extent is None or (column.low <= extent[0] and extent[1] <= column.high):
        return column
    return replace(column, low=min(column.low, extent[0]), high=max(column.high, extent[1]))


def positions(labels: tuple[Any, ...], among: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the position of each label in `among`, and raise ValueError if one is not there."""
    at = {label: i for i, label in enumerate(among)}
    unknown = next((label for label in labels if label not in at), None)
    if unknown is not None:
        raise ValueError(f"the counts contain {unknown!r}, which the schema does not have; merge the schemas first")
    return np.array([at[label] for label in labels], np.int64)


def code_positions(old: Column, new: Column) -> NDArray[np.int64]:
    """Return the code in `new` for each code of the column `old`."""
    if isinstance(old, Category) and isinstance(new, Category):
        places = positions(old.levels, new.levels).tolist() + [len(new.levels)] * old.other
        if not places and not old.missing:
            places = [0]
    else:
        places = list(range(old.arity - old.missing))
    return np.array(places + [new.arity - 1] * old.missing, np.int64)


def codes_under_old_schema(codes: Codes, schema: Schema, before: Schema) -> Codes:
    """Translate codes to an earlier version of their schema; values that it does not have become missing."""
    if schema == before:
        return codes
    old = np.empty(codes.shape, before.dtype)
    for u, (column, former) in enumerate(zip(schema.columns, before.columns, strict=True)):
        place = np.full(column.arity + 1, before.missing_code)
        place[code_positions(former, column)] = np.arange(former.arity)
        old[u] = place[np.minimum(codes[u], column.arity)]
    return old
