"""Inside the calibration: the scores, the map q made of them, and how each interpolator makes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from scipy.special import expit

from calibrant._arrays import floats
from calibrant._types import ArrayLike
from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.distributions.base import Context, Distribution
from calibrant.forecast import PredictionLike
from calibrant.interpolators import NAF, Interpolator, Linear, Naive, Random
from calibrant.interpolators.support import Logits
from calibrant.plots.curves import cdf_of, reach
from calibrant.plots.inputs import Numbers, evenly, numbers
from calibrant.plots.style import AFTER, Palette, Style, drawing, plain
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
    ends = (-20.0, 20.0) if logits else _ends(ordered)
    beyond = int(np.sum((ordered < ends[0]) | (ordered > ends[1])))
    name = "F(y), the PIT of the base" if logits else f"{type(calibrated.score).__name__}, φ(f(x), y)"
    with drawing(ax) as (ax, palette):
        shown = expit if logits else np.asarray
        _draw_map(ax, palette, calibrated.q, calibrated.guarantee.accuracy, ordered, ends, shown)
        chosen = evenly(n, _MOST_SCORES)
        size = float(np.clip(30 / np.sqrt(len(chosen)), 2.2, 4)) * palette.unit
        style: Style = {"markersize": size, "markeredgewidth": 0, "color": palette.ink}
        ax.plot(shown(ordered[chosen]), (chosen + 1) / (n + 1), "o", **style, label="scores, at i / (n + 1)")
        ax.set(xlim=shown(np.array(ends)), ylim=(-0.02, 1.02), ylabel="q")
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
    n = len(ordered)
    if not n:
        raise ValueError("interpolators needs at least one score, got none")
    given = _by_name((Naive(), Linear(), Random(), NAF()) if interpolators is None else interpolators)
    promises = {name: each.accuracy(n) for name, each in given.items()}
    titles = {name: f"{plain(name, most=18)}, {_promise(accuracy)}" for name, accuracy in promises.items()}
    maps = {name: each.fit(ordered) for name, each in given.items()}
    ends, columns = _ends(ordered), min(len(maps), 2)
    lines = -(-len(maps) // columns)
    with drawing(ax, height=8 + 33 * lines) as (ax, palette):
        ax.set_axis_off()
        inks = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
        sizes = ("axes.titlesize", "axes.labelsize", "xtick.labelsize", "ytick.labelsize")
        settings: dict[Any, Any] = dict.fromkeys(inks, palette.ink) | {"axes.facecolor": palette.paper}
        settings |= dict.fromkeys(sizes, 0.85 * palette.size)
        with matplotlib.rc_context(settings):
            for k, (name, q) in enumerate(maps.items()):
                line, column = divmod(k, columns)
                last = k + columns >= len(maps)
                box = (column / columns, 1 - (line + 0.93) / lines, 0.88 / columns, 0.74 / lines)
                panel = ax.inset_axes(box, xlim=ends, ylim=(0, 1), yticks=(0, 0.5, 1))
                _draw_map(panel, palette, q, promises[name], ordered, ends)
                _draw_lines(panel, palette, q, ordered, ends)
                panel.set_title(titles[name], loc="left", pad=3 * palette.unit)
                panel.set(xlabel="score u" if last else "", ylabel="" if column else "q(u)")
                panel.tick_params(labelleft=not column, labelbottom=last)
                panel.locator_params(axis="x", nbins=4)
    return ax


def _by_name(interpolators: Any) -> dict[str, Interpolator]:
    """Interpolators by name, which is their class's where none is given."""
    if isinstance(interpolators, Interpolator):
        raise TypeError(f"interpolators must be a list of interpolators, got {interpolators!r}")
    if not isinstance(interpolators, Mapping):
        names = [type(each).__name__ for each in interpolators]
        numbered = [f"{name} {k + 1}" if names.count(name) > 1 else name for k, name in enumerate(names)]
        interpolators = dict(zip(numbered, interpolators, strict=True))
    if not interpolators:
        raise ValueError("interpolators must hold at least one interpolator, got none")
    for name, each in interpolators.items():
        if isinstance(each, type) or not isinstance(each, Interpolator):
            raise TypeError(f"interpolators must hold Interpolator objects, got {each!r} as {name!r}")
    return dict(interpolators)


def _ends(ordered: Numbers) -> tuple[float, float]:
    """From a tenth before the first score to a tenth after the last."""
    low, high = reach(ordered)
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


def _promise(accuracy: float) -> str:
    return "exact" if accuracy == -1 else f"λ = {accuracy:.3g}"


def _drawn(q: Distribution) -> Distribution:
    """A randomised q for U = 1/2; any other as it is."""
    distribution = q.for_rows(Context(1, rng=_Half()))
    return distribution[0] if distribution.shape else distribution


class _Half:
    """A generator of 1/2."""

    def random(self, size: int) -> Numbers:
        """`size` times 1/2."""
        return np.full(size, 0.5)


def _draw_map(
    ax: Axes,
    palette: Palette,
    q: Distribution,
    accuracy: float,
    scores: Numbers,
    ends: tuple[float, float],
    shown: Callable[[Any], Any] = np.asarray,
) -> None:
    """q as a curve, and the band in which it may lie.

    That goes from (i - lambda) / (n + 1) to (i + 1 + lambda) / (n + 1) between S_(i) and the next, within [0, 1].
    """
    curve, random = cdf_of(_drawn(q)), accuracy == -1
    name = "q, drawn for U = 1/2" if random else "q"
    ax.plot(shown(curve.x), curve.height, color=palette.colour(AFTER), label=name, zorder=2.5)
    n, chosen = len(scores), evenly(len(scores), _POINTS)
    # where scores are left out, the band reaches from the step before to the step after
    ranks = np.concatenate([[0], chosen + 1, [n + 1]])
    x = np.concatenate([[ends[0]], scores[chosen], [ends[1]]])
    wide = max(accuracy, 0.0)  # U = 0 and U = 1 are the two steps between which every q whose lambda is 0 lies
    low = np.clip((ranks[:-1] - wide) / (n + 1), 0, 1)
    high = np.clip((ranks[1:] + wide) / (n + 1), 0, 1)
    label = "from U = 0 to U = 1" if random else f"{_promise(accuracy)}: where q may be"
    steps = np.append(low, low[-1]), np.append(high, high[-1])
    ax.fill_between(shown(x), *steps, step="post", **palette.band, label=label)


def _draw_lines(panel: Axes, palette: Palette, q: Distribution, scores: Numbers, ends: tuple[float, float]) -> None:
    """The scores on the line below, their values on the left, and lines that take the ones to the others."""
    scores = scores[evenly(len(scores), _MOST_LINES)]
    scores = scores[(scores >= ends[0]) & (scores <= ends[1])]
    at, left = numbers(_drawn(q).cdf(scores)), np.full(len(scores), ends[0])
    thin: Style = {"color": palette.tint(palette.ink, 0.5), "linewidth": 0.5 * palette.unit}
    panel.vlines(scores, 0, at, **thin)
    panel.hlines(at, left, scores, **thin)
    for x, y in ((scores, np.zeros(len(scores))), (left, at)):
        panel.plot(x, y, "o", color=palette.ink, markersize=2.5 * palette.unit, clip_on=False)
