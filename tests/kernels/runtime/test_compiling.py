"""The cache of compiled kernels: whatever is wrong with it, answers are right."""

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import tanbark
from tanbark.kernels.runtime import compiling
from tanbark.kernels.runtime.compiling import njit

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

WHOLE, PARTS = np.array([1, 2, 3]), np.array([0.5, 0.25, 1.0])


def total(values):
    found = values[0]
    for value in values[1:]:
        found += value
    return found


def compiled():
    """Return a kernel that has compiled nothing yet, as in a process that has just begun."""
    return njit(nogil=True, cache=True)(total)


def was_kept(kernel):
    """Return whether everything that a kernel was called with had been compiled before."""
    return not kernel.stats.cache_misses and bool(kernel.stats.cache_hits)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A folder of compiled kernels."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.usefixtures("cache")
def test_what_was_compiled_is_kept_for_each_type():
    assert (compiled()(WHOLE), compiled()(PARTS)) == (6, 1.75)
    again = compiled()
    assert (again(WHOLE), again(PARTS)) == (6, 1.75)
    assert was_kept(again)


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("left", [0, 100])
def test_a_torn_file_is_compiled_anew_and_replaced(cache, ending, left):
    compiled()(WHOLE)
    (torn,) = cache.rglob(f"*.{ending}")
    torn.write_bytes(torn.read_bytes()[:left])
    assert compiled()(WHOLE) == 6
    again = compiled()
    assert again(WHOLE) == 6
    assert was_kept(again)


def test_what_another_process_wrote_over_is_not_taken_for_ones_own(cache):
    # Two processes read an index without entries, and each writes it with its own; the second's index stays, and the
    # first's kernel, since both are the first file.
    compiled()(WHOLE)
    (data,) = cache.rglob("*.1.nbc")
    of_the_first = data.read_bytes()
    next(cache.rglob("*.nbi")).unlink()
    compiled()(PARTS)
    data.write_bytes(of_the_first)
    assert compiled()(PARTS) == 1.75
    again = compiled()
    assert again(PARTS) == 1.75
    assert was_kept(again)


def test_a_full_disk_is_no_error(cache):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        assert compiled()(WHOLE) == 6
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size]
    compiled()(WHOLE)
    again = compiled()
    assert again(WHOLE) == 6
    assert was_kept(again)


def _begin(barrier, found, number):
    barrier.wait()
    kernel = compiled()
    order = (WHOLE, PARTS) if number % 2 else (PARTS, WHOLE)
    found.put(sorted(float(kernel(values)) for values in order))


def test_processes_that_start_at_once_share_an_empty_cache(cache):
    fork = multiprocessing.get_context("fork")
    barrier, found = fork.Barrier(6), fork.Queue()
    started = [fork.Process(target=_begin, args=(barrier, found, number)) for number in range(6)]
    for one in started:
        one.start()
    answers = [found.get(timeout=60) for _ in started]
    for one in started:
        one.join(60)
        assert one.exitcode == 0
    assert answers == [[1.75, 6.0]] * 6
    for values, right in ((WHOLE, 6), (PARTS, 1.75)):
        assert compiled()(values) == right
    assert not list(cache.rglob("*.tmp.*"))


def test_without_a_folder_to_write_to_the_library_works_and_says_so_once(tmp_path):
    package = Path(tanbark.__file__).parent
    shutil.copytree(package, tmp_path / "tanbark", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [tmp_path / "tanbark", *(tmp_path / "tanbark").rglob("*/")]:
        # Not even the superuser can make a folder where a file is.
        (folder / "__pycache__").touch()
    script = (
        "import numpy as np, tanbark.kernels.infer.tree_joint\n"
        "from tanbark.kernels.trees.tree_growth import grow_tree\n"
        "us, vs = np.zeros(2, int), np.zeros(2, int)\n"
        "grow_tree(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]), us, vs)\n"
        "print(tanbark.__file__, *us, *vs)\n"
    )
    homeless = {name: text for name, text in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    homeless |= {"HOME": os.devnull, "PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=homeless, cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "tanbark" / "__init__.py"), "1", "1", "2", "0"]
    assert done.stderr.count("there is no folder to keep compiled kernels in") == 1


def test_an_interrupt_waits_until_a_kernel_is_compiled():
    """It would be lost, or leave the compiler in disorder."""
    compiled = []

    def compiler(signature):
        signal.raise_signal(signal.SIGINT)
        compiled.append(signature)
        return "kernel"

    usual = signal.getsignal(signal.SIGINT)
    for handler in (signal.default_int_handler, usual):
        signal.signal(signal.SIGINT, handler)
        with pytest.raises(KeyboardInterrupt):
            compiling._uninterrupted(compiler)("int64")
        assert signal.getsignal(signal.SIGINT) is handler
    # One that is compiled for another is within it.
    with pytest.raises(KeyboardInterrupt):
        compiling._uninterrupted(lambda signature: compiling._uninterrupted(compiler)(signature))("float64")
    assert compiled == ["int64", "int64", "float64"]
