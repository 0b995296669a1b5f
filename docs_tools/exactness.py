"""The tables of docs/exactness.md, where it says `<!-- exactness: laws -->` and the like.

What is compared, and with what, is the tests': the catalogue of all variants, and the integrals that share no line with
the library's own. A new line in tests/catalogue.py is a new row here.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

PAGE = "exactness.md"
MARKER = re.compile(r"^<!-- exactness: (\w+) -->$", re.MULTILINE)
METRICS = ("mean", "std", "crps")
SETS = ("n = 5", "ties", "n = 200")
MOVED = ("LocationScale", "PulledBroken", "Randomised", "Spliced")
"""Rows of these are other laws, moved, stretched and pieced together: they integrate nothing themselves."""
LEARNED = "naf"
"""Fitting it to 200 scores takes a second a row, and it is one law however many scores made it."""


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """The page with its tables."""
    if page.file.src_uri != PAGE:
        return markdown
    tests = str(Path(config.config_file_path).parent / "tests")
    if tests not in sys.path:
        sys.path.insert(0, tests)
    return MARKER.sub(lambda found: TABLES[found[1]](), markdown)


@cache
def combinations() -> str:
    """A table for each family of scores, a row for each score and interpolator."""
    parts = []
    for family, names in families().items():
        head = "| score | interpolator | integrals | mean | std | crps | cdf of ppf |\n|---|---|---|---|---|---|---|"
        parts += [f"### {family}", "\n".join([head, *_rows(names)])]
    return "\n\n".join(parts)


@cache
def summary() -> str:
    """A row for each family and way of integration: the largest of all its errors.

    Without the randomised laws, whose reference has fewer digits.
    """
    from catalogue import COMBINATIONS

    rows = ["| score | integrals | combinations | mean | std | crps |", "|---|---|---|---|---|---|"]
    for family, names in families().items():
        told = [name for name in names if not COMBINATIONS[name][1].startswith("random")]
        found = {name: errors for name in told if (errors := _errors(name)) is not None}
        for how in dict.fromkeys(map(_how, found)):
            mine = [errors for name, errors in found.items() if _how(name) == how]
            worst = [power(max(errors[what] for errors in mine)) for what in METRICS]
            rows.append(f"| {family} | {how} | {len(mine)} | {' | '.join(worst)} |")
    return "\n".join(rows)


def families() -> dict[str, list[str]]:
    """The combinations of the catalogue, by the kind of their score."""
    from catalogue import COMBINATIONS, PAIRS

    from calibrant.scores import CDFScore, EnsembleScore, LocationScaleScore, QuantileScore, SamplesScore
    from calibrant.scores.signed import SignedScore

    kinds = {
        "Straight lines in y": LocationScaleScore,
        "Broken lines in y": (QuantileScore, SamplesScore),
        "The cdf score": CDFScore,
        "Ensembles": EnsembleScore,
        "Signed non-conformities": SignedScore,
        "Other increasing scores": object,
    }
    found: dict[str, list[str]] = {family: [] for family in kinds}
    for name, (pair, _) in COMBINATIONS.items():
        found[next(family for family, kind in kinds.items() if isinstance(PAIRS[pair].score, kind))].append(name)  # type: ignore[arg-type]
    return {family: names for family, names in found.items() if names}


def _rows(names: list[str]) -> Iterator[str]:
    """The interpolators that leave mass at infinity share the last row of their score."""
    from catalogue import COMBINATIONS

    for pair in dict.fromkeys(COMBINATIONS[name][0] for name in names):
        label, infinite = pair, []
        for name in names:
            if COMBINATIONS[name][0] != pair:
                continue
            interpolator, errors = COMBINATIONS[name][1], _errors(name)
            if errors is None:
                infinite.append(interpolator)
                continue
            shown = " | ".join(power(errors[what]) for what in METRICS)
            yield f"| {label} | {interpolator} | {_how(name)} | {shown} | {_round_trip(name)} |"
            label = ""
        if infinite:
            yield f"| {label} | {'; '.join(infinite)} | by definition | none | ∞ | ∞ | — |"


def _how(name: str) -> str:
    """From the law itself: which laws it is made of."""
    import test_laws

    inside = list(_laws_in(test_laws.law(name)))
    if {type(law).__name__ for law in inside} <= {*MOVED, "MovedAtoms", "PiecewiseLinear"}:
        return "closed form"
    own = any(law.shape and type(law).__name__ not in MOVED for law in inside)
    return "quadrature, each row" if own else "quadrature, once"


def _laws_in(law: Any) -> Iterator[Any]:
    """A law and those that it is made of."""
    from calibrant.distributions import Distribution

    yield law
    for field in fields(law):
        value = getattr(law, field.name)
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Distribution):
                yield from _laws_in(part)


@cache
def _errors(name: str) -> dict[str, float] | None:
    """The largest over the calibration sets; None where mass at infinity leaves nothing finite to compare."""
    import test_exactness
    from catalogue import COMBINATIONS, has_infinite_mass

    pair, interpolator = COMBINATIONS[name]
    if has_infinite_mass(pair, interpolator):
        return None
    if interpolator.startswith("random"):
        return _against_quantiles(name)
    learned = interpolator.startswith(LEARNED)
    found = [test_exactness.errors(pair, interpolator, which) for which in SETS if not (learned and which == "n = 200")]
    return {what: max(float(errors[what]) for errors in found) for what in found[0]}


def _against_quantiles(name: str) -> dict[str, float]:
    """A randomised q is another law in each row, which the integrals of its own quantiles tell."""
    import test_laws

    H = test_laws.law(name)
    y = H.ppf(0.37) + 0.01
    mean, std, crps = test_laws.integrals(name, y)
    return {
        "mean": float(np.max(np.abs(H.mean() - mean) / np.maximum(np.abs(mean), std))),
        "std": float(np.max(np.abs(H.std() / std - 1))),
        "crps": float(np.max(np.abs(H.crps(y) / crps - 1))),
    }


def _round_trip(name: str) -> str:
    """|cdf(ppf(p)) - p|, where no atom makes it an inequality."""
    import test_laws

    if test_laws.atoms(name) != 0:
        return "—"
    return power(
        float(np.max(np.abs(test_laws.on_rows(test_laws.law(name), "cdf", test_laws.at_P(name)) - test_laws.P)))
    )


@cache
def laws() -> str:
    """A row for each law that comes as a forecast."""
    import test_distributions as tests

    rows = ["| law | cdf | ppf | mean | std | crps |", "|---|---|---|---|---|---|"]
    for name, (law, oracle) in tests.AGAINST_SCIPY.items():
        pairs = (
            (law.cdf(tests.Y), oracle.cdf(tests.Y)),
            (law.ppf(tests.P), oracle.ppf(tests.P)),
            (law.mean(), oracle.mean()[:, 0]),
            (law.std(), oracle.std()[:, 0]),
        )
        rows.append(f"| {name} | {' | '.join(power(_relative(*pair)) for pair in pairs)} | {_crps(law[1])} |")
    for name in ("gaussian mixture", "separated gaussian mixture", "logistic mixture", "separated logistic mixture"):
        rows.append(f"| {name} | | | | | {_crps(tests.SINGLE[name])} |")
    return "\n".join(rows)


def _crps(law: Any) -> str:
    import test_distributions as tests

    points = [float(law.ppf(level)) + 0.1 for level in (1e-3, 0.1, 0.5, 0.9)]
    return power(max(_relative(float(law.crps(y)), tests.crps_integral(law, y)) for y in points))


def _relative(value: Any, reference: Any) -> float:
    value, reference = np.asarray(value), np.asarray(reference)
    scale = np.where(reference == 0, 1.0, np.abs(reference))
    return float(np.max(np.abs(value - reference) / scale))


TABLES: dict[str, Callable[[], str]] = {"summary": summary, "combinations": combinations, "laws": laws}


def power(error: float) -> str:
    """The power of ten that an error stays within; nothing is told below 10^-16, the rounding of the numbers.

    >>> power(3e-15), power(0.0), power(1e-8)
    ('10<sup>−14</sup>', '10<sup>−16</sup>', '10<sup>−8</sup>')
    """
    exponent = max(-16, math.ceil(math.log10(error) - 1e-9)) if error > 0 else -16
    return f"10<sup>{exponent}</sup>".replace("-", "−")
