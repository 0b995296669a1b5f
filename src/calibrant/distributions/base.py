"""What a forecast, an interpolation q and a calibrated prediction H all are: a batch of laws on the real line."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Self, cast

import array_api_compat
import numpy as np

from calibrant._arguments import generator, one_number, same_length, unit
from calibrant._arrays import Array, anywhere, at_home, device_like, floats, namespace, probabilities, refuse
from calibrant._batch import first_array, moved_floats, promoted, take_rows
from calibrant._kept import noted
from calibrant._special import levels_around, logit, safe_log, sigmoid
from calibrant._types import ArrayLike, RowIndex, SupportsArray
from calibrant._words import count, warn_user
from calibrant.distributions.context import Context
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.outline import Outline
from calibrant.forecast import Forecast
from calibrant.forms import Form

_BLOCK = 2**14  # rows evaluated at a time
_FORM = Form("distributions")

handed_in: dict[str, Callable[..., Any]] = {}
"""What the files that build on this one give back to it: quadrature, and the laws that wrap another law."""

DOUBT = "interval"
"""What is noted beside laws whose intervals may reach too far: a function of the coverage that says why, or None."""


class Distribution(Forecast):
    """A batch of n laws on the real line, of shape (n,), or a single one, of shape ().

    A single law takes any array elementwise. For a batch, a 0-d or 1-d argument is one value per row and gives
    (n,); a 2-d argument (n, k) or (1, k) is k values per row and gives (n, k). A length that does not fit raises.

    To write your own law, make a frozen dataclass of it and give `shape` and six primitives: `_cdf`, `_ppf`,
    `_logpdf`, `_mean`, `_std`, `_crps`. Arguments arrive checked; in a batch they have shape (n, k) or (1, k), so
    meet them with your parameters as columns (`self._lift`). Everything else has a default that is right, if slow.
    `calibrant.testing.check_distribution` runs the laws of a law on yours.

    A law that knows better says so by one of these hooks, which every wrapper forwards:

    | hook | what it says | default |
    |---|---|---|
    | `_sf`, `_logcdf`, `_logsf`, `_ppf_logit` | the tails, as far out as floats reach | from `_cdf` and `_ppf` |
    | `_logit`, `_logit_and_log_slope` | log F - log(1 - F), and the log of its slope | from the three logs |
    | `_cdf_left`, `_cdf_sides` | the CDF from the left, where there are atoms; it and the CDF at once | `_cdf` |
    | `_quantiles`, `_quantiles_logit` | the same levels for all rows, worked out at once | `_ppf`, `_ppf_logit` |
    | `_partial_moments`, `_squares` | integrals of the CDF from both ends to y | quadrature |
    | `_moments_within`, `_squares_within` | the same between two bounds | quadrature |
    | `_infinite_mass` | the mass at -inf and +inf | none |
    | `_breaks` | where a single law bends | a grid of quantiles |
    | `_outline` | points of each CDF, between which it bends little or not at all | if a single law bends often |
    | `lattice`, `_logpmf` | the points that a law of counts sits on; log P(Y = y) | none; from the jump of the CDF |
    | `_pit` | the CDF at y, drawn by u where y is an atom | F(y-) + u (F(y) - F(y-)) |
    | `is_discrete`, `bends_often` | whether a law has only atoms; whether a single one bends at many points | no |
    | `_clipped` | the law of min(max(Y, lower), upper) | `Clipped` |
    | `for_rows` | the laws of these rows, for a q that depends on the row | the law itself |
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
    def like(self) -> Array:
        """One of the law's own arrays, which tells namespace, dtype and device; None where it has none."""
        return cast(Array, first_array(self))

    def _sf(self, y: Array) -> Array:
        return 1 - self._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        """The limit of the CDF from the left; differs from the CDF at an atom only."""
        return self._cdf(y)

    def _cdf_sides(self, y: Array) -> tuple[Array, Array]:
        """The CDF from the left, and the CDF."""
        return self._cdf_left(y), self._cdf(y)

    def _logcdf(self, y: Array) -> Array:
        return safe_log(self._cdf(y))

    def _logsf(self, y: Array) -> Array:
        return safe_log(self._sf(y))

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile at probability sigmoid(s)."""
        return self._ppf(sigmoid(s))

    def _logit(self, y: Array) -> Array:
        """log F - log(1 - F)."""
        return self._logcdf(y) - self._logsf(y)

    def _logit_and_log_slope(self, y: Array) -> tuple[Array, Array]:
        """log F - log(1 - F), and the log of its derivative f / (F (1 - F))."""
        xp = namespace(y)
        below, above = self._logcdf(y), self._logsf(y)
        outside = xp.isinf(below) | xp.isinf(above)
        zero = xp.zeros_like(below)
        slope = xp.where(outside, zero, self._logpdf(y))
        slope = slope - xp.where(outside, zero, below) - xp.where(outside, zero, above)
        # where the logit is infinite it is infinitely steep: its inverse, which quadrature needs, is flat there
        return below - above, xp.where(outside, xp.full_like(slope, xp.inf), slope)

    def _mean_and_std(self) -> tuple[Array, Array]:
        """Both, which is less work than one after the other where they come from the same integrals."""
        return self._mean(), self._std()

    def _quantiles(self, p: Array) -> Array:
        """The quantiles of every row at the same k levels."""
        return self._at("_ppf", p[None, :] if self.shape else p)

    def _quantiles_logit(self, s: Array) -> Array:
        """The quantiles at probabilities sigmoid(s), for many increasing s that all rows share: (1, k) or (k,)."""
        return self._ppf_logit(s)

    def _places(self, s: Array) -> Array:
        """Places in each row, (n, m), between which its CDF is smooth, as far as the logits s, (1, k), reach."""
        return self._quantiles_logit(device_like(levels_around(s)[None, :], self.like))

    def _partial_moments(self, y: Array) -> PartialMoments:
        """See `PartialMoments`."""
        return PartialMoments(*handed_in["partial moments"](self, y))

    def _squares(self, y: Array) -> Squares:
        """See `Squares`."""
        return Squares(*handed_in["squares"](self, y))

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        """The same integrals of F from `lower` up to y and of 1 - F from y to `upper`, lower <= y <= upper."""
        return PartialMoments(*handed_in["moments within"](self, y, lower, upper))

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        """The same for the squares."""
        return Squares(*handed_in["squares within"](self, y, lower, upper))

    def _infinite_mass(self) -> tuple[Any, Any]:
        """The probabilities of -inf and +inf; the integrals above then start at the law's last finite point."""
        return 0.0, 0.0

    def _breaks(self) -> Array:
        """Points of a single law between which its CDF is smooth, close enough for Gauss-Legendre in between."""
        s = np.concatenate([np.linspace(-40, 40, 161), [-700, -300, -150, -80, 80, 150, 300, 700]])
        like = self.like if self.like is not None else np.zeros(())
        return self._ppf_logit(device_like(np.sort(s), like))

    @property
    def is_discrete(self) -> bool:
        """Whether all of the mass sits on atoms, of a law that can say so."""
        return False

    @property
    def lattice(self) -> tuple[float, float] | None:
        """(origin, step), where all mass sits on the points origin + step * k, k whole; None where it need not."""
        return None

    def _logpmf(self, y: Array) -> Array:
        left, right = self._cdf_sides(y)
        return safe_log(right - left)

    def _pit(self, y: Array, u: Array) -> Array:
        left, right = self._cdf_sides(y)
        return left + u * (right - left)

    @property
    def bends_often(self) -> bool:
        """Whether a single law bends or jumps at every one of many `_breaks`."""
        return False

    def _outline(self) -> Outline | None:
        """See `Outline`."""
        single = not self.shape and self.bends_often
        return cast(Outline, handed_in["outline"](self)) if single else None

    def _clipped(self, lower: Any, upper: Any) -> Distribution:
        return cast(Distribution, handed_in["clipped"](self, lower, upper))

    def for_rows(self, context: Context) -> Distribution:
        """The laws of some rows, of shape () or (n,): this law itself, unless it depends on the row."""
        if context.unused():
            name = context.unused()[0]
            what = "likelihood ratios as weights=" if name == "weights" else f"{name}="
            raise TypeError(f"q is one law for all rows, since fit had no {what}: a call takes no {name}= either")
        return self

    # ---- what everybody gets ---------------------------------------------------------------------------------------

    def cdf(self, y: ArrayLike) -> Array:
        """P(Y <= y)."""
        law, y = self._meeting("y", y, allow_inf=True)
        return law._at("_cdf", y)

    def cdf_left(self, y: ArrayLike) -> Array:
        """P(Y < y): the limit of the CDF from the left, which differs from it at an atom only."""
        law, y = self._meeting("y", y, allow_inf=True)
        return law._at("_cdf_left", y)

    def sf(self, y: ArrayLike) -> Array:
        """P(Y > y), without the cancellation of 1 - cdf where the law allows it."""
        law, y = self._meeting("y", y, allow_inf=True)
        return law._at("_sf", y)

    def logpdf(self, y: ArrayLike) -> Array:
        """The log density; of the absolutely continuous part where the law has atoms."""
        if self.lattice is not None:
            raise ValueError("a law of counts has no density: pmf and logpmf give the probability of a value")
        law, y = self._meeting("y", y)
        return law._at("_logpdf", y)

    def pdf(self, y: ArrayLike) -> Array:
        """The density; of the absolutely continuous part where the law has atoms."""
        density = self.logpdf(y)
        return namespace(density).exp(density)

    def logpmf(self, y: ArrayLike) -> Array:
        """log P(Y = y), which is -inf but where the law has an atom."""
        law, y = self._meeting("y", y)
        return law._at("_logpmf", y)

    def pmf(self, y: ArrayLike) -> Array:
        """P(Y = y): 0 but where the law has an atom."""
        mass = self.logpmf(y)
        return namespace(mass).exp(mass)

    def pit(self, y: ArrayLike, u: ArrayLike) -> Array:
        """H(y), drawn over the jump where y is an atom: F(y-) + u (F(y) - F(y-)), u in [0, 1], one label a row.

        With uniform u it is uniform for the true law of y, atoms or not. Of a law of counts that was calibrated as the
        law of Y + U, it is that law at y + u.
        """
        law, y = self._meeting("y", y)
        if y.ndim > 1:
            raise ValueError(f"y must be one label a row, got shape {tuple(y.shape)}")
        u = probabilities("u", u, like=y)
        if not self.shape:
            return law._pit(y, u)
        same_length("the batch", len(self), "y", y.shape[0])
        same_length("the batch", len(self), "u", u.shape[0])
        return law._in_blocks("_pit", y[:, None], u[:, None])[:, 0]

    def ppf(self, p: ArrayLike) -> Array:
        """The quantile function: the smallest y with cdf(y) >= p."""
        law = promoted(self, p)
        return law._at("_ppf", probabilities("p", p, like=law.like))

    def isf(self, p: ArrayLike) -> Array:
        """The inverse of `sf`: the quantile at 1 - p, of a law without jumps accurate for small p too."""
        law = promoted(self, p)
        p = probabilities("p", p, like=law.like)
        return (
            law._at("_ppf", 1 - p) if law.is_discrete or law.lattice is not None else law._at("_ppf_logit", -logit(p))
        )

    def mean(self) -> Array:
        """The expectation; nan where both tails hold infinite mass."""
        return self._in_blocks("_mean") if self.shape else self._mean()

    def std(self) -> Array:
        """The standard deviation."""
        return self._in_blocks("_std") if self.shape else self._std()

    def crps(self, y: ArrayLike) -> Array:
        """The continuous ranked probability score of the label y: the integral of (cdf(t) - 1{y <= t})^2 over t."""
        law, y = self._meeting("y", y)
        return law._at("_crps", y)

    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.ppf(0.5)

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """The centred credible interval (lower, upper) of probability `coverage`.

        What a `Calibrated` gives warns where its calibration rows do not reach so far out.
        """
        coverage = unit("coverage", coverage)
        bounds = self.quantiles([(1 - coverage) / 2, (1 + coverage) / 2])
        doubt = noted(self, DOUBT)
        if doubt is not None and (few := doubt(coverage)) is not None and anywhere(namespace(bounds).isfinite(bounds)):
            warn_user(few)
        return bounds[..., 0], bounds[..., 1]

    def quantiles(self, levels: ArrayLike) -> Array:
        """The quantiles at k levels, as (n, k) for a batch and (k,) for a single law."""
        law = promoted(self, levels)
        p = probabilities("levels", levels, like=law.like)
        if p.ndim != 1:
            raise ValueError(f"levels must be 1-d, got shape {tuple(p.shape)}")
        return law._quantiles(p)

    def sample(self, size: int, rng: np.random.Generator | None = None) -> Array:
        """`size` independent draws from each law: (n, size) for a batch, (size,) for a single law."""
        rng = generator(rng)
        if not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size must be a count of draws, got {size!r}")
        # open at both ends, so that no draw is infinite unless there is mass
        p = rng.random((*self.shape, size))
        np.clip(p, 2.0**-54, 1 - 2.0**-24 if _is_single(self.like) else 1 - 2.0**-53, out=p)
        return self._at("_ppf", p if self.like is None else device_like(p, self.like))

    def clip(self, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> Distribution:
        """The law of min(max(Y, lower), upper): the mass beyond a bound piles up on the bound.

        A bound is one number, or an array with one number a row.
        """
        if any(getattr(bound, "ndim", 0) or isinstance(bound, (list, tuple)) for bound in (lower, upper)):
            return self._clipped_by_row(lower, upper)
        lower, upper = one_number("clip's lower", lower), one_number("clip's upper", upper)
        if not lower < upper:
            raise ValueError(f"clip needs lower < upper, got {lower} and {upper}")
        return self._clipped(lower, upper)

    def _clipped_by_row(self, lower: Any, upper: Any) -> Distribution:
        if not self.shape:
            raise ValueError("clip takes bounds by row for a batch of laws; a single law takes two numbers")
        bounds = []
        for name, bound in (("clip's lower", lower), ("clip's upper", upper)):
            array = floats(name, bound, like=self.like, allow_inf=True)
            if array.ndim:
                same_length("the batch", len(self), name, array.shape[0])
            bounds.append(namespace(array).broadcast_to(array, self.shape))
        refuse("clip's lower", bounds[0] > bounds[1], "is above its upper")
        return self._clipped(*bounds)

    def among(self, there: SupportsArray | Sequence[bool]) -> Distribution:
        """These laws as the rows of a longer batch where the mask `there` is true; its other rows answer NaN.

        For rows without a prediction: `calibrated(Normal(mean[there], std[there])).among(there)`.
        """
        return cast(Distribution, handed_in["among"](self, there))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single law has no length")
        return self.shape[0]

    def __getitem__(self, index: RowIndex) -> Distribution:
        if not self.shape:
            raise TypeError("a single law has no rows to index")
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            return cast(Distribution, handed_in["row"](self, int(index)))
        return take_rows(self, index)

    def __repr__(self) -> str:
        rows = f"n={len(self)}" if self.shape else ""
        return f"{type(self).__name__}({', '.join(filter(None, [rows, self._describe()]))})"

    def _describe(self) -> str:
        """What the repr says beside the number of rows."""
        return ""

    def to(self, like: Array) -> Self:
        """The same law with its floats in the namespace, dtype and device of `like`; whole numbers stay numpy's."""
        if like is None or self.like is None or at_home(self.like, like):
            return self
        return moved_floats(self, like)

    # ---- as a forecast: see `calibrant.forecast` --------------------------------------------------------------------

    def as_law(self) -> Distribution:
        """Itself."""
        return self

    def form(self) -> Form:
        """One for all laws: a score by z or by cdf asks for no family."""
        return _FORM

    # ---- helpers for laws ------------------------------------------------------------------------------------------

    def _meeting(self, name: str, value: Any, *, allow_inf: bool = False) -> tuple[Distribution, Array]:
        """The law and an argument, checked, in the wider type of the two: see `calibrant._arrays.wider`."""
        law = promoted(self, value)
        return law, floats(name, value, like=law.like, allow_inf=allow_inf)

    def _lift(self, parameter: Array) -> Array:
        """A parameter of shape `self.shape` as a column, ready to meet arguments of shape (n, k)."""
        return parameter[:, None, ...] if self.shape else parameter

    def _at(self, name: str, value: Array) -> Array:
        """The method `name` at checked values, by the shape rule."""
        if not self.shape:
            return cast(Array, getattr(self, name)(value))
        if value.ndim > 2:
            raise ValueError(f"the argument must be 0-, 1- or 2-d, got shape {tuple(value.shape)}")
        if value.ndim == 1 and value.shape[0] != len(self):
            raise ValueError(
                f"a 1-d argument must have one value for each of the {count(len(self), 'row')} of the batch, got"
                f" {value.shape[0]}: for {value.shape[0]} values of every row, give it the shape (1, {value.shape[0]})"
            )
        if value.ndim == 2 and value.shape[0] != 1:
            same_length("the batch", len(self), "a 2-d argument", value.shape[0])
        columns = value if value.ndim == 2 else value[:, None] if value.ndim else value[None, None]
        result = self._in_blocks(name, columns)
        return result if value.ndim == 2 else result[:, 0]

    def _in_blocks(self, name: str, *arguments: Array) -> Array:
        """A method of the batch, block by block of rows where that keeps numpy's temporaries small and in the cache."""
        rows = len(self)
        if rows <= 2 * _BLOCK or not array_api_compat.is_numpy_array(self.like):
            return cast(Array, getattr(self, name)(*arguments))
        parts = []
        for start in range(0, rows, _BLOCK):
            block = slice(start, start + _BLOCK)
            values = (value if value.shape[0] == 1 else value[block] for value in arguments)
            parts.append(getattr(take_rows(self, block), name)(*values))
        return np.concatenate(parts)


def _is_single(like: Array | None) -> bool:
    return like is not None and bool(like.dtype == namespace(like).float32)
