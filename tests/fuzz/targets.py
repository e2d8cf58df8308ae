"""What tanbark promises of any file: it is read and then works, or it is refused by a ValueError of one sentence.

A target takes the bytes of a file and returns whether they were accepted; any other error than such a refusal is a
broken promise. A target's seeds are whole files, its mutator breaks them.
"""

from __future__ import annotations

import random
import tempfile
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from typer.testing import CliRunner

import tanbark
from fuzz import mutators, seeds
from tanbark import Counts, export
from tanbark.cli import app
from tanbark.files import to_bytes
from tanbark.schema import Number
from tanbark.sources import files

ROWS = 12


@dataclass(frozen=True)
class Target:
    """A kind of file: what reads it, whole files of it, and what breaks them."""

    read: Callable[[bytes], bool]
    seeds: Callable[[], Sequence[bytes]]
    mutate: Callable[[bytes, random.Random, Sequence[bytes]], bytes]

    def case(self, number: int) -> bytes:
        """Return a broken file, the same for the same number."""
        rng = random.Random(number)
        whole = self.seeds()
        return self.mutate(whole[number % len(whole)], rng, whole)


class Refused(Exception):
    """The file, or what was asked of it, was refused as it should be."""


@contextmanager
def refusing():
    """Turn a refusal into `Refused`; an error of another type or of several lines stays what it is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ValueError as error:
        one_sentence(error)
        raise Refused(str(error)) from error


def one_sentence(error: ValueError) -> None:
    said = str(error)
    assert said.strip(), f"{type(error).__name__} says nothing"
    assert len(said.splitlines()) == 1, f"{type(error).__name__} is more than a sentence: {said!r}"


def refused(call: Callable[[], Any]) -> bool:
    """Return whether a call is refused."""
    try:
        with refusing():
            call()
    except Refused:
        return True
    return False


_FOLDER = tempfile.TemporaryDirectory(prefix="tanbark-fuzz-")


def written(data: bytes, suffix: str) -> Path:
    """Return a file that holds these bytes."""
    path = Path(_FOLDER.name, f"case.{suffix}")
    path.write_bytes(data)
    return path


# Model files


def model(data: bytes) -> bool:
    """Return whether a model file is accepted; if so, everything that can be asked of a model is."""
    path = written(data, "tanbark")
    try:
        with refusing():
            fitted = tanbark.load(path)
    except Refused:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_model(fitted, often=zlib.crc32(data) % 8 == 0)
    return True


def rows_of(schema: tanbark.Schema) -> Any:
    """Return a table of the values that a model knows, some that it does not, and some that are missing."""
    cells = np.empty((ROWS, len(schema.columns)), object)
    for u, column in enumerate(schema.columns):
        if isinstance(column, Number):
            values: list[Any] = [*column.cuts[:6], *(c + 1 for c in column.cuts[:3]), 0.5, None, -1e300]
        else:
            kinds = {type(level) for level in column.levels}
            strange = [] if bool in kinds else ["never seen"] if str in kinds else [12_345]
            values = [*column.levels[:8], None, *strange]
        for row in range(ROWS):
            cells[row, u] = values[(row + u) % len(values)]
    cells[1] = None
    # A frame of pandas cannot bear a name that is no valid Unicode, a schema can.
    nameable = schema.named and all(
        name.encode(errors="replace") == name.encode(errors="ignore") for name in schema.names
    )
    return pd.DataFrame(cells, columns=list(schema.names), dtype=object) if nameable else cells


def check_model(fitted: Any, often: bool) -> None:
    """Raise where a model that was loaded does not work."""
    X = rows_of(fitted.schema_)
    before: list[np.ndarray] = []
    refused(lambda: before.append(probabilities(fitted, X)))
    refused(lambda: no_nan(fitted.predict_log_proba(X)))
    refused(lambda: fitted.predict(X))
    for method in ("explain", "score_samples", "predict_joint_log_proba"):
        if hasattr(fitted, method):
            refused(lambda method=method: no_nan(getattr(fitted, method)(X)))
    for method in ("standard_error", "staged_predict_proba"):
        if hasattr(fitted, method):
            refused(lambda method=method: list(getattr(fitted, method)(X)))
    if hasattr(fitted, "sample"):
        refused(lambda: fitted.sample(3))
    for learned in ("map_tree_", "edge_probabilities_", "concentration_", "members_"):
        refused(lambda learned=learned: getattr(fitted, learned, None))
    for network in (getattr(fitted, "network_", None), *getattr(fitted, "networks_", ())):
        if network is not None:
            check_network(network)
    assert before == [] or np.array_equal(again(fitted, X), before[0]), "saving changed what it says"
    if often:
        for write in (export.bif, export.xmlbif, export.dot):
            refused(lambda write=write: typed(lambda: write(fitted)))
        refused(lambda: tanbark.write_report(fitted, Path(_FOLDER.name, "page.html"), (X, labels(fitted))))
    if hasattr(fitted, "partial_fit") and not refused(lambda: learn_more(fitted, X)):
        refused(lambda: probabilities(fitted, X))


def labels(fitted: Any) -> np.ndarray:
    return np.resize(fitted.classes_, ROWS)


def learn_more(fitted: Any, X: Any) -> None:
    typed(lambda: fitted.partial_fit(X, labels(fitted)))


def typed(call: Callable[[], Any]) -> None:
    """Call what refuses a wrong setting, or a model that is no one network, by a TypeError."""
    try:
        call()
    except TypeError as error:
        raise ValueError(str(error)) from error


def again(fitted: Any, X: Any) -> np.ndarray:
    """Return what a model says after it was saved and loaded."""
    saved: np.ndarray = tanbark.load(written(to_bytes(fitted), "again")).predict_proba(X)
    return saved


def probabilities(fitted: Any, X: Any) -> np.ndarray:
    found = fitted.predict_proba(X)
    assert found.shape == (ROWS, len(fitted.classes_))
    assert np.isfinite(found).all(), "a probability is not finite"
    assert (found >= 0).all(), "a probability is negative"
    assert np.allclose(found.sum(axis=1), 1.0), "probabilities do not sum to 1"
    return found


def no_nan(found: np.ndarray) -> None:
    assert not np.isnan(found).any(), "a log probability is not a number"


def check_network(network: tanbark.Network) -> None:
    str(network)
    for name in (network.names[0], network.names[-1]):
        refused(lambda name=name: network.query(name))
        refused(lambda name=name: network.table(name))
        network.markov_blanket(name)
    refused(lambda: network.sample(3))


def command(data: bytes) -> bool:
    """Return whether a command takes a model file; one that does not says so in one line."""
    path = written(data, "tanbark")
    rows = written(seeds.tables("csv")[0], "csv")
    words: list[list[Any]] = [
        ["show", path],
        ["show", path, "--json"],
        ["show", path, "--table", "count"],
        ["predict", path, rows],
        ["update", path, rows],
        ["export", path, "--to", "bif"],
        ["export", path, "--to", "dot"],
        ["report", path, rows, "--output", rows.with_suffix(".html")],
    ]
    return ran(words[zlib.crc32(data) % len(words)])


def ran(words: Sequence[Any]) -> bool:
    """Return whether a command of the command line ends well; otherwise it must say why in one line."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = CliRunner().invoke(app, ["--quiet", *map(str, words)])
    if result.exit_code == 0:
        return True
    said = result.stderr
    assert result.exit_code == 1, f"{words[0]} ended with {result.exit_code}: {result.exception!r}"
    assert said.startswith("error: "), f"{words[0]} said {said!r}"
    assert len(said.splitlines()) == 1, f"{words[0]} said more than a line: {said!r}"
    assert "--debug shows the traceback" not in said, f"{words[0]} did not expect: {said!r}"
    return False


