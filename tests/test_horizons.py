"""Forecasts in long tables: read by the names that people give, calibrated by horizon, written back; backtests."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import calibrant
from calibrant import (
    CalibratedRegressor,
    Calibrator,
    HalfLife,
    HorizonCalibrator,
    Interval,
    Normal,
    Point,
    Quantiles,
    Window,
    backtest,
    report,
)
from calibrant.backtesting import long_table, sequence
from calibrant.cli.app import app
from calibrant.distributions import LocationScale
from calibrant.distributions.joined import Joined
from calibrant.horizons.columns import find_forecast
from calibrant.horizons.table import columns_of, read
from calibrant.interpolators import NAF, Apart, ByHorizon, Linear, Random
from calibrant.interpolators.by_horizon import smoothed
from calibrant.interpolators.support import ExponentialTails, InfiniteTails
from calibrant.labels import Counts, Real
from calibrant.testing import check_distribution, check_look_ahead

STEPS = 12
LEVELS = np.arange(1, 20) / 20


def forecasts(rng, cutoffs, steps=STEPS, series=("a",), spacing=None):
    """Forecasts of random walks by their last value; the stated 80% intervals are right one step ahead only."""
    spacing = steps if spacing is None else spacing
    parts = []
    for name in series:
        walk = np.concatenate([[0.0], rng.normal(size=(cutoffs - 1) * spacing + steps).cumsum()])
        for k in range(cutoffs):
            made = k * spacing
            h = np.arange(1, steps + 1)
            last = walk[made]
            parts.append(
                pd.DataFrame(
                    {
                        "unique_id": name,
                        "ds": made + h,
                        "cutoff": made,
                        "y": walk[made + h],
                        "RW": last,
                        "RW-lo-80": last - 1.2816,
                        "RW-hi-80": last + 1.2816,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def one_sentence(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 330


# ---- names of columns ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "point", "levels"),
    [
        (["ETS", "ETS-lo-90", "ETS-hi-90"], "ETS", [0.05, 0.95]),
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
    assert {name for name, _ in found.quantiles} <= set(names)


def test_a_point_an_interval_and_quantiles_are_what_the_columns_say():
    columns = {"m": [1.0, 2.0], "m-lo-80": [0.0, 1.0], "m-hi-80": [3.0, 4.0], "m-median": [1.5, 2.5]}

    def prediction(*names):
        return find_forecast(names).prediction(lambda name: np.asarray(columns[name]))

    assert isinstance(prediction("m"), Point)
    both = prediction("m", "m-lo-80", "m-hi-80")
    assert isinstance(both, Interval)
    assert both.lower.tolist() == [0.0, 1.0]
    three = prediction("m", "m-hi-80", "m-median", "m-lo-80")
    assert isinstance(three, Quantiles)
    assert three.levels.tolist() == [0.1, 0.5, 0.9]
    assert three.values.tolist() == [[0.0, 1.5, 3.0], [1.0, 2.5, 4.0]]


def test_bounds_without_a_level_have_the_coverage_that_is_told():
    found = find_forecast(["yhat", "yhat_lower", "yhat_upper"], coverage=0.95)
    assert [level for _, level in found.quantiles] == [0.025, 0.975]


def test_of_several_models_one_is_named():
    names = ["ETS", "ETS-lo-90", "ETS-hi-90", "ARIMA", "ARIMA-lo-90", "ARIMA-hi-90", "Naive"]
    with pytest.raises(ValueError, match="several forecasts are in the table, ETS, ARIMA: name one by model=") as error:
        find_forecast(names)
    one_sentence(error)
    assert find_forecast(names, "ARIMA").names == ("ARIMA-lo-90", "ARIMA-hi-90")
    assert find_forecast(names, "Naive").names == ("Naive",)
    with pytest.raises(ValueError, match="several forecasts are in the table, ETS, price"):
        find_forecast(["ETS", "price"])


@pytest.mark.parametrize(
    ("names", "model", "words"),
    [
        (["ETS"], "ARIMA", "there is no forecast of 'ARIMA' in the table, the columns left for it are ETS"),
        ([], None, "there is no forecast in the table"),
        (["ETS-lo-90"], None, "column 'ETS-lo-90' lacks its counterpart 'ETS-hi-90'"),
        (["ETS-lo-100", "ETS-hi-100"], None, "column 'ETS-lo-100' is the bound of a 100% interval"),
        (["q0.1", "q10"], None, "columns 'q0.1' and 'q10' are both the quantile of quantiles at level 0.1"),
        (["q0"], None, "column 'q0' is a quantile at level 0"),
    ],
)
def test_columns_that_make_no_forecast_are_named(names, model, words):
    with pytest.raises(ValueError, match=words) as error:
        find_forecast(names, model)
    one_sentence(error)


# ---- the table -------------------------------------------------------------------------------------------------------


def rows_of(frame, **names):
    usual = {
        "model": None,
        "target": "y",
        "series": "unique_id",
        "time": "ds",
        "cutoff": "cutoff",
        "horizon": None,
        "coverage": 0.8,
    }
    columns = columns_of(frame, **(usual | names))
    return read(frame, columns, labels=True)


def test_steps_are_counted_from_the_cutoff_whatever_the_order_and_the_kind_of_time():
    frame = forecasts(np.random.default_rng(0), 4, series=("a", "b"), spacing=3)
    frame["ds"] = pd.Timestamp("2024-01-31") + frame["ds"] * pd.offsets.MonthEnd()
    frame["cutoff"] = pd.Timestamp("2024-01-31") + frame["cutoff"] * pd.offsets.MonthEnd()
    wanted = np.tile(np.arange(1, STEPS + 1), 8)
    assert rows_of(frame).horizon.tolist() == wanted.tolist()
    mixed = np.random.default_rng(1).permutation(len(frame))
    assert rows_of(frame.iloc[mixed]).horizon.tolist() == wanted[mixed].tolist()
    assert rows_of(pl.from_pandas(frame)).horizon.tolist() == wanted.tolist()
    assert rows_of(pa.Table.from_pandas(frame)).horizon.tolist() == wanted.tolist()
    assert rows_of(frame.assign(ds=frame.ds.astype(str), cutoff=frame.cutoff.astype(str))).horizon[-1] == STEPS


def test_a_column_of_steps_is_taken_as_it_is():
    frame = forecasts(np.random.default_rng(0), 3)
    frame["h"] = 2 * np.tile(np.arange(1, STEPS + 1), 3)
    assert rows_of(frame, horizon="h").horizon.tolist() == frame["h"].tolist()
    assert rows_of(frame.drop(columns="cutoff"), horizon="h").cutoff is None


def as_text(frame, form):
    """Days of 2024 as text."""
    return frame.assign(
        **{
            name: (pd.Timestamp("2024-01-05") + pd.to_timedelta(frame[name], unit="D")).dt.strftime(form)
            for name in ("ds", "cutoff")
        }
    )


@pytest.mark.parametrize(
    ("change", "kind", "words"),
    [
        (lambda t: t.assign(cutoff=t["ds"]), ValueError, "'ds' must come after 'cutoff'.*in row 0 it is 1, made at 1"),
        (
            lambda t: t.assign(cutoff=t["cutoff"].where(t.index != 30, 99)),
            ValueError,
            r"in row 30 .*\(the only such row\)",
        ),
        (lambda t: pd.concat([t, t[4:6]], ignore_index=True), ValueError, "rows 4 and 60 are forecasts of the same"),
        (lambda t: t.drop(columns="ds"), ValueError, "there is no column 'ds' in the table, its columns are unique_id"),
        (
            lambda t: t.drop(columns="cutoff"),
            ValueError,
            "there is no column 'cutoff'.*one of the steps ahead by horizon=",
        ),
        (lambda t: t.drop(index=[14]), ValueError, "row 14, for 7 made at 3, is forecast 3 .* has 4 known times since"),
        (lambda t: t.assign(ds=t["ds"].astype(str)), TypeError, "'ds' and 'cutoff' must be of one kind.*str and int"),
        (
            lambda t: as_text(t, "%d/%m/%Y"),
            TypeError,
            "'ds' and 'cutoff' must hold dates or numbers, got the text '0./",
        ),
        (lambda t: as_text(t, "%Y-%-d"), TypeError, "got the text '2024-1.': only text of one length with the year"),
        (lambda t: t.assign(RW=np.nan), None, ""),
        (
            lambda t: t.assign(**{"RW-lo-80": t["RW-lo-80"].where(t.index != 7)}),
            ValueError,
            r"column 'RW-lo-80' is missing or infinite in row 7 \(the only such row\)",
        ),
        (lambda t: t.assign(y=t["y"].astype(str)), TypeError, "column 'y' must hold numbers, got String"),
        (lambda t: t.assign(ds=t["ds"].where(t.index != 3)), ValueError, "column 'ds' is missing in row 3"),
        (lambda t: t[:0], ValueError, "the table has no rows"),
        (lambda t: t.to_dict(), TypeError, "expected a data frame of pandas, polars or pyarrow, got a dict"),
    ],
)
def test_a_table_that_is_wrong_is_told_where(change, kind, words):
    frame = change(forecasts(np.random.default_rng(0), 5, spacing=3))
    if kind is None:  # the point stays aside where there are quantiles
        assert len(rows_of(frame)) == 60
        return
    with pytest.raises(kind, match=words) as error:
        rows_of(frame)
    one_sentence(error)


def test_several_series_without_a_name_are_told_to_name_the_column():
    frame = forecasts(np.random.default_rng(0), 3, series=("a", "b")).rename(columns={"unique_id": "level"})
    with pytest.raises(ValueError, match="name the column of the series by series="):
        rows_of(frame.drop(columns="level"))
    assert len(rows_of(frame, series="level")) == 6 * STEPS


# ---- the distribution of a horizon
# --------------------------------------------------------------------------------------------


def walks(rng, n):
    return np.tile(np.arange(1, STEPS + 1), n), rng.normal(size=(n, STEPS)).cumsum(axis=1).ravel()


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "repetitions"), [(10, 60), (40, 30)])
def test_at_every_horizon_the_error_is_within_the_bound_where_that_of_one_distribution_for_all_is_not(n, repetitions):
    shares = np.zeros((2, repetitions, STEPS, LEVELS.size))
    for k in range(repetitions):
        rng = np.random.default_rng([n, k])
        (h, y), (h_new, new) = walks(rng, n), walks(rng, 60)
        f, f_new = Point(0 * y), Point(0 * new)
        ours = Calibrator(None, ByHorizon(NAF(40))).fit(f, y, by=h)(f_new, by=h_new)
        for side, H in enumerate((ours, Calibrator().fit(f, y)(f_new))):
            shares[side, k] = np.mean(H.cdf(new).reshape(60, STEPS)[:, :, None] <= LEVELS, axis=0)
    noise = 4 * shares.std(axis=1).max(axis=(1, 2)) / np.sqrt(repetitions)
    error, plain = np.abs(shares.mean(axis=1) - LEVELS).max(axis=(1, 2))
    bound = (1 + np.sqrt(n) / 2) / (n + 1)
    assert error <= bound + noise[0]
    assert plain > 1 / (n * STEPS + 1) + noise[1]  # what it promises on average over the horizons


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
def test_the_distribution_of_a_horizon_stays_within_lambda_of_its_own_ranks(n):
    rng = np.random.default_rng(n)
    h, y = np.repeat([1, 2, 5], [30, n, 25]), rng.normal(size=55 + n)
    y = np.where(h == 2, 20 + 5 * y, y)  # its neighbours would have it elsewhere
    calibrated = Calibrator(None, ByHorizon()).fit(Point(0 * y), y, by=h)
    distribution, own = calibrated.q.distributions[1], np.sort(y[h == 2])
    slack = np.sqrt(n) / 2 + 1e-9
    assert np.all(np.abs(distribution.cdf(own) * (n + 1) - np.arange(1, n + 1)) <= slack)
    x = np.linspace(-100, 150, 500_001)
    assert np.sum(distribution.pdf(x)) * (x[1] - x[0]) == pytest.approx(
        distribution.cdf(150.0) - distribution.cdf(-100.0), abs=2e-3
    )


@pytest.mark.slow
def test_what_neighbours_lend_makes_few_rows_go_further():
    crps = {"neighbours": 0.0, "own": 0.0, "all": 0.0}
    for k in range(5):
        rng = np.random.default_rng(k)
        h, h_new = np.tile(np.arange(1, 25), 10), np.tile(np.arange(1, 25), 100)
        y, new = np.sqrt(h) * rng.normal(size=h.size), np.sqrt(h_new) * rng.normal(size=h_new.size)
        f, f_new = Point(0 * y), Point(0 * new)
        distributions = {
            "neighbours": Calibrator(None, ByHorizon(NAF(40))).fit(f, y, by=h)(f_new, by=h_new),
            "own": Calibrator(None, Apart(NAF(40))).fit(f, y, by=h)(f_new, by=h_new),
            "all": Calibrator(None, NAF(40)).fit(f, y)(f_new),
        }
        for name, H in distributions.items():
            crps[name] += H.crps(new).mean() / 5
    assert crps["neighbours"] < 0.98 * crps["own"]
    assert crps["neighbours"] < 0.995 * crps["all"]


def test_local_lines_meet_a_power_of_the_horizon_exactly():
    h = np.array([1.0, 2.0, 3.0, 7.0, 20.0])
    counts = np.array([5, 9, 0, 3, 8])
    spread = np.where(counts > 0, 0.3 * h**0.7, 0.0)
    for width in (1.0, 4.0, np.inf):
        place, found = smoothed(h, 2 + 0 * h, spread, counts, width)
        assert place == pytest.approx(2 + 0 * h)
        assert found == pytest.approx(0.3 * h**0.7)


def test_a_horizon_far_from_all_others_hears_the_nearest():
    place, spread = smoothed(np.array([1.0, 1000.0]), np.array([3.0, 0.0]), np.array([2.0, 0.0]), np.array([9, 0]), 1.0)
    assert place == pytest.approx([3.0, 3.0])
    assert spread == pytest.approx([2.0, 2.0])


def test_horizons_are_whole_numbers_from_one_on():
    for by in ([0, 1, 2], [1, 2, -3], ["a", "b", "a"]):
        with pytest.raises(ValueError, match="by must hold horizons, whole numbers of steps from 1 on, got"):
            Calibrator(None, ByHorizon()).fit(Point(np.zeros(3)), [1.0, 2.0, 3.0], by=by)


def test_equal_scores_say_nothing_of_a_scale_and_do_not_break_it():
    with pytest.warns(UserWarning, match=r".*"):
        calibrated = Calibrator(None, ByHorizon()).fit(Point(np.zeros(6)), np.ones(6), by=[1, 2, 3] * 2)
    assert calibrated.guarantee.basis == "horizon"


def test_the_guarantee_names_the_horizons_and_what_it_assumes():
    h, y = walks(np.random.default_rng(0), 30)
    guarantee = Calibrator(None, ByHorizon()).fit(Point(0 * y), y, by=h).guarantee
    assert guarantee.kind == "horizon"
    assert guarantee[3].epsilon == (1 + np.sqrt(30) / 2) / 31
    said = str(guarantee)
    assert "<= 0.121 for every c at each of 12 horizons, 1 to 12 steps ahead" in said
    assert "Successive cutoffs of one series are exchangeable only roughly" in said


def test_the_distributions_of_horizons_keep_the_distributions_of_distributions():
    h, y = walks(np.random.default_rng(0), 20)
    check_distribution(Calibrator(None, ByHorizon(NAF(40))).fit(Point(0 * y), y, by=h)(Point([0.0, 1.0]), by=[2, 9]))


# ---- table in, table out ---------------------------------------------------------------------------------------------

KINDS = {"pandas": lambda t: t, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.fixture(scope="module")
def calibrated():
    return HorizonCalibrator().fit(forecasts(np.random.default_rng(0), 100))


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_columns_are_written_back(calibrated, kind):
    new = forecasts(np.random.default_rng(1), 2).drop(columns="y")
    new.index = np.arange(len(new)) + 7
    given = KINDS[kind](new)
    found = calibrated.predict(given)
    assert type(found) is type(given)
    plain = found if kind == "pandas" else found.to_pandas()
    assert list(plain.columns)[: new.shape[1]] == list(new.columns)
    assert kind != "pandas" or plain.index.tolist() == new.index.tolist()
    H = calibrated(given)
    assert plain["RW-lo-80"].to_numpy() == pytest.approx(H.ppf(0.1))
    assert plain["RW-hi-80"].to_numpy() == pytest.approx(H.ppf(0.9))
    assert plain["RW"].to_numpy() == pytest.approx(H.median())
    assert plain["ds"].tolist() == new["ds"].tolist()
    width = (plain["RW-hi-80"] - plain["RW-lo-80"]).to_numpy()[:STEPS]
    assert width[-1] > 2.5 * width[0]  # the truth: sqrt(12) = 3.5 times


def test_the_table_that_was_given_stays_as_it_was(calibrated):
    new = forecasts(np.random.default_rng(1), 2)
    before = new.copy()
    calibrated.predict(new)
    pd.testing.assert_frame_equal(new, before)


def test_without_cutoffs_the_rows_of_a_series_were_forecast_at_once(calibrated):
    new = forecasts(np.random.default_rng(1), 1, series=("a", "b"))
    with_cutoff, without = calibrated(new), calibrated(new.drop(columns=["cutoff", "y"]))
    assert without.ppf(0.9).tolist() == with_cutoff.ppf(0.9).tolist()


def test_a_horizon_that_was_not_calibrated_is_an_error(calibrated):
    with pytest.raises(ValueError, match=r"row 12 is 13 steps ahead, and the calibrated horizons are 1 to 12") as error:
        calibrated(forecasts(np.random.default_rng(1), 1, steps=13))
    one_sentence(error)
    # a forecast of Prophet has the rows of the past before those to come
    past = forecasts(np.random.default_rng(1), 2).drop(columns=["cutoff", "y"])
    with pytest.raises(
        ValueError, match=r"row 12 is 13 steps ahead.*leave out rows of the past: without cutoffs"
    ) as error:
        calibrated(past)
    one_sentence(error)


def test_text_that_does_not_sort_as_time_is_refused_without_cutoffs_too(calibrated):
    new = forecasts(np.random.default_rng(1), 1, steps=3).drop(columns=["cutoff", "y"])
    with pytest.raises(TypeError, match="'ds' must hold dates or numbers, got the text '9/1/2020'"):
        calibrated.predict(new.assign(ds=["9/1/2020", "10/1/2020", "11/1/2020"]))
    days = new.assign(ds=["2020-01-09", "2020-01-10", "2020-01-11"])
    assert calibrated.predict(days)["RW-lo-80"].tolist() == calibrated.predict(new)["RW-lo-80"].tolist()


def test_the_order_of_the_rows_does_not_matter():
    frame = forecasts(np.random.default_rng(0), 30, series=("a", "b"))
    mixed = frame.iloc[np.random.default_rng(1).permutation(len(frame))]
    new = forecasts(np.random.default_rng(1), 1)
    one, other = (HorizonCalibrator().fit(each)(new).ppf(0.9) for each in (frame, mixed))
    assert one.tolist() == other.tolist()


def test_coverage_by_horizon_is_mended(calibrated):
    found = calibrated.evaluate(forecasts(np.random.default_rng(2), 300), coverage=0.8)
    before, after = ([each.coverage for each in side.values()] for side in (found.base, found.calibrated))
    assert before[-1] < 0.4
    noise = 4 * np.sqrt(0.16 / 300) + 2 * np.sqrt(0.16 / 100)
    assert np.abs(np.asarray(after) - 0.8).max() < noise
    assert str(found).splitlines()[0].split() == ["horizon", "rows", "in", "80%", "before", "CRPS", "before"]
    assert len(str(found).splitlines()) == STEPS + 1


def test_labels_that_cannot_be_negative_and_another_interpolator():
    frame = forecasts(np.random.default_rng(0), 40)
    for name in ("y", "RW", "RW-lo-80", "RW-hi-80"):
        frame[name] = np.exp(frame[name] / 10)
    found = HorizonCalibrator(Calibrator(labels=Real(0))).fit(frame).predict(frame)
    assert (found["RW-lo-80"] >= 0).all()
    apart = HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))).fit(frame)
    assert apart.guarantee[1].epsilon == 1 / 41
    drawn = HorizonCalibrator(Calibrator(interpolator=Random())).fit(frame)
    assert drawn.guarantee.kind == "horizon, exact"
    assert "P(H(Y) <= c) = c for every c at each of 12 horizons" in str(drawn.guarantee)
    with pytest.raises(TypeError, match=r"HorizonCalibrator.calibrator must be a Calibrator"):
        HorizonCalibrator(3)


def test_a_file_gives_the_same_bits(calibrated, tmp_path):
    calibrated.save(tmp_path / "m.safetensors")
    again = calibrant.load(tmp_path / "m.safetensors")
    new = forecasts(np.random.default_rng(1), 2)
    assert again(new).ppf(0.37).tolist() == calibrated(new).ppf(0.37).tolist()
    assert again.columns == calibrated.columns
    assert str(again.guarantee) == str(calibrated.guarantee)
    pd.testing.assert_frame_equal(again.predict(new), calibrated.predict(new))


def test_a_file_holds_any_interpolator_by_horizon(tmp_path):
    frame = forecasts(np.random.default_rng(0), 20)
    HorizonCalibrator(Calibrator(interpolator=Apart(Random()))).fit(frame).save(tmp_path / "m.safetensors")
    again = calibrant.load(tmp_path / "m.safetensors")
    assert again(frame, seed=0).ppf(0.5).shape == (len(frame),)


def test_a_report_slices_by_horizon(calibrated):
    frame = forecasts(np.random.default_rng(3), 60)
    rows = calibrated.labelled(frame)
    page = report(
        calibrated(frame),
        rows.y,
        base=rows.prediction,
        groups={"horizon": rows.horizon},
        guarantee=calibrated.guarantee,
    )
    assert "horizon" in page.html


def test_the_table_of_prophet_has_no_series_and_tells_no_coverage():
    frame = forecasts(np.random.default_rng(0), 60).drop(columns="unique_id")
    frame = frame.rename(columns={"RW": "yhat", "RW-lo-80": "yhat_lower", "RW-hi-80": "yhat_upper"})
    wide = HorizonCalibrator().fit(frame, coverage=0.95)
    found, H = wide.predict(frame), wide(frame)
    assert found["yhat_lower"].to_numpy() == pytest.approx(H.ppf(0.025))
    assert found["yhat_upper"].to_numpy() == pytest.approx(H.ppf(0.975))


# ---- the command line ------------------------------------------------------------------------------------------------


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.few(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line_writes_the_same_table_back(tmp_path, ending):
    frame = forecasts(np.random.default_rng(0), 40, series=("a", "b"))
    frame["ds"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["ds"], "D")
    frame["cutoff"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["cutoff"], "D")
    cal, out, model = tmp_path / f"cv.{ending}", tmp_path / f"out.{ending}", tmp_path / "m.safetensors"
    getattr(frame, f"to_{ending}")(cal, index=False)
    said = run("horizons", cal, "-o", model).output
    assert "12 horizons, 1 to 12" in said
    run("predict", cal, "-m", model, "-o", out)
    found = getattr(pd, f"read_{ending}")(out)
    assert list(found.columns) == list(frame.columns)
    direct = HorizonCalibrator().fit(frame).predict(frame)
    assert found["RW-hi-80"].to_numpy() == pytest.approx(direct["RW-hi-80"].to_numpy())
    assert "horizon" in run("evaluate", cal, "-m", model).output
    shown = json.loads(run("evaluate", cal, "-m", model, "--json", "--coverage", "0.8").stdout)
    assert 0.7 < shown["horizons"]["12"]["calibrated"]["coverage"] < 0.9
    run("report", cal, "-m", model, "-o", tmp_path / "report.html")
    for option in ("--groups", "--features", "--time"):
        said = run("report", cal, "-m", model, option, "unique_id", "-o", tmp_path / "other.html", code=2).output
        assert "a model of horizons is reported by horizon alone" in " ".join(said.replace("│", " ").split())
    assert "1 to 12 steps ahead" in " ".join(run("inspect", model).output.split())


def test_the_command_line_draws_with_the_seed_0(tmp_path):
    frame = forecasts(np.random.default_rng(0), 20)
    numbers = frame.columns.difference(["unique_id", "ds", "cutoff"])
    frame[numbers] = np.round(20 + frame[numbers]).clip(lower=0)
    frame.to_csv(tmp_path / "cv.csv", index=False)
    run("horizons", tmp_path / "cv.csv", "--labels", "counts", "-o", tmp_path / "m.safetensors")
    calibrator = HorizonCalibrator(Calibrator(labels=Counts()))
    first, other = (calibrator.fit(frame, rng=np.random.default_rng(seed)) for seed in (0, 1))
    found = calibrant.load(tmp_path / "m.safetensors")(frame).sf(25.0)
    np.testing.assert_array_equal(found, first(frame).sf(25.0))
    assert (found != other(frame).sf(25.0)).any()


def test_the_command_line_says_in_one_sentence_what_is_wrong(tmp_path):
    frame = forecasts(np.random.default_rng(0), 10)
    frame.to_csv(tmp_path / "cv.csv", index=False)
    said = run("horizons", tmp_path / "cv.csv", "--forecast", "ETS", "-o", tmp_path / "m.safetensors", code=1).output
    assert "there is no forecast of 'ETS'" in said.replace("\n", " ")
    run("horizons", tmp_path / "cv.csv", "-o", tmp_path / "m.safetensors")
    asked = run(
        "predict", tmp_path / "cv.csv", "-m", tmp_path / "m.safetensors", "--interval", 0.9, "-o", "o.csv", code=2
    )
    assert "calibrated by horizon" in asked.output
    other = run(
        "monitor", tmp_path / "cv.csv", "-m", tmp_path / "m.safetensors", "--target", "y", "--point", "RW", code=1
    )
    assert "calibrated by horizon" in other.output


def test_the_command_line_says_what_it_wrote_and_writes_over_nothing_that_it_reads(tmp_path):
    frame = forecasts(np.random.default_rng(0), 20, steps=2)
    cal, out, model, page = (tmp_path / name for name in ("cv.csv", "out.csv", "m.safetensors", "r.html"))
    frame.to_csv(cal, index=False)
    said = run("horizons", cal, "-o", model).output
    assert "horizons, 1 to 2." in said
    assert "Run calibrant inspect to see the assumptions." in said
    assert said.endswith(f"Wrote {model}.\n")
    said = run("predict", cal, "-m", model, "-o", out).output
    assert said.startswith(f"Wrote {len(frame):,} rows to {out}, with other numbers in RW")
    assert len(pd.read_csv(out)) == len(frame)
    said = run("report", cal, "-m", model, "-o", page).output
    assert f"{len(frame)} rows" in said
    assert said.endswith(f"Wrote {page}: open it in a browser.\n")
    assert page.stat().st_size > 10_000
    before = [path.read_bytes() for path in (cal, model)]
    for over, *words in (
        (cal, "horizons", cal),
        *((over, command, cal, "-m", model) for command in ("predict", "report") for over in (cal, model)),
    ):
        assert f"{over} is read, so it cannot be written over" in run(*words, "-o", over, code=2).output
    assert [path.read_bytes() for path in (cal, model)] == before


# ---- backtests -------------------------------------------------------------------------------------------------------


def test_a_backtest_of_a_sequence_gives_what_a_loop_gives():
    rng = np.random.default_rng(0)
    f = rng.normal(size=80)
    y = f + rng.normal(size=80)
    first = Calibrator(forget=Window(30)).fit(f[:30], y[:30])
    found = backtest(first, f[30:], y[30:])
    now, medians = first, []
    for t in range(30, 80):
        medians.append(float(now([f[t]]).ppf(0.3)[0]))
        now = now.update([f[t]], [y[t]])
    assert found.H.ppf(0.3).tolist() == medians
    assert found.y.tolist() == y[30:].tolist()


@pytest.mark.parametrize("tails", [ExponentialTails(), InfiniteTails()])
@pytest.mark.parametrize("batch", [1, 7])
def test_distributions_of_a_backtest_are_one_table_and_the_same_as_apart(monkeypatch, tails, batch):
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(2, 80)).astype(np.float32)
    first = Calibrator(interpolator=Linear(tails)).fit(f[:30], y[:30])
    together = backtest(first, f[30:], y[30:], batch=batch).H
    monkeypatch.setattr(sequence, "MOST", 0)
    apart = backtest(first, f[30:], y[30:], batch=batch).H
    assert type(together) is LocationScale
    assert type(apart) is Joined
    assert together.cdf(y[30:]).dtype == apart.cdf(y[30:]).dtype
    for distribution in ("cdf", "logpdf", "crps"):
        np.testing.assert_allclose(
            getattr(together, distribution)(y[30:]), getattr(apart, distribution)(y[30:]), rtol=1e-5, atol=1e-6
        )
    np.testing.assert_array_equal(together.ppf(0.9), apart.ppf(0.9))
    np.testing.assert_array_equal(together[40].ppf(0.3), apart[40].ppf(0.3))


def test_batches_and_delays_hide_labels_that_are_not_known_yet():
    class Watcher:
        def __init__(self):
            self.log = []

        def __call__(self, prediction):
            self.log.append(("predict", len(prediction)))
            return Normal(prediction.values, 1.0)

        def update(self, prediction, y):
            self.log.append(("update", y.tolist()))

    watcher = Watcher()
    backtest(watcher, np.zeros(5), np.arange(5.0), batch=2, delay=1)
    assert watcher.log == [
        ("predict", 2),
        ("update", [0.0]),
        ("predict", 2),
        ("update", [1.0, 2.0]),
        ("predict", 1),
        ("update", [3.0]),
    ]


def test_a_backtest_of_a_table_fits_to_labels_that_were_known_only(monkeypatch):
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    seen = []
    fitted = HorizonCalibrator.fitted

    def spied(self, rows, **known):
        seen.append((rows.time.max(), rows.cutoff.max()))
        return fitted(self, rows, **known)

    monkeypatch.setattr(HorizonCalibrator, "fitted", spied)
    found = backtest(HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))), frame, least=5)
    cutoffs = sorted(set(found.made))
    assert cutoffs[0] == 16  # the fifth label 12 steps ahead, made at 4, is known at 16
    assert [time for time, _ in seen] == cutoffs  # codes are times here
    assert len(found) == 12 * len(cutoffs)
    by_hand = HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))).fit(frame[frame["ds"] <= 20])
    mine = frame["cutoff"] == 20
    assert found.H.ppf(0.9)[np.asarray(found.made) == 20].tolist() == by_hand(frame[mine]).ppf(0.9).tolist()


def test_a_backtest_can_be_fitted_less_often(monkeypatch):
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    count = []
    fitted = HorizonCalibrator.fitted
    monkeypatch.setattr(HorizonCalibrator, "fitted", lambda self, rows, **k: count.append(1) or fitted(self, rows, **k))
    found = backtest(HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))), frame, least=5, every=4)
    assert len(count) == -(-len(set(found.made)) // 4)


def test_the_figures_of_a_backtest_are_by_horizon_and_over_time():
    found = backtest(
        HorizonCalibrator(Calibrator(interpolator=Apart(Linear()))),
        forecasts(np.random.default_rng(0), 60, steps=4, series=("a", "b")),
    )
    assert list(found.by_horizon().calibrated) == [1, 2, 3, 4]
    periods = found.over_time(bins=3)
    assert len(periods) == 3
    assert sum(each.n for each in periods.values()) == len(found) == found.evaluate().n
    with pytest.raises(ValueError, match="bins must be from 1 to the"):
        found.over_time(bins=0)
    with pytest.raises(TypeError, match="a backtest of a sequence has no horizons"):
        backtest(FITTED, [0.0], [2.0]).by_horizon()


FITTED = Calibrator().fit([0.0, 0.0], [1.0, 3.0])
PLAIN = HorizonCalibrator(Calibrator(interpolator=Apart(Linear())))


def test_our_own_backtests_do_not_look_ahead():
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    check_look_ahead(lambda table: backtest(PLAIN, table, least=5), frame)
    check_look_ahead(lambda table: backtest(PLAIN, table, least=5), pl.from_pandas(frame))
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(2, 60))
    first = Calibrator(forget=HalfLife(20)).fit(f[:20], y[:20])
    check_look_ahead(lambda labels: backtest(first, f[20:], labels), y[20:])


def test_a_planted_look_ahead_is_caught(monkeypatch):
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    # the usual mistake: forecasts made earlier calibrate, though their labels come later
    monkeypatch.setattr(long_table, "labels_known_at", lambda rows, now: np.flatnonzero(rows.cutoff < now))
    with pytest.raises(
        AssertionError, match=r"a look ahead: the forecast of row \d+ changes with labels for times after"
    ):
        check_look_ahead(lambda table: backtest(PLAIN, table, least=5), frame)


def test_a_calibrator_that_peeks_is_caught():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(2, 60))

    class Peeking:
        def __init__(self, labels):
            self.scale = np.std(labels)  # of all labels, also those to come

        def __call__(self, prediction):
            return Normal(prediction.values, self.scale)

        def update(self, prediction, y):
            return self

    with pytest.raises(AssertionError, match="a look ahead: the forecast of row 0 changes with labels of rows after"):
        check_look_ahead(lambda labels: backtest(Peeking(labels), f, labels), y)


def test_a_calibrator_that_knows_its_test_rows_is_refused():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(2, 60))
    with pytest.raises(ValueError, match="it has 40 of the 40 scores already; fit it on earlier rows") as error:
        backtest(Calibrator().fit(f, y), f[20:], y[20:])
    one_sentence(error)
    assert len(backtest(Calibrator().fit(f[:20], y[:20]), f[20:], y[20:])) == 40
    counts = np.round(3 * y)  # equal scores are no sign of equal rows
    assert len(backtest(Calibrator().fit(np.zeros(20), counts[:20]), np.zeros(40), counts[20:])) == 40


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (
            lambda t: backtest(PLAIN, t, least=40),
            ValueError,
            "no cutoff by which each of its horizons had 40 known labels",
        ),
        (lambda t: backtest(PLAIN, t, t["y"]), TypeError, "the labels of a long table are a column of it"),
        (lambda t: backtest(PLAIN, t.drop(columns="cutoff")), ValueError, "there is no column 'cutoff'"),
        (lambda t: backtest(PLAIN, t.assign(cutoff=t["ds"] + 1)), ValueError, "'ds' must come after 'cutoff'"),
        (lambda t: backtest(PLAIN, t, every=0), ValueError, "every must be a whole number of at least 1, got 0"),
        (
            lambda t: backtest(Calibrator(), [0.0], [1.0]),
            TypeError,
            "the forecaster must be a HorizonCalibrator, or an",
        ),
        (
            lambda t: backtest(CalibratedRegressor(None), [0.0], [1.0]),
            TypeError,
            "a CalibratedRegressor cannot be called with a prediction: of an estimator, take its calibrated_",
        ),
        (lambda t: backtest(FITTED, [0.0]), TypeError, "a sequence needs its labels"),
        (lambda t: backtest(FITTED, [0.0], [2.0], model="a"), TypeError, "model= is for long"),
        (lambda t: backtest(FITTED, [], []), ValueError, "needs at least one row, got none"),
        (lambda t: check_look_ahead(lambda y: y, np.ones(1)), ValueError, "there is nothing to look ahead to"),
        (lambda t: check_look_ahead(lambda y: y[1:], np.ones(9)), ValueError, "one forecast for each of 9 rows, got 8"),
    ],
)
def test_a_backtest_that_cannot_be_is_told_why(call, kind, words):
    with pytest.raises(kind, match=words) as error:
        call(forecasts(np.random.default_rng(0), 30, spacing=1))
    one_sentence(error)


def test_neighbours_lend_by_the_kernel_that_is_written_down():
    horizons, counts, width = np.array([1.0, 2.0, 4.0, 5.0]), np.array([5, 3, 0, 8]), 2.0
    place, spread = np.array([0.3, -0.1, 9.0, 0.7]), np.array([1.0, 1.9, 0.0, 2.5])
    m, s = smoothed(horizons, place, spread, counts, width)
    there = spread > 0
    for k, h in enumerate(horizons):
        kernel = counts * np.exp(-((horizons - h) ** 2) / (2 * width**2))
        line = [
            np.polyfit(np.log(horizons / h)[there], v[there], 1, w=np.sqrt(kernel[there]))
            for v in (place, np.log(np.where(there, spread, 1.0)))
        ]
        np.testing.assert_allclose([m[k], np.log(s[k])], [line[0][1], line[1][1]], rtol=1e-10)
