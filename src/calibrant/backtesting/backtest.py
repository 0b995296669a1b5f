"""A backtest of a sequence or of a long table: each distribution is made before its label is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import check_has
from calibrant._arrays import to_numpy
from calibrant._batch import take_rows
from calibrant._types import ArrayLike, Table
from calibrant._words import count
from calibrant.backtesting.long_table import backtest_table
from calibrant.backtesting.sequence import backtest_sequence
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.horizons.calibration import HorizonCalibrator
from calibrant.horizons.evaluation import HorizonEvaluation, evaluate_horizons
from calibrant.metrics import evaluate
from calibrant.metrics.evaluation import OfDistribution
from calibrant.predictions import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """What a backtest found: the distributions and labels of the rows that were forecast, in time order."""

    H: Distribution
    y: NDArray[np.float64]
    rows: NDArray[np.int64]
    """Which rows of what was given these are."""
    base: Prediction | Distribution
    """The forecasts as they were."""
    horizon: NDArray[np.int64] | None = None
    """The steps ahead of each row, of a long table."""
    made: Sequence[object] | None = None
    """When each forecast was made: its cutoff, of a long table."""

    def __len__(self) -> int:
        return len(self.y)

    def evaluate(self, **asked: Any) -> OfDistribution:
        """The metrics of all rows, see `calibrant.evaluate`.

        Args:
            asked: Passed on to `calibrant.evaluate`: `coverage`, `ci`, `levels` and `labels`.
        """
        return evaluate(self.H, self.y, **asked)

    def by_horizon(self, *, coverage: float = 0.9) -> HorizonEvaluation:
        """The metrics at each number of steps ahead.

        Args:
            coverage: The probability of the centred intervals that are evaluated.
        """
        if self.horizon is None:
            raise TypeError("a backtest of a sequence has no horizons: it is for long tables")
        return evaluate_horizons(self.base, self.H, self.y, self.horizon, coverage)

    def over_time(self, *, bins: int = 10, **asked: Any) -> dict[Any, OfDistribution]:
        """The metrics of periods of about equally many rows, by the first row, or by the first cutoff.

        Args:
            bins: The number of periods, each of about as many rows.
            asked: Passed on to `calibrant.evaluate`: `coverage`, `ci`, `levels` and `labels`.
        """
        if not 1 <= bins <= len(self):
            raise ValueError(f"bins must be from 1 to the {count(len(self), 'row')}, got {bins}")
        when = self.rows if self.made is None else self.made
        parts = np.array_split(np.arange(len(self)), bins)
        return {when[part[0]]: evaluate(take_rows(self.H, part), self.y[part], **asked) for part in parts}

    def __repr__(self) -> str:
        steps = "" if self.horizon is None else f", {len(np.unique(self.horizon))} horizons"
        return f"Backtest(n={len(self)}{steps})"


@overload
def backtest(
    forecaster: HorizonCalibrator,
    rows: Table,
    y: None = None,
    *,
    least: int = 10,
    every: int = 1,
    model: str | None = None,
    target: str = "y",
    series: str | None = "unique_id",
    time: str = "ds",
    cutoff: str = "cutoff",
    horizon: str | None = None,
    coverage: float = 0.8,
) -> Backtest: ...
@overload
def backtest(forecaster: Any, rows: PredictionLike, y: ArrayLike, *, batch: int = 1, delay: int = 0) -> Backtest: ...
def backtest(
    forecaster: Any,
    rows: PredictionLike | Table,
    y: ArrayLike | None = None,
    *,
    batch: int = 1,
    delay: int = 0,
    least: int = 10,
    every: int = 1,
    **columns: Any,
) -> Backtest:
    """Predict, reveal, update, in time order: every distribution is made of what was known before its label.

    **A sequence**, `backtest(calibrated, prediction, y)`, rows in time order. `batch` rows are forecast at once;
    then the labels of all rows but the last `delay` are revealed and passed to `update`.

    **A long table**, `backtest(HorizonCalibrator(), frame)`. At each cutoff it is fitted to the rows whose labels were
    known then, those with ds <= cutoff. A forecast made earlier for a later time is not among them. The first cutoffs
    are left out, until every horizon asked for has `least` such rows.

    Args:
        forecaster: For a sequence, a fitted calibrator: anything that can be called with a prediction and has
            `update(prediction, y)`, which returns the updated one, or None if it changes itself. For a long table, a
            `HorizonCalibrator`.
        rows: The predictions of the sequence, or the long table.
        y: The labels of the sequence. A long table has them in a column.
        batch: Of a sequence: how many rows are forecast at once.
        delay: Of a sequence: the number of latest rows whose labels are not yet known.
        least: Of a long table: how many labels every horizon needs before the first forecast.
        every: Of a long table: 5 fits anew at every fifth cutoff.
        columns: Of a long table: the names of its columns, as in `HorizonCalibrator.fit`.

    >>> from calibrant import Calibrator, Window
    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=600)
    >>> y = f + rng.normal(size=600) * np.where(np.arange(600) < 300, 1, 3)  # errors grow
    >>> calibrated = Calibrator(forget=Window(100)).fit(f[:100], y[:100])
    >>> found = backtest(calibrated, f[100:], y[100:])
    >>> found
    Backtest(n=500)
    >>> {int(row): round(each.coverage, 2) for row, each in found.over_time(bins=5).items()}
    {0: 0.89, 100: 0.93, 200: 0.72, 300: 0.87, 400: 0.92}
    """
    if isinstance(forecaster, HorizonCalibrator):
        if y is not None:
            raise TypeError("the labels of a long table are a column of it, target=: pass no y")
        found, distributions, which = backtest_table(
            forecaster, rows, _count("least", least), _count("every", every), **columns
        )
        known = found[which]
        made = [found.times[code] for code in known.cutoff]  # type: ignore[union-attr]
        return Backtest(distributions, known.y, which, known.prediction, known.horizon, made)  # type: ignore[arg-type]
    if columns:
        raise TypeError(f"{next(iter(columns))}= is for long tables, with a HorizonCalibrator")
    check_has("the forecaster", forecaster, "update", "a HorizonCalibrator, or an object to call and update")
    if not callable(forecaster):
        name = type(forecaster).__name__
        raise TypeError(f"a {name} cannot be called with a prediction: of an estimator, take its calibrated_")
    if y is None:
        raise TypeError("a sequence needs its labels: backtest(calibrated, prediction, y)")
    prediction, labels, distributions = backtest_sequence(
        forecaster, rows, y, batch=_count("batch", batch), delay=_count("delay", delay, 0)
    )
    return Backtest(distributions, np.asarray(to_numpy(labels), np.float64), np.arange(len(prediction)), prediction)


def _count(name: str, value: Any, smallest: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < smallest:
        raise ValueError(f"{name} must be a whole number of at least {smallest}, got {value!r}")
    return int(value)
