"""What is promised after a choice among candidates on the calibration rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arguments import unit
from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.words import drawn_words


@dataclass(frozen=True)
class ChosenGuarantee(Guarantee):
    """epsilon = (1 + lambda) / (n + 1) + (sqrt(log(2K) / 2) + 1/3) / sqrt(n): one of K candidates was chosen.

    The candidates, K >= 2, were fixed beforehand, one was chosen by looking at the calibration rows, and the rows are
    independent. Each candidate's law is off by its own epsilon and by the largest distance D_k between the empirical
    law of its n scores and the true one. Whichever is chosen, its D is at most the largest of K, and by the inequality
    of Dvoretzky, Kiefer and Wolfowitz P(max D_k > t) <= 2K exp(-2 n t^2), so its mean is at most
    sqrt(log(2K) / (2n)) + 1 / sqrt(8 n log(2K)), where the last term is below 1/(3 sqrt(n)).
    """

    candidates: int = 2

    @property
    def price(self) -> float:
        """(sqrt(log(2K) / 2) + 1/3) / sqrt(n)."""
        return (math.sqrt(math.log(2 * self.candidates) / 2) + 1 / 3) / math.sqrt(self.n)

    @property
    def epsilon(self) -> float:
        """(1 + lambda) / (n + 1) and the price of the choice, at most 1."""
        return min(1.0, (1 + self.accuracy) / (self.n + 1) + self.price)

    @property
    def kind(self) -> str:
        """Chosen; "chosen, approximate" for ties, or for a learned floor."""
        return "chosen, approximate" if super().kind == "approximate" else "chosen"

    def conditional(self, confidence: float = 0.95) -> float:
        """(1 + lambda) / (n + 1) + sqrt(log(2K / (1 - confidence)) / (2n)): no error is larger, for any candidate."""
        jump = 0.0 if self.randomised else (self.largest_tie - 1) / (self.n + 1)
        delta = 1 - unit("confidence", confidence)
        dkw = math.sqrt(math.log(2 * self.candidates / delta) / (2 * self.n))
        return min(1.0, (1 + self.accuracy) / (self.n + 1) + jump + dkw)

    def __str__(self) -> str:
        ties = f", up to ties: the largest is of {self.largest_tie} scores" if self.largest_tie > 1 else ""
        return (
            f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c{ties}, on average over calibration sets of"
            f" n = {self.n}, of which {self.price:.3g} is the price of choosing among {self.candidates} candidates on"
            f" these rows; for this set the error is at most {self.conditional():.3g} with 95% confidence. Assumes"
            f" independent rows, models not trained on them, and candidates fixed beforehand.{drawn_words(self.drawn)}"
        )
