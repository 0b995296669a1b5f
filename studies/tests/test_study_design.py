"""A second study: a design of one's own goes from the run to the tables, and nothing of the paper's gets in its way."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

for module in ("torch", "joblib", "rich", "threadpoolctl"):
    pytest.importorskip(module)

from calibrant.interpolators import Linear, Naive  # noqa: E402
from calibrant.scores import CDFScore, ZScore  # noqa: E402
from studies.datasets import RawTable  # noqa: E402
from studies.design import Design  # noqa: E402
from studies.files import write_tables  # noqa: E402
from studies.learners.heads import GaussianHead, QuantileHead  # noqa: E402
from studies.learners.recipe import Recipe  # noqa: E402
from studies.names import Method  # noqa: E402
from studies.paper.design import PAPER  # noqa: E402
from studies.reading import read  # noqa: E402
from studies.run import run  # noqa: E402
from studies.store import StudyError  # noqa: E402
from studies.tables import by_dataset, by_method, intervals, tables_of  # noqa: E402
from studies.trained import Trained  # noqa: E402
from studies.writers import averages_csv, markdown, per_dataset_csv  # noqa: E402


def table(name, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return RawTable(name, X, 7 + 3 * X[:, 0] + rng.normal(size=n), ("a", "b"), "memory")


# No name of a base predictor, score, interpolator or dataset is one of the paper's; nor are coverage and splits.
PILOT = Design(
    name="pilot",
    datasets={"hills": table("hills", 80, 0), "lakes": table("lakes", 60, 1)},
    bases={"bell": (GaussianHead(),)},
    scores={"standard": ZScore(), "level": CDFScore()},
    pairs=(("bell", "standard"), ("bell", "level")),
    interpolators={"straight": Linear(), "steps": Naive()},
    reference="straight",
    splits=2,
    recipe=Recipe(width=4, steps=6, batch=(16, 16), checks=2),
    coverage=0.8,
    metrics=("crps", "ece", "ci95_width"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The pilot study, run with nothing but its design."""
    path = tmp_path_factory.mktemp("pilot")
    summary = run(design=PILOT, folder=path)
    assert summary.cells == 2 * 2 * 4
    return path


@pytest.fixture(scope="module")
def results(folder):
    return read(folder / "cells.jsonl", PILOT)


def test_a_second_design_is_run_whole_and_its_results_say_whose_they_are(folder, results):
    first = json.loads((folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert first["study"]["design"] == "pilot"
    assert first["study"]["recipe"]["steps"] == PILOT.recipe.steps
    assert results.extent == "2 of the pilot's 2 datasets, 2 of its 2 splits, every cell."
    assert {method for _, method in results.cells} == {
        Method("bell", score, name) for score in ("standard", "level") for name in ("straight", "steps")
    }


def test_only_its_own_networks_are_trained(folder):
    with np.load(folder / "predictions" / "hills" / "00.npz") as file:
        assert file["test"].shape == (16, 2)  # one network, of a mean and a scale
    kept = Trained(PILOT.datasets["hills"], folder / "predictions", PILOT.bases, PILOT.recipe, 0)
    assert kept.has(0)
    assert set(kept.predictions(0)) == {"bell"}
    assert not replace(kept, bases={"bell": (QuantileHead(3),)}).has(0)


def test_its_intervals_have_its_coverage_and_are_those_of_its_reference_interpolator(folder, results):
    lines = [json.loads(line) for line in (folder / "cells.jsonl").read_text(encoding="utf-8").splitlines()]
    cells = [line for line in lines if "dataset" in line]
    assert {line["interpolator"] for line in cells if "conformal_width" in line} == {"straight"}
    found = intervals(results)
    assert found.title.startswith("80% intervals")
    assert "ceil((n + 1) 0.8)" in found.notes[-1]
    assert [row.labels for row in found.rows] == [("bell", "standard"), ("bell", "level")]
    assert all(row.metrics["credible_width"].here.count == 2 for row in found.rows)


def test_its_tables_have_its_methods_and_metrics_and_nothing_published(results):
    found = by_method(results)
    assert [row.labels[1] for row in found.rows] == [method.name for method in PILOT.methods]
    assert list(found.headings) == list(PILOT.metrics)
    crps = [results.of(name, PILOT.methods[0], "crps").value for name in results.datasets]
    assert found.rows[0].metrics["crps"].here.value == pytest.approx(np.mean(crps))
    assert averages_csv(found).splitlines()[0] == (
        "base,method,crps_mean,crps_se,ece_mean,ece_se,ci95_width_mean,ci95_width_se,crps_n,ece_n,ci95_width_n"
    )
    assert per_dataset_csv(results).splitlines()[0] == (
        "dataset,method,crps_mean,crps_se,ece_mean,ece_se,ci95_width_mean,ci95_width_se,base,n_splits"
    )
    assert by_dataset(results)[0].notes == ("2 of the pilot's 2 splits, 4 of 4 methods.",)
    for each in (table for several in tables_of(results).values() for table in several):
        assert "published" not in markdown(each)
        assert "17" not in each.notes[0]


def test_its_files_are_written(results, tmp_path):
    pytest.importorskip("matplotlib")
    names = {path.name for path in write_tables(results, tmp_path / "out")}
    tables = {f"{name}.{kind}" for name in ("methods", "intervals", "per_dataset") for kind in ("csv", "md")}
    assert names == tables | {"intervals.png"}


def test_two_designs_are_not_mixed_in_one_folder(folder, tmp_path):
    before = (folder / "cells.jsonl").read_bytes()
    with pytest.raises(StudyError, match="holds a study of the design 'pilot', and this run has 'paper'"):
        run(folder=folder, recipe=PILOT.recipe, tables=PILOT.datasets.values())
    assert (folder / "cells.jsonl").read_bytes() == before
    with pytest.raises(ValueError, match="line 1: results of the design 'paper' were wanted, got those of 'pilot'"):
        read(folder / "cells.jsonl", PAPER)
    run(splits=1, folder=tmp_path, recipe=PILOT.recipe, tables=[PILOT.datasets["lakes"]])
    with pytest.raises(StudyError, match="holds a study of the design 'paper', and this run has 'pilot'"):
        run(design=PILOT, folder=tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": ""}, r"Design\.name must be a word, got ''"),
        ({"splits": 0}, r"Design\.splits must be at least 1, got 0"),
        ({"coverage": 1.0}, r"Design\.coverage must lie strictly inside \(0, 1\), got 1\.0"),
        ({"reference": "naf"}, r"Design\.reference must be one of its interpolators, straight, steps, got 'naf'"),
        ({"pairs": ()}, r"Design\.pairs must name at least one base predictor with a score, got none"),
        ({"pairs": (("point", "level"),)}, r"Design\.pairs must name its bases, bell, got 'point'"),
        ({"pairs": (("bell", "zscore"),)}, r"Design\.pairs must name its scores, standard, level, got 'zscore'"),
        ({"metrics": ("mse",)}, r"Design\.metrics must be among std, .*, got 'mse'"),
        ({"datasets": {"sea": table("hills", 60, 0)}}, r"each under its own name, got 'hills' as 'sea'"),
    ],
)
def test_a_design_that_does_not_fit_together_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        replace(PILOT, **change)


def test_the_papers_design_and_its_results_need_no_torch():
    code = "import sys, studies.reading, studies.paper.page; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
    assert PAPER.networks == 12
