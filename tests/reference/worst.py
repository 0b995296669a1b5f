"""The worst error of each class of case, function by function: python tests/reference/worst.py [part of a case's name]

Errors are in units of the spread, of cdf and logpdf absolute; "!" marks one beyond its tolerance. With --cases each
case has its line, with --time its seconds; --function asks for some only.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from reference.measure import FUNCTIONS, Error, cases_of, errors, read
from reference.tolerances import TOLERANCES


def mark(error: Error) -> str:
    return f"{error.error:.1e}{'!' if not error.error <= error.allowed else ' '}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pattern", nargs="?", default="", help='only cases with this in "family: name (class)"')
    parser.add_argument("--cases", action="store_true", help="a line for each case")
    parser.add_argument("--time", action="store_true", help="the seconds of each case, slowest first")
    parser.add_argument("--function", action="append", choices=FUNCTIONS, help="only this one; may be repeated")
    options = parser.parse_args()
    functions = tuple(options.function or FUNCTIONS)
    references, about = read()
    worst: dict[tuple[str, str], Error] = {}
    beyond, seconds, counted, failed = [], {}, defaultdict(int), 0
    for case in cases_of(options.pattern):
        start = time.perf_counter()
        try:
            found = list(errors(case, references[str(case)], functions))
        except Exception:
            failed += 1
            print(f"{case} FAILS: {traceback.format_exc().strip().splitlines()[-1]}")
            continue
        seconds[str(case)] = time.perf_counter() - start
        counted[case.kind] += 1
        beyond += [error for error in found if not error.error <= error.allowed]
        if options.cases:
            print(f"{case} ({case.kind})\n    " + "  ".join(f"{e.function} {mark(e)}" for e in found))
        for error in found:
            key = case.kind, error.function
            if key not in worst or error.error > worst[key].error:
                worst[key] = error
    print(f"\nagainst commit {about['commit'][:7]}: the worst of each class\n")
    print(f"{'class':18}{'cases':>6}  " + "".join(f"{function:>11}" for function in functions))
    for kind in TOLERANCES:
        if counted[kind]:
            row = "".join(f"{mark(worst[kind, function]):>11}" for function in functions)
            print(f"{kind:18}{counted[kind]:>6}  {row}")
    print()
    for (kind, function), error in sorted(worst.items()):
        if error.error > 0:
            print(f"{kind:18}{function:11}{mark(error):9}{error.case}")
    if beyond:
        print(f"\n{len(beyond)} beyond their tolerance:")
        for error in sorted(beyond, key=lambda e: -e.error / e.allowed):
            print(error)
    if options.time:
        for name, took in sorted(seconds.items(), key=lambda pair: -pair[1])[:40]:
            print(f"{took:8.2f} s  {name}")
    print(f"\n{sum(counted.values())} cases, {sum(seconds.values()):.1f} s, {len(beyond)} beyond, {failed} failed")
    return int(bool(beyond or failed))


if __name__ == "__main__":
    raise SystemExit(main())
