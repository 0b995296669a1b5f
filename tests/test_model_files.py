"""A file gives back what was saved, bit for bit, on every way to calibrate; only one's own classes must be named."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from catalogue import (
    CALIBRATION,
    DISTRIBUTIONS,
    HERE,
    INTERPOLATORS,
    PAIRS,
    PREDICTIONS,
    Y,
    calibrated,
)
from fixtures.ways import FRESH, GROUP, NOISE, NORMALS, RATIO, WAYS, F, answers
from forged import Fixed, Halved, Scaled, of_distribution, small
from reference.cases import LogRatio, PercentageError

from calibrant import Calibrator, CrossCalibrated, Guarantee, Normal, Point
from calibrant._batch import same
from calibrant.files import FileError, load, read, save
from calibrant.interpolators import NAF, Apart, BoundedTails, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.naf import Promised
from calibrant.intervals import CQR, Centred, NormalizedResidual
from calibrant.scores import EnsembleScore, QuantileScore, ResidualScore, ZScore, signed

OWN = [LogRatio, PercentageError]
FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def same_bits(one, other):
    one, other = np.asarray(one), np.asarray(other)
    return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()


# ---- what comes back -----------------------------------------------------------------------------------------------


CHOSEN = [(pair, "linear") for pair in PAIRS]
CHOSEN += [(pair, name) for pair in ("residual", "cdf of normal") for name in INTERPOLATORS if name != "linear"]


@pytest.mark.parametrize(("pair", "interpolator"), CHOSEN)
def test_what_is_loaded_predicts_the_same_bits(pair, interpolator, path):
    first = calibrated(pair, interpolator)
    save(path, first)
    again = load(path, classes=OWN)
    assert same(again.q, first.q)
    assert again.guarantee == first.guarantee
    assert type(again.score) is type(first.score)
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[CALIBRATION:]
    one, two = (c(prediction, rng=np.random.default_rng(3)) for c in (first, again))
    y = Y[CALIBRATION:]
    for found, wanted in zip(
        (two.cdf(y), two.ppf(0.3), two.logpdf(y), two.crps(y)),
        (one.cdf(y), one.ppf(0.3), one.logpdf(y), one.crps(y)),
        strict=True,
    ):
        assert same_bits(found, wanted)


def comes_back(model, ask, path):
    model.save(path)
    again = load(path)
    assert answers(ask(again)) == answers(ask(model))
    assert str(getattr(again, "guarantee", "")) == str(getattr(model, "guarantee", ""))


@pytest.mark.parametrize("way", WAYS)
def test_whatever_the_way_what_is_loaded_is_what_was_saved(way, path):
    made, ask = WAYS[way]
    comes_back(made(), ask, path)


EACH = (Linear(), Naive(), NAF(), Random(), Linear(BoundedTails()), Linear(InfiniteTails()))


@pytest.mark.parametrize("interpolator", [*EACH, Apart(NAF())], ids=repr)
def test_every_interpolator_comes_back_with_groups(interpolator, path):
    model = Calibrator(None, interpolator).fit(NORMALS, F + NOISE, by=GROUP)
    comes_back(model, lambda model: model(FRESH, seed=1, by=["small", "large", "small"]), path)


@pytest.mark.parametrize("interpolator", EACH, ids=repr)
def test_every_interpolator_comes_back_with_weights(interpolator, path):
    model = Calibrator(None, interpolator).fit(NORMALS, F + NOISE, weights=RATIO)
    comes_back(model, lambda model: model(FRESH, seed=1, weights=[0.5, 1.0, 2.0]), path)


def test_a_file_of_this_format_is_read_by_later_versions_and_answers_as_it_did():
    wanted = json.loads((FIXTURES / "format-2.json").read_text(encoding="utf-8"))
    folds = load(FIXTURES / "format-2.safetensors").members
    for (name, numbers), fold in zip(wanted.items(), folds, strict=True):
        for what, values in answers(WAYS[name][1](fold)).items():
            rtol = 1e-6 if "naf" in name else 1e-9
            np.testing.assert_allclose(values, numbers[what], rtol=rtol, err_msg=f"{what} of {name}")


@pytest.mark.parametrize("interpolator", ["naive", "linear", "random, bounded", "naf"])
@pytest.mark.parametrize("n", [1, 2, 200])
def test_what_is_loaded_is_saved_as_the_same_bytes(interpolator, n, path):
    save(path, calibrated("residual", interpolator, n), notes={"b": [1, 2.5], "a": None})
    written, stored = path.read_bytes(), read(path)
    save(path, stored.calibrated, notes={name: stored.notes[name] for name in ("a", "b")})
    assert path.read_bytes() == written


SINGLE = {name: case for name, case in DISTRIBUTIONS.items() if case(HERE).shape == () and name != "logistic mixture"}
SINGLE["a guarded distribution that is clipped"] = lambda world: DISTRIBUTIONS["q of naf, guarded"](world).clip(-1, 0.5)
SINGLE["a random distribution that is clipped"] = lambda world: DISTRIBUTIONS["q of random, bounded"](world).clip(
    90, 99
)
for of in ("student t, df by row", "laplace", "pool"):
    SINGLE[f"a row of {of}"] = lambda world, of=of: PREDICTIONS[of](world)[3]


@pytest.mark.parametrize("name", SINGLE)
def test_every_single_distribution_can_be_q(name, path):
    distribution = SINGLE[name](HERE)
    save(path, of_distribution(distribution))
    q = load(path, classes=[Fixed]).q
    assert same(q, distribution)
    assert same_bits(q.ppf([0.2, 0.5]), distribution.ppf([0.2, 0.5]))


def test_a_distribution_that_no_file_holds_is_refused_when_it_is_saved(path):
    with pytest.raises(FileError, match=r"cannot save .*model.safetensors: q.batch is .*, which no file holds"):
        save(path, of_distribution(PREDICTIONS["scipy's gamma"](HERE)[3]))
    assert not path.exists()


@pytest.mark.parametrize(
    "score",
    [
        QuantileScore(np.float64(2.0)),
        QuantileScore(3),
        EnsembleScore((ZScore(), QuantileScore(0.5))),
        EnsembleScore([ZScore(), EnsembleScore([ResidualScore()])]),
        signed(Centred(ZScore(), 0.25)),
        signed(NormalizedResidual()),
        signed(CQR()),
    ],
    ids=repr,
)
def test_a_score_comes_back_equal(score, path):
    save(path, replace(small(), score=score))
    assert load(path).score == score


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_dtype_of_the_scores_is_kept(dtype, path):
    first = Calibrator().fit(np.zeros(9, dtype), np.arange(9, dtype=dtype))
    save(path, first)
    again = load(path)
    assert again.q.knots.dtype == dtype
    assert again.q.knots.flags.writeable  # torch warns of arrays that are not
    assert same_bits(again(np.zeros(1, dtype)).ppf(0.37), first(np.zeros(1, dtype)).ppf(0.37))


def test_what_was_calibrated_on_torch_is_loaded_as_numpy_and_predicts_on_both(path):
    torch = pytest.importorskip("torch", reason="the tensors here are torch's")
    f, y = (torch.asarray(column[:50]) for column in (DISTRIBUTIONS["normal"](HERE).loc[0] + np.zeros(205), Y))
    first = Calibrator(interpolator=NAF(20)).fit(Point(f.clone().requires_grad_()), y)
    save(path, first)
    again = load(path)
    assert isinstance(again.q.knots, np.ndarray)
    assert same_bits(again(Point(f)).cdf(y).numpy(), first(Point(f)).cdf(y).numpy())
    assert np.allclose(again(Point(f.numpy())).cdf(y.numpy()), first(Point(f)).cdf(y), rtol=1e-12)


def test_folds_come_back_too(path):
    halves = np.random.default_rng(0).normal(size=(2, 30))
    first = CrossCalibrated(tuple(Calibrator().fit(np.zeros(30), half) for half in halves))
    first.save(path)
    again = load(path)
    assert again.guarantee == first.guarantee
    points = [[0.0, 1.0], [0.5, 0.9]]
    assert same_bits(again(points).ppf(0.3), first(points).ppf(0.3))
    assert read(path).about["n"] == 60


ALONE = """
import sys


