"""The guide into the knots, which the kernels on a GPU go by: made here on the CPU, without them."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from calibrant.distributions.line_tables import _guide  # noqa: E402

RNG = np.random.default_rng(0)
KNOTS = {
    "normal": np.sort(RNG.normal(size=2000)),
    "one outlier": np.sort(np.append(RNG.normal(size=500), 1e9)),
    "all equal": np.full(50, 3.0),
    "two": np.array([0.0, 1.0]),
    "as far apart as floats go": np.array([-1.7e308, 0.0, 1.7e308]),
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
