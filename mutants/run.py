"""`make mutants`: change the library in many small ways, and see whether the tests notice.

    python mutants/run.py                  # record and judge what is left to do, write results/mutants.md
    python mutants/run.py --per-area 100   # a larger sample holds the smaller one
    python mutants/run.py --seed 0 --seed 1   # two samples
    python mutants/run.py --area CLI --no-record

The session is in build/mutants, in cosmic-ray's format: a stopped run goes on where it was. What survived is judged
again as soon as the tests of its line are others; what became of it at first is kept. Why a mutant may survive is said
in mutants/survivors.toml; where that says why, it is not judged again.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import sha256
from itertools import chain
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome, WorkerOutcome, WorkItem, WorkResult
from judge import Judged, Tree, Verdict, preload
from sites import AREAS, Mutant, sample
from tests_by_line import TestsByLine
from written import reasons, write

FOLDER = Path("build/mutants")
SESSION, MAP = FOLDER / "session.sqlite", FOLDER / "map"
Left = Sequence[tuple[Mutant, list[str]]]
"""Mutants that are not judged yet, each with its tests."""


class Session:
    """The verdicts, by the names of the mutants."""

    def __init__(self, db: WorkDB) -> None:
        self.db = db

    def verdicts(self) -> dict[str, Judged]:
        """What is known of each mutant."""
        found = {}
        for item, result in self.db.completed_work_items:
            said = json.loads(result.output)
            found[item.job_id] = Judged(Verdict(**said["verdict"]), Verdict(**said["first"]), said["asked"])
        return found

    def add(self, mutants: Sequence[Mutant]) -> None:
        """What is to be done."""
        there = {item.job_id for item in self.db.work_items}
        self.db.add_work_items(
            WorkItem.single(
                each.name,
                MutationSpec(each.path, each.operator, each.occurrence, each.start, each.end),
            )
            for each in mutants
            if each.name not in there
        )

    def set(self, mutant: Mutant, judged: Judged) -> None:
        """What became of one."""
        outcome = TestOutcome.KILLED if judged.verdict.noticed else TestOutcome.SURVIVED
        self.db.set_result(mutant.name, WorkResult(WorkerOutcome.NORMAL, json.dumps(asdict(judged)), outcome, diff=""))


def chosen(per_area: int, seed: int) -> list[Mutant]:
    """The sample; kept, as finding it takes a minute."""
    digest = sha256(f"{per_area} {seed}".encode())
    for path in [*sorted(Path("src").rglob("*.py")), Path(__file__).with_name("sites.py")]:
        digest.update(path.read_bytes())
    kept = FOLDER / f"sample-{digest.hexdigest()[:12]}.pickle"
    if not kept.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(pickle.dumps(sample(per_area, seed)))
    return list(pickle.loads(kept.read_bytes()))


def asked_of(tests: Sequence[str]) -> str:
    """A digest of tests: their names, and what their files say now."""
    digest = sha256("\n".join(tests).encode())
    for file in sorted({test.partition("::")[0] for test in tests}):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()


def judge(number: int, left: Left, turn: Synchronized[int], known: Mapping[str, Judged], tests: TestsByLine) -> None:
    """Judge mutants one by one, each by its tests, in a tree of our own."""
    tree = Tree(FOLDER / f"tree-{number}")
    tree.make()
    with use_db(SESSION) as db:
        session = Session(db)
        for mutant, asked in in_turn(left, turn):
            code = mutant.code(Path(mutant.path).read_text(encoding="utf-8"))
            with tree.changed(mutant.path, str(code)):
                verdict = _verdict(tree, tests, asked)
            first = known[mutant.name].first if mutant.name in known else verdict
            session.set(mutant, Judged(verdict, first, asked_of(asked)))
            print(f"{verdict.outcome:9} {mutant.path}:{mutant.start[0]} {mutant.operator} {verdict.by}", flush=True)


def in_turn(left: Left, turn: Synchronized[int]) -> Iterator[tuple[Mutant, list[str]]]:
    """Those that no other process has taken; the turn, which they share, is the number of the next."""
    while True:
        with turn.get_lock():
            mine = turn.value
            turn.value += 1
        if mine >= len(left):
            return
        yield left[mine]


def _verdict(tree: Tree, tests: TestsByLine, asked: Sequence[str]) -> Verdict:
    few, rest = tests.rounds(asked)
    verdict = tree.run(few, cpu_seconds(few, tests.seconds))
    if verdict.noticed or not rest:
        return verdict
    return replace(tree.run(rest, cpu_seconds(rest, tests.seconds)), tests=len(asked))


def cpu_seconds(tests: Sequence[str], seconds: Mapping[str, float]) -> float:
    """How long tests may take: twice as long as with coverage, and what it takes to begin."""
    return 60 + 2 * sum(seconds.get(test, 1.0) for test in tests)


def confirm(number: int, killers: Sequence[str], tests: TestsByLine) -> None:
    """Distrust the tests among those that killed which fail without a mutant, too: what they say is worth nothing."""
    tree, killers = Tree(FOLDER / f"tree-{number}"), list(killers)
    tree.make()
    while killers:
        verdict = tree.run(killers, cpu_seconds(killers, tests.seconds))
        if verdict.outcome == "survived":
            return
        if verdict.by not in killers:
            raise RuntimeError(f"the tests cannot be run without a mutant: {verdict}")
        print(f"fails without a mutant: {verdict.by}", flush=True)
        tests.distrust(verdict.by)
        killers.remove(verdict.by)


def together(jobs: int, target: Callable[..., None], arguments: Callable[[int], tuple[object, ...]]) -> None:
    """A call in each of several processes, which have what is imported here."""
    fork = multiprocessing.get_context("fork")
    workers = [fork.Process(target=target, args=(k, *arguments(k))) for k in range(jobs)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if any(worker.exitcode for worker in workers):
        raise SystemExit("a worker broke: what it said stands above")


def judge_all(mutants: Sequence[Mutant], jobs: int) -> dict[str, Judged]:
    """What became of each mutant, by tests that pass without one."""
    preload()
    while True:
        tests = TestsByLine(MAP)
        with use_db(SESSION) as db:
            session = Session(db)
            session.add(mutants)
            known = {name: each for name, each in session.verdicts().items() if each.verdict.by not in tests.distrusted}
        # asked here, as the records of coverage do not outlive a fork
        pairs = [(each, tests.of(each.path, each.lines, at_import=each.at_import)) for each in mutants]
        left = [(each, asked) for each, asked in pairs if not done(each, known.get(each.name), asked)]
        print(f"{len(mutants)} mutants, {len(left)} to judge", flush=True)
        turn = multiprocessing.Value("i", 0)
        together(jobs, judge, lambda k: (left, turn, known, tests))  # noqa: B023 - called before the next round
        with use_db(SESSION) as db:
            known = Session(db).verdicts()
        killers = sorted({known[each.name].verdict.by for each in mutants} & set(tests.seconds))
        together(jobs, confirm, lambda k: (killers[k::jobs], tests))  # noqa: B023 - called before the next round
        if TestsByLine(MAP).distrusted == tests.distrusted:
            return known


def main() -> None:
    """Record, judge, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-area", type=int, default=60)
    parser.add_argument("--seed", type=int, action="append", help="of a sample; may be given again")
    parser.add_argument("--area", choices=list(AREAS), action="append")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--no-record", action="store_true", help="use the records of the tests that there are")
    parser.add_argument("--no-write", action="store_true", help="leave results/mutants.md as it is")
    options = parser.parse_args()
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if not options.no_record:
        TestsByLine(MAP).record(options.jobs)
    samples = {
        seed: [each for each in chosen(options.per_area, seed) if each.area in (options.area or AREAS)]
        for seed in options.seed or [0]
    }
    known = judge_all(list({each.name: each for each in chain(*samples.values())}.values()), options.jobs)
    if not options.no_write:
        write(samples, known, options.per_area)


def done(mutant: Mutant, known: Judged | None, asked: Sequence[str]) -> bool:
    """Whether a mutant is killed, or survived for a reason, or survived the very tests that there are today."""
    if known is None:
        return False
    return known.verdict.noticed or mutant.name in reasons() or known.asked == asked_of(asked)


if __name__ == "__main__":
    main()
