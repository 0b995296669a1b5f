"""A tracker: the long-run statement against any rows, and the calibrated distribution between and beyond its levels."""

import numpy as np
import pytest

from calibrant import (
    Calibrator,
    GaussianMixture,
    HalfLife,
    Normal,
    Quantiles,
    Tracker,
    Window,
    evaluate,
    load,
    report,
)
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


def plain_walk(scores, levels, step, raw_positions):
    """The formula, row by row, with scikit-learn's isotonic regression."""
    from sklearn.isotonic import isotonic_regression

    ordered_positions, h = [], np.array(raw_positions)
    for s in scores:
        theta = isotonic_regression(h)
        ordered_positions.append(theta)
        h = h + step * (np.asarray(levels) - (s <= theta))
    return np.array(ordered_positions), h


def test_the_steps_are_those_of_the_formula():
    levels = np.arange(1, 20) / 20
    scores = np.random.default_rng(1).standard_t(2, size=2000)
    scores[::7] = np.round(scores[::7])  # ties
    start = np.linspace(-1, 1, 19)
    path, raw_positions, covered = walk(scores, levels.tolist(), 0.3, start)
    ordered_positions, wanted = plain_walk(scores, levels, 0.3, start)
    np.testing.assert_allclose(path, ordered_positions, atol=1e-9)
    np.testing.assert_allclose(raw_positions, wanted, atol=1e-9)
    assert (np.diff(path) == 0).any()  # they do cross, so that the projection is put to work
    np.testing.assert_array_equal(covered, np.sum(scores[:, None] <= path, axis=0))


