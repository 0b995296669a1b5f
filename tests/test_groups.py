"""Calibration by group: every group has a distribution and a guarantee of its own, and a small one borrows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from commands import run
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import KFold

import calibrant
from calibrant import CalibratedRegressor, Calibrator, Interval, Normal, Point, Window, evaluate, report
from calibrant.distributions import Context, Logistic
from calibrant.distributions.grouped import labels_of
from calibrant.interpolators import NAF, Apart, BoundedTails, ByGroup, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.borrowing import drawn
from calibrant.scores import CDFScore
from calibrant.sklearn.inputs import groups_in, hidden_from
from calibrant.sklearn.predicting import columns_to_show
from calibrant.sklearn.splits import Split, check_all_groups_held_out, warn_of_few_groups
from calibrant.testing import check_distribution

SCALES = np.array([0.5, 1.0, 4.0])
LEVELS = np.arange(1, 20) / 20


def three(rng, n):
    """n scores of each of three groups, of different scale."""
    by = np.repeat(np.arange(3), n)
    return by, SCALES[by] * rng.normal(size=by.size)


def one_sentence(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 260


# ---- what is promised ------------------------------------------------------------------------------------------------


def errors(n, repetitions, fit):
    """The largest error over groups and levels of the mean share of PITs, and four of its standard errors."""
    shares = np.zeros((repetitions, 3, LEVELS.size))
    for k in range(repetitions):
        rng = np.random.default_rng([n, k])
        by, y = three(rng, n)
        by_new, new = three(rng, 100)
        pit = fit(y, by, by_new, rng).cdf(new)
        for g in range(3):
            shares[k, g] = np.mean(pit[by_new == g][:, None] <= LEVELS, axis=0)
    return np.abs(shares.mean(axis=0) - LEVELS).max(), 4 * shares.std(axis=0).max() / np.sqrt(repetitions)


def grouped(interpolator):
    def fit(y, by, by_new, rng):
        model = Calibrator(None, interpolator).fit(Point(0 * y), y, by=by)
        return model(Point(np.zeros(by_new.size)), by=by_new, rng=rng)

    return fit


def pooled(y, by, by_new, rng):
    return Calibrator().fit(Point(0 * y), y)(Point(np.zeros(by_new.size)))


@pytest.mark.few(1)
@pytest.mark.parametrize(("n", "repetitions"), [(10, 25), (60, 20)])
def test_in_every_group_the_error_is_within_the_groups_bound_where_that_of_the_pooled_distribution_is_not(
    n, repetitions
):
    bound = (1 + np.sqrt(n) / 2) / (n + 1)
    error, noise = errors(n, repetitions, grouped(ByGroup(NAF(40))))
    assert error <= bound + noise
    plain, plain_noise = errors(n, repetitions, pooled)
    assert plain > 1 / (3 * n + 1) + plain_noise  # what it promises on average over the groups
    assert plain > error + noise


@pytest.mark.parametrize(("interpolator", "bound"), [(Linear(), 1 / 13), (Random(), 0.0)])
def test_a_group_apart_is_as_exact_as_its_interpolator(interpolator, bound):
    error, noise = errors(12, 200, grouped(Apart(interpolator)))
    assert error <= bound + noise


@pytest.mark.parametrize("n", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("tied", [False, True])
def test_the_distribution_of_a_group_stays_within_lambda_of_its_own_ranks(n, tied):
    rng = np.random.default_rng(n)
    by = np.repeat(["a", "b"], [n, 200])
    y = np.concatenate([20 + 3 * rng.normal(size=n), rng.normal(size=200)])
    y = np.where((by == "a") & tied, np.round(y, 0), y)
    q = Calibrator().fit(Point(0 * y), y, by=by).q
    assert q.labels == ("a", "b")
    for g, label in enumerate("ab"):
        u = np.sort(y[by == label])
        distribution, rank = q.distributions[g], np.arange(1, u.size + 1)
        slack = np.sqrt(u.size) / 2 + 1e-9
        assert np.all(distribution.cdf(u) * (u.size + 1) >= rank - slack)
        assert np.all(distribution.cdf_left(u) * (u.size + 1) <= rank + slack)


@pytest.mark.few(1)
@pytest.mark.parametrize(("scales", "n", "most"), [(SCALES, 10, 0.1), (SCALES, 60, 0.05), (np.ones(3), 30, 0.05)])
def test_the_distribution_of_a_group_is_about_as_likely_as_the_better_of_its_own_and_that_of_all(scales, n, most):
    nll = np.zeros(3)
    for k in range(4):
        rng = np.random.default_rng([n, k])
        by, by_new = np.repeat(np.arange(3), n), np.repeat(np.arange(3), 500)
        y, new = (scales[each] * rng.normal(size=each.size) for each in (by, by_new))
        f, asked = Point(0 * y), Point(0 * new)
        ours = Calibrator().fit(f, y, by=by)(asked, by=by_new)
        own = Calibrator(None, Apart(NAF())).fit(f, y, by=by)(asked, by=by_new)
        nll += [-H.logpdf(new).mean() / 4 for H in (ours, own, Calibrator(None, NAF()).fit(f, y)(asked))]
    assert nll[0] <= nll[1:].min() + most, nll


def test_the_guarantee_says_what_each_group_is_promised():
    by = ["small"] * 8 + ["large"] * 99
    guarantee = Calibrator().fit(Point(np.zeros(107)), np.random.default_rng(0).normal(size=107), by=by).guarantee
    assert guarantee.n == 107
    assert guarantee.kind == "group"
    assert guarantee["large"].epsilon == (1 + np.sqrt(99) / 2) / 100
    assert guarantee["small"].epsilon == guarantee.epsilon == (1 + np.sqrt(8) / 2) / 9
    assert guarantee.conditional() == guarantee["small"].conditional()
    assert "0.268 for every c in each of 2 groups" in str(guarantee)
    assert "n is 8 in the smallest (small) and 99 in the largest (large), where the bound is 0.0597" in str(guarantee)
    with pytest.raises(KeyError, match="no calibration row has the group 'other'"):
        guarantee["other"]


def test_ties_and_chance_show_in_the_kind_of_guarantee():
    y = np.repeat([1.0, 2.0, 3.0], 4)
    assert Calibrator().fit(Point(0 * y), y, by=["a", "b"] * 6).guarantee.kind == "group, approximate"
    assert Calibrator(None, Random()).fit(Point(0 * y), y, by=["a", "b"] * 6).guarantee.kind == "group, exact"
    assert Calibrator().fit(Point(0 * y), y, by=["a", "b"] * 6).guarantee.largest_tie == 2


# ---- what by= means --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("interpolator", "made_by"),
    [(Linear(), ByGroup()), (NAF(100), ByGroup(NAF(100))), (Naive(), Apart(Naive())), (Random(), Apart(Random()))],
)
def test_every_interpolator_takes_by(interpolator, made_by):
    by, y = three(np.random.default_rng(0), 30)
    assert Calibrator(None, interpolator).fit(Point(0 * y), y, by=by).interpolator == made_by


@pytest.mark.parametrize("interpolator", [Linear(), Linear(BoundedTails()), Linear(InfiniteTails()), Naive(), NAF()])
@pytest.mark.parametrize("score", [None, CDFScore()])
def test_a_group_apart_has_the_distribution_of_its_own_rows(interpolator, score):
    rng = np.random.default_rng(0)
    by, y = three(rng, 20)
    f = Normal(rng.normal(size=60), 1.0)
    y = y + f.mean()
    model = Calibrator(score, Apart(interpolator)).fit(f, y, by=by)
    new, labels = f[::7], y[::7] + 0.1
    H = model(new, by=by[::7])
    for g in range(3):
        mine = np.flatnonzero(by[::7] == g)
        alone = Calibrator(model.score, interpolator).fit(f[np.flatnonzero(by == g)], y[by == g])(new[mine])
        for method in ("cdf", "logpdf", "crps"):
            found, wanted = getattr(H[mine], method)(labels[mine]), getattr(alone, method)(labels[mine])
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(H[mine].quantiles([0.02, 0.5, 0.9]), alone.quantiles([0.02, 0.5, 0.9]), rtol=1e-9)


@pytest.mark.parametrize("kind", ["point", "normal", "cdf of normal", "interval"])
def test_h_by_group_keeps_the_distributions_of_a_distribution(kind):
    rng = np.random.default_rng(1)
    by, f = np.repeat(np.arange(3), 15), rng.normal(size=45)
    y = np.array([0.8, 1.0, 1.3])[by] * rng.normal(size=45)  # the check's own integrals fail where tails are far out
    made = {"interval": Interval(f - 1, f + 1), "point": Point(f)}.get(kind, Normal(f, 1.5))
    model = Calibrator(CDFScore() if kind.startswith("cdf") else None).fit(made, f + y, by=by)
    check_distribution(model(made[::9], by=by[::9]))


def test_the_order_of_the_rows_and_the_names_of_the_groups_do_not_count():
    rng = np.random.default_rng(0)
    by, y = three(rng, 25)
    order = rng.permutation(75)
    first = Calibrator().fit(Point(0 * y), y, by=by)([0.0, 1.0], by=[2, 0])
    other = Calibrator().fit(Point(0 * y), y[order], by=np.array(["x", "y", "z"])[by][order])([0.0, 1.0], by=["z", "x"])
    np.testing.assert_array_equal(first.quantiles(LEVELS), other.quantiles(LEVELS))


def test_the_distribution_of_a_group_changes_with_the_unit():
    by, y = three(np.random.default_rng(0), 25)
    metres = Calibrator().fit(Point(0 * y), y, by=by)([0.0], by=[1])
    feet = Calibrator().fit(Point(0 * y), 3.28 * y, by=by)([0.0], by=[1])
    np.testing.assert_allclose(feet.quantiles(LEVELS), 3.28 * metres.quantiles(LEVELS), rtol=1e-6, atol=1e-6)


def test_one_outlier_does_not_spoil_the_other_groups():
    by, y = three(np.random.default_rng(0), 40)
    y[0] = 1e9
    H = Calibrator().fit(Point(0 * y), y, by=by)([0.0, 0.0], by=[1, 2])
    assert np.all(np.abs(H.interval(0.8)[1] - H.interval(0.8)[0] - 2.56 * SCALES[1:]) < 0.8 * SCALES[1:])
    assert np.all(np.isfinite(H.crps(0.5)))


def test_equal_scores_in_one_group_and_in_all():
    y = np.r_[np.ones(10), np.random.default_rng(0).normal(size=30)]
    H = Calibrator().fit(Point(0 * y), y, by=[0] * 10 + [1] * 30)([0.0], by=[0])
    assert H.cdf(1.0) >= 0.5
    with pytest.warns(UserWarning, match="all scores are equal"):
        H = Calibrator().fit(Point(np.zeros(8)), np.ones(8), by=[0, 1] * 4)([0.0], by=[1])
    assert H.cdf(1.0) == 4 / 5


def test_labels_are_names_whole_numbers_or_several_of_them():
    frame = pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})
    assert labels_of(frame) == labels_of([("x", 1), ("y", 2)]) == [("x", 1), ("y", 2)]
    assert labels_of(frame[["a"]]) == labels_of(frame["a"]) == labels_of(np.array(["x", "y"])) == ["x", "y"]
    assert labels_of(pd.Series(["x", None, "y"], dtype="category")) == ["x", None, "y"]
    assert labels_of(pd.Series([1, None], dtype="Int64")) == [1, None]
    assert labels_of(np.array([[1, 2], [3, 4]])) == [(1, 2), (3, 4)]
    assert labels_of(pd.DataFrame({"a": ["x", None], "b": [1, 2]})) == [("x", 1), None]
    assert labels_of([True, False]) == [True, False]


# ---- what goes wrong -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("by", "kind", "words"),
    [
        ([0.5, 1.5, 2.5, 3.5], TypeError, r"got floats, 0\.5 in row 0"),
        (["a", None, "a", None], ValueError, r"by is missing in row 1 \(2 rows in all\)"),
        (["a", float("nan"), "a", "b"], ValueError, r"by is missing in row 1 \(the only such row\)"),
        (["a", "b"], ValueError, r"by must have one row for each of the 4 rows of the prediction, got 2"),
        (pd.date_range("2024", periods=4), TypeError, r"got a Timestamp"),
        ([(1, 2), (1,), (1, 2), (1, 2)], ValueError, r"got 2 in row 0, 1 in 1"),
    ],
)
def test_a_column_that_names_no_groups_is_refused(by, kind, words):
    with pytest.raises(kind, match=words) as error:
        Calibrator().fit([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 3.0, 4.1], by=by)
    one_sentence(error)


def test_groups_go_with_no_weights_and_no_forgetting_and_are_asked_for():
    f, y, by = [1.0, 2.0, 1.0, 2.0], [1.0, 2.5, 1.5, 3.0], ["a", "b", "a", "b"]
    grouped, weighted = Calibrator().fit(f, y, by=by), Calibrator().fit(f, y, weights=[1.0, 2.0, 1.0, 2.0])
    for call, words in (
        (lambda: Calibrator(forget=Window(2)).fit(f, y, by=by), "forget= and by= cannot be combined"),
        (lambda: Calibrator().fit(f, y, by=by, weights=f), "calibration by group takes no weights="),
        (lambda: grouped([1.0], by=["a"], weights=[1.0]), "q was made by groups without weights="),
        (lambda: weighted([1.0], by=["a"], weights=[1.0]), "takes no by="),
        (lambda: ByGroup().fit_rows(np.arange(4.0), Context(4)), "needs the group of each row: pass by="),
        (lambda: Apart().fit_rows(np.arange(4.0), Context(4)), "needs the group of each row: pass by="),
        (lambda: ByGroup(unseen="ignore"), "unseen must be one of refuse, pooled, got 'ignore'"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            call()


def test_a_group_never_seen_is_an_error_that_names_and_counts_it():
    by, y = three(np.random.default_rng(0), 10)
    model = Calibrator().fit(Point(0 * y), y, by=by)
    for asked, words in (([0, 7, 8], r"by is 7, .* in row 1 \(2 rows of 3"), ([0, None], r"by is missing, in row 1")):
        with pytest.raises(ValueError, match=words) as error:
            model(np.zeros(len(asked)), by=asked)
        one_sentence(error)
    with pytest.raises(TypeError, match="q depends on the group of a row, one of 3: pass by="):
        model([0.0])


@pytest.mark.parametrize("interpolator", [ByGroup(unseen="pooled"), Apart(Random(), unseen="pooled")])
def test_a_group_never_seen_may_have_the_distribution_of_all_which_is_counted_and_known(interpolator):
    by, y = three(np.random.default_rng(0), 50)
    model = Calibrator(None, interpolator).fit(Point(0 * y), y, by=by)
    with pytest.warns(UserWarning, match=r"2 rows of 3 are of no known group.*nothing is promised") as warned:
        H = model([0.0, 0.0, 0.0], by=[0, "new", None], rng=np.random.default_rng(0))
    assert len(warned) == 1
    assert model.q.known([0, "new", None]).tolist() == [True, False, False]
    everyone = (Random() if isinstance(interpolator, Apart) else NAF()).fit(y)
    np.testing.assert_allclose(H.ppf(0.7)[1:], everyone.ppf(0.7), rtol=0.1)
    assert set(model.guarantee.names) == {0, 1, 2}


# ---- many distributions in one table
# ------------------------------------------------------------------------------------------


def test_a_drawn_distribution_goes_on_as_it_falls_between_its_outermost_knots():
    distribution = drawn(Logistic(0.0, 1.0)).one(0)
    far = np.array([-20.0, 20.0])  # the knots end at -10 and 10, where a logistic tail is exponential but for e^-10
    np.testing.assert_allclose(distribution._ppf_logit(far), far, rtol=np.exp(-10))


# ---- the doors -------------------------------------------------------------------------------------------------------


def season(n=900, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": rng.normal(size=n), "winter": rng.choice([0, 1], n, p=[0.85, 0.15])})
    return X, X.x + np.where(X.winter == 1, 4.0, 1.0) * rng.normal(size=n)


@pytest.mark.few
@pytest.mark.parametrize("by", ["winter", ["winter"], lambda X: np.asarray(X)[:, 1].astype(int)])
@pytest.mark.parametrize("cv", [0.3, 3, "mixture:3", KFold(3)])
def test_the_estimator_finds_the_group_by_itself(by, cv):
    X, y = season()
    model = CalibratedRegressor(LinearRegression(), by=by, cv=cv, refine=None, random_state=0).fit(X, y)
    new = pd.DataFrame({"x": [0.0, 0.0], "winter": [0, 1]})
    narrow, wide = model.predict_distribution(new).std()
    assert narrow < 1.4
    assert wide > 3
    if model.guarantee_.kind == "no claim":
        assert model.guarantee_[1].n < model.guarantee_[0].n
    else:
        assert model.guarantee_[1].epsilon > model.guarantee_[0].epsilon
    array = CalibratedRegressor(
        LinearRegression(), by=by if callable(by) else 1, cv=cv, refine=None, random_state=0
    ).fit(X.to_numpy(), y)
    np.testing.assert_allclose(array.predict_distribution(new.to_numpy()).std(), [narrow, wide], rtol=1e-9)


def test_folds_by_group_keep_the_distributions_of_a_distribution():
    X, y = season(120)
    H = CalibratedRegressor(LinearRegression(), by="winter", cv="mixture:3", refine=None, random_state=0).fit(X, y)
    check_distribution(H.predict_distribution(X[:2]))


def test_rows_of_every_group_are_held_out():
    labels = ["a"] * 50 + ["b"] * 3 + ["c"]
    random = np.random.RandomState(0)
    ((train, held),) = Split.of(0.2).folds(None, labels, {}, random, by=labels)
    assert sorted(labels[row] for row in held) == ["a"] * 10 + ["b", "c"]
    assert sorted([*train, *held]) == list(range(54))
    folds = Split.of(3).folds(None, labels, {}, random, by=labels)
    assert [sum(labels[row] == "b" for row in test) for _, test in folds] == [1, 1, 1]
    assert max(len(test) for _, test in folds) - min(len(test) for _, test in folds) <= 1


@pytest.mark.parametrize(("single", "named", "others"), [([1], 1, ""), ([1, 2, 3], 2, ", one of 2 such groups")])
def test_a_group_that_some_fold_lacks_is_named_and_the_others_are_counted(single, named, others):
    X, y = season(60)
    X["winter"] = [*single, *[0] * (60 - len(single))]
    words = rf"group {named}, with 1 row, has none to calibrate on in fold \d of 3{others}: use"
    with pytest.raises(ValueError, match=words) as error:
        CalibratedRegressor(LinearRegression(), by="winter", cv=3, refine=None).fit(X, y)
    one_sentence(error)


def test_the_part_held_out_that_lacks_a_group_is_named():
    with pytest.raises(ValueError, match="group 'a', with 1 row, has none to calibrate on in the part held out: use"):
        check_all_groups_held_out(["a", "b", "b"], [np.array([1, 2])])


@pytest.mark.parametrize("groups", [["a", "b"], ["a", "b", "c"]])
def test_groups_of_one_row_each_borrow_from_all(groups):
    y = np.arange(len(groups), dtype=float)
    calibrated = Calibrator().fit(np.zeros(len(groups)), y, by=groups)
    cdf = calibrated(np.zeros(len(groups)), by=groups).cdf(y)
    assert np.all((cdf > 0) & (cdf < 1))
    assert calibrated.guarantee["a"].n == 1


def test_columns_whose_names_are_numbers_are_found_by_them():
    X = pd.DataFrame({2020: [1, 2], 2021: [3, 4]})
    assert groups_in(X, 2021) == [3, 4]
    assert columns_to_show(X, [2021]) == {"2021": [3, 4]}
    assert hidden_from(LinearRegression(), X.astype({2020: str}), 2020) == [2020]


def test_a_report_shows_the_first_thirty_columns():
    wide = np.zeros((2, 31))
    assert list(columns_to_show(wide, None)) == [f"x{k}" for k in range(30)]
    assert list(columns_to_show(pd.DataFrame(wide), None)) == [str(k) for k in range(30)]
    assert list(columns_to_show(wide[:, :4], None)) == ["x0", "x1", "x2", "x3"]
    assert columns_to_show(np.zeros(2), None) is None


@pytest.mark.parametrize(
    ("by", "form", "words"),
    [
        ("summer", pd.DataFrame, "by names the column 'summer', and those of X are x, winter"),
        ("winter", np.asarray, "by names the column 'winter', but X is no data frame"),
        (2, np.asarray, r"by is column 2, and X has shape \(5, 2\)"),
        (-3, np.asarray, r"by is column -3, and X has shape \(5, 2\)"),
        (0, lambda X: X.x.to_numpy(), r"by is column 0, and X has shape \(5,\)"),
        (pd.Series([1]), pd.DataFrame, "by must name a column of X, or several, or be a function of X, got a Series"),
        ([], pd.DataFrame, "by must name a column of X, or several, got none"),
        (lambda X: ["a", "b"], pd.DataFrame, "what by gives must have one row for each of the 5 rows of X, got 2"),
    ],
)
def test_what_by_names_must_be_in_x(by, form, words):
    with pytest.raises((ValueError, TypeError), match=words):
        groups_in(form(season(5)[0]), by)


def test_a_column_of_an_array_names_groups_by_whole_numbers_from_either_end():
    table = np.array([[1.0, 0.5], [np.nan, 1.5]])
    assert groups_in(table, 0) == groups_in(table, -2) == [1, None]
    with pytest.raises(TypeError, match="by must hold names or whole numbers"):
        groups_in(table, -1)


def test_groups_of_a_split_that_leave_few_to_calibrate_say_what_they_mean():
    X, y = season(60)
    with pytest.warns(UserWarning, match=r"rows of only 1 groups calibrate: .* use by= of CalibratedRegressor"):
        CalibratedRegressor(LinearRegression(), refine=None).fit(X, y, groups=X.winter)
    five = np.arange(10) % 5
    warn_of_few_groups(five, [np.arange(10)])  # enough
    with pytest.warns(UserWarning, match="rows of only 4 groups calibrate"):
        warn_of_few_groups(five, [np.arange(10), np.arange(4)])


@pytest.mark.slow
def test_ten_thousand_groups_fit_in_a_file_and_are_read_at_once(tmp_path):
    rng = np.random.default_rng(0)
    by = np.repeat(np.arange(10_000), 5)
    model = Calibrator(None, Apart(Linear())).fit(np.zeros(by.size), rng.normal(size=by.size), by=by)
    model.save(tmp_path / "m.safetensors")
    assert (tmp_path / "m.safetensors").stat().st_size < 4e6
    again = calibrant.load(tmp_path / "m.safetensors")
    asked = rng.integers(0, 10_000, 1000)
    found, wanted = (each(np.zeros(1000), by=asked).crps(0.3) for each in (model, again))
    np.testing.assert_array_equal(found, wanted)


def test_the_report_speaks_of_groups_that_were_calibrated():
    by, y = three(np.random.default_rng(0), 200)
    model = Calibrator().fit(Point(0 * y), y, by=by)
    by_new, new = three(np.random.default_rng(1), 200)
    H = model(Point(0 * new), by=by_new)
    page = report(H, new, groups={"g": by_new}, guarantee=model.guarantee)
    assert "The guarantee holds in each group that was calibrated by itself" in str(page)
    assert evaluate(H, new).coverage == pytest.approx(0.9, abs=0.05)


def test_the_command_line_keeps_the_groups_in_the_file(tmp_path):
    X, y = season()
    table = pd.DataFrame({"f": X.x, "y": y, "season": np.where(X.winter == 1, "winter", "summer")})
    table[:500].to_csv(tmp_path / "cal.csv", index=False)
    table[500:].to_csv(tmp_path / "test.csv", index=False)
    cal, test, model, out = (tmp_path / name for name in ("cal.csv", "test.csv", "m.safetensors", "out.csv"))
    said = run("fit", cal, "--target", "y", "--point", "f", "--by", "season", "-o", model).output
    assert "In every group, a 90% interval contains the label" in said
    run("predict", test, "-m", model, "--interval", "0.9", "--keep", "season", "-o", out)
    found = pd.read_csv(out)
    width = (found.upper - found.lower).groupby(found.season).mean()
    assert width["winter"] > 2.5 * width["summer"]
    assert "season = winter" in run("evaluate", test, "-m", model).output
    table[500:].assign(season="spring").to_csv(test, index=False)
    said = run("evaluate", test, "-m", model, code=1).output
    assert "by is 'spring', which no calibration row had, in row 0 (400 rows of 400" in said


def test_the_atoms_of_a_group_have_a_mean_and_a_crps_on_transformed_labels():
    f, ratio, by = np.exp(np.linspace(-1, 1, 12)), np.exp(np.sin(np.arange(12.0))), np.array(list("abc") * 4)
    H = Calibrator(interpolator=Naive(), labels="log").fit(f, f * ratio, by=by)(f[:3], by=by[:3])
    atoms = f[:3, None] * ratio.reshape(4, 3).T
    np.testing.assert_allclose(H.mean(), atoms.mean(axis=1))
    apart = np.abs(atoms[:, :, None] - atoms[:, None, :]).mean(axis=(1, 2))
    np.testing.assert_allclose(H.crps(np.ones(3)), np.abs(atoms - 1).mean(axis=1) - apart / 2)
