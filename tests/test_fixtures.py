"""Files of each release load, and answer as that release did."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from catalogue import CALIBRATION, HERE, PREDICTIONS, Y
from fixtures.ways import FRESH, GROUP, NOISE, NORMALS, RATIO, WAYS, F, answers
from reference.tolerances import TOLERANCES

import calibrant
from calibrant import Calibrator, CrossCalibrated
from calibrant.interpolators import NAF, Apart, BoundedTails, ByGroup, InfiniteTails, Linear, Naive, Random

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
    promised = TOLERANCES["curved"].integrals * np.min(np.array(said["std"], dtype=float))
    for what, values in found.items():
        rtol = 1e-6 if "naf" in name or "folds" in name else 1e-9
        atol = promised if what in ("mean", "std", "crps") and np.isfinite(promised) else 0.0
        np.testing.assert_allclose(
            np.ravel(values), np.array(said[what], dtype=float), rtol=rtol, atol=atol, err_msg=what
        )


INTERPOLATORS = (Linear(), Naive(), NAF(), Random(), Linear(BoundedTails()), Linear(InfiniteTails()))
BY = {"by": [(group, 1) for group in GROUP]}, {"by": [("small", 1), ("large", 1), ("small", 1)]}
WEIGHTS = {"weights": RATIO}, {"weights": [0.5, 1.0, 2.0]}
MORE = [(each, *BY) for each in (*INTERPOLATORS, ByGroup(unseen="pooled"), Apart(NAF()))]
MORE += [(each, *WEIGHTS) for each in INTERPOLATORS]


def comes_back(model, ask, path):
    model.save(path)
    again = calibrant.load(path)
    assert answers(ask(again)) == answers(ask(model))
    assert str(getattr(again, "guarantee", "")) == str(getattr(model, "guarantee", ""))


@pytest.mark.parametrize("way", WAYS)
def test_whatever_the_way_what_is_loaded_is_what_was_saved(way, tmp_path):
    made, ask = WAYS[way]
    comes_back(made(), ask, tmp_path / "model.safetensors")


@pytest.mark.parametrize(("interpolator", "known", "asked"), MORE)
def test_every_interpolator_comes_back_with_groups_and_weights(interpolator, known, asked, tmp_path):
    model = Calibrator(None, interpolator).fit(NORMALS, F + NOISE, **known)
    comes_back(model, lambda model: model(FRESH, seed=1, **asked), tmp_path / "model.safetensors")
