"""Where a forecast fails: by slice, by what features predict, and in the worst slice found."""

from calibrant.diagnosis.diagnose import diagnose
from calibrant.diagnosis.over_time import over_time

__all__ = ["diagnose", "over_time"]
