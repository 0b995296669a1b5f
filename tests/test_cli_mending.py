"""Rows without width, and bounds that cross: each is mended by itself, wherever in a file it stands."""

from __future__ import annotations

import os

import numpy as np
import pytest
from pyarrow import parquet
from test_cli_files import forecasts, refused, run, write

from calibrant import Calibrator, Normal, Quantiles
from calibrant.persistence import read


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("calibrant.cli.tables.BATCH", 50)
    monkeypatch.setattr("calibrant.cli.predict.IN_CACHE", 20)


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
    alone = write(tmp_path / "alone.parquet", {"lo": lower[350:351], "hi": upper[350:351]})
    bounds = {}
    for test in (whole, alone):
        out = tmp_path / "out.parquet"
        said = run("predict", test, "-m", model, "--interval", "0.9", "-o", out)
        bounds[test] = np.stack([column.to_numpy() for column in parquet.read_table(out).columns], axis=1)
        if test is whole:
            assert said.stderr.splitlines() == [
                f"warning: {whole}: 2 rows, the first is row 7, have bounds or quantiles that cross: they are sorted",
                f"warning: {whole}: 50 rows, the first is row 350, have zero width somewhere: they are given a"
                " millionth of the usual one",
            ]
    np.testing.assert_array_equal(bounds[whole][350], bounds[alone][0])
    assert np.all(bounds[whole][:, 0] < bounds[whole][:, 1])


@pytest.mark.parametrize("flags", [["--mean", "mu", "--std", "sigma"], ["--quantiles", "low:0.2,mu:0.7"]])
def test_fit_mends_as_the_library_does(tmp_path, flags):
    columns = {name: column.copy() for name, column in forecasts().items()}
    columns["sigma"][[3, 5]] = 0.0
    columns["low"] = columns["mu"] - columns["sigma"]
    cal, model = write(tmp_path / "cal.parquet", columns), tmp_path / "m.safetensors"
    said = run("fit", cal, "--target", "y", *flags, "-o", model)
    assert "2 rows, the first is row 3, have zero width" in said.stderr
    mu, values = columns["mu"], np.stack([columns["low"], columns["mu"]], axis=1)
    with pytest.warns(UserWarning, match="zero width"):
        prediction = Normal(mu, columns["sigma"]) if flags[0] == "--mean" else Quantiles([0.2, 0.7], values)
    wanted = Calibrator().fit(prediction, columns["y"]).q
    np.testing.assert_array_equal(read(model).calibrated.q.knots, wanted.knots)


def test_widths_that_are_all_zero_tell_no_scale(tmp_path):
    cal = write(tmp_path / "cal.csv", {"mu": [1.0, 1.0], "sigma": [0.0, 0.0], "y": [1.0, 2.0]})
    said = refused("fit", cal, "--target", "y", "--mean", "mu", "--std", "sigma", "-o", tmp_path / "m.safetensors")
    assert said.startswith(f"{cal}: 'sigma'")
    assert os.listdir(tmp_path) == [cal.name]
