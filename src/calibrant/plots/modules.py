"""Inside the calibration: the scores, the map q made of them, and how each interpolator makes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import matplotlib
import numpy as np
import scipy.special
from matplotlib.axes import Axes

from calibrant._arrays import floats
from calibrant._types import ArrayLike
from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.distributions.base import Context, Distribution
from calibrant.forecast import PredictionLike
from calibrant.interpolators import NAF, Interpolator, Linear, Naive, Random
from calibrant.interpolators.support import Logits
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing
from calibrant.plots.curves import cdf_curve, quantiles, reach
from calibrant.plots.inputs import Numbers, evenly, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.palette import SMALLEST, Palette, length, points
from calibrant.plots.theme import Style, plain
from calibrant.predictions import with_labels

_MOST_POINTS = 500
_POINTS = 1000
_MOST_LINES = 25


def scores(calibrated: Calibrated, prediction: PredictionLike, y: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """The calibration scores (S_(i), i / (n + 1)), q, and the band that its lambda leaves it.

    `prediction` and `y` are the n rows that calibrated. A lambda-accurate q has q(S_(i)) in (i +- lambda) / (n + 1),
    and rises, so that between two scores it lies from (i - lambda) / (n + 1) to (i + 1 + lambda) / (n + 1): that is
    the band. A randomised q is drawn for U = 1/2, its band goes from U = 0 to U = 1. The scores of a cdf score are
    shown as the probabilities F(y) that they are logits of. Of more than 500 scores 500 are drawn, evenly spaced in
    their order; scores more than 4 interquartile ranges off are counted, not drawn.

    Args:
        calibrated: A fitted calibrator, as `Calibrator.fit` returns it.
        prediction: The predictions of the n rows that calibrated.
        y: The labels of the n rows that calibrated.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 20))
    >>> ax = scores(Calibrator().fit(f, f + noise), f, f + noise)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['scores, at i / (n + 1)', 'q', 'λ = 0: where q may be']
    """
    if not isinstance(calibrated, Calibrated):
        hint = ": draw one of its members" if hasattr(calibrated, "members") else ""
        raise TypeError(f"calibrated must be a Calibrated, got {type(calibrated).__name__}{hint}")
    if calibrated.guarantee.basis in ("weighted", "recent", "censored"):
        raise ValueError("scores draws rows that count the same, and those that calibrated here have weights")
    prediction, y = with_labels(prediction, y)
    n = calibrated.guarantee.n
    if y.shape[0] != n:
        raise ValueError(f"scores wants the {count(n, 'row')} that calibrated, got {y.shape[0]}")
    prediction.check_form(calibrated.form)
    view = _View.of(calibrated, np.sort(numbers(calibrated.score(prediction, y))))
    with drawing(ax) as (ax, palette):
        drawn = _map(ax, palette, calibrated.q, view, calibrated.guarantee.accuracy)
        chosen = evenly(n, _MOST_POINTS)
        size = float(np.clip(30 / np.sqrt(len(chosen)), 2.2, 4)) * palette.unit
        dots: Style = {
            "marker": "o",
            "markersize": size,
            "markeredgewidth": 0,
            "linestyle": "none",
            "color": palette.ink,
        }
        at = view.shown(view.scores[chosen])
        drawn[:0] = ax.plot(at, (chosen + 1) / (n + 1), **dots, zorder=4, label="scores, at i / (n + 1)")
        beyond = int(np.sum((view.scores < view.grid[0]) | (view.scores > view.grid[-1])))
        more = f" ({beyond:,} beyond)" if beyond else ""
        name = "F(y), the PIT of the base" if view.logits else f"{type(calibrated.score).__name__}, φ(f(x), y)"
        left, right = view.shown(view.grid[[0, -1]])
        ax.set(xlim=(left, right), ylim=(-0.02, 1.02))
        set_labels(ax, x=f"{name}{more}", y="q")
        add_legend(ax, drawn, palette)
    return ax


def interpolators(
    scores: ArrayLike, interpolators: Sequence[Interpolator] | None = None, *, ax: Axes | None = None
) -> Axes:
    """How each interpolator maps the same scores to evenly spaced values in [0, 1], in panels side by side.

    The scores lie on the line at the bottom of each panel, q takes each up to its value, which lies on the left. Naive,
    linear, random and NAF by default (the paper's figure, with the naive one added); or a list of interpolators, or a
    mapping of names to them. A randomised q is drawn for U = 1/2 in its band from U = 0 to U = 1. A few scores, about
    eight, show most; of more than 25 the lines of 25 are drawn. The panels lie inside `ax`, whose own frame is hidden.

    Args:
        scores: The calibration scores, an array of n numbers.
        interpolators: A list of interpolators, or a mapping of names to them; by default naive, linear, random, NAF.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> ax = interpolators([-1.2, -0.9, -0.3, -0.2, 0.1, 0.8, 2.0])
    >>> [panel.get_title("left") for panel in ax.child_axes]
    ['Naive, λ = 1', 'Linear, λ = 0', 'Random, exact', 'NAF, λ = 1.32']
    """
    ordered = np.sort(numbers(floats("scores", scores, ndim=1)))
    if not len(ordered):
        raise ValueError("interpolators needs at least one score, got none")
    given = _by_name((Naive(), Linear(), Random(), NAF()) if interpolators is None else interpolators)
    distributions = {name: each.fit(ordered) for name, each in given.items()}
    columns = min(len(distributions), 2 if len(distributions) != 3 else 3)
    lines = -(-len(distributions) // columns)
    view = _View(ordered, _line(ordered))
    titles = {name: _title(plain(name, most=18), each.accuracy(len(ordered))) for name, each in given.items()}
    with drawing(ax, height=8 + 33 * lines) as (ax, palette):
        ax.set_axis_off()
        palette = _smaller(palette, ax, titles.values(), columns)
        for k, (name, q) in enumerate(distributions.items()):
            line, column = divmod(k, columns)
            box = (column / columns, 1 - (line + 0.93) / lines, 0.88 / columns, 0.74 / lines)
            with matplotlib.rc_context(palette.settings()):
                panel = ax.inset_axes(box)
                _panel(panel, palette, titles[name], q, given[name].accuracy(len(ordered)), view)
                if column == 0:
                    panel.set_ylabel("q(u)")
                if line == lines - 1:
                    panel.set_xlabel("score u")
                panel.tick_params(labelleft=column == 0, labelbottom=line == lines - 1)
    return ax


def _title(name: str, accuracy: float) -> str:
    return f"{name}, {'exact' if accuracy == -1 else f'λ = {accuracy:.3g}'}"


def _smaller(palette: Palette, ax: Axes, titles: Iterable[str], columns: int) -> Palette:
    """A pen whose letters are small enough for the titles of panels side by side."""
    room = 0.86 * points(ax)[0] / columns
    return replace(
        palette,
        size=max(SMALLEST, min(palette.size, *(palette.size * room / length(each, palette.size) for each in titles))),
    )


def _by_name(interpolators: Any) -> dict[str, Interpolator]:
    """Interpolators by name, which is their class's where none is given."""
    if not isinstance(interpolators, Mapping):
        try:
            listed = list(interpolators)
        except TypeError:
            raise TypeError(f"interpolators must be a list of interpolators, got {interpolators!r}") from None
        names = [type(each).__name__ for each in listed]
        numbered = [f"{name} {k + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]
        interpolators = dict(zip(numbered, listed, strict=True))
    if not interpolators:
        raise ValueError("interpolators must hold at least one interpolator, got none")
    for name, each in interpolators.items():
        if isinstance(each, type) or not isinstance(each, Interpolator):
            raise TypeError(f"interpolators must hold Interpolator objects, got {each!r} as {name!r}")
    return dict(interpolators)


@dataclass(frozen=True)
class _View:
    """Sorted scores, and the grid along which q is drawn."""

    scores: Numbers
    grid: Numbers
    logits: bool = False

    @classmethod
    def of(cls, calibrated: Calibrated, ordered: Numbers) -> _View:
        """Logits along their probabilities; other scores unchanged."""
        if isinstance(calibrated.score.support, Logits):
            return cls(ordered, scipy.special.logit(np.linspace(1e-9, 1 - 1e-9, _POINTS)), logits=True)
        return cls(ordered, _line(ordered))

    def shown(self, scores: Numbers) -> Numbers:
        """Scores as they are drawn."""
        return np.asarray(scipy.special.expit(scores)) if self.logits else scores


def _line(ordered: Numbers) -> Numbers:
    low, high = reach(ordered)
    room = 0.1 * (high - low)
    return np.linspace(low - room, high + room, _POINTS)


def _panel(panel: Axes, palette: Palette, title: str, q: Distribution, accuracy: float, view: _View) -> None:
    """The scores on the line below, their values on the left, and q, which takes the ones to the others."""
    _map(panel, palette, q, view, accuracy)
    left, right = view.grid[[0, -1]]
    scores = view.scores[evenly(len(view.scores), _MOST_LINES)]
    scores = scores[(scores >= left) & (scores <= right)]
    at = numbers(_realised(q, 0.5).cdf(scores))
    panel.vlines(scores, 0, at, color=palette.shade, linewidth=0.5 * palette.unit)
    panel.hlines(at, left, scores, color=palette.shade, linewidth=0.5 * palette.unit)
    dots: Style = {"color": palette.ink, "marker": "o", "linestyle": "none", "markersize": 2.5 * palette.unit}
    dots |= {"clip_on": False, "zorder": 4}
    panel.plot(scores, np.zeros_like(scores), **dots)
    panel.plot(np.full_like(at, left), at, **dots)
    panel.set_title(title, loc="left")
    panel.set(xlim=(left, right), ylim=(0, 1), yticks=(0, 0.5, 1))
    panel.locator_params(axis="x", nbins=4)


def _map(ax: Axes, palette: Palette, q: Distribution, view: _View, accuracy: float) -> list[Any]:
    """q as a curve, and the band in which it may lie: both as handles for a legend."""
    randomised = accuracy == -1
    distribution = _realised(q, 0.5)
    x, height = cdf_curve(distribution, quantiles(distribution), view.grid)
    name = "q, drawn for U = 1/2" if randomised else "q"
    curve = ax.plot(view.shown(x), height, color=palette.after, linewidth=1.2 * palette.unit, label=name, zorder=5)
    # U = 0 and U = 1 are the two steps between which every 0-accurate q lies
    x, bottom, top = _band(view, max(accuracy, 0.0))
    label = "from U = 0 to U = 1" if randomised else f"λ = {accuracy:.3g}: where q may be"
    shade: Style = {"color": palette.shade, "alpha": 0.35, "linewidth": 0, "zorder": 1}
    return [*curve, ax.fill_between(view.shown(x), bottom, top, step="post", label=label, **shade)]


def _band(view: _View, accuracy: float) -> tuple[Numbers, Numbers, Numbers]:
    """(i - lambda) / (n + 1) and (i + 1 + lambda) / (n + 1) from each S_(i) to the next, within [0, 1]."""
    n = len(view.scores)
    chosen = evenly(n, _POINTS)
    # where scores are left out, the band reaches from the step before to the step after
    ranks = np.concatenate([[0], chosen + 1, [n + 1]])
    x = np.concatenate([view.grid[:1], view.scores[chosen], view.grid[-1:]])
    bottom = np.clip((ranks - accuracy) / (n + 1), 0, 1)
    top = np.clip((np.append(ranks[1:], n + 1) + accuracy) / (n + 1), 0, 1)
    bottom[-1] = bottom[-2]
    return x, bottom, top


def _realised(q: Distribution, uniform: float) -> Distribution:
    """A randomised q for one value of its uniform; any other as it is."""
    distribution = q.for_rows(Context(1, rng=_Fixed(uniform)))
    return distribution[0] if distribution.shape else distribution


@dataclass(frozen=True)
class _Fixed:
    """A generator of one and the same number."""

    value: float

    def random(self, size: int) -> Numbers:
        """`size` times the number."""
        return np.full(size, self.value)
