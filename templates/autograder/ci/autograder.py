"""Classroom 50's autograder of one assignment: its runner starts this in the student's checkout, and reads result.json.

It goes into the config repository as CLASSROOM/autograders/ASSIGNMENT-SLUG/autograder.py. A rung is a test of one
point. Only public tests are run: whatever the runner can read, the student can.
"""

import json
import os
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

ASSIGNMENT = "ASSIGNMENT"
SECONDS = 1500  # the limit for each rung; the first also builds


def rungs(checkout: Path) -> list[str]:
    """The rungs' titles, in their order."""
    text = (checkout / "assignments" / ASSIGNMENT / "assignment.toml").read_text(
        encoding="utf-8"
    )
    return [rung["title"] for rung in tomllib.loads(text)["rung"]]


def is_right(checkout: Path, number: int) -> bool:
    """Whether all public tests of a rung pass; what they say goes to the log."""
    command = ["make", "-C", f"assignments/{ASSIGNMENT}", "test", f"RUNG={number}"]
    try:
        return (
            subprocess.run(
                command, cwd=checkout, timeout=SECONDS, check=False
            ).returncode
            == 0
        )
    except subprocess.TimeoutExpired:
        print(f"Rung {number} took more than {SECONDS} s", flush=True)
        return False


def handed_in_at(checkout: Path) -> str:
    """When the commit was made."""
    command = ["git", "-c", "safe.directory=*", "log", "-1", "--format=%ct"]
    told = subprocess.run(
        command, cwd=checkout, capture_output=True, text=True, check=False
    ).stdout.strip()
    moment = (
        datetime.fromtimestamp(int(told), UTC)
        if told.isdecimal()
        else datetime.now(UTC)
    )
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def main() -> int:
    """Writes the result and the text of the release."""
    checkout = Path.cwd()
    titles = rungs(checkout)
    right = [is_right(checkout, number) for number in range(1, len(titles) + 1)]
    tests = [
        {
            "test-name": f"{number} {title}",
            "passed": passed,
            "score": int(passed),
            "max-score": 1,
        }
        for number, (title, passed) in enumerate(zip(titles, right, strict=True), 1)
    ]
    score, most = sum(right), len(tests)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    result = {
        "schema": "classroom50/result/v1",
        "classroom": os.environ["CLASSROOM"],
        "assignment": os.environ["ASSIGNMENT"],
        "assignment_type": os.environ.get("ASSIGNMENT_TYPE") or "individual",
        "owner": os.environ["USERNAME"],
        "submission": os.environ["SUBMISSION_TAG"],
        "commit": os.environ["COMMIT_URL"],
        "release": os.environ["RELEASE_URL"],
        "review": os.environ.get("REVIEW_URL") or os.environ["COMMIT_URL"],
        "datetime": handed_in_at(checkout),
        "graded_at": now,
        "score": score,
        "max-score": most,
        "tests": tests,
    }
    Path("result.json").write_text(
        json.dumps(result, indent=1) + "\n", encoding="utf-8"
    )
    rows = [
        f"| {test['test-name']} | {'PASS' if test['passed'] else 'FAIL'} |"
        for test in tests
    ]
    body = [
        f"### {score} of {most} rungs pass the public tests",
        "",
        "| Rung | |",
        "|---|---|",
        *rows,
    ]
    Path("release-body.md").write_text("\n".join(body) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
