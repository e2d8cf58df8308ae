"""Datasets from OpenML, over its JSON interface."""

from __future__ import annotations

import json
import os
import warnings
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit
from urllib.request import Request, urlopen

from tanbark.datasets.bundled import UnknownDatasetError
from tanbark.datasets.dataset import Dataset

if TYPE_CHECKING:
    import pyarrow as pa

_TIMEOUT = 60.0  # seconds without a byte
_NOT_FOUND = (404, 412)  # OpenML says 412 where others say 404
_CITATION = "Vanschoren et al. (2013), OpenML: networked science in machine learning, SIGKDD Explorations 15, 49-60"


def fetch_openml(
    name: str,
    version: int | str = "active",
    *,
    target: str | None = None,
    cache: str | Path | None = None,
    url: str = "https://www.openml.org",
) -> Dataset:
    """Return a dataset from OpenML.

    The dataset's Parquet file is downloaded. Nominal columns are Arrow dictionaries; identifiers and other columns that
    OpenML says to ignore are left out.

    Parameters
    ----------
    name : str
        The name at OpenML, in upper or lower case.
    version : int or "active"
        The version; "active" takes the oldest active one and warns if there are several.
    target : str, optional
        The column that is the class, if not the one that OpenML proposes.
    cache : str or Path, optional
        A folder to keep what was downloaded. A later call finds it there and needs no network.
    url : str
        Where OpenML is.

    Raises
    ------
    UnknownDatasetError
        If OpenML has no such dataset.
    ConnectionError
        If OpenML cannot be reached.
    ValueError
        If its answer makes no sense, or has no usable class.

    References
    ----------
    J. Vanschoren, J. N. van Rijn, B. Bischl and L. Torgo (2013). OpenML: networked science in machine learning.
    SIGKDD Explorations 15(2), 49-60.

    Examples
    --------
    This needs the network::

        X, y = fetch_openml("car", version=1)
    """
    if version != "active" and (isinstance(version, bool) or not isinstance(version, int) or version < 1):
        raise ValueError(f"version must be 'active' or a positive integer, not {version!r}")
    url = url.rstrip("/")
    file = None if cache is None else _cache_file(Path(cache), url, name.lower(), version)
    if file is not None and file.exists():
        return _to_dataset(*_read_cache(file), target, url)
    description, table = _download(url, name.lower(), version)
    if file is not None:
        _write_cache(file, description, table)
    return _to_dataset(description, table, target, url)


def _download(url: str, name: str, version: int | str) -> tuple[dict[str, Any], pa.Table]:
    """Return OpenML's description of a dataset and its complete table."""
    import pyarrow as pa
    from pyarrow import parquet

    number = _find(url, name, version)
    where = f"{url}/api/v1/json/data/{number}"
    description = _get_json(where, "data_set_description")
    if not isinstance(description, dict) or not {"id", "name", "version"} <= description.keys():
        raise _strange(where)
    if not (link := description.get("parquet_url")):
        raise ValueError(f"OpenML has no Parquet file for the dataset {name!r}")
    content = _get(str(link))
    if content is None:
        raise ValueError(f"OpenML has lost the Parquet file of the dataset {name!r}: nothing is at {link}")
    try:
        table = parquet.read_table(pa.BufferReader(content))
    except pa.ArrowException as error:
        raise ValueError(f"{link} is not a Parquet file") from error
    return description, table.replace_schema_metadata(None).unify_dictionaries()


def _find(url: str, name: str, version: int | str) -> int:
    """Return the number of a dataset at OpenML."""
    listed = f"{url}/api/v1/json/data/list/data_name/{quote(name, safe='')}"
    if version == "active":
        found = _list(f"{listed}/status/active")
    else:
        # OpenML lists only active datasets unless asked for others.
        one = f"{listed}/data_version/{version}"
        found = _list(one) or _list(f"{one}/status/deactivated")
    if not found:
        kind = "active dataset" if version == "active" else f"version {version} of a dataset"
        raise UnknownDatasetError(f"OpenML has no {kind} called {name!r}")
    if len(found) > 1:
        others = ", ".join(str(other) for other, _ in found[1:])
        warnings.warn(f"OpenML has several active versions of {name!r}: took {found[0][0]}, not {others}", stacklevel=4)
    return found[0][1]


def _list(where: str) -> list[tuple[int, int]]:
    """Return the version and the number of each dataset that OpenML lists, the oldest version first."""
    listed = _get_json(where, "data", "dataset")
    try:
        return sorted((int(dataset["version"]), int(dataset["did"])) for dataset in listed or [])
    except (KeyError, TypeError, ValueError) as error:
        raise _strange(where) from error


def _get_json(where: str, *keys: str) -> Any:
    """Return what a JSON answer holds under nested keys, or None if OpenML has nothing there."""
    content = _get(where)
    if content is None:
        return None
    try:
        answer = json.loads(content)
        for key in keys:
            answer = answer[key]
    except (ValueError, KeyError, TypeError) as error:
        raise _strange(where) from error
    return answer


def _get(where: str) -> bytes | None:
    """Return the bytes at an address, or None if there are none."""
    if urlsplit(where).scheme not in ("http", "https"):
        raise ValueError(f"{where!r} is not an http or https address")
    try:
        with urlopen(Request(where, headers={"User-Agent": "tanbark"}), timeout=_TIMEOUT) as answer:
            content: bytes = answer.read()
            return content
    except HTTPError as error:
        error.close()
        if error.code in _NOT_FOUND:
            return None
        raise ConnectionError(f"cannot get {where}: the server answered {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise ConnectionError(f"cannot get {where}: {getattr(error, 'reason', error)}") from error


def _strange(where: str) -> ValueError:
    """Return the error for an answer that OpenML would not give."""
    return ValueError(f"the answer of {where} is not one that OpenML gives")


def _to_dataset(description: dict[str, Any], table: pa.Table, target: str | None, url: str) -> Dataset:
    """Return the dataset without the columns to ignore, with the class that was asked for or is proposed."""
    name = str(description["name"])
    target = target or description.get("default_target_attribute") or None
    if target is None or target not in table.column_names:
        problem = f"has no column {target!r}" if target else "has no class of its own"
        raise ValueError(f"{name!r} {problem}: choose target among {', '.join(table.column_names)}")
    ignored = {*_names(description.get("row_id_attribute")), *_names(description.get("ignore_attribute"))} - {target}
    table = table.drop_columns([column for column in table.column_names if column in ignored])
    source = f"{name} version {description['version']}, {url}/d/{description['id']}; {_CITATION}."
    return Dataset.from_table(name, table, target=target, source=source)


def _names(value: str | list[str] | None) -> list[str]:
    """Return the column names in a field of a description: a list, names between commas, or nothing."""
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value or [])


def _cache_file(cache: Path, url: str, name: str, version: int | str) -> Path:
    """Return where the cache keeps a dataset."""
    return cache / quote(urlsplit(url).netloc, safe="") / f"{quote(name, safe='')}-{version}.arrow"


def _read_cache(file: Path) -> tuple[dict[str, Any], pa.Table]:
    """Return the description and the table in a cached file."""
    import pyarrow as pa

    try:
        with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
        description = json.loads(table.schema.metadata[b"openml"])
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the cached file {str(file)!r} is damaged: delete it to download it again") from error
    return description, table.replace_schema_metadata(None)


def _write_cache(file: Path, description: dict[str, Any], table: pa.Table) -> None:
    """Keep a description and a table in one file, which appears only once it is complete."""
    import pyarrow as pa

    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    table = table.replace_schema_metadata({"openml": json.dumps(description)})
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    partial.replace(file)
