"""A file is replaced whole or not at all, whatever stops the writing."""

from __future__ import annotations

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from forged import small
from systems import on_posix

from calibrant import Calibrator, atomic
from calibrant.files import load, save


@pytest.fixture
def path(tmp_path):
    """An old file."""
    (tmp_path / "file").write_bytes(b"old")
    return tmp_path / "file"


def kept(path):
    """Whether the old file is whole, and alone."""
    return path.read_bytes() == b"old" and os.listdir(path.parent) == [path.name]


@pytest.mark.parametrize("step", ["fsync", "replace", "chmod"])
@pytest.mark.parametrize("problem", [OSError(errno.EIO, "Input/output error"), KeyboardInterrupt()], ids=repr)
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(step, problem, path, monkeypatch):
    def fail(*arguments):
        raise problem

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(problem)):
        atomic.write(path, b"new")
    assert kept(path)


FULL = """
import resource, sys
from calibrant import atomic
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))  # as a disk with 1000 bytes left
try:
    atomic.write(sys.argv[1], bytes(2000))
except OSError as error:
    print(error)
"""


@on_posix
def test_a_full_disk_is_one_sentence_and_loses_nothing(path):
    said = subprocess.check_output([sys.executable, "-c", FULL, str(path)], text=True)
    assert re.fullmatch(rf"\[Errno \d+\] File too large: '{path}'\n", said)
    assert kept(path)


KILLED = """
import sys
import numpy as np
from calibrant import Calibrator
one, two = (Calibrator().fit(np.zeros(n), np.arange(1.0, n + 1)) for n in (20_000, 30_000))
while True:
    one.save(sys.argv[1])
    two.save(sys.argv[1])
    print(flush=True)
"""


@pytest.mark.slow
def test_a_process_killed_while_it_saves_leaves_a_file_that_loads(path):
    rng = np.random.default_rng(8)
    for _ in range(5):
        with subprocess.Popen([sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            try:
                process.wait(rng.uniform(0, 0.05))
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        assert load(path).guarantee.n in (20_000, 30_000)


def test_of_several_writers_at_once_one_wins(path):
    models = [Calibrator().fit(np.zeros(n), np.arange(1.0, n + 1)) for n in (2000, 3000)]
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda k: save(path, models[k % 2]), range(20)))
    assert load(path).guarantee.n in (2000, 3000)
    assert os.listdir(path.parent) == [path.name]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(repr(str(tmp_path / "none")))):
        atomic.write(tmp_path / "none" / "file", b"new")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_may_be_written_but_not_looked_into_takes_files(path, monkeypatch):
    def closed(*arguments):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("calibrant.atomic.Path.glob", closed)
    atomic.write(path, b"new")
    assert path.read_bytes() == b"new"


def test_links_in_a_circle_are_not_replaced(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match=re.escape(repr(str(tmp_path / "loop")))):
        atomic.write(tmp_path / "loop", b"new")


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(IsADirectoryError, match=re.escape(repr(str(tmp_path)))):
        atomic.write(tmp_path, b"new")


@on_posix
def test_a_pipe_is_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for action in (load, lambda path: save(path, small())):
        with pytest.raises(OSError, match="pipe is a device or a pipe, not a file"):
            action(tmp_path / "pipe")


@on_posix
@pytest.mark.parametrize("mask", [0o022, 0o027])
def test_a_new_file_has_the_usual_permissions(mask, tmp_path):
    before = os.umask(mask)
    try:
        atomic.write(tmp_path / "new", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask


@on_posix
@pytest.mark.parametrize("mode", [0o640, None])
def test_a_replaced_file_keeps_its_permissions_and_while_it_is_written_nobody_else_reads_it(mode, path):
    path.unlink() if mode is None else path.chmod(mode)
    with atomic.replacing(path) as temporary:
        assert stat.S_IMODE(os.stat(temporary).st_mode) == 0o600
    assert stat.S_IMODE(path.stat().st_mode) == mode or mode is None


@on_posix
def test_a_symbolic_link_stays_one(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(os.path.join("folder", "target"))
    for content in (b"first", b"second"):  # the target is not there yet, then it is
        atomic.write(tmp_path / "link", content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "folder" / "target").read_bytes() == content


@pytest.mark.parametrize(("hours", "stays"), [(23, True), (25, False)])
def test_what_a_killed_run_left_is_removed_after_a_day(hours, stays, path):
    left, other = path.parent / ".calibrant-0123456789abcdef.tmp", path.parent / "a.tmp"
    for each in (left, other):
        each.touch()
        os.utime(each, (time.time() - 3600 * hours,) * 2)
    atomic.write(path, b"new")
    assert (left.exists(), other.exists()) == (stays, True)


def test_no_file_stays_open(path, monkeypatch):
    opened, open_file = [], os.open

    def noted(*arguments, **others):
        opened.append(open_file(*arguments, **others))
        return opened[-1]

    monkeypatch.setattr(os, "open", noted)
    atomic.write(path, b"new")
    assert opened
    for descriptor in opened:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(descriptor)
