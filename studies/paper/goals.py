"""What running the paper's study again was to reach: each goal with its numbers, and whether it is reached."""

from __future__ import annotations

from studies.names import Method
from studies.paper import published
from studies.paper.methods import cdf, like_with_like, zscore
from studies.paper.shared import nominal, small_ece
from studies.paper.tables import versus
from studies.paper.verdict import Verdict, plain
from studies.results import Results


def goals(results: Results) -> list[Verdict]:
    """What the study was to reach."""
    return [
        _no_worse(results, zscore("linear"), "crps", "CRPS"),
        _no_worse(results, zscore("naf"), "nll", "NLL (authors')"),
        _no_collapse(results),
        small_ece(results, "ECE of cdf-naf is at most 0.010", [cdf("naf")], 0.010),
        small_ece(results, "ECE of every method is at most 0.010", results.design.methods, 0.010),
        _near_per_dataset(results),
        nominal(results, "Conformal and credible 90% intervals cover within 1.5 points of it, for every base type"),
    ]


def crps_ratios(results: Results, method: Method) -> dict[str, float]:
    """Ours over the published CRPS, for every dataset that has both."""
    pairs = {
        d: (results.of(d, method, "crps").value, published.of(d, method.name, "crps").value) for d in results.datasets
    }
    return {dataset: ours / theirs for dataset, (ours, theirs) in pairs.items() if ours is not None and theirs}


def _no_worse(results: Results, method: Method, metric: str, what: str) -> Verdict:
    """At most one published standard error above the published mean, over the datasets that both have."""
    compared = versus(results, method, metric)
    ours, theirs = compared.common, compared.published
    statement = f"{what} of {method.name} is within one standard error of the published, or better"
    if ours.value is None or theirs.value is None or theirs.se is None:
        return Verdict(statement, None, "no dataset has both")
    numbers = f"{plain(ours)} against {plain(theirs)}, {ours.count} datasets"
    return Verdict(statement, ours.value <= theirs.value + theirs.se, numbers)


def _no_collapse(results: Results) -> Verdict:
    ours, linear = (like_with_like(results, [cdf("naf"), cdf("linear")], "crps").get(cdf(k)) for k in ("naf", "linear"))
    statement = "CRPS of cdf-naf is within 2% of cdf-linear's"
    if ours is None or linear is None:
        return Verdict(statement, None, "a method is missing")
    theirs = [published.average(name, "crps", results.datasets).value for name in ("cdf-naf", "cdf-linear")]
    beside = "" if None in theirs else f" (published {theirs[0]:.3f} against {theirs[1]:.3f})"
    return Verdict(statement, ours <= 1.02 * linear, f"{ours:.4f} against {linear:.4f}{beside}")


def _near_per_dataset(results: Results) -> Verdict:
    statement = "CRPS of zscore-linear is within 10% of the published, or better, on all datasets but at most one"
    ratios = crps_ratios(results, zscore("linear"))
    if not ratios:
        return Verdict(statement, None, "no dataset has both")
    worse = {dataset: ratio for dataset, ratio in ratios.items() if ratio > 1.1}
    named = "".join(f", {dataset} {ratio - 1:+.0%}" for dataset, ratio in worse.items())
    return Verdict(statement, len(worse) <= 1, f"{len(ratios) - len(worse)} of {len(ratios)}{named}")
