"""What the study was to reach, and what the paper says in words: each with its numbers, and whether it holds here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from calibrant.metrics import expected_ece
from calibrant.study import published
from calibrant.study.design import COVERAGE, INTERPOLATORS
from calibrant.study.means import Mean, over_datasets, over_splits
from calibrant.study.results import METHODS, Method, Results
from calibrant.study.tables import INTERVALS, TABLE1, TABLE2, versus

NLL_FLOOR = float(np.log(1e-4 / 1e-10))
"""What a label costs in the authors' NLL, -log((H(y + 1e-4) - H(y) + 1e-10) / 1e-4), where H is flat: 13.8155 nats."""
_BASES = {method.base: method for method in TABLE2}
_QUANTILES = tuple(_BASES[f"quantile-{k}"] for k in (2, 4, 7, 10))


@dataclass(frozen=True)
class Verdict:
    """A statement, whether it holds (None: what there is cannot say, or it is a tie), and the numbers that decide."""

    statement: str
    holds: bool | None
    numbers: str


def zscore(interpolator: str) -> Method:
    """The z-score of the distribution predictor."""
    return Method("distribution", "zscore", interpolator)


def cdf(interpolator: str) -> Method:
    """The cdf score of the distribution predictor."""
    return Method("distribution", "cdf", interpolator)


def goals(results: Results) -> list[Verdict]:
    """What the study was to reach."""
    return [
        _no_worse(results, zscore("linear"), "crps", "CRPS"),
        _no_worse(results, zscore("naf"), "nll", "NLL (authors')"),
        _no_collapse(results),
        _small_ece(results, "ECE of cdf-naf is at most 0.010", [cdf("naf")], 0.010),
        _small_ece(results, "ECE of every method is at most 0.010", METHODS, 0.010),
        _near_per_dataset(results),
        _nominal(results, "Conformal and credible 90% intervals cover within 1.5 points of it, for every base type"),
    ]


def claims(results: Results) -> list[Verdict]:
    """What Section 5 of the paper says, and the caption of its figure, one by one."""
    return [
        _small_ece(results, "Every base type has ECE below 0.007 after recalibration", TABLE2, 0.007),
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
        _nominal(results, "Both kinds of 90% interval reach nominal coverage (here: within 1.5 points)"),
        _shorter(results),
    ]


def crps_ratios(results: Results, method: Method) -> dict[str, float]:
    """Ours over the published CRPS, for every dataset that has both."""
    pairs = {
        d: (results.of(d, method, "crps").value, published.of(d, method.name, "crps").value) for d in results.datasets
    }
    return {dataset: ours / theirs for dataset, (ours, theirs) in pairs.items() if ours is not None and theirs}


def ece_floor(results: Results, draws: int = 100) -> float | None:
    """The mean over datasets of the debiased ECE that exchangeable scores have under a linear q, simulated.

    It is above 0: q is of n calibration scores, and its own error does not average out over the test rows.
    """
    rng, floors = np.random.default_rng(0), []
    for dataset in results.datasets:
        sizes = [results.of(dataset, zscore("linear"), name).value for name in ("n_calibration", "n_test")]
        if None in sizes:
            return None
        n, m = (round(size) for size in sizes if size is not None)
        grid = (np.arange(m) + 0.5) / m
        errors = [np.abs(_linear_pits(rng, n, m) - grid).mean() for _ in range(draws)]
        floors.append(np.mean(errors) - expected_ece(m))
    return float(np.mean(floors))


