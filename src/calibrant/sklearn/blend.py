"""The models of `CalibratedRegressor()`: different kinds, whose errors partly cancel in a stack."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Literal, Self

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR
from sklearn.utils.validation import has_fit_parameter

from calibrant.refine.boosting import few_threads
from calibrant.refine.features import Encoder

Numbers = np.ndarray[Any, Any]

Library = Literal["installed", "sklearn"]
FEWEST = 20
"""Rows from which on the smooth models take part, which hold some rows out or compare them."""
OWN_LENGTHS = 30
"""Columns up to which a Gaussian process has a length for each: its time grows with them."""
SMOOTH_MOST = 20_000
"""Rows up to which the models that compare each row with each take part."""


def blend(count: int, seed: int, *, library: Library = "installed", weighted: bool = False) -> dict[str, Any]:
    """The models for so many training rows, by name.

    Args:
        count: The number of training rows.
        seed: For what the models draw.
        library: "sklearn" leaves LightGBM and CatBoost out where they are installed: the same result everywhere.
        weighted: Whether rows have weights: models that take none are then left out.
    """
    trees, leaf = (100, 1) if count <= 10_000 else (30, 5)  # five copies of each are kept
    models: dict[str, Any] = {
        "linear": Member(RidgeCV(np.logspace(-3, 3, 13)), smooth=True),
        "boosting": Member(_boosting(count, seed)),
        "extra trees": Member(
            ExtraTreesRegressor(
                trees,
                min_samples_leaf=leaf,
                max_features=0.5,
                bootstrap=count > 50_000,
                max_samples=_some(count),
                random_state=seed,
            )
        ),
        "forest": Member(
            RandomForestRegressor(trees, min_samples_leaf=leaf + 1, max_samples=_some(count), random_state=seed)
        ),
    }
    if FEWEST <= count <= SMOOTH_MOST:
        models["Gaussian process"] = Member(GaussianProcess(random_state=seed), smooth=True)
        models["network"] = Member(
            MLPRegressor(
                hidden_layer_sizes=(64, 64),
                batch_size=64,
                learning_rate_init=3e-3,
                max_iter=300,
                early_stopping=True,
                n_iter_no_change=20,
                random_state=seed,
            ),
            smooth=True,
        )
    if FEWEST <= count <= SMOOTH_MOST // 4:
        models["support vectors"] = Member(SVR(C=3.0, epsilon=0.05), smooth=True)
    if library == "installed":
        models |= {name: Member(make(count, seed)) for name, (package, make) in _OTHERS.items() if find_spec(package)}
    return {
        name: each for name, each in models.items() if not weighted or has_fit_parameter(each.model, "sample_weight")
    }


def _boosting(count: int, seed: int) -> HistGradientBoostingRegressor:
    few = count < 10_000
    return HistGradientBoostingRegressor(
        learning_rate=0.05 if few else 0.1,
        max_iter=300,
        max_leaf_nodes=16 if few else 31,
        min_samples_leaf=10 if few else 20,
        l2_regularization=1.0,
        early_stopping=not few,
        random_state=seed,
    )


def _some(count: int) -> int | None:
    """The rows of each tree: all, or 50,000 drawn at random."""
    return None if count <= 50_000 else 50_000


def _lightgbm(count: int, seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, deterministic=True, n_jobs=_threads(count), verbose=-1)


def _catboost(count: int, seed: int) -> Any:
    from catboost import CatBoostRegressor  # type: ignore[import-untyped]

    threads = _threads(count) or -1
    return CatBoostRegressor(
        iterations=300, random_seed=seed, thread_count=threads, verbose=0, allow_writing_files=False
    )


def _threads(count: int) -> int | None:
    """One for few rows, where more would wait for each other; else as many as the library takes."""
    return 1 if count < 20_000 else None


_OTHERS: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    "LightGBM": ("lightgbm", _lightgbm),
    "CatBoost": ("catboost", _catboost),
}


class Member(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A model of the blend, which takes tables as they come: categories, dates, missing values.

    Trees get numbers, with categories by rank and gaps as they are. Smooth models get indicators of categories and of
    gaps, the mean in place of gaps, and columns and labels in standard deviations.

    Args:
        model: A regressor of numbers.
        smooth: Whether it is a smooth function of its columns, in which units matter.
    """

    def __init__(self, model: Any, *, smooth: bool = False) -> None:
        self.model = model
        self.smooth = smooth

    def fit(self, X: Any, y: Numbers, sample_weight: Numbers | None = None) -> Self:
        """Learn the columns, then the model.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            sample_weight: How much each row counts.
        """
        self.columns_ = Encoder.of(X, most_kinds=max(20, len(y) // 20))
        matrix = self._matrix(X)
        self.centre_, self.unit_ = (float(np.mean(y)), float(np.std(y)) or 1.0) if self.smooth else (0.0, 1.0)
        if self.smooth:
            matrix = self._learn_scales(matrix)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        with few_threads(matrix), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what did not converge: the stack weighs it by its predictions
            self.model_ = clone(self.model).fit(matrix, (y - self.centre_) / self.unit_, **weights)
        return self

    def predict(self, X: Any) -> Numbers:
        """The point of each row.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        matrix = self._matrix(X)
        with few_threads(matrix):
            predicted = self.model_.predict(self._scaled(matrix) if self.smooth else matrix)
        return np.asarray(self.centre_ + self.unit_ * predicted)

    def _matrix(self, X: Any) -> Numbers:
        """The columns as numbers; where none tells rows apart, one of zeros."""
        matrix = self.columns_.numbers(X)
        return matrix if matrix.shape[1] else np.zeros((len(matrix), 1))

    def _learn_scales(self, matrix: Numbers) -> Numbers:
        self.gaps_ = np.flatnonzero(np.isnan(matrix).any(axis=0))
        wide = self._wide(matrix)
        with np.errstate(invalid="ignore"):
            self.means_ = np.nan_to_num(np.nanmean(np.where(np.isfinite(wide), wide, np.nan), axis=0))
            spreads = np.nanstd(np.where(np.isfinite(wide), wide, np.nan), axis=0)
        self.scales_ = np.where(spreads > 0, spreads, 1.0)
        return self._scaled(matrix)

    def _scaled(self, matrix: Numbers) -> Numbers:
        wide: Numbers = (self._wide(matrix) - self.means_) / self.scales_
        return np.asarray(np.clip(np.nan_to_num(wide, posinf=10.0, neginf=-10.0), -10, 10))  # wild values stay near

    def _wide(self, matrix: Numbers) -> Numbers:
        """Numbers as they are, an indicator for each of the first categories and for gaps."""
        parts = []
        for k, kinds in enumerate(self.columns_.categories or ()):
            column = matrix[:, k]
            parts += [column] if kinds is None else [(column == rank) * 1.0 for rank in range(min(20, len(kinds)))]
        parts += [np.isnan(matrix[:, k]) * 1.0 for k in self.gaps_]
        return np.stack(parts, axis=1) if parts else np.zeros((len(matrix), 1))


class GaussianProcess(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A Gaussian process with a length for each of up to 30 columns, for columns and labels in standard deviations.

    Its lengths are learned from at most `learn` rows; it passes through at most `most`.
    """

    def __init__(self, *, learn: int = 400, most: int = 2_000, random_state: int | None = None) -> None:
        self.learn = learn
        self.most = most
        self.random_state = random_state

    def fit(self, X: Numbers, y: Numbers) -> Self:
        """Learn the lengths, then the process.

        Args:
            X: Numbers, in standard deviations.
            y: The labels, in standard deviations.
        """
        order = np.random.default_rng(self.random_state).permutation(len(y))
        some, more = order[: self.learn], order[: self.most]
        own = X.shape[1] if X.shape[1] <= OWN_LENGTHS else 1
        lengths = np.full(own, np.sqrt(X.shape[1]))
        kernel = ConstantKernel(1.0, (1e-3, 1e3)) * Matern(lengths, (0.1, 1e3), nu=2.5) + WhiteKernel(0.1, (1e-4, 10.0))
        learned = GaussianProcessRegressor(kernel, optimizer=_few_steps).fit(X[some], y[some])
        self.process_ = GaussianProcessRegressor(learned.kernel_, optimizer=None).fit(X[more], y[more])
        return self

    def predict(self, X: Numbers) -> Numbers:
        """The mean of the process, some rows at a time.

        Args:
            X: Numbers, in standard deviations.
        """
        blocks = [self.process_.predict(X[k : k + 5_000]) for k in range(0, len(X), 5_000)]
        return np.asarray(np.concatenate(blocks) if blocks else np.zeros(0))


def _few_steps(cost: Any, start: Any, bounds: Any) -> tuple[Numbers, float]:
    found = minimize(cost, start, jac=True, bounds=bounds, method="L-BFGS-B", options={"maxiter": 40})
    return found.x, found.fun
