"""All metrics of a forecast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypedDict, Unpack, overload

from calibrant._arguments import unit
from calibrant._arrays import Array, anywhere, first_and_count, to_numpy
from calibrant._types import ArrayLike, SupportsArray
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.distributions.on_lattice import off_lattice
from calibrant.forecast import Forecast, NotAvailable, PredictionLike, SupportsCDF
from calibrant.labels.base import Labels
from calibrant.metrics import calibration, scores
from calibrant.metrics.evaluation import BLOCKS, Evaluation
from calibrant.metrics.forecasts import average, name_of, paired, two_arguments
from calibrant.metrics.label_kinds import HINT, evaluated_as, look_like_counts
from calibrant.predictions import Interval, Point, Quantiles, Samples


class Options(TypedDict, total=False):
    """The other arguments of `evaluate`."""

    coverage: float
    ci: float
    levels: ArrayLike | None
    labels: Labels | str | None


@overload
def evaluate(H: SupportsCDF, y: ArrayLike, **options: Unpack[Options]) -> Evaluation[float, float, float]: ...
@overload
def evaluate(H: Interval, y: ArrayLike, **options: Unpack[Options]) -> Evaluation[None, float, None]: ...
@overload
def evaluate(
    H: Point | Samples | Sequence[float] | SupportsArray, y: ArrayLike, **options: Unpack[Options]
) -> Evaluation[float, float | None, float | None]: ...
@overload
def evaluate(H: PredictionLike, y: ArrayLike, **options: Unpack[Options]) -> Evaluation: ...
@two_arguments
def evaluate(
    H: PredictionLike,
    y: ArrayLike,
    *,
    coverage: float = 0.9,
    ci: float = 0.95,
    levels: ArrayLike | None = None,
    labels: Labels | str | None = None,
) -> Evaluation:
    """Every metric that the forecast H determines, on the labels y.

    The table says which values are better, and the unit: `y` is the unit of the labels, or their name if y is a Series.
    A metric that H does not determine is absent:

    - a distribution has everything;
    - a Point has crps, its absolute error; Rates too, unless all labels are counts: then they are Poisson
      distributions;
    - an Interval has coverage and width, of its own bounds: without a level it has no interval score;
    - Quantiles have pinball at their levels, and coverage, width and interval score of the widest centred interval
      among them that is no wider than what is asked for, which the table names; for all else they are evaluated as
      distributions interpolated linearly between the quantiles, as in `report`;
    - Samples have the crps and std of their empirical distribution, quantiles between the draws, and PITs by rank; with
      `labels` they are evaluated as distributions interpolated linearly between the draws;
    - an Ensemble is evaluated as the mixture of its members, with its weights, where each member has a distribution; of
      points it has nothing.

    The NLL of a distribution of counts is that of its probabilities, and its PITs are drawn over the jumps.

    Args:
        H: The forecasts, one per row: distributions, or a prediction of any kind, an array of points included.
        y: The labels, of rows that neither trained nor calibrated the model.
        coverage: The probability of the centred interval behind `coverage`, `interval_width` and `interval_score`.
        ci: The probability of the centred interval behind `ci_coverage` and `ci_width`.
        levels: The levels of the pinball loss; by default as in `pinball`.
        labels: What kind of number y is, an object or its name; any real number by default. `labels=Counts()` evaluates
            a continuous distribution as one of counts, P(Y <= k) = H(k + 1/2), and rounds quantiles and draws to
            counts.

    >>> from calibrant import Normal
    >>> print(evaluate(Normal([0.0, 1.0, 2.0], 1.0), [0.5, 0.0, 2.1]))
                                     value  better     in units of
    CRPS                            0.3905  lower      y
    pinball, 19 levels 0.05..0.95   0.2044  lower      y
    NLL                              1.129  lower      nats
    90% interval coverage             100%  near 90%
    90% interval width                3.29  narrower   y
    90% interval score                3.29  lower      y
    95% interval coverage             100%  near 95%
    95% interval width                3.92  narrower   y
    mean std                             1  smaller    y
    ECE                            0.06324  near 0
    debiased ECE                   -0.1045  near 0
    sup calibration error           0.3085  near 0
    PIT uniformity p-value          0.8629  not small
    rows                                 3
    >>> evaluate([0.0, 1.0, 2.0], [0.5, 0.0, 2.1]).to_dict()
    {'crps': 0.5333333333333333, 'n': 3}
    """
    coverage, ci = unit("coverage", coverage), unit("ci", ci)
    called = name_of(y)
    given, y = paired(H, y)
    coverage, ci, levels = levels_of_forecast(given, coverage, ci, levels)
    evaluated, note = evaluated_as(given, y, labels)
    H, y = paired(evaluated, to_numpy(y) if note else y)
    if isinstance(H, Distribution) and H.lattice is not None:
        _on(H.lattice, y)
    names = metric_labels(H, coverage, ci, levels)
    values: dict[str, Any] = dict.fromkeys(name for name in names if name != "n")
    for name, rows in row_metrics(H, y, coverage, ci, levels).items():
        with suppress(NotAvailable):
            values[name] = float(to_numpy(average(rows())))
    with suppress(NotAvailable):
        pits = calibration.sorted_pit(H, y)
        distance, test = calibration.ece_of(pits), calibration.uniformity_of(pits)
        debiased = distance - calibration.expected_ece(y.shape[0])
        values |= {"ece": float(to_numpy(distance)), "debiased_ece": float(to_numpy(debiased))}
        values |= {"sup_calibration_error": test.statistic, "pit_pvalue": test.pvalue}
    if not note and not H.has_distribution:
        note = f"A dash: {H!r} does not determine it. Calibrate it to have a distribution per row."
        note += " The CRPS of a point is its absolute error." if isinstance(H, Point) else ""
    if labels is None and isinstance(given, (Quantiles, Samples)) and look_like_counts(H, y):
        note = f"{note} {HINT.format('labels=Counts()')}".lstrip()
    return Evaluation(**values, n=int(y.shape[0]), labels=names, unit=called, note=note)


def levels_of_forecast(
    H: Forecast, coverage: float, ci: float, levels: ArrayLike | None
) -> tuple[float, float, ArrayLike | None]:
    """The coverages and levels at which a forecast is evaluated: Quantiles at their own."""
    if not isinstance(H, Quantiles):
        return coverage, ci, levels
    return within(H, coverage), within(H, ci), H.quantile_levels() if levels is None else levels


def row_metrics(
    H: Forecast, y: Array, coverage: float, ci: float, levels: ArrayLike | None
) -> dict[str, Callable[[], Array]]:
    """The metrics that are means over rows: what each makes of every row, or raises `NotAvailable`."""
    rows: dict[str, Callable[[], Array]] = {
        "nll": lambda: scores.nll_rows(H.as_distribution(), y),
        "crps": lambda: H.crps_rows(y),
        "std": lambda: H.std_rows(),
        "ci_width": lambda: scores.width_rows(H, ci),
        "coverage": lambda: scores.coverage_rows(H, y, coverage),
        "interval_score": lambda: scores.interval_score_rows(H, y, coverage),
        "interval_width": lambda: scores.width_rows(H, coverage),
        "ci_coverage": lambda: scores.coverage_rows(H, y, ci),
        "pinball": lambda: scores.pinball_loss_rows(H, y, levels),
    }
    if H.own_bounds:
        del rows["interval_score"]  # it would take the interval to be of probability `coverage`
    return rows


def within(H: Quantiles, coverage: float) -> float:
    """The coverage of an interval that they have: that of the widest centred ones, if they have no wider."""
    levels = H.quantile_levels()
    centred = [b - a for a in levels for b in levels if a < b and abs(a + b - 1) < 1e-9]
    return max((c for c in centred if c <= coverage + 1e-9), default=min(centred, default=coverage))


def _on(lattice: tuple[float, float], y: Array) -> None:
    """Raise where a label is one that a distribution on this lattice cannot give."""
    off = off_lattice(y, lattice)
    if anywhere(off):
        row, count = first_and_count(off)
        wanted = "whole numbers" if lattice[1] == 1 else f"steps of {lattice[1]:g}"
        raise ValueError(f"y is {float(y[row]):.6g} in row {row} ({in_all(count)}): H is a distribution of {wanted}")


def metric_labels(H: Forecast, coverage: float, ci: float, levels: ArrayLike | None) -> dict[str, str]:
    """What each metric is called in a table: with its coverage, or its levels."""
    asked, wide = (f"{100 * each:.6g}% interval" for each in (coverage, ci))
    parts = {"nll": nll_label(H), "levels": _shown_levels(H, levels), "asked": asked, "interval": asked, "ci": wide}
    if H.own_bounds:
        parts["interval"] = parts["ci"] = "given interval"
    return {measure.name: measure.label.format(**parts) for block in BLOCKS for measure in block}


def nll_label(H: Any) -> str:
    """What the NLL is called: that of a distribution of counts is of probabilities."""
    return "NLL of the counts" if isinstance(H, Distribution) and H.lattice is not None else "NLL"


def _shown_levels(H: Any, levels: Any) -> str:
    with suppress(NotAvailable):
        chosen = H.quantile_levels() if levels is None else scores.checked_levels(levels)
        if len(chosen) > 4:
            return f", {len(chosen)} levels {chosen[0]:.4g}..{chosen[-1]:.4g}"
        return f" at {', '.join(f'{level:.4g}' for level in chosen)}"
    return ""
