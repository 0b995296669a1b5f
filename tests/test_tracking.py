"""A tracker: the long-run statement against any rows, and the calibrated distribution between and beyond its levels."""

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from calibrant import Calibrator, GaussianMixture, Normal, Quantiles, Tracker, Window, evaluate, load, report
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.intervals import AbsoluteResidual
from calibrant.labels import Counts, Real
from calibrant.scores import CDFScore, LogScore, signed
from calibrant.testing import check_distribution
from calibrant.tracking import in_order, separated, walk

RNG = np.random.default_rng(0)
N = 400
F = RNG.normal(size=N)
Y = F + RNG.normal(size=N) * np.linspace(0.7, 2.0, N) + np.linspace(0.0, 1.5, N)
CALIBRATED = Calibrator().fit(F[:100], Y[:100])


# ---- the steps -----------------------------------------------------------------------------------------------------


def test_the_steps_are_those_of_the_formula():
    levels = np.arange(1, 20) / 20
    scores = np.random.default_rng(1).standard_t(2, size=2000)
    scores[::7] = np.round(scores[::7])  # ties
    h, thetas = np.linspace(-1, 1, 19), []
    path, raw_positions, covered = walk(scores, levels.tolist(), 0.3, h)
    for s in scores:
        thetas.append(isotonic_regression(h))
        h = h + 0.3 * (levels - (s <= thetas[-1]))
    np.testing.assert_allclose(path, thetas, atol=1e-9)
    np.testing.assert_allclose(raw_positions, h, atol=1e-9)
    assert (np.diff(path) == 0).any()  # they do cross, so that the projection is put to work
    np.testing.assert_array_equal(covered, np.sum(scores[:, None] <= path, axis=0))


