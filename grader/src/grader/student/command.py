"""The command `lockstep`: sets up what is missing, builds what an assignment needs, and runs the requested action.

`make test` and the like call it too. Only the standard library is used here: students need no Python packages.

Status: 0 everything requested is right, 1 something is not, 2 mistyped, 3 the harness failed, 130 stopped.
"""

import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader.base.errors import GraderError, UsageError
from grader.base.layout import IN_WHEEL, Layout, find_layout
from grader.base.process import CancelledError
from grader.model.assignment import load_assignment
from grader.student.arguments import fail, parse
from grader.student.debug_adapter import serve_editor
from grader.student.make import GPU_NODES, Request, carry_out
from grader.student.mistyped import DEVICES, did_you_mean, no_device, no_rung
from grader.student.text import Choice
from grader.student.typed import Typed, how_it_was_typed
from grader.student.watch import watch

_USAGE_STATUS, _HARNESS_STATUS, _STOPPED_STATUS = 2, 3, 130


class _NotBuiltError(Exception):
    """Set-up or the build failed, with its own message."""


def main(words: Sequence[str] | None = None) -> int:
    """Runs one command and returns the exit status."""
    words = sys.argv[1:] if words is None else words
    typed = Typed() if "--by-make" in words else Typed(how_it_was_typed())
    try:
        return _do(parse(words, typed.lockstep or "make"), typed)
    except (KeyboardInterrupt, CancelledError):
        return _STOPPED_STATUS
    except _NotBuiltError:
        return _HARNESS_STATUS
    except GraderError as error:
        sys.stdout.flush()
        fail(typed(str(error)))
        return _USAGE_STATUS if isinstance(error, UsageError) else _HARNESS_STATUS


def _do(options: Namespace, typed: Typed) -> int:
    if options.command == "run":
        return _run(layout_for_programs(options.build), options)
    if options.command == "doctor":
        layout = layout_for_programs(options.build)
        script = layout.harness / ("run.sh" if layout.root == IN_WHEEL else "setup.sh")
        return subprocess.run([script, "--build", layout.build, "--doctor"], check=False).returncode
    layout = find_layout(options.build)
    here = _assignment_around(layout, Path.cwd())
    names, rung = _chosen(layout, options.words, here)
    if not names and len(layout.assignments()) == 1:
        names = layout.assignments()
    if options.command == "build":
        _build(layout, names)
        return 0
    if rung and options.rung and rung != options.rung:
        raise UsageError(f"One rung at a time: {rung} or {options.rung}?\nType:  make {options.command} RUNG={rung}")
    request = Request(
        "test" if options.command == "watch" else options.command,
        names,
        Choice(rung or options.rung, getattr(options, "test", "")),
        getattr(options, "device", "vgpu"),
        getattr(options, "seed", ""),
        verbose=getattr(options, "verbose", False),
        page=getattr(options, "page", False),
        source=Path(options.source) if getattr(options, "source", "") else None,
        flags=options.flags.split(),
        typed=typed if len(names) != 1 or names == here else replace(typed, assignment=names[0]),
        state=Path(options.state) if options.state else None,
        sarif=getattr(options, "sarif", None),
        junit=getattr(options, "junit", None),
        annotations=getattr(options, "annotations", False),
    )
    if options.command == "hint" or options.built:
        return carry_out(layout, request)
    if options.command == "watch":
        return watch(layout, request, lambda: _build(layout, names))
    _build(layout, names)
    return carry_out(layout, request)


def layout_for_programs(build: Path | None, start: Path | None = None) -> Layout:
    """A checkout, else the files of an installed wheel, which suffice to run programs."""
    try:
        return find_layout(build, start)
    except GraderError:
        if IN_WHEEL.is_dir():
            return Layout(IN_WHEEL, IN_WHEEL / "build")
        raise


def _chosen(layout: Layout, words: Sequence[str], here: list[str]) -> tuple[list[str], str]:
    """The assignments and the rung that the words name; without a name, `here`: the current folder's."""
    names: list[str] = []
    rung = ""
    for word in words:
        inside = names or here
        assignment = load_assignment(layout.assignment(inside[0])) if len(inside) == 1 else None
        if assignment is not None and any(one.is_named(word) for one in assignment.rungs):
            if rung:
                raise UsageError(f"One rung at a time: {rung} or {word}?\nType:  make test RUNG={rung}")
            rung = word
        elif found := _assignment_named(layout, word):
            names.append(found)
        elif assignment is not None and (word.isdigit() or not _near(layout, word)):
            go = "" if here == inside else f"cd assignments/{assignment.id} && "
            raise UsageError(no_rung(assignment, word).replace("make", f"{go}make"))
        else:
            raise UsageError(_no_assignment(layout, word))
    return names or here, rung


