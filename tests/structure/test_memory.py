"""How much memory may be used."""

from types import SimpleNamespace

import pytest

from tanbark.structure import memory


@pytest.fixture
def container(monkeypatch, tmp_path):
    """Return a function that writes a container's limit and what it uses, on a machine with 1000 bytes free."""
    limit, used = tmp_path / "limit", tmp_path / "used"
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=1000, total=5000, free=10))
    monkeypatch.setattr(memory, "LIMITS", (str(tmp_path / "none"), str(limit)))
    monkeypatch.setattr(memory, "USED", (str(tmp_path / "none"), str(used)))

    def write(allowed, now):
        limit.write_text(f"{allowed}\n")
        used.write_text(f"{now}\n")

    return write


@pytest.mark.usefixtures("container")
def test_four_fifths_of_what_is_available_may_be_used():
    assert memory.most_of_free() == pytest.approx(800)


def test_a_container_leaves_what_its_limit_has_beyond_what_it_uses(container):
    container(900, 400)
    assert memory.most_of_free() == pytest.approx(400)
    container(9000, 400)
    assert memory.most_of_free() == pytest.approx(800)


def test_a_container_without_a_limit_leaves_what_the_machine_has(container):
    container("max", 400)
    assert memory.most_of_free() == pytest.approx(800)
