"""The documentation as a site, opened from disk."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TWICE = "".join(f"![A logo](assets/logo.svg#only-{scheme})" for scheme in ("light", "dark"))
WIDE = "value = " + " + ".join(f"term_{k}" for k in range(60))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Two pages with the theme, the plugins and the styles of the whole site."""
    config = pytest.importorskip("mkdocs.config")
    from mkdocs.commands.build import build

    folder = tmp_path_factory.mktemp("site")
    docs = folder / "docs"
    shutil.copytree(ROOT / "docs" / "assets", docs / "assets")
    (docs / "index.md").write_text(f"# Start\n\n```python\n{WIDE}\n```\n\n```\n{WIDE}\n```\n", encoding="utf-8")
    (docs / "other.md").write_text(f"# Elsewhere\n\nThe pinball loss of a quantile.\n\n{TWICE}\n", encoding="utf-8")
    own = {"hooks": [], "plugins": ["search", "offline"], "nav": None, "watch": []}
    small = config.load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(docs), site_dir=str(folder / "html"), **own)
    small.plugins.on_startup(command="build", dirty=False)
    build(small)
    return folder / "html"


@pytest.fixture
def page(chromium, site):
    context = chromium.new_context(viewport={"width": 390, "height": 800}, offline=True)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    yield page
    context.close()


def test_search_works_from_disk(chromium, site):
    page = chromium.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "index.html").as_uri())
    page.click("input.md-search__input")
    page.keyboard.type("pinball")
    found = page.locator(".md-search-result__item")
    found.first.wait_for(timeout=10_000)
    assert "Elsewhere" in found.first.inner_text()
    page.close()


def test_long_lines_of_code_are_wrapped_and_text_keeps_its_columns(page):
    code, text = page.locator(".md-content pre > code").all()
    assert code.evaluate("e => e.scrollWidth <= e.clientWidth + 1")
    assert text.evaluate("e => e.scrollWidth > e.clientWidth + 1")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_of_a_picture_drawn_twice_the_page_shows_the_one_of_its_scheme_as_it_is(chromium, site, scheme):
    page = chromium.new_page(color_scheme=scheme)
    page.goto((site / "other.html").as_uri())
    (shown,) = [picture for picture in page.locator(".md-content img").all() if picture.is_visible()]
    assert shown.get_attribute("src").endswith(f"#only-{scheme}")
    assert shown.evaluate("e => getComputedStyle(e).filter") == "none"
    page.close()
