"""Reports for the browser: Normal forecasts half as wide as they should be, and what calibration makes of them."""

import numpy as np

import calibrant
from calibrant import Calibrator, Normal, Point
from calibrant.distributions import NegativeBinomial
from calibrant.interpolators import InfiniteTails, Linear
from calibrant.labels import AtomAt, Counts
from calibrant.predictions import Rates

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
    features = {"id": [f"shop {k}" for k in range(len(y))], **groups}
    return calibrant.report(
        calibrated(base), y, base=base, groups=groups, guarantee=calibrated.guarantee, title="A report", label="demand",
        features=features,
    )  # fmt: skip


def hostile():
    calibrated, base, y, groups = _split(300)
    groups = {HOSTILE: np.where(groups["region"] == "north", HOSTILE, "<b>south</b>")}
    return calibrant.report(
        calibrated(base), y, base=base, groups=groups, features=groups, title=HOSTILE, label=HOSTILE
    )


def alone():
    calibrated, base, y, _ = _split(300)
    return calibrant.report(calibrated(base), y)


def points():
    calibrated, base, y, _ = _split(300)
    return calibrant.report(calibrated(base), y, base=Point(base.mean()))


def far():
    """Labels far from zero: their distributions are told apart by the last digits."""
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


def drifting():
    """From 2024-05-20 on the labels are higher; the rows come in no order."""
    calibrated, base, y, _ = _split(2000)
    day = np.datetime64("2024-01-01") + np.arange(2000) // 10
    y = np.where(day >= np.datetime64("2024-05-20"), y + 2, y)
    order = np.random.default_rng(2).permutation(2000)
    H, guarantee = calibrated(base[order]), calibrated.guarantee
    return calibrant.report(H, y[order], base=base[order], time=day[order], guarantee=guarantee)


def rain():
    """Many labels are exactly 0."""
    rng = np.random.default_rng(3)
    mean = rng.uniform(-1.5, 3, 1000)
    y = np.maximum(mean + rng.normal(size=1000), 0.0)
    base = Normal(mean, 0.7)
    calibrated = Calibrator(labels=AtomAt(0)).fit(base[:500], y[:500], rng=rng)
    return calibrant.report(calibrated(base[500:]), y[500:], base=base[500:].clip(lower=0.0), label="rain")


def counts():
    """Counts that scatter more than the Poisson distribution of their rates."""
    rng = np.random.default_rng(4)
    rate = rng.uniform(0.5, 8, 1000)
    y = NegativeBinomial(rate, 0.5).sample(1, rng)[:, 0]
    calibrated = Calibrator(labels=Counts()).fit(Rates(rate[:500]), y[:500], rng=rng)
    return calibrant.report(calibrated(Rates(rate[500:])), y[500:], base=Rates(rate[500:]), label="visits")


def narrow():
    """Forecasts half as wide as they should be, that claim the guarantee of others."""
    calibrated, base, y, groups = _split()
    guarantee = calibrated.guarantee
    return calibrant.report(base, y, groups=groups, guarantee=guarantee, label="output (MW)")


def wild():
    """Labels with outliers far beyond every interval."""
    rng = np.random.default_rng(5)
    f = rng.normal(100, 10, 3000)
    y = f + rng.standard_t(1.3, 3000)
    calibrated = Calibrator().fit(Point(f[:1000]), y[:1000])
    H, guarantee = calibrated(Point(f[1000:])), calibrated.guarantee
    return calibrant.report(H, y[1000:], base=Point(f[1000:]), guarantee=guarantee, label="demand")


def several():
    """Three models of the same labels, of which the first is not the best."""
    calibrated, base, y, _ = _split()
    rough = Normal(base.mean() + np.random.default_rng(6).normal(size=len(y)), base.std() * 2)
    models = {"rough": rough, "calibrated": calibrated(base), "base": base}
    return calibrant.report(models, y, guarantee={"calibrated": calibrated.guarantee}, label="demand")
