"""A report to look at: that of the tutorial's model."""

import tempfile
from pathlib import Path

import pyarrow as pa
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from tanbark import ForestAN, write_report


def report() -> str:
    """Return the report of a forest over ten measurements of cell nuclei, with rows that were not learned from."""
    cells = load_breast_cancer()
    names = [name.removeprefix("mean ") for name in cells.feature_names[:10]]
    table = pa.table({**dict(zip(names, cells.data.T)), "lump": cells.target_names[cells.target]})
    train, test = train_test_split(range(len(cells.target)), test_size=0.3, stratify=cells.target, random_state=0)
    model = ForestAN().fit(table.take(train).drop_columns("lump"), table.take(train)["lump"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lump.html")
        write_report(model, path, data=(table.take(test).drop_columns("lump"), table.take(test)["lump"]))
        return path.read_text()
