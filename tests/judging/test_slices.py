"""Rows by the value of a column."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

from calibrant.metrics.slices import slices_of, typed


def test_text_is_a_slice_a_value_in_the_order_of_the_alphabet():
    slices = slices_of("region", ["south", "north", "south"], 3)
    assert slices.name == "region"
    assert slices.labels == ("north", "south")
    assert slices.index.tolist() == [1, 0, 1]
    assert slices.counts.tolist() == [1, 2]


@pytest.mark.parametrize(
    "values",
    [
        ["b", None, "a", "b"],
        np.array(["b", None, "a", "b"], object),
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", pd.NA, "a", "b"], dtype="string"),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pl.Series(["b", None, "a", "b"]),
        pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
        pa.array(["b", None, "a", "b"]),
        pa.chunked_array([["b", None], ["a", "b"]]),
        pa.array(["b", None, "a", "b"]).dictionary_encode(),
    ],
    ids=lambda values: (
        f"{type(values).__module__.split('.')[0]}, {getattr(values, 'dtype', getattr(values, 'type', ''))}"
    ),
)
def test_a_column_of_any_library_with_missing_values_gives_the_same_slices(values):
    slices = slices_of("g", values, 4)
    assert slices.labels == ("a", "b", "missing")
    assert slices.index.tolist() == [1, 2, 0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [True, False, True],
        np.array([True, False, True]),
        pl.Series([True, False, True]),
        torch.tensor([True, False, True]),
    ],
    ids=["list", "numpy", "polars", "torch"],
)
def test_booleans_are_two_slices(values):
    slices = slices_of("flag", values, 3)
    assert slices.labels == ("False", "True")
    assert slices.index.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "values",
    [
        [3, 1, 3],
        [3.0, 1.0, 3.0],
        np.array([3, 1, 3], np.int8),
        [Decimal(3), Decimal(1), Decimal(3)],
        pa.array([3, 1, 3]),
    ],
    ids=["int", "float", "int8", "decimal", "arrow"],
)
def test_few_numbers_are_a_slice_each_in_their_order(values):
    slices = slices_of("k", values, 3)
    assert slices.labels == ("1", "3")
    assert slices.index.tolist() == [1, 0, 1]


def test_twelve_numbers_are_twelve_slices_and_thirteen_are_four():
    assert slices_of("k", np.arange(12), 12).labels == tuple(map(str, range(12)))
    slices = slices_of("k", np.arange(13), 13)
    assert slices.labels == ("[0, 3]", "(3, 6]", "(6, 9]", "(9, 12]")
    assert slices.counts.tolist() == [4, 3, 3, 3]


def test_every_number_lies_in_the_part_that_its_label_says():
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=999),
        rng.integers(0, 40, 999),
        np.exp(9 * rng.normal(size=50)),
        1e6 + rng.random(99),
    ):
        slices = slices_of("x", values, len(values))
        assert len(slices.labels) == 4
        assert len(set(slices.labels)) == 4
        parts = [np.sort(values[slices.index == k]) for k in range(4)]
        for before, after in pairwise(parts):
            assert before[-1] < after[0]


def test_many_ties_merge_parts_and_leave_none_empty():
    values = np.r_[np.zeros(900), np.arange(1, 101)]
    slices = slices_of("x", values, 1000)
    assert slices.labels == ("0", "(0, 100]")
    assert slices.counts.tolist() == [900, 100]


def test_numbers_that_agree_in_many_digits_have_labels_that_differ():
    assert slices_of("x", [1.0, 1.0 + 1e-12], 2).labels == ("1", "1.000000000001")
    assert slices_of("x", [0.1, 0.2], 2).labels == ("0.1", "0.2")


def test_nan_is_missing_and_infinity_is_a_number():
    slices = slices_of("x", [np.nan, 1.0, np.inf], 3)
    assert slices.labels == ("1", "inf", "missing")
    assert slices.index.tolist() == [2, 0, 1]
    assert slices_of("x", [None, 1, 2.5], 3).labels == ("1", "2.5", "missing")
    assert slices_of("x", [None, np.nan], 2).labels == ("missing",)


def test_dates_are_ordered_and_cut_like_numbers():
    days = np.datetime64("2024-01-01") + np.arange(100)
    slices = slices_of("day", days, 100)
    assert slices.labels[0] == "[2024-01-01, 2024-01-25]"
    assert slices.counts.tolist() == [25] * 4
    assert slices_of("day", np.array(["2024-01-01", "NaT"], "datetime64[ns]"), 2).labels == ("2024-01-01", "missing")
    assert slices_of("day", [date(2024, 1, 1), date(2023, 1, 1)], 2).labels == ("2023-01-01", "2024-01-01")


def test_a_list_of_dates_is_cut_like_a_column_of_them():
    days = [date(2024, 1, 1) + timedelta(days=k) for k in range(100)]
    assert slices_of("day", days, 100).labels[0] == "[2024-01-01, 2024-01-25]"
    hours = [datetime(2024, 1, 1, 6), None, datetime(2024, 1, 1, 7)]
    assert slices_of("hour", hours, 3).labels == ("2024-01-01 06:00", "2024-01-01 07:00", "missing")
    zoned = [datetime(2024, 1, 1, k, tzinfo=UTC) for k in (6, 7)]
    assert slices_of("hour", zoned, 2).labels[0] == "2024-01-01 06:00:00+00:00"


def test_long_texts_have_short_labels_that_differ():
    labels = slices_of("note", ["a" * 1000 + "b", "a" * 1000 + "c"], 2).labels
    assert max(map(len, labels)) < 70
    assert len(set(labels)) == 2


def test_an_empty_text_is_missing():
    assert slices_of("g", ["", "a"], 2).labels == ("a", "missing")
    assert slices_of("g", np.array(["", "a"]), 2).labels == ("a", "missing")


def test_whole_numbers_beyond_floats_stay_apart():
    assert slices_of("id", [2**62, 2**62 + 1], 2).labels == (str(2**62), str(2**62 + 1))
    assert slices_of("id", [2**70, 2**71], 2).labels == ("1.181e+21", "2.361e+21")


def test_of_many_texts_the_largest_are_kept():
    values = [f"v{k:02}" for k in range(59) for _ in range(k + 1)]
    slices = slices_of("v", values, len(values))
    assert len(slices.labels) == 30
    assert slices.labels[0] == "v30"
    assert slices.labels[-2:] == ("v58", "30 others")
    assert slices.counts[-1] == sum(range(1, 31))
    assert slices_of("v", [f"v{k}" for k in range(30)], 30).labels[-1] == "v29"  # 30 are not too many


def test_a_value_that_is_spelt_like_our_label_is_told_from_it():
    assert slices_of("g", ["missing", None], 2).labels == ("missing", "(missing)")


def test_mixed_values_are_text():
    assert slices_of("g", [1, "one", True], 3).labels == ("1", "True", "one")


def test_wrong_lengths_and_shapes_are_named():
    with pytest.raises(ValueError, match="the column 'g' of groups must have one row for each of the 3 rows"):
        slices_of("g", ["a", "b"], 3)
    with pytest.raises(ValueError, match=r"the column 'g' of groups must be 1-d, got shape \(2, 2\)"):
        slices_of("g", np.zeros((2, 2)), 2)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (["0", "1", "10", "2"], ("0", "1", "2", "10")),
        (["a1", "a10", "a2", None], ("a1", "a2", "a10", "missing")),
        (["-1", "-10", "5"], ("-10", "-1", "5")),
        (["1.5", "10", "2", "b"], ("1.5", "2", "10", "b")),
        (["b", "a"], ("a", "b")),
        (["a1", "a01", "a001", "a2"], ("a001", "a01", "a1", "a2")),
        (["9" * 5000, "x" + "9" * 5000, "x1"], ("9" * 59 + "…", "x1", "x" + "9" * 58 + "…")),
    ],
)
def test_texts_stand_in_natural_order(given, wanted):
    slices = slices_of("g", given, len(given))
    assert slices.labels == wanted
    texts = ["missing" if text is None else text for text in given]
    assert all(text.startswith(slices.labels[k].rstrip("…")) for text, k in zip(texts, slices.index, strict=True))


def test_of_many_texts_the_rare_ones_that_are_kept_are_the_first_in_natural_order():
    texts = [f"g{k}" for k in range(40)]
    slices = slices_of("g", texts, 40)
    assert slices.labels == (*texts[:29], "11 others")


@pytest.mark.parametrize("far", [2**63, -(2**63) - 1])
def test_whole_numbers_beyond_64_bits_are_floats(far):
    assert typed(np.array([far, 1, 2], dtype=object)).tolist() == [float(far), 1.0, 2.0]
