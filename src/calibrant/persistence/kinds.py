"""What a file may hold: calibrant's own classes, what each field must be, and what must hold among the fields.

A new class is one line in `PARTS`, or in `ROOTS` if files are to hold it by itself.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.distributions import GaussianMixture, LocationScale, LogisticMixture, LogNormal, Mixture, PiecewiseLinear
from calibrant.distributions.base import Distribution
from calibrant.distributions.clipped import Clipped
from calibrant.distributions.followed_up import FollowedUp
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.guarded import Guarded
from calibrant.distributions.joined import Joined
from calibrant.distributions.laplace import StandardLaplace
from calibrant.distributions.lines import Lines
from calibrant.distributions.logistic import StandardLogistic
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.normal import StandardNormal
from calibrant.distributions.randomised import Unrealised
from calibrant.distributions.randomised_by_weight import UnrealisedByRatio, UnrealisedByWeight
from calibrant.distributions.reweighted import Reweighted
from calibrant.distributions.single import Single
from calibrant.distributions.student_t import StandardT
from calibrant.distributions.table_of_lines import TableOfLines
from calibrant.forms import Form
from calibrant.guarantee import (
    CensoredGuarantee,
    ChosenGuarantee,
    FadingGuarantee,
    GroupGuarantee,
    Guarantee,
    HorizonGuarantee,
    SurveyGuarantee,
    WeightedGuarantee,
)
from calibrant.horizons import ForecastColumns, HorizonCalibrated, LongColumns
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
from calibrant.interpolators.forget import Forgetting, HalfLife, Window
from calibrant.interpolators.history import Groups, History
from calibrant.interpolators.naf import default_accuracy
from calibrant.interpolators.support import LARGEST
from calibrant.interpolators.thinned import Thinned
from calibrant.interpolators.weights import CalibrationWeights, Ratios, Survey
from calibrant.intervals import CQR, AbsoluteResidual, Centred, Nonconformity, NormalizedResidual
from calibrant.labels import AtomAt, Chained, Counts, Labels, Real, Transformed
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
from calibrant.scores.atom import AtomScore
from calibrant.scores.base import ChartScore
from calibrant.scores.signed import SignedScore
from calibrant.several import Joint, Reference, SeveralCalibrated
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


def short(value: Any) -> str:
    """The repr of something that may be long."""
    return _REPR.repr(value)


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = _REPR.maxlong = 80


def why(error: Exception) -> str:
    """What an error says, which may be long too."""
    said = str(error)
    return said if len(said) <= 300 else f"{said[:300]} ..."


# ---- what a field must be ------------------------------------------------------------------------------------------


def _as_it_is(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class Wanted:
    """What a field must be, in words and as a test; and the form in which it is stored."""

    words: str
    test: Callable[[Any], bool]
    stored: Callable[[Any], Any] = _as_it_is
    later: bool = False
    """Whether older files lack the field: its default then stands, or `before` where it is given."""
    before: Any = None


def _number(words: str, test: Callable[[float], bool]) -> Wanted:
    return Wanted(words, lambda value: _is_number(value) and test(value), _as_number)


def _is_number(value: Any) -> bool:
    return type(value) is float or (type(value) is int and abs(value) <= 2**53)


def _as_number(value: Any) -> Any:
    """A Python number of a numpy number or an array of one."""
    return value.item() if getattr(value, "shape", None) == () else value


def _count(words: str, least: int) -> Wanted:
    return Wanted(words, lambda value: type(value) is int and least <= value <= 2**53, _as_number)


def _floats(words: str, ndims: tuple[int, ...], test: Callable[[Any], Any] = np.isfinite) -> Wanted:
    def good(value: Any) -> bool:
        known = isinstance(value, np.ndarray) and value.ndim in ndims and value.dtype.kind == "f"
        return known and value.size > 0 and bool(np.all(np.isfinite(value) & test(value)))

    return Wanted(words, good)


def _a(kind: type) -> Wanted:
    return Wanted(f"a {kind.__name__}", lambda value: isinstance(value, kind) and not isinstance(value, type))


def _optional(wanted: Wanted) -> Wanted:
    return Wanted(
        f"{wanted.words} or None",
        lambda value: value is None or wanted.test(value),
        lambda value: None if value is None else wanted.stored(value),
    )


def _later(wanted: Wanted, *, before: Any = None) -> Wanted:
    """A field that files did not always have; `before` is what it was then, where that is not its default."""
    return replace(wanted, later=True, before=before)


def _several(wanted: Wanted) -> Wanted:
    return Wanted(
        f"one or more of {wanted.words}",
        lambda value: type(value) in (tuple, list) and len(value) > 0 and all(map(wanted.test, value)),
        lambda value: type(value)(map(wanted.stored, value)) if type(value) in (tuple, list) else value,
    )


def _either(one: Wanted, other: Wanted) -> Wanted:
    return Wanted(f"{one.words} or {other.words}", lambda value: one.test(value) or other.test(value))


ANYTHING = Wanted("anything", lambda value: True)
_SINGLE = Wanted("a single law", lambda value: isinstance(value, Distribution) and value.shape == ())
_ROW = Wanted("a batch of one law", lambda value: isinstance(value, Distribution) and value.shape == (1,))
_TAILS = Wanted("tails", lambda value: callable(getattr(value, "fit", None)))
_FUNCTION = Wanted("a function of n", callable)
_NAME = Wanted("a name", lambda value: type(value) is str and 0 < len(value) <= 200)
_YES_OR_NO = Wanted("true or false", lambda value: type(value) is bool)
_AT_LEAST_0 = _number("a number of at least 0", lambda value: value >= 0)
_POSITIVE = _number("a positive number", lambda value: 0 < value < math.inf)
_FLOOR = _later(_optional(_POSITIVE))
_FINITE = _number("a finite number", math.isfinite)
_PLACE = _number("a place on the line", lambda value: not math.isnan(value))
_BOUND = _optional(_either(_PLACE, _NAME))
_WEIGHT = _number("a number in [0, 1]", lambda value: 0 <= value <= 1)
_SCALE = _number("a mean excess", lambda value: 0 <= value <= 10 * LARGEST or value == math.inf)
_LAMBDA = _number("a lambda, at least 0 or -1", lambda value: value >= 0 or value == -1)
_KNOTS = _floats("finite floats in a row", (1,), lambda value: abs(value) <= np.float64(10 * LARGEST))
_LOGITS = _floats("finite floats in a row", (1,))
_POSITIVES = _floats("positive floats in a row", (1,), lambda value: value > 0)
_PROBS = _floats("floats of [0, 1] in a row", (1,), lambda value: (value >= 0) & (value <= 1))
_WEIGHTS = _floats("floats of at least 0 in a row", (1,), lambda value: value >= 0)
_LOCS = _floats("finite floats, one a law", (0, 1))
_SCALES = _floats("positive floats, one a law", (0, 1), lambda value: value > 0)
_PLACES = Wanted(
    "counts in a row",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.int64 and value.size > 0,
)
_LABEL = Wanted("a name or a whole number", lambda value: type(value) in (str, int, bool))
_LABELS = Wanted(
    "groups, each once",
    lambda value: (
        type(value) is tuple
        and len(value) > 0
        and all(_LABEL.test(part) for label in value for part in (label if type(label) is tuple else (label,)))
        and len(set(value)) == len(value)
    ),
)
_LEVELS_OF_COLUMNS = Wanted(
    "columns and their levels",
    lambda value: (
        type(value) is tuple
        and all(
            type(pair) is tuple and len(pair) == 2 and _NAME.test(pair[0]) and _is_number(pair[1]) for pair in value
        )
    ),
)
_EXCESSES = Wanted(
    "mean excesses, one a law",
    lambda value: (
        isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f" and bool(np.all(value >= 0))
    ),
)
_TABLE = _floats("finite floats, a column a component", (1, 2))
_UNREALISED = {"atoms": _SINGLE, "lower": _PLACE, "upper": _PLACE, "count": _count("a count", 1)}
_RANKS = Wanted(
    "counts, a column a label",
    lambda value: isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype == np.int64 and value.size > 0,
)
_SORTED = _floats("floats of at least 0 in a row", (1,), lambda value: value >= 0)


# ---- what must hold among them: each raises a ValueError that says what does not ---------------------------------


def _nothing(**values: Any) -> None:
    """Every field is free."""


def _line(knots: Any, probs: Any, left: float = math.inf, right: float = math.inf) -> None:
    if knots.shape != probs.shape or knots.dtype != probs.dtype:
        raise ValueError(f"{knots.size} knots of {knots.dtype} do not go with {probs.size} probs of {probs.dtype}")
    for name, column in (("knots", knots), ("probs", probs)):
        if bool(np.any(column[1:] < column[:-1])):
            raise ValueError(f"its {name} fall at place {int(np.argmax(column[1:] < column[:-1])) + 1}")
    if (left == 0 and probs[0] > 0) or (right == 0 and probs[-1] < 1):
        raise ValueError("a tail that has mass needs a mean excess above 0")


def _rising(knots: Any, values: Any, slopes: Any) -> None:
    if (
        not knots.shape == values.shape == slopes.shape
        or knots.size < 2
        or len({a.dtype for a in (knots, values, slopes)}) > 1
    ):
        raise ValueError(f"{knots.size} knots do not go with {values.size} values and {slopes.size} slopes")
    for name, column in (("knots", knots), ("values", values)):
        if bool(np.any(column[1:] <= column[:-1])):
            raise ValueError(f"its {name} do not rise at place {int(np.argmax(column[1:] <= column[:-1])) + 1}")
    if bool(np.any(np.maximum(slopes[1:], slopes[:-1]) * np.diff(knots) > 3.001 * np.diff(values))):
        raise ValueError("its slopes are too steep for a cubic that rises")


def _bent(law: Any, bend: PiecewiseLinear) -> None:
    del law
    ends = [*bend.knots[[0, -1]], *bend.probs[[0, -1]]]
    if bend.knots.shape[0] < 3 or ends != [0, 1, 0, 1]:
        raise ValueError("its bend must lead from (0, 0) over at least one point to (1, 1)")


def _ordered(lower: float, upper: float, **others: Any) -> None:
    if not lower < upper:
        raise ValueError(f"lower must be below upper, got {lower} and {upper}")


def _atoms(atoms: Any, lower: float, upper: float, count: int, **others: Any) -> None:
    if lower > upper:  # they meet where both were clipped to one bound
        raise ValueError(f"lower must not be above upper, got {lower} and {upper}")
    if isinstance(atoms, PiecewiseLinear) and atoms.knots.shape[0] != 2 * count:
        raise ValueError(f"{count} atoms have two knots each, got {atoms.knots.shape[0]}")


def _tailed(law: Any, low: float, high: float, **others: Any) -> None:
    if not (0 < low <= high < 1 or (low, high) == (0, 1)):
        raise ValueError(f"its tails must end inside (0, 1), in order, or it has none, got {low} and {high}")


def _table(knots: Any, probs: Any, first: Any, left: Any, right: Any) -> None:
    """Every law of a table is a proper line."""
    if knots.shape != probs.shape or len({part.dtype for part in (knots, probs, left, right)}) > 1:
        raise ValueError(f"{knots.size} knots of {knots.dtype} do not go with {probs.size} probs of {probs.dtype}")
    counts = np.diff(first)
    if first.size < 2 or first[0] != 0 or first[-1] != knots.size or bool(np.any(counts < 1)):
        raise ValueError(f"its laws must share its {knots.size} knots, one after the other")
    if not left.size == right.size == counts.size:
        raise ValueError(f"{counts.size} laws do not go with {left.size} and {right.size} tails")
    inner = np.ones(knots.size, bool)
    inner[first[:-1]] = False
    for name, column in (("knots", knots), ("probs", probs)):
        falls = np.diff(column, prepend=column[0]) < 0
        if bool(np.any(falls & inner)):
            raise ValueError(f"its {name} fall at place {int(np.argmax(falls & inner))}")
    if bool(np.any((left == 0) & (probs[first[:-1]] > 0)) or np.any((right == 0) & (probs[first[1:] - 1] < 1))):
        raise ValueError("a tail that has mass needs a mean excess above 0")


def _rows_of_table(table: TableOfLines, law: Any) -> None:
    if not 0 <= int(law.min()) <= int(law.max()) < len(table):
        raise ValueError(f"its rows must come from its {len(table)} laws, got {int(law.min())} to {int(law.max())}")


def _grouped(laws: Distribution, labels: tuple[Any, ...]) -> None:
    if len(laws) - len(labels) not in (0, 1):
        raise ValueError(f"{len(labels)} groups do not go with {len(laws)} laws")


def _per_group(labels: Any, counts: Any, accuracies: Any, ties: Any, floored: int, **_: Any) -> None:
    if not len(labels) == len(counts) == len(accuracies) == len(ties):
        raise ValueError(f"{len(labels)} groups do not go with {len(counts)} counts and {len(accuracies)} lambdas")
    for n, tie in zip(counts, ties, strict=True):
        _among(n, tie)
    if floored > sum(counts):
        raise ValueError(f"{floored} of its rows had no width, but n is {sum(counts)}")


def _by_horizon(calibrated: Calibrated, columns: LongColumns) -> None:
    if not isinstance(calibrated.guarantee, GroupGuarantee):
        raise ValueError("it was not calibrated by horizon")
    if any(type(label) is not int or label < 1 for label in calibrated.guarantee.labels):
        raise ValueError("its groups are no horizons")
    del columns


def _some_columns(model: str, point: str | None, quantiles: Any) -> None:
    levels = [level for _, level in quantiles]
    if point is None and not levels:
        raise ValueError(f"{model!r} has no columns")
    if any(b <= a for a, b in zip([0.0, *levels], [*levels, 1.0], strict=True)):
        raise ValueError(f"its levels must increase inside (0, 1), got {levels}")


def _one_shape(loc: Any, scale: Any, base: Distribution) -> None:
    if loc.shape != scale.shape or loc.dtype != scale.dtype or base.shape not in ((), loc.shape):
        raise ValueError(f"loc {loc.shape}, scale {scale.shape} and base {base.shape} do not go together")


def _joined(laws: tuple[Distribution, ...], part: Any, row: Any) -> None:
    if part.shape != row.shape:
        raise ValueError(f"{part.size} parts do not go with {row.size} rows")
    if not 0 <= int(part.min()) <= int(part.max()) < len(laws):
        raise ValueError(f"its rows must come from its {len(laws)} laws, got {int(part.min())} to {int(part.max())}")
    counts = np.asarray([law.shape[0] if law.shape else 1 for law in laws])
    outside = (row < 0) | (row >= counts[part])
    if bool(outside.any()):
        first = int(np.argmax(outside))
        raise ValueError(f"row {row[first]} is not among the {counts[part[first]]} rows of law {part[first]}")


def _among(n: int, largest_tie: int, floored: int = 0, **others: Any) -> None:
    if largest_tie > n:
        raise ValueError(f"its largest tie is of {largest_tie} scores, but n is {n}")
    if floored > n:
        raise ValueError(f"{floored} of its rows had no width, but n is {n}")


def _agreeing(
    score: Any,
    q: Any,
    guarantee: Guarantee,
    interpolator: Any,
    form: Any = None,
    labels: Any = None,
    history: Any = None,
) -> None:
    """What calibrant's own interpolators promise, and how many scores their laws are made of."""
    del score, form, labels
    n, ours = guarantee.n, type(interpolator) in {kind.cls for kind in PARTS}
    if isinstance(q, Grouped) != isinstance(guarantee, GroupGuarantee):
        raise ValueError(f"its guarantee, {type(guarantee).__name__}, does not go with q, {q!r}")
    if isinstance(q, Grouped):
        if q.labels != guarantee.labels:  # type: ignore[attr-defined]
            raise ValueError("its guarantee is of other groups than its q")
        return
    worth = getattr(guarantee, "worth", n)
    if ours and guarantee.accuracy != (promised := interpolator.accuracy(worth)):
        raise ValueError(f"its guarantee has lambda {guarantee.accuracy}, its interpolator promises {promised}")
    made_of = {Linear: (n, n + 1, n + 2), Naive: (2 * n,)}.get(type(interpolator))
    knots = q.knots.shape[0] if isinstance(q, (PiecewiseLinear, LogisticLinear)) else None
    if (made_of and knots and knots not in made_of) or (isinstance(q, Unrealised) and q.count != n):
        raise ValueError(f"its guarantee has n = {n}, which does not go with q, {q!r}")
    if history is not None and history.weights is None and history.scores.size != n:
        raise ValueError(f"its guarantee has n = {n}, but its history has {history.scores.size} scores")


