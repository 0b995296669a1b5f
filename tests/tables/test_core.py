"""Tables: the same bits however they are cut, ordered or merged, and errors that name table, column and row."""

from __future__ import annotations

import math
import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import calibrant
from calibrant import Calibrator, HalfLife, Normal, files, tables
from calibrant.files import FileError
from calibrant.interpolators import NAF, Apart, Linear, Naive, Random
from calibrant.labels import Counts
from calibrant.metrics.calibration import pit
from calibrant.predictions import Rates
from calibrant.tables import Columns, TableModel
from calibrant.tables.columns import ColumnsError
from calibrant.tables.evaluating import BINS, Evaluating, gaps_of
from calibrant.tables.exact_sum import ExactSum
from calibrant.tables.fitting import Fitting
from calibrant.tables.predicting import Outputs, Predicting
from calibrant.tables.rows import Header
from calibrant.tables.sampling import row_keys, smallest

N = 700
RNG = np.random.default_rng(0)
MU, SIGMA = RNG.normal(size=N), RNG.uniform(0.5, 2.0, N)
Y = MU + 1.3 * SIGMA * RNG.normal(size=N)
DRAWS = np.sort(RNG.normal(MU[:, None], SIGMA[:, None], (N, 5)), axis=1)
TABLE = pa.table(
    {
        "id": RNG.permutation(N),
        "mu": MU,
        "sigma": SIGMA,
        "lower": MU - SIGMA,
        "upper": MU + SIGMA,
        **{f"s{k}": DRAWS[:, k] for k in range(5)},
        "rate": np.exp(MU),
        "count": RNG.poisson(np.exp(MU)),
        "y": Y,
        "w": RNG.uniform(0.5, 2.0, N).round(1),
        "region": np.asarray(["north", "south", "west"])[RNG.integers(0, 3, N)],
    }
)
HEADER = Header("the table", tuple(TABLE.schema.names))
KINDS = {
    "point": ({"point": "mu"}, calibrant.Point(MU)),
    "rate": ({"rate": "rate"}, Rates(np.exp(MU))),
    "normal": ({"mean": "mu", "std": "sigma"}, Normal(MU, SIGMA)),
    "interval": ({"lower": "lower", "upper": "upper"}, calibrant.Interval(MU - SIGMA, MU + SIGMA)),
    "quantiles": (
        {"quantiles": {"s0": 0.1, "s2": 0.5, "s4": 0.9}},
        calibrant.Quantiles([0.1, 0.5, 0.9], DRAWS[:, [0, 2, 4]]),
    ),
    "samples": ({"samples": ["s?"]}, calibrant.Samples(DRAWS)),
}
WANTED = {"quantiles": [0.05, 0.5], "interval": [0.8, 0.9], "probabilities": [0.0], "exceedances": [1.5]}
NORMAL = Columns(target="y", mean="mu", std="sigma")
COUNTS = Columns(target="count", rate="rate")
FITS = {
    "linear": (NORMAL, Calibrator()),
    "naive": (NORMAL, Calibrator(interpolator=Naive())),
    "random": (NORMAL, Calibrator(interpolator=Random())),
    "NAF": (NORMAL, Calibrator(interpolator=NAF())),
    "groups": (replace(NORMAL, by="region"), Calibrator()),
    "apart": (replace(NORMAL, by=["region"]), Calibrator(interpolator=Apart(Linear()))),
    "weights": (replace(NORMAL, weights="w"), Calibrator()),
    "counts": (COUNTS, Calibrator(labels=Counts())),
}
MODEL = tables.fit(TABLE, NORMAL)


def cut(table, seed):
    """The same rows in another order, in batches of other sizes, empty ones among them."""
    rng = np.random.default_rng(seed)
    table = table.take(rng.permutation(len(table)))
    ends = np.sort(rng.integers(0, len(table), 9))
    return [
        table.slice(a, b - a).combine_chunks().to_batches()[0] if b > a else table.slice(0, 0).to_batches()[0]
        for a, b in zip([0, *ends], [*ends, len(table)], strict=True)
    ]


def same(a, b, seed=1):
    """Whether two models say the same of all rows, to the bit."""
    answers = [tables.predict(TABLE, each, seed=seed, **WANTED).read_all() for each in (a, b)]
    return answers[0].equals(answers[1]) and a.calibrated.guarantee == b.calibrated.guarantee


