"""Decides who may be on a leaderboard."""

from grader.model.assignment import Assignment, Ranking
from grader.model.record import Record


def may_be_ranked(assignment: Assignment, ranking: Ranking, record: Record) -> bool:
    """Whether all results outside bonus rungs are right, and the ranked rung has all its untimed points."""
    if record.result is None or record.score is None:
        return False
    core = [test for test in record.result.tests if not test.is_evidence and not assignment.is_bonus_rung(test.rung)]
    if not core or any(test.verdict != "PASS" for test in core):
        return False
    # A fast time achieved by another technique is no entry: the rung's evidence is required too.
    timed = {criterion.id for criterion in assignment.criteria if criterion.timing}
    own = [criterion for criterion in record.score.criteria if criterion.rung == ranking.rung]
    return all(criterion.is_full for criterion in own if criterion.id not in timed)
