"""Writes grades into any CSV file and leaves every other byte unchanged.

The file is parsed as spans of its text, and only the span of a cell that gets a grade is rewritten. The student of a
row is found by a column whose cells are ids, logins or addresses of the class, and an assignment's column by its title.
What can't be determined is asked for.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.base.errors import GraderError
from grader.base.names import shown
from grader.course.grades import EXCUSED, StudentGrades
from grader.exports.platform import KINDS, Column, Report, is_by_staff, one_row_each, say_left_over, value_of
from grader.exports.tables import cell_text
from grader.model.assignment import Assignment

_MOST_ABOVE = 20  # lines before the titles
_LEAST_KNOWN = 0.5  # share of rows with a known id; a column with fewer is not the id column
# Suffixes that platforms append to titles: Canvas its number, Blackboard and Brightspace the points.
_BEHIND = re.compile(r"\s*(?:\(\d+\)|\[total pts:[^\]]*\]\s*\|?\d*|points grade(?:\s*<[^>]*>)?)$")
_AS_TEXT = re.compile(r'="(.*)"')  # how spreadsheets keep an id's leading zeros
_CODECS = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"), (b"", "utf-8"))
_DECIMAL_COMMA = re.compile(r"-?\d+,\d+")


@dataclass(frozen=True)
class _Cell:
    """A cell: the span of its text, its value, and whether it is quoted."""

    start: int
    end: int
    value: str
    is_quoted: bool


@dataclass(frozen=True)
class Table:
    """A file's text, its codec and byte-order mark, and its rows of cells."""

    name: str
    text: str
    codec: str
    mark: bytes
    delimiter: str
    rows: tuple[tuple[_Cell, ...], ...]

    def value(self, row: int, place: int) -> str:
        """A cell's value without surrounding white space; empty if the row has no such cell."""
        cells = self.rows[row]
        return cells[place].value.strip() if place < len(cells) else ""

    def titles(self, row: int) -> list[str]:
        """The values of a row's cells, without surrounding white space."""
        return [self.value(row, place) for place in range(len(self.rows[row]))]


def read_table(data: bytes, name: str) -> Table:
    """A file's table; raises GraderError if a quote is not closed, or the file is empty."""
    mark, codec = next((mark, codec) for mark, codec in _CODECS if data.startswith(mark))
    try:
        text = data[len(mark) :].decode(codec)
    except UnicodeDecodeError:  # Latin-1 maps each byte to a character and back
        mark, codec, text = b"", "latin-1", data.decode("latin-1")
    tried = {delimiter: _cells(text, delimiter, name) for delimiter in ",;\t"}
    delimiter, rows = max(tried.items(), key=lambda one: sum(len(row) for row in one[1][:_MOST_ABOVE]))
    if not any(cell.value.strip() for row in rows for cell in row):
        raise GraderError(f"{name} is empty; a line of it should name the columns")
    return Table(name, text, codec, mark, delimiter, tuple(map(tuple, rows)))


def _cells(text: str, delimiter: str, name: str) -> list[list[_Cell]]:
    plain = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    quoted = re.compile(r'"((?:[^"]|"")*)"')
    rows: list[list[_Cell]] = []
    row: list[_Cell] = []
    at = 0
    while at < len(text):
        found = quoted.match(text, at)
        if text[at] == '"' and found is None:
            raise GraderError(f"{name}: line {text.count(chr(10), 0, at) + 1}: a quote is opened and not closed")
        cell = plain.match(text, found.end() if found else at)
        end = cell.end() if cell else at
        value = found[1].replace('""', '"') + text[found.end() : end] if found else text[at:end]
        row.append(_Cell(at, end, value, found is not None))
        at = end
        if text.startswith(delimiter, at):
            at += 1
            if at == len(text) or text[at] in "\r\n":
                row.append(_Cell(at, at, "", False))
        if at < len(text) and text[at] in "\r\n":
            at += 2 if text.startswith("\r\n", at) else 1
            rows.append(row)
            row = []
    return [*rows, row] if row else rows


def grades_into(
    table: Table,
    assignments: Mapping[str, Assignment],
    columns: Mapping[str, Sequence[str]],
    grades: Sequence[StudentGrades],
    *,
    id_title: str = "",
) -> tuple[bytes, Report]:
    """The file with each assignment's grades in its column. Raises GraderError naming the option that resolves a doubt.

    `columns` has the possible titles of an assignment's column, `id_title` that of the column with ids.
    """
    report = Report()
    head, places = _head(table, assignments, columns, report)
    body = [row for row in range(head + 1, len(table.rows)) if any(cell.value.strip() for cell in table.rows[row])]
    key = _id_column(table, head, body, grades, id_title, set(places.values()))
    owners = _owners(table, body, key, grades, report)
    new: dict[tuple[int, int], str] = {}
    has_comma = any(
        _DECIMAL_COMMA.fullmatch(table.value(row, place))
        for row in body
        for place in range(len(table.rows[row]))
        if table.delimiter != "," or table.rows[row][place].is_quoted
    )
    for row, owner in zip(body, owners, strict=True):
        if owner is None:
            continue
        for name, place in places.items():
            text = _text(table, row, place, assignments[name], owner, report)
            if text is not None:
                new[row, place] = text.replace(".", ",") if has_comma else text
                report.filled += 1
    say_left_over(grades, owners, list(places), report)
    return _written(table, new), report


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text.strip()).casefold()


