"""Algorithm 1, modular conformal calibration: H[x](y) = q(phi(f(x), y)).

f(x) is what the model predicts (`calibrant.predictions`). The score phi says how large a label is, given f(x)
(`calibrant.scores`). q is a CDF fitted to the scores of the calibration rows (`calibrant.interpolators`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._arguments import check_has, check_known
from calibrant._arrays import namespace
from calibrant._calibrated import Updatable
from calibrant._display import Displayed, in_words
from calibrant._row_hash import uniforms_of
from calibrant._words import count
from calibrant.distributions.base import Context
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import interpolate, remember
from calibrant.interpolators.linear import Linear
from calibrant.predictions.point import as_prediction, labelled_rows
from calibrant.scores.base import Score, default_score, finite_scores

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
    """How to calibrate: score, interpolator, kind of label. `fit` returns a `Calibrated`: call that on predictions.

    Args:
        score: The score phi; by default the one for the kind of prediction, such as `ResidualScore` for points.
        interpolator: Fits q to the scores; `Linear()` by default.
        labels: What kind of number y is, such as `calibrant.labels.Counts()` or "counts"; by default any real.
        forget: A `Window` or a `HalfLife` gives recent rows more weight; by default all rows count equally.

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
            from calibrant.labels.named import labels_named  # late: it imports every kind of label

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
            bound: The bound of y in each row, such as a capacity, if `labels` needs it: an array or a table.
            rng: A `numpy.random.Generator`, for counts: a uniform number is added to each; a fresh one by default.
        """
        if hasattr(y, "calibrated_by"):  # such as `Censored`: of some labels only a lower bound is known
            return y.calibrated_by(self, prediction, by, weights, bound, rng)  # type: ignore[no-any-return]
        prediction = as_prediction(prediction)
        form = prediction.form()
        prediction, y, by, weights = labelled_rows(self.labels, prediction, y, by, weights, bound, rng)
        if y.shape[0] == 0:
            raise ValueError("calibration needs at least one row, got none")
        score, below_floor = (self.score or default_score(prediction)).learn(prediction, y)  # a floor, for zero scales
        scores = finite_scores(score, prediction, y)
        score.review(prediction, scores)  # warns if a few rows dominate q
        history = remember(scores, by, weights, self.forget, int(namespace(scores).count_nonzero(below_floor)))
        drawn = self.labels is not None and self.labels.draws
        q, guarantee, interpolator = interpolate(self.interpolator, history, score.support, rng, drawn=drawn)
        return Calibrated(score, q, guarantee, interpolator, form, self.labels, history)


@dataclass(frozen=True, repr=False)
class Calibrated(Displayed, Updatable):
    """A fitted calibrator: call it with predictions to get their calibrated distributions."""

    score: Score
    q: Distribution
    guarantee: Guarantee
    interpolator: Interpolator
    form: Form | None = None
    """The kind, quantile levels, number of draws and members that new predictions must have; None accepts any."""
    labels: Labels | None = None
    history: History | None = None
    """The calibration scores, for `update`; None where they are not known."""

    def _displayed(self) -> tuple[str, dict[str, str]]:
        form = {} if self.form is None else {"predictions": str(self.form)}
        labels = {} if self.labels is None else {"labels": repr(self.labels)}
        kind, score = self.guarantee.kind, in_words(type(self.score).__name__).removesuffix(" score")
        promise = kind if kind == "no claim" else f"{kind}, epsilon {self.guarantee.epsilon:.3g}"
        made = {"score": score, "interpolator": repr(self.interpolator), "guarantee": promise}
        return f"calibration on {count(self.guarantee.n, 'row')}", form | labels | made

    def __call__(
        self, prediction: PredictionLike, *, by: Values | None = None,
        weights: Weights = None, bound: Bound = None, rng: Draws = None, seed: int | None = None,
    ) -> Distribution:  # fmt: skip
        """H[x_i] for each row i of a prediction.

        Only `Random` needs `rng` or `seed`, for one uniform number per row. `rng` draws them in row order. With `seed`
        the number is a hash of the seed, q and the row's prediction: the same in any batch and order.

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
            prediction = self.labels.spread_prediction(prediction, bound=bound)  # counts: of y + U
        draws = None if rng is None and seed is None else uniforms_of(prediction, self.q, rng, seed)
        q = self.q.to(prediction.like).for_rows(Context(len(prediction), by, weights, draws))
        H = self.score.pull_back(q, prediction)
        H = H if self.labels is None else self.labels.collapse(H, bound=bound)  # counts: from y + U back to y
        return H.warning_if(self.guarantee.too_few)
