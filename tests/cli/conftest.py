"""A small table with everything in it, written in every format."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from tanbark.cli import app


def weather() -> pa.Table:
    """Return 40 rows of text, whole numbers with few values, measurements with holes, and a class."""
    rows = range(40)
    sky = [("sun", "rain", "cloud, grey")[(i * 7) % 3] for i in rows]
    wind = [(i * 5) % 4 for i in rows]
    degrees = [None if i % 11 == 3 else 10.0 + ((i * 13) % 17) / 2 for i in rows]
    walk = ["yes" if s == "sun" or (w < 2 and i % 5) else "no" for i, (s, w) in enumerate(zip(sky, wind))]
    return pa.table({"sky": sky, "wind": wind, "degrees": degrees, "walk": walk})


def written(table: pa.Table, path: Path) -> Path:
    """Write a table in the format that the name asks for."""
    rows = table.to_pylist()
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    elif path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = ["% made for a test", "@RELATION 'a test'"]
        for name in table.column_names:
            column = table.column(name)
            levels = sorted({v for v in column.to_pylist() if v is not None}, key=str)
            kind = "{" + ", ".join(f"'{v}'" for v in levels) + "}" if pa.types.is_string(column.type) else "numeric"
            lines.append(f"@Attribute '{name}' {kind}")
        lines.append("@data")
        for row in rows:
            shown = ["?" if v is None else f"'{v}'" if isinstance(v, str) else str(v) for v in row.values()]
            lines.append(",".join(shown))
        path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def write() -> Callable[[pa.Table, Path], Path]:
    return written


@pytest.fixture
def table() -> pa.Table:
    return weather()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Any]:
    """Run a command in an empty folder and return its result; stdout and stderr are apart."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")

    def command(*words: Any, code: int = 0, stdin: bytes | None = None) -> Any:
        result = CliRunner().invoke(app, [str(word) for word in words], input=stdin)
        assert result.exit_code == code, result.output
        if code:
            assert result.stderr.startswith("error: ")
            assert result.stderr.count("\n") == 1
            assert "Traceback" not in result.stderr
        return result

    return command
