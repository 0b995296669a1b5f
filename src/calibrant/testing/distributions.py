"""What a distribution must satisfy, and how a check fails."""

from __future__ import annotations

import pickle
from contextlib import suppress
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
_QUANTILES, _EVEN, _OUTER = 4097, 1001, 200  # of a fine table; the outer ones are left out of another
_PROBABILITIES = ("cdf", "sf", "cdf_left", "_logpdf")


def require(holds: bool | np.bool_, sentence: str) -> None:  # noqa: FBT001
    """Raise an AssertionError with this sentence, unless it holds."""
    if not holds:
        raise AssertionError(sentence)


def agree(method: str, got: Floats, wanted: Any, slack: Any, source: str, at: Any = None) -> None:
    """Raise unless `got`, (rows, k), is `wanted`, which is from `source`; `at` holds the arguments of the method."""
    with np.errstate(invalid="ignore"):
        near = (got == wanted) | (np.abs(got - wanted) <= slack) | (np.isnan(got) & np.isnan(wanted))
    for row, k in np.argwhere(~near)[:1]:
        argument = "" if at is None else f"{np.broadcast_to(at, near.shape)[row, k]:.6g}"
        right, where = np.broadcast_to(wanted, near.shape)[row, k], f" (row {row})" if len(near) > 1 else ""
        raise AssertionError(f"{method}({argument}) is {got[row, k]:.8g}, but {source} {right:.8g}{where}")


def numbers(answer: Any) -> Floats:
    """An answer as numbers of numpy."""
    return np.asarray(to_numpy(answer), dtype=np.float64)


@np.errstate(all="ignore")
def check_distribution(distribution: Distribution, *, tolerance: float = 1e-4) -> None:
    """Raise an AssertionError unless `distribution`, a single one or a batch, is consistent in itself.

    Results have the shapes of the shape rule. The cdf rises from 0 to 1, the ppf inverts it, and the density is its
    slope; on a lattice all mass lies on its points. All else agrees with these, whether you override it or not: sf,
    cdf_left, quantiles and logits to rounding; mean, std, crps and other integrals to `tolerance` of the width, clipped
    to five times that. These are worked out at thousands of quantiles: what jumps or bends more often needs a larger
    `tolerance`; what the outermost 1e-11 of the mass decides is not checked. A row gives the same alone, among others
    and from a pickle, and no method changes the distribution. Of a batch six rows are tried.

    Args:
        distribution: The distributions of Y', the labels as they were calibrated, one per row.
        tolerance: The largest error allowed, as a share of the width of the distribution.
    """
    if not isinstance(distribution, Distribution):
        raise TypeError(f"check_distribution takes a Distribution, got {distribution!r}")
    if distribution.shape == (0,):
        raise ValueError("check_distribution needs at least one row, got none")
    name, fields, some = type(distribution).__name__, _fields(distribution), distribution
    if distribution.shape and len(distribution) > _ROWS:
        some = distribution[np.linspace(0, len(distribution) - 1, _ROWS).astype(np.int64)]
    check = DistributionCheck(some, name, tolerance)
    check.shapes()
    check.consistency()
    check.clip()
    check.rows_and_copies()
    same = _fields(distribution) == fields
    require(same, f"{name} must never change, but its fields did; what is kept has a name that begins with _kept")


def _fields(distribution: Distribution) -> bytes | None:
    """Without what is kept; None where they cannot be pickled."""
    with suppress(AttributeError, TypeError, pickle.PicklingError):
        return pickle.dumps(distribution.__getstate__())
    return None


