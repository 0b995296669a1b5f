"""The study's tables, figure and page, made of results with means that are known beforehand."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from studies.columns import HEADINGS
from studies.means import Mean, difference, over_datasets, over_splits
from studies.names import Method
from studies.paper import published
from studies.paper.claims import claims
from studies.paper.design import PAPER
from studies.paper.floors import NLL_FLOOR, ece_floor
from studies.paper.goals import goals
from studies.paper.page import page
from studies.paper.ranking import ranked
from studies.paper.reading import read
from studies.paper.reproduction import write
from studies.paper.tables import per_dataset, table1, table2, versus
from studies.tables import intervals
from studies.writers import averages_csv, markdown, per_dataset_csv

ZSCORE, CDF = (
    {k: Method("distribution", score, k) for k in ("linear", "random", "naf")} for score in ("zscore", "cdf")
)
HEADER = {"study": {"versions": {"calibrant": "0.1.0", "numpy": "2.3"}, "seed": 0, "device": "cpu", "recipe": {}}}
FILES = {
    *(f"{name}.{kind}" for name in ("table1", "table2", "per_dataset", "intervals") for kind in ("csv", "md")),
    "intervals.png",
    "reproduction.md",
}


def cell(dataset, split, method, **values):
    """A finished cell that agrees with the paper where the paper has a number, unless told otherwise."""

    def paper(metric, otherwise):
        value = published.of(dataset, method.name, metric).value if method.base == "distribution" else None
        return otherwise if value is None else value

    line = {
        "dataset": dataset,
        "split": split,
        **method._asdict(),
        **{"n_train": 60, "n_calibration": 20, "n_test": 20, "seconds": 0.5, "coverage95": 0.95},
        "std": paper("std", 0.5),
        "ci95_width": paper("ci95_width", 1.9),
        "nll_authors": paper("nll", 0.4),
        "nll": None if method.interpolator == "random" else 0.3,
        "crps": paper("crps", 0.25),
        "ece": paper("ece", 0.005),
    }
    if method.interpolator == "linear":
        line |= {"conformal_width": 1.5, "conformal_coverage": 0.9, "credible_width": 1.6, "credible_coverage": 0.905}
    return line | values


def cells(datasets=("boston", "yacht"), splits=4, change=lambda line: line):
    """Every cell of some datasets and splits; `change` may alter one, or drop it by returning None."""
    lines = [
        cell(dataset, split, method) for dataset in datasets for split in range(splits) for method in PAPER.methods
    ]
    return [line for line in map(change, lines) if line is not None]


def save(folder, lines, *, header=HEADER, more=(), tail=""):
    path = folder / "cells.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in [header, *more, *lines]) + tail, encoding="utf-8")
    return path


def results(folder, *args, **kwargs):
    return read(save(folder, cells(*args, **kwargs)))


def only(method, **values):
    """A change of one method's cells; a value may be a function of the line."""

    def change(line):
        if Method(line["base"], line["score"], line["interpolator"]) != method:
            return line
        return line | {name: value(line) if callable(value) else value for name, value in values.items()}

    return change


def records(text):
    return list(csv.DictReader(io.StringIO(text)))


def verdict(verdicts, start):
    (found,) = [one for one in verdicts if one.statement.startswith(start)]
    return found


# The published numbers


def shared(name):
    folder = Path(os.environ.get("CALIBRANT_SHARED") or Path(__file__).parents[2] / ".." / "shared")
    path = folder / "paper" / name
    if not path.is_file():
        pytest.skip(f"{name} of the paper is not at hand (CALIBRANT_SHARED)")
    return records(path.read_text(encoding="utf-8"))


def as_printed(row, metric):
    mean, se = row.get(f"{metric}_mean"), row.get(f"{metric}_se")
    return (float(mean), float(se)) if mean else (None, None)


