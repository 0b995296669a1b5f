"""Tails that end."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array
from calibrant.interpolators.tails.base import Ends, no_ends


@dataclass(frozen=True)
class BoundedTails:
    """The law ends one mean gap beyond each extreme score, as in the authors' code."""

    def fit(self, scores: Array) -> Ends:
        """The two end points."""
        first, last = float(scores[0]), float(scores[-1])
        if first == last:
            single = "one score tells no scale (a single row calibrates)"
            return no_ends("all scores are equal" if scores.shape[0] > 1 else single)
        gap = (last - first) / (scores.shape[0] - 1)
        return Ends(first - gap, last + gap, 0.0, 0.0)
