"""The pictures of plots.md: drawn at each build by the code above them, once for light pages and once for dark ones.

`ax = plots.fan(...)`, or `figure = plots.summary(...)`, in a code block draws images/plot-fan.png; of two calls of the
same plot the first counts.
"""

from __future__ import annotations

import doctest
import io
import re
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

PAGE = "plots.md"
DRAWN = re.compile(r"(ax|figure) = plots\.(\w+)\(")
SHOWN = re.compile(r"(!\[[^\]]*\])\(images/(plot-[\w-]+)\.png\)(\{[^}]*\})?")
INKS = {"light": ("black", "white"), "dark": ("#dde1e6", "#1e2329")}
"""Ink and paper; the dark ones are those of the theme at our hue."""


def on_files(files: Files, *, config: Any) -> Files:
    """The pictures next to the page."""
    page = files.get_file_from_path(PAGE)
    if page is None:
        raise PluginError(f"{PAGE} is gone, and its pictures are drawn by its code")
    for scheme, (ink, paper) in INKS.items():
        pictures = drawn(page.content_string, ink, paper)
        missing = {name for _, name, _ in SHOWN.findall(page.content_string)} - set(pictures)
        if missing:
            raise PluginError(f"{PAGE} shows {min(missing)}.png, which none of its code draws")
        for name, png in pictures.items():
            files.append(File.generated(config, f"images/{name}-{scheme}.png", content=png))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """The page with both pictures in place of each; the theme shows the one of its scheme."""
    return in_both_schemes(markdown) if page.file.src_uri == PAGE else markdown


def in_both_schemes(markdown: str) -> str:
    """Each picture twice.

    >>> in_both_schemes("![A fan](images/plot-fan.png)")
    '![A fan](images/plot-fan-light.png#only-light)![A fan](images/plot-fan-dark.png#only-dark)'
    """
    return SHOWN.sub("".join(rf"\1(images/\2-{scheme}.png#only-{scheme})\3" for scheme in INKS), markdown)


def drawn(markdown: str, ink: str, paper: str) -> dict[str, bytes]:
    r"""The plots that the code of a page draws, by name, as PNG.

    >>> code = ">>> from calibrant import Normal, plots\n>>> ax = plots.fan(Normal([0.0, 1.0], 1.0))\n"
    >>> list(drawn(code, "black", "white"))
    ['plot-fan']
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    namespace: dict[str, Any] = {"__name__": "__main__"}
    pictures: dict[str, bytes] = {}
    inked = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color")
    with mpl.rc_context(dict.fromkeys(inked, ink) | dict.fromkeys(("figure.facecolor", "axes.facecolor"), paper)):
        for example in doctest.DocTestParser().get_examples(markdown):
            exec(compile(example.source, PAGE, "single"), namespace)
            plot = DRAWN.match(example.source)
            name = f"plot-{plot[2].replace('_', '-')}" if plot else ""
            if plot and name not in pictures:
                file = io.BytesIO()
                namespace[plot[1]].figure.savefig(file, format="png", dpi=200, metadata={"Software": None})
                pictures[name] = file.getvalue()
    plt.close("all")
    return pictures
