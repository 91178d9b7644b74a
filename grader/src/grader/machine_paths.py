"""Takes this machine's paths out of what students read: compilers' and linkers' messages, asserts, the judge's words.

In the sandbox a submission is compiled under a name that says nothing, so that its `__FILE__` says nothing either. What
remains are the folders of the checkout and of the toolkit in messages about headers, and all of them without a sandbox.
"""

import re
from dataclasses import replace
from pathlib import Path

from grader.layout import Layout
from grader.result import SuiteResult
from grader.toolchain import Toolchain

IN_BOX = Path("/submission")
_SCRATCH = r"/tmp/worker\.\w{6}(?=/)|/tmp(?=/tmpxft_)"  # noqa: S108  # the build script's, and nvcc's


class MachinePaths:
    """What replaces which path: folders of the project by their names in it, and scratch folders by nothing."""

    def __init__(self, layout: Layout, toolchain: Toolchain, *scratch: Path) -> None:
        """`scratch` folders hold the submission and what is made of it."""
        named = {str(toolchain.toolkit): "cuda", str(layout.build): "build", str(layout.root): ""}
        named |= {str(folder): "" for path in (IN_BOX, *scratch) for folder in (path, path.resolve())}
        self._names = {path: name for path, name in named.items() if path != "/"}
        paths = "|".join(re.escape(path) for path in sorted(self._names, key=len, reverse=True))
        self._pattern = re.compile(rf"({paths}|{_SCRATCH})(/+|(?![\w.+-]))")

    def hide(self, text: str) -> str:
        """The text with names instead of paths."""
        return self._pattern.sub(self._name, text)

    def _name(self, match: re.Match[str]) -> str:
        name = self._names.get(match[1], "")
        if not match[2]:
            return name or "."
        return f"{name}/" if name else ""

    def hide_in(self, result: SuiteResult) -> SuiteResult:
        """The result with names instead of paths in all that a submission or the judge wrote."""
        hide = self.hide
        return replace(
            result,
            tests=tuple(
                replace(
                    test,
                    message=hide(test.message),
                    output=hide(test.output),
                    reproduce=hide(test.reproduce),
                    findings=tuple(
                        replace(one, file=hide(one.file), text=hide(one.text), kernel=hide(one.kernel))
                        for one in test.findings
                    ),
                )
                for test in result.tests
            ),
            evidence=tuple(replace(entry, message=hide(entry.message)) for entry in result.evidence),
            timings=tuple(replace(entry, message=hide(entry.message)) for entry in result.timings),
        )