def test_the_appendix_is_the_papers():
    rows = shared("per_dataset.csv")
    assert {(row["dataset"], row["method"]) for row in rows} == set(published.per_dataset())
    for row in rows:
        for metric in published.METRICS:
            mean = published.of(row["dataset"], row["method"], metric)
            assert (mean.value, mean.se) == as_printed(row, metric), (row["dataset"], row["method"], metric)


@pytest.mark.parametrize(
    ("name", "key", "ours"),
    [
        ("table1_scores_and_interpolators.csv", "method", published.table1),
        ("table2_base_predictors.csv", "base", published.table2),
    ],
)
def test_tables_1_and_2_are_the_papers(name, key, ours):
    rows = shared(name)
    assert {row[key] for row in rows} == set(ours())
    for row in rows:
        for metric in published.METRICS[:4]:
            mean = ours()[row[key]][metric]
            assert (mean.value, mean.se) == as_printed(row, metric), (row[key], metric)


def test_the_papers_table_1_is_the_unweighted_mean_of_its_appendix():
    for method, metrics in published.table1().items():
        for metric, printed in metrics.items():
            if printed.value is not None:
                assert published.average(method, metric).value == pytest.approx(printed.value, abs=0.0015)


def test_the_average_over_the_14_datasets_at_hand_is_the_known_one():
    absent = {"fb-comment2", "super-conductivity", "medical-expenditure"}
    among = [dataset for dataset in published.datasets() if dataset not in absent]
    known = {
        "zscore-naf": (0.422, 1.774, 0.264, 0.224, 0.008),
        "zscore-linear": (0.415, 1.687, 0.505, 0.224, 0.008),
        "cdf-naf": (0.430, 1.663, 0.428, 0.234, 0.018),
        "cdf-linear": (0.557, 1.791, 0.403, 0.224, 0.008),
    }
    for method, values in known.items():
        ours = [published.average(method, metric, among).value for metric in published.METRICS]
        assert ours == pytest.approx(values, abs=0.00051), method


def test_cdf_randoms_printed_crps_has_9_datasets_behind_it():
    printed = published.table1()["cdf-random"]["crps"]
    assert (printed.value, printed.count, printed.of) == (0.217, 9, 17)


# Means


def test_a_standard_error_over_splits_is_the_deviation_over_the_root_of_their_count():
    values = np.random.default_rng(0).normal(3, 2, 16)
    mean = over_splits(values.tolist())
    assert (mean.value, mean.se) == pytest.approx((values.mean(), values.std(ddof=1) / 4))
    assert (mean.count, mean.of) == (16, 16)


def test_a_single_split_has_no_standard_error():
    assert over_splits([2.0]) == Mean(2.0, None, 1, 1)
    assert over_datasets([over_splits([2.0]), over_splits([4.0, 6.0])]) == Mean(3.5, None, 2, 2)


def test_a_split_without_a_finite_value_leaves_no_mean_but_is_counted():
    assert over_splits([1.0, None, 3.0]) == Mean(None, None, 2, 3)


def test_a_difference_without_a_standard_error_is_none():
    exact = Mean(1.0, 0.0, 2, 2)
    assert difference(exact, exact) is None
    assert difference(Mean(1.0, None, 1, 1), Mean(1.0, 0.1, 16, 16)) is None


# Reading


def test_the_means_of_a_file_are_the_known_ones(tmp_path):
    rng = np.random.default_rng(1)
    crps = {dataset: rng.uniform(0.1, 0.3, 4) for dataset in ("boston", "yacht")}
    found = results(tmp_path, change=only(ZSCORE["naf"], crps=lambda line: crps[line["dataset"]][line["split"]]))
    for dataset, values in crps.items():
        assert found.of(dataset, ZSCORE["naf"], "crps").value == pytest.approx(values.mean())
    errors = [values.std(ddof=1) / 2 for values in crps.values()]
    average = found.average(ZSCORE["naf"], "crps")
    assert average.value == pytest.approx(np.mean(list(crps.values())))
    assert average.se == pytest.approx(math.hypot(*errors) / 2)


