"""Point predictions, and what else is taken for a prediction: arrays, distributions of scipy and torch."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from calibrant._arguments import check_known, same_length
from calibrant._arrays import Array, floats, namespace, refuse
from calibrant._batch import have_labels, promoted, some_rows
from calibrant._types import ArrayLike, Bound, Draws
from calibrant.distributions import from_scipy, from_torch
from calibrant.distributions.base import Distribution
from calibrant.distributions.counts import NegativeBinomial, Poisson
from calibrant.forecast import Mark, PredictionLike, SupportsCDF
from calibrant.forms import Form
from calibrant.predictions.base import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Point(Prediction):
    """One number per row, such as a predicted mean. A bare 1-d array is taken for one of these.

    >>> Point([1.0, 2.0, 3.0])[1:]
    Point(n=2)
    """

    values: Array
    crps_note = "the mean absolute error of the points"

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        several = ": Interval(lower, upper), Quantiles(levels, values) and Samples(values) have several numbers a row"
        object.__setattr__(self, "values", floats("Point.values", self.values, ndim=1, hint=several))

    def crps_rows(self, y: Array) -> Array:
        """|f - y|, the CRPS of a distribution that is sure of its point."""
        return namespace(y).abs(self.values - y)

    def marks(self) -> list[Mark]:
        return [Mark("point", self.values)]

    def form(self) -> Form:
        return Form("points")


@dataclass(frozen=True, eq=False, repr=False)
class Rates(Point):
    """A Point by a model with a Poisson loss, or a negative binomial one of this `dispersion`.

    It is a Point like any other, as such models are used for rates that are no counts too. Where the labels are
    `calibrant.labels.Counts`, it is the Poisson distribution, or the negative binomial one, with this mean.

    >>> Rates([0.5, 2.0]).distribution()
    Poisson distribution of 2 rows, 90% interval 2 to 5 wide
    """

    dispersion: float | None = field(default=None, metadata={"shared": True})

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike, dispersion: float | None = None) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse("Rates.values", self.values < 0, "is negative")

    def distribution(self) -> Poisson | NegativeBinomial:
        """The distribution of counts with this mean."""
        return Poisson(self.values) if not self.dispersion else NegativeBinomial(self.values, self.dispersion)


def as_prediction(value: PredictionLike) -> Prediction | Distribution:
    """A prediction as it is, a bare 1-d array as a Point, a frozen distribution of scipy.stats or of torch adapted.

    Args:
        value: The prediction of each row, in any of these forms.
    """
    if isinstance(value, Prediction):
        return value
    if isinstance(value, Distribution):
        if not value.shape:
            raise ValueError(f"a prediction needs one distribution per row, got the single distribution {value!r}")
        return value
    for library, adapted in (("scipy.stats", from_scipy), ("torch.distributions", from_torch)):
        if type(value).__module__.startswith(library):
            return as_prediction(adapted(cast(SupportsCDF, value)))
    _check_numbers(value)
    return Point(cast(ArrayLike, value))


def _check_numbers(value: object) -> None:
    """Raise for a model, a table, or anything else that is no array of numbers."""
    kind = type(value).__name__
    if hasattr(value, "predict"):
        raise TypeError(f"a prediction is needed, and {kind} is a model: pass prediction_of(model, X)")
    if hasattr(value, "columns") or hasattr(value, "column_names"):
        way = "pass prediction_of(model, X), or name the column with the predictions, as in Point(table['f'])"
        raise TypeError(f"a prediction is needed, got the table {kind}: {way}")
    if isinstance(value, (str, bytes, dict)) or not (hasattr(value, "__len__") or hasattr(value, "__array__")):
        kinds = "a Point, Interval, Quantiles, Samples, Ensemble, a Distribution or a 1-d array"
        raise TypeError(f"a prediction must be {kinds}, got {kind}")


def with_labels(prediction: PredictionLike, y: ArrayLike) -> tuple[Prediction | Distribution, Array]:
    """A prediction and the labels of its rows, checked, in the wider type of the two."""
    prediction = promoted(as_prediction(prediction), y)
    y = floats("y", y, like=prediction.like, ndim=1)
    same_length("the prediction", len(prediction), "y", y.shape[0])
    return prediction, y


def labelled_rows(
    labels: Any, prediction: Any, y: Any, by: Any, weights: Any, bound: Bound, rng: Draws
) -> tuple[Any, Array, Any, Any]:
    """Prediction, label, group and weight of the rows that have a label; counts are made continuous (y + U)."""
    check_known(prediction, labels, by, weights, bound)
    there = have_labels(y, len(prediction))
    if there is not None:
        prediction, y, by, weights, bound = (some_rows(each, there) for each in (prediction, y, by, weights, bound))
    prediction, y = with_labels(prediction, y)
    if labels is not None:
        labels.check(y, bound)
        continuous = labels.spread(y, prediction, bound=bound, rng=rng)
        prediction, y = labels.spread_prediction(prediction, bound=bound), continuous
    return prediction, y, by, weights