def against(kind, theta, levels, t, rng):
    """A score in [0, 1] that is chosen when the positions are known."""
    target = (t // 50) % len(levels)
    at = np.clip(theta[target], 0.0, 1.0)
    return {
        "noise": rng.random(),
        "just above": min(1.0, at + 1e-9),
        "just below": at,
        "up, then down": float((t // 200) % 2),
        "against the level": float(theta[target] < (t // 97) % 2),
    }[kind]


@pytest.mark.parametrize("kind", ["noise", "just above", "just below", "up, then down", "against the level"])
@pytest.mark.parametrize(("levels", "step"), [((0.05, 0.95), 5.0), ((0.05, 0.25, 0.5, 0.75, 0.95), 0.3)])
def test_over_any_stretch_the_share_is_near_the_level_whatever_the_rows_do(kind, levels, step):
    K, rng, h, path, hits = len(levels), np.random.default_rng(3), np.asarray(levels), [], []
    for t in range(600):
        path.append(h)
        _, h, covered = walk(np.array([against(kind, in_order(h.tolist()), levels, t, rng)]), levels, step, h)
        hits.append(covered)
    # the largest and the least excess over all stretches [t, u): a running sum's largest rise and fall
    excess = np.concatenate([np.zeros((1, K)), np.cumsum(np.array(hits) - levels, axis=0)])
    rise = (excess - np.minimum.accumulate(excess, axis=0)).max()
    fall = (np.maximum.accumulate(excess, axis=0) - excess).max()
    assert max(rise, fall) <= (1 / step + K) * (1 + 1e-9)
    # the lemmas: neighbours cross by at most a step, and what is kept stays within half K steps of [0, 1]
    path = np.array(path)
    assert (path[:, :-1] - path[:, 1:]).max(initial=0.0) <= step * (1 + 1e-9)
    assert -step * (K + 1) / 2 <= path.min() <= path.max() <= 1 + step * (K + 1) / 2


def test_positions_that_are_put_in_order_for_good_break_the_statement():
    def share(*, for_good):
        levels, h, hit, rows = (0.1, 0.5, 0.9), np.array([0.1, 0.5, 0.9]), 0, 5000
        for _ in range(rows):
            s = np.clip(in_order(h.tolist())[0] + 1e-9, 0.0, 1.0)  # just above the first
            _, h, covered = walk(np.array([s]), levels, 0.05, h)
            hit += covered
            h = np.asarray(in_order(h.tolist())) if for_good else h
        return hit / rows - np.asarray(levels)

    assert np.abs(share(for_good=False)).max() < (1 / 0.05 + 3) / 5000
    assert np.abs(share(for_good=True)).max() > 0.09


# ---- the distribution ----------------------------------------------------------------------------------------------


MIXTURE = GaussianMixture(np.full((N, 2), 0.5), np.stack([F - 1, F + 1], axis=1), np.ones((N, 2)))
KINDS = {
    "point": (Calibrator(), F, Y),
    "quantiles": (Calibrator(), Quantiles([0.1, 0.5, 0.9], F[:, None] + [-1.0, 0.0, 1.0]), Y),
    "mixture, cdf": (Calibrator(CDFScore()), MIXTURE, Y),
    "log": (Calibrator(LogScore()), np.exp(F), np.exp(Y / 3)),
    "naf": (Calibrator(interpolator=NAF()), F, Y),
    "labels": (Calibrator(labels=Real(lower=-100)), F, Y),
    "window": (Calibrator(forget=Window(60)), F, Y),
}
FAR = np.geomspace(1e-13, 1e-3, 20_000)
GRID = np.concatenate([FAR, np.linspace(1e-3, 1 - 1e-3, 100_000), 1 - FAR[::-1]])


@pytest.mark.parametrize("name", KINDS)
def test_the_distribution_has_its_levels_where_the_steps_say_and_true_integrals(name):
    calibrator, prediction, y = KINDS[name]
    tracker = Tracker(calibrator.fit(prediction[:100], y[:100]))
    H, after = tracker.run(prediction, y)
    np.testing.assert_array_equal(after.covered, np.sum(y[:, None] <= H.quantiles(tracker.levels), axis=0))
    np.testing.assert_allclose(H.cdf(H.quantiles(tracker.levels)), np.tile(tracker.levels, (N, 1)), atol=1e-9)
    crps, mean = H.crps(y), H.mean()
    for row in (0, N - 1):
        points = H[row].ppf(GRID)
        left, right = np.append(points[points < y[row]], y[row]), np.append(y[row], points[points > y[row]])
        below, above = H[row].cdf(left), H[row].sf(right)
        own = np.trapezoid(below**2, left) + np.trapezoid(above**2, right)
        assert crps[row] == pytest.approx(own, rel=1e-4)
        assert mean[row] == pytest.approx(y[row] + np.trapezoid(above, right) - np.trapezoid(below, left), abs=1e-4)
    check_distribution(H[N - 3 :])


def test_it_starts_as_the_calibrated_distribution_and_run_is_one_row_after_the_other():
    tracker, points = Tracker(CALIBRATED), np.linspace(-5, 5, 101)
    np.testing.assert_allclose(tracker([0.3]).cdf(points[None, :]), CALIBRATED([0.3]).cdf(points[None, :]), atol=1e-12)
    H, after = tracker.run(F[:30], Y[:30])
    own = tracker
    for row in range(30):
        np.testing.assert_array_equal(own(F[row : row + 1]).median(), H[row : row + 1].median())
        own = own.update(F[row : row + 1], Y[row : row + 1])
    np.testing.assert_array_equal(own.raw_positions, after.raw_positions)
    assert own.guarantee == after.guarantee
    assert tracker.rows == 0  # a value never changes


def test_beyond_the_levels_tails_stretch_as_what_lies_between():
    tracker, p = Tracker(CALIBRATED, levels=(0.1, 0.9)), np.array([0.01, 0.3, 0.999])
    wide = Tracker(CALIBRATED, levels=(0.1, 0.9), raw_positions=2 * tracker.positions)
    np.testing.assert_allclose(wide([0.0]).quantiles(p), 2 * CALIBRATED([0.0]).quantiles(p))
    moved = Tracker(CALIBRATED, levels=(0.5,)).update(np.zeros(200), np.full(200, 50.0))
    off = moved.positions[0] - CALIBRATED([0.0]).median()
    assert off > 1
    np.testing.assert_allclose(moved([0.0]).quantiles(p), CALIBRATED([0.0]).quantiles(p) + off)


def test_positions_that_coincide_are_set_apart():
    levels = (0.25, 0.5, 0.75)
    same = Tracker(CALIBRATED, levels=levels, raw_positions=np.array([3.0, 2.0, 1.0]))
    np.testing.assert_array_equal(same.positions, [2.0, 2.0, 2.0])
    found = same([0.0]).quantiles(levels)
    assert (np.diff(found) > 0).all()
    np.testing.assert_allclose(found, 2.0, atol=1e-4)
    far = separated(np.full((1, 5), 1e12), 1e-9)
    assert (np.diff(far) > 0).all()
    np.testing.assert_allclose(far, 1e12, rtol=1e-14)
    np.testing.assert_array_equal(separated(np.array([[1.0, 2.0, 3.0]]), 0.1), [[1.0, 2.0, 3.0]])


# ---- the guarantee -------------------------------------------------------------------------------------------------


def test_after_a_change_static_intervals_fail_and_tracked_ones_hold():
    """The labels move up by one and scatter twice as much from row 1,000 on."""
    shares = {"static": [], "tracked": []}
    for seed in range(10):
        y = np.random.default_rng(seed).normal(size=4500)
        y[1500:] = 1 + 2 * y[1500:]
        f, last = np.zeros(4000), y[-2000:]
        calibrated = Calibrator().fit(f[:500], y[:500])
        for name, H in (("static", calibrated(f)), ("tracked", Tracker(calibrated).run(f, y[500:])[0])):
            lower, upper = H[-2000:].interval(0.9)
            shares[name].append(np.mean((lower < last) & (last <= upper)))
    assert np.mean(shares["static"]) < 0.7
    assert np.abs(np.array(shares["tracked"]) - 0.9).max() < 0.03


def test_the_guarantee_holds_for_the_rows_so_far_and_says_what_is_not_promised():
    tracker = Tracker(CALIBRATED, step=0.5)
    assert tracker.guarantee.epsilon == 1.0
    after = tracker.update(F, Y)
    guarantee = after.guarantee
    assert (guarantee.kind, guarantee.n, guarantee.calibration_rows) == ("long run", N, None)
    low, high = min((Y - F).min(), tracker.positions[0]), max((Y - F).max(), tracker.positions[-1])
    assert after.extremes == pytest.approx((low, high))
    assert guarantee.epsilon == pytest.approx(((high - low) / 0.5 + 5) / N)
    assert np.abs(after.covered / N - after.levels).max() <= guarantee.epsilon
    assert guarantee.over(10 * N) == pytest.approx(guarantee.epsilon / 10)
    for words in ("(0.05, 0.25, 0.5, 0.75, 0.95)", "whatever the rows do", "Nothing is promised for a single row"):
        assert words in str(guarantee)


def test_the_default_step_has_the_unit_of_the_scores():
    small, large = (Tracker(Calibrator().fit(u * F[:100], u * Y[:100])) for u in (1.0, 1000.0))
    one, two = small.run(F, Y)[0], large.run(1000 * F, 1000 * Y)[0]
    np.testing.assert_allclose(two.interval(0.9), 1000 * np.array(one.interval(0.9)), rtol=1e-9)


# ---- what goes in and out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("updated", [False, True])
def test_a_file_gives_the_same_bits_and_goes_on(tmp_path, updated):
    calibrated = CALIBRATED.update(F[100:120], Y[100:120]) if updated else CALIBRATED
    tracker = Tracker(calibrated, levels=(0.1, 0.5, 0.9), step=0.7).update(F[:200], Y[:200])
    tracker.save(tmp_path / "t.safetensors")
    one, two = (each.run(F[200:], Y[200:]) for each in (tracker, load(tmp_path / "t.safetensors")))
    assert one[1].raw_positions.tobytes() == two[1].raw_positions.tobytes()
    np.testing.assert_array_equal(one[0].crps(Y[200:]), two[0].crps(Y[200:]))
    assert one[1].guarantee == two[1].guarantee


def test_evaluate_and_report_take_its_distributions():
    H, after = Tracker(CALIBRATED).run(F, Y)
    assert evaluate(H, Y).crps == pytest.approx(float(np.mean(H.crps(Y))))
    assert "whatever the rows do" in report(H, Y, base=CALIBRATED(F), guarantee=after.guarantee).html


def test_counts_are_spread_and_collapsed():
    rng = np.random.default_rng(0)
    rate = rng.uniform(1, 5, N)
    y = rng.poisson(rate * np.linspace(1, 3, N)).astype(float)
    calibrated = Calibrator(labels=Counts()).fit(rate[:100], y[:100], rng=rng)
    H, after = Tracker(calibrated).run(rate, y, rng=rng)
    np.testing.assert_array_equal(H.ppf(0.5), np.round(H.ppf(0.5)))
    assert H[-200:].crps(y[-200:]).mean() < calibrated(rate)[-200:].crps(y[-200:]).mean()
    assert np.abs(after.covered / N - after.levels).max() <= after.guarantee.epsilon


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    H, after = Tracker(CALIBRATED).run(torch.tensor(F), torch.tensor(Y))
    own, plain = Tracker(CALIBRATED).run(F, Y)
    np.testing.assert_allclose(H.median().numpy(), own.median())
    np.testing.assert_array_equal(after.raw_positions, plain.raw_positions)


def test_rows_without_a_label_have_a_distribution_and_are_no_step():
    tracker, there = Tracker(CALIBRATED), ~np.isin(np.arange(N), [5, 6, N - 1])
    with pytest.warns(UserWarning, match=f"y is missing in 3 of {N} rows, the first is row 5: they are skipped"):
        H, after = tracker.run(F, np.where(there, Y, np.nan))
    assert (len(H), after.rows) == (N, N - 3)
    np.testing.assert_array_equal(after.raw_positions, tracker.update(F[there], Y[there]).raw_positions)
    np.testing.assert_allclose(H.median()[5:8] - F[5:8], (H.median() - F)[5], rtol=1e-12)
    with pytest.warns(UserWarning, match="y is missing in 2 of 2 rows"):
        assert tracker.update(F[:2], [np.nan, np.nan]).rows == 0


def fitted(f=F, y=Y, **known):
    interpolator = known.pop("interpolator", Linear())
    return Calibrator(known.pop("score", None), interpolator).fit(f, y, **known)


BAD = {
    r"must increase strictly inside \(0, 1\), got": lambda: Tracker(CALIBRATED, levels=(0.5, 0.5)),
    r"got \[0\.0, 0\.5\]": lambda: Tracker(CALIBRATED, levels=(0.0, 0.5)),
    r"Tracker\.levels must be 1-d": lambda: Tracker(CALIBRATED, levels=0.5),
    r"Tracker\.levels must hold real numbers": lambda: Tracker(CALIBRATED, levels=["a"]),
    r"Tracker\.step must be positive and finite, got 0": lambda: Tracker(CALIBRATED, step=0),
    "its counts must lie between 0 and its 0 rows": lambda: Tracker(CALIBRATED, covered=np.array([9, 0, 0, 0, 0])),
    "5 levels do not go with 3 positions and 5 counts": lambda: Tracker(CALIBRATED, raw_positions=np.zeros(3)),
    "a Tracker takes what Calibrator.fit gives, a Calibrated, got ndarray": lambda: Tracker(F),
    "the same for all rows, which Randomised is not": lambda: Tracker(fitted(interpolator=Random())),
    "which Grouped is not: fit without by= and weights=": lambda: Tracker(fitted(by=["a", "b"] * (N // 2))),
    "which Reweighted is not": lambda: Tracker(fitted(weights=np.ones(N))),
    "takes a continuous q": lambda: Tracker(fitted(interpolator=Naive())),
    "takes a continuous score": lambda: Tracker(fitted(score=signed(AbsoluteResidual()))),
    r"no finite quantile at level 0\.05: n = 9 calibration rows are too few": lambda: Tracker(
        fitted(F[:9], Y[:9], interpolator=Linear(InfiniteTails()))
    ),
    r"the same quantile at the levels 0\.25 and 0\.5": lambda: Tracker(fitted(np.zeros(9), [0.0] * 7 + [1.0, 2.0])),
    "no default step: give step=": lambda: Tracker(fitted(np.zeros(9), [0.0] * 8 + [2.0]), levels=(0.9,)),
    f"y must have one row for each of the {N} rows": lambda: Tracker(CALIBRATED).run(F, Y[:-1]),
    "calibrated on points, got distributions": lambda: Tracker(CALIBRATED)(Normal(F, 1.0)),
    "y is NaN or infinite in row 1": lambda: Tracker(CALIBRATED).update(F[:2], [1.0, np.inf]),
    "y must hold": lambda: Tracker(CALIBRATED).update(F[:2], ["a", "b"]),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_is_one_sentence(words):
    with pytest.raises((TypeError, ValueError), match=words):
        BAD[words]()
