"""Converts Gradescope results (`exports.gradescope`) to the formats of other platforms.

They contain only what a student may see at once: these platforms have no "after the due date" and show everything.
"""

from collections.abc import Mapping
from typing import Any

from grader.base.names import safe_json

_VISIBLE = "visible"
_MOST_CHARACTERS = 200_000  # PrairieLearn takes 1 MB
_HIDDEN = "Tests that are not shown: {score:g} of {most:g} points"


def _shown(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The tests that a student sees, and one entry for all the others together."""
    shown = [test for test in document["tests"] if test["visibility"] == _VISIBLE]
    hidden = [test for test in document["tests"] if test["visibility"] != _VISIBLE]
    if hidden:
        score, most = (sum(test[key] for test in hidden) for key in ("score", "max_score"))
        name = _HIDDEN.format(score=round(score, 2), most=round(most, 2))
        shown.append({"name": name, "score": score, "max_score": most, "output": "", "status": _status(score, most)})
    return shown


def _line(document: Mapping[str, Any]) -> str:
    return " ".join(safe_json(document).split("\n")) + "\n"


def _status(score: float, most: float) -> str:
    return "passed" if score >= most else "failed"


def prairielearn(document: Mapping[str, Any], points: float) -> dict[str, Any]:
    """PrairieLearn's results.json: a score from 0 to 1, and tests for `pl-external-grader-results`.

    A file that isn't there, or does not compile, is "not gradable": it costs no attempt.
    """
    output = str(document["output"])[:_MOST_CHARACTERS]
    verdict = document["extra_data"].get("verdict", "MISSING")
    if verdict in ("MISSING", "COMPILE"):
        return {"gradable": False, "format_errors": [output]}
    return {
        "gradable": True,
        "score": round(min(1.0, max(0.0, document["score"] / points)), 4),
        "message": output,
        "tests": [
            {
                "name": test["name"],
                "points": test["score"],
                "max_points": test["max_score"],
                "output": test["output"][:_MOST_CHARACTERS],
            }
            for test in _shown(document)
        ],
    }


def autolab(document: Mapping[str, Any], problem: str) -> str:
    """What Autolab reads: text for the student, and as the last line the problem's score as JSON."""
    parts = [str(document["output"])]
    for test in _shown(document):
        parts.append(f"[{test['score']:g} of {test['max_score']:g}] {test['name']}")
        if test["status"] != "passed" and test["output"]:
            parts.append(test["output"])
    return "\n".join(parts) + "\n" + _line({"scores": {problem: document["score"]}})
