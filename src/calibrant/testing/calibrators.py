"""What a score, an interpolator, labels, a refiner and a backtest must satisfy."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from calibrant._arrays import Array, device_like, floats, rows
from calibrant._codec import decode, encode
from calibrant._types import ArrayLike, Bound, Rng, SupportsArray, Table
from calibrant._words import count, in_all
from calibrant.backtesting import Backtest
from calibrant.calibration import Calibrator
from calibrant.distributions import Distribution, Laplace, Logistic, Normal
from calibrant.forecast import PredictionLike
from calibrant.horizons.table import numbers_in, times_in_order, written
from calibrant.interpolators import Interpolator
from calibrant.labels import Labels
from calibrant.predictions import Point, with_labels
from calibrant.predictions.point import as_prediction
from calibrant.refine import Refiner
from calibrant.refine.base import TrainingRows
from calibrant.scores import Score, signed
from calibrant.scores.nonconformity import Nonconformity
from calibrant.testing.distributions import DistributionCheck, Floats, agree, numbers, require

_SHARES = np.sort(np.arange(1, 16) * (5**0.5 - 1) / 2 % 1)  # irrational, so that no label falls on a bend of a score


def check_score(score: Score, prediction: PredictionLike, y: ArrayLike) -> None:
    """Raise an AssertionError unless `score` does with these predictions and labels what a score must.

    It gives one finite number per row and increases strictly in y; `pull_back(q, prediction)` has the cdf q(score), its
    inverse as ppf and its slope in logpdf; and the score of some rows is some rows of the score. Every row is tried
    with labels from all over the range of y, so let y hold labels that any of these rows might have had.

    Args:
        score: The score to test.
        prediction: The prediction of each row.
        y: The labels: one number per row.
    """
    _check_score(type(score).__name__, score, *with_labels(prediction, y))


@np.errstate(all="ignore")
def _check_score(name: str, score: Score, f: Any, y: Array) -> None:
    n, labels = len(f), numbers(y)
    if n < 2:
        raise ValueError(f"check_score needs at least two rows, got {n}")
    epsilon = 2.0**-23 if "32" in str(y.dtype) else 2.0**-52
    reach = float(np.ptp(labels)) or abs(float(labels[0])) or 1.0
    grid = labels.min() + _SHARES * reach
    own = numbers(score(f, y))
    require(own.shape == (n,), f"{name} must give one number per row, shape ({n},), got shape {own.shape}")
    bad, must = ~np.isfinite(own), f"{name} must be finite at the labels, but is not"
    require(not bad.any(), f"{must} in row {bad.argmax()} ({in_all(int(bad.sum()))})")
    table = np.stack([numbers(score(f, device_like(np.full(n, label), y))) for label in grid], axis=1)
    least = np.maximum(table[:, 1:], np.nextafter(table[:, :-1], np.inf))
    agree(name, table[:, 1:], least, 0.0, "must increase strictly in y, and so be at least", grid[1:])
    some = np.arange(n)[::-2]
    part, whole = numbers(score(f[some], device_like(labels[some], y))), own[some]
    same = part.shape == whole.shape and np.allclose(part, whole, rtol=1e6 * epsilon, atol=0)
    require(same, f"slicing must commute with {name}: the score of some rows alone differs from theirs among all")
    q = Logistic(float(np.median(own)), float(np.std(own)) or 1.0).to(y)
    H, what = score.pull_back(q, f), f"{name}.pull_back(q, prediction)"
    require(H.shape == (n,), f"{what} must have one distribution per row, shape ({n},), got shape {H.shape}")
    check = DistributionCheck(H, f"by the log-slope of {name}, {what}")
    check.points = np.broadcast_to(grid, table.shape)
    F, expected = check.at("cdf", grid), check.at("cdf", table, of=q)
    agree(f"{what}.cdf", F, expected, 1e4 * epsilon, "q.cdf of the score is", grid)
    back = np.where((F > 1e-6) & (F < 1 - 1e-6), check.at("ppf", np.clip(F, 1e-7, 1 - 1e-7)), grid)
    slack = 1e5 * epsilon * (np.abs(grid) + reach + 1 / np.maximum(check.at("pdf", grid), 1e-300))
    agree(f"{what}.ppf at cdf", back, check.points, slack, "the inverse must lead back to", grid)
    check.density()


def check_nonconformity(nonconformity: Nonconformity, prediction: PredictionLike, y_grid: ArrayLike) -> None:
    """Raise an AssertionError unless a(f(x), y) is strictly unimodal in y, with this minimiser, level set and slope.

    That is where the score `signed(nonconformity)` does what a score must: it increases where the value falls up to
    its minimiser and rises from there on, its inverse is an end of the level set, and its slope that of the value.

    Args:
        nonconformity: A measure a(f(x), y) of how far a label is from its prediction, see `Nonconformity`.
        prediction: The prediction of each row.
        y_grid: Points that surround the labels, at which to test.

    >>> from calibrant import Interval
    >>> from calibrant.intervals import CQR
    >>> check_nonconformity(CQR(), Interval([0.0, 1.0], [2.0, 5.0]), np.linspace(-10, 10, 50))
    """
    f, name = cast(Any, as_prediction(prediction)), type(nonconformity).__name__
    grid, found = floats("y_grid", y_grid, like=f.like, ndim=1), tuple(nonconformity.minimiser(f).shape)
    must = f"{name}.minimiser must give one value for each of {count(len(f), 'row')}"
    require(found == (len(f),), f"{must}, got shape {found}")
    every = np.arange(max(2, len(f), grid.shape[0]))
    f, y = f[every % len(f)], rows(grid, every % grid.shape[0])
    _check_score(f"signed({name})", signed(nonconformity).learn(f, y)[0], f, y)


@np.errstate(all="ignore")
def check_interpolator(
    interpolator: Interpolator, *, rng: Rng = None, sizes: Sequence[int] = (1, 2, 3, 10, 60), equivariant: bool = False
) -> None:
    """Raise an AssertionError unless `interpolator` does with random scores what an interpolator must.

    For n scores with and without outliers and ties, n in `sizes`: q is one distribution, with a cdf that rises from 0
    to 1 and a ppf that inverts it; without ties q(u_(i)) lies within accuracy(n) / (n + 1) of i / (n + 1). The scores
    are left as they are, their order does not matter, and the same `rng` gives the same q. With `equivariant=True` q
    also moves and stretches with the scores.

    Args:
        interpolator: The interpolator to test.
        rng: A `numpy.random.Generator`; one with the seed 0 by default.
        sizes: The numbers n of scores to try.
        equivariant: Also test that q moves and stretches with the scores.
    """
    rng = rng or np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one score has no scale, and the like
        for n in sizes:
            normal = rng.standard_normal(n)
            tied = rng.integers(3, size=n) + 1e-5 * normal, np.round(normal, 1), np.full(n, 0.25)
            for scores in (normal, 1e6 + normal, np.sinh(6 * normal), 1e9 * normal, 1e-9 * normal, *tied):
                _check_q(interpolator, scores, equivariant=equivariant and n > 1)  # one score has no scale


def _check_q(interpolator: Interpolator, scores: Floats, *, equivariant: bool) -> None:
    n, name = len(scores), type(interpolator).__name__
    where = f"(n = {n}, scores from {scores.min():.6g} to {scores.max():.6g})"

    def fit(scores: Floats) -> Distribution:
        return interpolator.fit(scores, rng=np.random.default_rng(1))

    before, q = scores.copy(), fit(scores)
    require(np.array_equal(before, scores), f"{name}.fit must leave the scores as they are {where}")
    require(q.shape == (), f"{name}.fit must return one distribution, of shape (), got shape {q.shape} {where}")
    DistributionCheck(q, f"q of {name} {where}").cdf_and_ppf()
    if len(np.unique(scores)) < n:
        return
    promise, F = float(interpolator.accuracy(n)), numbers(q.cdf(scores))  # -1: of a randomised q, off by less than 1
    off = np.abs((n + 1) * np.sort(F) - np.arange(1, n + 1))
    sentence = f"{name}.accuracy({n}) promises {promise:.6g}, but q(u_({off.argmax() + 1})) is off by {off.max():.6g}"
    require(off.max() <= abs(promise) + 1e-9 * (n + 1), f"{sentence} / (n + 1) {where}")
    for other, must in ((scores, "give the same q for the same rng"), (scores[::-1], "not depend on the order")):
        same = np.allclose(numbers(fit(other.copy()).cdf(scores)), F, rtol=0, atol=1e-9)
        require(same, f"{name}.fit must {must} of the scores {where}")
    levels, largest = np.linspace(0.02, 0.97, 9), float(np.abs(scores).max())
    for shift, stretch in ((0.0, 1024.0), (largest, 1.0)) if equivariant else ():
        moved, expected = fit(shift + stretch * scores), shift + stretch * numbers(q.ppf(levels))
        slack = 1e-6 * (np.abs(expected) + stretch * (np.ptp(scores) + 1e-6 * largest))
        what = f"q of {name} after {shift:g} + {stretch:g} * scores: ppf"
        got = numbers(moved.ppf(levels))[None, :]
        agree(what, got, expected, slack, f"moved with them {where} it is", levels)


def check_labels(labels: Labels, y: ArrayLike, *, bound: Bound = None, rng: Rng = None) -> None:
    """Raise an AssertionError unless `labels` does with the labels y what a kind of labels must.

    With Y' what `spread` makes of y and g what `collapse` applies: labels pass their own check; Y' is one finite
    number per row and rises with y; a distribution that is all but sure of Y' collapses to one that is sure of y, and
    any other to one with the quantiles g(q); it calibrates; and it is the same after a pickle and a file.

    Args:
        labels: The kind of labels to test.
        y: The labels: one number per row.
        bound: What is known of each row, such as a capacity: an array, or a table with the columns it names.
        rng: A `numpy.random.Generator`; one with the seed 0 by default.
    """
    require(isinstance(labels, Labels), f"{type(labels).__name__} must be a Labels")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ties, few rows and means that are infinite
        _check_labels(labels, numbers(floats("y", y, ndim=1)), rng or np.random.default_rng(0), bound=bound)


def _check_labels(labels: Labels, y: Floats, rng: np.random.Generator, **own: Any) -> None:
    name, forecast, scale = type(labels).__name__, cast(Any, Point(y)), float(np.std(y)) or 1.0
    try:
        labels.spread_prediction(forecast, **own)
    except TypeError:  # a kind that asks for a distribution
        forecast = Normal(y, scale)
    labels.check(y, **own)
    inner, again = (numbers(labels.spread(y, forecast, **own, rng=np.random.default_rng(seed))) for seed in (1, 2))
    require(inner.shape == y.shape, f"{name}.spread must give one number per row, got shape {inner.shape}")
    require(bool(np.all(np.isfinite(inner))), f"{name}.spread must give finite numbers")
    require(labels.draws or np.array_equal(again, inner), f"{name}.spread draws, so `draws` must be True")
    order, unit = np.argsort(y, kind="stable"), float(np.std(inner)) or 1.0
    rises = np.diff(inner[order])[np.diff(y[order]) > 0]
    require(labels.by_row or bool(np.all(rises > 0)), f"{name}.spread must rise with the labels")

    def collapsed(points: Floats) -> Floats:
        """g of one number per row, by a distribution that is all but sure of it."""
        width = np.maximum(1e-9 * unit, 1e-12 * np.abs(points))
        return numbers(labels.collapse(Normal(points, width), **own).ppf(0.5))

    back, slack = collapsed(inner)[:, None], 1e-6 * (scale + np.abs(y))[:, None]
    agree(f"{name}.collapse", back, y[:, None], slack, "must take spread back to", inner[:, None])
    spread, levels = Laplace(inner, unit), np.array([0.07, 0.31, 0.52, 0.88])
    H, quantiles = labels.collapse(spread, **own), numbers(spread.quantiles(levels))
    pushed = np.stack([collapsed(column) for column in quantiles.T], axis=1)
    got, slack = numbers(H.quantiles(levels)), 1e-6 * (scale + np.abs(pushed))
    agree(f"{name}.collapse(H).ppf", got, pushed, slack, "the quantile of H collapses to", levels)
    calibrated = Calibrator(labels=labels).fit(forecast, y, **own, rng=rng)
    H = calibrated(forecast, **own)
    require(H.shape == y.shape, f"{name}.collapse must give one distribution per row, got shape {H.shape}")
    labels.check(H.median(), **own)
    require(pickle.loads(pickle.dumps(labels)) == labels, f"{name} must equal itself after a pickle")
    try:
        file = encode(calibrated)
    except ValueError as error:
        raise AssertionError(f"{name} must fit into a file, as a frozen dataclass of numbers does: {error}") from error
    again = decode(file.tree, file.arrays, file.classes).labels
    require(again == labels, f"{name} must equal itself after a file")


def check_look_ahead(
    run: Callable[[Any], Any],
    labels: Table | Sequence[float] | SupportsArray,
    *,
    target: str = "y",
    time: str = "ds",
    cutoff: str = "cutoff",
    times: int = 3,
) -> None:
    """Run a backtest again with other labels from some time on: no forecast made by then may change.

    `run(frame)` is a whole backtest, from the table to its forecasts: a `Backtest`, or one distribution, number or line
    of numbers per row. With an array of labels in the place of a table, row t is forecast when the labels before it are
    known. The labels are changed at `times` places. A base model that was trained on later rows does not show here.

    Args:
        run: The backtest, as a function of the table or of the array.
        labels: A long table with its labels, or an array of labels in time order.
        target: The column with the labels.
        time: The column with the time of each row.
        cutoff: The column with the time at which each forecast was made.
        times: At how many places in time to change the labels.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=50)
    >>> before = lambda y: np.cumsum(y) - y
    >>> check_look_ahead(lambda y: Normal(before(y), 1.0), y)
    >>> check_look_ahead(lambda y: Normal(before(y), np.std(y)), y)
    Traceback (most recent call last):
      ...
    AssertionError: a look ahead: the forecast of row 0 changes with labels of rows after row 12, which were not known
    when it was made (14 rows in all)
    """
    rows, table, frame = len(labels), hasattr(labels, "columns"), cast(Any, labels)  # type: ignore[arg-type]
    y = numbers_in(labels, target, gaps=True) if table else numbers(labels)
    names: list[Any] = []
    known, made = np.arange(rows), np.arange(rows) - 1
    if table:
        names, (known, made) = times_in_order(labels, time, cutoff)
    places = np.unique(made[(made >= 0) & (made < known.max())])
    if not places.size:
        raise ValueError("there is nothing to look ahead to: no label comes after a forecast was made")
    first, unit = _forecasts(run(labels), rows), float(np.nanstd(y))
    for place in places[np.unique(np.linspace(0, len(places) - 1, times + 2).astype(int)[1:-1])].tolist():
        later, other = known > place, y.copy()
        other[later] = y[later][::-1] + 10 * (1 + unit)  # in the opposite order, and far away
        again = _forecasts(run(written(frame, {target: other}) if table else other), rows)
        same = np.isclose(first, again, rtol=1e-9, atol=1e-9 * unit, equal_nan=True)
        moved = (made <= place) & ~np.all(same, axis=1)
        when = f"for times after {names[place]}" if table else f"of rows after row {place}"
        what = f"the forecast of row {np.argmax(moved)} changes with labels {when}, which were not known"
        require(not moved.any(), f"a look ahead: {what} when it was made ({in_all(int(moved.sum()))})")


def _forecasts(found: Any, rows: int) -> Floats:
    """The forecast of each row, as numbers; NaN where there is none."""
    which, found = (found.rows, found.H) if isinstance(found, Backtest) else (np.arange(rows), found)
    values = numbers(found.quantiles((0.1, 0.5, 0.9)) if isinstance(found, Distribution) else found)
    if len(values) != len(which):
        raise ValueError(f"run must give one forecast for each of {count(rows, 'row')}, got {len(values)}")
    every = np.full((rows, values.size // len(values)), np.nan)
    every[which] = values.reshape(len(values), -1)
    return every


def check_refiner(refiner: Refiner, rows: TrainingRows | None = None) -> None:
    """Raise an AssertionError unless `refiner` does what a refiner must.

    What `fit` returns gives a prediction of every row that can be calibrated; a row's prediction depends on no other
    row; the training rows are left as they were; the same rows and seed give the same; what was learned pickles. The
    rows are made up, unless you give some: the first 5/6 train, the others are predicted.

    Args:
        refiner: The refiner to test.
        rows: Rows to test it on; made up by default.
    """
    if rows is None:
        rng = np.random.default_rng(0)
        X, error = rng.normal(size=(360, 3)), rng.normal(size=360)
        rows = TrainingRows(X, Point(X[:, 0].copy()), X[:, 0] + 0.5 * X[:, 1] + np.exp(0.5 * X[:, 2]) * error)
    name, first, last = type(refiner).__name__, *np.split(np.arange(len(rows)), [len(rows) * 5 // 6])
    require(len(last) >= 4, f"check_refiner needs at least 24 rows, got {len(rows)}")
    train, new, half = rows[first], rows[last], len(last) // 2

    def refined_by(learned: Any, some: TrainingRows = new) -> Any:
        return as_prediction(learned(some.X, some.prediction))

    before, learned = pickle.dumps((train.X, train.prediction, train.y)), refiner.fit(train)
    require(callable(learned), f"{name}.fit must return a function of X and a prediction, got {learned!r}")
    same = pickle.dumps((train.X, train.prediction, train.y)) == before
    require(same, f"{name}.fit must leave the rows it learns from as they are, but changed them")
    refined = refined_by(learned)
    require(len(refined) == len(new), f"{name} must give one prediction per row, {len(new)}, got {len(refined)}")
    H = Calibrator().fit(refined[:half], new.y[:half])(refined[half:])
    require(bool(np.all(np.isfinite(numbers(H.median())))), f"what {name} gives must have a finite calibrated median")
    same = _same(refined_by(learned, new[np.arange(1)]), refined[:1])
    require(same, f"{name} must treat each row by itself, but the first row alone is refined another way")
    same = _same(refined_by(refiner.fit(rows[first])), refined)
    require(same, f"{name} must learn the same from the same rows and seed: use rows.seed for what it draws")
    try:
        copy = pickle.loads(pickle.dumps(learned))
    except Exception as error:
        raise AssertionError(f"what {name}.fit returns must pickle, but: {error}") from error
    require(_same(refined_by(copy), refined), f"what {name} learned must survive pickling")


def _same(one: Any, other: Any) -> bool:
    """Whether two predictions are alike in form, middle and spread."""
    if one.form() != other.form():
        return False
    pairs = [(one.centre_rows(), other.centre_rows()), (one.spread_rows(), other.spread_rows())]
    return all(a is b or np.allclose(numbers(a), numbers(b), 1e-6, 1e-12, equal_nan=True) for a, b in pairs)
