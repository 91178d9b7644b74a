"""The class's index. `cards` has the report cards.

Each page is one file without scripts or external resources. Jinja escapes everything that a student wrote.
"""

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.base.files import write_atomic
from grader.model.assignment import Assignment
from grader.model.record import MISSING, Record
from grader.pages.card_view import rung_views
from grader.pages.cards import card_name, staff_card_name
from grader.pages.environment import make_environment


class Renderer:
    """Writes pages into an output folder."""

    def __init__(self, templates: Path, out: Path) -> None:
        """Takes templates from one folder and writes into the other."""
        self._out = out
        self.environment = make_environment(templates)
        self.environment.filters |= {"card": card_name, "staff_card": staff_card_name}

    def index(self, classes: Mapping[str, tuple[Assignment, Sequence[Record]]], *, has_board: bool) -> Path:
        """Writes the page that lists all cards and gives its path."""
        sections = [
            {
                "assignment": assignment,
                "rows": [
                    {"record": record, "rungs": rung_views(assignment, record)}
                    for record in sorted(records, key=lambda record: record.student.name.casefold())
                ],
                "handed_in": sum(record.status != MISSING for record in records),
                "median": statistics.median(scores)
                if (scores := [r.score.total for r in records if r.score and r.status != MISSING])
                else None,
                "verdicts": Counter(record.shown_verdict for record in records).most_common(),
            }
            for assignment, records in classes.values()
        ]
        text = self.environment.get_template("index.html.j2").render(sections=sections, has_board=has_board)
        path = self._out / "index.html"
        write_atomic(path, text)
        return path
