"""The documentation: nothing public is left out, and what builds the site does what it says."""

from __future__ import annotations

import html
import importlib.util
import inspect
import io
import re
import sys
import warnings
from pathlib import Path
from types import GenericAlias, ModuleType

import griffe
import markdown
import matplotlib.pyplot as plt
import pytest
from mkdocs.config import load_config
from mkdocs.exceptions import PluginError
from reference.tolerances import TOLERANCES, Tolerance

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def tool(name):
    """A file of docs_tools, loaded as mkdocs does."""
    spec = importlib.util.spec_from_file_location(f"docs_tools_{name}", ROOT / "docs_tools" / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


TOOLS = ("command_line", "docstrings", "gallery", "maths", "offline", "pictures")
command_line, docstrings, gallery, maths, offline, pictures = map(tool, TOOLS)

# ---- the API pages ---------------------------------------------------------------------------------------------------

PUBLIC = (
    "calibrant",
    "calibrant.backtesting",
    "calibrant.distributions",
    "calibrant.horizons",
    "calibrant.interpolators",
    "calibrant.intervals",
    "calibrant.judging",
    "calibrant.metrics",
    "calibrant.models",
    "calibrant.monitoring",
    "calibrant.files",
    "calibrant.plots",
    "calibrant.predictions",
    "calibrant.refine",
    "calibrant.reports",
    "calibrant.scores",
    "calibrant.tables",
    "calibrant.tables.dask",
    "calibrant.tables.spark",
    "calibrant.testing",
)
PAGES = [page.read_text(encoding="utf-8") for page in DOCS.glob("api/*.md")]
DIRECTIVES = sorted(name for page in PAGES for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE))


