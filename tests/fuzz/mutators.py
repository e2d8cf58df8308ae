"""Broken files made from whole ones: from the bytes, from the words of a text, and from the parts of a model file."""

from __future__ import annotations

import copy
import gzip
import io
import json
import random
import re
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from tanbark import Schema
from tanbark.compressed_arrays import decompress_arrays
from tanbark.files import _digest

ODD_BYTES = (b"\x00", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n", b"\xed\xa0\x80", b"\\", b"'", b'"')
ODD_WORDS = tuple(
    b"0 1 -1 2 1e999 -1e999 1e-999 nan NaN inf Infinity 0x10 1_0 99999999999999999999 18446744073709551616 1e308 . "
    b"{ } [ ] ( ) | , ; : = < > / // /* */ % ? # & && &lt; &n; <!-- --> <![CDATA[ ]]> <BIF> </BIF> <NETWORK> <TABLE> "
    b"<!ENTITY <!DOCTYPE @data @attribute @relation @end numeric string date real {a,b} table default property network "
    b"variable probability type discrete true false null NA _x_ _x0020_ _x0000_ _xD800_ _xFFFFFFFF_ tanbark_role "
    b"tanbark_kinds tanbark_cuts tanbark_range tanbark_dtype |O <U1 >i8 |b1 class ' \" '' \"\" \\' \\n".split()
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 256, 65_535, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 10**40),
    *(0.0, -0.0, 0.5, 1.5, -1.5, 5e-324, 1e-100, 1e100, 1.8e308, float("inf"), float("-inf"), float("nan")),
    *("", "x", "size", "count", "no", "class", "\x00", "\ud800", "a\nb", "x" * 500, "1", "nan", "|O", "<i8", "<U1"),
    *("error", "exact", "ml", "linear", "tan", "boosted-bn", "additive-bn", "averaged-tan"),
    *([], {}, [[]], [0], ["x"], {"x": 1}, {"tuple": [1]}, {"members": True}, {"encoder": {}}, {"pairs": []}),
)
ODD_NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, -1e-9, 5e-324, -5e-324, 700.0, -700.0, -746.0, 1e15, -1e15, 1e300)
ODD_NUMBERS += (-1e300, 1.7e308, -1.7e308, float("inf"), float("-inf"), float("nan"))
ODD_INTEGERS = (0, 1, -1, 2, 255, 10**6, 2**31, 2**53, 2**62, 2**63 - 1, -(2**63))
OTHER_TYPES = {"BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "U64": 8, "C64": 8, "F16": 2, "I8": 1, "BOOL": 1}
"""Types of arrays that a file may name, of which numpy lacks some, and their bytes."""
DTYPES = ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u1", "?")


# Bytes and words


def mutated_bytes(data: bytes, rng: random.Random) -> bytes:
    """Return a file with some bytes changed, taken out, put in, or repeated."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randint(0, len(changed))
        end = min(at + rng.choice((1, 1, 4, 20, 200)), len(changed))
        match rng.randrange(5):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                del changed[at:end]
            case 2:
                changed[at:at] = rng.choice(ODD_BYTES)
            case 3:
                changed[at:at] = bytes(changed[at:end]) * rng.choice((1, 2, 50))
            case 4:
                changed[at:end] = rng.randbytes(end - at)
    return bytes(changed)


def mutated_text(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return a text with some of its words changed for others, taken out, put in, or repeated."""
    if rng.random() < 0.2:
        return mutated_bytes(data, rng)
    words = re.findall(rb"\w+|\s+|.", data, re.DOTALL)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        at = rng.randint(0, len(words))
        end = min(at + rng.choice((1, 1, 2, 8, 40)), len(words))
        match rng.randrange(7):
            case 0 | 1:
                words[at : at + 1] = [rng.choice(ODD_WORDS)]
            case 2:
                words[at:at] = [rng.choice(ODD_WORDS), b" "]
            case 3:
                del words[at:end]
            case 4:
                words[at:at] = words[at:end] * rng.choice((1, 2, 30))
            case 5 if words:
                other = rng.randrange(len(words))
                words[at : at + 1] = [words[other]]
            case 6 if others:
                other = rng.choice(others)
                start = rng.randint(0, len(other))
                words[at:end] = [other[start : start + rng.choice((10, 100, 1000))]]
    return b"".join(words)


def mutated_gzip(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return a packed text with the text changed, or the packed bytes."""
    if rng.random() < 0.4:
        return mutated_bytes(data, rng)
    try:
        text = gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return mutated_bytes(data, rng)
    return gzip.compress(mutated_text(text, rng), mtime=0)


def mutated_zip(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return an archive with one of its files changed, or its own bytes."""
    if rng.random() < 0.4:
        return mutated_bytes(data, rng)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return mutated_bytes(data, rng)
    if not members:
        return mutated_bytes(data, rng)
    name = rng.choice(sorted(members))
    members[name] = mutated_text(members[name], rng)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    return out.getvalue()


# Model files


def unpacked(data: bytes, rng: random.Random) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Return the header of a model file and its arrays, either as they are stored or decompressed."""
    from safetensors.numpy import load

    length = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["tanbark"])
    arrays = load(data)
    if rng.random() < 0.5:
        arrays = decompress_arrays(arrays, header.pop("compressed", {}))
    return header, {name: np.array(array) for name, array in arrays.items()}


def packed(header: Any, arrays: dict[str, np.ndarray], sign: bool = True) -> bytes:
    """Return a model file of any header and arrays, with the checksum that they have."""
    from safetensors.numpy import save

    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    if sign and isinstance(header, dict):
        # A reader sees the values that JSON gives back, which are those to be signed.
        header = json.loads(json.dumps({key: value for key, value in header.items() if key != "sha256"}))
        header["sha256"] = _digest(header, arrays)
    return bytes(save(arrays, {"tanbark": json.dumps(header)}))


def mutated_model(data: bytes, rng: random.Random, others: Sequence[bytes] = ()) -> bytes:
    """Return a model file with its header or its arrays changed, and signed anew so that the change is looked at."""
    if rng.random() < 0.05:
        return mutated_bytes(data, rng)
    try:
        header, arrays = unpacked(data, rng)
    except Exception:
        return mutated_bytes(data, rng)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.1 and _has_network(header):
            _draw_network(header, arrays, rng)
        elif rng.random() < 0.5 and isinstance(header, dict):
            header = _mutated_json(header, rng)
        elif rng.random() < 0.1 and others:
            header, arrays = _crossed(header, arrays, rng.choice(others), rng)
        elif arrays:
            _mutate_array(arrays, rng)
    whole = packed(header, arrays, rng.random() < 0.98)
    return _of_other_types(whole, rng) if rng.random() < 0.02 else whole


def _of_other_types(data: bytes, rng: random.Random) -> bytes:
    """Return a model file that says of the bytes of an array that they are of another type."""
    length = int.from_bytes(data[:8], "little")
    said = json.loads(data[8 : 8 + length])
    names = [name for name in said if name != "__metadata__"]
    if not names:
        return data
    array, kind = said[rng.choice(names)], rng.choice([*OTHER_TYPES])
    start, end = array["data_offsets"]
    array |= {"dtype": kind, "shape": [(end - start) // OTHER_TYPES[kind]]}
    written = json.dumps(said).encode()
    return len(written).to_bytes(8, "little") + written + data[8 + length :]


def _crossed(header: Any, arrays: dict, other: bytes, rng: random.Random) -> tuple[Any, dict]:
    """Return a model with a part of another."""
    try:
        their_header, their_arrays = unpacked(other, rng)
    except Exception:
        return header, arrays
    if rng.random() < 0.5 and isinstance(header, dict) and isinstance(their_header, dict) and their_header:
        key = rng.choice([*their_header])
        return header | {key: their_header[key]}, arrays
    return header, arrays | their_arrays


def _has_network(header: Any) -> bool:
    return isinstance(header, dict) and isinstance(header.get("parents"), list) and "schema" in header


def _draw_network(header: dict, arrays: dict, rng: random.Random) -> None:
    """Give a model another network, whose structure is any and whose tables are whole, some with impossible values."""
    try:
        schema = Schema.from_dict(header["schema"])
    except Exception:
        return
    arity = [*schema.arity.tolist(), len(schema.classes)]
    order = rng.sample(range(len(arity)), len(arity))
    draws = np.random.default_rng(rng.randrange(2**32))
    parents: list[list[int]] = [[] for _ in arity]
    for at, node in enumerate(order):
        parents[node] = rng.sample(order[:at], min(at, rng.randrange(4)))
        table = draws.dirichlet(np.full(arity[node], rng.choice((0.01, 1.0))), [arity[p] for p in parents[node]])
        with np.errstate(divide="ignore"):
            arrays[f"log_table_{node}"] = np.log(table / table.sum(axis=-1, keepdims=True))
        arrays.pop(f"keys_{node}", None)
    header["parents"] = parents


def _places(value: Any, path: tuple = ()) -> list[tuple]:
    """Return the way to every value inside a value of JSON."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += _places(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            found += _places(inner, (*path, at))
    return found


def _mutated_json(header: dict, rng: random.Random) -> dict:
    header = copy.deepcopy(header)
    # Long lists of levels must not be all that is ever changed.
    ways = _places(header)
    depth = rng.randint(1, max(map(len, ways)))
    ways = [way for way in ways if len(way) == depth]
    *above, last = way = rng.choice(ways)
    holder: Any = header
    for step in above:
        holder = holder[step]
    value = holder[last]
    match rng.randrange(8):
        case 0 | 1 | 2:
            holder[last] = copy.deepcopy(rng.choice(ODD_VALUES))
        case 3:
            del holder[last]
        case 4 if isinstance(value, int | float) and not isinstance(value, bool):
            holder[last] = value + rng.choice((-1, 1, 1e-9, -1000, 1000))
        case 4 | 5 if isinstance(value, list) and value:
            at, other = rng.randrange(len(value)), rng.randrange(len(value))
            if rng.random() < 0.5:
                value[at], value[other] = value[other], value[at]
            else:
                value.insert(at, copy.deepcopy(value[other]))
        case 6:
            source: Any = header
            for step in rng.choice(ways):
                source = source[step]
            holder[last] = copy.deepcopy(source)
        case 7 if isinstance(holder, dict):
            holder[rng.choice(("x", "levels", "cuts", "members", "parents", str(last) + "_"))] = value
        case _:
            holder[last] = [value] if rng.random() < 0.5 else {"x": value}
    del way
    return header


def _mutate_array(arrays: dict[str, np.ndarray], rng: random.Random) -> None:
    name = rng.choice([*arrays])
    array = arrays[name].copy()
    match rng.randrange(10):
        case 0 | 1 | 2 | 3 if array.size:
            odd = ODD_INTEGERS if array.dtype.kind in "iu" else ODD_NUMBERS
            flat = array.reshape(-1)
            span = slice(*sorted((rng.randint(0, flat.size), rng.randint(0, flat.size))))
            at = rng.choice((rng.randrange(flat.size), rng.randrange(flat.size), span, slice(None)))
            with np.errstate(all="ignore"):
                flat[at] = np.array(rng.choice(odd)).astype(array.dtype)
            arrays[name] = flat.reshape(array.shape)
        case 4:
            with np.errstate(all="ignore"):
                arrays[name] = array.astype(rng.choice(DTYPES))
        case 5:
            axis = rng.randrange(max(array.ndim, 1))
            shapes = [array.ravel, lambda: array[None], lambda: array.T]
            if array.ndim and array.shape[axis]:
                shapes += [
                    lambda: np.delete(array, rng.randrange(array.shape[axis]), axis),
                    lambda: np.concatenate([array, array.take([0], axis)], axis),
                    lambda: array.take([], axis),
                    lambda: np.flip(array, axis),
                ]
            arrays[name] = rng.choice(shapes)()
        case 6:
            del arrays[name]
        case 7:
            arrays[name] = arrays[rng.choice([*arrays])]
        case 8 if array.dtype.kind in "iuf":
            factor, more = (np.array(rng.choice(some)).astype(array.dtype) for some in ((-1, 0, 2, 1000), (0, 1, -1)))
            with np.errstate(all="ignore"):
                arrays[name] = array * factor + more
        case _:
            arrays[name + rng.choice(("_0", "0", ""))] = array
            if rng.random() < 0.5:
                arrays[f"keys_{rng.randrange(4)}"] = np.array([0, 1], np.int64)
