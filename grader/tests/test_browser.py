"""The browser fixture: what a page must not do fails the test that opened it; and which browsers are taken."""

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


@needs_browser
@pytest.mark.parametrize("name", _PAGES)
def test_a_page_that_misbehaves_fails_its_test(pytester: pytest.Pytester, name: str) -> None:
    body, says = _PAGES[name]
    result = _run(pytester, body)
    result.assert_outcomes(passed=1, errors=1)  # the error is found when the test has ended
    result.stdout.fnmatch_lines([f"*{says.replace('[', '[[]')}*"])


@needs_browser
def test_a_page_that_is_well_passes(pytester: pytest.Pytester) -> None:
    _run(
        pytester, '<h1>Fine</h1><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw="><a href="x.html">x</a>'
    ).assert_outcomes(passed=1)


def _run(pytester: pytest.Pytester, body: str) -> pytest.RunResult:
    (pytester.path / "page.html").write_text(f"<!doctype html><title>t</title>{body}")
    pytester.makepyfile(
        f"""
        import sys
        from pathlib import Path
        sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(chromium.__file__).parent)!r}]
        pytest_plugins = ("browser",)

        def test_page(open_page):
            page = open_page(Path("page.html"))
            page.wait_for_timeout(300)
        """
    )
    return pytester.runpytest_subprocess("-p", "no:cacheprovider")


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
