"""Files written by others, randomly changed: each is read, or refused with the one error that has a message.

This run is short. LOCKSTEP_MUTATIONS=200000 pytest -n0 grader/tests/test_mutated_files.py makes a long one.
"""

import copy
import json
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD
from grader.base.errors import GraderError
from grader.base.schema import SchemaError
from grader.intake.handin import Who
from grader.intake.matching import Matcher
from grader.model.result import parse_result
from grader.model.roster import read_roster

pytestmark = pytest.mark.in_turn

COUNT = int(os.environ.get("LOCKSTEP_MUTATIONS", "1500"))
ROOT = Path(__file__).resolve().parents[2]
ROSTER = (
    "name;sid;email;alias\n"
    '"Müller, Ada";s1234;ada@example.org;owl\nGrace "the" Hopper;s77;;\n\nLi;;li@example.org;"a ""b"""\n'
).encode()
# Difficult input for parsers: quotes, line ends, controls, byte-order and direction marks, surrogates, digits.
PIECES = [
    *(
        piece.encode()
        for piece in ('"', '""', ",", ";", "\n", "\r", "\r\n", "\0", "\x1b]0;", "\ufeff", "\u202e", "٣", "=1")
    ),
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\x80",
    b"a" * 70_000,
]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    2**63,
    10**400,
    1e308,
    -0.0,
    "",
    "\ud800",
    "\0",
    "a" * 5000,
    [],
    {},
    [[[]]],
    {"a": 1},
]


def changed_bytes(draw: random.Random, data: bytes) -> bytes:
    """The bytes with up to six pieces put in, taken out, repeated or replaced."""
    for _ in range(draw.randint(1, 6)):
        at, end = sorted(draw.choices(range(len(data) + 1), k=2))
        end = min(end, at + draw.choice((1, 2, 40)))
        data = draw.choice(
            (
                data[:at] + draw.choice(PIECES) + data[at:],
                data[:at] + data[end:],
                data[:at] + draw.choice(PIECES) + data[end:],
                data[:end] + data[at:],
            )
        )
    return data


def changed_document(draw: random.Random, document: Any) -> Any:
    """The document with one to three values, at any depth, changed, removed, duplicated or renamed."""
    document = json.loads(json.dumps(document))
    for _ in range(draw.randint(1, 3)):
        places = list(_places(document))
        if not places:
            break
        holder, key = draw.choice(places)
        how = draw.randrange(4)
        if how == 0:
            del holder[key]
        elif how == 1 and isinstance(holder, list):
            holder += [holder[key]] * draw.choice((1, 300))
        elif how == 2 and isinstance(holder, dict):
            holder[draw.choice(("", "rung", "format", "\x1b"))] = holder.pop(key)
        else:
            holder[key] = copy.deepcopy(draw.choice(VALUES))
    return document


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def read_all(count: int, make: Callable[[random.Random], bytes], read: Callable[[bytes], object]) -> tuple[int, int]:
    """The numbers read and refused by a GraderError or SchemaError; any other exception fails the test."""
    taken = refused = 0
    for seed in range(count):
        data = make(random.Random(seed))
        try:
            read(data)
            taken += 1
        except (GraderError, SchemaError) as error:
            assert str(error).strip(), f"seed {seed}"  # noqa: PT017
            refused += 1
        except Exception as error:
            raise AssertionError(f"seed {seed} ends in {error!r}") from error
    return taken, refused


def test_changed_rosters_are_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "roster.csv"

    def read(data: bytes) -> None:
        path.write_bytes(data)
        students = read_roster(path)
        for student in students:
            shown = student.name + student.sid + student.email + student.alias
            assert not any(ord(letter) < ord(" ") or letter == "\u202e" for letter in shown), repr(shown)
        for folder in ("ada-s1234", "Li", "", "…", "s77_late"):
            Matcher(students).find(Who(text=folder))

    taken, refused = read_all(COUNT, lambda draw: changed_bytes(draw, ROSTER), read)
    assert taken > 0
    assert refused > 0


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The result document of a real run: the public suite of the first assignment on its reference."""
    folder = tmp_path_factory.mktemp("result")
    source = ROOT / "reference" / "04_reduction" / "reduction.cu"
    worker, path = folder / "worker", folder / "result.json"
    assignment = ROOT / "assignments" / "04_reduction"
    subprocess.run(
        [
            ROOT / "harness" / "worker" / "build.sh",
            *("--assignment", assignment, "--source", source, "--out", worker, "--build", BUILD),
        ],
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [
            BUILD / "bin" / "04_reduction_suite",
            f"--assignment={assignment}",
            f"--worker={worker}",
            f"--result={path}",
            "--gtest_filter=*OneBlock*",
        ],
        check=False,
        capture_output=True,
    )
    return json.loads(path.read_bytes())


def test_changed_results_are_read_or_refused(result: Any) -> None:
    whole = json.dumps(result).encode()

    def make(draw: random.Random) -> bytes:
        if draw.random() < 0.3:
            return changed_bytes(draw, whole)
        return json.dumps(changed_document(draw, result)).encode()

    parse_result(whole)
    taken, refused = read_all(COUNT, make, parse_result)
    assert taken > 0
    assert refused > 0
