"""Random submissions: reproducible from a seed; hostile ones gain nothing, right ones lose nothing."""

from collections import Counter

import pytest

from conftest import BUILD, ONCE_A_DAY, needs_build
from grader.authoring.generated import FRIENDS, MOVES, NAIVE, TASKS, adversaries, adversary, friends
from grader.authoring.generated_gates import GATES
from grader.authoring.generated_run import Graded, Runs, grade_adversaries, grade_friends, make_gated, text_of
from grader.base.layout import find_layout
from grader.base.toolchain import find_toolchain

pytestmark = pytest.mark.in_turn


def test_a_seed_makes_the_same_again() -> None:
    assert adversaries(30, 5) == adversaries(30, 5)
    assert adversaries(30, 5) != adversaries(30, 6)
    assert friends(30, 5) == friends(30, 5)
    texts = {one.text for one in adversaries(100, 1)}
    assert len(texts) > 80


def test_every_move_is_made() -> None:
    made = Counter((move, kind) for one in adversaries(1500, 1) for move, kind in one.moves.items())
    assert made.keys() == {(move, kind) for move, kinds in MOVES.items() for kind in kinds}
    grown = Counter((rule, kind) for one in friends(300, 1) for rule, kind in one.moves.items())
    assert grown.keys() == {(rule, kind) for rule, kinds in FRIENDS.items() for kind in kinds}


def test_gates_are_of_every_assignment_with_launchers_in_cuda() -> None:
    made = make_gated(find_layout(BUILD), 100_000, 1, "")
    assert {one.task.assignment[:2] for one in made} == {f"{n:02}" for n in range(1, 19) if n not in (7, 12, 13)}
    assert {one.moves["technique"] for one in made} == set(GATES)
    assert all(one.plain != one.text and f" {one.task.rung}(" in one.plain for one in made)


def test_who_gets_what_it_does_not_deserve_is_named() -> None:
    hostile = adversary(TASKS[0], NAIVE | {"load": "const"})
    text = text_of([Graded(hostile, "PASS", 22, 14, "said"), Graded(hostile, "PASS", 14, 14)])
    assert text == "shift1_gather: load const: 22 points of 14, PASS\nsaid\n1 gain, 0 lose, of 2"


@pytest.fixture(scope="module")
def runs() -> Runs:
    layout = find_layout(BUILD)
    return Runs(layout, find_toolchain(layout), seed=20, sandboxed=False)


@needs_build
def test_adversaries_gain_nothing(runs: Runs) -> None:
    """Moves by which red teams gained points, and random ones; three of them per commit. The long run is on record."""
    known = [
        adversary(TASKS[number], NAIVE | moves)
        for number, moves in (
            (1, {"load": "const", "first": "copy"}),
            (1, {"gate": "evidence"}),
            (2, {"gate": "warm"}),
            (3, {"gate": "evidence"}),
            (4, {"gate": "round sizes"}),
        )
    ]
    chosen = [*known, *adversaries(5, 20)] if ONCE_A_DAY else [known[1], *adversaries(2, 20)]
    graded = grade_adversaries(runs, chosen)
    assert not [one for one in graded if one.gains], text_of(graded)
    assert all(one.deserved > 0 for one in graded), "a naive kernel is right, and earns the points for that"


@needs_build
def test_friends_lose_nothing(runs: Runs) -> None:
    kin = make_gated(runs.layout, 12 if ONCE_A_DAY else 1, 20, "", right=True)
    graded = grade_friends(runs, [*friends(5 if ONCE_A_DAY else 2, 20), *kin])
    assert not [one for one in graded if one.loses or one.gains], text_of(graded)
