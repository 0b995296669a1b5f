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
from calibrant.horizons.evaluation import HorizonEvaluation, evaluate_horizons
from calibrant.horizons.table import LongColumns, LongRows, columns_of, names_of, read, written
from calibrant.interpolators import NAF, ByHorizon, Interpolator, Linear


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
        rows = read(frame, columns, labels=True, bounds=self.bounds)
        return HorizonCalibrated(self.fitted(rows, rng=rng), columns)

    def fitted(self, rows: LongRows, *, rng: Rng = None) -> Calibrated:
        """Calibrated on rows of a table, in the order in which the forecasts were made.

        Args:
            rows: The rows of a long table, as `HorizonCalibrated.rows` returns them.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        rows = rows[rows.in_order()]
        calibrator = replace(self.calibrator, interpolator=by_horizon(self.calibrator.interpolator))
        known: Any = rows  # with labels
        found = calibrator.fit(known.prediction, known.y, by=known.horizon, bound=known.bound, rng=rng)
        return replace(found, guarantee=replace(found.guarantee, basis="horizon"))

    @property
    def bounds(self) -> tuple[str, ...]:
        """The columns that bound the labels."""
        labels = self.calibrator.labels
        return () if labels is None else tuple(labels.columns)


@dataclass(frozen=True, eq=False)
class HorizonCalibrated(Saveable):
    """What calibration learned of each horizon, and the columns that it reads and writes."""

    calibrated: Calibrated
    columns: LongColumns

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee at each horizon."""
        return self.calibrated.guarantee

    @property
    def horizons(self) -> tuple[int, ...]:
        """Those that were calibrated."""
        return self.guarantee.names  # type: ignore[return-value]

    def __call__(self, frame: Table, *, rng: Rng = None, seed: int | None = None) -> Distribution:
        """H of each row of a table of new forecasts; without cutoffs, the rows of a series were forecast at once.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        return distributions_of(self.calibrated, self.rows(frame), rng=rng, seed=seed)

    def predict(self, frame: Frame, *, rng: Rng = None, seed: int | None = None) -> Frame:
        """The same table, with calibrated numbers in the columns of the forecast.

        A quantile or a bound is that of the distribution, and the point is its median.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        H, forecast = self(frame, rng=rng, seed=seed), self.columns.forecast
        names, levels = [name for name, _ in forecast.quantiles], [level for _, level in forecast.quantiles]
        if forecast.point is not None and forecast.point in names_of(frame):
            names, levels = [*names, forecast.point], [*levels, 0.5]
        table: Frame = written(frame, dict(zip(names, np.ascontiguousarray(H.quantiles(levels).T), strict=True)))
        return table

    def evaluate(self, frame: Table, *, coverage: float = 0.9, seed: int | None = None) -> HorizonEvaluation:
        """How the forecasts of a table with labels do at each horizon, as they are and calibrated.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            coverage: The probability of the centred intervals that are evaluated.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        rows = self.labelled(frame)
        H = distributions_of(self.calibrated, rows, seed=seed)
        return evaluate_horizons(rows.prediction, H, rows.y, rows.horizon, coverage)

    def labelled(self, frame: Table) -> LongRows:
        """The rows of a table that have a label.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
        """
        rows = self.rows(frame, labels=True)
        rows = rows[np.flatnonzero(~np.isnan(rows.y))]  # type: ignore[arg-type]
        if not len(rows):
            raise ValueError(f"no row of the table has a label, in column {self.columns.target!r}")
        return rows

    def rows(self, frame: Table, *, labels: bool = False) -> LongRows:
        """The rows of a table, each of a horizon that was calibrated.

        Args:
            frame: A long table, one line per forecast: a frame of pandas, polars or pyarrow.
            labels: Also read the labels, NaN where there is none.
        """
        kind = self.calibrated.labels
        rows = read(frame, self.columns, labels=labels, bounds=() if kind is None else tuple(kind.columns))
        unknown = ~np.isin(rows.horizon, self.horizons)
        if unknown.any():
            row, count = first_and_count(unknown)
            hint = "calibrate on forecasts that reach as far"
            if rows.cutoff is None and self.columns.horizon is None:
                hint += (
                    ", or leave out rows of the past: without cutoffs all rows of a series count as forecast at once"
                )
            raise ValueError(
                f"row {row} is {rows.horizon[row]} steps ahead, and the calibrated horizons are"
                f" {_listed(self.horizons)} ({in_all(count)}): {hint}"
            )
        return rows


def distributions_of(
    calibrated: Calibrated, rows: LongRows, *, rng: Rng = None, seed: int | None = None
) -> Distribution:
    """H of each row."""
    return calibrated(rows.prediction, by=rows.horizon, bound=rows.bound, rng=rng, seed=seed)


def by_horizon(interpolator: Interpolator) -> Interpolator:
    """The interpolator by horizon: `ByHorizon` for the two that make a density."""
    if isinstance(interpolator, NAF):
        return ByHorizon(interpolator)
    return ByHorizon() if isinstance(interpolator, Linear) else interpolator


def _listed(horizons: tuple[int, ...]) -> str:
    """1 to 24, where none is left out."""
    first, last = horizons[0], horizons[-1]
    if last - first + 1 == len(horizons) > 1:
        return f"{first} to {last}"
    return ", ".join(map(str, horizons[:10])) + (" and more" if len(horizons) > 10 else "")