# Networks of others


def bif(data: bytes) -> bool:
    """Return whether a BIF file is accepted; if so, the network works and is written and read again."""
    return network_file(data, "bif", export.read_bif, export.bif)


def xmlbif(data: bytes) -> bool:
    """Return whether an XMLBIF file is accepted; if so, the network works and is written and read again."""
    return network_file(data, "xmlbif", export.read_xmlbif, export.xmlbif)


def network_file(data: bytes, suffix: str, read: Callable[..., Any], write: Callable[..., str]) -> bool:
    path = written(data, suffix)
    try:
        with refusing():
            network = read(path)
    except Refused as refusal:
        if "give class_name=" not in str(refusal):
            return False
        try:
            with refusing():
                network = read(path, class_name="class")
        except Refused:
            return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_network(network)
        codes = network.schema.encode(rows_of(network.schema))
        joint = network.log_joint(codes)
        assert not np.isnan(joint).any(), "a log probability is not a number"
        text = write(network)
        back = read(written(text.encode(), suffix))
        assert back.schema == network.schema, "writing changed the schema"
        assert back.structure == network.structure, "writing changed the structure"
    return True


# Tables


def table(kind: str) -> Callable[[bytes], bool]:
    """Return a target that reads the rows of a table, as values and as they are written, and counts them."""

    def read(data: bytes) -> bool:
        path = written(data, kind)
        try:
            with refusing():
                check_source(path)
        except Refused:
            return False
        return True

    return read


