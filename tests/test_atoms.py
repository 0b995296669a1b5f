"""Labels of which many are one value: an atom, and a continuous part."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from commands import refused, run, write
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from calibrant import (
    CalibratedRegressor,
    Calibrator,
    Ensemble,
    Interval,
    LogNormal,
    Normal,
    Point,
    Quantiles,
    Samples,
    evaluate,
)
from calibrant.labels import AtomAt, Counts, Real, Transformed
from calibrant.labels.atom import atom_in
from calibrant.labels.named import labels_named
from calibrant.predictions import WithAtom
from calibrant.refine import Constant
from calibrant.refine.base import TrainingRows
from calibrant.refine.combined import TwoPart
from calibrant.testing import check_distribution, check_labels

LEVELS = np.arange(1, 20) / 20


def rain(count, seed, at=0.0):
    """Normal distributions, and labels that are what such a distribution gives, held at 0."""
    rng = np.random.default_rng(seed)
    mean = rng.uniform(-1.5, 3.0, count) + at
    return mean, np.maximum(mean + rng.normal(size=count), at), rng


KINDS = {
    "normal": lambda mean, rng: Normal(mean, 1.0),
    "clipped": lambda mean, rng: Normal(mean, 1.0).clip(0.0),
    "too wide": lambda mean, rng: Normal(mean, 2.0),
    "quantiles": lambda mean, rng: Quantiles(LEVELS, Normal(mean, 1.0).quantiles(LEVELS)),
    "samples": lambda mean, rng: Samples(mean[:, None] + rng.normal(size=(len(mean), 60))),
    "clipped samples": lambda mean, rng: Samples(np.maximum(mean[:, None] + rng.normal(size=(len(mean), 60)), 0)),
    "with an atom": lambda mean, rng: WithAtom(Normal(mean, 1.0), Normal(mean, 1.0).cdf(0.0)),
    "the positive part": lambda mean, rng: WithAtom(
        LogNormal(0.3 * mean, 0.6), np.clip(Normal(mean, 1.0).cdf(0.0), 0, 1)
    ),
    "ensemble": lambda mean, rng: Ensemble([Normal(mean - 0.2, 1.0), Normal(mean + 0.2, 1.0)]),
    "points": lambda mean, rng: WithAtom(Point(Normal(mean, 1.0).clip(0.0).mean()), Normal(mean, 1.0).cdf(0.0)),
}


@pytest.mark.filterwarnings("ignore:AtomScore.*no width of (their|its) own")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_prediction_gives_the_atom_its_probability(kind):
    mean, y, rng = rain(4000, 0)
    prediction = KINDS[kind](mean, rng)
    H = Calibrator(labels=AtomAt(0)).fit(prediction[:2000], y[:2000], rng=rng)(prediction[2000:])
    true = Normal(mean[2000:], 1.0)
    assert np.mean(np.abs(H.pmf(0.0) - true.cdf(0.0))) < 0.06
    assert np.all(H.cdf_left(0.0) == 0)
    assert H.crps(y[2000:]).mean() < 1.12 * true.clip(0.0).crps(y[2000:]).mean()


@pytest.mark.few
@pytest.mark.parametrize(("n", "width"), [(4, 3.0), (40, 1.0)])
def test_calibration_keeps_its_promise(n, width):
    """P(H'(Y') <= c) is within 1 / (n + 1) of c: over R sets and 20 labels each the noise is below 5 sd of R sets."""
    repetitions, seen = 1000, []
    for seed in range(repetitions):
        mean, y, rng = rain(n + 20, seed)
        base, labels = Normal(mean, width), AtomAt(0)
        H = Calibrator(labels=labels).fit(base[:n], y[:n], rng=rng)(base[n:])
        seen.append(H.base.cdf(labels.spread(y[n:], base[n:], rng=rng))[:, None] <= LEVELS)
    share = np.mean(seen, axis=(0, 1))
    noise = 5 * np.std(np.mean(seen, axis=1), axis=0) / math.sqrt(repetitions)
    assert np.all(np.abs(share - LEVELS) <= 1 / (n + 1) + noise)


@pytest.mark.parametrize(("labels", "off"), [(Real(0), True), (AtomAt(0), False)])
def test_only_with_the_atom_is_the_distribution_of_y_itself_calibrated(labels, off):
    n, below = 40, []
    for seed in range(300):
        mean, y, rng = rain(n + 20, seed)
        H = Calibrator(labels=labels).fit(Normal(mean[:n], 1.0), y[:n], rng=rng)(Normal(mean[n:], 1.0))
        below.append(H.pit(y[n:], rng.random(20))[:, None] <= LEVELS)
    assert (np.abs(np.mean(below, axis=(0, 1)) - LEVELS).max() > 0.08) == off


def test_a_calibrated_distribution_keeps_the_distributions_of_a_distribution_and_moves_and_stretches_with_y():
    mean, y, _ = rain(400, 2)

    def calibrated(at, unit):
        f, labels = at + unit * mean, at + unit * y
        model = Calibrator(labels=AtomAt(at)).fit(Normal(f[:300], unit), labels[:300], rng=np.random.default_rng(0))
        return model(Normal(f[300:306], unit))

    here = calibrated(0.0, 1.0)
    check_distribution(here)
    for at, unit in ((0.0, 1e6), (-7.0, 1.0)):
        there = calibrated(at, unit)
        assert there.pmf(at) == pytest.approx(here.pmf(0.0), rel=1e-6)
        assert there.quantiles(LEVELS) == pytest.approx(at + unit * here.quantiles(LEVELS), rel=1e-9, abs=1e-6)


def test_atoms_keep_the_distributions_of_a_kind_of_labels():
    _, y, _ = rain(200, 3)
    for labels, shift in ((AtomAt(0), 0.0), (AtomAt(-3), -3.0), (Real(0, 9) | AtomAt(0), 0.0)):
        check_labels(labels, y + shift)
    check_labels(AtomAt(0) | Transformed("log1p"), y[:60])


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("atom:0", AtomAt(0)),
        ("atom", AtomAt(0)),
        ("atom:-1.5", AtomAt(-1.5)),
        ("atom:0:p_zero", AtomAt(0, share="p_zero")),
        ("atom:0,log1p", Real(0) | Transformed("log1p") | AtomAt(0)),
        ("0:9,atom:0", Real(0, 9) | AtomAt(0)),
        ("atom:0,0:9", Real(0, 9) | AtomAt(0)),
    ],
)
def test_atoms_by_name(name, labels):
    assert labels_named(name) == labels


def test_the_atom_of_a_chain_is_in_the_unit_of_the_labels():
    assert atom_in(AtomAt(2) | Transformed("log")) == pytest.approx(2.0)
    assert atom_in(labels_named("0:9,atom:0")) == 0.0
    assert atom_in(AtomAt(0, share="p")) is None
    assert atom_in(Counts()) is None
    assert atom_in(None) is None


MEAN, Y, _ = rain(50, 4)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AtomAt(math.inf), "AtomAt.at must be finite"),
        (lambda: AtomAt(0, share=0.5), "AtomAt.share must be the name of a column"),
        (lambda: labels_named("atom:x"), "labels 'atom' take a number behind the colon, as in atom:0, got 'x'"),
        (lambda: AtomAt(0) | Counts(), r"AtomAt\(0\) is a kind for the inner end of a chain, and Counts\(\) cannot"),
        (lambda: AtomAt(0) | Transformed("log"), "y is 0 in row 0 .*outside the domain of Transformed"),
        (lambda: fitted(Normal(MEAN, 1.0), Y - 1), r"y is -0.7\d+ in row 1 \(27 rows in all\), below the atom at 0"),
        (lambda: fitted(Point(MEAN), Y), "a point does not say how likely 0 is"),
        (lambda: fitted(Interval(MEAN - 1, MEAN + 1), Y), "an atom takes .*, got Inter"),
        (lambda: fitted(Quantiles([0.5], MEAN[:, None]), Y), "needs quantiles at two levels or more"),
        (
            lambda: fitted(LogNormal(MEAN, 1.0), Y),
            "log normal distribution of 50 rows.* has no mass at or below 0 in any row",
        ),
        (lambda: WithAtom(Point(MEAN), [0.5, 0.5]), "share must have one row for each of the 50 rows .* got 2"),
        (lambda: WithAtom(Point(MEAN), np.full(50, 1.5)), r"WithAtom.share lies outside \[0, 1\] in row 0 \(50 rows"),
        (lambda: Calibrator(labels=AtomAt(0, "p")).fit(Point(MEAN), Y), "needs bound=, with one entry for each row"),
        (lambda: Calibrator(labels=AtomAt(0, "p")).fit(Point(MEAN), Y, bound=MEAN), r"share .* lies outside \[0, 1\]"),
        (lambda: TwoPart(Constant), "TwoPart.refiner must be a Refiner"),
        (lambda: TwoPart().fit(TrainingRows(MEAN[:, None], Point(MEAN), Y - 1)), r"y is -1 in a training row"),
        (lambda: TwoPart().fit(TrainingRows(MEAN[:, None], Point(MEAN), 0 * Y)), "0 of 50 training rows have a label"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


def fitted(prediction, y):
    return Calibrator(labels=AtomAt(0)).fit(prediction, y, rng=np.random.default_rng(0))


def test_a_share_beside_the_prediction_and_one_in_a_column_are_the_same():
    mean, y, _ = rain(400, 5)
    p = Normal(mean, 1.0).cdf(0.0)
    beside = fitted(WithAtom(Normal(mean, 2.0), p), y)(WithAtom(Normal(mean, 2.0), p))
    for bound in (p, {"p": p}):
        calibrated = Calibrator(labels=AtomAt(0, "p")).fit(
            Normal(mean, 2.0), y, bound=bound, rng=np.random.default_rng(0)
        )
        assert calibrated(Normal(mean, 2.0), bound=bound).pmf(0.0).tolist() == beside.pmf(0.0).tolist()


def test_shares_of_0_and_1_and_a_batch_of_one_row_have_distributions():
    mean, y, rng = rain(400, 6)
    share = (rng.random(400) < 0.3).astype(float)
    H = fitted(WithAtom(Normal(mean, 1.0), share), y)(WithAtom(Normal(mean, 1.0), share))
    assert np.all(np.isfinite(H.mean()))
    assert np.all(np.isfinite(H.crps(y)))
    one = fitted(Normal(mean, 1.0), y)
    assert one(Normal([50.0], 1.0)).pmf(0.0)[0] < 0.02
    assert one(Normal([-50.0], 1.0)).pmf(0.0)[0] > 0.98
    assert np.isfinite(one(Normal([-50.0], 1.0)).mean()[0])


def test_torch_gives_the_same_distribution():
    torch = pytest.importorskip("torch")
    mean, y, _ = rain(300, 8)
    ours = fitted(Normal(mean, 1.0), y)(Normal(mean[:5], 1.0))
    loc, labels = (torch.asarray(each, dtype=torch.float64) for each in (mean, y))
    H = fitted(Normal(loc, torch.ones_like(loc)), labels)(Normal(loc[:5], torch.ones(5, dtype=torch.float64)))
    assert H.pmf(0.0).numpy() == pytest.approx(ours.pmf(0.0))
    assert H.crps(labels[:5]).numpy() == pytest.approx(ours.crps(y[:5]))


def test_the_log_score_at_the_atom_is_that_of_its_probability():
    H = fitted(Normal(MEAN, 1.0), Y)(Normal([0.5, 0.5], 1.0))
    wanted = -(np.log(H.pmf(0.0)[0]) + H.logpdf([0.0, 1.0])[1]) / 2
    assert evaluate(H, [0.0, 1.0]).nll == pytest.approx(wanted)


# ---- the estimator -------------------------------------------------------------------------------------------------


def showers(count, seed):
    """Whether it rains and how much depend on different features."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (count, 3))
    wet = rng.random(count) < 1 / (1 + np.exp(-2 * X[:, 0]))
    return X, np.where(wet, np.exp(0.5 * X[:, 1] + 0.5 * rng.normal(size=count)), 0.0)


