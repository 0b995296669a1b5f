"""Numbers for the page's data, and numbers in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

DIGITS = 5


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


def shown(value: float, digits: int = 3) -> str:
    """A number to so many significant digits, without an exponent where that is short.

    >>> shown(1234.5), shown(0.012345), shown(12.0), shown(float("inf"))
    ('1234', '0.0123', '12', '∞')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "\N{MINUS SIGN}∞"
    if value == 0 or not 1e-4 <= abs(value) < 1e7:
        text = f"{value:.{digits}g}"
    else:
        decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
        text = f"{value:.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return text.replace("-", "\N{MINUS SIGN}")


def percent(share: float, m: int) -> str:
    """A share in percent, with as many decimals as m rows bear, two at most.

    >>> percent(0.9012, 100), percent(0.9012, 50), percent(0.9012, 100_000)
    ('90.1%', '90%', '90.12%')
    """
    return f"{100 * share:.{(m >= 100) + (m >= 100_000)}f}%"


def count(number: int, one: str, more: str | None = None) -> str:
    """So many things, in words.

    >>> count(1, "row"), count(5000, "row")
    ('1 row', '5,000 rows')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"
