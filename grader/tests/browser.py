"""A browser for tests of pages: headless Chromium that opens only files, and fails the test on any error.

A test module says `pytest_plugins = ("browser",)`; tests that use `open_page` run once a day (see conftest.py).
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import chromium
import pytest

_PATIENCE_MS = 15_000  # the machine may be busy with compilers
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--process-per-site"]  # a process for each page costs 0.2 s

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, for all tests of a worker."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  (optional: see needs_browser)

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=chromium.find_chromium(), args=_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def contexts(browser: Any) -> dict[bool, Any]:
    """A browser context for light pages and one for dark ones. All tests share them: pages of files store nothing."""
    return {dark: browser.new_context(color_scheme="dark" if dark else "light") for dark in (False, True)}


@pytest.fixture
def open_page(contexts: dict[bool, Any]) -> Iterator[Open]:
    """Opens files: `open_page(path, width=390, dark=True)` gives Playwright's Page.

    The test fails if a page asks for anything but the files that it is sent to, writes an error or a warning to the
    console, or fails in a script.
    """
    problems: list[str] = []
    pages: list[Any] = []

    def open_(path: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> Any:
        page = contexts[dark].new_page()
        pages.append(page)
        page.set_default_timeout(_PATIENCE_MS)
        page.set_viewport_size({"width": width, "height": height})

        def answer(route: Any) -> None:
            request = route.request
            is_page = request.url.startswith("file://") and request.resource_type == "document"
            if is_page and Path(url2pathname(urlsplit(request.url).path)).is_file():
                route.continue_()
            else:
                problems.append(f"{path.name} asks for {request.resource_type} {request.url}")
                route.abort()

        page.route("**/*", answer)
        page.on("pageerror", lambda error: problems.append(f"{path.name}: {error}"))
        page.on(
            "console",
            lambda said: (
                said.type in ("error", "warning") and problems.append(f"{path.name}: {said.type}: {said.text}")
            ),
        )
        page.goto(path.absolute().as_uri())
        return page

    yield open_
    for page in pages:
        page.close()
    assert not problems, "\n".join(problems)
