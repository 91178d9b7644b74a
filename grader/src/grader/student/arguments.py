"""The command line of `lockstep`: its options, its help with examples, and its messages for mistyped words.

Only the standard library is used here: students run it.
"""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from grader import __version__
from grader.base.errors import UsageError
from grader.student.mistyped import did_you_mean

COMMANDS = {
    "test": "build your solution and run the public tests: the first thing to fix",
    "watch": "the same whenever you save; goes on to the next rung by itself",
    "hint": "one more hint each time",
    "check": "everything that the fault checkers find",
    "profile": "what each line of your kernels costs",
    "debug": "step through your kernels, forwards and back",
    "run": "any CUDA program of your own",
    "build": "build the virtual GPU and the tests; the others do it too",
    "doctor": "what is found on this machine, what is missing, and what to type",
}
_EXAMPLES = {
    "test": """\
  lockstep test                  in an assignment's folder: that assignment
  lockstep test 3                one rung of the ladder
  lockstep test --test SumsOne   the tests whose names contain this
  lockstep test 3 --verbose      every message, and all counters
  lockstep test 3 --page         a page about the call that fails
  lockstep test 3 --device cuda  on this machine's NVIDIA GPU
  lockstep test 04_reduction 3   from anywhere in the checkout; or: test 4 3
  lockstep test                  at the root: how far you are everywhere""",
    "watch": """\
  lockstep watch                 in an assignment's folder: begins with the
                                 first rung that is not right yet
  lockstep watch 3               begins with rung 3
  lockstep watch 04_reduction    from anywhere in the checkout

keys: q quits, h shows a hint (again: one more), r runs again""",
    "hint": """\
  lockstep hint                  for the first rung that has a TODO
  lockstep hint 3                for rung 3; the next time one more hint""",
    "check": """\
  lockstep check                 races, bad addresses, unwritten memory …
  lockstep check 3               of one rung""",
    "profile": """\
  lockstep profile 3             sectors, bank conflicts, divergence, by line""",
    "debug": """\
  lockstep debug 3               rung 3: stops where the call that fails begins
  lockstep debug --test SumsOne  the tests whose names contain this

In the debugger: break 41, continue, step, print i, reverse-continue, help""",
    "run": """\
  lockstep run my.cu             on the virtual GPU
  lockstep run my.cu --check     with every fault checker
  lockstep run my.cu --profile   with what each line costs
  lockstep run my.cu --debug     step by step, forwards and back
  lockstep run my.cu -- 1000 7   with arguments for the program""",
    "build": """\
  lockstep build                 everything
  lockstep build 04_reduction    what one assignment needs""",
    "doctor": """\
  lockstep doctor                compiler, toolkit, GPU, driver, build""",
}
_USAGE = dict.fromkeys(COMMANDS, "[ASSIGNMENT] [RUNG] [options]") | {
    "run": "FILE.cu [options] [-- ARGUMENT ...]",
    "build": "[ASSIGNMENT ...]",
    "doctor": "",
}
_STATUS = "status: 0 right, 1 wrong, 2 mistyped, 3 Lockstep failed, 130 stopped"
_WIDTH = 80


def parse(words: Sequence[str], name: str) -> argparse.Namespace:
    """Parses the command line of `name`. Raises UsageError, and SystemExit after --help and --version."""
    words = list(words)
    if not words or words[0] in ("-h", "--help", "help"):
        if len(words) > 1 and words[1] in COMMANDS:
            words = [words[1], "--help"]
        else:
            print(_overview())
            if name != "lockstep":
                print(f"\nHere it is {name}. To type it short:  export PATH=$PATH:{Path(name).resolve().parent}")
            raise SystemExit(0)
    if words[0] in ("-V", "--version"):
        print(f"lockstep, version {__version__}")
        raise SystemExit(0)
    command = words[0]
    if command not in COMMANDS:
        raise UsageError(_no_command(command, name))
    program: list[str] = []
    if command == "run" and "--" in words:
        at = words.index("--")
        words, program = words[:at], words[at + 1 :]
    typed = _parser(command, name, every="--by-make" in words).parse_intermixed_args(words[1:])
    typed.command, typed.program = command, program
    return typed


class _Parser(argparse.ArgumentParser):
    """On errors, says what to type instead of printing the usage."""

    def error(self, message: str) -> NoReturn:
        unknown = re.match(r"unrecognized arguments: (\S+)", message)  # parses a program's output
        if unknown:
            option = unknown[1].partition("=")[0]
            near = did_you_mean(option, (one for one in self._option_string_actions if one.startswith("--")))
            message = f"there is no {option} here{f'; did you mean {near}?' if near else ''}"
        raise UsageError(f"{self.prog}: {message}\nType:  {self.prog} --help")