def _numbered(labels: tuple[Any, ...], numbers: Any) -> None:
    if not 0 <= int(numbers.min()) <= int(numbers.max()) < len(labels):
        raise ValueError(
            f"its rows must be of its {len(labels)} groups, got {int(numbers.min())} to {int(numbers.max())}"
        )


def _weighed(scores: Any, weights: Any = None, forget: Any = None, floored: int = 0, groups: Any = None) -> None:
    if groups is not None and groups.numbers.size != scores.size:
        raise ValueError(f"{scores.size} scores do not go with the groups of {groups.numbers.size} rows")
    if weights is not None and len(weights) != scores.size:
        raise ValueError(f"{scores.size} scores do not go with {len(weights)} weights")
    if weights is not None and isinstance(forget, HalfLife):
        raise ValueError("a half-life takes no other weights")
    del floored


def _ranked(ranks: Any, largest: Any) -> None:
    """Each column of ranks holds 1 to n once, and the n largest scores do not fall."""
    n = len(ranks)
    if bool(np.any(np.sort(ranks, axis=0) != np.arange(1, n + 1)[:, None])):
        raise ValueError(f"each label must have the ranks 1 to {n} once")
    if largest is not None and (largest.shape != (n,) or bool(np.any(np.diff(largest) < 0))):
        raise ValueError(f"its largest scores must be {n} and not fall, got {largest.size}")


