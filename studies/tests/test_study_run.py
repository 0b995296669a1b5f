"""Running the study: what a cell's numbers are, and that a run survives being killed."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

for module in ("torch", "joblib", "rich", "threadpoolctl"):
    pytest.importorskip(module)

import joblib  # noqa: E402

import calibrant  # noqa: E402
from calibrant import Calibrator, Interval, Normal, Point, Quantiles, metrics  # noqa: E402
from studies import phases, smooth, sources  # noqa: E402
from studies.cells import Rows, finite, measure, standardised  # noqa: E402
from studies.cells import task_of as task_of_cell  # noqa: E402
from studies.datasets import AbsentError, DatasetError, RawTable  # noqa: E402
from studies.learners import BASES, Recipe, splits, train  # noqa: E402
from studies.names import Cell  # noqa: E402
from studies.paper.design import PAPER, QUICK  # noqa: E402
from studies.paper.formulas import nll_finite_difference  # noqa: E402
from studies.progress import Clock, cell_work, training_work  # noqa: E402
from studies.run import run  # noqa: E402
from studies.store import Store, StudyError, opened  # noqa: E402
from studies.trained import Trained  # noqa: E402

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes, signals, links, permissions and names")
with_full_device = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full device")

TINY = Recipe(width=4, steps=6, batch=(16, 16), checks=2)
KEYS = [
    *("dataset", "split", "base", "score", "interpolator", "n_train", "n_calibration", "n_test"),
    *("std", "ci95_width", "nll", "nll_infinite_rows", "nll_authors", "crps", "ece", "coverage95"),
]
INTERVAL_KEYS = ["conformal_width", "conformal_coverage", "credible_width", "credible_coverage"]


def line(name="line", n=80, seed=0):
    """A dataset whose label is a line in the first of two features."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return RawTable(name, X, 7 + 3 * X[:, 0] + rng.normal(size=n), ("a", "b"), "memory")


TABLES = (line("one"), line("two", n=60, seed=1))
CELLS = 2 * 27


def study(folder, count=1, **options):
    return run(splits=count, folder=folder, **{"tables": TABLES, "recipe": TINY, **options})


def lines_of(folder):
    def refuse(constant):
        raise AssertionError(f"{constant} is not JSON")

    text = (Path(folder) / "cells.jsonl").read_text(encoding="utf-8")
    return [json.loads(line, parse_constant=refuse) for line in text.splitlines()]


def count_of(path):
    """How many cells have their line, so far."""
    return path.read_bytes().count(b'\n{"dataset"') if path.exists() else 0


def numbers(folder):
    """Each cell's numbers but its time, by cell; a cell that is there twice is an error."""
    found = [record for record in lines_of(folder) if "dataset" in record]
    cells = {Cell.of(record): {k: v for k, v in record.items() if k != "seconds"} for record in found}
    assert len(cells) == len(found)
    return cells


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted run of both datasets, one job."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, study(folder)


# ---- the design ------------------------------------------------------------------------------------------------------


def test_a_split_has_27_cells_so_that_the_study_has_7344():
    assert 17 * 16 * len(PAPER.cells("wine", 0)) == 7344
    assert len(set(PAPER.cells("wine", 0))) == 27
    assert {base for base, _ in PAPER.pairs} == set(BASES)


def test_every_cell_draws_its_own_uniforms_and_always_the_same():
    first, second = PAPER.cells("wine", 0)[1:3]
    assert first.rng(0).random() == first.rng(0).random()
    assert len({cell.rng(seed).random() for cell in (first, second) for seed in (0, 1)}) == 4


def test_the_scores_are_centred_as_in_the_paper():
    """1/2 for interval and quantile, 0 for residual, z-score and ensemble, and logit(1/2) = 0 for cdf."""
    y, half = np.zeros(3), {"interval", "quantile"}
    normal = Normal(y, np.ones(3))
    predictions = {
        "residual": Point(y),
        "interval": Interval(y - 1, y + 1),
        "quantile": Quantiles([0.25, 0.75], np.stack([y - 1, y + 1], axis=1)),
        "ensemble": calibrant.Ensemble([normal] * 5),
        "zscore": normal,
        "cdf": normal,
    }
    assert {name: PAPER.scores[name].middle(p) for name, p in predictions.items()} == {
        name: 0.5 if name in half else 0.0 for name in PAPER.scores
    }


