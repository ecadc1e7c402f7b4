"""The page for everybody: small screens, dark rooms, keyboards, screen readers."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from masker.service import ServiceOptions
from tests.browser.conftest import FOOD, FOREIGN
from tests.browser.test_page_files import ROWS, drop
from tests.browser.test_service_page import ask

#: How axe-core rates findings that we do not accept.
GRAVE = {"serious", "critical"}


def findings(page) -> list[str]:
    """What axe-core finds, in short."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in found if one["impact"] in GRAVE]


def fits(page) -> bool:
    return page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_nothing_grave_for_a_screen_reader(service, new_page, width, scheme):
    page = new_page(service, width=width, scheme=scheme)
    ask(page, "soup and bread " * 200)  # more than its box shows
    assert findings(page) == []
    ask(page, FOREIGN)
    ask(page, FOOD)
    drop(page, "messages.csv", ROWS)
    expect(page.locator("#rows table")).to_be_visible()
    page.locator("summary").click()
    assert findings(page) == []
    page.locator(".views label", has_text="Only keywords").click()
    assert findings(page) == []


def test_nothing_grave_in_questions_and_errors(serve, new_page):
    page = new_page(serve(ServiceOptions(token="open sesame")))
    expect(page.get_by_role("dialog")).to_be_visible()
    assert findings(page) == []
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert findings(page) == []
    page = new_page(serve())
    drop(page, "other.csv", "id,message\n1,soup\n")
    expect(page.get_by_label("Column of the text")).to_be_visible()
    assert findings(page) == []


def test_nothing_is_wider_than_a_phone(service, new_page):
    page = new_page(service, width=360, height=740)
    assert fits(page)
    for text in (FOOD, "soup" * 200, "a " * 500):
        ask(page, text)
        assert fits(page)
    drop(page, "messages.csv", ROWS + f"5,{'x' * 300}\n")
    expect(page.locator("#rows table")).to_be_visible()
    page.locator("summary").click()
    assert fits(page)
    drop(page, "other.csv", f"id,{'message' * 20}\n1,soup\n")
    expect(page.get_by_label("Column of the text")).to_be_visible()
    assert fits(page)
    small = page.locator("button:visible, .button:visible").evaluate_all(
        "(all) => all.filter((one) => !one.matches('.link') && one.getBoundingClientRect().height < 24).length"
    )
    assert small == 0, "fingers need room"


def test_dark_rooms(service, new_page):
    ground = "() => getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
    assert min(new_page(service, scheme="light").evaluate(ground)) > 230
    assert max(new_page(service, scheme="dark").evaluate(ground)) < 40


def test_every_stop_of_the_tab_key_can_be_seen(service, new_page):
    page = new_page(service)
    ask(page, FOREIGN)
    expect(page.locator("#verdict")).not_to_be_empty()
    page.get_by_label("Text", exact=True).focus()
    stops = []
    for _ in range(14):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
                const at = document.activeElement;
                const seen = [at, at.labels?.[0], ...document.querySelectorAll(`label[for="${at.id || "-"}"]`)];
                const outlined = seen.some((one) => one && getComputedStyle(one).outlineStyle !== "none");
                return [at === document.body ? "BODY" : at.id || at.textContent.trim(), outlined];
            }"""
        )
        if stop[0] == "BODY" or stop in stops:
            break
        stops.append(stop)
    names = [name for name, _ in stops]
    assert names[:2] == ["Classify", "file"] and "copy-link" in names and "download-rejected" in names
    assert [name for name, outlined in stops if not outlined] == []


def test_landmarks_and_live_regions(service, new_page):
    page = new_page(service)
    for role, count in (("banner", 1), ("main", 1), ("complementary", 1)):
        assert page.get_by_role(role).count() == count
    assert page.locator("[role=status]").count() >= 1 and page.locator("[role=alert]").count() == 1
    assert page.locator("html").get_attribute("lang") == "en"
