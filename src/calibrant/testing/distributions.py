"""The laws of a law."""

from __future__ import annotations

import copy
import pickle
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._arrays import Array, device_like, to_numpy
from calibrant._batch import same
from calibrant.distributions.base import Distribution
from calibrant.testing.broken import Floats, first, law

_ROWS = 6  # rows of a batch that are tried
_LEVELS = np.sort(np.concatenate([[1e-6, 1e-3, 1 - 1e-3, 1 - 1e-6], np.linspace(0.0113, 0.9887, 31)]))
_FEW = np.array([0.07, 0.31, 0.5, 0.88])
_POINTS = 10_000  # of a law on a lattice that are told apart
_CELLS = 1000  # stretches of equal probability, in each of which a CDF is integrated
_TAIL = np.exp(-np.arange(1.0, 26.0))  # levels of the outermost stretch, from 1e-11 of its mass on
_STEPS = 1.5 ** np.arange(1.0, 120.0)  # lengths of the tails beyond, in units of the law's width
_x, _w = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = (_x + 1) / 2, _w / 2


def check_distribution(distribution: Distribution, *, tolerance: float = 1e-4) -> None:
    """Raise an AssertionError unless `distribution`, a single law or a batch, keeps the laws of a law.

    The laws: results follow the shape rule; the cdf rises from 0 to 1, and sf, cdf_left, ppf, isf, quantiles, median
    and interval belong to it; logpdf is the log of its slope; mean, std and crps are the integrals of it that they say
    they are, to `tolerance` of the width of the law; a clipped law is that of the clipped label; a row is the same
    alone, among others and in another order; and no method changes the law: its repr, its pickle, its fields and its
    answers stay what they were. Of a batch six rows are tried.

    The integrals are worked out from values of the cdf between a thousand quantiles. A law that jumps or bends at more
    points than these needs a larger `tolerance`.
    """
    if not isinstance(distribution, Distribution):
        raise TypeError(f"check_distribution takes a Distribution, got {distribution!r}")
    shape = distribution.shape
    law(
        shape == () or (isinstance(shape, tuple) and len(shape) == 1),
        f"the shape of {type(distribution).__name__} must be () or (n,), got {shape!r}",
    )
    if shape and shape[0] == 0:
        raise ValueError("check_distribution needs at least one row, got none")
    untouched = _State(distribution)
    trial = _LawTrial(_some_rows(distribution), tolerance)
    trial.follows_the_shape_rule()
    trial.cdf_rises_from_0_to_1()
    trial.sf_is_the_rest()
    trial.ppf_inverts_the_cdf()
    trial.isf_inverts_the_sf()
    trial.cdf_left_is_the_limit_from_the_left()
    trial.quantiles_are_those_of_ppf()
    trial.logpdf_is_the_slope()
    trial.integrals_are_those_of_the_cdf()
    trial.repeats_itself()
    trial.clips()
    if shape:
        trial.rows_stand_by_themselves()
    untouched.check(distribution)


def _some_rows(distribution: Distribution) -> Distribution:
    if not distribution.shape or len(distribution) <= _ROWS:
        return distribution
    return distribution[np.linspace(0, len(distribution) - 1, _ROWS).astype(np.int64)]


class _State:
    """What a law is before anything was asked of it: its repr, its fields and its pickle."""

    def __init__(self, distribution: Distribution) -> None:
        self.repr = repr(distribution)
        self.copy = copy.deepcopy(distribution)
        self.comparable = same(self.copy, distribution)  # not so where a field holds another library's objects
        self.pickle = _pickled(distribution)

    def check(self, now: Distribution) -> None:
        name = type(now).__name__
        law(repr(now) == self.repr, f"{name} must never change, but its repr became {now!r} from {self.repr}")
        law(
            not self.comparable or same(self.copy, now),
            f"{name} must never change, but its fields are others after its methods ran",
        )
        pickled = _pickled(now)
        sizes = f"of {len(pickled or b'')} bytes, which was of {len(self.pickle or b'')}"
        law(
            pickled == self.pickle and _names(now) == _names(self.copy),
            f"{name} must never change, but its pickle is another after its methods ran, {sizes}: keep what is worth"
            " keeping outside of it",
        )