def _head(
    table: Table, assignments: Mapping[str, Assignment], columns: Mapping[str, Sequence[str]], report: Report
) -> tuple[int, dict[str, int]]:
    """The header row, and the index of each assignment's column."""
    for head in range(min(len(table.rows), _MOST_ABOVE)):
        titles = [_BEHIND.sub("", one) for one in map(_plain, table.titles(head))]
        whole = list(map(_plain, table.titles(head)))
        places: dict[str, int] = {}
        for name in assignments:
            for title in map(_plain, columns[name]):
                found = [place for place in range(len(whole)) if title and title in (whole[place], titles[place])]
                if len(found) > 1:
                    raise GraderError(
                        f'{table.name}: "{shown(title)}" is the title of {len(found)} columns.\n'
                        f'Rename one, or type:  --column {name}="HEADER"      with another'
                    )
                if found:
                    places[name] = found[0]
                    break
        if places:
            report.notes += [f"{name} has no column in the file" for name in assignments if name not in places]
            return head, places
    listed = "\n".join(f"  {shown(title)}" for title in table.titles(0) if title)
    name = next(iter(assignments))
    raise GraderError(
        f'{table.name} has no column for {name}. Its columns are:\n{listed}\nType:  --column {name}="HEADER"'
    )


def _keys(one: StudentGrades) -> set[str]:
    return {value.casefold() for kind in KINDS if (value := getattr(one.student, kind))}


def _read_key(cell: str) -> str:
    found = _AS_TEXT.fullmatch(cell)
    return (found[1] if found else cell.lstrip("'#")).strip().casefold()  # Brightspace begins ids with #


def _index(grades: Sequence[StudentGrades]) -> dict[str, list[StudentGrades]]:
    index: dict[str, list[StudentGrades]] = {}
    for one in grades:
        for key in _keys(one) if one.is_matched else ():
            index.setdefault(key, []).append(one)
    return index


def _id_column(
    table: Table, head: int, body: Sequence[int], grades: Sequence[StudentGrades], title: str, taken: set[int]
) -> int:
    """The column that identifies students: the named one, else the one in which most rows match somebody."""
    titles = table.titles(head)
    if title:
        found = [place for place, one in enumerate(titles) if _plain(one) == _plain(title)]
        if len(found) != 1:
            what = "no column" if not found else f"{len(found)} columns"
            raise GraderError(
                f'{table.name} has {what} "{shown(title)}". Its columns are: {", ".join(map(shown, titles))}'
            )
        return found[0]
    index = _index(grades)
    known: list[tuple[int, int]] = []
    for place in range(len(titles)):
        if place not in taken:
            cells = [key for row in body if (key := _read_key(table.value(row, place)))]
            hits = sum(len(index.get(key, ())) == 1 for key in cells)
            if hits and hits >= _LEAST_KNOWN * len(cells):
                known.append((hits, -place))
    if not known:
        raise GraderError(
            f"{table.name}: no column has ids, logins or addresses of the graded students. "
            f"Its columns are: {', '.join(shown(one) for one in titles if one)}\n"
            "Type:  --id HEADER      with the one that has, or grade with a roster that has the file's ids"
        )
    best = -max(known)[1]
    for _, other in known:
        for row in body:
            one = index.get(_read_key(table.value(row, best)), [])
            two = index.get(_read_key(table.value(row, -other)), [])
            if len(one) == 1 and len(two) == 1 and one[0] is not two[0]:
                raise GraderError(
                    f'{table.name}: the columns "{shown(titles[best])}" and "{shown(titles[-other])}" name different '
                    f"students in line {row + 1}.\nType:  --id HEADER      with the one that is right"
                )
    return best


def _owners(
    table: Table, body: Sequence[int], key: int, grades: Sequence[StudentGrades], report: Report
) -> list[StudentGrades | None]:
    index = _index(grades)
    owners: list[StudentGrades | None] = []
    for row in body:
        value = _read_key(table.value(row, key))
        found = index.get(value, [])
        owners.append(found[0] if len(found) == 1 else None)
        if value and len(found) != 1:
            why = "no graded student has this id" if not found else f"{len(found)} students have this id"
            report.without.append(f"{shown(value)}: {why}")
    return one_row_each(owners, report)


def _text(
    table: Table, row: int, place: int, assignment: Assignment, owner: StudentGrades, report: Report
) -> str | None:
    """The new text of a cell; None leaves it unchanged."""
    grade = owner.assignments[assignment.id]
    value = value_of(grade, Column(assignment, place), scale=False)
    if value is None:
        said = "excused: the cell stays" if grade.status == EXCUSED else grade.status
        report.without.append(f"{owner.student.name}: {assignment.id} {said}")
        return None
    if is_by_staff(table.value(row, place)):
        report.kept.append(f"{owner.student.name}: {assignment.id} stays {shown(table.value(row, place), 40)}")
        return None
    return cell_text(value)


def _written(table: Table, new: Mapping[tuple[int, int], str]) -> bytes:
    pieces: list[str] = []
    at = 0
    for (row, place), text in sorted(new.items()):
        cells = table.rows[row]
        if place < len(cells):
            cell = cells[place]
            start, end, before = cell.start, cell.end, ""
        else:  # the row ends before this column
            start = end = cells[-1].end
            before, cell = table.delimiter * (place + 1 - len(cells)), _Cell(start, end, "", False)
        is_quoted = cell.is_quoted or table.delimiter in text
        pieces += [table.text[at:start], before, f'"{text}"' if is_quoted else text]
        at = end
    pieces.append(table.text[at:])
    return table.mark + "".join(pieces).encode(table.codec)