@pytest.mark.few(1)
@pytest.mark.parametrize("cv", [0.3, 2])
def test_the_estimator_learns_how_likely_the_atom_is(cv):
    X, y = showers(3000, 0)
    base = HistGradientBoostingRegressor(max_iter=50, random_state=0)
    model = CalibratedRegressor(base, refine="location-scale", labels="atom:0", cv=cv, random_state=0)
    H = model.fit(X[:2000], y[:2000]).predict_distribution(X[2000:])
    free = clone(model).set_params(labels="0:").fit(X[:2000], y[:2000]).predict_distribution(X[2000:])
    dry = y[2000:] == 0
    brier, plain = (np.mean((distribution.cdf(0.0) - dry) ** 2) for distribution in (H, free))
    true = 1 / (1 + np.exp(2 * X[2000:, 0]))
    assert brier < np.mean((true - dry) ** 2) + 0.02 < plain
    assert H.crps(y[2000:]).mean() < free.crps(y[2000:]).mean()
    assert evaluate(H, y[2000:]).pit_pvalue > 1e-3
    again = pickle.loads(pickle.dumps(model)).predict_distribution(X[2000:2005])
    assert again.pmf(0.0).tolist() == H[:5].pmf(0.0).tolist()
    if cv == 2:
        pooled = model.calibrate(X[2000:], y[2000:]).predict_distribution(X[:100])
        assert np.all((pooled.pmf(0.0) > 0) & (pooled.pmf(0.0) < 1))


