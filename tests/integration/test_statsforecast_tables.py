"""statsforecast: the tables of its cross-validation and of its forecasts, calibrated by horizon."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

pytest.importorskip("statsforecast", reason="statsforecast is not installed")

from statsforecast import StatsForecast
from statsforecast.models import AutoETS, SeasonalNaive
from statsforecast.utils import AirPassengersDF

from calibrant import HorizonCalibrator, backtest

pytestmark = pytest.mark.integration

HOURS = 24
DAYS, CALIBRATION, TEST = 330, 120, 180


@pytest.fixture(scope="module")
def hourly():
    """A load by the hour that is noisy by day and quiet at night, and drifts."""
    rng = np.random.default_rng(0)
    hour = np.arange(HOURS * DAYS) % HOURS
    noise = rng.normal(size=hour.size) * (1.0 + 3.0 * np.exp(-(((hour - 14) / 4) ** 2)))
    level = np.repeat(rng.normal(size=DAYS).cumsum(), HOURS) * 0.2
    when = pd.date_range("2024-01-01", periods=hour.size, freq="h")
    return pd.DataFrame(
        {"unique_id": "load", "ds": when, "y": 50 + 10 * np.sin(2 * np.pi * hour / HOURS) + level + noise}
    )


@pytest.fixture(scope="module")
def validated(hourly):
    forecaster = StatsForecast(models=[SeasonalNaive(HOURS)], freq="h")
    return forecaster.cross_validation(
        df=hourly, h=HOURS, step_size=HOURS, n_windows=CALIBRATION + TEST, level=[80, 90]
    )


def parts(validated):
    cutoffs = np.sort(validated["cutoff"].unique())
    known = validated["cutoff"] < cutoffs[CALIBRATION]
    return validated[known], validated[~known]


def test_coverage_at_24_horizons_before_and_after(validated):
    calibration, test = parts(validated)
    calibrated = HorizonCalibrator().fit(calibration)
    assert calibrated.horizons == tuple(range(1, HOURS + 1))
    found = calibrated.evaluate(test, coverage=0.8)
    before, after = (np.asarray([each.coverage for each in side.values()]) for side in (found.base, found.calibrated))
    crps = np.mean([each.crps for each in found.calibrated.values()])
    print(f"80% intervals by horizon: {before.min():.0%} to {before.max():.0%}, then {after.min():.0%} to", end=" ")
    print(f"{after.max():.0%}; CRPS {crps:.3f}")
    assert before.min() < 0.65
    assert before.max() > 0.95
    # 24 shares of 180 labels, each beside a distribution of 120: four standard errors of the difference
    assert np.abs(after - 0.8).max() < 4 * np.sqrt(0.16 / TEST + 0.16 / CALIBRATION)
    assert np.abs(after - 0.8).mean() < np.abs(before - 0.8).mean() / 2


def test_the_columns_of_a_new_forecast_are_written_back(hourly, validated):
    calibrated = HorizonCalibrator().fit(validated)
    new = StatsForecast(models=[SeasonalNaive(HOURS)], freq="h").forecast(df=hourly, h=HOURS, level=[80, 90])
    found = calibrated.predict(new)
    assert list(found.columns) == list(new.columns)
    assert found["ds"].equals(new["ds"])
    bounds = [f"SeasonalNaive-{bound}" for bound in ("lo-90", "lo-80", "hi-80", "hi-90")]
    assert (np.diff(found[bounds].to_numpy(), axis=1) > 0).all()
    width = (found["SeasonalNaive-hi-80"] - found["SeasonalNaive-lo-80"]).to_numpy()
    assert width[14] > 2 * width[2]  # two in the afternoon, and three at night
    assert calibrated.predict(pl.from_pandas(new)).columns == list(new.columns)


def test_a_backtest_of_a_cross_validation(validated):
    cutoffs = np.sort(validated["cutoff"].unique())[:60]
    found = backtest(HorizonCalibrator(), validated[validated["cutoff"].isin(cutoffs)], least=30, every=10)
    assert len(set(found.made)) == 30
    assert found.evaluate(coverage=0.8).coverage == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 30 + 0.16 / 30))


def test_months_and_several_models():
    forecaster = StatsForecast(models=[AutoETS(season_length=12, model="MAM"), SeasonalNaive(12)], freq="ME")
    validated = forecaster.cross_validation(df=AirPassengersDF, h=12, step_size=6, n_windows=8, level=[90])
    with pytest.raises(ValueError, match="several forecasts are in the table, AutoETS, SeasonalNaive"):
        HorizonCalibrator().fit(validated)
    calibrated = HorizonCalibrator().fit(validated, model="SeasonalNaive")
    found = calibrated.predict(validated)
    assert found["AutoETS-lo-90"].equals(validated["AutoETS-lo-90"])
    # the series grows, so last year's value is too low, and the calibrated median is not
    assert (found["SeasonalNaive"] > validated["SeasonalNaive"]).mean() > 0.9
