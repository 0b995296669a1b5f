"""What weights promise: likelihood ratios under covariate shift, and weights that fall with age."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arguments import unit
from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.words import drawn_words, limit_words


@dataclass(frozen=True)
class WeightedGuarantee(Guarantee):
    """sup_c |P(H[X](Y) <= c) - c| <= E max p + lambda / (N + 1), for new rows with another distribution of x.

    p_i = w_i / (sum of all n + 1 weights) is the share of a row, the new one among them, if the weights are the
    likelihood ratios p_new(x) / p_cal(x), known up to a factor, and the distribution of y given x is the same. Given
    which n + 1 rows there are, a rank that draws a uniform over the new row's share is exactly uniform, and q differs
    from it by at most the largest share: docs/shift.md has the proof. Ratios that were estimated on other rows add E|w^
    - w| / 2, for ratios of mean 1 on calibration rows, which nobody knows.
    """

    effective: float = 1.0
    """N = (sum of w)^2 / sum of w^2: how many equal rows these are worth."""
    largest_share: float = 1.0
    """E max p, as the calibration rows estimate it: too low where few or none of them have the large ratios to come."""

    @property
    def worth(self) -> int:
        """N as a count, for what asks how many rows calibrated."""
        return max(1, int(self.effective))

    @property
    def epsilon(self) -> float:
        """E max p + lambda / (N + 1), at most 1; 0 for a randomised q."""
        bound = self.largest_share + self.accuracy / (self.effective + 1)
        return 0.0 if self.randomised else min(1.0, bound)

    @property
    def kind(self) -> str:
        """Weighted; "weighted, exact" for a randomised q, "weighted, approximate" for ties or a learned floor."""
        plain = super().kind
        return "weighted" if plain == "marginal" else f"weighted, {plain}"

    def conditional(self, confidence: float = 0.95) -> float:
        """epsilon + sqrt(log(2 / (1 - confidence)) / (2 N)): about what to expect of one set; no theorem says so."""
        jump = 0.0 if self.randomised else (self.largest_tie - 1) / (self.n + 1)
        spread = math.sqrt(math.log(2 / (1 - unit("confidence", confidence))) / (2 * self.effective))
        return min(1.0, self.epsilon + jump + spread)

    def __str__(self) -> str:
        bound = (
            f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c, the expected largest share of a row, as estimated"
        )
        if self.randomised:
            bound = "P(H(Y) <= c) = c for every c"
        elif self.accuracy:
            bound += ", and lambda / (N + 1)"
        return (
            f"{bound}{self._limits()}, on average over calibration sets of n = {self.n} weighted rows, worth"
            f" {self.effective:.3g} equal ones. Assumes that the weights are the likelihood ratios of new to"
            " calibration rows and that y given x is the same; ratios estimated on other rows add E|w^ - w| / 2, which"
            f" is not known.{drawn_words(self.drawn)}"
        )

    def _limits(self) -> str:
        return limit_words(self.largest_tie, self.floored, randomised=self.randomised)


@dataclass(frozen=True)
class WithoutClaim(WeightedGuarantee):
    """No finite-sample claim."""

    @property
    def epsilon(self) -> float:
        """1: no bound is claimed."""
        return 1.0

    @property
    def kind(self) -> str:
        """No claim."""
        return "no claim"

    def conditional(self, confidence: float = 0.95) -> float:
        """1: no bound is claimed."""
        unit("confidence", confidence)
        return 1.0


@dataclass(frozen=True)
class FadingGuarantee(WithoutClaim):
    """No finite-sample claim: recent scores weigh more than old ones, so that q follows what changes slowly."""

    def __str__(self) -> str:
        return (
            f"No finite-sample claim: q is the distribution of n = {self.n} scores whose weights fall with their age,"
            f" worth {self.effective:.3g} equal ones{self._limits()}. It follows slow changes, and under a change"
            " nothing is promised."
        )
