"""Arrow columns: what their types hold, and conversion of raw columns to Arrow arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tanbark.schema.read.raw_columns import Labels, RawColumn

if TYPE_CHECKING:
    import pyarrow as pa


def is_text(stored: Any) -> bool:
    """Return whether an Arrow type holds text, or an unordered dictionary of text."""
    from pyarrow import types

    if types.is_dictionary(stored) and not stored.ordered:
        stored = stored.value_type
    return bool(types.is_string(stored) or types.is_large_string(stored) or types.is_string_view(stored))


def kind_of(stored: pa.DataType) -> str:
    """Return the kind of an Arrow type: signed, unsigned, float, decimal, date, duration, time or labels.

    Integers in an unordered dictionary are numbers, as they are when the whole table is read at once.
    """
    from pyarrow import types

    if types.is_dictionary(stored) and types.is_integer(stored.value_type) and not stored.ordered:
        stored = stored.value_type
    if types.is_integer(stored):
        return "signed" if types.is_signed_integer(stored) else "unsigned"
    kinds = {
        "float": types.is_floating,
        "decimal": types.is_decimal,
        "date": lambda one: types.is_timestamp(one) or types.is_date(one),
        "duration": types.is_duration,
        "time": types.is_time,
    }
    return next((kind for kind, matches in kinds.items() if matches(stored)), "labels")


def as_arrow(raw: RawColumn) -> Any:
    """Return a raw column as an Arrow array."""
    import pyarrow as pa

    if isinstance(raw, Labels):
        position = pa.array(raw.position, mask=raw.position < 0)
        distinct = pa.array(raw.distinct) if raw.distinct else pa.array([], pa.string())
        return pa.DictionaryArray.from_arrays(position, distinct, ordered=raw.declared)
    return pa.array(raw.floats(), from_pandas=True)