def test_the_two_nlls_are_not_confused(tmp_path):
    found = results(tmp_path, change=only(ZSCORE["naf"], nll=1.0, nll_authors=2.0))
    assert found.of("boston", ZSCORE["naf"], "nll").value == 2.0
    assert found.of("boston", ZSCORE["naf"], "nll_exact").value == 1.0


def test_what_splits_share_falls_out_of_a_paired_difference(tmp_path):
    def change(line):
        return line | {"crps": line["split"] + (0.1 if line["interpolator"] == "naf" else 0.0)}

    gap = results(tmp_path, change=change).paired((ZSCORE["naf"], "crps"), (ZSCORE["linear"], "crps"))
    assert (gap.value, gap.se) == pytest.approx((0.1, 0.0))


def test_a_torn_last_line_is_passed_over(tmp_path):
    whole = read(save(tmp_path, cells()))
    torn = read(save(tmp_path, cells(), tail='{"dataset": "yacht", "split": 4, "ba'))
    assert torn.cells == whole.cells


def test_a_number_too_large_for_a_float_is_not_finite(tmp_path):
    path = save(tmp_path, cells(["yacht"], 1, only(ZSCORE["naf"], crps=123.5)))
    path.write_text(path.read_text(encoding="utf-8").replace("123.5", "1e999"), encoding="utf-8")
    assert read(path).of("yacht", ZSCORE["naf"], "crps") == Mean(None, None, 0, 1)


def test_a_broken_line_before_the_last_is_an_error_that_names_it(tmp_path):
    path = save(tmp_path, cells(splits=1))
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[2] = lines[2][:30]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=r"cells\.jsonl, line 3: one JSON object was wanted, got '\{"):
        read(path)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"dataset": "yacht"}, "line 2: a cell needs 'split', which it lacks"),
        (cell("yacht", 0, ZSCORE["naf"], crps="low"), "line 2: 'crps' must be a number or null, got 'low'"),
        (
            cell("yacht", 0, Method("point", "cdf", "naf")),
            "line 2: base, score and interpolator must be those of the study, got point, cdf, naf",
        ),
        ([], r"line 2: one JSON object was wanted, got '\[\]'"),
    ],
)
def test_a_line_that_is_no_cell_is_an_error_that_names_it(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read(save(tmp_path, [line, *cells(splits=1)]))


def test_a_file_without_its_first_line_or_without_cells_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="begin with a line that holds 'study', and none does"):
        read(save(tmp_path, cells(splits=1), header=cell("yacht", 9, ZSCORE["naf"])))
    with pytest.raises(ValueError, match="at least one finished cell, and there is none"):
        read(save(tmp_path, []))


def test_seconds_are_summed_by_phase(tmp_path):
    more = [
        {"training": {"dataset": "boston", "seconds": 3.0, "device": "cpu"}},
        {"training": {"dataset": "yacht", "seconds": 4.0, "device": "cpu"}},
        {"phase": {"name": "loading", "seconds": 1.5}},
        {"phase": {"name": "tables", "seconds": 0.25}},
    ]
    seconds = read(save(tmp_path, cells(splits=2), more=more)).seconds
    assert (seconds["training"], seconds["loading"], seconds["tables"]) == (7.0, 1.5, 0.25)
    assert seconds["cells, naf"] == 0.5 * 2 * 2 * 9


# Tables


def test_the_difference_is_in_standard_errors_of_both(tmp_path):
    found = results(tmp_path, ["boston"], change=only(ZSCORE["naf"], crps=lambda line: 0.2 + 0.01 * line["split"]))
    (table,) = per_dataset(found)
    (row,) = [row for row in table.rows if row.labels == ("distribution", "zscore-naf")]
    se = np.std([0.20, 0.21, 0.22, 0.23], ddof=1) / 2
    assert row.metrics["crps"].difference == pytest.approx((0.215 - 0.173) / math.hypot(se, 0.012))


