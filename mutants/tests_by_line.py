"""Which tests run a line of the library, the most telling first.

Each test file is run once with `record.py`, and again when it or the library has changed. The order of the tests of a
line: one case of every test function before a second of any, the quick ones first. They are asked in two rounds, since
most mutants fall to the first few tests, and a survivor should have met many.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property
from hashlib import sha256
from itertools import accumulate, islice
from pathlib import Path

import coverage

HERE = Path(__file__).parent
FOLDERS = ("", "tables", "integration", "conformance")
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
    "typing",
)
"""What tests another thing than the lines of the library, or tests it in processes of its own."""
OF_ALL = ["tests/test_values.py::test_every_dataclass_of_the_library_is_frozen"]
"""They read the sources instead of running them, so that no record shows it."""
FIRST_SECONDS, FIRST_TESTS = 15.0, 100
"""Of the first round."""
MOST_SECONDS, MOST_TESTS = 120.0, 1000
"""Where more tests than that run a line, the rest is not asked: a mutant may survive that they would kill."""


def test_files() -> list[str]:
    """The files of tests that can judge a mutant, and the doctests of the library and of its documentation."""
    files = [path for folder in FOLDERS for path in Path("tests", folder).glob("test_*.py")]
    names = [path.as_posix() for path in files if not path.stem.startswith(tuple(f"test_{name}" for name in LEFT_OUT))]
    return [*sorted(names), "src/calibrant", "docs", "README.md"]


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
        return digest.exists() and digest.read_text(encoding="utf-8") == _digest(file)

    def _place(self, file: str) -> Path:
        return self.folder / (file.removesuffix(".py").replace("/", "__") + ".coverage")

    def _run(self, file: str) -> str:
        place, digest = self._place(file), _digest(file)
        for suffix in (".coverage", ".seconds", ".digest"):
            place.with_suffix(suffix).unlink(missing_ok=True)
        for path in self.folder.glob("*.distrusted"):
            if path.read_text(encoding="utf-8").startswith(file):
                path.unlink(missing_ok=True)
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
        place.with_suffix(".digest").write_text(digest, encoding="utf-8")
        return f"{file}: {said.stdout.splitlines()[-1]}"

    @cached_property
    def seconds(self) -> dict[str, float]:
        """How long each test takes that can be trusted."""
        found: dict[str, float] = {}
        for path in sorted(self.folder.glob("*.seconds")):
            found |= json.loads(path.read_text(encoding="utf-8"))
        return {test: seconds for test, seconds in found.items() if test not in self.distrusted}

    @cached_property
    def distrusted(self) -> frozenset[str]:
        """The tests that failed without a mutant since they were recorded."""
        return frozenset(path.read_text(encoding="utf-8") for path in self.folder.glob("*.distrusted"))

    def distrust(self, test: str) -> None:
        """Ask this test no more, until it is recorded again."""
        (self.folder / f"{sha256(test.encode()).hexdigest()[:12]}.distrusted").write_text(test, encoding="utf-8")

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
        """The tests that run one of these lines of a file, in the order to run them in.

        A line that runs at import has those of the whole file, and after them those of the files that import it.
        """
        by_line = self._by_line.get(path, {})
        if not at_import:
            return list(self._affordable(set().union(*(by_line[line] for line in set(lines) & set(by_line)))))
        own = list(self._affordable(set().union(*by_line.values())))
        users = set().union(*(tests for user in importers(path) for tests in self._by_line.get(user, {}).values()))
        return list(dict.fromkeys([*own, *self._affordable(users), *OF_ALL]))

    def rounds(self, asked: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The few tests to begin with, and the rest."""
        spent = accumulate(self.seconds.get(test, 1.0) for test in asked)
        first = sum(seconds <= FIRST_SECONDS for seconds in islice(spent, FIRST_TESTS))
        return asked[: max(first, 1)], asked[max(first, 1) :]

    def _affordable(self, tests: Iterable[str]) -> Iterator[str]:
        by_function = defaultdict(list)
        for test in sorted(set(tests) & set(self.seconds), key=lambda test: (self.seconds[test], test)):
            by_function[test.partition("[")[0]].append(test)
        rank = {test: place for cases in by_function.values() for place, test in enumerate(cases)}
        spent = 0.0
        for count, test in enumerate(sorted(rank, key=lambda test: (rank[test], self.seconds[test]))):
            spent += self.seconds[test]
            if count >= 1 and (spent > MOST_SECONDS or count >= MOST_TESTS):
                return
            yield test


@cache
def importers(path: str) -> frozenset[str]:
    """The files of the library that import a file of it, by name."""
    module = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return frozenset(file.as_posix() for file in Path("src").rglob("*.py") if module in _imported(file))


@cache
def _imported(file: Path) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return frozenset(found)


def _digest(file: str) -> str:
    """Of a test file and the library: a change to either may move a line or reach another."""
    digest = sha256()
    own = Path(file)
    pages = sorted(own.rglob("*.md")) if own.is_dir() else [own]
    for path in [*pages, *sorted(Path("src").rglob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
