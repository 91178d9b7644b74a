"""From the journal to files: results, gradebook, report cards, leaderboard. Nothing is graded here."""

from dataclasses import dataclass
from pathlib import Path

from grader.assignment import Assignment, load_assignment
from grader.errors import GraderError
from grader.files import write_atomic
from grader.layout import Layout
from grader.leaderboard import Board, board_csv, board_json, make_board
from grader.names import safe_json, slug
from grader.record import Record
from grader.render import Renderer, card_name
from grader.schema import SchemaError
from grader.store import Journal
from grader.tables import write_gradebook

JOURNAL = "journal.sqlite"
_CARDS = "cards"
_RESULTS = "results"


@dataclass(frozen=True)
class Published:
    """What was written, for the last lines of a run."""

    index: Path
    gradebook: Path
    leaderboard: Path | None
    cards: int


def publish(layout: Layout, out: Path, journal: Journal) -> Published:
    """Writes everything that `out` holds beside the journal, and removes pages that no longer belong to anyone."""
    classes = load_classes(layout, journal)
    if not classes:
        raise GraderError(f"{out} has no results yet.\nType:  grader grade SUBMISSIONS --out {out}")
    renderer = Renderer(layout.templates, out)
    written: set[Path] = set()
    for assignment, records in classes.values():
        for record in records:
            written.add(renderer.card(assignment, record))
            path = out / _RESULTS / assignment.id / f"{slug(record.folder)}.json"
            write_atomic(path, safe_json(public_document(record)) + "\n")
            written.add(path)
    _remove_others(out, written)
    gradebook = out / "gradebook.csv"
    write_gradebook(gradebook, {name: records for name, (_, records) in classes.items()})
    boards = publish_boards(layout, out, journal)
    index = renderer.index(classes, has_board=bool(boards))
    return Published(index, gradebook, out / "leaderboard.html" if boards else None, len(written) // 2)


def publish_boards(layout: Layout, out: Path, journal: Journal) -> list[Board]:
    """Writes leaderboard.html, .csv and .json; nothing where no assignment has a leaderboard."""
    boards = []
    for assignment, records in load_classes(layout, journal).values():
        board = make_board(assignment, records, lambda record: journal.history(record.assignment, record.folder))
        if board is not None:
            boards.append(board)
    if boards:
        Renderer(layout.templates, out).leaderboard(boards)
        write_atomic(out / "leaderboard.csv", board_csv(boards))
        write_atomic(out / "leaderboard.json", board_json(boards))
    return boards


def load_classes(layout: Layout, journal: Journal) -> dict[str, tuple[Assignment, list[Record]]]:
    """The current results by assignment; raises GraderError where the journal can't be read."""
    try:
        return {
            name: (load_assignment(layout.assignment(name)), journal.current(name)) for name in journal.assignments()
        }
    except SchemaError as error:
        raise GraderError(f"the journal can't be read: {error}\nStart afresh with another --out DIR") from error


def open_journal(out: Path) -> Journal:
    """The journal of a folder that was graded into; raises GraderError where there is none."""
    path = out / JOURNAL
    if not path.is_file():
        raise GraderError(f"{out} has no results yet.\nType:  grader grade SUBMISSIONS --out {out}")
    return Journal(path)


def public_document(record: Record) -> dict[str, object]:
    """A record as results/*.json has it: without the source, with the path of its card."""
    document = record.document()
    del document["source"]
    return document | {"verdict": record.verdict, "card": card_name(record)}


def _remove_others(out: Path, written: set[Path]) -> None:
    for folder, suffix in ((_CARDS, "html"), (_RESULTS, "json")):
        for path in (out / folder).glob(f"*/*.{suffix}"):
            if path not in written:
                path.unlink()
