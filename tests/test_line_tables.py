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


@pytest.mark.parametrize("name", KNOTS)
def test_the_knots_up_to_a_number_are_those_before_its_cell_and_some_of_the_cell(name):
    knots = KNOTS[name]
    levels = torch.linspace(0.1, 0.9, len(knots), dtype=torch.float64)
    tables = Tables.of(PiecewiseLinear.through(torch.as_tensor(knots), levels, 1.0, 1.0))
    guide, (origin, per_unit) = tables.guide.numpy(), tables.numbers[-2:].tolist()
    assert len(guide) == _CELLS + 2
    z = np.concatenate([knots, (knots[1:] + knots[:-1]) / 2, [-np.inf, -1e300, 0.0, 1e300, np.inf]])
    with np.errstate(all="ignore"):
        cell = np.nan_to_num(np.clip((z - origin) * per_unit, 0, len(guide) - 1)).astype(int)
    before, up_to = guide[cell], np.searchsorted(knots[1:], z, side="right")
    assert np.all(before <= up_to)
    assert np.all(up_to <= before + 2**tables.steps - 1)


@pytest.mark.parametrize("probs", [[0.2, 0.5, 0.9], [0.0, 0.5, 0.9], [0.2, 0.5, 1.0], [0.0, 0.5, 1.0]])
def test_the_numbers_of_the_tails_are_those_of_the_law(probs):
    knots, levels = torch.tensor([0.0, 1.0, 3.0]).double(), torch.tensor(probs).double()
    law = PiecewiseLinear.through(knots, levels, 2.0, 5.0)
    first, below, left, last, above, right = Tables.of(law).numbers[:6].tolist()
    assert (first, last) == (0.0, 3.0)
    np.testing.assert_allclose([below, above], [probs[0], 1 - probs[-1]], atol=1e-7)
    assert (left, right) == (2.0 if below else 1.0, 5.0 if above else 1.0)
