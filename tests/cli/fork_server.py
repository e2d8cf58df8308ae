"""A process that has imported everything and forks one that runs a command, as often as it is asked to on stdin.

Each line asks with a JSON object: the ``words`` of the command; to ``kill_after`` so many seconds, which begin at once
(``after`` "start"), when a file that ends in ``.update`` is beside the file ``model`` ("writing"), or when that is
another file ("rename"); the ``most_bytes`` that a file may have. Each answer is a JSON object: by which signal the
command was ``killed``, or with which ``code`` it ended, how many ``seconds`` it took, and what it ``said``.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import sys
import time
from contextlib import redirect_stdout, suppress
from importlib import import_module
from pathlib import Path

import pyarrow as pa

import tanbark
from tanbark.classifiers.prequential_update import pending_update
from tanbark.cli import app
from tanbark.files import to_bytes

POLL = 0.0002


def warm(model):
    """Import and compile all that an update needs, so that no fork has to, without starting a thread."""
    empty = Path(model).with_name("empty.csv")
    empty.touch()
    with redirect_stdout(io.StringIO()), suppress(SystemExit):
        app(["update", model, str(empty)])
    empty.unlink()
    learning = tanbark.load(model)
    X = pa.table({column.name: pa.array(column.levels[:1]) for column in learning.schema_.columns})
    learning.predict_log_proba(X)
    update = pending_update(learning)
    update.add(X, pa.array(learning.schema_.classes[:1]))
    update.apply()
    to_bytes(learning)
    for module in ("duckdb", "pyarrow.compute", "rich.table"):
        import_module(module)


def command(words, output, most_bytes):
    """Run a command in this process, and end it."""
    sys.stdout = sys.stderr = os.fdopen(output, "w")
    if most_bytes is not None:
        sys.dont_write_bytecode = True
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    code = 0
    try:
        app(words)
    except SystemExit as ended:
        code = ended.code or 0
    finally:
        sys.stdout.flush()
        os._exit(code if isinstance(code, int) else 1)


def sign(ask, inode):
    """Return whether there is what the time until the kill begins with."""
    model = Path(ask["model"])
    if ask["after"] == "writing":
        return any(name.endswith(".update") for name in os.listdir(model.parent))
    return ask["after"] == "start" or model.stat().st_ino != inode


def ended():
    """Return whether the one child has ended, leaving it to be waited for."""
    return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def answer(ask):
    reading, writing = os.pipe()
    inode = Path(ask["model"]).stat().st_ino if "model" in ask else 0
    began = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reading)
        command(ask["words"], writing, ask.get("most_bytes"))
    os.close(writing)
    if "kill_after" in ask:
        while not sign(ask, inode) and not ended():
            time.sleep(POLL)
        when = time.monotonic() + ask["kill_after"]
        while time.monotonic() < when and not ended():
            time.sleep(POLL)
        # It was not waited for, so that its number is still its own.
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    took = time.monotonic() - began
    with os.fdopen(reading) as printed:
        said = printed.read()
    killed = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    code = os.WEXITSTATUS(status) if killed is None else None
    return {"killed": killed, "code": code, "seconds": took, "said": said}


if __name__ == "__main__":
    warm(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
