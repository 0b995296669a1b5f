"""Calibrate d labels: each by itself, and their joint distribution by ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from calibrant._arguments import generator, unit
from calibrant._arrays import Array, Rng, to_numpy
from calibrant._calibrated import CalledWithPredictions
from calibrant._types import Bound, Columns
from calibrant._words import about, in_all
from calibrant.calibration import Calibrated, Calibrator
from calibrant.guarantee import Guarantee
from calibrant.intervals import IntervalGuarantee, standard_rank
from calibrant.predictions import with_labels
from calibrant.several.columns import Several, SeveralLike, in_order, matched
from calibrant.several.distributions import SeveralDistributions, place
from calibrant.several.joint import Joint, Reference, ranks_of, two_sided


class _Label(NamedTuple):
    """What calibration is given of one label."""

    name: str
    calibrator: Calibrator
    prediction: Any
    y: Array
    bound: Any


@dataclass(frozen=True)
class SeveralCalibrator:
    """One calibrator for all labels, or a dict of them by label, ready to be fitted.

    Predictions are a dict {name: prediction}, a list of d predictions, or an (n, d) array or table of points; labels an
    (n, d) array or table, or a dict.

    A joint box compares the errors of different labels. Distributions, intervals, quantiles and draws give the usual
    size of an error. For points it is learned by `compared_on`, from training rows. The calibration rows must not be
    used for it: with few of them and many labels the box would hold far too little.

    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=(600, 3))
    >>> Y = f + rng.normal(size=(600, 3)) * [1.0, 10.0, 100.0]
    >>> train, calibrate = slice(0, 300), slice(300, 600)
    >>> several = SeveralCalibrator().compared_on(f[train], Y[train])
    >>> H = several.fit(f[calibrate], Y[calibrate])(np.zeros((1, 3)))
    >>> lower, upper = H.interval(0.9)  # each label by itself
    >>> (upper - lower).round()
    array([[  3.,  34., 331.]])
    >>> lower, upper = H.interval(0.9, joint=True)  # all three
    >>> (upper - lower).round()
    array([[  4.,  42., 436.]])
    """

    each: Calibrator | Mapping[str, Calibrator] = field(default_factory=Calibrator)
    references: Mapping[str, Reference] | None = None
    """What `compared_on` learned."""

    def __post_init__(self) -> None:
        given = self.each.values() if isinstance(self.each, Mapping) else [self.each]
        odd = next((each for each in given if not isinstance(each, Calibrator)), None)
        if odd is not None:
            raise TypeError(f"SeveralCalibrator.each must be a Calibrator or a dict of them by label, got {odd!r}")

    def compared_on(self, predictions: SeveralLike, Y: Columns, *, bound: Bound = None) -> SeveralCalibrator:
        """The same, with labels made comparable by training rows: by the distribution of each label's scores on them.

        The predictions are best those of models that did not see the rows. No row of these may calibrate.

        Args:
            predictions: The prediction of each label: a mapping of names to predictions, or a list of them.
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
            bound: The bounds of the labels in each row, as in `Calibrator.fit`.
        """
        learned = {
            name: Reference.learned_on(calibrator, prediction, y, bound=own)
            for name, calibrator, prediction, y, own in self._by_label(*matched(predictions, Y, bound))
        }
        return replace(self, references=learned)

    def fit(self, predictions: SeveralLike, Y: Columns, *, bound: Bound = None, rng: Rng = None) -> SeveralCalibrated:
        """Calibrate on the predictions and labels of n rows that the models were not trained on.

        A row in which a label is missing is left out.

        Args:
            predictions: The prediction of each label: a mapping of names to predictions, or a list of them.
            Y: The labels, one column per label: an array of shape (n, d), a frame, or a mapping of names to columns.
            bound: The bounds of the labels in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, which breaks ties between scores; a fresh one by default.
        """
        rng, labels = generator(rng), self._by_label(*matched(predictions, Y, bound))
        margins = tuple(each.calibrator.fit(each.prediction, each.y, bound=each.bound, rng=rng) for each in labels)
        kept = [to_numpy(margin.history.scores) for margin in margins]  # type: ignore[union-attr]
        n = min(map(len, kept))  # a window keeps the last
        scores = [each[-n:] for each in kept]
        references, largest = self._references(labels), None
        if self.references is not None and references is not None and all(map(_same_rows, references, scores)):
            raise ValueError("the labels were compared on the calibration rows themselves: take training rows for it")
        if references is not None:
            sides = [_two_sided(reference, each) for reference, each in zip(references, labels, strict=True)]
            largest = np.sort(np.max(sides, axis=0)[-n:])
        joint = Joint(ranks_of(np.stack(scores, axis=1), rng), largest)
        return SeveralCalibrated(tuple(each.name for each in labels), margins, joint, references)

    def _by_label(self, several: Several, columns: list[Array], bound: Bound) -> list[_Label]:
        names = several.names
        each = dict.fromkeys(names, self.each) if isinstance(self.each, Calibrator) else self.each
        calibrators = in_order("SeveralCalibrator.each must have a calibrator", names, list(each), list(each.values()))
        zipped = zip(names, calibrators, several.predictions, columns, strict=True)
        return [_Label(*known, _own(known[1], bound)) for known in zipped]

    def _references(self, labels: list[_Label]) -> tuple[Reference, ...] | None:
        """What was learned on training rows; else from the predictions themselves, if they are all of one kind."""
        names, given = [each.name for each in labels], self.references
        if given is not None:
            return tuple(in_order("the training rows must have a label", names, list(given), list(given.values())))
        own = [
            Reference.own(with_labels(each.prediction, each.y)[0], each.calibrator.labels, bound=each.bound)
            for each in labels
        ]
        found = tuple(each for each in own if each is not None)
        return found if len(found) == len(own) and len({each.kind for each in found}) == 1 else None


@dataclass(frozen=True, eq=False)
class SeveralCalibrated(CalledWithPredictions):
    """What calibration learned of d labels. `calibrated["wind"]` and `calibrated[0]` are what it learned of one."""

    names: tuple[str, ...]
    margins: tuple[Calibrated, ...]
    joint: Joint
    references: tuple[Reference, ...] | None = None
    """What makes the labels comparable; None where nothing does."""

    def __post_init__(self) -> None:
        """A name and a calibration for each label, all of the same rows."""
        d, n, references = len(self.names), self.joint.n, self.references
        counts = {len(set(self.names)), len(self.margins), self.joint.ranks.shape[1], len(references or self.names)}
        if not d or counts != {d} or {each.guarantee.n for each in self.margins} != {n}:
            raise ValueError(
                f"its {d} labels must have names of their own, and a calibration of the same {n} rows each"
            )
        if (references is None) != (self.joint.largest is None):
            raise ValueError("its references and the largest scores go together")

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for each label by itself: `guarantee["wind"]` is that of one."""
        return Guarantee.of_parts("label", [each.guarantee for each in self.margins], self.names)

    def box_guarantee(self, coverage: float) -> IntervalGuarantee:
        """The guarantee of a joint box.

        Args:
            coverage: The probability that the box holds all labels at once.
        """
        n, floored = self.joint.n, max(each.guarantee.floored for each in self.margins)
        rank = standard_rank(n, unit("coverage", coverage))
        return IntervalGuarantee(coverage, n, rank, self.joint.largest_tie, floored, len(self.margins))

    def __len__(self) -> int:
        return len(self.margins)

    def __getitem__(self, label: str | int) -> Calibrated:
        return self.margins[place(self.names, label)]

    def __call__(
        self, predictions: SeveralLike, *, bound: Bound = None, rng: Rng = None, seed: int | None = None
    ) -> SeveralDistributions:
        """The distributions of all labels for each row; all else is as in `Calibrated`.

        Args:
            predictions: The prediction of each label: a mapping of names to predictions, or a list of them.
            bound: The bounds of the labels in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
            seed: A whole number in place of `rng`: a row then has the same random number in any batch and any order.
        """
        several = Several.of(predictions, self.names).ordered(self.names).predictions
        margins = tuple(
            each(prediction, bound=_own(each, bound), rng=rng, seed=seed)
            for each, prediction in zip(self.margins, several, strict=True)
        )
        if self.references is None:
            return SeveralDistributions(self.names, margins, self.joint, None, self._why_no_box())
        references = tuple(
            each.distribution(prediction, bound=_own(each, bound))
            for each, prediction in zip(self.references, several, strict=True)
        )
        return SeveralDistributions(self.names, margins, self.joint, references)

    def _why_no_box(self) -> str:
        kinds = list(dict.fromkeys(str(each.form) for each in self.margins))
        lack = "the usual size of an error" if len(kinds) == 1 else "the usual size of an error on the same scale"
        learn = "so learn it from training rows, by SeveralCalibrator().compared_on(predictions, Y)"
        return f"{' and '.join(kinds)} do not give {lack}, {learn}"


def _own(owner: Any, bound: Bound) -> Any:
    """The bound, for labels that need one."""
    return bound if owner.labels is not None and owner.labels.by_row else None


def _same_rows(reference: Reference, scores: np.ndarray[Any, Any]) -> bool:
    """Whether the distribution that training scores made is one of just these scores."""
    knots = to_numpy(getattr(reference.q, "knots", np.zeros(0)))
    return knots.size <= scores.size + 2 and bool(np.isin(scores, knots).all())


def _two_sided(reference: Reference, label: _Label) -> np.ndarray[Any, Any]:
    """The two-sided scores of one label."""
    prediction, y = with_labels(label.prediction, label.y)
    sides = to_numpy(two_sided(reference.distribution(prediction, bound=label.bound), y))
    beyond = ~np.isfinite(sides)
    if beyond.any():
        where = f"in row {int(np.argmax(beyond))} ({in_all(int(beyond.sum()))})"
        way = "so no box holds it: learn from training rows, by compared_on"
        raise about(
            "training", ValueError(f"label {label.name!r} lies outside the support of its prediction {where}, {way}")
        )
    return sides
