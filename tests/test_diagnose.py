"""diagnose(H, y, X): who is right passes, who is wrong somewhere is told where, and the numbers mean what they say."""

from __future__ import annotations

import math
import time
from collections import Counter

import numpy as np
import pandas as pd
import polars
import pytest
import scipy.stats

import calibrant
from calibrant import Calibrator, Interval, Normal, Point, Quantiles, Samples, diagnose, metrics
from calibrant.diagnosis import feature_test as feature_test_module
from calibrant.diagnosis.feature_test import feature_test
from calibrant.diagnosis.worst_slice import worst_slice
from calibrant.interpolators import InfiniteTails, Linear, Naive
from calibrant.judging.columns import feature_slices
from calibrant.metrics.by_slice import own_slices, slice_results
from calibrant.metrics.interval_coverage import InsideFlags, inside
from calibrant.metrics.rounding import fixed
from calibrant.metrics.slices import Slices, all_rows, slices_of


class Truth:
    """y = f(x) + sigma(x) e, where all is known."""

    def __init__(self, m, seed):
        rng = np.random.default_rng(seed)
        self.X = rng.normal(size=(m, 3))
        self.f = self.X[:, 0] + np.sin(self.X[:, 1])
        self.sigma = 0.5 * np.exp(0.4 * self.X[:, 0])
        self.y = self.f + self.sigma * rng.normal(size=m)
        self.distribution = Normal(self.f, self.sigma)

    def same_width(self, n):
        """The plain residual score, calibrated on the first n rows: H, y and X of the others."""
        return Calibrator().fit(Point(self.f[:n]), self.y[:n])(Point(self.f[n:])), self.y[n:], self.X[n:]


# ---- the whole ------------------------------------------------------------------------------------------------------


def test_the_truth_passes_and_one_width_for_all_fails():
    passed = flagged = 0
    for seed in range(100):
        passed += diagnose(Truth(300, seed).distribution, Truth(300, seed).y, Truth(300, seed).X, seed=seed).passes
        if seed < 20:
            flagged += not diagnose(*Truth(900, seed).same_width(300), n=300, seed=seed).passes
    assert passed >= 90  # 95 or more are promised on average: 89 or fewer have a chance of 1%
    assert flagged == 20


def test_a_distribution_calibrated_on_few_rows_passes_if_their_number_is_known():
    known = unknown = 0
    for seed in range(30):
        truth = Truth(2100, seed)
        H = Calibrator().fit(Normal(truth.f, truth.sigma / 2)[:100], truth.y[:100])(
            Normal(truth.f, truth.sigma / 2)[100:]
        )
        known += diagnose(H, truth.y[100:], truth.X[100:], n=100).passes
        unknown += diagnose(H, truth.y[100:], truth.X[100:]).passes
    assert known >= 26
    assert unknown < 20  # 2,000 rows see the error that 100 calibration rows leave


def test_labels_on_atoms_are_no_fault():
    passed = 0
    for seed in range(40):
        truth = Truth(300, seed)
        passed += diagnose(truth.distribution.clip(0.0), truth.y.clip(0.0), truth.X, seed=seed).passes
    assert passed >= 34
    found = diagnose(truth.distribution.clip(0.0), truth.y.clip(0.0), truth.X)
    held = found.slices[0].intervals[1]
    assert held.share == metrics.coverage(truth.distribution.clip(0.0), truth.y.clip(0.0), 0.5) > held.tested + 0.05


def test_the_words_say_what_is_wrong_and_what_to_do():
    H, y, X = Truth(4000, 0).same_width(2000)
    found = diagnose(H, y, X, names=["heat", "wind", "noise"], n=2000)
    first, slices, features, worst, advice = str(found).splitlines()
    assert repr(found) == str(found)
    assert first == "Fails: 2,000 rows show that the forecasts are not calibrated everywhere."
    assert slices.startswith(f"Slices: {len(found.off)} of {len(found.slices)} are off by more than chance allows. ")
    assert f"The farthest is {found.off[0].name} (400 rows): the 50% intervals hold " in slices
    assert "(p = 0.005); most strongly heat" in features
    assert "noise" not in features
    assert worst.startswith(f"Worst slice: {found.worst.name}, found on one part of the rows. On the others, ")
    assert advice.startswith("What to do: let the width follow the features")
    assert not found.passes


