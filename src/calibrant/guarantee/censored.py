"""What calibration on censored labels promises."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant.guarantee.weighted import WithoutClaim


@dataclass(frozen=True)
class CensoredGuarantee(WithoutClaim):
    """No finite-sample claim: the weights are estimated. It says how many labels were seen, and up to which level."""

    rows: int = 1
    """All rows, of which n labels were seen."""
    known: float = 1.0
    """The level up to which the labels were followed up."""
    modelled: bool = False
    """Whether the chance of being followed came from a model of x; else it is Kaplan and Meier's."""

    def __str__(self) -> str:
        levels = "" if self.known == 1 else f" Levels above {self.known:.3g} lie beyond the follow-up and are refused."
        assumed = "given x, as the model of censoring has it" if self.modelled else "and of x"
        return (
            f"No finite-sample claim: q is the distribution of the n = {self.n} scores whose labels were seen,"
            f" of {self.rows} rows, weighted by the inverse probability of being followed so long, worth"
            f" {self.effective:.3g} equal ones{self._limits()}.{levels} Assumes that censoring is independent of the"
            f" label, {assumed}, and that any label had a chance to be seen."
        )
