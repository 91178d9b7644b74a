"""Who hands in what, independent of any platform: what the builders make downloads from."""

import csv
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

DUE = datetime(2026, 11, 20, 23, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Person:
    """A student as every platform knows one. `number` is the platform's own id."""

    first: str
    last: str
    sid: str
    email: str
    number: int
    alias: str = ""

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}".strip()

    @property
    def sortable(self) -> str:
        return f"{self.last}, {self.first}" if self.first and self.last else self.name

    @property
    def login(self) -> str:
        return self.email.partition("@")[0] or f"user{self.number}"


@dataclass(frozen=True)
class Upload:
    """One hand-in: of one person, or of a team. `earlier` are the files of attempts before it, oldest first.

    `text` and `link` are what a student typed where no file was uploaded.
    """

    people: tuple[Person, ...]
    files: Mapping[str, bytes]
    at: datetime = DUE
    late: bool = False
    team: str = ""
    earlier: tuple[Mapping[str, bytes], ...] = ()
    text: str = ""
    link: str = ""

    @property
    def person(self) -> Person:
        return self.people[0]


@dataclass(frozen=True)
class Class:
    """A roster and what was handed in."""

    people: tuple[Person, ...]
    uploads: tuple[Upload, ...] = field(default=())


def person(name: str, number: int, sid: str = "", email: str = "", alias: str = "") -> Person:
    """From a name as people write it, "Ada Lovelace" or "Lovelace, Ada"."""
    last, comma, first = name.partition(", ")
    if not comma:
        first, _, last = name.rpartition(" ")
    plain = unicodedata.normalize("NFKD", f"{last}_{first}").encode("ascii", "ignore").decode().lower()
    login = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    return Person(first, last, sid or str(100000 + number), email or f"{login}@class.example", number, alias)


def load_class(folder: Path) -> Class:
    """The people of a roster.csv and the files in the folders beside it: how the sample class looks."""
    with (folder / "roster.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    people = tuple(
        person(row["name"], 4200 + 7 * index, row["sid"], row["email"], row["alias"]) for index, row in enumerate(rows)
    )
    uploads = []
    for own in sorted(path for path in folder.iterdir() if path.is_dir()):
        files = {path.name: path.read_bytes() for path in sorted(own.iterdir()) if path.is_file()}
        uploads.append(Upload((_whose(own.name, people),), files))
    return Class(people, tuple(uploads))


def _whose(folder: str, people: Sequence[Person]) -> Person:
    words = _words(folder)
    return max(people, key=lambda one: len(words & _words(f"{one.name} {one.login}")))


def _words(text: str) -> set[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return set(re.findall(r"[a-z]+", plain))


def write_roster(path: Path, people: Sequence[Person]) -> Path:
    """The grader's own roster.csv."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["name", "sid", "email", "alias"])
        rows.writerows([one.name, one.sid, one.email, one.alias] for one in people)
    return path
