"""The small language of metrics: ``NAME``, ``NAME / NAME``, ``NAME / NAME of N elements``; NAME = ``[SCOPE.]COUNTER``.

docs/concepts/architecture.md defines it. The judge measures criteria itself; the grader reads the language to check
an assignment's file and to rank the leaderboard.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from grader.model.result import Profile

_SHARE = re.compile(r"(?P<name>.*) of (?P<elements>[1-9][0-9]*) elements *")
_NAME = re.compile(r"(?:(?P<scope>[A-Za-z_]\w*)\.)?(?P<counter>[A-Za-z_]\w*)")


@dataclass(frozen=True)
class Name:
    """A counter of this rung's run (no scope), of the reference's run, or of another rung's."""

    scope: str
    counter: str


@dataclass(frozen=True)
class Metric:
    """A counter, or the quotient of two; of what is below, no more than one for ``elements_each`` elements (0: all)."""

    text: str
    over: Name
    under: Name | None
    elements_each: int = 0

    @property
    def scopes(self) -> set[str]:
        """The scopes that the metric names."""
        return {name.scope for name in (self.over, self.under) if name and name.scope}


def parse_metric(text: str) -> Metric:
    """Reads a metric; raises ValueError with a sentence."""
    names = []
    share = _SHARE.fullmatch(text) if "/" in text else None
    for part in (share["name"] if share else text).split("/"):
        match = _NAME.fullmatch(part.strip())
        if not match:
            raise ValueError(
                f'"{text}" is no metric: expected NAME or NAME / NAME, as in "warp_instructions / elements"'
            )
        names.append(Name(match["scope"] or "", match["counter"]))
    if len(names) > 2:  # noqa: PLR2004
        raise ValueError(f'"{text}" has more than one division')
    elements_each = int(share["elements"]) if share else 0
    return Metric(text, names[0], names[1] if len(names) > 1 else None, elements_each)


@dataclass(frozen=True)
class Condition:
    """What has to hold for a criterion to count: a metric that is `bound` at most, or at least."""

    metric: Metric
    at_most: bool
    bound: float


def parse_condition(text: str) -> Condition:
    """Reads ``METRIC <= NUMBER`` or ``METRIC >= NUMBER``; raises ValueError with a sentence."""
    match = re.fullmatch(r"(?P<metric>[^<>=]*)(?P<sign><=|>=)\s*(?P<bound>[0-9.eE+-]+)\s*", text)
    try:
        bound = float(match["bound"]) if match else None
    except ValueError:
        bound = None
    if match is None or bound is None:
        raise ValueError(f'"{text}" is no condition: expected METRIC <= NUMBER or METRIC >= NUMBER')
    return Condition(parse_metric(match["metric"].strip()), match["sign"] == "<=", bound)


def _derived_counters(counts: Mapping[str, float]) -> dict[str, float]:
    """What follows from a run's counters, as `judge/model/profile.cc` has it."""

    def total(*names: str) -> float:
        return sum(counts.get(name, 0) for name in names)

    ideal = total("global_load_sectors_ideal", "global_store_sectors_ideal")
    conflicts = total("shared_wavefronts") - total("shared_wavefronts_ideal")
    wasted = total("global_load_sectors", "global_store_sectors", "atomic_sectors") - ideal - total("atomics")
    return {
        "shared_conflicts": conflicts,
        "requests": total("global_load_requests", "global_store_requests", "atomics"),
        "load_requests": total("global_load_requests", "atomics"),
        "store_requests": total("global_store_requests", "atomics"),
        "sectors": total("global_load_sectors", "global_store_sectors", "atomic_sectors"),
        "store_sectors": total("global_store_sectors", "atomic_sectors"),
        "sectors_ideal": ideal,
        "wasted_passes": conflicts + wasted,
        "float_operations": total("float32_instructions", "float64_instructions", "atomics", "shared_atomics"),
    }


def counter_of(profile: Profile, counter: str) -> float | None:
    """One counter of a run, derived ones included; None where the run doesn't have it."""
    counts = profile.counters
    blocks = [launch.grid[0] * launch.grid[1] * launch.grid[2] for launch in profile.launches]
    threads = [launch.block[0] * launch.block[1] * launch.block[2] for launch in profile.launches]
    derived: dict[str, float] = {
        "microseconds": profile.microseconds,
        "elements": profile.n,
        "launches": len(blocks),
        "blocks": sum(blocks),
        "max_blocks": max(blocks, default=0),
        "warps": sum(b * -(-t // 32) for b, t in zip(blocks, threads, strict=True)),
        "threads": sum(b * t for b, t in zip(blocks, threads, strict=True)),
        **_derived_counters(counts),
    }
    return counts.get(counter, derived.get(counter))


def evaluate(metric: Metric, rung: str, own: Mapping[str, Profile], reference: Mapping[str, Profile]) -> float | None:
    """The metric's value for `rung`, from the runs of the submission and of the reference by rung.

    None where a run or a counter is missing, and for something per nothing; nothing per nothing is 0.
    """

    def profile_of(name: Name) -> Profile | None:
        runs = reference if name.scope == "reference" else own
        return runs.get(rung if name.scope in ("", "reference") else name.scope)

    def value(name: Name) -> float | None:
        profile = profile_of(name)
        return None if profile is None else counter_of(profile, name.counter)

    over = value(metric.over)
    if over is None or metric.under is None:
        return over
    under = value(metric.under)
    if under is not None and metric.elements_each and (profile := profile_of(metric.under)):
        under = min(under, -(-profile.n // metric.elements_each))
    if under is None or (under == 0 and over != 0):
        return None
    return over / under if under else 0.0
