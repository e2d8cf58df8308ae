"""Memory that may be used, and checks against it."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tanbark import memory


@pytest.fixture
def container(monkeypatch, tmp_path):
    """Return a function that sets the limit and usage of a container, on a machine with 1000 bytes free."""
    limit, usage, stat = tmp_path / "limit", tmp_path / "usage", tmp_path / "stat"
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=1000, total=5000, free=10))
    monkeypatch.setattr(memory, "CGROUP_LIMIT_FILES", (str(tmp_path / "none"), str(limit)))
    monkeypatch.setattr(memory, "CGROUP_USAGE_FILES", (str(tmp_path / "none"), str(usage)))
    monkeypatch.setattr(memory, "CGROUP_STAT_FILES", (str(tmp_path / "none"), str(stat)))

    def write(allowed, now, lines="anon 1\n"):
        limit.write_text(f"{allowed}\n")
        usage.write_text(f"{now}\n")
        stat.write_text(lines)

    return write


@pytest.mark.usefixtures("container")
def test_four_fifths_of_the_free_memory_may_be_used():
    assert memory.usable_memory() == pytest.approx(800)


def test_the_limit_of_a_container_minus_its_usage_may_be_used(container):
    container(900, 400)
    assert memory.usable_memory() == pytest.approx(400)
    container(9000, 400)
    assert memory.usable_memory() == pytest.approx(800)


def test_a_container_without_a_limit_may_use_the_memory_of_the_machine(container):
    container("max", 400)
    assert memory.usable_memory() == pytest.approx(800)


@pytest.mark.parametrize("word", ["inactive_file", "total_inactive_file"])
def test_cached_files_of_a_container_count_as_free_memory(container, word):
    container(900, 890, f"anon 90\n{word} 400\nactive_file 300\n")
    assert memory.usable_memory() == pytest.approx(0.8 * 410)


def test_the_error_states_the_needed_and_the_usable_memory(container, monkeypatch):
    monkeypatch.setattr(memory, "UNCHECKED_BYTES", 100)
    container(500, 0)
    memory.check_free_memory(400, "this", "try that")
    with pytest.raises(
        ValueError, match=r"^this needs 401 bytes, but 400 bytes may be used \(80% of the free memory\); try that$"
    ):
        memory.check_free_memory(401, "this", "try that")


def test_small_amounts_are_not_checked(container):
    container(10, 9)
    memory.check_free_memory(1000, "this", "try that")


LIMITED = """
import resource, sys
import numpy as np
import psutil
from tanbark import TAN, Category, Schema, memory

spare = int(sys.argv[1]) * 2**20
limit = psutil.Process().memory_info().vms + spare
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
assert memory.usable_memory() <= 0.8 * spare, memory.usable_memory()
assert memory.usable_memory() >= 0.8 * (spare - 2**26), memory.usable_memory()
# Counts of 10 classes and (30 * 100) ** 2 pairs of values, 8 bytes each: 687 MiB.
schema = Schema([Category(f"x{u}", tuple(range(100))) for u in range(30)], tuple(range(10)))
try:
    TAN(encoder=schema).fit(np.arange(200)[:, None] * np.ones(30) % 100, np.arange(200) % 10)
except ValueError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux enforces the limit")
def test_a_limit_of_the_address_space_is_respected():
    done = subprocess.run([sys.executable, "-c", LIMITED, "512"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "MiB may be used (80% of the free memory); lower max_levels" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_process_beyond_its_limit_may_use_nothing(container, monkeypatch):
    import resource

    container("max", 0)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1, 1))
    assert memory.usable_memory() == 0.0


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_process_without_a_limit_may_use_the_free_memory(container, monkeypatch):
    import resource

    container("max", 0)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.usable_memory() == pytest.approx(800)
