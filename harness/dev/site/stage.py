#!/usr/bin/env python3
"""Puts the site's pages in place: docs/, the README as home page, the assignments' pages, CONTRIBUTING and CHANGELOG.

    harness/dev/site/stage.py FOLDER     FOLDER/mkdocs.yml and FOLDER/pages, for a generator of sites
    harness/dev/site/stage.py --check    a line for each broken link, or page that docs/README.md lacks

Pages are written to be read in the repository, with links from file to file. The site has them in folders of its own,
so links are rewritten; the text is in git only once. The navigation is docs/README.md: its headings are the
sections, its links the pages, and the name of each is its own first heading. No generator's plug-ins are used for any
of this, so that another generator needs another mkdocs.yml and nothing else.
"""

import json
import os
import shutil
import sys
from pathlib import Path, PurePosixPath

import links

ROOT = Path(__file__).resolve().parents[3]
HERE = ROOT / "harness" / "dev" / "site"
DOCS = ROOT / "docs"
CONTENTS = DOCS / "README.md"
_PICTURES = (".svg", ".png")
_SECTION, _GROUP = 2, 3  # levels of headings in docs/README.md

Navigation = list[dict[str, object]]


class BrokenError(Exception):
    """The problems of the pages, one per line."""


def pages(root: Path = ROOT) -> dict[Path, PurePosixPath]:
    """Each page of the repository that the site has, and its place there."""
    found = {
        root / "README.md": PurePosixPath("index.md"),
        root / "CONTRIBUTING.md": PurePosixPath("contributing.md"),
        root / "CHANGELOG.md": PurePosixPath("changelog.md"),
    }
    docs = root / "docs"
    for path in sorted(docs.rglob("*.md")):
        found[path] = PurePosixPath(path.relative_to(docs).as_posix())
    found[docs / "README.md"] = PurePosixPath("all-pages.md")
    for path in sorted((root / "assignments").glob("*/README.md")):
        found[path] = PurePosixPath("assignments", f"{path.parent.name}.md")
    return found


def pictures(root: Path = ROOT) -> dict[Path, PurePosixPath]:
    """Each picture that pages may show, and its place in the site."""
    found = {}
    for path in sorted((root / "docs").rglob("*")):
        if path.suffix in _PICTURES:
            found[path] = PurePosixPath(path.relative_to(root / "docs").as_posix())
    for path in sorted((root / "assignments").glob("*/*")):
        if path.suffix in _PICTURES:
            found[path] = PurePosixPath("assignments", path.parent.name, path.name)
    return found


def broken_links(root: Path = ROOT) -> list[str]:
    """A line for each link that leads nowhere, or to a file that is neither page nor picture."""
    known = {**pages(root), **pictures(root)}
    found = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        for target, anchor in links.targets(text):
            there = Path(os.path.normpath(page.parent / target)) if target else page
            where = f"{page.relative_to(root)}: {target}{'#' if anchor else ''}{anchor}"
            if there not in known:
                found.append(
                    f"{where} is no page or picture of the site" if there.exists() else f"{where} is not there"
                )
            elif anchor and anchor not in links.anchors(there.read_text(encoding="utf-8")):
                found.append(f"{where}: no such heading")
    return found


def navigation(root: Path = ROOT) -> Navigation:
    """The navigation, from the contents page; BrokenError where it lacks a page or has one twice."""
    contents = root / "docs" / "README.md"
    places = pages(root)
    top: Navigation = [{"Home": "index.md"}]
    inner: Navigation = top
    section: Navigation = top
    listed: list[Path] = []
    for line in contents.read_text(encoding="utf-8").splitlines():
        for level, heading in links.headings(line):
            if level in (_SECTION, _GROUP):
                inner = []
                if level == _SECTION:
                    section = inner
                    top.append({heading: inner})
                else:
                    section.append({heading: inner})
        if line.startswith("| ["):
            target, _ = links.targets(line)[0]
            page = Path(os.path.normpath(contents.parent / target))
            listed.append(page)
            if page in places:
                inner.append({links.title(page): str(places[page])})
    top.append({links.title(contents): str(places[contents])})
    wrong = [f"docs/README.md lacks {page.relative_to(root)}" for page in places if page not in listed]
    wrong = [line for line in wrong if not line.endswith((" README.md", " docs/README.md"))]
    wrong += [f"docs/README.md has {page.name} twice" for page in set(listed) if listed.count(page) > 1]
    if wrong:
        raise BrokenError("\n".join(wrong))
    return top


def stage(out: Path, root: Path = ROOT) -> None:
    """Writes `out` anew: the pages with their links, the pictures, mkdocs.yml."""
    _check(root)
    if out.exists():
        shutil.rmtree(out)
    known = {**pages(root), **pictures(root)}
    for page, place in pages(root).items():

        def moved(target: str, anchor: str, page: Path = page, place: PurePosixPath = place) -> str:
            if not target:
                return anchor
            there = known[Path(os.path.normpath(page.parent / target))]
            return os.path.relpath(there, place.parent) + anchor

        _write(out / "pages" / place, links.plain_blocks(links.replace(page.read_text(encoding="utf-8"), moved)))
    for picture, place in pictures(root).items():
        _copy(picture, out / "pages" / place)
    for asset in sorted((HERE / "assets").iterdir()):
        _copy(asset, out / "pages" / "assets" / asset.name)
    settings = (HERE / "mkdocs.yml").read_text(encoding="utf-8")
    _write(out / "mkdocs.yml", f"{settings}nav: {json.dumps(navigation(root), ensure_ascii=False)}\n")


def _check(root: Path = ROOT) -> None:
    wrong = broken_links(root)
    if wrong:
        raise BrokenError("\n".join(wrong))
    navigation(root)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def main(arguments: list[str]) -> int:
    """The command line."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        if arguments[0] == "--check":
            _check()
        else:
            stage(Path(arguments[0]))
    except BrokenError as error:
        print(f"The pages of the site are not in order:\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
