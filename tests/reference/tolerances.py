"""How far an answer may be from the reference, by class of case: the promise, in one place.

Mean, std, crps and those of a clip are integrals; their errors are in units of the row's spread, as are those of
quantiles. Those of cdf are probabilities, those of logpdf (logpmf of counts) differences of logarithms. A table is for
integrals only: cdf, quantiles and densities are composed of q and the transform, so they are held to more digits.
"""

from __future__ import annotations

from dataclasses import dataclass

from reference.cases import INTEGRALS


@dataclass(frozen=True)
class Tolerance:
    """Of the integrals, of cdf and quantiles, and of log densities."""

    integrals: float
    points: float
    logs: float

    def of(self, function: str) -> float:
        if function in INTEGRALS:
            return self.integrals
        return self.logs if function == "logpdf" else self.points


TOLERANCES = {
    "straight": Tolerance(1e-12, 1e-12, 1e-9),
    "curved": Tolerance(5e-5, 1e-8, 1e-6),
    "bimodal": Tolerance(5e-4, 1e-8, 1e-6),
    "learned": Tolerance(5e-5, 5e-5, 2e-3),
    "closed": Tolerance(1e-9, 1e-12, 1e-9),
    "curved twice": Tolerance(5e-5, 1e-6, 1e-5),
    "wide counts": Tolerance(2e-4, 1e-8, 1e-6),
    "heavy": Tolerance(5e-3, 1e-6, 1e-5),
    "float32": Tolerance(1e-5, 1e-5, 1e-3),
    "float32, curved": Tolerance(1e-4, 1e-4, 1e-3),
}
"""Straight: straight and broken lines under Linear, Naive and Random. Curved: any other transform, mixtures, folds,
weights, counts. Bimodal: forecasts with modes far apart. Learned: q is fitted (NAF, groups that borrow), and another
library version fits it a little differently. Closed: base forecasts by themselves, whose clips may need a table. Curved
twice: a z-score by a mean and a std that come from a table themselves, so that q moves a little. Wide counts: of more
points than a table has places. Heavy: std or even mean is infinite or nearly so, and what lies beyond a mass of
2e-16 decides. Float32: the reference is what double precision makes of the same single numbers.

The std of a clip is compared by its square, in squares of the spread: of a clip that leaves next to nothing of the
spread, what is left has fewer digits."""

OTHERWISE = {
    "labels: log: log of point; linear, infinite; n = 100": ("mean", "ppf"),  # mass at -inf is a label of 0, no -inf
    "ugly: bases: log labels of a wide set, sigma = 2; linear": ("crps",),  # there is no mean, but a finite crps
    "ugly: sets: an outlier; cdf of gaussian mixture; naf": ("logpdf",),  # NAF is fitted to logits of other last digits
}
"""Cases, and the functions of which the reference says something else than the code should."""
