"""An alarm that rings when new rows stop looking like the calibration rows, with a false-alarm rate that holds."""

from calibrant.monitoring.alarm import Alarm, Monitor, monitor

__all__ = ["Alarm", "Monitor", "monitor"]