def test_a_quick_run_takes_three_bundled_datasets_and_four_splits():
    assert len(QUICK["datasets"]) == 3
    assert QUICK["splits"] == 4
    assert all(PAPER.datasets[name].bundled for name in QUICK["datasets"])


# ---- one cell --------------------------------------------------------------------------------------------------------


def task_of(base, score, interpolator, n=150, m=40, seed=0):
    rng = np.random.default_rng(seed)
    f = rng.normal(size=n + m)
    s = np.exp(0.3 * rng.normal(size=n + m))
    y = f + s * rng.standard_t(4, n + m)
    levels = np.asarray([0.1, 0.5, 0.9])
    prediction = {
        "point": Point(f),
        "interval": Interval(f - s, f + s),
        "quantile-4": Quantiles(levels, f[:, None] + s[:, None] * np.asarray([-1.3, 0.0, 1.3])),
        "ensemble": calibrant.Ensemble([Normal(f + 0.1 * k, s) for k in range(5)]),
        "distribution": Normal(f, s),
    }[base]
    parts = Rows(prediction[slice(0, n)], y[:n]), Rows(prediction[slice(n, n + m)], y[n:])
    return task_of_cell(PAPER, Cell("made", 0, base, score, interpolator), *parts, 3 * n, seed)


KINDS = [("point", "residual"), ("interval", "interval"), ("quantile-4", "quantile"), ("ensemble", "ensemble")]
KINDS += [("distribution", "zscore"), ("distribution", "cdf")]


@pytest.mark.parametrize("interpolator", PAPER.interpolators)
@pytest.mark.parametrize(("base", "score"), KINDS)
def test_the_numbers_of_a_cell_are_the_metrics_of_its_distribution(base, score, interpolator):
    task = task_of(base, score, interpolator)
    found = measure(task)
    fitted = Calibrator(PAPER.scores[score], PAPER.interpolators[interpolator]).fit(
        task.calibration.prediction, task.calibration.y
    )
    H, y = fitted(task.test.prediction, rng=task.cell.rng(task.seed)), task.test.y
    expected = {
        "std": metrics.std(H),
        "ci95_width": metrics.ci_width(H, 0.95),
        "nll": metrics.nll(H, y),
        "nll_authors": nll_finite_difference(H, y),
        "crps": metrics.crps(H, y),
        "ece": metrics.debiased_ece(H, y),
        "coverage95": metrics.coverage(H, y, 0.95),
    }
    for name, value in expected.items():
        assert found[name] == (pytest.approx(value, rel=1e-6) if math.isfinite(value) else None)
    assert (found["n_train"], found["n_calibration"], found["n_test"]) == (450, 150, 40)
    assert list(found)[:-1] == KEYS + (INTERVAL_KEYS if interpolator == "linear" else [])


@pytest.mark.parametrize(("base", "score"), KINDS)
def test_conformal_and_credible_intervals_cover_nine_rows_in_ten(base, score):
    found = measure(task_of(base, score, "linear", n=4000, m=4000))
    for kind in ("conformal", "credible"):
        assert found[f"{kind}_coverage"] == pytest.approx(0.9, abs=0.02)
    assert found["conformal_width"] == pytest.approx(found["credible_width"], rel=0.05)


def test_the_conformal_interval_of_a_point_is_the_residual_of_rank_nine_tenths_either_way():
    task = task_of("point", "residual", "linear", n=99)
    found = measure(task)
    residual = np.sort(np.abs(task.calibration.y - task.calibration.prediction.values))[89]  # ceil(100 * 0.9) = 90th
    assert found["conformal_width"] == pytest.approx(2 * residual)


def test_a_metric_that_is_infinite_is_null_and_its_rows_are_counted():
    task = task_of("distribution", "zscore", "linear", n=20)
    outside = [np.max(task.test.y) + 100, np.min(task.test.y) - 100]
    y = np.concatenate([np.asarray(task.test.prediction.mean())[:-2], outside])
    found = measure(replace(task, test=Rows(task.test.prediction, y)))
    assert found["nll"] is None
    assert found["nll_infinite_rows"] == 2
    assert found["crps"] > 0
    assert [finite(x) for x in (math.inf, math.nan, 1.5)] == [None, None, 1.5]


