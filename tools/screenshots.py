"""Takes the pictures of the service's page for the documentation.

| command | does |
| --- | --- |
| ``python tools/screenshots.py`` | trains on the demonstration's support messages and writes docs/page.png |
| ``python tools/screenshots.py MODEL`` | writes docs/page.png with the model in a folder |
| ``python tools/screenshots.py MODEL FOLDER`` | writes several pictures: light, dark, phone, error, keywords, files |
"""

from __future__ import annotations

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "page.png"
MIXED = "I returned the lamp and want my money back, but my account is locked."
FOREIGN = "How do I bake sourdough bread?"
KNOWN = "Where is my parcel? My order is late."
ROWS = f'id,text\n1,{KNOWN}\n2,"{FOREIGN}"\n3,I forgot my password\n4,Is the lamp in stock?\n'


@contextmanager
def served(folder: str | None) -> Iterator[str]:
    """The address of a service of the model in a folder, or of one trained on the spot."""
    import uvicorn

    from masker import Model
    from masker.config import Settings
    from masker.experiments.support_messages import support_messages
    from masker.service import create_app

    with TemporaryDirectory() as work:
        model = Model.open(folder) if folder else Model.fit(support_messages(), Settings(), Path(work) / "work")
        server = uvicorn.Server(uvicorn.Config(create_app(model), port=0, log_level="warning"))
        thread = threading.Thread(target=server.run)
        thread.start()
        while not server.started:
            thread.join(0.05)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
        server.should_exit = True
        thread.join()


class Photographer:
    """Opens the page in a browser, types and takes pictures."""

    def __init__(self, browser: Any, url: str) -> None:
        self._browser, self._url = browser, url

    def page(self, *texts: str, width: int = 1160, scheme: str = "light") -> Any:
        """The page after these texts were classified."""
        context = self._browser.new_context(viewport={"width": width, "height": 760}, color_scheme=scheme)
        page = context.new_page()
        page.goto(self._url)
        page.wait_for_selector("#model-line:has-text(':')")
        for text in texts:
            page.fill("#text", text)
            page.click("#ask .primary")
            page.wait_for_selector("#ask:not([aria-busy])")
        page.wait_for_timeout(300)
        return page


def main(model: str | None = None, folder: str | None = None) -> None:
    """Take the pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    with served(model) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        take = Photographer(browser, url)
        page = take.page(FOREIGN, KNOWN, MIXED)
        if folder is None:
            page.screenshot(path=str(PICTURE), full_page=True)
            return
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=str(target / "light.png"), full_page=True)
        page.click("label[for=view-2]")
        page.click("summary")
        page.screenshot(path=str(target / "keywords.png"), full_page=True)
        take.page(MIXED, FOREIGN, scheme="dark").screenshot(path=str(target / "dark.png"), full_page=True)
        take.page(MIXED, width=360).screenshot(path=str(target / "phone.png"), full_page=True)
        take.page("x" * 100_001).screenshot(path=str(target / "error.png"), full_page=True)
        page = take.page()
        page.set_input_files("#file", [{"name": "messages.csv", "mimeType": "text/csv", "buffer": ROWS.encode()}])
        page.wait_for_selector("#rows table")
        page.screenshot(path=str(target / "files.png"), full_page=True)


if __name__ == "__main__":
    main(*sys.argv[1:3])
