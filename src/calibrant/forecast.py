"""What predictions and distributions have in common: the methods that metrics, plots, reports and calibration call."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

from calibrant._arrays import Array, namespace
from calibrant._batch import graded
from calibrant._types import DistributionLike, SupportsArray
from calibrant.forms import Form

T = TypeVar("T")

LEVELS = tuple(k / 20 for k in range(1, 20))
"""The levels of the pinball loss of a distribution, which has a quantile at every level."""


class NotAvailable(TypeError):
    """A forecast does not give what it was asked for."""


class SupportsCDF(Protocol):
    """A distribution of another library: a frozen one of scipy.stats, one of torch.distributions."""

    def cdf(self, value: Any, /) -> Any:
        """P(Y <= value)."""


class Mark(NamedTuple):
    """A number of each row, drawn as a tick, or as a dot at its level."""

    text: str
    """What it is: "lower", "quantile 0.1"."""
    values: Array
    """One per row."""
    level: float | None = None


class Forecast(ABC):
    """A batch of predictions or of distributions.

    A kind of forecast is one class in one file. All it must give is `shape`. One with `as_distribution()` needs nothing
    else but a method `default_score()`, the score that calibrates it where none is named. Without a distribution, what
    it does not give of the methods below is left out of metrics, plots and reports. The fields of a class must have
    other names than these.
    """

    own_bounds: ClassVar[bool] = False
    """Whether `bounds` are its own, whatever coverage is asked for."""
    crps_note: ClassVar[str] = ""
    """What its CRPS is, where that is not obvious."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,): one forecast per row; () for a single distribution."""

    def as_distribution(self) -> DistributionLike:
        """The predictive distribution of each row."""
        raise self.not_available("the distribution of y")

    @property
    def has_distribution(self) -> bool:
        """Whether `as_distribution` gives one."""
        with suppress(NotAvailable):
            self.as_distribution()
            return True
        return False

    def quantile(self, level: float) -> Array:
        """The quantile of each row at a level: that of the distribution.

        Args:
            level: The level of the quantile, between 0 and 1.
        """
        return self._distribution(f"the quantile at level {level:.6g}").ppf(level)

    def quantile_levels(self) -> tuple[float, ...]:
        """The levels of the pinball loss: 0.05, 0.10, ..., 0.95 of a distribution."""
        self._distribution("quantiles")
        return LEVELS

    def bounds(self, coverage: float) -> tuple[Array, Array]:
        """The centred interval of each row: its quantiles at (1 -+ coverage) / 2.

        Args:
            coverage: The probability of the centred interval, between 0 and 1.
        """
        return self.quantile((1 - coverage) / 2), self.quantile((1 + coverage) / 2)

    def pit_rows(self, y: Array, u: Array) -> Array:
        """The PIT of each label: that of the distribution, drawn over the jump where it is one of counts.

        Args:
            y: The labels: one number per row.
            u: Uniform numbers in [0, 1], one per row.
        """
        distribution = self.as_distribution()
        return distribution.cdf(y) if distribution.lattice is None else distribution.pit(y, u)

    def crps_rows(self, y: Array) -> Array:
        """The CRPS of each row: that of the distribution.

        Args:
            y: The labels: one number per row.
        """
        return self.as_distribution().crps(y)

    def std_rows(self) -> Array:
        """The standard deviation of each row: that of the distribution."""
        return self.as_distribution().std()

    def centre_rows(self) -> Array:
        """The middle of each row: the mean of the distribution, else its median; else the mean of its marks."""
        if not self.has_distribution:
            marks = [mark.values for mark in self.marks()]
            return sum(marks[1:], marks[0]) / len(marks)
        distribution = self.as_distribution()
        mean = distribution.mean()
        xp = namespace(mean)
        return mean if bool(xp.all(xp.isfinite(mean))) else xp.where(xp.isfinite(mean), mean, distribution.median())

    def spread_rows(self) -> Array | None:
        """The width of each row, in the unit of y; None where there is none.

        Of a distribution the standard deviation, or 0.74 of the distance of its quartiles where that is not finite.
        """
        if not self.has_distribution:
            return None
        distribution = self.as_distribution()
        std = distribution.std()
        xp = namespace(std)
        if bool(xp.all(xp.isfinite(std))):
            return std
        return xp.where(xp.isfinite(std), std, 0.7413 * (distribution.ppf(0.75) - distribution.ppf(0.25)))

    def marks(self) -> Sequence[Mark]:
        """The numbers of each row that are drawn where there is no distribution; of a distribution its median."""
        return [Mark("median", self._distribution("numbers to mark").median())]

    def parts(self) -> tuple[Forecast, ...]:
        """The forecasts it consists of; none where it is a single one."""
        return ()

    def form(self) -> Form:
        """The name of the class; a kind with levels, draws or members of its own adds these."""
        return Form(type(self).__name__)

    def check_form(self, calibrated_on: Form | None) -> None:
        """Raise unless it has the form of the calibration rows; None, which is not known, takes every form.

        Args:
            calibrated_on: The form of the predictions that were calibrated.
        """
        given = self.form()
        if calibrated_on is not None and calibrated_on != given and not calibrated_on.fits(given):
            problem = TypeError if calibrated_on.kind != given.kind else ValueError
            what = "give it the kind of prediction it was calibrated on"
            raise problem(f"calibrated on {calibrated_on}, got {given}: {what}")

    def remember(self, name: str, make: Callable[[], T]) -> T:
        """make(), once for this value; anew each time where torch's gradients flow through it.

        Args:
            name: The attribute to store it in, beginning with `_kept`.
            make: A function that computes it.
        """
        if name in self.__dict__:
            return self.__dict__[name]  # type: ignore[no-any-return]
        value = make()
        if not graded(self):
            self.__dict__[name] = value
        return value

    def __getstate__(self) -> dict[str, Any]:
        """The fields, without what was computed from them."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_kept")}

    def _distribution(self, what: str) -> DistributionLike:
        """The distribution, or the error that it does not give what was asked for."""
        try:
            return self.as_distribution()
        except NotAvailable:
            raise self.not_available(what) from None

    def not_available(self, what: str) -> NotAvailable:
        """The error to raise for what it does not give.

        Args:
            what: What was asked for, as the error names it.
        """
        return NotAvailable(f"{self!r} does not give {what}")


PredictionLike = Forecast | Sequence[float] | SupportsArray | SupportsCDF
"""What is taken for a prediction: a forecast of any kind, one number per row, distributions of scipy.stats or torch."""

Forecasts = PredictionLike | Mapping[str, PredictionLike]
"""One forecast, or several by name."""
