"""Run an experiment in cells: parts that run in parallel, are cached on disk, and can be resumed."""

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
from tanbark.evaluate.comparison import error_text

Record = dict[str, Any]
"""Named figures of a result, for example of one method in one fold."""

Work = Callable[[Dataset, "Cell"], list[Record]]
"""The function that runs a cell."""


@dataclass(frozen=True)
class Cell:
    """A unit of work of an experiment: a data set, and one of its parts (a fold, or an order of rows)."""

    file: str
    part: int
    parts: int
    quick: bool = False

    @property
    def name(self) -> str:
        """The name of its file. The part after the last is the extra cell of the experiment."""
        part = "apart" if self.part == self.parts else f"{self.part + 1}-of-{self.parts}"
        return f"{self.file}-{part}{'-quick' if self.quick else ''}"


@dataclass(frozen=True)
class Done:
    """The result of a cell: its records, run time, error message if it failed, and whether it was read from disk."""

    cell: Cell
    records: list[Record]
    seconds: float
    failed: str | None = None
    found: bool = False


def run_cells(
    work: Work, cells: Sequence[Cell], data: Path, cache: Path, n_jobs: int, on_done: Callable[[Done], None]
) -> list[Done]:
    """Return the result of each cell, in order; cells on disk are not run again unless they failed.

    Parameters
    ----------
    work : callable
        A module-level function from a data set and a cell to records.
    cells : sequence of Cell
        The cells to run.
    data : Path
        The folder of data sets.
    cache : Path
        The folder of finished cells.
    n_jobs : int
        The number of processes.
    on_done : callable
        Called with each result, first those that are read from disk.
    """
    from joblib import delayed

    from tanbark.evaluate.parallel_results import parallel_results

    cache.mkdir(parents=True, exist_ok=True)
    program = _program_hash()
    hashes = {file: _experiment_hash(program, work, data, file) for file in dict.fromkeys(cell.file for cell in cells)}
    done = {cell: cached for cell in cells if (cached := _read(cache, cell, hashes[cell.file])) is not None}
    for cached in done.values():
        on_done(cached)
    remaining = [cell for cell in cells if cell not in done]
    tasks = (delayed(_run)(work, cell, data, cache, hashes[cell.file]) for cell in remaining)
    with parallel_results(tasks, min(n_jobs, max(len(remaining), 1)), in_order=False) as results:
        for result in results:
            done[result.cell] = result
            on_done(result)
    return [done[cell] for cell in cells]


def record_or_failure(method: Callable[[], Record]) -> Record:
    """Return the record of a method, or the reason of its failure, so that other methods still run."""
    try:
        return method()
    except Exception as error:
        return {"failed": error_text(error)}


def _run(work: Work, cell: Cell, data: Path, cache: Path, experiment_hash: str) -> Done:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            records = work(_dataset(data, cell.file), cell)
        except Exception as error:
            return Done(cell, [], time.perf_counter() - began, error_text(error))
    done = Done(cell, records, time.perf_counter() - began)
    text = json.dumps({"mark": experiment_hash, "seconds": done.seconds, "records": records})
    with replacing(cache / f"{cell.name}.json") as file:
        file.write(text.encode())
    return done


@lru_cache(2)
def _dataset(data: Path, file: str) -> Dataset:
    return read_folder(data)[file]


def _experiment_hash(program: str, work: Work, data: Path, file: str) -> str:
    """Return a hash of the program, the experiment and the table, which identifies valid cells on disk."""
    digest = hashlib.sha256(f"{program} {work.__module__}".encode())
    frame = read_folder(data)[file].frame()
    digest.update(repr(frame.schema).encode())
    for batch in frame.to_batches():
        for column in batch.columns:
            for buffer in column.buffers():
                digest.update(buffer or b"")
    return digest.hexdigest()


def _program_hash() -> str:
    """Return a hash of the source of tanbark and the versions of numpy and scikit-learn."""
    import numpy
    import sklearn

    import tanbark

    digest = hashlib.sha256(f"{numpy.__version__} {sklearn.__version__}".encode())
    for path in sorted(Path(tanbark.__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _read(cache: Path, cell: Cell, experiment_hash: str) -> Done | None:
    """Return a cell from disk, or None if it is absent, unreadable, from another experiment, or has a failure."""
    try:
        content = json.loads((cache / f"{cell.name}.json").read_text())
        failed = any("failed" in record for record in map(dict, content["records"]))
        valid = content["mark"] == experiment_hash and not failed
        return Done(cell, content["records"], float(content["seconds"]), found=True) if valid else None
    except (OSError, ValueError, LookupError, TypeError, ArithmeticError, RecursionError):
        return None
