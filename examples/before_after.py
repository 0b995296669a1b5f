"""The README's picture: forecasts and reliability of the demo's forest, before and after calibration."""

from pathlib import Path

import matplotlib
import numpy as np

from calibrant import Calibrator, Distribution
from calibrant.interpolators import NAF

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from demo import forecasts

BEFORE, AFTER = "#d55e00", "#0072b2"  # told apart by colour-blind readers too


def densities(axes: plt.Axes, base: Distribution, law: Distribution, y: np.ndarray, rows: list[int]) -> None:
    for place, row in enumerate(rows):
        grid = np.linspace(*(float(base[row].ppf(p)) for p in (1e-4, 1 - 1e-4)), 400)
        for forecast, colour, name in ((base, BEFORE, "forest"), (law, AFTER, "calibrated")):
            height = forecast[row].pdf(grid)
            axes.plot(grid, place + 4 * height, color=colour, lw=1, label=name if place == 0 else None)
        axes.plot([y[row]] * 2, [place, place + 0.6], color="black", lw=1.5, label="label" if place == 0 else None)
    axes.set(xlabel="output (MW)", yticks=[], title="Forecasts of five hours")
    axes.legend(frameon=False, fontsize=8, loc="upper left")


def reliability(axes: plt.Axes, base: Distribution, law: Distribution, y: np.ndarray) -> None:
    level = np.linspace(0, 1, 201)
    axes.plot(level, level, color="0.7", lw=1)
    for forecast, colour, name in ((base, BEFORE, "forest"), (law, AFTER, "calibrated")):
        pit = np.sort(forecast.cdf(y))
        axes.plot(level, np.searchsorted(pit, level, side="right") / len(y), color=colour, lw=1.5, label=name)
    axes.set(xlabel="predicted probability", ylabel="share of labels below", title="Reliability", aspect="equal")
    axes.legend(frameon=False, fontsize=8)


def main() -> None:
    calibration, y_calibration, base, y = forecasts()
    law = Calibrator(interpolator=NAF()).fit(calibration, y_calibration)(base)
    order = np.argsort(base.mean())
    rows = [int(order[int(share * len(y))]) for share in (0.1, 0.3, 0.5, 0.7, 0.9)]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), width_ratios=[1.7, 1], layout="constrained")
    densities(left, base, law, y, rows)
    reliability(right, base, law, y)
    path = Path(__file__).parents[1] / "docs" / "images" / "before_after.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
