"""A distribution for every row: q may depend on what is known of the row, and everything else works as it did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from catalogue import CALIBRATION, COMBINATIONS, HERE, INTERPOLATORS, PAIRS, PREDICTIONS, ROWS, SCORES, Y

from calibrant import Calibrator, Guarantee, Normal, Point, concatenate
from calibrant.distributions import Context
from calibrant.distributions.joined import Joined
from calibrant.interpolators import BoundedTails, Linear, Random
from calibrant.scores import ResidualScore
from calibrant.testing import check_distribution

# ---- a context in twenty lines: the distribution of the label's own scores
# --------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ByLabel(Joined):
    """The distributions of the labels, one a row; for other rows it picks theirs."""

    labels: tuple

    def for_rows(self, context):
        if context.by is None:
            raise TypeError("q depends on the label of a row: pass by=")
        unknown = sorted(set(context.by) - set(self.labels))
        if unknown:
            raise ValueError(f"by holds {unknown[0]!r}, which no calibration row had: those had {list(self.labels)}")
        return Joined.of(self.distributions, [self.labels.index(label) for label in context.by])


@dataclass(frozen=True)
class Apart(Linear):
    own: object = Linear()

    def fit_rows(self, scores, context, *, support=(-np.inf, np.inf)):
        by, labels = np.asarray(context.by), tuple(sorted(set(context.by)))
        distributions = tuple(self.own.fit(scores[by == label], support=support) for label in labels)
        part = np.arange(len(labels))
        fewest = min((scores[by == label] for label in labels), key=len)
        return ByLabel(distributions, part, np.zeros_like(part), labels), Guarantee.of(self.own, fewest)


COUNT = 24
LABEL = np.array(["a", "b", "c"])[np.arange(COUNT + ROWS) * 7 % 3]
OLD, NEW = slice(0, COUNT), slice(CALIBRATION, CALIBRATION + ROWS)
BY, BY_NEW = LABEL[:COUNT], LABEL[COUNT:]


def apart(pair, own):
    """H of the new rows, calibrated by label; and for each label the H of all of them, calibrated on its rows alone.

    All have one score: what it learns, it learns of all rows.
    """
    case = PAIRS[pair]
    prediction = PREDICTIONS[case.prediction](HERE)
    model = Calibrator(case.score, Apart(own=own)).fit(prediction[OLD], Y[OLD], by=BY)
    H = model(prediction[NEW], by=BY_NEW)
    alone = {}
    for label in "abc":
        mine = np.flatnonzero(label == BY)
        alone[label] = Calibrator(model.score, own).fit(prediction[mine], Y[mine])(prediction[NEW])
    return model, H, alone


def answers(H, y):
    table = y[:, None] + np.array([-0.9, 0.0, 0.4])
    found = {method: getattr(H, method)(table) for method in ("cdf", "cdf_left", "logpdf", "crps")}
    C = H.clip(17.0, 23.0)
    return found | {"ppf": H.ppf(0.3), "mean": H.mean(), "std": H.std(), "clipped": C.crps(table)}


FEW = ("residual", "quantile", "cdf of normal", "signed residual")
TRIED = [(pair, "linear") for pair in PAIRS]
TRIED += [
    (pair, name) for pair in ("residual", "quantile", "cdf of normal", "signed residual") for name in INTERPOLATORS
]


@pytest.mark.few
@pytest.mark.parametrize(("pair", "interpolator"), [each for each in dict.fromkeys(TRIED) if "random" not in each[1]])
def test_a_row_has_the_distribution_of_its_label_bit_for_bit(pair, interpolator):
    if f"{pair}; {interpolator}" not in COMBINATIONS:
        return
    _, H, alone = apart(pair, INTERPOLATORS[interpolator])
    assert H.shape == (ROWS,)
    found = answers(H, Y[NEW])
    wanted = {label: answers(distribution, Y[NEW]) for label, distribution in alone.items()}
    for method, result in found.items():
        for row, label in enumerate(BY_NEW):
            np.testing.assert_array_equal(result[row], wanted[label][method][row], err_msg=f"{method}, row {row}")


@pytest.mark.few
@pytest.mark.parametrize("pair", [*FEW, "log ratio", "cdf of log-normal", "ensemble of ensembles"])
def test_rows_with_distributions_of_their_own_keep_the_distributions_of_a_distribution(pair):
    model, H, _ = apart(pair, Linear())
    check_distribution(H)
    assert model.guarantee.n == 8
    np.testing.assert_array_equal(concatenate([H[:2], H[2:]]).std(), H.std())


@pytest.mark.parametrize(
    ("interpolator", "name", "known", "asked"),
    [
        (Apart(), "by", BY, "abc"),
        (Linear(), "by", BY, "abc"),
        (Linear(), "weights", np.linspace(0.1, 3.0, COUNT), [0.5, 1.0, 4.0]),
    ],
    ids=["by label", "by group", "weighted"],
)
def test_rows_with_distributions_of_their_own_follow_the_prediction_to_torch_and_float32(
    interpolator, name, known, asked
):
    torch = pytest.importorskip("torch")
    f = np.arange(COUNT) * 1.0
    model = Calibrator(None, interpolator).fit(Point(f), np.sin(f), **{name: known})
    new, y = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True), [1.5, 2.0, 3.0]
    here, there = (model(Point(each), **{name: asked}) for each in (new.detach().numpy(), new))
    for method in ("mean", "std", "median"):
        found = getattr(there, method)().detach()
        np.testing.assert_allclose(found.numpy(), getattr(here, method)(), rtol=1e-12)
    crps = there.crps(torch.tensor(y, dtype=torch.float64))
    np.testing.assert_allclose(crps.detach().numpy(), here.crps(y), rtol=1e-12)
    crps.sum().backward()
    assert bool(torch.all(torch.isfinite(new.grad)))
    assert model(Point(np.float32([1.0, 2.0])), **{name: asked[:2]}).mean().dtype == np.float32


# ---- what goes wrong -----------------------------------------------------------------------------------------------


class OneNormal:
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores.mean(), scores.std())

    def accuracy(self, n):
        return n


def fitted(interpolator, **known):
    return Calibrator(None, interpolator).fit([1.0, 2.0, 3.0, 4.0], [1.0, 2.5, 3.1, 3.5], **known)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: fitted(OneNormal(), weights=[1.0] * 4), "has no parameter weights, so it cannot use weights="),
        (lambda: fitted(Linear())([1.0], by=["a"]), "fitted without by=, so a call takes no by= either"),
        (lambda: fitted(Random())([1.0], weights=[1.0]), "fitted without weights=, so a call takes no weights= either"),
        (lambda: fitted(Apart(), by=list("aabb"))([1.0]), "q depends on the label of a row: pass by="),
        (
            lambda: fitted(Apart(), by=list("aabb"))([1.0, 2.0], by=["a", "z"]),
            "by holds 'z', which no calibration row had",
        ),
        (
            lambda: fitted(Apart(), by=list("aabb"))([1.0, 2.0], by=["a"]),
            "one row for each of the 2 rows of the prediction",
        ),
        (lambda: ResidualScore().pull_back(Normal([0.0] * 3, 1.0), Point([1.0, 2.0])), "for each of the 2 .*, got 3"),
    ],
)
def test_what_goes_wrong_is_said_in_one_sentence(call, said):
    with pytest.raises((TypeError, ValueError), match=said) as error:
        call()
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


# ---- Random's q before it meets its rows ----------------------------------------------------------------------------


class Half:
    def random(self, count):
        return np.full(count, 0.5)


def test_a_q_without_its_rows_answers_as_the_row_of_one_half():
    q = Random(BoundedTails()).fit(SCORES)
    half = q.for_rows(Context(1, rng=Half()))[0]
    y, p = np.array([-0.3, float(SCORES[4]), 0.9]), np.array([0.1, 0.5, 0.93])
    for name, argument in {"cdf": y, "sf": y, "cdf_left": y, "logpdf": y, "crps": y, "ppf": p, "isf": p}.items():
        np.testing.assert_array_equal(getattr(q, name)(argument), getattr(half, name)(argument), err_msg=name)
    assert (q.mean(), q.std()) == (half.mean(), half.std())
    assert q.cdf_left(SCORES[4]) < q.cdf(SCORES[4])


@pytest.mark.parametrize("pair", ["residual", "cdf of normal", "quantile", "signed residual"])
def test_a_q_without_its_rows_is_not_pulled_back(pair):
    prediction, score = PREDICTIONS[PAIRS[pair].prediction](HERE), PAIRS[pair].score
    with pytest.raises(TypeError, match=r"no distribution before it meets its rows: pull back q\.for_rows\(context\)"):
        score.pull_back(Random().fit(SCORES), prediction)
    with pytest.raises(TypeError, match="a weighted q has no distribution before it meets its rows"):
        score.pull_back(Linear().fit(SCORES, weights=np.ones(len(SCORES))), prediction)
