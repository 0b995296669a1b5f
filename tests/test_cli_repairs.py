"""Rows without width, and bounds that cross: each is mended by itself, wherever in a file it stands."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from commands import forecasts, run, write
from pyarrow import parquet

from calibrant import Calibrator, Normal, Quantiles
from calibrant.batches.repairs import Repairs, RowCount
from calibrant.batches.rows import Batch
from calibrant.files import read


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("calibrant.cli.tables.BATCH", 50)
    monkeypatch.setattr("calibrant.batches.predicting.IN_CACHE", 20)


def test_zero_widths_and_crossings_are_mended_row_by_row_and_counted_once(tmp_path):
    rng = np.random.default_rng(0)
    centre, width = rng.normal(size=400), rng.uniform(1, 2, 400)
    columns = {"lo": centre - width, "hi": centre + width, "y": centre + rng.normal(size=400)}
    cal, model = write(tmp_path / "cal.parquet", columns), tmp_path / "m.safetensors"
    run("fit", cal, "--target", "y", "--lower", "lo", "--upper", "hi", "-o", model)
    lower, upper = columns["lo"].copy(), columns["hi"].copy()
    lower[[7, 300]], upper[[7, 300]] = upper[[7, 300]], lower[[7, 300]]
    lower[350:] = upper[350:]  # the last batch has no width at all
    whole = write(tmp_path / "whole.parquet", {"lo": lower, "hi": upper})
    raw = write(tmp_path / "alone.parquet", {"lo": lower[350:351], "hi": upper[350:351]})
    bounds = {}
    for test in (whole, raw):
        out = tmp_path / "out.parquet"
        said = run("predict", test, "-m", model, "--interval", "0.9", "-o", out)
        bounds[test] = np.stack([column.to_numpy() for column in parquet.read_table(out).columns], axis=1)
        if test is whole:
            assert said.stderr.splitlines() == [
                f"warning: {whole}: 2 rows, the first is row 7, have bounds or quantiles that cross: they are sorted",
                f"warning: {whole}: 50 rows, the first is row 350, have no width of their own: they are given the floor"
                " that was learned when fitting",
            ]
    np.testing.assert_array_equal(bounds[whole][350], bounds[raw][0])
    assert np.all(bounds[whole][:, 0] < bounds[whole][:, 1])


@pytest.mark.filterwarnings("ignore:Normal.scale has zero width", "ignore:.*smaller than the median")
@pytest.mark.parametrize("flags", [["--mean", "mu", "--std", "sigma"], ["--quantiles", "low:0.2,mu:0.7"]])
def test_fit_mends_as_the_library_does(tmp_path, flags):
    columns = {name: column.copy() for name, column in forecasts().items()}
    columns["sigma"][[3, 5]] = 0.0
    columns["low"] = columns["mu"] - columns["sigma"]
    cal, model = write(tmp_path / "cal.parquet", columns), tmp_path / "m.safetensors"
    said = run("fit", cal, "--target", "y", *flags, "-o", model)
    ruled, mended = said.stderr.splitlines()
    assert "2 of 400 calibration rows, the first is row 3, have a scale" in ruled
    assert mended == (
        f"warning: {cal}: 2 rows, the first is row 3, have no width of their own: they are given the floor that was"
        " learned when fitting"
    )
    assert "but only approximately: 2 calibration rows had no width of their own" in said.stdout
    mu, values = columns["mu"], np.stack([columns["low"], columns["mu"]], axis=1)
    prediction = Normal(mu, columns["sigma"]) if flags[0] == "--mean" else Quantiles([0.2, 0.7], values)
    with pytest.warns(UserWarning, match="no width of their own"):
        outputs = Calibrator().fit(prediction, columns["y"])
    found = read(model).calibrated
    np.testing.assert_array_equal(found.q.knots, outputs.q.knots)
    assert found.score == outputs.score
    assert found.guarantee == outputs.guarantee


def test_widths_that_are_all_zero_leave_the_residuals(tmp_path):
    cal = write(tmp_path / "cal.csv", {"mu": [1.0, 1.0, 2.0], "sigma": [0.0, 0.0, 0.0], "y": [1.5, 2.0, 2.1]})
    model, out = tmp_path / "m.safetensors", tmp_path / "out.parquet"
    said = run("fit", cal, "--target", "y", "--mean", "mu", "--std", "sigma", "-o", model)
    assert "3 rows, the first is row 0, have no width of their own" in said.stderr
    run("predict", cal, "-m", model, "--quantiles", "0.5", "-o", out)
    assert parquet.read_table(out)["q0.5"].to_pylist() == pytest.approx([1.5, 1.5, 2.5])


def test_a_tie_is_no_crossing_wherever_in_the_row_it_is():
    rows = np.array([[1.0, 2.0, 2.0, 3.0], [1.0, 1.0, 2.0, 2.0], [1.0, 2.0, 4.0, 3.0], [2.0, 2.0, 2.0, 2.0]])
    repairs = Repairs()
    mended = repairs.ordered(rows, Batch("file.csv", 10, pa.record_batch({"q": range(4)})))
    np.testing.assert_array_equal(mended, np.sort(rows, axis=1))
    assert (repairs.crossing.count, repairs.crossing.first) == (1, 12)
    assert (repairs.flat.count, repairs.flat.first) == (1, 13)


def flat_counts(path, rows=60):
    rng = np.random.default_rng(1)
    draws = rng.poisson(2.0, (rows, 5)).astype(float)
    draws[[4, 9]] = 2.0  # all draws equal
    columns = {f"s{k}": draws[:, k] for k in range(5)}
    return write(path, {**columns, "calls": rng.poisson(2.0, rows).astype(float)})


@pytest.mark.parametrize("more", [(), ("--sample", "1000")])
def test_counts_spread_equal_draws_so_that_no_floor_is_spoken_of(tmp_path, more):
    cal, model, out = flat_counts(tmp_path / "cal.csv"), tmp_path / "m.safetensors", tmp_path / "out.csv"
    columns = "--target", "calls", "--samples", "s[0-9]*", "-o", model, *more
    assert "2 rows, the first is row 4, have no width" in run("fit", cal, *columns, "--labels", "real").stderr
    assert "no width" not in run("fit", cal, *columns, "--labels", "counts").stderr
    assert "no width" not in run("predict", cal, "-m", model, "--quantiles", "0.5", "-o", out).stderr
    assert "no width" not in run("evaluate", cal, "-m", model).stderr
    assert "no width" not in run("evaluate", cal, *columns[:4], "--labels", "counts").stderr


def test_without_a_model_no_floor_was_learned(tmp_path):
    cal = flat_counts(tmp_path / "cal.csv")
    said = run("evaluate", cal, "--target", "calls", "--quantiles", "s0:0.5").stderr
    assert "no width" not in said
    columns = {"low": [0.0, 1.0, 2.0], "high": [1.0, 1.0, 4.0], "y": [0.5, 1.5, 2.5]}
    file = write(tmp_path / "three.csv", columns)
    said = run("evaluate", file, "--target", "y", "--quantiles", "low:0.1,high:0.9").stderr
    assert said == f"warning: {file}: 1 row, row 1, has no width of its own: it is evaluated as a single value\n"


@pytest.mark.parametrize(
    ("what", "one"),
    [
        ("have bounds or quantiles that cross: they are sorted", "has bounds or quantiles that cross: it is sorted"),
        ("have no label: they have a forecast and are no steps", "has no label: it has a forecast and is no step"),
        ("have no prediction: what is written for them is NaN", "has no prediction: what is written for it is NaN"),
    ],
)
def test_one_row_is_spoken_of_as_one(what, one):
    counter, batch = RowCount(), Batch("f.csv", 10, pa.record_batch({"x": [1.0, 2.0]}))
    counter.add(np.array([False, True]), batch)
    assert counter.sentence("f.csv", what) == f"f.csv: 1 row, row 11, {one}"
    counter.add(np.array([True, False]), batch)
    assert counter.sentence("f.csv", what) == f"f.csv: 2 rows, the first is row 11, {what}"
