"""Several models in one report."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Calibrator, Normal, Point, Samples, report
from calibrant.metrics.rounding import shown
from calibrant.reports.models import distributions_by_name, entries
from calibrant.reports.scored_forecast import scored_forecast

RNG = np.random.default_rng(1)
F, NOISE = RNG.normal(size=(2, 1500))
Y = F + NOISE
MODELS = {"rough": Normal(np.zeros(1500), 2**0.5), "sharp": Normal(F, 1.0), "sure": Normal(F, 0.4)}


def league(models, **guarantees):
    distributions = distributions_by_name(models, Y, None)
    return entries(scored_forecast(next(iter(distributions.values())), Y, 0.9), distributions, Y, 0.9, guarantees)


def test_the_lowest_crps_comes_first_and_differences_are_paired():
    found = league(MODELS)
    assert [entry.name for entry in found] == sorted(MODELS, key=lambda name: MODELS[name].crps(Y).mean())
    sharp = next(entry for entry in found if entry.name == "sharp")
    difference = MODELS["sharp"].crps(Y) - MODELS["rough"].crps(Y)
    assert sharp.crps.change.value == pytest.approx(difference.mean())
    error = difference.std() / 1500**0.5
    assert sharp.crps.change.low == pytest.approx(difference.mean() - 1.96 * error, abs=0.15 * error)
    assert sharp.crps.change.high == pytest.approx(difference.mean() + 1.96 * error, abs=0.15 * error)
    assert next(entry for entry in found if entry.name == "rough").crps.change is None
    assert {entry.name: entry.headline.kind for entry in found} == {"rough": "good", "sharp": "good", "sure": "bad"}


def test_the_page_is_on_the_first_and_says_which_is_best():
    page = report(MODELS, Y, rows=[0])
    (said,) = [each for each in page.verdict if each.text.startswith("Of 3 models")]
    assert said.kind == "warn"
    assert said.text.startswith("Of 3 models, sharp has the lowest CRPS, ")
    assert said.text.endswith("This page is on rough.")
    change = league(MODELS)[0].crps.change
    gap = f"{shown(change.value)} ({shown(change.low)} to {shown(change.high)})"
    assert f", a difference of {gap} from rough. This" in said.text
    assert "Forecasts of y by rough" in page.html
    best = {name: MODELS[name] for name in ("sharp", "rough", "sure")}
    assert any(
        s.text == "Of 3 models, sharp (the subject of this page) has the lowest CRPS."
        for s in report(best, Y, rows=[0]).verdict
    )
    twins = report({"a": MODELS["sharp"], "b": Normal(F, 1.001)}, Y, rows=[0])
    assert any("1,500 rows cannot tell" in each.text for each in twins.verdict)
    alone = report({"sharp": MODELS["sharp"]}, Y, rows=[0])
    assert alone.verdict == report(MODELS["sharp"], Y, rows=[0]).verdict


def test_each_model_has_its_own_guarantee():
    calibrated = Calibrator().fit(Normal(F, 0.4), Y)
    models = {"sure": MODELS["sure"], "mended": calibrated(MODELS["sure"])}
    page = report(models, Y, guarantee={"mended": calibrated.guarantee}, rows=[0])
    assert "What is guaranteed" not in page.html  # the first has none
    assert "What is guaranteed" in report(models, Y, guarantee=calibrated.guarantee, rows=[0]).html


def test_bad_models_are_named():
    with pytest.raises(TypeError, match=r"H\['b'\] must be a distribution for each row, got Point\(n=1500\)"):
        report({"a": MODELS["sharp"], "b": Point(F)}, Y)
    with pytest.raises(ValueError, match=r"H\['b'\] must have one row for each of the 1500 rows of y, got 10"):
        report({"a": MODELS["sharp"], "b": Samples(np.ones((10, 2)))}, Y)
    with pytest.raises(ValueError, match="H must name 1 to 20 models, got 0"):
        report({}, Y)
    with pytest.raises(TypeError, match="guarantee must be that of what was calibrated"):
        report(MODELS, Y, guarantee={"rough": "good"})
