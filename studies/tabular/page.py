"""The page of the league: the result first, then how it was found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from studies.paper.verdict import Verdict
from studies.progress import said
from studies.tabular.bases import MODELS, TITLES
from studies.tabular.entrants import ENTRANTS, NEIGHBOURS, OURS
from studies.tabular.goals import TARGETS, goals
from studies.tabular.outcomes import Outcomes
from studies.tabular.summary import READ, by_dataset, duels_table, groups, summary
from studies.writers import markdown_table

_WORDS = {True: "yes", False: "**no**", None: "not measured"}


def page(outcomes: Outcomes) -> str:
    """The page as Markdown."""
    parts = [
        "# The league",
        *_result(outcomes),
        "## Goals",
        *_goals(outcomes),
        "## How it was done",
        *_design(outcomes),
    ]
    for base in outcomes.bases:
        parts += [f"## {TITLES[base].capitalize()}", summary(outcomes, base), *_tests(outcomes, base)]
        if OURS in outcomes.methods(base):
            parts += [f"### Dataset by dataset, {TITLES[base]}", by_dataset(outcomes, base)]
    parts += ["## How to read the tables", READ, *_left_out(outcomes), "## Origin", *_origin(outcomes)]
    return "\n\n".join(parts) + "\n"


def _result(outcomes: Outcomes) -> Iterator[str]:
    """One sentence a base model, then where a neighbour is ahead."""
    for base in outcomes.bases:
        share, interval = (outcomes.average(base, OURS, metric) for metric in ("crps", "is90"))
        if share.value is None or interval.value is None:
            continue
        yield (
            f"{TITLES[base].capitalize()}: `mean` has {share.value:.1%} of the plain residual's CRPS and "
            f"{interval.value:.1%} of its 90% interval score, averaged over {share.count} datasets. "
            + _ahead(outcomes, base)
        )
    judged = [verdict for base in TARGETS if base in outcomes.bases for verdict in goals(outcomes, base)]
    known = [verdict for verdict in judged if verdict.holds is not None]
    if known:
        yield f"{sum(verdict.holds is True for verdict in known)} of {len(known)} goals are reached."


def _ahead(outcomes: Outcomes, base: str) -> str:
    """Which neighbour has a lower 90% interval score, on which datasets."""
    ours = {d: outcomes.mean(d, base, OURS, "is90").value for d in outcomes.datasets}
    lost: dict[str, list[str]] = {}
    run = [name for name in outcomes.methods(base) if name in NEIGHBOURS]
    for dataset, value in ours.items():
        for name in run:
            theirs = outcomes.mean(dataset, base, name, "is90").value
            if value is not None and theirs is not None and theirs < value:
                lost.setdefault(dataset, []).append(name)
    if not run:
        return "No method of another library was run."
    if not lost:
        return "No method of another library has a lower 90% interval score on any dataset."
    listed = "; ".join(f"{dataset} ({', '.join(names)})" for dataset, names in lost.items())
    return (
        f"A method of another library has a lower 90% interval score on {len(lost)} of {len(ours)} datasets: {listed}."
    )


def _goals(outcomes: Outcomes) -> Iterator[str]:
    bases = [base for base in TARGETS if base in outcomes.bases]
    if not bases:
        yield "The goals are for gradient boosting and the forest, neither of which was run."
        return
    columns = [goals(outcomes, base) for base in bases]
    rows = [[same[0].statement, *map(_goal, same)] for same in zip(*columns, strict=True)]
    yield markdown_table(["goal", *(TITLES[base] for base in bases)], rows)


def _goal(verdict: Verdict) -> str:
    return f"{_WORDS[verdict.holds]}: {verdict.numbers}" if verdict.holds is not None else verdict.numbers


def _design(outcomes: Outcomes) -> Iterator[str]:
    recipe = outcomes.starts[0]["recipe"]
    yield (
        f"{len(outcomes.datasets)} datasets ({', '.join(outcomes.datasets)}), {len(outcomes.splits)} random splits of "
        f"each, at most {recipe['rows']:,} rows: 60% train, 20% calibrate, 20% test. Labels are in standard "
        "deviations of the training labels. Every method gets the same rows; CV+ trains on the training and "
        "calibration rows together."
    )
    yield (
        f"`mean` is what `CalibratedRegressor` refines by without being told. The base model predicts the training "
        f"rows out of fold ({recipe['folds']} folds), and each refiner learns from these predictions. Neither "
        "calibration nor test rows are used for it, so the guarantee is the same as without."
    )
    yield (
        "The refiners' own settings (size and number of trees, levels, members of the average) were chosen in the same "
        "way before the run, by CRPS and slice PIT error out of fold on the training rows of two splits; no test row "
        "of those splits was looked at. Training rows of one split are test rows of others, so the settings are not "
        "blind to the tables. That `mean` is the default, and not a choice among the refiners, was decided after runs "
        "of this league, whose test figures had been seen."
    )
    yield (
        "The methods of MAPIE and crepes run in their own packages. Where they can use the out-of-fold residuals of "
        "the training rows, they get them: crepes' nearest neighbours, and the scale of MAPIE's normalised score, a "
        "boosted model of their logarithm. CQR has boosted quantiles with every base model, since a forest and a "
        "ridge have none. The CRPS of crepes is computed from its distributions, since its own function applies sigma "
        "twice up to version 0.9.1."
    )
    there = [name for name in ENTRANTS if any(name in outcomes.methods(base) for base in outcomes.bases)]
    yield markdown_table(["method", "what it is"], [[name, ENTRANTS[name].what] for name in there])


def _tests(outcomes: Outcomes, base: str) -> Iterator[str]:
    if OURS not in outcomes.methods(base):
        return
    of = groups(outcomes, base)
    for metric, group, title in (
        ("is90", "neighbours", "`mean` against the methods of other libraries, by the 90% interval score"),
        ("crps", "own", "`mean` against the library's own methods, by CRPS"),
    ):
        if of[group]:
            yield f"### {title}, {TITLES[base]}"
            yield duels_table(outcomes, base, metric, of[group])
    yield (
        "A number is the mean over datasets of `mean`'s value over the other's: below 1 `mean` is better, above 1 the "
        "other. Wilcoxon's signed-rank test is over datasets, two-sided, adjusted by Holm within each table."
    )


def _left_out(outcomes: Outcomes) -> Iterator[str]:
    """What was not run, and what failed."""
    sentences = [f"{TITLES[base]} as a base model was not run." for base in MODELS if base not in outcomes.bases]
    run = {name for base in outcomes.bases for name in outcomes.methods(base)}
    sentences += [f"{name} was not run{_why(name, outcomes)}." for name in ENTRANTS if name not in run]
    sentences += [f"{failure}." for failure in outcomes.failures()]
    if sentences:
        yield "## What is left out"
        yield "\n".join(f"- {sentence[0].upper()}{sentence[1:]}" for sentence in sentences)


def _why(name: str, outcomes: Outcomes) -> str:
    package = ENTRANTS[name].package
    versions = {known.lower() for start in outcomes.starts for known in start.get("versions", {})}
    return f": {package} was not installed" if package and package not in versions else ""


def _origin(outcomes: Outcomes) -> Iterator[str]:
    first = outcomes.starts[0]
    facts: dict[str, Any] = {"seed": first["seed"], "started": first["started"], "starts": len(outcomes.starts)}
    yield f"Made by `{first['command']}`; do not edit."
    yield _listed(facts)
    versions: dict[str, list[str]] = {}
    for start in outcomes.starts:
        for name, version in start.get("versions", {}).items():
            versions.setdefault(name, [])
            versions[name] += [version] if version not in versions[name] else []
    yield _listed({name: " and ".join(each) for name, each in versions.items()})
    seconds = sum(line["seconds"] for line in outcomes.lines.values())
    yield f"{len(outcomes.lines):,} jobs took {said(seconds)} of one core."


def _listed(facts: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {fact}" for name, fact in facts.items())
