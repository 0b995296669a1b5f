"""Counts on the command line: what the flags say of labels is what the forecasts are judged by."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_cli import plain, run, write

from calibrant import Point, evaluate, load
from calibrant.labels import Counts
from calibrant.predictions import Quantiles

LEVELS = {"q05": 0.05, "q25": 0.25, "q50": 0.5, "q75": 0.75, "q95": 0.95}
FLAG = ",".join(f"{name}:{level}" for name, level in LEVELS.items())


def bikes(n=300, seed=0):
    """Rentals, their rate, and quantiles of them that a model of real numbers gave."""
    rng = np.random.default_rng(seed)
    rate = rng.uniform(0.5, 9.0, n)
    draws = rng.gamma(2.0, rate[:, None] / 2, (n, 200))
    quantiles = np.quantile(draws, list(LEVELS.values()), axis=1)
    rentals = rng.poisson(rng.gamma(2.0, rate / 2)).astype(float)
    return {"rate": rate, "rentals": rentals, **dict(zip(LEVELS, quantiles, strict=True))}


@pytest.fixture
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("bad", [-3.0, 2.5])
@pytest.mark.parametrize("command", [["evaluate"], ["report", "-o", "r.html"], ["fit", "-o", "m.safetensors"]])
def test_a_rate_means_counts_and_a_label_that_is_none_is_named(inside, command, bad):
    table = bikes()
    table["rentals"][5] = bad
    write(inside / "neg.csv", table)
    said = plain(run(*command, "neg.csv", "--target", "rentals", "--rate", "rate", code=1))
    assert said == (
        f"error: neg.csv: rentals is {bad:g} in row 5 (counting from 0), the only such row: --labels counts takes"
        " 0, 1, 2, ..."
    )
    table["rentals"][[7, 9]] = bad
    write(inside / "neg.csv", table)
    said = plain(run(*command, "neg.csv", "--target", "rentals", "--rate", "rate", code=1))
    assert f"rentals is {bad:g} in row 5 (counting from 0), 3 rows in all: --labels counts" in said


def test_rates_are_calibrated_as_counts(inside):
    write(inside / "cal.csv", bikes())
    for model in ("m", "again"):
        run("fit", "cal.csv", "--target", "rentals", "--rate", "rate", "-o", model)
    assert load("m").labels == Counts()
    assert load("m").q.knots.tolist() == load("again").q.knots.tolist()  # the draws are the same
    judged = " ".join(run("evaluate", "cal.csv", "-m", "m", "--target", "rentals").output.split())
    assert "NLL of the counts" in judged
    assert "of at least 90%, less at most" in judged
    run("predict", "cal.csv", "-m", "m", "--interval", "0.9", "-o", "out.csv")
    bounds = np.loadtxt("out.csv", delimiter=",", skiprows=1)
    assert np.array_equal(bounds, np.round(bounds))


def test_rates_of_labels_that_are_real_are_points(inside):
    table = bikes()
    write(inside / "test.csv", table)
    asked = ["evaluate", "test.csv", "--target", "rentals", "--rate", "rate", "--labels", "real", "--json"]
    found = json.loads(run(*asked).stdout)["base"]
    assert found["crps"] == pytest.approx(evaluate(Point(table["rate"]), table["rentals"]).crps)
    assert found["nll"] is None


def test_a_rate_may_be_a_share(inside):
    rng = np.random.default_rng(0)
    share = rng.uniform(0.2, 0.8, 300)
    write(inside / "cal.csv", {"share": share, "y": np.clip(share + rng.normal(0, 0.05, 300), 0.01, 0.99)})
    asked = ["fit", "cal.csv", "--target", "y", "--labels", "logit", "-o"]
    run(*asked, "rate.safetensors", "--rate", "share")
    run(*asked, "point.safetensors", "--point", "share")
    rate, point = load("rate.safetensors"), load("point.safetensors")
    np.testing.assert_array_equal(rate(Point([0.5])).interval(0.9), point(Point([0.5])).interval(0.9))


def test_the_base_is_judged_by_the_labels_of_the_model(inside):
    write(inside / "cal.csv", bikes())
    table = bikes(seed=1)
    write(inside / "test.csv", table)
    fit = ["fit", "cal.csv", "--target", "rentals", "--quantiles", FLAG, "--labels", "counts"]
    run(*fit, "-o", "q.safetensors")
    found = json.loads(run("evaluate", "test.csv", "-m", "q.safetensors", "--json").stdout)["base"]
    values = np.stack([table[name] for name in LEVELS], axis=1)
    wanted = evaluate(Quantiles(list(LEVELS.values()), values), table["rentals"], labels=Counts())
    assert {name: found[name] for name in wanted.to_dict() if name != "n"} == pytest.approx(
        {name: value for name, value in wanted.to_dict().items() if name != "n"}
    )
    said = " ".join(run("report", "test.csv", "-m", "q.safetensors", "-o", "page.html").stdout.split())
    assert f"before calibration they held {100 * wanted.coverage:.1f}%" in said


def test_quantiles_that_cross_are_counted_once(inside):
    table = bikes()
    table["q25"][3], table["q50"][3] = 2.0, 1.0
    for name in ("q05", "q25", "q50"):
        table[name][50:90] = 2.0  # on the lattice, beside quantiles that are not: spread differently
    table["q75"][50:90] = 2.1
    table["q95"] = np.maximum(table["q95"], 3.0)
    write(inside / "cal.csv", table)
    fit = ["fit", "cal.csv", "--target", "rentals", "--quantiles", FLAG, "--labels", "counts"]
    said = run(*fit, "-o", "q.safetensors").stderr.splitlines()
    crossing = [line for line in said if "cross" in line]
    assert len(crossing) == 1, said
    assert "1 row, row 3, has bounds or quantiles that cross: it is sorted" in crossing[0]


@pytest.mark.parametrize("more", [(), ("--sample", "1000")])
@pytest.mark.parametrize("score", ["zscore", "cdf"])
def test_rates_of_counts_take_the_scores_of_distributions(inside, score, more):
    write(inside / "cal.csv", bikes())
    asked = ["fit", "cal.csv", "--target", "rentals", "--rate", "rate", "-o", "m.safetensors", *more]
    assert "Calibrated rentals given rate rate" in run(*asked, "--score", score).stdout


@pytest.mark.parametrize("more", [(), ("--sample", "1000")])
def test_a_score_of_points_that_rates_cannot_take_names_the_way_out(inside, more):
    write(inside / "cal.csv", bikes())
    asked = ["fit", "cal.csv", "--target", "rentals", "-o", "m.safetensors", *more]
    said = plain(run(*asked, "--rate", "rate", "--score", "sqrt:1", code=2))
    assert (
        "SqrtScore takes Point, and a rate is used as a Poisson distribution: to use this score, name the column by"
        " --point, with --labels counts"
    ) in said
    run(*asked, "--point", "rate", "--score", "sqrt:1", "--labels", "counts")
    said = plain(run(*asked, "--rate", "rate", "--score", "samples", code=2))
    assert "SamplesScore takes Samples, and a rate is used as a Poisson distribution" in said
    assert "--point" not in said
    said = plain(run(*asked, "--rate", "rate", "--labels", "real", "--score", "zscore", code=2))
    assert "ZScore takes Distribution, which the rate columns are not" in said


def test_evaluate_asks_whether_quantiles_of_whole_numbers_are_of_counts(inside):
    table = bikes()
    for name in LEVELS:
        table[name] = table[name] / 3  # too low
    write(inside / "test.csv", table)
    asked = ["evaluate", "test.csv", "--target", "rentals", "--quantiles", FLAG]
    said = " ".join(run(*asked).stdout.split())
    assert "If they are forecasts of counts, evaluate them as such first: --labels counts." in said
    assert "If they are counts, pass --labels counts: a quantile of 0.3 then means 0." in said
    assert "f they are" not in run(*asked, "--labels", "counts").stdout
    forecasts = Quantiles(list(LEVELS.values()), np.stack([table[name] for name in LEVELS], axis=1))
    assert "If they are counts, pass labels=Counts()" in evaluate(forecasts, table["rentals"]).note
    for labels in (Counts(), "real"):
        assert "whole numbers" not in evaluate(forecasts, table["rentals"], labels=labels).note
    assert "whole numbers" not in evaluate(forecasts, table["rentals"] + 0.5).note


@pytest.mark.parametrize(
    ("low", "whole", "kind", "step"),
    [
        (0.0, False, "good", "They can be used as they are, on data like these."),
        (0.0, True, "good", "They can be used as they are, on data like these."),
        (5.0, False, "bad", "Calibrate them, with calibrant fit, on rows that the model has not seen."),
        (5.0, True, "bad", "If they are forecasts of counts, evaluate them as such first: --labels counts."),
    ],
)
def test_the_next_step_speaks_of_counts_where_labels_look_like_them_and_the_forecasts_fail(
    inside, low, whole, kind, step
):
    rng = np.random.default_rng(1)
    mean = rng.uniform(8.0, 12.0, 300)
    y = np.abs(mean + 4.0 * rng.normal(size=300))
    table = {"mean": mean - low, "std": np.full(300, 4.0), "y": np.round(y) if whole else y}
    write(inside / "test.csv", table)
    said = run("evaluate", "test.csv", "--target", "y", "--mean", "mean", "--std", "std", "--json").stdout
    verdict = json.loads(said)["verdict"]
    assert (verdict["kind"], verdict["next"]) == (kind, step)
