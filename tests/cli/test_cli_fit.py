"""`calibrant fit` and `calibrant predict` do what the library does, on real files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from commands import QUANTILES as COUNTS_BY_QUANTILES
from commands import READ, app, assert_same, columns_of, counts, forecasts, plain, refused, run, write
from pyarrow import parquet
from typer.testing import CliRunner

from calibrant import Calibrator, Censored, Interval, Normal, Point, Quantiles, Samples, load
from calibrant.files import read, save
from calibrant.interpolators import NAF, BoundedTails, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.by_group import by_group
from calibrant.interpolators.history import HalfLife, Window
from calibrant.labels import Counts
from calibrant.scores import CDFScore, LogScore, RelativeScore, SqrtScore, ZScore

WANTED = ["--quantiles", "0.05,0.5,0.95", "--interval", "0.8"]
LEVELS, NAMES = [0.05, 0.5, 0.95], ["q0.05", "q0.5", "q0.95", "lower", "upper"]
KINDS = {
    "point": (["--point", "mu"], lambda t: Point(t["mu"])),
    "normal": (["--mean", "mu", "--std", "sigma"], lambda t: Normal(t["mu"], t["sigma"])),
    "interval": (["--lower", "lo", "--upper", "hi"], lambda t: Interval(t["lo"], t["hi"])),
    "quantiles": (
        ["--quantiles", "mu:0.5,hi:0.9,lo:0.1"],
        lambda t: Quantiles([0.1, 0.5, 0.9], np.stack([t["lo"], t["mu"], t["hi"]], axis=1)),
    ),
    "samples": (["--samples", "s?"], lambda t: Samples(np.stack([t[f"s{k}"] for k in range(5)], axis=1))),
}


def rows(seed, n):
    """Forecasts of every kind, and labels; 'sy', the target, fits 's?' too."""
    table = forecasts(n, seed)
    mu, sigma = table["mu"], table["sigma"]
    draws = mu[:, None] + sigma[:, None] * np.random.default_rng(seed).normal(size=(n, 5))
    ends = {"lo": mu - sigma, "hi": mu + sigma, **{f"s{k}": draws[:, k] for k in range(5)}}
    return {"id": np.array([f"row {k}" for k in range(n)]), "mu": mu, "sigma": sigma, **ends, "sy": table["y"]}


BEFORE, AFTER = rows(0, 200), rows(1, 300)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(*flags, table=None, target="sy", **more):
    write((path := Path("cal.csv")), BEFORE if table is None else table)
    return run("fit", path, "--target", target, "-o", "m.safetensors", *flags, **more)


def predicted(*flags, table=None, model="m.safetensors"):
    write(Path("test.parquet"), AFTER if table is None else table)
    run("predict", "test.parquet", "-m", model, "-o", "out.parquet", *(flags or WANTED))
    return columns_of(Path("out.parquet"))


def expected(kind, calibrator=None, seed=None):
    """The new columns, by the Python API."""
    prediction_of = KINDS[kind][1]
    H = (calibrator or Calibrator()).fit(prediction_of(BEFORE), BEFORE["sy"])(prediction_of(AFTER), seed=seed)
    return dict(zip(NAMES, [*H.quantiles(LEVELS).T, *H.interval(0.8)], strict=True))


@pytest.mark.parametrize(("kind", "suffix"), [*((kind, "csv") for kind in KINDS), *(("normal", each) for each in READ)])
def test_fit_and_predict_give_bit_for_bit_what_python_gives(inside, kind, suffix):
    ending = "csv.gz" if suffix == "gz" else suffix
    for name, table in (("cal", BEFORE), ("test", AFTER)):
        write(inside / f"{name}.{ending}", table)
    run("fit", f"cal.{ending}", "--target", "sy", *KINDS[kind][0], "-o", "m.safetensors")
    run("predict", f"test.{ending}", "-m", "m.safetensors", *WANTED, "-o", f"out.{ending}")
    assert_same(columns_of(inside / f"out.{ending}"), expected(kind))


@pytest.mark.parametrize(
    ("flags", "kind", "calibrator"),
    [
        (["--score", "cdf"], "normal", Calibrator(CDFScore())),
        (["--score", "zscore:0.3"], "normal", Calibrator(ZScore(floor=0.3))),
        (["--tails", "infinite"], "normal", Calibrator(interpolator=Linear(InfiniteTails()))),
        (["--interpolator", "naive"], "normal", Calibrator(interpolator=Naive())),
        (["--interpolator", "naf"], "normal", Calibrator(interpolator=NAF())),
        (["--score", "relative:0.5"], "point", Calibrator(RelativeScore(floor=0.5))),
        (["--score", "sqrt:9"], "point", Calibrator(SqrtScore(c=9.0))),
        (["--score", "log:20"], "point", Calibrator(LogScore(c=20.0))),
    ],
    ids=lambda each: "".join(each) if isinstance(each, list) else "",
)
@pytest.mark.filterwarnings("ignore")  # points near 0 are below the floor
def test_scores_interpolators_and_tails_go_by_name(flags, kind, calibrator):
    fit(*KINDS[kind][0], *flags)
    assert_same(predicted(), expected(kind, calibrator))


def test_a_stream_of_small_batches_gives_what_the_whole_file_gives(monkeypatch):
    fit(*KINDS["samples"][0], "--interpolator", "random", "--tails", "bounded")
    monkeypatch.setattr("calibrant.tables.files.BATCH", 50)
    monkeypatch.setattr("calibrant.tables.predicting.IN_CACHE", 33)
    found = predicted(*WANTED, "--seed", 7)
    assert_same(found, expected("samples", Calibrator(interpolator=Random(BoundedTails())), seed=7))
    assert parquet.ParquetFile("out.parquet").num_row_groups > 5


def test_probabilities_are_values_of_the_cdf_and_exceedances_what_it_leaves():
    fit(*KINDS["normal"][0])
    found = predicted("--probabilities", "-1,0.5", "--exceedances", "0.5")
    assert list(found) == ["cdf_-1", "cdf_0.5", "sf_0.5"]
    H = load("m.safetensors")(Normal(AFTER["mu"], AFTER["sigma"]))
    np.testing.assert_array_equal(found["cdf_0.5"], H.cdf(0.5))
    np.testing.assert_allclose(found["cdf_0.5"] + found["sf_0.5"], 1.0, atol=1e-15)


def test_kept_columns_come_first_and_several_intervals_are_named():
    fit(*KINDS["normal"][0])
    found = predicted("--interval", "0.5,0.9", "--keep", "sy,s[0-1]", "--keep", "id")
    assert list(found) == ["id", "s0", "s1", "sy", "lower_0.5", "upper_0.5", "lower_0.9", "upper_0.9"]
    np.testing.assert_array_equal(found["id"], AFTER["id"])
    assert_same(predicted("--interval", "0.5", "--interval", "0.9"), {name: found[name] for name in list(found)[4:]})


def test_numbers_of_every_type_are_taken(inside):
    whole = np.arange(1, 101)
    fit(
        "--mean",
        "mu",
        "--std",
        "s",
        target="y",
        table={"mu": whole * 1.0, "s": whole * 2.0, "y": whole + np.sin(whole)},
    )
    usual = predicted(table={"mu": whole * 1.0, "s": np.full(100, 2.0)})
    for kind in (pa.int8(), pa.uint16(), pa.float32(), pa.decimal128(25, 3), pa.dictionary(pa.int32(), pa.int64())):
        exact = pa.array(whole)
        column = exact.dictionary_encode() if pa.types.is_dictionary(kind) else exact.cast(kind)
        assert_same(predicted(table={"mu": column, "s": np.full(100, 2.0)}), usual)


def test_other_columns_can_stand_in_for_those_of_the_fit():
    fit(*KINDS["normal"][0])
    moved = {"centre": AFTER["mu"], "sigma": AFTER["sigma"]}
    assert_same(predicted(*WANTED, "--mean", "centre", table=moved), expected("normal"))
    said = refused(
        "predict", "test.parquet", "-m", "m.safetensors", "--point", "centre", *WANTED, "-o", "o.csv", code=2
    )
    assert "the model was fitted on a normal distribution, got --point" in said


def test_a_model_saved_from_python_reads_the_columns_that_are_named():
    save("m.safetensors", Calibrator().fit(KINDS["quantiles"][1](BEFORE), BEFORE["sy"]))
    assert_same(predicted(*WANTED, "--quantile-columns", "lo:0.1,mu:0.5,hi:0.9"), expected("quantiles"))
    words = "test.parquet", "-m", "m.safetensors"
    assert "--quantile-columns" in refused("predict", *words, *WANTED, "-o", "o.csv", code=2)
    assert "--target" in refused("evaluate", *words, *KINDS["quantiles"][0], code=2)


def test_a_model_by_group_from_python_is_told_its_columns():
    groups = np.where(np.arange(200) % 2, "a", "b")
    Calibrator(interpolator=by_group(Linear())).fit(BEFORE["mu"], BEFORE["sy"], by=groups).save("m.safetensors")
    table = {**AFTER, "g": np.where(np.arange(300) % 2, "a", "b")}
    write(Path("new.csv"), table)
    words = ["predict", "new.csv", "-m", "m.safetensors", "--point", "mu", "--interval", "0.9", "-o", "o.csv"]
    assert "the model was calibrated by group: name the columns of the groups with --by" in refused(*words, code=2)
    run(*words, "--by", "g")


def test_groups_weights_events_and_forgetting_are_those_of_python():
    rng = np.random.default_rng(0)
    table = BEFORE | {"w": rng.uniform(1, 2, 200), "seen": rng.integers(0, 2, 200) * 1.0, "g": ["a", "b"] * 100}
    seen = Censored(table["sy"], table["seen"])
    for flags, calibrator, y, known in (
        ("--by g", Calibrator(), table["sy"], {"by": table["g"]}),
        ("--weights w", Calibrator(), table["sy"], {"weights": table["w"]}),
        ("--event seen", Calibrator(), seen, {}),
        ("--last 50", Calibrator(forget=Window(50)), table["sy"], {}),
        ("--half-life 30", Calibrator(forget=HalfLife(30)), table["sy"], {}),
    ):
        fit("--point", "mu", *flags.split(), table=table)
        assert load("m.safetensors").guarantee == calibrator.fit(table["mu"], y, **known).guarantee


def test_a_sample_is_the_same_in_any_order_of_the_rows():
    flags = "--point", "mu", "--sample", "50", "--ids", "id"
    fit(*flags)
    first = load("m.safetensors").q.knots
    fit(*flags, table={name: column[::-1] for name, column in BEFORE.items()})
    np.testing.assert_array_equal(load("m.safetensors").q.knots, first)
    assert len(first) == 50


def test_fit_says_what_is_promised_and_where_it_was_written():
    said = fit("--point", "mu")
    assert "200 rows of cal.csv" in said.stdout
    assert read("m.safetensors").calibrated.guarantee.in_short() in said.stdout
    assert said.stdout.endswith("Wrote m.safetensors.\n")
    assert not said.stderr


def test_few_rows_are_warned_about_in_fit_and_in_predict():
    few = "90% intervals need 19 calibration rows, and there are 5: their ends depend on the assumed tails"
    assert fit("--point", "mu", table=rows(0, 5)).stderr == f"warning: cal.csv: {few}\n"
    said = run("predict", "cal.csv", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.csv")
    assert said.stderr.startswith(f"warning: {few}")


# ---- labels that are counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [[], ["--sample", "200"]])
def test_labels_that_look_like_counts_are_pointed_out_unless_labels_say_what_they_are(more):
    flags = ["--quantiles", COUNTS_BY_QUANTILES, *more]
    hint = "warning: cal.csv: the labels look like counts: --labels counts gives distributions on whole numbers"
    assert hint in fit(*flags, table=counts(), target="rentals").stderr
    for labels in ("real", "counts", "0:"):
        assert "look like" not in fit(*flags, "--labels", labels, table=counts(), target="rentals").stderr
    assert "look like" not in fit(*flags, table=counts(), target="rate").stderr


def test_rates_are_calibrated_as_counts(inside):
    drawn = []
    for _ in range(2):
        fit("--rate", "rate", table=counts(), target="rentals")
        drawn.append(load("m.safetensors").q.knots.tolist())
    assert drawn[0] == drawn[1]  # the draws are the same
    assert load("m.safetensors").labels == Counts()
    bounds = np.stack(list(predicted("--interval", "0.9", table=counts()).values()))
    assert np.array_equal(bounds, np.round(bounds))


def test_a_rate_may_be_a_share_under_other_labels():
    share = np.random.default_rng(0).uniform(0.2, 0.8, 300)
    table = {"share": share, "y": np.clip(share + np.random.default_rng(1).normal(0, 0.05, 300), 0.01, 0.99)}
    found = []
    for flag in ("--rate", "--point"):
        fit(flag, "share", "--labels", "logit", table=table, target="y")
        found.append(load("m.safetensors")(Point([0.5])).interval(0.9))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("more", [(), ("--sample", "1000")])
def test_a_score_that_rates_cannot_take_names_the_way_out(more):
    table = {"table": counts(), "target": "rentals"}
    assert "Calibrated rentals given rate rate" in fit("--rate", "rate", "--score", "cdf", *more, **table).stdout
    said = fit("--rate", "rate", "--score", "sqrt:1", *more, code=2, **table).stderr
    assert "SqrtScore takes Point, and a rate is used as a Poisson distribution: to use this score, name the" in said
    said = fit("--rate", "rate", "--score", "samples", *more, code=2, **table).stderr
    assert "SamplesScore takes Samples, and a rate is used as a Poisson distribution" in said
    said = fit("--rate", "rate", "--labels", "real", "--score", "zscore", *more, code=2, **table).stderr
    assert "ZScore takes Distribution, which the rate columns are not" in said


# ---- what is refused -----------------------------------------------------------------------------------------------


def test_a_label_that_is_no_count_is_named_by_every_command():
    table = counts()
    table["rentals"][[5, 7]] = -3.0, 2.5
    write(Path("neg.csv"), table)
    for command in (["evaluate"], ["report", "-o", "r.html"], ["fit", "-o", "m"]):
        said = refused(*command, "neg.csv", "--target", "rentals", "--rate", "rate")
        assert said == (
            "neg.csv: rentals is -3 in row 5 (2 rows in all): Counts() takes whole numbers from 0 on (--labels)"
        )


def test_the_c_that_a_logarithm_is_told_to_take_is_large_enough():
    flags = "cal.csv", "--target", "sy", "--point", "mu", "-o", "m", "--score"
    write(Path("cal.csv"), BEFORE)
    score, tried = "log:1", 0
    while said := CliRunner().invoke(app, ["fit", *flags, score]).stderr:
        assert said.startswith("error: cal.csv: LogScore needs ")
        assert said.endswith(" (--score NAME:NUMBER)\n")
        c = float(said.split("such as ")[1].split(" ")[0])
        assert c > -min(BEFORE["mu" if "f + c" in said else "sy"])
        score, tried = f"log:{c}", tried + 1
    assert tried in (1, 2)  # once for the points, once for the labels


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--score log:a", "--score: score 'log' takes a number for its c, got log:a"),
        ("--score cdf:1", "--score: score 'cdf' takes no number, got cdf:1"),
        ("--score logs", "--score: score must be one of residual, relative, sqrt, log, interval, quantile"),
        ("--score zscore:0", "--score: ZScore.floor must be positive and finite, got 0.0"),
        ("--score zscore", "--score: ZScore takes Distribution, which the point columns are not"),
        ("--interpolator x", "'--interpolator': 'x' is not one of 'linear', 'naive', 'random', 'naf'"),
        ("--tails x", "'--tails': 'x' is not one of 'exponential', 'bounded', 'infinite'"),
        ("--interpolator naf --tails bounded", "--tails: naf has no tails to choose, linear and random have"),
        ("--interpolator random --tails exponential", "--tails: Random puts the mass beyond the scores on single"),
        ("--labels prices", "--labels: labels must be one of "),
        ("--by g --weights w", "--by goes with neither --weights nor --event"),
        ("--event w --weights w", "censored labels take no --weights"),
        ("--unseen pooled", "--unseen: it says what groups never seen get, and needs --by"),
        ("--by g --unseen guess", "'--unseen': 'guess' is not one of 'refuse', 'pooled'"),
        ("--last 5 --half-life 3", "--last: --last and --half-life do not go together"),
        ("--half-life 0", "--half-life: HalfLife.rows must be positive"),
        ("--ids g", "--ids: it is for --sample"),
        ("--sample 50 --last 20", "--sample: it goes with neither --last nor --half-life"),
        ("--sample 50 --time id", "--time: a sample has no order"),
        ("--training cal.csv", "--training: it is for several labels"),
        ("--std sigma", "name the columns of the prediction with only one of --point, --rate, --mean and --std,"),
    ],
)
def test_options_that_do_not_go_together_or_have_no_such_value_are_refused(inside, flags, said):
    shown = fit("--point", "mu", *flags.split(), code=2).stderr
    assert said in shown
    assert shown.endswith("(see calibrant fit --help)\n")
    assert not (inside / "m.safetensors").exists()


@pytest.mark.parametrize("more", [[], ["--last", "50"]])
def test_rows_that_run_backwards_in_time_are_refused_where_a_column_says_when(more):
    day = np.arange(200)
    flags = ["--point", "mu", *more]
    fit(*flags, "--time", "day", table=BEFORE | {"day": day})
    day[[3, 4]] = day[[4, 3]]
    said = fit(*flags, "--time", "day", table=BEFORE | {"day": day}, code=1).stderr
    assert said == (
        "error: cal.csv: column 'day' runs backwards in row 4 (counting from 0), from 4 to 3: sort the rows\n"
    )


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_group_never_seen_is_named_by_its_row_of_the_file(command):
    table = {"mu": BEFORE["mu"].tolist(), "sy": BEFORE["sy"], "part": ["day", "night"] * 100}
    fit("--point", "mu", "--by", "part", table=table)
    table["mu"][1] = table["mu"][4] = None
    table["part"][7] = "dusk"
    write(Path("mess.csv"), table)
    out = ["--interval", "0.9", "-o", "o.csv"] if command == "predict" else []
    assert plain(command, "mess.csv", "-m", "m.safetensors", *out, code=1).endswith(
        "error: mess.csv: by is 'dusk', which no calibration row had, in row 7 (1 row of 198 is of no known group):"
        " unseen='pooled' gives such rows the distribution of all (calibrant fit --unseen pooled)"
    )


# ---- rows that are mended ------------------------------------------------------------------------------------------


def test_zero_widths_and_crossings_are_mended_row_by_row_and_counted_once(monkeypatch):
    monkeypatch.setattr("calibrant.tables.files.BATCH", 50)
    fit(*KINDS["interval"][0])
    lower, upper = AFTER["lo"].copy(), AFTER["hi"].copy()
    lower[[7, 200]], upper[[7, 200]] = upper[[7, 200]], lower[[7, 200]]
    lower[250:] = upper[250:]  # the last batch has no width at all
    write(Path("whole.parquet"), {"lo": lower, "hi": upper})
    said = run("predict", "whole.parquet", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.parquet")
    assert said.stderr.splitlines() == [
        "warning: whole.parquet: 2 rows, the first is row 7, have bounds or quantiles that cross: they are sorted",
        "warning: whole.parquet: 50 rows, the first is row 250, have no width of their own: they are given the floor"
        " that was learned when fitting",
    ]
    whole = columns_of(Path("out.parquet"))
    alone = predicted("--interval", "0.9", table={"lo": lower[250:251], "hi": upper[250:251]})
    assert (whole["lower"][250], whole["upper"][250]) == (alone["lower"][0], alone["upper"][0])
    assert np.all(whole["lower"] < whole["upper"])


@pytest.mark.filterwarnings("ignore:Normal.scale has zero width", "ignore:.*smaller than the median")
def test_fit_mends_as_the_library_does():
    table = {name: np.copy(column) for name, column in forecasts().items()}
    table["sigma"][[3, 5]] = 0.0
    said = fit("--mean", "mu", "--std", "sigma", table=table, target="y")
    assert said.stderr.splitlines()[-1] == (
        "warning: cal.csv: 2 rows, the first is row 3, have no width of their own: they are given the floor that was"
        " learned when fitting"
    )
    assert "but only approximately: 2 calibration rows had no width of their own" in said.stdout
    with pytest.warns(UserWarning, match="no width of their own"):
        wanted = Calibrator().fit(Normal(table["mu"], table["sigma"]), table["y"])
    found = read("m.safetensors").calibrated
    np.testing.assert_array_equal(found.q.knots, wanted.q.knots)
    assert (found.score, found.guarantee) == (wanted.score, wanted.guarantee)


def test_rows_that_lack_a_number_are_left_out_and_counted():
    table = {name: column.tolist() for name, column in forecasts().items()}
    table["y"][3] = table["mu"][5] = None
    said = fit("--mean", "mu", "--std", "sigma", table=table, target="y")
    assert said.stderr.splitlines() == [
        "warning: cal.csv: 1 row, row 3, has no label: it is left out",
        "warning: cal.csv: 1 row, row 5, has no prediction: it is left out",
    ]
    assert "398 rows" in said.stdout
    run("predict", "cal.csv", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.csv")
    assert np.flatnonzero(np.isnan(columns_of(Path("out.csv"))["lower"])).tolist() == [5]
