"""Copies of the models that did not see a fold are kept and predict: the guarantee with groups, weights and copies."""

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from calibrant import CalibratedRegressor
from calibrant.sklearn.splits import Split

LEVELS = np.array([0.1, 0.5, 0.9])


def ratio(X):
    """Of new rows, with a mean of 0.5, to those of the table, with a mean of 0."""
    return np.exp(0.5 * X[:, 0] - 0.125)


def table(how, n, rng, *, new=False):
    group = np.repeat(np.arange(n // 4), 4) if how == "groups" else np.arange(n)
    shared = rng.normal(size=n)[group] if how == "groups" else 0.0
    X = rng.normal(0.5 if new and how == "weights" else 0.0, 1.0, (n, 2))
    return X, X[:, 0] * X[:, 1] + shared + rng.normal(size=n), group


def off(how, seed):
    """How far P(H(Y) <= c) is from c on new rows, and the bound, for one calibration set."""
    rng = np.random.default_rng(seed)
    X, y, group = table(how, 100, rng)
    known = {"groups": group} if how == "groups" else {}
    if how == "copies":
        X, y = np.tile(X, (2, 1)), np.tile(y, 2)
    model = CalibratedRegressor(
        KNeighborsRegressor(1),
        refine="constant",
        weights=ratio if how == "weights" else None,
        cv=0.5,
        random_state=seed,
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* are copies of others|the rows seem to be sorted|weights of")
        model.fit(X, y, **known)
        new, labels, group = table(how, 100, rng, new=True)
        rows = np.unique(group, return_index=True)[1]  # one row of each new group
        pit = model.predict_distribution(new[rows]).cdf(labels[rows])
    return (pit[:, None] <= LEVELS).mean(axis=0) - LEVELS, model.guarantee_.epsilon


def worst(how, sets):
    """The largest distance beyond the bound, in standard errors over the calibration sets."""
    found, bounds = zip(*(off(how, seed) for seed in range(sets)), strict=True)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(sets)
    return np.max((np.abs(mean) - np.mean(bounds)) / error)


@pytest.mark.parametrize("how", ["plain", "groups", "weights", "copies"])
def test_the_mean_of_the_copies_keeps_the_guarantee(how):
    assert worst(how, 40) < 4


@pytest.mark.parametrize("how", ["plain", "groups", "weights", "copies"])
def test_a_planted_leak_is_caught(how, monkeypatch):
    """Rows that calibrate train, too: the same check sees it."""
    split = Split.folds

    def leaking(self, *given, **known):
        return [(np.concatenate([train, held]), held) for train, held in split(self, *given, **known)]

    monkeypatch.setattr(Split, "folds", leaking)
    assert worst(how, 8) > 4
