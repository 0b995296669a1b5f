"""What a forecast, an interpolation q and a calibrated prediction H all are: a batch of laws on the real line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

import array_api_compat
import numpy as np

from calibrant._arrays import (
    Array,
    at_home,
    device_like,
    floats,
    generator,
    moved,
    namespace,
    one_number,
    probabilities,
    same_length,
    unit,
)
from calibrant._batch import first_array, map_arrays, promoted, take_rows
from calibrant._special import sigmoid

if TYPE_CHECKING:
    from calibrant.scores.charts import Chart


_BLOCK = 2**14  # rows evaluated at a time


class PartialMoments(NamedTuple):
    """The four integrals of F and 1 - F that give means and variances, also of a clipped law."""

    lower: Array
    """E (y - Y)+, the integral of F up to y."""
    lower2: Array
    """E (y - Y)+^2 / 2."""
    upper: Array
    """E (Y - y)+, the integral of 1 - F from y on."""
    upper2: Array
    """E (Y - y)+^2 / 2."""


class Squares(NamedTuple):
    """The two integrals whose sum is the CRPS."""

    lower: Array
    """The integral of F^2 up to y."""
    upper: Array
    """The integral of (1 - F)^2 from y on."""


def moments_beyond(part: PartialMoments, over: Array, under: Array, infinite: tuple[float, float]) -> PartialMoments:
    """Partial moments `over` above or `under` below the ends of a law, from those at the ends.

    No mass is left beyond them, unless it is at -inf or +inf: `infinite` says how much.
    """
    below, above = infinite
    lower, lower2, upper, upper2 = part
    return PartialMoments(
        lower + (1 - above) * over - below * under,
        lower2 + over * lower + ((1 - above) * over**2 + below * under**2) / 2,
        upper + (1 - below) * under - above * over,
        upper2 + under * upper + ((1 - below) * under**2 + above * over**2) / 2,
    )


def squares_beyond(part: Squares, over: Array, under: Array, infinite: tuple[float, float]) -> Squares:
    """The same for the squares."""
    below, above = infinite
    return Squares(
        part.lower + (1 - above) ** 2 * over - below**2 * under,
        part.upper + (1 - below) ** 2 * under - above**2 * over,
    )


class Distribution(ABC):
    """A batch of n laws on the real line, of shape (n,), or a single one, of shape ().

    A single law takes any array elementwise. For a batch, a 0-d or 1-d argument is one value per row and gives
    (n,); a 2-d argument (n, k) or (1, k) is k values per row and gives (n, k). A length that does not fit raises.

    To write your own law, make a frozen dataclass of it and give `shape` and six primitives: `_cdf`, `_ppf`,
    `_logpdf`, `_mean`, `_std`, `_crps`. Arguments arrive checked; in a batch they have shape (n, k) or (1, k), so
    meet them with your parameters as columns (`self._lift`). The remaining private methods have plain defaults; a
    law that knows better (accuracy in the tails, a closed form) says so by its own.
    """

    # ---- what a law must say ---------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for a batch, () for a single law."""

    @abstractmethod
    def _cdf(self, y: Array) -> Array: ...

    @abstractmethod
    def _ppf(self, p: Array) -> Array: ...

    @abstractmethod
    def _logpdf(self, y: Array) -> Array: ...

    @abstractmethod
    def _mean(self) -> Array: ...

    @abstractmethod
    def _std(self) -> Array: ...

    @abstractmethod
    def _crps(self, y: Array) -> Array: ...

    # ---- what it may say better ------------------------------------------------------------------------------------

    @property
    def _like(self) -> Array:
        """One of the law's own arrays, which tells namespace, dtype and device; None where it has none."""
        return first_array(self)

    def _sf(self, y: Array) -> Array:
        return 1 - self._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        """The limit of the CDF from the left; differs from the CDF at an atom only."""
        return self._cdf(y)

    def _logcdf(self, y: Array) -> Array:
        return safe_log(self._cdf(y))

    def _logsf(self, y: Array) -> Array:
        return safe_log(self._sf(y))

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile at probability sigmoid(s)."""
        return self._ppf(sigmoid(s))

    def _quantiles(self, p: Array) -> Array:
        """The quantiles of every row at the same k levels."""
        return self._at("_ppf", p[None, :] if self.shape else p)

    def _partial_moments(self, y: Array) -> PartialMoments:
        """By quadrature, see `calibrant.distributions.quadrature`."""
        from calibrant.distributions.quadrature import as_pull_back

        return as_pull_back(self)._partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        """By quadrature, see `calibrant.distributions.quadrature`."""
        from calibrant.distributions.quadrature import as_pull_back

        return as_pull_back(self)._squares(y)

    def _infinite_mass(self) -> tuple[float, float]:
        """The probabilities of -inf and +inf; the integrals above then start at the law's last finite point."""
        return 0.0, 0.0

    def _breaks(self) -> Array:
        """Points of a single law between which its CDF is smooth, close enough for Gauss-Legendre in between."""
        s = np.concatenate([np.linspace(-40, 40, 161), [-700, -300, -150, -80, 80, 150, 300, 700]])
        like = self._like if self._like is not None else np.zeros(())
        return self._ppf_logit(device_like(np.sort(s), like))

    def _pulled(self, chart: Chart) -> Distribution:
        """The law of the y with chart(y) ~ self, for each row of the chart."""
        return chart.pull(self)

    def _recalibrated(self, q: Distribution) -> Distribution:
        """The law of the y with logit F(y) ~ q: what the cdf score makes of this forecast."""
        from calibrant.distributions.pullback import PullBack
        from calibrant.scores.charts import LogitCDF

        return PullBack(LogitCDF(self), q)

    def _clipped(self, lower: float, upper: float) -> Distribution:
        from calibrant.distributions.clipped import Clipped

        return Clipped(self, lower, upper)

    def realise(self, n: int, rng: np.random.Generator | None) -> Distribution:
        """The law itself; a randomised one draws its uniforms, one for each of n rows."""
        del n, rng
        return self

    # ---- what everybody gets ---------------------------------------------------------------------------------------

    def cdf(self, y: Any) -> Array:
        """P(Y <= y)."""
        law, y = self._meeting("y", y, allow_inf=True)
        return law._at("_cdf", y)

    def sf(self, y: Any) -> Array:
        """P(Y > y), without the cancellation of 1 - cdf where the law allows it."""
        law, y = self._meeting("y", y, allow_inf=True)
        return law._at("_sf", y)

    def logpdf(self, y: Any) -> Array:
        """The log density; of the absolutely continuous part where the law has atoms."""
        law, y = self._meeting("y", y)
        return law._at("_logpdf", y)

    def pdf(self, y: Any) -> Array:
        """The density; of the absolutely continuous part where the law has atoms."""
        density = self.logpdf(y)
        return namespace(density).exp(density)

    def ppf(self, p: Any) -> Array:
        """The quantile function: the smallest y with cdf(y) >= p."""
        law = promoted(self, p)
        return law._at("_ppf", probabilities("p", p, like=law._like))

    def mean(self) -> Array:
        """The expectation; nan where both tails hold infinite mass."""
        return self._in_blocks("_mean") if self.shape else self._mean()

    def std(self) -> Array:
        """The standard deviation."""
        return self._in_blocks("_std") if self.shape else self._std()

    def crps(self, y: Any) -> Array:
        """The continuous ranked probability score of the label y: the integral of (cdf(t) - 1{y <= t})^2 over t."""
        law, y = self._meeting("y", y)
        return law._at("_crps", y)

    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.ppf(0.5)

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """The centred credible interval (lower, upper) of probability `coverage`."""
        coverage = unit("coverage", coverage)
        bounds = self.quantiles([(1 - coverage) / 2, (1 + coverage) / 2])
        return bounds[..., 0], bounds[..., 1]

    def quantiles(self, levels: Any) -> Array:
        """The quantiles at k levels, as (n, k) for a batch and (k,) for a single law."""
        law = promoted(self, levels)
        p = probabilities("levels", levels, like=law._like)
        if p.ndim != 1:
            raise ValueError(f"levels must be 1-d, got shape {tuple(p.shape)}")
        return law._quantiles(p)

    def sample(self, size: int, rng: np.random.Generator | None = None) -> Array:
        """`size` independent draws from each law: (n, size) for a batch, (size,) for a single law."""
        rng = generator(rng)
        if not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size must be a count of draws, got {size!r}")
        # open at both ends, so that no draw is infinite
        p = rng.random((*self.shape, size))
        np.clip(p, 2.0**-54, 1 - 2.0**-24 if _is_single(self._like) else 1 - 2.0**-53, out=p)
        return self._at("_ppf", p if self._like is None else device_like(p, self._like))

    def clip(self, lower: float = -np.inf, upper: float = np.inf) -> Distribution:
        """The law of min(max(Y, lower), upper): the mass beyond a bound piles up on the bound."""
        lower, upper = one_number("clip's lower", lower), one_number("clip's upper", upper)
        if not lower < upper:
            raise ValueError(f"clip needs lower < upper, got {lower} and {upper}")
        return self._clipped(lower, upper)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single law has no length")
        return self.shape[0]

    def __getitem__(self, index: Any) -> Distribution:
        if not self.shape:
            raise TypeError("a single law has no rows to index")
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            from calibrant.distributions.single import single_row

            return single_row(self, int(index))
        return take_rows(self, index)

    def __repr__(self) -> str:
        rows = f"n={len(self)}" if self.shape else ""
        return f"{type(self).__name__}({', '.join(filter(None, [rows, self._describe()]))})"

    def _describe(self) -> str:
        """What the repr says beside the number of rows."""
        return ""

    def to(self, like: Array) -> Self:
        """The same law with its arrays in the namespace, dtype and device of `like`."""
        if like is None or self._like is None or at_home(self._like, like):
            return self
        return cast(Self, map_arrays(self, lambda array: moved(array, like)))

    # ---- helpers for laws ------------------------------------------------------------------------------------------

    def _meeting(self, name: str, value: Any, *, allow_inf: bool = False) -> tuple[Distribution, Array]:
        """The law and an argument, checked, in the wider type of the two: see `calibrant._arrays.wider`."""
        law = promoted(self, value)
        return law, floats(name, value, like=law._like, allow_inf=allow_inf)

    def _lift(self, parameter: Array) -> Array:
        """A parameter of shape `self.shape` as a column, ready to meet arguments of shape (n, k)."""
        return parameter[:, None, ...] if self.shape else parameter

    def _at(self, name: str, value: Array) -> Array:
        """The method `name` at checked values, by the shape rule."""
        if not self.shape:
            return getattr(self, name)(value)
        if value.ndim > 2:
            raise ValueError(f"the argument must be 0-, 1- or 2-d, got shape {tuple(value.shape)}")
        if value.ndim and not (value.ndim == 2 and value.shape[0] == 1):
            same_length("the batch", len(self), f"a {value.ndim}-d argument", value.shape[0])
        columns = value if value.ndim == 2 else value[:, None] if value.ndim else value[None, None]
        result = self._in_blocks(name, columns)
        return result if value.ndim == 2 else result[:, 0]

    def _in_blocks(self, name: str, *arguments: Array) -> Array:
        """A method of the batch, block by block of rows where that keeps numpy's temporaries small and in the cache."""
        rows = len(self)
        if rows <= 2 * _BLOCK or not array_api_compat.is_numpy_array(self._like):
            return getattr(self, name)(*arguments)
        parts = []
        for start in range(0, rows, _BLOCK):
            block = slice(start, start + _BLOCK)
            values = (value if value.shape[0] == 1 else value[block] for value in arguments)
            parts.append(getattr(take_rows(self, block), name)(*values))
        return np.concatenate(parts)


