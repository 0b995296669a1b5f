"""The alarm: how often it is false, how soon it rings, and what it says."""

import sys

import numpy as np
import pytest
from scipy.stats import kstest, norm

import calibrant
from calibrant import Calibrator, HalfLife, Interval, Normal, Tracker, Window, monitor
from calibrant.labels import Counts
from calibrant.monitoring import Monitor, capital, gains, log_idle, log_start, online_p_values


@pytest.mark.parametrize("digits", [1, 8], ids=["tied", "distinct"])
def test_p_values_are_ranks_among_all_earlier_scores(digits, monkeypatch):
    monkeypatch.setattr(sys.modules["calibrant.monitoring"], "BLOCK", 7)
    rng = np.random.default_rng(0)
    pool, scores = np.sort(rng.normal(size=20).round(digits)), rng.normal(size=60).round(digits)
    uniform = rng.random(60)
    p, all_of_them = online_p_values(pool, scores, uniform)
    for t, (score, u) in enumerate(zip(scores, uniform, strict=True)):
        before = np.append(pool, scores[:t])
        wanted = (np.sum(before < score) + u * (1 + np.sum(before == score))) / (1 + len(before))
        assert p[t] == pytest.approx(wanted, rel=1e-15)
    np.testing.assert_array_equal(all_of_them, np.sort(np.append(pool, scores)))


def test_p_values_are_uniform_and_independent_with_ties_too():
    rng, found = np.random.default_rng(1), []
    for _ in range(2000):
        scores = rng.integers(0, 3, 12) * 1.0
        found.append(online_p_values(np.sort(scores[:10]), scores[10:], rng.random(2))[0])
    first, second = np.array(found).T
    assert min(kstest(each, "uniform").pvalue for each in (first, second)) > 1e-3
    assert abs(np.corrcoef(first, second)[0, 1]) < 3.3 / np.sqrt(2000)