def check_source(path: Path) -> None:
    source = files(path)
    read = pa.Table.from_batches(source.batches(), source.schema)
    as_written = source.as_written()
    raw = list(as_written.select([f"CAST(c{i} AS VARCHAR)" for i in range(len(as_written.names))]))
    assert sum(batch.num_rows for batch in raw) == read.num_rows, "one reading has more rows than the other"
    assert list(as_written.names) == read.column_names, "one reading has other columns than the other"
    Counts.from_batches(source, read.column_names[-1], order=1)


def fitting(kind: str) -> Callable[[bytes], bool]:
    """Return a target that fits a model to a table on the command line."""

    def read(data: bytes) -> bool:
        path = written(data, kind)
        name = "walk" if b"walk" in data else "y"
        return ran(
            [
                "fit",
                path,
                "--target",
                name,
                "--model",
                "naive-bayes",
                "--cv",
                "0",
                "--output",
                path.with_suffix(".fitted"),
            ]
        )

    return read


def asking(kind: str) -> Callable[[bytes], bool]:
    """Return a target that lets a model predict the rows of a table, or learn from them, on the command line."""

    def read(data: bytes) -> bool:
        path, model_path = written(data, kind), written(seeds.walker(), "tanbark")
        if zlib.crc32(data) % 2:
            return ran(["update", model_path, path])
        return ran(["predict", model_path, path, "--output", path.with_name("predicted.parquet")])

    return read


def _models() -> Sequence[bytes]:
    return tuple(seeds.models().values())


def _table_target(kind: str, read: Callable[[bytes], bool] | None = None) -> Target:

    def by_bytes(data, rng, others):
        return mutators.mutated_bytes(data, rng)

    if kind.endswith(".gz"):
        mutate = mutators.mutated_gzip
    elif kind.endswith((".zip", "xlsx")):
        mutate = mutators.mutated_zip
    else:
        mutate = by_bytes if kind in ("parquet", "feather", "arrows") else mutators.mutated_text
    return Target(read or table(kind), lambda: seeds.tables(kind), mutate)


TABLES = ("csv", "arff", "jsonl", "parquet", "feather", "arrows", "xlsx", "csv.gz", "arff.gz", "csv.zip")

TARGETS: dict[str, Target] = {
    "model": Target(model, _models, mutators.mutated_model),
    "command": Target(command, _models, mutators.mutated_model),
    "bif": Target(bif, lambda: seeds.networks("bif"), mutators.mutated_text),
    "xmlbif": Target(xmlbif, lambda: seeds.networks("xmlbif"), mutators.mutated_text),
    **{kind: _table_target(kind) for kind in TABLES},
    **{f"ask {kind}": _table_target(kind, asking(kind)) for kind in ("csv", "jsonl", "parquet")},
    **{f"fit {kind}": _table_target(kind, fitting(kind)) for kind in ("csv", "arff", "jsonl", "parquet")},
}
