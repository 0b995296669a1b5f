"""The page of the league, its chart, and the tables they are made of."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from studies.folder import write_all
from studies.league.entrants import AUTOGLUON, ENTRANTS
from studies.league.running import FEW_ROWS, read
from studies.writers import markdown_table

CHOSEN_ON = ("boston", "concrete", "forest-fires", "kin8nm", "protein", "wine", "yacht")
CHOSEN_SPLITS = range(5)
"""The tables and splits on which the models of the blend, their settings and the refiners were chosen."""
OURS = ("boosting", "forest", "LightGBM")


def write(results: str | os.PathLike[str], folder: str | os.PathLike[str]) -> list[Path]:
    """Write `league.md` and its chart, `league.svg`, from a file of results."""
    frame = read(results)
    title, series = (_beside if len(_of(frame, AUTOGLUON)) else _beside_plain)(frame)
    parts = list(_page(frame))
    files: dict[str, str | bytes] = {}
    if series:
        parts.insert(1, "![Ratios of CRPS by table](league.svg)")
        files["league.svg"] = _chart(title, series)
    return write_all(Path(folder), {"league.md": "\n\n".join(parts) + "\n"} | files)


def ratios(frame: Any, entrant: str, other: str, metric: str) -> Any:
    """The ratio of two entrants' means over the splits both have, by table.

    Args:
        frame: The results.
        entrant: The name of the first.
        other: The name of the second.
        metric: The column.
    """
    mine, theirs = (
        _of(frame, name).set_index(["table", "split", "most"])[metric].dropna() for name in (entrant, other)
    )
    shared = mine.index.intersection(theirs.index)
    means = [each.loc[shared].groupby("table").mean() for each in (mine, theirs)]
    return means[0] / means[1]


def middle(ratios: Any) -> float:
    """The geometric mean."""
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else np.nan


def coverage_z(frame: Any, entrant: str) -> Any:
    """By table, how many standard errors the mean coverage of 90% intervals is from 0.9.

    The test rows of a split share its calibration rows: sqrt(0.09 (1/n + 1/m) / splits), with n a fifth of the rows and
    m a quarter of those.
    """
    found = _of(frame, entrant)
    by = found.groupby("table").agg(coverage=("coverage", "mean"), rows=("rows", "mean"), count=("split", "size"))
    return (by.coverage - 0.9) / np.sqrt(0.09 * (5 / by.rows + 4 / by.rows) / by["count"])


def _of(frame: Any, entrant: str) -> Any:
    """The lines of an entrant that did not fail."""
    return frame[(frame.entrant == entrant) & frame.failed.isna()]


def _unseen(frame: Any) -> Any:
    return frame[~frame.table.isin(CHOSEN_ON) & ~frame.split.isin(CHOSEN_SPLITS)]


def _page(frame: Any) -> Iterator[str]:
    large, small = frame[frame.most > FEW_ROWS], frame[frame.most == FEW_ROWS]
    large = frame if large.empty else large
    yield "# The league"
    yield from _result(large, small)
    if len(_of(small, AUTOGLUON)):
        yield "## Beside AutoGluon"
        yield (
            f"The same splits of at most {FEW_ROWS:,} rows. Ratios to AutoGluon: geometric means over tables; below 1, "
            "ours is sharper. Unseen: tables and splits that no choice of ours has seen."
        )
        yield _against(small, AUTOGLUON, [name for name in ENTRANTS if name.startswith("blend")])
        yield "### Table by table"
        yield _by_table(small, AUTOGLUON, ("blend", "blend cv=5"))
    if len(_of(large, "boosting plain")):
        yield "## Every method"
        yield (
            "Ratios to boosting by itself, with one distribution of its errors for every row: geometric means over "
            "tables. Coverage is that of 90% intervals; lowest and highest are means of a table."
        )
        yield _against(large, "boosting plain", [name for name in ENTRANTS if len(_of(large, name))])
        yield "### Our default beside the plain method, by model"
        yield _defaults(large)
    yield "## Which when"
    yield _which(small if len(_of(small, "blend")) else large)
    yield from _how(frame)


def _result(large: Any, small: Any) -> Iterator[str]:
    for name, cv in (("blend", ""), ("blend cv=5", "cv=5")):
        crps, score = (ratios(small, name, AUTOGLUON, metric) for metric in ("crps", "score"))
        if len(crps):
            yield (
                f"`CalibratedRegressor({cv})` has {middle(crps):.1%} of the CRPS of AutoGluon's best_quality and "
                f"{middle(score):.1%} of its 90% interval score, over {_count(len(crps), 'table')}; it is sharper "
                f"on {int((crps < 1).sum())} of them. {_without(crps, score)}"
            )
    for kind in OURS:
        crps = ratios(large, f"{kind} default", f"{kind} plain", "crps")
        if len(crps):
            yield (
                f"`CalibratedRegressor` of {kind} has {middle(crps):.1%} of the CRPS of the same model with one "
                f"distribution of errors for every row, over {_count(len(crps), 'table')}; at worst {crps.max():.1%} "
                f"({crps.idxmax()})."
            )


def _without(crps: Any, score: Any) -> str:
    """What is left where one table decides."""
    far = crps[crps < 0.5].index
    if not len(far):
        return ""
    return (
        f"On {', '.join(far)} AutoGluon fails; without: {middle(crps.drop(far)):.1%} and {middle(score.drop(far)):.1%}."
    )


def _against(frame: Any, other: str, names: Sequence[str]) -> str:
    rows = []
    for name in [*names, *([other] if other not in names else [])]:
        own, unseen = _of(frame, name), _unseen(frame)
        crps, score = (ratios(frame, name, other, metric) for metric in ("crps", "score"))
        by = own.groupby("table").coverage.mean()
        rows.append(
            [
                name,
                str(len(own)),
                _number(middle(crps)),
                _number(middle(score)),
                f"{int((score < 1).sum())} of {len(score)}" if name != other else "",
                _number(middle(ratios(unseen, name, other, "crps"))),
                _number(middle(ratios(unseen, name, other, "score"))),
                f"{by.mean():.3f}",
                f"{by.min():.3f} to {by.max():.3f}",
                f"{own.fit.mean():.1f}",
            ]
        )
    header = ["", "splits", "CRPS", "90% interval score", "score lower on", "CRPS, unseen", "score, unseen"]
    return markdown_table([*header, "coverage", "lowest to highest", "fit, s of one core"], rows)


def _by_table(frame: Any, other: str, names: Sequence[str]) -> str:
    found = {(name, metric): ratios(frame, name, other, metric) for name in names for metric in ("crps", "score")}
    tables = sorted(set().union(*(each.index for each in found.values())))
    rows = [
        [
            f"{table}{'' if table in CHOSEN_ON else ' (unseen)'}",
            f"{int(frame[frame.table == table].rows.max()):,}",
            *(_number(each.get(table, np.nan)) for each in found.values()),
            f"{_of(frame, other).groupby('table').coverage.mean().get(table, np.nan):.3f}",
        ]
        for table in tables
    ]
    header = ["table", "rows", *(f"{metric}, {name}" for name, metric in found), f"coverage of {other}"]
    return markdown_table([each.replace("crps", "CRPS") for each in header], rows)


def _defaults(frame: Any) -> str:
    rows = []
    for kind in OURS:
        crps, score = (ratios(frame, f"{kind} default", f"{kind} plain", metric) for metric in ("crps", "score"))
        if not len(crps):
            continue
        z = coverage_z(frame, f"{kind} default")
        rows.append(
            [
                kind,
                _number(middle(crps)),
                _number(middle(score)),
                f"{_number(crps.max())} ({crps.idxmax()})",
                f"{wilcoxon(np.log(crps)).pvalue:.2g}" if len(crps) > 1 else "",
                f"{z[z.abs().idxmax()]:+.1f} ({z.abs().idxmax()})",
            ]
        )
    header = ["model", "CRPS", "90% interval score", "worst table", "Wilcoxon p", "farthest coverage, standard errors"]
    return markdown_table(header, rows)


def _which(frame: Any) -> str:
    says = {
        "boosting default": ("a model of your own", "exact, (1 + lambda)/(n + 1)"),
        "several": ("several models of your own", "exact"),
        "blend": ("no model, or the sharpest with an exact guarantee", "exact"),
        "blend cv=5": ("few rows, or every per cent of sharpness", "none is known; coverage was as measured here"),
    }
    rows = []
    for name, (have, guarantee) in says.items():
        own = _of(frame, name)
        if len(own):
            coverage = own.groupby("table").coverage.mean()
            seconds = f"{own.fit.mean():.0f} s at {own.rows.mean():,.0f} rows"
            rows.append([have, ENTRANTS[name].what, seconds, guarantee, f"{coverage.mean():.3f}"])
    return markdown_table(["you have or want", "take", "fit, one core", "guarantee", "coverage of 90%"], rows)


def _how(frame: Any) -> Iterator[str]:
    yield "## How it was done"
    tables = frame.groupby("most").agg(tables=("table", "nunique"), splits=("split", "nunique"))
    parts = [
        f"{_count(row.tables, 'table')} of at most {most:,} rows, {_count(row.splits, 'random split')} of each"
        for most, row in tables.iterrows()
    ]
    yield (
        f"{'; '.join(parts)}. 80% of the rows are given to the method, which holds out what it needs; methods that "
        "must be given calibration rows take a quarter of them. Labels are in standard deviations. CRPS is twice the "
        "mean pinball loss over 99 levels. Seconds are of the processor, of AutoGluon of the "
        "clock; on a machine with other work."
    )
    yield (
        f"Models of the blend, their settings, the share of rows that calibrates and the refiners were chosen on "
        f"{', '.join(CHOSEN_ON)} and splits 0 to 4. The other tables on splits 5 to 9 were seen by no choice."
    )
    yield markdown_table(
        ["entrant", "what it is"],
        [[name, each.what] for name, each in ENTRANTS.items() if len(_of(frame, name))]
        + (
            [[AUTOGLUON, "AutoGluon 1.6.3, best_quality, quantile, 240 s, one core"]]
            if len(_of(frame, AUTOGLUON))
            else []
        ),
    )
    failed = frame[frame.failed.notna()]
    for name, lines in failed.groupby("entrant"):
        yield f"{name} failed {len(lines)} times, first on {lines.iloc[0].table}: {lines.iloc[0].failed}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _number(value: float) -> str:
    return "" if not np.isfinite(value) else f"{value:.3f}"


def _beside(frame: Any) -> tuple[str, dict[str, Any]]:
    few = frame[frame.most == FEW_ROWS]
    names = {"blend": "CalibratedRegressor()", "blend cv=5": "CalibratedRegressor(cv=5)"}
    found = {label: ratios(few, name, AUTOGLUON, "crps") for name, label in names.items()}
    return "CRPS / AutoGluon's", {label: each for label, each in found.items() if len(each)}


def _beside_plain(frame: Any) -> tuple[str, dict[str, Any]]:
    found = {kind: ratios(frame, f"{kind} default", f"{kind} plain", "crps") for kind in OURS}
    return "CRPS / the plain method's", {kind: each for kind, each in found.items() if len(each)}


def _chart(title: str, series: dict[str, Any]) -> bytes:
    """A dot for each table and series, around 1."""
    from matplotlib.figure import Figure

    tables = sorted(set().union(*(each.index for each in series.values())))
    figure = Figure(figsize=(7, 0.32 * len(tables) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    axes.axvline(1, color="0.6", linewidth=1)
    for label, each in series.items():
        axes.plot(each.clip(lower=0.3), [tables.index(name) for name in each.index], "o", label=label)
    axes.set(xlabel=f"{title} (below 1 is sharper)", yticks=range(len(tables)), xscale="log")
    axes.set_yticklabels(tables)
    ticks = [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1]
    axes.set_xticks(ticks, [f"{'≤ ' if tick == 0.3 else ''}{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.invert_yaxis()
    axes.grid(visible=True, axis="y", alpha=0.3)
    figure.legend(loc="outside upper left", ncols=len(series), frameon=False)
    out = io.BytesIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()
