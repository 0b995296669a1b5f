"""Backtests of a sequence or of a long table: predict, reveal, update, in time order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import check_has
from calibrant._arrays import Array, concatenate, to_numpy
from calibrant._batch import take_rows
from calibrant._types import ArrayLike, Table
from calibrant._words import count
from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import join
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.piecewise_linear import Lines, PiecewiseLinear
from calibrant.forecast import PredictionLike
from calibrant.horizons.calibration import (
    HorizonCalibrator,
    HorizonEvaluation,
    evaluate_horizons,
    fit_rows,
    labelled_rows,
)
from calibrant.horizons.table import LongRows, columns_of
from calibrant.metrics import evaluate
from calibrant.metrics.evaluation import OfDistribution
from calibrant.predictions import Prediction, with_labels
from calibrant.predictions.point import as_prediction
from calibrant.updating import scores_of

__all__ = ["backtest"]

Rows = NDArray[np.int64]

MOST = 2_000_000
"""Knots of one table, some 200 MB with all that is read off them."""


class ColumnNames(TypedDict, total=False):
    """The columns of a long table, as in `HorizonCalibrator.fit`."""

    model: str | None
    target: str
    series: str | None
    time: str
    cutoff: str | None
    horizon: str | None
    coverage: float


@dataclass(frozen=True, eq=False, repr=False)
class Backtest:
    """What a backtest found: the distributions and labels of the rows that were forecast, in time order."""

    H: Distribution
    y: NDArray[np.float64]
    rows: Rows
    """Which rows of what was given these are."""
    base: Prediction | Distribution
    """The forecasts as they were."""
    horizon: Rows | None = None
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
    **columns: Unpack[ColumnNames],
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
    for name, value, smallest in (("batch", batch, 1), ("delay", delay, 0), ("least", least, 1), ("every", every, 1)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < smallest:
            raise ValueError(f"{name} must be a whole number of at least {smallest}, got {value!r}")
    if isinstance(forecaster, HorizonCalibrator):
        if y is not None:
            raise TypeError("the labels of a long table are a column of it, target=: pass no y")
        return _of_table(forecaster, rows, least, every, **columns)
    if columns:
        raise TypeError(f"{next(iter(columns))}= is for long tables, with a HorizonCalibrator")
    check_has("the forecaster", forecaster, "update", "a HorizonCalibrator, or an object to call and update")
    if not callable(forecaster):
        name = type(forecaster).__name__
        raise TypeError(f"a {name} cannot be called with a prediction: of an estimator, take its calibrated_")
    if y is None:
        raise TypeError("a sequence needs its labels: backtest(calibrated, prediction, y)")
    prediction, labels = with_labels(as_prediction(rows), y)
    if not len(prediction):
        raise ValueError("a backtest needs at least one row, got none")
    _check_unseen(forecaster, prediction, labels)
    H = _in_one_batch(list(_one_after_the_other(forecaster, prediction, labels, batch, delay)))
    return Backtest(H, np.asarray(to_numpy(labels), np.float64), np.arange(len(prediction)), prediction)


# ---- a sequence ------------------------------------------------------------------------------------------------------


def _one_after_the_other(forecaster: Any, prediction: Any, y: Array, batch: int, delay: int) -> Iterator[Distribution]:
    """The distributions of each batch of rows, made before their labels were revealed."""
    revealed = 0
    for start in range(0, len(prediction), batch):
        stop = min(start + batch, len(prediction))
        yield forecaster(prediction[start:stop])
        known = max(stop - delay, revealed)
        if known > revealed:
            updated = forecaster.update(prediction[revealed:known], y[revealed:known])
            forecaster, revealed = (forecaster if updated is None else updated), known


def _in_one_batch(distributions: list[Distribution]) -> Distribution:
    """All in one batch: lines, moved and stretched, are rows of one table, which is asked all at once."""
    lines = [
        each.base
        for each in distributions
        if type(each) is LocationScale and type(each.base) is PiecewiseLinear and not each.base.shape
    ]
    if len(lines) < len(distributions) or sum(line.knots.shape[0] for line in lines) > MOST:
        return join(distributions)
    which = np.repeat(np.arange(len(distributions)), list(map(len, distributions)))
    loc, scale = (concatenate([getattr(each, name) for each in distributions]) for name in ("loc", "scale"))
    return LocationScale(loc, scale, PiecewiseLinear(Lines.of(lines), which))


def _check_unseen(forecaster: Any, prediction: Any, labels: Array) -> None:
    """Raise for a calibrator that was fitted on the rows it is to be tested on: their scores are among its own."""
    history = getattr(forecaster, "history", None)
    if history is None or getattr(forecaster, "labels", None) is not None:  # labels that are drawn have no fixed score
        return
    scores = np.unique(to_numpy(scores_of(forecaster, prediction, labels)[0]))
    seen = int(np.isin(scores, to_numpy(history.scores)).sum())
    if 2 * scores.size > len(prediction) and 2 * seen > scores.size:  # ties tell nothing
        raise ValueError(
            f"the calibrator was fitted on rows that it is to be tested on: it has {seen} of the {scores.size} scores"
            " already; fit it on earlier rows"
        )


# ---- a long table ----------------------------------------------------------------------------------------------------


def _of_table(calibrator: HorizonCalibrator, frame: Any, least: int, every: int, **named: Any) -> Backtest:
    """Cutoff by cutoff."""
    columns = columns_of(frame, **named)
    if columns.cutoff is None:
        asked = named.get("cutoff", "cutoff")
        raise ValueError(f"a backtest must know when each forecast was made: there is no column {asked!r}")
    table: Any = labelled_rows(calibrator.calibrator, frame, columns)
    distributions, which, fitted, age = [], [], None, 0
    cutoffs = np.unique(table.cutoff).tolist()
    for now in cutoffs:
        asked = np.flatnonzero((table.cutoff == now) & ~np.isnan(table.y))  # with a label to judge them by
        horizons, known = table.horizon[asked], labels_known_at(table, now)
        counts = np.bincount(table.horizon[known], minlength=int(table.horizon.max()) + 1)
        if not asked.size or counts[horizons].min() < least:
            continue
        if fitted is None or age >= every or not set(horizons.tolist()) <= set(fitted.horizons):
            fitted, age = fit_rows(calibrator.calibrator, table[known], columns), 0
        distributions.append(fitted(table[asked]))
        which.append(asked)
        age += 1
    if fitted is None:
        raise ValueError(
            f"there is no cutoff by which each of its horizons had {least} known labels: the table has {len(cutoffs)}"
            " cutoffs; take more, or fewer by least="
        )
    rows = np.concatenate(which)
    found = table[rows]
    made = [table.times[code] for code in found.cutoff]
    return Backtest(join(distributions), found.y, rows, found.prediction, found.horizon, made)


def labels_known_at(rows: LongRows, now: int) -> Rows:
    """The rows whose labels were known at a cutoff: for a time no later than that, whenever they were made."""
    return np.flatnonzero((rows.time <= now) & ~np.isnan(rows.y))  # type: ignore[arg-type]
