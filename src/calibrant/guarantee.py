"""What a calibration promises of new rows, in numbers and in words.

Theorem 1: if the n calibration rows and a new one are exchangeable, |P(H[X](Y) <= c) - c| <= (1 + lambda) / (n + 1) for
every c. `Guarantee` says this, and what stands in its place for groups, weights, folds and tracked levels.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Protocol, get_args

from scipy.special import betaincinv

from calibrant._arguments import unit
from calibrant._arrays import Array, largest_tie_of
from calibrant._display import Displayed
from calibrant._words import count

Basis = Literal[
    "marginal", "weighted", "group", "horizon", "label", "new group", "cross", "nested", "time", "recent", "censored",
    "long run",
]  # fmt: skip
"""Why calibration rows say something about new rows: see `Guarantee`."""
_NO_CLAIM = ("nested", "time", "recent", "censored")
_ASSUMED = {
    "marginal": "exchangeable data, a model not trained on the calibration set",
    "group": "groups fixed beforehand, exchangeable rows within each, a model not trained on the calibration set",
    "horizon": "rows of one horizon that are exchangeable, forecasts made without their labels",
    "new group": "exchangeable groups of rows, a model not trained on the calibration set",
    "weighted": (
        "that the weights are the likelihood ratios of new to calibration rows and that y given x is the same; where"
        " the ratios are estimated, half their mean error, E|w^ - w| / 2, adds to the bound"
    ),
    "censored": (
        "that censoring is independent of the label (given x, where `followed` models it so), and that any label had a"
        " chance to be seen"
    ),
}
_DRAWN = (
    " Labels have probabilities of their own, and scores are continuous because each label is spread over its jump:"
    " H(Y) is the randomised PIT, drawn between P(Y < y) and P(Y <= y)."
)
_CUTOFFS = (
    " Successive cutoffs of one series are exchangeable only roughly, above all where the next forecast is made before"
    " the time of the last one."
)


class Accurate(Protocol):
    """The part of an interpolator that a guarantee needs."""

    def accuracy(self, n: int, /) -> float:
        """Its lambda on n scores."""


@dataclass(frozen=True, repr=False)
class Guarantee(Displayed):
    """sup_c |P(H[X](Y) <= c) - c| <= epsilon = (1 + lambda) / (n + 1), on average over calibration sets (Theorem 1).

    What else is promised, and why, depends on the `basis`:

    - "marginal": the rows are exchangeable. For a randomised q, whose lambda is -1, epsilon is 0.
    - "group", "horizon": the bound holds in every group, with its own n; `guarantee["north"]` is the guarantee of one.
      This is so even where the q of a group uses scores of other groups. Groups are fixed beforehand.
    - "weighted": weights are likelihood ratios, and epsilon = E max p + lambda / (N + 1): max p is the largest share of
      one of the n + 1 rows in the sum of the weights, N the effective number of rows. docs/shift.md has the proof.
    - "cross": H is the mean over K folds; P(H(Y) <= c) <= 2c + epsilon, and the same for P(H(Y) >= 1 - c). Epsilon is
      twice the mean of the folds': twice a mean of p-values is a p-value (Rüschendorf 1982; Vovk and Wang 2020).
    - "long run": for each of K tracked levels, the share of labels below its quantile over any T rows is within
      lambda / T of the level, whatever the rows do; here lambda = (range of the scores) / (step size) + K.
    - "label": with several labels per row, each label has a guarantee of its own.
    - "new group": rows of one group are alike, and groups are exchangeable; n is the number of groups, each of which
      counts once. It holds for a row of a new group.
    - "nested": models fitted on all rows predict, and copies of them that did not see a row have scored it. No
      finite-sample bound is known.
    - "time": the calibration rows are the latest, and neighbours are alike. Nothing is proved for a finite n.
    - "recent", "censored": nothing is proved for a finite n, since weights fall with age, or are estimated.

    >>> print(Guarantee(199).in_short())
    A 90% interval contains the label of a new row like the 199 calibration rows with a probability of 90%, within
    1 percentage point, on average over calibration sets. For this set it lies between 85.5% and 93.8% (95% confidence).
    """

    n: int
    """The number of scores: all calibration rows, those of all groups or folds together, or the rows tracked so far."""
    accuracy: float = 0.0
    """lambda: how far q(u_(i)) may be from i / (n + 1), in units of 1 / (n + 1); -1 for a randomised q."""
    largest_tie: int = 1
    """The size of the largest set of equal scores; above 1 epsilon holds only approximately."""
    floored: int = 0
    """How many calibration rows had a scale of (nearly) 0, and got a floor learned from all calibration rows."""
    drawn: bool = False
    """Whether a uniform number was added to each label, as for counts: H(Y) is then the randomised PIT."""
    basis: Basis = "marginal"
    effective_n: float = 0.0
    """N = (sum of w)^2 / sum of w^2 for rows with weights w; else n."""
    bound: float | None = None
    """epsilon, where it is not (1 + lambda) / (n + 1)."""
    known: float = 1.0
    """For censored labels, the highest level at which q is known."""
    names: tuple[Hashable, ...] = ()
    """The groups, horizons or labels; the levels that are tracked."""
    parts: tuple[Guarantee, ...] = ()
    """What is promised to each of `names`, or by each fold."""

    def __post_init__(self) -> None:
        """Check that the numbers are consistent."""
        object.__setattr__(self, "effective_n", float(self.effective_n or self.n))
        if self.basis not in get_args(Basis):
            raise ValueError(f"its basis must be one of {', '.join(get_args(Basis))}, got {self.basis!r}")
        if self.n < 0 or not 0 <= self.effective_n < math.inf:
            raise ValueError(f"n must be a number of rows, got {self.n}, or {self.effective_n} in effect")
        if not 1 <= self.largest_tie <= max(1, self.n):
            raise ValueError(f"its largest tie is of {self.largest_tie} scores, but n is {self.n}")
        if not 0 <= self.floored <= self.n:
            raise ValueError(f"{self.floored} of its rows had no width, but n is {self.n}")
        if not (self.accuracy >= 0 or self.accuracy == -1):
            raise ValueError(f"its lambda must be at least 0, or -1, got {self.accuracy}")
        if self.parts and self.basis in ("group", "horizon", "label") and len(self.names) != len(self.parts):
            raise ValueError(f"{len(self.names)} names do not go with the guarantees of {len(self.parts)}")
        if self.basis in ("group", "horizon") and self.n != sum(part.n for part in self.parts):
            raise ValueError(f"n is {self.n}, but its parts have {sum(part.n for part in self.parts)} rows")

    @classmethod
    def of(cls, interpolator: Accurate, scores: Array) -> Guarantee:
        """The guarantee of an interpolator on these scores.

        Args:
            interpolator: What made q of the scores.
            scores: The calibration scores, an array of n numbers.
        """
        n = scores.shape[0]
        return cls(n, float(interpolator.accuracy(n)), largest_tie_of(scores))

    @classmethod
    def of_parts(cls, basis: Basis, parts: Sequence[Guarantee], names: Sequence[Hashable] = ()) -> Guarantee:
        """What holds in every group, at every horizon, for every label, or of the mean over folds.

        Args:
            basis: "group", "horizon", "label" or "cross".
            parts: The guarantee of each.
            names: What each is called; folds have the names of the groups within them.
        """
        n = parts[0].n if basis == "label" else sum(part.n for part in parts)
        return cls(
            n,
            max(part.accuracy for part in parts),
            max(part.largest_tie for part in parts),
            min(n, sum(part.floored for part in parts)),
            any(part.drawn for part in parts),
            basis,
            bound=2 * sum(part.n / n * part.epsilon for part in parts) if basis == "cross" else None,
            names=parts[0].names if basis == "cross" else tuple(names),
            parts=tuple(parts),
        )

    def __getitem__(self, name: Hashable) -> Guarantee:
        """What is promised to one group, at one horizon or for one label."""
        if name not in self.names or self.basis == "long run":
            what = {"horizon": "horizon", "label": "label"}.get(self.basis, "group")
            raise KeyError(f"no calibration row has the {what} {name!r}, so nothing is promised to it")
        if self.basis == "cross":
            return Guarantee.of_parts("cross", [part[name] for part in self.parts])
        return self.parts[self.names.index(name)]

    def on_basis(self, basis: Basis) -> Guarantee:
        """The same numbers on another basis, which says what is claimed.

        Args:
            basis: See the class.
        """
        return replace(self, basis=basis, parts=tuple(part.on_basis(basis) for part in self.parts))

    def noting(self, *, floored: int, drawn: bool) -> Guarantee:
        """The same guarantee with these values of `floored` and `drawn`.

        Args:
            floored: How many calibration rows, over all groups, got a learned floor.
            drawn: Whether a uniform number was added to each label.
        """
        parts = tuple(part.noting(floored=floored, drawn=drawn) for part in self.parts)
        return replace(self, floored=min(floored, self.n), drawn=drawn, parts=parts)

    @property
    def epsilon(self) -> float:
        """(1 + lambda) / (n + 1), at most 1; the largest of all groups, horizons or labels; 1 if nothing is claimed."""
        if self.basis == "long run":
            return self.over(self.n)
        if self.basis in _NO_CLAIM:
            return 1.0
        if self.bound is not None:
            return min(1.0, self.bound)
        if self.parts:
            return max(part.epsilon for part in self.parts)
        return min(1.0, (1 + self.accuracy) / (self.n + 1))

    @property
    def randomised(self) -> bool:
        """Whether q draws a uniform for each row, which fills the jumps."""
        return self.accuracy == -1

    @property
    def kind(self) -> str:
        """The basis, or "no claim"; ", exact" where epsilon is 0, ", approximate" for ties or a learned floor.

        If the basis is "marginal", it is "marginal", "exact" or "approximate".
        """
        if self.basis in _NO_CLAIM:
            return "no claim"
        if self.basis in ("long run", "label"):
            return self.basis
        if self.floored or (self.largest_tie > 1 and not self.randomised):
            quality = "approximate"
        elif self.randomised and self.basis != "cross":
            quality = "exact"
        else:
            return self.basis
        return quality if self.basis == "marginal" else f"{self.basis}, {quality}"

    @property
    def calibration_rows(self) -> int | None:
        """The effective number of calibration rows; None for tracked levels, which do not rest on a calibration set."""
        return None if self.basis == "long run" else max(1, int(self.effective_n))

    @property
    def sizes(self) -> dict[str, int] | None:
        """n of each group, by its name as text; None without groups."""
        if self.basis not in ("group", "horizon", *_NO_CLAIM) or not self.names:
            return None
        return {in_text(name): part.n for name, part in zip(self.names, self.parts, strict=True)}

    def _displayed(self) -> tuple[str, dict[str, str]]:
        facts = {"kind": self.kind}
        if self.basis == "long run":
            return "guarantee of tracked levels", facts | {"lambda": f"{self.accuracy:.3g}"}
        if self.basis not in _NO_CLAIM:
            facts |= {"epsilon": f"{self.epsilon:.3g}", "lambda": f"{self.accuracy:.3g}"}
            facts["for this set"] = f"{self.conditional():.3g}, with 95% confidence"
        if self.largest_tie > 1:
            facts["ties"] = f"up to {self.largest_tie} scores are equal"
        if self.names:
            facts[f"{self.basis}s"] = ", ".join(map(in_text, self.names[:5])) + ", ..." * (len(self.names) > 5)
        return f"guarantee of {count(self.n, 'calibration row')}", facts

    def conditional(self, confidence: float = 0.95) -> float:
        """epsilon + sqrt(log(2 / (1 - confidence)) / (2 n)): no level is off by more, with this confidence (DKW).

        This needs independent, identically distributed rows, which is more than exchangeable. A tie of t scores is a
        jump of H and adds (t - 1) / (n + 1), unless q is randomised. With groups it is the bound of the worst group.
        With weights it is an approximation, not a theorem. It is 1 if nothing is proved.

        Args:
            confidence: The probability with which the bound holds.
        """
        confidence = unit("confidence", confidence)
        if self.basis in (*_NO_CLAIM, "cross", "long run"):
            return 1.0
        if self.parts:
            return max(part.conditional(confidence) for part in self.parts)
        jump = 0.0 if self.randomised else (self.largest_tie - 1) / (self.n + 1)
        return min(1.0, self.epsilon + jump + _dkw(self.effective_n, confidence))

    def over(self, rows: int) -> float:
        """For tracked levels: lambda / T, at most 1, over T rows whose scores stay in the range seen so far.

        Args:
            rows: T, a number of rows that come one after the other.
        """
        if rows < 0:
            raise ValueError(f"rows must be a number of rows, 0 or more, got {rows!r}")
        return min(1.0, self.accuracy / rows) if rows else 1.0

    def too_few(self, coverage: float) -> str | None:
        """A warning if a centred interval of H ends beyond all calibration scores (of the smallest fold), else None.

        Args:
            coverage: The probability of the centred interval, between 0 and 1.
        """
        n = min(fold.n for fold in self.parts) if self.basis == "cross" else self.calibration_rows
        return None if n is None else too_few_for_interval(n, coverage)

    def in_short(self, coverage: float = 0.9) -> str:
        """One sentence: the coverage of a centred interval, on average over calibration sets and for this one.

        On average each of its two levels is off by at most epsilon. For this set, see `coverage_of_this_set`. For
        counts it says "at least": an interval includes its end points with all their probability.

        Args:
            coverage: The probability of the centred interval, between 0 and 1.
        """
        c = unit("coverage", coverage)
        article = "An" if f"{100 * c:g}".startswith(("8", "11", "18")) else "A"
        interval = f"{article} {100 * c:g}% interval contains the label of a new row"
        alike, given = f" like the {count(self.n, 'calibration row')}", ""
        if self.basis == "long run":
            return "In the long run the share of labels below each tracked level is that level, whatever the rows do."
        if self.basis in _NO_CLAIM:
            many = "if there are many rows; nothing is proved for a given number"
            return f"{interval} about {100 * c:g}% of the time, {many}."
        if self.basis == "cross":
            least = f"{100 * max(0.0, 1 - 2 * (1 - c) - 2 * self.epsilon):.3g}%"
            usual = f"about {100 * c:g}% is usual, but not proved"
            return f"{interval}{alike} with a probability of at least {least}; {usual}."
        if self.basis in ("group", "horizon"):
            alike = f" like the calibration rows of its {self.basis}"
        if self.basis == "new group":
            interval = interval.replace("a new row", "a row of a new group")
            alike = f", like the {count(self.n, 'group')} of the calibration set,"
        if self.basis == "weighted":
            rows = f"{count(self.n, 'row')}, effective number {self.effective_n:.3g}"
            alike, given = "", f", if the weights are the likelihood ratios of new rows ({rows})"
        about = "at least " if self.drawn else "about " if self.kind.endswith("approximate") else ""
        points = f"{100 * min(2 * self.epsilon, 1.0):.2g}"
        off = f"{points} percentage point{'' if points == '1' else 's'}"
        off = f", {'less at most' if self.drawn else 'within'} {off}" if self.epsilon else ""
        likely = f"{about}{100 * c:g}%{off}, on average over calibration sets"
        if self.kind in ("marginal", "exact"):
            low, high = (100 * share for share in coverage_of_this_set(self.n, self.accuracy, c))
            share = f"is at least {low:.3g}%" if self.drawn else f"lies between {low:.3g}% and {high:.3g}%"
            return f"{interval}{alike} with a probability of {likely}. For this set it {share} (95% confidence)."
        opening = {"group": "In every group, a", "horizon": "At every horizon, a", "label": "For each label, a"}
        return f"{opening.get(self.basis, 'A')}{interval[1:]}{alike} with a probability of {likely}{given}."

    @property
    def assumed(self) -> str:
        """What is assumed of the rows."""
        continuous = "" if self.randomised or self.basis == "weighted" else ", and continuous scores"
        if self.basis == "cross":
            bases = {fold.basis for fold in self.parts}
            if bases == {"weighted"}:
                return f"weights that are the likelihood ratios of new rows, and y given x as it was{continuous}"
            if bases == {"new group"}:
                return f"exchangeable groups of rows, and a row of a new group{continuous}"
            if bases == {"group"}:
                return (
                    f"groups fixed beforehand, in each of which this holds, rows exchangeable within each{continuous}"
                )
            return f"exchangeable data{continuous}"
        if self.basis == "censored":
            return _ASSUMED["censored"]
        return _ASSUMED.get(self.basis, _ASSUMED["marginal"]) + continuous

    def __str__(self) -> str:
        match self.basis:
            case "long run":
                levels = ", ".join(f"{level:g}" for level in self.names)
                return (
                    f"For each tracked level ({levels}), the share of labels at or below its quantile over any T rows"
                    f" in a row is within {self.accuracy:.3g} / T of the level, whatever the rows do, as long as scores"
                    " stay in the range that they had so far. Nothing is promised for a single row, or between and"
                    " beyond the tracked levels."
                )
            case "nested":
                return (
                    f"No finite-sample claim: the n = {self.n} scores are those of models that did not see the row, and"
                    f" models fitted on all rows predict{self._limits()}. Coverage is usually right to within what so"
                    " many rows can show. Assumes exchangeable data."
                )
            case "time":
                return (
                    f"No finite-sample claim: the n = {self.n} calibration rows are in time order, and the errors of"
                    f" neighbours are alike{self._limits()}. It holds as far as the latest rows are like the next ones."
                )
            case "recent":
                return (
                    f"No finite-sample claim: q is the distribution of n = {self.n} scores whose weights fall with"
                    f" their age (effective number {self.effective_n:.3g}){self._limits()}. It follows slow changes,"
                    " and under a change nothing is promised."
                )
            case "censored":
                beyond = (
                    f" Levels above {self.known:.3g} lie beyond the follow-up and are refused."
                    if self.known < 1
                    else ""
                )
                return (
                    f"No finite-sample claim: q is the distribution of the n = {self.n} scores whose labels were seen,"
                    " weighted by the inverse probability of being followed so long (effective number"
                    f" {self.effective_n:.3g}){self._limits()}.{beyond} Assumes {self.assumed}."
                )
            case "label":
                worst = max(self.parts, key=lambda part: part.epsilon)
                return (
                    f"Each of the {len(self.parts)} labels by itself: {worst} All together: a joint box of coverage c,"
                    f" where there is one, holds all {len(self.parts)} labels with a probability of at least c, on"
                    " average over calibration sets, however they depend on each other. Joint draws promise each label"
                    " by itself; that the labels depend on each other alike at every x is assumed."
                )
        if self.randomised and self.basis != "cross":
            claim = "P(H(Y) <= c) = c for every c"
        elif self.basis == "cross":
            claim = f"P(H(Y) <= c) <= 2c + {self.epsilon:.3g} and P(H(Y) >= 1 - c) <= 2c + {self.epsilon:.3g}"
            claim += " for every c"
        else:
            claim = f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c"
        caveat, drawn = _CUTOFFS if self.basis == "horizon" else "", _DRAWN if self.drawn else ""
        return f"{claim}{self._where()}. Assumes {self.assumed}.{caveat}{drawn}"

    def _where(self) -> str:
        """Where the claim holds, up to which caveats, and on how many rows it rests."""
        limits, average = self._limits(), ", on average over calibration sets"
        if self.basis == "cross":
            return (
                f"{limits}: the distributions of {len(self.parts)} folds are averaged, n = {self.n} scores in all, each"
                " by a model that did not see its row"
            )
        if self.basis == "weighted":
            share = (
                "" if self.randomised else ", the expected largest share of a row in the weights, estimated from these"
            )
            share += ", and lambda / (N + 1)" if share and self.accuracy else ""
            return (
                f"{share}{limits}{average} of n = {self.n} weighted rows (effective number N = {self.effective_n:.3g})"
            )
        if self.basis == "new group":
            return f"{limits}, for a row of a new group{average} of {self.n} groups, each of which counts once"
        if self.basis == "marginal":
            tied = self.largest_tie > 1 and not self.randomised
            share = f", {100 * self.largest_tie / (self.n + 1):.2g}% of all" if tied else ""
            return (
                f"{limits}{share}{average} of n = {self.n}. For this set no level is off by more than"
                f" {self.conditional():.3g}, with 95% confidence, if rows are independent"
            )
        few, many = (choose(self.parts, key=lambda part: part.n) for choose in (min, max))
        if self.basis == "horizon":
            span = f"{len(self.parts)} horizons, {self.names[0]} to {self.names[-1]} steps ahead"
            return f" at each of {span}{limits}{average}; the fewest rows of one are {few.n}, the most {many.n}"
        best = "" if self.randomised else f", where the bound is {many.epsilon:.3g}"
        smallest, largest = (in_text(self.names[self.parts.index(part)]) for part in (few, many))
        return (
            f" in each of {len(self.parts)} groups{limits}{average}; n is {few.n} in the smallest ({smallest}) and"
            f" {many.n} in the largest ({largest}){best}"
        )

    def _limits(self) -> str:
        """Why the bound holds only approximately: a learned floor, or ties."""
        limits = f", but only approximately: {floor_words(self.floored)}" if self.floored else ""
        if self.largest_tie > 1 and not self.randomised:
            but = "and" if self.floored else "but"
            limits += f", {but} only up to ties: {self.largest_tie} scores are equal"
        return limits


def required_n(epsilon: float, confidence: float | None = None, *, interpolator: Accurate | None = None) -> int:
    """The smallest n with an error bound of at most `epsilon`: on average, or with a `confidence` for a single set.

    Args:
        epsilon: The error bound to reach, such as 0.01.
        confidence: None bounds the error on average over calibration sets; 0.95 bounds it for 95% of them.
        interpolator: The interpolator; `Linear()` by default.

    >>> required_n(0.01), required_n(0.05, confidence=0.95)
    (99, 778)
    """
    epsilon = unit("epsilon", epsilon)
    if confidence is not None:
        confidence = unit("confidence", confidence)

    def enough(n: int) -> bool:
        accuracy = 0.0 if interpolator is None else interpolator.accuracy(n)  # 0 is that of Linear, the default
        bound = (1 + accuracy) / (n + 1) + (0.0 if confidence is None else _dkw(n, confidence))
        return bound <= epsilon * (1 + 1e-12)

    if not enough(2**60):
        raise ValueError(f"{interpolator!r} reaches no epsilon of {epsilon}, however large n is")
    return 1 + bisect_left(range(1, 2**60), True, key=enough)  # noqa: FBT003


def required_n_for_interval(coverage: float) -> int:
    """The smallest n with finite conformal bounds: ceil((n + 1) coverage) <= n.

    Args:
        coverage: The coverage of the conformal interval, between 0 and 1.

    >>> required_n_for_interval(0.9), required_n_for_interval(0.95)
    (9, 19)
    """
    share = as_written(unit("coverage", coverage))
    return math.ceil(share / (1 - share))


def coverage_of_this_set(n: int, accuracy: float, coverage: float, confidence: float = 0.95) -> tuple[float, float]:
    """The range in which the coverage of centred intervals lies, for one calibration set, with this confidence.

    Of n independent scores take two that are k ranks apart: a new score lies between them with a probability that
    depends on the set and has the distribution Beta(k, n + 1 - k). The ends of an interval are at the ranks
    (n + 1)(1 -+ coverage) / 2, give or take lambda, and are rounded outwards or inwards to whole ranks.

    >>> [round(share, 3) for share in coverage_of_this_set(2000, 0.0, 0.9)]
    [0.885, 0.913]
    """
    tail, free = (1 - unit("confidence", confidence)) / 2, abs(accuracy)  # -1: a draw moves an end by up to one rank
    first, last = (n + 1) * (1 - coverage) / 2, (n + 1) * (1 + coverage) / 2
    least = math.floor(last - free + 1e-9) - math.ceil(first + free - 1e-9)
    most = min(n + 1, math.ceil(last + free - 1e-9)) - max(0, math.floor(first - free + 1e-9))
    low = float(betaincinv(least, n + 1 - least, tail)) if least > 0 else 0.0
    high = float(betaincinv(most, n + 1 - most, 1 - tail)) if most <= n else 1.0
    return low, high


def too_few_for_interval(n: int, coverage: float) -> str | None:
    """A warning if a centred interval of H ends beyond all n scores, that is, if n < 2 / (1 - coverage) - 1; else None.

    >>> too_few_for_interval(9, 0.9)
    '90% intervals need 19 calibration rows, and there are 9: their ends depend on the assumed tails'
    >>> too_few_for_interval(19, 0.9)
    """
    enough = math.ceil(2 / (1 - as_written(coverage)) - 1)
    if n >= enough:
        return None
    rows = f"there are {n}" if n > 1 else "there is one"
    need = f"{100 * coverage:g}% intervals need {enough} calibration rows, and {rows}"
    return f"{need}: their ends depend on the assumed tails"


def as_written(number: float) -> Fraction:
    """A float as the decimal fraction that it prints as, so that 100 * 0.29 is 29."""
    return Fraction(repr(float(number)))


def in_text(name: Hashable) -> str:
    """A group as text.

    >>> in_text("north"), in_text(("north", 2))
    ('north', 'north, 2')
    """
    return ", ".join(map(str, name)) if isinstance(name, tuple) else str(name)


def floor_words(floored: int) -> str:
    """Why a guarantee is approximate."""
    rows, own, were = ("row", "its own", "was") if floored == 1 else ("rows", "their own", "were")
    return f"{floored} calibration {rows} had no width of {own} and {were} given a floor learned from all"


def _dkw(n: float, confidence: float) -> float:
    """sqrt(log(2 / (1 - confidence)) / (2 n)), the inequality of Dvoretzky, Kiefer and Wolfowitz."""
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n))