def test_a_biased_centre_and_wrong_rows_get_other_advice():
    truth = Truth(3000, 1)
    biased = diagnose(Normal(truth.f - 0.3 * truth.X[:, 2] * truth.sigma, truth.sigma), truth.y, truth.X)
    assert not biased.slices[0].off
    assert "What to do: whether labels lie above or below their medians depends on the features" in str(biased)
    assert biased.feature_test.features[0][0] == "x2"
    base = Normal(truth.f, 0.5 * np.exp(0.4 * truth.X[:, 2]))  # the spread follows the wrong feature
    H = Calibrator().fit(base[:1500], truth.y[:1500])(base[1500:])
    other = diagnose(H, truth.y[1500:], truth.X[1500:], n=1500)
    assert "What to do: the width varies, but not as the features require." in str(other)
    shifted = diagnose(Normal(truth.f + truth.sigma, truth.sigma), truth.y, truth.X)
    assert "What to do: all rows together are off too." in str(shifted)


def test_a_pass_is_said_without_advice():
    found = diagnose(Truth(1000, 2).distribution, Truth(1000, 2).y, Truth(1000, 2).X)
    assert found.passes
    assert str(found).startswith(
        "Passes: nothing in 1,000 rows speaks against calibration in every slice.\nSlices: none"
    )
    assert "What to do" not in str(found)
    assert found.off == ()


def test_the_table_has_a_line_a_slice_and_a_star_where_chance_does_not_explain():
    found = diagnose(*Truth(3000, 3).same_width(1000), n=1000)
    head, *lines = found.table().splitlines()
    assert head.split() == ["rows", "in", "90%", "chance", "allows", "in", "50%", "chance", "allows", "PIT", "gap"]
    assert len(lines) == len(found.slices)
    assert len({len(line) for line in lines}) == 1
    for line, each in zip(lines, found.slices, strict=True):
        assert line.startswith(each.name)
        assert ("*" in line) == each.off
        assert f"{fixed(100 * each.intervals[0].share, 1)}%" in line


def test_the_same_twice_is_the_same_and_a_seed_changes_the_halves():
    H, y, X = Truth(600, 4).same_width(200)
    assert diagnose(H, y, X) == diagnose(H, y, X)
    assert diagnose(H, y, X).worst != diagnose(H, y, X, seed=1).worst
    assert diagnose(H, y, X).slices == diagnose(H, y, X, seed=1).slices


@pytest.mark.slow
def test_ten_thousand_rows_of_twenty_features_take_a_few_seconds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 20)), rng.normal(size=10_000)
    start = time.process_time()
    diagnose(Normal(X[:, 0] / 100, 1.0), y, X)
    assert time.process_time() - start < 10  # 2.5 on one core; twice the budget for a busy machine


# ---- slices ---------------------------------------------------------------------------------------------------------


def test_all_slices_of_uniform_pits_are_inside_together_as_often_as_promised():
    """Bonferroni and whole counts make it more; without them it would be far less."""
    rng = np.random.default_rng(0)
    columns = [slices_of(str(k), values, 500) for k, values in enumerate(rng.random((4, 500)))]
    clean = alone = 0
    (low,), (high,) = metrics.reliability_band(100, [0.5])
    for _ in range(300):
        pit = rng.random(500)
        lines = slice_results(columns, {c: InsideFlags(inside(pit, c)) for c in (0.9, 0.5)}, pit)
        clean += not any(each.off for each in lines)
        shares = [np.bincount(column.index, inside(pit, 0.5)) / 100 for column in columns]
        alone += bool(np.all((shares >= low) & (shares <= high)))
    assert clean >= 280
    assert alone < 200


def test_the_share_and_the_gap_of_a_slice_are_those_of_its_rows():
    rng = np.random.default_rng(1)
    pit, column = rng.beta(2, 2, 900), slices_of("g", rng.integers(0, 3, 900), 900)
    for k, each in enumerate(slice_results([column], {0.9: InsideFlags(inside(pit, 0.9))}, pit)):
        rows = pit[column.index == k]
        assert each.m == rows.size
        assert each.intervals[0].share == np.mean((rows > 0.05) & (rows <= 0.95))
        assert each.gap == pytest.approx(scipy.stats.kstest(rows, "uniform").statistic, abs=1e-12)
        assert each.gap == pytest.approx(abs(each.below - each.level), abs=1e-12)
        assert each.below in (np.mean(rows <= each.level), np.mean(rows < each.level))
        counts = scipy.stats.binom(rows.size, 0.9)
        low, high = (round(each.m * end) for end in (each.intervals[0].low, each.intervals[0].high))
        assert counts.cdf(low - 1) + counts.sf(high) <= 0.05 / 6  # three slices, each with a share and a gap
        assert counts.cdf(low) + counts.sf(high - 1) > 0.05 / 6
        assert each.pvalue == pytest.approx(min(1, 6 * metrics.calibration.kolmogorov_pvalue(each.gap, each.m)))


