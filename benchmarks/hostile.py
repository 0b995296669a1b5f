"""The hostile side of the catalogue, judged and counted: every case, or some, in one process.

`python benchmarks/hostile.py` takes all cases (half an hour), `--part 3 40` the third of forty parts (from 0),
`--sample 1500 --seed 1` so many of them, `--only NAME` those whose name has this in it. The figures are printed, and
with `--write` put at the end of results/catalogue.md. The exit status is 1 where a case is wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from hostile import cases, sample  # noqa: E402
from hostile_checks import Finding, judged  # noqa: E402

HEADING = "## The hostile side"


def findings(case) -> list[Finding]:
    try:
        return judged(case)
    except Exception as error:  # a count goes on: the line says what happened
        return [Finding("raised", np.inf, f"{type(error).__name__}: {error}")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="NAME", help="only cases whose name has this in it")
    parser.add_argument("--part", nargs=2, type=int, metavar=("K", "OF"), help="the K-th of so many parts, from 0")
    parser.add_argument("--sample", type=int, metavar="COUNT", help="so many cases")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--write", action="store_true", help="put the figures at the end of results/catalogue.md")
    options = parser.parse_args()
    chosen = list(cases()) if options.sample is None else sample(options.sample, options.seed)
    if options.part:
        part, parts = options.part
        chosen = [case for k, case in enumerate(chosen) if (k // 24) % parts == part]  # the clips of a case together
    chosen = [case for case in chosen if options.only in str(case)]
    start, worst, count, wrong = time.process_time(), {}, Counter(), []
    for case in chosen:
        for finding in findings(case):
            count[finding.kind] += 1
            worst[finding.kind] = max(worst.get(finding.kind, 0.0), finding.error)
            if not finding.error <= 1:
                wrong.append((case, finding))
                print(f"{case}: {finding.kind} {finding.error:.3g}, {finding.where}", flush=True)
    text = report(len(chosen), worst, count, len({str(case) for case, _ in wrong}), time.process_time() - start)
    print(text)
    if options.write:
        path = ROOT / "results" / "catalogue.md"
        rest = path.read_text(encoding="utf-8").split(f"\n{HEADING}\n")[0]
        path.write_text(f"{rest}\n{HEADING}\n\n{text}", encoding="utf-8")
    return 1 if wrong else 0


def report(cases: int, worst: dict[str, float], count: Counter[str], wrong: int, seconds: float) -> str:
    command = " ".join(["python", "benchmarks/hostile.py", *(a for a in sys.argv[1:] if a != "--write")])
    lines = [
        f"Made by `{command}`: {cases:,} cases in {seconds:,.0f} s of one core; {wrong:,} of them wrong somewhere.",
        "Errors are in units of what the conditioning allows, see `tests/hostile_checks.py`.",
        "",
        "| what | checked | largest error |",
        "| --- | --- | --- |",
        *(f"| {kind} | {count[kind]:,} | {worst[kind]:.2g} |" for kind in sorted(count)),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