def test_a_bet_is_fair():
    """The integral of f over p = Phi(z) is 1; a spread's f is even in z, and p has more digits where it is small."""
    z = np.linspace(-37, 8, 90_001)
    held = np.exp(gains(norm.cdf(z))) * norm.pdf(z)[:, None]
    np.testing.assert_allclose(np.trapezoid(held[:, :12], z, axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(2 * np.trapezoid(held[z <= 0, 12:], z[z <= 0], axis=0), 1, atol=1e-6)


def test_the_shares_of_all_starts_sum_to_one():
    t = np.arange(1.0, 1001.0)
    np.testing.assert_allclose(np.cumsum(np.exp(log_start(t))) + np.exp(log_idle(t)), 1, rtol=1e-13)
    assert np.exp(log_idle(np.array(1e300))) < 2e-3  # slowly, but all of it is bet in the end


def test_the_capital_is_that_of_every_bet_from_every_start():
    p = np.random.default_rng(2).random(40)
    gained = np.exp(gains(p))
    for t in (1, 2, 40):
        starts = np.exp(log_start(np.arange(1.0, t + 1)))
        log_bets = sum(starts[s] * np.prod(gained[s:t], axis=0) for s in range(t))
        slow = np.exp(log_idle(np.array(float(t)))) + log_bets.mean()
        path, last = capital(p[:t])
        assert path[-1] == pytest.approx(np.log(slow), abs=1e-12)
        np.testing.assert_allclose(np.exp(last), log_bets, rtol=1e-12)


def test_rows_in_batches_are_rows_at_once():
    rng = np.random.default_rng(3)
    y = rng.normal(size=1500)
    y[900:] += 1
    calibrated = Calibrator().fit(np.zeros(200), rng.normal(size=200))
    whole = monitor(calibrated, np.zeros(1500), y, rng=np.random.default_rng(4))
    parts, draws = Monitor(calibrated), np.random.default_rng(4)
    for rows in np.split(y, [1, 2, 700, 700, 1300]):
        parts = parts.update(np.zeros(len(rows)), rows, rng=draws)
    np.testing.assert_allclose(parts.p, whole.p, rtol=1e-15)
    np.testing.assert_allclose(parts.log_capital, whole.log_capital, atol=1e-9)
    np.testing.assert_array_equal(parts.pool, whole.pool)
    assert parts.alarm == whole.alarm


def ever(p, threshold):
    return capital(p)[0].max() >= np.log(threshold)


def test_false_alarms_are_rarer_than_one_in_the_threshold():
    rng, runs, rows, n, threshold = np.random.default_rng(0), 300, 2000, 100, 5.0
    rang = 0
    for _ in range(runs):
        scores = rng.standard_t(3, n + rows)
        p, _ = online_p_values(np.sort(scores[:n]), scores[n:], rng.random(rows))
        rang += ever(p, threshold)
    assert rang / runs <= 1 / threshold + 3 * np.sqrt(0.2 * 0.8 / runs)
    assert rang > 0  # the bets are not idle


def test_on_pits_of_a_frozen_q_the_same_bets_ring_falsely():
    """Their ranks are those among n fixed scores: what n scores get wrong is bet on again and again."""
    rng, runs, rows, n = np.random.default_rng(5), 6, 50_000, 1000
    rang = 0
    for _ in range(runs):
        H = Calibrator().fit(np.zeros(n), rng.normal(size=n))([0.0])
        rang += ever(H.cdf(rng.normal(size=(1, rows)))[0], 100.0)
    assert rang >= runs / 2  # at a threshold that allows 1 in 100


CHANGES = {
    "low": lambda e: e - 1,
    "high": lambda e: e + 1,
    "narrow": lambda e: 2 * e,
    "wide": lambda e: e / 2,
}


@pytest.mark.parametrize("direction", CHANGES)
@pytest.mark.parametrize("start", [0, 1000])
def test_it_rings_soon_and_says_what_and_since_when(direction, start):
    soon, right, when = 0, 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=start + 300)
        noise[start:] = CHANGES[direction](noise[start:])
        f = rng.normal(size=start + 300)
        calibrated = Calibrator().fit(np.zeros(1000), rng.normal(size=1000))
        alarm = monitor(calibrated, f, f + noise, rng=rng).alarm
        assert alarm is not None
        assert alarm.row >= start
        soon += alarm.row < start + 100
        right += alarm.direction.name == direction
        when += abs(alarm.since - start) <= 20
        assert 0.25 < alarm.share <= 1
    assert min(soon, right, when) >= 7, (soon, right, when)


def test_it_says_so_in_a_sentence_or_two():
    rng = np.random.default_rng(0)
    calibrated = Calibrator().fit(np.zeros(500), rng.normal(size=500))
    calm = monitor(calibrated, np.zeros(100), rng.normal(size=100), threshold=50, rng=rng)
    assert str(calm).startswith("No alarm in 100 rows: the capital was at most ")
    assert "at most 0.02 as long as nothing changes" in str(calm)
    rung = calm.update(np.zeros(100), rng.normal(size=100) - 2, rng=rng)
    assert str(rung).startswith("Alarm at row 10")
    assert "the labels are lower than the forecasts say" in str(rung)
    assert repr(calm) == "Monitor(rows=100, threshold=50, alarm=None)"
    later = rung.update(np.zeros(50), rng.normal(size=50), rng=rng)
    assert later.alarm == rung.alarm  # the first time stays
    assert len(later) == 250


def test_labels_are_spread_and_windows_are_compared():
    rng = np.random.default_rng(0)
    rate = np.full(400, 3.0)
    counts = Calibrator(labels=Counts()).fit(rate, rng.poisson(rate) * 1.0, rng=rng)
    assert monitor(counts, rate, rng.poisson(rate) * 1.0, rng=rng).alarm is None
    assert monitor(counts, rate, rng.poisson(2 * rate) * 1.0, rng=rng).alarm.direction.name == "high"
    for forget, kept in ((Window(50), 50), (HalfLife(2), 120)):
        calibrated = Calibrator(forget=forget).fit(rate, rng.normal(size=400))
        assert Monitor(calibrated).pool.shape == (kept,)


Y = np.arange(5.0)
FITTED = Calibrator().fit(Y, Y**2)
BAD = {
    r"Monitor\.threshold must be above 1 and finite, got 1": lambda: Monitor(FITTED, 1),
    r"takes what Calibrator\.fit gives, a Calibrated, got Tracker": lambda: monitor(Tracker(FITTED, [0.5]), Y, Y),
    "fitted with weights": lambda: Monitor(Calibrator().fit(Y, Y**2, weights=Y)),
    "y must have one row for each of the 5 rows": lambda: Monitor(FITTED).update(Y, Y[:3]),
    "calibrated on points, got intervals": lambda: Monitor(FITTED).update(Interval(Y, Y + 1), Y),
    "found must be a calibrant": lambda: calibrant.plots.monitor(FITTED),
    "has seen no row yet": lambda: calibrant.plots.monitor(Monitor(FITTED)),
}


@pytest.mark.parametrize("words", BAD)
def test_what_it_cannot_watch_is_one_sentence(words):
    with pytest.raises((TypeError, ValueError), match=words):
        BAD[words]()


def test_the_plot_shows_the_evidence_the_threshold_and_the_alarm():
    rng = np.random.default_rng(0)
    calibrated = Calibrator().fit(Normal(np.zeros(300), 1.0), rng.normal(size=300))
    found = monitor(calibrated, Normal(np.zeros(20_000), 1.0), rng.normal(size=20_000) + 3, rng=rng)
    ax = calibrant.plots.monitor(found)
    path, threshold, dot, _ = ax.get_lines()
    assert set(threshold.get_ydata()) == {100.0}
    rows = path.get_xdata()
    np.testing.assert_allclose(np.log(path.get_ydata()), np.minimum(found.log_capital[rows], np.log(1e250)))
    assert len(rows) < 5100
    assert dot.get_xdata()[0] == found.alarm.row
    np.testing.assert_allclose(dot.get_ydata()[0], np.exp(found.log_capital[found.alarm.row]))
