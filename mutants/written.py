"""results/mutants.md: how many mutants of each area the tests notice, and each that they do not, with its reason."""

from __future__ import annotations

import sys
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from judge import Judged, Verdict
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


@cache
def reasons() -> Mapping[str, Mapping[str, str]]:
    """Why a mutant may survive: its kind, and a sentence."""
    return tomllib.loads(REASONS.read_text(encoding="utf-8"))


def write(samples: Mapping[int, Sequence[Mutant]], known: Mapping[str, Judged], per_area: int) -> None:
    """Print the table of each sample, and write them with the survivors."""
    judged = {seed: [each for each in sample if each.name in known] for seed, sample in samples.items()}
    tables = {seed: "\n".join(_table(sample, known)) for seed, sample in judged.items()}
    print("\n\n".join(tables.values()))
    each_once = {mutant.name: mutant for sample in judged.values() for mutant in sample}.values()
    survivors = [each for each in each_once if not known[each.name].verdict.noticed]
    seeds = " ".join(f"--seed {seed}" for seed in samples)
    parts = [
        "# Mutants: do the tests notice a change?",
        f"Made by `make mutants` (`python mutants/run.py --per-area {per_area} {seeds}`) with cosmic-ray"
        f" {version('cosmic-ray')}, coverage {version('coverage')}, pytest {version('pytest')} and Python"
        f" {sys.version.split()[0]}. A mutant is one"
        " small change to one line; a fifth of them removes a statement, often a check of arguments. It is judged"
        f" by the tests that run its line, up to {MOST_SECONDS:.0f} seconds of them: killed if one fails. Slow tests"
        " and those that need a browser or a GPU do not take part.",
        "Left out are mutants that no test ought to kill: "
        + "; ".join(f"{kind}: {meaning}" for kind, meaning in LEFT_OUT.items())
        + ". The shares are killed, with timeouts, over killed and open. A hole that a sample shows is closed by a"
        " test, so that the share of a sample rises once it has been looked at; the share at first is that of all"
        " mutants.",
        *(f"## Seed {seed}: {len(judged[seed])} of {len(samples[seed])} judged\n\n{tables[seed]}" for seed in samples),
        "## Survivors",
        "Each with its reason, from `mutants/survivors.toml`; without one it is a hole that is open.",
        "| mutant | where | change | reason |\n|---|---|---|---|\n"
        + "\n".join(_line(each, known[each.name].verdict) for each in survivors),
    ]
    PAGE.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def _table(judged, known):
    yield "| area | mutants | killed | timeouts | left out | open | share at first | share killed |"
    yield "|---|---|---|---|---|---|---|---|"
    for area in [*AREAS, "all"]:
        own = [each for each in judged if area in (each.area, "all")]
        now = Counter(_fate(each, known[each.name].verdict) for each in own)
        first = Counter(_fate(each, known[each.name].first) for each in own)
        left_out = {kind: now[kind] for kind in LEFT_OUT if now[kind]}
        said = ", ".join(f"{count} {kind}" for kind, count in left_out.items()) or "0"
        counts = (area, len(own), now["killed"], now["timeout"], said, now["open"], _share(first), _share(now))
        yield f"| {' | '.join(map(str, counts))} |"


def _share(counts: Counter[str]) -> str:
    noticed = counts["killed"] + counts["timeout"]
    return f"{noticed / (noticed + counts['open']):.1%}" if noticed else ""


def _fate(mutant: Mutant, verdict: Verdict) -> str:
    if verdict.noticed:
        return verdict.outcome
    kind = reasons().get(mutant.name, {}).get("kind", "open")
    return kind if kind in LEFT_OUT else "open"


def _line(mutant: Mutant, verdict: Verdict) -> str:
    reason = reasons().get(mutant.name, {})
    why = ": ".join(filter(None, [reason.get("kind", "open"), reason.get("why", "")]))
    if verdict.outcome == "unreached" and not reason:
        why = "open: no quick test runs this line in its own process"
    text = mutant.text.replace("|", "\\|")
    change = f"{mutant.operator.partition('/')[2]}, column {mutant.start[1]}: `{text}`"
    where = f"{mutant.path.removeprefix('src/calibrant/')}:{mutant.start[0]}"
    return f"| {mutant.name} | {where} | {change} | {why} |"
