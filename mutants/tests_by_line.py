"""Which tests run a line of the library, the most telling first.

Each test file is run once with `record.py`, and again when it or the library has changed. The order of the tests of a
line: one case of every test function before a second of any, the quick ones first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import coverage

HERE = Path(__file__).parent
MARKS = "not slow and not browser and not gpu"
LEFT_OUT = (
    *(
        "benchmarks",
        "dask",
        "docs",
        "imports",
        "layers",
        "lock",
        "mutants",
        "public_names",
        "release",
        "skips",
        "spark",
    ),
    *("study_datasets", "study_design", "study_learners", "study_tables", "typing"),
)
"""What tests another thing than the lines of the library, or tests it in processes of its own."""
OF_ALL = ["tests/test_values.py::test_every_dataclass_of_the_library_is_frozen"]
"""They read the sources instead of running them, so that no record shows it."""
MOST_SECONDS, MOST_TESTS = 60.0, 400
"""Where more tests than that run a line, the rest is not asked: a mutant may survive that they would kill."""


def test_files() -> list[str]:
    """The files of tests that can judge a mutant, and the doctests of the library."""
    files = [*Path("tests").glob("test_*.py"), *Path("tests/integration").glob("test_*.py")]
    names = [path.as_posix() for path in files if not path.stem.startswith(tuple(f"test_{name}" for name in LEFT_OUT))]
    return [*sorted(names), "src/calibrant"]


class TestsByLine:
    """What is recorded in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def record(self, jobs: int) -> None:
        """Run the test files whose record is missing or old."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(jobs) as pool:
            for line in pool.map(self._run, [file for file in test_files() if not self._is_new(file)]):
                print(line, flush=True)

    def _is_new(self, file: str) -> bool:
        digest = self._place(file).with_suffix(".digest")
        return digest.exists() and digest.read_text() == _digest(file)

    def _place(self, file: str) -> Path:
        return self.folder / (file.removesuffix(".py").replace("/", "__") + ".coverage")

    def _run(self, file: str) -> str:
        place, digest = self._place(file), _digest(file)
        for suffix in (".coverage", ".seconds", ".digest"):
            place.with_suffix(suffix).unlink(missing_ok=True)
        path = os.pathsep.join(["src", str(HERE), os.environ.get("PYTHONPATH", "")])
        said = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "record", "-p", "no:cacheprovider", "-m", MARKS, file],
            env={**os.environ, "PYTHONPATH": path, "MUTANTS_MAP": str(place)},
            capture_output=True,
            text=True,
            check=False,
        )
        if said.returncode > 1 and said.returncode != 5:  # 1: some fail, and judge nothing; 5: there are none
            raise RuntimeError(f"{file} could not be recorded: {said.stdout[-500:]}{said.stderr[-500:]}")
        place.with_suffix(".digest").write_text(digest)
        return f"{file}: {said.stdout.splitlines()[-1]}"

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test takes."""
        found: dict[str, float] = {}
        for path in sorted(self.folder.glob("*.seconds")):
            found |= json.loads(path.read_text())
        return found

    @cached_property
    def _by_line(self) -> dict[str, dict[int, set[str]]]:
        """The tests of every line of every file, read at once: a record that is open must not be forked."""
        found: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path in sorted(self.folder.glob("*.coverage")):
            record = coverage.CoverageData(str(path))
            record.read()
            for file in record.measured_files():
                name = file[file.rindex("/src/calibrant/") + 1 :]
                for line, tests in record.contexts_by_lineno(file).items():
                    found[name][line].update(tests)
            record.close()
        return found

    def of(self, path: str, lines: range, *, at_import: bool) -> list[str]:
        """The tests that run one of these lines of a file, in the order to run them in."""
        by_line = self._by_line.get(path, {})
        wanted = by_line if at_import else set(lines) & set(by_line)
        found = set().union(*(by_line[line] for line in wanted))
        return list(self._affordable(found & set(self.seconds))) + (OF_ALL if at_import else [])

    def _affordable(self, tests: Iterable[str]) -> Iterator[str]:
        by_function = defaultdict(list)
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            by_function[test.partition("[")[0]].append(test)
        rank = {test: place for cases in by_function.values() for place, test in enumerate(cases)}
        spent = 0.0
        for count, test in enumerate(sorted(rank, key=lambda test: (rank[test], self.seconds[test]))):
            spent += self.seconds[test]
            if count >= 1 and (spent > MOST_SECONDS or count >= MOST_TESTS):
                return
            yield test


def _digest(file: str) -> str:
    """Of a test file and the library: a change to either may move a line or reach another."""
    digest = sha256()
    for path in [Path(file), *sorted(Path("src").rglob("*.py"))]:
        digest.update(path.read_bytes() if path.is_file() else b"")
    return digest.hexdigest()
