"""Calibrated predictive distributions for regression: H[x](y) = q(phi(f(x), y)).

Read `calibrant.calibration` first, then one score and one interpolator; the rest is variants of these.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from calibrant import doers

if TYPE_CHECKING:
    from calibrant import batches as batches
    from calibrant import dask as dask
    from calibrant import diagnosis as diagnosis
    from calibrant import distributions as distributions
    from calibrant import horizons as horizons
    from calibrant import interpolators as interpolators
    from calibrant import intervals as intervals
    from calibrant import labels as labels
    from calibrant import metrics as metrics
    from calibrant import models as models
    from calibrant import plots as plots
    from calibrant import predictions as predictions
    from calibrant import refine as refine
    from calibrant import reports as reports
    from calibrant import scores as scores
    from calibrant import several as several
    from calibrant import spark as spark
    from calibrant.backtesting.backtest import Backtest as Backtest
    from calibrant.backtesting.backtest import backtest as backtest
    from calibrant.calibration import Calibrated as Calibrated
    from calibrant.calibration import Calibrator as Calibrator
    from calibrant.censored import Censored as Censored
    from calibrant.cross import CrossCalibrated as CrossCalibrated
    from calibrant.diagnosis import diagnose as diagnose
    from calibrant.distributions.base import Distribution as Distribution
    from calibrant.distributions.gaussian_mixture import GaussianMixture as GaussianMixture
    from calibrant.distributions.laplace import Laplace as Laplace
    from calibrant.distributions.log_normal import LogNormal as LogNormal
    from calibrant.distributions.logistic import Logistic as Logistic
    from calibrant.distributions.mixture import Mixture as Mixture
    from calibrant.distributions.normal import Normal as Normal
    from calibrant.distributions.scipy_law import from_scipy as from_scipy
    from calibrant.distributions.student_t import StudentT as StudentT
    from calibrant.distributions.torch_law import from_torch as from_torch
    from calibrant.guarantee.marginal import Guarantee as Guarantee
    from calibrant.guarantee.required import required_n as required_n
    from calibrant.guarantee.required import required_n_for_interval as required_n_for_interval
    from calibrant.horizons import HorizonCalibrated as HorizonCalibrated
    from calibrant.horizons import HorizonCalibrator as HorizonCalibrator
    from calibrant.interpolators.forget import HalfLife as HalfLife
    from calibrant.interpolators.forget import Window as Window
    from calibrant.interpolators.linear import Linear as Linear
    from calibrant.interpolators.naf import NAF as NAF
    from calibrant.interpolators.naive import Naive as Naive
    from calibrant.interpolators.random import Random as Random
    from calibrant.metrics import evaluate as evaluate
    from calibrant.models import prediction_of as prediction_of
    from calibrant.monitoring import Monitor as Monitor
    from calibrant.monitoring import monitor as monitor
    from calibrant.persistence import load as load
    from calibrant.predictions import concatenate as concatenate
    from calibrant.predictions.ensemble import Ensemble as Ensemble
    from calibrant.predictions.point import Point as Point
    from calibrant.predictions.quantiles import Interval as Interval
    from calibrant.predictions.quantiles import Quantiles as Quantiles
    from calibrant.predictions.samples import Samples as Samples
    from calibrant.reports import report as report
    from calibrant.sklearn.density_ratio import DensityRatio as DensityRatio
    from calibrant.sklearn.refined import Refined as Refined
    from calibrant.sklearn.regressor import CalibratedRegressor as CalibratedRegressor
    from calibrant.sklearn.scorers import neg_crps as neg_crps
    from calibrant.sklearn.scorers import neg_interval_score as neg_interval_score
    from calibrant.sklearn.scorers import neg_nll as neg_nll
    from calibrant.tracking import Tracker as Tracker

    # As __getattr__ makes it where every extra is installed: a type checker does not ask that.
    __all__ = [
        "NAF",
        "Backtest",
        "Calibrated",
        "CalibratedRegressor",
        "Calibrator",
        "Censored",
        "CrossCalibrated",
        "DensityRatio",
        "Distribution",
        "Ensemble",
        "GaussianMixture",
        "Guarantee",
        "HalfLife",
        "HorizonCalibrated",
        "HorizonCalibrator",
        "Interval",
        "Laplace",
        "Linear",
        "LogNormal",
        "Logistic",
        "Mixture",
        "Monitor",
        "Naive",
        "Normal",
        "Point",
        "Quantiles",
        "Random",
        "Refined",
        "Samples",
        "StudentT",
        "Tracker",
        "Window",
        "backtest",
        "batches",
        "concatenate",
        "diagnose",
        "diagnosis",
        "distributions",
        "evaluate",
        "from_scipy",
        "from_torch",
        "horizons",
        "interpolators",
        "intervals",
        "labels",
        "load",
        "metrics",
        "models",
        "monitor",
        "neg_crps",
        "neg_interval_score",
        "neg_nll",
        "plots",
        "prediction_of",
        "predictions",
        "refine",
        "report",
        "reports",
        "required_n",
        "required_n_for_interval",
        "scores",
        "several",
    ]
    __version__: str

_LATER = {
    "Backtest": "calibrant.backtesting",
    "Calibrated": "calibrant.calibration",
    "CalibratedRegressor": "calibrant.sklearn.regressor",
    "Calibrator": "calibrant.calibration",
    "Censored": "calibrant.censored",
    "CrossCalibrated": "calibrant.cross",
    "DensityRatio": "calibrant.sklearn.density_ratio",
    "Distribution": "calibrant.distributions.base",
    "Ensemble": "calibrant.predictions.ensemble",
    "GaussianMixture": "calibrant.distributions.gaussian_mixture",
    "Guarantee": "calibrant.guarantee.marginal",
    "HalfLife": "calibrant.interpolators.forget",
    "HorizonCalibrated": "calibrant.horizons",
    "HorizonCalibrator": "calibrant.horizons",
    "Interval": "calibrant.predictions.quantiles",
    "Laplace": "calibrant.distributions.laplace",
    "Linear": "calibrant.interpolators.linear",
    "LogNormal": "calibrant.distributions.log_normal",
    "Logistic": "calibrant.distributions.logistic",
    "Mixture": "calibrant.distributions.mixture",
    "Monitor": "calibrant.monitoring",
    "NAF": "calibrant.interpolators.naf",
    "Naive": "calibrant.interpolators.naive",
    "Normal": "calibrant.distributions.normal",
    "Point": "calibrant.predictions.point",
    "Quantiles": "calibrant.predictions.quantiles",
    "Random": "calibrant.interpolators.random",
    "Refined": "calibrant.sklearn.refined",
    "Samples": "calibrant.predictions.samples",
    "StudentT": "calibrant.distributions.student_t",
    "Tracker": "calibrant.tracking",
    "Window": "calibrant.interpolators.forget",
    "backtest": "calibrant.backtesting",
    "concatenate": "calibrant.predictions",
    "diagnose": "calibrant.diagnosis",
    "evaluate": "calibrant.metrics",
    "from_scipy": "calibrant.distributions.scipy_law",
    "from_torch": "calibrant.distributions.torch_law",
    "load": "calibrant.persistence",
    "monitor": "calibrant.monitoring",
    "neg_crps": "calibrant.sklearn.scorers",
    "neg_interval_score": "calibrant.sklearn.scorers",
    "neg_nll": "calibrant.sklearn.scorers",
    "prediction_of": "calibrant.models",
    "report": "calibrant.reports",
    "required_n": "calibrant.guarantee.required",
    "required_n_for_interval": "calibrant.guarantee.required",
}
"""Every name waits in its module until it is asked for: importing calibrant costs next to nothing."""

_MODULES = (
    "batches",
    "dask",
    "diagnosis",
    "distributions",
    "horizons",
    "interpolators",
    "intervals",
    "labels",
    "metrics",
    "models",
    "plots",
    "predictions",
    "refine",
    "reports",
    "scores",
    "several",
    "spark",
)
"""Modules, likewise."""

_NAMESAKES = {"dask", "spark"}
"""A star leaves these out: they would hide the library dask, and the session that Spark's users call `spark`."""

