"""What meets, meets in the wider type: labels keep their digits beside predictions that have fewer."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from calibrant import (
    Calibrator,
    Ensemble,
    Interval,
    Laplace,
    LogNormal,
    Normal,
    Point,
    Quantiles,
    Samples,
    metrics,
)
from calibrant.intervals import AbsoluteResidual, ConformalInterval
from calibrant.scores import CDFScore, IntervalScore, ResidualScore, signed

N = 12
BIG = 2.0**24
LABELS = BIG + 0.25 * np.arange(N)


def typed(name):
    """For each library a function that makes its arrays of this type."""
    libraries = {"numpy": (np.asarray, np), "torch": (torch.tensor, torch)}
    libraries["strict"] = array_api_strict.asarray, array_api_strict

    def function(make, library):
        return lambda values: make(np.asarray(values, np.float64), dtype=getattr(library, name))

    return {name: function(*library) for name, library in libraries.items()}


SINGLE, DOUBLE = typed("float32"), typed("float64")
every_library = pytest.mark.parametrize("library", SINGLE)

PREDICTIONS = {
    "point": Point,
    "interval": lambda v: Interval(v, v + 16.0),
    "quantiles": lambda v: Quantiles([0.2, 0.8], stacked(v)),
    "samples": lambda v: Samples(stacked(v)),
    "normal": lambda v: Normal(v, 8.0),
    "ensemble": lambda v: Ensemble([Normal(v, 8.0), Interval(v, v + 16.0)]),
}


def stacked(v):
    import array_api_compat

    return array_api_compat.array_namespace(v).stack([v, v + 16.0], axis=1)


def double(array):
    return "float64" in str(array.dtype)


@every_library
@pytest.mark.parametrize("kind", PREDICTIONS)
def test_double_labels_keep_their_digits_beside_single_predictions(kind, library):
    prediction = PREDICTIONS[kind](SINGLE[library](np.full(N, BIG)))
    calibrated = Calibrator().fit(prediction, DOUBLE[library](LABELS))
    assert calibrated.guarantee.largest_tie == 1
    scores = np.asarray(calibrated.score(prediction, DOUBLE[library](LABELS)))
    assert len(np.unique(scores)) == N
    exact = Calibrator().fit(PREDICTIONS[kind](DOUBLE[library](np.full(N, BIG))), DOUBLE[library](LABELS))
    np.testing.assert_allclose(scores, np.asarray(exact.score(prediction, DOUBLE[library](LABELS))), rtol=1e-6)


@every_library
def test_single_labels_stay_single(library):
    calibrated = Calibrator().fit(Point(SINGLE[library](np.zeros(N))), SINGLE[library](np.arange(N)))
    assert not double(calibrated.q.knots)
    assert not double(calibrated(Point(SINGLE[library]([1.0]))).cdf(SINGLE[library]([1.0])))


@every_library
@pytest.mark.parametrize("method", ["cdf", "sf", "logpdf", "pdf", "crps"])
def test_the_methods_of_a_distribution_work_in_the_wider_type(method, library):
    distribution = Normal(SINGLE[library](np.full(N, BIG)), SINGLE[library](np.full(N, 2.0)))
    result = getattr(distribution, method)(DOUBLE[library](LABELS))
    assert double(result)
    np.testing.assert_allclose(np.asarray(result), getattr(Normal(BIG, 2.0), method)(LABELS), rtol=1e-12)
    assert not double(getattr(distribution, method)(SINGLE[library](LABELS)))


@every_library
def test_levels_of_double_precision_are_not_rounded_to_1(library):
    distribution = Normal(SINGLE[library]([0.0]), SINGLE[library]([1.0]))
    p = DOUBLE[library]([1 - 1e-12])
    assert np.asarray(distribution.ppf(p))[0] == pytest.approx(7.0344, rel=1e-4)
    assert np.asarray(distribution.quantiles(p))[0, 0] == pytest.approx(7.0344, rel=1e-4)


@pytest.mark.parametrize("value", [3, 3.5, [1.0] * N, tuple(range(N))], ids=repr)
def test_numbers_and_lists_of_python_have_no_precision_of_their_own(value):
    distribution = Laplace(np.zeros(N, dtype=np.float32), np.float32(1.0))
    assert distribution.cdf(value).dtype == distribution.crps(value).dtype == np.float32
    assert (
        distribution.ppf(0.3).dtype
        == distribution.quantiles([0.1, 0.9]).dtype
        == distribution.interval(0.9)[0].dtype
        == np.float32
    )


WIDE = {
    "integers": lambda v: np.asarray(v, dtype=np.int64),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pyarrow": pa.array,
}


@pytest.mark.parametrize("kind", WIDE)
def test_integers_and_columns_of_tables_are_wider_than_float32(kind):
    labels = BIG + np.arange(N) if kind == "integers" else LABELS
    calibrated = Calibrator().fit(Point(np.full(N, BIG, dtype=np.float32)), WIDE[kind](labels))
    assert calibrated.guarantee.largest_tie == 1
    assert calibrated.q.knots.dtype == np.float64


def test_a_numpy_number_has_its_own_precision():
    distribution = Normal(np.float32([BIG]), np.float32([1.0]))
    assert distribution.cdf(np.float64(BIG + 0.5)).dtype == np.float64
    assert distribution.cdf(np.float32(BIG)).dtype == np.float32


def test_labels_of_numpy_keep_their_digits_beside_torch():
    calibrated = Calibrator().fit(Point(torch.full((N,), BIG, dtype=torch.float32)), LABELS)
    assert calibrated.guarantee.largest_tie == 1
    assert calibrated.q.knots.dtype == torch.float64


def test_gradients_reach_single_predictions_through_double_labels():
    values = torch.zeros(N, dtype=torch.float32, requires_grad=True)
    calibrated = Calibrator().fit(Point(np.zeros(N)), np.arange(N) - 5.0)
    calibrated(Point(values)).crps(torch.arange(N, dtype=torch.float64)).sum().backward()
    assert values.grad.dtype == torch.float32
    assert bool(torch.all(torch.isfinite(values.grad)))


def test_conformal_intervals_and_signed_scores_keep_the_digits_of_labels():
    point = Point(np.full(N, BIG, dtype=np.float32))
    fitted = ConformalInterval(AbsoluteResidual(), 0.5).fit(point, LABELS)
    assert fitted.guarantee.kind == "exact"
    assert fitted.threshold == 1.5
    assert Calibrator(signed(AbsoluteResidual())).fit(point, LABELS).guarantee.largest_tie == 1


def test_scores_and_metrics_keep_the_digits_of_labels():
    point = Point(np.full(N, BIG, dtype=np.float32))
    np.testing.assert_array_equal(ResidualScore()(point, LABELS), LABELS - BIG)
    distribution = Normal(np.full(N, BIG, dtype=np.float32), np.float32(1.0))
    assert metrics.crps(distribution, LABELS) == pytest.approx(
        metrics.crps(Normal(np.full(N, BIG), 1.0), LABELS), rel=1e-12
    )
    assert len(np.unique(CDFScore()(distribution, LABELS))) == N


def test_the_parts_of_a_prediction_meet_in_the_wider_type():
    single, wide = np.full(2, BIG, dtype=np.float32), np.full(2, BIG + 0.25)
    assert np.all(Interval(single, wide).upper == wide)
    assert Interval(single, wide).lower.dtype == np.float64
    assert Normal(single, wide).scale.dtype == Normal(single, wide).loc.dtype == np.float64
    assert LogNormal(np.float32([0.0]), np.float64([1.0])).mu.dtype == np.float64
    assert Normal(single, 1.0).scale.dtype == np.float32
    for members in ([Point(single), Point(wide)], [Point(wide), Point(single)]):
        assert all(member.values.dtype == np.float64 for member in Ensemble(members).members)
    assert IntervalScore()(Interval(single - 1, wide), wide).dtype == np.float64


HALF = {
    "numpy float16": lambda v: np.asarray(v, dtype=np.float16),
    "torch float16": lambda v: torch.tensor(v, dtype=torch.float16),
    "torch bfloat16": lambda v: torch.tensor(v, dtype=torch.bfloat16),
}


@pytest.mark.parametrize("kind", HALF)
def test_half_precision_is_refused_in_one_sentence(kind):
    half = HALF[kind]([1.0, 2.0])
    dtype = str(half.dtype)
    for name, call in {
        "Point.values": lambda: Point(half),
        "Interval.upper": lambda: Interval([0.0, 0.0] if kind.startswith("numpy") else half.float(), half),
        "Normal.loc": lambda: Normal(half, 1.0),
        "y": lambda: Calibrator().fit([1.0, 2.0], half),
    }.items():
        with pytest.raises(TypeError) as caught:
            call()
        assert (
            str(caught.value) == f"{name} has dtype {dtype}, too coarse to calibrate with: convert it to float32 first"
        )


class Ends:
    """A generator whose uniforms are the least and the largest that there are."""

    def random(self, size):
        return np.broadcast_to([0.0, 1 - 2.0**-53], size).copy()


@pytest.mark.parametrize(("dtype", "last"), [("float32", 2.0**-24), ("float64", 2.0**-53)])
def test_no_draw_is_infinite_at_the_ends_of_the_uniform(dtype, last, monkeypatch):
    """As float32 the largest uniform would be 1, and its quantile infinite."""
    monkeypatch.setattr("calibrant.distributions.base.generator", lambda rng: rng)
    distribution = Normal(np.zeros(3, dtype), np.ones(3, dtype))
    draws = distribution.sample(2, rng=Ends())
    assert draws.dtype == dtype
    np.testing.assert_allclose(draws, np.stack([distribution.ppf(2.0**-54), distribution.ppf(1 - last)], axis=1))
    assert np.all(np.isfinite(draws))
