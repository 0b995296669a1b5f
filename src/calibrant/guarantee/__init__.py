"""What is promised: by one calibration set, by folds, and how many rows it takes."""

from calibrant.guarantee.censored import CensoredGuarantee
from calibrant.guarantee.cross import CrossGuarantee
from calibrant.guarantee.grouped import GroupGuarantee
from calibrant.guarantee.horizon import HorizonGuarantee
from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.required import required_n, required_n_for_interval
from calibrant.guarantee.tracked import TrackedGuarantee
from calibrant.guarantee.weighted import FadingGuarantee, WeightedGuarantee
from calibrant.guarantee.worth import calibration_rows

__all__ = [
    "CensoredGuarantee",
    "CrossGuarantee",
    "FadingGuarantee",
    "GroupGuarantee",
    "Guarantee",
    "HorizonGuarantee",
    "TrackedGuarantee",
    "WeightedGuarantee",
    "calibration_rows",
    "required_n",
    "required_n_for_interval",
]
