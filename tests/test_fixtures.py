"""Files of each release load, and answer as that release did."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from catalogue import CALIBRATION, HERE, PREDICTIONS, Y
from fixtures.ways import WAYS, answers
from reference.tolerances import TOLERANCES

import calibrant
from calibrant import CrossCalibrated

FIXTURES = Path(__file__).parent / "fixtures"
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


def test_every_file_of_a_release_has_its_answers():
    changelog = (FIXTURES.parents[1] / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## (\d+\.\d+)\.0 \((?!unreleased)", changelog, re.MULTILINE)
    assert sorted(folder.name for folder in RELEASES) == sorted({*released} - {"0.1"})  # whose files are not read
    found = {f"{path.parent.name}/{path.name}" for folder in RELEASES for path in folder.glob("*.safetensors")}
    assert found == {*RELEASED, *WAYS_OF_OLD}


@pytest.mark.parametrize("name", WAYS_OF_OLD)
def test_a_file_of_a_release_answers_as_it_did_whatever_the_way(name):
    said = WAYS_OF_OLD[name]
    found = answers(WAYS[said["way"]][1](calibrant.load(FIXTURES / name)))
    for what, values in found.items():
        np.testing.assert_allclose(values, said[what], rtol=1e-9, err_msg=what)


@pytest.mark.parametrize("name", RELEASED)
def test_a_file_answers_as_it_did(name):
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
    promised = TOLERANCES["curved"].integrals * np.min(said["std"])
    for what, values in found.items():
        rtol = 1e-6 if "naf" in name or "folds" in name else 1e-9
        atol = promised if what in ("mean", "std", "crps") else 0.0
        np.testing.assert_allclose(np.ravel(values), np.array(said[what]), rtol=rtol, atol=atol, err_msg=what)
