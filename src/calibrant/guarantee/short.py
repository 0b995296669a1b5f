"""What is promised, in one sentence that a person can repeat."""

from __future__ import annotations

from typing import Any

from calibrant._arrays import unit


class InShort:
    """What has `kind`, `epsilon` and `n` can say in one sentence what an interval is promised."""

    kind: Any
    epsilon: Any
    n: Any

    def in_short(self, coverage: float = 0.9) -> str:
        """What a centred interval of this coverage is promised: its two levels are each off by at most epsilon.

        >>> from calibrant import Guarantee
        >>> print(Guarantee(199, 0.0).in_short())
        A 90% interval holds the label of a new row with a probability of 90%, give or take 1 point, if the new row is
        like the 199 calibration rows.
        """
        c = unit("coverage", coverage)
        share = f"{_article(c)} {100 * c:g}% interval holds the label of a new row"
        kind, epsilon = str(self.kind), float(self.epsilon)
        alike = f"if the new row is like the {self.n:,} calibration rows"
        if kind == "long run":
            return "In the long run the share of labels below each tracked level is that level, whatever the rows do."
        if kind == "no claim":
            return (
                f"{share} about {100 * c:g}% of the time, if there are many rows; nothing is proved for a given number."
            )
        if kind.startswith("cross"):
            least = f"{100 * max(0.0, 1 - 2 * (1 - c) - 2 * epsilon):.3g}%"
            usual = f"about {100 * c:g}% is usual, but not proved"
            return f"{share} with a probability of at least {least}, {alike}; {usual}."
        each = {"group": "In every group, ", "horizon": "At every horizon, "}.get(kind.split(",")[0], "")
        off = "" if epsilon == 0 else f", give or take {_points(2 * epsilon)}"
        about = "about " if kind.endswith("approximate") else ""
        if kind.startswith("weighted"):
            worth = f"{self.n:,} rows, worth {getattr(self, 'effective', self.n):.3g} equal ones"
            alike = f"if the weights are the likelihood ratios of new rows ({worth})"
        alike = f"if the new row is like the calibration rows of its {kind.split(',')[0]}" if each else alike
        sentence = f"{share} with a probability of {about}{100 * c:g}%{off}, {alike}."
        return each + sentence[0].lower() + sentence[1:] if each else sentence


def _article(coverage: float) -> str:
    return "An" if f"{100 * coverage:g}".startswith(("8", "11", "18")) else "A"


def _points(share: float) -> str:
    number = f"{100 * min(share, 1.0):.2g}"
    return f"{number} point{'' if number == '1' else 's'}"
