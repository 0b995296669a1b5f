"""What every page promises: it reaches for nothing, runs only its own scripts, and is there for everybody."""

import html
import itertools

import pytest
import report_cases

from calibrant.metrics.rounding import fixed
from calibrant.reports.page import ASSETS, SHELL, number, page

pytestmark = pytest.mark.browser
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(20, 24, 28)"


@pytest.fixture
def file(saved):
    return saved(report_cases.usual)


def background(shown):
    return shown.evaluate("getComputedStyle(document.body).backgroundColor")


def ink(shown):
    return shown.evaluate("getComputedStyle(document.querySelector('#cdf .plot .line.s0')).stroke")


# Safety


def test_hostile_text_stays_text(visit, saved):
    shown = visit(saved(report_cases.hostile))
    assert shown.title() == " ".join(report_cases.HOSTILE.split())
    assert shown.locator("h1").text_content() == report_cases.HOSTILE
    assert report_cases.HOSTILE in shown.locator("#row-text").text_content()
    assert report_cases.HOSTILE in shown.locator("#group optgroup").first.get_attribute("label")
    shown.locator("#group").select_option("1")
    for chart in ("observed", "groups"):
        shown.locator(f"#{chart} details summary").click()
        shown.locator(f"#{chart} svg[role=application]").focus()
        shown.keyboard.press("End")
    assert report_cases.HOSTILE in shown.locator("#groups table").text_content()
    assert shown.locator("img, b, iframe").count() == 0
    assert shown.evaluate("window.pwned") is None


def test_an_injected_script_is_blocked(visit, watch, file):
    shown = visit(file)
    shown.evaluate("""() => {
        const script = document.createElement("script");
        script.textContent = "window.pwned = true";
        document.body.append(script);
        const image = document.createElement("img");
        image.setAttribute("onerror", "window.pwned = true");
        image.src = "data:,";
        document.body.append(image);
    }""")
    shown.wait_for_timeout(50)
    assert shown.evaluate("window.pwned") is None
    assert watch.take("Content Security Policy")


def test_nothing_can_be_fetched(visit, watch, file):
    shown = visit(file)
    with pytest.raises(Exception, match="Failed to fetch"):
        shown.evaluate("fetch('https://example.org/')")
    assert watch.take("Content Security Policy")
    watch.take("Fetch API cannot load")


def test_the_report_runs_in_a_notebooks_frame(visit, tmp_path, saved):
    outer = tmp_path / "notebook.html"
    source = html.escape(saved(report_cases.alone).read_text("utf-8"))
    outer.write_text(
        '<!doctype html><meta charset="utf-8"><html data-ready="true"><link rel="icon" href="data:,">'
        f'<iframe sandbox="allow-scripts" width=900 height=800 srcdoc="{source}"></iframe>',
        "utf-8",
    )
    frame = visit(outer).frame_locator("iframe")
    frame.locator("html[data-ready=true]").wait_for(state="attached")
    assert frame.locator("#pit .plot .bars rect").count() == 10


def test_data_and_scripts_cannot_end_their_element():
    text = page("page.html", (), {"</script>": "<!-- & \u2028"}, title="x")
    assert r"{\"\u003c/script\u003e\":\"\u003c!-- \u0026 \u2028\"}".replace('\\"', '"') in text
    for asset in ASSETS.iterdir():
        if asset.name.endswith(".js"):
            assert "</script" not in asset.read_text("utf-8")
            assert "<!--" not in asset.read_text("utf-8")


def test_bytes_that_are_no_text_do_not_stop_the_page():
    assert "<h1>a?b</h1>" in page("page.html", (), None, title="a\udcffb")


def test_the_shell_runs_before_the_page():
    text = page("page.html", ("forecast.js", "page.js"), None, title="x")
    starts = [text.index((ASSETS / name).read_text("utf-8")) for name in (*SHELL, "forecast.js")]
    assert starts == sorted(starts)
    assert text.count((ASSETS / "page.js").read_text("utf-8")) == 1


# Numbers


def test_python_and_javascript_write_numbers_alike(visit, file):
    numbers = [0, 1, -1, 0.5, -0.25, 12.3456, 999.96, 1234.6, 12345.6, -9876543.2, 1e7, 2.5e-4, 9.99e-5, -3e-300, 1e300]
    written = visit(file).evaluate("numbers => numbers.map(v => page.number(v))", numbers)
    assert written == [number(v) for v in numbers]
    assert written[-5:] == ["1×10⁷", "0.00025", "9.99×10⁻⁵", "−3×10⁻³⁰⁰", "1×10³⁰⁰"]
    assert number(12345.6) == "12,346"


def test_python_and_javascript_round_halves_alike(visit, file):
    halves = [90.25, 0.5, 1.5, 2.5, 0.125, 1.00005, 22.225, 12345000.0, 123450000.0]
    shown = visit(file)
    assert shown.evaluate("all => all.map(v => page.number(v))", halves) == [number(v) for v in halves]
    for decimals in (0, 1, 2):
        written = shown.evaluate("([all, d]) => all.map(v => page.fixed(v, d))", [halves[:7], decimals])
        assert written == [fixed(v, decimals) for v in halves[:7]]
    assert fixed(90.25, 1) == "90.3"


