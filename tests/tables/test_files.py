"""Files and folders as tables: csv, parquet and feather give the numbers of the table in memory; bad ones are named."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from systems import on_posix

from calibrant import tables
from calibrant.tables import Columns
from calibrant.tables.files import Dialect, Files, TableFile, written
from calibrant.tables.stream import Engine

N = 300
RNG = np.random.default_rng(0)
MU = RNG.normal(size=N)
TABLE = pa.table(
    {"id": np.arange(N), "mu": MU, "y": MU + RNG.normal(size=N), "shop": np.asarray(["a", "b"])[np.arange(N) % 2]}
)
COLUMNS = Columns(target="y", point="mu", by="shop")
MODEL = tables.fit(TABLE, COLUMNS, ids="id", sample=50)
EXPECTED = tables.predict(TABLE, MODEL, interval=0.9).read_all()
WRITE = {"csv": csv.write_csv, "parquet": parquet.write_table, "feather": feather.write_feather}


def write(path, table=TABLE):
    WRITE[path.suffix[1:]](table, path)
    return path


@pytest.fixture(params=WRITE)
def folder(request, tmp_path):
    """Eleven files, of which the one without rows is part 10."""
    for part in range(11):
        write(tmp_path / f"part.{part}.{request.param}", TABLE.slice(30 * part, 30))
    return tmp_path


def test_a_folder_has_the_rows_of_its_files_in_order(folder):
    found = tables.predict(folder, MODEL, interval=0.9).read_all()
    assert found.cast(EXPECTED.schema).equals(EXPECTED)
    listed = sorted(map(str, folder.iterdir()), key=len)
    assert tables.predict(listed, MODEL, interval=0.9).read_all().num_rows == N


def test_a_folder_is_fitted_to_the_bits_of_one_table_and_its_empty_file_is_named(folder):
    with pytest.warns(UserWarning, match=rf"{re.escape(str(folder))}: there are no rows in .*part\.10\."):
        model = tables.fit(folder, COLUMNS, ids="id", sample=50)
    assert tables.predict(TABLE, model, interval=0.9).read_all().equals(EXPECTED)
    with pytest.warns(UserWarning, match="there are no rows in"):
        assert tables.evaluate(folder, model).calibrated == tables.evaluate(TABLE, MODEL).calibrated


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow"])
@pytest.mark.parametrize("dialect", [Dialect(), Dialect(";", ",")])
def test_what_is_written_is_read_back_to_the_bit(tmp_path, name, dialect):
    with written(tmp_path / name, EXPECTED.schema, ["lower", "upper"], dialect) as write_batch:
        for batch in EXPECTED.to_batches(max_chunksize=70):
            write_batch(batch)
        assert not (tmp_path / name).exists()
    found = list(TableFile(tmp_path / name, dialect).batches(["mu", "lower", "upper"], ["shop"]))
    table = pa.Table.from_batches([batch.rows for batch in found])
    assert all(table[column].equals(EXPECTED[column]) for column in ("mu", "lower", "upper", "shop"))
    assert os.listdir(tmp_path) == [name]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = write(tmp_path / "t.csv")
    before = path.read_bytes()

    def stopped(write_batch):
        write_batch(TABLE.to_batches()[0])
        raise RuntimeError

    with pytest.raises(RuntimeError), written(path, TABLE.schema) as write_batch:
        stopped(write_batch)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["t.csv"]


def test_memory_does_not_grow_with_the_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.tables.files.BATCH", 40)
    for path in (write(tmp_path / f"t.{kind}") for kind in WRITE):
        heard = []
        batches = list(TableFile(path, done=heard.append).batches(["mu"]))
        assert [len(batch) for batch in batches] == heard
        assert max(heard) <= 40
        assert [batch.start for batch in batches] == np.cumsum([0, *heard[:-1]]).tolist()


def text(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


ROWS = "".join(f"{k},1\n" for k in range(500))
BAD = {
    "no such file": (lambda at: at / "no.csv", r"no\.csv: there is no such file"),
    "other ending": (lambda at: text(at / "t.xls", ""), r"t\.xls: the name must end in one of \.csv, "),
    "empty": (lambda at: text(at / "t.csv", ""), r"t\.csv: this cannot be read as csv"),
    "no rows": (lambda at: text(at / "t.csv", "mu,y\n"), r"t\.csv: there are no rows$"),
    "no parquet": (lambda at: text(at / "t.parquet", "mu,y\n"), r"t\.parquet: this cannot be read as parquet"),
    "a word": (
        lambda at: text(at / "t.csv", f"mu,y\n{ROWS}high,1\n"),
        r"t\.csv: column 'mu' must hold numbers, got 'high' in row 500 ",
    ),
    "a comma": (
        lambda at: text(at / "t.csv", 'mu,y\n"1,5",1\n'),
        r"got '1,5' in row 0 \(counting from 0\): try --decimal ,$",
    ),
    "semicolons": (
        lambda at: text(at / "t.csv", "mu;y\n1;2\n"),
        r"there is no column 'y'; the only one is 'mu;y': try --delimiter ';'",
    ),
    "twice": (lambda at: text(at / "t.csv", "mu,mu,y\n1,2,3\n"), r"t\.csv: there are 2 columns named 'mu'"),
    "latin-1": (
        lambda at: text(at / "t.csv", "mu,y,größe\n1,2,3\n".encode("latin-1")),
        r"t\.csv: this is not UTF-8 .*: save it as UTF-8",
    ),
    "utf-16": (
        lambda at: text(at / "t.csv", "mu,y\n1,2\n".encode("utf-16")),
        r"t\.csv: this cannot be read as csv .*: save it as UTF-8$",
    ),
    "a word in latin-1": (
        lambda at: text(at / "t.csv", f"mu,y\n{ROWS}ä,1\n".encode("latin-1")),
        r"t\.csv: .*: save it as UTF-8$",
    ),
    "ragged": (
        lambda at: text(at / "t.csv", "mu,y\n1,2\n1,2,3\n"),
        r"t\.csv: this cannot be read as csv \(.*Expected 2 columns, got 3",
    ),
    "cut": (
        lambda at: text(at / "t.parquet", write(at / "u.parquet").read_bytes()[:-9]),
        r"t\.parquet: this cannot be read as parquet",
    ),
    "bare folder": (
        lambda at: (at / "none").mkdir() or at / "none",
        r"none: there is no file in this folder that ends in",
    ),
    "two kinds": (
        lambda at: write(at / "a.csv") and write(at / "b.parquet") and at,
        "there are csv and parquet files in",
    ),
    "bad folder": (
        lambda at: write(at / "a.csv") and text(at / "b.csv", "mu,y\n?,1\n") and at,
        r"b\.csv: column 'mu' must hold numbers, got '\?'",
    ),
    "other schema": (
        lambda at: write(at / "a.parquet") and write(at / "b.parquet", TABLE.set_column(1, "mu", TABLE["shop"])) and at,
        r"b\.parquet has another schema than .*a\.parquet: column 'mu' is string, not double",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_file_is_named_in_one_sentence(tmp_path, kind):
    make, words = BAD[kind]
    path = make(tmp_path)
    with pytest.raises((ValueError, FileNotFoundError), match=words) as told:
        tables.fit(path, Columns(target="y", point="mu"))
    assert "\n" not in str(told.value)


@on_posix
def test_a_pipe_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "t.csv")
    with pytest.raises(ValueError, match=r"t\.csv: this is a pipe or a device, not a file"):
        tables.fit(tmp_path / "t.csv", COLUMNS)


def test_files_of_a_list_may_lie_anywhere(tmp_path):
    (tmp_path / "b").mkdir()
    paths = [write(tmp_path / "b" / "x.csv", TABLE.slice(0, 100)), write(tmp_path / "a.csv", TABLE.slice(100))]
    assert [file.part for file in Files.of(paths).files] == [0, 1]
    assert tables.predict(paths, MODEL, interval=0.9).read_all().cast(EXPECTED.schema).equals(EXPECTED)


class Pool(Engine):
    """Files, each a part, in several threads."""

    source = "the pool"

    def __init__(self, paths):
        self.paths = [str(path) for path in paths]

    @property
    def header(self):
        return TableFile(Path(self.paths[0])).header

    def merged(self, work):
        with ThreadPoolExecutor(2) as pool:
            return work.merge(pool.map(work.part, self.paths, self.paths, range(len(self.paths))))

    def mapped(self, work):
        return [work.afresh()(batch) for path in self.paths for batch in TableFile(Path(path)).batches([], work.read)]


def test_an_engine_of_ones_own_gives_the_bits_of_one_table(tmp_path):
    pool = Pool(write(tmp_path / f"{part}.feather", TABLE.slice(100 * part, 100)) for part in range(3))
    model = tables.fit(pool, COLUMNS, ids="id", sample=50)
    assert pa.Table.from_batches(tables.predict(pool, model, interval=0.9)).equals(EXPECTED)
    assert tables.evaluate(pool, model).calibrated == tables.evaluate(TABLE, MODEL).calibrated