def fitting(columns, sample=100_000, ids=(), calibrator=None):
    return Fitting(columns, ids, "keep", calibrator or Calibrator(), sample).on(HEADER)


def evaluating(model=MODEL, **known):
    return Evaluating(model.columns, (), "keep", model, **known).on(HEADER)


def with_(name, values):
    return TABLE.set_column(TABLE.schema.get_field_index(name), name, pa.array(values))


# ---- the same numbers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_batches_of_any_size_and_order_are_predicted_to_the_bit_as_the_library_does(kind, monkeypatch):
    monkeypatch.setattr("calibrant.tables.predicting.IN_CACHE", 64)
    columns, prediction = KINDS[kind]
    model = tables.fit(TABLE, Columns(target="y", **columns))
    whole = tables.predict(TABLE, model, **WANTED)
    names = ["q0.05", "q0.5", "lower_0.8", "upper_0.8", "lower_0.9", "upper_0.9", "cdf_0", "sf_1.5"]
    assert whole.schema.names == [*TABLE.schema.names, *names]
    whole = whole.read_all()
    assert tables.predict(cut(TABLE, 1), model, **WANTED).read_all().sort_by("id").equals(whole.sort_by("id"))
    H = Calibrator().fit(prediction, Y)(prediction)
    assert np.array_equal(H.quantiles([0.05, 0.5]), np.stack([whole["q0.05"], whole["q0.5"]], axis=1))
    assert np.array_equal(H.interval(0.9), [whole["lower_0.9"], whole["upper_0.9"]])
    assert np.array_equal(H.sf(1.5), whole["sf_1.5"])


@pytest.mark.parametrize("kind", FITS)
@pytest.mark.parametrize("k", [None, 100])
def test_a_fit_has_the_same_bits_in_any_batches_parts_and_order(kind, k, tmp_path):
    columns, calibrator = FITS[kind]
    whole = tables.fit(TABLE, columns, calibrator, ids="id", sample=k)
    if k is not None:
        assert whole.calibrated.history.scores.shape[0] == (3 * k if columns.by else k)
    again = tables.fit(cut(TABLE, 2), columns, calibrator, ids="id", sample=k)
    assert same(again, whole)
    for model, name in ((whole, "whole"), (again, "again")):
        model.save(tmp_path / name)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "whole").read_bytes()
    work = fitting(columns, k, ("id",), calibrator)
    parts = [work.part(rows, f"part {number}", number) for number, rows in enumerate(cut(TABLE, 3)) if len(rows)]
    assert same(work.finish(work.merge([work.merge(parts[6:]), work.merge(parts[:6])])), whole)


@pytest.mark.parametrize("kind", ["linear", "random", "weights", "groups"])
def test_a_fit_on_all_rows_is_that_of_the_calibrator(kind):
    columns, calibrator = FITS[kind]
    known = {"weights": TABLE["w"].to_numpy()} if columns.weights else {}
    known |= {"by": TABLE["region"].to_pylist()} if columns.by else {}
    plain = TableModel(calibrator.fit(Normal(MU, SIGMA), Y, **known), columns)
    assert same(plain, tables.fit(TABLE, columns, calibrator))


def test_labels_of_which_some_were_not_seen_are_those_of_censored():
    seen = (np.arange(N) % 5 > 0) * 1.0
    columns, censored = replace(NORMAL, event="seen"), calibrant.Censored(Y, seen)
    model = tables.fit(TABLE.append_column("seen", pa.array(seen)), columns)
    plain = Calibrator().fit(Normal(MU, SIGMA), censored)
    assert np.array_equal(*(each(Normal(MU, SIGMA)).quantiles([0.2, 0.5]) for each in (model.calibrated, plain)))
    assert tables.predict(TABLE, model, quantiles=0.5, keep=[]).read_all().num_rows == N  # no label is needed
    with pytest.raises(ValueError, match=r"^the table: column 'seen' says that the label was not seen in row 0 "):
        tables.evaluate(TABLE.append_column("seen", pa.array(seen)), model)
    assert tables.evaluate(TABLE, model).base.n == N  # a table without the column: all were seen


