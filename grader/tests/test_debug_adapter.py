"""An editor's session with `lockstep run --adapter`, message by message."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, needs_build

pytestmark = needs_build
SOURCE = """#include <cstdio>
__global__ void fill(float* d_out, int n) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x * 2;
  __syncthreads();
  d_out[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
  float* d_out;
  cudaMalloc(&d_out, 256);
  std::puts("begins");
  fill<<<1, 64>>>(d_out, 64);
  cudaDeviceSynchronize();
  std::puts("ends");
  cudaFree(d_out);
}
"""


class Editor:
    """A client of the protocol."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "grader.student", "run", "--adapter", "--build", str(BUILD)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.sequence = 0
        self.events: list[dict[str, Any]] = []

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """The answer to a request."""
        self.sequence += 1
        message = {"seq": self.sequence, "type": "request", "command": command, "arguments": arguments}
        text = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
        self.process.stdin.flush()
        while (answer := self._read())["type"] == "event":
            self.events.append(answer)
        assert answer["request_seq"] == self.sequence
        return answer

    def until(self, event: str) -> dict[str, Any]:
        """The body of the next event of this kind."""
        while True:
            found = self.events.pop(0) if self.events else self._read()
            if found.get("event") == event:
                return found.get("body", {})

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        length = int(self.process.stdout.readline().split()[1])
        self.process.stdout.readline()
        return json.loads(self.process.stdout.read(length))


@pytest.fixture
def editor() -> Iterator[Editor]:
    made = Editor()
    yield made
    made.process.kill()
    made.process.wait()


def test_a_session(editor: Editor, tmp_path: Path) -> None:
    source = tmp_path / "fill.cu"
    source.write_text(SOURCE)
    assert editor.ask("initialize")["body"]["supportsStepBack"]
    assert not editor.ask("launch", program=str(tmp_path / "missing"))["success"]
    assert editor.ask("launch", program=str(source))["success"]
    points = editor.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[{"line": 6}])
    assert points["body"]["breakpoints"] == [{"verified": True, "line": 6}]
    editor.ask("configurationDone")
    assert editor.until("stopped")["reason"] == "breakpoint"
    frame = editor.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]
    assert (frame["name"], frame["line"], frame["source"]["name"]) == ("fill", 6, "fill.cu")
    assert "block (0,0,0), warp 1" in editor.ask("threads")["body"]["threads"][0]["name"]
    scope = editor.ask("scopes", frameId=1)["body"]["scopes"][0]["variablesReference"]
    variables = editor.ask("variables", variablesReference=scope)["body"]["variables"]
    values = {one["name"]: one["value"] for one in variables}
    assert values["threadIdx.x"] == "32 .. 63 step 1"
    assert values["n"] == "64"
    assert values["tile"] == "0, 2, 4, 6, 8, 10, 12, 14, …"
    assert editor.ask("evaluate", expression="tile[5]", context="hover")["body"]["result"] == "tile[5] = 10"
    computed = editor.ask("evaluate", expression="(int)tile[threadIdx.x] % 5 == 2 && n > 0", context="watch")["body"]
    assert computed["result"].endswith(f"= {'0 x4, 1, ' * 6}0 x2")
    editor.ask("stepBack", threadId=1)
    assert editor.until("stopped")["reason"] == "step"
    assert editor.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["line"] == 5
    assert not editor.ask("pause", threadId=1)["success"]
    editor.ask("setBreakpoints", source={"path": str(source)}, breakpoints=[])
    editor.ask("continue", threadId=1)
    printed = editor.until("output")["output"]
    assert printed in ("begins\n", "ends\n")
    assert editor.until("exited")["exitCode"] == 0


def test_a_check_stops_where_it_finds_a_race(editor: Editor, tmp_path: Path) -> None:
    source = tmp_path / "racing.cu"
    source.write_text(SOURCE.replace("  __syncthreads();\n", ""))
    editor.ask("launch", program=str(source), check=True)
    editor.ask("configurationDone")
    assert editor.until("stopped")["reason"] == "exception"
    assert editor.ask("stackTrace", threadId=1)["body"]["stackFrames"][0]["line"] in (4, 5)