class Integrated(Distribution):
    """A law whose mean, std and crps follow from its partial moments and squares."""

    @abstractmethod
    def _partial_moments(self, y: Array) -> PartialMoments: ...

    @abstractmethod
    def _squares(self, y: Array) -> Squares: ...

    def _mean(self) -> Array:
        below, above = self._infinite_mass()
        centre, part = self._at_centre()
        if below or above:
            return _fill(centre, np.nan if below and above else np.inf if above else -np.inf)
        xp = namespace(centre)
        no_upper, no_lower = xp.isinf(part.upper), xp.isinf(part.lower)
        settled = [xp.where(no_upper | no_lower, xp.zeros_like(side), side) for side in (part.upper, part.lower)]
        one_sided = xp.where(no_upper, xp.full_like(centre, xp.inf), xp.full_like(centre, -xp.inf))
        missing = xp.where(no_upper & no_lower, xp.full_like(centre, xp.nan), one_sided)
        return xp.where(no_upper | no_lower, missing, centre + (settled[0] - settled[1]))

    def _std(self) -> Array:
        centre, part = self._at_centre()
        if any(self._infinite_mass()):
            return _fill(centre, np.inf)
        xp = namespace(centre)
        square = 2 * (part.upper2 + part.lower2)
        finite = xp.isfinite(square)
        sides = [xp.where(finite, side, xp.zeros_like(square)) for side in (part.upper, part.lower)]
        bias = sides[0] - sides[1]
        variance = xp.where(finite, square, xp.ones_like(square)) - bias**2
        std = xp.sqrt(xp.maximum(variance, xp.zeros_like(variance)))
        return xp.where(finite, std, xp.full_like(std, xp.inf))

    def _crps(self, y: Array) -> Array:
        if any(self._infinite_mass()):
            return _fill(self._cdf(y), np.inf)
        squares = self._squares(y)
        return squares.lower + squares.upper

    def _at_centre(self) -> tuple[Array, PartialMoments]:
        """A middle point of each law and the partial moments there; around it nothing cancels."""
        half = device_like(0.5, self._like)
        centre = self._centre(self._ppf(half[None, None] if self.shape else half))
        part = self._partial_moments(centre)
        if not self.shape:
            return centre, part
        return centre[:, 0], PartialMoments(*(moment[:, 0] for moment in part))

    def _centre(self, median: Array) -> Array:
        """Where to measure the moments from: the median, if it is finite."""
        xp = namespace(median)
        return xp.where(xp.isfinite(median), median, xp.zeros_like(median))


