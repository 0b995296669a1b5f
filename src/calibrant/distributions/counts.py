"""The families of counts: Poisson, negative binomial, binomial, and any of them with more zeros."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arguments import keep
from calibrant._arrays import Array, concatenate, namespace, probabilities, refuse
from calibrant._batch import promoted
from calibrant._special import betainc, betaln, gammainc, gammaincc, gammaln, safe_log, xlogy
from calibrant._types import ArrayLike
from calibrant.distributions.on_lattice import CountFamily, OnLattice
from calibrant.distributions.parameters import parameters


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(CountFamily):
    """P(Y = k) = rate^k exp(-rate) / k!, k = 0, 1, ...: the mean is the rate.

    >>> Poisson([0.5, 3.0]).pmf([0, 2])
    array([0.60653066, 0.22404181])
    """

    rate: Array

    if TYPE_CHECKING:

        def __init__(self, rate: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        (rate,) = parameters("Poisson", rate=self.rate)
        refuse("Poisson.rate", rate < 0, "is negative")
        keep(self, rate=rate)

    def _below(self, k: Array) -> Array:
        """Q(k + 1, rate)."""
        return gammaincc(k + 1, self._lift(self.rate))

    def _above(self, k: Array) -> Array:
        """P(k + 1, rate)."""
        return gammainc(k + 1, self._lift(self.rate))

    def _log_mass(self, k: Array) -> Array:
        """k log rate - rate - log k!."""
        rate = self._lift(self.rate)
        return xlogy(k, rate) - rate - gammaln(k + 1)

    def _mean_std(self) -> tuple[Array, Array]:
        return self.rate, namespace(self.rate).sqrt(self.rate)


@dataclass(frozen=True, eq=False, repr=False)
class NegativeBinomial(CountFamily):
    """Counts with mean `rate` and variance rate + dispersion * rate^2: Poisson counts whose rate is a gamma number.

    With r = 1 / dispersion and p = r / (r + rate): P(Y = k) = Gamma(k + r) / (k! Gamma(r)) p^r (1 - p)^k. As the
    dispersion goes to 0 it becomes the Poisson distribution; 0 itself raises. On torch no gradient flows through its
    CDF.

    >>> NegativeBinomial([0.5, 3.0], 0.7).std()
    array([0.82158384, 3.04959014])
    """

    rate: Array
    dispersion: Array

    if TYPE_CHECKING:

        def __init__(self, rate: ArrayLike, dispersion: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        rate, dispersion = parameters("NegativeBinomial", rate=self.rate, dispersion=self.dispersion)
        refuse("NegativeBinomial.rate", rate < 0, "is negative")
        refuse("NegativeBinomial.dispersion", dispersion <= 0, "is not positive (Poisson is the limit at 0)")
        keep(self, rate=rate, dispersion=dispersion)

    def _columns(self) -> tuple[Array, Array]:
        return 1 / self._lift(self.dispersion), self._lift(self.rate)

    def _below(self, k: Array) -> Array:
        """I_p(r, k + 1)."""
        r, rate = self._columns()
        return betainc(r, k + 1, r / (r + rate))

    def _above(self, k: Array) -> Array:
        """I_(1 - p)(k + 1, r)."""
        r, rate = self._columns()
        return betainc(k + 1, r, rate / (r + rate))

    def _log_mass(self, k: Array) -> Array:
        """-log(k + r) - log B(k + 1, r) + r log p + k log(1 - p)."""
        (r, rate), xp = self._columns(), namespace(k)
        return xlogy(k, rate / (r + rate)) - r * xp.log1p(rate / r) - xp.log(k + r) - betaln(k + 1, r + 0 * k)

    def _mean_std(self) -> tuple[Array, Array]:
        variance = self.rate + self.dispersion * self.rate**2
        return self.rate, namespace(variance).sqrt(variance)


@dataclass(frozen=True, eq=False, repr=False)
class Binomial(CountFamily):
    """How many of `trials` succeed, each with `probability`: P(Y = k) = C(n, k) p^k (1 - p)^(n - k).

    On torch no gradient flows through its CDF.

    >>> Binomial([10, 20], 0.3).ppf(0.9)
    array([5., 9.])
    """

    trials: Array
    probability: Array

    if TYPE_CHECKING:

        def __init__(self, trials: ArrayLike, probability: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        trials, p = parameters("Binomial", trials=self.trials, probability=self.probability)
        refuse("Binomial.trials", (trials < 0) | (trials != namespace(trials).round(trials)), "is no count")
        refuse("Binomial.probability", (p < 0) | (p > 1), "lies outside [0, 1]")
        keep(self, trials=trials, probability=p)

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self._lift(self.trials)

    def _columns(self) -> tuple[Array, Array]:
        return self._lift(self.trials), self._lift(self.probability)

    def _below(self, k: Array) -> Array:
        """I_(1 - p)(n - k, k + 1)."""
        n, p = self._columns()
        return betainc(n - k, k + 1, 1 - p)

    def _above(self, k: Array) -> Array:
        """I_p(k + 1, n - k)."""
        n, p = self._columns()
        return betainc(k + 1, n - k, p)

    def _log_mass(self, k: Array) -> Array:
        """-log(n + 1) - log B(n - k + 1, k + 1) + k log p + (n - k) log(1 - p)."""
        (n, p), xp = self._columns(), namespace(k)
        return xlogy(k, p) + xlogy(n - k, 1 - p) - xp.log(n + 1) - betaln(n - k + 1, k + 1)

    def _mean_std(self) -> tuple[Array, Array]:
        mean = self.trials * self.probability
        return mean, namespace(mean).sqrt(mean * (1 - self.probability))


@dataclass(frozen=True, eq=False, repr=False)
class ZeroInflated(CountFamily):
    """0 with probability `zeros`, else a count from `base`: F(k) = zeros + (1 - zeros) F_base(k).

    >>> ZeroInflated(Poisson([3.0, 3.0]), [0.0, 0.4]).pmf(0)
    array([0.04978707, 0.42987224])
    """

    base: OnLattice
    zeros: Array

    if TYPE_CHECKING:

        def __init__(self, base: OnLattice, zeros: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.base, OnLattice) or self.base.lattice != (0.0, 1.0):
            raise TypeError(
                f"ZeroInflated.base must be a distribution of counts, such as Poisson(3.0), got {self.base!r}"
            )
        base = promoted(self.base, self.zeros)
        zeros = probabilities("ZeroInflated.zeros", self.zeros, like=base.like)
        if zeros.shape not in ((), base.shape):
            raise ValueError(f"ZeroInflated.zeros must have shape {base.shape} or (), got {tuple(zeros.shape)}")
        refuse("ZeroInflated.base", base.cdf_left(0.0) > 0, "takes negative values")
        keep(self, base=base, zeros=namespace(zeros).broadcast_to(zeros, base.shape))

    @property
    def like(self) -> Array:
        return self.zeros

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, self.base._ends()[1]

    def _below(self, k: Array) -> Array:
        w = self._lift(self.zeros)
        return w + (1 - w) * self.base._up_to(k)

    def _above(self, k: Array) -> Array:
        return (1 - self._lift(self.zeros)) * self.base._beyond(k)

    def _log_mass(self, k: Array) -> Array:
        """log((1 - zeros) P(k)), and at 0 log(zeros + (1 - zeros) P(0))."""
        xp, w = namespace(k), self._lift(self.zeros)
        own = self.base._logpdf(k)
        return xp.where(k == 0, safe_log(w + (1 - w) * xp.exp(own)), own + safe_log(1 - w))

    def _mean_std(self) -> tuple[Array, Array]:
        """Var = (1 - w) (var + w mean^2)."""
        mean, w = self.base.mean(), self.zeros
        return (1 - w) * mean, namespace(w).sqrt((1 - w) * (self.base.std() ** 2 + w * mean**2))

    def _points(self, most: int) -> Array:
        """Those of the base, and 0, however far it is from them."""
        k = self.base._points(most)
        return concatenate([0 * k[:, :1], k], axis=1)
