"""The README's picture: forecasts and reliability of the demo's forest, before and after calibration."""

from pathlib import Path

import matplotlib
import numpy as np

from calibrant import Calibrator, plots
from calibrant.interpolators import NAF

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from demo import forecasts


def main() -> None:
    calibration, y_calibration, base, y, *_ = forecasts()
    H = Calibrator(interpolator=NAF()).fit(calibration, y_calibration)(base)
    order = np.argsort(base.mean())
    rows = [int(order[int(share * len(y))]) for share in (0.9, 0.7, 0.5, 0.3, 0.1)]
    with plots.theme():
        figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.6), width_ratios=[1.6, 1], layout="constrained")
        plots.ridgeline(H, rows=rows, base=base, y=y, ax=left)
        left.set(xlabel="output (MW)", yticks=[], title="Forecasts of five hours")
        plots.reliability({"forest": base, "calibrated": H}, y, n=len(calibration), ax=right)
        right.set(title="Reliability")
        path = Path(__file__).parents[1] / "docs" / "images" / "before_after.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
