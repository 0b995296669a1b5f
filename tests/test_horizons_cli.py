"""Forecasts in long tables on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from long_tables import forecasts
from typer.testing import CliRunner

import calibrant
from calibrant import (
    Calibrator,
    HorizonCalibrator,
)
from calibrant.cli.app import app
from calibrant.labels import Counts


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.few(1)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_command_line_writes_the_same_table_back(tmp_path, ending):
    frame = forecasts(np.random.default_rng(0), 40, series=("a", "b"))
    frame["ds"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["ds"], "D")
    frame["cutoff"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["cutoff"], "D")
    cal, out, model = tmp_path / f"cv.{ending}", tmp_path / f"out.{ending}", tmp_path / "m.safetensors"
    getattr(frame, f"to_{ending}")(cal, index=False)
    said = run("horizons", cal, "-o", model).output
    assert "12 horizons, 1 to 12" in said
    run("predict", cal, "-m", model, "-o", out)
    found = getattr(pd, f"read_{ending}")(out)
    assert list(found.columns) == list(frame.columns)
    direct = HorizonCalibrator().fit(frame).predict(frame)
    assert found["RW-hi-80"].to_numpy() == pytest.approx(direct["RW-hi-80"].to_numpy())
    assert "horizon" in run("evaluate", cal, "-m", model).output
    shown = json.loads(run("evaluate", cal, "-m", model, "--json", "--coverage", "0.8").stdout)
    assert 0.7 < shown["horizons"]["12"]["calibrated"]["coverage"] < 0.9
    run("report", cal, "-m", model, "-o", tmp_path / "report.html")
    for option in ("--groups", "--features", "--time"):
        said = run("report", cal, "-m", model, option, "unique_id", "-o", tmp_path / "other.html", code=2).output
        assert "a model of horizons is reported by horizon alone" in " ".join(said.replace("│", " ").split())
    assert "1 to 12 steps ahead" in " ".join(run("inspect", model).output.split())


def test_the_command_line_draws_with_the_seed_0(tmp_path):
    frame = forecasts(np.random.default_rng(0), 20)
    numbers = frame.columns.difference(["unique_id", "ds", "cutoff"])
    frame[numbers] = np.round(20 + frame[numbers]).clip(lower=0)
    frame.to_csv(tmp_path / "cv.csv", index=False)
    run("horizons", tmp_path / "cv.csv", "--labels", "counts", "-o", tmp_path / "m.safetensors")
    calibrator = HorizonCalibrator(Calibrator(labels=Counts()))
    first, other = (calibrator.fit(frame, rng=np.random.default_rng(seed)) for seed in (0, 1))
    found = calibrant.load(tmp_path / "m.safetensors")(frame).sf(25.0)
    np.testing.assert_array_equal(found, first(frame).sf(25.0))
    assert (found != other(frame).sf(25.0)).any()


def test_the_command_line_says_in_one_sentence_what_is_wrong(tmp_path):
    frame = forecasts(np.random.default_rng(0), 10)
    frame.to_csv(tmp_path / "cv.csv", index=False)
    said = run("horizons", tmp_path / "cv.csv", "--forecast", "ETS", "-o", tmp_path / "m.safetensors", code=1).output
    assert "there is no forecast of 'ETS'" in said.replace("\n", " ")
    run("horizons", tmp_path / "cv.csv", "-o", tmp_path / "m.safetensors")
    asked = run(
        "predict", tmp_path / "cv.csv", "-m", tmp_path / "m.safetensors", "--interval", 0.9, "-o", "o.csv", code=2
    )
    assert "calibrated by horizon" in asked.output
    other = run(
        "monitor", tmp_path / "cv.csv", "-m", tmp_path / "m.safetensors", "--target", "y", "--point", "RW", code=1
    )
    assert "calibrated by horizon" in other.output


def test_the_command_line_says_what_it_wrote_and_writes_over_nothing_that_it_reads(tmp_path):
    frame = forecasts(np.random.default_rng(0), 20, steps=2)
    cal, out, model, page = (tmp_path / name for name in ("cv.csv", "out.csv", "m.safetensors", "r.html"))
    frame.to_csv(cal, index=False)
    said = run("horizons", cal, "-o", model).output
    assert "horizons, 1 to 2." in said
    assert "Run calibrant inspect to see the assumptions." in said
    assert said.endswith(f"Wrote {model}.\n")
    said = run("predict", cal, "-m", model, "-o", out).output
    assert said.startswith(f"Wrote {len(frame):,} rows to {out}, with other numbers in RW")
    assert len(pd.read_csv(out)) == len(frame)
    said = run("report", cal, "-m", model, "-o", page).output
    assert f"{len(frame)} rows" in said
    assert said.endswith(f"Wrote {page}: open it in a browser.\n")
    assert page.stat().st_size > 10_000
    before = [path.read_bytes() for path in (cal, model)]
    for over, *words in (
        (cal, "horizons", cal),
        *((over, command, cal, "-m", model) for command in ("predict", "report") for over in (cal, model)),
    ):
        assert f"{over} is read, so it cannot be written over" in run(*words, "-o", over, code=2).output
    assert [path.read_bytes() for path in (cal, model)] == before
