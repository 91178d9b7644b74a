"""`lockstep run --adapter`: an editor steps through a CUDA program by the Debug Adapter Protocol.

The editor speaks on standard input and output, `vgpu-run --debug` on a socket (harness/vgpu/exec/debug_channel.h). The
protocol's only thread represents the warp that is stepped. Only the standard library is used here: students run it.
Protocol: microsoft.github.io/debug-adapter-protocol, 1.68.
"""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from grader.base.layout import Layout

_WARP, _VALUES = 1, 1  # the only thread, the only scope
_GOING = {
    "continue": "continue", "next": "next", "stepIn": "step", "stepOut": "finish",
    "reverseContinue": "reverse-continue", "stepBack": "reverse-step",
}  # fmt: skip
_SHOWING = ("print", "info", "list", "backtrace", "watch", "break", "help")  # others are expressions to print

_Message = dict[str, Any]


def serve_editor(layout: Layout) -> int:
    """Serves one session; returns the program's status."""
    return _Session(layout, sys.stdin.buffer, sys.stdout.buffer).serve()


@dataclass(frozen=True)
class _Program:
    process: subprocess.Popen[bytes]
    debugger: socket.SocketIO


class _Session:
    def __init__(self, layout: Layout, requests: IO[bytes], answers: IO[bytes]) -> None:
        self._layout, self._requests, self._answers = layout, requests, answers
        self._writing = threading.Lock()
        self._sequence = 0
        self._program: _Program | None = None
        self._points: dict[str, list[int]] = {}
        self._stops_on_entry = self._is_stopped = self._is_configured = False
        self._beginning = threading.Lock()
        self._state: _Message = {}
        self._status = 0
        self._handlers: dict[str, Callable[[_Message], _Message]] = {
            "initialize": self._initialize, "launch": self._launch, "setBreakpoints": self._set_breakpoints,
            "configurationDone": self._configured, "threads": self._threads, "stackTrace": self._stack,
            "scopes": self._scopes, "variables": self._variables, "evaluate": self._evaluate,
            "setExceptionBreakpoints": lambda _: {},
        } | dict.fromkeys(_GOING, self._go)  # fmt: skip

    def serve(self) -> int:
        while (request := self._read()) is not None:
            name = request.get("command", "")
            body: _Message = {}
            message = ""
            if name in ("disconnect", "terminate"):
                self._end()
            elif name not in self._handlers:
                message = f"{name} is not supported"
            else:
                try:
                    body = self._handlers[name](request | request.get("arguments", {}))
                except (OSError, ValueError, KeyError) as error:
                    message = f"{name}: {error}"
            self._send(
                "response", request_seq=request["seq"], success=not message, command=name, message=message, body=body
            )
            if name == "initialize":
                self._send("event", event="initialized")
            if name == "disconnect":
                break
            if name in _GOING and not message:
                self._ask_and_wait(_GOING[name])
            if name in ("launch", "configurationDone"):
                self._begin()
        self._end()
        return self._status

    def _read(self) -> _Message | None:
        length = 0
        while (line := self._requests.readline().strip()) or not length:
            if not line:
                return None
            key, _, value = line.partition(b":")
            if key.lower() == b"content-length":
                length = int(value)
        return cast(_Message, json.loads(self._requests.read(length)))

    def _send(self, kind: str, **content: Any) -> None:
        with self._writing:
            self._sequence += 1
            text = json.dumps({"seq": self._sequence, "type": kind} | content).encode()
            self._answers.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
            self._answers.flush()

    def _initialize(self, _: _Message) -> _Message:
        return dict.fromkeys(
            ("supportsConfigurationDoneRequest", "supportsStepBack", "supportsEvaluateForHovers"), True
        )

    def _launch(self, options: _Message) -> _Message:
        program = Path(options["program"])
        if not program.is_file():
            raise ValueError(f"there is no program {program}")
        ours, theirs = socket.socketpair()
        command = [str(self._layout.build / "bin/vgpu-run")]
        if program.suffix == ".cu":
            command = [str(self._layout.harness / "run.sh"), "--build", str(self._layout.build)]
        command += ["--debug", *(["--check"] if options.get("check") else [])]
        self._stops_on_entry = bool(options.get("stopOnEntry"))
        process = subprocess.Popen(
            [*command, str(program), *map(str, options.get("args", []))],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=options.get("cwd"),
            env=os.environ | {"LOCKSTEP_DEBUG_FD": str(theirs.fileno())},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._program = _Program(process, ours.makefile("rwb", buffering=0))
        threading.Thread(target=self._pass_output_on, args=(process.stdout,), daemon=True).start()
        threading.Thread(target=self._wait_for_stop, daemon=True).start()
        return {}

    def _pass_output_on(self, output: IO[bytes]) -> None:
        for line in output:
            self._send("event", event="output", body={"category": "stdout", "output": line.decode(errors="replace")})

    def _ask_and_wait(self, command: str) -> None:
        self._is_stopped = False
        self._live.debugger.write(f"{command}\n".encode())
        threading.Thread(target=self._wait_for_stop, daemon=True).start()

    def _wait_for_stop(self) -> None:
        line = self._live.debugger.readline()
        if not line:
            self._status = self._live.process.wait()
            self._send("event", event="exited", body={"exitCode": self._status})
            self._send("event", event="terminated")
            return
        text = json.loads(line)["text"]
        self._is_stopped = True
        self._state = self._ask("state")["state"]
        if self._state["reason"] == "entry":
            self._begin()
        else:
            self._say_stopped(text)

    def _say_stopped(self, text: str) -> None:
        body = {"reason": self._state["reason"], "threadId": _WARP, "allThreadsStopped": True, "text": text}
        self._send("event", event="stopped", body=body)

    def _begin(self) -> None:
        """Starts at the first instruction, once the editor has sent its breakpoints."""
        with self._beginning:  # called by whichever thread comes last
            if not (self._is_stopped and self._is_configured and self._state.get("reason") == "entry"):
                return
            self._state["reason"] = "begun"
        self._place_breakpoints()
        if self._stops_on_entry:
            self._state["reason"] = "entry"
            self._say_stopped("")
            self._state["reason"] = "begun"
        else:
            self._ask_and_wait("continue")

    def _ask(self, command: str) -> _Message:
        if not self._is_stopped:
            raise ValueError("the program has to be stopped")
        self._live.debugger.write(f"{command}\n".encode())
        return cast(_Message, json.loads(self._live.debugger.readline()))

    @property
    def _live(self) -> _Program:
        if self._program is None:
            raise ValueError("launch comes first")
        return self._program

    def _configured(self, _: _Message) -> _Message:
        self._is_configured = True
        return {}

    def _set_breakpoints(self, request: _Message) -> _Message:
        lines = [int(point["line"]) for point in request.get("breakpoints", [])]
        self._points[Path(request["source"]["path"]).name] = lines
        if self._is_stopped:
            self._place_breakpoints()
        return {"breakpoints": [{"verified": True, "line": line} for line in lines]}

    def _place_breakpoints(self) -> None:
        self._ask("delete")
        for file, lines in self._points.items():
            for line in lines:
                self._ask(f"break {file}:{line}")

    def _threads(self, _: _Message) -> _Message:
        return {"threads": [{"id": _WARP, "name": self._state.get("who", "the warp that is stepped")}]}

    def _stack(self, _: _Message) -> _Message:
        frames = [
            {"id": index + 1, "name": one["name"], "line": one["line"], "column": 1,
             # An editor shows the first frame that is not deemphasised.
             "source": {"name": Path(one["file"]).name, "path": one["file"],
                        **({"presentationHint": "deemphasize"} if one["of_toolkit"] else {})}}
            for index, one in enumerate(self._state["frames"])
        ]  # fmt: skip
        return {"stackFrames": frames, "totalFrames": len(frames)}

    def _scopes(self, _: _Message) -> _Message:
        return {"scopes": [{"name": "Parameters and shared memory", "variablesReference": _VALUES, "expensive": False}]}

    def _variables(self, _: _Message) -> _Message:
        return {"variables": [one | {"variablesReference": 0} for one in self._state["variables"]]}

    def _evaluate(self, request: _Message) -> _Message:
        command = " ".join(request["expression"].split())
        if command.partition(" ")[0] not in _SHOWING:
            command = f"print {command}"
        return {"result": self._ask(command)["text"].rstrip(), "variablesReference": 0}

    def _go(self, _: _Message) -> _Message:
        if not self._is_stopped:
            raise ValueError("the program runs already")
        return {"allThreadsContinued": True}

    def _end(self) -> None:
        if self._program is not None and self._program.process.poll() is None:
            self._program.process.kill()