_EXTRAS = {"dask": "dask", "narwhals": "sklearn", "pyarrow": "batches", "sklearn": "sklearn"}
"""Which extra of the package brings what they need."""
_OPTIONAL = {"jinja2", "matplotlib", *_EXTRAS}
"""What calibrant works without, these names apart."""


def _save(path: Any, calibrated: Any) -> None:
    import_module("calibrant.persistence").save(path, calibrated)


def _update(*rows: Any, **known: Any) -> Any:
    return import_module("calibrant.updating").updated(*rows, **known)


def _merge(*calibrated: Any) -> Any:
    return import_module("calibrant.merging").merged(*calibrated)


def _labels_named(name: str) -> Any:
    return import_module("calibrant.labels.named").labels_named(name)


def _reaching(H: Any, guarantee: Any) -> Any:
    return import_module("calibrant.guarantee.required").reaching(H, guarantee)


doers.hand_in(save=_save, update=_update, merge=_merge, labels_named=_labels_named, reaching=_reaching)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("calibrant._version").library_version()
    if name == "__all__":  # for `from calibrant import *`: without the names whose extra is not installed
        return [name for name in sorted({*_LATER, *_MODULES} - _NAMESAKES) if _is_there(name)]
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


def _is_there(name: str) -> bool:
    try:
        __getattr__(name)
    except ModuleNotFoundError as error:
        if error.name not in _OPTIONAL:
            raise
        return False
    return True


def __dir__() -> list[str]:
    return sorted({*_LATER, *_MODULES, "__version__"})
