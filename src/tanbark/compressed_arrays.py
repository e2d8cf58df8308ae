"""Compression of the arrays of model files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tanbark.memory import LOAD_ADVICE, check_free_memory

MAX_PLAIN_BYTES = 2**18
"""Arrays that have at most this size in total are stored as they are, so that other programs can read them easily."""
CODEC = "zstd"
LEVEL = 9
MAX_BYTES = 2**62
KINDS = "biuf"

Arrays = dict[str, NDArray[Any]]


def compress_arrays(arrays: Arrays) -> tuple[Arrays, dict[str, list[Any]]]:
    """Return arrays of which the large ones are compressed, and what `decompress_arrays` needs to know of these.

    Tables of columns with many levels repeat few distinct values, and shrink to a hundredth.

    Parameters
    ----------
    arrays : dict of arrays

    Returns
    -------
    arrays : dict of arrays
        A compressed array consists of bytes.
    compressed : dict of lists
        The type and the shape of each array that is compressed.
    """
    import pyarrow as pa

    if sum(array.nbytes for array in arrays.values()) <= MAX_PLAIN_BYTES:
        return arrays, {}
    codec = pa.Codec(CODEC, LEVEL)
    stored, compressed = dict(arrays), {}
    for name, array in arrays.items():
        if not array.nbytes:
            continue
        packed = np.frombuffer(codec.compress(pa.py_buffer(_byte_planes(array))), np.uint8)
        if len(packed) < array.nbytes:
            stored[name] = packed
            compressed[name] = [array.dtype.str, list(array.shape)]
    return stored, compressed


def decompress_arrays(arrays: Mapping[str, NDArray[Any]], compressed: Any) -> Arrays:
    """Return the arrays that `compress_arrays` was given.

    Parameters
    ----------
    arrays : mapping of str to array
    compressed : dict of lists
        The type and the shape of each array that is compressed. It may come from a file that was changed.

    Returns
    -------
    arrays : dict of arrays

    Raises
    ------
    ValueError
        If an array does not have this type and shape, or does not fit into memory.
    """
    if not compressed:
        return dict(arrays)
    import pyarrow as pa

    described = {name: _described(name, *entry) for name, entry in compressed.items()}
    needed = sum(dtype.itemsize * math.prod(shape) for dtype, shape in described.values())
    check_free_memory(needed, "decompressing its arrays", LOAD_ADVICE)
    whole = dict(arrays)
    for name, (dtype, shape) in described.items():
        packed = arrays[name]
        if packed.dtype != np.uint8 or packed.ndim != 1:
            raise ValueError(f"its compressed array {name!r} does not consist of bytes")
        try:
            # Raises OSError as well if the content is shorter or longer.
            content = pa.decompress(pa.py_buffer(packed), dtype.itemsize * math.prod(shape), CODEC)
        except OSError:
            raise ValueError(f"its array {name!r} cannot be decompressed") from None
        if dtype.kind == "u":
            content = np.ascontiguousarray(np.frombuffer(content, np.uint8).reshape(dtype.itemsize, -1).T)
        whole[name] = np.frombuffer(content, dtype).reshape(shape)
    return whole


def _byte_planes(array: NDArray[Any]) -> NDArray[Any]:
    """Return the content of an array; of counts and other unsigned numbers first all low bytes, then the next ones.

    The high bytes of most of them are zero, and take hardly any room if they stand together.
    """
    content = np.ascontiguousarray(array)
    if array.dtype.kind != "u":
        return content
    return np.ascontiguousarray(content.reshape(-1).view(np.uint8).reshape(-1, array.itemsize).T)


def _described(name: str, dtype: Any, shape: Any) -> tuple[np.dtype[Any], list[int]]:
    """Return the type and the shape of an array, or raise ValueError if they are invalid."""
    valid = isinstance(dtype, str) and isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
    try:
        kind = np.dtype(dtype) if valid else None
    except (TypeError, ValueError):
        kind = None
    if kind is None or kind.kind not in KINDS or not 0 < kind.itemsize * math.prod(shape) < MAX_BYTES:
        raise ValueError(f"the type or the shape of its array {name!r} is invalid")
    return kind, shape