def test_table_1_compares_over_the_datasets_that_both_have(tmp_path):
    found = results(tmp_path, ["boston", "naval", "yacht"])
    compared = versus(found, CDF["random"], "crps")
    assert compared.here == Mean(pytest.approx((0.25 + 0.025 + 0.25) / 3), 0.0, 3, 3)
    assert compared.common == Mean(0.025, 0.0, 1, 3)
    assert compared.published == Mean(0.025, 0.001, 1, 3)
    text = markdown(table1(found))
    assert "here, where published" in text
    assert "0.025 ± 0.000 (1)" in text


def test_a_value_that_is_not_finite_is_counted_and_its_dataset_left_out(tmp_path):
    def change(line):
        infinite = line["dataset"] == "yacht" and line["split"] == 2 and line["interpolator"] == "naf"
        return line | ({"crps": None} if infinite else {})

    found = results(tmp_path, change=change)
    assert found.of("yacht", ZSCORE["naf"], "crps") == Mean(None, None, 3, 4)
    assert found.average(ZSCORE["naf"], "crps") == Mean(0.173, 0.0, 1, 2)
    (row,) = [r for r in records(averages_csv(table1(found))) if r["method"] == "zscore-naf"]
    assert (row["crps_mean"], row["crps_n"], row["std_n"]) == ("0.173", "1", "2")
    assert "— (3 of 4)" in markdown(per_dataset(found)[1])


def test_table_2_is_linear_with_the_cdf_score_for_distributions(tmp_path):
    found = results(tmp_path, ["blog"], change=only(Method("point", "residual", "linear"), crps=0.111))
    rows = {row.labels[0]: row.metrics["crps"] for row in table2(found).rows}
    assert list(rows) == list(published.table2())
    assert rows["point"].here.value == 0.111
    assert rows["point"].published == Mean(0.242, 0.002, 17, 17)
    assert rows["distribution"].here.value == published.of("blog", "cdf-linear", "crps").value


def test_table_2_says_that_other_datasets_are_not_like_with_like(tmp_path):
    some = results(tmp_path, ["naval"])
    assert any("not like with like" in note for note in table2(some).notes)
    assert any("goes from 0.233 to 0.025" in note for note in table2(some).notes)
    every = results(tmp_path, published.datasets(), splits=1)
    assert not any("not like with like" in note for note in table2(every).notes)


def test_a_partial_run_says_what_is_missing(tmp_path):
    whole = results(tmp_path, published.datasets(), splits=16)
    assert whole.extent == "17 of the paper's 17 datasets, 16 of its 16 splits, every cell."
    part = results(tmp_path, change=lambda line: None if line["split"] == 3 and line["base"] == "point" else line)
    assert part.extent.startswith("2 of the paper's 17 datasets, 4 of its 16 splits, 6 cells missing; without blog, ")
    for text in (markdown(table1(part)), markdown(table2(part)), page(part)):
        assert "6 cells missing" in text
    assert "3 to 4 of the paper's 16 splits" in per_dataset(part)[0].notes[0]


def test_a_dataset_that_the_paper_does_not_have_stands_alone(tmp_path):
    found = results(tmp_path, ["moon"])
    assert versus(found, ZSCORE["naf"], "crps").published.value is None
    assert "published" not in markdown(per_dataset(found)[0])
    assert "cannot be said" in page(found)


def test_intervals_are_of_the_linear_distribution_of_every_base_type(tmp_path):
    rows = {row.labels: row.metrics for row in intervals(results(tmp_path)).rows}
    assert len(rows) == 9
    assert rows["distribution", "cdf"]["conformal_width"].here == Mean(1.5, 0.0, 2, 2)


# Text


