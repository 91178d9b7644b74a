"""Per-line counters of a source file: the same measures in a report card and in a terminal.

Only the standard library is used here: students run it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from grader.model.result import Profile

_SLACK = 1.05  # a line is costly if it needs this much more than the ideal
_DIVERGENT = 0.05
_SECTORS = ("global_load_sectors", "global_store_sectors")
_IDEAL_SECTORS = ("global_load_sectors_ideal", "global_store_sectors_ideal")


@dataclass(frozen=True)
class Measure:
    """One number in the margin; `note` explains a costly one."""

    text: str
    is_costly: bool = False
    note: str = ""


@dataclass(frozen=True)
class LineCost:
    """One line's measures, and the warp instructions it executed.

    `wasted` is the excess over the ideal, by the counter that it is a share of: sectors, shared-memory passes,
    branches.
    """

    sectors: Measure
    conflicts: Measure
    divergence: Measure
    instructions: float
    wasted: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_costly(self) -> bool:
        """Whether a counter shows waste on this line."""
        return bool(self.notes)

    @property
    def notes(self) -> list[str]:
        """Notes on costly measures."""
        return [m.note for m in (self.sectors, self.conflicts, self.divergence) if m.is_costly]


def base_name(path: str) -> str:
    """The last part of a path written by a compiler on any system."""
    return path.replace("\\", "/").rpartition("/")[2]


def counters_by_line(file_name: str, profiles: Iterable[Profile]) -> dict[int, dict[str, float]]:
    """The counters of each line of a file, added up over the profiles."""
    sums: dict[int, dict[str, float]] = {}
    for profile in profiles:
        for line in profile.lines:
            if base_name(line.file) == file_name:
                own = sums.setdefault(line.line, {})
                for name, value in line.counters.items():
                    own[name] = own.get(name, 0.0) + value
    return sums


def line_cost(counts: Mapping[str, float]) -> LineCost:
    """The measures that follow from a line's counters."""
    sectors = _total(counts, _SECTORS)
    wasted = {
        "sectors": sectors - _total(counts, _IDEAL_SECTORS),
        "shared_wavefronts": counts.get("shared_wavefronts", 0) - counts.get("shared_wavefronts_ideal", 0),
        "branches": counts.get("divergent_branches", 0),
    }
    return LineCost(
        _sectors(counts), _conflicts(counts), _divergence(counts), counts.get("warp_instructions", 0.0), wasted
    )


def wasted_share(cost: LineCost, run: Mapping[str, float]) -> float:
    """The largest share, over all measures, of the whole run's cost that this line wastes.

    `run` has the counters of the whole run.
    """
    totals = {**run, "sectors": _total(run, _SECTORS)}
    shares = [waste / totals[name] for name, waste in cost.wasted.items() if totals.get(name)]
    return max(shares, default=0.0)


def _total(counts: Mapping[str, float], names: tuple[str, ...]) -> float:
    return sum(counts.get(name, 0) for name in names)


def _sectors(counts: Mapping[str, float]) -> Measure:
    requests = _total(counts, ("global_load_requests", "global_store_requests"))
    if not requests:
        return Measure("")
    sectors, ideal = _total(counts, _SECTORS), _total(counts, _IDEAL_SECTORS)
    each, best = sectors / requests, ideal / requests
    note = f"{each:.1f} sectors per request; {best:.1f} would do"
    return Measure(f"{each:.1f}", ideal > 0 and sectors > _SLACK * ideal, note)


def _conflicts(counts: Mapping[str, float]) -> Measure:
    wavefronts = counts.get("shared_wavefronts", 0)
    if not wavefronts:
        return Measure("")
    ideal = counts.get("shared_wavefronts_ideal", 0)
    times = wavefronts / ideal if ideal else 1.0
    note = f"bank conflicts: {times:.1f} × the ideal number of shared-memory passes"
    return Measure(f"{times:.1f}×", times > _SLACK, note)


def _divergence(counts: Mapping[str, float]) -> Measure:
    branches = counts.get("branches", 0)
    if not branches:
        return Measure("")
    share = counts.get("divergent_branches", 0) / branches
    text = "0 %" if share == 0 else f"{100 * share:.0f} %" if share >= 0.01 else "<1 %"  # noqa: PLR2004
    return Measure(text, share > _DIVERGENT, f"{100 * share:.0f} % of the branches here diverge")
