"""Numbers rounded for a page's data and for text, as the scripts of the page round them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np

DIGITS = 5
MOST_DECIMALS = 6


def rounded(values: Any, resolution: float = math.inf) -> Any:
    """Numbers to five significant digits, as JSON has them: lists of floats, None for one that is not finite.

    They have more digits where a difference of `resolution` must show.

    >>> rounded([1.2345678, 1234567.0, float("inf")]), rounded(0.1 + 0.2), rounded(1234567.25, 0.1)
    ([1.2346, 1234600.0, None], 0.3, 1234567.2)
    """
    array = np.asarray(values, np.float64)
    good = np.isfinite(array)
    safe = np.where(good, array, 0.0)
    size = np.minimum(np.abs(safe), resolution * 10 ** (DIGITS - 1))
    power = DIGITS - 1 - np.floor(np.log10(np.where(size > 0, size, 1.0)))
    # a whole number over a power of ten is the float nearest to that decimal: no 0.30000000000000004
    up, down = 10.0 ** np.clip(power, 0, 300), 10.0 ** np.clip(-power, 0, 300)
    with np.errstate(over="ignore"):
        short = np.round(safe * up / down) / up * down
    found = np.where(np.isfinite(short), short, safe).astype(object)
    found[~good] = None
    return found.tolist()


def fixed(value: float, decimals: int) -> str:
    """A number with so many decimals, halves rounded away from 0 as `toFixed` of JavaScript does.

    >>> fixed(90.25, 1), fixed(-0.5, 0), fixed(-0.04, 1)
    ('90.3', '−1', '0.0')
    """
    text = str(Decimal(abs(value)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=400)))
    return f"\N{MINUS SIGN}{text}" if value < 0 and float(text) != 0 else text


def as_in_data(value: float) -> float:
    """A number as the page's data has it, so that no rounding of the one and of the other differ."""
    return float(rounded(value)) if abs(value) < 10**DIGITS else value


def shown(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent where that is short.

    >>> shown(1234.5), shown(0.012345), shown(12.0), shown(float("inf"))
    ('1235', '0.0123', '12', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    short = as_in_data(value)
    if not 1e-4 <= abs(short) < 1e7:
        return f"{short:.{digits}g}".replace("-", "\N{MINUS SIGN}")
    text = fixed(short, max(0, digits - 1 - math.floor(math.log10(abs(short)))))
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float, m: int) -> str:
    """A share in percent, with as many decimals as m rows bear, two at most.

    >>> percent(0.9012, 100), percent(0.9012, 50), percent(0.9012, 100_000)
    ('90.1%', '90%', '90.12%')
    """
    return f"{fixed(100 * as_in_data(share), _decimals(m))}%"


def percents(m: int, share: float, low: float, high: float) -> tuple[str, str, str]:
    """A share and what chance allows, with enough decimals to distinguish it from either end.

    >>> percents(3000, 0.8821, 0.8824, 0.9167), percents(3000, 0.87, 0.8824, 0.9167)
    (('88.21%', '88.24%', '91.67%'), ('87.0%', '88.2%', '91.7%'))
    """
    distinct = [end for end in (low, high) if abs(share - end) > 1e-12]
    texts, decimals = [percent(each, m) for each in (share, low, high)], _decimals(m)
    while decimals < MOST_DECIMALS and any(
        fixed(100 * end, decimals) == fixed(100 * share, decimals) for end in distinct
    ):
        decimals += 1
        texts = [f"{fixed(100 * each, decimals)}%" for each in (share, low, high)]
    return texts[0], texts[1], texts[2]


def _decimals(m: int) -> int:
    return (m >= 100) + (m >= 100_000)
