"""Calibrated predictive distributions for regression: H[x](y) = q(phi(f(x), y)).

Read `calibrant.calibration` first, then one score and one interpolator; the rest is variants of these.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant import distributions, doers, interpolators, predictions, scores
from calibrant.calibration import Calibrated, Calibrator
from calibrant.distributions import (
    Distribution,
    GaussianMixture,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    StudentT,
    from_scipy,
    from_torch,
)
from calibrant.guarantee import (
    CensoredGuarantee,
    ChosenGuarantee,
    CrossGuarantee,
    FadingGuarantee,
    GroupGuarantee,
    Guarantee,
    SurveyGuarantee,
    WeightedGuarantee,
    required_n,
    required_n_for_interval,
)
from calibrant.interpolators.forget import HalfLife, Window
from calibrant.interpolators.weights import Survey
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples, concatenate
from calibrant.recipes import conformal, isotonic

if TYPE_CHECKING:
    from calibrant import diagnosis as diagnosis
    from calibrant import intervals as intervals
    from calibrant import labels as labels
    from calibrant import metrics as metrics
    from calibrant import models as models
    from calibrant import plots as plots
    from calibrant import refine as refine
    from calibrant import reports as reports
    from calibrant import several as several
    from calibrant.censored import Censored as Censored
    from calibrant.choice import choose as choose
    from calibrant.cross import CrossCalibrated as CrossCalibrated
    from calibrant.diagnosis import diagnose as diagnose
    from calibrant.metrics import evaluate as evaluate
    from calibrant.models import prediction_of as prediction_of
    from calibrant.monitoring import Monitor as Monitor
    from calibrant.monitoring import monitor as monitor
    from calibrant.persistence import load as load
    from calibrant.reports import report as report
    from calibrant.sklearn.chosen import Candidate as Candidate
    from calibrant.sklearn.chosen import Chosen as Chosen
    from calibrant.sklearn.density_ratio import DensityRatio as DensityRatio
    from calibrant.sklearn.refined import Refined as Refined
    from calibrant.sklearn.regressor import CalibratedRegressor as CalibratedRegressor
    from calibrant.sklearn.scorers import neg_crps as neg_crps
    from calibrant.sklearn.scorers import neg_interval_score as neg_interval_score
    from calibrant.sklearn.scorers import neg_nll as neg_nll

    __version__: str

_LATER = {
    "CalibratedRegressor": "calibrant.sklearn.regressor",
    "Candidate": "calibrant.sklearn.chosen",
    "Censored": "calibrant.censored",
    "Chosen": "calibrant.sklearn.chosen",
    "CrossCalibrated": "calibrant.cross",
    "DensityRatio": "calibrant.sklearn.density_ratio",
    "Monitor": "calibrant.monitoring",
    "Refined": "calibrant.sklearn.refined",
    "choose": "calibrant.choice",
    "diagnose": "calibrant.diagnosis",
    "evaluate": "calibrant.metrics",
    "load": "calibrant.persistence",
    "monitor": "calibrant.monitoring",
    "neg_crps": "calibrant.sklearn.scorers",
    "neg_interval_score": "calibrant.sklearn.scorers",
    "neg_nll": "calibrant.sklearn.scorers",
    "prediction_of": "calibrant.models",
    "report": "calibrant.reports",
}
"""Names whose modules need more than the core, or are asked for last: they are imported when they are asked for."""

_MODULES = ("diagnosis", "intervals", "labels", "metrics", "models", "plots", "refine", "reports", "several")
"""Modules, likewise."""

_EXTRAS = {"narwhals": "sklearn", "sklearn": "sklearn"}
"""Which extra of the package brings what they need."""


def _save(path: Any, calibrated: Any) -> None:
    import_module("calibrant.persistence").save(path, calibrated)


def _update(*rows: Any, **known: Any) -> Any:
    return import_module("calibrant.updating").updated(*rows, **known)


doers.hand_in(save=_save, update=_update)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("calibrant")
    if name not in _LATER and name not in _MODULES:
        raise AttributeError(f"module 'calibrant' has no attribute {name!r}")
    try:
        if name in _MODULES:
            return import_module(f"calibrant.{name}")
        value = getattr(import_module(_LATER[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRAS:
            raise
        hint = f"calibrant.{name} needs {error.name}: pip install 'calibrant[{_EXTRAS[error.name]}]'"
        raise ModuleNotFoundError(hint, name=error.name) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATER, *_MODULES, "__version__"})


__all__ = [
    "Calibrated",
    "Calibrator",
    "Censored",
    "CensoredGuarantee",
    "ChosenGuarantee",
    "CrossCalibrated",
    "CrossGuarantee",
    "Distribution",
    "Ensemble",
    "FadingGuarantee",
    "GaussianMixture",
    "GroupGuarantee",
    "Guarantee",
    "HalfLife",
    "Interval",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Mixture",
    "Normal",
    "Point",
    "Quantiles",
    "Samples",
    "StudentT",
    "Survey",
    "SurveyGuarantee",
    "WeightedGuarantee",
    "Window",
    "concatenate",
    "conformal",
    "distributions",
    "evaluate",
    "from_scipy",
    "from_torch",
    "interpolators",
    "intervals",
    "isotonic",
    "metrics",
    "predictions",
    "required_n",
    "required_n_for_interval",
    "scores",
]
