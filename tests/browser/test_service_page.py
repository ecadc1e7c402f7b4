"""What a person does on the page of the service, and sees."""

from __future__ import annotations

import shutil
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from masker import Documents
from masker.documents.word_spans import word_spans
from masker.evidence import choose_examples
from masker.service import ServiceOptions, create_app
from masker.service.served_folder import ServedFolder
from tests.browser.conftest import FIXTURES, FOOD, FOREIGN, MOON, SPORT, serving

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script> soup"


def ask(page, text: str) -> None:
    page.get_by_label("Text", exact=True).fill(text)
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#ask")).not_to_have_attribute("aria-busy", "true")


def test_a_persons_path(service, new_page, model):
    """Type, read the verdict and what it rests on, hide the keywords, all with the keyboard."""
    page = new_page(service)
    expect(page.locator("#model-line")).to_contain_text("3 classes: food, space, sport.")
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.keyboard.type(MOON)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("heading", name="space")).to_be_visible()
    answer = model.predict([MOON])[0]
    expect(page.locator("#status")).to_have_text(f"space, with a confidence of {round(answer.confidence * 100)} %.")
    expect(page.locator("#verdict-line")).to_contain_text("known")
    expect(page.locator("#histogram-line")).to_contain_text("is within the threshold")
    assert page.locator("#histogram rect.bar").count() > 3
    assert page.locator("#words .text mark.for").all_inner_texts() == ["moon", "moon"]
    expect(page.locator("#words .text")).to_have_text(MOON)

    page.get_by_role("radio", name="As written").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Keywords masked")).to_be_checked()
    hidden = page.locator("#words .text .gone")
    assert hidden.count() >= 2 and "moon" not in page.locator("#words .text").inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Only keywords")).to_be_checked()
    assert "moon" in page.locator("#words .text b").all_inner_texts()

    rows = page.locator("#classes tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("space")
    expect(page.locator("#classes")).to_contain_text("Similarity: the cosine")


def test_the_views_show_what_the_model_answers(service, new_page):
    """The page shows the evidence of the service, not something of its own."""
    page = new_page(service)
    with page.expect_response("**/v1/classify") as response:
        ask(page, MOON)
    evidence = response.value.json()["predictions"][0]["evidence"]
    for view, answer in (
        ("Keywords masked", evidence["keywords"]["masked"]),
        ("Only keywords", evidence["keywords"]["only"]),
    ):
        short = (
            "none of my classes" if answer["is_ood"] else f"{answer['label']}, {round(answer['confidence'] * 100)} %"
        )
        expect(page.locator(".views label", has_text=view)).to_contain_text(short)
    strongest = max(evidence["parts"], key=lambda part: part["support"])
    _, start, end = strongest["spans"][0]
    expect(page.locator("#words details tbody th").first).to_have_text(MOON[start:end])
    keywords = [MOON[start:end] for _, start, end in evidence["keywords"]["spans"]]
    page.locator("label", has_text="Only keywords").click()
    assert page.locator("#words .text b").all_inner_texts() == keywords


def test_a_rejected_text(service, new_page):
    page = new_page(service)
    ask(page, FOREIGN)
    expect(page.get_by_role("heading", name="None of my classes")).to_be_visible()
    expect(page.locator("#verdict-line")).to_contain_text("rejected")
    expect(page.locator("#verdict-line")).to_contain_text("The closest class is food")
    expect(page.locator("#histogram-line")).to_contain_text("is beyond the threshold")
    expect(page.locator("#histogram text.here")).to_contain_text("→")  # far beyond the bars
    expect(page.get_by_role("button", name="Download 1 rejected text")).to_be_visible()


def test_history_brings_an_answer_back(service, new_page):
    page = new_page(service)
    for text in (FOOD, SPORT, FOREIGN):
        ask(page, text)
    entries = page.locator("#history button")
    assert [entry.split("\n")[0] for entry in entries.all_inner_texts()] == [FOREIGN, SPORT, FOOD]
    expect(entries.nth(0)).to_contain_text("none of my classes")
    requests = len(page.asked)
    entries.nth(2).click()
    expect(page.locator("#verdict")).to_have_text("food")
    expect(page.get_by_label("Text", exact=True)).to_have_value(FOOD)
    assert not [url for url in page.asked[requests:] if "classify" in url], "the answer is known already"


def test_a_link_restores_the_text(service, new_page):
    page = new_page(service)
    text = "they found\nbread & soup = dinner? 100 % 💥"
    ask(page, text)
    expect(page.locator("#verdict")).not_to_be_empty()
    page.get_by_role("button", name="Copy a link").click()
    expect(page.locator("#link-line")).not_to_be_empty()
    other = new_page(page.url)
    expect(other.locator("#verdict")).to_have_text(page.locator("#verdict").inner_text())
    expect(other.get_by_label("Text", exact=True)).to_have_value(text)
    assert not [url for url in other.asked[1:] if "dinner" in url], "texts travel in the body alone"
    other.evaluate("() => { location.hash = '#text=the+player' }")
    expect(other.get_by_label("Text", exact=True)).to_have_value("the player")


def test_a_text_too_long_for_a_link(service, new_page):
    page = new_page(service)
    ask(page, "soup " * 2000)
    expect(page.get_by_role("button", name="Copy a link")).to_be_disabled()
    expect(page.locator(".unread")).to_be_visible()  # the model reads 48 tokens
    assert urlsplit(page.url).fragment == ""


@pytest.mark.parametrize("text", [HOSTILE, "💥 soup 💥 bread", "𝔰𝔬𝔲𝔭 and bread"])
def test_texts_are_shown_as_they_are(service, new_page, text):
    """Nothing is parsed as HTML, and the words are found behind characters outside the basic plane."""
    page = new_page(service)
    ask(page, text)
    expect(page.locator("#words .text")).to_have_text(text)
    expect(page.locator("#history button span")).to_have_text(text)
    assert page.locator("main img, aside img, main script").count() == 0
    words = {text[start:end] for _, start, end in word_spans(text)}
    assert set(page.locator("#words .text mark").all_inner_texts()) <= words


def test_labels_are_shown_as_they_are(serve, new_page):
    page = new_page(serve(classes=["<b>food</b>", "<img src=x onerror=alert(1)>", "sport"]))
    ask(page, FOOD)
    expect(page.locator("#verdict")).to_have_text("<b>food</b>")
    expect(page.locator("#classes tbody")).to_contain_text("<img src=x onerror=alert(1)>")


def test_an_error_is_shown_in_the_words_of_the_service(serve, new_page):
    page = new_page(serve(ServiceOptions(max_characters=40)))
    ask(page, "soup " * 10)
    expect(page.get_by_role("alert")).to_contain_text("A text may have 40 characters; number 1 has 50; shorten it")
    expect(page.locator("#answer")).to_be_hidden()
    ask(page, FOREIGN)
    expect(page.get_by_role("alert")).to_be_hidden()
    expect(page.locator("#answer")).to_be_visible()


def test_a_service_that_is_gone(service, new_page):
    page = new_page(service)
    page.route("**/v1/classify", lambda route: route.abort())
    ask(page, FOOD)
    expect(page.get_by_role("alert")).to_have_text("The service does not answer. Is it still running?")


def test_the_token_is_asked_for(serve, new_page):
    page = new_page(serve(ServiceOptions(token="open sesame")))
    dialog = page.get_by_role("dialog", name="This service asks for a token")
    expect(dialog).to_be_visible()
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("did not accept the token")
    page.keyboard.type("open sesame")
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.locator("#model-line")).to_contain_text("3 classes")
    ask(page, FOOD)
    expect(page.locator("#verdict")).to_have_text("food")
    assert page.evaluate("() => [localStorage.length, document.cookie]") == [0, ""]
    page.reload()
    expect(page.locator("#model-line")).to_contain_text("3 classes")


