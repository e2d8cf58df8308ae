import subprocess
import sys

import pytest

from tanbark import datasets


@pytest.mark.parametrize("name", datasets.NAMES)
def test_every_name_loads_the_dataset_of_that_name(name):
    dataset = datasets.load(name)
    assert dataset.name == name
    assert dataset.target == "class"
    assert dataset.table.num_rows == len(dataset.y)
    assert dataset.source.endswith(".")


def test_a_misspelt_name_is_an_error_that_suggests_the_right_one():
    with pytest.raises(ValueError, match=r"^unknown dataset 'lens': did you mean 'lenses'\?$"):
        datasets.load("lens")


def test_a_name_unlike_any_other_is_an_error_that_lists_all_names():
    with pytest.raises(ValueError, match="unknown dataset '!': choose one of balance_scale, iris, led7"):
        datasets.load("!")


def test_importing_datasets_imports_nothing_heavy():
    code = "import sys, tanbark.datasets; print(*{'sklearn', 'pyarrow', 'duckdb', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == ""