def adversaries(levels, step, rows, kind, rng):
    """Scores in [0, 1], each chosen when the positions are known: the held path and whether each level covered."""
    K, h = len(levels), np.asarray(levels, float)
    path, hits, target = [h], [], 0
    for t in range(rows):
        theta = np.asarray(in_order(h.tolist()))
        if t % 50 == 0:
            target = int(rng.integers(K))
        at = np.clip(theta[target], 0.0, 1.0)
        s = {
            "noise": rng.random(),
            "just above": min(1.0, at + 1e-9),
            "just below": at,
            "ends": float(rng.random() < 0.5),
            "up, then down": float((t // 200) % 2),
            "between two": float(np.clip((theta[target] + theta[min(target + 1, K - 1)]) / 2, 0.0, 1.0)),
            "against the level": float(theta[target] < (t // 97) % 2),
        }[kind]
        _, h, covered = walk(np.array([s]), levels, step, h)
        path.append(h)
        hits.append(covered)
    return np.array(path), np.array(hits)


@pytest.mark.parametrize(
    "kind", ["noise", "just above", "just below", "ends", "up, then down", "between two", "against the level"]
)
@pytest.mark.parametrize(("levels", "step"), [((0.05, 0.95), 5.0), ((0.05, 0.25, 0.5, 0.75, 0.95), 0.3)])
def test_over_any_stretch_the_share_is_near_the_level_whatever_the_rows_do(kind, levels, step):
    rows, K = 600, len(levels)
    path, hits = adversaries(levels, step, rows, kind, np.random.default_rng(3))
    # the largest and the least excess over all stretches [t, u): a running sum's largest rise and fall
    excess = np.concatenate([np.zeros((1, K)), np.cumsum(hits - np.asarray(levels), axis=0)])
    rise = (excess - np.minimum.accumulate(excess, axis=0)).max()
    fall = (np.maximum.accumulate(excess, axis=0) - excess).max()
    bound = 1 / step + K
    assert max(rise, fall) <= bound * (1 + 1e-9)
    # the lemmas: neighbours cross by at most a step, and what is held stays within half K steps of [0, 1]
    assert (path[:, :-1] - path[:, 1:]).max(initial=0.0) <= step * (1 + 1e-9)
    assert path.max() <= 1 + step * (K + 1) / 2
    assert path.min() >= -step * (K + 1) / 2


def test_positions_that_are_put_in_order_for_good_break_the_statement():
    """Why what is held is not ordered itself: then the scores can make a level miss for ever."""

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


def kinds():
    mixture = GaussianMixture(np.full((N, 2), 0.5), np.stack([F - 1, F + 1], axis=1), np.ones((N, 2)))
    return {
        "point": (Calibrator(), F, Y),
        "quantiles": (Calibrator(), Quantiles([0.1, 0.5, 0.9], F[:, None] + [-1.0, 0.0, 1.0]), Y),
        "mixture, cdf": (Calibrator(CDFScore()), mixture, Y),
        "log": (Calibrator(LogScore()), np.exp(F), np.exp(Y / 3)),
        "naf": (Calibrator(interpolator=NAF()), F, Y),
        "labels": (Calibrator(labels=Real(lower=-100)), F, Y),
        "window": (Calibrator(forget=Window(60)), F, Y),
    }


FAR = np.geomspace(1e-13, 1e-3, 20_000)
LEVELS_OF_GRID = np.concatenate([FAR, np.linspace(1e-3, 1 - 1e-3, 100_000), 1 - FAR[::-1]])


@pytest.mark.parametrize("name", list(kinds()))
def test_the_distribution_has_its_levels_where_the_steps_say_and_true_integrals(name):
    calibrator, prediction, y = kinds()[name]
    calibrated = calibrator.fit(prediction[:100], y[:100])
    tracker = Tracker(calibrated)
    H, after = tracker.run(prediction, y)
    covered = np.sum(y[:, None] <= H.quantiles(tracker.levels), axis=0)
    np.testing.assert_array_equal(after.covered, covered)
    assert after.rows == N
    np.testing.assert_allclose(H.cdf(H.quantiles(tracker.levels)), np.tile(tracker.levels, (N, 1)), atol=1e-9)
    crps, mean = H.crps(y), H.mean()
    for row in (0, N - 1):
        distribution = H[row]
        points = distribution.ppf(LEVELS_OF_GRID)
        left, right = np.append(points[points < y[row]], y[row]), np.append(y[row], points[points > y[row]])
        below, above = distribution.cdf(left), distribution.sf(right)
        own = np.trapezoid(below**2, left) + np.trapezoid(above**2, right)
        assert crps[row] == pytest.approx(own, rel=1e-4)
        assert mean[row] == pytest.approx(y[row] + np.trapezoid(above, right) - np.trapezoid(below, left), abs=1e-4)


@pytest.mark.parametrize("name", ["point", "quantiles", "log"])
def test_its_distributions_are_distributions(name):
    calibrator, prediction, y = kinds()[name]
    H, _ = Tracker(calibrator.fit(prediction[:100], y[:100])).run(prediction, y)
    check_distribution(H[N - 5 :])


def test_it_starts_as_the_calibrated_distribution_and_run_is_one_row_after_the_other():
    tracker = Tracker(CALIBRATED)
    points = np.linspace(-5, 5, 101)
    np.testing.assert_allclose(tracker([0.3]).cdf(points[None, :]), CALIBRATED([0.3]).cdf(points[None, :]), atol=1e-12)
    H, after = tracker.run(F[:30], Y[:30])
    own = tracker
    for row in range(30):
        np.testing.assert_array_equal(own(F[row : row + 1]).median(), H[row : row + 1].median())
        own = own.update(F[row : row + 1], Y[row : row + 1])
    np.testing.assert_array_equal(own.raw_positions, after.raw_positions)
    assert own.guarantee == after.guarantee
    assert tracker.rows == 0  # a value never changes
    np.testing.assert_array_equal(tracker.positions, tracker.raw_positions)


def test_beyond_the_levels_tails_stretch_as_what_lies_between():
    tracker = Tracker(CALIBRATED, levels=(0.1, 0.9))
    wide = Tracker(CALIBRATED, levels=(0.1, 0.9), raw_positions=2 * tracker.positions, covered=np.zeros(2, np.int64))
    p = np.array([0.01, 0.3, 0.999])
    np.testing.assert_allclose(wide([0.0]).quantiles(p), 2 * CALIBRATED([0.0]).quantiles(p))
    moved = Tracker(CALIBRATED, levels=(0.5,)).update(np.zeros(200), np.full(200, 50.0))
    assert moved.positions[0] > 1
    off = moved.positions[0] - CALIBRATED([0.0]).median()
    np.testing.assert_allclose(moved([0.0]).quantiles(p), CALIBRATED([0.0]).quantiles(p) + off)


def test_positions_that_coincide_are_set_apart():
    levels = (0.25, 0.5, 0.75)
    same = Tracker(CALIBRATED, levels=levels, raw_positions=np.array([3.0, 2.0, 1.0]), covered=np.zeros(3, np.int64))
    np.testing.assert_array_equal(same.positions, [2.0, 2.0, 2.0])
    distribution = same([0.0])
    assert (np.diff(distribution.quantiles(levels)) > 0).all()
    np.testing.assert_allclose(distribution.quantiles(levels), 2.0, atol=1e-4)
    assert np.isfinite(distribution.crps(0.0)).all()
    far = separated(np.full((1, 5), 1e12), 1e-9)
    assert (np.diff(far) > 0).all()
    np.testing.assert_allclose(far, 1e12, rtol=1e-14)
    kept = np.array([[1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(separated(kept, 0.1), kept)


# ---- the guarantee -------------------------------------------------------------------------------------------------


def change_point(seed, rows=4000, n=500):
    """The labels move up by one and scatter twice as much from row 1,000 on."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n + rows)
    y[n + 1000 :] = 1 + 2 * y[n + 1000 :]
    return np.zeros(n + rows), y, n


def test_after_a_change_static_intervals_fail_and_tracked_ones_hold():
    static, tracked = [], []
    for run in range(10):
        f, y, n = change_point(run)
        calibrated = Calibrator().fit(f[:n], y[:n])
        for found, H in ((static, calibrated(f[n:])), (tracked, Tracker(calibrated).run(f[n:], y[n:])[0])):
            lower, upper = H[-2000:].interval(0.9)
            found.append(np.mean((lower < y[-2000:]) & (y[-2000:] <= upper)))
    assert np.mean(static) < 0.7
    assert abs(np.mean(tracked) - 0.9) < 0.02
    assert np.abs(np.array(tracked) - 0.9).max() < 0.03


def test_the_guarantee_holds_for_the_rows_so_far_and_says_what_is_not_promised():
    tracker = Tracker(CALIBRATED, step=0.5)
    assert tracker.guarantee.epsilon == 1.0
    after = tracker.update(F, Y)
    guarantee = after.guarantee
    assert guarantee.kind == "long run"
    assert guarantee.n == N
    low, high = min((Y - F).min(), tracker.positions[0]), max((Y - F).max(), tracker.positions[-1])
    assert after.extremes == pytest.approx((low, high))
    assert guarantee.epsilon == pytest.approx(((high - low) / 0.5 + 5) / N)
    assert np.abs(after.covered / N - after.levels).max() <= guarantee.epsilon
    assert guarantee.over(10 * N) == pytest.approx(guarantee.epsilon / 10)
    for words in ("(0.05, 0.25, 0.5, 0.75, 0.95)", "whatever the rows do", "Nothing is promised for a single row"):
        assert words in str(guarantee)


def test_the_default_step_has_the_unit_of_the_scores():
    small, large = (Tracker(Calibrator().fit(u * F[:100], u * Y[:100])) for u in (1.0, 1000.0))
    assert large.step == pytest.approx(1000 * small.step)
    one, two = small.run(F, Y)[0], large.run(1000 * F, 1000 * Y)[0]
    np.testing.assert_allclose(two.interval(0.9), 1000 * np.array(one.interval(0.9)), rtol=1e-9)


# ---- its places ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("updated", [False, True])
def test_a_file_gives_the_same_bits_and_goes_on(tmp_path, updated):
    calibrated = CALIBRATED.update(F[100:120], Y[100:120]) if updated else CALIBRATED
    tracker = Tracker(calibrated, levels=(0.1, 0.5, 0.9), step=0.7).update(F[:200], Y[:200])
    tracker.save(tmp_path / "t.safetensors")
    again = load(tmp_path / "t.safetensors")
    one, two = (each.run(F[200:], Y[200:]) for each in (tracker, again))
    assert one[1].raw_positions.tobytes() == two[1].raw_positions.tobytes()
    np.testing.assert_array_equal(one[0].crps(Y[200:]), two[0].crps(Y[200:]))
    assert one[1].guarantee == two[1].guarantee
    np.testing.assert_array_equal(one[1].covered, two[1].covered)


def test_more_labels_below_a_level_than_labels_are_refused():
    with pytest.raises(ValueError, match="its counts must lie between 0 and its 0 rows"):
        Tracker(CALIBRATED, raw_positions=np.zeros(5), covered=np.array([9, 0, 0, 0, 0]), extremes=(0.0, 1.0))


def test_evaluate_and_report_take_its_distributions():
    H, after = Tracker(CALIBRATED).run(F, Y)
    assert evaluate(H, Y).crps == pytest.approx(float(np.mean(H.crps(Y))))
    page = report(H, Y, base=CALIBRATED(F), guarantee=after.guarantee)
    assert "whatever the rows do" in page.html
    assert "calibration row" not in page.verdict[1].text  # no calibration set explains a gap here
    assert after.guarantee.calibration_rows is None
    assert CALIBRATED.guarantee.calibration_rows == 100


def test_counts_are_spread_and_collapsed():
    rng = np.random.default_rng(0)
    rate = rng.uniform(1, 5, N)
    y = rng.poisson(rate * np.linspace(1, 3, N)).astype(float)
    calibrated = Calibrator(labels=Counts()).fit(rate[:100], y[:100], rng=rng)
    H, after = Tracker(calibrated).run(rate, y, rng=rng)
    np.testing.assert_array_equal(H.ppf(0.5), np.round(H.ppf(0.5)))
    static = calibrated(rate)
    assert H[-200:].crps(y[-200:]).mean() < static[-200:].crps(y[-200:]).mean()
    assert np.abs(after.covered / N - after.levels).max() <= after.guarantee.epsilon


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    H, after = Tracker(CALIBRATED).run(torch.tensor(F), torch.tensor(Y))
    own, plain = Tracker(CALIBRATED).run(F, Y)
    np.testing.assert_allclose(H.median().numpy(), own.median())
    np.testing.assert_array_equal(after.raw_positions, plain.raw_positions)


def test_rows_without_a_label_have_a_distribution_and_are_no_step():
    y = Y.copy()
    y[[5, 6, N - 1]] = np.nan
    tracker = Tracker(CALIBRATED)
    with pytest.warns(UserWarning, match=f"y is missing in 3 of {N} rows, the first is row 5: they are skipped"):
        H, after = tracker.run(F, y)
    assert len(H) == N
    assert after.rows == N - 3
    there = ~np.isnan(y)
    np.testing.assert_array_equal(after.raw_positions, tracker.update(F[there], Y[there]).raw_positions)
    np.testing.assert_allclose(H.median()[5:8] - F[5:8], (H.median() - F)[5], rtol=1e-12)
    with pytest.warns(UserWarning, match="y is missing in 2 of 2 rows"):
        same = tracker.update(F[:2], [np.nan, np.nan])
    assert same.rows == 0


@pytest.mark.parametrize(
    ("make", "error", "sentence"),
    [
        (lambda: Tracker(CALIBRATED, levels=(0.5, 0.5)), ValueError, r"must increase strictly inside \(0, 1\), got"),
        (lambda: Tracker(CALIBRATED, levels=(0.0, 0.5)), ValueError, r"got \[0\.0, 0\.5\]"),
        (lambda: Tracker(CALIBRATED, levels=()), ValueError, r"got \[\]"),
        (lambda: Tracker(CALIBRATED, levels=0.5), ValueError, r"Tracker\.levels must be 1-d"),
        (lambda: Tracker(CALIBRATED, levels=["a"]), TypeError, r"Tracker\.levels must hold real numbers"),
        (lambda: Tracker(CALIBRATED, step=0), ValueError, r"Tracker\.step must be positive and finite, got 0"),
        (lambda: Tracker(CALIBRATED, step=np.nan), ValueError, r"Tracker\.step must be positive and finite, got nan"),
        (
            lambda: Tracker(Calibrator().fit(F, Y + 1e15)),
            ValueError,
            r"a step of 0\.\d+ is lost in rounding next to scores of 1e\+15",
        ),
        (lambda: Tracker(F), TypeError, "a Tracker takes what Calibrator.fit gives, a Calibrated, got ndarray"),
        (
            lambda: Tracker(Calibrator(interpolator=Random()).fit(F, Y)),
            TypeError,
            "a q that is the same for all rows, which Randomised is not",
        ),
        (lambda: Tracker(Calibrator(interpolator=Naive()).fit(F, Y)), TypeError, "takes a continuous q"),
        (
            lambda: Tracker(Calibrator().fit(F, Y, by=["a", "b"] * (N // 2))),
            TypeError,
            "a q that is the same for all rows, which Grouped is not: fit without by= and weights=",
        ),
        (lambda: Tracker(Calibrator().fit(F, Y, weights=np.ones(N))), TypeError, "which Reweighted is not"),
        (lambda: Tracker(Calibrator(signed(AbsoluteResidual())).fit(F, Y)), TypeError, "a continuous score"),
        (
            lambda: Tracker(Calibrator(interpolator=Linear(InfiniteTails())).fit(F[:9], Y[:9])),
            ValueError,
            r"q has no finite quantile at level 0\.05: n = 9 calibration rows are too few",
        ),
        (
            lambda: Tracker(Calibrator().fit(np.zeros(9), [0.0] * 7 + [1.0, 2.0])),
            ValueError,
            r"the same quantile at the levels 0\.25 and 0\.5",
        ),
        (
            lambda: Tracker(Calibrator().fit(np.zeros(9), [0.0] * 8 + [2.0]), levels=(0.9,)),
            ValueError,
            "there is no default step: give step=",
        ),
        (lambda: Tracker(CALIBRATED).run(F, Y[:-1]), ValueError, f"y must have one row for each of the {N} rows"),
        (lambda: Tracker(CALIBRATED).run(Normal(F, 1.0), Y), TypeError, "calibrated on points, got distributions"),
        (lambda: Tracker(CALIBRATED)(Normal(F, 1.0)), TypeError, "calibrated on points, got distributions"),
        (lambda: Tracker(CALIBRATED).update(F[:2], [1.0, np.inf]), ValueError, "y is NaN or infinite in row 1"),
        (lambda: Tracker(CALIBRATED).update(F[:2], ["a", "b"]), (TypeError, ValueError), "y must hold"),
    ],
)
def test_bad_input_is_one_sentence(make, error, sentence):
    with pytest.raises(error, match=sentence):
        make()


def test_a_half_life_is_a_start_as_good_as_any():
    assert Tracker(Calibrator(forget=HalfLife(50)).fit(F, Y)).update(F, Y).rows == N
