"""What the league was to show, each goal with its numbers, for gradient boosting and for the forest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from studies.paper.verdict import Verdict
from studies.tabular.duels import duels, mean_ranks
from studies.tabular.entrants import NEIGHBOURS, OURS, OWN_SPREAD, PLAIN, SPREAD
from studies.tabular.outcomes import Outcomes

_POOLED_Z, _TABLE_Z = 3.0, 3.7


@dataclass(frozen=True)
class Targets:
    """The numbers to reach with one base model."""

    crps: float
    moonshot: float
    slice_pit: float


TARGETS = {"hgb": Targets(0.90, 0.88, 0.50), "rf": Targets(0.87, 0.85, 0.45)}


def goals(outcomes: Outcomes, base: str) -> list[Verdict]:
    """The goals of one base model, in the order of the table."""
    targets = TARGETS[base]
    return [
        _crps(outcomes, base, targets),
        _worst(outcomes, base, (PLAIN,), "worst dataset, CRPS of mean over the plain residual's"),
        _worst(outcomes, base, (OWN_SPREAD, SPREAD), "worst dataset, CRPS of mean over that of the base's own spread"),
        _slices(outcomes, base, targets),
        _pooled_coverage(outcomes, base),
        _coverage_by_dataset(outcomes, base),
        _neighbours(outcomes, base),
    ]


def _crps(outcomes: Outcomes, base: str, targets: Targets) -> Verdict:
    share = outcomes.average(base, OURS, "crps")
    statement = "CRPS of mean over the plain residual's, mean over datasets"
    if share.value is None:
        return Verdict(statement, None, "not measured")
    moon = "reached" if share.value <= targets.moonshot else "not reached"
    numbers = f"{share.value:.4f}{_error(share.se)}, to be at most {targets.crps:.2f}; {targets.moonshot:.2f} is {moon}"
    return Verdict(statement, share.value <= targets.crps, numbers)


def _worst(outcomes: Outcomes, base: str, others: Sequence[str], statement: str) -> Verdict:
    """At most 1.01, or within two paired standard errors of 1, on every dataset."""
    shares = {
        (dataset, other): share
        for other in others
        for dataset in outcomes.datasets
        if (share := outcomes.share(dataset, base, OURS, "crps", other)).value is not None
    }
    if not shares:
        return Verdict(statement, None, "the base model has none" if base != "rf" else "not measured")
    value = {key: share.value or 0.0 for key, share in shares.items()}
    above = [key for key, share in shares.items() if value[key] > 1.01 and value[key] - 1 > 2 * (share.se or 0.0)]
    worst = max(above or value, key=value.__getitem__)
    numbers = f"{value[worst]:.3f}{_error(shares[worst].se)} ({worst[0]}{_against(worst[1])})"
    if len(above) > 1:
        numbers += f"; {len(above)} datasets are above"
    return Verdict(statement, not above, f"{numbers}, to be at most 1.01 or within two standard errors of 1")


def _slices(outcomes: Outcomes, base: str, targets: Targets) -> Verdict:
    share = outcomes.average(base, OURS, "slice_pit")
    statement = "slice PIT error of mean over the plain residual's"
    if share.value is None:
        return Verdict(statement, None, "no dataset has 100 test rows")
    numbers = f"{share.value:.3f}{_error(share.se)}, {share.count} datasets, to be at most {targets.slice_pit:.2f}"
    return Verdict(statement, share.value <= targets.slice_pit, numbers)


def coverage_z(outcomes: Outcomes, base: str) -> dict[str, tuple[float, float, float]]:
    """Of each dataset the coverage of mean's 90% interval, its standard error, and the distance from 0.9 in these.

    The standard error is sqrt(0.09 (1/n + 1/m) / splits), with n calibration and m test rows.
    """
    found = {}
    for dataset in outcomes.datasets:
        mean = outcomes.mean(dataset, base, OURS, "cov90")
        if mean.value is not None:
            n, m = (outcomes.rows(dataset, base, part) for part in ("calibration", "test"))
            error = math.sqrt(0.09 * (1 / n + 1 / m) / mean.count)
            found[dataset] = mean.value, error, (mean.value - 0.9) / error
    return found


def _pooled_coverage(outcomes: Outcomes, base: str) -> Verdict:
    statement = "coverage of mean's 90% interval, mean over datasets"
    found = coverage_z(outcomes, base)
    if not found:
        return Verdict(statement, None, "not measured")
    mean = math.fsum(value for value, _, _ in found.values()) / len(found)
    error = math.hypot(*(error for _, error, _ in found.values())) / len(found)
    numbers = f"{mean:.2%} ± {error:.2%}, to be within {_POOLED_Z:g} standard errors of 90%"
    return Verdict(statement, abs(mean - 0.9) <= _POOLED_Z * error, numbers)


def _coverage_by_dataset(outcomes: Outcomes, base: str) -> Verdict:
    statement = "coverage of mean's 90% interval, every dataset"
    found = coverage_z(outcomes, base)
    if not found:
        return Verdict(statement, None, "not measured")
    far = max(found, key=lambda dataset: abs(found[dataset][2]))
    value, _, z = found[far]
    numbers = f"farthest {value:.2%} ({far}), z = {z:+.1f}, to be within {_TABLE_Z:g}"
    return Verdict(statement, abs(z) <= _TABLE_Z, numbers)


def _neighbours(outcomes: Outcomes, base: str) -> Verdict:
    statement = "90% interval score against every method of other libraries: lowest mean rank"
    others = [name for name in outcomes.methods(base) if name in NEIGHBOURS]
    ranks = mean_ranks(outcomes, base, "is90", [OURS, *others]) if others else {}
    fights = duels(outcomes, base, "is90", OURS, others)
    if not ranks or not fights:
        return Verdict(statement, None, "no method of another library was run")
    second = min(others, key=ranks.__getitem__)
    wins = sorted(duel.wins for duel in fights)
    numbers = (
        f"{ranks[OURS]:.2f}, the best of {len(others)} others {ranks[second]:.2f} ({second}); wins {wins[0]} to "
        f"{wins[-1]} of {fights[0].of} datasets, Holm-adjusted p at most {max(duel.adjusted for duel in fights):.2g}"
    )
    return Verdict(statement, ranks[OURS] < ranks[second], numbers)


def _error(se: float | None) -> str:
    return "" if se is None else f" ± {se:.3f}"


def _against(other: str) -> str:
    return "" if other == PLAIN else f", against {other}"