class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("sklearn", "torch", "pandas") or name == "scipy.stats":
            raise ImportError(name + " is blocked")


sys.meta_path.insert(0, Blocked())
from calibrant import Normal
from calibrant.files import load
print(load(sys.argv[1])(Normal([0.0], 1.0)).median()[0].hex())
"""


def test_loading_needs_neither_sklearn_nor_torch_nor_the_model(path):
    save(path, calibrated("cdf of normal", "naf"))
    found = subprocess.check_output([sys.executable, "-c", ALONE, str(path)], text=True).strip()
    assert found == calibrated("cdf of normal", "naf")(Normal([0.0], 1.0)).median()[0].hex()


def test_only_what_is_calibrated_is_saved(path):
    kinds = "a Calibrated, a CrossCalibrated, a SeveralCalibrated, a HorizonCalibrated or a Tracker"
    with pytest.raises(TypeError, match=rf"save takes {kinds}, got Linear"):
        save(path, Linear())


# ---- notes, summary and promises -----------------------------------------------------------------------------------


def test_notes_come_back(path):
    notes = {"columns": ["a", "ü"], "nested": {"x": [1, 2.5, None, True]}, "0" * 64: "0" * 64}
    save(path, small(), notes=notes)
    assert read(path).notes == notes


@pytest.mark.parametrize("notes", [{"a": math.nan}, {"a": (1, 2)}, {1: 2}, {"a": {1}}, {"a": b"x"}], ids=repr)
def test_notes_that_json_does_not_give_back_are_refused(notes, path):
    with pytest.raises(FileError, match="notes must be JSON values"):
        save(path, small(), notes=notes)


def test_a_summary_says_what_was_calibrated(path):
    save(path, calibrated("cdf of normal", "linear"))
    about = read(path).about
    assert about == {
        "format": 2,
        "calibrant": about["calibrant"],
        "kind": "Calibrated",
        "labels": None,
        "score": "CDFScore()",
        "interpolator": "Linear(tails=ExponentialTails())",
        "tails": "ExponentialTails()",
        "q": repr(calibrated("cdf of normal", "linear").q),
        "n": 20,
        "lambda": 0.0,
        "support": "(0, 1), held as logits",
    }
    save(path, replace(small(), interpolator=NAF(promise=lambda n: math.inf), guarantee=Guarantee(4, math.inf)))
    about = read(path).about
    assert (about["lambda"], about["tails"], about["support"]) == ("inf", None, "(-inf, inf)")


def test_a_promise_is_kept_by_name_or_as_what_it_promised(path):
    save(path, calibrated("residual", "naf"))
    assert load(path).interpolator == NAF()
    save(path, calibrated("residual", "naf, guarded"))
    again = load(path)
    assert again.interpolator == NAF(promise=Promised(0.3))
    assert again.guarantee.accuracy == again.interpolator.accuracy(20) == 0.3


# ---- classes of a user's own ---------------------------------------------------------------------------------------


def test_a_score_of_ones_own_loads_only_when_its_class_is_named(path):
    save(path, calibrated("percentage error", "linear"))
    sentence = "score is a 'PercentageError', which is not a class of calibrant: .* pass classes=.PercentageError."
    for classes in ([], [LogRatio]):
        with pytest.raises(FileError, match=sentence):
            load(path, classes=classes)
    for classes in ([PercentageError], [Linear, PercentageError]):
        assert type(load(path, classes=classes).score) is PercentageError


def test_the_fields_of_a_frozen_dataclass_of_ones_own_come_back(path):
    score = Scaled(0.5, np.arange(6).reshape(2, 3) > 2)
    save(path, replace(small(), score=score))
    again = load(path, classes=[Scaled]).score
    assert (again.by, again.choices, again.limits[0]) == (0.5, [1, "two", None], -math.inf)
    assert math.isnan(again.limits[1])
    assert same_bits(again.weights, score.weights)


@pytest.mark.parametrize(
    "weights",
    [
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12)[::-2],
        np.arange(3, dtype=">f8"),
        np.broadcast_to(np.float32(1.5), (2, 2)),
        np.zeros((0, 3)),
    ],
    ids=["by columns", "backwards", "of another machine", "one number for all", "empty"],
)
def test_an_array_comes_back_however_it_lay_in_memory(weights, path):
    save(path, replace(small(), score=Scaled(weights=weights)))
    again = load(path, classes=[Scaled]).score.weights
    assert same_bits(again, weights.astype(weights.dtype.newbyteorder("=")))


def test_ones_own_class_inside_one_of_calibrants_comes_back(path):
    save(path, replace(small(), score=signed(Halved())))
    assert type(load(path, classes=[Halved]).score.nonconformity) is Halved
    with pytest.raises(FileError, match=r"score.nonconformity is a 'Halved'"):
        load(path)


def test_a_class_with_a_hidden_state_is_refused_when_it_is_saved(path):
    class Stateful(PercentageError):
        def __init__(self):
            self.by = 2

    @dataclass
    class Thawed(PercentageError):
        by: float = 2.0

    for score in (Stateful(), Thawed()):
        with pytest.raises(FileError, match=r"score is a .*, which has a state: make it a frozen dataclass"):
            save(path, replace(small(), score=score))


@pytest.mark.parametrize("inside", [lambda y: y, object, 1j, {"a": 1}, {1, 2}, np.zeros(2, complex), Decimal("2.5")])
def test_a_field_that_no_file_holds_is_refused_when_it_is_saved(inside, path):
    with pytest.raises(FileError, match=r"score.weights (is|must be)"):
        save(path, replace(small(), score=Scaled(weights=inside)))
    assert not os.path.exists(path)


def test_classes_must_be_classes_with_names_of_their_own(path):
    impostor, other = type("ZScore", (PercentageError,), {}), type("LogRatio", (PercentageError,), {})
    for classes, error, sentence in (
        ([impostor], ValueError, "classes holds a ZScore, which is a name of calibrant's"),
        ([LogRatio, other], ValueError, "two that are called LogRatio"),
        (LogRatio, TypeError, r"pass classes=\[LogRatio\]"),
        ([LogRatio()], TypeError, "classes must hold classes"),
    ):
        with pytest.raises(error, match=sentence):
            load(path, classes=classes)
    for score in (impostor(), EnsembleScore([LogRatio(), other()])):
        with pytest.raises(FileError, match="another class in the file has that name"):
            save(path, replace(small(), score=score))


def test_what_cannot_be_read_back_is_not_written(path):
    @dataclass(frozen=True)
    class Odd(PercentageError):
        by: float = 2.0

        def __post_init__(self):
            if type(self.by) is float:
                raise ValueError("by must not be a float")

    save(path, small())
    before = path.read_bytes()
    with pytest.raises(FileError, match=r"cannot save .* score is not a valid Odd: by must not be a float"):
        save(path, replace(small(), score=Odd(np.float64(2.0))))
    assert path.read_bytes() == before