def test_a_slice_of_few_rows_is_not_judged():
    few = Slices("g", ("a", "b"), np.repeat([0, 1], [19, 81]))
    assert [each.value for each in slice_results([few], {}, np.full(100, 0.5))] == ["b"]


def test_widths_that_differ_by_rounding_make_no_slices():
    f = np.exp(np.random.default_rng(0).normal(0, 3, 500))
    H = Calibrator().fit(Point(np.zeros(500)), np.random.default_rng(1).normal(size=500))(Point(f))
    low, high = H.interval(0.9)
    assert len(np.unique(high - low)) > 2
    assert [column.name for column in own_slices(H.median(), high - low)] == ["predicted value"]
    assert own_slices(np.zeros(9), np.ones(9)) == []


def test_a_feature_called_width_and_the_width_are_told_apart():
    truth = Truth(300, 0)
    found = diagnose(truth.distribution, truth.y, {"width": truth.X[:, 0], "x": truth.X[:, 1]})
    assert list(dict.fromkeys(each.by for each in found.slices)) == ["", "predicted value", "(width)", "width", "x"]


# ---- what features tell ---------------------------------------------------------------------------------------------


def test_the_p_value_is_small_as_often_as_it_says():
    rng, small = np.random.default_rng(0), Counter()
    for _ in range(400):
        columns = [slices_of(str(k), values, 80) for k, values in enumerate(rng.normal(size=(2, 80)))]
        p = feature_test(columns, {"a": rng.random(80) < 0.3, "b": rng.random(80) < 0.5}, 39, rng).pvalue
        small.update(level for level in (0.05, 0.2, 0.5) if p <= level)
    for level in (0.05, 0.2, 0.5):  # exact: the number is binomial
        low, high = scipy.stats.binom(400, level).ppf([0.001, 0.999])
        assert low <= small[level] <= high, level


def test_the_risk_is_that_of_ridge_regression_fold_by_fold():
    """The one for many labels at once, against the textbook for one."""
    rng = np.random.default_rng(2)
    columns = [slices_of("a", rng.normal(size=203), 203), slices_of("b", rng.choice(list("xyz"), 203), 203)]
    label = rng.random(203) < 0.3 + 0.4 * (columns[0].index > 2)
    order = np.random.default_rng(5).permutation(203)
    found = feature_test(columns, {"e": label}, 19, np.random.default_rng(5))
    smoother = feature_test_module._Smoother(columns, order, np.random.default_rng(5))
    Z, y = smoother.design.astype(float), label[order].astype(float)
    risk = constant = 0.0
    for fold in smoother.folds:
        train = np.ones(203, bool)
        train[fold] = False
        centred = Z[train] - Z[train].mean(0)
        slope = np.linalg.solve(
            centred.T @ centred + feature_test_module.PENALTY * np.eye(Z.shape[1]),
            centred.T @ (y[train] - y[train].mean()),
        )
        said = y[train].mean() + (Z[fold] - Z[train].mean(0)) @ slope
        risk += np.sum((y[fold] - said) ** 2) / 203
        constant += np.sum((y[fold] - y[train].mean()) ** 2) / 203
    assert found.constant[0] == pytest.approx(constant, rel=1e-6)
    assert found.risk[0] == pytest.approx(risk, rel=1e-5)
    assert found.gains["e"] == pytest.approx(1 - risk / constant, rel=1e-3)
    assert found.features[0][0] == "a"
    assert abs(found.features[1][1]) < found.features[0][1] / 2


@pytest.mark.parametrize("shape", ["trend", "hollow", "together"])
def test_a_spread_that_features_tell_is_found_in_any_shape(shape):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2000, 3))
    log = {"trend": X[:, 0], "hollow": np.abs(X[:, 0]) - 0.8, "together": np.sign(X[:, 0] * X[:, 1])}[shape]
    pit = scipy.stats.norm.cdf(rng.normal(size=2000) * np.exp(0.4 * log))
    columns = feature_slices(X, 2000, None)
    found = feature_test(columns, {str(c): pit <= c for c in (0.05, 0.5, 0.95)}, 99, rng)
    assert found.pvalue == 0.01
    assert found.pvalues[1] > 0.01  # the median is right
    assert {name for name, _ in found.features[: 2 if shape == "together" else 1]} <= {"x0", "x1"}


