"""The classes that a file may hold. They check themselves; `fields` and `relations` check more.

A new class is one line in `PARTS`, or in `ROOTS` if files are to hold it by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial

from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.distributions import GaussianMixture, LocationScale, LogNormal, Mixture, PiecewiseLinear
from calibrant.distributions.base import Distribution
from calibrant.distributions.bent import Reweighted
from calibrant.distributions.censored_tail import FollowedUp
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.joined import Joined, Row
from calibrant.distributions.logistic_linear import Guarded, LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.own_logit import OwnLogit
from calibrant.distributions.piecewise_linear import Lines
from calibrant.distributions.randomised import Randomised
from calibrant.distributions.standard_families import StandardLaplace, StandardLogistic, StandardNormal
from calibrant.distributions.student_t import StandardT
from calibrant.forms import Form
from calibrant.guarantee import Guarantee
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.horizons.columns import ForecastColumns
from calibrant.horizons.table import LongColumns
from calibrant.interpolators import (
    NAF,
    Apart,
    BoundedTails,
    ByGroup,
    ByHorizon,
    ExponentialTails,
    InfiniteTails,
    Interpolator,
    Linear,
    Naive,
    Random,
)
from calibrant.interpolators.by_group import Groups
from calibrant.interpolators.history import Forgetting, HalfLife, History, Window
from calibrant.interpolators.naf import default_accuracy
from calibrant.interpolators.weights import CalibrationWeights, OncePerGroup, Ratios
from calibrant.intervals import CQR, AbsoluteResidual, Centred, Nonconformity, NormalizedResidual
from calibrant.labels import AtomAt, Counts, Labels, Real, Transformed
from calibrant.labels.base import Chained
from calibrant.persistence import relations
from calibrant.persistence.fields import (
    ANYTHING,
    AT_LEAST_0,
    BOUND,
    EXCESSES,
    FINITE,
    FLOOR,
    FUNCTION,
    KNOTS,
    LABELS,
    LAMBDA,
    LEVELS_OF_COLUMNS,
    LOCS,
    LOGITS,
    NAME,
    NONE,
    PLACE,
    PLACES,
    POSITIVE,
    POSITIVES,
    PROBS,
    RANKS,
    ROW,
    SCALES,
    SINGLE,
    SORTED,
    TABLE,
    TAILS,
    WEIGHT,
    WEIGHTS,
    YES_OR_NO,
    FieldRule,
    count,
    either,
    instance,
    optional,
    several,
)
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    LogScore,
    QuantileScore,
    RelativeScore,
    ResidualScore,
    SamplesScore,
    Score,
    SqrtScore,
    ZScore,
)
from calibrant.scores.nonconformity import SignedScore
from calibrant.scores.quantile import AtomScore
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.joint import Joint, Reference
from calibrant.tracking import Tracker


@dataclass(frozen=True)
class Promised:
    """n -> accuracy: what a `NAF.promise` said when it was saved, whatever n is now."""

    accuracy: float

    def __call__(self, n: int) -> float:
        """The lambda that was promised."""
        del n
        return self.accuracy


FUNCTIONS = {"default_accuracy": default_accuracy}
"""The functions that a file names."""


@dataclass(frozen=True)
class Kind:
    """A class that files may hold: what its fields must be, and what must hold among them."""

    cls: type
    relation: Callable[..., None]
    fields: Mapping[str, FieldRule]


def _kind(cls: type, relation: Callable[..., None] = relations.no_relation, /, **wanted: FieldRule) -> Kind:
    return Kind(cls, relation, wanted)


def class_of_user(cls: type) -> Kind:
    """A class that is not calibrant's: its fields, if it is a dataclass, may be anything."""
    names = [field.name for field in fields(cls) if field.init] if is_dataclass(cls) else []
    return Kind(cls, relations.no_relation, dict.fromkeys(names, ANYTHING))


