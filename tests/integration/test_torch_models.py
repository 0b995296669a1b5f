"""torch: modules that return a mean, a pair, quantiles, or a distribution."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("torch", reason="torch is not installed")

import torch
from problem import FRAMES, X_CAL, X_NEW, X_TRAIN, Y_CAL, Y_NEW, Y_TRAIN
from torch import nn

from calibrant import Calibrator, Point, Quantiles, Samples
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration


class Pair(nn.Module):
    """Mean and scale, each (n, 1)."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 16), nn.Dropout(0.1), nn.Tanh())
        self.mean, self.scale = nn.Linear(16, 1), nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), nn.functional.softplus(self.scale(h)) + 1e-3


class Distribution(Pair):
    def forward(self, x):
        mean, scale = super().forward(x)
        return torch.distributions.Normal(mean[:, 0], scale[:, 0])


class Wrapped(nn.Module):
    """Returns what a function of a linear layer says."""

    def __init__(self, output, width=1, levels=None):
        super().__init__()
        torch.manual_seed(0)
        self.layer, self.output, self.levels = nn.Linear(3, width), output, levels

    def forward(self, x):
        return self.output(self.layer(x))


def fitted(module, dtype=torch.float32):
    torch.manual_seed(0)
    module = module().to(dtype)
    X, y = torch.as_tensor(X_TRAIN, dtype=dtype), torch.as_tensor(Y_TRAIN, dtype=dtype)
    optimiser = torch.optim.Adam(module.parameters(), lr=0.03)
    for _ in range(150):
        output = module(X)
        distribution = output if isinstance(output, torch.distributions.Distribution) else None
        distribution = distribution or torch.distributions.Normal(output[0][:, 0], output[1][:, 0])
        optimiser.zero_grad()
        (-distribution.log_prob(y).mean()).backward()
        optimiser.step()
    return module


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("kind", [Pair, Distribution])
def test_a_mean_and_a_scale_are_normal_distributions_in_torch(kind, dtype):
    module = fitted(kind, dtype)
    distribution = prediction_of(module, X_NEW)
    assert repr(distribution).startswith("normal distribution of 1,000 rows")
    assert distribution.loc.dtype == dtype
    assert not distribution.loc.requires_grad
    with torch.no_grad():
        output = module.eval()(torch.as_tensor(X_NEW, dtype=dtype))
    mean = output.mean if kind is Distribution else output[0][:, 0]
    assert torch.equal(distribution.loc, mean)
    calibrated = Calibrator().fit(prediction_of(module, X_CAL), Y_CAL)
    lower, upper = calibrated(distribution).interval(0.9)
    assert np.mean((lower.numpy() <= Y_NEW) & (upper.numpy() >= Y_NEW)) == pytest.approx(0.9, abs=0.05)


def test_the_mode_of_every_part_is_restored():
    module = Pair().train()
    module.body[0].eval()
    before = [part.training for part in module.modules()]
    one, other = prediction_of(module, X_NEW), prediction_of(module, X_NEW)
    assert torch.equal(one.loc, other.loc)  # no dropout
    assert [part.training for part in module.modules()] == before


def test_the_mode_is_restored_after_an_error():
    module = Pair().train()
    with pytest.raises(RuntimeError, match="shape"):
        prediction_of(module, X_NEW[:, :2])
    assert all(part.training for part in module.modules())


@pytest.mark.parametrize("names", FRAMES)
def test_data_frames_are_read_as_numbers(names):
    module = Wrapped(lambda h: h)
    prediction = prediction_of(module, FRAMES[names](X_NEW))
    assert isinstance(prediction, Point)
    assert torch.allclose(prediction.values, prediction_of(module, torch.as_tensor(X_NEW)).values)


def test_numbers_that_cannot_be_written_to_are_read_without_a_warning():
    X = X_NEW.astype(np.float64)
    X.flags.writeable = False
    module = Wrapped(lambda h: h)
    assert torch.equal(prediction_of(module, X).values, prediction_of(module, X.copy()).values)


@pytest.mark.parametrize("output", [lambda h: h, lambda h: h[:, 0]])
def test_one_number_a_row_is_a_point(output):
    assert prediction_of(Wrapped(output), X_NEW).shape == (1000,)


@pytest.mark.parametrize("levels", [[0.1, 0.5, 0.9], torch.tensor([0.9, 0.5, 0.1])])
def test_columns_are_quantiles_at_the_levels_of_the_module(levels):
    module = Wrapped(lambda h: h.cumsum(1).sort(1, descending=float(levels[0]) > 0.5)[0], 3, levels)
    prediction = prediction_of(module, X_NEW)
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == pytest.approx([0.1, 0.5, 0.9])
    assert torch.all(prediction.values[:, 1:] > prediction.values[:, :-1])


@pytest.mark.parametrize("count", [2, 3])
def test_columns_without_levels_are_told_what_to_do(count):
    with pytest.raises(TypeError, match=f"returned {count} columns but has no levels: set its attribute levels"):
        prediction_of(Wrapped(lambda h: h, count), X_NEW)


def test_three_tensors_are_refused():
    with pytest.raises(TypeError, match=r"one tensor or the pair \(mean, scale\), got 3 tensors"):
        prediction_of(Wrapped(lambda h: (h, h, h)), X_NEW)


def test_a_logarithm_in_place_of_a_scale_is_seen():
    with pytest.raises(ValueError, match=r"Normal.scale is negative"):
        prediction_of(Wrapped(lambda h: (h, -h.exp())), X_NEW)


def test_our_predictions_pass():
    assert isinstance(prediction_of(Wrapped(lambda h: Samples(h), 5), X_NEW), Samples)


def test_a_dict_is_refused():
    with pytest.raises(TypeError, match="Wrapped must return a prediction or one number per row, got dict"):
        prediction_of(Wrapped(lambda h: {"mean": h}), X_NEW)


def test_half_precision_becomes_single():
    assert prediction_of(Wrapped(lambda h: h).to(torch.bfloat16), X_NEW).values.dtype == torch.float32


def test_whole_numbers_are_not_rounded():
    class Counting(nn.Module):
        def forward(self, x):
            return torch.arange(len(x), dtype=torch.int32) + 2**24

    assert prediction_of(Counting(), X_NEW[:3]).values.tolist() == [2**24, 2**24 + 1, 2**24 + 2]


def test_integers_stay_integers_for_embeddings():
    module = nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(8, 1))
    assert prediction_of(module, torch.arange(10).reshape(5, 2)).shape == (5,)


def test_a_module_without_parameters_takes_what_it_gets():
    class Sum(nn.Module):
        def forward(self, x):
            return x.sum(1)

    assert prediction_of(Sum(), torch.as_tensor(X_NEW)).values.dtype == torch.float64
    assert prediction_of(Sum(), X_NEW).values.dtype == torch.float32


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_the_prediction_stays_on_the_device_of_the_module():
    assert prediction_of(Pair().cuda(), X_NEW).loc.device.type == "cuda"