def _parser(command: str, name: str, *, every: bool) -> argparse.ArgumentParser:
    """A command's options; `every`: also those of other commands, which a Makefile passes and this one ignores."""
    parser = _Parser(
        prog=f"{name} {command}",
        usage=f"{name} {command} {_USAGE[command]}",
        description=f"{COMMANDS[command][0].upper()}{COMMANDS[command][1:]}.",
        epilog=f"examples:\n{_EXAMPLES[command]}\n\n{_STATUS}",
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, max_help_position=24, width=_WIDTH),
        allow_abbrev=False,
    )
    add = parser.add_argument

    def option(commands: str, *words: str, **settings: Any) -> None:
        if command in commands.split():
            add(*words, **settings)
        elif every:
            add(*words, **(settings | {"help": argparse.SUPPRESS}))

    if command == "run":
        add("file", nargs="?", default="", metavar="FILE.cu", help="the program")
        add("--check", action="store_true", help="report races, unwritten memory, barriers, leaks")
        add("--profile", action="store_true", help="counters and modelled time, by line")
        add("--debug", action="store_true", help="stop at the first kernel, and ask what to do")
        add("--adapter", action="store_true", help="speak the Debug Adapter Protocol, for an editor")
    elif command != "doctor":
        what = "an assignment's folder" if command == "build" else "an assignment's folder, a rung, or both"
        add("words", nargs="*", metavar="ASSIGNMENT" if command == "build" else "WORD", help=what)
    option(
        "test watch hint check profile debug",
        "--rung",
        default="",
        help="one rung: 3, reduce3 or reduce3_sequential; 8a, 8b … where several share a number",
    )
    option("test check debug", "--test", default="", metavar="NAME", help="only tests whose names contain this")
    option("test", "--verbose", action="store_true", help="every message as each test ends, and all counters")
    option("test profile run", "--page", action="store_true", help="a page for a browser too, with pictures")
    option("test watch check profile debug", "--seed", default="", metavar="N", help="repeats the inputs of a run")
    option(
        "test watch check profile debug", "--source", default="", metavar="FILE",
        help="instead of the assignment's own file",
    )  # fmt: skip
    option(
        "test watch check profile run", "--device", default="vgpu", metavar="DEVICE",
        help="vgpu, the virtual GPU (default), or cuda",
    )  # fmt: skip
    option("test check run", "--sarif", type=Path, metavar="FILE", help="write what was found as SARIF 2.1.0 too")
    option("test check", "--junit", type=Path, metavar="FILE", help="write each test as JUnit XML too")
    option("test check", "--annotations", action="store_true", help="print it as GitHub's annotations too")
    add("--build", type=Path, metavar="DIR", help="the build tree, which other checkouts may share")
    for hidden in ("--by-make", "--built"):  # called by a Makefile, so messages say `make`; called by `watch`
        add(hidden, action="store_true", help=argparse.SUPPRESS)
    for hidden in ("--flags", "--state"):  # more flags for the suite; the file with the state for `watch`
        add(hidden, default="", help=argparse.SUPPRESS)
    return parser


def _overview() -> str:
    width = max(map(len, COMMANDS))
    commands = "\n".join(f"  {command:{width}}  {what}" for command, what in COMMANDS.items())
    return f"""\
Lockstep: CUDA coursework on a virtual GPU, or on a real one.

usage: lockstep COMMAND [ASSIGNMENT] [RUNG] [options]

{commands}

examples, in an assignment's folder:
  lockstep test         the first thing to fix, and what to do next
  lockstep test 3       one rung of the ladder
  lockstep watch        the same at every save

and at the root:
  lockstep test                  how far you are in every assignment
  lockstep test 04_reduction 3   short: lockstep test 4 3

lockstep COMMAND --help says more. `make COMMAND` does the same.
{_STATUS}"""


def _no_command(word: str, name: str) -> str:
    near = did_you_mean(word, COMMANDS)
    if near:
        return f"There is no command {word}. Did you mean {near}?\nType:  {name} {near}"
    return f"There is no command {word}. There are:\n  {', '.join(COMMANDS)}\nType:  {name} --help"


def fail(text: str) -> None:
    """Prints an error."""
    print(text, file=sys.stderr)
