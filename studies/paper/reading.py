"""The results of the paper's study."""

from __future__ import annotations

import os

from studies import reading
from studies.paper.design import PAPER
from studies.results import Results


def read(path: str | os.PathLike[str]) -> Results:
    """The results of a run of the paper's study."""
    return reading.read(path, PAPER)