PARTS = (
    _kind(
        Guarantee,
        n=count("a count", 1),
        accuracy=LAMBDA,
        largest_tie=count("a count", 1),
        floored=count("a count", 0),
        drawn=YES_OR_NO,
        basis=NAME,
        effective_n=POSITIVE,
        bound=optional(FINITE),
        known=WEIGHT,
        names=either(LABELS, NONE),
        parts=either(several(instance(Guarantee)), NONE),
    ),
    _kind(
        LongColumns,
        forecast=instance(ForecastColumns),
        target=NAME,
        series=optional(NAME),
        time=NAME,
        cutoff=optional(NAME),
        horizon=optional(NAME),
    ),
    _kind(ForecastColumns, model=NAME, point=optional(NAME), quantiles=LEVELS_OF_COLUMNS),
    _kind(
        Form,
        kind=NAME,
        levels=optional(several(WEIGHT)),
        draws=optional(count("a count", 1)),
        members=FieldRule("forms", lambda value: type(value) is tuple and all(type(item) is Form for item in value)),
    ),
    _kind(Joint, ranks=RANKS, largest=optional(SORTED)),
    _kind(Reference, score=instance(Score), q=SINGLE, labels=optional(instance(Labels))),
    # what an update must know
    _kind(
        History,
        relations.no_double_weights,
        scores=KNOTS,
        weights=optional(instance(CalibrationWeights)),
        forget=optional(instance(Forgetting)),
        floored=count("a count", 0),
        groups=optional(instance(Groups)),
        basis=FieldRule('"nested" or "time"', lambda value: value in (None, "nested", "time")),
    ),
    _kind(Groups, labels=LABELS, numbers=PLACES),
    _kind(Window, last=count("a count", 1)),
    _kind(HalfLife, rows=POSITIVE),
    _kind(Ratios, values=WEIGHTS),
    _kind(OncePerGroup, values=WEIGHTS),
    # scores
    _kind(ResidualScore),
    _kind(RelativeScore, floor=FLOOR),
    _kind(SqrtScore, c=FINITE),
    _kind(LogScore, c=FINITE),
    _kind(IntervalScore, floor=FLOOR),
    _kind(ZScore, floor=FLOOR),
    _kind(CDFScore),
    _kind(SamplesScore, floor=FLOOR, outer_slope=optional(POSITIVE)),
    _kind(AtomScore, floor=FLOOR, outer_slope=optional(POSITIVE)),
    _kind(QuantileScore, floor=FLOOR, outer_slope=optional(POSITIVE)),
    _kind(EnsembleScore, scores=optional(either(instance(Score), several(instance(Score))))),
    _kind(SignedScore, nonconformity=instance(Nonconformity), scale=FLOOR),
    _kind(AbsoluteResidual),
    _kind(NormalizedResidual, floor=FLOOR),
    _kind(CQR),
    _kind(Centred, score=instance(Score), centre=optional(FINITE)),
    # labels
    _kind(Real, lower=BOUND, upper=BOUND),
    _kind(Transformed, by=NAME),
    _kind(Counts, step=POSITIVE, lower=optional(FINITE)),
    _kind(AtomAt, at=FINITE, share=optional(NAME)),
    _kind(Chained, steps=several(instance(Labels))),
    # interpolators
    _kind(Naive),
    _kind(Linear, tails=TAILS),
    _kind(Random, tails=TAILS),
    _kind(NAF, units=count("a count of at least 2", 2), promise=FUNCTION),
    _kind(ByGroup, pooled=instance(NAF), unseen=NAME),
    _kind(ByHorizon, pooled=instance(NAF), unseen=NAME),
    _kind(Apart, own=instance(Interpolator), unseen=NAME),
    _kind(Promised, accuracy=AT_LEAST_0),
    _kind(ExponentialTails),
    _kind(BoundedTails),
    _kind(InfiniteTails),
    # distributions
    _kind(PiecewiseLinear, lines=instance(Lines), group=optional(PLACES)),
    _kind(LogisticLinear, knots=LOGITS, probs=PROBS),
    _kind(LogitSpline, relations.increasing_spline, knots=LOGITS, values=LOGITS, slopes=POSITIVES),
    _kind(Guarded, map=instance(OwnLogit), q=instance(LogisticLinear)),
    _kind(OwnLogit, distribution=SINGLE),
    _kind(Mixture, components=several(instance(Distribution)), weights=several(WEIGHT)),
    _kind(Clipped, base=instance(Distribution), lower=PLACE, upper=PLACE),
    _kind(Randomised, atoms=SINGLE, lower=PLACE, upper=PLACE, total=POSITIVE, unit=optional(POSITIVE)),
    _kind(Reweighted, base=SINGLE, unit=POSITIVE, total=POSITIVE, low=WEIGHT, high=WEIGHT),
    _kind(FollowedUp, base=SINGLE, known=WEIGHT),
    _kind(Row, batch=ROW),
    _kind(Grouped, distributions=instance(Distribution), labels=LABELS),
    _kind(Lines, knots=KNOTS, probs=PROBS, first=PLACES, left=EXCESSES, right=EXCESSES),
    _kind(Joined, distributions=several(instance(Distribution)), part=PLACES, row=PLACES),
    _kind(LocationScale, loc=LOCS, scale=SCALES, base=instance(Distribution)),
    _kind(StandardNormal),
    _kind(StandardLogistic),
    _kind(StandardLaplace),
    _kind(StandardT, df=SCALES),
    _kind(LogNormal, mu=LOCS, sigma=SCALES, strict=YES_OR_NO),
    _kind(GaussianMixture, weights=TABLE, means=TABLE, stds=TABLE),
)
"""What `ROOTS` are made of."""

ROOTS = (
    _kind(
        Calibrated,
        partial(relations.consistent_calibration, {part.cls for part in PARTS}),
        score=instance(Score),
        q=either(SINGLE, instance(Grouped)),
        guarantee=instance(Guarantee),
        interpolator=instance(Interpolator),
        form=optional(instance(Form)),
        labels=optional(instance(Labels)),
        history=optional(instance(History)),
    ),
    _kind(CrossCalibrated, members=several(instance(Calibrated))),
    _kind(
        SeveralCalibrated,
        relations.same_labels,
        names=several(NAME),
        margins=several(instance(Calibrated)),
        joint=instance(Joint),
        references=optional(several(instance(Reference))),
    ),
    _kind(
        Tracker,
        calibrated=instance(Calibrated),
        levels=several(WEIGHT),
        step=POSITIVE,
        raw_positions=LOGITS,
        covered=PLACES,
        rows=count("a count", 0),
        extremes=several(FINITE),
    ),
    _kind(HorizonCalibrated, relations.by_horizon, calibrated=instance(Calibrated), columns=instance(LongColumns)),
)
"""What `save` takes."""

KINDS = {kind.cls.__name__: kind for kind in (*ROOTS, *PARTS)}
