"""The documentation: every file is reached, and the site builds and needs no network. `make lint` checks links."""

import html.parser
import os
import subprocess
from pathlib import Path

import links
import pytest
import stage

from conftest import ROOT, needs

GENERATOR = ROOT / ".venv" / "bin" / "zensical"
_LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "srcset", "link": "href"}
_NOT_FETCHED = {"canonical", "prev", "next"}


def test_every_file_of_the_documentation_is_reached_from_the_readme() -> None:
    reached, new = set(), [ROOT / "README.md"]
    while new:
        page = new.pop()
        reached.add(page)
        if page.suffix == ".md":
            for target, _ in links.targets(page.read_text(encoding="utf-8")):
                there = Path(os.path.normpath(page.parent / target)) if target else page
                if there not in reached and there.is_file():
                    new.append(there)
    files = [path for path in sorted((ROOT / "docs").rglob("*")) if path.is_file()]
    missed = [str(path.relative_to(ROOT)) for path in files if path not in reached]
    assert not missed, f"no link leads from README.md to {', '.join(missed)}; docs/README.md lists the pages"


def test_a_page_that_is_not_listed_is_named(tmp_path: Path) -> None:
    for name, text in (
        ("README.md", "# A\n"),
        ("CONTRIBUTING.md", "# B\n"),
        ("CHANGELOG.md", "# C\n"),
        ("docs/README.md", "# D\n\n## E\n\n| [b](../CONTRIBUTING.md) | |\n| [c](../CHANGELOG.md) | |\n"),
        ("docs/forgotten.md", "# F\n\n[gone](gone.md), `[code](code.md)`, [there](../README.md#z)\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    with pytest.raises(stage.BrokenError, match=r"docs/README\.md lacks docs/forgotten\.md"):
        stage.navigation(tmp_path)
    assert stage.broken_links(tmp_path) == [
        "docs/forgotten.md: gone.md is not there",
        "docs/forgotten.md: ../README.md#z: no such heading",
    ]


@pytest.mark.daily
@needs(GENERATOR.is_file(), "the site's generator is missing; type: harness/setup.sh --docs")
def test_the_site_builds_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    site = tmp_path / "site"
    run = subprocess.run(
        [ROOT / "harness/dev/site/build.sh", "--build", tmp_path, "--out", site],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"make docs fails:\n{run.stdout}{run.stderr}"
    for place in stage.pages().values():
        page = site / place.with_suffix(".html")
        assert page.is_file(), page
        assert "```" not in page.read_text(encoding="utf-8"), f"{place}: a block of code is no block"
        for address in _loaded(page):
            assert "//" not in address, f"{place} loads {address}"
            assert (page.parent / address.partition("?")[0].partition("#")[0]).exists(), f"{place} loads {address}"
    for sheet in site.rglob("*.css"):
        assert "url(http" not in sheet.read_text(encoding="utf-8"), sheet


class _Loads(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        address = named.get(_LOADS.get(tag, ""))
        if address and named.get("rel") not in _NOT_FETCHED:
            self.found.append(address)


def _loaded(page: Path) -> list[str]:
    """Resources that a browser fetches when it opens the page."""
    parser = _Loads()
    parser.feed(page.read_text(encoding="utf-8"))
    return parser.found
