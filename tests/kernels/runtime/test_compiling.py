"""The cache of compiled kernels: results are correct whatever its state."""

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

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="compilation is disabled")

INTEGERS, FLOATS = np.array([1, 2, 3]), np.array([0.5, 0.25, 1.0])


def total(values):
    result = values[0]
    for value in values[1:]:
        result += value
    return result


def new_kernel():
    """Return a kernel without compiled signatures, as in a new process."""
    return njit(nogil=True, cache=True)(total)


def was_cached(kernel):
    """Return whether all signatures with which the kernel was called came from the cache."""
    return not kernel.stats.cache_misses and bool(kernel.stats.cache_hits)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Return an empty cache directory for compiled kernels."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.usefixtures("cache")
def test_kernels_are_cached_for_each_type():
    assert (new_kernel()(INTEGERS), new_kernel()(FLOATS)) == (6, 1.75)
    again = new_kernel()
    assert (again(INTEGERS), again(FLOATS)) == (6, 1.75)
    assert was_cached(again)


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("size", [0, 100])
def test_a_truncated_cache_file_is_recompiled_and_replaced(cache, suffix, size):
    new_kernel()(INTEGERS)
    (truncated,) = cache.rglob(f"*.{suffix}")
    truncated.write_bytes(truncated.read_bytes()[:size])
    assert new_kernel()(INTEGERS) == 6
    again = new_kernel()
    assert again(INTEGERS) == 6
    assert was_cached(again)


def test_a_kernel_overwritten_by_another_process_is_not_used(cache):
    # Two processes read an empty index and write the same two files. Here the index of the second process remains, with
    # the kernel of the first.
    new_kernel()(INTEGERS)
    (data,) = cache.rglob("*.1.nbc")
    first_kernel = data.read_bytes()
    next(cache.rglob("*.nbi")).unlink()
    new_kernel()(FLOATS)
    data.write_bytes(first_kernel)
    assert new_kernel()(FLOATS) == 1.75
    again = new_kernel()
    assert again(FLOATS) == 1.75
    assert was_cached(again)


def test_a_full_disk_raises_no_error(cache):
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        assert new_kernel()(INTEGERS) == 6
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in cache.rglob("*") if path.is_file() and path.stat().st_size]
    new_kernel()(INTEGERS)
    again = new_kernel()
    assert again(INTEGERS) == 6
    assert was_cached(again)


def _call_kernel(barrier, results, number):
    barrier.wait()
    kernel = new_kernel()
    order = (INTEGERS, FLOATS) if number % 2 else (FLOATS, INTEGERS)
    results.put(sorted(float(kernel(values)) for values in order))


def test_processes_that_start_at_once_share_an_empty_cache(cache):
    fork = multiprocessing.get_context("fork")
    barrier, results = fork.Barrier(6), fork.Queue()
    processes = [fork.Process(target=_call_kernel, args=(barrier, results, number)) for number in range(6)]
    for process in processes:
        process.start()
    answers = [results.get(timeout=60) for _ in processes]
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert answers == [[1.75, 6.0]] * 6
    for values, expected in ((INTEGERS, 6), (FLOATS, 1.75)):
        assert new_kernel()(values) == expected
    assert not list(cache.rglob("*.tmp.*"))


def test_without_a_writable_cache_directory_the_library_works_and_warns_once(tmp_path):
    package = Path(tanbark.__file__).parent
    shutil.copytree(package, tmp_path / "tanbark", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [tmp_path / "tanbark", *(tmp_path / "tanbark").rglob("*/")]:
        # Not even the superuser can create a directory where a file exists.
        (folder / "__pycache__").touch()
    script = (
        "import numpy as np, tanbark.kernels.infer.tree_joint\n"
        "from tanbark.kernels.trees.information_trees import grow_tree\n"
        "us, vs = np.zeros(2, int), np.zeros(2, int)\n"
        "grow_tree(np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]), us, vs)\n"
        "print(tanbark.__file__, *us, *vs)\n"
    )
    environment = {name: text for name, text in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    environment |= {"HOME": os.devnull, "PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "default"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [str(tmp_path / "tanbark" / "__init__.py"), "1", "1", "2", "0"]
    assert done.stderr.count("compiled kernels cannot be cached") == 1


def test_an_interrupt_is_deferred_until_compilation_has_finished():
    """Otherwise it might be lost or leave the compiler in an inconsistent state."""
    signatures = []

    def compiler(signature):
        signal.raise_signal(signal.SIGINT)
        signatures.append(signature)
        return "kernel"

    original = signal.getsignal(signal.SIGINT)
    for handler in (signal.default_int_handler, original):
        signal.signal(signal.SIGINT, handler)
        with pytest.raises(KeyboardInterrupt):
            compiling._defer_interrupts(compiler)("int64")
        assert signal.getsignal(signal.SIGINT) is handler
    # Compiling a kernel may compile the kernels that it calls.
    with pytest.raises(KeyboardInterrupt):
        compiling._defer_interrupts(compiling._defer_interrupts(compiler))("float64")
    assert signatures == ["int64", "int64", "float64"]
