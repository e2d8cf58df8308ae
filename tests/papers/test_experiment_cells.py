"""Cells are run once, kept on disk, and run again only where the table changed or they failed."""

import json

import pytest

from tanbark.papers import experiment_cells as module
from tanbark.papers.experiment_cells import Cell, run_cells

CALLS = []


def counted(data, cell):
    """Return a record; some cells do not come to their end."""
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


def test_a_run_that_was_interrupted_goes_on_where_it_was(folder, tmp_path):
    cells = [Cell("iris", part, 3) for part in range(3)]
    seen = []
    with pytest.raises(KeyboardInterrupt):
        run_cells(counted, cells, folder, tmp_path / "kept", 1, seen.append)
    assert [done.cell.part for done in seen] == [0, 1]
    again = run_cells(counted, cells, folder, tmp_path / "kept", 1, seen.append)
    assert [done.cell for done in again] == cells
    assert [done.records for done in again] == [[{"rows": 90, "part": part}] for part in range(3)]
    assert len(CALLS) == 4, "the first two cells were not run again"


def test_a_cell_that_failed_says_why_and_is_tried_again(folder, tmp_path):
    cells = [Cell("iris", 3, 4), Cell("iris", 0, 4)]
    found = run_cells(counted, cells, folder, tmp_path, 1, lambda done: None)
    assert found[0].failed == "ValueError: no such thing"
    assert found[1].records
    run_cells(counted, cells, folder, tmp_path, 1, lambda done: None)
    assert CALLS == ["iris-4-of-4", "iris-1-of-4", "iris-4-of-4"]


def half_failed(data, cell):
    CALLS.append(cell.name)
    return [
        {"method": "a", "error": 0.5},
        {"method": "b", **({"failed": "why"} if len(CALLS) == 1 else {"error": 0.1})},
    ]


def test_a_method_that_failed_in_a_cell_is_tried_again(folder, tmp_path):
    cells = [Cell("iris", 0, 4)]
    for failed in (True, False, False):
        [found] = run_cells(half_failed, cells, folder, tmp_path, 1, lambda done: None)
        assert ("failed" in found.records[1]) == failed
    assert len(CALLS) == 2


def test_cells_of_another_program_are_not_taken(folder, tmp_path, monkeypatch):
    cells = [Cell("iris", 0, 4)]
    run_cells(counted, cells, folder, tmp_path, 1, lambda done: None)
    monkeypatch.setattr(module, "_program", lambda: "another")
    run_cells(counted, cells, folder, tmp_path, 1, lambda done: None)
    assert len(CALLS) == 2


def test_cells_of_another_table_and_broken_ones_are_not_taken(folder, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "iris.csv").write_text((folder / "iris.csv").read_text())
    cells = [Cell("iris", part, 2) for part in range(2)]
    run_cells(counted, cells, data, tmp_path / "kept", 1, lambda done: None)
    (tmp_path / "kept" / "iris-1-of-2.json").write_text('{"mark": ')
    run_cells(counted, cells, data, tmp_path / "kept", 1, lambda done: None)
    assert CALLS == ["iris-1-of-2", "iris-2-of-2", "iris-1-of-2"]
    module._dataset.cache_clear()
    (data / "iris.csv").write_text((folder / "iris.csv").read_text() + "1,2,3,4,kind 0\n")
    found = run_cells(plain, cells, data, tmp_path / "kept", 1, lambda done: None)
    assert [done.records[0]["rows"] for done in found] == [91, 91]
    assert json.loads((tmp_path / "kept" / "iris-1-of-2.json").read_text())["records"][0]["rows"] == 91
