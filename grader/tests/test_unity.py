"""Several solutions compiled as one source."""

import subprocess
from pathlib import Path

from grader.authoring.unity import batch_source

_FIRST = b"""// verdict: WRONG one
#include <cstdio>

#define TWICE(x) (2 * (x))
int one() { return TWICE(__LINE__); }
"""
_SECOND = b"""#include <cstdio>
#include <cstdlib>
static int TWICE = 7;
int one() { return std::abs(-TWICE) + __LINE__; }
"""


def test_each_keeps_its_lines_its_macros_and_its_names(tmp_path: Path) -> None:
    source = tmp_path / "batch.cc"
    source.write_bytes(
        batch_source([_FIRST, _SECOND], ["a", "b"], "task.cu")
        + b'int main() { std::printf("%d %d %s", a::one(), b::one(), __FILE__); }\n'
    )
    subprocess.run(["/usr/bin/env", "g++", source, "-o", tmp_path / "batch"], check=True)
    printed = subprocess.run([tmp_path / "batch"], check=True, capture_output=True, text=True).stdout
    assert printed == "10 11 task.cu"


def test_a_header_is_included_once() -> None:
    assert batch_source([_FIRST, _SECOND], ["a", "b"], "task.cu").count(b"#include <cstdio>") == 1
