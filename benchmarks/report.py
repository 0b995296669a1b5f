"""The report on many rows: `python benchmarks/report.py`. The table is printed and written to results/report.md.

How long it takes to make, how large the page is, and how long Chromium takes to open it from disk until all is drawn.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from calibrant import Calibrator, Normal, report

ROOT = Path(__file__).parents[1]
ROWS = (1_000, 10_000, 100_000, 1_000_000)
OPENED = 5


def made(m: int, path: Path) -> float:
    """Write the report of m rows with three groupings; the seconds of the processor."""
    rng = np.random.default_rng(0)
    f, noise = rng.normal(size=(2, m + 10_000))
    base, y = Normal(f, 0.5), f + noise
    calibrated = Calibrator().fit(base[:10_000], y[:10_000])
    groups = {"x": f[10_000:], "region": rng.choice(["north", "south", "east"], m), "year": rng.integers(2000, 2010, m)}
    start = time.process_time()
    page = report(
        calibrated(base[10_000:]), y[10_000:], base=base[10_000:], groups=groups, guarantee=calibrated.guarantee
    )
    page.save(path)
    return time.process_time() - start


def opened(browser: Browser, path: Path) -> float:
    """The seconds from the request to the page's own word that it is ready, the best of some."""
    best = float("inf")
    for _ in range(OPENED):
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready=true]", state="attached")
        best = min(best, time.perf_counter() - start)
        page.close()
    return best


def main() -> None:
    lines = [
        "# The report on many rows",
        "",
        "z-score, linear, n = 10,000, a base, three groupings (17 groups) and the five by predicted value. Made:",
        "processor seconds. Opened: seconds from disk until all is drawn, in Chromium, the best of"
        f" {OPENED}, on {os.cpu_count()} cores.",
        "",
        "| rows | made | page | opened |",
        "|---|---|---|---|",
    ]
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for m in ROWS:
            path = Path(folder) / "report.html"
            seconds = made(m, path)
            lines.append(
                f"| {m:,} | {seconds:.1f} s | {path.stat().st_size / 1e6:.2f} MB | {opened(browser, path):.2f} s |"
            )
            print(lines[-1], flush=True)
        browser.close()
    lines += ["", "Made by `python benchmarks/report.py`."]
    (ROOT / "results" / "report.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