def found(path):
    """The object of a dotted path; a module and a function of one name, as in calibrant.plots, are told apart."""
    parts = path.split(".")
    for end in range(len(parts) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            value = getattr(value, part)
        return value
    raise AssertionError(path)


def public_names(module):
    values = {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}
    listed = set(module.__all__) if module.__name__ != "calibrant" else set(dir(module)) - {"__version__"}
    return {name: value for name, value in values.items() if name in listed and not isinstance(value, ModuleType)}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_has_an_entry_in_the_api_pages(module):
    documented = [found(path) for path in DIRECTIVES]
    by_name = {path.rpartition(".")[2] for path in DIRECTIVES}
    names = public_names(importlib.import_module(module))
    assert names
    missing = [
        name
        for name, value in names.items()
        if not any(value is entry for entry in documented) and not (name in by_name and not callable(value))
    ]
    assert not missing


@pytest.mark.parametrize("path", DIRECTIVES)
def test_an_entry_is_no_module_of_the_same_name(path):
    """The file scores/signed.py hides the function scores.signed from what reads the sources."""
    folder = ROOT / "src" / Path(*path.split("."))
    assert not folder.with_suffix(".py").exists()
    assert not folder.is_dir()


def test_no_entry_stands_twice_and_each_has_a_docstring():
    assert len(set(DIRECTIVES)) == len(DIRECTIVES)
    entries = {path: found(path) for path in DIRECTIVES}
    spoken = {path: entry for path, entry in entries.items() if not isinstance(entry, GenericAlias)}
    bare = [path for path, entry in spoken.items() if callable(entry) and not inspect.getdoc(entry)]
    assert not bare


def test_the_navigation_has_every_page_once():
    def pages(nav):
        for entry in nav if isinstance(nav, list) else nav.values():
            yield from [entry] if isinstance(entry, str) else pages(entry)

    listed = list(pages(load_config(str(ROOT / "mkdocs.yml")).nav))
    written = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted(written)


def functions(entry):
    """A function itself; the public methods of a class, and its `__call__`."""
    if not inspect.isclass(entry):
        return [entry] if inspect.isfunction(entry) else []
    names = [name for name in dir(entry) if name == "__call__" or not name.startswith("_")]
    found = [inspect.getattr_static(entry, name) for name in names]
    found = [getattr(each, "__func__", each) for each in found]
    return [each for each in found if inspect.isfunction(each) and each.__module__.startswith("calibrant")]


def explained(function):
    """The words for each parameter in a docstring, as `help` shows it; those of a method may be its base class's."""
    sections = griffe.Docstring(inspect.getdoc(function) or "").parse("google", warnings=False)
    rows = [row for section in sections if section.kind.value == "parameters" for row in section.value]
    return {row.name.lstrip("*"): row.description for row in rows}


def of_the_base(owner, function):
    """The functions that a method overrides, and itself."""
    bases = inspect.getmro(owner) if inspect.isclass(owner) else ()
    methods = [
        getattr(vars(base).get(function.__name__), "__func__", vars(base).get(function.__name__)) for base in bases
    ]
    return [function, *(each for each in methods if inspect.isfunction(each))]


@pytest.mark.parametrize("path", DIRECTIVES)
def test_help_explains_every_parameter_of_what_the_api_pages_show(path):
    owner = found(path)
    for function in functions(owner):
        names = set(inspect.signature(function).parameters) - {"self", "cls"}
        words = {name: text for each in of_the_base(owner, function)[::-1] for name, text in explained(each).items()}
        assert not {name for name in names if len(words.get(name, "").split()) < 3}, function.__qualname__


# ---- what makes the site ---------------------------------------------------------------------------------------------


def test_the_page_on_exactness_promises_what_the_tests_hold_answers_to():
    page = (DOCS / "exactness.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if re.search(r"\de-\d+ \|$", line)
    ]
    promised = {name.split(":")[0]: Tolerance(*map(float, numbers)) for name, *numbers in rows}
    assert promised == TOLERANCES


class Page:
    """What a hook sees of a page."""

    class file:
        src_uri = "page.md"


def test_formulas_become_mathml():
    block = maths.on_page_content('<div class="arithmatex">\\[x &lt; 1\\]</div>', page=Page)
    assert re.fullmatch(
        r'<div class="formula" tabindex="0"><math [^>]*display="block">.*&#x0003C;.*</math></div>', block
    )
    inline = maths.on_page_content('<span class="arithmatex">\\(\\lambda\\)</span>', page=Page)
    assert "&#x003BB;" in inline


@pytest.mark.parametrize("formula", [r"\nonsense{x}", r"x_{1}_{2}", r"\begin{aligned} a &= b \end{aligned}"])
def test_a_formula_that_is_not_understood_fails_the_build(formula):
    with pytest.raises(PluginError, match=r"page\.md has a formula"):
        maths.on_page_content(f'<span class="arithmatex">\\({formula}\\)</span>', page=Page)


def test_formulas_in_docstrings_are_no_links_and_doctests_are_code():
    text = docstrings.marked_up("#{i: H[x](y_i) <= c}.\n\n>>> H[0](1)\n[2]\n\nThen *more*.")
    page = markdown.markdown(text, extensions=["pymdownx.superfences", "tables"])
    assert "<p>#{i: H[x](y_i) <= c}.</p>" in html.unescape(page)
    assert "[2]" in page[page.index("<pre") : page.index("</pre>")]
    assert page.endswith("<p>Then &#42;more&#42;.</p>")


def test_every_command_has_its_help():
    table = command_line.commands()
    for name in command_line._known():
        assert f"`calibrant {name}`" in table
        assert f"calibrant {name}" in command_line.command(name, "page.md")
    assert "`-o, --output FILE` | The file to write; an old one is replaced. *Required.*" in command_line.command(
        "fit", "page.md"
    )
    with pytest.raises(PluginError, match=r"page\.md asks for the help of 'bake'; the commands are fit, "):
        command_line.command("bake", "page.md")


@pytest.mark.parametrize(
    "page",
    [
        '<script src="//example.org/x.js"></script>',
        '<link rel="stylesheet" href="https://example.org/x.css">',
        '<link rel="preconnect" href="https://example.org">',
        '<p style="background: url(https://example.org/x.png)"></p>',
        '<img srcset="https://example.org/x.png 2x">',
    ],
)
def test_a_page_that_asks_another_server_is_found(page):
    assert offline.loaded_from_elsewhere(page)


# ---- the gallery -----------------------------------------------------------------------------------------------------

SCRIPT = '''"""A title.

A paragraph. Another sentence.
"""

import matplotlib.pyplot as plt

x = 3

# %%
# Prose with *Markdown*.

print("x is", x)
plt.plot([0, x])
plt.gcf().set_label("a line [going] up")

# %%
from pathlib import Path

Path("page.html").write_text("<p>made</p>")
'''


def test_an_example_shows_prose_code_output_and_pictures_in_order():
    example = gallery.run("line", SCRIPT)
    page = gallery.page(example)
    parts = [
        "# A title",
        "A paragraph.",
        "x = 3",
        "Prose with *Markdown*.",
        "plt.plot",
        "x is 3",
        "![a line (going) up]",
    ]
    places = [page.index(part) for part in parts]
    assert places == sorted(places)
    assert "(line_page.html)" in page
    assert "(line.py)" in page
    assert example.written == {"page.html": b"<p>made</p>"}
    assert "[A title](line.md)**\n\nA paragraph.\n" in gallery.card(example)


def test_a_picture_of_the_plots_page_is_drawn_on_light_and_on_dark_paper():
    code = ">>> from calibrant import Normal, plots\n>>> ax = plots.fan(Normal([0.0, 1.0], 1.0))\n"
    for paper, corner in (("white", 1.0), ("#333333", 0.2)):
        picture = plt.imread(io.BytesIO(pictures.drawn(code, "#808080", paper)["plot-fan"]))
        assert picture[0, 0, :3] == pytest.approx(corner)


def test_an_example_gives_the_same_pictures_twice():
    first, second = (gallery.run.__wrapped__("line", SCRIPT).pictures[1][0].png for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "broken", ["x = 1 / 0", "import warnings; warnings.warn('beware', stacklevel=1)", "assert False", "x ="]
)
def test_an_example_that_fails_or_warns_fails_the_build(broken):
    warnings.simplefilter("ignore")  # the gallery's own filter is on trial, not pytest's, which comes back after
    with pytest.raises(PluginError, match="the example broken "):
        gallery.run("broken", f'"""A title."""\n\n{broken}\n')


def test_an_example_without_a_docstring_fails_the_build():
    with pytest.raises(PluginError, match="must start with a docstring"):
        gallery.parse("bare", "x = 1\n")


TWO_PANELS = '''"""A title."""

import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, 2, figsize=(9, 3))
axes[0].plot([0, 1], color="blue")
axes[1].axhspan(0, 1, color="red")
axes[1].set(ylim=(0, 1), title="words", ylabel="words")
axes[1].text(0.5, 0.5, "words")
'''


def test_a_card_shows_one_panel_without_text():
    from matplotlib import image

    pixels = image.imread(io.BytesIO(gallery.run("two", TWO_PANELS, (1, 2)).thumbnail))[..., :3]
    height, width, _ = pixels.shape
    assert width / height == pytest.approx(1.6, abs=0.01)
    inner = pixels[height // 8 : -height // 8, width // 8 : -width // 8]
    assert (inner == [1, 0, 0]).all()  # the second panel fills the card: no blue line, no words
    first = image.imread(io.BytesIO(gallery.run("two", TWO_PANELS).thumbnail))[..., :3]
    assert not (first == [1, 0, 0]).all(axis=-1).any()
    with pytest.raises(PluginError, match=re.escape("shows panel 1.3 of two, which it does not draw")):
        gallery.run("two", TWO_PANELS, (1, 3))


def test_the_index_names_examples_that_exist_each_once():
    index = (DOCS / "gallery" / "index.md").read_text(encoding="utf-8")
    examples = [gallery.slug(path) for path in (ROOT / "examples" / "gallery").glob("[!_]*.py")]
    sections = gallery.sections_of(index, examples)
    listed = [name for shown in sections.values() for name in shown]
    assert sorted(listed) == sorted(examples)
    assert gallery.REST not in sections  # each stands in a section that was chosen for it
    assert len(sections) > 4
    with pytest.raises(PluginError, match="'Time' names 'gone', which is no example"):
        gallery.sections_of("## Time\n\n<!-- gallery: gone -->\n", examples)


def test_an_example_leaves_no_figure_and_no_setting_behind():
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    before = mpl.rcParams["font.size"]
    gallery.run(
        "loud", '"""A title."""\nimport matplotlib.pyplot as plt\nplt.rcParams["font.size"] = 30\nplt.plot([1])\n'
    )
    assert plt.get_fignums() == []
    assert mpl.rcParams["font.size"] == before


def test_every_example_of_the_gallery_has_a_title_a_paragraph_and_a_cell():
    scripts = sorted((ROOT / "examples" / "gallery").glob("[!_]*.py"))
    assert len(scripts) >= 12
    for path in scripts:
        example = gallery.parse(gallery.slug(path), path.read_text(encoding="utf-8"))
        assert example.title
        assert example.intro
        assert len(example.cells) > 1
