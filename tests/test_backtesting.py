"""Backtests: every distribution is made of what was known before its label."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from long_tables import forecasts

import calibrant.backtesting as backtesting
from calibrant import CalibratedRegressor, Calibrator, HalfLife, HorizonCalibrator, Normal, Window, backtest
from calibrant.distributions import LocationScale
from calibrant.distributions.joined import Joined
from calibrant.interpolators import Apart, Linear
from calibrant.interpolators.support import ExponentialTails, InfiniteTails
from calibrant.testing import check_look_ahead

FITTED = Calibrator().fit([0.0, 0.0], [1.0, 3.0])
PLAIN = HorizonCalibrator(Calibrator(interpolator=Apart(Linear())))
F, NOISE = np.random.default_rng(0).normal(size=(2, 80))
Y = F + NOISE


def test_a_backtest_of_a_sequence_gives_what_a_loop_gives():
    now = Calibrator(forget=Window(30)).fit(F[:30], Y[:30])
    found, medians = backtest(now, F[30:], Y[30:]), []
    for t in range(30, 80):
        medians.append(float(now([F[t]]).ppf(0.3)[0]))
        now = now.update([F[t]], [Y[t]])
    assert found.H.ppf(0.3).tolist() == medians
    assert found.y.tolist() == Y[30:].tolist()


@pytest.mark.parametrize(("tails", "batch"), [(ExponentialTails(), 1), (InfiniteTails(), 7)])
def test_distributions_of_a_backtest_are_one_table_and_the_same_as_apart(monkeypatch, tails, batch):
    f, y = F.astype(np.float32), Y.astype(np.float32)
    first = Calibrator(interpolator=Linear(tails)).fit(f[:30], y[:30])
    together = backtest(first, f[30:], y[30:], batch=batch).H
    monkeypatch.setattr(backtesting, "MOST", 0)
    apart = backtest(first, f[30:], y[30:], batch=batch).H
    assert (type(together), type(apart)) == (LocationScale, Joined)
    assert together.cdf(y[30:]).dtype == apart.cdf(y[30:]).dtype
    for method in ("cdf", "logpdf", "crps"):
        one, two = (getattr(H, method)(y[30:]) for H in (together, apart))
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(together[40].ppf(0.3), apart[40].ppf(0.3))


def test_batches_and_delays_hide_labels_that_are_not_known_yet():
    class Watcher:
        log = ()

        def __call__(self, prediction):
            self.log += (len(prediction),)
            return Normal(prediction.values, 1.0)

        def update(self, prediction, y):
            self.log += (y.tolist(),)

    watcher = Watcher()
    backtest(watcher, np.zeros(5), np.arange(5.0), batch=2, delay=1)
    assert watcher.log == (2, [0.0], 2, [1.0, 2.0], 1, [3.0])


@pytest.mark.parametrize("every", [1, 4])
def test_a_backtest_of_a_table_fits_to_labels_that_were_known_only(monkeypatch, every):
    frame, seen, fit_rows = forecasts(np.random.default_rng(0), 30, spacing=1), [], backtesting.fit_rows

    def spied(calibrator, rows, columns):
        seen.append(rows.time.max())
        return fit_rows(calibrator, rows, columns)

    monkeypatch.setattr(backtesting, "fit_rows", spied)
    found = backtest(PLAIN, frame, least=5, every=every)
    monkeypatch.undo()
    cutoffs = sorted(set(found.made))
    assert cutoffs[0] == 16  # the fifth label 12 steps ahead, made at 4, is known at 16
    assert seen == cutoffs[::every]  # codes are times here
    assert len(found) == 12 * len(cutoffs)
    by_hand, mine = PLAIN.fit(frame[frame["ds"] <= 20]), frame["cutoff"] == 20
    assert found.H.ppf(0.9)[np.asarray(found.made) == 20].tolist() == by_hand(frame[mine]).ppf(0.9).tolist()


def test_the_figures_of_a_backtest_are_by_horizon_and_over_time():
    found = backtest(PLAIN, forecasts(np.random.default_rng(0), 60, steps=4, series=("a", "b")))
    assert list(found.by_horizon().calibrated) == [1, 2, 3, 4]
    periods = found.over_time(bins=3)
    assert len(periods) == 3
    assert sum(each.n for each in periods.values()) == len(found) == found.evaluate().n


def test_our_own_backtests_do_not_look_ahead():
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    check_look_ahead(lambda table: backtest(PLAIN, table, least=5), pl.from_pandas(frame))
    first = Calibrator(forget=HalfLife(20)).fit(F[:20], Y[:20])
    check_look_ahead(lambda labels: backtest(first, F[20:], labels), Y[20:])


def test_a_planted_look_ahead_is_caught(monkeypatch):
    # the usual mistake: forecasts made earlier calibrate, though their labels come later
    monkeypatch.setattr(backtesting, "labels_known_at", lambda rows, now: np.flatnonzero(rows.cutoff < now))
    frame = forecasts(np.random.default_rng(0), 30, spacing=1)
    with pytest.raises(AssertionError, match=r"a look ahead: the forecast of row \d+ changes with labels for times"):
        check_look_ahead(lambda table: backtest(PLAIN, table, least=5), frame)


def test_a_calibrator_that_peeks_is_caught():
    class Peeking:
        def __init__(self, labels):
            self.scale = np.std(labels)  # of all labels, also those to come

        def __call__(self, prediction):
            return Normal(prediction.values, self.scale)

        def update(self, prediction, y):
            return self

    with pytest.raises(AssertionError, match="a look ahead: the forecast of row 0 changes with labels of rows after"):
        check_look_ahead(lambda labels: backtest(Peeking(labels), F, labels), Y)


def test_equal_scores_are_no_sign_of_rows_that_were_seen():
    counts = np.round(3 * Y)
    assert len(backtest(Calibrator().fit(np.zeros(20), counts[:20]), np.zeros(60), counts[20:])) == 60


BAD = {
    "it has 60 of the 60 scores already; fit it on": lambda t: backtest(Calibrator().fit(F, Y), F[20:], Y[20:]),
    "no cutoff by which each of its horizons had 40 known labels": lambda t: backtest(PLAIN, t, least=40),
    "the labels of a long table are a column of it": lambda t: backtest(PLAIN, t, t["y"]),
    "there is no column 'cutoff'": lambda t: backtest(PLAIN, t.drop(columns="cutoff")),
    "must know when each forecast was made": lambda t: backtest(PLAIN, t, cutoff=None, horizon="ds"),
    "every must be a whole number of at least 1, got 0": lambda t: backtest(PLAIN, t, every=0),
    "the forecaster must be a HorizonCalibrator, or an": lambda t: backtest(Calibrator(), [0.0], [1.0]),
    "a CalibratedRegressor cannot be called": lambda t: backtest(CalibratedRegressor(None), [0.0], [1.0]),
    "a sequence needs its labels": lambda t: backtest(FITTED, [0.0]),
    "model= is for long": lambda t: backtest(FITTED, [0.0], [2.0], model="a"),
    "needs at least one row, got none": lambda t: backtest(FITTED, [], []),
    "a backtest of a sequence has no horizons": lambda t: backtest(FITTED, [0.0], [2.0]).by_horizon(),
    "bins must be from 1 to the": lambda t: backtest(FITTED, [0.0], [2.0]).over_time(bins=0),
    "there is nothing to look ahead to": lambda t: check_look_ahead(lambda y: y, np.ones(1)),
    "one forecast for each of 9 rows, got 8": lambda t: check_look_ahead(lambda y: y[1:], np.ones(9)),
}


@pytest.mark.parametrize("words", BAD)
def test_a_backtest_that_cannot_be_is_told_why(words):
    with pytest.raises((TypeError, ValueError), match=words):
        BAD[words](forecasts(np.random.default_rng(0), 30, spacing=1))
