"""What kind of number a label is: bounds, transforms, and both."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import calibrant
from calibrant import Calibrator, CrossCalibrated, Mixture, Normal, Point, Quantiles, StudentT, concatenate
from calibrant.interpolators import NAF, Naive, Random
from calibrant.interpolators.tails import BoundedTails
from calibrant.labels import Chained, Labels, Real
from calibrant.persistence.summary import said
from calibrant.scores import CDFScore

N = 60
RNG = np.random.default_rng(0)
F = RNG.uniform(0.0, 3.0, N)
Y = np.clip(F + RNG.normal(size=N), 0.0, 5.0)
LEVELS, WEIGHTS = np.polynomial.legendre.leggauss(20)


def integral(function, edges):
    """By Gauss-Legendre between all of these edges."""
    edges = np.unique(edges)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return float(np.sum(half[:, None] * WEIGHTS * function(middle[:, None] + half[:, None] * LEVELS)))


def clipped_by_hand(law, low, high, y, bends):
    """Mean, std and crps of one row of a law, clipped: integrals of its own CDF between the bounds."""
    edges = np.r_[np.clip(np.r_[bends, y, np.linspace(low, high, 400)], low, high)]

    def cdf(t):
        return np.reshape(law.cdf(np.reshape(t, (1, -1))), t.shape)

    mean = high - integral(cdf, edges)
    second = high**2 - integral(lambda t: 2 * t * cdf(t), edges)
    crps = integral(lambda t: (cdf(t) - (t >= y)) ** 2, edges) + max(low - y, 0) + max(y - high, 0)
    return mean, np.sqrt(max(second - mean**2, 0.0)), crps


CALIBRATORS = {
    "linear": (Point, Calibrator()),
    "naive": (Point, Calibrator(None, Naive())),
    "naf": (Point, Calibrator(None, NAF())),
    "quantiles": (lambda f: Quantiles([0.1, 0.5, 0.9], f[:, None] + [-1.0, 0.1, 1.5]), Calibrator()),
    "cdf": (lambda f: StudentT(4.0, f, 0.5 + abs(f)), Calibrator(CDFScore())),
    "normal": (lambda f: Normal(f, 0.5 + abs(f)), Calibrator()),
}
CAPACITY = np.array([4.0, 0.7, 2.0, 0.0, 30.0])


@pytest.mark.parametrize("name", CALIBRATORS)
def test_a_law_clipped_by_row_has_the_integrals_of_each_row_clipped_by_hand(name):
    kind, calibrator = CALIBRATORS[name]
    H = calibrator.fit(kind(F), Y)(kind(F[:5]))
    lower = np.array([0.0, 0.1, -1.0, 0.0, -np.inf])
    C = H.clip(lower, CAPACITY)
    bends = H.quantiles(np.arange(1, N + 1) / (N + 1))
    y = np.array([1.0, 2.0, -0.5, 0.3, 2.0])
    for row in range(4):
        wanted = clipped_by_hand(H[row : row + 1], lower[row], CAPACITY[row], y[row], bends[row])
        found = C.mean()[row], C.std()[row], C.crps(y)[row]
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=2e-7, err_msg=f"row {row}")
    alone = H[4:].clip(upper=30.0)  # a side without a bound
    for method in ("mean", "std"):
        np.testing.assert_array_equal(getattr(C, method)()[4], getattr(alone, method)()[0])
    np.testing.assert_array_equal(C.crps(y)[4], alone.crps(2.0)[0])


@pytest.mark.parametrize("name", CALIBRATORS)
def test_bounds_by_row_that_are_all_equal_are_one_bound(name):
    kind, calibrator = CALIBRATORS[name]
    H = calibrator.fit(kind(F), Y)(kind(F[:5]))
    one, each = H.clip(0.5, 2.5), H.clip(np.full(5, 0.5), np.full(5, 2.5))
    y = np.array([[-1.0, 0.5, 1.0, 2.5, 3.0]])
    for method in ("cdf", "cdf_left", "sf", "logpdf", "crps"):
        np.testing.assert_array_equal(getattr(one, method)(y), getattr(each, method)(y), err_msg=method)
    np.testing.assert_array_equal(one.quantiles([0.0, 0.1, 0.5, 1.0]), each.quantiles([0.0, 0.1, 0.5, 1.0]))
    np.testing.assert_array_equal(one.std(), each.std())
    np.testing.assert_array_equal(each[[3, 1]].mean(), each.mean()[[3, 1]])
    both = concatenate([one, each])
    np.testing.assert_array_equal(both.crps(1.0), np.tile(one.crps(1.0), 2))
    tighter = H.clip(np.full(5, 0.0), 4.0).clip(0.5, np.full(5, 2.5))
    np.testing.assert_array_equal(tighter.crps(1.0), one.crps(1.0))


def test_clips_by_row_of_joined_mixed_and_randomised_laws():
    low, high = np.array([0.0, 1.0, -1.0]), np.array([2.0, 1.5, 1.0])
    parts = [Normal([0.5], 1.0), Calibrator().fit(F, Y)([1.0, 0.0])]
    joined, mixed = (
        concatenate(parts),
        Mixture((Normal([0.5, 1.0, 0.0], 1.0), Normal([1.0, 1.0, 1.0], 0.3)), (0.4, 0.6)),
    )
    random = Calibrator(None, Random(BoundedTails())).fit(F, Y)([1.0, 2.0, 0.5], seed=3)
    folds = CrossCalibrated((Calibrator().fit(F[:30], Y[:30]), Calibrator().fit(F[30:], Y[30:])))([F[:3], F[:3] + 0.1])
    for law in (joined, mixed, random, folds):
        C = law.clip(low, high)
        for row in range(3):
            alone = law[row : row + 1].clip(float(low[row]), float(high[row]))
            for y in (-2.0, 0.9, 1.0):
                np.testing.assert_allclose(C.crps(y)[row], alone.crps(y)[0], rtol=1e-12)
                assert C.cdf(y)[row] == alone.cdf(y)[0]
            np.testing.assert_allclose(C.std()[row], alone.std()[0], rtol=1e-9, atol=1e-12)


def test_a_clip_by_row_says_what_is_wrong():
    H = Normal([0.0, 1.0], 1.0)
    with pytest.raises(ValueError, match=r"clip's lower is above its upper in row 1 \(1 rows in all\)"):
        H.clip([0.0, 3.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="clip's upper must have one row for each of the 2 rows of the batch, got 3"):
        H.clip(upper=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="a single law takes two numbers"):
        H[0].clip([0.0], [1.0])


# ---- Real ------------------------------------------------------------------------------------------------------------


def test_without_labels_not_one_bit_changes():
    plain, free = Calibrator().fit(F, Y), Calibrator(labels=Real()).fit(F, Y)
    np.testing.assert_array_equal(plain.q.knots, free.q.knots)
    np.testing.assert_array_equal(plain(F).crps(Y), free(F).crps(Y))
    assert plain.labels is None
    assert "labels=Real(None, None)" in repr(free)


@pytest.mark.parametrize("name", CALIBRATORS)
def test_all_that_a_bounded_law_says_lies_inside(name):
    kind, calibrator = CALIBRATORS[name]
    H = replace(calibrator, labels=Real(0, 5)).fit(kind(F), Y)(kind(np.r_[F, -2.0, 6.0]))
    draws = H.sample(200, np.random.default_rng(1))
    for values in (H.interval(0.99)[0], H.interval(0.99)[1], H.mean(), H.median(), draws):
        assert np.all((values >= 0) & (values <= 5))
    free = calibrator.fit(kind(F), Y)(kind(F))
    np.testing.assert_array_equal(H.cdf(2.0)[:N], free.cdf(2.0))  # calibration is what it was
    assert np.all(H.crps(1.0)[:N] <= free.crps(1.0) + 1e-12)


def test_a_bound_by_row_is_given_at_every_call():
    rng = np.random.default_rng(2)
    capacity = rng.uniform(1, 4, N)
    y = np.minimum(Y, capacity)
    table = {"capacity": capacity, "floor": np.minimum(y, 0.1)}
    by_array = Calibrator(labels=Real(0, "capacity")).fit(F, y, bound=capacity)
    by_name = Calibrator(labels=Real(0, "capacity")).fit(F, y, bound=table)
    by_function = Calibrator(labels=Real(0, lambda rows: rows["capacity"])).fit(F, y, bound=table)
    both = Calibrator(labels=Real("floor", "capacity")).fit(F, y, bound=table)
    for calibrated, bound in ((by_array, capacity), (by_name, table), (by_function, table), (both, table)):
        H = calibrated(F, bound=bound)
        np.testing.assert_array_equal(H.cdf(capacity), 1.0)
        assert np.all(H.ppf(1 - 1e-12) <= capacity)
    np.testing.assert_array_equal(by_array(F, bound=capacity).crps(y), by_name(F, bound=table).crps(y))
    cross = CrossCalibrated((by_array, by_name))([F, F], bound=capacity)
    np.testing.assert_array_equal(cross.cdf(capacity), 1.0)


def test_what_real_refuses():
    def refused(error, words, action):
        with pytest.raises(error, match=words) as found:
            action()
        assert "\n" not in str(found.value)

    fit = Calibrator(labels=Real(0, 1)).fit
    refused(ValueError, r"y is -0.5 in row 1 \(2 rows in all\), below the bound 0 of Real\(0, 1\)",
            lambda: fit(np.zeros(4), [0.0, -0.5, 1.0, -1.0]))  # fmt: skip
    refused(ValueError, r"y is 2 in row 2 \(1 rows in all\), above the bound 1", lambda: fit(np.zeros(3), [0, 0, 2.0]))
    refused(ValueError, "Real needs lower < upper, got 1 and 0", lambda: Real(1, 0))
    refused(TypeError, "Real.lower must be one number", lambda: Real([0.0]))
    refused(ValueError, "Real.upper must be a number, got nan", lambda: Real(0, np.nan))
    refused(TypeError, r"bound= is for labels that are bounded row by row, got labels=Real\(0, 1\)",
            lambda: fit(np.zeros(1), [0.0], bound=[1.0]))  # fmt: skip
    refused(TypeError, "bound= is for labels that are bounded row by row, got labels=None",
            lambda: Calibrator().fit(F, Y)(F, bound=F))  # fmt: skip
    rows = Calibrator(labels=Real(0, "cap"))
    refused(TypeError, r"Real\(0, 'cap'\) needs bound=", lambda: rows.fit(F, Y))
    refused(KeyError, "needs a column 'cap', which bound= does not have", lambda: rows.fit(F, Y, bound={"hat": F}))
    refused(ValueError, "must have one row for each of the 60 rows of the prediction, got 1",
            lambda: rows.fit(F, Y, bound=[9.0]))  # fmt: skip
    refused(ValueError, r"y is .* in row \d+ \(\d+ rows in all\), above the bound 0.1",
            lambda: rows.fit(F, Y, bound=np.full(N, 0.1)))  # fmt: skip
    refused(TypeError, "Calibrator.labels must be a Labels object, got 'log'", lambda: Calibrator(labels="log"))


def test_coverage_of_bounded_labels_is_what_it_was():
    """The interval of a clipped law holds a label inside the bounds just when the law's own does."""
    rng = np.random.default_rng(5)
    f = rng.uniform(0, 3, 4000)
    y = np.clip(f + rng.normal(size=4000), 0, 5)
    free, bounded = (Calibrator(labels=labels).fit(f[:500], y[:500])(f[500:]) for labels in (None, Real(0, 5)))
    (low, high), (inner_low, inner_high) = free.interval(0.9), bounded.interval(0.9)
    np.testing.assert_array_equal(
        (y[500:] >= low) & (y[500:] <= high), (y[500:] >= inner_low) & (y[500:] <= inner_high)
    )
    assert np.mean(inner_high - inner_low) < np.mean(high - low)


