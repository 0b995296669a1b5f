"""An alarm that rings when new rows stop looking like the calibration rows, with a false-alarm rate that holds."""

from calibrant.monitoring.alarm import monitor

__all__ = ["monitor"]
