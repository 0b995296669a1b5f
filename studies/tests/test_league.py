"""The league: its splits, the rules of the neighbours, resumption, the numbers of the page."""

import subprocess
import sys
from math import ceil

import numpy as np
import pytest

for module in ("sklearn", "joblib", "pandas", "threadpoolctl"):
    pytest.importorskip(module)

import pandas as pd  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402

from studies.datasets import DatasetError, RawTable  # noqa: E402
from studies.league import entrants, neighbours, page, run, running, table_of, write  # noqa: E402
from studies.league.entrants import ENTRANTS, Entrant  # noqa: E402
from studies.league.table import Split  # noqa: E402

FEW = ("boosting plain", "MAPIE split")


def noisy(name="noisy", n=150, seed=0):
    """A line in the first of two features, with noise that grows with the second."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 2))
    return RawTable(name, X, 3 * X[:, 0] + (0.1 + X[:, 1]) * rng.normal(size=n), ("a", "b"), "here")


@pytest.fixture
def split():
    return Split.of(noisy(), 0, 1_000)


def line(seed):
    return LinearRegression()


def file_of(path, rows):
    """A file of results: table, split, entrant, CRPS, interval score, coverage."""
    frame = pd.DataFrame(rows, columns=["table", "split", "entrant", "crps", "score", "coverage"])
    frame = frame.assign(most=frame.entrant.map(lambda name: 8_000 if "boosting" in name else 2_000), rows=100, fit=1.0)
    frame.reindex(columns=list(running.COLUMNS)).to_csv(path, index=False)
    return path


def test_a_split_has_80_percent_of_the_rows_in_units_of_its_training_labels():
    split = Split.of(noisy(), 0, 100)
    assert (len(split.y), len(split.y_new), split.train) == (80, 20, 60)
    assert np.std(Split.of(noisy(), 0, 1_000).y[:90]) == pytest.approx(1)


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        (noisy(n=99), "at least 100 rows, got 99 in noisy"),
        (RawTable("flat", np.zeros((120, 1)), np.ones(120), ("a",), ""), "flat, split 0, must differ, got 1 in all"),
    ],
)
def test_tables_that_cannot_be_split_are_refused(table, sentence):
    with pytest.raises(ValueError, match=sentence):
        Split.of(table, 0, 1_000)


def test_a_run_that_was_cut_off_goes_on_and_ends_with_the_same_lines(tmp_path):
    whole = run(tmp_path / "whole", tables=[noisy()], splits=[0, 1], entrants=FEW, say=lambda _: None).read_text()
    cut = tmp_path / "cut" / running.FILE
    cut.parent.mkdir()
    cut.write_text("\n".join(whole.splitlines()[:3]) + "\nnoisy,1,80")  # two lines, and the beginning of a third
    said = []
    run(tmp_path / "cut", tables=[noisy()], splits=[0, 1], entrants=FEW, say=said.append)
    assert len(said) == 2
    measured = [name for name in running.COLUMNS if name not in ("fit", "predict")]
    pd.testing.assert_frame_equal(
        running.read(cut)[measured], running.read(tmp_path / "whole" / running.FILE)[measured]
    )


def test_a_method_that_raises_leaves_its_sentence_and_the_others_go_on(tmp_path, monkeypatch):
    def fails(split):
        raise RuntimeError("no luck")

    monkeypatch.setitem(ENTRANTS, "MAPIE split", Entrant("fails", fails))
    path = run(tmp_path, tables=[noisy()], splits=[0], entrants=FEW, say=lambda _: None)
    found = running.read(path).set_index("entrant")
    assert found.failed["MAPIE split"] == "RuntimeError: no luck"
    assert np.isfinite(found.crps["boosting plain"])
    assert "MAPIE split failed 1 times, first on noisy: RuntimeError: no luck" in write(path, tmp_path)[0].read_text()


def test_what_is_not_installed_is_left_out_and_said(tmp_path, monkeypatch):
    monkeypatch.setitem(ENTRANTS, "MAPIE split", Entrant("absent", lambda split: None, "no_such_package"))
    said = []
    run(tmp_path, tables=[noisy()], splits=[0], entrants=FEW, say=said.append)
    assert said[0] == "left out: MAPIE split needs no_such_package, which is not installed"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"entrants": ["oracle"]}, "entrants must be among boosting plain, .*, got 'oracle'"),
        ({"splits": []}, "splits must be at least one"),
        ({"splits": [-1]}, "splits must be at least one, counted from 0"),
    ],
)
def test_what_cannot_be_run_is_refused(tmp_path, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        run(tmp_path, tables=[noisy()], **options)


def test_tables_are_read_from_csv_and_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1, 2], "price": [3.0, 4.5]})
    frame.to_csv(tmp_path / "own.csv", index=False)
    frame.to_parquet(tmp_path / "own.parquet")
    for name in ("own.csv", "own.parquet"):
        table = table_of(tmp_path / name, "price")
        assert (table.name, table.features) == ("own", ("a",))
        np.testing.assert_array_equal(table.y, [3.0, 4.5])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "must have the column 'price', got only a, b"),
        ("price\n1\n", "must have a column beside 'price'"),
        ("a,price\n1,2\nred,3\n", "finite numbers only, got 'red' in column a, row 1"),
        ("a,price\n1,\n", "finite numbers only, got 'nan' in column price, row 0"),
    ],
)
def test_a_table_that_is_not_of_numbers_is_refused(tmp_path, content, sentence):
    (tmp_path / "own.csv").write_text(content)
    with pytest.raises(DatasetError, match=sentence):
        table_of(tmp_path / "own.csv", "price")


def test_a_folder_is_no_table(tmp_path):
    with pytest.raises(DatasetError, match="must be a file of the kind"):
        table_of(tmp_path, "price")


def test_measures_of_quantiles_and_of_bounds_agree():
    y, levels = np.array([0.2, 2.0]), np.tile(entrants.LEVELS, (2, 1))  # uniform on [0, 1]
    whole, bounds = running.measures(y, levels), running.measures(y, levels[:, [4, 94]])
    assert whole["crps"] == pytest.approx((0.2**3 / 3 + 0.8**3 / 3 + 1 / 3 + 1) / 2, rel=0.02)
    assert whole["score"] == pytest.approx(0.9 + 20 * (2.0 - 0.95) / 2)
    assert whole["coverage"] == 0.5
    assert {k: v for k, v in whole.items() if k != "crps"} == {k: v for k, v in bounds.items() if k != "crps"}


def test_mapie_split_is_the_prediction_and_the_rank_of_the_absolute_residuals(split):
    pytest.importorskip("mapie")
    bounds = neighbours.split(line, split)(split.X_new)
    n, model = split.train, LinearRegression().fit(split.X[: split.train], split.y[: split.train])
    errors = np.sort(np.abs(split.y[n:] - model.predict(split.X[n:])))
    half = errors[ceil((len(errors) + 1) * 0.9) - 1]
    np.testing.assert_allclose(bounds, model.predict(split.X_new)[:, None] + [-half, half])


def test_crepes_with_one_bin_has_the_calibration_residuals_around_each_point():
    pytest.importorskip("crepes")
    split = Split.of(noisy(n=100), 0, 1_000)  # 20 calibration rows: one bin
    quantiles = neighbours.mondrian(line, split)(split.X_new)
    n, model = split.train, LinearRegression().fit(split.X[: split.train], split.y[: split.train])
    errors = split.y[n:] - model.predict(split.X[n:])
    expected = model.predict(split.X_new)[:, None] + np.quantile(errors, entrants.LEVELS, method="inverted_cdf")
    np.testing.assert_allclose(quantiles, expected)


@pytest.mark.parametrize("name", ["MAPIE normalised", "MAPIE CQR", "MAPIE CV+", "crepes kNN"])
def test_the_neighbours_cover(name):
    pytest.importorskip(ENTRANTS[name].package)
    split = Split.of(noisy(n=600), 0, 1_000)
    found = running.measures(split.y_new, ENTRANTS[name].learn(split)(split.X_new))
    assert 0.8 <= found["coverage"] <= 0.99


def test_ratios_are_of_means_over_the_splits_that_both_have(tmp_path):
    rows = [("a", 0, "one", 1.0, 1.0, 0.9), ("a", 1, "one", 3.0, 1.0, 0.9), ("a", 2, "one", 9.0, 1.0, 0.9)]
    rows += [("a", 0, "two", 2.0, 1.0, 0.9), ("a", 1, "two", 6.0, 1.0, 0.9), ("b", 0, "two", 1.0, 1.0, 0.9)]
    found = page.ratios(running.read(file_of(tmp_path / "r.csv", rows)), "one", "two", "crps")
    assert found.to_dict() == {"a": 0.5}
    assert page.middle(np.array([0.5, 2.0])) == pytest.approx(1.0)


def test_the_page_says_who_is_sharper_by_how_much_and_where(tmp_path):
    values = {
        "AutoGluon": (1.0, 0.88),
        "blend": (0.8, 0.9),
        "boosting plain": (2.0, 0.9),
        "boosting default": (1.5, 0.9),
    }
    rows = [
        (table, 5, name, crps * (1.5 if (table, name) == ("mpg", "blend") else 1), crps, coverage)
        for name, (crps, coverage) in values.items()
        for table in ("mpg", "wine")
    ]
    found, chart = write(file_of(tmp_path / "r.csv", rows), tmp_path)
    text = found.read_text()
    assert "98.0% of the CRPS of AutoGluon's best_quality and 80.0% of its 90% interval score, over 2 tables" in text
    assert "it is sharper on 1 of them" in text
    assert "75.0% of the CRPS of the same model" in text
    assert "| mpg (unseen) | 100 | 1.200 | 0.800 |" in text
    assert chart.read_text().lstrip().startswith("<?xml")


def test_a_table_on_which_the_other_fails_is_named_and_left_out_once_more(tmp_path):
    rows = [("mpg", 5, "AutoGluon", 1.0, 1.0, 0.9), ("mpg", 5, "blend", 0.9, 0.9, 0.9)]
    rows += [("naval", 5, "AutoGluon", 1.0, 1.0, 0.9), ("naval", 5, "blend", 0.1, 0.1, 0.9)]
    assert (
        "On naval AutoGluon fails; without: 90.0%" in write(file_of(tmp_path / "r.csv", rows), tmp_path)[0].read_text()
    )


def test_the_distance_of_a_coverage_is_in_standard_errors_of_its_splits(tmp_path):
    rows = [("a", split, "one", 1.0, 1.0, 0.93) for split in range(4)]
    z = page.coverage_z(running.read(file_of(tmp_path / "r.csv", rows)), "one")
    assert z["a"] == pytest.approx(0.03 / np.sqrt(0.09 * (1 / 20 + 1 / 25) / 4))


def test_the_command_runs_the_league_on_a_table_of_ones_own(tmp_path):
    table = noisy()
    pd.DataFrame(table.X, columns=["a", "b"]).assign(price=table.y).to_csv(tmp_path / "own.csv", index=False)
    command = [sys.executable, "-m", "studies", "league", "--table", str(tmp_path / "own.csv"), "--target", "price"]
    command += ["--splits", "1", "--entrants", "boosting plain,boosting default", "--folder", str(tmp_path / "league")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "of the CRPS of the same model" in (tmp_path / "league" / "league.md").read_text()
