"""Attack what tanbark reads from files for as long as is wanted: ``python tests/fuzz/run.py --minutes 5``.

With atheris (``pip install atheris``) the attacks are guided by what they reach of tanbark's code; without it they are
drawn from the seeds by the mutators alone. Each target runs in a process of its own, so that one that crashes, hangs
or takes too much memory is a failure like any other. A failure leaves the file that brought it about in the folder of
``--failures``; ``--again FILE`` tries one. ``NUMBA_BOUNDSCHECK=1`` with a ``NUMBA_CACHE_DIR`` of its own makes kernels
check every index, ``NUMBA_DISABLE_JIT=1`` runs them as Python.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
NAMES = ("model", "command", "bif", "xmlbif", "csv", "arff", "jsonl", "parquet", "feather", "arrows", "xlsx", "csv.gz")
NAMES += (
    "arff.gz",
    "csv.zip",
    "ask csv",
    "ask jsonl",
    "ask parquet",
    "fit csv",
    "fit arff",
    "fit jsonl",
    "fit parquet",
)
TOO_LONG = 60
"""So many seconds a file may take."""
MOST_MEMORY = 12 * 2**30
"""So much address space a process may have, of which libraries reserve most and use little."""


class Session:
    """Attacks on one target until the time is up, and what became of them."""

    def __init__(self, name: str, seconds: float, failures: Path) -> None:
        from fuzz.targets import TARGETS

        self.name, self.target, self.failures = name, TARGETS[name], failures
        self.current = failures / f"{name.replace(' ', '-')}.current"
        self.accepted = self.tried = 0
        self.found: dict[str, int] = {}
        # Kernels are compiled before the time begins.
        assert any(self.target.read(whole) for whole in self.target.seeds()), f"whole files of {name} are refused"
        self.began = time.monotonic()
        self.end = self.began + seconds

    def attempt(self, data: bytes) -> None:
        """Let the target read a file, and end the process once the time is up."""
        if time.monotonic() > self.end:
            self.tell()
            sys.stdout.flush()
            os._exit(1 if self.found else 0)
        self.current.write_bytes(data)
        faulthandler.dump_traceback_later(TOO_LONG, exit=True)
        self.tried += 1
        try:
            self.accepted += self.target.read(data)
        except Exception as error:
            self.fail(error, data)
        faulthandler.cancel_dump_traceback_later()

    def fail(self, error: Exception, data: bytes) -> None:
        """Keep the file, unless one has failed at the same place before."""
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "tanbark" in f.filename]
        where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "outside tanbark"
        what = f"{type(error).__name__} at {where}: {str(error)[:200]!r}"
        kind = f"{type(error).__name__} at {where}"
        if kind not in self.found:
            kept = self.failures / f"{self.name.replace(' ', '-')}-{len(self.found)}.case"
            kept.write_bytes(data)
            print(f"FAILED {self.name}: {what}; see {kept}", flush=True)
        self.found[kind] = self.found.get(kind, 0) + 1

    def tell(self) -> None:
        """Print how it went."""
        self.current.unlink(missing_ok=True)
        took = time.monotonic() - self.began
        failed = sum(self.found.values())
        rejected = self.tried - self.accepted - failed
        told = f"{rejected:,} rejected, {self.accepted:,} accepted, {failed:,} failed in {len(self.found)} ways"
        print(f"{self.name:12s} {self.tried:8,} cases in {took:5.0f} s: {told}")


def attack(name: str, seconds: float, seed: int, failures: Path, guided: bool) -> None:
    """Attack one target in this process."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    faulthandler.enable()
    if not guided:
        session = Session(name, seconds, failures)
        number = seed
        while True:
            session.attempt(session.target.case(number))
            number += 1
    import atheris

    # Kernels are compiled from their bytecode, which must stay as it is.
    (package,) = find_spec("tanbark").submodule_search_locations
    kernels = [f"tanbark.kernels.{path.stem}" for path in Path(package, "kernels").glob("*.py")]
    with atheris.instrument_imports(include=["tanbark"], exclude=kernels):
        session = Session(name, seconds, failures)
    whole = session.target.seeds()

    def mutate(data: bytes, max_size: int, number: int) -> bytes:
        changed = session.target.mutate(bytes(data), random.Random(number), whole)
        return changed if len(changed) <= max_size else bytes(data)

    with tempfile.TemporaryDirectory() as corpus:
        for at, content in enumerate(whole):
            Path(corpus, str(at)).write_bytes(content)
        options = [
            "-max_len=1000000",
            f"-seed={seed + 1}",
            f"-timeout={2 * TOO_LONG}",
            "-rss_limit_mb=0",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *options, corpus], session.attempt, custom_mutator=mutate)
        atheris.Fuzz()


def has_atheris() -> bool:
    """Return whether attacks can be guided."""
    return find_spec("atheris") is not None


def main() -> int:
    """Attack the targets one after the other and return how many have failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0, help="for each target (default 1)")
    parser.add_argument("--target", action="append", choices=NAMES, help="one target, or several; default all")
    parser.add_argument("--seed", type=int, default=1_000_000)
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    parser.add_argument("--unguided", action="store_true", help="do without atheris")
    parser.add_argument("--again", type=Path, help="a file that has failed, to be tried on one target")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    sys.path.insert(0, str(HERE.parent))
    guided = not given.unguided and has_atheris()
    given.failures.mkdir(parents=True, exist_ok=True)
    if given.again:
        from fuzz.targets import TARGETS

        (name,) = given.target
        print("accepted" if TARGETS[name].read(given.again.read_bytes()) else "rejected")
        return 0
    if given.here:
        (name,) = given.target
        attack(name, 60 * given.minutes, given.seed, given.failures, guided)
    print("guided by atheris" if guided else "not guided: atheris is not installed, or not wanted", flush=True)
    failed = 0
    for name in given.target or NAMES:
        words = [sys.executable, __file__, "--here", "--target", name, "--minutes", str(given.minutes)]
        words += ["--seed", str(given.seed), "--failures", str(given.failures)] + ["--unguided"] * (not guided)
        ended = subprocess.run(words).returncode
        failed += ended != 0
        if ended not in (0, 1):
            print(
                f"FAILED {name}: the process ended with {ended}; see {given.failures}/{name.replace(' ', '-')}.current"
            )
    return failed


if __name__ == "__main__":
    sys.exit(main())
