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
    from calibrant.distributions.gpu import _CELLS, Tables, _guide

RNG = np.random.default_rng(0)
KNOTS = {
    "normal": np.sort(RNG.normal(size=2000)),
    "one outlier": np.sort(np.append(RNG.normal(size=500), 1e9)),
    "all equal": np.full(50, 3.0),
    "two": np.array([0.0, 1.0]),
    "as near as floats go": 1.0 + np.arange(9) * 2.0**-52,
}


@pytest.mark.parametrize("name", KNOTS)
def test_the_knots_up_to_a_number_begin_with_those_before_its_cell(name):
    knots = KNOTS[name]
    guide, origin, per_unit, crowd = _guide(torch.as_tensor(knots))
    z = np.concatenate([knots, (knots[1:] + knots[:-1]) / 2, [-np.inf, -1e300, 0.0, 1e300, np.inf]])
    with np.errstate(all="ignore"):
        cell = np.nan_to_num(np.clip((z - origin) * per_unit, 0, len(guide) - 1)).astype(int)
    before = guide.numpy()[cell]
    up_to = np.searchsorted(knots, z, side="right")
    assert np.all(before <= up_to)
    assert np.all(up_to <= before + crowd)
    assert crowd <= len(knots)


@pytest.mark.parametrize("name", KNOTS)
def test_the_guide_has_every_cell_that_the_kernels_may_ask_for(name):
    assert len(_guide(torch.as_tensor(KNOTS[name]))[0]) == _CELLS + 2


@pytest.mark.parametrize("probs", [[0.2, 0.5, 0.9], [0.0, 0.5, 0.9], [0.2, 0.5, 1.0], [0.0, 0.5, 1.0]])
def test_the_numbers_of_the_tails_are_those_of_the_law(probs):
    law = PiecewiseLinear.through(
        torch.tensor([0.0, 1.0, 3.0], dtype=torch.float64), torch.tensor(probs).double(), 2.0, 5.0
    )
    first, last, below, left, above, right, *logs = Tables.of(law).numbers[:8].tolist()
    assert (first, last) == (0.0, 3.0)
    np.testing.assert_allclose([below, above], [probs[0], 1 - probs[-1]], atol=1e-7)
    assert (left, right) == (2.0 if below else 1.0, 5.0 if above else 1.0)
    np.testing.assert_allclose(logs, law.logpdf([-1e-12, 3 + 1e-12]), rtol=1e-10)
