"""A value is a value: no method changes a distribution; what is worth keeping is cached, as long as it lives."""

from __future__ import annotations

import ast
import gc
import pickle
import weakref
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
import torch
from catalogue import (
    CALIBRATION,
    COMBINATIONS,
    HERE,
    LOC,
    PAIRS,
    PREDICTIONS,
    SCALE,
    Y,
    calibrated,
    cases,
)

import calibrant
from calibrant import Calibrator, Normal, Point, StudentT
from calibrant._batch import moved_floats, same
from calibrant.interpolators import NAF, Naive, Random
from calibrant.intervals import AbsoluteResidual
from calibrant.scores import CDFScore
from calibrant.scores.nonconformity import signed


def asked(H):
    """Every method, once."""
    C = H.clip(17.0, 23.0)
    with np.errstate(all="ignore"):
        found = [H.cdf(20.0), H.sf(20.0), H.cdf_left(20.0), H.logpmf(20.0), H.pmf(20.0), H.ppf(0.3), H.median()]
        found += [] if H.lattice is not None else [H.logpdf(20.0), H.pdf(20.0)]
        found += [H.quantiles([0.1, 0.7]), *H.interval(0.8), H.sample(2, rng=np.random.default_rng(0))]
        found += [H.mean(), H.std(), H.crps(20.0), C.mean(), C.std(), C.crps(20.0)]
    return found


@pytest.mark.parametrize("name", cases(name for name in COMBINATIONS if "scipy" not in name and "guarded" not in name))
def test_a_calibration_is_the_same_before_and_after_its_distributions_were_asked(name, tmp_path):
    pair, interpolator = COMBINATIONS[name]
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[CALIBRATION : CALIBRATION + 2]
    model = calibrated(pair, interpolator)
    said, twin, pickled = repr(model), deepcopy(model), pickle.dumps(model)
    beside = same(model, twin)  # not so with a user's score that has no __eq__
    asked(model(prediction, rng=np.random.default_rng(3)))
    assert repr(model) == said
    assert same(model, twin) == beside
    assert pickle.dumps(model) == pickled
    if type(model.score).__module__.startswith("calibrant"):  # a file of a user's class asks for the class
        for each in (twin, model):
            each.save(tmp_path / str(id(each)))
        assert (tmp_path / str(id(twin))).read_bytes() == (tmp_path / str(id(model))).read_bytes()


# ---- what is kept --------------------------------------------------------------------------------------------------

KEEPING = {
    "residual; linear": (None, calibrant.interpolators.Linear(), Point(LOC)),
    "cdf; linear": (CDFScore(), calibrant.interpolators.Linear(), Normal(LOC, SCALE)),
    "cdf; naive": (CDFScore(), Naive(), Normal(LOC, SCALE)),
    "cdf; random": (CDFScore(), Random(), Normal(LOC, SCALE)),
    "cdf; naf": (CDFScore(), NAF(), Normal(LOC, SCALE)),
    "signed; linear": (signed(AbsoluteResidual()), calibrant.interpolators.Linear(), Point(LOC)),
}


def made(name):
    score, interpolator, prediction = KEEPING[name]
    return Calibrator(score, interpolator).fit(prediction[:40], Y[:40]), prediction[40:44]


@pytest.mark.few(1)
@pytest.mark.parametrize("name", KEEPING)
def test_what_is_kept_goes_with_the_distribution(name):
    model, prediction = made(name)
    H = model(prediction)
    asked(H)
    q = weakref.ref(model.q)
    del model, H
    gc.collect()
    assert q() is None


def test_a_result_is_worked_out_once_for_each_value_and_is_no_part_of_it():
    one, calls = Normal([0.0], [1.0]), []
    for _ in range(3):
        assert one.remember("_kept_answer", lambda: calls.append(1) or "made") == "made"
    assert len(calls) == 1
    for other in (deepcopy(one), pickle.loads(pickle.dumps(one)), one[[0]]):
        assert other.remember("_kept_answer", lambda: "anew") == "anew"


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["cdf; linear", "signed; linear", "cdf; naf"])
def test_eight_threads_get_what_one_gets(name):
    model, prediction = made(name)
    wanted = asked(model(prediction, rng=np.random.default_rng(0)))
    fresh = pickle.loads(pickle.dumps(model))  # nothing is kept for this one yet
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: asked(fresh(prediction, rng=np.random.default_rng(0))), range(16)))
    for each in found:
        for one, other in zip(each, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


# ---- what many predictions share -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["residual; linear", "cdf; naf", "signed; linear"])
def test_a_prediction_in_single_precision_is_answered_in_it(name):
    model, prediction = made(name)
    single = np.zeros((), np.float32)
    assert model.q.to(single).like.dtype == np.float32
    assert model(moved_floats(prediction, single)).crps(np.float32(20.0)).dtype == np.float32


def test_a_distribution_that_carries_a_gradient_is_moved_anew():
    df = torch.tensor(5.0, requires_grad=True)
    distribution, double = StudentT(df, torch.zeros(2), torch.ones(2)), torch.zeros((), dtype=torch.float64)
    for _ in range(2):  # a graph that was kept would be gone the second time
        distribution.to(double).cdf(torch.tensor([0.3, 0.4])).sum().backward()
    assert torch.isfinite(df.grad)


def test_every_dataclass_of_the_library_is_frozen():
    """But for the one that gathers what a file will hold."""
    thawed = []
    for path in sorted(Path(calibrant.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for mark in getattr(node, "decorator_list", []):
                said = ast.unparse(mark)
                if said.partition("(")[0] == "dataclass" and "frozen=True" not in said:
                    thawed.append(node.name)
    assert thawed == ["Encoded"]