def _fill(like: Array, value: float) -> Array:
    return namespace(like).full_like(like, value)


def _is_single(like: Array) -> bool:
    return like is not None and like.dtype == namespace(like).float32


def safe_log(p: Array) -> Array:
    """log(p), and -inf where p is 0, without a warning."""
    xp = namespace(p)
    positive = p > 0
    return xp.where(positive, xp.log(xp.where(positive, p, xp.ones_like(p))), xp.full_like(p, -xp.inf))


def logit_cdf(law: Distribution, y: Array) -> Array:
    """log F(y) - log(1 - F(y))."""
    return law._logcdf(y) - law._logsf(y)


def logit_cdf_and_log_slope(law: Distribution, y: Array) -> tuple[Array, Array]:
    """The logit of F, and the log of its derivative f / (F (1 - F))."""
    xp = namespace(y)
    below, above = law._logcdf(y), law._logsf(y)
    outside = xp.isinf(below) | xp.isinf(above)
    zero = xp.zeros_like(below)
    slope = xp.where(outside, zero, law._logpdf(y)) - xp.where(outside, zero, below) - xp.where(outside, zero, above)
    # where the logit is infinite it is infinitely steep: its inverse, which quadrature needs, is flat there
    return below - above, xp.where(outside, xp.full_like(slope, xp.inf), slope)
