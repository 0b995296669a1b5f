"""Algorithm 1, modular conformal calibration: H[x](y) = q(phi(f(x), y)).

Three decisions make a calibrator: what the model predicts (`calibrant.predictions`), the score phi
(`calibrant.scores`) and the interpolation of the calibration scores to q (`calibrant.interpolators`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arguments import check_has, check_known
from calibrant._arrays import Array, count_true, detached, namespace, refuse
from calibrant._batch import have_labels, some_rows
from calibrant._calibrated import Growing
from calibrant._row_hash import source
from calibrant.distributions.base import Context
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import interpolate, remember
from calibrant.interpolators.linear import Linear
from calibrant.predictions import as_prediction, with_labels
from calibrant.scores.base import Score, default_score

if TYPE_CHECKING:
    from calibrant._types import Bound, Draws, LabelsLike, Values
    from calibrant.distributions.base import Distribution
    from calibrant.forecast import PredictionLike
    from calibrant.forms import Form
    from calibrant.guarantee import Guarantee
    from calibrant.interpolators.history import Forgetting, History
    from calibrant.interpolators.weights import Weights
    from calibrant.labels import Labels


@dataclass(frozen=True)
class Calibrator:
    """A score and an interpolator, ready to be fitted.

    Without a score, the kind of prediction decides: residual, interval, quantile, samples, z-score, or the sum of an
    ensemble's. `labels` is what kind of number y is, of `calibrant.labels` or by name ("counts"); without it, any
    real. `forget` says which old rows count, a `Window` or a `HalfLife`; without it, all count as much as new ones.

    >>> calibrated = Calibrator().fit([1.0, 2.0, 3.0, 4.0], [1.1, 1.8, 3.3, 4.0])
    >>> calibrated([10.0]).interval(0.5)
    (array([9.85]), array([10.25]))
    """

    score: Score | None = None
    interpolator: Interpolator = Linear()
    labels: Labels | None = None
    forget: Forgetting | None = None

    if TYPE_CHECKING:

        def __init__(self, score: Score | None = None, interpolator: Interpolator = ...,
                     labels: Labels | str | None = None, forget: Forgetting | None = None) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            from calibrant.labels.named import labels_named  # it knows every kind

            object.__setattr__(self, "labels", labels_named(self.labels))
        check_has("Calibrator.score", self.score, "pull_back", "a Score object", optional=True)
        check_has("Calibrator.interpolator", self.interpolator, "accuracy", "an Interpolator object")
        check_has("Calibrator.labels", self.labels, "collapse", "an object such as labels.Counts()", optional=True)
        check_has("Calibrator.forget", self.forget, "weigh", "a Window or a HalfLife", optional=True)

    def fit(
        self, prediction: PredictionLike, y: LabelsLike, *,
        by: Values | None = None, weights: Weights = None, bound: Bound = None, rng: Draws = None,
    ) -> Calibrated:  # fmt: skip
        """Calibrate on the predictions and labels of n rows that the model was not trained on.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row.
            by: The group of each row: one value per row, or several columns. Each group has its own distribution.
            weights: Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.
            bound: What is known of each row, such as a capacity, for `labels` that ask for it: an array or a table.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        if hasattr(y, "calibrated_by"):  # of some labels only a bound was seen, see `Censored`
            return y.calibrated_by(self, prediction, by, weights, bound, rng)  # type: ignore[no-any-return]
        prediction = as_prediction(prediction)
        check_known(prediction, self.labels, by, weights, bound)
        forecast, label, by, weights = labelled_rows(self.labels, prediction, y, by, weights, bound, rng)
        if label.shape[0] == 0:
            raise ValueError("calibration needs at least one row, got none")
        score, below_floor = (self.score or default_score(forecast)).learn(forecast, label)
        scores = finite_scores(score, forecast, label)
        score.review(forecast, scores)  # it warns where a few rows dominate q
        history = remember(scores, by, weights, self.forget, count_true(below_floor))
        return calibrated(score, self.interpolator, prediction.form(), self.labels, history, rng)


@dataclass(frozen=True)
class Calibrated(Growing):
    """What calibration learned: the score, the distribution q of the calibration scores, and the guarantee."""

    score: Score
    q: Distribution
    guarantee: Guarantee
    interpolator: Interpolator
    """What made q of the scores."""
    form: Form | None = None
    """The kind, levels, draws and members of what was calibrated: predictions must have them too. None takes any."""
    labels: Labels | None = None
    history: History | None = None
    """The scores that q was made of, for `update`; None where they are not known."""

    def __call__(
        self, prediction: PredictionLike, *, by: Values | None = None,
        weights: Weights = None, bound: Bound = None, rng: Draws = None, seed: int | None = None,
    ) -> Distribution:  # fmt: skip
        """H[x_i] for each row i of a prediction.

        A randomised q needs one uniform number for each row: `rng` draws them, one after the other. By a `seed`, the
        number is a function of the seed, of q and of the row's own forecast, which rows with equal forecasts share.

        Args:
            prediction: The prediction of each row, of the kind that was calibrated.
            by: The group of each row, as in `fit`.
            weights: The likelihood ratio of each row, where the calibration rows had some.
            bound: What is known of each row, as in `fit`.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        prediction.check_form(self.form)
        check_known(prediction, self.labels, by, weights, bound)
        if self.labels is not None:
            prediction = self.labels.spread_prediction(prediction, bound=bound)
        draws = None if rng is None and seed is None else source(prediction, self.q, rng, seed)
        q = self.q.to(prediction.like).for_rows(Context(len(prediction), by, weights, draws))
        H = self.score.pull_back(q, prediction)
        H = H if self.labels is None else self.labels.collapse(H, bound=bound)
        return H.doubted(self.guarantee.too_few)


def labelled_rows(
    labels: Labels | None, prediction: Any, y: Any, by: Any, weights: Any, bound: Bound, rng: Draws
) -> tuple[Any, Array, Any, Any]:
    """Prediction, label, group and weight of the rows that have a label; counts, for one, are made continuous."""
    there = have_labels(y, len(prediction))
    if there is not None:
        prediction, y, by, weights, bound = (some_rows(each, there) for each in (prediction, y, by, weights, bound))
    prediction, y = with_labels(prediction, y)
    if labels is not None:
        labels.check(y, bound)
        continuous = labels.spread(y, prediction, bound=bound, rng=rng)
        prediction, y = labels.spread_prediction(prediction, bound=bound), continuous
    return prediction, y, by, weights


def finite_scores(score: Score, prediction: Any, y: Array) -> Array:
    """phi(f(x_i), y_i), which no label may make infinite."""
    scores = detached(score(prediction, y))  # q is learned: no gradient of a later loss may reach back here
    infinite, name = ~namespace(scores).isfinite(scores), f"the score of {type(score).__name__}"
    refuse(name, infinite, "is not finite: y lies beyond the prediction's support")
    return scores


def calibrated(
    score: Score, interpolator: Interpolator, form: Form | None, labels: Labels | None, history: History, rng: Draws
) -> Calibrated:
    """q, made of the scores, and its guarantee."""
    q, guarantee, interpolator = interpolate(interpolator, history, score.support, rng)
    drawn = labels is not None and labels.draws
    if history.floored or drawn:
        guarantee = guarantee.noting(floored=history.floored, drawn=drawn)
    return Calibrated(score, q, guarantee, interpolator, form, labels, history)
