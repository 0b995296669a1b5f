"""`Distribution`: the type of a forecast, of an interpolation q and of a calibrated H; a batch on the real line."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, cast

import array_api_compat
import numpy as np

from calibrant._arguments import generator, one_number, same_length, unit
from calibrant._arrays import (
    Array,
    anywhere,
    at_home,
    concatenate,
    device_like,
    floats,
    namespace,
    probabilities,
    refuse,
    single_precision,
    to_numpy,
)
from calibrant._batch import first_array, moved_floats, promoted, take_rows
from calibrant._display import in_words, table
from calibrant._special import logit, safe_log, sigmoid
from calibrant._types import ArrayLike, Draws, RowIndex, SupportsArray, Values
from calibrant._words import count, warn_user
from calibrant.distributions.table import FINE, ONCE, PLACES, MassTable, logit_levels
from calibrant.forecast import Forecast
from calibrant.forms import Form

_FORM = Form("distributions")
_TABLES, _VALUES = 2**9, 2**14  # block sizes: rows evaluated by tables, which are wide; values by closed forms
_CACHED = 2**13  # rows whose tables are cached: some 40 kB each

ROWS_SHOWN = 5
"""In a notebook."""


class Moments(NamedTuple):
    """Mean, standard deviation and a constant of the CRPS; each has the distribution's shape, or is a plain number."""

    mean: Any
    std: Any
    shift: Any
    """crps(y) = 2 (the integral of F up to y) - y + shift. If the mean exists, shift = mean - E |Y - Y'| / 2."""


@dataclass(frozen=True, eq=False)
class Context:
    """What is known of the rows besides their predictions: see `Distribution.for_rows`.

    The number of rows; for each its group `by` and its weight, such as a likelihood ratio. `rng` draws the uniform
    numbers of a randomised q.
    """

    rows: int
    by: Values | None = None
    weights: ArrayLike | Sized | None = None
    rng: Draws = None


