"""What calibrates is what predicts: kind, levels, draws and members are those of the fit, or an error names both."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import torch
from commands import refused, run, write
from forged import small, tampered

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    Interval,
    Laplace,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
)
from calibrant.files import FileError
from calibrant.forms import Form
from calibrant.intervals import CQR, ConformalInterval
from calibrant.scores import ZScore

RNG = np.random.default_rng(5)
LOC, SCALE = RNG.normal(size=300), RNG.uniform(0.5, 2, 300)
Y = LOC + SCALE * RNG.normal(size=300)
DRAWS = LOC[:, None] + SCALE[:, None] * RNG.normal(size=(300, 100))


def quantiles(levels, dtype=np.float64):
    spread = scipy.stats.norm.ppf(np.asarray(levels, np.float64))
    return Quantiles(np.asarray(levels, dtype), (LOC[:, None] + SCALE[:, None] * spread).astype(dtype))


NORMAL, INTERVAL, POINT = Normal(LOC, SCALE), Interval(LOC - SCALE, LOC + SCALE), Point(LOC)
EXTREMES = quantiles([0.1, 0.9])

POINTS = [POINT] * 3
OTHERS = {
    "quantiles at levels 0.1, 0.5, 0.9, got quantiles at levels 0.1, 0.9": (quantiles([0.1, 0.5, 0.9]), EXTREMES),
    "quantiles at level 0.5, got quantiles at level 0.4": (quantiles([0.5]), quantiles([0.4])),
    "quantiles at 99 levels 0.01, 0.02, ..., 0.99, got quantiles at 19 levels 0.05, 0.1, ..., 0.95": (
        quantiles(np.arange(1, 100) / 100),
        quantiles(np.arange(1, 20) / 20),
    ),
    "samples of 100 draws a row, got samples of 10 draws a row": (Samples(DRAWS), Samples(DRAWS[:, :10])),
    "an ensemble of 1 (points), got an ensemble of 3 (points; points; points)": (Ensemble([POINT]), Ensemble(POINTS)),
    "an ensemble of 2 (distributions; intervals), got an ensemble of 2 (intervals; distributions)": (
        Ensemble([NORMAL, INTERVAL]),
        Ensemble([INTERVAL, NORMAL]),
    ),
    "points, got intervals": (POINT, INTERVAL),
}


@pytest.mark.parametrize("said", OTHERS)
def test_another_form_is_refused_by_a_sentence_that_names_both_also_from_a_file(said, tmp_path):
    first, other = OTHERS[said]
    calibrated = Calibrator().fit(first, Y)
    calibrated.save(tmp_path / "model.safetensors")
    again = calibrant.load(tmp_path / "model.safetensors")
    assert again.form == calibrated.form == first.form()
    kind = ValueError if type(first) is type(other) else TypeError
    for each in (calibrated, again):
        each(first)
        with pytest.raises(kind) as problem:
            each(other)
        assert str(problem.value) == f"calibrated on {said}: give it the kind of prediction it was calibrated on"


def test_all_distributions_have_one_form():
    calibrated = Calibrator(ZScore()).fit(NORMAL, Y)
    for distribution in (
        StudentT(5.0, LOC, SCALE),
        Laplace(LOC, SCALE),
        NORMAL.clip(-3, 3),
        scipy.stats.norm(LOC, SCALE),
    ):
        assert calibrated(distribution).shape == (300,)
    assert Normal(0.0, 1.0).form() == NORMAL[2].form() == NORMAL.form()


def test_a_bare_array_is_a_point():
    assert Calibrator().fit(LOC, Y)(Point(LOC[:3])).shape == (3,)
    assert Calibrator().fit(POINT, Y)(list(LOC[:3])).shape == (3,)


def test_levels_in_single_precision_are_the_same_levels():
    thirds = [1 / 3, 2 / 3]
    for levels in (thirds, [0.1, 0.5, 0.9], np.arange(1, 100) / 100):
        double, single = quantiles(levels), quantiles(levels, np.float32)
        tensor = Quantiles(torch.asarray(single.levels), torch.asarray(single.values))
        Calibrator().fit(double, Y)(single)
        Calibrator().fit(double, Y)(tensor)
        Calibrator().fit(single, Y.astype(np.float32))(double)
        assert str(single.form()) == str(double.form())


def test_levels_are_compared_to_six_digits():
    calibrated = Calibrator().fit(quantiles([0.1, 0.7]), Y)
    calibrated(quantiles([0.1 + 1e-7, 0.7]))
    with pytest.raises(ValueError, match=r"levels 0\.1, 0\.7, got quantiles at levels 0\.10001, 0\.7:"):
        calibrated(quantiles([0.1 + 1e-5, 0.7]))


def test_weights_and_rows_are_no_part_of_the_form():
    calibrated = Calibrator().fit(Ensemble([POINT, POINT], weights=[1, 2]), Y)
    assert calibrated(Ensemble([POINT[:7], POINT[:7]])).shape == (7,)


def test_conformal_intervals_check_it_too():
    fitted = ConformalInterval(CQR(), 0.9).fit(quantiles([0.1, 0.9]), Y)
    fitted(quantiles([0.1, 0.9])[:5])
    with pytest.raises(ValueError, match=r"on quantiles at levels 0\.1, 0\.9, got quantiles at levels 0\.25, 0\.75: "):
        fitted(quantiles([0.25, 0.75]))


def test_folds_check_it_through_their_members():
    folds = CrossCalibrated(tuple(Calibrator().fit(quantiles([0.1, 0.9])[k::2], Y[k::2]) for k in range(2)))
    with pytest.raises(ValueError, match=r"calibrated on quantiles at levels 0\.1, 0\.9, got"):
        folds([quantiles([0.1, 0.9]), quantiles([0.2, 0.9])])


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"kind": ""}, "Form.kind must be a name"),
        ({"kind": 3}, "Form.kind must be a name"),
        ({"kind": "quantiles", "levels": (0.5, 0.5)}, "Form.levels must increase strictly inside"),
        ({"kind": "quantiles", "levels": (0.0, 0.5)}, "Form.levels must increase strictly inside"),
        ({"kind": "quantiles", "levels": (float("nan"),)}, "Form.levels must increase strictly inside"),
        ({"kind": "samples", "draws": 0}, "Form.draws must be a count"),
        ({"kind": "an ensemble", "members": ("points",)}, "Form.members must be forms"),
    ],
)
def test_a_form_is_checked_where_it_is_made(fields, said):
    with pytest.raises((TypeError, ValueError), match=said):
        Form(**fields)


FIELDS = {"kind": "points", "levels": None, "draws": None, "members": []}


@pytest.mark.parametrize(
    "form",
    [
        "points",
        {"class": "Form", "fields": {"kind": "points", "levels": None, "draws": None}},
        {"class": "Form", "fields": {**FIELDS, "kind": "a\nb"}},
        {"class": "Form", "fields": {**FIELDS, "kind": "quantiles", "levels": [0.5, 0.5]}},
        {"class": "Form", "fields": {**FIELDS, "kind": "samples", "draws": 1.5}},
        {"class": "Form", "fields": {**FIELDS, "kind": "an ensemble", "members": ["points"]}},
        {"class": "Linear", "fields": {"tails": {"class": "BoundedTails", "fields": {}}}},
    ],
)
def test_a_forged_form_is_refused(form, tmp_path):
    path = tmp_path / "model.safetensors"
    small().save(path)
    with tampered(path) as (header, _):
        header["root"]["fields"]["form"] = form
    with pytest.raises(FileError, match=r"cannot load .*form"):
        calibrant.load(path)


# ---- the command line ----------------------------------------------------------------------------------------------


def test_the_commands_say_the_same_sentence(tmp_path):
    columns = {f"q{k}": values for k, values in zip("abc", quantiles([0.1, 0.5, 0.9]).values.T, strict=True)}
    model, out = tmp_path / "q.safetensors", tmp_path / "out.csv"
    rows = write(tmp_path / "rows.parquet", {**columns, "y": Y})
    run("fit", rows, "--target", "y", "--quantiles", "qa:0.1,qb:0.5,qc:0.9", "-o", model)
    said = "calibrated on quantiles at levels 0.1, 0.5, 0.9, got quantiles at levels 0.25, 0.5, 0.75"
    other = "qa:0.25,qb:0.5,qc:0.75"
    for command in (
        ["predict", rows, "--quantile-columns", other, "--interval", "0.9", "-o", out],
        ["evaluate", rows, "--quantiles", other],
        ["report", rows, "--quantiles", other, "-o", out],
    ):
        found = refused(*command, "--model", model)
        assert found == f"{rows}: {said}: give it the kind of prediction it was calibrated on"
        assert not out.exists()
