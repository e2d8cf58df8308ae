"""What developers install: pinned by digest, and within what users are promised."""

import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
LOCK = (ROOT / "requirements-dev.txt").read_text()
PINNED = {}
for name, pin in re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE):
    PINNED.setdefault(canonicalize_name(name), []).append(Version(pin))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
WANTED = [*PROJECT["dependencies"], *(one for extra in EXTRAS.values() for one in extra)]


@pytest.mark.parametrize("wanted", [Requirement(one) for one in WANTED if not one.startswith("tanbark")], ids=str)
def test_what_is_pinned_is_within_the_range_that_users_get(wanted):
    pins = PINNED[canonicalize_name(wanted.name)]
    assert all(wanted.specifier.contains(pin) for pin in pins)


def test_every_pin_has_a_digest_and_names_no_place():
    blocks = re.split(r"\n(?=[\w.-]+==)", LOCK)[1:]
    assert len(blocks) == sum(len(pins) for pins in PINNED.values())
    assert all("--hash=sha256:" in block for block in blocks)
    assert "://" not in LOCK


def test_what_is_tested_here_is_what_is_pinned():
    """Where the environment is the one that `make test` makes, not that of the oldest versions."""
    if Version(version("numpy")) < min(PINNED["numpy"]):
        pytest.skip("these are older versions on purpose")
    for name in ("numpy", "numba", "scikit-learn", "pyarrow", "duckdb", "safetensors"):
        assert Version(version(name)) in PINNED[name]
