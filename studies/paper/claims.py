"""What the paper says in words: each claim with its numbers, and whether it holds here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from studies.means import Mean, over_datasets, over_splits
from studies.names import Method
from studies.paper.design import PAPER
from studies.paper.methods import cdf, common, like_with_like, zscore
from studies.paper.shared import nominal, small_ece
from studies.paper.tables import TABLE1, TABLE2
from studies.paper.verdict import Verdict, below, plain, short, tie
from studies.results import Results

_BASES = {method.base: method for method in TABLE2}
_QUANTILES = tuple(_BASES[f"quantile-{k}"] for k in (2, 4, 7, 10))


def claims(results: Results) -> list[Verdict]:
    """What Section 5 of the paper says, and the caption of its figure, one by one."""
    return [
        small_ece(results, "Every base type has ECE below 0.007 after recalibration", TABLE2, 0.007),
        _best(results, "quantile-10 has the smallest STD of the base types", [_BASES["quantile-10"]], TABLE2, "std"),
        _best(results, "quantile-10 has the smallest 95% width", [_BASES["quantile-10"]], TABLE2, "ci95_width"),
        _best(results, "quantile-4 has the lowest NLL (authors')", [_BASES["quantile-4"]], TABLE2, "nll"),
        _best(results, "quantile-4, -7 and -10 have the lowest CRPS", _QUANTILES[1:], TABLE2, "crps"),
        _best(
            results,
            "Every quantile type has a lower NLL than the distribution type, which was trained for it",
            [_worst(results, _QUANTILES, "nll")],
            [_BASES["distribution"]],
            "nll",
        ),
        *(
            _best(results, f"The {better[0].score} score does better in {what}", better, TABLE1, metric)
            for better, what, metric in (
                (_score("cdf"), "CRPS", "crps"),
                (_score("cdf"), "95% width", "ci95_width"),
                (_score("zscore"), "NLL", "nll"),
                (_score("zscore"), "STD", "std"),
            )
        ),
        *(
            _best(results, f"Interpolation by {name} does best in {what}", [zscore(name), cdf(name)], TABLE1, metric)
            for name, what, metric in (
                ("naf", "NLL", "nll"),
                ("naf", "95% width", "ci95_width"),
                ("linear", "STD", "std"),
                ("random", "CRPS", "crps"),
            )
        ),
        _undefined(results),
        _no_gain_from_exactness(results),
        nominal(results, "Both kinds of 90% interval reach nominal coverage (here: within 1.5 points)"),
        _shorter(results),
    ]


def _best(results: Results, statement: str, these: Sequence[Method], rivals: Iterable[Method], metric: str) -> Verdict:
    """The best of these against the best of their rivals, split by split, over the datasets that all have.

    To be ahead, or behind, is to be so by two standard errors of the paired difference; less is a tie.
    """
    others = [method for method in rivals if method not in these]
    means = like_with_like(results, [*these, *others], metric)
    ours, theirs = ([method for method in group if method in means] for group in (these, others))
    if not ours or not theirs:
        return Verdict(statement, None, "a method is missing")
    first, second = (min(group, key=lambda method: means[method]) for group in (ours, theirs))
    gap = results.paired((first, metric), (second, metric), common(results, means, metric))
    error = f", paired difference {plain(gap, sign='+')}{tie(gap)}"
    numbers = f"{short(first)} {means[first]:.4f}, {short(second)} {means[second]:.4f}{error}"
    return Verdict(statement, below(gap), numbers)


def _worst(results: Results, methods: Sequence[Method], metric: str) -> Method:
    means = like_with_like(results, methods, metric)
    return max(means, key=lambda method: means[method], default=methods[0])


def _score(name: str) -> list[Method]:
    return [method for method in PAPER.methods if method.base == "distribution" and method.score == name]


def _undefined(results: Results) -> Verdict:
    statement = (
        "Random interpolation leaves the NLL undefined, and the STD infinite unless its ends are bounded, as here"
    )
    random = [
        cell
        for (_, method), cells in results.cells.items()
        if method.interpolator == "random"
        for cell in cells.values()
    ]
    finite = sum(cell["nll_exact"] is not None for cell in random)
    return Verdict(
        statement, finite == 0 if random else None, f"exact NLL is finite in {finite:,} of {len(random):,} cells"
    )


def _no_gain_from_exactness(results: Results) -> Verdict:
    statement = "The exact calibration of random interpolation does not show as a lower ECE"
    gap = results.paired((zscore("random"), "ece"), (zscore("linear"), "ece"))
    if gap.value is None or gap.se is None:
        return Verdict(statement, None, "no dataset has both")
    numbers = f"zscore-random minus zscore-linear {plain(gap, sign='+')}"
    return Verdict(statement, gap.value > -2 * gap.se, numbers)


def _shorter(results: Results) -> Verdict:
    statement = "Conformal intervals are slightly shorter than credible ones"
    gaps = {method: _width_gap(results, [method]) for method in results.design.reference_methods}
    known = {method: gap.value for method, gap in gaps.items() if gap.value is not None}
    if not known:
        return Verdict(statement, None, "no dataset has them")
    gap, credible = _width_gap(results, list(known)), [results.average(m, "credible_width").value for m in known]
    width = np.mean([value for value in credible if value is not None])
    shorter = sum(value < 0 for value in known.values())
    numbers = (
        f"{plain(gap, sign='+')} on {width:.3f}{tie(gap)}; shorter in {shorter} of {len(known)} pairs of base type"
    )
    return Verdict(statement, below(gap), f"{numbers} and score")


def _width_gap(results: Results, methods: Sequence[Method]) -> Mean:
    """Conformal minus credible width: the mean over the methods of a split, then over splits, then over datasets."""

    def of(dataset: str) -> Mean:
        cells = [results.cells.get((dataset, method), {}) for method in methods]
        shared = sorted(set(cells[0]).intersection(*cells[1:]))
        pairs = [[(c[split]["conformal_width"], c[split]["credible_width"]) for c in cells] for split in shared]
        gaps = ([a - b for a, b in each if a is not None and b is not None] for each in pairs)
        return over_splits(sum(each) / len(each) if len(each) == len(methods) else None for each in gaps)

    return over_datasets(of(dataset) for dataset in results.datasets)
