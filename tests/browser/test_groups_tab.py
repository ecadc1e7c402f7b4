"""The tab of rejected texts: group them, name a group, download it, extend the model."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect

from masker.service import ServiceOptions
from masker.service.served_folder import ServedFolder
from tests.browser.conftest import FIXTURES, FOOD, SPORT, serving
from tests.browser.test_page_files import drop
from tests.browser.test_page_looks import findings, fits

MARKET = [f"a very new stock market report {word}" for word in ("today", "again", "here", "now", "there", "soon")]
ROWS = "text\n" + "\n".join([*MARKET, FOOD, SPORT]) + "\n"


def open_groups(page) -> None:
    """Classify a file with rejected texts and group them."""
    drop(page, "messages.csv", ROWS)
    expect(page.locator("#rows table")).to_be_visible()
    page.get_by_role("tab", name="Rejected").click()
    page.get_by_role("button", name="Group them").click()
    expect(page.locator("#groups-status")).to_contain_text("rejected texts")


def first_name(page):
    return page.locator("#groups input").first


@pytest.fixture
def growing(tmp_path):
    """The address of a service that may extend its model, and its folder."""
    folder = Path(shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model"))
    with serving(ServedFolder(str(folder), {"device": "cpu"}, ServiceOptions(token="open sesame"))()) as url:
        yield url, folder


def test_tabs_with_the_keyboard(service, new_page):
    page = new_page(service)
    texts, rejected = page.get_by_role("tab", name="Texts"), page.get_by_role("tab", name="Rejected (0)")
    expect(page.get_by_role("tabpanel", name="Texts")).to_be_visible()
    texts.focus()
    page.keyboard.press("ArrowRight")
    expect(rejected).to_be_focused()
    expect(rejected).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel", name="Rejected")).to_be_visible()
    expect(page.locator("#ask")).to_be_hidden()
    expect(page.locator("#groups-line")).to_contain_text("No text was rejected")
    expect(page.get_by_role("button", name="Group them")).to_be_disabled()
    page.keyboard.press("ArrowRight")
    expect(texts).to_be_focused()
    expect(page.locator("#ask")).to_be_visible()


def test_a_named_group_is_downloaded_as_labelled_data(service, new_page):
    page = new_page(service)
    open_groups(page)
    expect(page.locator("#groups > li").first).to_contain_text("stock market report")
    expect(page.locator("#extend")).to_be_hidden()
    expect(page.locator("#extend-line")).to_contain_text("masker extend")
    expect(page.locator("#download-groups")).to_be_disabled()
    first_name(page).fill("market")
    with page.expect_download() as waiting:
        page.locator("#download-groups").click()
    assert waiting.value.suggested_filename == "labelled.jsonl"
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) > 2 and all(row["label"] == "market" and row["text"] in MARKET for row in rows)
    with page.expect_download() as waiting:
        page.locator("#groups [data-download]").first.click()
    assert Path(waiting.value.path()).read_text(encoding="utf-8").splitlines() == lines


def test_the_model_is_extended_and_knows_the_texts(growing, new_page):
    url, folder = growing
    page = new_page(url)
    page.get_by_label("Token", exact=True).fill("open sesame")
    page.get_by_role("button", name="Use it").click()
    expect(page.locator("#model-line")).to_contain_text("3 classes")
    open_groups(page)
    for field in page.locator("#groups input").all():
        field.fill("market")
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Extend the model").click()
    expect(page.locator("#groups-status")).to_contain_text("The model has 4 classes now. New: market.")
    expect(page.locator("#model-line")).to_contain_text("market")
    expect(page.locator("#groups > li")).to_have_count(0)
    left = int(page.get_by_role("tab", name="Rejected").inner_text().removeprefix("Rejected (").removesuffix(")"))
    assert left < len(MARKET)
    assert '"market"' in (folder / "masker.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (360, "light")])
def test_nothing_grave_for_a_screen_reader(growing, new_page, width, scheme):
    page = new_page(growing[0], width=width, scheme=scheme)
    page.get_by_label("Token", exact=True).fill("open sesame")
    page.get_by_role("button", name="Use it").click()
    open_groups(page)
    assert findings(page) == [] and fits(page)
    first_name(page).fill("x" * 200)
    assert findings(page) == [] and fits(page)


def test_the_title_has_the_focus_and_the_status_is_spoken(service, new_page):
    page = new_page(service)
    open_groups(page)
    expect(page.locator("#groups-title")).to_be_focused()
    assert page.locator("#groups-status").get_attribute("role") == "status"
    first_name(page).focus()
    described = page.evaluate(
        "() => document.getElementById(document.activeElement.getAttribute('aria-describedby')).textContent"
    )
    assert "cohesion" in described


def test_a_service_that_cannot_group_says_so(serve, model, new_page, monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn", None)
    page = new_page(serve())
    page.get_by_role("tab", name="Rejected").click()
    expect(page.locator("#groups-line")).to_contain_text("cannot group")
    expect(page.get_by_role("button", name="Group them")).to_be_disabled()
