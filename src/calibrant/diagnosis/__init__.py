"""Where a forecast fails: by slice, by what its features tell, and in the worst slice that can be found."""

from calibrant.diagnosis.result import Diagnosis
from calibrant.diagnosis.diagnose import diagnose
from calibrant.diagnosis.over_time import Stretch, over_time
from calibrant.diagnosis.feature_test import Telling
from calibrant.diagnosis.worst_slice import WorstSlice
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interval_coverage import Held

__all__ = ["Diagnosis", "Held", "SliceResult", "Stretch", "Telling", "WorstSlice", "diagnose", "over_time"]
