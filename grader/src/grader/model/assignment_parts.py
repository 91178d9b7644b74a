"""Splits ``assignment.toml`` by what a change requires: a new run for keys the judge reads, else only new scores.

Keys not listed here count as the judge's: an unnecessary run is better than a stale score.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

# Keys the judge does not read; of a criterion with `tests` it reads only the rung and whether it is a bonus.
_ASSIGNMENT = {"title", "points", "visibility"}
_RUNG = {"title", "published_ms", "published_gb_s"}
_CRITERION = {"points", "visibility"}
_READ_OF_TESTS = {"rung", "bonus"}
_LEADERBOARD = {"order"}


def judged_part(path: Path) -> bytes:
    """The parts a run depends on, normalized so that comments and the order of keys don't matter."""
    document = _document(path)
    rest = {key: value for key, value in document.items() if key not in _ASSIGNMENT}
    rest["rung"] = [_without(rung, _RUNG) for rung in document.get("rung", [])]
    rest["criterion"] = [_judged_criterion(criterion) for criterion in document.get("criterion", [])]
    if "leaderboard" in document:
        rest["leaderboard"] = _without(document["leaderboard"], _LEADERBOARD)
    return _text(rest)


def scored_part(path: Path) -> bytes:
    """The parts of assignment.toml that affect scores: all but visibility, which only pages read."""
    document = _without(_document(path), {"visibility"})
    document["criterion"] = [_without(criterion, {"visibility"}) for criterion in document.get("criterion", [])]
    return _text(document)


def _judged_criterion(criterion: dict[str, Any]) -> dict[str, Any]:
    if "tests" in criterion:
        return {key: value for key, value in criterion.items() if key in _READ_OF_TESTS}
    return _without(criterion, _CRITERION)


def _without(table: dict[str, Any], keys: set[str]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key not in keys}


def _document(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _text(document: dict[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, default=str).encode()