def test_labels_are_standardised_by_the_training_rows_as_the_networks_saw_them():
    table, split = line(n=200), splits(200, 1)[0]
    y = standardised(table.y, split.train)
    assert y[split.train].mean() == pytest.approx(0, abs=1e-12)
    assert y[split.train].std() == pytest.approx(1)
    np.testing.assert_allclose(np.diff(y), np.diff(table.y) / table.y[split.train].std())
    np.testing.assert_array_equal(standardised(np.full(200, 3.0), split.train), np.zeros(200))
    fitted = train(table.X, table.y, [split], recipe=Recipe(width=8, steps=150, checks=5))
    point, _ = fitted.predictions(0)["point"]
    assert np.mean((point.values - y[split.calibration]) ** 2) < 0.3  # the noise alone has 0.1


def test_a_worker_that_measures_a_cell_loads_no_torch_and_no_pandas():
    code = "import sys, studies.cells; sys.exit(bool({'torch', 'pandas', 'sklearn'} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], check=True)


# ---- a run -----------------------------------------------------------------------------------------------------------


def test_a_run_has_a_header_then_a_line_for_each_cell_and_says_what_it_took(whole):
    folder, summary = whole
    first, *rest = lines_of(folder)
    assert list(first["study"]) == ["command", "versions", "seed", "recipe", "device", "started"]
    assert first["study"]["recipe"]["steps"] == TINY.steps
    assert set(numbers(folder)) == {cell for name in ("one", "two") for cell in PAPER.cells(name, 0)}
    assert summary.cells == CELLS
    assert list(summary.seconds) == ["loading", "training", "calibration"]
    trained = [record["training"] for record in rest if "training" in record]
    assert [(record["dataset"], record["splits"], record["device"]) for record in trained] == [
        ("one", [0], "cpu"),
        ("two", [0], "cpu"),
    ]
    phases = [record["phase"]["name"] for record in rest if "phase" in record]
    assert phases == ["loading", "calibration"]
    nulls = Counter(name for record in rest for name, value in record.items() if value is None)
    assert summary.undefined == nulls
    assert set(nulls) == {"nll"}  # the ends of the random distribution are bounded, so that it has a std and a CRPS
    assert nulls["nll"] >= 18  # but no density


