"""The gallery: every script of examples/gallery is run at each build, and shown with what it prints and draws.

A script starts with a docstring, the title and a paragraph or two. `# %%` starts a cell: comment lines are prose, in
Markdown; the rest is code. What a cell prints and the figures it leaves open follow it; a figure's label
(`figure.set_label`) is its text for those who cannot see it. HTML files that a script writes are offered on its page.
A script that fails or warns fails the build. Nothing is written into docs/.

The index has sections: `<!-- gallery: first_example, other_example 2.1 -->` below a heading names the examples in it. A
card shows one panel, without text: the first of the first figure, or as here the first panel of the second figure.
"""

from __future__ import annotations

import ast
import io
import os
import re
import tempfile
import traceback
import warnings
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files

FOLDER = "gallery"
SECTION = re.compile(r"^## ([^\n]+)\n+<!-- gallery: ([^>]+?) -->$", re.MULTILINE)
REST = "More"
DPI, ENLARGED = 200, 1.5  # pictures are made for 80 mm of paper, and a screen is farther away
THUMBNAIL = (2.4, 1.5)  # inches


@dataclass(frozen=True)
class Cell:
    """Prose, and code after it; `line` is where the code starts in the script."""

    prose: str
    code: str
    line: int


@dataclass
class Example:
    """A script and, after `run`, what came of it."""

    name: str
    script: str
    title: str
    intro: str
    cells: list[Cell]
    printed: list[str] = field(default_factory=list)
    pictures: list[list[Picture]] = field(default_factory=list)
    thumbnail: bytes = b""
    written: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A figure as PNG, its width on the page, and what it shows in words."""

    name: str
    png: bytes
    width: int
    alt: str


def on_config(config: Any) -> Any:
    """One page for each example, below the gallery's own, in its sections."""
    for section in config.nav:
        if FOLDER.capitalize() in section:
            pages = [{title: [f"{FOLDER}/{name}.md" for name in shown]} for title, shown in sections(config).items()]
            section[FOLDER.capitalize()] = [f"{FOLDER}/index.md", *pages]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """The pages, pictures and scripts."""
    panels = {name: panel for shown in sections(config).values() for name, panel in shown.items()}
    for path in scripts(config):
        example = run(slug(path), path.read_text(encoding="utf-8"), panels[slug(path)])
        made: dict[str, str | bytes] = {f"{example.name}.md": page(example), f"{example.name}.py": example.script}
        made |= {picture.name: picture.png for shown in example.pictures for picture in shown}
        made |= {f"{example.name}_{name}": content for name, content in example.written.items()}
        if example.thumbnail:
            made[f"{example.name}_thumbnail.png"] = example.thumbnail
        for name, content in made.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """The index, with its cards."""
    if page.file.src_uri != f"{FOLDER}/index.md":
        return markdown
    texts = {slug(path): path.read_text(encoding="utf-8") for path in scripts(config)}
    parts = [markdown[: found.start()] if (found := SECTION.search(markdown)) else markdown]
    for title, shown in sections(config).items():
        cards = [card(run(name, texts[name], panel)) for name, panel in shown.items()]
        parts += [f"## {title}", '<div class="gallery" markdown>', *cards, "</div>"]
    return "\n\n".join(parts)


def sections(config: Any) -> dict[str, dict[str, tuple[int, int]]]:
    """The sections of the index: the examples in each, with the figure and the panel that their cards show."""
    index = Path(config.docs_dir, FOLDER, "index.md").read_text(encoding="utf-8")
    return sections_of(index, [slug(path) for path in scripts(config)])


def sections_of(index: str, examples: list[str]) -> dict[str, dict[str, tuple[int, int]]]:
    r"""The same of a text; examples that no section names are in one of their own, the last.

    >>> sections_of("# Gallery\n\n## One\n\n<!-- gallery: a, b 2.1 -->\n", ["a", "b", "c"])
    {'One': {'a': (1, 1), 'b': (2, 1)}, 'More': {'c': (1, 1)}}
    """
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for title, listed in SECTION.findall(index):
        for entry in listed.split(","):
            name, _, panel = entry.strip().partition(" ")
            if name not in examples:
                raise PluginError(f"the gallery's section {title!r} names {name!r}, which is no example")
            figure, _, axes = (panel or "1.1").partition(".")
            found.setdefault(title, {})[name] = int(figure), int(axes)
    named = {name for shown in found.values() for name in shown}
    rest = {name: (1, 1) for name in examples if name not in named}
    return found | ({REST: rest} if rest else {})


def scripts(config: Any) -> list[Path]:
    """The examples, in the order of their names."""
    return sorted((Path(config.config_file_path).parent / "examples" / "gallery").glob("[!_]*.py"))


def slug(path: Path) -> str:
    """The name without the number that puts it in its place."""
    return re.sub(r"^\d+_", "", path.stem)


