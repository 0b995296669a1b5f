"""A row stands by itself: its answers are the same bits alone, in another order and among any others."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import torch
from catalogue import (
    CALIBRATION,
    COMBINATIONS,
    DISTRIBUTIONS,
    HERE,
    LATTICES,
    NUMPY_ONLY,
    PAIRS,
    PREDICTIONS,
    World,
    Y,
    calibrated,
    cases,
)

SEVEN = slice(CALIBRATION - 2, CALIBRATION + 5)
LABELS = Y[SEVEN]
P = [0.03, 0.41, 0.77, 0.98]
TORCH = World(array=partial(torch.asarray, dtype=torch.float64))


def answers(H, y):
    """What every method says, with one row for each row of H."""
    array = np.asarray if isinstance(y, np.ndarray) else torch.as_tensor
    table = y[:, None] + array([-1.0, 0.0, 0.7])
    density = "logpdf" if H.lattice is None else "logpmf"
    found = {method: getattr(H, method)(table) for method in ("cdf", "sf", "cdf_left", density)}
    found["ppf"] = H.ppf(array(np.tile(P, (len(H), 1))))
    found["quantiles"] = H.quantiles(P)
    found["lower"], found["upper"] = H.interval(0.8)
    C = H.clip(17.0, 23.0)
    found["clipped cdf"] = C.cdf(table)
    found |= {"mean": H.mean(), "std": H.std(), "crps": H.crps(table)}
    found |= {"clipped mean": C.mean(), "clipped std": C.std(), "clipped crps": C.crps(table)}
    return {method: np.asarray(result) for method, result in found.items()}


def same_bits(found, wanted, rows):
    for method, result in found.items():
        np.testing.assert_array_equal(result, wanted[method][rows], err_msg=method)


def same_digits(found, wanted, rows):
    """Of counts: a batch is summed over as many points in each row as its longest row has, which moves roundings."""
    for method, result in found.items():
        np.testing.assert_allclose(result, wanted[method][rows], rtol=1e-13, atol=1e-11, err_msg=method)


def stands_by_itself(H, y, *, compare=same_bits):
    whole = answers(H, y)
    for i in (0, len(H) - 3):
        compare(answers(H[i : i + 1], y[i : i + 1]), whole, slice(i, i + 1))
    backwards = np.arange(len(H))[::-1].copy()
    compare(answers(H[backwards], y[backwards]), whole, backwards)
    return whole


def batch(name, world=HERE):
    H = PREDICTIONS[name](world)[SEVEN] if name in PREDICTIONS else DISTRIBUTIONS[name](world)
    return H, world.at(LABELS)[: len(H)]


BATCHES = [name for name in DISTRIBUTIONS if DISTRIBUTIONS[name](HERE).shape]


@pytest.mark.parametrize("name", BATCHES)
def test_a_row_of_a_distribution_is_the_same_alone_reordered_and_among_others(name):
    stands_by_itself(*batch(name), compare=same_digits if name in LATTICES or "spread" in name else same_bits)


@pytest.mark.parametrize("name", cases(COMBINATIONS))
def test_a_calibrated_row_is_the_same_alone_reordered_and_among_others(name):
    pair, interpolator = COMBINATIONS[name]
    model = calibrated(pair, interpolator)
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[SEVEN]
    whole = stands_by_itself(model(prediction, rng=np.random.default_rng(3)), LABELS)
    if interpolator.startswith("random"):
        return  # a row that is predicted alone draws a uniform of its own
    one = model(prediction[3:4])
    same_bits(answers(one, LABELS[3:4]), whole, slice(3, 4))


@pytest.mark.parametrize("pair", ["residual", "cdf of normal", "quantile", "signed residual"])
def test_a_randomised_row_is_that_of_its_uniform(pair):
    """The uniforms are drawn row after row, so those of the first rows are the same however many follow."""
    model = calibrated(pair, "random, bounded")
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[SEVEN]
    few, all_of_them = (model(rows, rng=np.random.default_rng(3)) for rows in (prediction[:3], prediction))
    same_bits(answers(few, LABELS[:3]), answers(all_of_them, LABELS), slice(0, 3))


@pytest.mark.parametrize(
    "name", ["normal", "student t", "residual; linear", "z of normal; naf", "cdf of normal; linear"]
)
def test_a_row_among_a_thousand_is_the_row_among_seven(name):
    """Across the sizes of blocks, and where numpy takes many values at a time."""
    if name in COMBINATIONS:
        pair, interpolator = COMBINATIONS[name]
        H, y = calibrated(pair, interpolator)(PREDICTIONS[PAIRS[pair].prediction](HERE)[SEVEN]), LABELS
    else:
        H, y = batch(name)
    rows = np.random.default_rng(0).integers(len(H), size=40_003 if name == "residual; linear" else 1203)
    same_bits(answers(H[rows], y[rows]), answers(H, y), rows)


# ---- torch ---------------------------------------------------------------------------------------------------------


def within_4_ulp(found, wanted, rows):
    for method, result in found.items():
        one, other = result, wanted[method][rows]
        distinct_label = ~((one == other) | (np.isnan(one) & np.isnan(other)))
        # of the largest number that enters: probabilities are about 1, and labels, which lengths are between, about 20
        largest = 1.0 if "cdf" in method or method in ("sf", "logpdf", "logpmf") else 20.0
        size = np.spacing(np.maximum(np.abs(other[distinct_label]), largest))
        assert np.all(np.abs(one[distinct_label] - other[distinct_label]) <= 4 * size), method


@pytest.mark.few(8)
@pytest.mark.parametrize("name", [name for name in BATCHES if name not in NUMPY_ONLY])
def test_a_row_of_a_torch_distribution_is_the_same_to_4_ulp(name):
    stands_by_itself(*batch(name, TORCH), compare=same_digits if name in LATTICES else within_4_ulp)


IN_TORCH = ("residual", "quantile", "cdf of normal", "cdf of log-normal", "ensemble of ensembles", "signed residual")


@pytest.mark.few
@pytest.mark.parametrize("pair", IN_TORCH)
@pytest.mark.parametrize("interpolator", ["linear", "naf"])
def test_a_calibrated_torch_row_is_the_same_to_4_ulp(pair, interpolator):
    model = calibrated(pair, interpolator, world=TORCH)
    prediction = PREDICTIONS[PAIRS[pair].prediction](TORCH)[SEVEN]
    stands_by_itself(model(prediction), TORCH.at(LABELS), compare=within_4_ulp)