def _assignment_around(layout: Layout, folder: Path) -> list[str]:
    """The assignment that a path is in, if any."""
    try:
        first = folder.resolve().relative_to((layout.root / "assignments").resolve()).parts[:1]
    except ValueError:
        return []
    return [name for name in first if name in layout.assignments()]


def _assignment_named(layout: Layout, word: str) -> str:
    """Finds an assignment by id, number (4, 04), the id without its number, or a path; "" if there is none."""
    for name in layout.assignments():
        number, _, rest = name.partition("_")
        if word in (name, number, number.lstrip("0"), rest):
            return name
    if "/" in word and (found := _assignment_around(layout, Path(word))):
        return found[0]
    return ""


def _near(layout: Layout, word: str) -> str:
    by_name = {known: name for name in layout.assignments() for known in (name, name.partition("_")[2])}
    return by_name.get(did_you_mean(word, by_name), "")


def _no_assignment(layout: Layout, word: str) -> str:
    names = layout.assignments()
    if word.isdigit() and names:
        return f"Rung {word} of which assignment?\nType:  cd assignments/{names[0]} && make test RUNG={word}"
    near = _near(layout, word)
    listed = "".join(f"\n  {name}" for name in names)
    meant = f" Did you mean {near}?" if near else f" There are:{listed}"
    return f"There is no assignment {word}.{meant}\nType:  cd assignments/{near or names[0]} && make test"


def _build(layout: Layout, names: Sequence[str]) -> None:
    """Sets up what is missing, once, and rebuilds what is out of date for these assignments, or for all."""
    layout.build.mkdir(parents=True, exist_ok=True)
    _set_up(layout)
    suites = [f"{name}_suite" for name in names or layout.assignments()]
    _call(layout.harness / "build.sh", "--build", layout.build, "cudart", "lockstep_worker", "vgpu-run", *suites)


def _set_up(layout: Layout) -> None:
    # The last file that setup.sh writes.
    compiler = layout.build / "nvcc.txt"
    if layout.root == IN_WHEEL:
        return
    if not compiler.is_file() or not compiler.stat().st_size:
        _call(layout.harness / "setup.sh", "--student", "--build", layout.build)


def _call(*words: str | Path) -> None:
    sys.stdout.flush()
    if subprocess.run([str(word) for word in words], check=False).returncode != 0:
        raise _NotBuiltError


def _run(layout: Layout, options: Namespace) -> int:
    """Runs one CUDA program; its status is the command's."""
    if options.adapter:
        return serve_editor(layout)
    path = Path(options.file)
    if not options.file:
        raise UsageError("Which program?\nType:  make run FILE=my_program.cu")
    if not path.is_file():
        others = [other.name for other in path.parent.glob("*.cu")] if path.parent.is_dir() else []
        near = did_you_mean(path.name, others)
        meant = f" Did you mean {near}?\nType:  make run FILE={path.parent / near}" if near else ""
        raise UsageError(f"There is no file {path}.{meant}")
    if path.suffix != ".cu":
        words = shlex.join([f"{layout.build}/bin/vgpu-run", str(path.absolute())])
        raise UsageError(f"{path} is no .cu file.\nType:  {words}      for a program that nvcc has built")
    if options.device not in DEVICES:
        raise UsageError(no_device(options.device))
    if options.device == "cuda" and not any(node.exists() for node in GPU_NODES):
        raise GraderError(f"This machine has no NVIDIA GPU.\nType:  make run FILE={path}      for the virtual one")
    layout.build.mkdir(parents=True, exist_ok=True)
    _set_up(layout)
    script = str(layout.harness / "run.sh")
    flags = [f"--{name}" for name in ("check", "profile", "page", "debug") if getattr(options, name)]
    flags += ["--sarif", str(options.sarif)] if options.sarif else []
    command = [script, "--build", str(layout.build), "--device", options.device, *flags, str(path), *options.program]
    sys.stdout.flush()
    status = subprocess.run(command, check=False).returncode
    return status if status >= 0 else 128 - status