def parse(name: str, script: str) -> Example:
    r"""Title, introduction and cells.

    >>> example = parse("one", '\"\"\"Title.\n\nIntro.\"\"\"\n\nx = 1\n\n# %%\n# Prose.\nprint(x)\n')
    >>> example.title, example.intro, [(cell.prose, cell.code.strip()) for cell in example.cells]
    ('Title', 'Intro.', [('', 'x = 1'), ('Prose.', 'print(x)')])
    """
    try:
        tree = ast.parse(script)
    except SyntaxError as error:
        raise PluginError(f"the example {name} is no Python: {error}") from error
    docstring = ast.get_docstring(tree)
    if not docstring:
        raise PluginError(f"the example {name} must start with a docstring: its title and a paragraph")
    title, _, intro = docstring.partition("\n")
    lines = script.splitlines()
    cells: list[Cell] = []
    start = tree.body[0].end_lineno or 0
    marks = [k for k in range(start, len(lines)) if lines[k].startswith("# %%")]
    for begin, end in zip([start, *marks], [*marks, len(lines)], strict=True):
        code = begin
        while code < end and begin in marks and lines[code].startswith("#"):
            code += 1
        prose = [re.sub(r"^#( %%)? ?", "", line) for line in lines[begin:code]]
        cell = Cell("\n".join(prose).strip(), "\n".join(lines[code:end]).rstrip(), code)
        if cell.prose or cell.code.strip():
            cells.append(cell)
    return Example(name, script, title.strip().rstrip("."), intro.strip(), cells)


@cache
def run(name: str, script: str, panel: tuple[int, int] = (1, 1)) -> Example:
    """Run the cells one after the other in an empty folder; warnings are errors."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    example = parse(name, script)
    with tempfile.TemporaryDirectory() as folder, chdir(folder), mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _run_cells(example, panel)
        except Exception as error:
            raise PluginError(f"the example {name} fails:\n{traceback.format_exc()}") from error
        finally:
            plt.close("all")
        if any(example.pictures) and not example.thumbnail:
            raise PluginError(
                f"the gallery's index shows panel {panel[0]}.{panel[1]} of {name}, which it does not draw"
            )
        for found in sorted(os.listdir(folder)):
            if found.endswith(".html"):
                example.written[found] = Path(folder, found).read_bytes()
    return example


def _run_cells(example: Example, panel: tuple[int, int]) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in example.cells:
        printed = io.StringIO()
        source = "\n" * cell.line + cell.code  # a traceback then tells the line of the script
        with redirect_stdout(printed):
            exec(compile(source, f"{example.name}.py", "exec"), namespace)
        example.printed.append(printed.getvalue().rstrip())
        example.pictures.append(figures(example, sum(map(len, example.pictures)), panel))


def figures(example: Example, before: int, panel: tuple[int, int]) -> list[Picture]:
    """The open figures, which are closed; `before` pictures came from earlier cells."""
    from matplotlib import pyplot as plt

    found = []
    for k, number in enumerate(plt.get_fignums(), start=before + 1):
        figure = plt.figure(number)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        width = round(96 * ENLARGED * figure.get_figwidth())
        found.append(Picture(f"{example.name}_{k}.png", file.getvalue(), width, alt(figure, example.title, k)))
        if k == panel[0] and panel[1] <= len(figure.axes):
            example.thumbnail = thumbnail(figure, figure.axes[panel[1] - 1])
        plt.close(figure)
    return found


def thumbnail(figure: Any, shown: Any) -> bytes:
    """One panel as PNG, without the rest of its figure and without text, which would be too small to read."""
    figure.set_layout_engine("none")
    for axes in figure.axes:
        axes.set_visible(axes is shown)
    for words in [*figure.texts, *figure.legends, *shown.texts, shown.get_legend()]:
        if words is not None:
            words.set_visible(False)
    for place in ("left", "center", "right"):
        shown.set_title("", loc=place)
    shown.set(xlabel="", ylabel="")
    shown.tick_params(which="both", length=0, labelbottom=False, labelleft=False, labeltop=False, labelright=False)
    shown.set_position([0.02, 0.03, 0.96, 0.94])
    shown.set_aspect("auto")
    figure.set_size_inches(THUMBNAIL)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()


def alt(figure: Any, title: str, k: int) -> str:
    """The figure's label, or the titles in it."""
    titles = [axes.get_title() or axes.get_title(loc="left") for axes in figure.axes]
    words = figure.get_label() or "; ".join(word for word in titles if word) or f"{title}, picture {k}"
    return " ".join(words.replace("[", "(").replace("]", ")").split())


def page(example: Example) -> str:
    """The page of an example, in Markdown."""
    parts = [f"# {example.title}", example.intro]
    for cell, printed, pictures in zip(example.cells, example.printed, example.pictures, strict=True):
        parts.append(cell.prose)
        if cell.code.strip():
            parts.append(f"```python\n{cell.code.strip()}\n```")
        if printed:
            parts.append(f"```{{.text .printed}}\n{printed}\n```")
        parts += [f'![{p.alt}]({p.name}){{ .picture width="{p.width}" }}' for p in pictures]
    parts += [f"[Open what it wrote: {name}]({example.name}_{name}){{ .md-button }}" for name in example.written]
    parts.append(f"[Download this example]({example.name}.py){{ .md-button download='{example.name}.py' }}")
    return "\n\n".join(part for part in parts if part)


def card(example: Example) -> str:
    """The example in the index: one panel, its title, its first sentence."""
    picture = f"![]({example.name}_thumbnail.png){{ loading=lazy }}" if example.thumbnail else ""
    sentence = re.split(r"(?<=\.)\s", " ".join(example.intro.split()), maxsplit=1)[0]
    link = f"[{example.title}]({example.name}.md)"
    return f'<div class="card" markdown>\n{picture}\n\n**{link}**\n\n{sentence}\n</div>'
