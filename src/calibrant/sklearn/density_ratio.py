"""w(x) = p_new(x) / p_train(x), learned by a classifier of new rows against training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import StratifiedKFold
from sklearn.utils.validation import _num_samples

from calibrant._types import Features
from calibrant._words import warn_user
from calibrant.models.frames import stacked

Numbers = NDArray[np.float64]
FEW, SHARE = 30, 0.05
"""Below so many rows, or this share of them, a few rows carry the distribution."""
MEAN_RATIO = 0.5
"""The mean ratio on training rows estimates the share of new rows that lie where training rows do: below this, few
do."""


@dataclass(frozen=True)
class DensityRatio:
    """w(x) = P(new | x) / P(train | x) * n_train / n_new, from a classifier with calibrated probabilities.

    Learn it from training rows, not from those that calibrate: then the calibration rows take no part in it.

    Args:
        classifier: A scikit-learn classifier with `predict_proba`; None is gradient boosting with small trees.
        largest: No ratio is above this or below its inverse.
        cv: The folds by which the classifier's probabilities are calibrated (Platt's sigmoid).
        random_state: Decides the folds, and the default classifier.

    >>> rng = np.random.default_rng(0)
    >>> ratio = DensityRatio().fit(rng.normal(0, 1, (2000, 1)), rng.normal(1, 1, (2000, 1)))
    >>> ratio(np.array([[-1.0], [0.5], [2.0]])).round(1)  # the truth is 0.2, 1.0 and 4.5
    array([0.4, 1.4, 3.4])
    >>> ratio
    FittedRatio(2000 training rows, effective size 866, largest share 0.0086)
    """

    classifier: Any = None
    largest: float = 50.0
    cv: int = 5
    random_state: int | None = 0

    def __post_init__(self) -> None:
        if not self.largest > 1:
            raise ValueError(f"DensityRatio.largest must be above 1, got {self.largest!r}")
        if self.classifier is not None and not hasattr(self.classifier, "predict_proba"):
            raise TypeError(f"DensityRatio.classifier must have predict_proba, got {self.classifier!r}")

    def fit(self, X_train: Features, X_new: Features) -> FittedRatio:
        """The ratio as a function of X; warns where a few rows would carry the distribution.

        Args:
            X_train: The features of the rows that train and calibrate.
            X_new: The features of the rows to predict; their labels are not needed.
        """
        counts = _num_samples(X_train), _num_samples(X_new)
        for name, count in zip(("X_train", "X_new"), counts, strict=True):
            if count < self.cv:
                raise ValueError(f"{name} must have a row for each of the {self.cv} folds, got {count}")
        # by default one that takes missing values and categories, and stops before it learns noise
        default = HistGradientBoostingClassifier(
            learning_rate=0.05, max_leaf_nodes=8, early_stopping=True, random_state=self.random_state
        )
        classifier = clone(default if self.classifier is None else self.classifier)
        folds = StratifiedKFold(self.cv, shuffle=True, random_state=self.random_state)
        which = np.repeat([0, 1], counts)
        model = CalibratedClassifierCV(classifier, method="sigmoid", cv=folds).fit(stacked(X_train, X_new), which)
        ratio = FittedRatio(model, counts[0] / counts[1], float(self.largest))
        return ratio.evaluated_on(X_train)


@dataclass(frozen=True)
class FittedRatio:
    """w(x), a function of X, and how evenly it weighs the training rows."""

    model: Any
    prior: float
    """n_train / n_new, which the classifier's probabilities are odds against."""
    largest: float
    rows: int = 0
    effective_size: float = 0.0
    """(sum of w)^2 / sum of w^2 over the training rows: the number of equally weighted rows with the same variance."""
    largest_share: float = 0.0
    """The largest weight of a training row over the sum of all."""

    def __call__(self, X: Features) -> Numbers:
        """One ratio per row.

        Args:
            X: The features of the rows.
        """
        new = self.model.predict_proba(X)[:, 1].astype(np.float64)
        with np.errstate(divide="ignore"):
            return np.asarray(np.clip(new / (1 - new) * self.prior, 1 / self.largest, self.largest))

    def evaluated_on(self, X_train: Features) -> FittedRatio:
        """The same, with what it makes of the training rows.

        Args:
            X_train: The features of the training rows.
        """
        w = np.sort(self(X_train))[::-1]
        size, mean = float(w.sum() ** 2 / np.sum(w**2)), float(w.mean())
        if mean < MEAN_RATIO:
            warn_user(
                f"the ratios have the mean {mean:.2g} on training rows, where it should be 1: most new rows lie"
                " where there are almost no training rows, and weights cannot correct that"
            )
        elif size < max(FEW, SHARE * len(w)):
            half = int(np.searchsorted(np.cumsum(w), w.sum() / 2)) + 1
            warn_user(
                f"the ratios give {len(w)} training rows an effective size of {size:.0f}: {half} of them carry half of"
                " the weight, so calibrated distributions rest on few rows"
            )
        return replace(self, rows=len(w), effective_size=size, largest_share=float(w[0] / w.sum()))

    def __repr__(self) -> str:
        return (
            f"FittedRatio({self.rows} training rows, effective size {self.effective_size:.0f}, largest share"
            f" {self.largest_share:.2g})"
        )