def test_more_rows_than_are_needed_are_drawn(monkeypatch):
    monkeypatch.setattr(feature_test_module, "ROWS", 200)
    columns = [slices_of("a", np.arange(1000), 1000)]
    found = feature_test(columns, {"e": np.arange(1000) < 500}, 19, np.random.default_rng(0))
    assert found.constant[0] * 200 == pytest.approx(50, abs=2)  # a share of 1/2
    assert found.pvalue == 0.05


def test_without_features_nothing_is_told():
    y = np.random.default_rng(0).normal(size=200)
    found = diagnose(Normal(0.0, 1.0), y)  # one distribution for every row
    assert found.feature_test is None
    assert found.worst is None
    assert [each.name for each in found.slices] == ["all rows"]
    assert found.passes
    assert not diagnose(Normal(0.0, 0.5), y).passes


# ---- the worst slice ------------------------------------------------------------------------------------------------


def test_the_interval_of_the_worst_slice_holds_the_truth_although_it_was_looked_for():
    rng, held, honest = np.random.default_rng(4), 0, 0
    for _ in range(200):
        columns = feature_slices(rng.normal(size=(400, 4)), 400, None)
        worst = worst_slice(columns, 0.8, InsideFlags(rng.random(400) < 0.8), rng, confidence=0.9, risk=0.1, n=None)
        held += worst.low <= 0.8 <= worst.high
        low, high = (float(end) for end in metrics.bands.share_interval(worst.found * 25, 25, 0.9))
        honest += low <= 0.8 <= high
    assert held >= 172  # 90% or more; fewer than 172 have a chance of 2%
    assert honest < 150  # where it was found it looks worse than it is


@pytest.mark.parametrize(("rows", "there"), [(40, True), (38, False)])
def test_a_slice_of_20_rows_is_searched_and_one_of_19_is_not(rows, there):
    """All rows are one slice, and half of them are searched."""
    rng, none = np.random.default_rng(0), InsideFlags(np.zeros(rows, bool))
    worst = worst_slice([all_rows(rows)], 0.9, none, rng, confidence=0.9, risk=0.1, n=None)
    assert (worst is not None) == there


def test_the_worst_slice_is_found_among_pairs_and_measured_on_other_rows():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (6000, 4))
    bad = (X[:, 1] == 2) & (X[:, 3] == 0)
    held = rng.random(6000) < np.where(bad, 0.6, 0.9)
    worst = worst_slice(feature_slices(X, 6000, None), 0.9, InsideFlags(held), rng, confidence=0.95, risk=0.01, n=None)
    assert worst.name == "x1 = 2, x3 = 0"
    assert worst.off
    assert worst.low < 0.6 < worst.high
    assert 250 < worst.m < 420  # half of its rows


# ---- what goes in ---------------------------------------------------------------------------------------------------


def frames(m):
    rng = np.random.default_rng(6)
    columns = {
        "number": np.where(rng.random(m) < 0.1, np.nan, rng.normal(size=m)),
        "text": [[None, "north", "south"][k] for k in rng.integers(0, 3, m)],
        "few": rng.integers(0, 4, m),
        "same": np.ones(m),
    }
    return columns, {
        "mapping": columns,
        "pandas": pd.DataFrame(columns).astype({"text": "category"}),
        "polars": polars.DataFrame(columns, strict=False),
        "objects": np.array(list(columns.values()), object).T,
        "lists": [list(row) for row in zip(*columns.values(), strict=True)],
    }


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "objects", "lists"])
def test_features_come_in_any_form_with_values_missing(kind):
    columns, given = frames(400)
    y = np.random.default_rng(7).normal(size=400)
    names = list(columns) if kind in ("objects", "lists") else None
    found = diagnose(Normal(np.zeros(400), 1.0), y, given[kind], names=names)
    assert Counter(each.by for each in found.slices) == {"": 1, "number": 6, "text": 3, "few": 4}
    assert {"number = missing", "text = missing", "text = north", "few = 3"} <= {each.name for each in found.slices}


def test_a_column_alone_has_its_own_name_or_x0():
    y = np.random.default_rng(8).normal(size=100)
    H = Normal(np.zeros(100), 1.0)
    assert {each.by for each in diagnose(H, y, pd.Series(y, name="lag")).slices} == {"", "lag"}
    assert {each.by for each in diagnose(H, y, y).slices} == {"", "x0"}
    assert {each.by for each in diagnose(H, y, y[:, None], names=["lag"]).slices} == {"", "lag"}


