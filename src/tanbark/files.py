"""Model files: a safetensors file with a JSON header.

Loading a file runs no code of its author: it holds arrays (counts and tables) and plain values (parameters, schema,
structure). The header has the fields ``format``, ``version``, ``model``, ``params``, ``schema``, ``parents`` (null
unless the model is a single network), ``state`` (in which members that are classifiers have a header of their own, and
arrays whose names begin with ``member_<i>_``), ``classes_listed`` (if no new class is allowed) and ``sha256``. The
arrays are those of the counts, ``log_table_<node>`` (with ``keys_<node>`` and ``default_<node>`` if the table is
sparse), the other arrays of the model, and for a parameter that is itself counts those of the counts, whose names begin
with ``<name>_``. The names of learned chunks (`chunk_ids_`) are in the header field ``chunks``. The file of a `Stream`
is that of its fitted classifier, with a header field ``stream`` and arrays whose names begin with ``stream_``.

Version 2 of the format keeps files small. Large tables of counts are sparse (see `tanbark.counts.stored_counts`), large
arrays are compressed (their types and shapes are in the header field ``compressed``), and tables that follow from the
counts are left out. Version 1 has the arrays ``class_counts`` and ``table`` for counts; files of it are read.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

import tanbark
from tanbark.atomic_write import replacing
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_encoder, check_jobs
from tanbark.classifiers.registry import REGISTRY, registered_name
from tanbark.classifiers.stream import Stream
from tanbark.compressed_arrays import compress_arrays, decompress_arrays
from tanbark.counts import Counts
from tanbark.counts.stored_counts import TABLE_ARRAYS, counts_from_arrays, counts_to_arrays
from tanbark.memory import MemoryLimitError
from tanbark.models import Model, StoredModel
from tanbark.schema import Encoder, Recipe, Schema

FORMAT = 2
MAX_REASON_CHARACTERS = 500
"""A reason may quote a name that is as long as the file."""

SHARED_ARRAYS = (("class_counts",), TABLE_ARRAYS)
"""Groups of arrays that the members of a model may have in common with it."""

STREAM_PREFIX = "stream_"
"""The names of the arrays of a stream begin with it."""

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is not a model, or a model that is damaged, too large for the memory, or from a later version."""


