"""Files written and altered without the library, with a digest that is right; classes of a user's own in them."""

from __future__ import annotations

import hashlib
import json
import math
import tracemalloc
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant import Calibrated, Calibrator, Guarantee, Normal
from calibrant.forms import Form
from calibrant.intervals import Nonconformity
from calibrant.scores import LocationScaleScore, ResidualScore


def small(n=4):
    """Two arrays alone: the knots and probabilities of q."""
    return replace(Calibrator().fit(np.zeros(n), np.arange(1.0, n + 1)), history=None)


class tampered:
    """The header and the arrays of a file, to be changed; then all is written with a digest that is right again."""

    def __init__(self, path):
        self.path = path

    def __enter__(self):
        self.header, self.entries, self.data = parsed(self.path.read_bytes())
        return self.header, self.entries

    def __exit__(self, *problem):
        self.path.write_bytes(built(self.header, self.entries, self.data))


def parsed(content):
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    return json.loads(outer.pop("__metadata__")["calibrant"]), outer, content[8 + length :]


def built(header, entries, data):
    """A file as the format says, written without the library."""
    rest = {name: value for name, value in header.items() if name != "digest"}
    return sealed(json.dumps({"digest": "0" * 64, **rest}, separators=(",", ":")), entries, data)


def sealed(text, entries, data):
    outer = json.dumps({"__metadata__": {"calibrant": text}, **entries}, separators=(",", ":")).encode()
    whole = len(outer).to_bytes(8, "little") + outer + data
    before, after = whole.split(b"0" * 64, 1)
    return before + hashlib.sha256(before + after).hexdigest().encode() + after


def in_fields(*way, **values):
    """A tampering that sets fields of the object at the end of the way."""

    def tamper(header, entries):
        at = header["root"]
        for step in way:
            at = at["fields"][step]
        at["fields"].update(values)

    return tamper


class peak_below:
    """Python and numpy allocate no more than this inside."""

    def __init__(self, limit):
        self.limit = limit

    def __enter__(self):
        tracemalloc.start()

    def __exit__(self, *problem):
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < self.limit, f"{peak:,} bytes"


@dataclass(frozen=True)
class Scaled(LocationScaleScore):
    """A score with a state: every kind of value that a file holds."""

    by: float = 2.0
    weights: Any = None
    choices: list = field(default_factory=lambda: [1, "two", None])
    limits: tuple = (-math.inf, math.nan)

    def loc_scale(self, prediction):
        return prediction.values, self.by


class Halved(Nonconformity):
    def value(self, prediction, y):
        return abs(y - prediction.values) / 2

    minimiser = level_set = log_slope = value


class Fixed:
    """An interpolator of a user's own, without a state."""

    def fit(self, scores, *, support=None, rng=None):
        return Normal(0.0, 1.0)

    def accuracy(self, n):
        return n


def of_distribution(distribution):
    return Calibrated(ResidualScore(), distribution, Guarantee(20, 20.0), Fixed(), Form("points"))
