"""What chance allows: bands that hold the PITs of a calibrated forecast everywhere at once, computed, not simulated."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import scipy.special
from numpy.typing import NDArray

from calibrant._arguments import unit
from calibrant._arrays import floats, to_numpy
from calibrant._types import ArrayLike

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

_WIDEST = 1024
"""The width of a band, in counts, up to which all is exact: some 96,000 rows."""


def pit_band(m: int, bins: int = 20, confidence: float = 0.95, *, n: int | None = None) -> tuple[float, float]:
    """Counts (low, high) with P(low <= count <= high in every bin) >= confidence, for m uniform PITs in equal bins.

    Both are quantiles of one bin's count, at the largest local level for which the probability that all bins are
    within is still `confidence`. Counts in bins are independent Poisson numbers given their sum, so that probability
    is one coefficient of a power of a polynomial.

    `n` is the number of rows that calibrated H. Their sampling error shows in the PITs too: about as much as if
    there were n m / (n + m) of them. By interpolation between n scores, the shares of new scores in bins are a
    Dirichlet draw with n + 1 times the size of each bin, so the counts are negative binomial numbers given their sum,
    and the rest is as above. This is exact for bins that end at scores, on the safe side for the others.

    Beyond some 96,000 rows, or 1,000 counts of width, the local level comes from fewer rows, and the bounds are
    quantiles at that level of the beta distribution with the mean and variance of a share: right to 2% of the band's
    width.

    Args:
        m: The number of rows evaluated, whose labels were not used to calibrate.
        bins: The number of bins, all of the same width.
        confidence: The probability that a calibrated forecast lies inside the whole band.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.

    >>> pit_band(1000)
    (31.0, 72.0)
    >>> pit_band(1000, n=1000)
    (25.0, 83.0)
    """
    if not isinstance(bins, (int, np.integer)) or bins < 2:
        raise ValueError(f"bins must be a count of at least 2, got {bins!r}")
    distribution = _Counts.of(m, n)
    low, high, level = _pit_bounds(distribution, int(bins), unit("confidence", confidence))
    shares = distribution.shares(_Counts(int(m), n), low, high, np.array([1 / bins]), level)
    return m * float(shares[0][0]), m * float(shares[1][0])


def reliability_band(
    m: int, levels: ArrayLike, confidence: float = 0.95, *, n: int | None = None
) -> tuple[Floats, Floats]:
    """Shares (low, high) with P(low_k <= #{PIT <= p_k} / m <= high_k for every level p_k) >= confidence.

    At every level the bounds are quantiles of the count at that level, divided by m, at one local level for all: the
    largest for which the whole path is inside with that probability (Aldor-Noiman et al. 2013; Säilynoja et al.
    2022). A recursion over the levels computes it: add the next increment, drop what has left the band, condition on
    the sum. `n`, and what is exact, as in `pit_band`.

    Args:
        m: The number of rows evaluated, whose labels were not used to calibrate.
        levels: The levels p_k, increasing, in [0, 1].
        confidence: The probability that a calibrated forecast lies inside the whole band.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.

    >>> reliability_band(1000, [0.05, 0.5, 0.95])
    (array([0.035, 0.463, 0.933]), array([0.067, 0.537, 0.965]))
    """
    p = np.atleast_1d(to_numpy(floats("levels", levels))).astype(np.float64)
    if p.ndim != 1 or not p.size or p[0] < 0 or p[-1] > 1 or (p[1:] <= p[:-1]).any():
        raise ValueError(f"levels must increase strictly inside [0, 1], got {p.tolist()}")
    distribution = _Counts.of(m, n)
    low, high, level = _path(distribution, tuple(p.tolist())).bounds(unit("confidence", confidence))
    return distribution.shares(_Counts(int(m), n), low, high, p, level)


def band_pvalue(shares: ArrayLike, m: int, levels: ArrayLike, *, n: int | None = None) -> float:
    """The chance that a calibrated forecast leaves a band which just excludes these shares: 1 - its confidence.

    `reliability_band(m, levels, 1 - risk)` excludes the shares if, and only if, the p-value is `risk` or less.

    Args:
        shares: The share of PITs at or below each level.
        m: The number of rows evaluated.
        levels: The levels, increasing, in (0, 1).
        n: The number of rows that calibrated H.

    >>> low, high = reliability_band(1000, [0.05, 0.5, 0.95])
    >>> band_pvalue(low, 1000, [0.05, 0.5, 0.95]) > 0.05 > band_pvalue(low - 0.001, 1000, [0.05, 0.5, 0.95])
    True
    """
    p = tuple(np.asarray(levels, np.float64).tolist())
    distribution = _Counts.of(m, n)
    path = _path(distribution, p)
    level = path.local(np.asarray(shares, np.float64), _Counts(int(m), n))
    if level >= 1:
        return 1.0
    least = max(level, 1e-300)
    pvalue = 1 - path.inside(*_quantiles(path.tails, least))
    return min(1.0, pvalue if pvalue > 1e-9 else least * len(p))


@dataclass(frozen=True)
class _Counts:
    """m PITs in cells: independent, given their sum m; of a distribution calibrated on n rows, or a true one."""

    m: int
    n: int | None

    @classmethod
    def of(cls, m: int, n: int | None) -> _Counts:
        """Of m and n, checked, or of fewer where the band would take long to compute."""
        for name, value in (("m", m), ("n", n)):
            if value is not None and (not isinstance(value, (int, np.integer)) or value < 1):
                raise ValueError(f"{name} must be a count of rows, at least 1, got {value!r}")
        fewer = cls(int(m), n if n is None else int(n))
        while 6.6 * fewer.deviation(0.5) > _WIDEST:
            # n stays where it is the smaller one: it is what makes the band lopsided
            scaled = fewer.n if fewer.n is None or fewer.n <= fewer.m else fewer.n * 3 // 4
            fewer = cls(fewer.m * 3 // 4, scaled)
        return fewer

    @property
    def size(self) -> float:
        """The number of PITs of a true distribution that would vary as much."""
        return self.m if self.n is None else self.m * (self.n + 2) / (self.m + self.n + 1)

    def deviation(self, share: float) -> float:
        """The standard deviation of the count in a cell of that share."""
        return self.m * math.sqrt(share * (1 - share) / self.size)

    def shares(self, whole: _Counts, low: Counts, high: Counts, p: Floats, level: float) -> tuple[Floats, Floats]:
        """Bounds as shares of the rows they are for: counts, or quantiles of a beta distribution where they are fewer.

        Its size has the variance of a share of the whole. It is the exact one where n rows are few and m are many,
        skew and all: a multiple of our own bounds would leave out the shares near 0 and 1 that few rows often give.
        """
        if self.m == whole.m:
            return low / self.m, high / self.m
        inner = np.clip(p, 1e-300, 1 - 1e-16)
        a, b = (whole.size - 1) * inner, (whole.size - 1) * (1 - inner)
        ends = (scipy.special.betaincinv(a, b, tail) for tail in (level / 2, 1 - level / 2))
        least, most = (np.where((p == 0) | (p == 1), p, end) for end in ends)
        # whole counts, on the safe side
        return np.floor(least * whole.m) / whole.m, np.ceil(most * whole.m) / whole.m

    def log_pmf(self, k: Counts, share: float) -> Floats:
        """Of a cell's count before it is known that all are m: Poisson, or negative binomial where n is known.

        Poisson: (m share)^k exp(-m share) / k!. Negative binomial: Gamma(k + r) / (Gamma(r) k!) t^k (1 - t)^r, where
        r = (n + 1) share and t = m / (m + n + 1); which has the same mean.
        """
        if share == 0:
            return np.where(k == 0, 0.0, -np.inf)
        if self.n is None:
            mean = self.m * share
            return np.asarray(scipy.special.xlogy(k, mean) - mean - scipy.special.gammaln(k + 1.0), np.float64)
        r, odds = (self.n + 1) * share, self.m / (self.n + 1)
        ways = scipy.special.gammaln(k + r) - scipy.special.gammaln(r) - scipy.special.gammaln(k + 1.0)
        return np.asarray(ways - k * math.log1p(1 / odds) - r * math.log1p(odds), np.float64)

    @property
    def log_total(self) -> float:
        """The log probability that all cells sum to m."""
        return float(self.log_pmf(np.array([self.m]), 1.0)[0])

    def range(self, share: float, deviation: float) -> Counts:
        """The counts of a cell but for some 1e-16 of their distribution."""
        tail = 1.0 if self.n is None else 1 + self.m / (self.n + 1)
        reach, mean = 9 * deviation + 40 * tail, self.m * share
        return np.arange(max(0, math.floor(mean - reach)), min(self.m, math.ceil(mean + reach)) + 1)

    def cell(self, share: float) -> tuple[int, Floats]:
        """The pmf of a cell's count before the sum is known, and the count that it starts at."""
        spread = 1.0 if self.n is None else 1 + self.m / (self.n + 1)
        k = self.range(share, math.sqrt(self.m * share * spread))
        return int(k[0]), np.exp(self.log_pmf(k, share))

    def tails(self, p: float) -> tuple[int, Floats, Floats]:
        """The first count k that matters of the rows below level p, P(X <= k) and P(X > k) from there on."""
        k = self.range(p, self.deviation(p))
        pmf = np.exp(self.log_pmf(k, p) + self.log_pmf(self.m - k, 1 - p) - self.log_total)
        above = np.cumsum(pmf[::-1])[::-1] - pmf
        return int(k[0]), np.cumsum(pmf), np.maximum(above, 0.0)


@lru_cache(maxsize=256)
def _pit_bounds(distribution: _Counts, bins: int, confidence: float) -> tuple[Counts, Counts, float]:
    least, pmf = distribution.cell(1 / bins)
    total = math.exp(distribution.log_total)

    def inside(low: Counts, high: Counts) -> float:
        """P(all bins within): the coefficient of x^m in (sum over low..high of pmf(k) x^k)^bins, over P(sum = m)."""
        first, last = int(low[0]), int(high[0])
        if not bins * first <= distribution.m <= bins * last:
            return 0.0
        part = pmf[first - least : last - least + 1]
        size = _power_of_two(bins * (last - first) + 1)
        power = np.fft.irfft(np.fft.rfft(part, size) ** bins, size)
        return float(power[distribution.m - bins * first] / total)

    return _narrowest(distribution, [1 / bins], confidence, bins, inside)


@dataclass(frozen=True)
class _Path:
    """The counts of PITs below increasing levels."""

    distribution: _Counts
    levels: tuple[float, ...]

    @cached_property
    def tails(self) -> list[tuple[int, Floats, Floats]]:
        """Of the count at each level, see `_Counts.tails`."""
        return [self.distribution.tails(p) for p in self.levels]

    @cached_property
    def cells(self) -> list[tuple[int, Floats]]:
        """The pmf of the count between each level and the last one."""
        return [self.distribution.cell(step) for step in np.diff([0.0, *self.levels]).tolist()]

    def inside(self, low: Counts, high: Counts) -> float:
        """P(low_k <= N_k <= high_k for every k | N = m), N_k the sum of the first k cells."""
        state, start = np.ones(1), 0
        for first, last, (least, pmf) in zip(low.tolist(), high.tolist(), self.cells, strict=True):
            start += least
            state = _convolved(state, pmf)[max(first - start, 0) : max(last - start + 1, 0)]
            start = max(first, start)
            if not state.size:
                return 0.0
        rest = self.distribution.log_pmf(self.distribution.m - start - np.arange(state.size), 1 - self.levels[-1])
        return float(state @ np.exp(rest) / math.exp(self.distribution.log_total))

    @lru_cache(maxsize=256)  # noqa: B019 - of few values, and small
    def bounds(self, confidence: float) -> tuple[Counts, Counts, float]:
        """The band, and the chance at each level by itself to be beyond it."""
        return _narrowest(self.distribution, self.levels, confidence, len(self.levels), self.inside)

    def local(self, shares: Floats, whole: _Counts) -> float:
        """The least chance, over the levels, of a count so low or so high: the band at that level just excludes it."""
        p = np.asarray(self.levels)
        if self.distribution.m != whole.m:
            # as in `_Counts.shares`, whose bounds are rounded to whole counts
            a, b, one = (whole.size - 1) * p, (whole.size - 1) * (1 - p), 1 / whole.m
            below = scipy.special.betainc(a, b, np.minimum(shares + one, 1))
            above = scipy.special.betainc(b, a, np.minimum(1 - shares + one, 1))
            return float(2 * np.min(np.minimum(below, above)))
        counts, least = np.rint(shares * whole.m).astype(np.int64).tolist(), 1.0
        for k, (first, of_less, of_more) in zip(counts, self.tails, strict=True):
            at = k - first
            no_more = 0.0 if at < 0 else 1.0 if at >= of_less.size else float(of_less[at])
            no_less = 1.0 if at <= 0 else 0.0 if at > of_more.size else float(of_more[at - 1])
            least = min(least, 2 * no_more, 2 * no_less)
        return least


@lru_cache(maxsize=16)
def _path(distribution: _Counts, levels: tuple[float, ...]) -> _Path:
    return _Path(distribution, levels)


def _narrowest(
    distribution: _Counts,
    levels: Sequence[float],
    confidence: float,
    cells: int,
    inside: Callable[[Counts, Counts], float],
) -> tuple[Counts, Counts, float]:
    """The quantiles of the counts below levels at the largest local level at which `inside` is `confidence`; it."""
    import scipy.optimize  # some 30 ms, which `import calibrant` need not spend

    tails = [distribution.tails(p) for p in levels]
    known: dict[tuple[bytes, bytes], float] = {}
    best, bounds = math.log((1 - confidence) / cells), _quantiles(tails, (1 - confidence) / cells)

    def excess(log_level: float) -> float:
        nonlocal best, bounds
        low, high = _quantiles(tails, math.exp(log_level))
        key = low.tobytes(), high.tobytes()
        if key not in known:
            known[key] = inside(low, high)
        if known[key] >= confidence and log_level > best:
            best, bounds = log_level, (low, high)
        # nearly a line in the log of the level, so that a few secants do where there are no steps
        return math.log(max(1 - known[key], 1e-15) / (1 - confidence))

    # Bonferroni's level is always good; the level 1, medians alone, only where nothing varies
    if excess(best) < 0 < excess(0.0):
        scipy.optimize.brentq(excess, math.log((1 - confidence) / cells), 0.0, xtol=1e-3)
    level = math.exp(best)
    while (step := _next_step(tails, level)) < 1:  # exactly: the bounds change where the level is a chance of a count
        excess(math.log(step) + 1e-15)
        if best <= math.log(level) + 1e-14:
            return *bounds, math.nextafter(step, 0)
        level = step
    return *bounds, level


def _next_step(tails: Sequence[tuple[int, Floats, Floats]], level: float) -> float:
    """The next level at which a bound changes."""
    found = 1.0
    for _, below, above in tails:
        k, j = np.searchsorted(below, level / 2, side="right"), np.searchsorted(-above, -level / 2, side="left") - 1
        found = min(found, 2 * below[k] if k < below.size else 1.0, 2 * above[j] if j >= 0 else 1.0)
    return float(found)


def _quantiles(tails: Sequence[tuple[int, Floats, Floats]], level: float) -> tuple[Counts, Counts]:
    """The smallest counts k with P(X <= k) > level / 2, and with P(X > k) <= level / 2."""
    low = [least + np.searchsorted(below, level / 2, side="right") for least, below, _ in tails]
    high = [least + np.searchsorted(-above, -level / 2, side="left") for least, _, above in tails]
    return np.array(low, np.int64), np.array(high, np.int64)


def _convolved(a: Floats, b: Floats) -> Floats:
    """The full convolution; by FFT where both are long."""
    if min(a.size, b.size) < 300:
        return np.convolve(a, b)
    size = _power_of_two(a.size + b.size - 1)
    return np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[: a.size + b.size - 1]


def _power_of_two(size: int) -> int:
    """The next one, for which an FFT is fast."""
    return 1 << (size - 1).bit_length()
