"""The mixture of normal laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments
from calibrant.distributions.kernel_mixture import KernelMixture, checked_components
from calibrant.distributions.normal import StandardNormal


@dataclass(frozen=True, eq=False, repr=False)
class GaussianMixture(KernelMixture):
    """F(y) = sum of weights[i, k] Phi((y - means[i, k]) / stds[i, k]): K normal laws in each row.

    Arrays are (n, K); what all rows share may be (K,), and three arrays (K,) make a single law. Weights sum
    to 1 up to 1e-6, and are then made exact. Mean, std, crps and partial moments are closed; a clipped
    mixture's crps is by quadrature.

    >>> forecast = GaussianMixture([0.3, 0.7], [[-1.0, 1.0], [0.0, 5.0]], [[0.5, 0.5], [1.0, 2.0]])
    >>> forecast.mean(), forecast.median()
    (array([0.4, 3.5]), array([0.71721275, 3.86824057]))
    """

    weights: Array
    means: Array
    stds: Array

    if TYPE_CHECKING:

        def __init__(self, weights: ArrayLike, means: ArrayLike, stds: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        names = ("means", "stds")
        arrays = checked_components("GaussianMixture", self.weights, self.means, self.stds, names, (1, 2))
        for name, array in zip(("weights", *names), arrays, strict=True):
            object.__setattr__(self, name, array)

    @property
    def _kernel(self) -> Distribution:
        return StandardNormal()

    @property
    def _components(self) -> tuple[Array, Array, Array]:
        return self.weights, self.means, self.stds

    @property
    def _grid(self) -> Array:
        return np.linspace(-9, 9, 37)

    def _distance(self, z: Array) -> Array:
        """z (2 Phi(z) - 1) + 2 phi(z)."""
        return StandardNormal()._crps(z) + 1 / math.sqrt(math.pi)

    def _kernel_moments(self, z: Array) -> PartialMoments:
        return StandardNormal()._partial_moments(z)

    @property
    def _spread(self) -> Array:
        """Half the sum of w_k w_l d E |Z - (m_k - m_l) / d|, d^2 = s_k^2 + s_l^2 (Grimit et al., 2006)."""
        xp = namespace(self.means)
        total = xp.zeros_like(self.means)
        for l in range(self.means.shape[-1]):
            w, m, s = (column[..., l : l + 1] for column in self._components)
            d = xp.hypot(self.stds, s)
            total = total + self.weights * w * d * self._distance((self.means - m) / d)
        return 0.5 * xp.sum(total, axis=-1)