class Distribution(Forecast):
    """A batch of n distributions on the real line, of shape (n,), or a single one, of shape ().

    A single distribution takes any array elementwise. For a batch, a 0-d or 1-d argument is one value per row and gives
    (n,); a 2-d argument (n, k) or (1, k) is k values per row and gives (n, k). A length that does not fit raises.

    To write your own, make a frozen dataclass of it and give four things: `shape`, `_cdf(y)`, `_ppf(p)`, `_logpdf(y)`.
    Arguments arrive checked; in a batch they have shape (n, k) or (1, k), so turn parameters of shape (n,) into columns
    with `self._lift`. Mean, std, crps and the rest follow, with an error of 5e-5 of the spread.
    `calibrant.testing.check_distribution` checks yours. Override one of these where you can be faster or more exact:

    | hook | what it gives | default |
    |---|---|---|
    | `_sf(y)` | 1 - F, accurate where it is small | 1 - F |
    | `_cdf_left(y)` | P(Y < y), which differs from F where there is an atom (a jump of F) | F |
    | `_logit(y)` | log F - log(1 - F), and the log of its slope | from F, 1 - F and the density |
    | `_ppf_logit(s)` | the quantile at level sigmoid(s), accurate far into the tails | `_ppf` |
    | `_moments()` | mean, std and the constant of the crps, see `Moments` | from the table |
    | `_integrals(y, which)` | the integral up to y of F, of that integral, or of F^2 | from the table |
    | `_table(count)` | grid points, and the mass on and between them, see `MassTable` | quantiles at logit levels |
    | `_clip(lower, upper)` | the distribution of min(max(Y, lower), upper) | `Clipped`, from `_integrals` |

    A distribution of counts also has a `lattice`, the grid of its values; its `_logpdf` is the log of the pmf.
    """

    # ---- what a distribution must give -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for a batch, () for a single distribution."""

    @abstractmethod
    def _cdf(self, y: Array) -> Array: ...

    @abstractmethod
    def _ppf(self, p: Array) -> Array: ...

    @abstractmethod
    def _logpdf(self, y: Array) -> Array: ...

    # ---- what it may override --------------------------------------------------------------------------------------

    def _sf(self, y: Array) -> Array:
        return 1 - self._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        return self._cdf(y)

    def _logit(self, y: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        below, above = safe_log(self._cdf(y)), safe_log(self._sf(y))
        outside = xp.isinf(below) | xp.isinf(above)
        slope, *logs = (xp.where(outside, 0.0, part) for part in (self._logpdf(y), below, above))
        return below - above, xp.where(outside, xp.inf, slope - logs[0] - logs[1])

    def _ppf_logit(self, s: Array) -> Array:
        return self._ppf(sigmoid(s))

    def _moments(self) -> Moments:
        if self._many:
            return cast(Moments, self._by_parts("_moments"))
        mean, std, shift = (self._at_home(part) for part in self._own_table.moments)
        return Moments(mean, std, shift) if self.shape else Moments(mean[0], std[0], shift[0])

    def _integrals(self, y: Array, which: int) -> Array:
        """From -inf; where such an integral does not exist, from some other point, the same for all y."""
        if self._many:
            return cast(Array, self._by_parts("_integrals", y, which))
        xp, table = namespace(y), self._own_table
        wide = xp.astype(y if self.shape else xp.reshape(y, (1, -1)), xp.float64, copy=False)
        found = (table.to(wide) if self.like is None else table).integral(wide, which)
        return xp.astype(found if self.shape else xp.reshape(found, y.shape), y.dtype, copy=False)

    def _table(self, count: int) -> MassTable:
        """Of about so many places, in double precision; that of a single distribution has one row.

        Areas are the closed integrals, if it has some; else those of its own table, where that is finer.
        """
        distribution = self._in_double
        places = distribution._places(device_like(logit_levels(count)[None, :], distribution.like))
        known = type(self)._integrals is not Distribution._integrals or (not self.shape and count < FINE)
        return MassTable.through(distribution, places, distribution._integrals(places, ONCE) if known else None)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        from calibrant.distributions.clipped import Clipped  # a wrapper, which builds on this file

        return Clipped(self, lower, upper)

    @property
    def lattice(self) -> tuple[float, float] | None:
        """(origin, step), where all mass sits on the points origin + step * k, k whole; None where it need not."""
        return None

    def _pit(self, y: Array, u: Array) -> Array:
        """The CDF at y, drawn by u over the jump where y is an atom."""
        left = self._cdf_left(y)
        return left + u * (self._cdf(y) - left)

    # ---- public methods --------------------------------------------------------------------------------------------

    def cdf(self, y: ArrayLike) -> Array:
        """P(Y <= y).

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        return self._answer("_cdf", y, allow_inf=True)

    def cdf_left(self, y: ArrayLike) -> Array:
        """P(Y < y): the limit of the CDF from the left; it differs from the CDF only at an atom.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        return self._answer("_cdf_left", y, allow_inf=True)

    def sf(self, y: ArrayLike) -> Array:
        """P(Y > y), where possible accurate also where 1 - cdf(y) would round to 0.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        return self._answer("_sf", y, allow_inf=True)

    def logpdf(self, y: ArrayLike) -> Array:
        """The log density; of the absolutely continuous part where there are atoms.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        if self.lattice is not None:
            raise ValueError("a distribution of counts has no density: pmf and logpmf give the probability of a value")
        return self._answer("_logpdf", y)

    def pdf(self, y: ArrayLike) -> Array:
        """The density; of the absolutely continuous part where there are atoms.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        density = self.logpdf(y)
        return namespace(density).exp(density)

    def logpmf(self, y: ArrayLike) -> Array:
        """log P(Y = y), which is -inf except at an atom.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        return self._answer("_logpmf", y)

    def pmf(self, y: ArrayLike) -> Array:
        """P(Y = y), which is 0 except at an atom.

        Args:
            y: Where to evaluate: one number, one per row, or (n, k) for k points per row.
        """
        mass = self.logpmf(y)
        return namespace(mass).exp(mass)

    def pit(self, y: ArrayLike, u: ArrayLike) -> Array:
        """The randomised PIT, P(Y < y) + u P(Y = y), for one label per row; without atoms it is the CDF at y.

        With uniform u it is uniform if y has this distribution, atoms or not. For calibrated counts it is the CDF of
        Y + U at y + u, which the guarantee is about.

        Args:
            y: The labels: one number per row.
            u: Uniform numbers in [0, 1], one per row.
        """
        distribution = promoted(self, y)
        y = floats("y", y, like=distribution.like)
        if y.ndim > 1:
            raise ValueError(f"y must be one label a row, got shape {tuple(y.shape)}")
        u = probabilities("u", u, like=y)
        if not self.shape:
            return distribution._pit(y, u)
        same_length("the batch", len(self), "y", y.shape[0])
        same_length("the batch", len(self), "u", u.shape[0])
        return cast(Array, distribution._in_blocks("_pit", y[:, None], u[:, None])[:, 0])

    def ppf(self, p: ArrayLike) -> Array:
        """The quantile function: the smallest y with cdf(y) >= p.

        Args:
            p: Probabilities: one number, one per row, or (n, k) for k of them per row.
        """
        distribution = promoted(self, p)
        return distribution._at("_ppf", probabilities("p", p, like=distribution.like))

    def isf(self, p: ArrayLike) -> Array:
        """The inverse of `sf`: the quantile at 1 - p, accurate for small p too.

        Args:
            p: Probabilities: one number, one per row, or (n, k) for k of them per row.
        """
        distribution = promoted(self, p)
        p = probabilities("p", p, like=distribution.like)
        return (
            distribution._at("_ppf", 1 - p)
            if distribution.lattice is not None
            else distribution._at("_ppf_logit", -logit(p))
        )

    def mean(self) -> Array:
        """The mean; nan if it does not exist, as with mass at both -inf and +inf."""
        return self._mean_std()[0]

    def std(self) -> Array:
        """The standard deviation."""
        return self._mean_std()[1]

    def crps(self, y: ArrayLike) -> Array:
        """The continuous ranked probability score of the label y: the integral of (cdf(t) - 1{y <= t})^2 over t.

        Args:
            y: The labels: one number, one per row, or (n, k) for k labels per row.
        """
        return self._answer("_crps", y)

    def median(self) -> Array:
        """The quantile at 1/2."""
        return self.ppf(0.5)

    def interval(self, coverage: float) -> tuple[Array, Array]:
        """The interval (lower, upper) of probability `coverage`, with equal probabilities below and above it.

        A calibrated distribution warns if the ends lie beyond all calibration scores.

        Args:
            coverage: The probability of the interval, between 0 and 1.
        """
        coverage = unit("coverage", coverage)
        bounds = self.quantiles([(1 - coverage) / 2, (1 + coverage) / 2])
        few = self._too_few(coverage)
        if few is not None and anywhere(namespace(bounds).isfinite(bounds)):
            warn_user(few)
        return bounds[..., 0], bounds[..., 1]

    def warning_if(self, too_few: Callable[[float], str | None]) -> Self:
        """This distribution; its `interval`, also of its rows and clips, now warns of too few calibration rows.

        Args:
            too_few: A function of the coverage of an interval: the warning for it, or None.
        """
        self.__dict__["_too_few"] = too_few
        return self

    def quantiles(self, levels: ArrayLike) -> Array:
        """The quantiles at k levels, as (n, k) for a batch and (k,) for a single distribution.

        Args:
            levels: The levels of the quantiles, between 0 and 1.
        """
        distribution = promoted(self, levels)
        p = probabilities("levels", levels, like=distribution.like)
        if p.ndim != 1:
            raise ValueError(f"levels must be 1-d, got shape {tuple(p.shape)}")
        return distribution._at("_ppf", p[None, :] if self.shape else p)

    def sample(self, size: int, rng: np.random.Generator | None = None) -> Array:
        """`size` independent draws from each: (n, size) for a batch, (size,) for a single distribution.

        Args:
            size: How many draws per row.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        rng = generator(rng)
        if not isinstance(size, (int, np.integer)) or size < 0:
            raise ValueError(f"size must be a count of draws, got {size!r}")
        # open at both ends, so that no draw is infinite unless there is mass at infinity
        p = rng.random((*self.shape, size))
        coarse = self.like is not None and single_precision(self.like)
        np.clip(p, 2.0**-54, 1 - 2.0**-24 if coarse else 1 - 2.0**-53, out=p)
        return self._at("_ppf", p if self.like is None else device_like(p, self.like))

    def clip(self, lower: ArrayLike = -np.inf, upper: ArrayLike = np.inf) -> Distribution:
        """The distribution of min(max(Y, lower), upper): the mass beyond a bound moves to the bound.

        A bound is one number, or an array with one number per row.

        Args:
            lower: The lower bound: one number, or one per row.
            upper: The upper bound: one number, or one per row.
        """
        if np.ndim(lower) == np.ndim(upper) == 0:
            clipped = self._clip(one_number("clip's lower", lower), one_number("clip's upper", upper))
            return clipped.warning_if(self._too_few)
        if not self.shape:
            raise ValueError("clip takes bounds by row for a batch; a single distribution takes two numbers")
        bounds = []
        for name, bound in (("clip's lower", lower), ("clip's upper", upper)):
            array = floats(name, bound, like=self.like, allow_inf=True)
            if array.ndim:
                same_length("the batch", len(self), name, array.shape[0])
            bounds.append(namespace(array).broadcast_to(array, self.shape))
        refuse("clip's lower", bounds[0] > bounds[1], "is above its upper")
        return self._clip(*bounds).warning_if(self._too_few)

    def for_rows(self, context: Context) -> Distribution:
        """The distribution for each of these rows; a q that does not depend on the row returns itself.

        Args:
            context: What is known of the rows besides their predictions: groups, weights and random numbers.
        """
        refuse_unused(context)
        return self

    def among(self, there: SupportsArray | Sequence[bool]) -> Distribution:
        """A longer batch that has these rows where the mask `there` is true; all other rows give NaN.

        For rows without a prediction: `calibrated(Normal(mean[there], std[there])).among(there)`.

        Args:
            there: A mask of the longer batch: True where a row has a prediction.
        """
        from calibrant.distributions.joined import among  # a wrapper, which builds on this file

        return among(self, there)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a single distribution has no length")
        return self.shape[0]

    def __getitem__(self, index: RowIndex) -> Distribution:
        if not self.shape:
            raise TypeError("a single distribution has no rows to index")
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            from calibrant.distributions.joined import row_of  # a wrapper, which builds on this file

            return row_of(self, int(index)).warning_if(self._too_few)
        return take_rows(self, index).warning_if(self._too_few)

    def __repr__(self) -> str:
        rows = f" of {count(len(self), 'row')}" if self.shape else ""
        return f"{self._called()}{rows}{self._spread()}"

    def _repr_html_(self) -> str:
        """The first rows as a small table, for notebooks."""
        few = self[:ROWS_SHOWN] if self.shape else self
        numbers = np.reshape(to_numpy(few.quantiles([0.05, 0.5, 0.95])), (-1, 3)).tolist()
        first = [str(k) for k in range(len(numbers))] if self.shape else [""]
        rows = [[name, *(f"{number:.4g}" for number in row)] for name, row in zip(first, numbers, strict=True)]
        return table([["row" if self.shape else "", "5%", "median", "95%"], *rows], title=repr(self))

    def _called(self) -> str:
        """What it is, in words."""
        calibrated = self._too_few is not Distribution._too_few
        return "calibrated forecast" if calibrated else f"{self._family()} distribution"

    def _family(self) -> str:
        """The name of its family."""
        return in_words(type(self).__name__)

    def _spread(self) -> str:
        """Its 90% interval, or how wide these are in the first rows."""
        if self.shape and not len(self):
            return ""
        some = self[:1000] if self.shape else self
        with np.errstate(all="ignore"):
            lower, upper = (np.asarray(to_numpy(some.ppf(p)), np.float64) for p in (0.05, 0.95))
            if not self.shape:
                return f", 90% interval {lower:.3g} to {upper:.3g}"
            width = upper - lower
        least, most = (f"{end:.3g}" for end in (width.min(), width.max()))
        return f", 90% interval {least if least == most else f'{least} to {most}'} wide"

    def to(self, like: Array) -> Self:
        """The same with its floats in the namespace, dtype and device of `like`; integer arrays stay in numpy.

        Args:
            like: An array whose namespace, device and dtype to take.
        """
        if like is None or self.like is None or at_home(self.like, like):
            return self
        return moved_floats(self, like)

    @property
    def like(self) -> Array:
        """One of its arrays, which gives its namespace, dtype and device; None if it has no arrays."""
        return cast(Array, first_array(self))

    # ---- as a forecast: see `calibrant.forecast` --------------------------------------------------------------------

    def as_distribution(self) -> Distribution:
        """Itself."""
        return self

    def form(self) -> Form:
        """The same for all distributions: z-score and CDF score take any family."""
        return _FORM

    @staticmethod
    def _too_few(coverage: float) -> str | None:
        return None

    # ---- helpers ---------------------------------------------------------------------------------------------------

    def _mean_std(self) -> tuple[Array, Array]:
        return self._all_moments[:2]

    def _crps(self, y: Array) -> Array:
        """2 (the integral of F up to y) - y + shift."""
        if self._in_parts:
            return cast(Array, self._by_parts("_crps", y))
        return 2 * self._integrals(y, ONCE) - y + self._lift(self._all_moments.shift)

    def _logpmf(self, y: Array) -> Array:
        return self._logpdf(y) if self.lattice is not None else safe_log(self._cdf(y) - self._cdf_left(y))

    def _places(self, s: Array) -> Array:
        """Increasing places in each row, (n, m) or (1, m), close to the quantiles at the logits s, (1, k)."""
        return drawn_in(self._ppf_logit(s))

    @property
    def _own_table(self) -> MassTable:
        return self._shared_table(PLACES if self.shape else FINE)

    def _shared_table(self, count: int) -> MassTable:
        """`_table(count)`, cached."""
        return self.remember(f"_kept_table_{count}", lambda: self._table(count))

    @property
    def _in_double(self) -> Self:
        like = self.like
        if like is None or not single_precision(like):
            return self
        return self.to(namespace(like).zeros(0, dtype=namespace(like).float64, device=array_api_compat.device(like)))

    def _at_home(self, value: Array) -> Array:
        """In its own precision: tables are in double."""
        return value if self.like is None else namespace(value).astype(value, self.like.dtype, copy=False)

    def _answer(self, name: str, y: Any, *, allow_inf: bool = False) -> Array:
        """The method `name` at y, checked, in the wider type of the two: see `calibrant._arrays.wider`."""
        distribution = promoted(self, y)
        return distribution._at(name, floats("y", y, like=distribution.like, allow_inf=allow_inf))

    def _lift(self, parameter: Array) -> Array:
        """A parameter of shape `self.shape` as a column, ready to meet arguments of shape (n, k)."""
        return parameter[:, None, ...] if self.shape else parameter

    def _at(self, name: str, value: Array) -> Array:
        """The method `name` at checked values, by the shape rule."""
        if not self.shape:
            return cast(Array, getattr(self, name)(value))
        rows, wide = self.shape[0], value.ndim == 2
        if value.ndim > 2:
            raise ValueError(f"the argument must be 0-, 1- or 2-d, got shape {tuple(value.shape)}")
        if wide and value.shape[0] != 1:
            same_length("the batch", rows, "a 2-d argument", value.shape[0])
        if value.ndim == 1 and value.shape[0] != rows:
            raise ValueError(
                f"a 1-d argument must have one value for each of the {count(rows, 'row')} of the batch, got"
                f" {value.shape[0]}: for {value.shape[0]} values of every row, give it the shape (1, {value.shape[0]})"
            )
        if wide:
            return cast(Array, self._in_blocks(name, value))
        return cast(Array, self._in_blocks(name, value[:, None] if value.ndim else value[None, None])[:, 0])

    def _in_blocks(self, name: str, *arguments: Array) -> Any:
        """A method, of a long batch some rows at a time, so that numpy's temporaries stay in the cache."""
        rows = max(_TABLES, _VALUES // max(arguments[0].shape[1], 1)) if arguments else _VALUES
        if self.shape[0] <= 2 * rows or not isinstance(self.like, np.ndarray):
            return getattr(self, name)(*arguments)
        return self._by_parts(name, *arguments, size=rows)

    @property
    def _many(self) -> bool:
        """Whether it has more rows than have their tables made at once."""
        return bool(self.shape) and self.shape[0] > 2 * _TABLES

    @property
    def _in_parts(self) -> bool:
        """Whether a crps is worked out in parts, each with one table for all that it needs."""
        return self._many

    def _by_parts(self, name: str, *arguments: Any, size: int = _TABLES) -> Any:
        """A method of so many rows at a time; where their tables are made, which are wide, the parts are cached."""
        rows, answers = self.shape[0], []
        for start in range(0, rows, size):
            some = slice(start, start + size)
            make = partial(take_rows, self, some)
            part = self.remember(f"_kept_rows_{start}", make) if size == _TABLES and rows <= _CACHED else make()
            own = (value[some] if getattr(value, "shape", (1,))[0] != 1 else value for value in arguments)
            answers.append(getattr(part, name)(*own))
        return Moments(*map(concatenate, zip(*answers, strict=True))) if name == "_moments" else concatenate(answers)

    @property
    def _all_moments(self) -> Moments:
        """The moments of all rows, cached."""
        make = partial(self._in_blocks, "_moments") if self.shape else self._moments
        return cast(Moments, self.remember("_kept_moments", make))


class ByLogit(Distribution):
    """One whose quantiles are found by the logit of their level."""

    def _ppf(self, p: Array) -> Array:
        return self._ppf_logit(logit(p))

    @abstractmethod
    def _ppf_logit(self, s: Array) -> Array: ...


class ClosedMoments(Distribution):
    """One whose mean and standard deviation have closed forms; only what the crps needs is from its table."""

    @abstractmethod
    def _mean_std(self) -> tuple[Array, Array]:
        """Mean and standard deviation."""

    def _moments(self) -> Moments:
        (mean, std), shift = self._mean_std(), super()._moments().shift
        xp = namespace(mean)
        return Moments(mean, std, xp.where(xp.isfinite(mean), shift, np.inf))


def refuse_unused(context: Context) -> None:
    """Raise where a call gives groups or weights that fit did not have."""
    if context.by is not None or context.weights is not None:
        name = "weights" if context.by is None else "by"
        raise TypeError(f"the calibrator was fitted without {name}=, so a call takes no {name}= either")


def far_logit(distribution: Distribution, y: Array, tails: Callable[[Array], Sequence[Array]]) -> tuple[Array, Array]:
    """`_logit` from F and 1 - F; where one is too small for floats, from their logarithms, which `tails` gives."""
    xp, (value, log_slope) = namespace(y), Distribution._logit(distribution, y)
    far = xp.isinf(value) & xp.isfinite(y)
    if not anywhere(far):
        return value, log_slope
    below, above = tails(at := xp.where(far, y, 0.0))
    far = far & xp.isfinite(below) & xp.isfinite(above)
    below, above = (xp.where(far, part, 0.0) for part in (below, above))
    return xp.where(far, below - above, value), xp.where(far, distribution._logpdf(at) - below - above, log_slope)


def log_density(part: Distribution, y: Array, lattice: tuple[float, float] | None) -> Array:
    """The log density of a part of a whole: counts have none, unless the whole is on the same lattice."""
    if part.lattice is None or lattice is not None:
        return part._logpdf(y)
    F = part._cdf(y)
    return namespace(F).full_like(F, -np.inf)


def drawn_in(places: Array) -> Array:
    """Places in order; those at infinity lie on the outermost finite one of their row."""
    xp = namespace(places)
    finite = xp.isfinite(places)
    if bool(xp.all(finite)):
        return places
    first = xp.min(xp.where(finite, places, np.inf), axis=1, keepdims=True)
    last = xp.max(xp.where(finite, places, -np.inf), axis=1, keepdims=True)
    nothing = ~xp.isfinite(first)
    first, last = (xp.where(nothing, 0.0, end) for end in (first, last))
    return xp.minimum(xp.maximum(places, first), last)


def evenly_between(places: Array, parts: int) -> Array:
    """So many even steps from each place of a row to the next."""
    xp, share = namespace(places), device_like(np.arange(parts) / parts, places)
    between = places[:, :-1, None] + (places[:, 1:] - places[:, :-1])[..., None] * share
    return concatenate([xp.reshape(between, (places.shape[0], -1)), places[:, -1:]], axis=1)


def bent_places(distribution: Distribution, s: Array, bends: Array) -> Array:
    """Those of a single distribution that bends at many places of its own: all of them in its own table, else some."""
    xp, count, some = namespace(bends), s.shape[1], bends.shape[0] > s.shape[1] // 8 and s.shape[1] < FINE
    places = distribution._ppf_logit(s[:, ::2] if some else s)
    bends = xp.unique_values(bends[(bends > places[0, 0]) & (bends < places[0, -1])])  # beyond, a tail is a power
    places = xp.unique_values(drawn_in(places))
    if some:
        bends = bends[:: 1 + bends.shape[0] // max(count - places.shape[0], 1)]
    return xp.unique_values(concatenate([places, bends]))[None, :]