def test_starting_a_finished_run_again_changes_nothing(whole):
    folder, _ = whole
    before = (folder / "cells.jsonl").read_bytes()
    assert study(folder).cells == 0
    assert (folder / "cells.jsonl").read_bytes() == before


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from test_study_run import study
study(sys.argv[2], jobs=int(sys.argv[3]))
"""


@on_posix
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_killed_again_and_again_loses_and_repeats_nothing(whole, tmp_path, jobs):
    """SIGKILL after some cells, twice; then to the end: every cell once, with the numbers of one job in peace."""
    path = tmp_path / "cells.jsonl"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(tmp_path), str(jobs)]
    seen = []
    for more in (5, 25):
        before = count_of(path)
        process = subprocess.Popen(command, env=environment, start_new_session=True)
        while count_of(path) < before + more:
            assert process.poll() is None
            time.sleep(0.002)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.returncode == -signal.SIGKILL
        text = path.read_bytes()
        seen.append(text[: text.rfind(b"\n") + 1])
    left = CELLS - seen[1].count(b'\n{"dataset"')
    assert 0 < left <= CELLS - 30
    summary = study(tmp_path, jobs=jobs)
    assert path.read_bytes().startswith(seen[1])
    assert seen[1].startswith(seen[0])
    assert summary.cells == left
    assert numbers(tmp_path) == numbers(whole[0])
    assert sum("training" in record for record in lines_of(tmp_path)) == 2
    assert [r["phase"]["name"] for r in lines_of(tmp_path) if "phase" in r].count("resumed") == 2


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::FutureWarning")
def test_a_dask_cluster_gives_the_same_numbers(whole, tmp_path):
    distributed = pytest.importorskip("distributed", reason="dask's distributed is not installed")
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        study(tmp_path, jobs=None)
    assert numbers(tmp_path) == numbers(whole[0])


def test_another_seed_gives_other_numbers(whole, tmp_path):
    study(tmp_path, seed=1, tables=TABLES[1:])
    mine, other = numbers(tmp_path), numbers(whole[0])
    assert all(mine[cell]["crps"] != other[cell]["crps"] for cell in mine)


def test_more_splits_later_are_trained_alone_and_what_is_there_stays(whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    before = numbers(tmp_path)
    assert study(tmp_path, count=2, tables=TABLES[1:]).cells == 27
    trained = [record["training"] for record in lines_of(tmp_path) if "training" in record]
    assert [(record["dataset"], record["splits"]) for record in trained] == [("one", [0]), ("two", [0]), ("two", [1])]
    after = numbers(tmp_path)
    assert set(after) == {*before, *PAPER.cells("two", 1)}
    assert all(after[cell] == record for cell, record in before.items())


def test_networks_are_trained_anew_only_for_other_data_another_seed_or_another_recipe(whole, tmp_path):
    folder, _ = whole
    kept = Trained(TABLES[0], folder / "predictions", BASES, TINY, 0)
    assert kept.has(0)
    assert not kept.has(1)
    assert not replace(kept, table=line("one", seed=5)).has(0)
    assert not replace(kept, seed=1).has(0)
    assert not replace(kept, recipe=replace(TINY, steps=7)).has(0)
    torn = replace(kept, folder=tmp_path)
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "00.npz").write_bytes((folder / "predictions" / "one" / "00.npz").read_bytes()[:-100])
    assert not torn.has(0)


def test_what_the_networks_said_is_read_back_as_it_was(whole):
    folder, _ = whole
    table = TABLES[0]
    fitted = train(table.X, table.y, splits(len(table.y), 1), recipe=TINY)
    kept = Trained(table, folder / "predictions", BASES, TINY, 0)
    for base, parts in fitted.predictions(0).items():
        for one, other in zip(parts, kept.predictions(0)[base], strict=True):
            score = PAPER.scores[dict(PAPER.pairs)[base]]
            y = np.zeros(len(one))
            np.testing.assert_array_equal(score(one, y), score(other, y))


def test_a_dataset_that_is_named_must_be_at_hand_and_one_that_is_not_is_left_out_aloud(tmp_path, monkeypatch):
    def load(dataset, folder=None):
        if dataset.name == "wine":
            raise AbsentError("wine is not at hand")
        return line(dataset.name)

    def some(*names):
        return replace(PAPER, datasets={name: PAPER.datasets[name] for name in names})

    monkeypatch.setattr(sources, "load_entry", load)
    design = some("wine", "yacht")
    heard = []
    summary = run(splits=1, design=design, folder=tmp_path, recipe=TINY, say=heard.append)
    assert heard == ["left out: wine is not at hand"]
    assert list(summary.missing) == ["wine"]
    assert {cell.dataset for cell in numbers(tmp_path)} == {"yacht"}
    with pytest.raises(DatasetError, match="wine is not at hand"):
        run(["wine"], splits=1, design=design, folder=tmp_path, recipe=TINY)
    with pytest.raises(DatasetError, match="there is no dataset 'beer'; the study has wine, yacht"):
        run(["beer"], splits=1, design=design, folder=tmp_path, recipe=TINY)
    with pytest.raises(DatasetError, match="none of the study's datasets is at hand; the first: wine is not"):
        run(splits=1, design=some("wine"), folder=tmp_path / "new", recipe=TINY)


def test_a_wrong_file_stops_a_run_of_all_datasets_and_is_not_left_out(tmp_path):
    (tmp_path / "data" / "blog").mkdir(parents=True)
    (tmp_path / "data" / "blog" / "blogData_train.csv").write_bytes(b"1,2\n")
    with pytest.raises(DatasetError, match="blog must be the file of sha256"):
        run(splits=1, folder=tmp_path / "out", data=tmp_path / "data", recipe=TINY)
    with pytest.raises(DatasetError, match="the data folder must be a folder with the datasets"):
        run(splits=1, folder=tmp_path / "out", data=tmp_path / "nowhere", recipe=TINY)


def test_half_a_file_that_a_kill_left_is_swept_away(tmp_path):
    torn = tmp_path / "predictions" / "two" / ".calibrant-0123.tmp"
    torn.parent.mkdir(parents=True)
    torn.write_bytes(b"half")
    study(tmp_path, tables=TABLES[1:])
    assert [path.name for path in torn.parent.iterdir()] == ["00.npz"]


def test_a_run_off_a_terminal_prints_nothing(tmp_path, capfd):
    study(tmp_path, tables=TABLES[1:])
    assert capfd.readouterr() == ("", "")


def test_smooth_distributions_found_as_one_batch_change_no_number(tmp_path, monkeypatch):
    study(tmp_path / "alone")
    seen = []
    own = smooth.splines_together
    monkeypatch.setattr(smooth, "splines_together", lambda many, *rest: seen.append(len(many)) or own(many, *rest))
    monkeypatch.setattr(phases, "on_gpu", lambda device: True)
    study(tmp_path / "batch")
    alone, batch = numbers(tmp_path / "alone"), numbers(tmp_path / "batch")
    assert sum(seen) == sum(cell.interpolator == "naf" for cell in alone)
    assert alone.keys() == batch.keys()
    for cell, values in alone.items():
        measured = {name: value for name, value in values.items() if isinstance(value, float)}
        of_tables = {name: measured.pop(name) for name in ("std", "crps")}  # a rounding in q may move a table's places
        assert {name: batch[cell][name] for name in measured} == pytest.approx(measured, rel=1e-9, abs=1e-12), cell
        assert {name: batch[cell][name] for name in of_tables} == pytest.approx(of_tables, rel=1e-5), cell


def test_a_device_that_is_not_there_and_no_splits_are_refused(tmp_path):
    import torch

    with pytest.raises(ValueError, match="splits must be at least 1, got 0"):
        study(tmp_path, count=0)
    with pytest.raises(ValueError, match="jobs must be a number of workers"):
        study(tmp_path, jobs=0)
    with pytest.raises(ValueError, match="device must be cpu or cuda, got 'gpu'"):
        study(tmp_path, device="gpu")
    assert not list(tmp_path.iterdir())
    if not torch.cuda.is_available():
        with pytest.raises(ValueError, match="device 'cuda' asks for a CUDA device, and torch finds none"):
            study(tmp_path, device="cuda")


# ---- the file of results ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [1, 2, 40, 200])
def test_a_torn_last_line_is_cut_off_and_its_cell_is_measured_again(whole, tmp_path, cut):
    lines = (whole[0] / "cells.jsonl").read_bytes().splitlines(keepends=True)
    cell = max(i for i, text in enumerate(lines) if text.startswith(b'{"dataset"'))
    content = b"".join(lines[: cell + 1])
    (tmp_path / "cells.jsonl").write_bytes(content[:-cut])
    with opened(tmp_path) as store:
        assert len(store.done) == CELLS - 1
    assert (tmp_path / "cells.jsonl").read_bytes() == b"".join(lines[:cell])
    assert study(tmp_path).cells == 1
    assert numbers(tmp_path) == numbers(whole[0])


def test_a_last_line_of_garbage_is_cut_off_too(whole, tmp_path):
    content = (whole[0] / "cells.jsonl").read_bytes()
    for garbage in (b"\0\0\0\0", b"\0\0\0\0\n", b'{"dataset": "on\n'):
        (tmp_path / "cells.jsonl").write_bytes(content + garbage)
        with opened(tmp_path) as store:
            assert len(store.done) == CELLS
        assert (tmp_path / "cells.jsonl").read_bytes() == content


def test_a_broken_line_in_the_middle_or_another_file_is_refused(whole, tmp_path):
    lines = (whole[0] / "cells.jsonl").read_bytes().splitlines(keepends=True)
    path = tmp_path / "cells.jsonl"
    path.write_bytes(b"".join([*lines[:3], b"oops\n", *lines[3:]]))
    with pytest.raises(StudyError, match="must hold a JSON object in every line, got none in line 4"):
        study(tmp_path)
    path.write_bytes(b'{"a": 1}\n')
    with pytest.raises(StudyError, match="must begin with the line of a study"):
        study(tmp_path)
    assert path.read_bytes() == b'{"a": 1}\n'


@pytest.mark.parametrize(("other", "name"), [({"seed": 3}, "seed"), ({"recipe": replace(TINY, steps=7)}, "recipe")])
def test_results_of_another_study_are_not_mixed_with_this_one(whole, other, name):
    folder, _ = whole
    before = (folder / "cells.jsonl").read_bytes()
    with pytest.raises(StudyError, match=f"holds a study with {name} .*: choose another folder"):
        study(folder, **other)
    assert (folder / "cells.jsonl").read_bytes() == before


def test_two_runs_do_not_write_the_same_file(tmp_path):
    with opened(tmp_path), pytest.raises(StudyError, match="is in use by another run of the study"):
        study(tmp_path)
    study(tmp_path, tables=TABLES[1:])


def test_a_line_is_on_the_disk_before_the_next_cell_is_asked_for(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.append((tmp_path / "cells.jsonl").read_bytes()))
    with opened(tmp_path) as store:
        store.append({"phase": {"name": "first"}})
        store.append({"phase": {"name": "second"}})
    assert [content.count(b"\n") for content in synced] == [1, 2]


def test_no_line_holds_a_number_that_is_not_json(tmp_path):
    with opened(tmp_path) as store, pytest.raises(ValueError, match="not JSON compliant"):
        store.append({"phase": {"seconds": math.nan}})


# ---- the time that is left -------------------------------------------------------------------------------------------


def test_the_time_left_is_the_work_left_at_the_speed_so_far():
    clock = Clock(work=10.0, workers=2)
    assert clock.left() == pytest.approx(5.0)  # nothing is done yet: as measured, on two workers
    clock.seconds = 8.0
    clock.advance(4.0)
    assert clock.left() == pytest.approx(12.0)
    clock.advance(7.0)
    assert clock.left() == 0


def test_a_larger_cell_and_a_larger_training_are_more_work():
    assert cell_work("naf", 1000, 1000) > cell_work("naf", 100, 1000) > cell_work("linear", 100, 1000)
    assert cell_work("linear", 100, 10_000) > cell_work("linear", 100, 100)
    assert training_work(12, 280, TINY, 1000) > training_work(12, 4, TINY, 1000) > training_work(12, 4, TINY, 10)


# ---- the command -----------------------------------------------------------------------------------------------------


def test_the_command_runs_the_study_says_what_each_phase_took_and_writes_the_tables(tmp_path, capsys):
    pytest.importorskip("typer")
    pytest.importorskip("matplotlib")
    from studies.cli.study import study as command

    tables = line("wine"), line("yacht", n=60, seed=1)
    command(tmp_path, {"tables": tables, "splits": 1, "recipe": TINY})
    said = capsys.readouterr().out
    assert f"54 cells measured; all results are in {tmp_path / 'cells.jsonl'}" in said
    assert all(f"\n{phase} " in said for phase in ("loading", "training", "calibration"))
    assert "not finite, and null in the results: nll" in said
    assert (tmp_path / "table1.csv").is_file()
    command(tmp_path, {"tables": tables, "splits": 1, "recipe": TINY})
    assert "nothing was left to do" in capsys.readouterr().out


def test_a_quick_run_gives_way_to_what_was_chosen():
    pytest.importorskip("typer")
    from studies.cli.study import options_of

    rest = {"data": None, "jobs": 2, "device": "cpu", "seed": 0}
    assert options_of(datasets=None, splits=None, quick=True, **rest) == {**QUICK, **rest}
    assert options_of(datasets=["wine"], splits=2, quick=False, **rest) == {"datasets": ["wine"], "splits": 2, **rest}
    assert options_of(datasets=["wine"], splits=2, quick=True, **rest)["datasets"] == ["wine"]


@with_full_device
def test_results_that_cannot_be_written_name_their_file(tmp_path):
    path = tmp_path / "cells.jsonl"
    path.touch()
    with path.open("r+b") as empty, open("/dev/full", "r+b", buffering=0) as full:
        store = Store(path, empty)
        store._file = full
        with pytest.raises(StudyError, match=r"cells.jsonl cannot be written: no space left on device"):
            store.append({"study": {}})
