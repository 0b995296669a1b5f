"""The page that says what of the paper's study is found again, what is not, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from studies.means import difference
from studies.paper import published
from studies.paper.claims import claims
from studies.paper.differences import differences
from studies.paper.goals import crps_ratios, goals
from studies.paper.methods import zscore
from studies.paper.origin import origin
from studies.paper.ranking import ranking
from studies.paper.remarks import remarks
from studies.paper.tables import table1, table2, versus
from studies.paper.verdict import Verdict, plain
from studies.results import Results
from studies.tables import MeansTable, intervals
from studies.writers import markdown, markdown_table, shown


def page(results: Results, *, why: Mapping[str, str] | None = None, home: Path = Path()) -> str:
    """The page as Markdown; `home` is the way from it to the folder of the figure."""
    reached, true = goals(results), claims(results)
    picture = (home / "intervals.png").as_posix()
    first, second = table1(results), table2(results)
    sections = [
        "# The paper's study, run again",
        *_result(results),
        _tally({"goals reached": reached, "claims of the paper confirmed": true}),
        results.extent,
        "## Goals",
        _judged("goal", "reached", reached),
        _once(first, {results.extent}),
        _once(second, set(first.notes)),
        *ranking(results),
        "## The paper's claims in words",
        _judged("claim", "holds here", true),
        "The best is compared with the best of the others, over the datasets that all have, with the authors' NLL. "
        "That one is ahead holds, or does not, where the paired difference is two standard errors from 0; closer, it "
        "cannot be said.",
        *_datasets(results, why or {}),
        "## 90% intervals",
        f"![Widths and coverages of conformal and credible intervals by base type]({picture})",
        *intervals(results).notes[-1:],
        "## What differs, and why",
        *remarks(results),
        *differences(results),
        *_times(results),
        "## Origin",
        origin(results),
    ]
    return "\n\n".join(sections) + "\n"


def _result(results: Results) -> Iterator[str]:
    """The two numbers that the study is known by, beside the published ones."""
    parts = []
    for method, metric, what in ((zscore("linear"), "crps", "CRPS"), (zscore("naf"), "nll", "NLL (authors')")):
        compared = versus(results, method, metric)
        if compared.common.value is not None and compared.published.value is not None:
            numbers = f"{plain(compared.common)}, published {plain(compared.published)}"
            parts.append(f"{what} of {method.name}: **{numbers}** ({compared.common.count} datasets).")
    if parts:
        yield " ".join(parts)


def _tally(judged: Mapping[str, list[Verdict]]) -> str:
    counts = {what: _count(verdicts) for what, verdicts in judged.items()}
    rows = [[what, *(str(count[answer]) for answer in ("yes", "no", "open"))] for what, count in counts.items()]
    return markdown_table(["", "yes", "no", "cannot be said"], rows)


def _once(table: MeansTable, said: Collection[str]) -> str:
    """A table without the notes that the page has already."""
    return markdown(replace(table, notes=tuple(note for note in table.notes if note not in said))).strip()


def _judged(what: str, mark: str, verdicts: list[Verdict]) -> str:
    words = {True: "yes", False: "**no**", None: "cannot be said"}
    return markdown_table([what, mark, "numbers"], [[v.statement, words[v.holds], v.numbers] for v in verdicts])


def _count(verdicts: list[Verdict]) -> Counter[str]:
    return Counter({True: "yes", False: "no", None: "open"}[verdict.holds] for verdict in verdicts)


def _datasets(results: Results, why: Mapping[str, str]) -> Iterator[str]:
    method = zscore("linear")
    ratios = crps_ratios(results, method)
    rows = []
    for dataset, ratio in ratios.items():
        ours, theirs = results.of(dataset, method, "crps"), published.of(dataset, method.name, "crps")
        apart = difference(ours, theirs)
        rows.append(
            [dataset, shown(ours), shown(theirs), f"{ratio - 1:+.1%}", "" if apart is None else f"{apart:+.1f}"]
        )
    yield "## CRPS of zscore-linear by dataset"
    yield markdown_table(["dataset", "here", "published", "change", "in standard errors"], rows)
    worse = {dataset: ratio for dataset, ratio in ratios.items() if ratio > 1.1}
    if not worse:
        yield "None is worse than published by more than 10%."
    for dataset, ratio in worse.items():
        yield f"- **{dataset}** is {ratio - 1:.0%} above the published. {why.get(dataset, 'Why is not known yet.')}"


def _times(results: Results) -> Iterator[str]:
    if results.seconds:
        yield "## Time"
        yield markdown_table(["phase", "seconds"], [[name, f"{value:,.1f}"] for name, value in results.seconds.items()])
        yield "Cells are timed each on its own: with several workers their sum is more than what a clock shows."
