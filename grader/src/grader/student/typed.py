"""Commands in messages, in the form that the student typed: `make`, or `lockstep`.

Messages are written for `make`. Only the standard library is used here: students run it.
"""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

_COMMANDS = "build|test|check|profile|debug|hint|watch|run"
_VALUE = r"'[^']*'|[^\s'`\x1b]*[^\s'`\x1b.,;:]"
_START = r"(?:\b|(?<=\dm))"  # of a word, or after the escape that made it bold
_MAKE = re.compile(
    rf"(?:cd assignments/(?P<id>\w+) && )?{_START}make (?P<command>{_COMMANDS})\b(?P<rest>(?: [A-Z]+=(?:{_VALUE}))*)"
)
_WORD = re.compile(rf"([A-Z]+)=({_VALUE})")
_FLAGS = {"VERBOSE": "--verbose", "CHECK": "--check", "PROFILE": "--profile"}
_PLAIN = ("RUNG", "FILE")


@dataclass(frozen=True)
class Typed:
    """`lockstep`: the command as it was typed; "": it was `make`.

    `assignment`: the one to name in commands; "": the current folder's.
    """

    lockstep: str = ""
    assignment: str = ""

    def __call__(self, text: str) -> str:
        """The text, with each `make …` replaced by the equivalent of the typed command."""
        return _MAKE.sub(self._as_lockstep, text) if self.lockstep else text

    def _as_lockstep(self, found: re.Match[str]) -> str:
        name = found["id"] or (self.assignment if found["command"] != "run" else "")
        words = [self.lockstep, found["command"], *([name] if name else [])]
        values = dict(_WORD.findall(found["rest"]))
        words += [values[name] for name in _PLAIN if name in values]
        for name, value in values.items():
            if name in _FLAGS:
                words.append(_FLAGS[name])
            elif name == "ARGS":
                words += ["--", value.strip("'")]
            elif name not in _PLAIN:
                words += [f"--{name.lower()}", value]
        return " ".join(words)


def how_it_was_typed() -> str:
    """`lockstep` if it is on the PATH, else the typed path."""
    name = os.environ.get("LOCKSTEP_NAME", "lockstep")
    found = shutil.which("lockstep")
    return "lockstep" if found and Path(found).resolve() == Path(name).resolve() else name
