"""Types of the columns of Parquet and Arrow files, which several files must share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tanbark.sources.file_source import FileSource
from tanbark.sources.source import SourceError, check_names
from tanbark.sources.stored_files import StoredFile

if TYPE_CHECKING:
    import pyarrow as pa


def merged_schema(source: FileSource, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """Return the schema of all files; different numeric types are widened to a common type."""
    import pyarrow as pa

    first = source.stored[0]
    merged = pa.schema([field.with_type(stored_type(field.type)) for field in schemas[0]])
    check_names(first, merged.names)
    for file, other in zip(source.stored[1:], schemas[1:], strict=True):
        source.check_same_columns(merged.names, file, other.names)
        check_names(file, other.names)
        for field in other:
            at = merged.names.index(field.name)
            merged = merged.set(at, widened(merged.field(at), stored_type(field.type), file, first))
    return merged.remove_metadata()


def stored_type(found: pa.DataType) -> pa.DataType:
    """Return the type as which a column is read: a dictionary for text, otherwise the type in the file."""
    import pyarrow as pa

    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_string(found) or pa.types.is_large_string(found) or pa.types.is_string_view(found):
        return pa.dictionary(pa.int32(), pa.string())
    return found


def widened(field: pa.Field, other: pa.DataType, file: StoredFile, first: StoredFile) -> pa.Field:
    """Return a field with a type that can also represent the type in another file."""
    import pyarrow as pa

    if field.type == other:
        return field
    try:
        fields = [pa.schema([field]), pa.schema([field.with_type(other)])]
        return pa.unify_schemas(fields, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        here, there = (kind.value_type if pa.types.is_dictionary(kind) else kind for kind in (other, field.type))
        raise SourceError(
            f"column {field.name!r} has type {here} in {file}, but {there} in {first}; "
            "write all files with the same types"
        ) from error


def cast_array(values: pa.Array, field: pa.Field, file: StoredFile) -> pa.Array:
    """Cast an array to the type of a field, and raise SourceError if a value does not fit."""
    import pyarrow as pa

    wanted = field.type
    if values.type == wanted:
        return values
    if pa.types.is_dictionary(wanted) and pa.types.is_dictionary(values.type):
        levels = values.dictionary.cast(wanted.value_type)
        return pa.DictionaryArray.from_arrays(values.indices.cast(wanted.index_type), levels)
    if pa.types.is_dictionary(wanted):
        return values.cast(wanted.value_type).dictionary_encode()
    try:
        # Only casts to floats may round.
        return values.cast(wanted, safe=not pa.types.is_floating(wanted))
    except pa.ArrowException as error:
        raise SourceError(
            f"column {field.name!r} has type {values.type} in {file}, with values that do not fit {wanted}, the type "
            "in other files; write all files with the same types"
        ) from error
