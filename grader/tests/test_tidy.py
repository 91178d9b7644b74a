"""harness/dev/tidy.sh reports problems in a source and a header that it includes, and accepts clean ones."""

import subprocess
from pathlib import Path

import pytest

from conftest import BUILD, ROOT, needs

USED_AFTER_MOVE = """#include <string>
#include <utility>
std::string Taken(std::string a) {
  std::string b = std::move(a);
  return b + a;
}
"""
PASSED_ON = USED_AFTER_MOVE.replace("return b + a", "return b")

pytestmark = [
    pytest.mark.daily,
    needs((ROOT / ".venv/bin/clang-tidy").exists(), "clang-tidy is missing; type: harness/setup.sh --dev"),
]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / "harness" / name  # tidy.sh ignores headers elsewhere
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def tidy(source: Path) -> subprocess.CompletedProcess[str]:
    command = [str(ROOT / "harness/dev/tidy.sh"), "--build", str(BUILD), str(source)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_mistake_is_found(tmp_path: Path) -> None:
    found = tidy(write(tmp_path, "mistake.cc", USED_AFTER_MOVE))
    assert found.returncode == 1
    assert "mistake.cc:5:14: error: 'a' used after it was moved [bugprone-use-after-move" in found.stdout


def test_a_mistake_in_a_header_is_found(tmp_path: Path) -> None:
    write(tmp_path, "mistake.h", USED_AFTER_MOVE.replace("std::string Taken", "inline std::string Taken"))
    found = tidy(write(tmp_path, "includes.cc", '#include "mistake.h"\n'))
    assert found.returncode == 1
    assert "mistake.h:5:14: error: 'a' used after it was moved" in found.stdout


def test_what_has_none_passes(tmp_path: Path) -> None:
    found = tidy(write(tmp_path, "right.cc", PASSED_ON))
    assert (found.returncode, found.stdout) == (0, "")
