"""The guide into the knots, which the kernels on a GPU go by: made here on the CPU, without them."""

import sys
from importlib.util import find_spec
from unittest.mock import MagicMock, patch

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from calibrant.distributions import PiecewiseLinear  # noqa: E402

MISSING = {} if find_spec("triton") else {"triton": MagicMock(), "triton.language": MagicMock()}
with patch.dict(sys.modules, MISSING):  # the guide is made without the kernels beside it
    from calibrant.distributions.gpu import _CELLS, Tables

RNG = np.random.default_rng(0)
KNOTS = {
    "normal": np.sort(RNG.normal(size=2000)),
    "one outlier": np.sort(np.append(RNG.normal(size=500), 1e9)),
    "all equal": np.full(50, 3.0),
    "two": np.array([0.0, 1.0]),
    "as near as floats go": 1.0 + np.arange(9) * 2.0**-52,
}


def line(knots, probs, left=1.0, right=1.0):
    knots, probs = (torch.as_tensor(part, dtype=torch.float64) for part in (knots, probs))
    return PiecewiseLinear.through(knots, probs, left, right)


@pytest.mark.parametrize("name", KNOTS)
def test_the_guide_and_a_few_halvings_find_the_last_knot_that_is_not_above(name):
    knots = KNOTS[name]
    tables = Tables.of(line(knots, np.linspace(0.0, 1.0, len(knots))))
    guide, padded, origin, per_unit = tables.guide.numpy(), tables.knots.numpy(), *tables.numbers[7:].tolist()
    assert len(guide) == _CELLS + 2
    assert len(tables.densities) == len(tables.areas) == len(knots)
    z = np.concatenate([knots, (knots[1:] + knots[:-1]) / 2, [-np.inf, -1e300, 0.0, 1e300, np.inf]])
    inside = np.clip(z, knots[0], knots[-1])
    place = guide[np.clip((inside - origin) * per_unit, 0, len(guide) - 1).astype(int)].astype(int)
    for k in range(tables.steps):
        step = 1 << (tables.steps - 1 - k)
        place = np.where(padded[place + step - 1] <= inside, place + step, place)
    np.testing.assert_array_equal(place, np.searchsorted(knots[1:], inside, side="right"))


@pytest.mark.parametrize("probs", [[0.2, 0.5, 0.9], [0.0, 0.5, 0.9], [0.2, 0.5, 1.0], [0.0, 0.5, 1.0]])
def test_the_numbers_of_the_tails_are_those_of_the_distribution(probs):
    distribution = line([0.0, 1.0, 3.0], probs, 2.0, 5.0)
    first, below, left, last, above, right, shift, *_ = Tables.of(distribution).numbers.tolist()
    assert (first, last) == (0.0, 3.0)
    np.testing.assert_allclose([below, above], [probs[0], 1 - probs[-1]], atol=1e-7)
    assert (left, right) == (2.0 if below else 1.0, 5.0 if above else 1.0)
    assert shift == float(distribution._moments().shift)
