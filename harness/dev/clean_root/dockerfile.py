"""Prints the Dockerfile as a shell script, for a system without Docker: what it copies, runs and sets, in that order.

    harness/dev/clean_root/dockerfile.py CONTEXT > steps.sh

CONTEXT is the folder that `docker build` would be given; the script runs as root in a system like the base image.
Stages are run one after the other, which is right while each is built on the one before. An unknown instruction is
refused, so that none is skipped silently. Only .git is left out: a fresh clone has no other file that .dockerignore
names.
"""

import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

_NOTHING_TO_DO = ("ARG", "FROM", "CMD")


def instructions(text: str) -> Iterator[tuple[str, str]]:
    """Each instruction with its words, continued lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            name, _, words = line.strip().partition(" ")
            yield name, words.strip()


def script(dockerfile: str, context: str) -> str:
    """The steps, which stop at the first that fails."""
    steps = ["set -e"]
    for name, words in instructions(dockerfile):
        if name == "RUN":
            steps += [f"echo {shlex.quote(f'==> RUN {words}')}", f"sh -c {shlex.quote(words)}"]
        elif name == "WORKDIR":
            steps += [f"mkdir -p {words}", f"cd {words}"]
        elif name == "ENV":
            variable, _, value = words.partition("=")
            if not re.fullmatch(r"\w+", variable):
                raise SystemExit(f"ENV {words} can't be read")
            steps.append(f'export {variable}="{value}"')
        elif name == "COPY" and not words.startswith("-"):
            *sources, target = words.split()
            if sources == ["."]:
                steps.append(f"find {context} -mindepth 1 -maxdepth 1 ! -name .git -exec cp -a -t {target} {{}} +")
            else:
                copied = " ".join(f"{context}/{source}" for source in sources)
                steps.append(f"mkdir -p {target} && cp -a {copied} {target}")
        elif name not in _NOTHING_TO_DO:
            raise SystemExit(f"the Dockerfile's {name} is unknown here")
    return "\n".join(steps) + "\n"


if __name__ == "__main__":
    root = Path(__file__).resolve().parents[3]
    sys.stdout.write(script((root / "Dockerfile").read_text(encoding="utf-8"), sys.argv[1]))