def test_whoever_has_no_token_is_told(serve, new_page):
    page = new_page(serve(ServiceOptions(token="open sesame")))
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("This service needs a token")
    page.get_by_label("Text", exact=True).fill(FOOD)
    page.get_by_role("button", name="Classify").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def test_pairs(serve, new_page):
    page = new_page(serve(pairs=True))
    second = page.get_by_label("Second text")
    expect(second).to_be_visible()
    second.fill("garlic and cheese")
    ask(page, FOOD)
    expect(page.locator("#words .text p")).to_have_count(2)
    expect(page.locator("#words .text p").nth(1)).to_have_text("garlic and cheese")
    other = new_page(page.url)
    expect(other.get_by_label("Second text")).to_have_value("garlic and cheese")


def test_a_model_without_keywords_says_so(serve, new_page):
    page = new_page(serve(keywords=None))
    ask(page, FOOD)
    expect(page.locator("#words")).to_contain_text("trained without keywords")
    expect(page.locator(".views")).to_have_count(0)


def test_a_regression_shows_its_number(serve, new_page, model):
    head = model.settings.model.model_copy(update={"head": "regression"})
    page = new_page(serve(detector=None, classes=[], settings=model.settings.model_copy(update={"model": head})))
    expect(page.locator("#model-line")).to_have_text("This model predicts a number.")
    ask(page, FOOD)
    assert float(page.locator("#verdict").inner_text().replace("−", "-"))
    expect(page.locator("#calibration")).to_be_hidden()
    expect(page.locator("#words .text")).to_have_text(FOOD)


def test_training_texts_are_shown_if_the_model_keeps_some(model, new_page, tmp_path):
    shutil.copytree(FIXTURES / "masker-bert", tmp_path / "model")
    choose_examples(model, Documents([FOOD, SPORT], None, ["food", "sport"], "made up"), 2).save(tmp_path / "model")
    with serving(ServedFolder(str(tmp_path / "model"))()) as url:
        page = new_page(url)
        ask(page, FOOD)
        expect(page.locator("#examples li").first).to_contain_text(FOOD)
        expect(page.locator("#examples li").first).to_contain_text("food, similarity 1.00")
        assert page.locator("#examples li").count() == 2


def test_a_service_without_evidence(model, new_page):
    with serving(create_app(model, evidence=None)) as url:
        page = new_page(url)
        ask(page, FOOD)
        expect(page.locator("#verdict")).to_have_text("food")
        expect(page.locator("#classes")).to_contain_text("Probability")
        expect(page.locator("#words")).to_be_empty()


class Alarm:
    """A monitor that always sees the same."""

    def observe(self, scores, labels):
        pass

    def state(self):
        return {"alarm": True, "sentence": "Alarm: texts look stranger than before."}


def test_the_live_panel(serve, new_page):
    page = new_page(serve(make_monitor=lambda model: Alarm()))
    ask(page, FOOD)
    ask(page, FOREIGN)
    figures = page.locator("#traffic-figures")
    expect(figures).to_contain_text("Alarm: texts look stranger than before.")
    expect(figures.locator("dd").nth(0)).to_have_text("2")
    expect(figures.locator("dd").nth(2)).to_have_text("50 %")


def test_no_request_leaves_the_service(service, new_page):
    page = new_page(service)
    ask(page, FOOD)
    expect(page.locator("#verdict")).to_have_text("food")
    hosts = {urlsplit(url).netloc for url in page.asked if not url.startswith(("data:", "blob:"))}
    assert hosts == {urlsplit(service).netloc}
