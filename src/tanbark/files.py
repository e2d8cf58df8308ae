"""Model files: a safetensors file with a JSON header.

Loading a file runs no code of its author: it holds arrays (counts and tables) and plain values (parameters, schema,
structure). Version 1 of the format has the header fields ``format``, ``version``, ``model``, ``params``, ``schema``,
``parents`` (null unless the model is a single network), ``state`` (in which members that are classifiers have a header
of their own, and arrays whose names begin with ``member_<i>_``), ``classes_listed`` (if no new class is allowed) and
``sha256``. Its arrays are ``class_counts``, ``table``, ``log_table_<node>`` (with ``keys_<node>`` and
``default_<node>`` if the table is sparse), the other arrays of the model, and for a parameter that is itself counts
``<name>_class_counts`` and ``<name>_table``. The names of learned chunks (`chunk_ids_`) are in the header field
``chunks``.
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

import tanbark
from tanbark.atomic_write import replacing
from tanbark.classifiers.base.counts_classifier import CountsClassifier
from tanbark.classifiers.base.validation import check_encoder, check_jobs
from tanbark.classifiers.registry import REGISTRY, registered_name
from tanbark.counts import Counts
from tanbark.counts.counts import ROUNDING
from tanbark.models import Model, StoredModel
from tanbark.schema import Encoder, Recipe, Schema

FORMAT = 1
MAX_REASON_CHARACTERS = 500
"""A reason may quote a name that is as long as the file."""
SHARED_ARRAYS = ("class_counts", "table")
"""Arrays that the members of a model may have in common with it."""

Arrays = dict[str, NDArray[Any]]


class ModelFileError(ValueError):
    """A file that is not a model, or a model that is damaged or from a later version."""


def save(model: CountsClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to a file, which is replaced completely or not at all.

    Parameters
    ----------
    model : classifier
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


def to_bytes(model: CountsClassifier) -> bytes:
    """Return the content of the file of a fitted classifier."""
    from safetensors.numpy import save as packed

    _registered(model)
    # Another thread may fit the classifier meanwhile.
    model = copy(model)
    content, arrays = _content(model)
    header = {"format": FORMAT, "version": tanbark.__version__, **content}
    if model.chunk_ids_:
        header["chunks"] = list(model.chunk_ids_)
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
    arrays = {"class_counts": model.counts.class_counts, "table": model.counts.table, **stored.arrays}
    given = classifier.get_params(deep=False)
    for key, value in given.items():
        if isinstance(value, Counts):
            arrays |= {f"{key}_class_counts": value.class_counts, f"{key}_table": value.table}
    state = dict(stored.state)
    members = state.pop("members", [])
    for i, member in enumerate(members):
        members[i], member_arrays = _content(member)
        new = {key: array for key, array in member_arrays.items() if not _is_shared(key, array, arrays)}
        arrays |= {f"member_{i}_{key}": array for key, array in new.items()}
    content: dict[str, Any] = {
        "model": name,
        "params": {key: _plain_parameter(key, value) for key, value in given.items()},
        "schema": model.schema.to_dict(),
        "parents": stored.parents,
        "state": state | ({"members": members} if members else {}),
    }
    if classifier.classes_listed_:
        content["classes_listed"] = True
    return content, {key: np.ascontiguousarray(array) for key, array in arrays.items()}


def _registered(model: CountsClassifier) -> str:
    """Return the name of a classifier in the registry; raise TypeError if it has none."""
    name = registered_name(type(model))
    if name is None:
        raise TypeError(f"only tanbark's classifiers can be saved, not {type(model).__name__!r}")
    return name


def load(path: str | os.PathLike[str]) -> CountsClassifier:
    """Load a classifier that `save` wrote.

    Parameters
    ----------
    path : path

    Returns
    -------
    model : classifier

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a later version.
    """
    header, arrays = _read(Path(path))
    try:
        _check_surrogates(header)
        if header["sha256"] != _digest({k: v for k, v in header.items() if k != "sha256"}, arrays):
            raise ValueError("its checksum does not match")
        model = _restored(header, arrays)
        model.chunk_ids_ = _chunk_ids(header.get("chunks", []))
        return model
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as error:
        why = " ".join(_reason(error).split())[:MAX_REASON_CHARACTERS]
        raise ModelFileError(f"{path} is damaged ({why}); take another copy or fit the model again") from error


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
    counts = _counts(schema, arrays["class_counts"], arrays["table"])
    stored = StoredModel(state, arrays, header["parents"])
    classifier.set_model(classifier_type.model_type.from_arrays(counts, stored))
    classifier.classes_listed_ = listed
    return classifier


def _chunk_ids(names: Any) -> tuple[str, ...]:
    """Return the names of chunks, which must be distinct strings."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
        raise ValueError("the names of its chunks must be distinct strings")
    return tuple(names)