def _labels_alike(names: Any, margins: Any, joint: Joint, references: Any) -> None:
    d, n = len(names), joint.n
    counts = [len(margins), joint.ranks.shape[1], d if references is None else len(references)]
    if len(set(names)) != d or counts != [d] * 3 or any(each.guarantee.n != n for each in margins):
        raise ValueError(f"its {d} labels must have names of their own, and a calibration of the same {n} rows each")
    if (references is None) != (joint.largest is None):
        raise ValueError("its references and the largest scores go together")


def _tracked(levels: Any, held: Any, covered: Any, rows: int, extremes: Any, **others: Any) -> None:
    if not len(levels) == held.size == covered.size:
        raise ValueError(f"{len(levels)} levels do not go with {held.size} positions and {covered.size} counts")
    if not 0 <= int(covered.min()) <= int(covered.max()) <= rows:
        raise ValueError(f"its counts must lie between 0 and its {rows} rows, got {int(covered.min())}")
    if len(extremes) != 2 or extremes[0] > extremes[1]:
        raise ValueError("its least score must not be above its largest")


# ---- the classes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """A class that files may hold: what its fields must be, and what must hold among them."""

    cls: type
    relation: Callable[..., None]
    fields: Mapping[str, Wanted]


def _kind(cls: type, relation: Callable[..., None] = _nothing, /, **wanted: Wanted) -> Kind:
    return Kind(cls, relation, wanted)


