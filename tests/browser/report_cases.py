"""Reports for the browser: Normal forecasts half as wide as they should be, and what calibration makes of them."""

import numpy as np

import calibrant
from calibrant import Calibrator, Normal, Point
from calibrant.interpolators import InfiniteTails, Linear

HOSTILE = "</script><script>window.pwned = true</script><img src=x onerror='window.pwned = true'>"

DEFAULT = Calibrator()


def _made(m=2000, n=500, seed=0):
    rng = np.random.default_rng(seed)
    mean = rng.normal(10, 3, n + m)
    scale = np.exp(rng.normal(0, 0.4, n + m))
    y = mean + scale * rng.standard_t(6, n + m)
    region = rng.choice(["north", "south", "east & west"], n + m, p=[0.6, 0.3, 0.1])
    return Normal(mean, scale / 2), y, {"region": region, "forecast": mean}


def _split(m=2003, n=500, calibrator=DEFAULT):
    base, y, groups = _made(m, n)
    calibrated = calibrator.fit(base[:n], y[:n])
    return calibrated, base[n:], y[n:], {name: values[n:] for name, values in groups.items()}


def usual():
    calibrated, base, y, groups = _split()
    return calibrant.report(
        calibrated(base), y, base=base, groups=groups, guarantee=calibrated.guarantee, title="A report", label="demand"
    )


def hostile():
    calibrated, base, y, groups = _split(300)
    groups = {HOSTILE: np.where(groups["region"] == "north", HOSTILE, "<b>south</b>")}
    return calibrant.report(calibrated(base), y, base=base, groups=groups, title=HOSTILE, label=HOSTILE)


def alone():
    calibrated, base, y, _ = _split(300)
    return calibrant.report(calibrated(base), y)


def points():
    calibrated, base, y, _ = _split(300)
    return calibrant.report(calibrated(base), y, base=Point(base.mean()))


def far():
    """Labels far from zero: their laws are told apart by the last digits."""
    rng = np.random.default_rng(1)
    mean = 101_325 + rng.normal(size=300)
    return calibrant.report(Normal(mean, 0.01), rng.normal(mean, 0.01), base=Point(mean))


def infinite():
    """50 scores leave more than 1% of mass beyond each end, at infinity."""
    calibrated, base, y, _ = _split(300, 50, Calibrator(interpolator=Linear(tails=InfiniteTails())))
    return calibrant.report(calibrated(base), y, base=base)


def one_row():
    calibrated, base, y, groups = _split(1)
    return calibrant.report(calibrated(base), y, base=base, groups=groups)