class DistributionCheck:
    """The checks of one distribution, at places that it has quantiles around."""

    def __init__(self, own: Distribution, name: str, tolerance: float = 1e-4) -> None:
        self.own, self.name, self.tolerance = own, name, tolerance
        self.rows = len(own) if own.shape else 1
        coarse = "float32" in str(getattr(own.like, "dtype", ""))
        self.epsilon, self.slack, self.loose = (2.0**-23, 1e-5, 0.05) if coarse else (2.0**-52, 1e-9, 1e-3)
        self.q, middle = self.ask("ppf", _LEVELS), self.ask("ppf", np.array([0.5]))
        self.median = np.where(np.isfinite(middle), middle, 0.0)
        self.inside = np.where(np.isfinite(self.q), self.q, self.median)
        width = np.ptp(np.quantile(self.inside, [0.1, 0.9], axis=1), axis=0)[:, None]
        width = np.where(width > 0, width, np.abs(self.inside - self.median).max(axis=1, keepdims=True))
        self.width = np.where(width > 0, width, np.maximum(np.abs(self.median), 1.0) * 1e-3)
        between = (self.inside[:, 1:] + self.inside[:, :-1]) / 2
        beyond = self.median + self.width * np.array([-3.0, -1.1, 1.3, 3.0])
        self.points = np.sort(np.concatenate([self.inside, between, beyond], axis=1), axis=1)

    def ask(self, method: str, value: Any, *more: Any, of: Distribution | None = None) -> Floats:
        """A method at (rows, k), (1, k) or (k,) values, as (rows, k)."""
        of = self.own if of is None else of
        value = np.broadcast_to(value, (len(of) if of.shape else 1, value.shape[-1]))
        return numbers(getattr(of, method)(_home(value, of), *more))

    def rounding(self, y: Floats) -> Floats:
        """How far a place may be off by rounding alone."""
        return np.asarray(self.epsilon * (16 * np.abs(self.median) + 16 * self.width + 8 * np.abs(y)))

    def shapes(self) -> None:
        """Those of the shape rule, without nan."""
        n, place, density = self.rows, float(self.median[0, 0]), "logpdf" if self.own.lattice is None else "logpmf"
        shapes: dict[tuple[int, ...], tuple[int, ...]] = {(): (), (3,): (3,), (2, 3): (2, 3)}
        if self.own.shape:
            shapes = {(): (n,), (n,): (n,), (n, 3): (n, 3), (1, 3): (n, 3)}
        for method in ("cdf", "sf", "cdf_left", density, "crps", "ppf", "isf"):
            value = 0.5 if method in ("ppf", "isf") else place
            for given, wanted in shapes.items():
                got = numbers(getattr(self.own, method)(_home(np.full(given, value), self.own)))
                must = f"{self.name}.{method} of an argument of shape {given} must have shape {wanted}, got {got.shape}"
                require(got.shape == wanted, must)
                require(not np.isnan(got).any(), f"{self.name}.{method}({value:.6g}) is nan")
        for method in ("mean", "std", "median"):
            found = numbers(getattr(self.own, method)()).shape
            require(found == self.own.shape, f"{self.name}.{method}() must have shape {self.own.shape}, got {found}")

    def consistency(self) -> None:
        """Of all methods with the cdf."""
        for check in (self.cdf_and_ppf, self.density, self.other_methods, self.integrals):
            check()

    def cdf_and_ppf(self) -> None:
        """The cdf rises from 0 to 1, cdf_left is its limit, and the ppf the smallest y where it reaches p."""
        F, ends, low = self.ask("cdf", self.points), np.array([-np.inf, np.inf]), self.ask("ppf", np.array([0.0]))
        agree(f"{self.name}.cdf", F, np.clip(F, 0.0, 1.0), 0.0, "must lie in [0, 1] and so be", self.points)
        left = np.maximum.accumulate(F, axis=1)
        agree(f"{self.name}.cdf", F, left, 8 * self.epsilon, "must not fall, and further left it is", self.points)
        got = self.ask("cdf", ends)
        wanted = np.where([True, False], np.where(low == -np.inf, got, 0.0), 1.0)  # -inf may have mass
        agree(f"{self.name}.cdf", got, wanted, 8 * self.epsilon, "must be", ends)
        y, step = self.inside, self.rounding(self.inside)  # the ppf may be off by a few roundings
        below, above = self.ask("cdf", y - step), self.ask("cdf", y + step)
        reached = np.where(np.isfinite(self.q), np.clip(_LEVELS, below - self.slack, above + self.slack), _LEVELS)
        agree(f"{self.name}.cdf at ppf", reached, _LEVELS, 0.0, "must be", _LEVELS)
        # at an atom cdf_left may be off by a rounding of its place, but not at every atom and beside it
        y = np.concatenate([y, *(y + side * np.spacing(y) for side in (-1, 1))], axis=1)
        step, left, right = self.rounding(y), self.ask("cdf_left", y), self.ask("cdf", y)
        below, rise = self.ask("cdf", y - step), step * np.exp([self.ask("_logpdf", at) for at in (y - step, y)])
        atoms = right - below > 4 * rise.max(axis=0) + self.slack
        missed = atoms & ~np.any(left[atoms] < right[atoms])
        wanted = np.where(missed, below, np.clip(left, below - 8 * self.epsilon, right + 8 * self.epsilon))
        agree(f"{self.name}.cdf_left", left, wanted, 0.0, "the cdf comes from the left to", y)

    def density(self) -> None:
        """The slope of the cdf, where it is the same on both sides; on a lattice the jump at a point."""
        if self.own.lattice is not None:
            origin, unit = self.own.lattice
            points = origin + unit * np.round((self.inside - origin) / unit)
            agree(f"{self.name}.ppf", self.inside, points, self.rounding(points), "the lattice has", _LEVELS)
            y = np.concatenate([points, points + unit / 2], axis=1)
            jump = self.ask("cdf", y) - self.ask("cdf_left", y)
            agree(f"{self.name}.pmf", self.ask("pmf", y), jump, self.slack, "the cdf jumps by", y)
            return
        gap = np.diff(self.points, axis=1)
        y, h = self.points[:, :-1] + 0.37 * gap, gap * (0.6 * self.loose + 4e-4)
        rises = np.diff([self.ask("cdf", y + side) for side in (-h, 0 * h, h)], axis=0)
        low, high = rises.min(axis=0) / h, rises.max(axis=0) / h
        noise = 8 * self.epsilon * (1 + np.abs(y) * high) / h
        smooth = (h > 1e4 * self.epsilon * (np.abs(y) + self.width)) & (high - low <= self.loose * low + 4 * noise)
        got, slack = self.ask("pdf", y), self.loose * high + 4 * noise
        agree(f"{self.name}.pdf", got, np.where(smooth, (low + high) / 2, got), slack, "the slope of the cdf is", y)

    def other_methods(self) -> None:
        """Sf, quantiles and logits."""
        y, F, S = self.points, self.ask("cdf", self.points), self.ask("sf", self.points)
        agree(f"{self.name}.sf", S, 1 - F, 32 * self.epsilon, "1 - cdf is", y)
        low, high = (self.ask("ppf", np.clip(_LEVELS + side, 0, 1)) for side in (-self.slack, self.slack))
        for method, at in (("isf", 1 - _LEVELS), ("_ppf_logit", logit(_LEVELS))):
            got = self.ask(method, at)
            step = np.where(np.isfinite(got), self.rounding(got), 0.0)
            agree(f"{self.name}.{method}", got, np.clip(got, low - step, high + step), 0.0, "ppf has", at)
        answers = self.answers(self.own, self.median)
        for method, which in (("quantiles", [0, 1, 2, 3, 4]), ("interval", [1, 4]), ("median", [3])):
            wanted = answers["ppf"][:, which]
            agree(f"{self.name}.{method}", answers[method], wanted, self.rounding(wanted), "ppf has")
        inner, argument = np.minimum(F, S) > 1e-3, _home(np.broadcast_to(y, F.shape), self.own)
        logits = self.own._logit(argument), Distribution._logit(self.own, argument)
        for part, what in enumerate(("cdf gives", "for the log of its slope logpdf gives")):
            got, wanted = (np.where(inner, numbers(each[part]), 0.0) for each in logits)
            agree(f"{self.name}._logit", got, wanted, 1e4 * self.slack * (1 + np.abs(wanted)), what, y)

    def integrals(self) -> None:
        """As a fine table has them; a table without its ends tells what the tails decide."""
        y = self.median + self.width * np.array([-0.3877, 0.3123, 1.7123])
        unit, (table, inner) = self.width, self.tables()
        wanted, part = _sums(table, y), _sums(inner, y)
        infinite = numbers(table.infinite[0] + table.infinite[1]) > 0
        for of, found in (("", self.answers(self.own, y)), (f"_table({PLACES}).", _sums(self.own._table(PLACES), y))):
            for what, full in wanted.items():
                size = self.tolerance * (unit + np.abs(full - (self.median if what == "mean" else 0.0)))
                settled = np.where(np.isfinite(full), np.abs(full - part[what]) <= 0.1 * size, infinite)
                got, slack, at = found[what], size + self.rounding(full), y if what == "crps" else None
                full = np.where(settled, full, got)
                agree(f"{self.name}.{of}{what}", got, full, slack, "the integral of its cdf gives", at)
        settled = np.abs(wanted["std"] - part["std"]) <= self.tolerance * unit
        for which, size in ((ONCE, unit), (TWICE, unit**2), (SQUARE, unit)):
            got, full = self.ask("_integrals", y, which), numbers(table.integral(_home(y, self.own), which))
            got, full = (np.where(settled, each - each[:, :1], 0.0) for each in (got, full))
            source = f"from {y[0, 0]:.6g} on integral {which} of its cdf is"
            agree(f"{self.name}._integrals", got, full, self.tolerance * (size + np.abs(full)), source, y)

    def tables(self) -> list[MassTable]:
        """Of quantiles, of what lies a rounding beside them, and of even steps; and without the outermost quantiles."""
        double = self.own._in_double
        q = numbers(drawn_in(double._ppf_logit(_home(logit_levels(_QUANTILES)[None, :], double)))) + 0 * self.median
        even = np.clip(self.median + self.width * np.linspace(-4, 4, _EVEN), q[:, :1], q[:, -1:])
        found = []
        for some in (q, q[:, _OUTER:-_OUTER]):
            places = np.concatenate([some, some - self.rounding(some), some + self.rounding(some), even], axis=1)
            found.append(MassTable.through(double, _home(np.sort(places, axis=1), double)))
        return found

    def clip(self) -> None:
        """A clipped distribution has the clipped quantiles, and is as consistent."""
        low, high = (float(bound) for bound in np.median(np.sort(self.inside)[:, [5, -7]], axis=0).astype(np.float32))
        if not low < high:  # an atom: any two bounds around it will do
            low, high = low - self.width[0, 0], high + 0.5 * self.width[0, 0]
        name = f"{self.name}.clip({low:.6g}, {high:.6g})"
        part = DistributionCheck(self.own.clip(low, high), name, 5 * self.tolerance)
        require(part.own.shape == self.own.shape, f"{part.name} must have shape {self.own.shape}, got {part.own.shape}")
        wanted = np.clip(self.q, low, high)
        agree(f"{part.name}.ppf", part.q, wanted, self.rounding(wanted), "the clipped quantile is", _LEVELS)
        part.width, part.median = (np.full((self.rows, 1), each) for each in (high - low, 0.57 * low + 0.43 * high))
        part.consistency()

    def answers(self, of: Distribution, y: Floats) -> dict[str, Floats]:
        """The public methods, with one row each."""
        found = {method: self.ask(method, y, of=of) for method in (*_PROBABILITIES, "crps")}
        found |= {method: self.ask(method, _FEW, of=of) for method in ("ppf", "isf")}
        found |= {method: numbers(getattr(of, method)()).reshape(-1, 1) for method in ("mean", "std", "median")}
        found["quantiles"] = np.atleast_2d(numbers(of.quantiles(_home(_FEW, of))))
        return found | {"interval": np.stack([np.atleast_1d(numbers(end)) for end in of.interval(0.76)], axis=1)}

    def rows_and_copies(self) -> None:
        """A row gives the same among any others, asked again and from a pickle."""
        y, every = self.points[:, [9, 40, 60]], np.arange(self.rows)
        whole, ways = self.answers(self.own, y), [("asked again it is", self.own, every)]
        with suppress(AttributeError, pickle.PicklingError):  # a class inside a function cannot be pickled
            ways.append(("from a pickle it is", pickle.loads(pickle.dumps(self.own)), every))
        if self.own.shape:
            ways += [(f"row {i} alone gives", self.own[int(i) : int(i) + 1], every[i : i + 1]) for i in every[::2]]
            ways.append((f"distribution[{self.rows - 1}] gives", self.own[self.rows - 1], every[-1:]))
            ways.append(("in another order it is", self.own[(turned := np.append(every[::-1], every[:1]))], turned))
        for way, some, rows in ways:
            slack = 0.0 if some is self.own else 1e3 * self.epsilon
            for method, got in self.answers(some, y[rows]).items():
                wanted, unit = whole[method][rows], (self.width + np.abs(self.median))[rows]
                size = np.abs(wanted) + (1.0 if method in _PROBABILITIES else unit)
                agree(f"{self.name}.{method}", wanted, got, slack * size, way)


def _sums(table: MassTable, y: Floats) -> dict[str, Floats]:
    """Mean, std and crps of the labels y."""
    mean, std, shift = (numbers(part).reshape(-1, 1) for part in table.moments)
    once = numbers(table.integral(device_like(y, table.places), ONCE))
    return {"mean": mean, "std": std, "crps": 2 * once - y + shift}


def _home(value: Floats, distribution: Distribution) -> Array:
    """An argument beside the arrays of the distribution, as an array of its own."""
    return np.array(value) if distribution.like is None else device_like(np.array(value), distribution.like)
