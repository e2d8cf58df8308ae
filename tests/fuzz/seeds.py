"""Whole files of every kind, which the mutators break: small, and between them with everything a format has."""

from __future__ import annotations

import datetime
import gzip
import io
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

import tanbark
from saved_models import many_levels
from sources.written_tables import arrow_bytes, arrow_stream_bytes, workbook_bytes, zipped
from tanbark import (
    AODE,
    BNC2P,
    K2,
    KDB,
    TAN,
    AdditiveBN,
    AugmentedNaiveBayes,
    AveragedTAN,
    BayesNet,
    BoostedBN,
    Encoder,
    ForestAN,
    NaiveBayes,
    SuperParent,
    export,
)
from tanbark.files import to_bytes
from tanbark.network import SparseTable


def table(rows: int = 60, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return text, numbers, few whole numbers and flags, with holes, and classes that depend on them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, rows)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=rows) + y,
            "colour": np.array(["red", "blue", "ü, '\""], object)[(y + rng.integers(0, 2, rows)) % 3],
            "count": (y + rng.integers(0, 3, rows)) % 4,
            "flag": (y + rng.integers(0, 2, rows)) % 2 == 0,
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.08), np.array(["no", "yes", "perhaps"], object)[y]


def _classifiers() -> dict[str, tanbark.NaiveBayes]:
    X, y = table()
    prior = [0.5, 0.3, 0.2]
    counted = TAN(encoder=Encoder(n_bins=2)).fit(X, y)
    few = {"n_estimators": 2, "patience": None}
    return {
        "naive-bayes": NaiveBayes(encoder=Encoder(missing="state", max_levels=2)),
        "tan": TAN(encoder=Encoder(n_bins=2)),
        "tan given a prior and a schema": TAN(class_prior=prior, encoder=counted.schema_),
        "forest-an": ForestAN(),
        "super-parent": SuperParent(),
        "super-parent by name": SuperParent(parent="count"),
        "aode": AODE(encoder=Encoder(n_bins=2)),
        "averaged-tan": AveragedTAN(edge_prior={("size", "flag"): 2.0}, prior=counted.counts_, encoder=counted.schema_),
        "averaged-tan, a multinet": AveragedTAN(multinet=True, encoder=Encoder(n_bins=2)),
        "kdb": KDB(k=2, encoder=Encoder(n_bins=2)),
        "bayes-net": BayesNet(class_prior=prior, forbidden=[("size", "flag")], required=[("size", "class")]),
        "augmented-naive-bayes": AugmentedNaiveBayes(search="greedy", max_parents=2),
        "k2": K2(order=["flag", "count", "size", "colour"]),
        "bnc2p": BNC2P(),
        "boosted-bn": BoostedBN(encoder=Encoder(n_bins=2), **few),
        "boosted-bn of naive Bayes": BoostedBN(base="naive-bayes", **few),
        "additive-bn": AdditiveBN(encoder=Encoder(n_bins=2)),
        "additive-bn of trees": AdditiveBN(weak="kdb", link="linear", encoder=Encoder(n_bins=2)),
        "additive-bn of classifiers": AdditiveBN(weak=[NaiveBayes(), KDB(k=1)], encoder=Encoder(n_bins=2)),
    }