def _pickled(distribution: Distribution) -> bytes | None:
    """None where it cannot be pickled, as a class that was written inside a function cannot."""
    try:
        return pickle.dumps(distribution)
    except Exception:
        return None


def _names(distribution: Distribution) -> list[str]:
    return sorted(getattr(distribution, "__dict__", {}))


class _LawTrial:
    def __init__(self, distribution: Distribution, tolerance: float, name: str = "") -> None:
        self.law, self.tolerance = distribution, tolerance
        self.name = name or type(distribution).__name__
        self.rows = len(distribution) if distribution.shape else 1
        self.epsilon = 2.0**-23 if "float32" in str(getattr(distribution.like, "dtype", "")) else 2.0**-52

    # ---- asking -----------------------------------------------------------------------------------------------------

    def ask(self, method: str, value: Floats, of: Distribution | None = None) -> Floats:
        """A method at (rows, k) or (1, k) values, as (rows, k); `value` is left as it is."""
        distribution = self.law if of is None else of
        value = np.broadcast_to(value, (len(distribution) if distribution.shape else 1, value.shape[-1]))
        with np.errstate(all="ignore"):
            return _numbers(getattr(distribution, method)(_home(value, distribution)))

    def number(self, method: str) -> Floats:
        """Mean or std of each row, (rows,)."""
        with np.errstate(all="ignore"):
            return np.atleast_1d(_numbers(getattr(self.law, method)()))

    # ---- places -----------------------------------------------------------------------------------------------------

    @cached_property
    def quantiles(self) -> Floats:
        return self.ask("ppf", _LEVELS[None, :])

    @cached_property
    def median(self) -> Floats:
        """(rows, 1), a finite point in the middle."""
        middle = self.ask("ppf", np.array([[0.5]]))
        return np.where(np.isfinite(middle), middle, 0.0)

    @cached_property
    def width(self) -> Floats:
        """(rows, 1): a length that most of the law lies in, positive and finite."""
        q = self.quantiles
        low, high = (np.nanquantile(np.where(np.isfinite(q), q, np.nan), p, axis=1) for p in (0.1, 0.9))
        width = np.where(np.isfinite(high - low), high - low, 0.0)[:, None]
        outer = np.where(np.isfinite(q), np.abs(q - self.median), 0.0).max(axis=1)[:, None]
        width = np.where(width > 0, width, outer)
        return np.where(width > 0, width, np.maximum(np.abs(self.median), 1.0) * 1e-3)

    @cached_property
    def points(self) -> Floats:
        """(rows, k) finite places in order: quantiles, and points halfway."""
        q = np.where(np.isfinite(self.quantiles), self.quantiles, self.median)
        wide = self.median + self.width * np.array([-3.0, -1.1, 1.3, 3.0])
        return np.sort(np.concatenate([q, (q[:, 1:] + q[:, :-1]) / 2, wide], axis=1), axis=1)

    @cached_property
    def rounding(self) -> Floats:
        """(rows, 1): how far a place may be off by roundings alone."""
        return 16 * self.epsilon * (np.abs(self.median) + self.width)

    @property
    def density(self) -> str:
        """The method that gives the log density: on a lattice there is none, and the log probability stands in."""
        return "logpdf" if self.law.lattice is None else "logpmf"

    # ---- shapes -----------------------------------------------------------------------------------------------------

    def follows_the_shape_rule(self) -> None:
        place = float(self.median[0, 0])
        batch = self.law.shape
        n = self.rows
        if batch:
            shapes = {(): (n,), (n,): (n,), (n, 3): (n, 3), (1, 3): (n, 3)}
        else:
            shapes = {(): (), (3,): (3,), (2, 3): (2, 3)}
        for method, value in (*((m, place) for m in ("cdf", "sf", "cdf_left", self.density, "crps")), ("ppf", 0.5)):
            for given, wanted in shapes.items():
                with np.errstate(all="ignore"):
                    got = _numbers(getattr(self.law, method)(_home(np.full(given, value), self.law)))
                law(
                    got.shape == wanted,
                    f"{self.name}.{method} of an argument of shape {given} must have shape {wanted}, got {got.shape}",
                )
                law(not np.isnan(got).any(), f"{self.name}.{method} is nan at {value:.6g}")
        for method in ("mean", "std"):
            with np.errstate(all="ignore"):
                got = _numbers(getattr(self.law, method)())
            law(got.shape == batch, f"{self.name}.{method}() must have shape {batch}, got {got.shape}")

    # ---- the cdf ----------------------------------------------------------------------------------------------------

    def cdf_rises_from_0_to_1(self) -> None:
        y, F = self.points, self.ask("cdf", self.points)
        for row, k in first(~((F >= 0) & (F <= 1))):
            raise AssertionError(
                f"the cdf of {self.name} must lie in [0, 1], but is {F[row, k]:.6g} at y ="
                f" {y[row, k]:.6g}{self.at(row)}"
            )
        for row, k in first(~(np.diff(F, axis=1) >= -8 * self.epsilon)):
            raise AssertionError(
                f"the cdf of {self.name} must not decrease, but falls from {F[row, k]:.6g} at {y[row, k]:.6g} to"
                f" {F[row, k + 1]:.6g} at {y[row, k + 1]:.6g}{self.at(row)}"
            )
        ends = self.ask("cdf", np.array([[-np.inf, np.inf]]))
        low = self.ask("ppf", np.array([[0.0]]))
        for row, _ in first(~((ends[:, :1] == 0) | (low == -np.inf))):
            raise AssertionError(f"the cdf of {self.name} must be 0 at -inf, got {ends[row, 0]:.6g}{self.at(row)}")
        for row, _ in first(~(np.abs(ends[:, 1:] - 1) <= 8 * self.epsilon)):
            raise AssertionError(f"the cdf of {self.name} must be 1 at +inf, got {ends[row, 1]:.6g}{self.at(row)}")

    def sf_is_the_rest(self) -> None:
        y = self.points
        F, S = self.ask("cdf", y), self.ask("sf", y)
        for row, k in first(~(np.abs(F + S - 1) <= 32 * self.epsilon)):
            raise AssertionError(
                f"sf of {self.name} must be 1 - cdf: at y = {y[row, k]:.6g} they are {S[row, k]:.6g} and"
                f" {F[row, k]:.6g}{self.at(row)}"
            )

    def ppf_inverts_the_cdf(self) -> None:
        """The smallest y with cdf(y) >= p; y may be off by a few roundings, over which the cdf may rise."""
        q = self.quantiles
        for row, k in first(~(q[:, 1:] >= q[:, :-1])):
            raise AssertionError(
                f"ppf of {self.name} must not decrease, but falls from {q[row, k]:.6g} at p = {_LEVELS[k]:.6g} to"
                f" {q[row, k + 1]:.6g} at p = {_LEVELS[k + 1]:.6g}{self.at(row)}"
            )
        finite = np.isfinite(q)
        at = np.where(finite, q, self.median)
        step = self.rounding + 8 * self.epsilon * np.abs(at)
        above, below = self.ask("cdf", at + step), self.ask("cdf", at - step)
        slack = 1e-9 if self.epsilon < 1e-10 else 1e-5
        for row, k in first(finite & ~((above >= _LEVELS - slack) & (below <= _LEVELS + slack))):
            raise AssertionError(
                f"ppf of {self.name} must be the smallest y with cdf(y) >= p: ppf({_LEVELS[k]:.6g}) = {q[row, k]:.6g},"
                f" where the cdf is {above[row, k]:.6g} and just before {below[row, k]:.6g}{self.at(row)}"
            )

    def isf_inverts_the_sf(self) -> None:
        """As `ppf` inverts the cdf."""
        q = self.ask("isf", _LEVELS[None, :])
        finite = np.isfinite(q)
        at = np.where(finite, q, self.median)
        step = self.rounding + 8 * self.epsilon * np.abs(at)
        after, before = self.ask("sf", at + step), self.ask("sf", at - step)
        slack = 1e-9 if self.epsilon < 1e-10 else 1e-5
        for row, k in first(finite & ~((after <= _LEVELS + slack) & (before >= _LEVELS - slack))):
            raise AssertionError(
                f"isf of {self.name} must invert the sf: isf({_LEVELS[k]:.6g}) = {q[row, k]:.6g}, where the sf is"
                f" {after[row, k]:.6g} and just before {before[row, k]:.6g}{self.at(row)}"
            )

    def cdf_left_is_the_limit_from_the_left(self) -> None:
        y = np.where(np.isfinite(self.quantiles), self.quantiles, self.median)
        left, right = self.ask("cdf_left", y), self.ask("cdf", y)
        before = self.ask("cdf", y - self.rounding - 8 * self.epsilon * np.abs(y))
        slack = 8 * self.epsilon
        for row, k in first(~((left <= right + slack) & (left >= before - slack))):
            raise AssertionError(
                f"cdf_left of {self.name} must lie between the cdf just before y and at y: at y = {y[row, k]:.6g} it is"
                f" {left[row, k]:.6g}, the cdf {before[row, k]:.6g} and {right[row, k]:.6g}{self.at(row)}"
            )

    def quantiles_are_those_of_ppf(self) -> None:
        slack = self.rounding
        table = np.atleast_2d(_numbers(self.law.quantiles(_home(_FEW, self.law))))
        lower, upper = (np.reshape(_numbers(end), (-1, 1)) for end in self.law.interval(0.76))
        middle = np.reshape(_numbers(self.law.median()), (-1, 1))
        for method, got, levels in (
            ("quantiles", table, _FEW),
            ("interval", np.concatenate([lower, upper], axis=1), np.array([0.12, 0.88])),
            ("median", middle, np.array([0.5])),
        ):
            wanted = self.ask("ppf", levels[None, :])
            law(
                got.shape == wanted.shape and bool(np.all(_near(got, wanted, slack + 16 * self.epsilon * abs(wanted)))),
                f"{method} of {self.name} must be what ppf says, {_said(wanted)}, got {_said(got)}",
            )

    # ---- the density ------------------------------------------------------------------------------------------------

    def logpdf_is_the_slope(self) -> None:
        """Between quantiles; a point is passed over where the slopes to its left and right differ, beside a bend."""
        if self.law.lattice is not None:
            return
        y = self.points
        gap = np.diff(y, axis=1)
        y = y[:, :-1] + 0.37 * gap
        h = gap * (1e-3 if self.epsilon < 1e-10 else 0.03)
        F = [self.ask("cdf", y + side) for side in (-h, 0 * h, h)]
        density = np.exp(self.ask("logpdf", y))
        told = h > 1e4 * self.epsilon * (np.abs(y) + self.width)
        h = np.where(told, h, 1.0)
        left, right = (F[1] - F[0]) / h, (F[2] - F[1]) / h
        noise = 8 * self.epsilon / h + np.maximum(left, right) * 8 * self.epsilon * np.abs(y) / h
        loose = 1e-3 if self.epsilon < 1e-10 else 0.05
        straight = np.abs(left - right) <= loose * np.minimum(left, right) + 4 * noise
        low, high = np.minimum(left, right), np.maximum(left, right)
        good = (density >= low * (1 - loose) - 4 * noise) & (density <= high * (1 + loose) + 4 * noise)
        for row, k in first(told & straight & ~good):
            raise AssertionError(
                f"logpdf of {self.name} must be the log of the slope of the cdf: at y = {y[row, k]:.6g} the density is"
                f" {density[row, k]:.6g}, the slope {(low[row, k] + high[row, k]) / 2:.6g}{self.at(row)}"
            )

    # ---- integrals --------------------------------------------------------------------------------------------------

    def integrals_are_those_of_the_cdf(self) -> None:
        integrals = self._integrals
        y = self._labels
        mean, std, crps = self.number("mean"), self.number("std"), self.ask("crps", y)
        for row in range(self.rows):
            self._compare("mean()", mean[row], *integrals.mean(row), row)
            self._compare("std()", std[row], *integrals.std(row), row)
            for k in range(y.shape[1]):
                self._compare(f"crps({y[row, k]:.6g})", crps[row, k], *integrals.crps(row, k), row)

    @property
    def _labels(self) -> Floats:
        """Labels to score: in the lower half of the law, in its upper half, beyond most of it."""
        shift = np.array([-0.4, 0.3, 1.7])
        return self.median + shift * self.width + 0.0123 * self.width

    @cached_property
    def _integrals(self) -> _Integrals:
        return _Integrals(self, self._labels)

    def _compare(self, what: str, got: float, wanted: float, doubt: float, row: int) -> None:
        """Where the integral does not settle, the law may say that it is infinite."""
        width = float(self.width[row, 0])
        settled = doubt <= 0.1 * self.tolerance * (abs(wanted) + width)
        slack = self.tolerance * width + 10 * doubt
        if what.startswith("mean"):
            slack += 16 * self.epsilon * abs(wanted) + self.tolerance * abs(wanted - float(self.median[row, 0]))
        else:
            slack += self.tolerance * abs(wanted)
        good = abs(got - wanted) <= slack if np.isfinite(got) else not settled
        law(good, f"{self.name}.{what} is {got:.8g}, but the integral of its cdf gives {wanted:.8g}{self.at(row)}")

    # ---- clip -------------------------------------------------------------------------------------------------------

    def clips(self) -> None:
        levels = self.ask("ppf", np.array([[0.15, 0.8]]))
        inside = np.where(np.isfinite(levels), levels, self.median)
        low, high = float(np.median(inside[:, 0])), float(np.median(inside[:, 1]))
        if not low < high:  # an atom: any two bounds around it will do
            low, high = low - float(self.width[0, 0]), high + 0.5 * float(self.width[0, 0])
        if self.epsilon > 1e-10:
            low, high = float(np.float32(low)), float(np.float32(high))
        clipped = self.law.clip(low, high)
        name = f"{self.name}.clip({low:.6g}, {high:.6g})"
        law(clipped.shape == self.law.shape, f"{name} must have shape {self.law.shape}, got {clipped.shape}")
        y = low + (high - low) * np.array([[-0.5, -1e-3, 0.2113, 0.7321, 1.0, 1.4]])
        wanted = np.where(y < low, 0.0, np.where(y >= high, 1.0, self.ask("cdf", np.clip(y, low, high))))
        got = self.ask("cdf", y, clipped)
        for row, k in first(~(np.abs(got - wanted) <= 32 * self.epsilon)):
            raise AssertionError(
                f"the cdf of {name} must be 0 below, 1 from the upper bound on and the law's in between, but is"
                f" {got[row, k]:.6g} at y = {y[0, k]:.6g}, not {wanted[row, k]:.6g}{self.at(row)}"
            )
        got, wanted = self.ask("ppf", _LEVELS[None, :], clipped), np.clip(self.quantiles, low, high)
        for row, k in first(~_near(got, wanted, self.rounding)):
            raise AssertionError(
                f"ppf of {name} must be the clipped quantile, but is {got[row, k]:.6g} at p = {_LEVELS[k]:.6g}, not"
                f" {wanted[row, k]:.6g}{self.at(row)}"
            )
        trial = _LawTrial(clipped, self.tolerance, name)
        trial.__dict__["width"] = np.full((self.rows, 1), high - low)
        trial.__dict__["median"] = np.full((self.rows, 1), low + 0.43 * (high - low))
        trial.integrals_are_those_of_the_cdf()

    # ---- rows and values --------------------------------------------------------------------------------------------

    def answers(self, of: Distribution, y: Floats) -> dict[str, Floats]:
        """What every method says, with one row for each row of the law."""
        found = {method: self.ask(method, y, of) for method in ("cdf", "sf", "cdf_left", self.density, "crps")}
        found["ppf"] = self.ask("ppf", _FEW[None, :], of)
        with np.errstate(all="ignore"):
            found["quantiles"] = np.atleast_2d(_numbers(of.quantiles(_home(_FEW, of))))
            for method in ("mean", "std"):
                found[method] = np.reshape(_numbers(getattr(of, method)()), (-1, 1))
        return found

    @cached_property
    def _all(self) -> dict[str, Floats]:
        return self.answers(self.law, self._labels)

    def rows_stand_by_themselves(self) -> None:
        index = np.arange(self.rows)
        ways = {f"alone, as law[{i}:{i + 1}]": index[i : i + 1] for i in index[:: max(1, self.rows // 2)]}
        ways |= {"in another order": index[::-1].copy(), "twice": np.concatenate([index, index])}
        for way, rows in ways.items():
            part = self.law[int(rows[0]) : int(rows[0]) + 1] if rows.size == 1 else self.law[rows]
            law(
                part.shape == (rows.size,),
                f"{rows.size} rows of {self.name} must have shape ({rows.size},), got {part.shape}",
            )
            self._same(self.answers(part, self._labels[rows]), rows, way)
        one = self.law[self.rows - 1]
        law(one.shape == (), f"law[{self.rows - 1}] of {self.name} must be a single law, got shape {one.shape}")
        self._same(self.answers(one, self._labels[-1:]), index[-1:], f"as law[{self.rows - 1}]")

    def _same(self, part: dict[str, Floats], rows: Any, way: str) -> None:
        size = self.width[rows] + np.abs(self.median[rows])
        for method, got in part.items():
            wanted = self._all[method][rows]
            slack = 1e3 * self.epsilon * (np.abs(wanted) + (size if method in _LENGTHS else 1.0))
            for row, k in first(~_near(got, wanted, slack)):
                raise AssertionError(
                    f"a row of {self.name} must not depend on the others: {method} of row {rows[row]} is"
                    f" {got[row, k]:.8g} {way}, and {wanted[row, k]:.8g} among all"
                )

    def repeats_itself(self) -> None:
        again = self.answers(self.law, self._labels)
        for method, wanted in self._all.items():
            for row, k in first(~_near(again[method], wanted, 0.0)):
                raise AssertionError(
                    f"{self.name} must never change, but its {method} is {again[method][row, k]:.8g} when asked again,"
                    f" and was {wanted[row, k]:.8g}{self.at(row)}"
                )

    def at(self, row: int) -> str:
        """Which row, in words, where there are several."""
        return f" (row {row})" if self.law.shape else ""


_LENGTHS = ("crps", "ppf", "quantiles", "mean", "std")


class _Integrals:
    """Mean, std and crps of each row from values of cdf and sf, by Gauss-Legendre between many quantiles.

    Each comes with a doubt: what the outermost of the stretches that were followed, far out in the tails, still add.
    """

    def __init__(self, trial: _LawTrial, labels: Floats) -> None:
        self.labels = labels
        inner = (np.arange(_CELLS) + 0.5) / _CELLS
        levels = np.concatenate([_TAIL / (2 * _CELLS), inner, 1 - _TAIL / (2 * _CELLS)])
        levels = levels[(levels > 0) & (levels < 1)]
        quantiles = trial.ask("ppf", np.sort(levels)[None, :])
        centre, width = trial.median, trial.width
        self.centre = centre
        quantiles = np.where(np.isfinite(quantiles), quantiles, centre)
        low, high = quantiles.min(axis=1, keepdims=True), quantiles.max(axis=1, keepdims=True)
        tails = [low - width * _STEPS, high + width * _STEPS]
        bulk = np.linspace(-4, 4, 33)[None, :] * width + centre
        jumps = _jumps(trial, low, high)
        edges = np.sort(np.concatenate([quantiles, centre, bulk, labels, jumps, *tails], axis=1), axis=1)
        h = np.diff(edges, axis=1)[..., None]
        nodes = edges[:, :-1, None] + h * _NODES
        self.nodes, self.weights = nodes, h * _WEIGHTS
        flat = nodes.reshape(len(edges), -1)
        self.F = trial.ask("cdf", flat).reshape(nodes.shape)
        self.S = trial.ask("sf", flat).reshape(nodes.shape)
        self.outer = edges[:, :-1] < low - width * _STEPS[-20], edges[:, 1:] > high + width * _STEPS[-20]

    def _over(self, row: int, values: Floats, side: int, bound: float) -> tuple[float, float]:
        """The integral of a function below or above a bound, and the part of it that is far out."""
        own = self.nodes[row] < bound if side == 0 else self.nodes[row] > bound
        cells = np.sum(np.where(own, values * self.weights[row], 0.0), axis=-1)
        return float(cells.sum()), float(np.abs(cells[self.outer[side][row]]).sum())

    def _moments(self, row: int, power: int) -> tuple[float, float, float]:
        c = float(self.centre[row, 0])
        arm = np.abs(self.nodes[row] - c) ** power
        lower, off = self._over(row, arm * self.F[row], 0, c)
        upper, far = self._over(row, arm * self.S[row], 1, c)
        return lower, upper, off + far

    def mean(self, row: int) -> tuple[float, float]:
        """c + the integral of 1 - F above c, less that of F below."""
        lower, upper, doubt = self._moments(row, 0)
        return float(self.centre[row, 0]) + (upper - lower), doubt

    def std(self, row: int) -> tuple[float, float]:
        """E (Y - c)^2 is twice the integrals of |y - c| F and |y - c| (1 - F)."""
        lower, upper, doubt = self._moments(row, 0)
        lower2, upper2, doubt2 = self._moments(row, 1)
        variance = 2 * (lower2 + upper2) - (upper - lower) ** 2
        std = float(np.sqrt(max(variance, 0.0)))
        return std, doubt + 2 * doubt2 / max(std, 1e-300)

    def crps(self, row: int, k: int) -> tuple[float, float]:
        """The integral of F^2 below the label and of (1 - F)^2 above."""
        y = float(self.labels[row, k])
        lower, off = self._over(row, self.F[row] ** 2, 0, y)
        upper, far = self._over(row, self.S[row] ** 2, 1, y)
        return lower + upper, off + far


def _jumps(trial: _LawTrial, low: Floats, high: Floats) -> Floats:
    """The points of a law on a lattice, (rows, k), as far as there are not too many of them."""
    lattice = trial.law.lattice
    if lattice is None:
        return np.zeros((trial.rows, 0))
    origin, step = lattice
    count = int(np.clip(((high - low) / step).max(), 0, _POINTS)) + 2
    return np.asarray(origin + step * (np.floor((low - origin) / step) + np.arange(count)))


def _home(value: Floats, distribution: Distribution) -> Array:
    """An argument beside the law's own arrays, as an array of its own."""
    value = np.array(value)
    return value if distribution.like is None else device_like(value, distribution.like)


def _numbers(result: Any) -> Floats:
    return np.asarray(to_numpy(result), dtype=np.float64)


def _near(got: Floats, wanted: Floats, slack: Any) -> Any:
    with np.errstate(invalid="ignore"):
        return (got == wanted) | (np.abs(got - wanted) <= slack) | (np.isnan(got) & np.isnan(wanted))


def _said(table: Floats) -> str:
    return ", ".join(f"{value:.6g}" for value in table[0])
