"""`make hint`: the author's hints for a rung, one more each time it is typed.

They are in the assignment's hints.toml, a list by rung. The number already shown is kept in the build tree. Only the
standard library is used here: students run it.
"""

import json
import textwrap
from pathlib import Path

from grader.base.errors import UsageError
from grader.base.files import write_atomic
from grader.base.layout import Layout
from grader.model.assignment import Assignment, Rung
from grader.model.hints import load_hints
from grader.student.mistyped import no_rung
from grader.student.text import todo_line

_COLUMNS = 78


def hint(layout: Layout, assignment: Assignment, rung: str, source: str) -> str:
    """The next hint for a rung; all of them once they have been shown.

    `rung` is "3", "reduce3" or the id; "": the first one whose TODO is in `source`.
    """
    chosen = _chosen(assignment, rung, source)
    steps = load_hints(assignment.path.parent).get(chosen.id, [])
    if not steps:
        return f"There is no hint for {chosen.id}.\nNext: make test RUNG={chosen.label}"
    path = layout.build / "workers" / f"{assignment.id}.hints.json"
    shown = _shown(path)
    count = min(shown.get(chosen.id, 0) + 1, len(steps))
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, json.dumps(shown | {chosen.id: count}))
    lines = [f"{chosen.title}, hint {count} of {len(steps)}", ""]
    for number, step in enumerate(steps[:count], 1):
        lines += textwrap.wrap(step, _COLUMNS, initial_indent=f"  {number}  ", subsequent_indent="     ")
    more = f"make hint RUNG={chosen.label} for one more, or " if count < len(steps) else ""
    return "\n".join([*lines, "", f"Next: {more}make test RUNG={chosen.label}"])


def _chosen(assignment: Assignment, rung: str, source: str) -> Rung:
    if not rung:
        to_do = [one for one in assignment.rungs if todo_line(source, one)]
        return to_do[0] if to_do else assignment.rungs[0]
    for one in assignment.rungs:
        if one.is_named(rung):
            return one
    raise UsageError(no_rung(assignment, rung))


def _shown(path: Path) -> dict[str, int]:
    """The number of hints shown for each rung; an unreadable file counts as none."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    pairs = document.items() if isinstance(document, dict) else ()
    return {rung: count for rung, count in pairs if isinstance(count, int)}
