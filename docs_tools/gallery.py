"""The gallery: every script of examples/gallery is run at each build, and shown with what it prints and draws.

A script starts with a docstring, the title and a paragraph or two. `# %%` starts a cell: comment lines are prose, in
Markdown; the rest is code. What a cell prints and the figures it leaves open follow it; a figure's label
(`figure.set_label`) is its text for those who cannot see it. HTML files that a script writes are offered on its page.
A script that fails or warns fails the build. Nothing is written into docs/.
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
MARKER = "<!-- gallery -->"
DPI, ENLARGED = 200, 1.5  # pictures are made for 80 mm of paper, and a screen is farther away


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
    written: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Picture:
    """A figure as PNG, its width on the page, and what it shows in words."""

    name: str
    png: bytes
    width: int
    alt: str


def on_config(config: Any) -> Any:
    """One page for each example, below the gallery's own."""
    for section in config.nav:
        if FOLDER.capitalize() in section:
            section[FOLDER.capitalize()] = [f"{FOLDER}/index.md", *(f"{FOLDER}/{slug(p)}.md" for p in scripts(config))]
    return config


def on_files(files: Files, *, config: Any) -> Files:
    """The pages, pictures and scripts."""
    for path in scripts(config):
        example = run(slug(path), path.read_text(encoding="utf-8"))
        made: dict[str, str | bytes] = {f"{example.name}.md": page(example), f"{example.name}.py": example.script}
        made |= {picture.name: picture.png for shown in example.pictures for picture in shown}
        made |= {f"{example.name}_{name}": content for name, content in example.written.items()}
        for name, content in made.items():
            files.append(File.generated(config, f"{FOLDER}/{name}", content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, **_: Any) -> str:
    """The index, with its cards."""
    if page.file.src_uri != f"{FOLDER}/index.md":
        return markdown
    examples = [run(slug(path), path.read_text(encoding="utf-8")) for path in scripts(config)]
    cards = ['<div class="gallery" markdown>', *(card(example) for example in examples), "</div>"]
    return markdown.replace(MARKER, "\n\n".join(cards))


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
def run(name: str, script: str) -> Example:
    """Run the cells one after the other in an empty folder; warnings are errors."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    example = parse(name, script)
    with tempfile.TemporaryDirectory() as folder, chdir(folder), mpl.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            _run_cells(example)
        except Exception as error:
            raise PluginError(f"the example {name} fails:\n{traceback.format_exc()}") from error
        finally:
            plt.close("all")
        for found in sorted(os.listdir(folder)):
            if found.endswith(".html"):
                example.written[found] = Path(folder, found).read_bytes()
    return example


def _run_cells(example: Example) -> None:
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for cell in example.cells:
        printed = io.StringIO()
        source = "\n" * cell.line + cell.code  # a traceback then tells the line of the script
        with redirect_stdout(printed):
            exec(compile(source, f"{example.name}.py", "exec"), namespace)
        example.printed.append(printed.getvalue().rstrip())
        example.pictures.append(figures(example, sum(map(len, example.pictures))))


def figures(example: Example, before: int) -> list[Picture]:
    """The open figures, which are closed; `before` pictures came from earlier cells."""
    from matplotlib import pyplot as plt

    found = []
    for k, number in enumerate(plt.get_fignums(), start=before + 1):
        figure = plt.figure(number)
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=DPI, metadata={"Software": None})
        width = round(96 * ENLARGED * figure.get_figwidth())
        found.append(Picture(f"{example.name}_{k}.png", file.getvalue(), width, alt(figure, example.title, k)))
        plt.close(figure)
    return found


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
    """The example in the index: its first picture, its title, its first sentence."""
    first = next((picture for shown in example.pictures for picture in shown), None)
    picture = f"![]({first.name}){{ loading=lazy }}" if first else ""
    sentence = re.split(r"(?<=\.)\s", " ".join(example.intro.split()), maxsplit=1)[0]
    link = f"[{example.title}]({example.name}.md)"
    return f'<div class="card" markdown>\n{picture}\n\n**{link}**\n\n{sentence}\n</div>'
