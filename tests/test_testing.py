"""`calibrant.testing` passes what is right and finds what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from catalogue import HERE, INTERPOLATORS, LOC, PAIRS, PREDICTIONS, Y
from reference.cases import LogRatio, PercentageError

from calibrant import Calibrator, Distribution, Mixture, Normal, Point, StudentT, concatenate, evaluate
from calibrant.distributions.base import Moments
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.table import ONCE, SQUARE, TWICE
from calibrant.interpolators import Linear
from calibrant.scores import CDFScore, ResidualScore, ZScore
from calibrant.scores.transforms.base import Affine
from calibrant.scores.transforms.curves import ByFunctions
from calibrant.testing import check_distribution, check_interpolator, check_score

POINTS = Point(np.array([10.0, 20.0, 30.0, 25.0]))
LABELS = np.array([11.0, 19.0, 33.0, 22.0])
SCALES = np.array([0.3, 2.0, 50.0])


# ---- what is right passes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pair", PAIRS)
def test_every_score_of_the_catalogue_passes(pair):
    alike = np.argsort(LOC)[100:106]  # a label of any of these rows could have been another's
    check_score(PAIRS[pair].score, PREDICTIONS[PAIRS[pair].prediction](HERE)[alike], Y[alike])


@pytest.mark.few(5)
@pytest.mark.parametrize("name", INTERPOLATORS)
def test_every_interpolator_of_the_catalogue_passes(name):
    sizes = (1, 2, 30) if name.startswith("naf") else (1, 2, 10, 100)
    check_interpolator(INTERPOLATORS[name], sizes=sizes, equivariant=True)


@pytest.mark.parametrize("score", [LogRatio(), PercentageError(), ResidualScore()])
@pytest.mark.parametrize("unit", [np.float64(1e-9), np.float64(1e9), np.float32(1.0)])
def test_scores_of_ones_own_pass_in_any_unit(score, unit):
    array = np.asarray(POINTS.values, dtype=unit.dtype)
    check_score(score, Point(unit * array), unit * np.asarray(LABELS, dtype=unit.dtype))


class Gaussian:
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores.mean(), scores.std() or 1.0)

    def accuracy(self, n):
        return n


def test_an_interpolator_of_ones_own_passes():
    check_interpolator(Gaussian())


@dataclass(frozen=True, eq=False, repr=False)
class Exponential(Distribution):
    """A distribution of four methods."""

    scale: Any

    @property
    def shape(self):
        return np.shape(self.scale)

    def _cdf(self, y):
        return -np.expm1(-np.maximum(y, 0.0) / self._lift(self.scale))

    def _ppf(self, p):
        with np.errstate(divide="ignore"):
            return -self._lift(self.scale) * np.log1p(-p)

    def _logpdf(self, y):
        scale = self._lift(self.scale)
        return np.where(y < 0, -np.inf, -y / scale - np.log(scale))


class Closed(Exponential):
    """With its integrals in closed form."""

    def _integrals(self, y, which):
        y, scale = np.maximum(y, 0.0), self._lift(self.scale)
        F = self._cdf(y)
        twice, square = y**2 / 2 - scale * (y - scale * F), y - 2 * scale * F + scale * self._cdf(2 * y) / 2
        return {ONCE: y - scale * F, TWICE: twice, SQUARE: square}[which]

    def _moments(self):
        return Moments(self.scale + 0.0, self.scale + 0.0, self.scale / 2)


class Claim(Exponential):
    """0 with probability 1/4, else exponential: one method more, for the atom."""

    def _cdf(self, y):
        return np.where(y < 0, 0.0, 0.25 + 0.75 * super()._cdf(y))

    def _cdf_left(self, y):
        return np.where(y <= 0, 0.0, self._cdf(y))

    def _ppf(self, p):
        return super()._ppf(np.maximum(p - 0.25, 0.0) / 0.75)

    def _logpdf(self, y):
        return super()._logpdf(y) + np.log(0.75)


class Geometric(Exponential):
    """A count: an exponential rounded down."""

    lattice = (0.0, 1.0)

    def _cdf(self, y):
        return super()._cdf(np.floor(y) + 1)

    def _cdf_left(self, y):
        return super()._cdf(np.ceil(y))

    def _ppf(self, p):
        return np.maximum(np.ceil(super()._ppf(p) - 1e-9) - 1, 0.0)

    def _logpdf(self, y):
        share = np.exp(-1 / self._lift(self.scale))
        return np.where((y < 0) | (y != np.floor(y)), -np.inf, y * np.log(share) + np.log1p(-share))


@pytest.mark.parametrize("kind", [Exponential, Closed, Claim, Geometric])
@pytest.mark.parametrize("scale", [np.float64(2.0), SCALES[1:], SCALES[:1]])
def test_distributions_of_four_methods_pass(kind, scale):
    check_distribution(kind(scale))


@pytest.mark.parametrize(
    "distribution",
    [
        Normal(np.float32([1.0, 20.0]), np.float32([0.5, 3.0])),
        Normal(torch.tensor([1.0, 20.0]), torch.tensor([0.5, 3.0])),
        Normal(np.arange(1000.0), np.ones(1000)),
        *(StudentT(df, [0.0, 3.0], [1.0, 2.0]) for df in (1.0, 1.7, 2.5)),
    ],
)
def test_single_precision_large_batches_and_infinite_moments_pass(distribution):
    check_distribution(distribution)


@pytest.mark.parametrize("score", [CDFScore(), ZScore()])
def test_a_distribution_of_four_methods_works_with_everything(score):
    rng = np.random.default_rng(0)
    scale = rng.uniform(1.0, 3.0, 400)
    base, y = Exponential(scale), rng.exponential(2 * scale)
    H = Calibrator(score).fit(base[:300], y[:300])(base[300:])
    assert evaluate(H, y[300:]).crps < 0.95 * evaluate(base[300:], y[300:]).crps
    few = base[:2]
    np.testing.assert_allclose(few.std(), scale[:2], rtol=5e-5)
    pool = Mixture([few, Exponential(scale[2:4])], [0.3, 0.7])
    for made in (H[:2], few.clip(0.5, 2.0), pool, pool.clip(0.5, 2.0), concatenate([few, Normal([1.0], [2.0])])):
        check_distribution(made)


# ---- what is wrong is found ------------------------------------------------------------------------------------------


def wrong(base, **methods):
    return type("Wrong", (base,), methods)


def moments(**factors):
    """Moments some of which are multiplied by something."""
    return lambda d: (own := Closed._moments(d))._replace(
        **{name: f(d) * getattr(own, name) for name, f in factors.items()}
    )


def count_calls(d):
    calls = d.__dict__["_kept_calls"] = d.__dict__.get("_kept_calls", 0) + 1
    return d.scale * (1 + 1e-9 * calls)


LOGIT = Closed._logit
FAULTS = [
    ("cdf.* must not fall", {"_cdf": lambda d, y: (F := Closed._cdf(d, y)) - 0.3 * F * (1 - F) * np.sin(40 * F)}),
    (r"cdf\(.*\) is -0.1, but must lie in \[0, 1\]", {"_cdf": lambda d, y: 1.1 * Closed._cdf(d, y) - 0.1}),
    (r"cdf\(inf\) is 0.9999999, but must be 1", {"_cdf": lambda d, y: 0.9999999 * Closed._cdf(d, y)}),
    (r"sf\(.*\) is nan", {"_sf": lambda d, y: np.nan * Closed._sf(d, y)}),
    ("logpdf of an argument of shape .* must have", {"_logpdf": lambda d, y: Closed._logpdf(d, y).T}),
    (r"cdf at ppf\(0.001\) is 0.00100.*, but must be 0.001", {"_ppf": lambda d, p: 1.0001 * Closed._ppf(d, p)}),
    (r"pdf\(.*\) is .*, but the slope of the cdf is", {"_logpdf": lambda d, y: Closed._logpdf(d, y) + 0.01}),
    (r"sf\(.*\) is .*, but by its cdf alone", {"_sf": lambda d, y: 1 - Closed._cdf(d, 1.01 * y)}),
    (r"cdf_left\(.*\) is .*, but the cdf comes", {"_cdf_left": lambda d, y: np.minimum(d._cdf(y) + 1e-6, 1)}),
    (r"logit\(.*\) is .*, but by its cdf alone", {"_logit": lambda d, y: (1.001 * LOGIT(d, y)[0], LOGIT(d, y)[1])}),
    (r"slope of the logit\(.*\) is .*, but by", {"_logit": lambda d, y: (LOGIT(d, y)[0], 0 * y)}),
    (r"_ppf_logit\(.*\) is .*, but by its cdf alone", {"_ppf_logit": lambda d, s: 1.001 * Closed._ppf_logit(d, s)}),
    (r"mean\(\) is 0.2079.*, but by its cdf alone", {"_moments": moments(mean=lambda d: np.log(2))}),
    (r"std\(\) is 0.3003, but by its cdf alone it is 0.3.* \(row 0\)", {"_moments": moments(std=lambda d: 1.001)}),
    (r"std\(\) is inf, but by its cdf alone", {"_moments": moments(std=lambda d: np.inf)}),
    (r"crps\(.*\) is .*, but by its cdf alone", {"_moments": moments(shift=lambda d: 1.01)}),
    (r"mean\(\) must have shape \(3,\), got \(\)", {"mean": lambda d: np.mean(d.scale)}),
    (r"crps\(.*\) is .*, but by its cdf alone", {"_crps": lambda d, y: d._lift(d.scale) * Closed._crps(d, y)}),
    (
        r"_integrals twice\(.*\) is .*, but by its cdf alone",
        {"_integrals": lambda d, y, which: (1 + 0.01 * (which == TWICE)) * Closed._integrals(d, y, which)},
    ),
    (r"_table.mean\(\) is", {"_table": lambda d, count: Closed._table(d, count).scaled(0.0, 1.01)}),
    (r"clip\(.*\).cdf\(.*\) is .*, but by its cdf", {"_clip": lambda d, low, high: Closed._clip(d, low, 1.01 * high)}),
    (r"mean\(\) .* but row 0 alone", {"_moments": moments(mean=lambda d: 1 + 1e-6 * (len(d) != 3))}),
    (r"std\(\) .* in another order", {"_moments": moments(std=lambda d: 1 + 1e-6 * (d.scale[0] > d.scale[-1]))}),
    (r"mean\(\) is .*, but asked again it is", {"mean": count_calls}),
]


@pytest.mark.parametrize(("words", "methods"), FAULTS, ids=[str(list(methods)) for _, methods in FAULTS])
def test_a_fault_of_a_distribution_is_found(words, methods):
    with pytest.raises(AssertionError, match=rf"^Wrong.*{words}") as caught:
        check_distribution(wrong(Closed, **methods)(SCALES.copy()))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (r"cdf_left\(0\) is 0.25, but the cdf comes .* to 0 ", wrong(Claim, _cdf_left=Distribution._cdf_left)),
        (r"cdf_left\(0\) is .*, but the cdf comes .* to 0 ", wrong(Geometric, _cdf_left=Distribution._cdf_left)),
        (r"ppf\(.*\) is .*, but the lattice has", wrong(Geometric, lattice=(0.5, 1.0))),
        (r"pmf\(.*\) is .*, but the cdf jumps by", wrong(Geometric, _logpdf=Exponential._logpdf)),
    ],
)
def test_a_fault_at_an_atom_is_found(words, kind):
    with pytest.raises(AssertionError, match=f"^Wrong.{words}"):
        check_distribution(kind(SCALES[1:]))


class ForgetsRows(LogRatio):
    """Right, but only for the whole batch."""

    def transform(self, prediction):
        if len(prediction) == len(POINTS):
            return ByFunctions(prediction, self.score, self.inverse, self.log_slope)
        return Affine(prediction.values * 0, np.ones(len(prediction)))


def moved(s, q, f):
    return LocationScale(f.values + 0.01, np.ones_like(f.values), q)


@pytest.mark.parametrize(
    ("words", "base", "methods"),
    [
        (r"must increase strictly in y, .* \(row 0", LogRatio, {"score": lambda s, f, y: np.log(f.values / y)}),
        ("must increase strictly", LogRatio, {"score": lambda s, f, y: np.maximum(y, 20.0) - f.values}),
        ("is not in row 2", LogRatio, {"score": lambda s, f, y: np.where(y > 30, np.inf, y - f.values)}),
        ("the inverse must lead back to", LogRatio, {"inverse": lambda s, f, t: f.values * np.exp(1.001 * t)}),
        (r"pdf\(.*\) is .*, but the slope of the cdf is", LogRatio, {"log_slope": lambda s, f, y: np.log(y)}),
        ("the slope of the cdf is", LogRatio, {"log_slope": lambda s, f, y: -np.log(y) + 0.01}),
        (r"number per row, shape \(4,\), got shape \(1,\)", ResidualScore, {"__call__": lambda s, f, y: y[:1]}),
        (
            "slicing must commute with Wrong",
            PercentageError,
            {"loc_scale": lambda s, f: (f.values, f.values**0 * np.ptp(f.values))},
        ),
        ("slicing must commute with Wrong|of some rows alone", ForgetsRows, {}),
        ("but q.cdf of the score is", ResidualScore, {"pull_back": moved}),
        (r"per row, shape \(4,\), got shape \(\)", ResidualScore, {"pull_back": lambda s, q, f: q}),
    ],
)
def test_a_fault_of_a_score_is_found(words, base, methods):
    with pytest.raises(AssertionError, match=words) as caught:
        check_score(wrong(base, **methods)(), POINTS, LABELS)
    assert "Wrong" in str(caught.value)
    assert "\n" not in str(caught.value)


def unrepeatable(self, scores, **how):
    return Linear().fit(scores + np.random.default_rng().uniform(-0.3, 0.3) * np.ptp(scores))


def in_place(self, scores, **how):
    scores.sort()
    return Linear().fit(scores)


def without_outlier(self, scores, **how):
    return Linear().fit(np.sort(scores)[:-1] if len(scores) > 5 else scores)


STANDARD = type(Normal(0.0, 1.0))


def always(**methods):
    """The same distribution for all scores, a standard normal with other methods."""
    standard = Normal(0.0, 1.0)
    return lambda self, scores, **how: wrong(STANDARD, **methods)(standard.loc, standard.scale, standard.base)


@pytest.mark.parametrize(
    ("words", "methods"),
    [
        (
            r"accuracy\(2\) promises 0.4, but q\(u_\(2\)\) is off by 0.52.* / \(n \+ 1\) \(n = 2",
            {"accuracy": lambda s, n: 0.4},
        ),
        (r"accuracy\(10\) promises 0.4, but q", {"fit": without_outlier, "accuracy": lambda s, n: 0.4}),
        ("fit must give the same q for the same rng", {"fit": unrepeatable}),
        ("fit must leave the scores as they are", {"fit": in_place}),
        ("fit must not depend on the order", {"fit": lambda s, u, **how: Normal(u[0], u.std() or 1.0)}),
        (r"return one distribution, .* got shape \(1,\)", {"fit": lambda s, u, **how: Normal(u, 1.0)}),
        (r"cdf\(.*\) is .*, but must not fall", {"fit": always(_cdf=lambda d, y: STANDARD._sf(d, y))}),
        (r"cdf at ppf\(.*\) is .*, but must be", {"fit": always(_ppf=lambda d, p: STANDARD._ppf(d, p) + 0.01)}),
        (r"ppf\(.*\) is .*, but moved with them", {"fit": lambda s, u, **how: Normal(u.mean(), 1.0)}),
    ],
)
def test_a_fault_of_an_interpolator_is_found(words, methods):
    with pytest.raises(AssertionError, match=words) as caught:
        check_interpolator(wrong(Gaussian, **methods)(), sizes=(1, 2, 10), equivariant=True)
    assert "Wrong" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "words", "check"),
    [
        (ValueError, "at least two rows, got 1", lambda: check_score(ResidualScore(), [1.0], [2.0])),
        (TypeError, "check_distribution takes a Distribution, got 3", lambda: check_distribution(3)),
        (ValueError, "at least one row, got none", lambda: check_distribution(Normal(np.zeros(0), 1.0))),
    ],
)
def test_what_cannot_be_checked_is_refused(error, words, check):
    with pytest.raises(error, match=words):
        check()
