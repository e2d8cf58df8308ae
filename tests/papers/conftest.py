"""A folder of small tables with the names of the papers' data sets."""

import numpy as np
import pytest

from tanbark import datasets


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Two shuffled tables: one of categories only, and one of numbers with missing values."""
    path = tmp_path_factory.mktemp("data")
    rng = np.random.default_rng(0)
    rows = datasets.balance_scale().frame().to_pylist()
    lines = [",".join(str(v) for v in rows[at].values()) for at in rng.permutation(len(rows))]
    (path / "car_evaluation.csv").write_text("\n".join([",".join(rows[0]), *lines]) + "\n")
    y = rng.integers(0, 3, 90)
    values = [[f"{c + rng.normal():.3f}" if rng.random() > 0.02 else "" for c in (k, -k, 0, k)] for k in y]
    lines = [",".join([*row, f"kind {k}"]) for row, k in zip(values, y, strict=True)]
    (path / "iris.csv").write_text("a,b,c,d,class\n" + "\n".join(lines) + "\n")
    return path
