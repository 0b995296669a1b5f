"""Calibrate forecasts of a long table by horizon, and write the same columns back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from calibrant._arguments import check_has
from calibrant._arrays import Rng, first_and_count
from calibrant._calibrated import Saveable
from calibrant._types import Frame, Table
from calibrant._words import in_all
from calibrant.calibration import Calibrated, Calibrator
from calibrant.distributions.base import Distribution
from calibrant.guarantee import Guarantee
from calibrant.horizons.table import LongColumns, LongRows, columns_of, opened, written
from calibrant.interpolators import NAF, ByHorizon, Linear
from calibrant.metrics import Evaluation, evaluate
from calibrant.metrics.evaluation import OfDistribution


@dataclass(frozen=True)
class HorizonCalibrator:
    """A calibrator of forecasts in a long table, one distribution for each number of steps ahead, ready to be fitted.

    `calibrator` has the score, the kind of labels and the interpolator; `Linear`, its default, and `NAF` mean
    `ByHorizon` here, in which neighbouring horizons share information.

    >>> import pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> def forecasts(cutoffs):  # of a random walk, 6 steps ahead, whose stated intervals do not widen
    ...     h, made = np.tile(np.arange(1, 7), len(cutoffs)), np.repeat(cutoffs, 6)
    ...     y = rng.normal(size=(len(cutoffs), 6)).cumsum(axis=1).ravel()
    ...     return pd.DataFrame({"ds": made + h, "cutoff": made, "y": y, "RW": 0.0, "RW-lo-80": -1.3, "RW-hi-80": 1.3})
    >>> calibrated = HorizonCalibrator().fit(forecasts(np.arange(0, 1200, 6)))
    >>> calibrated.predict(forecasts([1200])).drop(columns=["y", "ds", "cutoff"]).round(1)
        RW  RW-lo-80  RW-hi-80
    0 -0.1      -1.3       1.1
    1  0.0      -1.8       1.8
    2  0.1      -2.2       2.2
    3 -0.1      -2.5       2.3
    4 -0.2      -2.9       2.5
    5 -0.2      -3.2       2.8
    """

    calibrator: Calibrator = field(default_factory=Calibrator)

    def __post_init__(self) -> None:
        check_has("HorizonCalibrator.calibrator", self.calibrator, "fit", "a Calibrator")

    def fit(
        self,
        frame: Table,
        *,
        model: str | None = None,
        target: str = "y",
        series: str | None = "unique_id",
        time: str = "ds",
        cutoff: str | None = "cutoff",
        horizon: str | None = None,
        coverage: float = 0.8,
        rng: Rng = None,
    ) -> HorizonCalibrated:
        """Calibrate on the forecasts of a table, many cutoffs of one series or of several, and their labels.

        The columns of the forecast are found by their names: `ETS`, `ETS-lo-90` and `ETS-hi-90` of any levels, `yhat`,
        `yhat_lower` and `yhat_upper`, `q0.1` and the like.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            model: The model whose columns to use, such as "ETS", if the table has several.
            target: The column with the labels.
            series: The column with the name of the series. None, or a table without `unique_id`, is one series.
            time: The column with the time that each forecast is for.
            cutoff: The column with the time at which each forecast was made.
            horizon: The column with the number of steps ahead; without it they are counted from the cutoff, row by row.
            coverage: The probability of bounds whose names do not say it, such as `yhat_lower`.
            rng: A `numpy.random.Generator`, for labels that are drawn, such as counts.
        """
        columns = columns_of(frame, model, target, series, time, cutoff, horizon, coverage)
        return fit_rows(self.calibrator, labelled_rows(self.calibrator, frame, columns), columns, rng=rng)


def labelled_rows(calibrator: Calibrator, frame: Table, columns: LongColumns) -> LongRows:
    """The rows of a table with their labels, and the bounds that the labels need."""
    return LongRows.of(frame, columns, labels=True, bounds=_bounds(calibrator))


def fit_rows(calibrator: Calibrator, rows: LongRows, columns: LongColumns, *, rng: Rng = None) -> HorizonCalibrated:
    """Calibrate on rows of a table with labels, in the order in which the forecasts were made."""
    rows, interpolator = rows.in_order(), calibrator.interpolator
    if isinstance(interpolator, (NAF, Linear)):  # the two that make a density
        interpolator = ByHorizon(interpolator) if isinstance(interpolator, NAF) else ByHorizon()
    calibrator, y = replace(calibrator, interpolator=interpolator), rows.y
    found = calibrator.fit(rows.prediction, y, by=rows.horizon, bound=rows.bound, rng=rng)  # type: ignore[arg-type]
    return HorizonCalibrated(replace(found, guarantee=replace(found.guarantee, basis="horizon")), columns)


@dataclass(frozen=True, eq=False)
class HorizonCalibrated(Saveable):
    """What calibration learned of each horizon, and the columns that it reads and writes."""

    calibrated: Calibrated
    columns: LongColumns

    def __post_init__(self) -> None:
        """Its groups are steps ahead: 1, 2, ..."""
        known = self.calibrated.guarantee
        if known.basis != "horizon" or any(type(name) is not int or name < 1 for name in known.names):
            raise ValueError("it was not calibrated by horizon")

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee at each horizon."""
        return self.calibrated.guarantee

    @property
    def horizons(self) -> tuple[int, ...]:
        """Those that were calibrated."""
        return self.guarantee.names  # type: ignore[return-value]

    def __call__(self, frame: Table | LongRows, *, rng: Rng = None, seed: int | None = None) -> Distribution:
        """H of each row of a table of new forecasts; without cutoffs, the rows of a series were forecast at once.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow; or rows of one.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        rows = frame if isinstance(frame, LongRows) else self.rows(frame)
        return self.calibrated(rows.prediction, by=rows.horizon, bound=rows.bound, rng=rng, seed=seed)

    def predict(self, frame: Frame, *, rng: Rng = None, seed: int | None = None) -> Frame:
        """The same table, with calibrated numbers in the columns of the forecast.

        A quantile or a bound is that of the distribution, and the point is its median.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        levels, point = dict(self.columns.forecast.quantiles), self.columns.forecast.point
        if point is not None and point in opened(frame).columns:
            levels[point] = 0.5
        quantiles = self(frame, rng=rng, seed=seed).quantiles(list(levels.values()))
        return written(frame, dict(zip(levels, np.ascontiguousarray(quantiles.T), strict=True)))

    def evaluate(self, frame: Table, *, coverage: float = 0.9, seed: int | None = None) -> HorizonEvaluation:
        """How the forecasts of a table with labels do at each horizon, as they are and calibrated.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            coverage: The probability of the centred intervals that are evaluated.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        rows = self.labelled(frame)
        return evaluate_horizons(rows.prediction, self(rows, seed=seed), rows.y, rows.horizon, coverage)

    def labelled(self, frame: Table) -> LongRows:
        """The rows of a table that have a label.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
        """
        rows = self.rows(frame, labels=True)
        rows = rows[~np.isnan(rows.y)]  # type: ignore[arg-type]
        if not len(rows):
            raise ValueError(f"no row of the table has a label, in column {self.columns.target!r}")
        return rows

    def rows(self, frame: Table, *, labels: bool = False) -> LongRows:
        """The rows of a table, each of a horizon that was calibrated.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            labels: Also read the labels, NaN where there is none.
        """
        rows = LongRows.of(frame, self.columns, labels=labels, bounds=_bounds(self.calibrated))
        unknown = ~np.isin(rows.horizon, self.horizons)
        if unknown.any():
            row, count = first_and_count(unknown)
            first, *_, last = self.horizons * 2
            gapless = last - first == len(self.horizons) - 1
            known = f"{first} to {last}" if gapless else ", ".join(map(str, self.horizons))
            hint = "calibrate on forecasts that reach as far"
            if rows.cutoff is None and self.columns.horizon is None:
                hint += (
                    ", or leave out rows of the past: without cutoffs all rows of a series count as forecast at once"
                )
            raise ValueError(
                f"row {row} is {rows.horizon[row]} steps ahead, and the calibrated horizons are {known}"
                f" ({in_all(count)}): {hint}"
            )
        return rows


def _bounds(calibrator: Calibrator | Calibrated) -> tuple[str, ...]:
    """The columns that bound the labels."""
    return () if calibrator.labels is None else tuple(calibrator.labels.columns)


@dataclass(frozen=True, repr=False)
class HorizonEvaluation:
    """The metrics of each horizon. It prints as a table, one line per horizon."""

    base: dict[int, Evaluation]
    """The forecasts as they are."""
    calibrated: dict[int, OfDistribution]
    interval: float
    """The probability of the intervals whose coverage is shown."""

    def to_dict(self) -> dict[int, dict[str, dict[str, float]]]:
        """The metrics by horizon, side and name."""
        return {
            h: {"base": self.base[h].to_dict(), "calibrated": self.calibrated[h].to_dict()} for h in self.calibrated
        }

    def __str__(self) -> str:
        lines = [["horizon", "rows", f"in {100 * self.interval:g}%", "before", "CRPS", "before"]]
        for h, after in self.calibrated.items():
            both = after, self.base[h]
            shares = ["–" if each.coverage is None else f"{100 * each.coverage:.1f}%" for each in both]
            losses = ["–" if each.crps is None else f"{each.crps:.4g}" for each in both]
            lines.append([str(h), str(after.n), *shares, *losses])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.rjust, line, widths)) for line in lines)

    def __repr__(self) -> str:
        return f"HorizonEvaluation({len(self.calibrated)} horizons)"


def evaluate_horizons(base: Any, H: Any, y: Any, horizon: Any, coverage: float) -> HorizonEvaluation:
    """The metrics of the rows of each horizon, of the forecasts as they are and of their distributions."""
    rows = {h: np.flatnonzero(horizon == h) for h in np.unique(horizon).tolist()}
    before, after = (
        {h: evaluate(forecast[mine], y[mine], coverage=coverage) for h, mine in rows.items()} for forecast in (base, H)
    )
    return HorizonEvaluation(before, after, coverage)
