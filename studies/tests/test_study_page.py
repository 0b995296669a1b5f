"""The study's page in a real browser: its tables agree with those that Python writes, for any choice of datasets."""

import re
from pathlib import Path

import pytest

from studies.names import Method
from studies.paper import published
from studies.paper.html_page import study_page
from studies.paper.reading import read
from studies.paper.tables import table1, table2, versus

pytestmark = pytest.mark.browser
ROOT = Path(__file__).parents[2]
METRICS = {"std": 0, "ci95_width": 1, "nll": 2, "crps": 3, "ece": 4, "nll_exact": 5}


@pytest.fixture(scope="module")
def results():
    return read(ROOT / "results" / "study" / "cells.jsonl")


@pytest.fixture(scope="module")
def file(results, tmp_path_factory):
    path = tmp_path_factory.mktemp("study") / "report.html"
    path.write_text(study_page(results), "utf-8")
    return path


def numbers(text):
    """The numbers of a text, with their minus signs."""
    return [float(found.replace("−", "-")) for found in re.findall(r"−?\d+(?:\.\d+)?", text)]


def lines(page):
    """{row: [the texts of its cells]}."""
    rows = page.locator("#results-table tbody tr").all()
    return {row.locator("th").inner_text(): [cell.inner_text() for cell in row.locator("td").all()] for row in rows}


def near(shown, value, digits):
    """Equal, as far as the text goes."""
    return abs(shown - value) <= 0.51 * 10**-digits


def decimals(text):
    return len(text.split(" ± ")[0].partition(".")[2])


def test_the_first_table_is_the_one_that_python_writes(visit, file, results):
    shown = lines(visit(file))
    for row in table1(results).rows:
        cells = shown[row.labels[0]]
        for metric, column in METRICS.items():
            here = row.metrics[metric].here
            if here.value is not None:
                assert near(numbers(cells[column])[0], here.value, decimals(cells[column]))
                assert near(numbers(cells[column])[1], here.se, decimals(cells[column]))


def test_the_published_means_stand_below_ours(visit, file, results):
    cell = lines(visit(file))["zscore-naf"][METRICS["crps"]].splitlines()
    comparison = versus(results, Method("distribution", "zscore", "naf"), "crps")
    assert cell[1].startswith("paper ")
    assert near(numbers(cell[1])[0], comparison.published.value, decimals(cell[1]))
    assert near(numbers(cell[2])[0], comparison.difference, 1)


def test_the_second_table_has_the_paper_s_only_as_a_whole(visit, file, results):
    page = visit(file)
    page.select_option("#table", "2")
    whole = lines(page)
    for row in table2(results).rows:
        assert near(numbers(whole[row.labels[0]][METRICS["crps"]])[0], row.metrics["crps"].here.value, 4)
    assert "17 datasets" in whole["point"][METRICS["crps"]]
    page.get_by_label("boston").uncheck()
    assert "17 datasets" not in lines(page)["point"][METRICS["crps"]]


def test_the_choice_of_datasets_changes_the_means(visit, file, results):
    page = visit(file)
    page.get_by_role("button", name="None").click()
    assert page.locator("#sentence").inner_text() == "No dataset is chosen."
    page.get_by_label("boston").check()
    page.get_by_label("yacht").check()
    method = Method("distribution", "cdf", "naf")
    cell = lines(page)["cdf-naf"][METRICS["crps"]].splitlines()
    assert near(numbers(cell[0])[0], results.average(method, "crps", ["boston", "yacht"]).value, decimals(cell[0]))
    assert near(numbers(cell[1])[0], published.average("cdf-naf", "crps", ["boston", "yacht"]).value, decimals(cell[1]))
    assert page.locator("#widths .whiskers line").count() > 0
    page.get_by_role("button", name="All").click()
    assert page.locator("#sentence").inner_text() == "Means over all 14 datasets."


def test_a_heading_sorts_both_ways_and_says_so(visit, file):
    page = visit(file)

    def column():
        return [numbers(cells[METRICS["nll"]])[0] for cells in lines(page).values()]

    heading = page.get_by_role("button", name="NLL (authors')")
    heading.click()
    assert column() == sorted(column())
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("NLL (authors')")
    page.keyboard.press("Enter")  # the heading keeps the focus
    assert column() == sorted(column(), reverse=True)
    assert page.locator("th[aria-sort=descending]").count() == 1


def test_two_methods_are_compared_split_by_split(visit, file, results):
    page = visit(file)
    page.select_option("#one", label="quantile-linear, quantile-4")
    page.select_option("#other", label="cdf-linear")
    page.select_option("#metric", "crps")
    one, other = Method("quantile-4", "quantile", "linear"), Method("distribution", "cdf", "linear")
    gap = results.paired((one, "crps"), (other, "crps"))
    said = page.locator("#compared").inner_text()
    difference = said.partition("mean difference is ")[2]
    assert near(numbers(difference)[0], gap.value, decimals(difference))
    assert near(numbers(difference)[1], gap.se, decimals(difference))
    assert page.locator("#differences .plot .dots.s0 circle").count() == len(results.datasets) + 1


def test_a_chart_reads_out_each_dataset_here_and_published(visit, file, results):
    page = visit(file)
    page.select_option("#metric", "crps")
    page.locator("#published svg[role=application]").focus()
    page.keyboard.press("Home")
    method, first = Method("distribution", "zscore", "naf"), results.datasets[0]
    said = page.locator("#published .readout").inner_text()
    assert said.startswith(f"{first}: ")
    here, there = said.removeprefix(f"{first}: ").split("; published ")
    assert near(numbers(here)[0], results.of(first, method, "crps").value, decimals(here))
    assert near(numbers(there)[0], published.of(first, method.name, "crps").value, decimals(there))


def test_all_methods_and_the_intervals_have_their_tables(visit, file):
    page = visit(file)
    page.select_option("#table", "all")
    assert len(lines(page)) == 27
    page.select_option("#table", "intervals")
    assert len(lines(page)) == 9
    assert all(len(cells) == 4 for cells in lines(page).values())


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_the_page_fits_its_window_and_is_kept_as_a_picture(visit, file, width, colours, pytestconfig):
    page = visit(file, width=width, color_scheme=colours)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    folder = pytestconfig.rootpath / "build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=folder / f"study-{width}-{colours}.png", full_page=True)


def test_without_scripts_the_tables_are_there(visit, file, results):
    page = visit(file, java_script_enabled=False)
    assert page.locator("noscript table").count() == 3
    assert "zscore-naf" in page.locator("noscript table").first.inner_text()
