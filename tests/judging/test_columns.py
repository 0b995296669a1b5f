"""Features in any form, and the slices that every forecast has."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars
import pytest

from calibrant import Calibrator, Normal, Point, judge
from calibrant.judging.columns import feature_slices, own_slices


def frames(m):
    rng = np.random.default_rng(6)
    columns = {
        "number": np.where(rng.random(m) < 0.1, np.nan, rng.normal(size=m)),
        "text": [[None, "north", "south"][k] for k in rng.integers(0, 3, m)],
        "few": rng.integers(0, 4, m),
        "same": np.ones(m),
    }
    return columns, {
        "mapping": columns,
        "pandas": pd.DataFrame(columns).astype({"text": "category"}),
        "polars": polars.DataFrame(columns, strict=False),
        "objects": np.array(list(columns.values()), object).T,
        "lists": [list(row) for row in zip(*columns.values(), strict=True)],
    }


@pytest.mark.parametrize("kind", ["mapping", "pandas", "polars", "objects", "lists"])
def test_features_come_in_any_form_with_values_missing(kind):
    _, given = frames(400)
    names = [f"{column.name} = {label}" for column in feature_slices(given[kind], 400) for label in column.labels]
    number, text, few = ("x0", "x1", "x2") if kind in ("objects", "lists") else ("number", "text", "few")
    assert Counter(name.split(" = ")[0] for name in names) == {number: 6, text: 3, few: 4}
    assert {f"{number} = missing", f"{text} = missing", f"{text} = north", f"{few} = 3"} <= set(names)


def test_a_column_alone_has_its_own_name_or_x0():
    y = np.random.default_rng(8).normal(size=100)
    assert [column.name for column in feature_slices(pd.Series(y, name="lag"), 100)] == ["lag"]
    assert [column.name for column in feature_slices(y, 100)] == ["x0"]


def test_widths_that_differ_by_rounding_make_no_slices():
    f = np.exp(np.random.default_rng(0).normal(0, 3, 500))
    H = Calibrator().fit(Point(np.zeros(500)), np.random.default_rng(1).normal(size=500))(Point(f))
    low, high = H.interval(0.9)
    assert len(np.unique(high - low)) > 2
    assert [column.name for column in own_slices(H.median(), high - low)] == ["predicted value"]
    assert own_slices(np.zeros(9), np.ones(9)) == []


def test_columns_of_one_name_are_told_apart():
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=(2, 300))
    H, group = Normal(f, np.exp(f / 9)), rng.choice(["a", "b"], 300)
    found = judge(H, y, {"width": f, "time": y**2, "group": f}, by=group, time=np.arange(300))
    assert list(found.columns) == ["predicted value", "(width)", "width", "time", "group", "(time)"]


@pytest.mark.parametrize(
    ("X", "error", "text"),
    [
        (np.zeros((50, 3)), ValueError, "X must have one row for each of the 60 rows of the forecast, got 50"),
        ({"a": np.zeros(50)}, ValueError, "the column 'a' of X must have one row for each of the 60"),
        (np.zeros((60, 3, 1)), ValueError, r"X must have a row .* got shape \(60, 3, 1\)"),
        (5, TypeError, "X must be an array, a mapping of names to arrays or a data frame, got 5"),
        ("age", TypeError, "X must be an array, a mapping of names .* got 'age'"),
        (pd.DataFrame(np.zeros((60, 2)), columns=["a", "a"]), ValueError, "must have different names, got 'a' twice"),
    ],
)
def test_bad_features_are_named(X, error, text):
    with pytest.raises(error, match=text):
        judge(Normal(np.zeros(60), 1.0), np.zeros(60), X)
