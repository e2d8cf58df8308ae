"""Datasets from OpenML, through its JSON API."""

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
from tanbark.shared_docs import insert_shared_docs

if TYPE_CHECKING:
    import pyarrow as pa

_TIMEOUT_SECONDS = 60.0  # without receiving a byte
_NOT_FOUND_CODES = (404, 412)  # OpenML returns 412 for unknown datasets
_CITATION = "Vanschoren et al. (2013), OpenML: networked science in machine learning, SIGKDD Explorations 15, 49-60"


@insert_shared_docs
def fetch_openml(
    name: str,
    version: int | str = "active",
    *,
    target: str | None = None,
    cache: str | Path | None = None,
    url: str = "https://www.openml.org",
) -> Dataset:
    """Download a dataset from OpenML.

    The function downloads the Parquet file of the dataset. Nominal columns are Arrow dictionaries. Row identifiers and
    other columns that OpenML marks as ignored are dropped.

    Parameters
    ----------
    name : str
        The name of the dataset on OpenML. Case is ignored.
    version : int or "active", default="active"
        The version. "active" selects the oldest active version and warns if there are several.
    target : str, default=None
        The column that is the class. If None, the default target of the dataset on OpenML.
    cache : str or Path, default=None
        A folder for downloaded datasets. A later call reads the dataset from there, without network access. If None,
        nothing is cached.
    url : str, default="https://www.openml.org"
        The address of the OpenML server.

    Returns
    -------
    Dataset

    Raises
    ------
    UnknownDatasetError
        If there is no dataset of this name.
    ConnectionError
        If the server cannot be reached.
    ValueError
        If the response is invalid, or the dataset has no usable class.

    References
    ----------
    J. Vanschoren, J. N. van Rijn, B. Bischl and L. Torgo (2013). OpenML: networked science in machine learning.
    SIGKDD Explorations 15(2), 49-60.

    Examples
    --------
    This example needs network access::

        X, y = fetch_openml("car", version=1)
    """
    if version != "active" and (isinstance(version, bool) or not isinstance(version, int) or version < 1):
        raise ValueError(f"version must be 'active' or a positive integer, got {version!r}")
    url = url.rstrip("/")
    file = None if cache is None else _cache_file(Path(cache), url, name.lower(), version)
    if file is not None and file.exists():
        return _to_dataset(*_read_cache(file), target, url)
    description, table = _download(url, name.lower(), version)
    if file is not None:
        _write_cache(file, description, table)
    return _to_dataset(description, table, target, url)


def _download(url: str, name: str, version: int | str) -> tuple[dict[str, Any], pa.Table]:
    """Return the description of a dataset on OpenML and its complete table."""
    import pyarrow as pa
    from pyarrow import parquet

    number = _find(url, name, version)
    where = f"{url}/api/v1/json/data/{number}"
    description = _get_json(where, "data_set_description")
    if not isinstance(description, dict) or not {"id", "name", "version"} <= description.keys():
        raise _invalid_response(where)
    if not (link := description.get("parquet_url")):
        raise ValueError(f"OpenML has no Parquet file for the dataset {name!r}")
    content = _get(str(link))
    if content is None:
        raise ValueError(f"the Parquet file of the dataset {name!r} is no longer on OpenML: {link} was not found")
    try:
        table = parquet.read_table(pa.BufferReader(content))
    except pa.ArrowException as error:
        raise ValueError(f"{link} is not a Parquet file") from error
    return description, table.replace_schema_metadata(None).unify_dictionaries()


def _find(url: str, name: str, version: int | str) -> int:
    """Return the number of a dataset on OpenML."""
    listed = f"{url}/api/v1/json/data/list/data_name/{quote(name, safe='')}"
    if version == "active":
        found = _list(f"{listed}/status/active")
    else:
        # By default, OpenML lists only active datasets.
        one = f"{listed}/data_version/{version}"
        found = _list(one) or _list(f"{one}/status/deactivated")
    if not found:
        kind = "active dataset" if version == "active" else f"version {version} of a dataset"
        raise UnknownDatasetError(f"OpenML has no {kind} named {name!r}")
    if len(found) > 1:
        others = ", ".join(str(other) for other, _ in found[1:])
        warnings.warn(
            f"OpenML has several active versions of {name!r}: using {found[0][0]}, not {others}", stacklevel=4
        )
    return found[0][1]