def test_tensors_and_infinite_intervals_are_taken():
    torch = pytest.importorskip("torch")
    truth = Truth(400, 9)
    H = Normal(torch.asarray(truth.f), torch.asarray(truth.sigma))
    found, plain = (
        diagnose(H, torch.asarray(truth.y), torch.asarray(truth.X)),
        diagnose(truth.distribution, truth.y, truth.X),
    )
    assert (str(found), found.table()) == (str(plain), plain.table())
    few = Calibrator(interpolator=Linear(InfiniteTails())).fit(Point(truth.f[:9]), truth.y[:9])(Point(truth.f[9:]))
    assert math.isinf(few.interval(0.9)[1][0])
    assert diagnose(few, truth.y[9:], truth.X[9:], n=9).slices
    steps = Calibrator(interpolator=Naive()).fit(Point(truth.f[:99]), truth.y[:99])(Point(truth.f[99:]))
    assert 0.7 < diagnose(steps, truth.y[99:], n=99).slices[0].intervals[0].share < 1


def test_a_forecast_without_a_distribution_is_judged_by_what_it_says():
    truth = Truth(800, 12)
    levels = [0.05, 0.25, 0.5, 0.75, 0.95]
    quantiles = diagnose(Quantiles(levels, truth.distribution.quantiles(levels)), truth.y, truth.X)
    distribution = diagnose(truth.distribution, truth.y, truth.X)
    assert quantiles.feature_test.events == tuple(f"y <= quantile {level:g}" for level in levels)
    assert [[held.share for held in each.intervals] for each in quantiles.slices] == [
        [held.share for held in each.intervals] for each in distribution.slices
    ]
    assert quantiles.slices[0].gap is None
    assert "PIT" not in quantiles.table()
    assert quantiles.passes
    some = diagnose(Quantiles([0.05, 0.95], truth.distribution.quantiles([0.05, 0.95])), truth.y, truth.X)
    assert [held.coverage for held in some.slices[0].intervals] == [0.9]  # it has no 50% interval
    interval = diagnose(Interval(*truth.distribution.interval(0.8)), truth.y, truth.X, coverages=0.8)
    assert interval.feature_test.events == ("inside 80%",)
    assert interval.passes
    assert not diagnose(Interval(*truth.distribution.interval(0.8)), truth.y, truth.X, coverages=0.9).passes
    draws = truth.distribution.sample(100, rng=np.random.default_rng(0))
    assert len(diagnose(Samples(draws), truth.y, truth.X, coverages=0.89).feature_test.events) == 7


def test_bad_input_is_named():
    truth = Truth(60, 11)
    H, y, X = truth.distribution, truth.y, truth.X
    for wrong, error, text in (
        (
            lambda: diagnose(Point(truth.f), y, X),
            TypeError,
            "a diagnosis needs intervals of coverage 0.9, 0.5, and Point.* does not give",
        ),
        (lambda: diagnose(Interval(truth.f, truth.f + 1), y), ValueError, "must be their one coverage, got 0.9, 0.5"),
        (lambda: diagnose(H[:49], y[:49]), ValueError, "a diagnosis needs at least 50 rows, got 49"),
        (lambda: diagnose(H, y, X[:50]), ValueError, "X must have one row for each of the 60 rows of the forecast"),
        (
            lambda: diagnose(H, y, {"a": X[:50, 0]}),
            ValueError,
            "the column 'a' of X must have one row for each of the 60",
        ),
        (lambda: diagnose(H, y, X[:, :, None]), ValueError, r"X must have a row .* got shape \(60, 3, 1\)"),
        (
            lambda: diagnose(H, y, 5),
            TypeError,
            "X must be an array, a mapping of names to arrays or a data frame, got 5",
        ),
        (lambda: diagnose(H, y, "age"), TypeError, "X must be an array, a mapping of names .* got 'age'"),
        (lambda: diagnose(H, y, X, names=["a"]), ValueError, "names must name each of the 3 columns of X, got 1"),
        (lambda: diagnose(H, y, X, names=["a", "b", "a"]), ValueError, "must have different names, got 'a' twice"),
        (lambda: diagnose(H, y, X, coverages=()), ValueError, "coverages must hold at least one number inside"),
        (lambda: diagnose(H, y, X, coverages=90), ValueError, "coverages must lie strictly inside"),
        (lambda: diagnose(H, y, X, confidence=1), ValueError, "confidence must lie strictly inside"),
        (lambda: diagnose(H, y, X, permutations=20), ValueError, "at least 59 for this confidence, got 20"),
        (lambda: diagnose(H, y, X, n=0), ValueError, "n must be a count of rows, at least 1, got 0"),
    ):
        with pytest.raises(error, match=text):
            wrong()


def test_all_rows_are_one_slice_and_the_function_is_in_the_package():
    assert all_rows(3).labels == ("all rows",)
    assert calibrant.diagnose is calibrant.diagnosis.diagnose