def kind_of_own(cls: type) -> Kind:
    """A class that is not calibrant's: its fields, if it is a dataclass, may be anything."""
    names = [field.name for field in fields(cls) if field.init] if is_dataclass(cls) else []
    return Kind(cls, _nothing, dict.fromkeys(names, ANYTHING))


ROOTS = (
    _kind(
        Calibrated,
        _agreeing,
        score=_a(Score),
        q=_either(_SINGLE, _a(Grouped)),
        guarantee=_either(_a(Guarantee), _a(GroupGuarantee)),
        interpolator=_a(Interpolator),
        form=_later(_optional(_a(Form))),
        labels=_later(_optional(_a(Labels))),
        history=_later(_optional(_a(History))),
    ),
    _kind(CrossCalibrated, members=_several(_a(Calibrated))),
    _kind(
        SeveralCalibrated,
        _labels_alike,
        names=_several(_NAME),
        margins=_several(_a(Calibrated)),
        joint=_a(Joint),
        references=_optional(_several(_a(Reference))),
    ),
    _kind(
        Tracker,
        _tracked,
        calibrated=_a(Calibrated),
        levels=_several(_WEIGHT),
        step=_POSITIVE,
        held=_LOGITS,
        covered=_PLACES,
        rows=_count("a count", 0),
        extremes=_several(_FINITE),
    ),
    _kind(HorizonCalibrated, _by_horizon, calibrated=_a(Calibrated), columns=_a(LongColumns)),
)
"""What `save` takes."""

