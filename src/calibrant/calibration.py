"""Algorithm 1, modular conformal calibration: H[x](y) = q(phi(f(x), y)).

f(x) is what the model predicts (`calibrant.predictions`). The score phi says how large a label is, given f(x)
(`calibrant.scores`). q is a CDF fitted to the scores of the calibration rows (`calibrant.interpolators`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from calibrant._arguments import check_has, check_known
from calibrant._arrays import Array, detached, namespace, refuse
from calibrant._batch import have_labels, some_rows
from calibrant._calibrated import CalledWithPredictions
from calibrant._row_hash import uniforms_of
from calibrant.distributions.base import Context
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import ADDING, interpolate, merged, remember
from calibrant.interpolators.linear import Linear
from calibrant.predictions import with_labels
from calibrant.predictions.point import as_prediction
from calibrant.scores.base import Score, default_score

if TYPE_CHECKING:
    from calibrant._types import ArrayLike, Bound, Draws, LabelsLike, Values
    from calibrant.distributions.base import Distribution
    from calibrant.forecast import PredictionLike
    from calibrant.forms import Form
    from calibrant.guarantee import Guarantee
    from calibrant.interpolators.history import Forgetting, History
    from calibrant.interpolators.weights import Weights
    from calibrant.labels import Labels


@dataclass(frozen=True)
class Calibrator:
    """How to calibrate: a score, an interpolator, the kind of label, and whether old rows fade.

    Args:
        score: The score phi; by default that of the kind of prediction, such as the residual of points.
        interpolator: Fits q to the scores; `Linear()` by default.
        labels: What kind of number y is, such as `calibrant.labels.Counts()` or "counts"; by default any real.
        forget: A `Window` or a `HalfLife`, where new rows count more than old ones; by default all count alike.

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
        kinds = "an object such as calibrant.labels.Counts(), or its name, such as 'counts'"
        check_has("Calibrator.labels", self.labels, "collapse", kinds, optional=True)
        check_has("Calibrator.forget", self.forget, "weigh", "a Window or a HalfLife", optional=True)

    def fit(
        self, prediction: PredictionLike, y: LabelsLike, *,
        by: Values | None = None, weights: Weights = None, bound: Bound = None, rng: Draws = None,
    ) -> Calibrated:  # fmt: skip
        """Calibrate on the predictions and labels of n rows that the model was not trained on.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row.
            by: The group of each row: one value per row, or several columns. Each group has its own q.
            weights: Likelihood ratios p_new(x) / p_old(x) of the calibration rows; a common factor cancels.
            bound: The bound of y in each row, such as a capacity, for `labels` that need it: an array or a table.
            rng: A `numpy.random.Generator`, for counts, which are spread at random; a fresh one by default.
        """
        if hasattr(y, "calibrated_by"):  # of some labels only a bound was seen, see `Censored`
            return y.calibrated_by(self, prediction, by, weights, bound, rng)  # type: ignore[no-any-return]
        prediction = as_prediction(prediction)
        form = prediction.form()
        prediction, y, by, weights = labelled_rows(self.labels, prediction, y, by, weights, bound, rng)
        if y.shape[0] == 0:
            raise ValueError("calibration needs at least one row, got none")
        score, below_floor = (self.score or default_score(prediction)).learn(prediction, y)
        scores = finite_scores(score, prediction, y)
        score.review(prediction, scores)  # it warns where a few rows dominate q
        history = remember(scores, by, weights, self.forget, int(namespace(scores).count_nonzero(below_floor)))
        drawn = self.labels is not None and self.labels.draws
        q, guarantee, interpolator = interpolate(self.interpolator, history, score.support, rng, drawn=drawn)
        return Calibrated(score, q, guarantee, interpolator, form, self.labels, history)


