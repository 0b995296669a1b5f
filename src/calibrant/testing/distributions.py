"""What a distribution must satisfy, and how a check fails."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, device_like, to_numpy
from calibrant._special import logit
from calibrant.distributions.base import Distribution, drawn_in
from calibrant.distributions.table import ONCE, PLACES, SQUARE, TWICE, MassTable, logit_levels

Floats = NDArray[np.float64]
_ROWS = 6  # rows of a batch that are tried
_LEVELS = np.sort(np.concatenate([[1e-6, 1e-3, 1 - 1e-3, 1 - 1e-6], np.linspace(0.0113, 0.9887, 31)]))
_FEW = np.array([0.07, 0.12, 0.31, 0.5, 0.88])
_PROBABILITIES = ("cdf", "sf", "cdf_left", "_logpdf", "logit", "slope of the logit")
_EXACT = (*_PROBABILITIES, "ppf", "_ppf_logit")
Answers = dict[str, Floats]


def require(holds: bool | np.bool_, sentence: str) -> None:  # noqa: FBT001
    """Raise an AssertionError with this sentence, unless it holds."""
    if not holds:
        raise AssertionError(sentence)


def agree(method: str, got: Floats, expected: Any, slack: Any, source: str, at: Any = None) -> None:
    """Raise unless `got`, (rows, k), is `expected`, which is from `source`; `at` holds the arguments of the method."""
    with np.errstate(invalid="ignore"):
        near = (got == expected) | (np.abs(got - expected) <= slack) | (np.isnan(got) & np.isnan(expected))
    for row, k in np.argwhere(~near)[:1]:
        argument = "" if at is None else f"{np.broadcast_to(at, near.shape)[row, k]:.6g}"
        right, where = np.broadcast_to(expected, near.shape)[row, k], f" (row {row})" if len(near) > 1 else ""
        raise AssertionError(f"{method}({argument}) is {got[row, k]:.8g}, but {source} {right:.8g}{where}")


def numbers(answer: Any) -> Floats:
    """An answer as numbers of numpy."""
    return np.asarray(to_numpy(answer), dtype=np.float64)


@np.errstate(all="ignore")
def check_distribution(distribution: Distribution, *, tolerance: float = 1e-4) -> None:
    """Raise an AssertionError unless `distribution`, a single one or a batch, is consistent in itself.

    Results have the shapes of the shape rule. The cdf rises from 0 to 1, the ppf inverts it, and the density is its
    slope; on a lattice all mass lies on its points. All else agrees with these, whether you override it or not: sf,
    cdf_left and logits to rounding; mean, std, crps and other integrals to `tolerance` of the width, clipped to five
    times that. These are worked out at thousands of quantiles: what jumps or bends more often needs a larger
    `tolerance`; what the outermost 1e-6 of the mass decides is not checked. A row gives the same alone, among others,
    asked again and from a pickle. Of a batch six rows are tried.

    Args:
        distribution: The distribution to test, or a batch of them.
        tolerance: The largest error allowed, as a share of the width of the distribution.
    """
    if not isinstance(distribution, Distribution):
        raise TypeError(f"check_distribution takes a Distribution, got {distribution!r}")
    if distribution.shape == (0,):
        raise ValueError("check_distribution needs at least one row, got none")
    some = distribution
    if distribution.shape and len(distribution) > _ROWS:
        some = distribution[np.linspace(0, len(distribution) - 1, _ROWS).astype(np.int64)]
    check = DistributionCheck(some, type(distribution).__name__, tolerance)
    check.shapes()
    check.cdf_and_ppf()
    check.density()
    check.other_methods()
    check.rows_and_copies()


@dataclass(frozen=True, eq=False, repr=False)
class _Plain(Distribution):
    """The same by its cdf, quantiles and density alone: all else is what the base class makes of them."""

    own: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.own.shape

    @property
    def lattice(self) -> tuple[float, float] | None:
        return self.own.lattice

    def _cdf(self, y: Array) -> Array:
        return self.own._cdf(y)

    def _cdf_left(self, y: Array) -> Array:
        return self.own._cdf_left(y)

    def _ppf(self, p: Array) -> Array:
        return self.own._ppf(p)

    def _logpdf(self, y: Array) -> Array:
        return self.own._logpdf(y)

    def _table(self, count: int) -> MassTable:
        """Of quantiles, of places a rounding away from them, where there may be atoms, and of even steps."""
        double = self._in_double
        q = numbers(drawn_in(double._ppf_logit(_like(logit_levels(4097)[None, :], double)))).reshape(-1, 4097)
        step = 2.0**-47 * (np.abs(q) + np.ptp(q[:, 1500:2597], axis=1, keepdims=True))
        even = np.linspace(q[:, 1500], q[:, 2596], 1001, axis=1)
        places = np.sort(np.concatenate([q, q - step, q + step, even], axis=1), axis=1)
        return MassTable.through(double, _like(places, double))


class DistributionCheck:
    """The checks of one distribution, at places around its quantiles."""

    def __init__(self, own: Distribution, name: str, tolerance: float = 1e-4) -> None:
        self.own: Distribution = own
        self.name: str = name
        self.tolerance: float = tolerance
        single = "float32" in str(getattr(own.like, "dtype", ""))
        self.epsilon: float = 2.0**-23 if single else 2.0**-52
        self.slack: float = 1e-5 if single else 1e-9
        self.loose: float = 0.05 if single else 1e-3
        self.q: Floats = self.at("ppf", _LEVELS)
        self.median: Floats = np.nan_to_num(self.q[:, len(_LEVELS) // 2, None], posinf=0.0, neginf=0.0)
        self.inside: Floats = np.where(np.isfinite(self.q), self.q, self.median)
        width = self.inside[:, -6:-5] - self.inside[:, 5:6]  # about the inner 80%
        for wider in (np.ptp(self.inside, axis=1, keepdims=True), 1e-3 * np.maximum(np.abs(self.median), 1.0)):
            width = np.where(width > 0, width, wider)
        self.width: Floats = width
        between = (self.inside[:, 1:] + self.inside[:, :-1]) / 2
        beyond = self.median + width * np.array([-3.0, -1.1, 1.3, 3.0])
        self.points: Floats = np.sort(np.concatenate([self.inside, between, beyond], axis=1), axis=1)

    def at(self, method: str, value: Any, *more: Any, of: Distribution | None = None) -> Floats:
        """A method at (rows, k), (1, k) or (k,) values, as (rows, k)."""
        of = self.own if of is None else of
        value = np.broadcast_to(value, (len(of) if of.shape else len(np.atleast_2d(value)), value.shape[-1]))
        return numbers(getattr(of, method)(_like(value, of), *more))

    def agree(self, method: str, got: Floats, expected: Any, slack: Any, source: str, at: Any = None) -> None:
        """Raise unless what the method gave is what was expected."""
        agree(f"{self.name}.{method}", got, expected, slack, source, at)

    def rounding(self, y: Floats) -> Floats:
        """How far a place may be off by rounding alone."""
        return np.asarray(self.epsilon * (16 * np.abs(self.median) + 16 * self.width + 8 * np.abs(y)))

    def shapes(self) -> None:
        """Those of the shape rule, without nan."""
        own, n, place = self.own, len(self.q), float(self.median[0, 0])
        shapes: dict[tuple[int, ...], tuple[int, ...]] = {(): (), (3,): (3,), (2, 3): (2, 3)}
        if own.shape:
            shapes = {(): (n,), (n,): (n,), (n, 3): (n, 3), (1, 3): (n, 3)}
        for method in ("cdf", "sf", "cdf_left", "logpdf" if own.lattice is None else "logpmf", "crps", "ppf"):
            value = 0.5 if method == "ppf" else place
            for given, expected in shapes.items():
                got = numbers(getattr(own, method)(_like(np.full(given, value), own)))
                must = f"{self.name}.{method} of an argument of shape {given} must have shape {expected}, got"
                require(got.shape == expected, f"{must} {got.shape}")
                require(not np.isnan(got).any(), f"{self.name}.{method}({value:.6g}) is nan")
        for method in ("mean", "std"):
            found = numbers(getattr(own, method)()).shape
            require(found == own.shape, f"{self.name}.{method}() must have shape {own.shape}, got {found}")

    def cdf_and_ppf(self) -> None:
        """The cdf rises from 0 to 1, cdf_left is its limit, and the ppf the smallest y where it reaches p."""
        y, F, rounding = self.points, self.at("cdf", self.points), 8 * self.epsilon
        self.agree("cdf", F, np.clip(F, 0.0, 1.0), 0.0, "must lie in [0, 1] and so be", y)
        self.agree("cdf", F, np.maximum.accumulate(F, axis=1), rounding, "must not fall, and further left it is", y)
        top = np.array([np.inf])  # -inf may have mass
        self.agree("cdf", self.at("cdf", top), 1.0, rounding, "must be", top)
        y, step = self.inside, self.rounding(self.inside)  # the ppf may be off by a few roundings
        below, above = self.at("cdf", y - step), self.at("cdf", y + step)
        reached = np.where(np.isfinite(self.q), np.clip(_LEVELS, below - self.slack, above + self.slack), _LEVELS)
        self.agree("cdf at ppf", reached, _LEVELS, 0.0, "must be", _LEVELS)
        # at an atom cdf_left may be off by a rounding of its place, but not at every atom and next to it
        y = np.concatenate([y, *(y + side * np.spacing(y) for side in (-1, 1))], axis=1)
        step = self.rounding(y)
        left, right, below = self.at("cdf_left", y), self.at("cdf", y), self.at("cdf", y - step)
        density = np.exp(np.maximum(self.at("_logpdf", y - step), self.at("_logpdf", y)))
        atoms = right - below > 4 * step * density + self.slack
        missed = atoms & ~np.any(left[atoms] < right[atoms])
        expected = np.where(missed, below, np.clip(left, below - rounding, right + rounding))
        self.agree("cdf_left", left, expected, 0.0, "the cdf comes from the left to", y)

    def density(self) -> None:
        """The slope of the cdf, where it is the same on both sides; on a lattice the jump at a point."""
        if self.own.lattice is not None:
            origin, unit = self.own.lattice
            points = origin + unit * np.round((self.inside - origin) / unit)
            self.agree("ppf", self.inside, points, self.rounding(points), "the lattice has", _LEVELS)
            y = np.concatenate([points, points + unit / 2], axis=1)
            jump = self.at("cdf", y) - self.at("cdf_left", y)
            self.agree("pmf", self.at("pmf", y), jump, self.slack, "the cdf jumps by", y)
            return
        gap = np.diff(self.points, axis=1)
        y, h = self.points[:, :-1] + 0.37 * gap, gap * (0.6 * self.loose + 4e-4)
        rises = np.diff([self.at("cdf", y + side) for side in (-h, 0 * h, h)], axis=0)
        low, high = rises.min(axis=0) / h, rises.max(axis=0) / h
        noise = 8 * self.epsilon * (1 + np.abs(y) * high) / h
        smooth = (h > 1e4 * self.epsilon * (np.abs(y) + self.width)) & (high - low <= self.loose * low + 4 * noise)
        got = self.at("pdf", y)
        expected = np.where(smooth, (low + high) / 2, got)
        self.agree("pdf", got, expected, self.loose * high + 4 * noise, "the slope of the cdf is", y)

    def other_methods(self) -> None:
        """As the base class makes them of the cdf, the quantiles and the density, also of a clip."""
        own, plain, unit = self.own, _Plain(self.own), self.width
        ends = float((self.inside - 1e-3 * unit).min()), float((self.inside + 1e-3 * unit).max())
        y = self.median + unit * np.array([-0.3877, 0.3123, 1.7123])
        found, expected, part = (self.answers(of, y) for of in (own, plain, plain.clip(*ends)))
        # of an integral that the far tails decide nothing is known
        decided = {name: part["std" if name.startswith("_integrals") else name] for name in expected}
        self.compare("", y, found, expected, self.tolerance, decided)
        low, high = (float(bound) for bound in np.median(np.sort(self.inside)[:, [5, -7]], axis=0).astype(np.float32))
        if not low < high:  # an atom: any two bounds around it will do
            low, high = low - unit[0, 0], high + 0.5 * unit[0, 0]
        clipped = own.clip(low, high)
        require(clipped.shape == own.shape, f"{self.name}.clip must have shape {own.shape}, got {clipped.shape}")
        y = np.clip(self.median + unit * np.array([-0.3, 0.1, 0.3]), low, high)
        found, expected = self.answers(clipped, y), self.answers(plain.clip(low, high), y)
        right = {name: expected[name] for name in ("cdf", "sf", "cdf_left", "ppf", "mean", "std", "crps")}
        self.compare(f"clip({low:.6g}, {high:.6g}).", y, found, right, 5 * self.tolerance, right)

    def rows_and_copies(self) -> None:
        """A row gives the same among any others, asked again and from a pickle."""
        own, y, every = self.own, self.points[:, [9, 40, 60]], np.arange(len(self.q))
        whole, ways = self.answers(own, y), [("asked again it is", own, every)]
        with suppress(AttributeError, pickle.PicklingError):  # a class inside a function cannot be pickled
            ways.append(("from a pickle it is", pickle.loads(pickle.dumps(own)), every))
        if own.shape:
            ways += [(f"row {i} alone gives", own[int(i) : int(i) + 1], every[i : i + 1]) for i in every[::2]]
            ways.append(("in another order it is", own[(turned := np.append(every[::-1], every[:1]))], turned))
        for way, some, rows in ways:
            slack = 0.0 if some is own else 1e3 * self.epsilon
            for method, got in self.answers(some, y[rows]).items():
                expected, unit = whole[method][rows], (self.width + np.abs(self.median))[rows]
                self.agree(method, expected, got, slack * (np.abs(expected) + np.maximum(unit, 1.0)), way)

    def compare(self, of: str, y: Floats, found: Answers, right: Answers, share: float, decided: Answers) -> None:
        """Raise unless answers agree, integrals to a share of the width, where `decided` has the same."""
        for method, expected in right.items():
            unit = 1.0 if method in _PROBABILITIES else self.width + np.abs(expected - self.median)
            size = unit * (100 * self.slack if method in _EXACT else share)
            whole = right["std"] if method.startswith("_integrals") else expected
            known = np.isfinite(expected) & (np.abs(whole - decided[method]) <= 0.1 * size)
            at = None if expected.shape[1] == 1 else _FEW if method in ("ppf", "_ppf_logit") else y
            got, slack = np.where(known, found[method], expected), size + self.rounding(self.median)
            self.agree(of + method, got, expected, slack, "by its cdf alone it is", at)

    def answers(self, of: Distribution, y: Floats) -> Answers:
        """What all methods give, with one row each."""
        found = {method: self.at(method, y, of=of) for method in ("cdf", "sf", "cdf_left", "_logpdf", "crps")}
        found |= {"ppf": self.at("ppf", _FEW, of=of), "_ppf_logit": self.at("_ppf_logit", logit(_FEW), of=of)}
        table = of._table(PLACES).moments
        whole = {"mean": of.mean(), "std": of.std(), "_table.mean": table[0], "_table.std": table[1]}
        found |= {name: numbers(value).reshape(-1, 1) for name, value in whole.items()}
        logits = of._logit(_like(np.broadcast_to(y, (len(found["cdf"]), y.shape[-1])), of))
        inner = np.abs(numbers(logits[0])) < 7  # further out 1 - F has lost digits
        for name, value in zip(("logit", "slope of the logit"), logits, strict=True):
            found[name] = np.where(inner, numbers(value), 7.0)
        for name, which in (("", ONCE), (" twice", TWICE), (" of the square", SQUARE)):
            integral = self.at("_integrals", y, which, of=of)
            found[f"_integrals{name}"] = integral - integral[:, :1]
        return found


def _like(value: Floats, distribution: Distribution) -> Array:
    """An argument as an array of the distribution's kind, of its own."""
    return np.array(value) if distribution.like is None else device_like(np.array(value), distribution.like)
