"""A law for every row: q may depend on what is known of the row, and everything else works as it did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from catalogue import CALIBRATION, COMBINATIONS, HERE, INTERPOLATORS, PAIRS, PREDICTIONS, ROWS, SCORES, SLOW, Y
from reference.tolerances import TOLERANCES

from calibrant import Calibrator, Guarantee, Normal, Point, StudentT, concatenate
from calibrant.distributions import Context, Distribution, GaussianMixture, Joined
from calibrant.interpolators import BoundedTails, Linear, Random
from calibrant.testing import check_distribution

# ---- a context in twenty lines: the law of the label's own scores --------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class ByLabel(Joined):
    """The laws of the labels, one a row; for other rows it picks theirs."""

    labels: tuple

    def for_rows(self, context):
        if context.by is None:
            raise TypeError("q depends on the label of a row: pass by=")
        unknown = sorted(set(context.by) - set(self.labels))
        if unknown:
            raise ValueError(f"by holds {unknown[0]!r}, which no calibration row had: those had {list(self.labels)}")
        return Joined.of(self.laws, [self.labels.index(label) for label in context.by])


@dataclass(frozen=True)
class Apart(Linear):
    own: object = Linear()

    def fit_rows(self, scores, context, *, support=(-np.inf, np.inf)):
        by, labels = np.asarray(context.by), tuple(sorted(set(context.by)))
        laws = tuple(self.own.fit(scores[by == label], support=support) for label in labels)
        part = np.arange(len(labels))
        fewest = min((scores[by == label] for label in labels), key=len)
        return ByLabel(laws, part, np.zeros_like(part), labels), Guarantee.of(self.own, fewest)


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
    C = H.clip(17.0, 23.0)
    found = {method: getattr(H, method)(table) for method in ("cdf", "sf", "cdf_left", "logpdf", "pdf")}
    found |= {"ppf": H.ppf(0.3), "quantiles": H.quantiles([0.1, 0.6]), "median": H.median(), "clipped": C.cdf(table)}
    found["lower"], found["upper"] = H.interval(0.7)
    found |= {"mean": H.mean(), "std": H.std(), "crps": H.crps(table)}
    found |= {"clipped mean": C.mean(), "clipped std": C.std(), "clipped crps": C.crps(table)}
    return found


FEW = ("residual", "quantile", "cdf of normal", "signed residual")
TRIED = [(pair, "linear") for pair in PAIRS]
TRIED += [
    (pair, name) for pair in ("residual", "quantile", "cdf of normal", "signed residual") for name in INTERPOLATORS
]


@pytest.mark.few
@pytest.mark.parametrize(("pair", "interpolator"), [each for each in dict.fromkeys(TRIED) if "random" not in each[1]])
def test_a_row_has_the_law_of_its_label_bit_for_bit(pair, interpolator):
    if f"{pair}; {interpolator}" not in COMBINATIONS:
        return
    _, H, alone = apart(pair, INTERPOLATORS[interpolator])
    assert H.shape == (ROWS,)
    found = answers(H, Y[NEW])
    wanted = {label: answers(law, Y[NEW]) for label, law in alone.items()}
    for method, result in found.items():
        for row, label in enumerate(BY_NEW):
            np.testing.assert_array_equal(result[row], wanted[label][method][row], err_msg=f"{method}, row {row}")


@pytest.mark.few
@pytest.mark.parametrize("pair", [*FEW, "log ratio", "cdf of log-normal", "ensemble of ensembles"])
def test_rows_with_laws_of_their_own_keep_the_laws_of_a_law(pair):
    check_distribution(apart(pair, Linear())[1])


def test_a_law_by_label_slices_joins_samples_and_promises():
    model, H, _ = apart("cdf of normal", Linear())
    assert model.guarantee.n == 8
    np.testing.assert_array_equal(H[[4, 0]].mean(), H.mean()[[4, 0]])
    np.testing.assert_array_equal(concatenate([H[:2], H[2:]]).std(), H.std())
    assert H.sample(3, rng=np.random.default_rng(0)).shape == (ROWS, 3)
    assert H[2].cdf(20.0) == H.cdf(20.0)[2]


@pytest.mark.parametrize(
    ("interpolator", "name", "known", "asked"),
    [
        (Apart(), "by", BY, "abc"),
        (Linear(), "by", BY, "abc"),
        (Linear(), "weights", np.linspace(0.1, 3.0, COUNT), [0.5, 1.0, 4.0]),
    ],
    ids=["by label", "by group", "weighted"],
)
def test_rows_with_laws_of_their_own_follow_the_prediction_to_torch_and_float32(interpolator, name, known, asked):
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


# ---- a batch as q --------------------------------------------------------------------------------------------------

SHIFTS, WIDTHS = np.linspace(-0.3, 0.5, ROWS), np.linspace(0.5, 1.5, ROWS)
AS_Q: dict[str, Distribution] = {
    "normals": Normal(SHIFTS, WIDTHS),
    "student ts": StudentT(np.linspace(5, 9, ROWS), SHIFTS, WIDTHS),
    "mixtures": GaussianMixture(
        np.tile([0.4, 0.6], (ROWS, 1)), np.stack([SHIFTS - 1, SHIFTS + 1], 1), np.stack([WIDTHS, WIDTHS / 2], 1)
    ),
    "linear and normal": concatenate(
        [Joined.of([INTERPOLATORS["linear"].fit(SCORES)], [0, 0]), Normal(SHIFTS[2:], WIDTHS[2:])]
    ),
}


TRIED_AS_Q = [(pair, "linear and normal") for pair in PAIRS] + [(pair, name) for pair in FEW for name in AS_Q]


@pytest.mark.few
@pytest.mark.parametrize(("pair", "name"), list(dict.fromkeys(TRIED_AS_Q)))
def test_a_batch_as_q_gives_each_row_the_law_pulled_back_through_its_own_chart(pair, name):
    q, score = AS_Q[name], PAIRS[pair].score
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[NEW]
    if pair.startswith("log"):  # the exponential of a heavier tail has no mean
        q = Normal(0.1 * SHIFTS, 0.1 * WIDTHS)
    H = score.pull_back(q, prediction)
    assert H.shape == (ROWS,)
    y = Y[NEW]
    table = y[:, None] + np.array([-0.9, 0.0, 0.4])
    for row in range(ROWS):
        one = score.pull_back(q[row], prediction[row : row + 1])
        at = slice(row, row + 1)
        for method in ("cdf", "sf", "cdf_left", "logpdf"):
            got, wanted = getattr(H, method)(table)[at], getattr(one, method)(table[at])
            np.testing.assert_allclose(got, wanted, rtol=1e-11, atol=1e-13, err_msg=method)
        np.testing.assert_allclose(H.ppf([0.2] * ROWS)[at], one.ppf(0.2), rtol=1e-11)
        np.testing.assert_allclose(H.quantiles([0.1, 0.8])[at], one.quantiles([0.1, 0.8]), rtol=1e-11)
    if pair in SLOW or name == "student ts":
        return
    alone = [score.pull_back(q[row], prediction[row : row + 1]) for row in range(ROWS)]
    std = np.concatenate([one.std() for one in alone])
    near = TOLERANCES["curved"].integrals * std
    for method in ("mean", "std"):
        wanted = np.concatenate([getattr(one, method)() for one in alone])
        assert np.all(np.abs(getattr(H, method)() - wanted) <= near), method
    wanted = np.concatenate([one.crps(y[i : i + 1]) for i, one in enumerate(alone)])
    assert np.all(np.abs(H.crps(y) - wanted) <= near)


# ---- what goes wrong -----------------------------------------------------------------------------------------------


def one_sentence(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


class OneNormal:
    def fit(self, scores, *, support=(-np.inf, np.inf), rng=None):
        return Normal(scores.mean(), scores.std())

    def accuracy(self, n):
        return n


def test_an_interpolator_of_one_law_that_takes_no_weights_says_so():
    with pytest.raises(TypeError, match=r"makes one q for all rows and takes no weights=") as error:
        Calibrator(None, OneNormal()).fit([1.0, 2.0], [1.0, 2.5], weights=[1.0, 2.0])
    one_sentence(error)


@pytest.mark.parametrize("interpolator", [Linear(), Random()])
def test_a_law_that_was_made_without_context_takes_none(interpolator):
    model = Calibrator(None, interpolator).fit([1.0, 2.0, 3.0], [1.0, 2.5, 3.1])
    for known in ("by", "weights"):
        with pytest.raises(TypeError, match=rf"q is one for all rows, since fit had no .*{known}=: a call") as error:
            model([1.0], **{known: ["a"]})
        one_sentence(error)


def test_a_law_by_label_asks_for_the_labels_and_knows_only_those_it_saw():
    model = apart("residual", Linear())[0]
    with pytest.raises(TypeError, match="q depends on the label of a row: pass by="):
        model(PREDICTIONS["point"](HERE)[NEW])
    with pytest.raises(ValueError, match=r"by holds 'z', which no calibration row had"):
        model(PREDICTIONS["point"](HERE)[NEW], by=["a", "z", "a", "b", "c"])


def test_as_many_labels_as_rows_are_asked_for():
    model = apart("residual", Linear())[0]
    with pytest.raises(ValueError, match=r"one row for each of the 5 rows of the prediction, got 3") as error:
        model(PREDICTIONS["point"](HERE)[NEW], by=["a", "b", "c"])
    one_sentence(error)


def test_a_q_with_another_number_of_rows_than_the_prediction_is_refused():
    with pytest.raises(ValueError, match=r"one row for each of the 5 rows of the prediction, got 3") as error:
        PAIRS["residual"].score.pull_back(Normal(np.zeros(3), np.ones(3)), PREDICTIONS["point"](HERE)[NEW])
    one_sentence(error)


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
