"""The choice on calibration rows: what it costs, seen."""

import numpy as np
import pytest
import torch

from calibrant import Calibrator, ChosenGuarantee, Normal, choose, load
from calibrant.distributions import Poisson
from calibrant.interpolators import NAF, Random
from calibrant.labels import Counts


def largest_error(pits):
    """sup_c |P(H(Y) <= c) - c| of pooled PITs."""
    p = np.sort(pits)
    ranks = np.arange(1, len(p) + 1) / len(p)
    return max(np.max(ranks - p), np.max(p - ranks + 1 / len(p)))


def test_a_choice_on_the_calibration_rows_has_its_price():
    """24 candidates that are noise, n = 50: the unpriced statement is broken, the priced one holds.

    2,000 calibration sets with 20 new rows each; the error of the pooled PITs by chance is below .01.
    """
    rng, pits = np.random.default_rng(0), []
    for _ in range(2000):
        y = rng.normal(size=50)
        noise = rng.normal(size=(24, 70))
        scores = [np.mean(np.abs(np.subtract.outer(y - f[:50], y - f[:50]))) for f in noise]  # the sharpest law
        best = noise[int(np.argmin(scores))]
        H = Calibrator().fit(best[:50], y)(best[50:])
        pits.append(H.cdf(rng.normal(size=20)))
    error = largest_error(np.concatenate(pits))
    unpriced = Calibrator().fit(np.zeros(50), y).guarantee.epsilon
    priced = ChosenGuarantee(50, 0.0, candidates=24).epsilon
    assert unpriced == pytest.approx(1 / 51)
    assert error > unpriced + 0.015
    assert error < priced


def test_the_price():
    guarantee = ChosenGuarantee(50, 0.0, candidates=24)
    assert guarantee.price == pytest.approx((np.sqrt(np.log(48) / 2) + 1 / 3) / np.sqrt(50))
    assert guarantee.epsilon == pytest.approx(1 / 51 + guarantee.price)
    assert guarantee.kind == "chosen"
    assert ChosenGuarantee(50, 0.0, 2, candidates=24).kind == "chosen, approximate"
    assert "the price of choosing among 24 candidates" in str(guarantee)
    assert guarantee.conditional(0.95) == pytest.approx(1 / 51 + np.sqrt(np.log(48 / 0.05) / 100))
    assert ChosenGuarantee(50, -1.0, candidates=2).epsilon == pytest.approx(
        ChosenGuarantee(50, -1.0, candidates=2).price
    )


def test_the_better_forecast_is_chosen_and_can_be_saved(tmp_path):
    rng = np.random.default_rng(1)
    x, noise = rng.normal(size=(2, 300))
    choice = choose({"nothing": np.zeros(300), "x": x}, x + 0.3 * noise, rng=rng)
    assert choice.name == "x"
    assert choice.league.entries[0].behind > 0
    choice.calibrated.save(tmp_path / "chosen.safetensors")
    again = load(tmp_path / "chosen.safetensors")
    assert again.guarantee == choice.calibrated.guarantee
    np.testing.assert_array_equal(again([0.5]).cdf([0.6]), choice.calibrated([0.5]).cdf([0.6]))


def test_candidates_may_have_their_own_calibrator():
    rng = np.random.default_rng(2)
    x, noise = rng.normal(size=(2, 300))
    law = Normal(x, np.full(300, 2.0))
    choice = choose({"linear": law, "smooth": (law, Calibrator(interpolator=NAF()))}, x + noise, criterion="nll")
    assert choice.name in ("linear", "smooth")
    with pytest.raises(ValueError, match="choose takes at least two candidates, got 1"):
        choose({"x": x}, x + noise)
    with pytest.raises(ValueError, match="choose needs at least two rows, got 1"):
        choose({"x": x[:1], "z": x[:1]}, noise[:1])
    with pytest.raises(TypeError, match="candidates must be a dict of predictions by name, got list"):
        choose([x, x], x + noise)
    exact = choose({"a": (x, Calibrator(interpolator=Random())), "b": x}, x + noise)
    assert exact.calibrated.guarantee.candidates == 2


def test_torch_predictions_and_labels_are_taken():
    rng = np.random.default_rng(3)
    x, noise = torch.tensor(rng.normal(size=(2, 300)), dtype=torch.float32)
    choice = choose({"nothing": 0 * x, "x": x}, x + 0.3 * noise, rng=rng)
    assert choice.name == "x"
    assert isinstance(choice.calibrated(x).median(), torch.Tensor)


def test_the_table_says_nothing_of_training_rows():
    rng = np.random.default_rng(4)
    assert "training" not in str(choose({"a": np.zeros(50), "b": np.ones(50)}, rng.normal(size=50), rng=rng).league)


@pytest.mark.parametrize("criterion", ["crps", "nll"])
def test_counts_are_chosen_among_by_what_is_said_of_counts(criterion):
    rng = np.random.default_rng(8)
    rate = rng.uniform(0.5, 6.0, 400)
    y, calibrator = rng.poisson(rate), Calibrator(labels=Counts())
    candidates = {"flat": (Poisson(np.full(400, 3.0)), calibrator), "right": (Poisson(rate), calibrator)}
    one, two = (choose(candidates, y, criterion=criterion, rng=0) for _ in range(2))
    assert one.name == "right"
    assert one.calibrated.labels == Counts()
    assert str(one.league).split("seconds")[0] == str(two.league).split("seconds")[0]
    assert one.calibrated.q.knots.tolist() == two.calibrated.q.knots.tolist()