def test_labels_are_kept_in_the_file(tmp_path):
    path = tmp_path / "model.safetensors"
    for labels in (Real(0), Real(None, 7.5), Real(0, "capacity"), Real(0) | Real(-1, 9), None):
        calibrated = Calibrator(labels=labels).fit(F, Y, bound=F + 9 if labels and labels.by_row else None)
        calibrated.save(path)
        again = calibrant.load(path)
        assert again.labels == labels == pickle.loads(pickle.dumps(calibrated)).labels
        assert calibrant.persistence.read(path).about["labels"] == (None if labels is None else said(labels))


@dataclass(frozen=True)
class Cut(Labels):
    at: float

    def collapse(self, law, *, bound=None):
        return law.clip(upper=self.at)


def test_labels_of_your_own_are_kept_by_their_class(tmp_path):
    path = tmp_path / "model.safetensors"
    Calibrator(labels=Cut(3.0)).fit(F, Y).save(path)
    assert calibrant.load(path, classes=[Cut]).labels == Cut(3.0)
    assert float(calibrant.load(path, classes=[Cut])([9.0]).ppf(0.5)[0]) == 3.0


def test_kinds_chain_from_the_label_inwards():
    chained = Real(0, 5) | Cut(3.0) | Real(-1)
    assert chained == Chained((Real(0, 5), Cut(3.0), Real(-1)))
    H = Calibrator(labels=chained).fit(F, Y)(F)
    np.testing.assert_array_equal(H.crps(Y), Calibrator().fit(F, Y)(F).clip(-1.0).clip(upper=3.0).clip(0, 5).crps(Y))
    with pytest.raises(TypeError):
        Real(0) | "log"
