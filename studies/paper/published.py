"""The numbers that the paper reports (Marx, Zhao, Neiswanger, Ermon, ICML 2022): its two tables and its appendix.

Every entry is mean±standard error; "-" is one that the paper gives as not available. The columns are STD, width of the
95% interval, NLL by the authors' finite difference, CRPS and, in the appendix alone, debiased ECE. Each mean of the
appendix is over 16 splits; the two tables are means over the 17 datasets, or over those that have a value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache

from studies.means import NOTHING, Mean, over_datasets

SPLITS = 16
"""Behind each mean of the appendix."""

METRICS = ("std", "ci95_width", "nll", "crps", "ece")

_APPENDIX = """
blog
  zscore-naf     0.553±0.006  2.737±0.151  0.178±0.039  0.287±0.003  0.002±0.001
  zscore-linear  0.567±0.007  2.657±0.101  0.321±0.040  0.288±0.003  0.002±0.001
  zscore-random  0.567±0.007  2.657±0.101  4.087±0.102  0.288±0.003  0.002±0.001
  cdf-naf        0.592±0.061  2.027±0.201  0.944±1.229  0.328±0.049  0.039±0.028
  cdf-linear     1.380±0.513  3.074±0.475  0.064±0.062  0.289±0.002  0.001±0.001
  cdf-random     1.381±0.513  3.074±0.475  4.069±0.096  0.289±0.002  0.001±0.001
boston
  zscore-naf     0.337±0.019  1.589±0.195  0.467±0.117  0.173±0.012  0.009±0.010
  zscore-linear  0.331±0.017  1.449±0.111  0.674±0.068  0.173±0.012  0.009±0.009
  zscore-random  0.335±0.018  1.520±0.121 13.622±0.094  0.173±0.012  0.009±0.009
  cdf-naf        0.357±0.025  1.539±0.124  0.363±0.070  0.174±0.012  0.009±0.010
  cdf-linear     0.372±0.031  1.527±0.118  0.642±0.075  0.173±0.012  0.009±0.009
  cdf-random               -  1.532±0.121 13.588±0.114            -  0.009±0.009
concrete
  zscore-naf     0.325±0.017  1.402±0.186  0.325±0.066  0.163±0.007  0.005±0.005
  zscore-linear  0.309±0.014  1.279±0.084  0.593±0.057  0.163±0.007  0.005±0.005
  zscore-random  0.310±0.014  1.287±0.087 13.206±0.090  0.163±0.007  0.005±0.005
  cdf-naf        0.312±0.016  1.354±0.078  0.251±0.051  0.163±0.007  0.005±0.006
  cdf-linear     0.317±0.016  1.287±0.086  0.576±0.054  0.163±0.007  0.005±0.005
  cdf-random               -  1.288±0.086 13.212±0.100            -  0.005±0.005
crime
  zscore-naf     0.498±0.013  2.062±0.084  1.764±0.123  0.309±0.008  0.010±0.006
  zscore-linear  0.487±0.011  1.900±0.036  1.901±0.130  0.308±0.008  0.006±0.006
  zscore-random  0.487±0.011  1.900±0.036 13.308±0.071  0.308±0.008  0.006±0.006
  cdf-naf        0.570±0.014  2.161±0.053  0.814±0.067  0.311±0.007  0.006±0.006
  cdf-linear     0.644±0.029  2.406±0.066  1.077±0.057  0.308±0.007  0.006±0.006
  cdf-random               -  2.406±0.066 13.274±0.054            -  0.006±0.006
energy-efficiency
  zscore-naf     0.174±0.013  0.652±0.043 -0.394±0.097  0.099±0.008  0.010±0.006
  zscore-linear  0.172±0.011  0.666±0.040  0.003±0.107  0.099±0.008  0.010±0.006
  zscore-random  0.180±0.010  0.667±0.040 13.253±0.130  0.099±0.008  0.010±0.006
  cdf-naf        0.168±0.010  0.681±0.039 -0.342±0.101  0.099±0.008  0.010±0.006
  cdf-linear     0.168±0.010  0.668±0.040  0.027±0.108  0.099±0.008  0.010±0.006
  cdf-random               -  0.668±0.040 13.252±0.125            -  0.010±0.006
