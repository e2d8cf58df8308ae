"""Extend a schema with new levels and classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.schema.encode.columns import UNKNOWN, Category, Codes, Column, Number, holds, union
from tanbark.schema.encode.encoder import Encoder
from tanbark.schema.encode.schema import Schema, common_dtype
from tanbark.schema.read.class_column import Target
from tanbark.schema.read.raw_columns import AUTO_LEVELS, RawColumn
from tanbark.schema.read.table_reader import Table
from tanbark.user_warnings import warn


def with_classes(schema: Schema, target: Target) -> Schema:
    """Return the schema with the classes of further rows: sorted if its own are, else after them."""
    labels = tuple(target.labels.tolist())
    if set(labels) <= set(schema.classes):
        return schema
    if schema.classes and holds(labels) != holds(schema.classes):
        raise ValueError(
            f"the class holds {holds(labels)} but the model learned {holds(schema.classes)} there; convert it"
        )
    dtype = common_dtype(schema.class_dtype, target.labels.dtype.str)
    return replace(schema, classes=union(schema.classes, labels), class_dtype=dtype)


def encode_growing(schema: Schema, table: Table, encoder: Encoder, n_jobs: int | None) -> tuple[Schema, Codes]:
    """Return the codes of further rows, and the schema of these codes, which has all labels that occur.

    Beyond `max_levels` the rarest of the new labels share a level, with a warning; under ``missing="state"`` a missing
    value becomes a level when the first one comes. Cut points stay.
    """
    codes, unseen = schema.encode_columns(table, n_jobs)
    columns = list(schema.columns)
    for u, (column, raw) in enumerate(zip(schema.columns, table.columns)):
        if unseen[u] and isinstance(column, Category):
            columns[u] = _with_levels(column, raw, encoder)
        new_state = encoder.missing == "state" and not column.missing
        if new_state and (codes[u] == schema.missing_code).any() and raw.has_missing:
            columns[u] = replace(columns[u], missing=True)
        by_now = columns[u]
        if isinstance(by_now, Number) and len(codes[u]):
            columns[u] = _reaching(by_now, raw)
    if columns == list(schema.columns):
        return schema, codes
    grown = replace(schema, columns=tuple(columns))
    if not any(unseen) and (grown.arity == schema.arity).all():
        return grown, codes
    return grown, grown.encode_columns(table, n_jobs)[0]


def _with_levels(column: Category, raw: RawColumn, encoder: Encoder) -> Column:
    """Return a category that has the new labels of some rows too."""
    levels = raw.levels()
    new = [v for v, code in zip(levels, column.codes_of(levels)) if code == UNKNOWN]
    if encoder.categorical == "auto" and raw.measurable:
        _warn_of_measurements(column, new)
    room = max(encoder.max_levels - column.missing - len(column.levels), 0)
    if len(new) <= room:
        return replace(column, levels=union(column.levels, tuple(new)))
    room = max(room - 1, 0)
    often = np.bincount(raw.index() + 1, minlength=len(levels) + 1)[1:]
    place: dict[Any, int] = {v: i for i, v in enumerate(levels)}
    kept = sorted(new, key=lambda v: -int(often[place[v]]))[:room]
    levels_by_now, shared = len(column.levels) + len(new), len(new) - room
    warn(
        f"column {column.name!r} has {levels_by_now} levels by now: the rarest {shared} of the new ones share one "
        "(max_levels)"
    )
    return replace(column, levels=union(column.levels, tuple(v for v in new if v in set(kept))), other=True)


def _warn_of_measurements(column: Category, new: list[Any]) -> None:
    """Warn where a column that was taken for categories turns out to hold measurements."""
    many = len(column.levels) + len(new)
    fractions = any(v != int(v) for v in new) and all(v == int(v) for v in column.levels if not isinstance(v, str))
    if fractions or len(column.levels) <= AUTO_LEVELS < many:
        warn(
            f"column {column.name!r} was taken for categories from its first values and has {many} by now; if it holds "
            "measurements, begin with more rows, or give a Schema with its cut points as encoder"
        )


def _reaching(column: Number, raw: RawColumn) -> Column:
    """Return a number whose range takes in those of some rows."""
    extent = raw.extent()
    if extent is None or (column.low <= extent[0] and extent[1] <= column.high):
        return column
    return replace(column, low=min(column.low, extent[0]), high=max(column.high, extent[1]))


def positions(labels: tuple[Any, ...], among: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return where each label stands among others, which must hold all of them."""
    at = {label: i for i, label in enumerate(among)}
    strange = next((label for label in labels if label not in at), None)
    if strange is not None:
        raise ValueError(f"the schema lacks {strange!r}, which was counted; merge the schemas first")
    return np.array([at[label] for label in labels], np.int64)


def places_in(old: Column, new: Column) -> NDArray[np.int64]:
    """Return where each code of a column stands in the column that replaces it."""
    if isinstance(old, Category) and isinstance(new, Category):
        places = positions(old.levels, new.levels).tolist() + [len(new.levels)] * old.other
        if not places and not old.missing:
            places = [0]
    else:
        places = list(range(old.arity - old.missing))
    return np.array(places + [new.arity - 1] * old.missing, np.int64)


def codes_before(codes: Codes, schema: Schema, before: Schema) -> Codes:
    """Return codes under a schema as they were before it grew: what it did not have then is missing."""
    if schema == before:
        return codes
    old = np.empty(codes.shape, before.dtype)
    for u, (column, former) in enumerate(zip(schema.columns, before.columns)):
        place = np.full(column.arity + 1, before.missing_code)
        place[places_in(former, column)] = np.arange(former.arity)
        old[u] = place[np.minimum(codes[u], column.arity)]
    return old
