"""Rows read by DuckDB, with calls that Ctrl-C can interrupt."""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tanbark.sources.source import batch_rows

if TYPE_CHECKING:
    import pyarrow as pa

    from tanbark.sources.source import Source


@dataclass(frozen=True)
class Rows:
    """Rows that DuckDB can read. In SQL, column `i` is called ``c<i>``, whatever its name.

    Parameters
    ----------
    source : Source
        Where the rows come from.
    connection : duckdb.DuckDBPyConnection
        Connection that reads the rows.
    relation : str
        SQL of the FROM clause.
    names : tuple of str
        Names of the columns in the source.
    types : tuple of str
        SQL types of the columns.
    errors : context manager
        Converts errors of DuckDB to SourceError.
    parts : tuple of str, default=()
        SQL of the FROM clause for each part of the rows, if DuckDB keeps the order only within parts.
    """

    source: Source
    connection: Any
    relation: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    errors: AbstractContextManager[None]
    parts: tuple[str, ...] = ()

    def select(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the values of SQL expressions in row order, as columns named 0, 1, ..."""
        yield from interruptible_items(self._batches(expressions), self.connection.interrupt)

    def _batches(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the values of SQL expressions, part by part."""
        for relation in self.parts or (self.relation,):
            with self.errors:
                yield from self._reader(expressions, relation)

    def schema(self, expressions: Sequence[str]) -> pa.Schema:
        """Return the types of SQL expressions."""
        with self.errors:
            return self._reader(expressions, self.relation).schema

    def _reader(self, expressions: Sequence[str], relation: str) -> pa.RecordBatchReader:
        """Return a reader of the values of SQL expressions."""
        selected = ", ".join(f'{expression} AS "{i}"' for i, expression in enumerate(expressions))
        columns = ", ".join(f"c{i}" for i in range(len(self.names)))
        query = f"SELECT {selected} FROM {relation} AS rows({columns})"
        return arrow_reader(self.connection.sql(query), len(expressions))


def arrow_reader(result: Any, columns: int) -> pa.RecordBatchReader:
    """Return a reader of the rows of a DuckDB result."""
    # DuckDB before version 1.5 has fetch_arrow_reader only.
    read = getattr(result, "to_arrow_reader", None) or result.fetch_arrow_reader
    return read(batch_rows(columns))


def connect(database: str = ":memory:", read_only: bool = False) -> Any:
    """Return a connection to DuckDB without a progress bar."""
    import duckdb

    connection = duckdb.connect(database, read_only=read_only)
    connection.execute("SET enable_progress_bar = false")
    return connection


def present(expression: str, sql_type: str, missing: Sequence[str]) -> str:
    """Return an SQL expression that is null if a text represents a missing value."""
    if sql_type == "JSON":
        expression = f"({expression} ->> '$')"
    elif sql_type != "VARCHAR":
        return expression
    if not missing:
        return expression
    # Not with IN, which DuckDB may convert to a join, and a join does not keep the order of the rows.
    tokens = " ".join(f"WHEN {quoted(token)} THEN NULL" for token in token_spellings(missing))
    return f"CASE {expression} {tokens} ELSE {expression} END"


def quoted(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def sql_identifier(name: str) -> str:
    """Return a column name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def token_spellings(missing: Sequence[str]) -> list[str]:
    """Return the tokens without and with a leading space, because some files have a space after each comma."""
    return list(dict.fromkeys(chain(missing, (f" {token}" for token in missing))))


def first_line(error: BaseException) -> str:
    """Return the first line of an error message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")


Result = TypeVar("Result")

POLL_SECONDS = 0.2
"""Time between checks for an interrupt."""
CANCEL_SECONDS = 5.0
"""Maximum time to wait for a cancelled call to end."""


def interruptible(call: Callable[[], Result], cancel: Callable[[], object] | None = None) -> Result:
    """Call a function in another thread, so that an interrupt is handled while it blocks, and return its result.

    After an interrupt, `cancel` is called to end the function. Without `cancel`, it runs until the process ends.
    """
    running = _Call(call, cancel)
    try:
        return running.result()
    except BaseException:
        running.end()
        raise


def interruptible_items(items: Iterator[Result], cancel: Callable[[], object] | None = None) -> Iterator[Result]:
    """Yield items, none of which may be None, and handle interrupts while waiting for the next."""
    while (item := interruptible(lambda: next(items, None), cancel)) is not None:
        yield item


class _Call(Generic[Result]):
    """A function call in another thread."""

    def __init__(self, call: Callable[[], Result], cancel: Callable[[], object] | None) -> None:
        self._call, self._cancel = call, cancel
        self._wanted = True
        self._thread = Thread(target=self._run, daemon=True)
        self._done: Future[Result] = Future()
        # Waiting for the future itself could leave its lock in an inconsistent state after an interrupt.
        self._ended: SimpleQueue[None] = SimpleQueue()

    def result(self) -> Result:
        """Return the result of the function, or raise its exception."""
        self._thread.start()
        while not self._done.done():
            with suppress(Empty):
                self._ended.get(timeout=POLL_SECONDS)
        # A thread that is still alive when Python exits does not release its objects.
        self._thread.join()
        return self._done.result()

    def _run(self) -> None:
        """Call the function, unless it was cancelled before it started."""
        _inside.add(self)
        try:
            if self._wanted:
                self._done.set_result(self._call())
        except BaseException as error:
            self._done.set_exception(error)
        finally:
            _inside.discard(self)
            self._ended.put(None)

    def end(self) -> None:
        """Cancel the function, and wait a limited time for its thread to end."""
        self._wanted = False
        if self._cancel is None:
            return
        deadline = time.monotonic() + CANCEL_SECONDS
        while self in _inside and time.monotonic() < deadline:
            # Cancel repeatedly: the call may have ended, or may not have started when it was cancelled.
            with suppress(Exception):
                self._cancel()
            with suppress(Empty):
                self._ended.get(timeout=POLL_SECONDS)
        if self._thread.is_alive():
            self._thread.join(max(deadline - time.monotonic(), 0.0))


_inside: set[_Call[Any]] = set()
"""Calls that have not ended."""


@atexit.register
def _end_all() -> None:
    """End all calls before Python exits; a thread that returned from DuckDB later would abort the process.

    A call is left running if a second interrupt arrives while the first is handled.
    """
    for call in list(_inside):
        call.end()
