"""Removes this machine's paths from what students read: messages of compilers, linkers, asserts and the judge.

In the sandbox a submission is compiled under a neutral name, so its `__FILE__` reveals nothing. What remains are the
folders of the checkout and of the toolkit in messages about headers and, without a sandbox, all other paths. Mount
tables in the sandbox name the folders too, also by their paths on their file systems, so no line of such a table is
shown. A path that a submission encodes before it prints it is not recognised.
"""

import re
from dataclasses import replace
from pathlib import Path

from grader.base.layout import Layout
from grader.base.toolchain import Toolchain
from grader.model.result import SuiteResult

IN_BOX = Path("/submission")
_MOUNT = re.compile(  # a line of /proc/self/mountinfo or /proc/mounts
    r"^\d+ \d+ \d+:\d+ \S+ \S+ r[ow]\b.* - \S+ .*$|^\S+ /\S* \S+ r[ow](?:,\S*)? \d+ \d+$", re.MULTILINE
)
_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")  # such as a space
_SCRATCH = r"/tmp/worker\.\w{6}(?=/)|/tmp(?=/tmpxft_)"  # noqa: S108  # the build script's, and nvcc's


class MachinePaths:
    """Replacements for paths: project folders become their names in the project, scratch folders vanish."""

    def __init__(self, layout: Layout, toolchain: Toolchain, *scratch: Path) -> None:
        """`scratch` folders hold the submission and files made from it."""
        named = {str(toolchain.toolkit): "cuda", str(layout.build): "build", str(layout.root): ""}
        named |= {str(folder): "" for path in (IN_BOX, *scratch) for folder in (path, path.resolve())}
        mounts = _mounts()
        named = {_in_file_system(path, mounts): name for path, name in named.items()} | named
        self._names = {path: name for path, name in named.items() if path != "/"}
        paths = "|".join(re.escape(path) for path in sorted(self._names, key=len, reverse=True))
        self._pattern = re.compile(rf"({paths}|{_SCRATCH})(/+|(?![\w.+-]))")

    def hide(self, text: str) -> str:
        """The text with names instead of paths."""
        return self._pattern.sub(self._name, _MOUNT.sub("(a mount)", text))

    def _name(self, match: re.Match[str]) -> str:
        name = self._names.get(match[1], "")
        if not match[2]:
            return name or "."
        return f"{name}/" if name else ""

    def hide_in(self, result: SuiteResult) -> SuiteResult:
        """The result with names instead of paths in all text from a submission or the judge."""
        hide = self.hide
        return replace(
            result,
            tests=tuple(
                replace(
                    test.with_texts(hide),
                    output=hide(test.output),
                    reproduce=hide(test.reproduce),
                    launches=tuple(map(hide, test.launches)),
                    findings=tuple(
                        replace(
                            one,
                            places=tuple(replace(place, file=hide(place.file)) for place in one.places),
                            text=hide(one.text),
                            kernel=hide(one.kernel),
                        )
                        for one in test.findings
                    ),
                )
                for test in result.tests
            ),
            evidence=tuple(entry.with_texts(hide) for entry in result.evidence),
            timings=tuple(entry.with_texts(hide) for entry in result.timings),
        )


def _mounts() -> dict[str, str]:
    """This machine's mount points, each with the folder of its file system that it shows."""
    try:
        lines = _MOUNTS.read_text().splitlines()
    except OSError:
        return {}
    plain = [[_OCTAL.sub(lambda match: chr(int(match[1], 8)), word) for word in line.split(" ")] for line in lines]
    return {point: folder for _, _, _, folder, point, *_ in plain}


def _in_file_system(path: str, mounts: dict[str, str]) -> str:
    """The path inside its file system: /prof/lockstep for /home/prof/lockstep if /home is a mount point."""
    for folder in (Path(path), *Path(path).parents):
        if (shown := mounts.get(str(folder))) is not None:
            return str(Path(shown) / Path(path).relative_to(folder))
    return path
