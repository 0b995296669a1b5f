"""diagnose(H, y, X): three checks of one forecast, at one confidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from calibrant._arguments import unit
from calibrant._types import ArrayLike, Features, Groups
from calibrant.diagnosis.feature_test import feature_test
from calibrant.diagnosis.result import CHECKS, Diagnosis
from calibrant.diagnosis.row_events import row_events_of
from calibrant.diagnosis.worst_slice import worst_slice
from calibrant.forecast import PredictionLike
from calibrant.judging.columns import feature_slices
from calibrant.judging.interface import PYTHON
from calibrant.labels.base import Labels
from calibrant.metrics.by_slice import OWN, PARTS, SMALLEST, SliceResult, own_slices, slice_results
from calibrant.metrics.forecasts import paired
from calibrant.metrics.label_kinds import HINT, distribution_for_labels, for_labels, look_like_counts
from calibrant.metrics.slices import Slices, all_rows
from calibrant.predictions import Quantiles

FEWEST = 50
BETWEEN = (
    "The distributions are interpolated linearly between the quantiles, which may be all that fails; calibrant.report"
    " says whether the quantiles are right at their levels."
)


def diagnose(
    H: PredictionLike,
    y: ArrayLike,
    X: Features | Groups | None = None,
    *,
    coverages: Sequence[float] = (0.9, 0.5),
    confidence: float = 0.95,
    n: int | None = None,
    names: Sequence[str] | None = None,
    labels: Labels | str | None = None,
    permutations: int = 199,
    seed: int = 0,
) -> Diagnosis:
    """Is H calibrated in every slice of the rows, as far as the labels y can tell?

    Three checks, each at a third of 1 - confidence, so that a calibrated forecast passes with probability `confidence`
    or more, if rows are independent:

    - slices: coverage and PITs by predicted value, by width and by each feature, against what chance allows in all
      slices at once;
    - features: whether 1{PIT <= c}, at seven levels c, can be predicted from the features better than by its share.
      The p-value comes from permuting the PITs and is exact;
    - the worst slice of one or two features, looked for on one half of the rows and measured on the other.

    Args:
        H: The forecasts: one distribution per row, or any forecast with intervals at `coverages`. Without
            distributions there are no PITs: quantiles are tested at their own levels, an Interval by its coverage.
        y: The labels, of rows that neither trained nor calibrated the model.
        X: The features: an array, a mapping of names to columns or a data frame, of numbers, text or dates; values may
            be missing. Numbers are cut into quintiles, up to 12 different ones are a slice each. Without it, the
            forecast's own centre and width are the features.
        coverages: The probabilities of the centred intervals that are tested; the first is that of the worst slice.
        confidence: The probability that a calibrated forecast passes, at least.
        n: The number of rows that calibrated H, `calibrated.guarantee.n`: the slices allow for the error that so few
            rows leave.
        names: Names for the columns of X, in place of its own, or of x0, x1, ... of an array.
        labels: What kind of number y is, as in `evaluate`: with `Counts()`, distributions, quantiles and draws are
            evaluated as forecasts of counts. Rates are, too, where all labels are counts.
        permutations: How often the PITs are permuted; the p-value is a multiple of 1 / (permutations + 1).
        seed: A whole number that decides the folds, the permutations and the halves.

    >>> from calibrant import Calibrator, Normal, Point, diagnose
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(size=6000)
    >>> f, sigma = np.sin(6 * x), 0.2 + x
    >>> y = f + sigma * rng.normal(size=6000)
    >>> same_width = Calibrator().fit(Point(f[:3000]), y[:3000])(Point(f[3000:]))
    >>> print(diagnose(same_width, y[3000:], {"x": x[3000:]}, n=3000))
    Fails: 3,000 rows show that the forecasts are not calibrated everywhere.
    Slices: 10 of 11 are off by more than chance allows. The farthest is x in [0.0002485, 0.1946] (600 rows): the 50%
    intervals hold 83.5% of the labels, where chance allows 42.2% to 57.8%.
    Features: they predict which labels lie low or high in their forecasts (p = 0.005); most strongly x, predicted
    value.
    Worst slice: ...
    What to do: let the width follow the features: predict quantiles, an interval or a distribution in place of a point,
    or calibrate the slices separately.
    >>> diagnose(Normal(f, sigma)[3000:], y[3000:], {"x": x[3000:]}).passes
    True
    """
    confidence = unit("confidence", confidence)
    asked = [unit("coverages", c) for c in np.atleast_1d(np.asarray(coverages, np.float64)).ravel().tolist()]
    if not asked:
        raise ValueError("coverages must hold at least one number inside (0, 1), got none")
    risk = (1 - confidence) / CHECKS
    least = int(np.ceil(1 / risk)) - 1
    if isinstance(permutations, bool) or not isinstance(permutations, (int, np.integer)) or permutations < least:
        raise ValueError(f"permutations must be a count, at least {least} for this confidence, got {permutations!r}")
    H, y = paired(H, y)
    m = int(y.shape[0])
    if m < FEWEST:
        raise ValueError(f"a diagnosis needs at least {FEWEST} rows, got {m}")
    between = labels is not None and isinstance(H, Quantiles)
    H = for_labels(H, y) if labels is None else distribution_for_labels(H, y, labels)
    like_counts = labels is None and look_like_counts(H, y)
    hint = BETWEEN if between else HINT.format(PYTHON.counts) if like_counts else ""
    events = row_events_of(H, y, asked)
    features = feature_slices(X, m, names)
    own = own_slices(events.centre, events.width, [column.name for column in features])
    columns = [*own, *features]
    rng = np.random.default_rng(seed)
    coverage, flags = next(iter(events.inside.items()))
    return Diagnosis(
        m,
        n,
        confidence,
        not any(column.name.strip("()") == OWN[1] for column in own),
        slice_results([all_rows(m), *columns], events.inside, events.pit, confidence=1 - risk, n=n),
        feature_test(columns, events.events, int(permutations), rng),
        worst_slice(columns, coverage, flags, rng, confidence=confidence, risk=risk, n=n),
        hint,
    )


def forecast_slices(
    H: PredictionLike,
    y: ArrayLike,
    coverage: float,
    n: int | None,
    groups: Sequence[Slices] = (),
    own: Mapping[str, int] | None = None,
) -> tuple[SliceResult, ...]:
    """The slices by predicted value and by width alone, and by groups that are given.

    There are none where there are too few rows to judge each of the five.
    """
    H, y = paired(H, y)
    if y.shape[0] < PARTS * SMALLEST:
        return ()
    events = row_events_of(H, y, [coverage])
    taken = [column.name for column in groups]
    columns = [*own_slices(events.centre, events.width, taken), *groups]
    return slice_results(columns, events.inside, events.pit, n=n, own=own)