def test_per_dataset_csv_has_the_papers_columns_and_four_more(tmp_path):
    text = per_dataset_csv(results(tmp_path, change=only(ZSCORE["naf"], nll=-1.25)))
    assert text.splitlines()[0] == (
        "dataset,method,std_mean,std_se,ci95_width_mean,ci95_width_se,nll_mean,nll_se,crps_mean,crps_se,ece_mean,ece_se,"
        "base,n_splits,nll_exact_mean,nll_exact_se"
    )
    rows = records(text)
    assert len(rows) == 2 * 27
    (row,) = [row for row in rows if (row["dataset"], row["method"]) == ("boston", "zscore-naf")]
    assert (row["nll_mean"], row["nll_exact_mean"], row["base"], row["n_splits"]) == (
        "0.467",
        "-1.25",
        "distribution",
        "4",
    )
    assert {row["nll_exact_mean"] for row in rows if row["method"].endswith("-random")} == {""}
    quantiles = [row["base"] for row in rows if row["method"] == "quantile-linear" and row["dataset"] == "boston"]
    assert quantiles == ["quantile-2", "quantile-4", "quantile-7", "quantile-10"]


def test_table_csvs_begin_with_the_papers_columns_and_always_have_the_same(tmp_path):
    paper = [f"{metric}_{part}" for metric in published.METRICS[:4] for part in ("mean", "se")]
    headers = []
    for datasets in (["boston"], ["moon"], published.datasets()):
        text = averages_csv(table1(results(tmp_path, datasets, splits=2)))
        headers.append(text.splitlines()[0])
        assert list(records(text)[0])[:9] == ["method", *paper]
    assert len(set(headers)) == 1
    assert {"crps_n", "crps_common_mean", "crps_published_mean", "crps_published_n", "crps_difference"} <= set(
        headers[0].split(",")
    )


def test_every_line_of_a_markdown_table_has_as_many_bars(tmp_path):
    for table in (table1(results(tmp_path)), table2(results(tmp_path)), *per_dataset(results(tmp_path))):
        bars = {line.count("|") for line in markdown(table).splitlines() if line.startswith("|")}
        assert bars == {len(table.labels) + 1 + len(HEADINGS) + 1}


# Goals and claims


def test_goals_are_reached_by_the_papers_own_numbers_but_for_its_cdf_naf(tmp_path):
    at_hand = [d for d in published.datasets() if d not in {"fb-comment2", "super-conductivity", "medical-expenditure"}]
    found = goals(results(tmp_path, at_hand, splits=2))
    assert [goal.holds for goal in found] == [True, True, False, False, False, True, True]
    assert found[0].numbers == "0.2238 ± 0.0000 against 0.2238 ± 0.0025, 14 datasets"
    assert found[2].numbers == "0.2336 against 0.2239 (published 0.234 against 0.224)"


def test_a_goal_is_missed_by_more_than_a_published_standard_error(tmp_path):
    for excess, holds in ((0.011, True), (0.013, False)):
        found = results(tmp_path, ["boston"], change=only(ZSCORE["linear"], crps=0.173 + excess))
        assert goals(found)[0].holds is holds


def test_one_dataset_may_be_worse_by_a_tenth_and_not_two(tmp_path):
    for worse, holds in (({"boston"}, True), ({"boston", "yacht"}, False)):

        def crps(line, worse=worse):
            return line["crps"] * (1.2 if line["dataset"] in worse else 1.09)

        found = results(tmp_path, ["boston", "naval", "yacht"], change=only(ZSCORE["linear"], crps=crps))
        goal = verdict(goals(found), "CRPS of zscore-linear is within 10%")
        assert goal.holds is holds
        assert goal.numbers.startswith(f"{3 - len(worse)} of 3, boston +20%")


def test_one_base_type_off_its_coverage_is_seen(tmp_path):
    point = Method("point", "residual", "linear")
    for coverage, holds in ((0.914, True), (0.916, False), (0.884, False)):
        found = results(tmp_path, change=only(point, credible_coverage=coverage))
        goal = verdict(goals(found), "Conformal and credible 90% intervals")
        assert goal.holds is holds
        assert f"farthest {coverage:.1%} (point linear)" in goal.numbers


