"""Whether forecasts are calibrated: over all rows, by slice and over time; what is wrong, and what to do."""

from calibrant.judging.judge import Judgement, judge
from calibrant.judging.part import Part

__all__ = ["Judgement", "Part", "judge"]
