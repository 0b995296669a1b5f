"""The metrics of a forecast, and the table of them: what is better, in which unit, and what belongs together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Generic, NamedTuple

from calibrant._display import aligned, table

if TYPE_CHECKING:  # the defaults of type variables came with Python 3.13
    from typing_extensions import TypeVar

    Crps = TypeVar("Crps", bound=float | None, default=float | None, covariant=True)
    Bounds = TypeVar("Bounds", bound=float | None, default=float | None, covariant=True)
    Rest = TypeVar("Rest", bound=float | None, default=float | None, covariant=True)
else:
    from typing import TypeVar

    Crps, Bounds, Rest = (TypeVar(name, covariant=True) for name in ("Crps", "Bounds", "Rest"))


@dataclass(frozen=True, repr=False)
class Evaluation(Generic[Crps, Bounds, Rest]):
    """The metrics of one forecast on n labels, None where it does not determine them. It prints as a table.

    To a type checker it is `Evaluation[crps, coverages and widths, all else]`, with `float` for what the forecast is
    sure to determine: `Evaluation[float, float, float]` of a distribution. `Evaluation` alone has `float | None` for
    each.

    Attributes:
        crps: CRPS, the mean continuous ranked probability score, in the unit of y; of points the mean absolute error.
        pinball: The mean pinball loss over the levels that the table names, in the unit of y.
        nll: NLL, the mean negative log density of the labels; of counts their negative log probability.
        coverage: The share of labels inside the interval that `coverage=` asks for, 90% by default.
        interval_width: The mean width of the same interval.
        interval_score: The mean interval score of the same interval.
        ci_coverage: The share of labels inside the interval that `ci=` asks for, 95% by default.
        ci_width: The mean width of that interval.
        std: mean std, the mean standard deviation of the forecasts.
        ece: ECE, the expected calibration error: the mean distance of the sorted PITs from a uniform grid.
        debiased_ece: debiased ECE, less what a perfect forecast has on so many rows.
        sup_calibration_error: The largest distance of the distribution of the PITs from the uniform one.
        pit_pvalue: PIT uniformity p-value: how likely uniform PITs are so far off.
        n: rows, the number of labels.
    """

    nll: Rest
    crps: Crps
    std: Rest
    ci_width: Bounds
    ece: Rest
    debiased_ece: Rest
    sup_calibration_error: Rest
    coverage: Bounds
    interval_score: Rest
    interval_width: Bounds
    ci_coverage: Bounds
    pinball: Rest
    pit_pvalue: Rest
    n: int
    labels: Mapping[str, str] = field(compare=False)
    """What each metric is called in the table: with its coverage, or its levels."""
    unit: str = field(default="y", compare=False)
    """What the labels are called: CRPS, widths and interval scores are in their unit."""
    note: str = field(default="", compare=False)
    """Why metrics are missing, where some are."""

    def metric(self, label: str) -> float | None:
        """The metric with this name in the table, if there is one.

        Args:
            label: The name of a row of the printed table, such as "CRPS".
        """
        values = (getattr(self, name) for name, called in self.labels.items() if called == label)
        return next((value for value in values if value is not None), None)

    def to_dict(self) -> dict[str, float]:
        """The metrics by name, without those that are absent."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self) if each.name in self.labels)
        return {name: value for name, value in values if value is not None}

    def __str__(self) -> str:
        return "\n".join(filter(None, (compare({"": self}), self.note)))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """The same as a small table, for notebooks."""
        return table(_cells({"": self}), left=_LEFT)


OfDistribution = Evaluation[float, float, float]
"""That of a distribution, which has every metric."""

OF_THE_LABEL, NEAR_LEVEL = "y", "near its level"


class Measure(NamedTuple):
    """A metric of an `Evaluation`: what it is called, which values are better, and its unit."""

    name: str
    label: str
    better: str = "lower"
    unit: str = ""