def test_ece_of_any_of_the_27_methods_decides(tmp_path):
    found = results(tmp_path, ["naval"], change=only(Method("quantile-7", "quantile", "naf"), ece=0.011))
    goal = verdict(goals(found), "ECE of every method")
    assert (goal.holds, goal.numbers) == (False, "largest 0.0110, quantile-7 naf")
    assert verdict(goals(results(tmp_path, ["naval"])), "ECE of every method").holds is True


def test_a_method_that_is_missing_leaves_the_ece_open(tmp_path):
    found = results(tmp_path, ["naval"], change=lambda line: None if line["base"] == "point" else line)
    assert verdict(goals(found), "ECE of every method").holds is None


def test_claims_follow_the_numbers(tmp_path):
    def change(line):
        return line | {
            "std": 1.0 - 0.1 * (line["base"] == "quantile-10") + 0.01 * line["split"],
            "nll_authors": 0.5 - 0.2 * line["base"].startswith("quantile") - 0.1 * (line["base"] == "quantile-4"),
            "crps": 0.2 - 0.01 * (line["interpolator"] == "naf"),
        }

    found = claims(results(tmp_path, ["naval", "protein"], change=change))
    assert verdict(found, "quantile-10 has the smallest STD").holds is True
    assert "paired difference -0.1000 ± 0.0000" in verdict(found, "quantile-10 has the smallest STD").numbers
    assert verdict(found, "quantile-10 has the smallest 95% width").holds is False
    assert verdict(found, "quantile-4 has the lowest NLL").holds is True
    assert verdict(found, "Every quantile type has a lower NLL").holds is True
    assert verdict(found, "Interpolation by random does best in CRPS").holds is False
    assert verdict(found, "Every base type has ECE below 0.007").holds is True
    assert verdict(found, "Random interpolation leaves the NLL undefined").holds is True
    assert verdict(found, "Conformal intervals are slightly shorter").holds is True


def test_one_quantile_type_that_is_no_better_refutes_the_claim_for_every(tmp_path):
    def change(line):
        return line | {"nll_authors": {"distribution": 0.5, "quantile-7": 0.6}.get(line["base"], 0.1)}

    assert verdict(claims(results(tmp_path, change=change)), "Every quantile type has a lower NLL").holds is False


@pytest.mark.parametrize(("lead", "holds"), [(0.00004, True), (-0.00004, False), (0.0, None)])
def test_a_lead_is_judged_by_its_error_and_not_by_how_it_is_rounded(tmp_path, lead, holds):
    def change(line):
        noise = 1e-6 * (2 * (line["split"] % 2) - 1) * (line["interpolator"] == "random")
        return line | {"crps": 0.21552 - lead * (line["interpolator"] == "random") + noise}

    claim = verdict(claims(results(tmp_path, change=change)), "Interpolation by random")
    assert claim.holds is holds
    assert "0.0000 ± 0.0000" not in claim.numbers


def test_conformal_widths_that_differ_within_the_noise_are_a_tie(tmp_path):
    rng = np.random.default_rng(4)

    def change(line):
        return line | {"conformal_width": 1.6 + rng.normal(0, 0.1)} if line["interpolator"] == "linear" else line

    claim = verdict(claims(results(tmp_path, change=change)), "Conformal intervals are slightly shorter")
    assert claim.holds is None
    assert "within two standard errors of a tie" in claim.numbers


def test_a_higher_nll_than_published_and_what_the_networks_are_is_said(tmp_path):
    point = Method("point", "residual", "linear")
    noisy = only(point, nll_authors=lambda line: 0.9 + 0.01 * line["split"] + (line["dataset"] == "yacht"))
    text = page(results(tmp_path, change=noisy))
    assert "point 1.415 against 0.611" in text
    assert "for point from 0.92 (boston) to 1.92 (yacht)" in text
    assert "The networks are not the authors'" in text
    assert "energy-efficiency may be another task" not in text
    assert "energy-efficiency may be another task" in page(results(tmp_path, ["energy-efficiency"]))