def _linear_pits(rng: np.random.Generator, n: int, m: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    knots = np.concatenate([[0.0], np.sort(rng.random(n)), [1.0]])
    return np.interp(np.sort(rng.random(m)), knots, np.arange(n + 2) / (n + 1))


def _no_worse(results: Results, method: Method, metric: str, what: str) -> Verdict:
    """At most one published standard error above the published mean, over the datasets that both have."""
    compared = versus(results, method, metric)
    ours, theirs = compared.common, compared.published
    statement = f"{what} of {method.name} is within one standard error of the published, or better"
    if ours.value is None or theirs.value is None or theirs.se is None:
        return Verdict(statement, None, "no dataset has both")
    numbers = f"{_plain(ours)} against {_plain(theirs)}, {ours.count} datasets"
    return Verdict(statement, ours.value <= theirs.value + theirs.se, numbers)


def _no_collapse(results: Results) -> Verdict:
    ours, linear = (like_with_like(results, [cdf("naf"), cdf("linear")], "crps").get(cdf(k)) for k in ("naf", "linear"))
    statement = "CRPS of cdf-naf is within 2% of cdf-linear's"
    if ours is None or linear is None:
        return Verdict(statement, None, "a method is missing")
    theirs = [published.average(name, "crps", results.datasets).value for name in ("cdf-naf", "cdf-linear")]
    beside = "" if None in theirs else f" (published {theirs[0]:.3f} against {theirs[1]:.3f})"
    return Verdict(statement, ours <= 1.02 * linear, f"{ours:.4f} against {linear:.4f}{beside}")


def _small_ece(results: Results, statement: str, methods: Sequence[Method], bound: float) -> Verdict:
    found = {method: results.average(method, "ece").value for method in methods}
    known = {method: value for method, value in found.items() if value is not None}
    if not known:
        return Verdict(statement, None, "no dataset has it")
    worst = max(known, key=lambda method: known[method])
    numbers = f"{known[worst]:.4f}" if len(methods) == 1 else f"largest {known[worst]:.4f}, {_full(worst)}"
    if len(known) < len(methods):
        numbers += f"; {len(methods) - len(known)} of {len(methods)} methods have none"
    return Verdict(statement, known[worst] <= bound if len(known) == len(methods) else None, numbers)


def _near_per_dataset(results: Results) -> Verdict:
    statement = "CRPS of zscore-linear is within 10% of the published, or better, on all datasets but at most one"
    ratios = crps_ratios(results, zscore("linear"))
    if not ratios:
        return Verdict(statement, None, "no dataset has both")
    worse = {dataset: ratio for dataset, ratio in ratios.items() if ratio > 1.1}
    named = "".join(f", {dataset} {ratio - 1:+.0%}" for dataset, ratio in worse.items())
    return Verdict(statement, len(worse) <= 1, f"{len(ratios) - len(worse)} of {len(ratios)}{named}")


def _nominal(results: Results, statement: str) -> Verdict:
    found = []
    for kind in ("conformal", "credible"):
        means = {method: results.average(method, f"{kind}_coverage").value for method in INTERVALS}
        known = {method: value for method, value in means.items() if value is not None}
        if not known:
            return Verdict(statement, None, "no dataset has them")
        far = max(known, key=lambda method: abs(known[method] - COVERAGE))
        found.append(
            (known[far], f"{kind} {np.mean(list(known.values())):.1%}, farthest {known[far]:.1%} ({_full(far)})")
        )
    return Verdict(
        statement, all(abs(value - COVERAGE) <= 0.015 for value, _ in found), "; ".join(text for _, text in found)
    )


def _shorter(results: Results) -> Verdict:
    statement = "Conformal intervals are slightly shorter than credible ones"
    gaps = {method: _width_gap(results, [method]) for method in INTERVALS}
    known = {method: gap.value for method, gap in gaps.items() if gap.value is not None}
    if not known:
        return Verdict(statement, None, "no dataset has them")
    gap, credible = _width_gap(results, list(known)), [results.average(m, "credible_width").value for m in known]
    width = np.mean([value for value in credible if value is not None])
    shorter = sum(value < 0 for value in known.values())
    numbers = (
        f"{_plain(gap, sign='+')} on {width:.3f}{_tie(gap)}; shorter in {shorter} of {len(known)} pairs of base type"
    )
    return Verdict(statement, _below(gap), f"{numbers} and score")


def _width_gap(results: Results, methods: Sequence[Method]) -> Mean:
    """Conformal minus credible width: the mean over the methods of a split, then over splits, then over datasets."""

    def of(dataset: str) -> Mean:
        cells = [results.cells.get((dataset, method), {}) for method in methods]
        shared = sorted(set(cells[0]).intersection(*cells[1:]))
        pairs = [[(c[split]["conformal_width"], c[split]["credible_width"]) for c in cells] for split in shared]
        gaps = ([a - b for a, b in each if a is not None and b is not None] for each in pairs)
        return over_splits(sum(each) / len(each) if len(each) == len(methods) else None for each in gaps)

    return over_datasets(of(dataset) for dataset in results.datasets)


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
    numbers = f"zscore-random minus zscore-linear {_plain(gap, sign='+')}"
    return Verdict(statement, gap.value > -2 * gap.se, numbers)


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
    gap = results.paired((first, metric), (second, metric), _common(results, means, metric))
    error = f", paired difference {_plain(gap, sign='+')}{_tie(gap)}"
    numbers = f"{_short(first)} {means[first]:.4f}, {_short(second)} {means[second]:.4f}{error}"
    return Verdict(statement, _below(gap), numbers)


def _below(gap: Mean) -> bool | None:
    """Whether a difference is below 0; None where it has no standard error, or is within two of them of a tie."""
    if gap.value is None or gap.se is None or abs(gap.value) <= 2 * gap.se:
        return None
    return gap.value < 0


def _tie(gap: Mean) -> str:
    known = gap.value is not None and gap.se is not None
    return ", within two standard errors of a tie" if known and _below(gap) is None else ""


def _worst(results: Results, methods: Sequence[Method], metric: str) -> Method:
    means = like_with_like(results, methods, metric)
    return max(means, key=lambda method: means[method], default=methods[0])


def like_with_like(results: Results, methods: Sequence[Method], metric: str) -> dict[Method, float]:
    """The means of the methods over the datasets that all of them have, but for methods that have none at all."""
    able = [method for method in methods if results.average(method, metric).count]
    means = {method: results.average(method, metric, _common(results, able, metric)).value for method in able}
    return {method: value for method, value in means.items() if value is not None}


def _common(results: Results, methods: Iterable[Method], metric: str) -> list[str]:
    able = list(methods)
    return [d for d in results.datasets if all(results.of(d, method, metric).value is not None for method in able)]


def _score(name: str) -> list[Method]:
    return [Method("distribution", name, interpolator) for interpolator in INTERPOLATORS]


def _short(method: Method) -> str:
    return method.name if method.base == "distribution" else method.base


def _full(method: Method) -> str:
    return method.name if method.base == "distribution" else f"{method.base} {method.interpolator}"


def _plain(mean: Mean, sign: str = "") -> str:
    digits = max(4, math.ceil(-math.log10(mean.se))) if mean.se else 4  # or it might read 0.0000 ± 0.0000
    error = "" if mean.se is None else f" ± {mean.se:.{digits}f}"
    return "—" if mean.value is None else f"{mean.value:{sign}z.{digits}f}{error}"
