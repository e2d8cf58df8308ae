"""Run an experiment cell by cell, in parallel and resumable."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tanbark.atomic_write import replacing
from tanbark.datasets import Dataset, read_folder
from tanbark.evaluate.comparison import reason

Record = dict[str, Any]
"""Figures that belong together: names to plain values."""

Work = Callable[[Dataset, "Cell"], list[Record]]


@dataclass(frozen=True)
class Cell:
    """A piece of an experiment that is run at once: which data set, and which part of how many (a fold, an order)."""

    file: str
    part: int
    parts: int
    quick: bool = False

    @property
    def name(self) -> str:
        """What its file is called; a part after the last is one on its own."""
        part = "apart" if self.part == self.parts else f"{self.part + 1}-of-{self.parts}"
        return f"{self.file}-{part}{'-quick' if self.quick else ''}"


@dataclass(frozen=True)
class Done:
    """A cell, its records, how long it took, why it failed if it did, and whether it was found on disk."""

    cell: Cell
    records: list[Record]
    seconds: float
    failed: str | None = None
    found: bool = False


def run_cells(
    work: Work, cells: Sequence[Cell], data: Path, kept: Path, n_jobs: int, fresh: Callable[[Done], None]
) -> list[Done]:
    """Return what came of each cell, in their order; those on disk are not run again, unless they failed.

    Parameters
    ----------
    work : callable
        A function of a module, from a data set and a cell to records.
    cells : sequence of Cells
    data : Path
        The folder of data sets.
    kept : Path
        The folder where finished cells are found and put.
    n_jobs : int
        How many processes.
    fresh : callable
        Called with each cell that is done, those from the disk first.
    """
    from joblib import delayed

    from tanbark.evaluate.worker_processes import side_by_side

    kept.mkdir(parents=True, exist_ok=True)
    program = _program()
    marks = {file: _mark(program, work, data, file) for file in dict.fromkeys(cell.file for cell in cells)}
    found = {cell: done for cell in cells if (done := _read(kept, cell, marks[cell.file])) is not None}
    for done in found.values():
        fresh(done)
    rest = [cell for cell in cells if cell not in found]
    tasks = (delayed(_run)(work, cell, data, kept, marks[cell.file]) for cell in rest)
    with side_by_side(tasks, min(n_jobs, max(len(rest), 1)), in_order=False) as results:
        for done in results:
            found[done.cell] = done
            fresh(done)
    return [found[cell] for cell in cells]


def tried(method: Callable[[], Record]) -> Record:
    """Return what a method finds, or why it failed: one that fails on a data set does not keep the others from it."""
    try:
        return method()
    except Exception as error:
        return {"failed": reason(error)}


def _run(work: Work, cell: Cell, data: Path, kept: Path, mark: str) -> Done:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            records = work(_dataset(data, cell.file), cell)
        except Exception as error:
            return Done(cell, [], time.perf_counter() - began, reason(error))
    done = Done(cell, records, time.perf_counter() - began)
    text = json.dumps({"mark": mark, "seconds": done.seconds, "records": records})
    with replacing(kept / f"{cell.name}.json") as file:
        file.write(text.encode())
    return done


@lru_cache(2)
def _dataset(data: Path, file: str) -> Dataset:
    return read_folder(data)[file]


def _mark(program: str, work: Work, data: Path, file: str) -> str:
    """Return what tells whether a cell on disk is of the same experiment: the programs and the table's content."""
    digest = hashlib.sha256(f"{program} {work.__module__}".encode())
    frame = read_folder(data)[file].frame()
    digest.update(repr(frame.schema).encode())
    for batch in frame.to_batches():
        for column in batch.columns:
            for buffer in column.buffers():
                digest.update(buffer or b"")
    return digest.hexdigest()


def _program() -> str:
    """Return what tells one state of the programs that learn from another: tanbark's own text and others' versions."""
    import numpy
    import sklearn

    import tanbark

    digest = hashlib.sha256(f"{numpy.__version__} {sklearn.__version__}".encode())
    for path in sorted(Path(tanbark.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(kept: Path, cell: Cell, mark: str) -> Done | None:
    """Return a cell from the disk, None where it is not there, of another experiment, unreadable, or has a failure."""
    try:
        found = json.loads((kept / f"{cell.name}.json").read_text())
        failed = any("failed" in record for record in map(dict, found["records"]))
        same = found["mark"] == mark
        return Done(cell, found["records"], float(found["seconds"]), found=True) if same and not failed else None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None
