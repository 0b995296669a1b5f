"""Files of an earlier version load, say once what they lack, and answer as that version did."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from catalogue import CALIBRATION, HERE, PREDICTIONS, Y
from fixtures.ways import WAYS, answers
from typer.testing import CliRunner

import calibrant
from calibrant import CrossCalibrated
from calibrant.cli.app import app
from calibrant.persistence import read

FIXTURES = Path(__file__).parent / "fixtures"
FOLDER = FIXTURES / "round1"
ANSWERS = json.loads((FOLDER / "answers.json").read_text(encoding="utf-8"))
RELEASES = [folder for folder in sorted(FIXTURES.iterdir()) if (folder / "ways.json").exists()]
RELEASED = {
    f"{folder.name}/{name}": said
    for folder in RELEASES
    for name, said in json.loads((folder / "answers.json").read_text(encoding="utf-8")).items()
}
WAYS_OF_OLD = {
    f"{folder.name}/{name}": said
    for folder in RELEASES
    for name, said in json.loads((folder / "ways.json").read_text(encoding="utf-8")).items()
}
LEVELS = [0.05, 0.5, 0.9]
CLOSE = {"cdf": 1e-9, "quantiles": 1e-9, "mean": 1e-6, "std": 1e-6, "crps": 1e-6}


def silently(name):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*does not say what kind of prediction")
        return calibrant.load(FOLDER / name)


def test_every_file_has_its_answers():
    assert {path.name for path in FOLDER.glob("*.safetensors")} == set(ANSWERS)


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_that_lacks_the_form_warns_once_when_it_is_read(name):
    for reading in (calibrant.load, read):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            reading(FOLDER / name)
        (warning,) = caught
        assert str(warning.message) == (
            f"{FOLDER / name} does not say what kind of prediction it was calibrated on, so this cannot be checked"
        )
        assert warning.filename == __file__


def test_every_file_of_a_release_has_its_answers():
    changelog = (FIXTURES.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+)\.0 \((?!unreleased)", changelog, re.MULTILINE)
    assert sorted(folder.name for folder in RELEASES) == sorted(released)
    found = {f"{path.parent.name}/{path.name}" for folder in RELEASES for path in folder.glob("*.safetensors")}
    assert found == {*RELEASED, *WAYS_OF_OLD}


@pytest.mark.parametrize("name", WAYS_OF_OLD)
def test_a_file_of_a_release_answers_as_it_did_whatever_the_way(name):
    said = WAYS_OF_OLD[name]
    found = answers(WAYS[said["way"]][1](calibrant.load(FIXTURES / name)))
    for what, values in found.items():
        np.testing.assert_allclose(values, said[what], rtol=1e-9, err_msg=what)


@pytest.mark.parametrize("name", [*ANSWERS, *RELEASED])
def test_a_file_answers_as_it_did(name):
    if name in ANSWERS:
        said, calibrated = ANSWERS[name], silently(name)
    else:
        said, calibrated = RELEASED[name], calibrant.load(FIXTURES / name)
    prediction = PREDICTIONS[said["prediction"]](HERE)[CALIBRATION:]
    given = [prediction] * len(calibrated.members) if isinstance(calibrated, CrossCalibrated) else prediction
    H = calibrated(given, rng=np.random.default_rng(3))
    y = Y[CALIBRATION:]
    found = {
        "cdf": H.cdf(y),
        "quantiles": H.quantiles(LEVELS),
        "mean": H.mean(),
        "std": H.std(),
        "crps": H.crps(y),
    }
    smooth = "naf" in name or name == "folds.safetensors"
    for what, values in found.items():
        # the mixtures of that version were off by a few 1e-6
        least = 1e-5 if (name, what) == ("folds.safetensors", "crps") else 1e-6 if smooth else 0.0
        rtol = max(CLOSE[what], least)
        np.testing.assert_allclose(np.ravel(values), np.array(said[what], dtype=float), rtol=rtol, err_msg=what)


def test_a_file_saved_again_by_this_version_still_does_not_say_it(tmp_path):
    again = tmp_path / "again.safetensors"
    silently("quantile_linear.safetensors").save(again)
    with pytest.warns(UserWarning, match="does not say what kind of prediction"):
        assert calibrant.load(again).form is None


def test_the_commands_say_it_as_one_line():
    done = CliRunner().invoke(app, ["inspect", str(FOLDER / "quantile_linear.safetensors")])
    assert done.exit_code == 0
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["warning"]
