"""What is promised: by one calibration set, by folds, and how many rows it takes."""

from calibrant.guarantee.cross import CrossGuarantee
from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.required import required_n, required_n_for_interval

__all__ = ["CrossGuarantee", "Guarantee", "required_n", "required_n_for_interval"]