def test_groups_of_two_columns_are_pairs_of_their_values():
    half, apart = np.arange(N) % 2, Calibrator(interpolator=Apart(Linear()))
    table = TABLE.append_column("half", pa.array(half))
    pairs = list(zip(TABLE["region"].to_pylist(), half, strict=True))
    model = tables.fit(table, replace(NORMAL, by=["region", "half"]), apart)
    found = tables.predict(table, model, quantiles=[0.05, 0.5], keep=[]).read_all()
    H = apart.fit(Normal(MU, SIGMA), Y, by=pairs)(Normal(MU, SIGMA), by=pairs)
    assert np.array_equal(H.quantiles([0.05, 0.5]), np.stack(found.columns, axis=1))


def test_a_model_is_updated_as_the_calibrator_is():
    first = tables.fit(TABLE.slice(0, 400), NORMAL)
    assert same(tables.update(TABLE.slice(400), first), MODEL)
    with pytest.raises(ValueError, match=r"^the table: NAF fits q to all scores at once and cannot add to it"):
        tables.update(TABLE, tables.fit(TABLE, NORMAL, Calibrator(interpolator=NAF())))


# ---- samples ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ids", ["id", ("shop", "day"), "name"])
def test_a_sample_has_the_rows_with_the_smallest_keys(ids):
    n = 5 * N
    columns = {"id": np.arange(n), "shop": np.arange(n) // 35, "day": np.arange(n) % 35}
    columns["name"] = np.asarray([f"row {k}" for k in range(n)], object)
    table = pa.table({**columns, "f": np.zeros(n), "y": np.random.default_rng(1).normal(size=n)})
    model = tables.fit(table.to_batches(max_chunksize=50), Columns(target="y", point="f"), ids=ids, sample=60)
    keys = row_keys(columns[ids] if isinstance(ids, str) else tuple(columns[each] for each in ids))
    assert model.calibrated.q.knots.tolist() == np.sort(table["y"].to_numpy()[smallest(keys, 60)]).tolist()


def test_without_ids_a_row_is_known_by_the_numbers_of_its_part_and_its_place():
    works = fitting(NORMAL, 60), evaluating(tables.fit(TABLE, *FITS["counts"]))
    for work, found in ((works[0], lambda part: part.found[0]["y"]), (works[1], lambda part: part.found[0].pits)):
        raw, first, second = (found(work.part(TABLE, "a", *number)) for number in ((), (0,), (1,)))
        assert list(raw) == list(first)
        assert list(raw) != list(second)


def test_keys_are_even_and_independent_of_their_neighbours():
    keys = row_keys(np.arange(100_000)).astype(np.float64) / 2.0**64
    shares = np.histogram(keys, 100, (0, 1))[0]
    assert np.sum((shares - 1000) ** 2 / 1000) < 160  # chi-squared with 99 degrees of freedom: 1 in 10,000
    assert abs(np.corrcoef(keys[1:], keys[:-1])[0, 1]) < 0.015
    two = row_keys((np.repeat(np.arange(100), 100), np.tile(np.arange(100), 100)))
    assert len(np.unique(two)) == 10_000


def test_counts_of_a_sample_are_drawn_uniformly_over_their_steps():
    """The keys of a sample are small, and what is drawn for its rows must not be."""
    n = 4000
    table = pa.table({"rate": np.full(n, 1.0), "count": np.zeros(n)})
    model = tables.fit(table, *FITS["counts"], sample=400)
    # z-scores of 0 - 1/2 + U under a Poisson distribution of rate 1, spread: mean 1, variance 1 + 1/12
    u = np.sort(model.calibrated.history.scores) * math.sqrt(13 / 12) + 1.5
    assert np.max(np.abs(u - (np.arange(400) + 0.5) / 400)) < 1.95 / math.sqrt(400)  # Kolmogorov, once in 1,000


def test_intervals_of_a_sample_keep_their_coverage():
    """19 rows of 60 by their keys: at the levels 1/20 and 19/20 the coverage is 90% exactly."""
    rng, inside, runs = np.random.default_rng(5), 0, 800
    for run in range(runs):
        y = rng.normal(size=61)
        table = pa.table({"id": 60 * run + np.arange(60), "f": np.zeros(60), "y": y[:60]})
        model = tables.fit(table, Columns(target="y", point="f"), ids="id", sample=19)
        lower, upper = model.calibrated([0.0]).interval(0.9)
        inside += bool(lower[0] <= y[60] <= upper[0])
    assert abs(inside / runs - 0.9) < 3.5 * math.sqrt(0.09 / runs)


# ---- evaluation ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_in_one_pass_are_those_of_all_rows(kind):
    columns, prediction = KINDS[kind]
    model = tables.fit(TABLE, Columns(target="y", **columns))
    found = tables.evaluate(TABLE, model, ids="id", coverage=0.8)
    again = tables.evaluate(cut(TABLE, 4), model, ids="id", coverage=0.8)
    for name in ("base", "calibrated", "mae", "intervals"):
        assert getattr(found, name) == getattr(again, name)
    assert np.array_equal(found.pits, again.pits)
    H = model.calibrated(prediction)
    base = MU if kind == "point" else prediction
    for side, forecast in (("base", base), ("calibrated", H)):
        whole, got = calibrant.evaluate(forecast, Y, coverage=0.8), getattr(found, side)
        assert dict(got.labels) == dict(whole.labels)
        for name in whole.labels:
            a, b = getattr(got, name), getattr(whole, name)
            about = {"ece": 2 / BINS + 1 / N, "debiased_ece": 2 / BINS + 1 / N, "sup_calibration_error": 2 / BINS}
            if side == "base" and kind == "samples" and name in {*about, "pit_pvalue"}:
                continue  # PITs by rank, drawn by row here
            if b is None:
                assert a is None, name
                continue
            assert a == pytest.approx(b, rel=1e-12, abs=about.get(name, 0.02 if name == "pit_pvalue" else 1e-12)), name
    assert found.mae == pytest.approx(np.mean(np.abs(Y - H.median())), rel=1e-12)
    lower, upper = H.interval(0.5)
    assert found.intervals[0.5] == (np.mean((lower <= Y) & (upper >= Y)), pytest.approx(np.mean(upper - lower)))
    assert found.histogram().sum() == N
    expected, _ = np.histogram(pit(H, Y), np.linspace(0, 1, 11))
    assert np.max(np.abs(found.histogram(10) - expected)) <= 2
    assert "CRPS" in str(found)


def test_pits_of_counts_are_drawn_by_row_in_any_parts():
    model = tables.fit(TABLE, *FITS["counts"], ids="id")
    whole = tables.evaluate(TABLE, model, ids="id")
    work = replace(evaluating(model), ids=("id",))
    parts = [work.part(rows, "part", number) for number, rows in enumerate(cut(TABLE, 5)) if rows.num_rows]
    found = work.finish(work.merge([work.merge(parts[3:]), work.merge(parts[:3])]))
    assert np.array_equal(whole.pits, found.pits)
    # a sum over the points of a count is cut to the widest row of a part: its last digits depend on the part
    sums = {"crps": whole.calibrated.crps, "std": whole.calibrated.std}
    assert {name: getattr(found.calibrated, name) for name in sums} == pytest.approx(sums, rel=1e-12)
    assert replace(found.calibrated, **sums) == whole.calibrated
    assert whole.calibrated.pit_pvalue > 0.01


@pytest.mark.parametrize("y", [0.0, -0.6, 0.7])
def test_the_calibration_error_of_a_histogram_is_below_the_true_one_by_less_than_a_bin(y):
    table = pa.table({"mu": np.zeros(4), "sigma": np.ones(4), "y": np.full(4, y)})
    off = calibrant.evaluate(Normal(np.zeros(4), 1.0), np.full(4, y)).sup_calibration_error
    off -= tables.evaluate(table, MODEL).base.sup_calibration_error
    assert 0.0 <= off < 1 / BINS
    assert gaps_of(np.full(BINS, 3)) == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_pit_of_zero_is_counted_with_the_smallest():
    far = with_("y", np.where(np.arange(N) < 3, -1e9, Y))
    found = tables.evaluate(far, MODEL)
    assert found.pits.sum() == N
    assert found.pits[0] >= 3


def test_exact_sums_are_those_of_fractions():
    values = np.random.default_rng(6).normal(size=999) * 10.0 ** np.random.default_rng(7).integers(-12, 6, 999)
    exact = float(sum(map(Fraction, values)) / len(values))
    assert ExactSum.of(values).mean() == exact
    parts = [ExactSum.of(part) for part in np.array_split(values[::-1], 13)]
    assert sum(parts, start=ExactSum()).mean() == exact
    assert ExactSum.of(np.array([1.0, np.inf])).mean() == np.inf
    assert math.isnan((ExactSum.of(np.array([np.inf])) + ExactSum.of(np.array([-np.inf, 0.0]))).mean())


# ---- what is a table, and a model ------------------------------------------------------------------------------------


def test_frames_tables_readers_and_lists_of_frames_are_tables():
    frame = TABLE.to_pandas()
    model = tables.fit(frame, Columns(target="y", point="mu"))
    whole = tables.predict(TABLE, model, interval=0.9, keep=["id"]).read_all()
    for given in (frame, TABLE.to_reader(), iter([frame[:300], frame[300:]]), TABLE.combine_chunks().to_batches()[0]):
        assert tables.predict(given, model, interval=0.9, keep=["id"]).read_all().equals(whole)


def test_nothing_is_read_before_the_second_batch_is_asked_for():
    def endless():
        while True:
            yield TABLE.to_batches()[0]
            asked.append(1)

    asked = []
    reader = tables.predict(endless(), MODEL, quantiles=0.5)
    assert len([reader.read_next_batch() for _ in range(3)]) == 3
    assert len(asked) <= 4


@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_the_same_from_a_file(kind, tmp_path):
    columns = Columns(target="y", by="region", **KINDS[kind][0])
    model = tables.fit(TABLE, columns)
    model.save(tmp_path / "m")
    again = TableModel.read(tmp_path / "m")
    assert again.columns == model.columns == columns.resolve(HEADER)
    assert same(again, model)


def test_columns_are_said_in_words_and_overridden_by_others_of_their_kind():
    columns = Columns(quantiles="q90:0.9, q10:0.1", by="shop")
    assert columns == Columns(quantiles={"q10": 0.1, "q90": 0.9}, by=["shop"])
    assert columns.described() == "quantile 0.1 in column 'q10', quantile 0.9 in column 'q90'"
    assert columns.override(target="y", by=(), weights=None) == replace(columns, target="y")
    assert NORMAL.override(mean="f").names == ("f", "sigma")
    with pytest.raises(ColumnsError, match=r"^the model was fitted on quantiles, got mean= and std=$") as told:
        columns.override(std="sigma", mean="mu")
    assert told.value.spelled(lambda name: f"--{name}") == "the model was fitted on quantiles, got --mean and --std"


@pytest.mark.parametrize(
    "notes",
    [
        None,
        {"target": "y"},
        {"target": 3, "point": "mu"},
        {"target": "y", "point": 3},
        {"target": "y", "point": "mu", "by": "region"},
        {"target": "y", "point": "mu", "by": ["region", 3]},
        {"target": "y", "point": "mu", "other": "x"},
        {"target": "y", "quantiles": [["a", 0.5, 1]]},
    ],
)
def test_a_file_without_its_columns_is_told_the_way(tmp_path, notes):
    files.save(tmp_path / "m", MODEL.calibrated, notes=notes)
    with pytest.raises(FileError, match=r"does not say which columns it was fitted on: .* TableModel\(calibrated, Col"):
        TableModel.read(tmp_path / "m")


def test_what_is_sent_to_be_predicted_goes_without_its_scores():
    sent = Predicting(MODEL, Outputs(0.5)).on(HEADER).model
    assert sent.calibrated.history is None
    assert same(sent, MODEL)


# ---- bad input -------------------------------------------------------------------------------------------------------


def fit(table=TABLE, calibrator=None, **columns):
    known = {name: columns.pop(name) for name in ("ids", "sample", "missing", "name") if name in columns}
    return tables.fit(table, Columns(**{"target": "y", **columns}), calibrator, **known)


def predict(table=TABLE, model=MODEL, **asked):
    return tables.predict(table, model, **{"quantiles": 0.5, **asked}).read_all()


SMALL = {"max_chunksize": 64}
NEGATIVE = with_("sigma", np.where(np.arange(N) == 300, -1.0, SIGMA)).to_batches(**SMALL)
HALF = with_("count", np.where(np.arange(N) == 9, 2.5, 1.0)).to_batches(**SMALL)
NO_MU, NO_Y = with_("mu", pa.nulls(N)), with_("y", pa.nulls(N))
NOTHING_WHOLE = pa.table({"mu": [1.0, None, 3.0], "sigma": [1.0, 1.0, 1.0], "y": [None, 2.0, None]})
"""Each row has a prediction or a label, and none has both."""
TWO_KINDS = [TABLE.to_batches()[0], with_("mu", ["?"] * N).to_batches()[0]]
ONE_LESS = [TABLE.to_batches()[0], TABLE.drop_columns("id").to_batches()[0]]
OTHER_ORDER = [TABLE.select(names).to_batches()[0] for names in (["mu", "y"], ["y", "mu"])]
NO_ID, NO_REGION = with_("id", [None, *range(N - 1)]), with_("region", ["north"] * 500 + [None] * (N - 500))
BAD = [
    (lambda: fit([], point="mu"), "^the table: there is no batch"),
    (lambda: fit(3, point="mu"), "what Arrow can stream, got int"),
    (lambda: fit([3], point="mu"), "got int among them"),
    (lambda: fit(TABLE.slice(0, 0), point="mu"), "^the table: there are no rows$"),
    (lambda: fit(point="Mu"), "^the table: there is no column 'Mu'; did you mean 'mu'"),
    (lambda: fit(point="price"), "there is no column 'price'; the columns are 'id', .*, 's4' and 5 more$"),
    (lambda: fit(), "name the columns of the prediction with one of point=, rate=, mean= and std=, lower="),
    (lambda: fit(point="mu", rate="rate"), "with only one of point=, .*, got point= and rate="),
    (lambda: fit(mean="mu"), "^mean= needs std= too$"),
    (lambda: tables.fit(TABLE, Columns(point="mu")), "name the column of the labels with target="),
    (lambda: fit(mean=3, std="sigma"), "^mean must be the name of a column, got 3$"),
    (lambda: fit(target="mu", point="mu"), "'mu' is the target, and among"),
    (lambda: fit(point="region"), "column 'region' must hold numbers, got string"),
    (lambda: fit(quantiles={"s0": 0.9, "s1": 0.9}), "levels must differ"),
    (lambda: fit(quantiles="s0,s1"), "expected names and levels, as in q05:0.05"),
    (lambda: fit(samples="y*,[y]"), r"^the table: no column matches y\*, \[y\]$"),
    (lambda: fit(point="mu", by="region", weights="w"), "by= goes with neither weights="),
    (lambda: fit(point="mu", event="count", weights="w"), "censored labels take no weights="),
    (lambda: fit(NEGATIVE, mean="mu", std="sigma"), "^the table: column 'sigma' is negative in row 300 "),
    (lambda: tables.evaluate(NEGATIVE, MODEL), "^the table: column 'sigma' is negative in row 300 "),
    (lambda: fit(NO_MU, point="mu"), "^the table: column 'mu' is missing in all 700 rows$"),
    (lambda: predict(NO_MU.to_batches(**SMALL)), "^the table: column 'mu' is missing in all 700 rows$"),
    (lambda: tables.evaluate(NO_Y, MODEL), "^the table: column 'y' is missing in all 700 rows$"),
    (lambda: fit(NOTHING_WHOLE, point="mu"), "^the table: no row has both a label and a prediction$"),
    (lambda: tables.update(NOTHING_WHOLE, MODEL), "^the table: no row has both a label and a prediction$"),
    (lambda: fit(NOTHING_WHOLE, point="mu", missing="error"), "^the table: column 'mu' is missing in row 1 "),
    (
        lambda: fit(TWO_KINDS, point="mu"),
        "another schema than the first: column 'mu' is string, not double",
    ),
    (lambda: predict(ONE_LESS), "batch 1 has another schema than the first: column 'id' is not there, not int64"),
    (lambda: fit(OTHER_ORDER, point="mu"), r"another order than the first: \['y', 'mu'\], not \['mu', 'y'\]$"),
    (lambda: fit(point="mu", ids="w"), "ids must be whole numbers or texts"),
    (lambda: fit(point="mu", ids="count", sample=9), "the ids in count must be of one row each, and two rows have"),
    (lambda: fit(NO_ID, point="mu", ids="id"), "column 'id' of the ids is missing in row 0"),
    (lambda: fit(NO_REGION, point="mu", by="region"), "^the table: column 'region' is missing in row 500 "),
    (lambda: fit(point="mu", sample=0), "sample must be a whole number"),
    (lambda: fit(point="mu", missing="no"), '"keep" or "error", got'),
    (lambda: fit(TABLE, Calibrator(forget=HalfLife(9)), point="mu"), "no time order"),
    (lambda: tables.fit(HALF, *FITS["counts"], name="sales"), r"^sales: count is 2\.5 in row 9 \("),
    (lambda: predict(quantiles=()), "expected quantiles, interval, probabilities or exceedances"),
    (lambda: predict(quantiles=[0.5, 0.5]), "quantiles must differ"),
    (lambda: predict(quantiles=1.5), r"strictly inside \(0, 1\), got 1.5"),
    (lambda: predict(interval=0.9), "column 'lower' cannot be kept: a new column"),
    (lambda: predict(keep=["q"]), "there is no column 'q'"),
    (lambda: predict(model=MODEL.calibrated), r"which columns .* TableModel\(calibrated, Columns\("),
    (lambda: predict(model=tables.fit(TABLE, *FITS["random"])), "randomised and needs a seed"),
    (lambda: predict(TABLE.append_column("mu", TABLE["y"]), keep=["y"]), "^the table: there are 2 columns named 'mu'$"),
    (lambda: predict(missing="error", table=with_("mu", [None, *MU[1:]])), "column 'mu' is missing in row 0"),
    (lambda: TableModel(3, NORMAL), "^a TableModel holds what Calibrator.fit gives, got int$"),
    (lambda: TableModel(Calibrator().fit(MU, Y, by=TABLE["region"].to_pylist()), NORMAL), "groups with by="),
]


@pytest.mark.parametrize(("call", "words"), BAD)
def test_bad_input_is_told_in_one_sentence(call, words):
    with pytest.raises((ValueError, TypeError), match=words) as told:
        call()
    assert "\n" not in str(told.value)


def test_parts_whose_groups_differ_in_type_are_named():
    work = Fitting(Columns(target="y", point="f", by="g"), (), "keep").on(Header("it", ("f", "y", "g")))
    frames = [pd.DataFrame({"f": [1.0], "y": [2.0], "g": [each]}) for each in ("1", 1)]
    parts = [work.part(frame, f"part {number}", number) for number, frame in enumerate(frames)]
    with pytest.raises(ValueError, match="part 1: column 'g' is int64, and string in part 0"):
        work.merge(parts)


@pytest.mark.parametrize("work", [fitting(NORMAL), evaluating()])
def test_parts_without_a_column_or_any_rows_are_named(work):
    with pytest.raises(ValueError, match="part 3: there is no column 'mu'"):
        work.part(TABLE.drop_columns("mu"), "part 3")
    with pytest.raises(ValueError, match=r"^the parts: there are no rows$"):
        work.finish(work.merge([]), "the parts")
    parts = [work.part(TABLE.slice(0, 0), f"part {number}", number) for number in (0, 1)]
    with pytest.raises(ValueError, match=r"^the parts: there are no rows in part 0, part 1$"):
        work.finish(work.merge(parts), "the parts")


# ---- rows that are repaired or left out ------------------------------------------------------------------------------

ROUGH = pa.table(
    {
        "lower": [0.0, 2.0, 1.0, 0.0, None, 0.0, 0.0, 0.0],
        "upper": [1.0, 0.0, 1.0, 2.0, 1.0, 3.0, 1.0, 1.0],
        "y": [0.5, 1.0, 2.0, None, 1.0, 1.5, 3.0, -1.0],
    }
)
"""Row 1 crosses, row 2 has no width, row 3 no label, row 4 no prediction."""
BOUNDS = Columns(target="y", lower="lower", upper="upper")
OF_BOUNDS = tables.fit(TABLE, BOUNDS)
WORKS = {
    "fit": lambda rows: tables.fit(rows, BOUNDS),
    "evaluate": lambda rows: tables.evaluate(rows, OF_BOUNDS),
    "predict": lambda rows: tables.predict(rows, OF_BOUNDS, quantiles=0.5).read_all(),
    "update": lambda rows: tables.update(rows, OF_BOUNDS),
}
CROSSING = "have bounds or quantiles that cross: they are sorted"
FLAT = "have no width of their own: they are given the floor that was learned when fitting"


def said(rows, work):
    """What is warned of while work is done on rows, in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work(rows)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("step", WORKS)
def test_what_was_mended_and_what_is_missing_is_told_once_for_all_batches(step):
    table = pa.concat_tables([ROUGH, ROUGH])
    left_out = [(3, "label: they are left out"), (4, "prediction: they are left out")]
    missing = [(4, "prediction: what is written for them is NaN")] if step == "predict" else left_out
    rows = [(1, CROSSING), (2, FLAT), *((row, f"have no {what}") for row, what in missing)]
    for given in (table, table.to_batches(max_chunksize=5)):
        assert said(given, WORKS[step]) == [f"the table: 2 rows, the first is row {row}, {what}" for row, what in rows]


@pytest.mark.parametrize("step", ["fit", "evaluate"])
def test_what_was_mended_and_what_is_missing_is_told_once_for_all_parts(step):
    work = fitting(BOUNDS) if step == "fit" else evaluating(OF_BOUNDS)
    whole = ROUGH.take([0, 5, 6, 7])
    given = [whole, ROUGH, whole.slice(0, 0), ROUGH.take([3, 1, 4, 2, 0])]
    parts = [work.part(rows, f"part {number}", number) for number, rows in enumerate(given)]
    rows = [
        (1, CROSSING),
        (2, FLAT),
        (3, "have no label: they are left out"),
        (4, "have no prediction: they are left out"),
    ]
    for merged in (work.merge(parts), work.merge([work.merge(parts[:2]), work.merge(parts[2:])])):
        assert said(merged, work.finish) == [
            *(f"the table: 2 rows, the first is row {row} of part 1, {what}" for row, what in rows),
            "the table: there are no rows in part 2",
        ]


def test_rows_with_gaps_are_nan_or_left_out():
    mu, y = MU.copy(), Y.copy()
    mu[[7, 9]], y[[1, 9, 11]] = np.nan, np.nan
    table = with_("mu", mu).set_column(TABLE.schema.get_field_index("y"), "y", pa.array(y))
    there = np.isfinite(mu) & np.isfinite(y)
    with pytest.warns(UserWarning, match="have no"):
        model = fit(table, point="mu")
    assert model.calibrated.q.knots.tolist() == np.sort((y - mu)[there]).tolist()
    with pytest.warns(UserWarning, match="have no prediction"):
        found = predict(table.to_batches(max_chunksize=8), model)
    assert np.flatnonzero(np.isnan(found["q0.5"].to_numpy())).tolist() == [7, 9]
    with pytest.warns(UserWarning, match="have no"):
        assert tables.evaluate(table, model).calibrated.n == there.sum()


def test_a_normal_distribution_without_a_width_is_told_of_and_one_quantile_has_none_to_tell_of():
    table = pa.table({"mu": MU[:9], "sigma": [*SIGMA[:5], 0.0, *SIGMA[6:9]], "y": [*Y[:5], MU[5], *Y[6:9]]})
    told = "the table: 1 row, row 5, has no width of its own: it is given the floor that was learned when fitting"
    for work in (lambda rows: tables.evaluate(rows, MODEL), lambda rows: predict(rows)):
        assert said(table, work) == [told]
    assert said(TABLE, lambda rows: fit(rows, quantiles={"mu": 0.5})) == []


def test_an_interval_that_too_few_rows_can_promise_is_warned_of():
    model = tables.fit(TABLE.slice(0, 9), NORMAL)
    with pytest.warns(UserWarning, match="99% interval") as caught:
        predict(model=model, interval=[0.5, 0.99], keep=["id"])
    assert [each.filename for each in caught] == [__file__]
    assert said(TABLE, lambda rows: predict(rows, model, interval=[0.5, 0.8], keep=["id"])) == []
