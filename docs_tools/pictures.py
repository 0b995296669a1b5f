"""The pictures of plots.md: drawn at each build by the code that stands above them on the page.

`ax = plots.fan(...)` in a code block draws images/plot-fan.png; of two calls of the same plot the first counts.
"""

from __future__ import annotations

import doctest
import io
import re
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

PAGE = "plots.md"
DRAWN = re.compile(r"ax = plots\.(\w+)\(")
SHOWN = re.compile(r"\(images/(plot-[\w-]+\.png)\)")


def on_files(files: Files, *, config: Any) -> Files:
    """The pictures beside the page."""
    page = files.get_file_from_path(PAGE)
    if page is None:
        raise PluginError(f"{PAGE} is gone, and its pictures are drawn by its code")
    pictures = drawn(page.content_string)
    missing = set(SHOWN.findall(page.content_string)) - set(pictures)
    if missing:
        raise PluginError(f"{PAGE} shows {min(missing)}, which none of its code draws")
    for name, png in pictures.items():
        files.append(File.generated(config, f"images/{name}", content=png))
    return files


def drawn(markdown: str) -> dict[str, bytes]:
    r"""The plots that the code of a page draws, by name, as PNG.

    >>> list(drawn(">>> from calibrant import Normal, plots\n>>> ax = plots.fan(Normal([0.0, 1.0], 1.0))\n"))
    ['plot-fan.png']
    """
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    namespace: dict[str, Any] = {"__name__": "__main__"}
    pictures: dict[str, bytes] = {}
    for example in doctest.DocTestParser().get_examples(markdown):
        exec(compile(example.source, PAGE, "single"), namespace)
        plot = DRAWN.match(example.source)
        name = f"plot-{plot[1].replace('_', '-')}.png" if plot else ""
        if plot and name not in pictures:
            file = io.BytesIO()
            namespace["ax"].figure.savefig(file, format="png", dpi=200, metadata={"Software": None})
            pictures[name] = file.getvalue()
    plt.close("all")
    return pictures
