"""Sentences of the library that reach the command line name flags, not arguments and classes."""

from __future__ import annotations

import numpy as np
import pytest

from calibrant import Calibrator
from calibrant.cli.wording import in_flags
from calibrant.labels.named import labels_named
from calibrant.names import SCORES, score_named
from calibrant.scores import LogScore


def complaint(call):
    with pytest.raises((ValueError, TypeError)) as error:
        call()
    return in_flags(str(error.value))


@pytest.mark.parametrize("name", ["counts", "counts:0.05", "integers", "0:", "0:1", ":capacity", "log", "log1p"])
def test_a_kind_of_labels_is_called_as_it_is_typed(name):
    assert in_flags(f"the bound of {labels_named(name)!r}.") == f"the bound of --labels {name}."
    assert in_flags(f"say labels={labels_named(name)!r}.") == f"say --labels {name}."


@pytest.mark.parametrize("name", SCORES)
def test_a_score_is_called_as_it_is_typed(name):
    assert in_flags(f"use {type(score_named(name)).__name__}.") == f"use --score {name}."


def test_a_seed_below_0_is_refused_in_the_words_of_its_flag():
    from typer.testing import CliRunner

    from calibrant.cli.app import app  # here, so that a record of which test runs which line has the options too

    for words in (
        ("predict", "a.csv", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.csv"),
        ("evaluate", "a.csv", "-m", "m.safetensors"),
        ("report", "a.csv", "-m", "m.safetensors", "-o", "r.html"),
        ("monitor", "a.csv", "-m", "m.safetensors"),
    ):
        found = CliRunner().invoke(app, [*words, "--seed", "-1"])
        assert found.exit_code == 2, found.output
        assert "'--seed'" in found.stderr


def test_the_way_out_of_an_error_can_be_typed():
    f = np.linspace(-1.0, 1.0, 30)
    said = complaint(lambda: Calibrator(LogScore()).fit(f, np.ones(30)))
    assert said.startswith("--score log needs f + c > 0, but with c = 0 row 0 (15 rows in all)")
    assert said.endswith("pass a larger c, such as --score log:1 for counts")
