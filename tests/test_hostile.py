"""The hostile side of the catalogue against its truth: a sample, or with `--whole`, as in `make test-all`, all cases.

A case is a function of its name, so that a failure is run alone by its id, or by
`python benchmarks/hostile.py --only NAME`.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hostile import CLIPS, COMBINATIONS, PAIRS, SETS, WORLDS, Case, cases, sample
from hostile_checks import judged, made
from hostile_known import KNOWN, REASONS
from hostile_truth import Truth, linear, linear_on_logits, naive
from scipy import integrate, stats

SEED, COUNT = 20261116, 1500


def pytest_generate_tests(metafunc):
    if "case" not in metafunc.fixturenames:
        return
    whole = metafunc.config.getoption("whole", default=False)
    chosen = list(cases()) if whole else sample(COUNT, SEED)
    prefix = "" if whole else f"seed {SEED}: "
    metafunc.parametrize("case", chosen, ids=[f"{prefix}{case}" for case in chosen])


def test_a_hostile_case_is_as_true_as_its_numbers_allow(case):
    wrong = [finding for finding in judged(case) if not finding.error <= 1]
    if str(case) in KNOWN:
        assert wrong, f"{case} is no longer wrong: take it off KNOWN"
        return
    said = "; ".join(f"{kind} is off by {error:.3g} times what is allowed, {where}" for kind, error, where in wrong)
    assert not wrong, f"{case}: {said}"


def test_what_is_known_to_be_wrong_is_a_case_and_has_a_reason():
    assert KNOWN.keys() <= {str(case) for case in cases()}
    assert set(KNOWN.values()) == REASONS.keys()


# ---- the sample ------------------------------------------------------------------------------------------------------


def test_the_sample_has_every_pair_interpolator_set_world_and_clip():
    chosen = sample(COUNT, SEED)
    assert len({str(case) for case in chosen}) == COUNT
    for field, names in (
        ("pair", PAIRS),
        ("interpolator", {name for _, name in COMBINATIONS}),
        ("rows", SETS),
        ("world", WORLDS),
        ("clip", CLIPS),
    ):
        assert {getattr(case, field) for case in chosen} == set(names)


def test_a_seed_gives_the_same_sample_again():
    assert sample(50, 3) == sample(50, 3)
    assert sample(50, 3) != sample(50, 4)


# ---- the truth is true: against closed forms and scipy ---------------------------------------------------------------


def test_the_truth_of_linear_q_is_that_of_its_definition():
    u = np.array([-1.0, 0.5, 0.5, 2.0])
    law = linear(u, "linear, bounded")
    s = np.array([-2.0, -1.5, -1.0, -0.25, 0.5, 1.25, 2.0, 2.5, 3.0])
    np.testing.assert_allclose(law.F(0, s), [0, 0.1, 0.2, 0.3, 0.6, 0.7, 0.8, 0.9, 1.0], atol=1e-15)
    smooth = s != 0.5  # at a tie 1 - F is taken from the left
    np.testing.assert_allclose(law.S(0, s)[smooth], 1 - law.F(0, s)[smooth], atol=1e-15)


def test_the_truth_on_logits_is_linear_in_the_probability():
    u = np.log([0.2, 0.5, 0.9]) - np.log1p([-0.2, -0.5, -0.9])
    law, p = linear_on_logits(u), np.array([0.05, 0.2, 0.3, 0.7, 0.95, 1 - 1e-9])
    s = np.log(p) - np.log1p(-p)
    F = np.interp(p, [0, 0.2, 0.5, 0.9, 1], [0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_allclose(law.F(0, s), F, rtol=1e-12)
    np.testing.assert_allclose(law.S(0, s), 1 - F, rtol=1e-6)


def test_the_truth_of_naive_q_counts():
    law = naive(np.array([0.0, 1.0, 1.0, 3.0]))
    np.testing.assert_array_equal(law.F(0, np.array([-1.0, 0.0, 1.0, 2.9, 3.0])), [0, 0.25, 0.75, 0.75, 1.0])


@pytest.mark.parametrize("clip", ["as it is", "clipped inside"])
@pytest.mark.parametrize("pair", ["residual", "log", "cdf of student t", "ensemble of z and cdf"])
def test_the_integrals_of_the_truth_are_those_of_scipy(pair, clip):
    case = Case(pair, "linear", "n = 3", "plain", clip)
    true, label = Truth(case), 17.0
    mean, std, crps = true.integrals(0, np.array([label]), case.bounds())
    low, high = case.bounds() or (-np.inf, np.inf)
    ends = max(low, -3e3), min(high, 3e3)
    steps = np.geomspace(1e-2, 3e3, 60)  # into the tails
    cuts = np.concatenate([true.edges[0], [label, *ends], 20 - steps, 20 + steps])
    cuts = np.unique(np.clip(cuts, *ends))
    row = np.zeros(1, dtype=int)

    def F(t):
        return float(true.F(row, np.array([t]))[0]) if t < high else 1.0

    def integral(function):
        return sum(integrate.quad(function, a, b, epsabs=1e-9)[0] for a, b in pairwise(cuts))

    c = float(np.clip(20.0, *ends))
    first = integral(lambda t: (1 - F(t)) if t > c else -F(t))
    second = integral(lambda t: 2 * abs(t - c) * ((1 - F(t)) if t > c else F(t)))
    assert mean == pytest.approx(c + first, rel=1e-5)
    assert crps[0] == pytest.approx(integral(lambda t: (F(t) - (t >= label)) ** 2), rel=1e-6)
    assert std == pytest.approx(math.sqrt(second - first**2), rel=2e-3)  # a tail of t^-5 ends at 3,000 here


# ---- stories: what the cases found -----------------------------------------------------------------------------------


def law(name):
    return made(Case(*name.split("; ")))


def test_a_label_a_billion_sigma_out_is_there_in_the_calibrated_law():
    H = law("cdf of normal; naive; one outlier; plain; as it is")
    assert np.all(H.ppf(1.0) > 9e8)
    H = law("cdf of gaussian mixture; naive; one outlier; plain; as it is")
    assert np.all(H.ppf(1.0) > 9e8)
    assert np.all(np.isfinite(H.mean()))


def test_a_width_of_1e_150_is_a_width():
    tiny = law("interval; linear; n = 20; scale 1e-150; as it is")
    plain = law("interval; linear; n = 20; plain; as it is")
    np.testing.assert_allclose(tiny.ppf(0.9) / 1e-150, plain.ppf(0.9), rtol=1e-12)


def test_a_crps_that_is_infinite_is_said_to_be():
    assert np.all(np.isinf(law("log; linear; one outlier; plain; as it is").crps(20.0)))


@pytest.mark.parametrize("clip", ["as it is", "clipped inside"])
@pytest.mark.parametrize("pair", ["cdf of student t, df near 2", "cdf of log-normal", "ensemble of z and cdf"])
def test_a_few_atoms_are_summed_wherever_they_lie(pair, clip):
    case = Case(pair, "naive", "one outlier", "plain", clip)
    H, low, high = made(case), *(case.bounds() or (-np.inf, np.inf))
    atoms = np.clip(H.quantiles((np.arange(20) + 0.5) / 20), low, high)
    np.testing.assert_allclose(H.mean(), atoms.mean(axis=1), rtol=1e-12)
    np.testing.assert_allclose(H.std(), atoms.std(axis=1), rtol=1e-9)
    apart = np.abs(atoms[:, :, None] - atoms[:, None, :]).mean(axis=(1, 2))
    np.testing.assert_allclose(H.crps(17.0), np.abs(atoms - 17.0).mean(axis=1) - apart / 2, rtol=1e-9)


def test_quantiles_of_a_pool_far_out_are_off_by_a_few_roundings_in_float32():
    from calibrant import Laplace, Mixture, Normal

    def pool(dtype):
        numbers = (np.array([number], dtype) for number in (14.0, 1.25, 13.0, 1.75))
        loc, scale, loc2, scale2 = numbers
        return Mixture((Normal(loc, scale), Laplace(loc2, scale2)), (0.75, 0.25))

    s = np.array([[-1e9, -5e7, -5e5, 5e3, 5e4, 5e7, 1e9]], np.float32)
    found = pool(np.float32)._ppf_logit(s)
    np.testing.assert_allclose(found, pool(np.float64)._ppf_logit(s.astype(np.float64)), rtol=1e-6)


def test_the_density_of_a_normal_forecast_far_out_keeps_its_digits():
    from calibrant import Normal

    base = Normal([0.0], [1.0])
    slope = base._logit_and_log_slope(np.array([[1e3, 1e9]]))[1]
    np.testing.assert_allclose(slope, np.log([[1e3, 1e9]]), rtol=1e-6)
    np.testing.assert_allclose(base._ppf_logit(np.array([[-5e17]])), -1e9, rtol=1e-9)
    z = stats.norm.isf(1e-300)
    np.testing.assert_allclose(base._ppf_logit(np.array([[300 * math.log(10)]])), [[z]], rtol=1e-12)
