"""Forecasts in long tables: read by the names that people give, calibrated by horizon, written back."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from long_tables import STEPS, forecasts

import calibrant
from calibrant import Calibrator, HorizonCalibrator, Interval, Point, Quantiles, report
from calibrant.horizons.columns import find_forecast
from calibrant.horizons.table import LongRows, columns_of
from calibrant.interpolators import NAF, Apart, ByHorizon, Linear, Random
from calibrant.interpolators.by_horizon import smoothed
from calibrant.labels import Real
from calibrant.testing import check_distribution

LEVELS = np.arange(1, 20) / 20


def rng(seed=0):
    return np.random.default_rng(seed)


# ---- names of columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "point", "levels"),
    [
        (["ETS", "ETS-lo-97.5", "ETS-hi-97.5"], "ETS", [0.0125, 0.9875]),
        (["ETS", "ETS-hi-80", "ETS-lo-95", "ETS-lo-80", "ETS-hi-95"], "ETS", [0.025, 0.1, 0.9, 0.975]),
        (["NHITS-median", "NHITS-lo-90", "NHITS-hi-90"], None, [0.05, 0.5, 0.95]),
        (["yhat", "yhat_lower", "yhat_upper"], "yhat", [0.1, 0.9]),
        (["pred", "lower_bound", "upper_bound"], "pred", [0.1, 0.9]),
        (["q_0.1", "q_0.5", "q_0.9"], None, [0.1, 0.5, 0.9]),
        (["q0.1", "q.5", "q90"], None, [0.1, 0.5, 0.9]),
        (["mean", "0.1", "0.9"], "mean", [0.1, 0.9]),
        (["TimeGPT", "TimeGPT-q-10", "TimeGPT-q-50"], "TimeGPT", [0.1, 0.5]),
        (["LGB", "LGB-q-0.1", "LGB-q-0.9"], "LGB", [0.1, 0.9]),
        (["ETS"], "ETS", []),
    ],
)
def test_a_forecast_is_found_by_the_names_that_people_give(names, point, levels):
    found = find_forecast(["ds", *names], exclude=["ds"])
    assert found.point == point
    assert [level for _, level in found.quantiles] == levels


def test_a_point_an_interval_and_quantiles_are_what_the_columns_say():
    columns = {"m": [1.0, 2.0], "m-lo-80": [0.0, 1.0], "m-hi-80": [3.0, 4.0], "m-median": [1.5, 2.5]}

    def prediction(*names):
        return find_forecast(names).prediction(lambda name: np.asarray(columns[name]))

    assert isinstance(prediction("m"), Point)
    assert isinstance(prediction("m", "m-lo-80", "m-hi-80"), Interval)
    three = prediction("m", "m-hi-80", "m-median", "m-lo-80")
    assert isinstance(three, Quantiles)
    assert three.values.tolist() == [[0.0, 1.5, 3.0], [1.0, 2.5, 4.0]]


def test_of_several_models_one_is_named():
    names = ["ETS", "ETS-lo-90", "ETS-hi-90", "ARIMA", "ARIMA-lo-90", "ARIMA-hi-90", "Naive"]
    assert find_forecast(names, "ARIMA").names == ("ARIMA-lo-90", "ARIMA-hi-90")
    assert find_forecast(names, "Naive").names == ("Naive",)


@pytest.mark.parametrize(
    ("names", "model", "words"),
    [
        (
            ["ETS-lo-90", "ETS-hi-90", "q0.1"],
            None,
            "several forecasts are in the table, ETS, quantiles: name",
        ),
        (["ETS", "price"], None, "several forecasts are in the table, ETS, price"),
        (["ETS"], "ARIMA", "there is no forecast of 'ARIMA' in the table, the columns left for it are ETS"),
        ([], None, "there is no forecast in the table"),
        (["ETS-lo-90"], None, "column 'ETS-lo-90' lacks its counterpart 'ETS-hi-90'"),
        (["ETS-lo-100", "ETS-hi-100"], None, "column 'ETS-lo-100' is the bound of a 100% interval"),
        (["q0.1", "q10"], None, "columns 'q0.1' and 'q10' are both the quantile of quantiles at level 0.1"),
        (["q0"], None, "column 'q0' is a quantile at level 0"),
    ],
)
def test_columns_that_make_no_forecast_are_named(names, model, words):
    with pytest.raises(ValueError, match=words):
        find_forecast(names, model)


# ---- the table -------------------------------------------------------------------------------------------------------


def rows_of(frame, **names):
    return LongRows.of(frame, columns_of(frame, **names), labels=True)


def test_steps_are_counted_from_the_cutoff_whatever_the_order_and_the_kind_of_time():
    frame = forecasts(rng(), 4, series=("a", "b"), spacing=3)
    for name in ("ds", "cutoff"):
        frame[name] = pd.Timestamp("2024-01-31") + frame[name] * pd.offsets.MonthEnd()
    wanted, mixed = np.tile(np.arange(1, STEPS + 1), 8), rng(1).permutation(len(frame))
    assert rows_of(frame.iloc[mixed]).horizon.tolist() == wanted[mixed].tolist()
    text = frame.assign(ds=frame.ds.astype(str), cutoff=frame.cutoff.astype(str))
    for kind in (pl.from_pandas(frame), pa.Table.from_pandas(frame), text):
        assert rows_of(kind).horizon.tolist() == wanted.tolist()


def test_a_column_of_steps_is_taken_as_it_is():
    frame = forecasts(rng(), 3)
    frame["h"] = 2 * np.tile(np.arange(1, STEPS + 1), 3)
    assert rows_of(frame, horizon="h").horizon.tolist() == frame["h"].tolist()
    assert rows_of(frame.drop(columns="cutoff")[:STEPS], horizon="h").cutoff is None


def as_text(frame, form):
    """Days of 2024 as text."""
    days = {name: pd.Timestamp("2024-01-05") + pd.to_timedelta(frame[name], unit="D") for name in ("ds", "cutoff")}
    return frame.assign(**{name: column.dt.strftime(form) for name, column in days.items()})


def zoned(frame):
    return frame.assign(
        ds=pd.to_datetime(frame["ds"], unit="D", utc=True), cutoff=pd.to_datetime(frame["cutoff"], unit="D")
    )


WRONG = {
    "'ds' must come after 'cutoff'.*in row 0 it is 1, made at 1": lambda t: t.assign(cutoff=t["ds"]),
    r"in row 30 .*\(the only such row\)": lambda t: t.assign(cutoff=t["cutoff"].where(t.index != 30, 99)),
    "rows 4 and 60 are forecasts of the same": lambda t: pd.concat([t, t[4:6]], ignore_index=True),
    "there is no column 'ds' in the table, its columns are unique_id": lambda t: t.drop(columns="ds"),
    "there is no column 'cutoff'.*one of the steps by horizon=": lambda t: t.drop(columns="cutoff"),
    "row 14, for 7 made at 3, is forecast 3 .* has 4 known times since": lambda t: t.drop(index=[14]),
    "must be of one kind.*got String and Int64": lambda t: t.assign(ds=t["ds"].astype(str)),
    "must be of one kind.*time_zone='UTC'": zoned,
    "'ds' and 'cutoff' must hold dates or numbers, got the text '0./": lambda t: as_text(t, "%d/%m/%Y"),
    "got the text '2024-.*': only text of one length with the year": lambda t: as_text(t, "%Y-%-d"),
    r"column 'RW-lo-80' is missing or infinite in row 7 \(the only such row\)": lambda t: t.assign(
        **{"RW-lo-80": t["RW-lo-80"].where(t.index != 7)}
    ),
    "column 'y' must hold numbers, got String": lambda t: t.assign(y=t["y"].astype(str)),
    "column 'ds' is missing in row 3": lambda t: pl.from_pandas(t).with_columns(
        ds=np.where(t.index == 3, np.nan, t["ds"])
    ),
    "made at the same.*name the column of the series by series=": lambda t: pd.concat([t, t]).drop(columns="unique_id"),
    "the table has no rows": lambda t: t[:0],
    "expected a data frame of pandas, polars or pyarrow, got a dict": lambda t: t.to_dict(),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_table_that_is_wrong_is_told_where(words):
    with pytest.raises((TypeError, ValueError), match=words) as error:
        rows_of(WRONG[words](forecasts(rng(), 5, spacing=3)))
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 330


# ---- the distribution of a horizon -----------------------------------------------------------------------------------


def walks(rng, n):
    return np.tile(np.arange(1, STEPS + 1), n), rng.normal(size=(n, STEPS)).cumsum(axis=1).ravel()


def test_at_every_horizon_the_error_is_within_the_bound_where_that_of_one_distribution_for_all_is_not():
    n, repetitions = 10, 60
    shares = np.zeros((2, repetitions, STEPS, LEVELS.size))
    for k in range(repetitions):
        (h, y), (h_new, new) = walks(rng([n, k]), n), walks(rng([n, k, 1]), 60)
        f, f_new = Point(0 * y), Point(0 * new)
        ours = Calibrator(None, ByHorizon(NAF(40))).fit(f, y, by=h)(f_new, by=h_new)
        for side, H in enumerate((ours, Calibrator().fit(f, y)(f_new))):
            shares[side, k] = np.mean(H.cdf(new).reshape(60, STEPS)[:, :, None] <= LEVELS, axis=0)
    noise = 4 * shares.std(axis=1).max(axis=(1, 2)) / np.sqrt(repetitions)
    error, plain = np.abs(shares.mean(axis=1) - LEVELS).max(axis=(1, 2))
    assert error <= (1 + np.sqrt(n) / 2) / (n + 1) + noise[0]
    assert plain > 1 / (n * STEPS + 1) + noise[1]  # what it promises on average over the horizons


@pytest.mark.parametrize("n", [1, 7])
def test_the_distribution_of_a_horizon_stays_within_lambda_of_its_own_ranks(n):
    h, y = np.repeat([1, 2, 5], [30, n, 25]), rng(n).normal(size=55 + n)
    y = np.where(h == 2, 20 + 5 * y, y)  # its neighbours would have it elsewhere
    q = Calibrator(None, ByHorizon()).fit(Point(0 * y), y, by=h).q.distributions[1]
    off = q.cdf(np.sort(y[h == 2])) * (n + 1) - np.arange(1, n + 1)
    assert np.all(np.abs(off) <= np.sqrt(n) / 2 + 1e-9)
    x = np.linspace(-100, 150, 500_001)
    assert np.sum(q.pdf(x)) * (x[1] - x[0]) == pytest.approx(q.cdf(150.0) - q.cdf(-100.0), abs=2e-3)


def test_neighbours_lend_by_the_kernel_that_is_written_down():
    horizons, counts, width = np.array([1.0, 2.0, 4.0, 5.0]), np.array([5, 3, 0, 8]), 2.0
    place, spread = np.array([0.3, -0.1, 9.0, 0.7]), np.array([1.0, 1.9, 0.0, 2.5])
    m, s = smoothed(horizons, place, spread, counts, width)
    there, log = spread > 0, np.log(np.where(spread > 0, spread, 1.0))
    for k, h in enumerate(horizons):
        w = np.sqrt(counts * np.exp(-((horizons - h) ** 2) / (2 * width**2)))[there]
        x = np.log(horizons / h)[there]
        wanted = [np.polyfit(x, v[there], 1, w=w)[1] for v in (place, log)]
        np.testing.assert_allclose([m[k], np.log(s[k])], wanted, rtol=1e-10)


def test_a_horizon_far_from_all_others_hears_the_nearest():
    place, spread = smoothed(np.array([1.0, 1000.0]), np.array([3.0, 0.0]), np.array([2.0, 0.0]), np.array([9, 0]), 1.0)
    assert place == pytest.approx([3.0, 3.0])
    assert spread == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("by", [[0, 1, 2], ["a", "b", "a"]])
def test_horizons_are_whole_numbers_from_one_on(by):
    with pytest.raises(ValueError, match="by must hold horizons, whole numbers of steps from 1 on, got"):
        Calibrator(None, ByHorizon()).fit(Point(np.zeros(3)), [1.0, 2.0, 3.0], by=by)


def test_equal_scores_say_nothing_of_a_scale_and_do_not_break_it():
    with pytest.warns(UserWarning, match=r".*"):
        calibrated = Calibrator(None, ByHorizon()).fit(Point(np.zeros(6)), np.ones(6), by=[1, 2, 3] * 2)
    assert calibrated.guarantee.basis == "horizon"


def test_the_guarantee_names_the_horizons_and_what_it_assumes():
    h, y = walks(rng(), 30)
    calibrated = Calibrator(None, ByHorizon(NAF(40))).fit(Point(0 * y), y, by=h)
    guarantee = calibrated.guarantee
    assert guarantee.kind == "horizon"
    assert guarantee[3].epsilon == (1 + np.sqrt(30) / 2) / 31
    assert "<= 0.121 for every c at each of 12 horizons, 1 to 12 steps ahead" in str(guarantee)
    assert "Successive cutoffs of one series are exchangeable only roughly" in str(guarantee)
    check_distribution(calibrated(Point([0.0, 1.0]), by=[2, 9]))


# ---- table in, table out ---------------------------------------------------------------------------------------------

KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture(scope="module")
def calibrated():
    return HorizonCalibrator().fit(forecasts(rng(), 100))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_columns_are_written_back(calibrated, kind):
    new = forecasts(rng(1), 2).drop(columns="y")
    new.index = np.arange(len(new)) + 7
    given, before = KINDS[kind](new), new.copy()
    found, H = calibrated.predict(given), calibrated(given)
    assert type(found) is type(given)
    plain = found if kind == "pandas" else found.to_pandas()
    assert list(plain.columns)[: new.shape[1]] == list(new.columns)
    assert kind != "pandas" or plain.index.tolist() == new.index.tolist()
    for name, level in (("RW-lo-80", 0.1), ("RW", 0.5), ("RW-hi-80", 0.9)):
        assert plain[name].to_numpy() == pytest.approx(H.ppf(level))
    width = (plain["RW-hi-80"] - plain["RW-lo-80"]).to_numpy()[:STEPS]
    assert width[-1] > 2.5 * width[0]  # the truth: sqrt(12) = 3.5 times
    pd.testing.assert_frame_equal(new, before)


def test_without_cutoffs_the_rows_of_a_series_were_forecast_at_once(calibrated):
    new = forecasts(rng(1), 1, series=("a", "b"))
    without = calibrated(new.drop(columns=["cutoff", "y"]))
    assert without.ppf(0.9).tolist() == calibrated(new).ppf(0.9).tolist()


def test_a_horizon_that_was_not_calibrated_is_an_error(calibrated):
    with pytest.raises(ValueError, match=r"row 12 is 13 steps ahead, and the calibrated horizons are 1 to 12"):
        calibrated(forecasts(rng(1), 1, steps=13))
    # a forecast of Prophet has the rows of the past before those to come
    with pytest.raises(ValueError, match=r"row 12 is 13 steps ahead.*leave out rows of the past: without cutoffs"):
        calibrated(forecasts(rng(1), 2).drop(columns=["cutoff", "y"]))


def test_text_that_does_not_sort_as_time_is_refused_without_cutoffs_too(calibrated):
    new = forecasts(rng(1), 1, steps=3).drop(columns=["cutoff", "y"])
    with pytest.raises(TypeError, match="'ds' must hold dates or numbers, got the text '10/1/2020'"):
        calibrated.predict(new.assign(ds=["9/1/2020", "10/1/2020", "11/1/2020"]))
    days = new.assign(ds=["2020-01-09", "2020-01-10", "2020-01-11"])
    assert calibrated.predict(days)["RW-lo-80"].tolist() == calibrated.predict(new)["RW-lo-80"].tolist()


def test_the_order_of_the_rows_does_not_matter():
    frame, new = forecasts(rng(), 30, series=("a", "b")), forecasts(rng(1), 1)
    mixed = frame.iloc[rng(1).permutation(len(frame))]
    one, other = (HorizonCalibrator().fit(each)(new).ppf(0.9) for each in (frame, mixed))
    assert one.tolist() == other.tolist()


def test_coverage_by_horizon_is_mended(calibrated):
    found = calibrated.evaluate(forecasts(rng(2), 300), coverage=0.8)
    assert found.base[STEPS].coverage < 0.4
    after = np.array([each.coverage for each in found.calibrated.values()])
    assert np.abs(after - 0.8).max() < 4 * np.sqrt(0.16 / 300) + 2 * np.sqrt(0.16 / 100)
    assert str(found).splitlines()[0].split() == ["horizon", "rows", "in", "80%", "before", "CRPS", "before"]
    assert len(str(found).splitlines()) == STEPS + 1


def test_labels_that_cannot_be_negative_and_another_interpolator():
    frame = forecasts(rng(), 40)
    for name in ("y", "RW", "RW-lo-80", "RW-hi-80"):
        frame[name] = np.exp(frame[name] / 10)
    assert (HorizonCalibrator(Calibrator(labels=Real(0))).fit(frame).predict(frame)["RW-lo-80"] >= 0).all()
    assert HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))).fit(frame).guarantee[1].epsilon == 1 / 41
    assert HorizonCalibrator(Calibrator(interpolator=Random())).fit(frame).guarantee.kind == "horizon, exact"
    with pytest.raises(TypeError, match=r"HorizonCalibrator.calibrator must be a Calibrator"):
        HorizonCalibrator(3)


def test_a_file_gives_the_same_bits(calibrated, tmp_path):
    calibrated.save(tmp_path / "m.safetensors")
    again, new = calibrant.load(tmp_path / "m.safetensors"), forecasts(rng(1), 2)
    assert again.columns == calibrated.columns
    assert str(again.guarantee) == str(calibrated.guarantee)
    pd.testing.assert_frame_equal(again.predict(new), calibrated.predict(new))


def test_a_report_slices_by_horizon(calibrated):
    rows = calibrated.labelled(forecasts(rng(3), 60))
    page = report(calibrated(rows), rows.y, base=rows.prediction, groups={"horizon": rows.horizon})
    assert "horizon" in page.html


def test_the_table_of_prophet_has_no_series_and_tells_no_coverage():
    frame = forecasts(rng(), 60).drop(columns="unique_id")
    frame = frame.rename(columns={"RW": "yhat", "RW-lo-80": "yhat_lower", "RW-hi-80": "yhat_upper"})
    wide = HorizonCalibrator().fit(frame, coverage=0.95)
    found, H = wide.predict(frame), wide(frame)
    assert found["yhat_lower"].to_numpy() == pytest.approx(H.ppf(0.025))
    assert found["yhat_upper"].to_numpy() == pytest.approx(H.ppf(0.975))
