"""What is promised, in one sentence that a person can repeat."""

from __future__ import annotations

from typing import Any

from calibrant._arguments import unit
from calibrant._words import count
from calibrant.guarantee.this_set import coverage_of_this_set, too_few_for_interval
from calibrant.guarantee.worth import calibration_rows


class InShort:
    """What has `kind`, `epsilon`, `n` and `accuracy` can say in one sentence what an interval is promised."""

    kind: Any
    epsilon: Any
    n: Any
    accuracy: Any

    def in_short(self, coverage: float = 0.9) -> str:
        """What a centred interval of this coverage is promised, on average over calibration sets and by this one.

        On average its two levels are each off by at most epsilon. For this set, see `coverage_of_this_set`. Of labels
        that were spread by a draw, such as counts, an interval holds at least as many: each is inside whole.

        Args:
            coverage: The probability of the centred interval, between 0 and 1.

        >>> from calibrant import Guarantee
        >>> print(Guarantee(199, 0.0).in_short())
        A 90% interval holds the label of a new row like the 199 calibration rows with a probability of 90%, give or
        take 1 point, on average over calibration sets, and of 85.5% to 93.8% for this set (95% confidence).
        """
        c = unit("coverage", coverage)
        interval = f"{_article(c)} {100 * c:g}% interval holds the label of a new row"
        kind, epsilon = str(self.kind), float(self.epsilon)
        alike = f" like the {count(self.n, 'calibration row')}"
        if kind == "long run":
            return "In the long run the share of labels below each tracked level is that level, whatever the rows do."
        if kind == "no claim":
            many = "if there are many rows; nothing is proved for a given number"
            return f"{interval} about {100 * c:g}% of the time, {many}."
        if kind.startswith("cross"):
            least = f"{100 * max(0.0, 1 - 2 * (1 - c) - 2 * epsilon):.3g}%"
            usual = f"about {100 * c:g}% is usual, but not proved"
            return f"{interval}{alike} with a probability of at least {least}; {usual}."
        each = {"group": "In every group, ", "horizon": "At every horizon, "}.get(kind.split(",")[0], "")
        given = ""
        if each:
            alike = f" like the calibration rows of its {kind.split(',')[0]}"
        elif kind.startswith("weighted"):
            worth = f"{count(self.n, 'row')}, worth {getattr(self, 'effective', self.n):.3g} equal ones"
            alike, given = "", f", if the weights are the likelihood ratios of new rows ({worth})"
        drawn = bool(getattr(self, "drawn", False))
        about = "at least " if drawn else "about " if kind.endswith("approximate") else ""
        off = f", {'less at most' if drawn else 'give or take'} {_points(2 * epsilon)}" if epsilon else ""
        whole = f"{interval}{alike} with a probability of {about}{100 * c:g}%{off}, on average over calibration sets"
        whole += self._by_this_set(c, at_least=drawn) if kind in ("marginal", "exact") else ""
        sentence = f"{whole}{given}."
        return each + sentence[0].lower() + sentence[1:] if each else sentence

    def too_few(self, coverage: float) -> str | None:
        """Why a centred interval of H ends beyond all scores of the calibration rows, or of a fold's, where it does.

        Args:
            coverage: The probability of the centred interval, between 0 and 1.
        """
        n = min((each.n for each in getattr(self, "folds", ())), default=calibration_rows(self))
        return None if n is None else too_few_for_interval(n, coverage)

    def _by_this_set(self, coverage: float, *, at_least: bool) -> str:
        low, high = (100 * share for share in coverage_of_this_set(self.n, self.accuracy, coverage))
        share = f"at least {low:.3g}%" if at_least else f"{low:.3g}% to {high:.3g}%"
        return f", and of {share} for this set (95% confidence)"


def _article(coverage: float) -> str:
    return "An" if f"{100 * coverage:g}".startswith(("8", "11", "18")) else "A"


def _points(share: float) -> str:
    number = f"{100 * min(share, 1.0):.2g}"
    return f"{number} point{'' if number == '1' else 's'}"
