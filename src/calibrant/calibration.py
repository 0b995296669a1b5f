"""Algorithm 1, modular conformal calibration: H[x](y) = q(phi(f(x), y)).

Three decisions make a calibrator: what the model predicts (`calibrant.predictions`), the score phi
(`calibrant.scores`) and the interpolation of the calibration scores to q (`calibrant.interpolators`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from calibrant._arguments import check_bound, check_has, check_is
from calibrant._arrays import Array, count_true, detached, namespace, refuse
from calibrant._calibrated import NotTheEstimator
from calibrant._hints import LABELS
from calibrant._missing import labelled
from calibrant._row_hash import source
from calibrant.distributions.context import Context
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.in_context import interpolate, remembered
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
    real. `forget` says what old rows count, a `Window` or a `HalfLife`; without it, as much as new ones.

    >>> calibrated = Calibrator().fit([1.0, 2.0, 3.0, 4.0], [1.1, 1.8, 3.3, 4.0])
    >>> calibrated([10.0]).interval(0.5)
    (array([9.85]), array([10.25]))
    """

    score: Score | None = None
    interpolator: Interpolator = field(default_factory=Linear)
    labels: Labels | None = None
    forget: Forgetting | None = None

    if TYPE_CHECKING:

        def __init__(self, score: Score | None = None, interpolator: Interpolator = ...,
                     labels: Labels | str | None = None, forget: Forgetting | None = None) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        if isinstance(self.labels, str):
            from calibrant.labels.named import labels_named  # it knows every kind

            object.__setattr__(self, "labels", labels_named(self.labels))
        check_has("Calibrator.labels", self.labels, "collapse", LABELS, optional=True)
        check_has("Calibrator.forget", self.forget, "weigh", "a Window or a HalfLife", optional=True)
        check_is("Calibrator.score", self.score, Score, optional=True)
        check_is("Calibrator.interpolator", self.interpolator, Interpolator)

    def fit(
        self, prediction: PredictionLike, y: LabelsLike, *,
        by: Values | None = None, weights: Weights = None, bound: Bound = None, rng: Draws = None,
    ) -> Calibrated:  # fmt: skip
        """Calibrate on the predictions and labels of n rows that the model was not trained on.

        `by`, `weights` and `bound` are what else is known of the rows, for an interpolator or `labels` that ask for it.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
            by: The group of each row: one value per row, or several columns. Each group then has a distribution of its
                own.
            weights: Likelihood ratios p_new(x) / p(x) of the calibration rows, up to a factor, one number each.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        if hasattr(y, "calibrated_by"):  # labels that were not all seen, see `Censored`
            return y.calibrated_by(self, prediction, by, weights, bound, rng)  # type: ignore[no-any-return]
        prediction, seen, by, weights, bound = labelled(as_prediction(prediction), y, by, weights, bound)
        prediction, y = with_labels(prediction, seen)
        if y.shape[0] == 0:
            raise ValueError("calibration needs at least one row, got none")
        form, context = prediction.form(), Context(y.shape[0], by, weights, rng)
        prediction, y = spread(self.labels, prediction, y, bound, rng)
        score, below_floor = (self.score or default_score(prediction)).learn(prediction, y)
        floored = count_true(below_floor)
        scores = finite_scores(score, prediction, y)
        score.review(prediction, scores)
        history, scores, context = remembered(scores, context, self.forget, floored)
        q, guarantee, used = interpolate(self.interpolator, scores, context, support=score.support)
        guarantee = guarantee.noting(floored=floored, drawn=getattr(self.labels, "draws", False))
        return Calibrated(score, q, guarantee, used, form, self.labels, history)


@dataclass(frozen=True)
class Calibrated(NotTheEstimator):
    """What calibration learned: the score, the distribution q of the calibration scores, and the guarantee."""

    score: Score
    q: Distribution
    guarantee: Guarantee
    interpolator: Interpolator
    """What made q of the scores."""
    form: Form | None = None
    """The kind, levels, draws and members of what was calibrated: predictions must have them too. None is not known."""
    labels: Labels | None = None
    history: History | None = None
    """The scores that q was made of, for `update`. None where they are not known."""

    def __call__(
        self, prediction: PredictionLike, *, by: Values | None = None,
        weights: Weights = None, bound: Bound = None, rng: Draws = None, seed: int | None = None,
    ) -> Distribution:  # fmt: skip
        """H[x_i] for each row i of a prediction.

        `by`, `weights` and `bound` are what else is known of the rows, as in `fit`. A randomised q needs one uniform
        number for each row: `rng` draws them, one after the other. With a `seed` in its place, a row's number is a
        function of the seed, of q and of the row's own forecast: the same row has the same distribution in any batch
        and any order, and rows with equal forecasts share their number.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            by: The group of each row, as in `fit`.
            weights: The likelihood ratio of each row, where the calibration rows had some.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        prediction.check_form(self.form)
        check_bound(self.labels, bound)
        if self.labels is not None:
            prediction = self.labels.spread_prediction(prediction, bound=bound)
        draws = None if rng is None and seed is None else source(prediction, self.q, rng, seed)
        context = Context(len(prediction), by, weights, draws)
        q = self.q.to(prediction.like).for_rows(context)
        H = self.score.pull_back(q, prediction)
        distribution = H if self.labels is None else self.labels.collapse(H, bound=bound)
        return distribution.doubted(self.guarantee.too_few)

    def update(self, prediction: PredictionLike, y: LabelsLike, *, refit: bool = False, **known: Any) -> Self:
        """A new calibrator, whose q is also made of the scores of these rows; `by`, `weights`, ... are as in `fit`.

        What was learned of the score, such as a floor, stays. With `refit` an interpolator that cannot take scores one
        after the other, such as NAF, is fitted again to all of them.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
            refit: Fit an interpolator that cannot be updated, such as NAF, to all scores again.
            known: `by`, `weights`, `bound` and `rng` of the new rows, as in `fit`.
        """
        from calibrant.updating import updated  # which makes one of these

        return updated(self, prediction, y, refit=refit, **known)  # type: ignore[return-value]

    def merge(self, *others: Calibrated) -> Self:
        """One calibrator of all their scores, as of a fit on all their rows, in any order; see `updating.merged`.

        Args:
            others: Calibrators fitted on other rows with the same score, interpolator and labels.
        """
        from calibrant.updating import merged  # which makes one of these

        return merged(self, *others)  # type: ignore[return-value]


def spread(labels: Labels | None, prediction: PredictionLike, y: Array, bound: Bound, rng: Draws) -> tuple[Any, Array]:
    """The prediction and the labels, both continuous."""
    check_bound(labels, bound)
    if labels is None:
        return prediction, y
    labels.check(y, bound)
    return labels.spread_prediction(prediction, bound=bound), labels.spread(y, prediction, bound=bound, rng=rng)


def finite_scores(score: Score, prediction: PredictionLike, y: Array) -> Array:
    """phi(f(x_i), y_i), which no label may make infinite."""
    scores = detached(score(prediction, y))  # q is learned: no gradient of a later loss may reach back here
    infinite, name = ~namespace(scores).isfinite(scores), f"the score of {type(score).__name__}"
    refuse(name, infinite, "is not finite: y lies beyond the prediction's support")
    return scores