def test_a_share_in_a_column_of_x_needs_no_classifier():
    pd = pytest.importorskip("pandas")
    X, y = showers(600, 2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(dry=1 / (1 + np.exp(2 * X[:, 0])))
    model = CalibratedRegressor(LinearRegression(), refine=None, labels="atom:0:dry", random_state=0).fit(frame, y)
    said = model.predict_distribution(frame).pmf(0.0)
    assert np.corrcoef(said, frame["dry"])[0, 1] > 0.97


def test_the_two_part_refiner_pickles_and_takes_one_share_where_zeros_are_few():
    X, y = showers(200, 3)
    rows = TrainingRows(X, Point(X[:, 1]), y)
    made = TwoPart(Constant()).fit(rows)
    said = pickle.loads(pickle.dumps(made))(X, rows.prediction).share
    assert said.tolist() == made(X, rows.prediction).share.tolist()
    assert np.mean(said[y == 0]) > np.mean(said[y > 0]) + 0.2
    few = TwoPart(Constant()).fit(TrainingRows(X, Point(X[:, 1]), np.where(np.arange(200) < 5, 0.0, y + 1)))
    assert few(X, Point(X[:, 1])).share == pytest.approx(np.full(200, 5.5 / 201))


# ---- the other doors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [["--mean", "mu", "--std", "sd"], ["--point", "f"]])
def test_the_command_line_takes_the_probability_from_a_column(tmp_path, flags):
    mean, y, _ = rain(800, 10)
    distribution, model, out = Normal(mean, 1.0), tmp_path / "model.safetensors", tmp_path / "out.csv"
    columns = {
        "mu": mean,
        "sd": np.ones(800),
        "f": distribution.clip(0.0).mean(),
        "p_zero": distribution.cdf(0.0),
        "y": y,
    }
    table = write(tmp_path / "table.csv", columns)
    fit = ["fit", table, "--target", "y", *flags, "-o", model, "--labels"]
    run(*fit, "atom:0:p_zero")
    run("evaluate", table, "-m", model, "--target", "y")
    run("predict", table, "-m", model, "--interval", "0.8", "-o", out)
    lower, upper = np.loadtxt(out, delimiter=",", skiprows=1)[:, -2:].T
    assert np.all(lower >= 0)
    assert np.mean(lower[distribution.cdf(0.0) > 0.15] == 0) > 0.9
    assert np.mean(upper[distribution.cdf(0.0) > 0.92] == 0) > 0.8
    assert "nothing" in refused(*fit, "atom:0:nothing")


def test_an_atom_is_drawn_as_a_stem_and_its_pits_over_the_jump():
    pytest.importorskip("matplotlib").use("Agg")
    from calibrant.judging.rows import forecast_rows
    from calibrant.plots.curves import density_of

    mean, y, rng = rain(1200, 11)
    H = Calibrator(labels=AtomAt(0)).fit(Normal(mean[:600], 1.0), y[:600], rng=rng)(Normal(mean[600:], 1.0))
    drawn = density_of(H[3], "H")
    assert drawn.atoms.tolist() == [0.0]
    assert drawn.masses[0] == pytest.approx(float(H[3].pmf(0.0)))
    side = forecast_rows(H, y[600:], 0.9)
    assert np.unique(side.drawn).size == 600
    assert evaluate(H, y[600:]).pit_pvalue > 1e-4
