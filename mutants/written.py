"""results/mutants.md: how many mutants of each area the tests notice, and each that they do not, with its reason."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from judge import Verdict
from sites import AREAS, Mutant
from tests_by_line import MOST_SECONDS

REASONS = Path(__file__).with_name("survivors.toml")
PAGE = Path("results/mutants.md")
LEFT_OUT = {
    "equivalent": "changes nothing that can be seen",
    "speed": "costs time or memory alone",
    "words": "changes the wording of a message, or the line that a warning points to, alone",
    "looks": "changes how a table or a picture is laid out, not what it says",
}
"""The kinds of mutants that no test ought to kill; they do not count. Any other survivor is a hole."""


def write(mutants: Sequence[Mutant], verdicts: Mapping[str, Verdict], per_area: int, seed: int) -> None:
    """Print the table, and write it with the survivors."""
    reasons = tomllib.loads(REASONS.read_text(encoding="utf-8"))
    judged = [each for each in mutants if each.name in verdicts]
    table = "\n".join(_table(judged, verdicts, reasons))
    print(table)
    survivors = [each for each in judged if verdicts[each.name].outcome in ("survived", "unreached")]
    parts = [
        "# Mutants: do the tests notice a change?",
        f"Made by `make mutants` (`python mutants/run.py --per-area {per_area} --seed {seed}`) with cosmic-ray"
        f" {version('cosmic-ray')}, coverage {version('coverage')}, pytest {version('pytest')} and Python"
        f" {sys.version.split()[0]}: {len(judged)} of {len(mutants)} mutants of the sample are judged. A mutant is one"
        " small change to one line; a fifth of them removes a statement, often a check of arguments. It is judged"
        f" by the tests that run its line, up to {MOST_SECONDS:.0f} seconds of them: killed if one fails. Slow tests"
        " and those that need a browser or a GPU do not take part.",
        table,
        "Left out are mutants that no test ought to kill: "
        + "; ".join(f"{kind}: {meaning}" for kind, meaning in LEFT_OUT.items())
        + ". The share is killed, with timeouts, over killed and open.",
        "Holes that were found in a sample are closed by tests, so its own share rises above that of all mutants."
        " Another seed shows how many are noticed that nobody has looked at.",
        "## Survivors",
        "Each with its reason, from `mutants/survivors.toml`; without one it is a hole that is open.",
        "| mutant | where | change | reason |\n|---|---|---|---|\n"
        + "\n".join(_line(each, verdicts[each.name], reasons) for each in survivors),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _table(judged, verdicts, reasons):
    yield "| area | mutants | killed | timeouts | left out | open | share killed |"
    yield "|---|---|---|---|---|---|---|"
    for area in [*AREAS, "all"]:
        own = [each for each in judged if area in (each.area, "all")]
        counts = Counter(_fate(each, verdicts[each.name], reasons) for each in own)
        left_out = {kind: counts[kind] for kind in LEFT_OUT if counts[kind]}
        said = ", ".join(f"{count} {kind}" for kind, count in left_out.items()) or "0"
        noticed = counts["killed"] + counts["timeout"]
        share = f"{noticed / (noticed + counts['open']):.1%}" if noticed else ""
        cells = (area, len(own), counts["killed"], counts["timeout"], said, counts["open"], share)
        yield f"| {' | '.join(map(str, cells))} |"


def _fate(mutant: Mutant, verdict: Verdict, reasons: Mapping[str, Mapping[str, str]]) -> str:
    if verdict.outcome in ("killed", "timeout"):
        return verdict.outcome
    kind = reasons.get(mutant.name, {}).get("kind", "open")
    return kind if kind in LEFT_OUT else "open"


def _line(mutant: Mutant, verdict: Verdict, reasons: Mapping[str, Mapping[str, str]]) -> str:
    reason = reasons.get(mutant.name, {})
    why = ": ".join(filter(None, [reason.get("kind", "open"), reason.get("why", "")]))
    if verdict.outcome == "unreached" and not reason:
        why = "open: no quick test runs this line in its own process"
    text = mutant.text.replace("|", "\\|")
    change = f"{mutant.operator.partition('/')[2]}, column {mutant.start[1]}: `{text}`"
    where = f"{mutant.path.removeprefix('src/calibrant/')}:{mutant.start[0]}"
    return f"| {mutant.name} | {where} | {change} | {why} |"
