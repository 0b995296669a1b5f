"""Calibration in parts: merged to the bits of one fit."""

from __future__ import annotations

import numpy as np
import pytest

import calibrant
from calibrant import Calibrator, Normal, Window
from calibrant.distributions import Poisson
from calibrant.interpolators import NAF, Apart, ByGroup, Linear, Naive, Random
from calibrant.labels import Counts
from calibrant.scores import ZScore
from calibrant.tables.sampling import RowDraws

N = 1200
RNG = np.random.default_rng(0)
F = RNG.normal(size=N)
Y = (F + RNG.normal(size=N)).round(1)  # many scores are tied
W = RNG.uniform(0.5, 2.0, N).round(1)
G = np.asarray(["north", "south", "west"])[RNG.integers(0, 3, N)]
KNOWN = ["plain", "ratios", "groups"]


def known(kind, rows):
    if kind == "groups":
        return {"by": G[rows]}
    return {} if kind == "plain" else {"weights": W[rows]}


BY_GROUP = (ByGroup(), Apart(Linear()))
PAIRS = [(each, kind) for each in (Linear(), Naive(), Random()) for kind in KNOWN] + [
    (each, "groups") for each in BY_GROUP
]


@pytest.mark.few
@pytest.mark.parametrize(("interpolator", "kind"), PAIRS, ids=str)
@pytest.mark.parametrize("count", [2, 300])
def test_shards_in_any_order_are_one_fit_to_the_bit(interpolator, kind, count):
    count = min(count, 20) if kind == "groups" else count
    calibrator, everything = Calibrator(interpolator=interpolator), np.arange(N)
    whole = calibrator.fit(F, Y, **known(kind, everything))
    parts = np.array_split(np.random.default_rng(count).permutation(N), count)
    shards = [calibrator.fit(F[part], Y[part], **known(kind, part)) for part in parts]
    for order in (shards, shards[::-1]):
        merged = order[0].merge(*order[1:])
        assert merged.guarantee == whole.guarantee
        rows = slice(0, 40)
        distributions = [each(F[rows], **known(kind, rows), seed=1) for each in (merged, whole)]
        assert np.array_equal(*(distribution.quantiles([0.01, 0.3, 0.9]) for distribution in distributions))
        assert np.array_equal(*(distribution.cdf(Y[rows]) for distribution in distributions))


def test_merged_shards_can_be_saved_updated_and_merged_again(tmp_path):
    fit = Calibrator().fit
    merged = fit(F[:400], Y[:400]).merge(fit(F[400:500], Y[400:500])).merge(fit(F[500:900], Y[500:900]))
    merged.save(tmp_path / "m.safetensors")
    after = calibrant.load(tmp_path / "m.safetensors").update(F[900:], Y[900:])
    assert after.q.knots.tolist() == fit(F, Y).q.knots.tolist()


def test_counts_of_shards_draw_by_row_id_what_one_fit_draws():
    rate = np.exp(F)
    y, ids = np.random.default_rng(1).poisson(rate), np.arange(N)
    calibrator = Calibrator(ZScore(floor=1e-6), labels=Counts())
    whole = calibrator.fit(Poisson(rate), y, rng=RowDraws(ids))
    parts = np.array_split(np.random.default_rng(2).permutation(N), 7)
    first, *others = (calibrator.fit(Poisson(rate[part]), y[part], rng=RowDraws(ids[part])) for part in parts)
    assert first.merge(*others).q.knots.tolist() == whole.q.knots.tolist()
    with pytest.raises(ValueError, match="the ids"):
        calibrator.fit(Poisson(rate), y, rng=RowDraws(ids[1:]))


@pytest.mark.parametrize(
    ("shards", "error", "words"),
    [
        (lambda: (Calibrator().fit(F, Y), Calibrator(interpolator=Naive()).fit(F, Y)), ValueError, "another interp"),
        (
            lambda: [Calibrator(ZScore()).fit(Normal(F[:9], s), Y[:9]) for s in (1.0, 2.0)],
            ValueError,
            "another score cannot be merged: .* fix what fit learns beforehand",
        ),
        (lambda: [Calibrator(interpolator=NAF()).fit(F, Y)] * 2, TypeError, "NAF fits q to all scores at once"),
        (lambda: [Calibrator(forget=Window(50)).fit(F, Y)] * 2, TypeError, "parts have no order of time"),
        (
            lambda: (Calibrator().fit(F, Y), Calibrator().fit(F, Y, weights=W)),
            ValueError,
            "with and without weights= or by=",
        ),
        (lambda: (Calibrator().fit(F, Y), 3), TypeError, "merge takes what Calibrator.fit gives, got int"),
        (lambda: (Calibrator().fit(F, Y), Calibrator().fit(Normal(F, 1.0), Y)), ValueError, "another score"),
    ],
)
def test_what_cannot_be_merged_is_told(shards, error, words):
    first, second = shards()
    with pytest.raises(error, match=words):
        first.merge(second)


def test_groups_are_updated_as_one_fit(tmp_path):
    whole = Calibrator().fit(F, Y, by=G)
    first = Calibrator().fit(F[:700], Y[:700], by=G[:700])
    first.save(tmp_path / "g.safetensors")
    for start in (first, calibrant.load(tmp_path / "g.safetensors")):
        after = start.update(F[700:], Y[700:], by=G[700:])
        assert after.guarantee == whole.guarantee
        assert np.array_equal(*(each(F, by=G).quantiles([0.05, 0.5]) for each in (after, whole)))
    with pytest.raises(TypeError, match="fitted with by=: update needs by= of each row"):
        first.update(F[700:], Y[700:])
    with pytest.raises(TypeError, match="fitted without by=: update takes no by="):
        Calibrator().fit(F, Y).update(F, Y, by=G)
    with pytest.raises(ValueError, match=r"by is missing in row 1 \(the only such row\)"):
        first.update(F[:2], Y[:2], by=["north", None])
