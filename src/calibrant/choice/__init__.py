"""A choice among candidates: by which score, by how much, and at what price."""

from calibrant.choice.criteria import CRITERIA, Criterion, criterion_named, interval_score
from calibrant.choice.league import Entry, League
from calibrant.choice.on_calibration import Choice, choose

__all__ = ["CRITERIA", "Choice", "Criterion", "Entry", "League", "choose", "criterion_named", "interval_score"]
