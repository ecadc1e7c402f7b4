"""The page of a report in a real browser: light, dark, on a phone, on paper, and with hostile texts in it."""

from __future__ import annotations

import pytest

from tests.report.made_report import HOSTILE, class_names, made_report

pytestmark = pytest.mark.browser

pytest.importorskip("matplotlib")

FIGURES = "[...document.querySelectorAll('figure:not(.wide) svg')]"
WRITING = "[...document.querySelectorAll('figure:not(.wide) svg text')]"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The addresses of a page with hostile texts and of one with many classes."""
    from masker.report.report_files import write_report_files

    folder = tmp_path_factory.mktemp("reports")
    reports = {
        "hostile": made_report(HOSTILE, foreign=HOSTILE[:3]),
        "many": made_report(class_names(60), documents=600),
    }
    return {name: write_report_files(report, folder / name).page.as_uri() for name, report in reports.items()}


@pytest.fixture
def open_page(chromium, pages):
    """``open_page(name, width=…, scheme=…)``; any request, error or dialog fails the test."""
    contexts, troubles = [], []

    def make(name: str, *, width: int = 1100, scheme: str = "light"):
        context = chromium.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, has_touch=True)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: request.url == pages[name] or troubles.append(request.url))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("console", lambda line: troubles.append(line.text))
        page.on("dialog", lambda dialog: troubles.append(dialog.message) or dialog.dismiss())
        page.goto(pages[name])
        return page

    yield make
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.mark.parametrize("name", ["hostile", "many"])
@pytest.mark.parametrize("width", [360, 1100])
def test_it_fits_the_screen(open_page, name, width):
    page = open_page(name, width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    ends = page.evaluate(f"{FIGURES}.map(figure => figure.getBoundingClientRect().right)")
    assert len(ends) >= 8 and max(ends) <= width
    smallest = page.evaluate(f"Math.min(...{WRITING}.map(line => line.getBoundingClientRect().height))")
    assert smallest >= 8, "pixels of the smallest line"


def test_hostile_texts_are_texts(open_page):
    page = open_page("hostile")
    assert page.locator("script").count() == 1 and page.locator("img").count() == 0
    assert page.get_by_text("<script>alert(1)</script>").count() > 3


def test_hovering_and_touching_show_the_text(open_page):
    page = open_page("hostile")
    tip = page.locator("#tip")
    assert tip.is_hidden()
    marks = page.locator("#map-known-and-foreign use")
    marks.nth(0).scroll_into_view_if_needed()
    marks.nth(0).dispatch_event("pointerover", {"bubbles": True, "clientX": 50, "clientY": 50})
    assert "made-up test · <script>alert(1)</script>" in tip.inner_text()
    marks.nth(1).dispatch_event("pointerdown", {"bubbles": True, "clientX": 50, "clientY": 50})
    assert "a&b" in tip.inner_text()
    page.locator("h1").dispatch_event("pointerover", {"bubbles": True})
    assert tip.is_hidden()


def colours(page) -> list[str]:
    script = "getComputedStyle(document.querySelector(%r)).%s"
    return [page.evaluate(script % found) for found in (("body", "backgroundColor"), ("#roc svg path", "fill"))]


def test_figures_follow_light_and_dark(open_page):
    assert colours(open_page("hostile")) == ["rgb(255, 255, 255)"] * 2
    dark = open_page("hostile", scheme="dark")
    assert colours(dark) == ["rgb(22, 25, 29)"] * 2
    text = dark.evaluate("getComputedStyle(document.querySelector('#roc svg text')).fill")
    assert text == "rgb(231, 233, 236)"


def test_paper_is_light_and_shows_everything(open_page):
    page = open_page("many", scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert colours(page)[0] == "rgb(255, 255, 255)"
    table = page.locator(".table.long")
    assert table.evaluate("e => e.scrollHeight <= e.clientHeight + 1"), "nothing is hidden by scrolling"
    assert len(page.pdf(format="A4")) > 10_000


def test_it_works_without_scripts(chromium, pages):
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(pages["hostile"])
    assert page.locator("figure").count() == 11
    assert page.locator("#map-known-and-foreign use title").count() > 100
    context.close()


def test_wide_figures_are_reached_with_the_keyboard(open_page):
    page = open_page("many", width=360)
    region = page.locator("figure.wide .scroll").first
    region.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(400)
    assert region.evaluate("e => e.scrollLeft") > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_grave_for_a_screen_reader(open_page, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe is not installed")
    found = axe.Axe().run(open_page("many", scheme=scheme)).response["violations"]
    grave = [one for one in found if one["impact"] in ("serious", "critical")]
    assert [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in grave] == []
