"""How much memory may be used."""

from types import SimpleNamespace

import pytest

from tanbark import memory


@pytest.fixture
def container(monkeypatch, tmp_path):
    """Return a function that writes a container's limit and what it uses, on a machine with 1000 bytes free."""
    limit, used, details = tmp_path / "limit", tmp_path / "used", tmp_path / "details"
    monkeypatch.setattr(memory.psutil, "virtual_memory", lambda: SimpleNamespace(available=1000, total=5000, free=10))
    monkeypatch.setattr(memory, "LIMITS", (str(tmp_path / "none"), str(limit)))
    monkeypatch.setattr(memory, "USED", (str(tmp_path / "none"), str(used)))
    monkeypatch.setattr(memory, "DETAILS", (str(tmp_path / "none"), str(details)))

    def write(allowed, now, lines="anon 1\n"):
        limit.write_text(f"{allowed}\n")
        used.write_text(f"{now}\n")
        details.write_text(lines)

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


@pytest.mark.parametrize("word", ["inactive_file", "total_inactive_file"])
def test_files_that_a_container_has_read_give_way(container, word):
    container(900, 890, f"anon 90\n{word} 400\nactive_file 300\n")
    assert memory.most_of_free() == pytest.approx(0.8 * 410)


def test_what_does_not_fit_is_refused_with_the_numbers(container, monkeypatch):
    monkeypatch.setattr(memory, "UNCHECKED", 100)
    container(500, 0)
    memory.check_free(400, "this", "try that")
    with pytest.raises(ValueError, match=r"^this needs 401 bytes, but 400 bytes may be used .*; try that$"):
        memory.check_free(401, "this", "try that")


def test_what_is_small_is_not_asked_for(container):
    container(10, 9)
    memory.check_free(1000, "this", "try that")