def _is_shared(key: str, array: NDArray[Any], arrays: Arrays) -> bool:
    """Return whether a member's array equals that of the whole model, so that it is not written again."""
    return key in SHARED_ARRAYS and array.dtype == arrays[key].dtype and np.array_equal(array, arrays[key])


def _of_member(i: int, arrays: Arrays) -> Arrays:
    """Return the arrays of a member."""
    prefix = f"member_{i}_"
    own = {key.removeprefix(prefix): array for key, array in arrays.items() if key.startswith(prefix)}
    return {key: arrays[key] for key in SHARED_ARRAYS} | own


def _counts(schema: Schema, class_counts: NDArray[Any], table: NDArray[Any]) -> Counts:
    """Return counts after checking that they are consistent with the schema and with each other."""
    classes, total = len(schema.classes), int(schema.offset[-1])
    if table.shape not in ((classes, total), (classes, total, total)) or class_counts.shape != (classes,):
        raise ValueError("the shape of the counts does not match the schema")
    for array in (table, class_counts):
        if array.dtype not in (np.dtype(np.int64), np.dtype(np.float64)) or not np.isfinite(array).all():
            raise ValueError("the counts are not finite numbers")
        if (array < 0).any():
            raise ValueError("a count is negative")
    if table.dtype != class_counts.dtype:
        raise ValueError("the counts of classes and of values have different types")
    single = table if table.ndim == 2 else np.diagonal(table, axis1=1, axis2=2)
    # Sums of whole counts are exact up to 2**53; beyond, one unit is less than the rounding error.
    slack = (ROUNDING if table.dtype.kind == "f" else 1e-16) * class_counts[:, None]
    if (single > class_counts[:, None] + slack).any():
        raise ValueError("a value was seen more often than its class")
    if table.ndim == 3 and (table > single[:, :, None] + slack[:, :, None]).any():
        raise ValueError("two values were seen together more often than each of them")
    if (np.add.reduceat(single, schema.offset[:-1], axis=1, dtype=np.float64) > class_counts[:, None] + slack).any():
        raise ValueError("the values of a column were seen more often than their class")
    if table.ndim == 3 and not np.array_equal(table, table.transpose(0, 2, 1)):
        raise ValueError("the counts of pairs are not symmetric")
    return Counts(schema, class_counts, table)


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
    if isinstance(value, Mapping):
        return {"pairs": [[*pair, _plain_parameter(name, factor)] for pair, factor in value.items()]}
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
        return _counts(Schema.from_dict(value["counts"]), arrays[f"{name}_class_counts"], arrays[f"{name}_table"])
    if "pairs" in value:
        return {(one, other): factor for one, other, factor in value["pairs"]}
    return Recipe.from_dict(value["recipe"]) if "recipe" in value else Schema.from_dict(value["schema"])


def _digest(header: dict[str, Any], arrays: Arrays) -> str:
    """Return a checksum of everything in the file."""
    digest = hashlib.sha256(json.dumps(header, sort_keys=True).encode())
    for key in sorted(arrays):
        digest.update(f"{key} {arrays[key].dtype} {arrays[key].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[key]).tobytes())
    return digest.hexdigest()