@dataclass(frozen=True)
class Calibrated(CalledWithPredictions):
    """A fitted calibrator: call it with predictions to get their calibrated distributions."""

    score: Score
    q: Distribution
    guarantee: Guarantee
    interpolator: Interpolator
    form: Form | None = None
    """The kind, levels, draws and members that new predictions must have; None accepts any."""
    labels: Labels | None = None
    history: History | None = None
    """The calibration scores, for `update`; None where they are not known."""

    def __call__(
        self, prediction: PredictionLike, *, by: Values | None = None,
        weights: Weights = None, bound: Bound = None, rng: Draws = None, seed: int | None = None,
    ) -> Distribution:  # fmt: skip
        """H[x_i] for each row i of a prediction.

        `Random` needs a uniform number for each row. `rng` draws them one after the other. With `seed` a row's number
        is a hash of the seed, of q and of its prediction: the same in any batch and order, and for equal predictions.

        Args:
            prediction: The prediction of each row, of the kind that was calibrated.
            by: The group of each row, as in `fit`.
            weights: The likelihood ratio of each row, if `fit` had weights.
            bound: The bound of y in each row, as in `fit`.
            rng: A `numpy.random.Generator`; a fresh one by default.
            seed: A whole number in place of `rng`.
        """
        prediction = as_prediction(prediction)
        prediction.check_form(self.form)
        check_known(prediction, self.labels, by, weights, bound)
        if self.labels is not None:
            prediction = self.labels.spread_prediction(prediction, bound=bound)
        draws = None if rng is None and seed is None else uniforms_of(prediction, self.q, rng, seed)
        q = self.q.to(prediction.like).for_rows(Context(len(prediction), by, weights, draws))
        H = self.score.pull_back(q, prediction)
        H = H if self.labels is None else self.labels.collapse(H, bound=bound)
        return H.warning_if(self.guarantee.too_few)

    def update(
        self, prediction: PredictionLike, y: ArrayLike, *, by: Values | None = None,
        weights: Weights = None, bound: Bound = None, rng: Draws = None, refit: bool = False,
    ) -> Calibrated:  # fmt: skip
        """A new calibrator, with the scores of these rows added. The score, with its floor, stays.

        Args:
            prediction: The prediction of each row, of the kind that was calibrated.
            y: The labels: one number per row.
            by: The group of each row, as in `fit`.
            weights: The likelihood ratio of each row, if `fit` had weights.
            bound: The bound of y in each row, as in `fit`.
            rng: A `numpy.random.Generator`, for counts; a fresh one by default.
            refit: Fit an interpolator that cannot add scores, such as NAF, to all scores again.
        """
        history = known_history(self)
        if not refit and type(self.interpolator) not in ADDING:
            name = type(self.interpolator).__name__
            raise TypeError(
                f"{name} fits q to all scores at once and cannot add to it: pass refit=True to fit it again"
            )
        history.check(by, weights)
        new = scores_of(self, prediction, y, by=by, weights=weights, bound=bound, rng=rng)
        return self._refitted(history.then(*new), rng)

    def merge(self, *others: Calibrated) -> Calibrated:
        """What all of them would be as one fit, whatever their order.

        Their score must be the same to the last number: where `fit` learns one, such as a floor, fix it beforehand
        (`ZScore(floor=0.01)`). Labels that are drawn, such as counts, are as one fit draws them if the draws go by row
        ids, as `calibrant.batches` has them.

        Args:
            others: Calibrators fitted on other rows with the same score, interpolator and labels.

        >>> fit = Calibrator().fit
        >>> fit([0.0, 1.0], [0.5, 3.0]).merge(fit([2.0, 2.0], [1.0, 3.0])).q.knots
        array([-1. ,  0.5,  1. ,  2. ])
        """
        if type(self.interpolator) not in ADDING:
            raise TypeError(f"{type(self.interpolator).__name__} fits q to all scores at once: it cannot be merged")
        for other in others:
            if not isinstance(other, Calibrated):
                raise TypeError(f"merge takes what Calibrator.fit gives, got {type(other).__name__}")
            for name in ("score", "interpolator", "labels", "form"):
                own, its = getattr(self, name), getattr(other, name)
                if own != its:
                    fixed = ": fix what fit learns beforehand" if name == "score" and type(own) is type(its) else ""
                    raise ValueError(f"calibrators of another {name} cannot be merged: {own!r} and {its!r}{fixed}")
        return self._refitted(merged([known_history(each) for each in (self, *others)]), None)

    def _refitted(self, history: History, rng: Draws) -> Calibrated:
        """The same with the q of these scores."""
        q, guarantee, _ = interpolate(self.interpolator, history, self.score.support, rng, drawn=self.guarantee.drawn)
        return replace(self, q=q, guarantee=guarantee, history=history)


def labelled_rows(
    labels: Labels | None, prediction: Any, y: Any, by: Any, weights: Any, bound: Bound, rng: Draws
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


def finite_scores(score: Score, prediction: Any, y: Array) -> Array:
    """phi(f(x_i), y_i); raises where one is infinite."""
    scores = detached(score(prediction, y))  # q is learned: no gradient of a later loss may reach back here
    infinite, name = ~namespace(scores).isfinite(scores), f"the score of {type(score).__name__}"
    refuse(name, infinite, "is not finite: y lies beyond the prediction's support")
    return scores


def scores_of(
    calibrated: Calibrated, prediction: Any, y: Any, *,
    by: Any = None, weights: Any = None, bound: Any = None, rng: Draws = None,
) -> tuple[Array, Any, Any]:  # fmt: skip
    """The scores of new rows; and the groups and weights of those that have a label."""
    if hasattr(y, "calibrated_by"):
        raise TypeError(f"labels of which some were not seen, {type(y).__name__}, come in fit alone: fit on all rows")
    prediction = as_prediction(prediction)
    prediction.check_form(calibrated.form)
    prediction, y, by, weights = labelled_rows(calibrated.labels, prediction, y, by, weights, bound, rng)
    scores = finite_scores(calibrated.score, prediction, y)
    calibrated.score.support.check(scores)
    return scores, by, weights


def known_history(calibrated: Calibrated) -> History:
    """Its scores, if it knows them."""
    if calibrated.history is None:
        raise TypeError(
            "this calibrator does not know its scores, as those of censored labels do not: fit it again on all rows"
        )
    return calibrated.history
