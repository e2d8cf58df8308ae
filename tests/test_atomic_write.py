"""Files are replaced atomically."""

import errno
import os
import stat
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest

from tanbark.atomic_write import remove_leftovers, replacing


def _write_and_raise(file, error):
    file.write(b"ne")
    raise error


def listed(folder):
    return sorted(p.name for p in folder.iterdir())


def test_the_old_file_stays_until_the_new_one_is_complete(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert listed(tmp_path) == ["a"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_unchanged(tmp_path, error):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(error), replacing(path) as file:
        _write_and_raise(file, error)
    assert path.read_bytes() == b"old"
    assert listed(tmp_path) == ["a"]


def test_file_and_folder_are_synced_to_disk(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace

    def synced(descriptor):
        done.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", lambda *names: (done.append("rename"), replace(*names)))
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert done == ["file", "rename", "folder"]


def test_a_link_stays_a_link_and_its_file_is_replaced(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("far/a")
    with replacing(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "far" / "a").read_bytes() == b"new"
    assert listed(tmp_path / "far") == ["a"]


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with replacing(path) as file:
        file.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_default_permissions_without_changing_the_umask(tmp_path, monkeypatch):
    (tmp_path / "any").touch()
    # Reading the umask would change it for all threads.
    monkeypatch.delattr(os, "umask")
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "any").stat().st_mode


def test_the_temporary_file_has_the_permissions_of_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with replacing(path):
        (temporary,) = (p for p in tmp_path.iterdir() if p != path)
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def test_leftovers_of_this_file_and_suffix_are_removed_and_nothing_else(tmp_path):
    kept = [".a.abcdefgh", ".a.abcdefg.part", ".b.abcdefgh.part", ".a.ABCDEFGH.part", "a", ".ab.abcdefgh.part"]
    for name in [*kept, ".a.abcdefgh.part", ".a.0_345678.part"]:
        (tmp_path / name).touch()
    remove_leftovers(tmp_path / "a", ".part")
    assert listed(tmp_path) == sorted(kept)


def test_temporary_names_match_the_leftovers_that_are_removed(tmp_path):
    with replacing(tmp_path / "a+b", ".part"):
        during = listed(tmp_path)
        remove_leftovers(tmp_path / "a+b", ".part")
        assert listed(tmp_path) == during, "a file that is being written must stay"
    (tmp_path / during[0]).touch()
    remove_leftovers(tmp_path / "a+b", ".other")
    assert listed(tmp_path) == [*during, "a+b"]
    remove_leftovers(tmp_path / "a+b", ".part")
    assert listed(tmp_path) == ["a+b"]


WRITER = """
import os, signal, sys
from pathlib import Path
from tanbark.atomic_write import replacing

with replacing(Path(sys.argv[1])) as file:
    file.write(b"of another process")
    file.flush()
    print("writing", flush=True)
    if sys.stdin.readline() == "die\\n":
        os.kill(os.getpid(), signal.SIGKILL)
"""


@contextmanager
def other_process_writing(path):
    """Run another process that is replacing a file, until it is told to go on, or to die."""
    command = [sys.executable, "-c", WRITER, path]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        yield process


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_the_next_write_removes_the_leftovers_of_a_killed_process(tmp_path):
    path = tmp_path / "out.csv"
    with other_process_writing(path) as process:
        process.communicate("die\n")
    [leftover] = listed(tmp_path)
    assert leftover.startswith(".out.csv.")
    with replacing(tmp_path / "other.csv") as file:
        file.write(b"other")
    assert listed(tmp_path) == [leftover, "other.csv"]
    with replacing(path) as file:
        file.write(b"new")
    assert listed(tmp_path) == ["other.csv", "out.csv"]
    assert path.read_bytes() == b"new"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such locks")
def test_a_file_that_a_live_process_is_writing_is_not_removed(tmp_path):
    path = tmp_path / "out.csv"
    with other_process_writing(path) as process:
        [theirs] = listed(tmp_path)
        with replacing(path) as file:
            file.write(b"new")
        assert listed(tmp_path) == [theirs, "out.csv"]
        assert path.read_bytes() == b"new"
        process.communicate("go on\n")
        assert process.returncode == 0
    assert listed(tmp_path) == ["out.csv"]
    assert path.read_bytes() == b"of another process"


def test_hidden_files_of_the_user_are_not_taken_for_leftovers(tmp_path):
    names = [".out.csv.20261119", ".out.csv.original", ".out.csv.bak"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / ".out.csv.abcdefgh.part").mkdir()
    with replacing(tmp_path / "out.csv") as file:
        file.write(b"new")
    assert listed(tmp_path) == sorted([*names, ".out.csv.abcdefgh.part", "out.csv"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_with_the_name_of_a_leftover_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / ".a.abcdefgh.part")
    remove_leftovers(tmp_path / "a", ".part")
    assert listed(tmp_path) == [".a.abcdefgh.part"]


def test_a_new_file_that_another_process_takes_for_a_leftover_gets_another_name(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    lock, removed = fcntl.flock, []

    def removed_before_the_lock(file, how):
        if not removed:
            removed.append(file.name)
            os.unlink(file.name)
        lock(file, how)

    monkeypatch.setattr(fcntl, "flock", removed_before_the_lock)
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert len(removed) == 1
    assert (tmp_path / "a").read_bytes() == b"new"
    assert listed(tmp_path) == ["a"]


def test_a_file_system_without_locks_can_be_written_and_keeps_leftovers(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def unsupported(file, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", unsupported)
    (tmp_path / ".a.abcdefgh.part").touch()
    with replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert listed(tmp_path) == [".a.abcdefgh.part", "a"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    with replacing(pipe) as file:
        file.write(b"through")
    reader.join(10)
    assert received == [b"through"]
    assert pipe.is_fifo()
