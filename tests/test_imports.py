"""What is imported when: nothing heavy before it is used, nothing optional unless it is."""

import subprocess
import sys

import pytest

HEAVY = (
    "numpy",
    "scipy",
    "sklearn",
    "numba",
    "pyarrow",
    "duckdb",
    "narwhals",
    "pandas",
    "joblib",
    "safetensors",
    "rich",
)
OPTIONAL = (
    *("matplotlib", "polars", "pyspark", "dask", "distributed", "river", "onnx", "networkx"),
    *("statsmodels", "duckdb", "rich", "typer"),
)
"""Without pandas, which scikit-learn imports where it is there."""


def loaded_by(code):
    """Return which modules are loaded after some code has run."""
    told = f"import sys\n{code}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


HELP = "from tanbark.cli import app\ntry:\n    app({words})\nexcept SystemExit:\n    pass"


@pytest.mark.parametrize(
    "code",
    [
        "import tanbark",
        "import tanbark.classifiers",
        HELP.format(words=["--help"]),
        HELP.format(words=["fit", "--help"]),
    ],
    ids=["the library", "the registry", "help", "help on a command"],
)
def test_nothing_heavy_is_loaded_before_it_is_used(code):
    assert not loaded_by(code).intersection(HEAVY)


def test_learning_and_predicting_load_nothing_optional():
    code = "from tanbark import TAN\nTAN().fit([[0, 1], [1, 0], [1, 1]], [0, 1, 1]).predict([[0, 0]])"
    assert not loaded_by(code).intersection(OPTIONAL)
