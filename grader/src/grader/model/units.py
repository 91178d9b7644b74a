"""A criterion's metric in words: "divergent_branches / warps of 32 elements" is "divergent branches per warp of …"."""

from grader.model.assignment import Assignment
from grader.model.score import CriterionScore, plain, plain_beside
from grader.model.verdicts import INCONCLUSIVE

_SPLIT = " / "
_TIME = "_us"  # suffix of a timeline's figures
_UNITS = {
    "max_blocks": "blocks in a launch",
    "microseconds": "µs",
    "wasted_passes": "wasted sectors and shared-memory passes",
    "shared_conflicts": "bank conflicts",
    "shared_wavefronts": "shared-memory passes",
    "warp_syncs": "warp barriers",
    "barriers_in_loops": "barriers in loops",
    "copies_to_device": "copies to the device",
    "copies_on_device": "copies on the device",
    "copies_to_host": "copies to the host",
    "bytes_to_host": "bytes copied to the host",
    "pageable_bytes": "bytes copied from or to pageable memory",
    "timeline_us": "time from begin to end",
    "one_engine_us": "time with one copy engine",
    "bound_us": "busiest engine",
    "one_engine_bound_us": "copy engine, the only one",
    "copy_overlap_us": "time of copies both ways",
    "kernel_overlap_us": "time of kernels overlapping copies",
    "peer_us": "time of copies between devices",
    "peer_alone_us": "time of copies between devices while no kernel runs",
    "peer_bytes": "bytes copied between devices",
    "peer_bytes_most": "bytes that one device sends or receives",
    "kernels_us": "time in which kernels ran",
    "steps_us": "time in which kernels ran, or devices copied to each other",
}
_MEASURED = ("PASS", "SLOW")


def metric_words(assignment: Assignment, metric: str) -> str:
    """The metric as a person would say it after a number."""
    over, _, under = metric.partition(_SPLIT)
    if " time / " in f" {metric} ":  # a measured time: "the reference's time / yours"
        return f"× ({over} ÷ {under})"
    if not under:
        return _figure(assignment, over)
    if under == "max_blocks":
        return f"{_figure(assignment, over)} per block"
    scope, _, name = under.partition(".")
    if name and (name == over or (over.endswith(_TIME) and name.endswith(_TIME))):
        return f"× {_whose(assignment, scope)} {_words(name)}"
    return f"{_figure(assignment, over)} per {_one(_figure(assignment, under))}"


def value_text(assignment: Assignment, score: CriterionScore) -> str:
    """The measured value with its unit; empty if nothing was measured."""
    if score.value is None or not score.metric:
        return ""
    number, words = plain_beside(score.value, score.full), metric_words(assignment, score.metric)
    return f"{number} {_one(words) if number == '1' else words}"


def budget_text(assignment: Assignment, score: CriterionScore) -> str:
    """The values for full and for no marks; empty if the criterion counts tests."""
    if score.full == score.none or not score.metric:
        return ""
    bound, end = ("at most", "from") if score.full < score.none else ("at least", "up to")
    words = metric_words(assignment, score.metric)
    unit = "" if score.value is not None else f" {_one(words) if score.full == 1 else words}"
    return f"full marks: {bound} {plain(score.full)}{unit}; no points {end} {plain(score.none)}"


def remark(score: CriterionScore) -> str:
    """A remark besides value and budget: how many tests passed, or why the value does not count."""
    if not score.metric or score.value is None:
        return score.detail
    if score.verdict == INCONCLUSIVE or score.verdict not in _MEASURED:
        return score.detail
    return f"does not count: it {score.unmet}" if score.unmet else ""


def _figure(assignment: Assignment, text: str) -> str:
    """One side of a metric."""
    scope, _, name = text.partition(".")
    if not name:
        return _words(text)
    return f"{_words(name)} of {_whose(assignment, scope).removesuffix('’s')}"


def _whose(assignment: Assignment, scope: str) -> str:
    if scope == "reference":
        return "the reference’s"
    label = assignment.labels.get(scope)
    return f"rung {label}’s" if label else f"{scope}’s"


def _words(name: str) -> str:
    head, space, rest = name.partition(" ")
    return _UNITS.get(head, head.replace("_", " ")) + space + rest


def _one(words: str) -> str:
    """Makes the first plural singular: "warps of 32 elements" becomes "warp of 32 elements"."""
    head, space, rest = words.partition(" ")
    for many, one in (("ies", "y"), ("ches", "ch"), ("ss", "ss"), ("s", "")):
        if head.endswith(many) and head != "µs":
            return head.removesuffix(many) + one + space + rest
    return words