fb-comment1
  zscore-naf     0.376±0.009  1.459±0.028  0.066±0.015  0.210±0.001  0.002±0.001
  zscore-linear  0.397±0.004  1.692±0.034  0.261±0.015  0.210±0.001  0.002±0.001
  zscore-random  0.397±0.004  1.692±0.034  5.196±0.030  0.210±0.001  0.002±0.001
  cdf-naf        0.344±0.054  1.156±0.195  2.841±2.106  0.288±0.075  0.091±0.046
  cdf-linear     0.880±0.119  1.692±0.034  0.120±0.017  0.210±0.001  0.002±0.001
  cdf-random     0.880±0.119  1.692±0.034  5.220±0.029  0.210±0.001  0.002±0.001
fb-comment2
  zscore-naf     0.368±0.010  1.423±0.021  0.053±0.025  0.207±0.002  0.001±0.001
  zscore-linear  0.386±0.004  1.573±0.016  0.194±0.023  0.207±0.002  0.001±0.001
  zscore-random  0.386±0.004  1.573±0.016  3.739±0.031  0.207±0.002  0.001±0.001
  cdf-naf        0.347±0.035  1.294±0.171            -  0.273±0.083            -
  cdf-linear     0.459±0.017  1.573±0.016  0.118±0.027  0.207±0.002  0.001±0.001
  cdf-random     0.459±0.017  1.573±0.016  3.731±0.037  0.207±0.002  0.001±0.001
forest-fires
  zscore-naf     1.167±0.043  4.697±0.214  1.959±0.137  0.601±0.023  0.018±0.008
  zscore-linear  1.147±0.043  4.455±0.219  2.121±0.124  0.601±0.023  0.017±0.008
  zscore-random  1.156±0.041  4.529±0.185 13.648±0.102  0.601±0.023  0.017±0.008
  cdf-naf        1.219±0.078  4.801±0.339  1.637±0.087  0.607±0.023  0.017±0.008
  cdf-linear     1.285±0.162  4.874±0.380  1.964±0.086  0.601±0.022  0.017±0.008
  cdf-random               -  4.862±0.381 13.659±0.099            -  0.017±0.008
kin8nm
  zscore-naf     0.300±0.006  1.107±0.016  0.127±0.012  0.152±0.002  0.003±0.002
  zscore-linear  0.281±0.003  1.121±0.013  0.486±0.014  0.152±0.002  0.003±0.002
  zscore-random  0.281±0.003  1.121±0.013 11.279±0.090  0.152±0.002  0.003±0.002
  cdf-naf        0.281±0.003  1.149±0.015  0.112±0.014  0.152±0.002  0.003±0.002
  cdf-linear     0.281±0.003  1.121±0.013  0.490±0.015  0.152±0.002  0.003±0.002
  cdf-random     0.281±0.003  1.121±0.013 11.291±0.073  0.152±0.002  0.003±0.002
medical-expenditure
  zscore-naf     0.935±0.008  4.465±0.064  1.548±0.015  0.463±0.002  0.003±0.001
  zscore-linear  0.893±0.004  3.648±0.037  1.818±0.015  0.462±0.002  0.002±0.001
  zscore-random  0.893±0.004  3.648±0.037 10.869±0.041  0.462±0.002  0.002±0.001
  cdf-naf        0.928±0.010  3.616±0.110  1.381±0.057  0.465±0.002  0.005±0.004
  cdf-linear     0.963±0.009  3.648±0.037  1.643±0.009  0.462±0.002  0.002±0.001
  cdf-random     0.963±0.009  3.648±0.037 10.866±0.034  0.462±0.002  0.002±0.001
mpg
  zscore-naf     0.396±0.021  1.832±0.186  0.555±0.114  0.186±0.011  0.019±0.013
  zscore-linear  0.377±0.018  1.538±0.108  0.756±0.096  0.186±0.011  0.019±0.013
  zscore-random  0.380±0.018  1.545±0.109 13.696±0.073  0.186±0.011  0.020±0.013
  cdf-naf        0.383±0.026  1.652±0.138  0.551±0.084  0.187±0.011  0.019±0.013
  cdf-linear     0.392±0.030  1.554±0.110  0.821±0.099  0.186±0.011  0.020±0.013
  cdf-random               -  1.546±0.110 13.651±0.092            -  0.020±0.013
