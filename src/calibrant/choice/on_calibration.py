"""A choice on the calibration rows, where there are no others, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calibrant._types import ArrayLike
from calibrant.calibration import Calibrated, Calibrator
from calibrant.choice.criteria import CriterionLike, criterion_named
from calibrant.choice.league import League
from calibrant.forecast import PredictionLike
from calibrant.guarantee import ChosenGuarantee
from calibrant.predictions import with_labels


@dataclass(frozen=True)
class Choice:
    """What was chosen on the calibration rows."""

    name: str
    calibrated: Calibrated[ChosenGuarantee]
    """Fitted on all rows; its guarantee holds the price of the choice."""
    league: League


def choose(
    candidates: Mapping[str, PredictionLike | tuple[PredictionLike, Calibrator]],
    y: ArrayLike,
    *,
    criterion: CriterionLike = "crps",
    rng: np.random.Generator | None = None,
) -> Choice:
    """Choose among predictions of the calibration rows, calibrate the chosen one, and state the price.

    Where training rows are left, choose on them: `Refined` does, for nothing. Where there are only calibration rows,
    the best of K laws on them is a little too good, and the guarantee grows by (sqrt(log(2K) / 2) + 1/3) / sqrt(n), see
    `ChosenGuarantee`. To pay nothing, choose on one half of the rows and calibrate on the other.

    Args:
        candidates: By name, from the simplest to the most elaborate, the prediction of every calibration row; or such a
            prediction with the `Calibrator` to use. They must be fixed before the labels are seen.
        y: The labels of the calibration rows.
        criterion: What they are judged by: "crps", "nll" or "interval".
        rng: Halves the rows: each half is judged by laws calibrated on the other.

    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 200))
    >>> choice = choose({"zero": np.zeros(200), "x": x}, x + 0.5 * noise, rng=rng)
    >>> choice.name, round(choice.calibrated.guarantee.epsilon, 3)
    ('x', 0.087)
    """
    if not isinstance(candidates, Mapping):
        raise TypeError(f"candidates must be a dict of predictions by name, got {type(candidates).__name__}")
    pairs: dict[str, Any] = {
        name: each if _with_calibrator(each) else (each, None) for name, each in candidates.items()
    }
    if len(pairs) < 2:
        raise ValueError(f"choose takes at least two candidates, got {len(pairs)}")
    by = criterion_named(criterion)
    checked = {name: with_labels(prediction, y) for name, (prediction, _) in pairs.items()}
    count = len(next(iter(checked.values()))[1])
    if count < 2:
        raise ValueError(f"choose needs at least two rows, got {count}")
    source = np.random.default_rng(rng)
    order = source.permutation(count)
    halves = np.sort(order[: count // 2]), np.sort(order[count // 2 :])
    scores = {name: np.concatenate(by.judge(*each, halves, pairs[name][1], source)) for name, each in checked.items()}
    league = League.of(by.name, scores, {})
    prediction, calibrator = pairs[league.chosen]
    calibrated: Calibrated[Any] = (calibrator or Calibrator(None, by.interpolator)).fit(prediction, y, rng=source)
    own = calibrated.guarantee
    kept = {field.name: getattr(own, field.name) for field in fields(own)}
    priced = ChosenGuarantee(**kept, candidates=len(pairs))
    return Choice(
        league.chosen,
        replace(calibrated, guarantee=priced, history=None),
        league,
    )


def _with_calibrator(each: Any) -> bool:
    return isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], Calibrator)