BLOCKS = (
    (
        Measure("crps", "CRPS", unit=OF_THE_LABEL),
        Measure("pinball", "pinball{levels}", unit=OF_THE_LABEL),
        Measure("nll", "{nll}", unit="nats"),
    ),
    (
        Measure("coverage", "{interval} coverage", NEAR_LEVEL),
        Measure("interval_width", "{interval} width", "narrower", OF_THE_LABEL),
        Measure("interval_score", "{asked} score", unit=OF_THE_LABEL),
    ),
    (
        Measure("ci_coverage", "{ci} coverage", NEAR_LEVEL),
        Measure("ci_width", "{ci} width", "narrower", OF_THE_LABEL),
        Measure("std", "mean std", "smaller", OF_THE_LABEL),
    ),
    (
        Measure("ece", "ECE", "near 0"),
        Measure("debiased_ece", "debiased ECE", "near 0"),
        Measure("sup_calibration_error", "sup calibration error", "near 0"),
        Measure("pit_pvalue", "PIT uniformity p-value", "not small"),
    ),
    (Measure("n", "rows", ""),),
)
"""The rows of the table, in blocks; what depends on the forecast is in braces."""


def blocks_of(evaluations: Mapping[str, Evaluation]) -> Iterator[list[list[str]]]:
    """The rows of the table, block by block: a label, a cell for each evaluation, what is better, and the unit.

    A metric of another interval, or at other levels, has its own row. One that nobody has is a row of dashes where the
    notes say why, else none.
    """
    if not evaluations:
        raise ValueError("compare needs at least one evaluation, got none")
    units = {each.unit for each in evaluations.values()}
    unit = units.pop() if len(units) == 1 else "its label"
    explained = all(each.note for each in evaluations.values())
    seen: set[str] = set()
    for block in BLOCKS:
        rows = []
        for each in evaluations.values():
            for measure in block:
                label = each.labels[measure.name]
                absent = explained and all(getattr(other, measure.name) is None for other in evaluations.values())
                if label not in seen and (each.metric(label) is not None or absent):
                    seen.add(label)
                    cells = [_cell(other, label, measure.name) for other in evaluations.values()]
                    mine = unit if measure.unit == OF_THE_LABEL else measure.unit
                    rows.append([label, *cells, _better(measure, label), mine])
        yield rows


def compare(evaluations: Mapping[str, Evaluation]) -> str:
    """Evaluations as one table, one column each, with what is better and the unit.

    Only like is compared with like: a metric of another interval, or at other levels, has a row of its own.

    Args:
        evaluations: Evaluations by name, one column each.

    >>> from calibrant import Normal, evaluate
    >>> f, y = [0.0, 1.0, 2.0], [0.5, 0.0, 2.1]
    >>> print(compare({"point": evaluate(f, y), "distribution": evaluate(Normal(f, 1.0), y)}))
                                    point     distribution  better     in units of
    CRPS                           0.5333  0.3905  lower      y
    pinball, 19 levels 0.05..0.95       –  0.2044  lower      y
    NLL                                 –   1.129  lower      nats
    ...
    rows                                3       3
    """
    return aligned(_cells(evaluations), left=_LEFT)


_LEFT = (0, -2, -1)


def _cells(evaluations: Mapping[str, Evaluation]) -> list[list[str]]:
    rows = [row for block in blocks_of(evaluations) for row in block]
    return [["", *(name or "value" for name in evaluations), "better", "in units of"], *rows]


def _better(measure: Measure, label: str) -> str:
    """With the level of an interval, which its label starts with; a given interval has none."""
    if measure.better != NEAR_LEVEL:
        return measure.better
    level = label.split(" ")[0]
    return f"near {level}" if level.endswith("%") else ""


def _cell(evaluation: Evaluation, label: str, name: str) -> str:
    value = evaluation.metric(label)
    if value is None:
        return "–"
    if name == "n":
        return f"{value:,}"
    return f"{100 * value:.4g}%" if name in ("coverage", "ci_coverage") else f"{value:.4g}"