@cache
def models() -> dict[str, bytes]:
    """Return the files of fitted classifiers: each of the registry, and further ones for what those do not have."""
    made = {}
    X, y = table()
    rng = np.random.default_rng(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, classifier in _classifiers().items():
            made[name] = to_bytes(classifier.fit(X, y))
        made["tan of weights"] = to_bytes(TAN(parameters="ml").fit(X, y, sample_weight=rng.random(len(y))))
        made["tan of one column"] = to_bytes(TAN().fit(X[["flag"]], y))
        made["aode of one class"] = to_bytes(AODE().fit(X[["flag", "size"]], np.zeros(len(y))))
        chunked = NaiveBayes().fit(X.to_numpy(object), np.arange(len(y)) % 2)
        chunked.chunk_ids_ = ("monday", "tuesday")
        made["naive-bayes of chunks"] = to_bytes(chunked)
        made["kdb of sparse tables"] = to_bytes(_sparse())
        many = NaiveBayes(encoder=Encoder(max_levels=999)).fit(np.arange(600).astype(str)[:, None], np.arange(600) % 2)
        made["naive-bayes of many levels"] = to_bytes(many)
        made["tan of sparse counts"] = to_bytes(TAN().fit(*many_levels(rows=60, columns=3, levels=999)))
        weights = rng.random(60)
        made["aode of sparse weights"] = to_bytes(AODE().fit(*many_levels(60, 3, 999), sample_weight=weights))
    return made


def _sparse() -> KDB:
    """Return a model with a sparse table, such as nodes have whose parents have very many values."""
    X, y = table()
    fitted = KDB(k=2, encoder=Encoder(n_bins=2)).fit(X, y)
    network = fitted.network_
    tables = [_thinned(network, node) for node in range(len(network.log_tables))]
    changed = tanbark.Network(network.schema, network.structure, tuple(tables))
    fitted.model_ = replace(fitted.model_, network=changed)
    return fitted


def _thinned(network: tanbark.Network, node: int) -> np.ndarray | SparseTable:
    """Return a node's table, of which the first configuration and the last are kept if it has two attributes above."""
    dense, above = network.log_tables[node], network.structure.parents[node]
    if len(above) < 3:
        return dense
    at = above.index(network.structure.of_class)
    rows = np.moveaxis(dense, at, -2).reshape(-1, dense.shape[at], dense.shape[-1])
    return SparseTable(dense.shape, at, np.array([0, len(rows) - 1]), rows[[0, -1]], rows[1])


@cache
def walker() -> bytes:
    """Return the file of a model of what `tables` holds."""
    X, y = table(40)
    return to_bytes(TAN().fit(X, pd.Series(y, name="walk")))


@cache
def networks(form: str) -> tuple[bytes, ...]:
    """Return networks in BIF or XMLBIF."""
    X, y = table()
    write = {"bif": export.bif, "xmlbif": export.xmlbif}[form]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = [TAN(encoder=Encoder(n_bins=2, missing="state")).fit(X, y), NaiveBayes().fit(X[["count", "flag"]], y)]
    by_hand = {
        "bif": b"""// by hand
network "n" { property author x ; }
variable a { type discrete [2] { x, y }; property position = (1, 2); }
variable class { type discrete [ 2 ] { "u", v }; }
probability ( a ) { table 0.5, .5; }
probability ( class | a ) { /* in short */ default 0.1, 9e-1; (y) 0.2, 0.8; }
""",
        "xmlbif": b"""<?xml version="1.0"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3"><NETWORK><NAME>n</NAME><!-- in short -->
<VARIABLE TYPE="nature"><NAME>a</NAME><OUTCOME>x</OUTCOME><OUTCOME>y</OUTCOME><PROPERTY>p = 1</PROPERTY></VARIABLE>
<VARIABLE TYPE="nature"><NAME>class</NAME><OUTCOME>u &amp; u</OUTCOME><OUTCOME><![CDATA[v]]></OUTCOME></VARIABLE>
<DEFINITION><FOR>a</FOR><TABLE>0.5 .5</TABLE></DEFINITION>
<DEFINITION><FOR>class</FOR><GIVEN>a</GIVEN><TABLE>0.1 9e-1 0.2 0.8</TABLE></DEFINITION>
</NETWORK></BIF>
""",
    }
    return (by_hand[form], *(write(model).encode() for model in fitted))


@cache
def tables(kind: str) -> tuple[bytes, ...]:
    """Return tables in a format: csv, jsonl, parquet, feather, arrows, xlsx, arff, or one with .gz or .zip after it."""
    if kind.endswith(".gz"):
        return tuple(gzip.compress(text, mtime=0) for text in tables(kind.removesuffix(".gz")))
    if kind.endswith(".zip"):
        inner = kind.removesuffix(".zip")
        return tuple(zipped({f"t.{inner}": data}) for data in tables(inner))
    X, y = table(12)
    frame = X.assign(walk=y)
    if kind == "csv":
        other = b'\xef\xbb\xbfa;b c;"d""e"\r\n1;2,5;x\r\n?;NA;"y;\r\nz"\r\n2024-01-01;1e5; null\r\n'
        return frame.to_csv(index=False).encode(), frame.to_csv(index=False, sep="\t").encode(), other
    if kind == "jsonl":
        plain = frame.to_json(orient="records", lines=True).encode()
        return (
            plain,
            b'{"a": 1, "b": [1, {"c": null}]}\n{"a": "x", "b": {"c": 1.5e3}}\n\n{"d": true, "a": "2024-01-01"}\n',
        )
    if kind == "xlsx":
        numbers = [["a", None, "b"], [1, True, "x"], [2.5, None, datetime.date(2024, 2, 29)], ["NA", False, 3]]
        cells = [frame.columns.tolist(), *([None if v != v else v for v in row] for row in frame.to_numpy().tolist())]
        return workbook_bytes({"S": cells}), workbook_bytes({"S": [], "T": numbers})
    if kind in ("parquet", "feather", "arrows"):
        arrow = pa.Table.from_pandas(frame.astype({"flag": "boolean"}), preserve_index=False)
        nested = pa.table(
            {
                "list": [[1, 2], None, []],
                "struct": [{"a": 1}, {"a": None}, None],
                "bytes": [b"\xff", b"", None],
                "d": pa.array(["x", "y", "x"]).dictionary_encode(),
                "n": pa.nulls(3),
                "y": ["a", "b", "a"],
            }
        )
        if kind == "feather":
            return arrow_bytes(arrow), arrow_bytes(nested)
        if kind == "arrows":
            return arrow_stream_bytes(arrow), arrow_stream_bytes(nested)
        return _parquet(arrow), _parquet(arrow, compression="gzip", version="1.0"), _parquet(nested)
    rows = [
        ",".join("?" if v is None or v != v else f"'{v}'" if " " in str(v) or "," in str(v) else str(v) for v in row)
        for row in frame[["size", "count", "walk"]].astype(object).to_numpy().tolist()
    ]
    declared = ["% made for a test", "@RELATION 'a test'", "@attribute size real", "@ATTRIBUTE 'count' numeric"]
    text = "\n".join([*declared, "@attribute walk {no, 'yes', \"perhaps\"}", "", "@data", *rows])
    quoted = (
        "@relation r\n@attribute 'it\\'s' {'a, b', c, '?'}\n@attribute note string\n@data\n'a, b','don\\'t'\n'?',?\n"
    )
    return text.encode(), quoted.encode()


def _parquet(arrow: pa.Table, **settings) -> bytes:
    out = io.BytesIO()
    pq.write_table(arrow, out, row_group_size=5, **settings)
    return out.getvalue()
