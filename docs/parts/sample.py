"""The sample report, of the model of the tutorial."""

import tempfile
from pathlib import Path

import narwhals as nw
import pyarrow as pa
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from tanbark import ForestAN, write_report


def report() -> str:
    """Return the report of a forest over ten measurements of cell nuclei, with held-out test rows."""
    cells = load_breast_cancer()
    names = [name.removeprefix("mean ") for name in cells.feature_names[:10]]
    table, lumps = pa.table(dict(zip(names, cells.data.T[:10], strict=True))), cells.target_names[cells.target]
    train, test = train_test_split(range(len(lumps)), test_size=0.3, stratify=lumps, random_state=0)
    y = nw.from_native(pa.chunked_array([lumps[train]]), series_only=True).alias("lump")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lumps.html")
        write_report(ForestAN().fit(table.take(train), y), path, data=(table.take(test), lumps[test]))
        return path.read_text()
