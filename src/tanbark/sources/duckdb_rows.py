"""Rows that DuckDB reads, with calls that Ctrl-C can interrupt."""

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
    """Rows that DuckDB can read: column `i` is ``c<i>`` in SQL, whatever its name.

    Parameters
    ----------
    source : Source
    connection : duckdb.DuckDBPyConnection
    relation : str
        What comes after FROM.
    names, types : tuples of str
        The columns' names in the source, and their SQL types.
    errors : context manager
        Turns what DuckDB says into sentences about the source.
    parts : tuple of str
        What comes after FROM for each part of the rows, where only parts are sure to come in order.
    """

    source: Source
    connection: Any
    relation: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    errors: AbstractContextManager[None]
    parts: tuple[str, ...] = ()

    def select(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the values of SQL expressions in the order of the rows, as columns named 0, 1, ..."""
        yield from each(self._batches(expressions), self.connection.interrupt)

    def _batches(self, expressions: Sequence[str]) -> Iterator[pa.RecordBatch]:
        for relation in self.parts or (self.relation,):
            with self.errors:
                yield from self._reader(expressions, relation)

    def schema(self, expressions: Sequence[str]) -> pa.Schema:
        """Return the types of SQL expressions."""
        with self.errors:
            return self._reader(expressions, self.relation).schema

    def _reader(self, expressions: Sequence[str], relation: str) -> pa.RecordBatchReader:
        named = ", ".join(f'{expression} AS "{i}"' for i, expression in enumerate(expressions))
        columns = ", ".join(f"c{i}" for i in range(len(self.names)))
        query = f"SELECT {named} FROM {relation} AS rows({columns})"
        return arrow_reader(self.connection.sql(query), len(expressions))


def arrow_reader(found: Any, columns: int) -> pa.RecordBatchReader:
    """Return what streams the rows of a result of DuckDB, which called it otherwise before its version 1.5."""
    read = getattr(found, "to_arrow_reader", None) or found.fetch_arrow_reader
    return read(batch_rows(columns))


def connect(database: str = ":memory:", read_only: bool = False) -> Any:
    """Return a connection to DuckDB that prints nothing."""
    import duckdb

    connection = duckdb.connect(database, read_only=read_only)
    connection.execute("SET enable_progress_bar = false")
    return connection


def present(expression: str, sql_type: str, missing: Sequence[str]) -> str:
    """Return an SQL expression that is null where a text says that it is missing."""
    if sql_type == "JSON":
        expression = f"({expression} ->> '$')"
    elif sql_type != "VARCHAR":
        return expression
    if not missing:
        return expression
    # Not by IN, which DuckDB may turn into a join, and a join forgets the order of the rows.
    tokens = " ".join(f"WHEN {quoted(token)} THEN NULL" for token in spelled(missing))
    return f"CASE {expression} {tokens} ELSE {expression} END"


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def spelled(missing: Sequence[str]) -> list[str]:
    """Return the tokens as they stand in files, some of which put a space after each comma."""
    return list(dict.fromkeys(chain(missing, (f" {token}" for token in missing))))


def first_line(error: BaseException) -> str:
    """Return the first line that an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason given")


Found = TypeVar("Found")

OFTEN = 0.2
LONG = 5.0


def interruptible(call: Callable[[], Found], cancel: Callable[[], object] | None = None) -> Found:
    """Return what a function returns that may wait where no signal reaches it: it is called in another thread.

    After an interrupt `cancel` should make it end; what cannot be cancelled is left to end with the process.
    """
    begun = _Call(call, cancel)
    try:
        return begun.result()
    except BaseException:
        begun.end()
        raise


def each(items: Iterator[Found], cancel: Callable[[], object] | None = None) -> Iterator[Found]:
    """Yield items, none of which is None, and heed an interrupt while the next is awaited."""
    while (item := interruptible(lambda: next(items, None), cancel)) is not None:
        yield item


class _Call(Generic[Found]):
    """A function that is called in another thread."""

    def __init__(self, call: Callable[[], Found], cancel: Callable[[], object] | None) -> None:
        self._call, self._cancel = call, cancel
        self._wanted = True
        self._thread = Thread(target=self._run, daemon=True)
        self._done: Future[Found] = Future()
        # To wait for the future itself would leave its lock in disorder after an interrupt.
        self._ended: SimpleQueue[None] = SimpleQueue()

    def result(self) -> Found:
        """Return what the function returned, or raise what it raised."""
        self._thread.start()
        while not self._done.done():
            with suppress(Empty):
                self._ended.get(timeout=OFTEN)
        # A thread that Python finds at its end, though it has nothing more to do, keeps what it holds.
        self._thread.join()
        return self._done.result()

    def _run(self) -> None:
        """Call the function, unless nobody wants it any more."""
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
        """Cancel the function, and wait until its thread has ended, though not for ever."""
        self._wanted = False
        if self._cancel is None:
            return
        late = time.monotonic() + LONG
        while self in _inside and time.monotonic() < late:
            # It may have ended meanwhile; or it had not begun to wait, so that there was nothing to cancel.
            with suppress(Exception):
                self._cancel()
            with suppress(Empty):
                self._ended.get(timeout=OFTEN)
        if self._thread.is_alive():
            self._thread.join(max(late - time.monotonic(), 0.0))


_inside: set[_Call[Any]] = set()
"""The calls that have not ended."""


@atexit.register
def _end_all() -> None:
    """Get threads out of databases before Python ends: where one came back from DuckDB later, the process would abort.

    One is left there by an interrupt that comes while another is heeded.
    """
    for call in list(_inside):
        call.end()
