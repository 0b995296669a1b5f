"""A kind of prediction that is not calibrant's: one class, written here, goes through everything."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import calibrant
from calibrant import Calibrator, Ensemble, Normal, Point, concatenate, evaluate, plots, report
from calibrant.forecast import NotAvailable
from calibrant.predictions import Mark, Prediction
from calibrant.scores import LocationScaleScore
from calibrant.scores.base import default_score


class FromMode(LocationScaleScore):
    """(y - mode) / (upper - lower)."""

    def loc_scale(self, prediction):
        return prediction.mode, prediction.upper - prediction.lower


@dataclass(frozen=True, eq=False, repr=False)
class Triangular(Prediction):
    """A least, a likeliest and a largest value a row, as a planner gives them."""

    lower: Any
    mode: Any
    upper: Any

    @property
    def shape(self):
        return self.lower.shape

    def quantile(self, level):
        """Of the density that rises to the mode and falls to the upper end."""
        width, rise = self.upper - self.lower, self.mode - self.lower
        below = self.lower + np.sqrt(level * width * rise)
        above = self.upper - np.sqrt((1 - level) * width * (width - rise))
        return np.where(level * width < rise, below, above)

    def quantile_levels(self):
        return (0.1, 0.5, 0.9)

    def marks(self):
        return [Mark("least", self.lower), Mark("likeliest", self.mode), Mark("largest", self.upper)]

    def default_score(self):
        return FromMode()


@dataclass(frozen=True, eq=False, repr=False)
class Said(Prediction):
    """A mean and an error a row: a kind that says no more than its distribution."""

    value: Any
    error: Any

    @property
    def shape(self):
        return self.value.shape

    def as_distribution(self):
        return Normal(self.value, self.error)


@dataclass(frozen=True, eq=False, repr=False)
class Mute(Prediction):
    """A kind that says nothing of itself."""

    value: Any

    @property
    def shape(self):
        return self.value.shape


RNG = np.random.default_rng(11)
MODE, WIDTH = RNG.normal(size=1500), RNG.uniform(1, 3, 1500)
Y = MODE + WIDTH * RNG.normal(size=1500)
BASE = Triangular(MODE - WIDTH / 2, MODE, MODE + WIDTH)  # much too sure
FITTED = Calibrator().fit(BASE[:500], Y[:500])
H = FITTED(BASE[500:])


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    return json.loads(found.group(1))


def test_its_own_score_is_the_default_in_an_ensemble_too():
    once = Calibrator().fit(Ensemble([BASE[:500]]), Y[:500])(Ensemble([BASE[500:]]))
    np.testing.assert_allclose(once.quantiles([0.1, 0.9]), H.quantiles([0.1, 0.9]))
    assert isinstance(FITTED.score, FromMode)
    assert isinstance(default_score(BASE), FromMode)
    by_hand = Calibrator(FromMode()).fit(BASE[:500], Y[:500])(BASE[500:])
    np.testing.assert_array_equal(H.interval(0.9), by_hand.interval(0.9))


def test_it_slices_and_joins():
    assert repr(BASE[:3]) == "Triangular(n=3)"
    np.testing.assert_array_equal(concatenate([BASE[:3], BASE[3:5]]).mode, MODE[:5])


def test_evaluate_has_what_it_says_and_no_more():
    labels, some = Y[500:], BASE[500:]
    found = evaluate(some, labels, coverage=0.8, ci=0.95)
    low, middle, high = (some.quantile(level) for level in (0.1, 0.5, 0.9))
    assert found.coverage == np.mean((low <= labels) & (labels <= high))
    np.testing.assert_allclose(found.ci_width, np.mean(some.quantile(0.975) - some.quantile(0.025)))
    losses = [
        np.maximum(a * (labels - q), (a - 1) * (labels - q))
        for a, q in zip((0.1, 0.5, 0.9), (low, middle, high), strict=True)
    ]
    np.testing.assert_allclose(found.pinball, np.mean(losses))
    assert "pinball at 0.1, 0.5, 0.9" in str(found)
    assert (found.crps, found.nll, found.std, found.ece) == (None, None, None, None)
    assert evaluate(BASE[500:], Y[500:]).coverage < 0.6
    assert abs(evaluate(H, Y[500:]).coverage - 0.9) < 0.03


def test_a_plot_of_distributions_marks_its_numbers():
    ax = plots.density(H, rows=4, base=BASE[500:])
    (marks,) = [line for line in ax.lines if line.get_marker() == "|"]
    np.testing.assert_array_equal(marks.get_xdata(), [BASE.lower[504], BASE.mode[504], BASE.upper[504]])


def test_plots_of_intervals_and_of_reliability_show_its_own_quantiles():
    ax = plots.intervals(BASE[500:], Y[500:], coverage=0.8)
    share = np.mean((BASE.quantile(0.1) <= Y)[500:] & (BASE.quantile(0.9) >= Y)[500:])
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names[:2] == ["80% intervals of 200 rows", f"inside: {100 * round(share, 3):.6g}% of 1,000 rows"]
    line = plots.reliability(BASE[500:], Y[500:]).get_lines()[-1]
    np.testing.assert_array_equal(line.get_xdata(), [0.1, 0.5, 0.9])
    shares = [np.mean(Y[500:] <= BASE[500:].quantile(level)) for level in (0.1, 0.5, 0.9)]
    np.testing.assert_allclose(line.get_ydata(), shares)


def test_the_report_sets_it_beside_its_calibration():
    page = report(H, Y[500:], base=BASE[500:], guarantee=FITTED.guarantee, rows=[0, 7])
    row = data_of(page)["rows"][1]
    marks = row["of"][1]["marks"]
    assert [mark["text"] for mark in marks] == ["least", "likeliest", "largest"]
    at = [BASE.lower[507], BASE.mode[507], BASE.upper[507]]
    assert [mark["at"] * 10.0 ** row["power"] for mark in marks] == pytest.approx(at, abs=1e-3)
    assert re.search(r"90% intervals hold 9\d\.\d% .*before calibration they held \d\d\.\d%", str(page))


def test_its_form_is_the_name_of_its_class_by_which_it_is_saved(tmp_path):
    FITTED.save(tmp_path / "model.safetensors")
    again = calibrant.load(tmp_path / "model.safetensors", classes=[FromMode])
    assert again.form == FITTED.form
    np.testing.assert_array_equal(again(BASE[500:]).median(), H.median())
    assert str(FITTED.form) == "Triangular"
    with pytest.raises(TypeError, match="calibrated on Triangular, got points: give it the kind of prediction it was"):
        FITTED(Point(MODE[:3]))


def test_a_kind_that_says_its_distribution_has_all_that_a_distribution_has():
    said, distribution = Said(MODE, WIDTH), Normal(MODE, WIDTH)
    assert evaluate(said, Y) == evaluate(distribution, Y)
    pages = [report(each, Y, base=each, rows=[0, 1]) for each in (said, distribution)]
    assert data_of(pages[0]) == data_of(pages[1])
    curves = [plots.cdf(H, rows=3, base=each[500:]).get_lines()[0].get_xydata() for each in (said, distribution)]
    np.testing.assert_array_equal(*curves)
    assert [mark.text for mark in said.marks()] == ["median"]


def test_what_a_kind_does_not_say_is_named():
    mute = Mute(MODE)
    for ask, what in (
        (mute.as_distribution, "the distribution of y"),
        (lambda: mute.quantile(0.5), "the quantile at level 0.5"),
        (lambda: mute.bounds(0.5), "the quantile at level 0.25"),
        (mute.quantile_levels, "quantiles"),
        (lambda: mute.crps_rows(Y), "the distribution of y"),
        (mute.std_rows, "the distribution of y"),
        (mute.marks, "numbers to mark"),
    ):
        with pytest.raises(NotAvailable, match=re.escape(f"Mute(n=1500) does not give {what}")):
            ask()
    assert evaluate(mute, Y).to_dict() == {"n": 1500}
    with pytest.raises(TypeError, match="there is no default score for Mute: pass one"):
        Calibrator().fit(mute, Y)


def test_a_default_score_that_is_none_is_refused():
    class Wrong(Mute):
        def default_score(self):
            return FromMode

    with pytest.raises(TypeError, match=r"Wrong.default_score must give a Score object, got <class .*FromMode'>"):
        Calibrator().fit(Wrong(MODE), Y)
