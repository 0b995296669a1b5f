"""Is a mutant noticed? It is put into a copy of the tree, and the tests that run its line are run there.

Each is judged in a fork of a process that has imported the libraries but not calibrant, since importing them takes
longer than most of the tests.
"""

from __future__ import annotations

import importlib
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

LIBRARIES = (
    *("numpy", "scipy.stats", "scipy.optimize", "scipy.interpolate", "pandas", "pyarrow.parquet", "pyarrow.csv"),
    *("pyarrow.feather", "pyarrow.dataset", "sklearn.ensemble", "sklearn.pipeline", "matplotlib.pyplot", "torch"),
    *("jinja2", "narwhals", "polars", "rich.console", "safetensors.numpy", "typer.testing"),
    *("array_api_strict", "array_api_compat.torch", "sklearn.datasets", "sklearn.model_selection"),
)

MADE = re.compile(r"\.venv.*|build|dist|__pycache__|\.[a-z]+_cache|\.hypothesis")
"""Folders that are made here, as in .gitignore."""

BROKEN = 99
"""The exit status where not the mutant but its judge broke."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: killed, timeout, survived, or unreached where no test runs its line."""

    outcome: str
    by: str = ""
    """The first test that failed."""
    tests: int = 0

    @property
    def noticed(self) -> bool:
        """Whether the tests saw it."""
        return self.outcome in ("killed", "timeout")


@dataclass(frozen=True)
class Judged:
    """What became of a mutant now, what became of it before anybody closed a hole, and a digest of today's tests."""

    verdict: Verdict
    first: Verdict
    asked: str


def files(root: Path) -> list[str]:
    """The files that git knows, or could know; in an sdist, which is no repository, all that nothing here made."""
    if (root / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.check_output(command, cwd=root).decode().split("\0")
        return [name for name in listed if name and (root / name).is_file()]
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return [path.as_posix() for path in found if not any(map(MADE.fullmatch, path.parts))]


class Tree:
    """A copy of the project's files, in which a file can be changed for a while."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def make(self) -> None:
        """Copy anew, and compile: what is compiled counts only as long as the source is the same."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in files(Path.cwd()):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(name, self.folder / name)
        command = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "src"]
        subprocess.run([sys.executable, *command], cwd=self.folder, check=True)

    @contextmanager
    def changed(self, path: str, code: str):
        """With other code in one file."""
        file = self.folder / path
        kept = file.read_bytes()
        file.write_text(code, encoding="utf-8")
        try:
            yield
        finally:
            file.write_bytes(kept)

    def run(self, tests: Sequence[str], cpu_seconds: float) -> Verdict:
        """Run tests until the first fails; without those whose names a mutant changes, as one of a default in them."""
        if not tests:
            return Verdict("unreached")
        log = self.folder.with_suffix(".log")
        (self.folder.with_suffix(".tests")).write_text("\n".join(tests), encoding="utf-8")
        child = os.fork()
        if not child:
            try:
                status = self._in_child(log, cpu_seconds)
            except BaseException:
                log.write_text(traceback.format_exc(), encoding="utf-8")
                status = BROKEN
            os._exit(int(status))
        try:
            return self._waited(child, log, cpu_seconds, len(tests))
        except _NotFoundError as error:
            left = [test for test in tests if test.partition("[")[0] not in error.args[0]]
            if len(left) == len(tests):
                raise
            return self.run(left, cpu_seconds)

    def _in_child(self, log: Path, cpu_seconds: float) -> int:
        os.setsid()
        limit = int(cpu_seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.chdir(self.folder)
        source = str(self.folder / "src")
        sys.path[:] = [source, *(entry for entry in sys.path if not entry.endswith("/src"))]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [source, os.environ.get("PYTHONPATH")]))
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        options = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "--rootdir", str(self.folder)]
        return pytest.main([*options, f"@{self.folder.with_suffix('.tests')}"], plugins=[_FirstFailure()])

    def _waited(self, child: int, log: Path, cpu_seconds: float, tests: int) -> Verdict:
        patience = time.monotonic() + 60 + 4 * cpu_seconds  # others may have the cores
        while not (done := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > patience:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return Verdict("timeout", tests=tests)
            time.sleep(0.02)
        if os.WIFSIGNALED(done[1]):
            stopped = os.WTERMSIG(done[1]) in (signal.SIGXCPU, signal.SIGKILL)
            return Verdict("timeout" if stopped else "killed", "a crash", tests)
        if os.WEXITSTATUS(done[1]) == 0:
            return Verdict("survived", tests=tests)
        said = log.read_text(encoding="utf-8", errors="replace")
        if os.WEXITSTATUS(done[1]) == BROKEN:
            raise RuntimeError(f"a mutant could not be judged: {said}")
        by = [line.removeprefix("first failure: ") for line in said.splitlines() if line.startswith("first failure: ")]
        if not by:
            start = f"ERROR: not found: {self.folder}/"
            if gone := {line.removeprefix(start) for line in said.splitlines() if line.startswith(start)}:
                raise _NotFoundError(gone)
            raise RuntimeError(f"a mutant could not be judged: {said[-2000:]}")
        return Verdict("killed", by[0], tests)


class _NotFoundError(RuntimeError):
    """Tests that there are not, without what stands in brackets."""


class _FirstFailure:
    """Says which test failed first, in a line of its own."""

    def pytest_runtest_logreport(self, report) -> None:
        if report.failed:
            print(f"\nfirst failure: {report.nodeid}", flush=True)

    pytest_collectreport = pytest_runtest_logreport


def preload() -> None:
    """Import what the tests use, but not what is judged."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    for name in LIBRARIES:
        importlib.import_module(name)
    if loaded := [name for name in sys.modules if name.partition(".")[0] == "calibrant"]:
        raise RuntimeError(f"{loaded[0]} is loaded already, so no mutant of it would be seen")
