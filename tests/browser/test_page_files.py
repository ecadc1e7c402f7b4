"""CSV files on the page of the service: dropped, classified, downloaded."""

from __future__ import annotations

import csv
import io

import pytest
from playwright.sync_api import expect

from masker.service import ServiceOptions
from tests.browser.conftest import FOOD, FOREIGN, SPORT

ROWS = f'id,Text\n1,{FOOD}\n2,"{FOREIGN}, ""again"""\n3,{SPORT}\n4,\n'


def drop(page, name: str, content: str) -> None:
    """Drop a file onto the page, as from a file manager."""
    page.evaluate(
        """([name, content]) => {
            const files = new DataTransfer();
            files.items.add(new File([content], name, { type: "text/csv" }));
            const event = (kind) => new DragEvent(kind, { dataTransfer: files, bubbles: true, cancelable: true });
            document.body.dispatchEvent(event("dragover"));
            document.body.dispatchEvent(event("drop"));
        }""",
        [name, content],
    )


def downloaded(page, button: str) -> list[list[str]]:
    with page.expect_download() as waiting:
        page.get_by_role("button", name=button).click()
    with open(waiting.value.path(), newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_dropped_file(service, new_page, model):
    page = new_page(service)
    drop(page, "messages.csv", ROWS)
    expect(page.locator("#rows")).to_contain_text("3 texts, 1 rejected.")
    expect(page.get_by_role("heading", name="messages.csv")).to_be_focused()
    cells = [row.split("\t") for row in page.locator("#rows tbody tr").all_inner_texts()]
    assert [row[1:3] for row in cells] == [
        [FOOD, "food"],
        [f'{FOREIGN}, "again"', "◇ none of my classes"],
        [SPORT, "sport"],
    ]
    page.get_by_label("Only rejected").check()
    expect(page.locator("#rows tbody tr")).to_have_count(1)

    [head, *rows] = downloaded(page, "Download answers")
    assert head == ["text", "label", "confidence", "p_value", "ood_score", "is_ood"]
    expected = model.predict([row[0] for row in rows])
    assert [row[1] for row in rows] == [one.label for one in expected]
    assert [float(row[2]) for row in rows] == pytest.approx([one.confidence for one in expected], abs=1e-5)
    assert [row[5] for row in rows] == ["false", "true", "false"]


def test_a_row_opens_with_its_evidence(service, new_page):
    page = new_page(service)
    drop(page, "messages.csv", ROWS)
    page.get_by_role("button", name=SPORT).click()
    expect(page.locator("#verdict")).to_have_text("sport")
    expect(page.locator("#verdict")).to_be_focused()
    expect(page.locator("#words .text")).to_have_text(SPORT)


def test_the_column_is_asked_for(service, new_page):
    page = new_page(service)
    drop(page, "other.csv", f"id;message\n1;{FOOD}\n2;{SPORT}\n")
    column = page.get_by_label("Column of the text")
    expect(column).to_be_focused()
    expect(column).to_have_value("1")  # it has the longest cells
    page.locator("#rows").get_by_role("button", name="Classify").click()
    expect(page.locator("#rows")).to_contain_text("2 texts, 0 rejected.")


def test_a_file_without_names(service, new_page):
    page = new_page(service)
    drop(page, "lines.csv", f"{FOOD}\n{SPORT}\n")
    page.get_by_label("The first row holds names").uncheck()
    page.locator("#rows").get_by_role("button", name="Classify").click()
    expect(page.locator("#rows")).to_contain_text("2 texts, 0 rejected.")


def test_the_file_button_works_with_the_keyboard(service, new_page):
    page = new_page(service)
    content = {"name": "a.csv", "mimeType": "text/csv", "buffer": ROWS.encode("utf-8-sig")}
    page.on("filechooser", lambda chooser: chooser.set_files([content]))
    expect(page.get_by_label("Text", exact=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.get_by_label("Open a CSV file")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#rows")).to_contain_text("3 texts, 1 rejected.")


def test_files_that_hold_nothing(service, new_page):
    page = new_page(service)
    drop(page, "empty.csv", "")
    expect(page.get_by_role("alert")).to_have_text("Empty.csv is empty; choose a CSV file with a column of texts.")
    drop(page, "book.xlsx", "PK\u0003\u0004\0\0")
    expect(page.get_by_role("alert")).to_have_text("Book.xlsx is not a CSV file; export it as CSV first.")
    drop(page, "blank.csv", "text,label\n ,a\n")
    expect(page.get_by_role("alert")).to_have_text("Blank.csv has no row with a text in it.")


def test_a_text_that_is_refused_costs_the_others_nothing(serve, new_page):
    page = new_page(serve(ServiceOptions(max_characters=60, max_texts=2)))
    drop(page, "long.csv", f"text\n{FOOD}\n{'soup ' * 20}\n{SPORT}\n")
    expect(page.locator("#rows")).to_contain_text("3 texts, 0 rejected, 1 refused.")
    expect(page.locator("#rows tbody tr").nth(1)).to_contain_text("a text may have 60 characters")
    [head, *rows] = downloaded(page, "Download answers")
    assert head[-1] == "error" and [bool(row[-1]) for row in rows] == [False, True, False]


def test_a_long_run_can_be_stopped(service, new_page):
    page = new_page(service)
    page.route("**/v1/classify", lambda route: None if "soup 64" in route.request.post_data else route.continue_())
    drop(page, "many.csv", "text\n" + "\n".join(f"soup {number}" for number in range(100)))
    expect(page.locator("progress")).to_have_attribute("value", "64")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#rows")).to_contain_text("stopped before 36 more")


def test_pairs_need_two_columns(serve, new_page):
    page = new_page(serve(pairs=True))
    drop(page, "pairs.csv", f"text,text_pair\n{FOOD},garlic\n")
    expect(page.locator("#rows")).to_contain_text("1 text,")
    expect(page.locator("#rows tbody")).to_contain_text(f"{FOOD} ⏐ garlic")
    drop(page, "pairs.csv", f"premise,hypothesis\n{FOOD},garlic\n")
    expect(page.get_by_label("Column of the second text")).to_be_visible()


def test_rejected_texts_of_the_session_as_a_file(service, new_page):
    """Typed and dropped ones, each once; what a spreadsheet would run as a formula is text."""
    page = new_page(service)
    page.get_by_label("Text", exact=True).fill('=HYPERLINK("x")')
    page.get_by_role("button", name="Classify").click()
    expect(page.locator("#verdict")).to_have_text("None of my classes")
    drop(page, "messages.csv", f"text\n{FOOD}\n{FOREIGN}\n@stock market\n-1 report\n{FOREIGN}\n")
    expect(page.locator("#rows")).to_contain_text("5 texts, 4 rejected.")
    [_, *rows] = downloaded(page, "Download 4 rejected texts")
    assert [row[0] for row in rows] == ['\'=HYPERLINK("x")', FOREIGN, "'@stock market", "'-1 report"]
    assert {row[5] for row in rows} == {"true"}


def test_many_rows_are_shown_in_parts(service, new_page):
    page = new_page(service)
    drop(page, "many.csv", "text\n" + "\n".join(f"soup {number}" for number in range(230)))
    expect(page.locator("#rows")).to_contain_text("230 texts")
    expect(page.locator("#rows tbody tr")).to_have_count(100)
    page.get_by_role("button", name="Show more (130 left)").click()
    page.get_by_role("button", name="Show more (30 left)").click()
    expect(page.locator("#rows tbody tr")).to_have_count(230)


PARSED = [
    'a,b\r\n1,"x,y"\r\n',
    '"a ""quoted"" word","two\nlines"\n',
    "a;b\n1,5;2\n",
    "a\tb\nx,y\tz\n",
    "one\n\ntwo",
    'a,b\n"",c\n',
    'say "hi",b\n',
]


def test_files_are_read_as_pythons_csv_reads_them(service, new_page):
    page = new_page(service)
    for content in PARSED:
        found = page.evaluate("async (content) => (await import('/page/csv.js')).parseCsv(content)", content)
        delimiter = ";" if ";" in content else "\t" if "\t" in content else ","
        assert found == [row for row in csv.reader(io.StringIO(content, newline=""), delimiter=delimiter) if row], (
            content
        )


def test_what_is_not_utf_8_is_read_as_a_spreadsheet_wrote_it(service, new_page):
    page = new_page(service)
    decoded = "async (bytes) => (await import('/page/csv.js')).decode(new Uint8Array(bytes))"
    assert page.evaluate(decoded, list("café".encode("cp1252"))) == "café"
    assert page.evaluate(decoded, list("café".encode("utf-8-sig"))) == "café"
