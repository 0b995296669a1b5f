"""What calibrated estimators predict from the distribution of each row: means, intervals, quantiles, draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from calibrant._arguments import unit
from calibrant._arrays import Array, probabilities, to_numpy
from calibrant._types import Features, Frame, RowIndex
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.metrics import Evaluation
from calibrant.models.frames import like_input
from calibrant.several.distributions import SeveralDistributions, SeveralEvaluation
from calibrant.sklearn.several import columns_by_label

# Which it is, of one label or of several, depends on the number of columns of y: no type says so. A union would refuse
# what is right for one and not for all; `Any` would let every mistake pass. So these types have what any of them has,
# and take what is right for one.
if TYPE_CHECKING:

    class Distributions(SeveralDistributions, Distribution):
        """The distribution of each row, or those of several labels."""

        def __getitem__(self, rows_or_label: RowIndex | str) -> Distribution: ...

    class Metrics(SeveralEvaluation, Evaluation[float, float, float]):
        """The metrics of one label, or of several."""

        def to_dict(self) -> dict[str, Any]:
            """The metrics by name, or by label and name."""

else:
    Distributions = Distribution | SeveralDistributions
    Metrics = Evaluation | SeveralEvaluation


class PredictMethods:
    """The predict methods of what has `predict_distribution`."""

    predict_distribution: Any

    def predict(self, X: Features) -> np.ndarray[Any, Any]:
        """The mean of each row's distribution, or its median where it has no finite mean; (n, d) for d labels.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        H: Any = self.predict_distribution(X)
        values = to_numpy(H.mean())
        without = ~np.isfinite(values)
        if without.any():
            warn_user(f"{without.sum()} of {without.size} distributions have no finite mean: here is their median")
            values = np.where(without, to_numpy(H.median()), values)
        return values

    @overload
    def predict_interval(  # type: ignore[overload-overlap]
        self, X: Frame, coverage: float = 0.9, *, joint: bool = False
    ) -> Frame: ...
    @overload
    def predict_interval(self, X: Features, coverage: float = 0.9, *, joint: bool = False) -> np.ndarray[Any, Any]: ...
    def predict_interval(self, X: Features, coverage: float = 0.9, *, joint: bool = False) -> Any:
        """The centred interval of each row, as columns `lower` and `upper` in the kind of X: an array or a frame.

        One coverage per call; for several at once, `predict_quantiles` takes any number of levels.
        For several labels: an array (n, 2, d), or a frame with the columns `lower_a`, `upper_a`, ... for a label a.
        With `joint` the intervals hold all labels at once with the coverage.

        Args:
            X: The features: an array or a data frame, one line per row.
            coverage: The probability of the centred interval, between 0 and 1; with `joint` that of the box.
            joint: Give a box that holds all labels at once with probability `coverage`.
        """
        coverage = unit("coverage", coverage)
        H: Any = self.predict_distribution(X)
        if isinstance(H, SeveralDistributions):
            bounds: Any = np.stack([to_numpy(bound) for bound in H.interval(coverage, joint=joint)], axis=1)
            return columns_by_label(X, ["lower", "upper"], H.names, bounds)
        if joint:
            raise TypeError("joint=True is for several labels, and y had one")
        return like_input(X, ["lower", "upper"], np.stack([to_numpy(end) for end in H.interval(coverage)], axis=1))

    @overload
    def predict_quantiles(  # type: ignore[overload-overlap]
        self, X: Frame, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Frame: ...
    @overload
    def predict_quantiles(
        self, X: Features, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> np.ndarray[Any, Any]: ...
    def predict_quantiles(self, X: Features, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Any:
        """The quantiles of each row, as columns `q0.05`, ... in the kind of X: an array or a frame.

        For several labels: an array (n, k, d), or a frame with the columns `q0.05_a`, ... for a label a.

        Args:
            X: The features: an array or a data frame, one line per row.
            quantiles: The levels of the quantiles, between 0 and 1.
        """
        levels = probabilities("quantiles", quantiles)
        names = [f"q{float(level)}" for level in np.atleast_1d(levels)]
        if levels.ndim != 1 or len(set(names)) != len(names):
            raise ValueError(f"quantiles must be a list of distinct levels, got {quantiles!r}")
        H: Any = self.predict_distribution(X)
        values = to_numpy(H.quantiles(levels))
        if isinstance(H, SeveralDistributions):
            return columns_by_label(X, names, H.names, values)
        return like_input(X, names, values)

    def predict_samples(self, X: Features, size: int = 100, rng: np.random.Generator | None = None) -> Array:
        """Draws from the distribution of each row, (n, size); for several labels joint draws, (n, size, d).

        Args:
            X: The features: an array or a data frame, one line per row.
            size: How many draws per row.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        return to_numpy(self.predict_distribution(X).sample(size, rng))