naval
  zscore-naf     0.041±0.002  0.165±0.008 -1.904±0.036  0.025±0.001  0.002±0.001
  zscore-linear  0.042±0.002  0.162±0.007 -1.717±0.029  0.025±0.001  0.002±0.001
  zscore-random  0.042±0.002  0.162±0.007  1.355±0.125  0.025±0.001  0.002±0.001
  cdf-naf        0.042±0.002  0.173±0.008 -1.915±0.027  0.025±0.001  0.002±0.001
  cdf-linear     0.042±0.002  0.162±0.007 -1.716±0.029  0.025±0.001  0.002±0.001
  cdf-random     0.042±0.002  0.162±0.007  1.330±0.114  0.025±0.001  0.002±0.001
power-plant
  zscore-naf     0.218±0.003  0.845±0.007 -0.104±0.010  0.120±0.001  0.003±0.002
  zscore-linear  0.218±0.002  0.854±0.009  0.251±0.011  0.120±0.001  0.003±0.002
  zscore-random  0.219±0.002  0.854±0.009 10.208±0.074  0.120±0.001  0.003±0.002
  cdf-naf        0.224±0.003  0.886±0.011 -0.101±0.010  0.121±0.001  0.003±0.002
  cdf-linear     0.225±0.003  0.854±0.009  0.244±0.011  0.120±0.001  0.003±0.002
  cdf-random     0.225±0.003  0.854±0.009 10.208±0.067  0.120±0.001  0.003±0.002
protein
  zscore-naf     0.622±0.011  2.246±0.027  0.765±0.019  0.339±0.003  0.001±0.001
  zscore-linear  0.627±0.006  2.333±0.024  0.995±0.017  0.339±0.003  0.001±0.001
  zscore-random  0.627±0.006  2.333±0.024  7.366±0.072  0.339±0.003  0.001±0.001
  cdf-naf        0.617±0.007  2.138±0.072  0.968±0.048  0.341±0.003  0.015±0.006
  cdf-linear     0.709±0.020  2.333±0.024  0.960±0.018  0.339±0.003  0.001±0.001
  cdf-random     0.709±0.020  2.333±0.024  7.393±0.073  0.339±0.003  0.001±0.001
super-conductivity
  zscore-naf     0.307±0.005  1.140±0.016 -0.246±0.016  0.149±0.002  0.003±0.002
  zscore-linear  0.300±0.004  1.180±0.016 -0.006±0.017  0.149±0.002  0.003±0.002
  zscore-random  0.300±0.004  1.180±0.016  6.119±0.070  0.149±0.002  0.003±0.002
  cdf-naf        0.294±0.005  1.089±0.061  0.046±0.074  0.153±0.002  0.019±0.008
  cdf-linear     0.343±0.017  1.179±0.016 -0.052±0.013  0.149±0.002  0.003±0.002
  cdf-random     0.343±0.017  1.179±0.016  6.126±0.066  0.149±0.002  0.003±0.002
wine
  zscore-naf     0.830±0.021  3.794±0.323  1.376±0.066  0.427±0.012  0.013±0.007
  zscore-linear  0.789±0.020  3.253±0.132  1.589±0.055  0.427±0.012  0.013±0.007
  zscore-random  0.791±0.020  3.256±0.136 12.452±0.122  0.427±0.012  0.013±0.007
  cdf-naf        0.844±0.038  3.308±0.181  1.341±0.185  0.433±0.011  0.015±0.007
  cdf-linear     1.031±0.258  3.256±0.135  1.513±0.046  0.427±0.012  0.013±0.007
  cdf-random               -  3.256±0.136 12.436±0.101            -  0.013±0.007
yacht
  zscore-naf     0.066±0.007  0.249±0.028 -1.484±0.180  0.042±0.007  0.015±0.011
  zscore-linear  0.068±0.009  0.259±0.037 -1.163±0.176  0.042±0.007  0.016±0.011
  zscore-random  0.098±0.006  0.266±0.039 12.958±0.316  0.042±0.007  0.016±0.011
  cdf-naf        0.066±0.007  0.260±0.037 -1.470±0.178  0.042±0.007  0.015±0.011
  cdf-linear     0.066±0.007  0.266±0.040 -1.134±0.171  0.042±0.007  0.016±0.011
  cdf-random               -  0.267±0.041 12.996±0.323            -  0.016±0.011