def save(model: CountsClassifier | Stream, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file, which is replaced completely or not at all.

    Parameters
    ----------
    model : classifier or Stream
    path : path

    Examples
    --------
    >>> import tempfile, tanbark
    >>> from tanbark.datasets import lenses
    >>> X, y = lenses()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tanbark.save(tanbark.TAN().fit(X, y), f"{folder}/lenses.tanbark")
    ...     model = tanbark.load(f"{folder}/lenses.tanbark")
    >>> model.predict(X[:2]).tolist()
    ['none', 'soft']
    """
    written = to_bytes(model)
    with replacing(Path(path)) as file:
        file.write(written)


def to_bytes(model: CountsClassifier | Stream) -> bytes:
    """Return the content of the file of a fitted classifier or stream."""
    from safetensors.numpy import save as packed
    from sklearn.utils.validation import check_is_fitted

    # Another thread may fit the classifier meanwhile.
    model = copy(model)
    classifier = model
    if isinstance(model, Stream):
        check_is_fitted(model)
        classifier = copy(model.model_)
    content, arrays = _content(classifier)
    header = {"format": FORMAT, "version": tanbark.__version__, **content}
    if classifier.chunk_ids_:
        header["chunks"] = list(classifier.chunk_ids_)
    if isinstance(model, Stream):
        header["stream"], of_stream = _stream_content(model)
        arrays |= {f"{STREAM_PREFIX}{key}": array for key, array in of_stream.items()}
    arrays, compressed = compress_arrays(arrays)
    if compressed:
        header["compressed"] = compressed
    _check_surrogates(header)
    header["sha256"] = _digest(header, arrays)
    return bytes(packed(arrays, {"tanbark": json.dumps(header)}))


def _content(classifier: CountsClassifier) -> tuple[dict[str, Any], Arrays]:
    """Return the part of the header that describes a classifier, and its arrays."""
    from sklearn.utils.validation import check_is_fitted

    name = _registered(classifier)
    check_is_fitted(classifier)
    model: Model = classifier.model_
    stored = model.to_arrays()
    arrays = counts_to_arrays(model.counts) | stored.arrays
    params, of_params = _parameters_content(classifier)
    arrays |= of_params
    state = dict(stored.state)
    members = state.pop("members", [])
    for i, member in enumerate(members):
        members[i], member_arrays = _content(member)
        arrays |= {f"member_{i}_{key}": array for key, array in _without_shared(member_arrays, arrays).items()}
    content: dict[str, Any] = {
        "model": name,
        "params": params,
        "schema": model.schema.to_dict(),
        "parents": stored.parents,
        "state": state | ({"members": members} if members else {}),
    }
    if classifier.classes_listed_:
        content["classes_listed"] = True
    return content, {key: np.ascontiguousarray(array) for key, array in arrays.items()}


def _parameters_content(classifier: CountsClassifier) -> tuple[dict[str, Any], Arrays]:
    """Return the parameters of a classifier as plain values and arrays."""
    given = classifier.get_params(deep=False)
    arrays: Arrays = {}
    for key, value in given.items():
        if isinstance(value, Counts):
            arrays |= {f"{key}_{name}": array for name, array in counts_to_arrays(value).items()}
    return {key: _plain_parameter(key, value) for key, value in given.items()}, arrays


def _stream_content(stream: Stream) -> tuple[dict[str, Any], Arrays]:
    """Return the part of the header that describes a stream, except for its fitted classifier, and its arrays."""
    params, arrays = _parameters_content(stream.model)
    stored = stream.to_arrays()
    content = {
        "model": _registered(stream.model),
        "params": params,
        "window": _plain_parameter("window", stream.window),
        "half_life": _plain_parameter("half_life", stream.half_life),
        "state": stored.state,
    }
    return content, arrays | stored.arrays


def _registered(model: Any) -> str:
    """Return the name of a classifier in the registry; raise TypeError if it has none."""
    name = registered_name(type(model))
    if name is not None:
        return name
    kind = type(model).__name__
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"only tanbark's classifiers can be saved, not {kind!r}")
    where = ""
    if hasattr(model, "best_estimator_"):
        where = ", for example its best_estimator_"
    elif hasattr(model, "steps"):
        where = ", for example its last step, [-1]"
    raise TypeError(
        f"tanbark's format holds classifiers of tanbark only, not {kind!r}; save the whole with skops or joblib, or "
        f"only the classifier inside{where}"
    )


def load(path: str | os.PathLike[str]) -> CountsClassifier | Stream:
    """Load a classifier or a stream that `save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    model : classifier or Stream

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, does not fit into memory, or was written by a later version.
    """
    header, arrays = _read(Path(path))
    try:
        _check_surrogates(header)
        if header["sha256"] != _digest({k: v for k, v in header.items() if k != "sha256"}, arrays):
            raise ValueError("its checksum does not match")
        arrays = decompress_arrays(arrays, header.get("compressed", {}))
        model = _restored(header, arrays)
        model.chunk_ids_ = _chunk_ids(header.get("chunks", []))
        return _restored_stream(header["stream"], model, arrays) if "stream" in header else model
    except MemoryLimitError as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from error
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        why = " ".join(_reason(error).split())[:MAX_REASON_CHARACTERS]
        raise ModelFileError(f"{path} is damaged ({why}); take another copy or fit the model again") from error


def load_classifier(path: str | os.PathLike[str]) -> CountsClassifier:
    """Load a classifier that `save` wrote; raise ModelFileError if the file holds a stream."""
    model = load(path)
    if isinstance(model, Stream):
        raise ModelFileError(f"{path} holds a Stream, which only Python continues; save its model_ to use it here")
    return model


def _check_surrogates(header: dict[str, Any]) -> None:
    """Raise ValueError if a text of the header has half of a surrogate pair, which no other program could read."""
    try:
        json.dumps(header, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        at = error.object[max(error.start - 20, 0) : error.start + 1]
        raise ValueError(f"a name or label is not valid Unicode: {at!r}") from None


def _reason(error: Exception) -> str:
    """Return why a file is damaged; messages of Python itself would not help."""
    if isinstance(error, KeyError):
        return f"it lacks {error}"
    return str(error) if isinstance(error, ValueError) else "its header does not describe a model"


def _read(path: Path) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file of this format."""
    from safetensors import SafetensorError, safe_open

    if path.is_dir():
        raise ModelFileError(f"{path} is a folder, not a tanbark model")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    try:
        with safe_open(str(path), "np") as file:
            header = json.loads((file.metadata() or {})["tanbark"])
            arrays = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
    # For types that numpy lacks, safetensors raises TypeError or AttributeError.
    except (SafetensorError, KeyError, ValueError, OSError, RecursionError, TypeError, AttributeError) as error:
        raise ModelFileError(
            f"{path} is not a tanbark model, or is incomplete; give the file that tanbark wrote"
        ) from error
    form = header.get("format") if isinstance(header, dict) else None
    if not isinstance(form, int) or form < 1:
        raise ModelFileError(f"{path} is damaged (its header names no format); take another copy")
    if form > FORMAT:
        version = "".join(letter if letter.isprintable() else " " for letter in str(header.get("version")))
        version = " ".join(version.split())[:40]
        raise ModelFileError(
            f"{path} was written by tanbark {version} in format {form}, but this is tanbark "
            f"{tanbark.__version__}, which reads format {FORMAT}; upgrade tanbark"
        )
    return header, arrays


def _restored(header: dict[str, Any], arrays: Arrays) -> CountsClassifier:
    """Return the classifier that a checked header and its arrays describe."""
    schema = Schema.from_dict(header["schema"])
    classifier_type = REGISTRY[header["model"]].classifier
    state = header["state"]
    if "members" in state:
        members = [_restored(content, _of_member(i, arrays)) for i, content in enumerate(state["members"])]
        state = state | {"members": members}
    params = {key: _parameter(key, value, arrays, state) for key, value in header["params"].items()}
    classifier = classifier_type(**params)
    # Parameters for learning may have been set since the fit, and are checked when they are used; these two are used
    # for predicting too.
    check_encoder(classifier.encoder)
    check_jobs(classifier.n_jobs)
    listed = header.get("classes_listed", False)
    if not isinstance(listed, bool):
        raise ValueError("its field 'classes_listed' must be true or false")
    counts = counts_from_arrays(schema, arrays)
    stored = StoredModel(state, arrays, header["parents"])
    classifier.set_model(classifier_type.model_type.from_arrays(counts, stored))
    classifier.classes_listed_ = listed
    return classifier


def _restored_stream(content: dict[str, Any], classifier: CountsClassifier, arrays: Arrays) -> Stream:
    """Return the stream around a classifier that the header and the arrays describe."""
    own = {k.removeprefix(STREAM_PREFIX): array for k, array in arrays.items() if k.startswith(STREAM_PREFIX)}
    params = {key: _parameter(key, value, own, {}) for key, value in content["params"].items()}
    model = REGISTRY[content["model"]].classifier(**params)
    stream = Stream(model, window=content["window"], half_life=content["half_life"])
    return stream.from_arrays(classifier, StoredModel(content["state"], own))


def _chunk_ids(names: Any) -> tuple[str, ...]:
    """Return the names of chunks, which must be distinct strings."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError("the names of its chunks must be distinct strings")
    return tuple(names)


def _without_shared(arrays: Arrays, of_model: Arrays) -> Arrays:
    """Return the arrays of a member without counts that equal those of the model, which are not written again."""
    shared = [names for names in SHARED_ARRAYS if all(_same(arrays.get(name), of_model.get(name)) for name in names)]
    return {key: array for key, array in arrays.items() if not any(key in names for names in shared)}


def _same(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    if a is None or b is None:
        return a is b
    return a.dtype == b.dtype and np.array_equal(a, b)


def _of_member(i: int, arrays: Arrays) -> Arrays:
    """Return the arrays of a member, with counts of the model if it has none of its own."""
    prefix = f"member_{i}_"
    own = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    for names in SHARED_ARRAYS:
        if not any(name in own for name in names):
            own |= {name: arrays[name] for name in names if name in arrays}
    return own


def _plain_parameter(name: str, value: Any) -> Any:
    """Return a parameter as plain values."""
    if isinstance(value, Encoder):
        settings = value.get_params(deep=False)
        return {"encoder": {key: _plain_parameter(key, setting) for key, setting in settings.items()}}
    if isinstance(value, Recipe):
        return {"recipe": value.to_dict()}
    if isinstance(value, Schema):
        return {"schema": value.to_dict()}
    if isinstance(value, Counts):
        return {"counts": value.schema.to_dict()}
    if isinstance(value, list | tuple) and any(isinstance(member, CountsClassifier) for member in value):
        return {"members": True}
    if hasattr(value, "index") and hasattr(value, "columns"):
        value = {
            (row, column): value.loc[row, column] for row in value.index for column in value.columns if row != column
        }
    if isinstance(value, Mapping) and all(isinstance(key, tuple) for key in value):
        return {"pairs": [[*pair, _plain_parameter(name, factor)] for pair, factor in value.items()]}
    if isinstance(value, Mapping):
        return {"labels": [[_plain_parameter(name, key), _plain_parameter(name, one)] for key, one in value.items()]}
    if isinstance(value, tuple):
        return {"tuple": [_plain_parameter(name, v) for v in value]}
    if isinstance(value, set | frozenset):
        value = sorted(value, key=repr)
    if isinstance(value, np.ndarray | list):
        return [_plain_parameter(name, v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, str | int | float | bool | None):
        raise TypeError(
            f"the parameter {name!r} of type {type(value).__name__!r} cannot be saved; set it to a plain value first, "
            "which does not change the fitted model"
        )
    return value


def _parameter(name: str, value: Any, arrays: Arrays, state: dict[str, Any]) -> Any:
    """Return the parameter that plain values, arrays and fitted members describe."""
    from sklearn.base import clone

    several = value if isinstance(value, list) else value.get("tuple") if isinstance(value, dict) else None
    if isinstance(several, list) and any(isinstance(one, dict) and "counts" in one for one in several):
        raise ValueError(f"its parameter {name!r} lists several counts, but a file holds one")
    if isinstance(value, list):
        return [_parameter(name, v, arrays, state) for v in value]
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tuple(_parameter(name, v, arrays, state) for v in value["tuple"])
    if "members" in value:
        return [clone(member).set_params(encoder=None) for member in state["members"]]
    if "encoder" in value:
        settings = value["encoder"].items()
        return Encoder(**{key: _parameter(key, setting, arrays, state) for key, setting in settings})
    if "counts" in value:
        return counts_from_arrays(Schema.from_dict(value["counts"]), arrays, f"{name}_")
    if "pairs" in value:
        return {(one, other): factor for one, other, factor in value["pairs"]}
    if "labels" in value:
        return {label: _parameter(name, one, arrays, state) for label, one in value["labels"]}
    return Recipe.from_dict(value["recipe"]) if "recipe" in value else Schema.from_dict(value["schema"])


def _digest(header: dict[str, Any], arrays: Arrays) -> str:
    """Return a checksum of everything in the file."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for key in sorted(arrays):
        digest.update(f"{key} {arrays[key].dtype} {arrays[key].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[key]).tobytes())
    return digest.hexdigest()
