"""From a student's points to the course total: dropped assignments, weights, caps. Pure functions."""

from collections.abc import Collection, Mapping, Sequence

from grader.course.adjustments import Adjustment, adjustment_step
from grader.course.policy import Policy
from grader.model.score import points_text

Points = Mapping[str, tuple[float | None, float]]  # by assignment: the points earned, and the maximum
_HUNDRED = 100.0


def drop_lowest(policy: Policy, points: Points) -> dict[str, str]:
    """The assignments dropped as the lowest of their group, each with a sentence that says so.

    Lowest is the smallest share of the possible points; among equal ones, the one worth more. At least one is kept.
    """
    grouped = {name for group in policy.groups for name in group.assignments}
    sets = [(f'"{group.name}"', group.assignments, group.drop_lowest) for group in policy.groups]
    sets.append(("all assignments", tuple(name for name in points if name not in grouped), policy.drop_lowest))
    dropped: dict[str, str] = {}
    for label, names, number in sets:
        graded = [(_share(*points[name]), -points[name][1], name) for name in names if _is_graded(points, name)]
        lowest = sorted(graded)[: max(0, min(number, len(graded) - 1))]
        dropped |= {name: f"Dropped: among the lowest {number} of {label}" for _, _, name in lowest}
    return dropped


def _is_graded(points: Points, name: str) -> bool:
    return name in points and points[name][0] is not None


def _share(points: float | None, possible: float) -> float:
    return (points or 0.0) / possible if possible else 1.0


def total_of(
    policy: Policy, points: Points, adjustments: Sequence[Adjustment], extra: Collection[str] = ()
) -> tuple[float | None, float, tuple[str, ...]]:
    """Returns the total (None while nothing is graded and nothing adjusted), the possible points and the steps.

    `extra` names the extra-credit assignments: their points count, but don't raise the possible points.
    """
    graded = {name: (own, possible) for name, (own, possible) in points.items() if own is not None}
    steps: list[str] = []
    if policy.is_weighted:
        possible = policy.out_of or _HUNDRED
        share = _weighted(policy, graded, extra, steps)
    else:
        whole = sum(most for name, (_, most) in points.items() if name not in extra)
        possible = policy.out_of or whole
        share = sum(own for own, _ in graded.values()) / whole if graded and whole else None
        if share is not None and policy.out_of:
            own = sum(one for one, _ in graded.values())
            steps.append(f"{points_text(own)} of {points_text(whole)}, of {points_text(possible)} in all")
    total = None if share is None else round(share * possible, 2)
    if not policy.is_weighted and not policy.out_of and graded:
        total = round(sum(own for own, _ in graded.values()), 2)
    if total is not None and policy.total_cap is not None and total > policy.total_cap.of(possible):
        capped = round(policy.total_cap.of(possible), 2)
        steps.append(f"At most {policy.total_cap.text(possible)}: {points_text(total)} becomes {points_text(capped)}")
        total = capped
    changes = [one for one in adjustments if one.points]
    if changes:
        total = round((total or 0.0) + sum(one.points for one in changes), 2)
        steps += [adjustment_step(one) for one in changes]
    return total, round(possible, 2), tuple(steps)


def _weighted(
    policy: Policy, graded: Mapping[str, tuple[float, float]], extra: Collection[str], steps: list[str]
) -> float | None:
    """The weighted share of points. Assignments excused or without points yet leave their weight to the others."""
    parts: list[tuple[str, float, float]] = []  # label, share, weight
    added: list[tuple[str, float, float]] = []  # extra credit: its weight is not part of the whole
    for group in policy.groups:
        members = [graded[name] for name in group.assignments if name in graded]
        whole = sum(graded[name][1] for name in group.assignments if name in graded and name not in extra)
        if group.weight is not None and whole:
            parts.append((group.name, sum(one for one, _ in members) / whole, group.weight))
    for name, (own, most) in graded.items():
        weight = policy.of(name).weight
        if weight is not None and most:
            (added if name in extra else parts).append((name, own / most, weight))
    weights = sum(weight for _, _, weight in parts)
    if not weights:
        return None
    listed = " + ".join(f"{points_text(100 * share)} % × {points_text(weight)}" for _, share, weight in parts + added)
    steps.append(f"({listed}) / {points_text(weights)}")
    return sum(share * weight for _, share, weight in parts + added) / weights
