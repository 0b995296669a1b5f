"""The picture of the report in docs/: `make demo`, then `python docs_tools/screenshot.py` writes it anew."""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "build" / "report.html"
PICTURES = {1280: 2530, 390: 2378}
"""Widths of the window, and how much of the page is shown."""


def main() -> None:
    """Open the demo's report in Chromium and keep its upper part, as wide as a desk's and a pocket's screen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for width, height in PICTURES.items():
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(REPORT.as_uri())
            page.wait_for_selector("html[data-ready=true]", state="attached")
            path = ROOT / "docs" / "images" / f"report-{width}.png"
            page.screenshot(path=path, full_page=True, clip={"x": 0, "y": 0, "width": width, "height": height})
            print(f"wrote {path.relative_to(ROOT)}")
        browser.close()


if __name__ == "__main__":
    main()