def _list(where: str) -> list[tuple[int, int]]:
    """Return the version and the number of each listed dataset, the oldest version first."""
    listed = _get_json(where, "data", "dataset")
    try:
        return sorted((int(dataset["version"]), int(dataset["did"])) for dataset in listed or [])
    except (KeyError, TypeError, ValueError) as error:
        raise _invalid_response(where) from error


def _get_json(where: str, *keys: str) -> Any:
    """Return the value under nested keys of a JSON response, or None if the address is not found."""
    content = _get(where)
    if content is None:
        return None
    try:
        answer = json.loads(content)
        for key in keys:
            answer = answer[key]
    except (ValueError, KeyError, TypeError) as error:
        raise _invalid_response(where) from error
    return answer


def _get(where: str) -> bytes | None:
    """Return the bytes at an address, or None if it is not found."""
    if urlsplit(where).scheme not in ("http", "https"):
        raise ValueError(f"{where!r} is not an http or https address")
    try:
        with urlopen(Request(where, headers={"User-Agent": "tanbark"}), timeout=_TIMEOUT_SECONDS) as answer:
            content: bytes = answer.read()
            return content
    except HTTPError as error:
        error.close()
        if error.code in _NOT_FOUND_CODES:
            return None
        raise ConnectionError(f"cannot get {where}: the server responded {error.code} {error.reason}") from error
    except (OSError, HTTPException) as error:
        raise ConnectionError(f"cannot get {where}: {getattr(error, 'reason', error)}") from error


def _invalid_response(where: str) -> ValueError:
    """Return the error for a response that does not follow the OpenML API."""
    return ValueError(f"the response of {where} is not a valid OpenML response")


def _to_dataset(description: dict[str, Any], table: pa.Table, target: str | None, url: str) -> Dataset:
    """Drop the ignored columns and separate the class: `target`, or by default the target on OpenML."""
    name = str(description["name"])
    target = target or description.get("default_target_attribute") or None
    if target is None or target not in table.column_names:
        problem = f"has no column {target!r}" if target else "has no default target"
        raise ValueError(f"dataset {name!r} {problem}; target must be one of {', '.join(table.column_names)}")
    ignored = {*_names(description.get("row_id_attribute")), *_names(description.get("ignore_attribute"))} - {target}
    table = table.drop_columns([column for column in table.column_names if column in ignored])
    source = f"{name} version {description['version']}, {url}/d/{description['id']}; {_CITATION}."
    return Dataset.from_table(name, table, target=target, source=source)


def _names(value: str | list[str] | None) -> list[str]:
    """Return the column names in a description field: a list, comma-separated names, or None."""
    return [name.strip() for name in value.split(",")] if isinstance(value, str) else list(value or [])


def _cache_file(cache: Path, url: str, name: str, version: int | str) -> Path:
    """Return the path of a dataset in the cache."""
    return cache / quote(urlsplit(url).netloc, safe="") / f"{quote(name, safe='')}-{version}.arrow"


def _read_cache(file: Path) -> tuple[dict[str, Any], pa.Table]:
    """Read the description and the table from a cached file."""
    import pyarrow as pa

    try:
        with pa.OSFile(str(file)) as source, pa.ipc.open_file(source) as reader:
            table = reader.read_all()
        description = json.loads(table.schema.metadata[b"openml"])
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the cached file {str(file)!r} is damaged: delete it to download it again") from error
    return description, table.replace_schema_metadata(None)


def _write_cache(file: Path, description: dict[str, Any], table: pa.Table) -> None:
    """Write a description and a table to the cache; the file is moved into place when it is complete."""
    import pyarrow as pa

    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    table = table.replace_schema_metadata({"openml": json.dumps(description)})
    with pa.OSFile(str(partial), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    partial.replace(file)
