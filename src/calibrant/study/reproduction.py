"""The page that says what of the paper's study is found again, what is not, and why; and all the files at once."""

from __future__ import annotations

import json
import os
import statistics
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from calibrant.persistence.atomic import write as write_file
from calibrant.reports.study import study_page
from calibrant.study import published
from calibrant.study.figure import figure
from calibrant.study.means import difference
from calibrant.study.remarks import remarks
from calibrant.study.results import Method, Results, read
from calibrant.study.tables import HEADINGS, TABLE1, TABLE2, MeansTable, intervals, per_dataset, table1, table2
from calibrant.study.verdicts import (
    NLL_FLOOR,
    Verdict,
    cdf,
    claims,
    crps_ratios,
    ece_floor,
    goals,
    like_with_like,
    zscore,
)
from calibrant.study.writers import averages_csv, latex, markdown, markdown_table, per_dataset_csv, shown

PAGE = "reproduction.md"
REPORT = "report.html"
WHY = "why.json"


def write(
    cells: str | os.PathLike[str],
    folder: str | os.PathLike[str],
    docs: str | os.PathLike[str] | None = None,
    *,
    why: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write the tables, the figure and the pages of a run, and return the files; each is written whole or not at all.

    Args:
        cells: The file of results, `cells.jsonl`.
        folder: Where table1, table2, per_dataset and intervals go (.csv, .md, .tex), the figure (.png, .svg), and
            `report.html`, all of it as a page to open in a browser.
        docs: The folder of the page, `reproduction.md`; without it the page goes to `folder`.
        why: For datasets that come out worse than published, a sentence that says why. Without it, those of
            `why.json` in `folder` are taken, {dataset: sentence}, if it is there.
    """
    results, folder = read(cells), Path(folder)
    home = folder if docs is None else Path(docs)
    why = _explanations(folder / WHY) if why is None else why
    files: dict[Path, str | bytes] = {
        folder / "table1.csv": averages_csv(table1(results)),
        folder / "table2.csv": averages_csv(table2(results)),
        folder / "intervals.csv": averages_csv(intervals(results)),
        folder / "per_dataset.csv": per_dataset_csv(results),
    }
    for name, tables in _tables(results).items():
        files[folder / f"{name}.md"] = f"# The study: {name}\n\n" + "\n".join(map(markdown, tables))
        files[folder / f"{name}.tex"] = "\n".join(map(latex, tables))
    files |= {folder / f"intervals.{kind}": content for kind, content in figure(results).items()}
    files[folder / REPORT] = study_page(results)
    files[home / PAGE] = page(results, why=why, home=Path(os.path.relpath(folder, home)))
    for path, content in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, content.encode() if isinstance(content, str) else content)
    return list(files)


def page(results: Results, *, why: Mapping[str, str] | None = None, home: Path = Path()) -> str:
    """The page as Markdown; `home` is the way from it to the folder of the figure and the report."""
    reached, true = goals(results), claims(results)
    picture, report = ((home / name).as_posix() for name in ("intervals.png", REPORT))
    first, second = table1(results), table2(results)
    sections = [
        "# The paper's study, run again",
        _origin(results),
        f"{_count(reached)['yes']} of {len(reached)} goals are reached. Of {len(true)} claims {_count(true)['yes']} "
        f"hold, {_count(true)['no']} do not, and of {_count(true)['open']} it cannot be said.",
        f"[The same as a page]({report}) to sort, filter by dataset and compare methods opens in a browser.",
        "## Goals",
        _verdicts("goal", "reached", reached),
        _once(first, {results.extent}),
        _once(second, set(first.notes)),
        *_ranking(results),
        "## The paper's claims in words",
        _verdicts("claim", "holds here", true),
        "The best is compared with the best of the others, over the datasets that all have, with the authors' NLL. "
        "That one is ahead holds, or does not, where the paired difference is two standard errors from 0; closer, it "
        "cannot be said.",
        *_datasets(results, why or {}),
        "## 90% intervals",
        f"![Widths and coverages of conformal and credible intervals by base type]({picture})",
        *intervals(results).notes[-1:],
        "## What differs, and why",
        *remarks(results),
        *_differences(results),
        *_times(results),
    ]
    return "\n\n".join(sections) + "\n"


def _tables(results: Results) -> dict[str, tuple[MeansTable, ...]]:
    return {
        "table1": (table1(results),),
        "table2": (table2(results),),
        "intervals": (intervals(results),),
        "per_dataset": per_dataset(results),
    }


def _once(table: MeansTable, said: Collection[str]) -> str:
    """A table without the notes that the page has already."""
    return markdown(replace(table, notes=tuple(note for note in table.notes if note not in said))).strip()


def _origin(results: Results) -> str:
    """What made the results, and what else did if the run was resumed elsewhere."""
    about, starts = results.about, [results.about, *results.resumed]
    names = dict.fromkeys(name for start in starts for name in start.get("versions") or {})
    versions = {name: _distinct((start.get("versions") or {}).get(name) for start in starts) for name in names}
    facts = {
        "seed": _distinct([about.get("seed")]),
        "device": _distinct(start.get("device") for start in starts),
        "started": _distinct([about.get("started")]),
        "starts": str(len(starts)) if results.resumed else "",
    }
    recipe = _listed(about.get("recipe") or {})
    lines = [
        f"Made by `{about.get('command', 'calibrant study')}`; do not edit.",
        results.extent,
        _listed({name: fact for name, fact in facts.items() if fact}),
        _listed(versions),
        recipe and f"Training: {recipe}.",
    ]
    return "\n\n".join(line for line in lines if line)


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())


def _distinct(values: Iterable[Any]) -> str:
    return " and ".join(dict.fromkeys(str(value) for value in values if value is not None))


def _verdicts(what: str, mark: str, verdicts: list[Verdict]) -> str:
    words = {True: "yes", False: "**no**", None: "cannot be said"}
    return markdown_table([what, mark, "numbers"], [[v.statement, words[v.holds], v.numbers] for v in verdicts])


def _count(verdicts: list[Verdict]) -> Counter[str]:
    return Counter({True: "yes", False: "no", None: "open"}[verdict.holds] for verdict in verdicts)


def _ranking(results: Results) -> Iterator[str]:
    """The base types from best to worst by each metric, beside the paper's order."""
    rows = []
    for metric in ("crps", "nll", "std", "ci95_width"):
        here = {method.base: value for method, value in like_with_like(results, TABLE2, metric).items()}
        there = {base: metrics[metric].value for base, metrics in published.table2().items()}
        rows.append([HEADINGS[metric], ranked(here), ranked(there)])
    yield "## Base types from best to worst, linear interpolator"
    yield markdown_table(["by", "here", "in the paper"], rows)


def ranked(values: Mapping[str, float | None]) -> str:
    """Names in the order of their values, with those that agree to three digits as equals.

    >>> ranked({"a": 0.3, "b": 0.1, "c": 0.1004, "d": None})
    'b = c (0.100) < a (0.300)'
    """
    groups: dict[str, list[str]] = {}
    for name, value in sorted(values.items(), key=lambda item: item[1] or 0.0):
        if value is not None:
            groups.setdefault(f"{value:z.3f}", []).append(name)
    return " < ".join(f"{' = '.join(names)} ({value})" for value, names in groups.items())


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


def _differences(results: Results) -> Iterator[str]:
    yield _no_winner(results)
    yield _floor(results)
    floor = ece_floor(results)
    if floor is not None:
        yield (
            "**ECE cannot be 0.** With calibration and test parts of these sizes, exchangeable scores under a linear q "
            f"have a debiased ECE of {floor:.4f} on the mean over these datasets (simulated): q itself is estimated."
        )
    ratio = _published_errors(results)
    if ratio is not None:
        yield (
            f"**The published ±** is read as a standard error. It is {ratio:.1f} times ours, in the median over the "
            "means of the paper's appendix. A ratio far from 1 says that the two are not the same quantity, and that a "
            "difference in standard errors is to be read with that in mind."
        )


def _no_winner(results: Results) -> str:
    """Why the best CRPS of the paper's Table 1 is not the best."""
    finite = [d for d in published.datasets() if published.of(d, "cdf-random", "crps").value is not None]
    best, linear = published.table1()["cdf-random"]["crps"], published.average("cdf-linear", "crps", finite)
    text = (
        f"**cdf-random is no winner.** Its CRPS of {best.value:.3f}, the best in the paper's Table 1, is a mean over "
        f"the {best.count} of {best.of} datasets where it was finite. Over the same {best.count}, the published "
        f"cdf-linear has {linear.value:.3f}."
    )
    shared = [dataset for dataset in finite if dataset in results.datasets]
    here = [(m.name, results.average(m, "crps", shared)) for m in (cdf("random"), cdf("linear"), zscore("linear"))]
    said = ", ".join(f"{name} {mean.value:.4f}" for name, mean in here if mean.value is not None)
    return f"{text} Here, over the {len(shared)} of them at hand: {said}." if said else text


def _floor(results: Results) -> str:
    """What the authors' NLL is where H is flat, and how often the exact one is finite."""
    random, linear, naf = zscore("random"), zscore("linear"), zscore("naf")
    text = (
        "**The authors' NLL has a floor under the density.** It is -log((H(y + 1e-4) - H(y) + 1e-10) / 1e-4): "
        f"a label where H is flat costs exactly {NLL_FLOOR:.4f} nats, and no more. That is why every random NLL lies "
        "just below 13.8 on small data."
    )
    means = {dataset: results.of(dataset, random, "nll").value for dataset in results.datasets}
    known = {dataset: value for dataset, value in means.items() if value is not None}
    if known:
        top = max(known, key=lambda dataset: known[dataset])
        text += f" Here the largest mean of zscore-random is {known[top]:.3f} ({top})."
    counts = ", ".join(_finite(results, method) for method in (random, linear, naf))
    return (
        f"{text} The exact NLL, which has a column of its own, is finite in {counts}: a label beyond the ends of a "
        f"bounded law costs infinitely much{_beyond(results, linear)}, and a law that jumps has no density."
    )


def _finite(results: Results, method: Method) -> str:
    counts = [results.of(dataset, method, "nll_exact") for dataset in results.datasets]
    return f"{sum(mean.count for mean in counts):,} of {sum(mean.of for mean in counts):,} cells of {method.name}"


def _beyond(results: Results, method: Method) -> str:
    """How many labels do, where the run has counted them."""
    cells = [cell for dataset in results.datasets for cell in results.cells.get((dataset, method), {}).values()]
    known = [(rows, tests) for c in cells if (rows := c["nll_infinite_rows"]) is not None and (tests := c["n_test"])]
    if not known:
        return ""
    rows, tests = (sum(column) for column in zip(*known, strict=True))
    return f" ({rows:,.0f} of {tests:,.0f} test labels of {method.name})"


def _published_errors(results: Results) -> float | None:
    """Their ± over ours, the median; of those that three digits do not round away."""
    ratios = []
    for dataset in results.datasets:
        for method in TABLE1:
            for metric in published.METRICS:
                ours, theirs = results.of(dataset, method, metric).se, published.of(dataset, method.name, metric).se
                if ours and theirs is not None and theirs >= 0.005:
                    ratios.append(theirs / ours)
    return statistics.median(ratios) if ratios else None


def _times(results: Results) -> Iterator[str]:
    if results.seconds:
        yield "## Time"
        yield markdown_table(["phase", "seconds"], [[name, f"{value:,.1f}"] for name, value in results.seconds.items()])
        yield "Cells are timed each on its own: with several workers their sum is more than what a clock shows."


def _explanations(path: Path) -> dict[str, str]:
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError(f"{path}: a JSON object of a sentence a dataset was wanted, got {error}") from error
    if not isinstance(content, dict) or not all(isinstance(text, str) for text in content.values()):
        raise ValueError(f"{path}: a JSON object of a sentence a dataset was wanted, got {content!r:.60}")
    return content
