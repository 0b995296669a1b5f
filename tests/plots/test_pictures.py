"""Plots look as they did, on axes of any style: light, dark, with a grid; of few rows and of many."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from plotted import LEVELS, Case, every_plot

from calibrant import Normal, Point, Quantiles, plots
from calibrant.interpolators import Naive, Random
from calibrant.scores import CDFScore

picture = pytest.mark.mpl_image_compare(savefig_kwargs={"dpi": 65}, deterministic=True)
STYLES = ["default-0", "default-1", "default-2", "dark_background-0", "dark_background-1", "ggplot-0"]


@pytest.fixture(scope="module")
def case():
    return Case()


def sheet(draw, rows, columns, size=(9, 5.2)):
    """Panels in one figure, each drawn by a function of its axes."""
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained")
    for ax, (name, plot) in zip(axes.flat, draw.items(), strict=False):
        plot(ax=ax).set_title(name)
    return figure


@picture
@pytest.mark.parametrize("style", STYLES)
def test_a_sheet_looks_as_it_did(style, case):
    name, part = style.split("-")
    every = list(every_plot(case).items())[6 * int(part) :][:6]
    with plt.style.context(name):
        return sheet(dict(every), 2, 3 if len(every) == 6 else 2)


@picture
@pytest.mark.parametrize("name", ["pit_histogram", "coverage_by_slice"])
def test_a_figure_of_our_own_looks_as_it_did(name, case):
    return every_plot(case)[name]().figure


@picture
@pytest.mark.parametrize("count", [1, 4])
def test_a_summary_looks_as_it_did(count, case):
    several = {
        **case.both,
        "constant width": Normal(case.f, 1.05),
        "$points_5$": Quantiles(LEVELS, case.H.quantiles(LEVELS)),
    }
    return plots.summary(case.H if count == 1 else several, case.y, n=case.n)


@picture
def test_many_rows_look_as_they_did(case):
    group, rows = [f"g{k}" for k in np.arange(600) % 30], range(30)
    draw = {
        "30 slices": lambda ax: plots.coverage_by_slice(case.H, case.y, {"group": group}, ax=ax),
        "30 ridges": lambda ax: plots.ridgeline(case.H, rows=rows, base=case.base, y=case.y, ax=ax),
        "600 rows": lambda ax: plots.fan(case.H, y=case.y, x=case.f, ax=ax),
        "four forecasts": lambda ax: plots.coverage_by(
            {**case.both, "b": Normal(case.f, 2), "c": Normal(case.f, 3)}, case.y, ax=ax
        ),
    }
    return sheet(draw, 2, 2, (9, 8))


@picture
def test_five_rows_look_as_they_did(case):
    H, y = case.H[:5], case.y[:5]
    draw = {
        "PITs": lambda ax: plots.pit_histogram(H, y, ax=ax),
        "reliability": lambda ax: plots.reliability(H, y, difference=True, ax=ax),
        "intervals": lambda ax: plots.intervals(H, y, ax=ax),
        "fan": lambda ax: plots.fan(H[:1], y[:1], ax=ax),
        "sharpness": lambda ax: plots.sharpness({"a": H}, y, ax=ax),
        "spread": lambda ax: plots.spread_skill(H, y, ax=ax),
    }
    return sheet(draw, 2, 3)


@picture
def test_atoms_and_bases_without_distribution_look_as_they_did(case):
    steps, clipped = case.fit(Naive(), rows=12)(case.base), case.H.clip(0, 9)
    random = case.fit(Random(), CDFScore(), rows=15)
    few = (case.calibration[:15], case.y_calibration[:15])
    five = Quantiles(LEVELS, case.base.quantiles(LEVELS))
    draw = {
        "steps, quantiles": lambda ax: plots.cdf(steps, rows=0, base=five, y=case.y, ax=ax),
        "clipped, a point": lambda ax: plots.density(clipped, rows=4, base=Point(case.f), y=case.y, ax=ax),
        "ridges": lambda ax: plots.ridgeline(clipped, rows=[4, 5, 6], base=five, y=case.y + 1e3, ax=ax),
        "random, cdf score": lambda ax: plots.scores(random, *few, ax=ax),
    }
    return sheet(draw, 2, 2)