def test_a_lead_within_the_noise_is_said_to_be(tmp_path):
    rng = np.random.default_rng(2)

    def change(line):
        return line | {"std": rng.normal(1.0, 0.1) - 0.001 * (line["base"] == "quantile-10")}

    found = claims(results(tmp_path, splits=16, change=change))
    assert "within two standard errors of a tie" in verdict(found, "quantile-10 has the smallest STD").numbers


def test_the_floor_of_the_authors_nll_is_13_8155():
    assert pytest.approx(13.8155, abs=5e-5) == NLL_FLOOR


def test_the_ece_floor_is_above_0_and_falls_with_the_calibration_set(tmp_path):
    def floor(n):
        return ece_floor(results(tmp_path, ["yacht"], 1, lambda line: line | {"n_calibration": n, "n_test": 400}))

    small, large = floor(20), floor(400)
    assert 0.03 < small < 0.08  # about 0.313 / sqrt(20)
    assert 0 < large < small / 4


def test_equals_share_a_place_in_the_ranking():
    there = {base: metrics["crps"].value for base, metrics in published.table2().items()}
    assert ranked(there).startswith("quantile-4 = quantile-7 = quantile-10 (0.226) < ensemble (0.227) < quantile-2")


# All of it


def test_write_makes_every_file_and_the_same_again(tmp_path):
    path = save(tmp_path, cells())
    first = {file.name: file.read_bytes() for file in write(path, tmp_path / "one")}
    assert set(first) == FILES
    assert {file.name: file.read_bytes() for file in write(path, tmp_path / "two")} == first
    assert {file.name for file in (tmp_path / "one").iterdir()} == FILES
    assert first["intervals.png"].startswith(b"\x89PNG")


def test_the_order_of_the_lines_changes_nothing(tmp_path):
    lines = cells(splits=3)
    ordered = [file.read_bytes() for file in write(save(tmp_path, lines), tmp_path / "one")]
    np.random.default_rng(3).shuffle(lines)
    assert [file.read_bytes() for file in write(save(tmp_path, lines), tmp_path / "two")] == ordered


