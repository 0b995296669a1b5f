"""Right-censored labels: ignoring the censoring is far off, inverse probabilities of being followed are not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from commands import refused, run
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

from calibrant import CalibratedRegressor, Calibrator, Censored, Point
from calibrant.censored import still_followed
from calibrant.interpolators import NAF, Naive, Random
from calibrant.labels import Real, Transformed
from calibrant.scores import LogScore

LEVELS = np.arange(1, 40) / 40


def one_sentence(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


def data(rng, n, *, by_x=False):
    """Life times around the prediction f = exp(x), lost at a rate that censors about 30%."""
    x = rng.normal(scale=0.5, size=n)
    f = np.exp(x)
    label = f * rng.exponential(size=n)
    rate = 0.43 * np.exp(2.0 * x) if by_x else np.full(n, 0.43)
    lost = rng.exponential(size=n) / rate
    y, event = np.minimum(label, lost), label <= lost
    return f, label, y, event, np.exp(-rate * y)


def sup_error(make, repetitions, n=1000, seed=3, **how):
    rng = np.random.default_rng(seed)
    shares, share_lost = [], []
    for _ in range(repetitions):
        f, _, y, event, followed = data(rng, n, **how)
        f_new, label_new, *_ = data(rng, 500, **how)
        shares.append(np.mean(make(f, y, event, followed)(f_new, rng=rng).cdf(label_new)[:, None] <= LEVELS, axis=0))
        share_lost.append(1 - event.mean())
    error = np.abs(np.mean(shares, axis=0) - LEVELS).max()
    return error, 4 * np.std(shares, axis=0).max() / np.sqrt(repetitions), np.mean(share_lost)


def dropped(f, y, event, followed):
    return Calibrator(LogScore()).fit(f[event], y[event])


def as_seen(f, y, event, followed):
    return Calibrator(LogScore()).fit(f, y)


def ours(f, y, event, followed):
    return Calibrator(LogScore()).fit(f, Censored(y, event))


def test_ignoring_the_censoring_is_off_by_ten_points_and_weights_mend_it():
    for wrong in (dropped, as_seen):
        error, noise, lost = sup_error(wrong, 30)
        assert 0.25 < lost < 0.35
        assert error > 0.10 + noise / 4, wrong
    error, noise, _ = sup_error(ours, 200)
    assert noise < 0.01
    assert error < 0.02


@pytest.mark.few(2)
@pytest.mark.parametrize("interpolator", [Naive(), Random(), NAF()])
def test_every_interpolator_takes_censored_labels(interpolator):
    def made(f, y, event, followed):
        return Calibrator(LogScore(), interpolator).fit(f, Censored(y, event))

    error, noise, _ = sup_error(made, 20)
    assert error < 0.02 + noise


def test_censoring_that_depends_on_x_needs_a_model_of_it():
    def modelled(f, y, event, followed):
        return Calibrator(LogScore()).fit(f, Censored(y, event, followed=followed))

    right, _, _ = sup_error(modelled, 100, by_x=True)
    assert right < 0.02
    wrong, _, _ = sup_error(ours, 100, by_x=True)
    assert wrong > right + 0.01


def test_kaplan_and_meier_agree_with_lifelines():
    lifelines = pytest.importorskip("lifelines")
    rng = np.random.default_rng(0)
    y, event = np.round(rng.exponential(size=200), 1) + 0.1, rng.random(200) < 0.6
    fitted = lifelines.KaplanMeierFitter().fit(y, ~event)
    # lifelines counts a label that is seen at the time of a loss as still at risk: move the losses just behind
    later = np.where(event, y, y + 1e-6)
    fitted = lifelines.KaplanMeierFitter().fit(later, ~event)
    wanted = fitted.survival_function_at_times(y - 1e-9).to_numpy()
    np.testing.assert_allclose(still_followed(y, event), wanted, rtol=1e-12)


def test_no_row_censored_is_the_plain_distribution():
    f, label, *_ = data(np.random.default_rng(1), 200)
    plain, censored = Calibrator().fit(f, label), Calibrator().fit(f, Censored(label, np.ones(200)))
    np.testing.assert_array_equal(censored(f).cdf(label), plain(f).cdf(label))
    assert censored.guarantee.known == 1


# ---- the end of the follow-up ---------------------------------------------------------------------------------------


def ended(seed=2, n=2000, end=1.0):
    """A study that ends at a time which half of the labels exceed, for one forecast for all."""
    rng = np.random.default_rng(seed)
    label, lost = rng.exponential(1.4, n), np.minimum(rng.exponential(5.0, n), end)
    return np.zeros(n), label, np.minimum(label, lost), label <= lost


def test_levels_beyond_the_follow_up_are_refused_and_those_before_are_right():
    f, _, y, event = ended()
    model = Calibrator().fit(f, Censored(y, event))
    H = model([0.0])
    known = model.guarantee.known
    assert known == pytest.approx(1 - np.exp(-1 / 1.4), abs=0.03)
    low = np.array([0.1, 0.3, 0.5])
    np.testing.assert_allclose(H.quantiles(low)[0], -1.4 * np.log(1 - low), atol=0.08)
    levels = (lambda: H.ppf(0.9), lambda: H.isf(0.05), lambda: H.interval(0.9), lambda: H.quantiles([0.1, 0.8]))
    np.testing.assert_allclose(H.isf(0.7), H.ppf(0.3), rtol=1e-9)
    for ask in (*levels, H.mean, H.std):
        with pytest.raises(ValueError, match=r"cannot be known: labels were followed up as far as level 0\.5") as error:
            ask()
        one_sentence(error)
    assert f"Levels above {known:.3g} lie beyond the follow-up" in str(model.guarantee)
    assert H.cdf(0.5)[0] == pytest.approx(1 - np.exp(-0.5 / 1.4), abs=0.03)
    assert repr(H) == H._repr_html_() == f"calibrated forecast of 1 row, known up to level {known:.3g}"


def test_rows_that_outlived_the_study_with_a_small_score_end_the_known_levels_early():
    """Forecasts differ: rows with the larger one leave the study at a low score, and may belong anywhere above."""
    rng = np.random.default_rng(5)
    f = rng.choice([1.0, 3.0], 2000)
    label = f * rng.exponential(size=2000)
    y, event = np.minimum(label, 2.0), label <= 2.0
    model = Calibrator(LogScore()).fit(f, Censored(y, event))
    # rows of forecast 3 leave at y / f = 2/3, where the distribution of the ratio has the level 1 - exp(-2/3)
    assert model.guarantee.known < 1 - np.exp(-2 / 3) + 0.05
    below = np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(model([1.0]).quantiles(below)[0], -np.log(1 - below), atol=0.06)


def test_a_little_missing_mass_refuses_only_the_last_levels():
    rng = np.random.default_rng(4)
    f, _, y, event, _ = data(rng, 1000)
    event[np.argmax(y)] = False
    model = Calibrator(LogScore()).fit(f, Censored(y, event, tolerance=0.05))
    assert 0.95 < model.guarantee.known < 1
    assert np.all(np.isfinite(model(f[:3]).interval(0.9)[1]))
    with pytest.raises(ValueError, match="cannot be known"):
        model(f[:3]).ppf(0.9999)


# ---- doors ----------------------------------------------------------------------------------------------------------


class Scale(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.exp(X[:, 0])


def test_a_frozen_model_is_calibrated_on_censored_labels_by_the_estimator():
    f, _, y, event, _ = data(np.random.default_rng(6), 800)
    X = np.log(f)[:, None]
    frozen = FrozenEstimator(Scale().fit(X, y))
    model = CalibratedRegressor(frozen, calibration_score="log", random_state=0).fit(X, Censored(y, event))
    by_hand = Calibrator(LogScore()).fit(f, Censored(y, event))
    np.testing.assert_allclose(model.predict_distribution(X[:5]).median(), by_hand(Point(f[:5])).median(), rtol=1e-12)
    assert model.calibrate(X, Censored(y, event)).guarantee_.n == event.sum()
    for wrong in (LinearRegression(), [LinearRegression()]):
        with pytest.raises(TypeError, match="only a FrozenEstimator") as error:
            CalibratedRegressor(wrong).fit(X, Censored(y, event))
        one_sentence(error)


def test_a_column_says_which_labels_were_seen(tmp_path):
    f, _, y, event, _ = data(np.random.default_rng(7), 500)
    table = pd.DataFrame({"f": f, "time": y, "dead": event.astype(int)})
    cal, model, out = tmp_path / "cal.csv", tmp_path / "m.safetensors", tmp_path / "out.csv"
    table.to_csv(cal, index=False)
    fit = ("fit", cal, "--target", "time", "--point", "f", "--score", "log", "-o", model, "--event", "dead")
    assert "No finite-sample claim" in run(*fit).output
    run("predict", cal, "-m", model, "--quantiles", "0.1,0.5", "-o", out)
    wanted = Calibrator(LogScore()).fit(f, Censored(y, event))(f).quantiles([0.1, 0.5])
    np.testing.assert_allclose(pd.read_csv(out).to_numpy(), wanted, rtol=1e-9)
    assert json.loads(run("inspect", model, "--json").stdout)["epsilon"] == 1.0
    lost = f"says that the label was not seen in row {int(np.argmin(event))}"
    assert lost in " ".join(run("evaluate", cal, "-m", model, code=1).output.split())
    table[event].to_csv(tmp_path / "seen.csv", index=False)
    run("evaluate", tmp_path / "seen.csv", "-m", model)
    run(*fit, "--weights", "f", code=2)
    table.assign(dead=2 * table["dead"]).to_csv(cal, index=False)
    assert "event is neither 0 nor 1 in row" in refused(*fit)


# ---- what goes wrong ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: Censored([1.0, 2.0], [1]), "event must have one row for each of the 2 rows of y, got 1"),
        (lambda: Censored([1.0, 2.0], [1, 3]), r"event is neither 0 nor 1 in row 1 \(the only such row\)"),
        (lambda: Censored([1.0, np.nan], [1, 0]), "y is NaN or infinite in row 1"),
        (lambda: Censored([1.0, 2.0], [1, 0], followed=[1.0, 0.0]), r"followed lies outside \(0, 1\] in row 1"),
        (
            lambda: Censored([1.0, 2.0], [1, 0], followed=[1.0]),
            "followed must have one row for each of the 2 rows of y",
        ),
        (lambda: Censored([1.0, 2.0], [1, 0], tolerance=0.0), r"tolerance must lie strictly inside \(0, 1\)"),
        (lambda: Calibrator().fit([1.0, 2.0], Censored([1.0, 2.0], [0, 0])), "all 2 are censored"),
        (lambda: Calibrator().fit([1.0], Censored([1.0, 2.0], [1, 0])), "one row, as the prediction has, got 2"),
        (
            lambda: Calibrator().fit([1.0, 2.0], Censored([1.0, 2.0], [1, 1]), weights=[1.0, 1.0]),
            "have weights of their own and take no weights=",
        ),
    ],
)
def test_bad_input_gets_one_sentence(made, said):
    with pytest.raises((ValueError, TypeError), match=said) as error:
        made()
    one_sentence(error)


def test_censored_labels_may_be_bounded_and_transformed():
    rng = np.random.default_rng(2)
    f = np.exp(rng.normal(size=400))
    label = f * np.exp(0.5 * rng.normal(size=400))
    y, event = np.minimum(label, 8.0), label <= 8.0  # the study ends at 8
    by_log = Calibrator(labels=Transformed("log")).fit(f, Censored(y, event))
    of_log = Calibrator().fit(np.log(f), Censored(np.log(y), event))
    assert by_log.guarantee.known == pytest.approx(of_log.guarantee.known, rel=1e-12)
    np.testing.assert_allclose(by_log(f[:5]).ppf(0.2), np.exp(of_log(np.log(f[:5])).ppf(0.2)), rtol=1e-9)
    capped = Calibrator(labels=Real(0, "cap")).fit(f, Censored(y, event), bound=np.full(400, 8.0))
    assert np.all(capped(f[:5], bound=np.full(5, 0.1)).ppf(0.2) <= 0.1)
    with pytest.raises(TypeError, match="bound"):
        Calibrator().fit(f, Censored(y, event), bound=f)
