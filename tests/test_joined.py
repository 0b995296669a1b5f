"""Rows of different distributions join to one batch, in which every row is what it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from catalogue import CALIBRATION, DISTRIBUTIONS, HERE, ROWS, H, Y
from forged import in_fields, tampered

import calibrant
from calibrant import (
    Calibrated,
    Calibrator,
    GaussianMixture,
    Guarantee,
    Laplace,
    LogNormal,
    Mixture,
    Normal,
    Point,
    StudentT,
    concatenate,
)
from calibrant._batch import same
from calibrant.distributions.joined import Joined, Row
from calibrant.files import FileError
from calibrant.forms import Form
from calibrant.interpolators import Linear
from calibrant.scores import CDFScore, MonotoneScore, ResidualScore
from calibrant.testing import check_distribution

Q = Normal(0.3, 1.0)


class Doubled(MonotoneScore):
    factor = 2.0

    def score(self, prediction, y):
        return self.factor * (y - prediction.values)

    def inverse(self, prediction, s):
        return prediction.values + s / self.factor

    def log_slope(self, prediction, y):
        return np.full_like(y, np.log(self.factor))


class Halved(Doubled):
    factor = 0.5


NORMAL = Normal([0.0, 1.0, 2.0], [1.0, 2.0, 0.5])
MIXTURE = GaussianMixture([[0.3, 0.7]] * 2, [[0.0, 3.0], [1.0, 2.0]], [[1.0, 0.5], [0.4, 2.0]])
BATCHES = {
    "normal": NORMAL,
    "mixture": MIXTURE,
    "log-normal": LogNormal([0.0, 1.0], [0.5, 0.2]),
    "student t": StudentT([4.0, 5.0], [0.0, 1.0], [1.0, 1.0]),
    "clipped": NORMAL.clip(-1.0, 1.5),
    "pool": Mixture((NORMAL, Laplace([0.0, 1.0, 0.5], [1.0, 1.0, 2.0])), (0.4, 0.6)),
    "calibrated": H("residual", "linear"),
    "calibrated, another way": H("quantile", "naf"),
    "a cdf score": H("cdf of normal", "linear"),
    "randomised": H("residual", "random, bounded"),
    "joined": Joined.of([Normal(0.0, 1.0), Laplace(1.0, 1.0)], [1, 0, 1]),
}
ALL = concatenate(list(BATCHES.values()))


def answers(distribution):
    found = {
        method: getattr(distribution, method)(0.7) for method in ("cdf", "sf", "cdf_left", "logpdf", "ppf", "crps")
    }
    found |= {method: getattr(distribution, method)() for method in ("mean", "std", "median")}
    return {**found, "quantiles": distribution.quantiles([0.1, 0.5, 0.8])}


def test_distributions_of_different_kinds_join_and_every_row_stays_what_it_was():
    assert isinstance(ALL, Joined)
    assert len(ALL) == sum(map(len, BATCHES.values()))
    alone = [answers(distribution) for distribution in BATCHES.values()]
    for method, found in answers(ALL).items():
        np.testing.assert_array_equal(found, np.concatenate([each[method] for each in alone]), err_msg=method)


def test_distributions_of_one_kind_join_to_that_kind():
    assert type(concatenate([NORMAL[:1], NORMAL[1:]])) is type(NORMAL)
    assert not isinstance(concatenate([H("residual", "linear")[:2], H("residual", "linear")[2:]]), Joined)


@pytest.mark.parametrize("home", [np.asarray, torch.asarray], ids=["numpy", "torch"])
def test_distributions_with_different_numbers_of_columns_join_in_every_library(home):
    few, many = (
        GaussianMixture(home(np.full((2, k), 1 / k)), home(np.ones((2, k)) * np.arange(k)), home(np.ones((2, k))))
        for k in (2, 3)
    )
    both = concatenate([few, many])
    assert isinstance(both, Joined)
    np.testing.assert_allclose(np.asarray(both.mean()), [0.5, 0.5, 1.0, 1.0], rtol=1e-15)


def test_distributions_of_one_kind_that_hold_different_functions_keep_their_own():
    doubled, halved = (MonotoneScore.pull_back(score, Q, Point([1.0])) for score in (Doubled(), Halved()))
    both = concatenate([doubled, halved])
    np.testing.assert_array_equal(both.median(), np.concatenate([doubled.median(), halved.median()]))


def test_rows_are_chosen_and_joins_of_joins_are_flat():
    np.testing.assert_array_equal(ALL[torch.tensor([4, 2])].median(), ALL.median()[[4, 2]])
    with pytest.raises(IndexError, match="row 99 is not among"):
        ALL[99]
    with pytest.raises(TypeError, match="rows are chosen by"):
        ALL[[0.5]]
    nested = concatenate([concatenate([NORMAL, MIXTURE]), concatenate([MIXTURE, NORMAL.clip(0.0)])])
    assert not any(isinstance(part, Joined) for part in nested.distributions)
    again = concatenate([ALL[:4], ALL[4:]])
    np.testing.assert_array_equal(again.mean(), ALL.mean())


def test_a_joined_batch_goes_to_torch_and_back_also_inside_other_distributions():
    there, like = torch.zeros(1, dtype=torch.float64), np.zeros(1)
    distribution = DISTRIBUTIONS["joined"](HERE)
    for batch in (
        distribution,
        Mixture((distribution, distribution.clip(15.0, 22.0)), (0.5, 0.5)),
        distribution.clip(15.0, 22.0),
    ):
        moved = batch.to(there)
        assert moved.mean().dtype == torch.float64
        np.testing.assert_allclose(moved.mean().numpy(), batch.mean(), rtol=1e-9)
        np.testing.assert_allclose(moved.crps(20.0).numpy(), batch.crps(20.0), rtol=1e-7)
        np.testing.assert_array_equal(moved.to(like).median(), batch.median())
    assert distribution.to(np.zeros(1, np.float32)).std().dtype == np.float32


def test_gradients_reach_the_rows_they_belong_to():
    loc = torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True)
    other = torch.tensor([0.5], dtype=torch.float64, requires_grad=True)
    distribution = concatenate([Normal(loc, torch.ones_like(loc)), Laplace(other, torch.ones_like(other))])[[2, 0]]
    distribution.crps(torch.tensor([0.3, 0.4], dtype=torch.float64)).sum().backward()
    assert loc.grad[0] != 0
    assert loc.grad[1] == 0
    assert other.grad[0] != 0


def test_a_joined_batch_is_a_forecast_like_any_other():
    distribution = DISTRIBUTIONS["joined"](HERE)
    assert distribution.parts() == ()
    y = Y[CALIBRATION:]
    model = Calibrator(CDFScore()).fit(concatenate([distribution] * 4), np.tile(y, 4) + np.arange(4 * ROWS) / 7)
    check_distribution(model(distribution))
    assert calibrant.evaluate(distribution, y).crps > 0


def test_distributions_for_rows_by_number_are_checked():
    with pytest.raises(ValueError, match="its rows must come from its 2 distributions, got 0 to 2"):
        Joined.of([Normal(0.0, 1.0), Normal(1.0, 1.0)], [0, 2])
    with pytest.raises(ValueError, match="takes single distributions: join batches with"):
        Joined.of([NORMAL], [0])
    with pytest.raises(TypeError, match="not single distributions"):
        concatenate([NORMAL, NORMAL[0]])


# ---- files -----------------------------------------------------------------------------------------------------------


def with_joined_q():
    parts = concatenate([NORMAL, MIXTURE, NORMAL.clip(-1.0, 1.5)])
    return Calibrated(ResidualScore(), Row(parts[4:5]), Guarantee(20, Linear().accuracy(20)), Linear(), Form("points"))


def test_a_joined_distribution_comes_back_from_a_file(tmp_path):
    model = with_joined_q()
    model.save(tmp_path / "q")
    back = calibrant.load(tmp_path / "q")
    assert same(back.q, model.q)
    np.testing.assert_array_equal(back([1.0, 2.0]).crps(0.3), model([1.0, 2.0]).crps(0.3))


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("part", [7], "its rows must come from its 3 distributions, got 7 to 7"),
        ("row", [2], "row 2 is not among the 2 rows of distribution 1"),
        ("row", [-1], "row -1 is not among the 2 rows of distribution 1"),
    ],
)
def test_a_forged_joined_distribution_is_refused(tmp_path, field, value, why):
    with_joined_q().save(tmp_path / "q")
    forged = tampered(tmp_path / "q")
    with forged as (_, entries):
        start, end = entries[f"q.batch.{field}"]["data_offsets"]
        forged.data = forged.data[:start] + np.array(value, "<i8").tobytes() + forged.data[end:]
    with pytest.raises(FileError, match=f"is not a valid Joined: {why}"):
        calibrant.load(tmp_path / "q")


@pytest.mark.parametrize(
    "forgery", [{"part": 0}, {"row": [0]}, {"distributions": []}, {"distributions": 3}, {"row": {"float": "inf"}}]
)
def test_a_joined_distribution_of_anything_else_is_refused(tmp_path, forgery):
    with_joined_q().save(tmp_path / "q")
    with tampered(tmp_path / "q") as (header, entries):
        in_fields("q", "batch", **forgery)(header, entries)
    with pytest.raises(FileError):
        calibrant.load(tmp_path / "q")