# Colours and paper


def test_colours_follow_the_system_until_one_chooses(visit, file):
    light, dark = visit(file, color_scheme="light"), visit(file, color_scheme="dark")
    assert (background(light), background(dark)) == (LIGHT, DARK)
    assert ink(light) == "rgb(0, 114, 178)"
    assert ink(dark) != ink(light)
    dark.get_by_label("Light").check()
    assert (background(dark), ink(dark)) == (LIGHT, ink(light))
    light.get_by_label("Dark").check()
    assert background(light) == DARK
    light.get_by_label("Auto").check()
    assert background(light) == LIGHT


def test_paper_is_light_and_without_controls(visit, file):
    shown = visit(file, color_scheme="dark")
    shown.get_by_label("Dark").check()
    shown.emulate_media(media="print")
    assert background(shown) == LIGHT
    assert ink(shown) == "rgb(0, 114, 178)"
    visible = "all => all.map(one => one.checkVisibility())"
    assert not any(shown.locator("button:not(.link), select, input, .skip, fieldset, .saves").evaluate_all(visible))
    assert all(
        shown.locator(".misses .link, .headline, .tile, h2, .chart .plot, .cards, #sentence").evaluate_all(visible)
    )
    assert shown.pdf().startswith(b"%PDF")


def test_an_open_table_is_printed_whole(visit, file):
    shown = visit(file)
    shown.locator("#reliability details summary").click()
    shown.locator("#reliability tbody tr").nth(198).wait_for()
    shown.emulate_media(media="print")
    assert shown.locator("#reliability .numbers").evaluate("box => box.scrollHeight <= box.clientHeight")


# Everybody


def test_without_javascript_the_words_and_the_table_remain(visit, file):
    shown = visit(file, java_script_enabled=False)
    assert "need JavaScript" in shown.locator("noscript").inner_text()
    assert shown.locator(".headline").is_visible()
    assert shown.locator(".tile").count() == 4
    for part in ("What is guaranteed", "In numbers", "How this was computed"):
        assert shown.get_by_role("heading", name=part).is_visible()
    assert shown.locator(".cards tbody tr").first.is_visible()
    assert not shown.locator("#coverage, #theme, .chart").first.is_visible()


@pytest.mark.few
@pytest.mark.parametrize("case", [report_cases.usual, report_cases.narrow, report_cases.wild, report_cases.several])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_an_accessibility_checker_finds_nothing(visit, saved, width, scheme, case):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed")
    shown = visit(saved(case), width=width, color_scheme=scheme)
    shown.locator("#pit details summary").click()
    result = axe.Axe().run(shown)
    assert [(one["id"], one["nodes"][0]["html"]) for one in result.response["violations"]] == []


def test_everything_that_takes_the_focus_has_a_name(visit, file):
    shown = visit(file)
    session = shown.context.new_cdp_session(shown)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    named = {
        node["name"]["value"]
        for node in nodes
        for trait in node.get("properties", ())
        if trait["name"] == "focusable" and trait["value"]["value"] and node["role"]["value"] != "RootWebArea"
        if node["name"]["value"] or node["role"]["value"] != "main"
    }
    assert "" not in named
    assert {"Coverage", "Rows", "Row", "Next row", "Intervals", "Table and files (Mean width)"} <= named


def test_the_tab_key_reaches_every_control(visit, file):
    shown = visit(file)
    # One stop for a group of radio buttons, none for what is disabled or hidden.
    wanted = shown.evaluate("""() => [...document.querySelectorAll(
        "a, button, select, input, summary, svg[tabindex], .numbers")].filter(
        one => one.checkVisibility() && !one.disabled && !(one.type === "radio" && !one.checked)).length""")
    shown.evaluate("window.reached = new Set()")
    shown.evaluate("document.addEventListener('focusin', event => window.reached.add(event.target))")
    for _ in range(wanted + 1):
        shown.keyboard.press("Tab")
    assert wanted > 30
    assert shown.evaluate("window.reached.size") == wanted


def test_the_focus_is_seen(visit, file):
    shown = visit(file)
    for _ in range(30):
        shown.keyboard.press("Tab")
        seen = shown.evaluate("""() => {
            const one = document.activeElement;
            const drawn = one.type === "radio" ? one.nextElementSibling : one;
            return getComputedStyle(drawn).outlineStyle;
        }""")
        assert seen == "solid"


def test_headings_go_down_one_step_at_a_time(visit, file):
    levels = visit(file).locator("h1, h2, h3, h4").evaluate_all("all => all.map(one => Number(one.tagName[1]))")
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "case", [report_cases.usual, report_cases.hostile, report_cases.wild], ids=lambda case: case.__name__
)
def test_a_phone_need_not_scroll_sideways(visit, saved, case):
    shown = visit(saved(case), width=390)
    for summary in shown.locator("details summary").all():
        summary.click()
    assert shown.evaluate("document.documentElement.scrollWidth") == 390
