"""Several labels at once: distributions, boxes and draws."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import scoringrules
from scipy import stats

from calibrant import Calibrator, Interval, Normal, Point, Quantiles, Samples, from_scipy, load
from calibrant.distributions import Poisson
from calibrant.interpolators import Random
from calibrant.intervals import IntervalGuarantee
from calibrant.labels import Real, Transformed
from calibrant.several import Several, SeveralCalibrator, energy_score
from calibrant.several.joint import Joint, level_set, ranks_of, two_sided

SETS, TESTED = 120, 60
"""Calibration sets, and new rows for each, of the simulations."""


def errors(rng, rows, d, dependence):
    """Normal errors of d labels whose correlation is `dependence`."""
    shared = rng.normal(size=(rows, 1))
    return np.sqrt(dependence) * shared + np.sqrt(1 - dependence) * rng.normal(size=(rows, d))


def normals(f, scale):
    return [Normal(f[:, j], np.full(len(f), scale[j])) for j in range(f.shape[1])]


def coverages(n, d, dependence, *, training="own", interval):
    """The mean over calibration sets of the share of new rows whose labels are all inside, and its standard error."""
    rng, scale, shares = np.random.default_rng(n + d), np.linspace(1, 9, d), []
    for _ in range(SETS):
        f = rng.normal(size=(n + TESTED, d))
        Y = f + scale * errors(rng, n + TESTED, d, dependence)
        if training == "own":
            H = SeveralCalibrator().fit(normals(f[:n], scale / 3), Y[:n], rng=rng)(normals(f[n:], scale / 3))
        else:
            if training == "calibration":  # but for a row, since the very same rows are refused
                g, Z = f[1:n], Y[1:n]
            else:
                g = np.zeros((200, d))
                Z = scale * errors(rng, 200, d, dependence)
            H = SeveralCalibrator().compared_on(g, Z).fit(f[:n], Y[:n], rng=rng)(f[n:])
        lower, upper = interval(H)
        shares.append(np.mean(np.all((lower <= Y[n:]) & (Y[n:] <= upper), axis=1)))
    return np.mean(shares), np.std(shares) / np.sqrt(SETS)


def box(H):
    return H.interval(0.9, joint=True)


def separate(H):
    return H.interval(0.9)


@pytest.mark.parametrize(
    ("n", "d", "training", "dependence"), [(50, 2, "own", 0.9), (100, 6, "own", 0.0), (100, 4, "training", 0.5)]
)
def test_the_joint_box_covers_what_was_asked_for(n, d, training, dependence):
    share, error = coverages(n, d, dependence, training=training, interval=box)
    assert 0.9 - 4 * error <= share <= 0.9 + 1 / (n + 1) + 4 * error
    assert error < 0.006  # or the bounds above would say little


def test_separate_intervals_hold_all_labels_as_seldom_as_independence_says():
    share, error = coverages(100, 6, 0.0, interval=separate)
    assert abs(share - 0.9**6) < 4 * error + 0.02


def test_a_box_of_labels_compared_on_calibration_rows_fails():
    share, _ = coverages(50, 12, 0.0, training="calibration", interval=box)
    assert share < 0.75  # each label inside its 50 calibration scores: .62


def test_comparing_on_the_calibration_rows_themselves_is_refused():
    f, Y = np.random.default_rng(0).normal(size=(2, 30, 3))
    with pytest.raises(ValueError, match="compared on the calibration rows themselves"):
        SeveralCalibrator().compared_on(f, Y).fit(f, Y)


# ---- two-sided scores ----------------------------------------------------------------------------------------------


def test_the_two_sided_score_is_the_smallest_level_set_that_holds_the_label():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50) * 5
    for distribution in (
        Normal(np.zeros(50), 1.0),
        from_scipy(stats.gumbel_r(loc=np.linspace(-1, 1, 50))),
        Normal(np.linspace(-1, 1, 50), 2.0).clip(-1.0, 2.0),
    ):
        inside = np.clip(y, -1, 2)
        t = two_sided(distribution, inside)
        for at, row in zip(t, range(50), strict=True):
            lower, upper = level_set(distribution[row : row + 1], at + 1e-9)
            assert lower[0] <= inside[row] <= upper[0]
            if at > 1e-6:
                lower, upper = level_set(distribution[row : row + 1], at - 1e-6)
                assert not lower[0] <= inside[row] <= upper[0]


def test_the_two_sided_score_does_not_saturate():
    assert two_sided(Normal([0.0], 1.0), np.asarray([30.0]))[0] == pytest.approx(-stats.norm.logsf(30.0))
    lower, upper = level_set(Normal([0.0], 1.0), -stats.norm.logsf(30.0))
    assert (lower[0], upper[0]) == pytest.approx((-30.0, 30.0))


def test_a_label_on_an_atom_is_never_outside_what_holds_the_median():
    distribution = Normal([5.0, 5.0], 1.0).clip(upper=2.0)  # nearly all of it lies on 2
    assert two_sided(distribution, np.asarray([2.0, 2.0])).tolist() == [0.0, 0.0]
    lower, upper = level_set(distribution, 0.0)
    assert lower.tolist() == upper.tolist() == [2.0, 2.0]


def counted(rng, n):
    """Three counts a row that no model knows more of than their mean, and their joint box on 20 new rows."""
    Y = rng.poisson(0.7, size=(n + 20, 3)).astype(float)
    fitted = SeveralCalibrator(Calibrator(labels="counts")).fit(poissons(n), Y[:n], rng=rng)
    return fitted, Y[:n], Y[n:]


def poissons(n):
    return [Poisson(np.full(n, 0.7)) for _ in range(3)]


def inside(bounds, Y):
    return np.all((bounds[0] <= Y) & (bounds[1] >= Y), axis=1)


@pytest.mark.parametrize("seed", range(2))
def test_a_count_whose_score_is_the_threshold_lies_in_the_box(seed):
    """Counts share few scores, so that many rows have that of the threshold itself."""
    fitted, Y, _ = counted(np.random.default_rng(seed), 100)
    held = inside(fitted(poissons(100)).interval(0.9, joint=True), Y)
    scores = np.max([two_sided(distribution, Y[:, j]) for j, distribution in enumerate(poissons(100))], axis=0)
    rank = math.ceil(101 * 0.9)
    np.testing.assert_array_equal(held, scores <= np.sort(scores)[rank - 1] + 1e-9)
    assert held.sum() >= rank


def test_the_threshold_is_the_rank_that_covers():
    joint = Joint(np.tile(np.arange(1, 100)[:, None], 2), np.arange(1.0, 100.0))
    assert [joint.threshold(coverage) for coverage in (0.9, 0.901, 0.5, 0.99)] == [90.0, 91.0, 50.0, 99.0]
    assert joint.threshold(0.991) == np.inf


def test_a_box_through_a_skewed_distribution_is_skewed():
    rng = np.random.default_rng(0)
    Y = rng.exponential(size=(400, 2)) * [1.0, 50.0]
    distributions = [from_scipy(stats.expon(scale=np.full(400, scale))) for scale in (1.0, 50.0)]
    lower, upper = SeveralCalibrator().fit(distributions, Y)(distributions).interval(0.9, joint=True)
    assert np.all(lower > 0)
    assert np.all(upper[0] > [3.0, 150.0])
    np.testing.assert_allclose(upper[:, 1], 50 * upper[:, 0])


@pytest.mark.parametrize(
    "kind",
    [
        lambda f: Interval(f - 1, f + 1),
        lambda f: Quantiles([0.1, 0.5, 0.9], np.stack([f - 1, f, f + 2], axis=1)),
        lambda f: Samples(f[:, None] + np.linspace(-2, 2, 9)),
        lambda f: Normal(f, 1.0),
    ],
)
def test_predictions_with_a_spread_need_no_training_rows(kind):
    rng = np.random.default_rng(0)
    f = rng.normal(size=(2000, 2))
    Y = f + rng.normal(size=(2000, 2))
    predictions = {"a": kind(f[:, 0]), "b": kind(f[:, 1])}
    calibrated = SeveralCalibrator().fit({name: each[:1000] for name, each in predictions.items()}, Y[:1000])
    found = calibrated({name: each[1000:] for name, each in predictions.items()}).evaluate(Y[1000:])
    assert abs(found.together["joint"] - 0.9) < 4 * np.sqrt(0.09 * 2 / 1000)
    assert found.together["separate"] < 0.85


@pytest.mark.parametrize(
    ("predictions", "what"),
    [
        ([Point(np.zeros(9)), Point(np.zeros(9))], "points do not give the usual size of an error"),
        ([Normal(np.zeros(9), 1.0), Interval(np.zeros(9), np.ones(9))], "usual size of an error on the same scale"),
        ([Quantiles([0.5], np.zeros((9, 1)))] * 2, "quantiles at level 0.5 do not give the usual size"),
    ],
)
def test_labels_that_cannot_be_compared_have_no_box(predictions, what):
    calibrated = SeveralCalibrator().fit(predictions, np.random.default_rng(0).normal(size=(9, 2)))
    H = calibrated(predictions)
    with pytest.raises(TypeError, match=what):
        H.interval(0.5, joint=True)
    assert "where there is one" in str(calibrated.guarantee)
    assert "joint" not in H.evaluate(np.zeros((9, 2))).together


def test_too_few_rows_give_an_infinite_box_and_a_warning():
    f, Y = np.random.default_rng(0).normal(size=(2, 8, 2))
    H = SeveralCalibrator().fit(normals(f, [1, 1]), Y)(normals(f, [1, 1]))
    with pytest.warns(UserWarning, match="needs 9 calibration rows, got 8: it is infinite"):
        lower, upper = H.interval(0.9, joint=True)
    assert np.all(np.isneginf(lower))
    assert np.all(np.isposinf(upper))


def test_a_label_outside_the_support_of_its_prediction_has_no_box():
    Y = np.random.default_rng(0).uniform(size=(9, 2))
    distributions = [from_scipy(stats.uniform(np.full(9, start), 1)) for start in (0, 5)]
    with pytest.raises(ValueError, match=r"label 'y1' lies outside the support of its prediction in row 0 \(9 rows"):
        SeveralCalibrator().fit(distributions, Y)


# ---- guarantees ----------------------------------------------------------------------------------------------------


def test_the_guarantee_of_a_box_in_numbers_and_words():
    guarantee = IntervalGuarantee(0.9, 50, 46, labels=3)
    assert (guarantee.rank, guarantee.lower, guarantee.kind) == (46, 46 / 51, "exact")
    assert guarantee.upper < 0.9 + 1 / 51
    assert "P(all 3 labels in the box) = 0.901961 (0.9 asked for, rank 46 of n = 50)" in str(guarantee)
    assert "P(all 3 labels in the box) >= " in str(IntervalGuarantee(0.9, 50, 46, largest_tie=2, labels=3))
    assert "only approximately: 4 calibration rows" in str(IntervalGuarantee(0.9, 50, 46, floored=4, labels=3))
    assert IntervalGuarantee(0.99, 50, 51, labels=3).kind == "trivial"
    assert "takes 99 calibration rows" in str(IntervalGuarantee(0.99, 50, 51, labels=3))
    assert guarantee.conditional(0.95) == pytest.approx(stats.beta.ppf(0.05, 46, 5))


def test_the_guarantee_of_several_labels_is_that_of_each_and_of_a_box():
    f, Y = np.random.default_rng(0).normal(size=(2, 50, 2))
    calibrated = SeveralCalibrator().fit(normals(f, [1, 1]), Y)
    guarantee = calibrated.guarantee
    assert guarantee.n == 50
    assert guarantee.epsilon == 1 / 51
    assert calibrated.box_guarantee(0.9) == IntervalGuarantee(0.9, 50, 46, labels=2)
    assert guarantee["y0"] == calibrated["y0"].guarantee
    assert "holds all 2 labels with a probability of at least c" in str(guarantee)


# ---- each label by itself ------------------------------------------------------------------------------------------


def test_each_label_is_calibrated_as_by_itself():
    rng = np.random.default_rng(0)
    f, Y = rng.normal(size=(2, 60, 2))
    calibrated = SeveralCalibrator().fit({"a": Normal(f[:, 0], 1.0), "b": f[:, 1]}, Y)
    H = calibrated({"b": f[:5, 1], "a": Normal(f[:5, 0], 1.0)})  # by name, in any order
    alone = [
        Calibrator().fit(Normal(f[:, 0], 1.0), Y[:, 0])(Normal(f[:5, 0], 1.0)),
        Calibrator().fit(f[:, 1], Y[:, 1])(f[:5, 1]),
    ]
    assert H.shape == (5, 2)
    assert H["b"] is H[1]
    for method in ("mean", "median", "std"):
        np.testing.assert_array_equal(
            getattr(H, method)(), np.stack([getattr(distribution, method)() for distribution in alone], axis=1)
        )
    for method in ("cdf", "crps"):
        wanted = np.stack([getattr(distribution, method)(Y[:5, j]) for j, distribution in enumerate(alone)], axis=1)
        np.testing.assert_allclose(getattr(H, method)(Y[:5]), wanted, rtol=1e-12)
    assert H.quantiles([0.1, 0.5, 0.9]).shape == (5, 3, 2)
    np.testing.assert_allclose(H.quantiles([0.05, 0.95])[:, 0], H.interval(0.9)[0], rtol=1e-12)
    assert calibrated["a"].guarantee.n == calibrated[1].guarantee.n == 60
    with pytest.raises(KeyError, match="there is no label 'c', only 'a', 'b'"):
        H["c"]


def test_a_calibrator_may_be_given_for_each_label():
    rng = np.random.default_rng(0)
    f = rng.uniform(1, 2, size=(80, 2))
    Y = np.maximum(f + rng.normal(size=f.shape), [0, 0.01])
    each = {"b": Calibrator(labels=Transformed("log")), "a": Calibrator(labels=Real(0))}
    predictions = {"a": f[:, 0], "b": f[:, 1]}
    half = {name: values[:40] for name, values in predictions.items()}
    rest = {name: values[40:] for name, values in predictions.items()}
    H = SeveralCalibrator(each).compared_on(half, Y[:40]).fit(rest, Y[40:])(half)
    assert H["a"].cdf(0.0).min() > 0  # an atom at the bound
    assert H["b"].cdf(0.0).max() == 0
    lower, _ = H.interval(0.9, joint=True)
    assert lower[:, 0].min() == 0
    assert lower[:, 1].min() > 0


def test_bounds_of_each_row_reach_the_labels_that_need_them():
    rng = np.random.default_rng(0)
    f, capacity = rng.uniform(0, 2, size=(80, 2)), rng.uniform(1, 2, size=80)
    Y = np.clip(f + rng.normal(size=f.shape), 0, [[c, np.inf] for c in capacity])
    each = {"y0": Calibrator(labels=Real(0, "capacity")), "y1": Calibrator(labels=Real(0))}
    table = {"capacity": capacity}
    several = SeveralCalibrator(each).compared_on(f, Y, bound=table)
    H = several.fit(f[::2], Y[::2], bound={"capacity": capacity[::2]})(f, bound=table)
    _, upper = H.interval(0.9, joint=True)
    assert np.all(upper[:, 0] <= capacity)
    assert np.any(upper[:, 1] > 2)


# ---- joint draws ---------------------------------------------------------------------------------------------------


def test_each_label_of_joint_draws_follows_its_own_distribution():
    rng = np.random.default_rng(0)
    Y = np.round(errors(rng, 40, 3, 0.8), 1)  # with ties
    H = SeveralCalibrator().fit(np.zeros((40, 3)), Y, rng=rng)(np.zeros((1, 3)))
    draws = H.sample(20_000, rng)
    assert draws.shape == (1, 20_000, 3)
    for j in range(3):
        values, counts = np.unique(draws[0, :, j], return_counts=True)
        distance = np.max(abs(np.cumsum(counts) / 20_000 - H[j].cdf(values[None, :])[0]))
        assert distance < 1.95 / np.sqrt(20_000)  # the 0.1% point of Kolmogorov's distribution


def test_joint_draws_depend_on_each_other_as_calibration_rows_do():
    rng = np.random.default_rng(1)
    Y = errors(rng, 300, 2, 0.8) * [1, -1]
    H = SeveralCalibrator().fit(np.zeros((300, 2)), Y)(np.zeros((3, 2)))
    wanted = stats.spearmanr(Y).statistic
    for row in H.sample(20_000, rng):
        assert stats.spearmanr(row).statistic == pytest.approx(wanted, abs=0.02)


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
    rng = np.random.default_rng(0)
    f, Y = rng.normal(size=(2, 60, 2))
    several = SeveralCalibrator(Calibrator(interpolator=Random())).compared_on(f[:30], Y[:30])
    H = several.fit(f[30:], Y[30:])(f, seed=1)
    assert np.isfinite(H.interval(0.9, joint=True)[0]).all()
    assert H.sample(4, rng).shape == (60, 4, 2)


def test_single_precision_stays_and_no_draw_is_infinite():
    f, Y = np.random.default_rng(0).normal(size=(2, 60, 2)).astype(np.float32)
    H = SeveralCalibrator().fit(normals(f, np.float32([1, 1])), Y)(normals(f, np.float32([1, 1])))
    top = replace(H, joint=Joint(np.full((1, 2), 1, dtype=np.int64)))

    class Highest:
        def integers(self, n, size):
            return np.zeros(size, dtype=np.int64)

        def random(self, size=None):
            return np.full(size, 1 - 2.0**-53)

    draws = top.sample(3, Highest())
    assert draws.dtype == np.float32
    assert np.isfinite(draws).all()


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    f, Y = np.random.default_rng(0).normal(size=(2, 60, 2))
    found = []
    for array in (np.asarray, torch.asarray):
        predictions = [Normal(array(f[:, j]), 1.0) for j in range(2)]
        H = SeveralCalibrator().fit(predictions, array(Y), rng=np.random.default_rng(0))(predictions)
        found.append([*H.interval(0.9, joint=True), H.mean(), H.sample(3, np.random.default_rng(0))])
    for ours, theirs in zip(*found, strict=True):
        assert isinstance(theirs, torch.Tensor)
        np.testing.assert_allclose(theirs.numpy(), ours, rtol=1e-9)


# ---- what may come in ----------------------------------------------------------------------------------------------


def test_frames_name_the_labels():
    pd = pytest.importorskip("pandas")
    f, Y = np.random.default_rng(0).normal(size=(2, 20, 2))
    assert SeveralCalibrator().fit(f, pd.DataFrame(Y)).names == ("0", "1")
    frame = pd.DataFrame(Y, columns=["load", "wind"])
    calibrated = SeveralCalibrator().fit(f, frame)
    assert calibrated.names == ("load", "wind")
    swapped = SeveralCalibrator().fit({"wind": f[:, 1], "load": f[:, 0]}, frame)
    np.testing.assert_array_equal(swapped["wind"](f[:, 1]).mean(), calibrated["wind"](f[:, 1]).mean())
    H = calibrated(f)
    np.testing.assert_array_equal(H.crps(frame[["wind", "load"]]), H.crps(Y))


def test_rows_with_a_missing_label_are_left_out_for_every_label():
    f, Y = np.random.default_rng(0).normal(size=(2, 20, 2))
    Y[3, 1] = np.nan
    with pytest.warns(UserWarning, match=r"a label \('y1'\) is missing in 1 of 20 rows, row 3: it is left out for"):
        calibrated = SeveralCalibrator().fit(f, Y)
    there = np.arange(20) != 3
    assert calibrated.guarantee.n == 19
    np.testing.assert_array_equal(calibrated(f).mean(), SeveralCalibrator().fit(f[there], Y[there])(f).mean())


F, LABELS = np.random.default_rng(0).normal(size=(2, 20, 2))


@pytest.mark.parametrize(
    ("bad", "error", "what"),
    [
        (lambda: SeveralCalibrator().fit(F[:0], LABELS[:0]), ValueError, "at least one row"),
        (lambda: SeveralCalibrator().fit(F, np.where(F > 9, F, np.inf)), ValueError, "y is NaN or infinite in row 0"),
        (
            lambda: SeveralCalibrator().fit(F, LABELS[:, [0, 1, 1]]),
            ValueError,
            "Y must have a column for each of the 2 labels 'y0', 'y1', got 3",
        ),
        (lambda: SeveralCalibrator().fit(F, LABELS[:, 0]), ValueError, r"Y of several labels must have shape \(n, d\)"),
        (
            lambda: SeveralCalibrator().fit(F, LABELS[:19]),
            ValueError,
            "label 'y0' of Y must have one row for each of the 20",
        ),
        (
            lambda: SeveralCalibrator().fit([F[:, 0], F[:9, 1]], LABELS),
            ValueError,
            "the prediction of label 'y1' must have one row for each of the 20 rows of label 'y0', got 9",
        ),
        (
            lambda: SeveralCalibrator().fit({"a": F[:, 0], "b": F[:, 1]}, {"a": LABELS[:, 0], "c": LABELS[:, 1]}),
            ValueError,
            "got 'c', which is none of them",
        ),
        (
            lambda: SeveralCalibrator().fit(F.tolist(), LABELS),
            TypeError,
            r"a list in it: pass points as an \(n, d\) array",
        ),
        (lambda: SeveralCalibrator().fit([], LABELS), TypeError, "got an empty one"),
        (lambda: Several(("a", "a"), (F[:, 0], F[:, 1])), ValueError, "got 'a' 2 times"),
        (lambda: Several(("a",), (F[:, 0], F[:, 1])), ValueError, "got 1 names for 2 predictions"),
        (lambda: SeveralCalibrator().fit(F, LABELS)(F[:, :1]), ValueError, "each of the 2 labels 'y0', 'y1', got 1"),
        (
            lambda: SeveralCalibrator().fit(F, LABELS)({"y0": F[:, 0], "z": F[:, 1]}),
            ValueError,
            "got 'z', which is none",
        ),
        (
            lambda: SeveralCalibrator().fit(F, LABELS)(F).crps(LABELS[:, :1]),
            ValueError,
            "Y must have a column for each of the 2 labels 'y0', 'y1', got 1",
        ),
        (lambda: SeveralCalibrator().fit(F, LABELS)(F).sample(-1), ValueError, "size must be a count"),
        (lambda: SeveralCalibrator(each="linear"), TypeError, "must be a Calibrator or a dict of them"),
        (
            lambda: SeveralCalibrator({"a": Calibrator()}).fit(F, LABELS),
            ValueError,
            "each must have a calibrator for each of",
        ),
    ],
)
def test_bad_input_gets_one_sentence(bad, error, what):
    with pytest.raises(error, match=what):
        bad()


# ---- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compared", [True, False])
def test_one_file_keeps_all_labels(tmp_path, compared):
    f, Y = np.random.default_rng(0).normal(size=(2, 40, 2))
    several = SeveralCalibrator({"a": Calibrator(labels=Real(-9)), "b": Calibrator()})
    predictions = {"a": f[:, 0], "b": f[:, 1]}
    several = several.compared_on(predictions, Y + 0.1 * f) if compared else several
    calibrated = several.fit(predictions, Y)
    calibrated.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    assert again.names == ("a", "b")
    assert again.guarantee == calibrated.guarantee
    one, two = calibrated(predictions), again(predictions)
    np.testing.assert_array_equal(one.sample(3, np.random.default_rng(0)), two.sample(3, np.random.default_rng(0)))
    if compared:
        np.testing.assert_array_equal(one.interval(0.9, joint=True), two.interval(0.9, joint=True))
    else:
        with pytest.raises(TypeError, match="points do not give"):
            two.interval(0.9, joint=True)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda c: replace(c, names=("a", "a")), "names of their own"),
        (lambda c: replace(c, margins=c.margins[:1]), "a calibration of the same 40 rows each"),
        (lambda c: replace(c, references=None), "go together"),
    ],
)
def test_only_what_belongs_together_is_taken(change, what):
    f, Y = np.random.default_rng(0).normal(size=(2, 40, 2))
    calibrated = SeveralCalibrator().fit(normals(f, [1, 1]), Y)
    with pytest.raises(ValueError, match=what):
        change(calibrated)
