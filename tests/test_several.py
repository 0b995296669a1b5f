"""Several labels at once: distributions, boxes and draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scoringrules
from scipy import stats

from calibrant import Calibrator, Interval, Normal, Point, Quantiles, Samples, Window, from_scipy, load
from calibrant.distributions import Poisson
from calibrant.interpolators import Random
from calibrant.intervals import IntervalGuarantee
from calibrant.labels import Real, Transformed
from calibrant.several import Several, SeveralCalibrator, energy_score
from calibrant.several.joint import Joint, level_set, ranks_of, two_sided

SETS, TESTED = 120, 60
"""Calibration sets, and new rows for each, of the simulations."""
F, LABELS = np.random.default_rng(0).normal(size=(2, 20, 2))


def errors(rng, rows, d, dependence):
    """Normal errors of d labels whose correlation is `dependence`."""
    shared = rng.normal(size=(rows, 1))
    return np.sqrt(dependence) * shared + np.sqrt(1 - dependence) * rng.normal(size=(rows, d))


def normals(f, scale):
    return [Normal(f[:, j], np.full(len(f), scale[j])) for j in range(f.shape[1])]


def coverages(n, d, dependence, *, training="own", joint=True):
    """The mean over calibration sets of the share of new rows whose labels are all inside, and its standard error."""
    rng, scale, shares = np.random.default_rng(n + d), np.linspace(1, 9, d), []
    for _ in range(SETS):
        f = rng.normal(size=(n + TESTED, d))
        Y = f + scale * errors(rng, n + TESTED, d, dependence)
        several, old, new = SeveralCalibrator(), f[:n], f[n:]
        if training == "own":
            old, new = normals(old, scale / 3), normals(new, scale / 3)
        elif training == "calibration":  # but for a row, since the very same rows are refused
            several = several.compared_on(f[1:n], Y[1:n])
        else:
            several = several.compared_on(np.zeros((200, d)), scale * errors(rng, 200, d, dependence))
        lower, upper = several.fit(old, Y[:n], rng=rng)(new).interval(0.9, joint=joint)
        shares.append(np.mean(np.all((lower <= Y[n:]) & (Y[n:] <= upper), axis=1)))
    return np.mean(shares), np.std(shares) / np.sqrt(SETS)


@pytest.mark.parametrize(
    ("n", "d", "training", "dependence"), [(50, 2, "own", 0.9), (100, 6, "own", 0.0), (100, 4, "training", 0.5)]
)
def test_the_joint_box_covers_what_was_asked_for(n, d, training, dependence):
    share, error = coverages(n, d, dependence, training=training)
    assert 0.9 - 4 * error <= share <= 0.9 + 1 / (n + 1) + 4 * error
    assert error < 0.006  # or the bounds above would say little


def test_separate_intervals_hold_all_labels_as_seldom_as_independence_says():
    share, error = coverages(100, 6, 0.0, joint=False)
    assert abs(share - 0.9**6) < 4 * error + 0.02


def test_a_box_of_labels_compared_on_calibration_rows_fails():
    share, _ = coverages(50, 12, 0.0, training="calibration")
    assert share < 0.75  # each label inside its 50 calibration scores: .62


# ---- two-sided scores ----------------------------------------------------------------------------------------------


def test_the_two_sided_score_is_the_smallest_level_set_that_holds_the_label():
    y = np.clip(np.random.default_rng(0).normal(size=20) * 5, -1, 2)
    skewed, clipped = from_scipy(stats.gumbel_r(loc=np.linspace(-1, 1, 20))), Normal(np.zeros(20), 2.0).clip(-1.0, 2.0)
    for distribution in (Normal(np.zeros(20), 1.0), skewed, clipped):
        for row, at in enumerate(two_sided(distribution, y)):
            for t, holds in ((at + 1e-9, True), (at - 1e-6, False)):
                lower, upper = level_set(distribution[row : row + 1], t)
                assert t < 0 or (lower[0] <= y[row] <= upper[0]) == holds


def test_the_two_sided_score_does_not_saturate():
    assert two_sided(Normal([0.0], 1.0), np.asarray([30.0]))[0] == pytest.approx(-stats.norm.logsf(30.0))
    assert np.ravel(level_set(Normal([0.0], 1.0), -stats.norm.logsf(30.0))) == pytest.approx([-30.0, 30.0])


def test_a_label_on_an_atom_is_never_outside_what_holds_the_median():
    distribution = Normal([5.0, 5.0], 1.0).clip(upper=2.0)  # nearly all of it lies on 2
    assert two_sided(distribution, np.asarray([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert np.stack(level_set(distribution, 0.0)).tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("seed", range(2))
def test_a_count_whose_score_is_the_threshold_lies_in_the_box(seed):
    """Counts share few scores, so that many rows have that of the threshold itself."""
    Y, rates = np.random.default_rng(seed).poisson(0.7, size=(100, 3)).astype(float), [Poisson(np.full(100, 0.7))] * 3
    lower, upper = SeveralCalibrator(Calibrator(labels="counts")).fit(rates, Y)(rates).interval(0.9, joint=True)
    inside = np.all((lower <= Y) & (upper >= Y), axis=1)
    scores, rank = np.max([two_sided(each, Y[:, j]) for j, each in enumerate(rates)], axis=0), math.ceil(101 * 0.9)
    np.testing.assert_array_equal(inside, scores <= np.sort(scores)[rank - 1] + 1e-9)


def test_the_threshold_is_the_rank_that_covers():
    joint = Joint(np.tile(np.arange(1, 100)[:, None], 2), np.arange(1.0, 100.0))
    assert [joint.threshold(coverage) for coverage in (0.9, 0.901, 0.5, 0.99)] == [90.0, 91.0, 50.0, 99.0]
    assert joint.threshold(0.991) == np.inf


def test_a_box_through_a_skewed_distribution_is_skewed():
    Y = np.random.default_rng(0).exponential(size=(400, 2)) * [1.0, 50.0]
    distributions = [from_scipy(stats.expon(scale=np.full(400, scale))) for scale in (1.0, 50.0)]
    lower, upper = SeveralCalibrator().fit(distributions, Y)(distributions).interval(0.9, joint=True)
    assert np.all(lower > 0)
    assert np.all(upper[0] > [3.0, 150.0])
    np.testing.assert_allclose(upper[:, 1], 50 * upper[:, 0])


SPREAD = {
    "interval": lambda f: Interval(f - 1, f + 1),
    "quantiles": lambda f: Quantiles([0.1, 0.5, 0.9], np.stack([f - 1, f, f + 2], axis=1)),
    "samples": lambda f: Samples(f[:, None] + np.linspace(-2, 2, 9)),
    "distribution": lambda f: Normal(f, 1.0),
}


@pytest.mark.parametrize("kind", SPREAD)
def test_predictions_with_a_spread_need_no_training_rows(kind):
    f, noise = np.random.default_rng(0).normal(size=(2, 2000, 2))
    Y, (a, b) = f + noise, map(SPREAD[kind], f.T)
    found = SeveralCalibrator().fit([a[:1000], b[:1000]], Y[:1000])([a[1000:], b[1000:]]).evaluate(Y[1000:])
    assert abs(found.together["joint"] - 0.9) < 4 * np.sqrt(0.09 * 2 / 1000)
    assert found.together["separate"] < 0.85
    assert f"all 2 labels in the 90% joint box: {100 * found.together['joint']:.1f}%" in str(found)
    assert found.to_dict()["together"]["joint_width"] == found.width["joint"] > 1


ALIKE = {
    "points do not give the usual size of an error": [Point(np.zeros(9)), Point(np.zeros(9))],
    "the usual size of an error on the same scale": [Normal(np.zeros(9), 1.0), Interval(np.zeros(9), np.ones(9))],
    "quantiles at level 0.5 do not give the usual size": [Quantiles([0.5], np.zeros((9, 1)))] * 2,
}


@pytest.mark.parametrize("words", ALIKE)
def test_labels_that_cannot_be_compared_have_no_box(words):
    calibrated = SeveralCalibrator().fit(ALIKE[words], LABELS[:9])
    H = calibrated(ALIKE[words])
    with pytest.raises(TypeError, match=words):
        H.interval(0.5, joint=True)
    assert "where there is one" in str(calibrated.guarantee)
    assert "joint" not in H.evaluate(np.zeros((9, 2))).together


def test_too_few_rows_give_an_infinite_box_and_a_warning():
    predictions = normals(F[:8], [1, 1])
    with pytest.warns(UserWarning, match="needs 9 calibration rows, got 8: it is infinite"):
        lower, upper = SeveralCalibrator().fit(predictions, LABELS[:8])(predictions).interval(0.9, joint=True)
    assert np.all(np.isinf(upper - lower))


# ---- guarantees ----------------------------------------------------------------------------------------------------


def test_the_guarantee_of_a_box_in_numbers_and_words():
    guarantee = IntervalGuarantee(0.9, 50, 46, labels=3)
    assert (guarantee.rank, guarantee.lower, guarantee.upper, guarantee.kind) == (46, 46 / 51, 46 / 51, "exact")
    assert "P(all 3 labels in the box) = 0.901961 (0.9 asked for, rank 46 of n = 50)" in str(guarantee)
    assert "P(all 3 labels in the box) >= " in str(replace(guarantee, largest_tie=2))
    assert "only approximately: 4 calibration rows" in str(replace(guarantee, floored=4))
    assert "takes 99 calibration rows" in str(IntervalGuarantee(0.99, 50, 51, labels=3))
    assert guarantee.conditional(0.95) == pytest.approx(stats.beta.ppf(0.05, 46, 5))


def test_the_guarantee_of_several_labels_is_that_of_each_and_of_a_box():
    calibrated = SeveralCalibrator().fit(normals(F, [1, 1]), LABELS)
    guarantee = calibrated.guarantee
    assert (guarantee.n, guarantee.epsilon) == (20, 1 / 21)
    assert calibrated.box_guarantee(0.9) == IntervalGuarantee(0.9, 20, 19, labels=2)
    assert guarantee["y0"] == calibrated["y0"].guarantee
    assert "holds all 2 labels with a probability of at least c" in str(guarantee)


# ---- each label by itself ------------------------------------------------------------------------------------------


def test_each_label_is_calibrated_as_by_itself():
    f, Y = np.random.default_rng(0).normal(size=(2, 60, 2))
    calibrated = SeveralCalibrator().fit({"a": Normal(f[:, 0], 1.0), "b": f[:, 1]}, Y)
    H = calibrated({"b": f[:5, 1], "a": Normal(f[:5, 0], 1.0)})  # by name, in any order
    alone = [
        Calibrator().fit(Normal(f[:, 0], 1.0), Y[:, 0])(Normal(f[:5, 0], 1.0)),
        Calibrator().fit(f[:, 1], Y[:, 1])(f[:5, 1]),
    ]
    assert H.shape == (5, 2)
    assert H["b"] is H[1]
    for method in ("mean", "median", "std"):
        np.testing.assert_array_equal(getattr(H, method)(), np.stack([getattr(h, method)() for h in alone], axis=1))
    for method in ("cdf", "crps"):
        wanted = np.stack([getattr(h, method)(Y[:5, j]) for j, h in enumerate(alone)], axis=1)
        np.testing.assert_allclose(getattr(H, method)(Y[:5]), wanted, rtol=1e-12)
    assert H.quantiles([0.1, 0.5, 0.9]).shape == (5, 3, 2)
    np.testing.assert_allclose(H.quantiles([0.05, 0.95])[:, 0], H.interval(0.9)[0], rtol=1e-12)
    with pytest.raises(KeyError, match="there is no label 'c', only 'a', 'b'"):
        H["c"]


def test_each_label_may_have_a_calibrator_and_a_bound_of_its_own():
    rng = np.random.default_rng(0)
    f, capacity = rng.uniform(1, 2, size=(80, 2)), rng.uniform(1, 2, size=80)
    Y = np.clip(f + rng.normal(size=f.shape), [0, 0.01], np.stack([capacity, np.full(80, np.inf)], axis=1))
    each = {"y1": Calibrator(labels=Transformed("log")), "y0": Calibrator(labels=Real(0, "capacity"))}
    bounds = [{"capacity": capacity[half]} for half in (slice(40), slice(40, 80))]
    several = SeveralCalibrator(each).compared_on(f[:40], Y[:40], bound=bounds[0])
    H = several.fit(f[40:], Y[40:], bound=bounds[1])(f[:40], bound=bounds[0])
    assert H["y0"].cdf(0.0).min() > 0  # an atom at the bound
    assert H["y1"].cdf(0.0).max() == 0
    lower, upper = H.interval(0.9, joint=True)
    assert lower[:, 0].min() == 0
    assert np.all(upper[:, 0] <= capacity[:40])
    assert np.any(upper[:, 1] > 2)


def test_a_window_keeps_the_same_rows_for_margins_and_box():
    whole = SeveralCalibrator(Calibrator(forget=Window(12))).fit(normals(F, [1, 1]), LABELS)
    last = SeveralCalibrator().fit(normals(F[8:], [1, 1]), LABELS[8:])
    np.testing.assert_array_equal(whole.joint.largest, last.joint.largest)
    np.testing.assert_array_equal(whole.joint.ranks, last.joint.ranks)
    assert whole.guarantee.n == 12


# ---- joint draws ---------------------------------------------------------------------------------------------------


def test_each_label_of_joint_draws_follows_its_own_distribution_and_they_depend_as_calibration_rows_do():
    rng = np.random.default_rng(0)
    Y = np.round(errors(rng, 300, 2, 0.8), 1) * [1, -1]  # with ties
    H = SeveralCalibrator().fit(np.zeros((300, 2)), Y, rng=rng)(np.zeros((1, 2)))
    draws = H.sample(20_000, rng)
    assert draws.shape == (1, 20_000, 2)
    for j in range(2):
        values, counts = np.unique(draws[0, :, j], return_counts=True)
        distance = np.max(abs(np.cumsum(counts) / 20_000 - H[j].cdf(values[None, :])[0]))
        assert distance < 1.95 / np.sqrt(20_000)  # the 0.1% point of Kolmogorov's distribution
    assert stats.spearmanr(draws[0]).statistic == pytest.approx(stats.spearmanr(Y).statistic, abs=0.02)


def test_the_energy_score_is_that_of_scoringrules():
    rng = np.random.default_rng(0)
    draws, Y = rng.normal(size=(7, 30, 3)), rng.normal(size=(7, 3))
    np.testing.assert_allclose(energy_score(draws, Y), scoringrules.es_ensemble(Y, draws, estimator="fair"))
    with pytest.raises(ValueError, match="have the 2 labels of Y, got 30 draws of 3 labels"):
        energy_score(draws, Y[:, :2])


def test_ties_are_ranked_by_lot():
    rng = np.random.default_rng(0)
    ranks = np.stack([ranks_of(np.zeros((3, 2)), rng) for _ in range(2000)])
    assert np.all(np.sort(ranks, axis=1) == [[1], [2], [3]])
    assert np.all(abs(ranks.mean(axis=0) - 2) < 4 * np.sqrt(2 / 3 / 2000))
    assert abs(np.corrcoef(ranks[:, 0, 0], ranks[:, 0, 1])[0, 1]) < 4 / np.sqrt(2000)  # a lot for each label


def test_a_randomised_q_has_margins_boxes_and_draws():
    several = SeveralCalibrator(Calibrator(interpolator=Random())).compared_on(F[:10], LABELS[:10])
    H = several.fit(F[10:], LABELS[10:])(F, seed=1)
    assert np.isfinite(H.interval(0.9, joint=True)[0]).all()
    assert H.sample(4).shape == (20, 4, 2)


def test_single_precision_stays_and_no_draw_is_infinite():
    f, Y = F.astype(np.float32), LABELS.astype(np.float32)
    H = SeveralCalibrator().fit(normals(f, np.float32([1, 1])), Y)(normals(f, np.float32([1, 1])))

    class Highest:
        def integers(self, n, size):
            return np.zeros(size, dtype=np.int64)

        def random(self, size=None):
            return np.full(size, 1 - 2.0**-53)

    draws = replace(H, joint=Joint(np.full((1, 2), 1, dtype=np.int64))).sample(3, Highest())
    assert draws.dtype == np.float32
    assert np.isfinite(draws).all()


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    found = []
    for array in (np.asarray, torch.asarray):
        predictions = [Normal(array(F[:, j]), 1.0) for j in range(2)]
        H = SeveralCalibrator().fit(predictions, array(LABELS), rng=np.random.default_rng(0))(predictions)
        found.append([*H.interval(0.9, joint=True), H.mean(), H.sample(3, np.random.default_rng(0))])
    for ours, theirs in zip(*found, strict=True):
        assert isinstance(theirs, torch.Tensor)
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-9)


# ---- what goes in and out ------------------------------------------------------------------------------------------


def test_frames_name_the_labels():
    assert SeveralCalibrator().fit(F, pd.DataFrame(LABELS)).names == ("0", "1")
    frame = pd.DataFrame(LABELS, columns=["load", "wind"])
    calibrated = SeveralCalibrator().fit(F, frame)
    assert calibrated.names == ("load", "wind")
    swapped = SeveralCalibrator().fit({"wind": F[:, 1], "load": F[:, 0]}, frame)
    np.testing.assert_array_equal(swapped["wind"](F[:, 1]).mean(), calibrated["wind"](F[:, 1]).mean())
    np.testing.assert_array_equal(calibrated(F).crps(frame[["wind", "load"]]), calibrated(F).crps(LABELS))


def test_rows_with_a_missing_label_are_left_out_for_every_label():
    Y, there = LABELS.copy(), np.arange(20) != 3
    Y[3, 1] = np.nan
    with pytest.warns(UserWarning, match=r"a label \('y1'\) is missing in 1 of 20 rows, row 3: it is left out for"):
        calibrated = SeveralCalibrator().fit(F, Y)
    np.testing.assert_array_equal(calibrated(F).mean(), SeveralCalibrator().fit(F[there], Y[there])(F).mean())


def fit(predictions=F, Y=LABELS, each=None):
    return SeveralCalibrator(each or Calibrator()).fit(predictions, Y)


UNIFORM = [from_scipy(stats.uniform(np.full(9, start), 1)) for start in (0, 5)]
BAD = {
    "compared on the calibration rows themselves": lambda: SeveralCalibrator().compared_on(F, LABELS).fit(F, LABELS),
    r"label 'y1' lies outside the support of its prediction in row 0 \(9 rows": lambda: fit(
        UNIFORM, abs(LABELS[:9]) % 1
    ),
    "at least one row": lambda: fit(F[:0], LABELS[:0]),
    "label 'y0' is NaN or infinite in row 0": lambda: fit(Y=np.full((20, 2), np.inf)),
    "label 'b' must hold real numbers": lambda: fit(Y=pd.DataFrame({"a": F[:, 0], "b": ["x"] * 20})),
    "a column for each of the 2 labels 'y0', 'y1', got 3": lambda: fit(Y=LABELS[:, [0, 1, 1]]),
    r"Y of several labels must have shape \(n, d\)": lambda: fit(Y=LABELS[:, 0]),
    "label 'y0' of Y must have one row for each of the 20": lambda: fit(Y=LABELS[:19]),
    "the prediction of label 'y1' must have one row for each of the 20": lambda: fit([F[:, 0], F[:9, 1]]),
    "got 'c', which is none of them": lambda: fit({"a": F[:, 0], "b": F[:, 1]}, {"a": LABELS[:, 0], "c": LABELS[:, 1]}),
    r"a list in it: pass points as an \(n, d\) array": lambda: fit(F.tolist()),
    "got an empty one": lambda: fit([]),
    "got 'a' 2 times": lambda: Several(("a", "a"), (F[:, 0], F[:, 1])),
    "got 1 names for 2 predictions": lambda: Several(("a",), (F[:, 0], F[:, 1])),
    "one prediction for each of the 2 labels 'y0', 'y1', got 1": lambda: fit()(F[:, :1]),
    "got 'z', which is none": lambda: fit()({"y0": F[:, 0], "z": F[:, 1]}),
    "Y must have a column for each of the 2 labels 'y0', 'y1', got 1": lambda: fit()(F).crps(LABELS[:, :1]),
    "size must be a count": lambda: fit()(F).sample(-1),
    "must be a Calibrator or a dict of them": lambda: SeveralCalibrator(each="linear"),
    "each must have a calibrator for each of": lambda: fit(each={"a": Calibrator()}),
}


@pytest.mark.parametrize("words", BAD)
def test_bad_input_gets_one_sentence(words):
    with pytest.raises((TypeError, ValueError), match=words):
        BAD[words]()


@pytest.mark.parametrize("compared", [True, False])
def test_one_file_keeps_all_labels(tmp_path, compared):
    several = SeveralCalibrator({"a": Calibrator(labels=Real(-9)), "b": Calibrator()})
    predictions = {"a": F[:, 0], "b": F[:, 1]}
    several = several.compared_on(predictions, LABELS + 0.1 * F) if compared else several
    calibrated = several.fit(predictions, LABELS)
    calibrated.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert (again.names, again.guarantee) == (("a", "b"), calibrated.guarantee)
    one, two = calibrated(predictions), again(predictions)
    np.testing.assert_array_equal(one.sample(3, np.random.default_rng(0)), two.sample(3, np.random.default_rng(0)))
    if compared:
        np.testing.assert_array_equal(one.interval(0.9, joint=True), two.interval(0.9, joint=True))
    else:
        assert two.why_no_box == one.why_no_box


CHANGES = {
    "names of their own": {"names": ("a", "a")},
    "a calibration of the same 20 rows each": {"margins": fit().margins[:1]},
    "go together": {"references": None},
}


@pytest.mark.parametrize("words", CHANGES)
def test_only_what_belongs_together_is_taken(words):
    calibrated = fit(normals(F, [1, 1]))
    with pytest.raises(ValueError, match=words):
        replace(calibrated, **CHANGES[words])
