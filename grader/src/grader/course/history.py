"""A submission's score over time: each of its results, and what changed since the one before."""

from collections.abc import Sequence
from dataclasses import dataclass

from grader.base.counted import joined
from grader.model.record import MISSING, NOT_GRADED, Record
from grader.model.score import with_bonus
from grader.running.changes import differences


@dataclass(frozen=True)
class Past:
    """One result. `why` says how it came about; `is_in_force` marks the attempt's current one.

    `at` is UTC in ISO 8601; `earned` is None if the harness failed.
    """

    at: str
    attempt: int
    earned: float | None
    bonus: float
    possible: float
    verdict: str
    why: tuple[str, ...]
    is_in_force: bool

    @property
    def points(self) -> str:
        """Formatted as "90 + 10 bonus"; a dash if there is no score."""
        if self.earned is None:
            return "–"
        return with_bonus(self.earned - self.bonus, self.bonus)

    @property
    def reason(self) -> str:
        """All of `why` in one line."""
        return "; ".join(self.why)


def score_history(results: Sequence[Record], attempts: Sequence[Record]) -> list[Past]:
    """One folder's results in chronological order, and the current state of its attempts.

    A result obtained without a run (from the same code, or with new points) has the time at which it was recorded.
    """
    now = {one.key for one in attempts}
    known = {one.key for one in results}
    every = [*results, *(one for one in attempts if one.key not in known)]  # attempts on which the harness failed
    every.sort(key=lambda one: (_at(one), one.handed.number))
    first = min((one.handed.number for one in every), default=1)
    last: dict[int, Record] = {}  # by attempt
    pasts: list[Past] = []
    for record in every:
        number, score = record.handed.number, record.score
        pasts.append(
            Past(
                at=_at(record),
                attempt=number,
                earned=score.total if score else None,
                bonus=score.bonus if score else 0.0,
                possible=score.possible if score else 0.0,
                verdict=record.shown_verdict,
                why=_why(record, last.get(number), is_first=number == first),
                is_in_force=record.key in now,
            )
        )
        last[number] = record
    return pasts


def _at(record: Record) -> str:
    return record.scored_at or record.graded_at


def _why(record: Record, before: Record | None, *, is_first: bool) -> tuple[str, ...]:
    """How a result came about; `before` is the previous one of the same attempt."""
    if record.status == MISSING:
        return ("nothing handed in",)
    causes = []
    if record.reason and not record.scored_at:  # rescoring a regrade keeps its reason
        causes.append(f"graded again: {record.reason}" + (f" ({record.staff})" if record.staff else ""))
    if before is None and not causes:
        causes.append("first graded" if is_first else "handed in again")
    if before is not None and before.provenance.submission != record.provenance.submission:
        causes.append("handed in again" + (", with the same code" if before.run == record.run else ""))
    changed = differences(before.provenance, record.provenance) if before and before.status != MISSING else []
    if changed:
        causes.append(f"{joined(changed)} changed")
    if record.status == NOT_GRADED:
        causes.append("the harness failed")
    return tuple(causes) or ("graded again",)
