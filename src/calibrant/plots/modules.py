"""Inside the calibration: the scores, the map q made of them, and how each interpolator makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from calibrant.plots.curves import cdf_curve, quantiles, reach
from calibrant.plots.inputs import Numbers, evenly, numbers
from calibrant.plots.style import Palette, Style, drawing, figure_of, plain
from calibrant.predictions import with_labels

_MOST_SCORES = 500
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
    ['q', 'λ = 0: where q may be', 'scores, at i / (n + 1)']
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
    ordered = np.sort(numbers(calibrated.score(prediction, y)))
    logits = isinstance(calibrated.score.support, Logits)
    grid = scipy.special.logit(np.linspace(1e-9, 1 - 1e-9, _POINTS)) if logits else _around(ordered)
    learned = _Map(calibrated.q, calibrated.guarantee.accuracy, ordered, grid, logits=logits)
    beyond = int(np.sum((ordered < grid[0]) | (ordered > grid[-1])))
    name = "F(y), the PIT of the base" if logits else f"{type(calibrated.score).__name__}, φ(f(x), y)"
    with drawing(ax) as (ax, palette):
        learned.draw(ax, palette)
        chosen = evenly(n, _MOST_SCORES)
        size = float(np.clip(30 / np.sqrt(len(chosen)), 2.2, 4)) * palette.unit
        style: Style = {"markersize": size, "markeredgewidth": 0, "color": palette.ink, "zorder": 4}
        ax.plot(learned.shown(ordered[chosen]), (chosen + 1) / (n + 1), "o", **style, label="scores, at i / (n + 1)")
        ax.set(xlim=learned.shown(grid[[0, -1]]), ylim=(-0.02, 1.02), ylabel="q")
        ax.set_xlabel(f"{name} ({beyond:,} beyond)" if beyond else name)
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
    n, grid = len(ordered), _around(ordered)
    maps = {name: _Map(each.fit(ordered), each.accuracy(n), ordered, grid) for name, each in given.items()}
    titles = {name: f"{plain(name, most=18)}, {each.promise}" for name, each in maps.items()}
    columns = 3 if len(maps) == 3 else min(len(maps), 2)
    lines = -(-len(maps) // columns)
    with drawing(ax, height=8 + 33 * lines) as (ax, palette):
        ax.set_axis_off()
        names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
        sizes = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
        longest = max(len(each) for each in titles.values())
        room = 0.7 * ax.get_window_extent().width * 72 / figure_of(ax).dpi / columns
        size = max(5.0, min(0.9 * palette.size, room / (0.55 * longest)))
        settings: dict[Any, Any] = dict.fromkeys(names, palette.ink) | dict.fromkeys(sizes, size)
        with matplotlib.rc_context(settings | {"axes.facecolor": palette.paper}):
            for k, (name, learned) in enumerate(maps.items()):
                line, column = divmod(k, columns)
                box = (column / columns, 1 - (line + 0.93) / lines, 0.88 / columns, 0.74 / lines)
                panel = ax.inset_axes(box)
                learned.draw(panel, palette)
                learned.draw_lines(panel, palette)
                panel.set_title(titles[name], loc="left", pad=3 * palette.unit)
                if column == 0:
                    panel.set_ylabel("q(u)")
                if line == lines - 1:
                    panel.set_xlabel("score u")
                panel.tick_params(labelleft=column == 0, labelbottom=line == lines - 1)
    return ax


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


def _around(ordered: Numbers) -> Numbers:
    """A grid from a tenth before the first score to a tenth after the last."""
    low, high = reach(ordered)
    room = 0.1 * (high - low)
    return np.linspace(low - room, high + room, _POINTS)


@dataclass(frozen=True)
class _Map:
    """q and its lambda, the sorted scores it was made of, and the grid along which it is drawn."""

    q: Distribution
    accuracy: float
    scores: Numbers
    grid: Numbers
    logits: bool = False

    @property
    def randomised(self) -> bool:
        return self.accuracy == -1

    @property
    def promise(self) -> str:
        return "exact" if self.randomised else f"λ = {self.accuracy:.3g}"

    def shown(self, scores: Numbers) -> Numbers:
        """Scores as they are drawn: logits as their probabilities."""
        return np.asarray(scipy.special.expit(scores)) if self.logits else scores

    @property
    def drawn(self) -> Distribution:
        """A randomised q for U = 1/2; any other as it is."""
        distribution = self.q.for_rows(Context(1, rng=_Half()))
        return distribution[0] if distribution.shape else distribution

    def draw(self, ax: Axes, palette: Palette) -> None:
        """q as a curve, and the band in which it may lie."""
        x, height = cdf_curve(self.drawn, quantiles(self.drawn), self.grid)
        style: Style = {"color": palette.after, "linewidth": 1.2 * palette.unit, "zorder": 5}
        ax.plot(self.shown(x), height, **style, label="q, drawn for U = 1/2" if self.randomised else "q")
        # U = 0 and U = 1 are the two steps between which every q whose lambda is 0 lies
        x, low, high = self._band()
        label = "from U = 0 to U = 1" if self.randomised else f"{self.promise}: where q may be"
        ax.fill_between(self.shown(x), low, high, step="post", **palette.band, label=label)

    def _band(self) -> tuple[Numbers, Numbers, Numbers]:
        """(i - lambda) / (n + 1) and (i + 1 + lambda) / (n + 1) from each S_(i) to the next, within [0, 1]."""
        n, accuracy = len(self.scores), max(self.accuracy, 0.0)
        chosen = evenly(n, _POINTS)
        # where scores are left out, the band reaches from the step before to the step after
        ranks = np.concatenate([[0], chosen + 1, [n + 1]])
        x = np.concatenate([self.grid[:1], self.scores[chosen], self.grid[-1:]])
        low = np.clip((ranks - accuracy) / (n + 1), 0, 1)
        high = np.clip((np.append(ranks[1:], n + 1) + accuracy) / (n + 1), 0, 1)
        low[-1] = low[-2]
        return x, low, high

    def draw_lines(self, panel: Axes, palette: Palette) -> None:
        """The scores on the line below, their values on the left, and lines that take the ones to the others."""
        left, right = self.grid[[0, -1]]
        scores = self.scores[evenly(len(self.scores), _MOST_LINES)]
        scores = scores[(scores >= left) & (scores <= right)]
        at = numbers(self.drawn.cdf(scores))
        thin: Style = {"color": palette.tint(palette.ink, 0.5), "linewidth": 0.5 * palette.unit}
        panel.vlines(scores, 0, at, **thin)
        panel.hlines(at, left, scores, **thin)
        dots: Style = {"color": palette.ink, "markersize": 2.5 * palette.unit, "clip_on": False, "zorder": 6}
        panel.plot(scores, np.zeros_like(scores), "o", **dots)
        panel.plot(np.full_like(at, left), at, "o", **dots)
        panel.set(xlim=(left, right), ylim=(0, 1), yticks=(0, 0.5, 1))
        panel.locator_params(axis="x", nbins=4)


class _Half:
    """A generator of 1/2."""

    def random(self, size: int) -> Numbers:
        """`size` times 1/2."""
        return np.full(size, 0.5)