PARTS = (
    _kind(
        Guarantee,
        _among,
        n=_count("a count", 1),
        accuracy=_LAMBDA,
        largest_tie=_count("a count", 1),
        floored=_later(_count("a count", 0)),
        drawn=_later(_YES_OR_NO),
    ),
    _kind(
        ChosenGuarantee,
        _among,
        n=_count("a count", 1),
        accuracy=_LAMBDA,
        largest_tie=_count("a count", 1),
        floored=_count("a count", 0),
        drawn=_later(_YES_OR_NO),
        candidates=_count("a count", 2),
    ),
    *(
        _kind(
            cls,
            _among,
            n=_count("a count", 1),
            accuracy=_LAMBDA,
            largest_tie=_count("a count", 1),
            floored=_count("a count", 0),
            drawn=_later(_YES_OR_NO),
            effective=_POSITIVE,
            largest_share=_WEIGHT,
        )
        for cls in (WeightedGuarantee, SurveyGuarantee, FadingGuarantee)
    ),
    _kind(
        CensoredGuarantee,
        _among,
        n=_count("a count", 1),
        accuracy=_LAMBDA,
        largest_tie=_count("a count", 1),
        floored=_count("a count", 0),
        drawn=_later(_YES_OR_NO),
        effective=_POSITIVE,
        largest_share=_WEIGHT,
        rows=_count("a count", 1),
        known=_WEIGHT,
        modelled=_YES_OR_NO,
    ),
    *(
        _kind(
            cls,
            _per_group,
            labels=_LABELS,
            counts=_several(_count("a count", 1)),
            accuracies=_several(_LAMBDA),
            ties=_several(_count("a count", 1)),
            floored=_count("a count", 0),
            drawn=_later(_YES_OR_NO),
        )
        for cls in (GroupGuarantee, HorizonGuarantee)
    ),
    _kind(
        LongColumns,
        forecast=_a(ForecastColumns),
        target=_NAME,
        series=_optional(_NAME),
        time=_NAME,
        cutoff=_optional(_NAME),
        horizon=_optional(_NAME),
    ),
    _kind(ForecastColumns, _some_columns, model=_NAME, point=_optional(_NAME), quantiles=_LEVELS_OF_COLUMNS),
    _kind(
        Form,
        kind=_NAME,
        levels=_optional(_several(_WEIGHT)),
        draws=_optional(_count("a count", 1)),
        members=Wanted("forms", lambda value: type(value) is tuple and all(type(item) is Form for item in value)),
    ),
    _kind(Joint, _ranked, ranks=_RANKS, largest=_optional(_SORTED)),
    _kind(Reference, score=_a(Score), q=_SINGLE, labels=_optional(_a(Labels))),
    # what an update must know
    _kind(
        History,
        _weighed,
        scores=_KNOTS,
        weights=_optional(_a(CalibrationWeights)),
        forget=_optional(_a(Forgetting)),
        floored=_count("a count", 0),
        groups=_later(_optional(_a(Groups))),
    ),
    _kind(Groups, _numbered, labels=_LABELS, numbers=_PLACES),
    _kind(Window, last=_count("a count", 1)),
    _kind(HalfLife, rows=_POSITIVE),
    _kind(Ratios, values=_WEIGHTS),
    _kind(Survey, values=_WEIGHTS),
    # scores
    _kind(ResidualScore),
    _kind(RelativeScore, floor=_FLOOR),
    _kind(SqrtScore, c=_FINITE),
    _kind(LogScore, c=_FINITE),
    _kind(IntervalScore, floor=_FLOOR),
    _kind(ZScore, floor=_FLOOR),
    _kind(CDFScore),
    _kind(SamplesScore, floor=_FLOOR),
    _kind(AtomScore, floor=_FLOOR),
    _kind(QuantileScore, floor=_FLOOR, outer_slope=_optional(_POSITIVE)),
    _kind(EnsembleScore, scores=_optional(_either(_a(ChartScore), _several(_a(ChartScore))))),
    _kind(SignedScore, nonconformity=_a(Nonconformity), scale=_FLOOR),
    _kind(AbsoluteResidual),
    _kind(NormalizedResidual, floor=_FLOOR),
    _kind(CQR),
    _kind(Centred, score=_a(ChartScore), centre=_optional(_FINITE)),
    # labels
    _kind(Real, lower=_BOUND, upper=_BOUND),
    _kind(Transformed, by=_NAME),
    _kind(Counts, step=_POSITIVE, lower=_optional(_FINITE), spread_forecasts=_later(_YES_OR_NO, before=False)),
    _kind(AtomAt, at=_FINITE, share=_optional(_NAME)),
    _kind(Chained, steps=_several(_a(Labels))),
    # interpolators
    _kind(Naive),
    _kind(Linear, tails=_TAILS),
    _kind(Thinned, knots=_count("a count of at least 2", 2), measured=_LAMBDA, linear=_a(Linear)),
    _kind(Random, tails=_TAILS),
    _kind(NAF, units=_count("a count of at least 2", 2), promise=_FUNCTION),
    _kind(ByGroup, unseen=_NAME, pooled=_a(NAF)),
    _kind(ByHorizon, pooled=_a(NAF)),
    _kind(Apart, unseen=_NAME, own=_a(Interpolator)),
    _kind(Promised, accuracy=_AT_LEAST_0),
    _kind(ExponentialTails),
    _kind(BoundedTails),
    _kind(InfiniteTails),
    # laws
    _kind(PiecewiseLinear, _line, knots=_KNOTS, probs=_PROBS, left=_SCALE, right=_SCALE),
    _kind(LogisticLinear, _line, knots=_LOGITS, probs=_PROBS),
    _kind(LogitSpline, _rising, knots=_LOGITS, values=_LOGITS, slopes=_POSITIVES),
    _kind(LogisticMixture, weights=_PROBS, locs=_LOGITS, scales=_LOGITS),
    _kind(Guarded, _bent, law=_SINGLE, bend=_a(PiecewiseLinear)),
    _kind(Mixture, components=_several(_a(Distribution)), weights=_several(_WEIGHT)),
    _kind(Clipped, _ordered, law=_a(Distribution), lower=_PLACE, upper=_PLACE),
    _kind(Unrealised, _atoms, **_UNREALISED),
    _kind(UnrealisedByWeight, _atoms, **_UNREALISED, total=_POSITIVE),
    _kind(UnrealisedByRatio, _atoms, **_UNREALISED, total=_POSITIVE, unit=_POSITIVE),
    _kind(Reweighted, _tailed, law=_SINGLE, unit=_POSITIVE, total=_POSITIVE, low=_WEIGHT, high=_WEIGHT),
    _kind(FollowedUp, law=_SINGLE, known=_WEIGHT),
    _kind(Single, batch=_ROW),
    _kind(Grouped, _grouped, laws=_a(Distribution), labels=_LABELS),
    _kind(Lines, _rows_of_table, table=_a(TableOfLines), law=_PLACES),
    _kind(TableOfLines, _table, knots=_KNOTS, probs=_PROBS, first=_PLACES, left=_EXCESSES, right=_EXCESSES),
    _kind(Joined, _joined, laws=_several(_a(Distribution)), part=_PLACES, row=_PLACES),
    _kind(LocationScale, _one_shape, loc=_LOCS, scale=_SCALES, base=_a(Distribution)),
    _kind(StandardNormal),
    _kind(StandardLogistic),
    _kind(StandardLaplace),
    _kind(StandardT, df=_SCALES),
    _kind(LogNormal, mu=_LOCS, sigma=_SCALES, strict=_YES_OR_NO),
    _kind(GaussianMixture, weights=_TABLE, means=_TABLE, stds=_TABLE),
)
"""What these are made of."""

KINDS = {kind.cls.__name__: kind for kind in (*ROOTS, *PARTS)}
