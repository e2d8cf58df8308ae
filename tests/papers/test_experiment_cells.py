"""Cells are run once and cached on disk; they are run again only if the program or table changed or they failed."""

import json

import pytest

from tanbark.papers import experiment_cells as module
from tanbark.papers.experiment_cells import Cell, run_cells

CALLS = []


def counted(data, cell):
    """Return a record; some cells are interrupted or fail."""
    CALLS.append(cell.name)
    if cell.part == 2 and len(CALLS) == 3:
        raise KeyboardInterrupt
    if cell.part == 3:
        raise ValueError("no\n such thing")
    return [{"rows": data.table.num_rows, "part": cell.part}]


def plain(data, cell):
    return [{"rows": data.table.num_rows, "part": cell.part}]


@pytest.fixture(autouse=True)
def nothing_called():
    CALLS.clear()


def test_an_interrupted_run_resumes(folder, tmp_path):
    cells = [Cell("iris", part, 3) for part in range(3)]
    seen = []
    with pytest.raises(KeyboardInterrupt):
        run_cells(counted, cells, folder, tmp_path / "kept", 1, seen.append)
    assert [done.cell.part for done in seen] == [0, 1]
    again = run_cells(counted, cells, folder, tmp_path / "kept", 1, seen.append)
    assert [done.cell for done in again] == cells
    assert [done.records for done in again] == [[{"rows": 90, "part": part}] for part in range(3)]
    assert len(CALLS) == 4, "the first two cells were not run again"


def test_a_failed_cell_has_the_reason_and_is_run_again(folder, tmp_path):
    cells = [Cell("iris", 3, 4), Cell("iris", 0, 4)]
    found = run_cells(counted, cells, folder, tmp_path, 1, lambda _: None)
    assert found[0].failed == "ValueError: no such thing"
    assert found[1].records
    run_cells(counted, cells, folder, tmp_path, 1, lambda _: None)
    assert CALLS == ["iris-4-of-4", "iris-1-of-4", "iris-4-of-4"]


def half_failed(_data, cell):
    CALLS.append(cell.name)
    return [
        {"method": "a", "error": 0.5},
        {"method": "b", **({"failed": "why"} if len(CALLS) == 1 else {"error": 0.1})},
    ]


def test_a_cell_with_a_failed_method_is_run_again(folder, tmp_path):
    cells = [Cell("iris", 0, 4)]
    for failed in (True, False, False):
        [found] = run_cells(half_failed, cells, folder, tmp_path, 1, lambda _: None)
        assert ("failed" in found.records[1]) == failed
    assert len(CALLS) == 2


def test_cells_of_another_program_are_run_again(folder, tmp_path, monkeypatch):
    cells = [Cell("iris", 0, 4)]
    run_cells(counted, cells, folder, tmp_path, 1, lambda _: None)
    monkeypatch.setattr(module, "_program_hash", lambda: "another")
    run_cells(counted, cells, folder, tmp_path, 1, lambda _: None)
    assert len(CALLS) == 2


def test_cells_of_another_table_and_damaged_ones_are_run_again(folder, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "iris.csv").write_text((folder / "iris.csv").read_text())
    cells = [Cell("iris", part, 2) for part in range(2)]
    run_cells(counted, cells, data, tmp_path / "kept", 1, lambda _: None)
    (tmp_path / "kept" / "iris-1-of-2.json").write_text('{"mark": ')
    run_cells(counted, cells, data, tmp_path / "kept", 1, lambda _: None)
    assert CALLS == ["iris-1-of-2", "iris-2-of-2", "iris-1-of-2"]
    module._dataset.cache_clear()
    (data / "iris.csv").write_text((folder / "iris.csv").read_text() + "1,2,3,4,kind 0\n")
    found = run_cells(plain, cells, data, tmp_path / "kept", 1, lambda _: None)
    assert [done.records[0]["rows"] for done in found] == [91, 91]
    assert json.loads((tmp_path / "kept" / "iris-1-of-2.json").read_text())["records"][0]["rows"] == 91
