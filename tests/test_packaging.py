"""What is installed: the version in one place, every file that is not Python, the command, the extras."""

import re
import tomllib
import zipfile
from pathlib import Path

import pytest

import tanbark

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built here."""
    builder = pytest.importorskip("hatchling.builders.wheel").WheelBuilder
    [path] = builder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with zipfile.ZipFile(path) as opened:
        yield opened


def test_the_version_stands_in_one_place(wheel):
    assert "version" not in PROJECT
    assert wheel.filename.endswith(f"tanbark-{tanbark.__version__}-py3-none-any.whl")


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    here = {
        path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src" / "tanbark").rglob("*") if path.is_file()
    }
    wanted = {name for name in here if "__pycache__" not in name}
    found = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert found == wanted
    assert "tanbark/py.typed" in found
    assert {Path(name).suffix for name in found} >= {".py", ".csv"}


def test_the_command_is_installed(wheel):
    [entry] = [name for name in wheel.namelist() if name.endswith("entry_points.txt")]
    assert "tanbark = tanbark.cli:run" in wheel.read(entry).decode()


def test_every_extra_that_a_message_names_is_there():
    text = "\n".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = set(re.findall(r"tanbark\[(\w+)\]", text))
    assert {"spark", "papers"} <= named <= set(PROJECT["optional-dependencies"])


def test_all_extras_of_users_are_in_one():
    extras = PROJECT["optional-dependencies"]
    [everything] = extras["all"]
    named = set(everything.removeprefix("tanbark[").removesuffix("]").split(","))
    assert named == extras.keys() - {"all", "test", "dev", "docs"}


def test_every_requirement_says_how_old_a_package_may_be():
    extras = [one for extra in PROJECT["optional-dependencies"].values() for one in extra]
    for requirement in [*PROJECT["dependencies"], *extras]:
        assert ">=" in requirement or requirement.startswith("tanbark["), requirement
