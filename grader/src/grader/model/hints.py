"""``hints.toml``: an author's hints for each rung, from where to look to the last idea before the code."""

import tomllib
from pathlib import Path

from grader.base.errors import GraderError

HINTS = "hints.toml"


def load_hints(folder: Path) -> dict[str, list[str]]:
    """The hints by rung; empty if there is no file. Raises GraderError if the file is malformed."""
    path = folder / HINTS
    if not path.is_file():
        return {}
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GraderError(f"{path} can't be read: {error}") from error
    hints: dict[str, list[str]] = {}
    for rung, table in document.items():
        steps = table.get("steps") if isinstance(table, dict) else None
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps) or len(table) != 1:
            raise GraderError(f"{path}: [{rung}] has to have steps, a list of texts, and nothing else")
        hints[rung] = steps
    return hints
