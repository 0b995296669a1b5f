"""The share with atoms counted in part, beside the share that one counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant.metrics.interval_coverage import Held
from calibrant.plots.axes_style import Pen


def in_part(ax: Axes, held: Sequence[Held], at: Any, pen: Pen, *, along: Literal["x", "y"]) -> list[Line2D]:
    """A tick at each share that chance is asked about, where it is another than one counts; `along` has the shares."""
    if not any(each.in_part is not None for each in held):
        return []
    share = 100 * np.array([each.judged for each in held])
    x, y = (share, at) if along == "x" else (at, share)
    mark = "|" if along == "x" else "_"
    return ax.plot(
        x, y, marker=mark, linestyle="none", color=pen.ink, markersize=6 * pen.unit, zorder=2.5, label="atoms in part"
    )
