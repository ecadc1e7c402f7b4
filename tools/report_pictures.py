"""Makes the pictures of docs/report.md from a report, which should be that of the demonstration.

    make demo
    python tools/report_pictures.py runs/demo/report

Figures are copied; the top of the page, which quotes no text, is photographed in Chromium.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "report"
FIGURES = ("score-histogram", "map-known-and-foreign", "keywords", "attended-words", "keyword-heat-map", "losses")
WIDTH, HEIGHT = 1060, 1060


def photograph(page: Path, picture: Path) -> None:
    """The top of a page."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        view.goto(page.absolute().as_uri())
        view.screenshot(path=picture)
        browser.close()


def main(report: Path) -> None:
    """Replace the pictures with those of a report."""
    FOLDER.mkdir(exist_ok=True)
    for name in FIGURES:
        shutil.copyfile(report / "figures" / f"{name}.png", FOLDER / f"{name}.png")
    photograph(report / "report.html", FOLDER / "page.png")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
