"""Files written and altered without the library, with a digest that is right."""

from __future__ import annotations

import hashlib
import json
import tracemalloc
from dataclasses import replace

import numpy as np

from calibrant import Calibrator


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