def test_a_run_of_one_cell_has_all_its_files(tmp_path):
    write(save(tmp_path, [cell("yacht", 0, Method("point", "residual", "naf"))]), tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == FILES


def test_the_page_goes_to_the_docs_and_finds_its_picture_there(tmp_path):
    write(save(tmp_path, cells()), tmp_path / "results" / "study", tmp_path / "docs")
    text = (tmp_path / "docs" / "reproduction.md").read_text(encoding="utf-8")
    (picture,) = re.findall(r"!\[.*\]\((.*)\)", text)
    assert picture == "../results/study/intervals.png"
    assert (tmp_path / "docs" / picture).is_file()


def test_the_page_has_the_numbers_that_were_asked_for(tmp_path):
    more = [{"training": {"dataset": "naval", "seconds": 12.3}}]
    text = page(read(save(tmp_path, cells(["boston", "naval"]), more=more)))
    for part in (
        "`python -m studies study`",
        "calibrant 0.1.0, numpy 2.3",
        "2 of the paper's 17 datasets",
        "13.8155",
        "CRPS of 0.217",
        "the 9 of 17 datasets",
        "Here, over the 1 of them at hand: cdf-random 0.0250, cdf-linear 0.0250, zscore-linear 0.0250.",
        "finite in 0 of 8 cells of zscore-random",
        "| training | 12.3 |",
        "None is worse than published by more than 10%.",
    ):
        assert part in text, part


def test_the_page_opens_with_its_result_and_its_tally_and_ends_with_its_origin(tmp_path):
    text = page(read(save(tmp_path, cells(["boston", "naval"]))))
    opening, _, rest = text.partition("## Goals")
    assert opening.startswith("# The paper's study, run again\n\nCRPS of zscore-linear: **0.")
    assert ", published 0." in opening.splitlines()[2]
    head, tally = "|  | yes | no | cannot be said |", re.findall(r"^\| (?:goals|claims) .*", opening, re.MULTILINE)
    assert head in opening
    verdicts = [goals(read(tmp_path / "cells.jsonl")), claims(read(tmp_path / "cells.jsonl"))]
    for line, judged in zip(tally, verdicts, strict=True):
        counts = [sum(v.holds is answer for v in judged) for answer in (True, False, None)]
        assert [int(cell) for cell in line.split("|")[2:5]] == counts
    assert "Made by" not in opening
    assert rest.rpartition("\n## ")[2].startswith("Origin\n\nMade by `python -m studies study`")


def test_the_page_counts_the_labels_beyond_a_bounded_distribution(tmp_path):
    def change(line):
        return line | {"nll_infinite_rows": 1 + line["split"], "nll": None}

    text = page(results(tmp_path, ["naval"], change=only(ZSCORE["linear"], nll=None)))
    assert "test labels of" not in text
    text = page(results(tmp_path, ["naval"], change=change))
    assert "finite in 0 of 4 cells of zscore-random, 0 of 4 cells of zscore-linear" in text
    assert "costs infinitely much (10 of 80 test labels of zscore-linear)" in text


def test_the_page_says_where_else_a_run_was_resumed(tmp_path):
    again = {"name": "resumed", "versions": {"calibrant": "0.1.0", "numpy": "2.4"}, "device": "cuda"}
    text = page(read(save(tmp_path, cells(), more=[{"phase": again}])))
    assert "seed 0, device cpu and cuda, starts 2" in text
    assert "calibrant 0.1.0, numpy 2.3 and 2.4" in text


def test_a_worse_dataset_is_named_with_what_is_known_of_why(tmp_path):
    lines = cells(["boston", "yacht"], change=only(ZSCORE["linear"], crps=0.5))
    path, folder = save(tmp_path, lines), tmp_path / "out"

    def written(**known):
        write(path, folder, **known)
        return (folder / "reproduction.md").read_text(encoding="utf-8")

    assert "- **boston** is 189% above the published. Why is not known yet." in written()
    (folder / "why.json").write_text(json.dumps({"boston": "It has 101 test rows."}), encoding="utf-8")
    assert "- **boston** is 189% above the published. It has 101 test rows." in written()
    text = written(why={"yacht": "It rained."})
    assert "It rained." in text
    assert "101 test rows" not in text


def test_explanations_that_are_no_sentences_are_an_error_that_names_the_file(tmp_path):
    path = save(tmp_path, cells())
    for content in ("[1]", '{"boston": 3}', "{"):
        (tmp_path / "why.json").write_text(content, encoding="utf-8")
        with pytest.raises(ValueError, match=r"why\.json: a JSON object of a sentence a dataset was wanted, got"):
            write(path, tmp_path)


def test_an_error_leaves_the_old_files_whole(tmp_path):
    path = save(tmp_path, cells())
    before = {file: file.read_bytes() for file in write(path, tmp_path / "out")}
    path.write_text('{"study": {}}\n', encoding="utf-8")
    with pytest.raises(ValueError, match="at least one finished cell"):
        write(path, tmp_path / "out")
    assert {file: file.read_bytes() for file in before} == before


def test_the_tables_in_the_repository_are_those_that_its_results_give(tmp_path):
    """Else: python -m studies study --tables-only --folder results/study --docs docs."""
    folder = Path(__file__).parents[2] / "results" / "study"
    found = {
        path.name: path.read_text("utf-8")
        for path in write(folder / "cells.jsonl.xz", tmp_path)
        if path.suffix == ".csv"
    }
    assert found == {name: (folder / name).read_text("utf-8") for name in found}