"""

_TABLE1 = """
zscore-naf     0.442±0.003  1.874±0.037  0.297±0.022  0.232±0.002
zscore-linear  0.435±0.003  1.766±0.016  0.534±0.021  0.232±0.002
zscore-random  0.438±0.003  1.776±0.016            -  0.232±0.002
cdf-naf        0.446±0.005  1.723±0.027  0.465±0.144  0.245±0.007
cdf-linear     0.562±0.032  1.851±0.033  0.433±0.017  0.233±0.002
cdf-random     0.587±0.058  1.851±0.033            -  0.217±0.000
"""

_TABLE2 = """
point          0.467±0.006  1.927±0.016  0.611±0.017  0.242±0.002
interval       0.830±0.336  1.832±0.034 -0.051±0.025  0.256±0.002
quantile-2     0.449±0.004  1.790±0.019 -0.101±0.019  0.228±0.002
quantile-4     0.439±0.003  1.692±0.016 -0.109±0.027  0.226±0.002
quantile-7     0.434±0.003  1.629±0.015 -0.103±0.021  0.226±0.002
quantile-10    0.432±0.002  1.625±0.012 -0.042±0.032  0.226±0.002
ensemble       0.491±0.009  1.795±0.021  0.384±0.017  0.227±0.002
distribution   0.562±0.032  1.851±0.033  0.433±0.017  0.233±0.002
"""


@cache
def per_dataset() -> dict[tuple[str, str], dict[str, Mean]]:
    """The appendix: (dataset, method) -> metric -> mean over 16 splits.

    >>> per_dataset()["boston", "zscore-naf"]["crps"]
    Mean(value=0.173, se=0.012, count=16, of=16)
    """
    entries, dataset = {}, ""
    for line in _APPENDIX.strip().splitlines():
        if line.startswith(" "):
            method, *numbers = line.split()
            entries[dataset, method] = _means(numbers, SPLITS)
        else:
            dataset = line
    return entries


@cache
def datasets() -> tuple[str, ...]:
    """The names of the 17 datasets."""
    return tuple(dict.fromkeys(dataset for dataset, _ in per_dataset()))


@cache
def methods() -> tuple[str, ...]:
    """The six methods of Table 1: two scores with three interpolators, of the distribution predictor."""
    return tuple(dict.fromkeys(method for _, method in per_dataset()))


@cache
def table1() -> dict[str, dict[str, Mean]]:
    """Table 1 as printed: method -> metric -> mean over the datasets that have a value."""
    rows = {}
    for line in _TABLE1.strip().splitlines():
        method, *numbers = line.split()
        rows[method] = {
            metric: replace(mean, count=average(method, metric).count) if mean.count else mean
            for metric, mean in _means(numbers, len(datasets())).items()
        }
    return rows


@cache
def table2() -> dict[str, dict[str, Mean]]:
    """Table 2 as printed, the linear interpolator: base type -> metric -> mean over the 17 datasets.

    >>> table2()["point"]["crps"].value
    0.242
    """
    lines = (line.split() for line in _TABLE2.strip().splitlines())
    return {base: _means(numbers, len(datasets())) for base, *numbers in lines}


def of(dataset: str, method: str, metric: str) -> Mean:
    """What the appendix says of a metric; nothing where it is silent.

    >>> of("boston", "cdf-random", "crps")
    Mean(value=None, se=None, count=0, of=16)
    >>> of("moon", "cdf-random", "crps")
    Mean(value=None, se=None, count=0, of=0)
    """
    return per_dataset().get((dataset, method), {}).get(metric, NOTHING)


def average(method: str, metric: str, among: Iterable[str] | None = None) -> Mean:
    """The unweighted mean of the appendix's numbers among some datasets, or all; it recomputes the paper's Table 1.

    >>> average("cdf-random", "crps")
    Mean(value=0.217..., se=0.0006..., count=9, of=17)
    """
    return over_datasets(of(dataset, method, metric) for dataset in (datasets() if among is None else among))


def _means(numbers: list[str], count: int) -> dict[str, Mean]:
    return {metric: _mean(number, count) for metric, number in zip(METRICS, numbers, strict=False)}


def _mean(number: str, count: int) -> Mean:
    if number == "-":
        return Mean(None, None, 0, count)
    value, se = number.split("±")
    return Mean(float(value), float(se), count, count)
