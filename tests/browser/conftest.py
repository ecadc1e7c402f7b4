"""Debian's Chromium, driven by Playwright, and services to look at. ``make test-browser`` installs and runs."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
FIXTURES = FOLDER.parent / "fixtures"
#: Nothing but the page under test, and no request of the browser's own.
SWITCHES = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: Texts of the classes of ``tests/fixtures/masker-bert``, and one of none of them.
FOOD, SPORT = "they found bread and soup in the old kitchen", "the coach saw the player in the stadium"
#: Its label rests on one word.
MOON = "the moon was quite new and the moon was old"
FOREIGN = "a very new stock market report"


NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)
collect_ignore_glob = ["test_*.py"] if find_spec("playwright") is None else []


def pytest_collection_modifyitems(items):
    for item in items:
        if FOLDER in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if CHROMIUM is None:
                item.add_marker(pytest.mark.skip("there is no Chromium; on Debian, apt-get install chromium"))


@pytest.fixture(scope="session")
def chromium():
    """The browser."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=15_000)  # a busy machine is slow
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture
def new_page(chromium):
    """``new_page(url, width=…, scheme=…)``: a page in a context of its own, closed after the test.

    Its ``asked`` lists the addresses that were requested. An error in the page fails the test.
    """
    contexts, errors = [], []

    def make(url: str, *, width: int = 1200, height: int = 900, scheme: str = "light"):
        context = chromium.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()
        page.asked = []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("dialog", lambda dialog: errors.append(f"dialog: {dialog.message}") or dialog.dismiss())
        page.on("console", lambda line: errors.append(line.text) if "Content Security" in line.text else None)
        page.goto(url)
        return page

    yield make
    for context in contexts:
        context.close()
    assert not errors


@contextmanager
def serving(app) -> Iterator[str]:
    """Run an application in a thread; gives its address."""
    import uvicorn

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            thread.join(0.02)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def model():
    """A small model with keywords, class means and a threshold."""
    from masker import Model

    return Model.open(FIXTURES / "masker-bert", device="cpu")


@pytest.fixture(scope="session")
def service(model) -> Iterator[str]:
    """The address of a service."""
    from masker.service import create_app

    with serving(create_app(model)) as url:
        yield url


@pytest.fixture
def serve(model) -> Iterator[Callable[..., str]]:
    """``serve(options, make_monitor=…, **changes)``: the address of a service of the model with some changes."""
    from contextlib import ExitStack

    from masker.service import create_app

    with ExitStack() as running:

        def start(options=None, *, make_monitor=None, **changes) -> str:
            changed = replace(model, **changes)
            return running.enter_context(serving(create_app(changed, options, make_monitor=make_monitor)))

        yield start
