"""Outdated files are rebuilt, or named, before a class is graded."""

import os
import shutil
from pathlib import Path

import pytest

from conftest import needs
from grader.base.errors import GraderError
from grader.base.layout import Layout
from grader.running.up_to_date import bring_up_to_date

NINJA = """rule make
  command = cp $in $out
build bin/90_fake_suite: make ../harness/suites/90_fake_test.cc
build 90_fake_suite: phony bin/90_fake_suite
build core: phony
"""
needs_ninja = needs(shutil.which("ninja") is not None, "ninja is missing; type: apt-get install ninja-build")


def said(layout: Layout) -> list[str]:
    lines: list[str] = []
    bring_up_to_date(layout, ["90_fake"], lines.append)
    return lines


@needs_ninja
def test_a_changed_test_is_built(checkout: Layout) -> None:
    (checkout.build / "build.ninja").write_text(NINJA)
    source = checkout.root / "harness/suites/90_fake_test.cc"
    source.write_text("// first\n")
    assert said(checkout) == ["Sources had changed since the last build: built them"]
    assert checkout.suite("90_fake").read_text() == "// first\n"
    assert said(checkout) == []
    source.write_text("// second\n")
    assert said(checkout) == ["Sources had changed since the last build: built them"]
    assert checkout.suite("90_fake").read_text() == "// second\n"


@needs_ninja
def test_one_that_does_not_build_ends_the_run(checkout: Layout) -> None:
    (checkout.build / "build.ninja").write_text(NINJA.replace("cp $in $out", "echo the error is here && false"))
    (checkout.root / "harness/suites/90_fake_test.cc").write_text("// newer\n")
    with pytest.raises(GraderError, match="the error is here") as raised:
        said(checkout)
    assert "make build" in str(raised.value)


def test_where_nothing_can_be_built_what_is_newer_is_named(checkout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(checkout) == []
    source = checkout.reference("90_fake") / "hidden_test.cc"
    later = checkout.suite("90_fake").stat().st_mtime + 5
    os.utime(source, (later, later))
    assert said(checkout) == [
        "reference/90_fake/hidden_test.cc is newer than the suite of 90_fake, which grades as it was built. "
        "Type:  make build"
    ]
    (checkout.build / "build.ninja").write_text(NINJA)
    monkeypatch.setenv("PATH", str(Path("/nowhere")))
    assert len(said(checkout)) == 1
