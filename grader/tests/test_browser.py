"""The browser fixture: forbidden page behaviour fails the test; and which browsers are accepted."""

import re
from pathlib import Path

import chromium
import pytest

from conftest import make_executable, needs_browser

pytest_plugins = ("browser", "pytester")

_PAGES = {
    "fetches": ('<img src="https://example.invalid/a.png">', "asks for image https://example.invalid/a.png"),
    "fetches_a_file": ('<link rel="stylesheet" href="other.css">', "asks for stylesheet file://"),
    "frames": ('<iframe src="https://example.invalid/"></iframe>', "asks for document https://example.invalid/"),
    "script_fails": ("<script>gone()</script>", "gone is not defined"),
    "console": ("<script>console.error('broken')</script>", "error: broken"),
    "link_is_broken": ("<script>location = 'gone.html'</script>", "gone.html"),
}


@pytest.mark.daily
@needs_browser
def test_a_page_that_misbehaves_fails_its_test_and_no_other(pytester: pytest.Pytester) -> None:
    fine = '<h1>Fine</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><a href="x.html">x</a>'
    for name, body in {"fine": fine, **{name: body for name, (body, _) in _PAGES.items()}}.items():
        (pytester.path / f"{name}.html").write_text(f"<!doctype html><title>t</title>{body}")
    pytester.makepyfile(
        f"""
        import sys
        from pathlib import Path
        import pytest
        sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(chromium.__file__).parent)!r}]
        pytest_plugins = ("browser",)

        @pytest.mark.parametrize("name", ["fine", {", ".join(map(repr, _PAGES))}, "fine"])
        def test_page(open_page, name):
            page = open_page(Path(name + ".html"))
            page.wait_for_timeout(300)
        """
    )
    result = pytester.runpytest_subprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=len(_PAGES) + 2, errors=len(_PAGES))  # an error is found when the test has ended
    for name, (_, says) in _PAGES.items():
        assert re.search(rf"AssertionError: {name}\.html.*{re.escape(says)}", result.stdout.str()), name


def test_a_snap_is_not_taken_for_a_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = {name: tmp_path / name for name in ("debian", "ubuntu", "linked")}
    for folder in folders.values():
        folder.mkdir()
    (folders["debian"] / "chromium-browser").write_text("#!/bin/sh\nexec /usr/lib/chromium/chromium\n")
    (folders["ubuntu"] / "chromium").write_text('#!/bin/sh\nexec /snap/bin/chromium "$@"\n')
    (folders["linked"] / "snap").write_bytes(b"\x7fELF")
    (folders["linked"] / "google-chrome").symlink_to("snap")
    for folder in folders.values():
        for path in folder.iterdir():
            make_executable(path)
    monkeypatch.setenv("PATH", f"{folders['ubuntu']}:{folders['linked']}")
    assert chromium.find_chromium() == ""
    assert chromium.main() == 1
    monkeypatch.setenv("PATH", f"{folders['ubuntu']}:{folders['debian']}")
    assert chromium.find_chromium() == str(folders["debian"] / "chromium-browser")
