"""Where a forecast fails: by slice, by what features predict, and in the worst slice found."""

from calibrant.diagnosis.diagnose import diagnose
from calibrant.diagnosis.feature_test import FeatureTest
from calibrant.diagnosis.over_time import Period, over_time
from calibrant.diagnosis.result import Diagnosis
from calibrant.diagnosis.worst_slice import WorstSlice
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interval_coverage import IntervalResult

__all__ = ["Diagnosis", "FeatureTest", "IntervalResult", "Period", "SliceResult", "WorstSlice", "diagnose", "over_time"]
