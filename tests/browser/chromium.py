"""A real browser for the pages: offline, from disk, and intolerant of any message, error or request."""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ARGS = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
ARGS += ["--disable-component-update", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """One browser for all tests of a session."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CALIBRANT_CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    if path is None:
        pytest.skip("no Chromium: set CALIBRANT_CHROMIUM, or put chromium or google-chrome on the PATH")
    # Chromium refuses to run as root in its sandbox.
    args = [*ARGS, "--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else ARGS
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=args)
        yield browser
        browser.close()


@dataclass
class Watch:
    """What a page did that it must not do; a test that provokes something takes it out."""

    problems: list[str] = field(default_factory=list)

    def attach(self, page, url: str) -> None:
        page.on("console", lambda message: self.problems.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("request", lambda request: self._request(request.url, url))

    def _request(self, asked: str, url: str) -> None:
        if asked.split("#")[0] != url and not asked.startswith("data:"):
            self.problems.append(f"request: {asked}")

    def take(self, pattern: str) -> list[str]:
        found = [problem for problem in self.problems if re.search(pattern, problem)]
        self.problems = [problem for problem in self.problems if problem not in found]
        return found


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture(scope="session")
def context(chromium):
    """context(width=1280, **options): made once for each choice, since that takes longer than to open a page."""
    made = {}

    def context(**options):
        key = tuple(sorted(options.items()))
        if key not in made:
            width = options.pop("width")
            made[key] = chromium.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
            made[key].set_default_timeout(10_000)
        return made[key]

    return context


@pytest.fixture
def visit(context, watch):
    """visit(file, width=1280, **options) opens a page and waits until it is drawn; the test fails on any problem."""
    pages = []

    def visit(file: Path, *, width: int = 1280, **options):
        page = context(width=width, **options).new_page()
        pages.append(page)
        watch.attach(page, file.as_uri())
        page.goto(file.as_uri())
        if options.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready=true]", state="attached")
        return page

    yield visit
    for page in pages:
        page.close()
    assert not watch.problems


@pytest.fixture(scope="session")
def data_of():
    """The data that a page holds for its scripts."""

    def data_of(file: Path) -> dict:
        html = file.read_text("utf-8")
        return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1])

    return data_of


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """saved(case): the file of a report of report_cases.py, made once."""
    folder, files = tmp_path_factory.mktemp("reports"), {}

    def saved(case) -> Path:
        if case not in files:
            files[case] = folder / f"{case.__name__}.html"
            files[case].write_text(case().html, "utf-8")
        return files[case]

    return saved
